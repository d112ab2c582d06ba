/*
 * The policy "fair": a slot goes to the candidate that holds fewest of its kind, of equal ones to
 * the first in order of arrival. With a concurrency only jobs in a phase get slots of its kind
 * (slots_phases.h): a job's reduces then wait for all of its maps.
 *
 * The policy "fresh_static" is the same with a concurrency, on slots divided anew between the kinds
 * (slots_split.h).
 *
 * The policy "drf" is the same on slots, of which a task takes one of its kind whatever it is: of one
 * resource dominant resource fairness is max-min fairness. It differs where there are containers.
 */
#include <assert.h>

#include "core/scheduling/slots/slots_candidates.h"
#include "core/scheduling/slots/slots_phases.h"
#include "core/scheduling/slots/slots_split.h"

struct fair {
    const struct slots_view *view;
    struct slots_candidates candidates[SLOTS_KINDS];
    bool phased; /* phases matter */
    struct slots_phases phases;
};

static void fair_changed(void *state, enum slots_kind kind, size_t job)
{
    struct fair *fair = state;
    uint64_t held = fair->view->counts[job].held[kind];
    assert(held < UINT32_MAX && job < UINT32_MAX);
    if (slots_is_candidate(fair->view, kind, job) &&
        (!fair->phased || fair->phases.in_phase[kind][job]))
        slots_candidates_put(&fair->candidates[kind], job, 0, held << 32 | job);
    else
        slots_candidates_remove(&fair->candidates[kind], job);
}

static enum pv_code fair_begin(const struct slots_view *view,
                               const struct slots_terms *terms,
                               struct slots_partitions *partitions,
                               struct arena *arena,
                               void **state,
                               struct pv_error *err)
{
    struct fair *fair = arena_alloc(arena, sizeof *fair);
    (void)partitions;
    if (fair == NULL)
        return pv_no_memory(err);
    *fair = (struct fair){.view = view, .phased = terms->concurrency > 0};
    *state = fair;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        if (!slots_candidates_init(&fair->candidates[kind], view->n_jobs, 1, arena))
            return pv_no_memory(err);
    if (fair->phased && !slots_phases_init(&fair->phases, terms->concurrency, view->n_jobs,
                                           fair_changed, fair, arena))
        return pv_no_memory(err);
    return PV_OK;
}

static enum pv_code fresh_static_begin(const struct slots_view *view,
                                       const struct slots_terms *terms,
                                       struct slots_partitions *partitions,
                                       struct arena *arena,
                                       void **state,
                                       struct pv_error *err)
{
    size_t split[SLOTS_KINDS] = {terms->split[SLOTS_MAP], terms->split[SLOTS_REDUCE]};
    assert(terms->concurrency > 0);
    if (split[SLOTS_MAP] == 0)
        PV_TRY(slots_split(&view->cluster, view->jobs, view->n_jobs, terms->concurrency, arena,
                           split, err));
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        partitions->slots[kind][0] = split[kind];
    return fair_begin(view, terms, partitions, arena, state, err);
}

static void fair_arrived(void *state, size_t job)
{
    struct fair *fair = state;
    if (fair->phased) {
        slots_phases_arrived(&fair->phases, job, fair->view->counts[job].pending[SLOTS_MAP] > 0);
        return;
    }
    fair_changed(fair, SLOTS_MAP, job);
    fair_changed(fair, SLOTS_REDUCE, job);
}

static void fair_maps_ended(void *state, size_t job)
{
    struct fair *fair = state;
    if (fair->phased)
        slots_phases_maps_ended(&fair->phases, job,
                                fair->view->counts[job].pending[SLOTS_REDUCE] > 0);
}

static void fair_job_ended(void *state, size_t job)
{
    struct fair *fair = state;
    if (fair->phased)
        slots_phases_job_ended(&fair->phases, job);
}

static size_t fair_choose(void *state, enum slots_kind kind, size_t partition, size_t *most)
{
    struct fair *fair = state;
    (void)partition;
    *most = 1;
    return slots_candidates_first(&fair->candidates[kind], 0);
}

const struct slots_policy slots_policy_fair = {
    .name = "fair",
    .container_order = SLOTS_BY_MEMORY,
    .begin = fair_begin,
    .arrived = fair_arrived,
    .maps_ended = fair_maps_ended,
    .job_ended = fair_job_ended,
    .changed = fair_changed,
    .choose = fair_choose,
};

const struct slots_policy slots_policy_fresh_static = {
    .name = "fresh_static",
    .begin = fresh_static_begin,
    .arrived = fair_arrived,
    .maps_ended = fair_maps_ended,
    .job_ended = fair_job_ended,
    .changed = fair_changed,
    .choose = fair_choose,
};

const struct slots_policy slots_policy_drf = {
    .name = "drf",
    .container_order = SLOTS_BY_DOMINANT_SHARE,
    .begin = fair_begin,
    .arrived = fair_arrived,
    .maps_ended = fair_maps_ended,
    .job_ended = fair_job_ended,
    .changed = fair_changed,
    .choose = fair_choose,
};
