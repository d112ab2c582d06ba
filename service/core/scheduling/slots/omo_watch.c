#include "core/scheduling/slots/omo_watch.h"

#include <math.h>
#include <string.h>

#include "core/scheduling/slots/slots_workload.h"

/* Rates are compared with a margin far beyond what rounding does to a job's figures. */
static const double MARGIN = 1e-6;

bool omo_watch_init(struct omo_watch *watch,
                    const struct omo_terms *terms,
                    size_t n_jobs,
                    struct arena *arena)
{
    *watch = (struct omo_watch){
        .terms = *terms,
        .awake = arena_array(arena, n_jobs, sizeof *watch->awake),
        .place_of = arena_array(arena, n_jobs, sizeof *watch->place_of),
    };
    if (watch->awake == NULL || watch->place_of == NULL)
        return false;
    for (size_t i = 0; i < n_jobs; i++)
        watch->place_of[i] = SIZE_MAX;
    return slots_candidates_init(&watch->asleep, n_jobs, 1, arena);
}

static void forget(struct omo_watch *watch, size_t index)
{
    size_t place = watch->place_of[index];
    if (place == SIZE_MAX)
        return;
    size_t last = watch->awake[--watch->n_awake];
    watch->awake[place] = last;
    watch->place_of[last] = place;
    watch->place_of[index] = SIZE_MAX;
}

void omo_watch_wake(struct omo_watch *watch, size_t index)
{
    slots_candidates_remove(&watch->asleep, index);
    if (watch->place_of[index] != SIZE_MAX)
        return;
    watch->place_of[index] = watch->n_awake;
    watch->awake[watch->n_awake++] = index;
}

/* Positive doubles are in the order of their bits. */
static uint64_t key_of(double rate_per_s)
{
    uint64_t bits;
    memcpy(&bits, &rate_per_s, sizeof bits);
    return bits;
}

/* The least rate that matters to a job; 0: any does, HUGE_VAL: none. */
static double rate_that_matters(const struct omo_terms *terms, const struct omo_job *job)
{
    size_t pending = job->maps - job->maps_finished - job->maps_running;
    if (job->reduces == 0 || pending == 0)
        return HUGE_VAL;
    if (omo_begun_reduces(job) > 0)
        return terms->batch_finish ? 0 : HUGE_VAL;
    return terms->lazy_start && job->shuffle_s > job->map_task_s
               ? ((double)pending - 0.5) / (job->shuffle_s - job->map_task_s)
               : HUGE_VAL;
}

void omo_watch_put(struct omo_watch *watch, size_t index, const struct omo_job *job)
{
    double rate_per_s = rate_that_matters(&watch->terms, job);
    if (rate_per_s <= watch->rate_per_s * (1 + MARGIN)) {
        omo_watch_wake(watch, index);
        return;
    }
    forget(watch, index);
    if (rate_per_s < HUGE_VAL)
        slots_candidates_put(&watch->asleep, index, 0, key_of(rate_per_s));
    else
        slots_candidates_remove(&watch->asleep, index);
}

void omo_watch_set_rates(struct omo_watch *watch, const struct omo_rates *rates, size_t active_jobs)
{
    watch->rate_per_s = rates->release_frequency_per_s / (double)active_jobs;
    uint64_t most = key_of(watch->rate_per_s * (1 + MARGIN));
    size_t first;
    while ((first = slots_candidates_first(&watch->asleep, 0)) != SLOTS_NOBODY &&
           slots_candidates_key(&watch->asleep, first) <= most)
        omo_watch_wake(watch, first);
}
