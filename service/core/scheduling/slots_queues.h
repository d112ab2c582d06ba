#ifndef CORE_SCHEDULING_SLOTS_QUEUES_H
#define CORE_SCHEDULING_SLOTS_QUEUES_H

#include "core/scheduling/slots_candidates.h"
#include "core/scheduling/slots_policy.h"

/*
 * Queues of jobs, each first in first out, on which several policies stand. A free slot goes to the
 * first candidate of the first queue that has one or, where slots are divided, of the queue of the
 * slot's partition.
 */
struct slots_queues {
    const struct slots_view *view;
    struct slots_candidates candidates[SLOTS_KINDS]; /* groups are queues, keys places */
    size_t *queue_of;                                /* by job, from 0 */
    uint64_t *place_of;                              /* by job; lower ones first */
    uint64_t entries;                                /* into any queue, so far */
    size_t n;
    bool divided;
};

/* All of it empty. PV_E_MEMORY. */
enum pv_code slots_queues_init(struct slots_queues *queues,
                               const struct slots_view *view,
                               size_t n,
                               struct arena *arena,
                               struct pv_error *err) PV_MUSTCHECK;

/*
 * Divide the slots of either kind, one partition for each queue by its share: all but the last get
 * max(1, floor(share x slots)), the last the rest. PV_E_INVALID where nothing is left for it (of
 * reduce slots there may be none at all), PV_E_MEMORY.
 */
enum pv_code slots_queues_divide(struct slots_queues *queues,
                                 const double shares[],
                                 struct slots_partitions *partitions,
                                 struct arena *arena,
                                 struct pv_error *err) PV_MUSTCHECK;

/* To the end of a queue. */
void slots_queues_enter(struct slots_queues *queues, size_t job, size_t queue);

/* As in struct slots_policy. */
void slots_queues_changed(struct slots_queues *queues, enum slots_kind kind, size_t job);
size_t
slots_queues_choose(const struct slots_queues *queues, enum slots_kind kind, size_t partition);

#endif
