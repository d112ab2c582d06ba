/* The policy "fifo": one queue, first in first out. */
#include "core/scheduling/slots/slots_queues.h"

static enum pv_code fifo_begin(const struct slots_view *view,
                               const struct slots_terms *terms,
                               struct slots_partitions *partitions,
                               struct arena *arena,
                               void **state,
                               struct pv_error *err)
{
    (void)terms;
    (void)partitions;
    *state = arena_alloc(arena, sizeof(struct slots_queues));
    return *state != NULL ? slots_queues_init(*state, view, 1, false, arena, err)
                          : pv_no_memory(err);
}

static void fifo_arrived(void *state, size_t job)
{
    slots_queues_enter(state, job, 0);
}

static void fifo_changed(void *state, enum slots_kind kind, size_t job)
{
    slots_queues_changed(state, kind, job);
}

static size_t fifo_choose(void *state, enum slots_kind kind, size_t partition, size_t *most)
{
    (void)most;
    return slots_queues_choose(state, kind, partition);
}

const struct slots_policy slots_policy_fifo = {
    .name = "fifo",
    .container_order = SLOTS_BY_ARRIVAL,
    .begin = fifo_begin,
    .arrived = fifo_arrived,
    .changed = fifo_changed,
    .choose = fifo_choose,
};
