#include "core/geo/search.h"

#include <math.h>

/* Better, or as good and earlier in the request. Among ties the greatest value stays the one to
 * beat, so that a row of ties does not creep. */
static void search_consider(struct candidate *best, size_t cluster, double rate, double value)
{
    bool tied = best->found && !allocation_is_above(value, best->value) &&
                !allocation_is_above(best->value, value);
    if (!best->found || allocation_is_above(value, best->value) ||
        (tied && cluster < best->cluster)) {
        double most = tied ? fmax(best->value, value) : value;
        *best = (struct candidate){true, cluster, rate, most};
    } else if (tied) {
        best->value = fmax(best->value, value);
    }
}

/*
 * The feasible cluster of highest new rate above `least`. Adding a copy raises the rate by no
 * more than the copy's own, which the clusters' order and the limits of their rates bound.
 * PV_E_MEMORY.
 */
enum pv_code search_fastest(struct allocation *allocation,
                            const struct geo_task *task,
                            const struct task_allocation *state,
                            double floor,
                            double least,
                            struct candidate *best)
{
    size_t n;
    const size_t *order = geo_rates_order(allocation->rates, state->task_class, &n);
    const double *limits = geo_rates_upper_bounds(allocation->rates, state->task_class);
    double now = state->n > 0 ? state->rate.mean : 0;
    *best = (struct candidate){.value = least};
    for (size_t k = 0; k < n; k++) {
        size_t m = order[k];
        double processing = geo_rates_processing(allocation->rates, state->task_class, m);
        if (allocation_is_above(floor, processing) ||
            allocation_is_above(best->value, now + processing))
            break;
        if (allocation->idle[m] <= 0)
            continue;
        if (limits[m] <= 0 || allocation_is_above(floor, limits[m]) ||
            allocation_is_above(best->value, now + limits[m]))
            continue;
        if (state->n > 0 &&
            allocation_is_above(best->value,
                                geo_rates_upper_bound_with(allocation->rates, m, &state->rate)))
            continue;
        double rate = geo_rates_mean(allocation->rates, state->task_class, m);
        if (rate < 0)
            return PV_E_MEMORY;
        if (allocation_is_above(floor, rate) || !allocation_passes_gates(allocation, task, m, rate))
            continue;
        double value = state->n > 0 ? allocation_rate_with(allocation, state, m) : rate;
        if (best->found || allocation_is_above(value, least))
            search_consider(best, m, rate, value);
    }
    return PV_OK;
}

/* The feasible cluster of highest new exemption above `least` (< 0: any). */
enum pv_code search_most_reliable(struct allocation *allocation,
                                  const struct geo_task *task,
                                  const struct task_allocation *state,
                                  double floor,
                                  double least,
                                  struct candidate *best)
{
    const double *limits = geo_rates_upper_bounds(allocation->rates, state->task_class);
    *best = (struct candidate){.value = least};
    for (size_t k = 0; k < allocation->problem->n_clusters; k++) {
        size_t m = allocation->most_reliable[k];
        if (allocation->idle[m] <= 0)
            continue;
        if (limits[m] <= 0 || allocation_is_above(floor, limits[m]))
            continue;
        double lost = allocation_lost_with(allocation, state, m);
        double most = state->n > 0 ? geo_rates_upper_bound_with(allocation->rates, m, &state->rate)
                                   : limits[m];
        double hope =
            allocation_exemption(allocation, lost, task->size_bytes, most * (1 + ALLOCATION_TIE));
        if (allocation_is_above(best->value, hope))
            continue;
        double rate = geo_rates_mean(allocation->rates, state->task_class, m);
        if (rate < 0)
            return PV_E_MEMORY;
        if (allocation_is_above(floor, rate) || !allocation_passes_gates(allocation, task, m, rate))
            continue;
        double value = allocation_exemption(allocation, lost, task->size_bytes,
                                            allocation_rate_with(allocation, state, m));
        if (best->found || allocation_is_above(value, least))
            search_consider(best, m, rate, value);
    }
    return PV_OK;
}

/* Why nothing was found: the first filter that leaves no cluster. */
enum pv_code search_reason(struct allocation *allocation,
                           const struct geo_task *task,
                           const struct task_allocation *state,
                           enum geo_reason *reason)
{
    size_t n;
    const size_t *order = geo_rates_order(allocation->rates, state->task_class, &n);
    const double *limits = geo_rates_upper_bounds(allocation->rates, state->task_class);
    *reason = GEO_NO_SLOT;
    for (size_t k = 0; k < n && *reason != GEO_RATE_BELOW_FLOOR; k++) {
        size_t m = order[k];
        if (allocation->idle[m] <= 0 || limits[m] <= 0)
            continue;
        double rate = geo_rates_mean(allocation->rates, state->task_class, m);
        if (rate < 0)
            return PV_E_MEMORY;
        *reason = allocation_passes_gates(allocation, task, m, rate) ? GEO_RATE_BELOW_FLOOR
                                                                     : GEO_BANDWIDTH;
    }
    return PV_OK;
}
