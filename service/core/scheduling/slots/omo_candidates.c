#include "core/scheduling/slots/omo_candidates.h"

#include <assert.h>
#include <math.h>

#include "base/rounding.h"

enum { CONSECUTIVE, LAZY, READY, GROUPS }; /* READY without lazy_start, the others with it */

bool omo_candidates_init(struct omo_candidates *candidates,
                         const struct omo_terms *terms,
                         size_t n_jobs,
                         struct arena *arena)
{
    *candidates = (struct omo_candidates){
        .terms = *terms,
        .savings = arena_array(arena, n_jobs, sizeof *candidates->savings),
        .saving_of = arena_array(arena, n_jobs, sizeof *candidates->saving_of),
    };
    if (candidates->savings == NULL || candidates->saving_of == NULL)
        return false;
    for (size_t i = 0; i < n_jobs; i++)
        candidates->saving_of[i] = SIZE_MAX;
    return slots_candidates_init(&candidates->reduces, n_jobs, GROUPS, arena) &&
           slots_candidates_init(&candidates->maps, n_jobs, 1, arena);
}

void omo_candidates_set_rates(struct omo_candidates *candidates,
                              const struct omo_rates *rates,
                              size_t active_jobs)
{
    candidates->rates = *rates;
    candidates->active_jobs = active_jobs;
}

/* --- where a job belongs --- */

/* The group of those that may begin a reduce; GROUPS: none. */
static size_t group_of(const struct omo_terms *terms,
                       const struct omo_job *job,
                       const struct omo_figures *figures)
{
    size_t begun = omo_begun_reduces(job);
    double finished = (double)job->maps_finished;
    double needed = terms->slow_start * (double)job->maps;
    if (begun == job->reduces)
        return GROUPS;
    if (!terms->lazy_start)
        return finished >= needed || rounding_equal(finished, needed) ? READY : GROUPS;
    if (begun > 0)
        return CONSECUTIVE;
    return figures->may_start ? LAZY : GROUPS;
}

static void put_saving(struct omo_candidates *candidates, size_t job, double saved_s)
{
    size_t *place = &candidates->saving_of[job];
    if (*place == SIZE_MAX)
        *place = candidates->n_savings++;
    candidates->savings[*place] = (struct omo_saving){saved_s, job};
}

static void remove_saving(struct omo_candidates *candidates, size_t job)
{
    size_t place = candidates->saving_of[job];
    if (place == SIZE_MAX)
        return;
    struct omo_saving last = candidates->savings[--candidates->n_savings];
    candidates->savings[place] = last;
    candidates->saving_of[last.job] = place;
    candidates->saving_of[job] = SIZE_MAX;
}

struct omo_figures
omo_candidates_put(struct omo_candidates *candidates, size_t index, const struct omo_job *job)
{
    const struct omo_terms *terms = &candidates->terms;
    struct omo_figures figures = omo_assess(&candidates->rates, candidates->active_jobs, job);
    uint64_t key = (uint64_t)figures.occupied_slots << 32 | index;
    size_t group = group_of(terms, job, &figures);
    assert(figures.occupied_slots < UINT32_MAX);
    if (group < GROUPS)
        slots_candidates_put(&candidates->reduces, index, group, key);
    else
        slots_candidates_remove(&candidates->reduces, index);
    if (figures.pending_maps > 0)
        slots_candidates_put(&candidates->maps, index, 0, key);
    else
        slots_candidates_remove(&candidates->maps, index);
    if (terms->batch_finish && figures.batch_s < figures.fair_s &&
        !rounding_equal(figures.batch_s, figures.fair_s))
        put_saving(candidates, index, figures.fair_s - figures.batch_s);
    else
        remove_saving(candidates, index);
    return figures;
}

/* --- who is next --- */

/* The one that saves most, of equal ones the first job; SLOTS_NOBODY: nobody saves anything. */
static size_t most_saving(const struct omo_candidates *candidates)
{
    const struct omo_saving *best = NULL;
    for (size_t i = 0; i < candidates->n_savings; i++) {
        const struct omo_saving *saving = &candidates->savings[i];
        if (best == NULL ||
            (rounding_equal(saving->saved_s, best->saved_s) ? saving->job < best->job
                                                            : saving->saved_s > best->saved_s))
            best = saving;
    }
    return best != NULL ? best->job : SLOTS_NOBODY;
}

size_t omo_candidates_fewest_slots(const struct omo_candidates *candidates)
{
    return slots_candidates_first(&candidates->maps, 0);
}

/* A reduce, where that may begin for the job, else a map. */
static struct omo_action choose_fairly(const struct omo_candidates *candidates)
{
    size_t reducing = slots_candidates_first(&candidates->reduces, READY);
    size_t mapping = omo_candidates_fewest_slots(candidates);
    if (reducing != SLOTS_NOBODY &&
        (mapping == SLOTS_NOBODY || slots_candidates_key(&candidates->reduces, reducing) <=
                                        slots_candidates_key(&candidates->maps, mapping)))
        return (struct omo_action){OMO_FAIR, reducing, SLOTS_REDUCE};
    if (mapping != SLOTS_NOBODY)
        return (struct omo_action){OMO_FAIR, mapping, SLOTS_MAP};
    return (struct omo_action){OMO_IDLE, SLOTS_NOBODY, SLOTS_MAP};
}

struct omo_action omo_candidates_choose(const struct omo_candidates *candidates)
{
    size_t job = slots_candidates_first(&candidates->reduces, CONSECUTIVE);
    if (job != SLOTS_NOBODY)
        return (struct omo_action){OMO_CONSECUTIVE_REDUCES, job, SLOTS_REDUCE};
    job = slots_candidates_first(&candidates->reduces, LAZY);
    if (job != SLOTS_NOBODY)
        return (struct omo_action){OMO_LAZY_START, job, SLOTS_REDUCE};
    job = most_saving(candidates);
    if (job != SLOTS_NOBODY)
        return (struct omo_action){OMO_BATCH_FINISH, job, SLOTS_MAP};
    return choose_fairly(candidates);
}
