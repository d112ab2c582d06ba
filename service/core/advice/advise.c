#include "core/advice/advise.h"

#include <math.h>

#include "core/advice/advise_internal.h"
#include "core/history/run.h"

const char *advise_objective_name(enum advise_objective objective)
{
    static const char *const names[ADVISE_OBJECTIVES] = {"min_executors", "min_cost", "min_time",
                                                         "max_speedup", "efficiency"};
    return names[objective];
}

const char *advise_verdict_name(enum advise_verdict verdict)
{
    static const char *const names[ADVISE_VERDICTS] = {"met", "at_risk", "missed", "unknown"};
    return names[verdict];
}

double advise_unit_s(const struct advise_goal *goal, const struct curve_point *point)
{
    return billing_unit_s(&goal->billing, point->executors, point->duration_s);
}

static double advise_cost_of(const struct advise_goal *goal, const struct curve_point *point)
{
    return billing_cost(&goal->billing, point->executors, point->duration_s);
}

struct advise_choice advise_describe(const struct view *view, const struct curve_point *point)
{
    const struct advise_goal *goal = view->goal;
    double m = (double)point->executors;
    double ends_s[2];
    curve_interval(view->curve, point, goal->confidence, ends_s);
    double speedup = curve_speedup(view->curve, point);
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
                                  .executor_s = m * point->duration_s,
                                  .cost = advise_cost_of(goal, point)};
}

/* --- which points may be chosen --- */

bool advise_is_affordable(const struct advise_goal *goal, const struct curve_point *point)
{
    return isnan(goal->max_cost) || advise_cost_of(goal, point) <= goal->max_cost;
}

bool advise_is_allowed(const struct advise_goal *goal, const struct curve_point *point)
{
    return point->executors >= goal->min_executors && point->executors <= goal->max_executors &&
           advise_is_affordable(goal, point);
}

enum standing
advise_standing(const struct view *view, const struct curve_point *point, double deadline_s)
{
    if (isnan(deadline_s) ||
        curve_probability(view->curve, point, deadline_s) >= view->goal->confidence)
        return STANDING_CONFIDENT;
    return point->duration_s <= deadline_s ? STANDING_PREDICTED : STANDING_ANY;
}

/* Smaller is better. */
static double
score(const struct view *view, enum advise_objective objective, const struct curve_point *point)
{
    double speedup = curve_speedup(view->curve, point);
    switch (objective) {
    case ADVISE_MIN_EXECUTORS:
        return (double)point->executors;
    case ADVISE_MIN_COST:
        return advise_unit_s(view->goal, point);
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

/* May it be chosen for certain: allowed, not too slow, in time with confidence? */
static bool is_good(const struct view *view, const struct curve_point *point)
{
    return advise_is_allowed(view->goal, point) && point->duration_s <= view->slowest_s &&
           advise_standing(view, point, view->goal->deadline_s) == STANDING_CONFIDENT;
}

/* A tie goes to the one before, which has fewer executors. But of counts that fill the same machine
 * hours, which are many that cost alike, none is of use but the fastest. */
static bool is_better(const struct view *view,
                      enum advise_objective objective,
                      const struct curve_point *point,
                      const struct curve_point *before)
{
    double now = score(view, objective, point), then = score(view, objective, before);
    return now < then ||
           (now == then && objective == ADVISE_MIN_COST &&
            !billing_is_plain(&view->goal->billing) && point->duration_s < before->duration_s);
}

/* The best by the objective of those that may be chosen for certain; NULL: none. Points ascend in
 * executors. */
static const struct curve_point *best_point(const struct view *view,
                                            enum advise_objective objective)
{
    const struct curve *curve = view->curve;
    const struct curve_point *best = NULL;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (is_good(view, point) && (best == NULL || is_better(view, objective, point, best)))
            best = point;
    }
    if (best == NULL || objective != ADVISE_MAX_SPEEDUP)
        return best;
    /* Within a percent of the peak more executors buy nothing: take the fewest. */
    for (size_t i = 0; i < curve->n_points; i++)
        if (is_good(view, &curve->points[i]) &&
            curve->points[i].duration_s <= best->duration_s * 1.01)
            return &curve->points[i];
    return best;
}

const struct curve_point *advise_fastest(const struct view *view)
{
    const struct curve_point *best = NULL;
    for (size_t i = 0; i < view->curve->n_points; i++) {
        const struct curve_point *point = &view->curve->points[i];
        if (advise_is_allowed(view->goal, point) &&
            (best == NULL || point->duration_s < best->duration_s))
            best = point;
    }
    return best;
}

/* --- deadlines that are not met with confidence --- */

/*
 * The least deadline that some allowed point meets with confidence: the least of their quantiles,
 * which need not be that of the fastest point, for the spread grows with the distance from the
 * runs. Asked again it holds, whatever logarithm and exponential round off. Only points that the
 * least so far does not suffice for are asked for theirs, which is cheaper. NAN: none.
 */
static double least_deadline(const struct view *view)
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
    for (double step = 1e-15;
         step < 1e-6 && advise_standing(view, best, least_s) < STANDING_CONFIDENT; step *= 2.0)
        least_s *= 1.0 + step;
    return least_s;
}

/* The fewest executors beyond the allowed ones that would do with confidence; where nothing else is
 * predicted to be in time, also without. */
static int64_t executors_that_would_do(const struct view *view, enum advise_verdict verdict)
{
    const struct curve *curve = view->curve;
    const struct advise_goal *goal = view->goal;
    int least = verdict == ADVISE_MISSED ? STANDING_PREDICTED : STANDING_CONFIDENT;
    for (int standing = STANDING_CONFIDENT; standing >= least; standing--) {
        for (size_t i = 0; i < curve->n_points; i++) {
            const struct curve_point *point = &curve->points[i];
            if (point->executors > goal->max_executors && advise_is_affordable(goal, point) &&
                (int)advise_standing(view, point, goal->deadline_s) >= standing)
                return point->executors;
        }
    }
    return RUN_UNKNOWN;
}

/* The least cost at which a count within the executors would do, with confidence; where nothing else
 * is predicted to be in time, also without. NAN: the cost is not what is short. */
static double cost_that_would_do(const struct view *view, enum advise_verdict verdict)
{
    const struct advise_goal *goal = view->goal;
    int least = verdict == ADVISE_MISSED ? STANDING_PREDICTED : STANDING_CONFIDENT;
    double cost = (double)NAN;
    for (int standing = STANDING_CONFIDENT; standing >= least && isnan(cost); standing--) {
        for (size_t i = 0; i < view->curve->n_points; i++) {
            const struct curve_point *point = &view->curve->points[i];
            if (!advise_is_affordable(goal, point) && point->executors >= goal->min_executors &&
                point->executors <= goal->max_executors &&
                (int)advise_standing(view, point, goal->deadline_s) >= standing)
                cost = fmin(cost, advise_cost_of(goal, point)); /* of NAN and a cost the cost */
        }
    }
    return cost;
}

static double best_probability(const struct view *view, double deadline_s)
{
    double best = 0.0;
    for (size_t i = 0; i < view->curve->n_points; i++)
        if (advise_is_allowed(view->goal, &view->curve->points[i]))
            best = fmax(best, curve_probability(view->curve, &view->curve->points[i], deadline_s));
    return best;
}

/* The fewest executors about as likely to be in time as the most probable count. */
static const struct curve_point *choose_at_risk(const struct view *view)
{
    double deadline_s = view->goal->deadline_s;
    double least = best_probability(view, deadline_s) - ADVISE_NEAR_BEST;
    for (size_t i = 0; i < view->curve->n_points; i++) {
        const struct curve_point *point = &view->curve->points[i];
        if (advise_is_allowed(view->goal, point) &&
            curve_probability(view->curve, point, deadline_s) >= least)
            return point;
    }
    return NULL;
}

/* The fewest executors about as fast as the fastest. */
static const struct curve_point *choose_nearest(const struct view *view,
                                                const struct curve_point *fastest)
{
    double slowest_s = fastest->duration_s * (1.0 + ADVISE_NEAR_FASTEST);
    for (size_t i = 0; i < view->curve->n_points; i++) {
        const struct curve_point *point = &view->curve->points[i];
        if (advise_is_allowed(view->goal, point) && point->duration_s <= slowest_s)
            return point;
    }
    return fastest;
}

/* --- the advice --- */

/* NULL: no point is allowed. */
static const struct curve_point *advise_choose(const struct view *view, struct advice *advice)
{
    const struct advise_goal *goal = view->goal;
    const struct curve_point *point = best_point(view, advice->objective);
    advice->verdict = ADVISE_MET;
    if (point != NULL)
        return point;
    const struct curve_point *fastest = advise_fastest(view);
    if (fastest == NULL)
        return NULL;
    if (isnan(goal->deadline_s)) /* all are slower than the last run: the least slow */
        return choose_nearest(view, fastest);
    advice->verdict = fastest->duration_s <= goal->deadline_s ? ADVISE_AT_RISK : ADVISE_MISSED;
    advice->remedies.deadline_s = least_deadline(view);
    advice->remedies.max_executors = executors_that_would_do(view, advice->verdict);
    advice->remedies.max_cost = cost_that_would_do(view, advice->verdict);
    return advice->verdict == ADVISE_AT_RISK ? choose_at_risk(view) : choose_nearest(view, fastest);
}

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

const struct curve_point *advise_point_below(const struct curve *curve,
                                             const struct advise_goal *goal,
                                             const struct curve_point *point)
{
    while (point > curve->points)
        if (advise_is_allowed(goal, --point))
            return point;
    return NULL;
}

/* Without a deadline the last run says how slow is slow; where it is unknown, too, efficiency
 * decides. */
static void go_by_last_run(struct view *view, struct advice *advice)
{
    const struct advise_goal *goal = view->goal;
    if (!isnan(goal->deadline_s) || goal->objective != ADVISE_MIN_EXECUTORS)
        return;
    const struct curve_point *last = curve_find(view->curve, goal->last_executors);
    advice->objective = last == NULL ? ADVISE_EFFICIENCY : ADVISE_MIN_COST;
    if (last == NULL)
        return;
    view->last_s = last->duration_s;
    view->slowest_s = last->duration_s * (1.0 + goal->tolerance_percent / 100.0);
}

enum pv_code advise(const struct curve *curve,
                    const struct advise_goal *goal,
                    struct arena *arena,
                    struct advice *advice,
                    struct pv_error *err)
{
    struct advice made = {.objective = goal->objective,
                          .remedies = {(double)NAN, RUN_UNKNOWN, (double)NAN},
                          .reasons = {.arena = arena},
                          .warnings = {.arena = arena}};
    struct view view = {curve, goal, (double)INFINITY, (double)INFINITY};
    go_by_last_run(&view, &made);
    const struct curve_point *point = advise_choose(&view, &made);
    if (point == NULL) {
        return pv_fault(err, PV_PLACE_POINTER,
                        isnan(goal->max_cost) ? "/constraints" : "/constraints/max_cost",
                        "unsatisfiable", "no executor count satisfies the constraints");
    }
    made.recommendation = advise_describe(&view, point);
    judge_history(curve, &made);
    PV_TRY(advise_list_alternatives(&view, point, arena, &made, err));
    PV_TRY(advise_explain(&view, point, &made, err));
    *advice = made;
    return PV_OK;
}
