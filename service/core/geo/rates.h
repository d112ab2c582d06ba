#ifndef CORE_GEO_RATES_H
#define CORE_GEO_RATES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "core/geo/problem.h"

/*
 * How fast a copy of a task would be in a cluster: the lesser of the processing speed there and the
 * mean speed of the transfers from its remote inputs, as random variables.
 *
 * A plan asks for few of all (task, cluster) pairs, so nothing is computed before it is asked for.
 * The lesser of two means bounds the mean of the lesser (Jensen), costs a few additions, and rules
 * most pairs out; exact means are remembered by the sort of task, which is its operation and
 * inputs. Of whole distributions only the latest few thousand are.
 *
 * What is remembered depends on the speeds of clusters and links alone, so rates may be kept while
 * tasks come and go, slots fill and gates change.
 */
struct geo_rates;

/* Asked about every millisecond while a plan is made. false: it is given up. */
struct geo_interrupt {
    bool (*keep_going)(void *context);
    void *context;
};

/* Of the clusters and links of a problem, whose speeds it borrows; nothing else of the problem is
 * looked at. Lives in the arena, and grows there. NULL when memory is exhausted. */
struct geo_rates *geo_rates_make(const struct geo_problem *problem, struct arena *arena);

/* Of the plan that is made next, which begins with it. NULL: endless. Once it is over, means and
 * best rates fail as if memory were exhausted. */
void geo_rates_begin(struct geo_rates *rates, const struct geo_interrupt *interrupt);
bool geo_rates_was_interrupted(const struct geo_rates *rates);

/* The sort of a task, numbered from 0 in the order met; SIZE_MAX when memory is exhausted. */
size_t geo_rates_task_class(struct geo_rates *rates, const struct geo_task *task);

/* Mean speed of the link between two clusters; HUGE_VAL inside one, 0 where there is none. */
double geo_rates_link(const struct geo_rates *rates, size_t from, size_t to);

/* The clusters that know the operation of that sort, by falling mean processing speed (ties: in
 * order). */
const size_t *geo_rates_order(const struct geo_rates *rates, size_t task_class, size_t *n);

/* Mean processing speed; no copy there is faster. The operation must be known. */
double geo_rates_processing(const struct geo_rates *rates, size_t task_class, size_t cluster);

/* Of each cluster, no less than the mean rate; 0: the cluster is impossible (a link or the
 * operation is missing). Good until it is asked of another sort. */
const double *geo_rates_upper_bounds(struct geo_rates *rates, size_t task_class);

/* No less than the mean of the greater of `now` and the rate of a possible cluster. Of the sort
 * that limits were asked of last. */
double
geo_rates_upper_bound_with(const struct geo_rates *rates, size_t cluster, const struct speeds *now);

/* The mean rate of a cluster that is possible; < 0 when memory or interrupt is exhausted. */
double geo_rates_mean(struct geo_rates *rates, size_t task_class, size_t cluster);

/* Its whole distribution. */
void geo_rates_spread(struct geo_rates *rates,
                      size_t task_class,
                      size_t cluster,
                      struct speeds *spread);

/* The best mean rate of all clusters, busy or not; 0: none is possible; < 0: memory or interrupt.
 */
double geo_rates_best(struct geo_rates *rates, size_t task_class);

#endif
