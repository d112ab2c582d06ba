#ifndef CORE_SIM_EVENT_QUEUE_H
#define CORE_SIM_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * Events to come, the earliest first; of events at the same instant those of the lowest kind, and
 * of these the one scheduled first. So the order in which events happen follows from what was
 * scheduled and nothing else.
 *
 * An event may be cancelled or moved as long as it has not happened. It leaves the queue at once:
 * a queue holds no void events, whatever share of events is cancelled.
 *
 * A heap of four children per node whose entries carry what they are ordered by, and a table from
 * events to their place in it. Scheduling, cancelling, moving and taking the next event cost
 * O(log n); looking at it, O(1). Places of events that are over are used again.
 */
typedef uint64_t event_id; /* never 0; never used again in a queue */

struct event {
    double at;      /* not NAN */
    uint32_t kind;  /* orders events at the same instant, rising */
    uint64_t about; /* whatever the caller wants to know when it happens */
};

struct event_queue_entry;
struct event_queue_slot;

struct event_queue {
    struct arena *arena;
    struct event_queue_entry *heap;
    struct event_queue_slot *slots;
    size_t n;
    size_t capacity;
    uint32_t free;      /* chain of slots that are free */
    uint64_t scheduled; /* so far */
};

/* An empty queue whose memory is the arena's. false: out of memory. */
bool event_queue_init(struct event_queue *queue, struct arena *arena);

static inline size_t event_queue_length(const struct event_queue *queue)
{
    return queue->n;
}

/* 0: out of memory. */
event_id event_queue_schedule(struct event_queue *queue, const struct event *event);

/* false: it has happened, or was cancelled before. */
bool event_queue_cancel(struct event_queue *queue, event_id id);

/* To another instant, after all events of its kind that were scheduled for it. false: it has
 * happened, or was cancelled. */
bool event_queue_move(struct event_queue *queue, event_id id, double at);

/* The next event, which stays; NULL: there is none. Valid until the queue changes. */
const struct event *event_queue_next(const struct event_queue *queue);

/* Take the next event. false: there is none. */
bool event_queue_pop(struct event_queue *queue, struct event *event);

#endif
