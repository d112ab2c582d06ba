#include "core/advice/advise.h"

#include <math.h>
#include <stdlib.h>

#include "core/advice/explain.h"
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
    const struct advise_question *question;
};

static double cost_of(const struct advise_question *question, double executor_s)
{
    return executor_s / 3600.0 * question->price_per_executor_hour;
}

static struct advise_choice describe(const struct view *view, const struct curve_point *point)
{
    const struct advise_question *question = view->question;
    double m = (double)point->executors;
    struct predictive predictive = curve_predictive(view->curve, point);
    double ends_s[2];
    predictive_interval(&predictive, question->confidence, ends_s);
    double speedup = curve_speedup(view->curve, point);
    double executor_s = m * point->duration_s;
    return (struct advise_choice){
        .executors = point->executors,
        .predicted_duration_s = point->duration_s,
        .lower_s = ends_s[0],
        .upper_s = ends_s[1],
        .deadline_probability = isnan(question->deadline_s)
                                    ? (double)NAN
                                    : curve_probability(view->curve, point, question->deadline_s),
        .speedup = speedup,
        .efficiency = speedup / m,
        .executor_s = executor_s,
        .cost = cost_of(question, executor_s)};
}

/* --- which points may be chosen --- */

bool advise_is_allowed(const struct advise_question *question, const struct curve_point *point)
{
    double executor_s = (double)point->executors * point->duration_s;
    return point->executors >= question->min_executors &&
           point->executors <= question->max_executors &&
           (isnan(question->max_cost) || cost_of(question, executor_s) <= question->max_cost);
}

enum standing { ANY, PREDICTED, CONFIDENT };

/* How a point stands to a deadline. */
static enum standing
standing_at(const struct view *view, const struct curve_point *point, double deadline_s)
{
    if (isnan(deadline_s) ||
        curve_probability(view->curve, point, deadline_s) >= view->question->confidence)
        return CONFIDENT;
    return point->duration_s <= deadline_s ? PREDICTED : ANY;
}

static enum standing standing_of(const struct view *view, const struct curve_point *point)
{
    return standing_at(view, point, view->question->deadline_s);
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
        if (advise_is_allowed(view->question, point) && standing_of(view, point) >= least &&
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
    const struct advise_question *question = view->question;
    const struct curve_point *best = NULL;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (advise_is_allowed(question, point) && standing_of(view, point) >= least &&
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
    const struct advise_question *question = view->question;
    const struct curve_point *best = NULL;
    double greatest = -1.0;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (advise_is_allowed(question, point) && standing_of(view, point) >= PREDICTED) {
            double p = curve_probability(curve, point, question->deadline_s);
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
    const struct advise_question *question = view->question;
    for (int least = CONFIDENT; least >= PREDICTED; least--) {
        for (size_t i = 0; i < curve->n_points; i++) {
            const struct curve_point *point = &curve->points[i];
            if (point->executors > question->max_executors &&
                (int)standing_of(view, point) >= least)
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
    double confidence = view->question->confidence;
    double least_s = (double)INFINITY;
    for (size_t i = 0; i < view->curve->n_points; i++) {
        const struct curve_point *point = &view->curve->points[i];
        if (!advise_is_allowed(view->question, point) ||
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
    for (double step = 1e-15; step < 1e-6 && standing_at(view, best, least_s) < CONFIDENT;
         step *= 2.0)
        least_s *= 1.0 + step;
    return least_s;
}

const struct curve_point *advise_point_below(const struct curve *curve,
                                             const struct advise_question *question,
                                             const struct curve_point *point)
{
    while (point > curve->points)
        if (advise_is_allowed(question, --point))
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
        if (advise_is_allowed(view->question, &view->curve->points[i]))
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
    n = add_if_absent(front, n, advise_point_below(view->curve, view->question, recommended));
    qsort(front, n, sizeof *front, faster_first);
    for (size_t i = 0; i < n; i++)
        chosen[i] = describe(view, front[i]);
    advice->alternatives = chosen;
    advice->n_alternatives = n;
    return PV_OK;
}

/* --- more data --- */

static void judge_history(const struct curve *curve, struct advice *advice)
{
    enum { ENOUGH_RUNS = 5 };
    if (curve->runs < ENOUGH_RUNS) {
        advice->data_needed_runs = ENOUGH_RUNS - (int64_t)curve->runs;
        advice->data_needed_why =
            "with fewer than five replayed runs the interval rests mostly on a prior";
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

/* --- the advice --- */

static const struct curve_point *
choose(const struct view *view, struct advice *advice, enum standing *reached)
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
                    const struct advise_question *question,
                    struct arena *arena,
                    struct advice *advice,
                    struct pv_error *err)
{
    struct advice made = {.objective = question->objective,
                          .remedies = {(double)NAN, RUN_UNKNOWN},
                          .reasons = {.arena = arena},
                          .warnings = {.arena = arena}};
    if (isnan(question->deadline_s) && question->objective == ADVISE_MIN_EXECUTORS)
        made.objective = ADVISE_EFFICIENCY;
    const struct view view = {curve, question};
    enum standing reached;
    const struct curve_point *point = choose(&view, &made, &reached);
    if (point == NULL) {
        return pv_fault(err, PV_PLACE_POINTER,
                        isnan(question->max_cost) ? "/constraints" : "/constraints/max_cost",
                        "unsatisfiable", "no executor count satisfies the constraints");
    }
    made.feasible = reached != ANY;
    made.recommendation = describe(&view, point);
    if (!made.feasible) {
        made.remedies.deadline_s = deadline_that_would_do(&view);
        made.remedies.max_executors = executors_that_would_do(&view);
    }
    judge_history(curve, &made);
    enum pv_code code = list_alternatives(&view, point, arena, &made, err);
    if (code == PV_OK)
        code = explain_advice(curve, point, question, reached == PREDICTED, &made, err);
    if (code == PV_OK)
        *advice = made;
    return code;
}
