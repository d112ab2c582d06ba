#include "core/scheduling/slots_queues.h"

#include <math.h>

#include "base/rounding.h"

enum pv_code slots_queues_init(struct slots_queues *queues,
                               const struct slots_view *view,
                               size_t n,
                               struct arena *arena,
                               struct pv_error *err)
{
    *queues = (struct slots_queues){
        .view = view,
        .queue_of = arena_calloc(arena, view->n_jobs, sizeof *queues->queue_of),
        .place_of = arena_calloc(arena, view->n_jobs, sizeof *queues->place_of),
        .n = n,
    };
    if (queues->queue_of == NULL || queues->place_of == NULL)
        return pv_no_memory(err);
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        if (!slots_candidates_init(&queues->candidates[kind], view->n_jobs, n, arena))
            return pv_no_memory(err);
    return PV_OK;
}

/* false: nothing is left for the last partition. */
static bool divide(size_t slots, const double shares[], size_t n, size_t parts[])
{
    size_t left = slots;
    for (size_t p = 0; p + 1 < n; p++) {
        double part = fmax(1, rounding_floor(shares[p] * (double)slots));
        if (part >= (double)left)
            return false;
        parts[p] = (size_t)part;
        left -= parts[p];
    }
    parts[n - 1] = left;
    return left > 0;
}

enum pv_code slots_queues_divide(struct slots_queues *queues,
                                 const double shares[],
                                 struct slots_partitions *partitions,
                                 struct arena *arena,
                                 struct pv_error *err)
{
    static const char *const places[] = {"/cluster/map_slots", "/cluster/reduce_slots"};
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        size_t slots = queues->view->cluster.slots[kind];
        partitions->slots[kind] = arena_calloc(arena, queues->n, sizeof **partitions->slots);
        if (partitions->slots[kind] == NULL)
            return pv_no_memory(err);
        if (slots > 0 && !divide(slots, shares, queues->n, partitions->slots[kind]))
            return pv_fault(err, PV_PLACE_POINTER, places[kind], "out_of_range",
                            "too few slots for so many partitions");
    }
    partitions->n = queues->n;
    queues->divided = true;
    return PV_OK;
}

void slots_queues_changed(struct slots_queues *queues, enum slots_kind kind, size_t job)
{
    if (slots_is_candidate(queues->view, kind, job))
        slots_candidates_put(&queues->candidates[kind], job, queues->queue_of[job],
                             queues->place_of[job]);
    else
        slots_candidates_remove(&queues->candidates[kind], job);
}

void slots_queues_enter(struct slots_queues *queues, size_t job, size_t queue)
{
    queues->queue_of[job] = queue;
    queues->place_of[job] = queues->entries++;
    slots_queues_changed(queues, SLOTS_MAP, job);
    slots_queues_changed(queues, SLOTS_REDUCE, job);
}

size_t
slots_queues_choose(const struct slots_queues *queues, enum slots_kind kind, size_t partition)
{
    const struct slots_candidates *candidates = &queues->candidates[kind];
    size_t job = SLOTS_NOBODY;
    if (queues->divided)
        return slots_candidates_first(candidates, partition);
    for (size_t q = 0; q < queues->n && job == SLOTS_NOBODY; q++)
        job = slots_candidates_first(candidates, q);
    return job;
}
