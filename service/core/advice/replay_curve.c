#include "core/advice/replay_curve.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/quantity_text.h"

/* Distance at which a run's weight has halved; keeps a repeated configuration from deciding alone.
 */
static const double near_distance = 0.1;

/* --- distances --- */

static struct replay_target target_of(const struct run *run)
{
    return (struct replay_target){run->problem_size, run->executors, run->cores_per_executor};
}

static double target_cores(const struct replay_target *target)
{
    return (double)target->executors * (double)target->cores_per_executor;
}

double replay_curve_distance(const struct replay *replay, const struct replay_target *target)
{
    struct replay_target own = target_of(replay->run);
    double cores = replay_useful_cores(replay, target) / replay_useful_cores(replay, &own);
    return fabs(log(target->problem_size / own.problem_size)) + 0.5 * fabs(log(cores));
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
    double duration_s[REPLAY_HYPOTHESES]; /* equal where the hypotheses agree */
    double machines_probability;
    double nearest;                   /* distance of the nearest run */
    struct replay_outcome of_nearest; /* under the likelier hypothesis */
};

static bool is_alike(const struct run *a, const struct run *b)
{
    struct replay_target x = target_of(a), y = target_of(b);
    return target_cores(&x) == target_cores(&y) &&
           fmax(a->problem_size, b->problem_size) <=
               CURVE_GROWN * fmin(a->problem_size, b->problem_size);
}

/* Mean of the logarithms of the durations of runs like replays[which], of all but `skip`. */
static double mean_of_alike(const struct replay replays[], size_t n, size_t skip, size_t which)
{
    double sum = 0.0, weights = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (i == skip || !is_alike(replays[i].run, replays[which].run))
            continue;
        sum += weight_of(replays[i].run) * log(replay_own_s(&replays[i]));
        weights += weight_of(replays[i].run);
    }
    return exp(sum / weights);
}

/* Task slots on the target relative to those of the run, of the stage that gains most. */
static double slots_gained(const struct replay *replay, const struct replay_target *target)
{
    const struct run *run = replay->run;
    double most = 0.0;
    for (size_t s = 0; s < replay->job.n_stages; s++)
        most = fmax(most, stage_slots_count(&replay->slots, s, target->executors,
                                            target->cores_per_executor) /
                              stage_slots_count(&replay->recorded_slots, s, run->executors,
                                                run->cores_per_executor));
    return most;
}

/* Runs that count little bound nothing, nor do those that dynamic allocation gave fewer executors for a
 * part of the time. */
static bool bounds_others(const struct replay *replay)
{
    bool waited = replay->record.n > 0 && replay->record.leave == ALLOCATION_LEAVE_IDLE;
    return weight_of(replay->run) >= 0.5 && !waited;
}

/* The duration that a larger size on no more than proportionally more task slots cannot undercut. */
static double least_by_weak_scaling(const struct replay replays[],
                                    size_t n,
                                    size_t skip,
                                    const struct replay_target *target)
{
    double least_s = 0.0;
    for (size_t i = 0; i < n; i++) {
        const struct run *run = replays[i].run;
        double grown = target->problem_size / run->problem_size;
        double slots = slots_gained(&replays[i], target);
        if (i == skip || grown <= CURVE_GROWN || slots < 1.0 || slots > grown * (1.0 + 1e-9) ||
            !bounds_others(&replays[i]))
            continue;
        least_s = fmax(least_s, grown >= CURVE_WELL_GROWN ? replay_own_s(&replays[i])
                                                          : mean_of_alike(replays, n, skip, i));
    }
    return least_s;
}

/* Outcomes of one replay under both hypotheses; the second simulation only where they differ. */
static enum pv_code replay_hypotheses(const struct replay *replay,
                                      const struct replay_target *target,
                                      struct arena *scratch,
                                      struct replay_outcome outcomes[REPLAY_HYPOTHESES],
                                      struct pv_error *err)
{
    struct replay assumed = *replay;
    bool differ = replay_hypotheses_differ(replay, target);
    for (size_t h = 0; h < REPLAY_HYPOTHESES; h++) {
        outcomes[h] = h > 0 ? outcomes[h - 1] : (struct replay_outcome){0};
        if (h > 0 && !differ)
            continue;
        if (differ)
            replay_assume(&assumed, (enum replay_hypothesis)h);
        PV_TRY(replay_predict(&assumed, target, scratch, &outcomes[h], err));
    }
    return PV_OK;
}

/* Prediction of all replays but `skip` (n: none), whose laws were learned for the occasion. */
static enum pv_code curve_combine(const struct replay replays[],
                                  size_t n,
                                  size_t skip,
                                  const struct replay_target *target,
                                  struct arena *scratch,
                                  struct combination *made,
                                  struct pv_error *err)
{
    double sums[REPLAY_HYPOTHESES] = {0}, weights = 0.0;
    double machines = 0.0, undecided = 0.0;
    struct replay_outcome of_nearest[REPLAY_HYPOTHESES] = {0};
    made->nearest = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        struct replay_outcome outcomes[REPLAY_HYPOTHESES];
        if (i == skip)
            continue;
        PV_TRY(replay_hypotheses(&replays[i], target, scratch, outcomes, err));
        double d = replay_curve_distance(&replays[i], target);
        double weight = weight_at(d) * weight_of(replays[i].run);
        for (size_t h = 0; h < REPLAY_HYPOTHESES; h++)
            sums[h] += weight * log(outcomes[h].duration_s);
        weights += weight;
        if (replays[i].undecided > 0) {
            machines += weight * replays[i].machines_probability;
            undecided += weight;
        }
        if (d < made->nearest) {
            made->nearest = d;
            memcpy(of_nearest, outcomes, sizeof of_nearest);
        }
    }
    double least_s = least_by_weak_scaling(replays, n, skip, target);
    for (size_t h = 0; h < REPLAY_HYPOTHESES; h++)
        made->duration_s[h] = fmax(least_s, exp(sums[h] / weights));
    made->machines_probability = undecided > 0.0 ? machines / undecided : 1.0;
    made->of_nearest =
        of_nearest[made->machines_probability < 0.5 ? REPLAY_OTHERWISE : REPLAY_MACHINES];
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

static double count_hypotheses(const struct replay *replay, const struct replay_target *target)
{
    struct replay assumed = *replay;
    double tasks = 0.0;
    if (!replay_hypotheses_differ(replay, target))
        return replay_count_tasks(replay, target);
    for (size_t h = 0; h < REPLAY_HYPOTHESES; h++) {
        replay_assume(&assumed, (enum replay_hypothesis)h);
        tasks += replay_count_tasks(&assumed, target);
    }
    return tasks;
}

/* Tasks that `combine` simulates, by the laws learned for it. */
static double curve_count_tasks(const struct replay replays[],
                                size_t n,
                                size_t skip,
                                const struct replay_target *target)
{
    double tasks = 0.0;
    for (size_t i = 0; i < n; i++)
        tasks += i == skip ? 0.0 : count_hypotheses(&replays[i], target);
    return tasks;
}

/* The run left out decides between the hypotheses. Their doubt belongs to the mixture, not to the
 * spread. */
static double nearer_hypothesis(const struct combination *made, double actual_s)
{
    const double *predicted_s = made->duration_s;
    double machines = fabs(log(actual_s / predicted_s[REPLAY_MACHINES]));
    double otherwise = fabs(log(actual_s / predicted_s[REPLAY_OTHERWISE]));
    return predicted_s[machines <= otherwise ? REPLAY_MACHINES : REPLAY_OTHERWISE];
}

/*
 * Leave one run out at a time: fills in spread, freedom and loo_mape_percent. Seen from the others
 * a run on very many cores can have so many tasks that simulating them goes beyond the budget: it
 * is then not judged.
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
            code = curve_combine(replays, n, i, &target, scratch, &made, err);
        if (code != PV_OK)
            return code;
        double actual_s = replay_own_s(&replays[i]);
        double predicted_s = nearer_hypothesis(&made, actual_s);
        double residual = log(actual_s / predicted_s) / (1.0 + made.nearest);
        double weight = weight_of(replays[i].run);
        residuals += weight;
        squares += weight * residual * residual;
        percent += weight * 100.0 * fabs(predicted_s - actual_s) / actual_s;
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

/* The runs are chosen by what each of them alone foresees; the laws of all together can foresee more
 * tasks. So many times the budget is borne, orders of magnitude are not. */
#define POINTS_BORNE 4.0

/* Tasks simulated when a run is added to `before` others: the whole curve, and leaving one out. */
static double
curve_cost_of(const struct replay *replay, const struct curve_question *question, size_t n)
{
    double tasks = 0.0;
    for (size_t i = 0; i < question->n_executors; i++) {
        struct replay_target target = {question->problem_size, question->executors[i],
                                       question->cores_per_executor};
        tasks += count_hypotheses(replay, &target);
    }
    return tasks + (double)replay->n_tasks * (double)(8 + 2 * n);
}

/* Tasks that all points take by the laws that the runs show together. */
static double
count_points(const struct replay replays[], size_t n, const struct curve_question *question)
{
    double tasks = 0.0;
    for (size_t i = 0; i < question->n_executors; i++) {
        struct replay_target target = {question->problem_size, question->executors[i],
                                       question->cores_per_executor};
        tasks += curve_count_tasks(replays, n, n, &target);
    }
    return tasks;
}

static bool is_borne(const struct replay replays[], size_t n, const struct curve_question *question)
{
    return curve_cost_of(&replays[0], question, 0) <= (double)question->task_budget &&
           count_points(replays, n, question) <= POINTS_BORNE * (double)question->task_budget;
}

/* The question with so many cores per executor; counts has room for its executor counts, which extend
 * farther the fewer cores each has. */
static struct curve_question
with_cores(const struct curve_question *question, int64_t cores, int64_t counts[])
{
    struct curve_question asked = *question;
    const double last = (double)question->executors[question->n_executors - 1];
    const double wider = (double)question->cores_per_executor / (double)cores;
    const double most = fmax(1.0, (double)question->executors_max / last);
    for (size_t i = 0; i < question->n_executors; i++)
        counts[i] = (int64_t)ceil((double)question->executors[i] * fmin(wider, most));
    asked.cores_per_executor = cores;
    asked.executors = counts;
    return asked;
}

/* So many cores per executor the budget bears, rounded down to two digits, as counts that a request
 * adds may take some tasks more; 0: not even one. */
static int64_t
most_cores(const struct replay replays[], size_t n, const struct curve_question *question)
{
    int64_t counts[CURVE_POINTS_MAX];
    int64_t least = 0, most = question->cores_per_executor, step = 1;
    while (most - least > 1) {
        const int64_t cores = least + (most - least) / 2;
        const struct curve_question asked = with_cores(question, cores, counts);
        *(is_borne(replays, n, &asked) ? &least : &most) = cores;
    }
    while (least / step >= 100)
        step *= 10;
    return least - least % step;
}

/* Rounded down to three digits; 0: no size is small enough. */
static double
most_size(const struct replay replays[], size_t n, const struct curve_question *question)
{
    enum { HALVINGS = 30 };
    struct curve_question asked = *question;
    double least = 0.0, most = question->problem_size;
    for (int i = 0; i < HALVINGS; i++) {
        asked.problem_size = least + (most - least) / 2;
        const bool borne = is_borne(replays, n, &asked);
        *(borne ? &least : &most) = asked.problem_size;
    }
    const double step = pow(10, floor(log10(fmax(least, 1e-9))) - 2);
    return least > 0.0 ? step * floor(least / step) : 0.0;
}

/* Names the allowed cores, and the allowed size if the cores stay. The replays have learned from each other. */
static enum pv_code too_many_tasks(const struct replay replays[],
                                   size_t n,
                                   const struct curve_question *question,
                                   struct pv_error *err)
{
    const int64_t cores = most_cores(replays, n, question);
    const double size = most_size(replays, n, question);
    char allowed[2][96] = {"", ""};
    if (cores > 0)
        (void)snprintf(allowed[0], sizeof allowed[0], "at most %" PRId64 " core%s per executor",
                       cores, PLURAL(cores));
    if (size > 0.0)
        (void)snprintf(allowed[1], sizeof allowed[1], "%sa problem size of at most %s",
                       cores > 0 ? " or " : "", quantity_number(size).text);
    return pv_fail(err, PV_E_LIMIT,
                   "replaying recorded runs takes more than %llu simulated tasks%s%s%s",
                   (unsigned long long)question->task_budget,
                   cores > 0 || size > 0.0 ? ": use " : "", allowed[0], allowed[1]);
}

/* As many runs as there are would be replayed if the question were small enough. */
static enum pv_code refuse_work(const struct run runs[],
                                const struct ranked order[],
                                size_t n,
                                const struct curve_question *question,
                                struct arena *scratch,
                                struct pv_error *err)
{
    struct replay *made = arena_calloc(scratch, n, sizeof *made);
    size_t usable = 0;
    if (made == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        enum pv_code code =
            replay_prepare(&runs[order[i].index], scratch, scratch, &made[usable], NULL);
        if (code != PV_OK && code != PV_E_TOO_FEW)
            return pv_fail(err, code, "a run cannot be replayed");
        usable += code == PV_OK;
    }
    PV_TRY(learn_all(made, usable, usable, scratch, err));
    return too_many_tasks(made, usable, question, err);
}

/* Prepare the runs nearest in size first, as many as the budget allows; ties keep their order. */
static enum pv_code choose_replays(const struct run runs[],
                                   size_t n,
                                   const struct curve_question *question,
                                   struct arena *arena,
                                   struct arena *scratch,
                                   struct replay **replays,
                                   size_t *chosen,
                                   struct curve *curve,
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
            if (curve->runs_unusable++ == 0)
                curve->unusable_why = arena_strdup(arena, why.detail);
            if (curve->unusable_why == NULL)
                return pv_no_memory(err);
            continue;
        }
        if (code != PV_OK)
            return pv_fail(err, code, "%s", why.detail);
        spent += curve_cost_of(&made[*chosen], question, *chosen);
        *chosen += spent <= (double)question->task_budget ? 1 : 0;
    }
    if (curve->runs_unusable == n)
        return pv_fail(err, PV_E_TOO_FEW, "%s", curve->unusable_why);
    *replays = made;
    size_t usable = n - curve->runs_unusable;
    size_t least = question->least_runs < usable ? question->least_runs : usable;
    if (*chosen > 0 && *chosen >= least)
        return PV_OK;
    return refuse_work(runs, order, n, question, scratch, err);
}

static bool cores_seen_before(const struct replay replays[], size_t i)
{
    for (size_t j = 0; j < i; j++) {
        struct replay_target a = target_of(replays[i].run);
        struct replay_target b = target_of(replays[j].run);
        if (target_cores(&a) == target_cores(&b))
            return true;
    }
    return false;
}

/* The resource profiles of the stages, once each. */
static void describe_slots(const struct stage_slots *slots, struct curve *curve)
{
    bool differ = false;
    for (size_t s = 0; s < slots->n; s++) {
        const struct task_slots *of = &slots->of[s];
        size_t known = 0;
        while (known < curve->n_slots && curve->slots[known].of.profile != of->profile)
            known++;
        if (known < curve->n_slots || known == CURVE_SLOTS_MAX)
            continue;
        struct curve_slots made = {
            .of = *of,
            .per_executor = stage_slots_per_executor(slots, s, curve->cores_per_executor),
            .cores = task_slots_cores(of, slots->run, curve->cores_per_executor)};
        (void)snprintf(made.resource, sizeof made.resource, "%.*s", (int)of->resource.n,
                       of->resource.at == NULL ? "" : of->resource.at);
        made.of.resource = (struct strview){NULL, 0};
        differ = differ || made.per_executor != made.cores || of->share < 1.0;
        curve->slots[curve->n_slots++] = made;
    }
    curve->n_slots = differ ? curve->n_slots : 0;
}

/* The first run that lost executors, which is the nearest in size. */
static void describe_losses(const struct replay replays[], size_t n, struct curve *curve)
{
    for (size_t i = 0; i < n; i++) {
        const struct run *run = replays[i].run;
        if (!(run->executors_lost > 0))
            continue;
        if (curve->runs_with_losses++ > 0)
            continue;
        memcpy(curve->losses.run_id, run->id, sizeof curve->losses.run_id);
        curve->losses.executors = run->executors;
        curve->losses.lost = run->executors_lost;
        curve->losses.cost_s = replays[i].lost_s;
        curve->losses.duration_s = run->duration_s;
    }
}

static void describe_runs(const struct replay replays[], size_t n, struct curve *curve)
{
    curve->runs = n;
    curve->executor_cores_extrapolated = true;
    for (size_t i = 0; i < n; i++) {
        const struct run *run = replays[i].run;
        warned_runs_add_run(&curve->warned, run);
        if (run->cores_per_executor == curve->cores_per_executor)
            curve->executor_cores_extrapolated = false;
        int64_t cores = run->executors * run->cores_per_executor;
        if (i == 0) {
            curve->least_size = curve->most_size = run->problem_size;
            curve->least_cores = curve->most_cores = cores;
        }
        curve->least_size = fmin(curve->least_size, run->problem_size);
        curve->most_size = fmax(curve->most_size, run->problem_size);
        curve->least_cores = smaller_int64(curve->least_cores, cores);
        curve->most_cores = larger_int64(curve->most_cores, cores);
        curve->distinct_cores += cores_seen_before(replays, i) ? 0 : 1;
        curve->graph_changed = curve->graph_changed || !replay_same_graph(&replays[0], &replays[i]);
    }
    const struct run *nearest = replays[0].run;
    memcpy(curve->nearest_run_id, nearest->id, sizeof curve->nearest_run_id);
    curve->nearest_size = nearest->problem_size;
    curve->nearest_executors = nearest->executors;
    curve->attempts_s = nearest->failed_task_time_s;
    curve->attempts_share = curve->attempts_s / (nearest->task_time_s + curve->attempts_s);
    curve->executors_excluded = nearest->executors_excluded;
    describe_losses(replays, n, curve);
    describe_slots(&replays[0].slots, curve);
    curve->fewest_executors = task_slots_least_executors(nearest, curve->cores_per_executor);
    curve->size_extrapolated =
        curve_beyond_sizes(curve->problem_size, curve->least_size, curve->most_size);
}

/* |ln(N / nearest size)| where N lies outside the runs' sizes, else 0. */
static double log_beyond_sizes(const struct curve *curve)
{
    return fmax(0.0, fmax(log(curve->problem_size / curve->most_size),
                          log(curve->least_size / curve->problem_size)));
}

/* Deviation of the exponent of growth: that of a slope by least squares over the sizes of the runs,
 * with a prior; no less than the spread at a distance of 1. */
static double growth_deviation(const struct replay replays[], size_t n, double residual_spread)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++)
        mean += log(replays[i].run->problem_size) / (double)n;
    for (size_t i = 0; i < n; i++) {
        double off = log(replays[i].run->problem_size) - mean;
        squares += off * off;
    }
    double prior = 1.0 / (CURVE_GROWTH_DEVIATION * CURVE_GROWTH_DEVIATION);
    return fmax(residual_spread, 1.0 / sqrt(prior + squares / (residual_spread * residual_spread)));
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
    struct combination made;
    PV_TRY(curve_combine(replays, n, n, &target, scratch, &made, err));
    double cores = target_cores(&target);
    double beyond = log_beyond_sizes(curve);
    double machines_s = made.duration_s[REPLAY_MACHINES];
    double otherwise_s = made.duration_s[REPLAY_OTHERWISE];
    *point = (struct curve_point){
        .executors = executors,
        .duration_s = machines_s,
        .spread = hypot(curve->residual_spread * (1.0 + fmax(0.0, made.nearest - beyond)),
                        curve->growth_deviation * beyond),
        .fixed_s = made.of_nearest.fixed_s,
        .critical_path_s = made.of_nearest.critical_path_s,
        .work_s = made.of_nearest.work_s,
        .work_per_slot_s = made.of_nearest.work_per_slot_s,
        .longest_task_s = made.of_nearest.longest_task_s,
        .longest_stage_id = made.of_nearest.longest_stage_id,
        .longest_is_cut_anew = made.of_nearest.longest_is_cut_anew,
        .longest_follows_cores = made.of_nearest.longest_follows_cores,
        .recorded_work_s = made.of_nearest.recorded_work_s,
        .overhead_per_task_s = made.of_nearest.overhead_per_task_s,
        .waiting_s = made.of_nearest.waiting_s,
        .cache_hit = made.of_nearest.cache_hit,
        .cache_doubt_s = made.of_nearest.cache_doubt_s,
        .tasks = (double)made.of_nearest.tasks,
        .extrapolated = cores < (double)curve->least_cores || cores > (double)curve->most_cores};
    if (fabs(log(machines_s / otherwise_s)) < 0.01) {
        point->duration_s = made.machines_probability < 0.5 ? otherwise_s : machines_s;
        return PV_OK;
    }
    point->n_centres = 2;
    point->centres[0] = (struct predictive_centre){machines_s, made.machines_probability};
    point->centres[1] = (struct predictive_centre){otherwise_s, 1.0 - made.machines_probability};
    point->duration_s = curve_predictive(curve, point).predicted_s;
    return PV_OK;
}

static enum pv_code check_points(const struct replay replays[],
                                 size_t n,
                                 const struct curve_question *question,
                                 struct pv_error *err)
{
    if (count_points(replays, n, question) <= POINTS_BORNE * (double)question->task_budget)
        return PV_OK;
    return too_many_tasks(replays, n, question, err);
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

/* Names of resources are in the runs, which the curve outlives. */
static enum pv_code copy_resources(struct curve *curve, struct arena *arena, struct pv_error *err)
{
    for (size_t i = 0; i < curve->n_slots; i++) {
        struct strview *resource = &curve->slots[i].of.resource;
        if (resource->at == NULL)
            continue;
        *resource = arena_copy(arena, *resource);
        if (resource->at == NULL)
            return pv_no_memory(err);
    }
    return PV_OK;
}

enum pv_code replay_curve_make(const struct run runs[],
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
        choose_replays(runs, n, question, arena, scratch, &replays, &chosen, &made, err);
    if (code == PV_OK)
        code = stage_slots_check(&replays[0].slots, question->cores_per_executor, err);
    if (code == PV_OK) {
        describe_runs(replays, chosen, &made);
        made.runs_left_out = n - chosen - made.runs_unusable;
        code = copy_resources(&made, arena, err);
    }
    if (code == PV_OK)
        code = judge_by_leaving_out(replays, chosen, (double)question->task_budget, scratch, &made,
                                    err);
    if (code == PV_OK)
        code = learn_all(replays, chosen, chosen, scratch, err);
    if (code == PV_OK)
        made.growth_deviation = growth_deviation(replays, chosen, made.residual_spread);
    for (size_t i = 0; i < chosen && code == PV_OK; i++) {
        size_t undecided = replays[i].undecided;
        made.stages_assumed = undecided > made.stages_assumed ? undecided : made.stages_assumed;
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
