#include "core/advice/curve.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Distance at which a run's weight has halved; keeps a repeated configuration from deciding alone.
 */
static const double near_distance = 0.1;

/* --- which counts --- */

size_t curve_grid(size_t room, int64_t most, const int64_t extra[], size_t n_extra, int64_t out[])
{
    /* Room for the extras and for `most` itself; steps widen until the rest fits. */
    room = room < 8 ? 8 : room;
    room = (room < CURVE_POINTS_MAX ? room : CURVE_POINTS_MAX) - 1;
    room = room > n_extra + 4 ? room - n_extra : 4;
    int64_t dense = (int64_t)room / 2;
    double steps = (double)room / 2.0 - 1.0;
    double ratio = most > dense ? exp(log((double)most / (double)dense) / steps) : 1.0;
    size_t n = 0;
    for (int64_t m = 1; m <= most && n < room;) {
        out[n++] = m;
        int64_t wider = (int64_t)((double)m * ratio);
        m = m < dense || wider <= m ? m + 1 : wider;
    }
    out[n++] = most;
    for (size_t i = 0; i < n_extra; i++)
        if (extra[i] >= 1)
            out[n++] = extra[i];
    qsort(out, n, sizeof *out, order_by_int64);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || out[kept - 1] != out[i])
            out[kept++] = out[i];
    return kept;
}

/* --- distances --- */

static struct replay_target target_of(const struct run *run)
{
    return (struct replay_target){run->problem_size, run->executors, run->cores_per_executor};
}

static double target_cores(const struct replay_target *target)
{
    return (double)target->executors * (double)target->cores_per_executor;
}

static double curve_distance(const struct run *run, const struct replay_target *target)
{
    struct replay_target own = target_of(run);
    return fabs(log(target->problem_size / run->problem_size)) +
           0.5 * fabs(log(target_cores(target) / target_cores(&own)));
}

static double weight_at(double d)
{
    double x = d / near_distance;
    return 1.0 / (1.0 + x * x);
}

static double weight_of(const struct run *run)
{
    return run->weight > 0.0 ? run->weight : 1.0;
}

/* --- combining replays --- */

struct combination {
    double duration_s;
    double nearest; /* distance of the nearest run */
    struct replay_outcome of_nearest;
};

/* Prediction of all replays but `skip` (n: none), whose laws were learned for the occasion. */
static enum pv_code curve_combine(const struct replay replays[],
                                  size_t n,
                                  size_t skip,
                                  const struct replay_target *target,
                                  const struct replay_allocation *allocation,
                                  struct arena *scratch,
                                  struct combination *made,
                                  struct pv_error *err)
{
    double sum = 0.0, weights = 0.0;
    made->nearest = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (i == skip)
            continue;
        struct replay_outcome outcome = {0};
        PV_TRY(replay_predict_as(&replays[i], target, allocation, scratch, &outcome, err));
        double d = curve_distance(replays[i].run, target);
        double weight = weight_at(d) * weight_of(replays[i].run);
        sum += weight * log(outcome.duration_s);
        weights += weight;
        if (d < made->nearest) {
            made->nearest = d;
            made->of_nearest = outcome;
        }
    }
    made->duration_s = exp(sum / weights);
    return PV_OK;
}

static enum pv_code learn_all(
    struct replay replays[], size_t n, size_t skip, struct arena *scratch, struct pv_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (i != skip)
            PV_TRY(replay_learn(replays, n, i, skip, scratch, err));
    return PV_OK;
}

/* Tasks that `combine` simulates, by the laws learned for it. */
static double curve_count_tasks(const struct replay replays[],
                                size_t n,
                                size_t skip,
                                const struct replay_target *target)
{
    double tasks = 0.0;
    for (size_t i = 0; i < n; i++)
        tasks += i == skip ? 0.0 : replay_count_tasks(&replays[i], target);
    return tasks;
}

/*
 * Leave one run out at a time: fills in spread, freedom and loo_mape_percent. Seen from the others
 * a run on very many cores can have so many tasks that simulating them goes beyond the budget: it
 * is then not judged. One with dynamic allocation is predicted under that.
 */
static enum pv_code judge_by_leaving_out(struct replay replays[],
                                         size_t n,
                                         double task_budget,
                                         struct arena *scratch,
                                         struct curve *curve,
                                         struct pv_error *err)
{
    double squares = CURVE_PRIOR_FREEDOM * CURVE_PRIOR_SPREAD * CURVE_PRIOR_SPREAD;
    double percent = 0.0;
    double residuals = 0.0;
    for (size_t i = 0; i < n && n >= 2; i++) {
        struct combination made;
        struct replay_target target = target_of(replays[i].run);
        enum pv_code code = learn_all(replays, n, i, scratch, err);
        double tasks = code == PV_OK ? curve_count_tasks(replays, n, i, &target) : 0.0;
        if (tasks > task_budget)
            continue;
        task_budget -= tasks;
        if (code == PV_OK)
            code =
                curve_combine(replays, n, i, &target, &replays[i].allocation, scratch, &made, err);
        if (code != PV_OK)
            return code;
        double actual_s = replays[i].run->duration_s;
        double residual = log(actual_s / made.duration_s) / (1.0 + made.nearest);
        double weight = weight_of(replays[i].run);
        residuals += weight;
        squares += weight * residual * residual;
        percent += weight * 100.0 * fabs(made.duration_s - actual_s) / actual_s;
    }
    curve->freedom = CURVE_PRIOR_FREEDOM + residuals;
    curve->residual_spread = sqrt(squares / curve->freedom);
    curve->loo_mape_percent = residuals > 0.0 ? percent / residuals : (double)NAN;
    return PV_OK;
}

/* --- the runs --- */

struct ranked {
    size_t index;
    double distance;
};

static int ranked_compare(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static double size_distance(const struct run *run, double problem_size)
{
    return run->problem_size > 0 ? fabs(log(problem_size / run->problem_size)) : (double)INFINITY;
}

/* Tasks simulated when a run is added to `before` others: the whole curve, and leaving one out. */
static double
curve_cost_of(const struct replay *replay, const struct curve_question *question, size_t n)
{
    double tasks = 0.0;
    for (size_t i = 0; i < question->n_executors; i++) {
        struct replay_target target = {question->problem_size, question->executors[i],
                                       question->cores_per_executor};
        tasks += replay_count_tasks(replay, &target);
    }
    return tasks + (double)replay->n_tasks * (double)(8 + 2 * n);
}

static enum pv_code too_many_tasks(const struct curve_question *question, struct pv_error *err)
{
    return pv_fail(err, PV_E_LIMIT,
                   "replaying the nearest runs for this problem size takes more than %llu "
                   "simulated tasks",
                   (unsigned long long)question->task_budget);
}

/* Prepare the runs nearest in size first, as many as the budget allows; ties keep their order. */
static enum pv_code choose_replays(const struct run runs[],
                                   size_t n,
                                   const struct curve_question *question,
                                   struct arena *scratch,
                                   struct replay **replays,
                                   size_t *chosen,
                                   size_t *unusable,
                                   struct pv_error *err)
{
    struct ranked *order = arena_array(scratch, n, sizeof *order);
    struct replay *made = arena_calloc(scratch, n, sizeof *made);
    if (order == NULL || made == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){i, size_distance(&runs[i], question->problem_size)};
    qsort(order, n, sizeof *order, ranked_compare);
    double spent = 0.0;
    *chosen = 0;
    for (size_t i = 0; i < n && spent <= (double)question->task_budget; i++) {
        struct pv_error why = {0};
        enum pv_code code =
            replay_prepare(&runs[order[i].index], scratch, scratch, &made[*chosen], &why);
        if (code == PV_E_TOO_FEW) {
            *unusable += 1;
            pv_fail(err, code, "%s", why.detail); /* of the first one; dropped when another fits */
            continue;
        }
        if (code != PV_OK)
            return pv_fail(err, code, "%s", why.detail);
        spent += curve_cost_of(&made[*chosen], question, *chosen);
        *chosen += spent <= (double)question->task_budget ? 1 : 0;
    }
    if (*unusable == n)
        return PV_E_TOO_FEW;
    pv_error_clear(err);
    *replays = made;
    size_t usable = n - *unusable;
    size_t least = question->least_runs < usable ? question->least_runs : usable;
    return *chosen > 0 && *chosen >= least ? PV_OK : too_many_tasks(question, err);
}

static bool is_same_size(double a, double b)
{
    return fabs(a - b) <= CURVE_SAME_SIZE * fmax(a, b);
}

bool curve_beyond_sizes(double size, double least, double most)
{
    return (size < least && !is_same_size(size, least)) ||
           (size > most && !is_same_size(size, most));
}

static bool seen_before(const struct replay replays[], size_t i, bool by_size)
{
    for (size_t j = 0; j < i; j++) {
        struct replay_target a = target_of(replays[i].run);
        struct replay_target b = target_of(replays[j].run);
        if (by_size ? is_same_size(a.problem_size, b.problem_size)
                    : target_cores(&a) == target_cores(&b))
            return true;
    }
    return false;
}

static void describe_runs(const struct replay replays[], size_t n, struct curve *curve)
{
    curve->runs = n;
    curve->executor_cores_extrapolated = true;
    for (size_t i = 0; i < n; i++) {
        const struct run *run = replays[i].run;
        if (run->cores_per_executor == curve->cores_per_executor)
            curve->executor_cores_extrapolated = false;
        int64_t cores = run->executors * run->cores_per_executor;
        if (i == 0) {
            curve->least_size = curve->most_size = run->problem_size;
            curve->least_cores = curve->most_cores = cores;
        }
        curve->least_size =
            run->problem_size < curve->least_size ? run->problem_size : curve->least_size;
        curve->most_size =
            run->problem_size > curve->most_size ? run->problem_size : curve->most_size;
        curve->least_cores = cores < curve->least_cores ? cores : curve->least_cores;
        curve->most_cores = cores > curve->most_cores ? cores : curve->most_cores;
        curve->distinct_sizes += seen_before(replays, i, true) ? 0 : 1;
        curve->distinct_cores += seen_before(replays, i, false) ? 0 : 1;
        curve->graph_changed = curve->graph_changed || !replay_same_graph(&replays[0], &replays[i]);
    }
    const struct run *nearest = replays[0].run;
    memcpy(curve->nearest_run_id, nearest->id, sizeof curve->nearest_run_id);
    curve->nearest_size = nearest->problem_size;
    curve->nearest_executors = nearest->executors;
    curve->size_extrapolated =
        curve_beyond_sizes(curve->problem_size, curve->least_size, curve->most_size);
}

/* --- the curve --- */

static enum pv_code predict_point(const struct replay replays[],
                                  size_t n,
                                  const struct curve *curve,
                                  int64_t executors,
                                  struct arena *scratch,
                                  struct curve_point *point,
                                  struct pv_error *err)
{
    struct replay_target target = {curve->problem_size, executors, curve->cores_per_executor};
    const struct replay_allocation fixed = {.is_dynamic = false};
    struct combination made;
    PV_TRY(curve_combine(replays, n, n, &target, &fixed, scratch, &made, err));
    double cores = target_cores(&target);
    *point = (struct curve_point){.executors = executors,
                                  .duration_s = made.duration_s,
                                  .spread = curve->residual_spread * (1.0 + made.nearest),
                                  .fixed_s = made.of_nearest.fixed_s,
                                  .critical_path_s = made.of_nearest.critical_path_s,
                                  .work_s = made.of_nearest.work_s,
                                  .longest_task_s = made.of_nearest.longest_task_s,
                                  .longest_is_cut_anew = made.of_nearest.longest_is_cut_anew,
                                  .longest_follows_cores = made.of_nearest.longest_follows_cores,
                                  .recorded_work_s = made.of_nearest.recorded_work_s,
                                  .overhead_per_task_s = made.of_nearest.overhead_per_task_s,
                                  .tasks = (double)made.of_nearest.tasks,
                                  .extrapolated = cores < (double)curve->least_cores ||
                                                  cores > (double)curve->most_cores};
    return PV_OK;
}

/*
 * The runs were chosen by what each of them alone foresees; the laws of all together can foresee
 * more tasks. A few times the budget is borne, orders of magnitude are not.
 */
static enum pv_code check_points(const struct replay replays[],
                                 size_t n,
                                 const struct curve_question *question,
                                 struct pv_error *err)
{
    const double borne = 4.0 * (double)question->task_budget;
    double tasks = 0.0;
    for (size_t i = 0; i < question->n_executors; i++) {
        struct replay_target target = {question->problem_size, question->executors[i],
                                       question->cores_per_executor};
        tasks += curve_count_tasks(replays, n, n, &target);
    }
    return tasks <= borne ? PV_OK : too_many_tasks(question, err);
}

static enum pv_code predict_points(const struct replay replays[],
                                   size_t n,
                                   const struct curve_question *question,
                                   struct arena *scratch,
                                   struct curve *curve,
                                   struct pv_error *err)
{
    for (size_t i = 0; i < question->n_executors; i++)
        PV_TRY(predict_point(replays, n, curve, question->executors[i], scratch, &curve->points[i],
                             err));
    curve->n_points = question->n_executors;
    struct curve_point single;
    PV_TRY(predict_point(replays, n, curve, 1, scratch, &single, err));
    curve->single_s = single.duration_s;
    return PV_OK;
}

enum pv_code curve_predict(const struct run runs[],
                           size_t n,
                           const struct curve_question *question,
                           struct arena *arena,
                           struct arena *scratch,
                           struct curve *curve,
                           struct pv_error *err)
{
    struct curve made = {.problem_size = question->problem_size,
                         .cores_per_executor = question->cores_per_executor};
    made.points = arena_calloc(arena, question->n_executors, sizeof *made.points);
    if (made.points == NULL)
        return pv_no_memory(err);
    struct arena_mark mark = arena_mark(scratch);
    struct replay *replays = NULL;
    size_t chosen = 0;
    enum pv_code code =
        choose_replays(runs, n, question, scratch, &replays, &chosen, &made.runs_unusable, err);
    if (code == PV_OK) {
        describe_runs(replays, chosen, &made);
        made.runs_left_out = n - chosen - made.runs_unusable;
        code = judge_by_leaving_out(replays, chosen, (double)question->task_budget, scratch, &made,
                                    err);
    }
    if (code == PV_OK)
        code = learn_all(replays, chosen, chosen, scratch, err);
    for (size_t i = 0; i < chosen && code == PV_OK; i++) {
        size_t assumed = replay_count_assumed(&replays[i]);
        made.stages_assumed = assumed > made.stages_assumed ? assumed : made.stages_assumed;
    }
    if (code == PV_OK)
        code = check_points(replays, chosen, question, err);
    if (code == PV_OK)
        code = predict_points(replays, chosen, question, scratch, &made, err);
    arena_rewind(scratch, mark);
    if (code == PV_OK)
        *curve = made;
    return code;
}

struct predictive curve_predictive(const struct curve *curve, const struct curve_point *point)
{
    struct predictive predictive = {.predicted_s = point->duration_s};
    if (point->own != NULL)
        return *point->own;
    predictive_add(&predictive, (struct predictive_part){.shape = PREDICTIVE_LOG_STUDENT,
                                                         .scale = point->spread,
                                                         .freedom = curve->freedom});
    return predictive;
}

double
curve_probability(const struct curve *curve, const struct curve_point *point, double deadline_s)
{
    struct predictive predictive = curve_predictive(curve, point);
    double predicted = predictive_probability(&predictive, deadline_s);
    double bound = same_runs_probability(point->ran, deadline_s);
    return predicted > bound ? bound : predicted;
}

double curve_quantile(const struct curve *curve, const struct curve_point *point, double p)
{
    struct predictive predictive = curve_predictive(curve, point);
    double predicted_s = predictive_quantile(&predictive, p);
    double bound_s = same_runs_quantile(point->ran, p);
    return predicted_s < bound_s ? bound_s : predicted_s;
}

void curve_interval(const struct curve *curve,
                    const struct curve_point *point,
                    double confidence,
                    double ends_s[2])
{
    struct predictive predictive = curve_predictive(curve, point);
    predictive_interval(&predictive, confidence, ends_s);
    for (size_t k = 0; k < 2; k++) {
        double p = k == 0 ? (1.0 - confidence) / 2.0 : (1.0 + confidence) / 2.0;
        double bound_s = same_runs_quantile(point->ran, p);
        if (ends_s[k] < bound_s)
            ends_s[k] = bound_s;
    }
}

double curve_speedup(const struct curve *curve, const struct curve_point *point)
{
    return curve->single_s / point->duration_s;
}

const struct curve_point *curve_find(const struct curve *curve, int64_t executors)
{
    for (size_t i = 0; i < curve->n_points; i++)
        if (curve->points[i].executors == executors)
            return &curve->points[i];
    return NULL;
}

enum pv_code curve_predicted_times(const struct curve *curve,
                                   double confidence,
                                   int64_t interval_of,
                                   struct arena *arena,
                                   struct predicted_times *times,
                                   struct pv_error *err)
{
    struct predicted_times made = {.problem_size = curve->problem_size};
    double *executors = arena_array(arena, curve->n_points, sizeof *executors);
    double *duration_s = arena_array(arena, curve->n_points, sizeof *duration_s);
    double(*intervals_s)[2] = arena_array(arena, curve->n_points, sizeof *intervals_s);
    if (executors == NULL || duration_s == NULL || intervals_s == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (!(point->duration_s > 0))
            continue;
        executors[made.n] = (double)point->executors;
        duration_s[made.n] = point->duration_s;
        double *interval_s = intervals_s[made.n++];
        interval_s[0] = interval_s[1] = (double)NAN;
        if (interval_of == RUN_UNKNOWN || interval_of == point->executors)
            curve_interval(curve, point, confidence, interval_s);
    }
    made.executors = executors;
    made.duration_s = duration_s;
    made.intervals_s = (const double(*)[2])intervals_s;
    *times = made;
    return PV_OK;
}
