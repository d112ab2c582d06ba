#include "core/advice/advise.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "core/history/run.h"

const char *advise_objective_name(enum advise_objective objective)
{
    static const char *const names[ADVISE_OBJECTIVES] = {"min_executors", "min_cost", "min_time",
                                                         "max_speedup", "efficiency"};
    return names[objective];
}

/* What every look at a point needs. */
struct view {
    const struct curve *curve;
    const struct advise_goal *goal;
};

static double advise_cost_of(const struct advise_goal *goal, double executor_s)
{
    return executor_s / 3600.0 * goal->price_per_executor_hour;
}

static struct advise_choice advise_describe(const struct view *view,
                                            const struct curve_point *point)
{
    const struct advise_goal *goal = view->goal;
    double m = (double)point->executors;
    struct predictive predictive = curve_predictive(view->curve, point);
    double ends_s[2];
    predictive_interval(&predictive, goal->confidence, ends_s);
    double speedup = curve_speedup(view->curve, point);
    double executor_s = m * point->duration_s;
    return (struct advise_choice){.executors = point->executors,
                                  .predicted_duration_s = point->duration_s,
                                  .lower_s = ends_s[0],
                                  .upper_s = ends_s[1],
                                  .deadline_probability =
                                      isnan(goal->deadline_s)
                                          ? (double)NAN
                                          : curve_probability(view->curve, point, goal->deadline_s),
                                  .speedup = speedup,
                                  .efficiency = speedup / m,
                                  .executor_s = executor_s,
                                  .cost = advise_cost_of(goal, executor_s)};
}

/* --- which points may be chosen --- */

bool advise_is_allowed(const struct advise_goal *goal, const struct curve_point *point)
{
    double executor_s = (double)point->executors * point->duration_s;
    return point->executors >= goal->min_executors && point->executors <= goal->max_executors &&
           (isnan(goal->max_cost) || advise_cost_of(goal, executor_s) <= goal->max_cost);
}

enum standing { ANY, PREDICTED, CONFIDENT };

/* How a point stands to a deadline. */
static enum standing
standing_at(const struct view *view, const struct curve_point *point, double deadline_s)
{
    if (isnan(deadline_s) ||
        curve_probability(view->curve, point, deadline_s) >= view->goal->confidence)
        return CONFIDENT;
    return point->duration_s <= deadline_s ? PREDICTED : ANY;
}

static enum standing standing_of(const struct view *view, const struct curve_point *point)
{
    return standing_at(view, point, view->goal->deadline_s);
}

/* Smaller is better. */
static double
score(const struct curve *curve, enum advise_objective objective, const struct curve_point *point)
{
    double speedup = curve_speedup(curve, point);
    switch (objective) {
    case ADVISE_MIN_EXECUTORS:
        return (double)point->executors;
    case ADVISE_MIN_COST:
        return (double)point->executors * point->duration_s;
    case ADVISE_MIN_TIME:
    case ADVISE_MAX_SPEEDUP:
        return point->duration_s;
    case ADVISE_EFFICIENCY:
        return -speedup * speedup / (double)point->executors;
    case ADVISE_OBJECTIVES:
        break;
    }
    return 0.0;
}

/* The fewest allowed executors that take at most duration_s; NULL: none. */
static const struct curve_point *
fewest_within(const struct view *view, double duration_s, enum standing least)
{
    for (size_t i = 0; i < view->curve->n_points; i++) {
        const struct curve_point *point = &view->curve->points[i];
        if (advise_is_allowed(view->goal, point) && standing_of(view, point) >= least &&
            point->duration_s <= duration_s)
            return point;
    }
    return NULL;
}

/*
 * Best allowed point whose standing is at least `least`; NULL: none. Points ascend in executors, so
 * a tie goes to the fewer.
 */
static const struct curve_point *
best_point(const struct view *view, enum advise_objective objective, enum standing least)
{
    const struct curve *curve = view->curve;
    const struct advise_goal *goal = view->goal;
    const struct curve_point *best = NULL;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (advise_is_allowed(goal, point) && standing_of(view, point) >= least &&
            (best == NULL || score(curve, objective, point) < score(curve, objective, best)))
            best = point;
    }
    /* Within a percent of the peak more executors buy nothing: take the fewest. */
    return best == NULL || objective != ADVISE_MAX_SPEEDUP
               ? best
               : fewest_within(view, best->duration_s * 1.01, least);
}

/* Where none has the asked confidence: the most probable of those predicted to meet the deadline.
 */
static const struct curve_point *most_probable(const struct view *view)
{
    const struct curve *curve = view->curve;
    const struct advise_goal *goal = view->goal;
    const struct curve_point *best = NULL;
    double greatest = -1.0;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (advise_is_allowed(goal, point) && standing_of(view, point) >= PREDICTED) {
            double p = curve_probability(curve, point, goal->deadline_s);
            if (p > greatest) {
                greatest = p;
                best = point;
            }
        }
    }
    return best;
}

/* The fewest executors beyond the allowed ones that would do, with confidence if possible. */
static int64_t executors_that_would_do(const struct view *view)
{
    const struct curve *curve = view->curve;
    const struct advise_goal *goal = view->goal;
    for (int least = CONFIDENT; least >= PREDICTED; least--) {
        for (size_t i = 0; i < curve->n_points; i++) {
            const struct curve_point *point = &curve->points[i];
            if (point->executors > goal->max_executors && (int)standing_of(view, point) >= least)
                return point->executors;
        }
    }
    return RUN_UNKNOWN;
}

/*
 * The least deadline that some allowed point meets with confidence: the least of their quantiles,
 * which need not be that of the fastest point, for the spread grows with the distance from the
 * runs. Asked again it holds, whatever logarithm and exponential round off. Only points that the
 * least so far does not suffice for are asked for theirs, which is cheaper.
 */
static double deadline_that_would_do(const struct view *view)
{
    const struct curve_point *best = NULL;
    double confidence = view->goal->confidence;
    double least_s = (double)INFINITY;
    for (size_t i = 0; i < view->curve->n_points; i++) {
        const struct curve_point *point = &view->curve->points[i];
        if (!advise_is_allowed(view->goal, point) ||
            (best != NULL && curve_probability(view->curve, point, least_s) < confidence))
            continue;
        double deadline_s = curve_quantile(view->curve, point, confidence);
        if (deadline_s < least_s) {
            least_s = deadline_s;
            best = point;
        }
    }
    if (best == NULL)
        return (double)NAN;
    /* From about the spacing of doubles: rounding of the quantile may fall just short of it. */
    for (double step = 1e-15; step < 1e-6 && standing_at(view, best, least_s) < CONFIDENT;
         step *= 2.0)
        least_s *= 1.0 + step;
    return least_s;
}

const struct curve_point *advise_point_below(const struct curve *curve,
                                             const struct advise_goal *goal,
                                             const struct curve_point *point)
{
    while (point > curve->points)
        if (advise_is_allowed(goal, --point))
            return point;
    return NULL;
}

/* --- alternatives --- */

enum { ALTERNATIVES_MAX = 16 };

static double executor_seconds(const struct curve_point *point)
{
    return (double)point->executors * point->duration_s;
}

/* Faster first; equally fast: cheaper first. */
static int faster_first(const void *left, const void *right)
{
    const struct curve_point *a = *(const struct curve_point *const *)left;
    const struct curve_point *b = *(const struct curve_point *const *)right;
    if (a->duration_s != b->duration_s)
        return a->duration_s < b->duration_s ? -1 : 1;
    return (executor_seconds(a) > executor_seconds(b)) -
           (executor_seconds(a) < executor_seconds(b));
}

/* Allowed points that no other beats in both time and executor seconds. Returns how many. */
static size_t find_front(const struct view *view, const struct curve_point *front[])
{
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < view->curve->n_points; i++)
        if (advise_is_allowed(view->goal, &view->curve->points[i]))
            front[n++] = &view->curve->points[i];
    qsort(front, n, sizeof *front, faster_first);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || executor_seconds(front[i]) < executor_seconds(front[kept - 1]))
            front[kept++] = front[i];
    return kept;
}

/* Thin n entries evenly to at most `room`, both ends kept. Returns how many are left. */
static size_t thin_front(const struct curve_point *front[], size_t n, size_t room)
{
    if (n <= room)
        return n;
    for (size_t i = 0; i < room; i++)
        front[i] = front[i * (n - 1) / (room - 1)];
    return room;
}

static size_t
add_if_absent(const struct curve_point *front[], size_t n, const struct curve_point *point)
{
    for (size_t i = 0; i < n; i++)
        if (front[i] == point)
            return n;
    if (point != NULL)
        front[n++] = point;
    return n;
}

/* The front, thinned to leave room for the point chosen and the next fewer, which always stand. */
static enum pv_code list_alternatives(const struct view *view,
                                      const struct curve_point *recommended,
                                      struct arena *arena,
                                      struct advice *advice,
                                      struct pv_error *err)
{
    const struct curve_point **front =
        arena_array(arena, view->curve->n_points + 2, sizeof(const struct curve_point *));
    struct advise_choice *chosen = arena_array(arena, ALTERNATIVES_MAX, sizeof *chosen);
    if (front == NULL || chosen == NULL)
        return pv_no_memory(err);
    size_t n = thin_front(front, find_front(view, front), ALTERNATIVES_MAX - 2);
    n = add_if_absent(front, n, recommended);
    n = add_if_absent(front, n, advise_point_below(view->curve, view->goal, recommended));
    qsort(front, n, sizeof *front, faster_first);
    for (size_t i = 0; i < n; i++)
        chosen[i] = advise_describe(view, front[i]);
    advice->alternatives = chosen;
    advice->n_alternatives = n;
    return PV_OK;
}

/* --- more data --- */

static void judge_history(const struct curve *curve, struct advice *advice)
{
    /* More than the prior counts for (CURVE_PRIOR_FREEDOM); from here on models compete, too. */
    enum { ENOUGH_RUNS = 5 };
    if (curve->runs < ENOUGH_RUNS) {
        advice->data_needed_runs = ENOUGH_RUNS - (int64_t)curve->runs;
        advice->data_needed_why =
            "with fewer than five replayed runs the interval is mostly based on a prior";
    } else if (curve->distinct_cores < 2) {
        advice->data_needed_runs = 1;
        advice->data_needed_why =
            "all replayed runs had the same number of cores: a run on another number would show "
            "which stages follow it";
    } else if (curve->size_extrapolated && curve->distinct_sizes < 2) {
        advice->data_needed_runs = 1;
        advice->data_needed_why =
            "all runs had the same problem size: a run of another size would show how "
            "the work grows";
    }
}

/* --- in words --- */

struct explanation {
    const struct curve *curve;
    const struct curve_point *point;
    const struct advise_goal *goal;
    struct advice *advice;
};

/* Nothing that a few runs predict is certain: the sentence stops at three nines. */
static void explain_deadline_met(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    double p = choice->deadline_probability;
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_met",
                    "%" PRId64 " executor%s within %.6g s with probability %s%.3g.",
                    choice->executors, choice->executors == 1 ? " finishes" : "s finish",
                    e->goal->deadline_s, p > 0.999 ? "above " : "", fmin(p, 0.999));
    finding_number(note, "deadline_s", e->goal->deadline_s);
    finding_number(note, "predicted_duration_s", choice->predicted_duration_s);
    finding_number(note, "deadline_probability", choice->deadline_probability);
    finding_number(note, "confidence", e->goal->confidence);
    const struct curve_point *below = advise_point_below(e->curve, e->goal, e->point);
    if (below != NULL && e->advice->objective == ADVISE_MIN_EXECUTORS) {
        finding_number(note, "fewer_executors", (double)below->executors);
        finding_number(note, "fewer_executors_probability",
                       curve_probability(e->curve, below, e->goal->deadline_s));
    }
}

static const struct curve_point *fastest_allowed(const struct explanation *e)
{
    const struct curve_point *fastest = e->point;
    for (size_t i = 0; i < e->curve->n_points; i++) {
        const struct curve_point *point = &e->curve->points[i];
        if (advise_is_allowed(e->goal, point) && point->duration_s < fastest->duration_s)
            fastest = point;
    }
    return fastest;
}

static void explain_deadline_missed(struct explanation *e)
{
    const struct advise_choice *choice = &e->advice->recommendation;
    const struct curve_point *fastest = fastest_allowed(e);
    char nearest[160];
    if (fastest == e->point)
        (void)snprintf(nearest, sizeof nearest, "%" PRId64 " executor%s nearest with %.6g s",
                       choice->executors, choice->executors == 1 ? " comes" : "s come",
                       choice->predicted_duration_s);
    else
        (void)snprintf(nearest, sizeof nearest,
                       "%" PRId64 " executor%s %.6g s, the fewest within 2 percent of the shortest "
                       "time allowed (%.6g s with %" PRId64 ")",
                       choice->executors, choice->executors == 1 ? " takes" : "s take",
                       choice->predicted_duration_s, fastest->duration_s, fastest->executors);
    struct finding *note =
        finding_add(&e->advice->reasons, "deadline_missed",
                    "No allowed executor count is predicted to finish within %.6g s; %s.",
                    e->goal->deadline_s, nearest);
    finding_number(note, "deadline_s", e->goal->deadline_s);
    finding_number(note, "predicted_duration_s", choice->predicted_duration_s);
    finding_number(note, "max_executors", (double)e->goal->max_executors);
    finding_number(note, "fastest_executors", (double)fastest->executors);
    finding_number(note, "fastest_duration_s", fastest->duration_s);
}

static void explain_objective(struct explanation *e)
{
    static const char *const texts[ADVISE_OBJECTIVES] = {
        "It is the fewest executors that meet the deadline.",
        "It takes the fewest executor seconds of all that are allowed.",
        "It has the shortest predicted time of all that are allowed.",
        "It is the fewest executors within one percent of the greatest speedup.",
        "It is the knee of the curve: the greatest product of speedup and efficiency."};
    const struct advise_choice *choice = &e->advice->recommendation;
    bool lacked = e->advice->objective != e->goal->objective;
    struct finding *note =
        finding_add(&e->advice->reasons, "objective", "%s%s",
                    lacked ? "Without a deadline the choice goes by efficiency. " : "",
                    texts[e->advice->objective]);
    finding_text(note, "objective", advise_objective_name(e->advice->objective));
    finding_number(note, "executors", (double)choice->executors);
    finding_number(note, "speedup", choice->speedup);
    finding_number(note, "efficiency", choice->efficiency);
    finding_number(note, "executor_s", choice->executor_s);
}

/* A model has no nearest run, and does not know what bounds a duration. */
static void explain_fit(struct explanation *e)
{
    const struct curve *curve = e->curve;
    struct finding *note = finding_add(
        &e->advice->reasons, "fitted_runs",
        "The model %s was fitted to the durations of %zu run%s, of problem sizes %" PRId64
        " to %" PRId64 " on %" PRId64 " to %" PRId64 " executors.",
        curve->model_kind, curve->runs, PLURAL(curve->runs), curve->least_size, curve->most_size,
        curve->least_cores / curve->cores_per_executor,
        curve->most_cores / curve->cores_per_executor);
    finding_text(note, "model", curve->model_kind);
    finding_number(note, "runs", (double)curve->runs);
    finding_number(note, "least_problem_size", (double)curve->least_size);
    finding_number(note, "most_problem_size", (double)curve->most_size);
    finding_number(note, "least_cores", (double)curve->least_cores);
    finding_number(note, "most_cores", (double)curve->most_cores);
    finding_number(note, "loo_mape_percent", curve->loo_mape_percent);
}

static void explain_runs(struct explanation *e)
{
    const struct curve *curve = e->curve;
    struct finding *note = finding_add(
        &e->advice->reasons, "replayed_runs",
        "The recorded tasks of %zu run%s were replayed on %" PRId64
        " cores; the nearest had problem size %" PRId64 " and %" PRId64 " executor%s.",
        curve->runs, PLURAL(curve->runs), e->point->executors * curve->cores_per_executor,
        curve->nearest_size, curve->nearest_executors, PLURAL(curve->nearest_executors));
    finding_number(note, "runs", (double)curve->runs);
    finding_text(note, "nearest_run", curve->nearest_run_id);
    finding_number(note, "least_problem_size", (double)curve->least_size);
    finding_number(note, "most_problem_size", (double)curve->most_size);
    finding_number(note, "least_cores", (double)curve->least_cores);
    finding_number(note, "most_cores", (double)curve->most_cores);
    finding_number(note, "loo_mape_percent", curve->loo_mape_percent);
}

struct bound {
    const char *kind;
    const char *text;
};

/*
 * What a chain of stages waits for. A long task of a stage that is cut to the cores is no
 * straggler: it is the stage's work, and more executors cut it shorter.
 */
static struct bound bound_of_chain(const struct curve_point *point)
{
    /* Half: one task that takes most of the longest chain is what to look at. */
    if (point->longest_task_s <= 0.5 * point->critical_path_s)
        return (struct bound){"critical_path", "the chain of stages with their longest tasks"};
    if (point->longest_follows_cores)
        return (struct bound){
            "stage_cut_to_cores",
            "the longest task of a stage whose number of tasks is taken to follow "
            "the cores: more executors cut it shorter"};
    return (struct bound){"straggler", "a single long task: split it or spread its keys"};
}

static struct bound bound_of(const struct curve_point *point, double share_s)
{
    if (point->fixed_s > share_s && point->fixed_s >= point->critical_path_s)
        return (struct bound){
            "serial_part",
            "the time outside any stage (start and driver), which executors do not shorten"};
    if (point->critical_path_s > share_s)
        return bound_of_chain(point);
    return (struct bound){"work", "work shared among the cores: more executors help"};
}

/* What would have to change for the job to be faster here. */
static void explain_bound(struct explanation *e)
{
    const struct curve_point *point = e->point;
    double cores = (double)point->executors * (double)e->curve->cores_per_executor;
    double share_s = point->work_s / cores;
    double overhead_s = point->tasks * point->overhead_per_task_s;
    struct bound bound = bound_of(point, share_s);
    char overhead[160] = "";
    /* Half a percent of the work: less is not worth a sentence. */
    if (overhead_s > 0.005 * point->work_s)
        (void)snprintf(overhead, sizeof overhead,
                       " Of the %.6g s of work %.6g s are no recorded task time but overhead: %.3g "
                       "s a task, set so that the run's own duration comes out.",
                       point->work_s, overhead_s, point->overhead_per_task_s);
    struct finding *note = finding_add(&e->advice->reasons, "bound", "The duration is mostly %s.%s",
                                       bound.text, overhead);
    finding_text(note, "bound_by", bound.kind);
    finding_number(note, "serial_s", point->fixed_s);
    finding_number(note, "critical_path_s", point->critical_path_s);
    finding_number(note, "work_s", point->work_s);
    finding_number(note, "work_per_core_s", share_s);
    finding_number(note, "recorded_work_s", point->recorded_work_s);
    finding_number(note, "task_overhead_s", point->overhead_per_task_s);
    finding_number(note, "longest_task_s", point->longest_task_s);
    finding_text(note, "longest_task_of",
                 point->longest_is_cut_anew ? "stage_cut_anew" : "stage_as_recorded");
}

static void warn_extrapolation(struct explanation *e)
{
    const struct curve *curve = e->curve;
    if (curve->size_extrapolated) {
        struct finding *note =
            finding_add(&e->advice->warnings, "extrapolation",
                        "Problem size %" PRId64 " lies outside the recorded sizes (%" PRId64
                        " to %" PRId64 "): the interval is widened.",
                        curve->problem_size, curve->least_size, curve->most_size);
        finding_number(note, "problem_size", (double)curve->problem_size);
        finding_number(note, "least_problem_size", (double)curve->least_size);
        finding_number(note, "most_problem_size", (double)curve->most_size);
    }
    if (e->point->extrapolated) {
        int64_t cores = e->point->executors * curve->cores_per_executor;
        struct finding *note =
            finding_add(&e->advice->warnings, "extrapolation",
                        "%" PRId64 " cores lie outside the recorded ones (%" PRId64 " to %" PRId64
                        "): the interval is widened.",
                        cores, curve->least_cores, curve->most_cores);
        finding_number(note, "cores", (double)cores);
        finding_number(note, "least_cores", (double)curve->least_cores);
        finding_number(note, "most_cores", (double)curve->most_cores);
    }
}

/* One number of cores cannot tell a stage cut to the cores from one that happens to fit them. */
static void warn_assumed(struct explanation *e)
{
    size_t n = e->curve->stages_assumed;
    if (n == 0)
        return;
    struct finding *note = finding_add(
        &e->advice->warnings, "stages_assumed_to_follow_cores",
        "The number of tasks of %zu stage%s is taken to follow the cores: it fits them in "
        "the replayed runs, but no run with the same stages had another number of cores "
        "(or of executors). Record a run with another executor count to find out.",
        n, PLURAL(n));
    finding_number(note, "stages", (double)n);
    if (e->curve->least_cores == e->curve->most_cores)
        finding_number(note, "cores", (double)e->curve->least_cores);
}

static void warn_history(struct explanation *e)
{
    /* As many as the prior counts for (CURVE_PRIOR_FREEDOM): below it the prior outweighs them. */
    enum { FEW_RUNS = 3 };
    const struct curve *curve = e->curve;
    if (curve->runs < FEW_RUNS) {
        struct finding *note =
            finding_add(&e->advice->warnings, "few_runs",
                        "Only %zu run%s could be replayed: the interval is mostly based on "
                        "a prior of 10 percent.",
                        curve->runs, PLURAL(curve->runs));
        finding_number(note, "runs", (double)curve->runs);
    }
    if (curve->graph_changed) {
        (void)finding_add(&e->advice->warnings, "graph_changed",
                          "The replayed runs do not all have the same stages.");
    }
    if (curve->runs_unusable > 0) {
        struct finding *note =
            finding_add(&e->advice->warnings, "runs_ignored",
                        "%zu run%s could not be replayed: task times or the size of "
                        "the cluster are unknown.",
                        curve->runs_unusable, PLURAL(curve->runs_unusable));
        finding_number(note, "runs", (double)curve->runs_unusable);
    }
    if (curve->runs_left_out > 0) {
        struct finding *note = finding_add(&e->advice->warnings, "runs_left_out",
                                           "%zu run%s further away %s left out to bound the work.",
                                           curve->runs_left_out, PLURAL(curve->runs_left_out),
                                           curve->runs_left_out == 1 ? "was" : "were");
        finding_number(note, "runs", (double)curve->runs_left_out);
    }
}

static void warn_below_confidence(struct explanation *e)
{
    struct finding *note = finding_add(
        &e->advice->warnings, "below_confidence",
        "No allowed executor count meets the deadline with probability %.6g; this is the "
        "most probable of those predicted to meet it.",
        e->goal->confidence);
    finding_number(note, "confidence", e->goal->confidence);
    finding_number(note, "deadline_probability", e->advice->recommendation.deadline_probability);
}

static enum pv_code explain_advice(const struct curve *curve,
                                   const struct curve_point *point,
                                   const struct advise_goal *goal,
                                   bool below_confidence,
                                   struct advice *advice,
                                   struct pv_error *err)
{
    struct explanation e = {curve, point, goal, advice};
    if (!advice->feasible) {
        explain_deadline_missed(&e);
    } else {
        if (!isnan(goal->deadline_s))
            explain_deadline_met(&e);
        if (!below_confidence)
            explain_objective(&e);
        else
            warn_below_confidence(&e);
    }
    if (curve->model_kind == NULL) {
        explain_runs(&e);
        explain_bound(&e);
    } else {
        explain_fit(&e);
    }
    warn_extrapolation(&e);
    if (curve->model_kind == NULL) {
        warn_assumed(&e);
        warn_history(&e);
    }
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

/* --- the advice --- */

static const struct curve_point *
advise_choose(const struct view *view, struct advice *advice, enum standing *reached)
{
    *reached = CONFIDENT;
    const struct curve_point *point = best_point(view, advice->objective, CONFIDENT);
    if (point == NULL) {
        *reached = PREDICTED;
        point = most_probable(view);
    }
    if (point == NULL) {
        *reached = ANY;
        point = best_point(view, ADVISE_MIN_TIME, ANY);
        if (point != NULL)
            point = fewest_within(view, point->duration_s * (1.0 + ADVISE_NEAR_FASTEST), ANY);
    }
    return point;
}

enum pv_code advise(const struct curve *curve,
                    const struct advise_goal *goal,
                    struct arena *arena,
                    struct advice *advice,
                    struct pv_error *err)
{
    struct advice made = {.objective = goal->objective,
                          .remedies = {(double)NAN, RUN_UNKNOWN},
                          .reasons = {.arena = arena},
                          .warnings = {.arena = arena}};
    if (isnan(goal->deadline_s) && goal->objective == ADVISE_MIN_EXECUTORS)
        made.objective = ADVISE_EFFICIENCY;
    const struct view view = {curve, goal};
    enum standing reached;
    const struct curve_point *point = advise_choose(&view, &made, &reached);
    if (point == NULL) {
        return pv_fault(err, PV_PLACE_POINTER,
                        isnan(goal->max_cost) ? "/constraints" : "/constraints/max_cost",
                        "unsatisfiable", "no executor count satisfies the constraints");
    }
    made.feasible = reached != ANY;
    made.recommendation = advise_describe(&view, point);
    if (!made.feasible) {
        made.remedies.deadline_s = deadline_that_would_do(&view);
        made.remedies.max_executors = executors_that_would_do(&view);
    }
    judge_history(curve, &made);
    PV_TRY(list_alternatives(&view, point, arena, &made, err));
    PV_TRY(explain_advice(curve, point, goal, reached == PREDICTED, &made, err));
    *advice = made;
    return PV_OK;
}
