#include "core/geo/search.h"

#include <math.h>

/* Better, or as good and earlier in the request. Among ties the greatest value stays the one to
 * beat, so that a row of ties does not creep. */
static void consider(struct offer *best, size_t cluster, double rate, double value)
{
    bool tied =
        best->found && !desk_is_above(value, best->value) && !desk_is_above(best->value, value);
    if (!best->found || desk_is_above(value, best->value) || (tied && cluster < best->cluster)) {
        double most = tied ? fmax(best->value, value) : value;
        *best = (struct offer){true, cluster, rate, most};
    } else if (tied) {
        best->value = fmax(best->value, value);
    }
}

/*
 * The feasible cluster of highest new rate above `least`. Adding a copy raises the rate by no
 * more than the copy's own, which the clusters' order and the limits of their rates bound.
 * PV_E_MEMORY.
 */
enum pv_code search_fastest(struct desk *desk,
                            const struct geo_task *task,
                            const struct state *state,
                            double floor,
                            double least,
                            struct offer *best)
{
    size_t n;
    const size_t *order = geo_rates_order(desk->rates, state->sort, &n);
    const double *limits = geo_rates_limits(desk->rates, state->sort);
    double now = state->n > 0 ? state->rate.mean : 0;
    *best = (struct offer){.value = least};
    for (size_t k = 0; k < n; k++) {
        size_t m = order[k];
        double processing = geo_rates_processing(desk->rates, state->sort, m);
        if (desk_is_above(floor, processing) || desk_is_above(best->value, now + processing))
            break;
        if (desk->idle[m] <= 0)
            continue;
        if (limits[m] <= 0 || desk_is_above(floor, limits[m]) ||
            desk_is_above(best->value, now + limits[m]))
            continue;
        if (state->n > 0 &&
            desk_is_above(best->value, geo_rates_hope(desk->rates, m, &state->rate)))
            continue;
        double rate = geo_rates_mean(desk->rates, state->sort, m);
        if (rate < 0)
            return PV_E_MEMORY;
        if (desk_is_above(floor, rate) || !desk_passes_gates(desk, task, m, rate))
            continue;
        double value = state->n > 0 ? desk_rate_with(desk, state, m) : rate;
        if (best->found || desk_is_above(value, least))
            consider(best, m, rate, value);
    }
    return PV_OK;
}

/* The feasible cluster of highest new exemption above `least` (< 0: any). */
enum pv_code search_safest(struct desk *desk,
                           const struct geo_task *task,
                           const struct state *state,
                           double floor,
                           double least,
                           struct offer *best)
{
    const double *limits = geo_rates_limits(desk->rates, state->sort);
    *best = (struct offer){.value = least};
    for (size_t k = 0; k < desk->problem->n_clusters; k++) {
        size_t m = desk->safest[k];
        if (desk->idle[m] <= 0)
            continue;
        if (limits[m] <= 0 || desk_is_above(floor, limits[m]))
            continue;
        double lost = desk_lost_with(desk, state, m);
        double most = state->n > 0 ? geo_rates_hope(desk->rates, m, &state->rate) : limits[m];
        double hope = desk_exemption(desk, lost, task->size_bytes, most * (1 + DESK_TIE));
        if (desk_is_above(best->value, hope))
            continue;
        double rate = geo_rates_mean(desk->rates, state->sort, m);
        if (rate < 0)
            return PV_E_MEMORY;
        if (desk_is_above(floor, rate) || !desk_passes_gates(desk, task, m, rate))
            continue;
        double value = desk_exemption(desk, lost, task->size_bytes, desk_rate_with(desk, state, m));
        if (best->found || desk_is_above(value, least))
            consider(best, m, rate, value);
    }
    return PV_OK;
}

/* Why nothing was found: the first filter that leaves no cluster. */
enum pv_code search_reason(struct desk *desk,
                           const struct geo_task *task,
                           const struct state *state,
                           enum geo_reason *reason)
{
    size_t n;
    const size_t *order = geo_rates_order(desk->rates, state->sort, &n);
    const double *limits = geo_rates_limits(desk->rates, state->sort);
    *reason = GEO_NO_SLOT;
    for (size_t k = 0; k < n && *reason != GEO_RATE_BELOW_FLOOR; k++) {
        size_t m = order[k];
        if (desk->idle[m] <= 0 || limits[m] <= 0)
            continue;
        double rate = geo_rates_mean(desk->rates, state->sort, m);
        if (rate < 0)
            return PV_E_MEMORY;
        *reason = desk_passes_gates(desk, task, m, rate) ? GEO_RATE_BELOW_FLOOR : GEO_BANDWIDTH;
    }
    return PV_OK;
}
