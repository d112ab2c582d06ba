#ifndef CORE_ADVICE_ADVISE_INTERNAL_H
#define CORE_ADVICE_ADVISE_INTERNAL_H

#include "core/advice/advise.h"

/* What choosing, listing and explaining share. */

struct view {
    const struct curve *curve;
    const struct advise_goal *goal;
    /* Without a deadline: what the last run's executors would take, and what tolerance allows.
     * INFINITY: the last run does not bound the choice. */
    double last_s;
    double slowest_s;
};

/* How a point stands to a deadline. */
enum standing { STANDING_ANY, STANDING_PREDICTED, STANDING_CONFIDENT };

enum standing
advise_standing(const struct view *view, const struct curve_point *point, double deadline_s);

/* The allowed point with the shortest time; ties: fewer executors. NULL: none is allowed. */
const struct curve_point *advise_fastest(const struct view *view);

/* What the point costs, but for the price: executor seconds, or what is billed of machines. */
double advise_unit_s(const struct advise_goal *goal, const struct curve_point *point);

struct advise_choice advise_describe(const struct view *view, const struct curve_point *point);

/*
 * The Pareto front of time and cost, thinned to ADVISE_ALTERNATIVES_MAX by time,
 * densest where one decides: about the recommendation. Both ends, the recommendation and the next
 * fewer executors always stand. PV_E_MEMORY.
 */
enum { ADVISE_ALTERNATIVES_MAX = 16 };
enum pv_code advise_list_alternatives(const struct view *view,
                                      const struct curve_point *recommended,
                                      struct arena *arena,
                                      struct advice *advice,
                                      struct pv_error *err) PV_MUSTCHECK;

/* Reasons and warnings of the choice. PV_E_MEMORY. */
enum pv_code advise_explain(const struct view *view,
                            const struct curve_point *point,
                            struct advice *advice,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
