#ifndef CORE_SCHEDULING_SLOTS_OMO_H
#define CORE_SCHEDULING_SLOTS_OMO_H

#include <stdbool.h>
#include <stddef.h>

/*
 * OMO: when should a job's reduces begin, and whose last maps should be hurried (J. Wang,
 * dissertation, UMass Boston 2017, eqs 4.1 to 4.5)? Both follow from how often slots come free. What
 * differs from the paper: docs/design.md, "OMO at run time".
 */

/* As in the dissertation: the weight of the last window, and how long one is. */
#define OMO_EMA_WEIGHT 0.5
#define OMO_WINDOW_S 10.0

/* How often slots come free, as a moving average over windows. */
struct omo_rates {
    double release_frequency_per_s; /* F_o */
    double available_slots;         /* A_o: that run maps, or reduces of jobs whose maps are done */
};

/* A window of window_s in which `released` slots came free and `available_slots` were available. The
 * first one is taken as it is: rates are {NAN, NAN} before. weight: alpha, 0 < .. <= 1. */
void omo_rates_update(struct omo_rates *rates,
                      double weight,
                      double window_s,
                      double released,
                      double available_slots);

/* Tasks that run hold a slot; what has neither finished nor runs is pending. */
struct omo_job {
    size_t maps;
    size_t maps_finished;
    size_t maps_running;
    double map_task_s; /* T_m >= 0 */
    size_t reduces;
    size_t reduces_finished;
    size_t reduces_running;
    double shuffle_s; /* T_s >= 0; of no meaning without reduces */
};

/* T_s of a job whose every map puts out map_output_bytes, when each reduce fetches its part. */
double
omo_shuffle_s(double map_output_bytes, size_t maps, size_t reduces, double bandwidth_bytes_per_s);

/* Reduces that have begun: running or finished. */
static inline size_t omo_begun_reduces(const struct omo_job *job)
{
    return job->reduces_running + job->reduces_finished;
}

/* NAN: not computed, because it belongs to another case; gap_s also where it is minus infinity. */
struct omo_figures {
    size_t pending_maps;
    size_t occupied_slots;
    /* Of jobs with reduces of which none has begun: */
    double gap_s;                  /* alpha: the shuffle's end after the maps' (eq. 4.3) */
    double starts_at_pending_maps; /* a whole number */
    bool may_start;                /* false for others */
    /* Of jobs whose reduces have begun, with pending maps: */
    double fair_s;  /* to the end of the maps in turn with others (eq. 4.4) */
    double batch_s; /* until others have as many slots, and these maps are done, if they go first
                       (eq. 4.5) */
};

/* active_jobs: K >= 1, among which slots are shared. O(1). */
struct omo_figures
omo_assess(const struct omo_rates *rates, size_t active_jobs, const struct omo_job *job);

#endif
