#ifndef CORE_SCHEDULING_SLOTS_SLOTS_QUEUES_H
#define CORE_SCHEDULING_SLOTS_SLOTS_QUEUES_H

#include "core/scheduling/slots/slots_candidates.h"
#include "core/scheduling/slots/slots_policy.h"

/*
 * Queues of jobs, each first in first out, on which several policies stand. A free slot goes to the
 * first candidate of the first queue that has one or, where slots are divided, of the queue of the
 * slot's partition.
 */
struct slots_queues {
    const struct slots_view *view;
    struct slots_candidates candidates[SLOTS_KINDS]; /* divided: a group for each queue; else one */
    uint64_t *standing_of; /* by job: its queue, then its place there in 32 bits each */
    uint32_t *entries;     /* by queue: jobs that have entered so far */
    size_t n;
    bool divided;
};

/* The queue of a job, from 0. */
static inline size_t slots_queues_of(const struct slots_queues *queues, size_t job)
{
    return (size_t)(queues->standing_of[job] >> 32);
}

/* All n of them empty; divided: the slots are to be (slots_queues_divide). PV_E_MEMORY. */
enum pv_code slots_queues_init(struct slots_queues *queues,
                               const struct slots_view *view,
                               size_t n,
                               bool divided,
                               struct arena *arena,
                               struct pv_error *err) PV_MUSTCHECK;

/* Whether so many slots, divided by n shares as below, leave one for the last partition at least. */
bool slots_queues_suffice(size_t slots, const double shares[], size_t n);

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

/* To the end of a queue, which the job has never been in. */
void slots_queues_enter(struct slots_queues *queues, size_t job, size_t queue);

/* As in struct slots_policy. */
void slots_queues_changed(struct slots_queues *queues, enum slots_kind kind, size_t job);
size_t
slots_queues_choose(const struct slots_queues *queues, enum slots_kind kind, size_t partition);

#endif
