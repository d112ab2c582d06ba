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

static double cost_of(const struct advise_question *question, double executor_s)
{
    return executor_s / 3600.0 * question->price_per_executor_hour;
}

static struct advise_choice describe(const struct curve *curve,
                                     const struct advise_question *question,
                                     const struct curve_point *point)
{
    double m = (double)point->executors;
    double tail = (1.0 - question->confidence) / 2.0;
    double speedup = curve_speedup(curve, point);
    double executor_s = m * point->duration_s;
    return (struct advise_choice){.executors = point->executors,
                                  .predicted_duration_s = point->duration_s,
                                  .lower_s = curve_quantile(curve, point, tail),
                                  .upper_s = curve_quantile(curve, point, 1.0 - tail),
                                  .deadline_probability =
                                      isnan(question->deadline_s)
                                          ? (double)NAN
                                          : curve_probability(curve, point, question->deadline_s),
                                  .speedup = speedup,
                                  .efficiency = speedup / m,
                                  .executor_s = executor_s,
                                  .cost = cost_of(question, executor_s)};
}

/* --- which points may be chosen ------------------------------------------------------------- */

static bool is_allowed(const struct advise_question *question, const struct curve_point *point)
{
    double executor_s = (double)point->executors * point->duration_s;
    return point->executors >= question->min_executors &&
           point->executors <= question->max_executors &&
           (isnan(question->max_cost) || cost_of(question, executor_s) <= question->max_cost);
}

enum standing { ANY, PREDICTED, CONFIDENT };

/* How a point stands to the deadline. */
static enum standing standing_of(const struct curve *curve,
                                 const struct advise_question *question,
                                 const struct curve_point *point)
{
    if (isnan(question->deadline_s)) {
        return CONFIDENT;
    }
    if (curve_probability(curve, point, question->deadline_s) >= question->confidence) {
        return CONFIDENT;
    }
    return point->duration_s <= question->deadline_s ? PREDICTED : ANY;
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

/*
 * Best allowed point whose standing is at least `least`; NULL: none. Points ascend in executors, so
 * a tie goes to the fewer.
 */
static const struct curve_point *best_point(const struct curve *curve,
                                            const struct advise_question *question,
                                            enum advise_objective objective,
                                            enum standing least)
{
    const struct curve_point *best = NULL;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (is_allowed(question, point) && standing_of(curve, question, point) >= least &&
            (best == NULL || score(curve, objective, point) < score(curve, objective, best))) {
            best = point;
        }
    }
    if (best == NULL || objective != ADVISE_MAX_SPEEDUP) {
        return best;
    }
    /* Within a percent of the peak more executors buy nothing: take the fewest. */
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (is_allowed(question, point) && standing_of(curve, question, point) >= least &&
            point->duration_s <= best->duration_s * 1.01) {
            return point;
        }
    }
    return best;
}

/* Where none has the asked confidence: the most probable of those predicted to meet the deadline.
 */
static const struct curve_point *most_probable(const struct curve *curve,
                                               const struct advise_question *question)
{
    const struct curve_point *best = NULL;
    double greatest = -1.0;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (is_allowed(question, point) && standing_of(curve, question, point) >= PREDICTED) {
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
static int64_t executors_that_would_do(const struct curve *curve,
                                       const struct advise_question *question)
{
    for (int least = CONFIDENT; least >= PREDICTED; least--) {
        for (size_t i = 0; i < curve->n_points; i++) {
            const struct curve_point *point = &curve->points[i];
            if (point->executors > question->max_executors &&
                (int)standing_of(curve, question, point) >= least) {
                return point->executors;
            }
        }
    }
    return RUN_UNKNOWN;
}

/* --- alternatives --------------------------------------------------------------------------- */

enum { ALTERNATIVES_MAX = 16 };

/* Is there no allowed point that is both faster (or as fast) and cheaper (or as cheap)? */
static bool is_on_front(const struct curve *curve,
                        const struct advise_question *question,
                        const struct curve_point *point)
{
    double executor_s = (double)point->executors * point->duration_s;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *other = &curve->points[i];
        double other_s = (double)other->executors * other->duration_s;
        if (other != point && is_allowed(question, other) &&
            other->duration_s <= point->duration_s && other_s <= executor_s &&
            (other->duration_s < point->duration_s || other_s < executor_s || other < point)) {
            return false;
        }
    }
    return true;
}

static int faster_first(const void *left, const void *right)
{
    const struct advise_choice *a = left;
    const struct advise_choice *b = right;
    return (a->predicted_duration_s > b->predicted_duration_s) -
           (a->predicted_duration_s < b->predicted_duration_s);
}

/* The front, thinned evenly to ALTERNATIVES_MAX with both ends kept. */
static enum pv_code list_alternatives(const struct curve *curve,
                                      const struct advise_question *question,
                                      struct arena *arena,
                                      struct advice *advice,
                                      struct pv_error *err)
{
    struct advise_choice *front = arena_array(arena, curve->n_points, sizeof *front);
    if (front == NULL) {
        return pv_fail(err, PV_E_MEMORY, "not enough memory for the alternatives");
    }
    size_t n = 0;
    for (size_t i = 0; i < curve->n_points; i++) {
        const struct curve_point *point = &curve->points[i];
        if (is_allowed(question, point) && is_on_front(curve, question, point)) {
            front[n++] = describe(curve, question, point);
        }
    }
    qsort(front, n, sizeof *front, faster_first);
    if (n > ALTERNATIVES_MAX) {
        for (size_t i = 0; i < ALTERNATIVES_MAX; i++) {
            front[i] = front[i * (n - 1) / (ALTERNATIVES_MAX - 1)];
        }
        n = ALTERNATIVES_MAX;
    }
    advice->alternatives = front;
    advice->n_alternatives = n;
    return PV_OK;
}

/* --- more data ------------------------------------------------------------------------------ */

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
            "all replayed runs had the same problem size: a run of another size would show how "
            "the work grows";
    }
}

/* --- the advice ----------------------------------------------------------------------------- */

static const struct curve_point *choose(const struct curve *curve,
                                        const struct advise_question *question,
                                        struct advice *advice,
                                        enum standing *reached)
{
    *reached = CONFIDENT;
    const struct curve_point *point = best_point(curve, question, advice->objective, CONFIDENT);
    if (point == NULL) {
        *reached = PREDICTED;
        point = most_probable(curve, question);
    }
    if (point == NULL) {
        *reached = ANY;
        point = best_point(curve, question, ADVISE_MIN_TIME, ANY);
    }
    return point;
}

enum pv_code advise(const struct curve *curve,
                    const struct advise_question *question,
                    struct arena *arena,
                    struct advice *advice,
                    struct pv_error *err)
{
    struct advice made = {.objective = question->objective, .remedies = {(double)NAN, RUN_UNKNOWN}};
    if (isnan(question->deadline_s) && question->objective == ADVISE_MIN_EXECUTORS) {
        made.objective = ADVISE_EFFICIENCY;
    }
    enum standing reached;
    const struct curve_point *point = choose(curve, question, &made, &reached);
    if (point == NULL) {
        return pv_fault(err, PV_PLACE_POINTER,
                        isnan(question->max_cost) ? "/constraints" : "/constraints/max_cost",
                        "unsatisfiable", "no executor count satisfies the constraints");
    }
    made.feasible = reached != ANY;
    made.recommendation = describe(curve, question, point);
    if (!made.feasible) {
        made.remedies.deadline_s = curve_quantile(curve, point, question->confidence);
        made.remedies.max_executors = executors_that_would_do(curve, question);
    }
    judge_history(curve, &made);
    enum pv_code code = list_alternatives(curve, question, arena, &made, err);
    if (code == PV_OK) {
        code = explain_advice(curve, point, question, reached == PREDICTED, arena, &made, err);
    }
    if (code == PV_OK) {
        *advice = made;
    }
    return code;
}
