#include "core/sim/event_queue.h"

#include <assert.h>
#include <string.h>

enum { CHILDREN = 4, CAPACITY_FIRST = 64 };

#define SLOT_NONE UINT32_MAX

/* An event in the heap; its slot is where its id leads. */
struct event_queue_entry {
    struct event event;
    uint64_t order; /* of scheduling */
    uint32_t slot;
};

/* An id is a slot and how often the slot was used before. */
struct event_queue_slot {
    uint32_t place; /* in the heap; of a free slot the next free one */
    uint32_t uses;  /* odd while it is in use */
};

static bool happens_before(const struct event_queue_entry *a, const struct event_queue_entry *b)
{
    if (a->event.at != b->event.at)
        return a->event.at < b->event.at;
    if (a->event.kind != b->event.kind)
        return a->event.kind < b->event.kind;
    return a->order < b->order;
}

static void
event_queue_put(struct event_queue *queue, size_t place, const struct event_queue_entry *entry)
{
    queue->heap[place] = *entry;
    queue->slots[entry->slot].place = (uint32_t)place;
}

static void sift_up(struct event_queue *queue, size_t place, struct event_queue_entry entry)
{
    while (place > 0) {
        size_t parent = (place - 1) / CHILDREN;
        if (!happens_before(&entry, &queue->heap[parent]))
            break;
        event_queue_put(queue, place, &queue->heap[parent]);
        place = parent;
    }
    event_queue_put(queue, place, &entry);
}

static void sift_down(struct event_queue *queue, size_t place, struct event_queue_entry entry)
{
    for (;;) {
        size_t child = place * CHILDREN + 1;
        if (child >= queue->n)
            break;
        size_t end = child + CHILDREN < queue->n ? child + CHILDREN : queue->n;
        size_t first = child;
        for (size_t i = child + 1; i < end; i++)
            if (happens_before(&queue->heap[i], &queue->heap[first]))
                first = i;
        if (!happens_before(&queue->heap[first], &entry))
            break;
        event_queue_put(queue, place, &queue->heap[first]);
        place = first;
    }
    event_queue_put(queue, place, &entry);
}

/* The entry takes a place that is free; it may belong above it or below. */
static void
event_queue_settle(struct event_queue *queue, size_t place, struct event_queue_entry entry)
{
    if (place > 0 && happens_before(&entry, &queue->heap[(place - 1) / CHILDREN]))
        sift_up(queue, place, entry);
    else
        sift_down(queue, place, entry);
}

/* --- memory --- */

static void free_slot(struct event_queue *queue, uint32_t slot)
{
    queue->slots[slot].uses++;
    queue->slots[slot].place = queue->free;
    queue->free = slot;
}

static bool event_queue_reserve(struct event_queue *queue, size_t capacity)
{
    struct event_queue_entry *heap = arena_array(queue->arena, capacity, sizeof *heap);
    struct event_queue_slot *slots = arena_array(queue->arena, capacity, sizeof *slots);
    if (heap == NULL || slots == NULL || capacity >= SLOT_NONE)
        return false;
    if (queue->capacity > 0) {
        memcpy(heap, queue->heap, queue->n * sizeof *heap);
        memcpy(slots, queue->slots, queue->capacity * sizeof *slots);
    }
    queue->heap = heap;
    queue->slots = slots;
    /* New slots are used in rising order. */
    for (size_t i = capacity; i > queue->capacity; i--) {
        slots[i - 1] = (struct event_queue_slot){queue->free, 0};
        queue->free = (uint32_t)(i - 1);
    }
    queue->capacity = capacity;
    return true;
}

bool event_queue_init(struct event_queue *queue, struct arena *arena)
{
    *queue = (struct event_queue){.arena = arena, .free = SLOT_NONE};
    return event_queue_reserve(queue, CAPACITY_FIRST);
}

/* --- events --- */

/* Where an event stands in the heap; SIZE_MAX: nowhere any more. */
static size_t event_queue_find_place(const struct event_queue *queue, event_id id)
{
    size_t slot = (size_t)(id >> 32);
    if (slot >= queue->capacity || queue->slots[slot].uses != (uint32_t)id || (id & 1) == 0)
        return SIZE_MAX;
    return queue->slots[slot].place;
}

event_id event_queue_schedule(struct event_queue *queue, const struct event *event)
{
    assert(event->at == event->at);
    if (queue->n == queue->capacity && !event_queue_reserve(queue, 2 * queue->capacity))
        return 0;
    uint32_t slot = queue->free;
    queue->free = queue->slots[slot].place;
    queue->slots[slot].uses++;
    sift_up(queue, queue->n++, (struct event_queue_entry){*event, queue->scheduled++, slot});
    return (uint64_t)slot << 32 | queue->slots[slot].uses;
}

static void remove_at(struct event_queue *queue, size_t place)
{
    free_slot(queue, queue->heap[place].slot);
    struct event_queue_entry last = queue->heap[--queue->n];
    if (place < queue->n)
        event_queue_settle(queue, place, last);
}

bool event_queue_cancel(struct event_queue *queue, event_id id)
{
    size_t place = event_queue_find_place(queue, id);
    if (place != SIZE_MAX)
        remove_at(queue, place);
    return place != SIZE_MAX;
}

bool event_queue_move(struct event_queue *queue, event_id id, double at)
{
    assert(at == at);
    size_t place = event_queue_find_place(queue, id);
    if (place == SIZE_MAX)
        return false;
    struct event_queue_entry entry = queue->heap[place];
    entry.event.at = at;
    entry.order = queue->scheduled++;
    event_queue_settle(queue, place, entry);
    return true;
}

const struct event *event_queue_next(const struct event_queue *queue)
{
    return queue->n > 0 ? &queue->heap[0].event : NULL;
}

bool event_queue_pop(struct event_queue *queue, struct event *event)
{
    if (queue->n == 0)
        return false;
    *event = queue->heap[0].event;
    remove_at(queue, 0);
    return true;
}
