#ifndef CORE_SIM_EVENT_HEAP_H
#define CORE_SIM_EVENT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/sim/event_queue.h"

/*
 * Events to come in the order of an event queue (event_queue.h), for simulations that never take
 * back what they scheduled: 24 bytes an event, and no table from events to places. Scheduling and
 * taking cost O(log n); an event that is scheduled right after another one was taken, as the end of
 * a task is that begins where one has ended, takes that one's place, and both together cost one
 * descent.
 *
 * Kinds are below EVENT_HEAP_KINDS, and fewer than 2^58 events are scheduled in all.
 */
enum { EVENT_HEAP_KINDS = 64 };

struct event_heap_entry {
    double at;
    uint64_t order; /* kind, then how many were scheduled before */
    uint64_t about;
};

struct event_heap {
    struct arena *arena;
    struct event_heap_entry *entries;
    size_t n; /* the vacant first place included */
    size_t capacity;
    bool vacant; /* the first event was taken, and nothing put into its place */
    uint64_t scheduled;
};

/* An empty heap with room for `capacity` events, whose memory is the arena's; it grows when there
 * are more. false: out of memory. */
bool event_heap_init(struct event_heap *heap, size_t capacity, struct arena *arena);

static inline size_t event_heap_length(const struct event_heap *heap)
{
    return heap->n - (heap->vacant ? 1 : 0);
}

/* false: out of memory. */
bool event_heap_schedule(struct event_heap *heap, double at, uint32_t kind, uint64_t about);

/* When the next event happens; HUGE_VAL: there is none. */
double event_heap_next_at(struct event_heap *heap);

/* Take the next event. false: there is none. */
bool event_heap_pop(struct event_heap *heap, struct event *event);

#endif
