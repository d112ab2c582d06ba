/* Free slots, and whom the policy gives them to. */
#include <assert.h>

#include "core/scheduling/slots/slots_engine_internal.h"

void slots_giving_note(struct slots_engine *engine, enum slots_kind kind, size_t job, size_t count)
{
    struct slots_job_times *times = &engine->progress[job].times;
    if (isnan(times->start_s))
        times->start_s = engine->clock.now_s;
    if (kind == SLOTS_REDUCE && isnan(times->reduce_start_s))
        times->reduce_start_s = engine->clock.now_s;
    engine->counts[job].pending[kind] -= count;
    engine->counts[job].held[kind] += count;
    slots_observe_pending(engine, kind, -(double)count);
    slots_observe_held(engine, kind, job, (double)count);
    engine->given_tasks += count;
}

static void
give(struct slots_engine *engine, enum slots_kind kind, size_t partition, size_t job, size_t count)
{
    slots_giving_note(engine, kind, job, count);
    engine->free.slots[kind][partition] -= count;
    if (engine->hosting == NULL)
        slots_batches_give(engine, kind, partition, job, count);
    else
        slots_hosting_give(engine, kind, partition, job, count);
    engine->policy->changed(engine->policy_state, kind, job);
}

/* Free slots of a kind and partition, as long as the policy names a job. */
static void give_partition(struct slots_engine *engine, enum slots_kind kind, size_t partition)
{
    const size_t *free = &engine->free.slots[kind][partition];
    while (*free > 0 && slots_engine_goes_on(engine)) {
        size_t most = SIZE_MAX;
        size_t job = engine->policy->choose(engine->policy_state, kind, partition, &most);
        if (job == SLOTS_NOBODY)
            break;
        assert(slots_is_candidate(&engine->view, kind, job));
        size_t pending = engine->counts[job].pending[kind];
        size_t count = *free < pending ? *free : pending;
        give(engine, kind, partition, job, most < count ? most : count);
    }
}

/* Free slots of no fixed kind, likewise. */
static void give_shared(struct slots_engine *engine)
{
    const size_t *free = &engine->free.slots[SLOTS_MAP][0];
    while (*free > 0 && slots_engine_goes_on(engine)) {
        enum slots_kind kind = SLOTS_MAP;
        size_t job = engine->policy->choose_shared(engine->policy_state, &kind);
        if (job == SLOTS_NOBODY)
            break;
        assert(engine->counts[job].pending[kind] > 0);
        give(engine, kind, 0, job, 1);
    }
}

void slots_give_free(struct slots_engine *engine)
{
    if (engine->no_memory)
        return; /* tasks that were lost may be missing */
    if (engine->copies != NULL)
        slots_copies_place(engine);
    if (engine->containers != NULL) {
        slots_containers_give(engine);
        return;
    }
    if (engine->policy->choose_shared != NULL) {
        give_shared(engine);
        return;
    }
    for (size_t p = 0; p < engine->free.n; p++)
        give_partition(engine, SLOTS_MAP, p);
    for (size_t p = 0; p < engine->free.n; p++)
        give_partition(engine, SLOTS_REDUCE, p);
}
