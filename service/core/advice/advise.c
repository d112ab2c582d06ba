#include "core/advice/advise.h"

#include <inttypes.h>
#include <math.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/quantity_text.h"
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

/* A run's own duration is a deadline that it meets, though the sums of a replay are rounded. */
static bool is_in_time(const struct curve_point *point, double deadline_s)
{
    const double rounding = 1e-9;
    return point->duration_s <= deadline_s * (1.0 + rounding);
}

enum standing
advise_standing(const struct view *view, const struct curve_point *point, double deadline_s)
{
    if (isnan(deadline_s) ||
        curve_probability(view->curve, point, deadline_s) >= view->goal->confidence)
        return STANDING_CONFIDENT;
    return is_in_time(point, deadline_s) ? STANDING_PREDICTED : STANDING_ANY;
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

/* The point of the last run's executors, if it is allowed; else NULL. */
static const struct curve_point *allowed_last(const struct view *view)
{
    const struct curve_point *last = curve_find(view->curve, view->goal->last_executors);
    return last != NULL && advise_is_allowed(view->goal, last) ? last : NULL;
}

/* The fewest executors about as likely to be in time as the most probable count; those of the last
 * run, if more gain no more than noise. */
static const struct curve_point *choose_at_risk(const struct view *view)
{
    double deadline_s = view->goal->deadline_s;
    double best = best_probability(view, deadline_s);
    const struct curve_point *last = allowed_last(view);
    double least = best - ADVISE_NEAR_BEST;
    if (last != NULL && curve_probability(view->curve, last, deadline_s) >= best - ADVISE_NOISE)
        least = fmin(least, curve_probability(view->curve, last, deadline_s));
    for (size_t i = 0; i < view->curve->n_points; i++) {
        const struct curve_point *point = &view->curve->points[i];
        if (advise_is_allowed(view->goal, point) &&
            curve_probability(view->curve, point, deadline_s) >= least)
            return point;
    }
    return NULL;
}

/* The fewest executors about as fast as the fastest; those of the last run, if more gain no more than
 * noise. */
static const struct curve_point *choose_nearest(const struct view *view,
                                                const struct curve_point *fastest)
{
    const struct curve_point *last = allowed_last(view);
    double slowest_s = fastest->duration_s * (1.0 + ADVISE_NEAR_FASTEST);
    if (last != NULL && last->duration_s <= fastest->duration_s * (1.0 + ADVISE_NOISE))
        slowest_s = fmax(slowest_s, last->duration_s);
    for (size_t i = 0; i < view->curve->n_points; i++) {
        const struct curve_point *point = &view->curve->points[i];
        if (advise_is_allowed(view->goal, point) && point->duration_s <= slowest_s)
            return point;
    }
    return fastest;
}

/* --- the advice --- */

/* NULL: no point is allowed. */
static const struct curve_point *choose_of_all(const struct view *view, struct advice *advice)
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
    advice->verdict = is_in_time(fastest, goal->deadline_s) ? ADVISE_AT_RISK : ADVISE_MISSED;
    advice->remedies.deadline_s = least_deadline(view);
    advice->remedies.max_executors = executors_that_would_do(view, advice->verdict);
    advice->remedies.max_cost = cost_that_would_do(view, advice->verdict);
    return advice->verdict == ADVISE_AT_RISK ? choose_at_risk(view) : choose_nearest(view, fastest);
}

/* Half as many executors as the nearest run had; a single one becomes two. */
static int64_t another_count(const struct curve *curve)
{
    int64_t ran = curve->nearest_executors;
    return ran > 1 ? ran / 2 : 2;
}

bool advise_need_deciding_run(const struct curve *curve,
                              const struct curve_point *point,
                              struct advice *advice)
{
    if (curve->stages_assumed == 0)
        return false;
    advice->data_needed_runs = 1;
    advice->data_needed_decides = true;
    advice->data_needed_problem_size = curve->problem_size;
    advice->data_needed_executors[0] =
        point != NULL && point->n_centres > 0 ? point->executors : another_count(curve);
    advice->n_data_needed = 1;
    advice->data_needed_why = "one run on another number of executors shows whether the number of "
                              "tasks of the stages follows the cores";
    return true;
}

/* Do the hypotheses about its stages differ on any allowed count? */
static bool is_undecided(const struct curve *curve, const struct advise_goal *goal)
{
    for (size_t i = 0; i < curve->n_points; i++)
        if (curve->points[i].n_centres > 0 && advise_is_allowed(goal, &curve->points[i]))
            return true;
    return false;
}

/* The curve of the usual level alone. */
static struct curve usual_level(const struct curve *curve)
{
    struct curve usual = curve->other_is_usual ? *curve->other : *curve;
    usual.other = NULL;
    return usual;
}

/* The count beyond `supported` that is most likely in time, if that is more than noise. */
static void find_guess(const struct view *view,
                       const struct curve_point *chosen,
                       struct advise_slowdown *slowdown)
{
    double deadline_s = view->goal->deadline_s;
    double best = best_probability(view, deadline_s);
    double now = curve_probability(view->curve, chosen, deadline_s);
    for (size_t i = 0; i < view->curve->n_points && best > now + ADVISE_NOISE; i++) {
        const struct curve_point *point = &view->curve->points[i];
        double probability = curve_probability(view->curve, point, deadline_s);
        if (point->executors <= slowdown->supported || !advise_is_allowed(view->goal, point) ||
            !(probability >= fmin(best - ADVISE_NEAR_BEST, view->goal->confidence)))
            continue;
        slowdown->guess_executors = point->executors;
        slowdown->guess_probability = probability;
        return;
    }
}

/* 0: no point is allowed. */
static int64_t fewest_allowed(const struct view *view)
{
    for (size_t i = 0; i < view->curve->n_points; i++)
        if (advise_is_allowed(view->goal, &view->curve->points[i]))
            return view->curve->points[i].executors;
    return 0;
}

/*
 * Against a slowdown of the newest runs no more executors than runs support: as many as would be
 * chosen without the slowdown, as the last run had, or, where runs had different numbers of cores, as
 * any run had. *usual_executors: as many as would be chosen without the slowdown. Returns 0 if no point
 * is allowed.
 */
static int64_t find_supported(const struct view *view,
                              const struct advice *advice,
                              double deadline_s,
                              int64_t *usual_executors)
{
    const struct curve *curve = view->curve;
    const struct curve usual = usual_level(curve);
    struct advise_goal goal = *view->goal;
    struct view of_usual = *view;
    struct advice before = *advice;
    goal.deadline_s = deadline_s;
    of_usual.goal = &goal;
    of_usual.curve = &usual;
    const struct curve_point *point = choose_of_all(&of_usual, &before);
    if (point == NULL)
        return 0;
    *usual_executors = point->executors;
    /* The usual level may have counts that the curve lacks, because other jobs take their cores. */
    int64_t supported = larger_int64(point->executors, goal.last_executors);
    supported = larger_int64(supported, fewest_allowed(view));
    return curve->distinct_cores > 1
               ? larger_int64(supported, curve->most_cores / curve->cores_per_executor)
               : supported;
}

/* The least deadline that is met with confidence on executors that runs support for it: a later
 * deadline may need fewer without the slowdown, and so support fewer. NAN: none. */
static double
supported_deadline(const struct view *view, const struct advice *advice, int64_t supported)
{
    struct advise_goal bounded = *view->goal;
    struct view within = *view;
    int64_t usual;
    double least_s;
    within.goal = &bounded;
    do {
        bounded.max_executors = smaller_int64(bounded.max_executors, supported);
        least_s = least_deadline(&within);
        supported = isnan(least_s) ? supported : find_supported(view, advice, least_s, &usual);
    } while (supported < bounded.max_executors);
    return least_s;
}

/* NULL: no point is allowed. */
static const struct curve_point *advise_choose(const struct view *view, struct advice *advice)
{
    const struct curve *curve = view->curve;
    struct advise_slowdown *slowdown = &advice->slowdown;
    slowdown->guess_executors = RUN_UNKNOWN;
    slowdown->guess_probability = (double)NAN;
    if (curve->other == NULL || isnan(view->goal->deadline_s))
        return choose_of_all(view, advice);
    int64_t supported =
        find_supported(view, advice, view->goal->deadline_s, &slowdown->usual_executors);
    if (supported == 0)
        return NULL;
    slowdown->known = true;
    slowdown->supported = supported;
    struct advise_goal bounded = *view->goal;
    struct view within = *view;
    within.goal = &bounded;
    bounded.max_executors = smaller_int64(supported, bounded.max_executors);
    const struct curve_point *point = choose_of_all(&within, advice);
    if (point == NULL || advice->verdict == ADVISE_MET)
        return point;
    advice->verdict =
        is_in_time(advise_fastest(view), view->goal->deadline_s) ? ADVISE_AT_RISK : ADVISE_MISSED;
    advice->remedies.deadline_s = supported_deadline(view, advice, supported);
    int64_t enough = executors_that_would_do(view, advice->verdict);
    advice->remedies.max_executors = enough <= supported ? enough : RUN_UNKNOWN;
    if (advice->verdict == ADVISE_AT_RISK)
        point = choose_at_risk(&within);
    find_guess(view, point, slowdown);
    return point;
}

static void judge_history(const struct curve *curve,
                          const struct advise_goal *goal,
                          const struct curve_point *point,
                          struct advice *advice)
{
    /* More than the prior counts for (CURVE_PRIOR_FREEDOM); from here on models compete, too. */
    enum { ENOUGH_RUNS = 5 };
    if (is_undecided(curve, goal) && advise_need_deciding_run(curve, point, advice))
        return;
    if (curve->size_extrapolated && curve->most_size <= CURVE_GROWN * curve->least_size) {
        advice->data_needed_runs = 1;
        advice->data_needed_problem_size = curve->problem_size;
        advice->data_needed_executors[0] = point->executors;
        advice->n_data_needed = 1;
        advice->data_needed_why = "all runs had nearly the same problem size: a run of the problem "
                                  "size asked for shows how the work grows";
    } else if (curve->runs < ENOUGH_RUNS) {
        advice->data_needed_runs = ENOUGH_RUNS - (int64_t)curve->runs;
        advice->data_needed_why =
            "with fewer than five replayed runs the interval is mostly based on a prior";
    } else if (curve->distinct_cores < 2) {
        advice->data_needed_runs = 1;
        advice->data_needed_why =
            "all replayed runs had the same number of cores: a run on another number would show "
            "which stages follow it";
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

/* The count of the least cost, whatever max_cost is; NULL if no count is allowed. */
static const struct curve_point *cheapest_point(const struct curve *curve,
                                                const struct advise_goal *goal)
{
    struct advise_goal open = *goal;
    const struct curve_point *cheapest = NULL;
    open.max_cost = (double)NAN;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (advise_is_allowed(&open, point) &&
            (cheapest == NULL || advise_cost_of(goal, point) < advise_cost_of(goal, cheapest)))
            cheapest = point;
    }
    return cheapest;
}

/* With four digits, rounded up: a limit of this much allows it. */
static double at_least(double cost)
{
    double step = pow(10.0, floor(log10(cost)) - 3.0);
    return ceil(cost / step) * step;
}

static enum pv_code
refuse_constraints(const struct curve *curve, const struct advise_goal *goal, struct pv_error *err)
{
    const struct curve_point *cheapest = isnan(goal->max_cost) ? NULL : cheapest_point(curve, goal);
    if (cheapest == NULL)
        return pv_fault(err, PV_PLACE_POINTER, "/constraints", "unsatisfiable",
                        "no executor count satisfies the constraints");
    return pv_fault(err, PV_PLACE_POINTER, "/constraints/max_cost", "unsatisfiable",
                    "no executor count costs at most %s: the least cost is %s, with %s executor%s",
                    quantity_digits(goal->max_cost, 6).text,
                    quantity_digits(at_least(advise_cost_of(goal, cheapest)), 6).text,
                    quantity_count((double)cheapest->executors).text, PLURAL(cheapest->executors));
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
    if (point == NULL)
        return refuse_constraints(curve, goal, err);
    made.recommendation = advise_describe(&view, point);
    judge_history(curve, goal, point, &made);
    PV_TRY(advise_list_alternatives(&view, point, arena, &made, err));
    PV_TRY(advise_explain(&view, point, &made, err));
    *advice = made;
    return PV_OK;
}
