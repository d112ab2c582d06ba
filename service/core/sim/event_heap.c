#include "core/sim/event_heap.h"

#include <assert.h>
#include <math.h>

#include "base/vector.h"

enum { CHILDREN = 4, KIND_SHIFT = 58 };

static inline bool happens_before(const struct event_heap_entry *a,
                                  const struct event_heap_entry *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

bool event_heap_init(struct event_heap *heap, size_t capacity, struct arena *arena)
{
    *heap = (struct event_heap){.arena = arena};
    heap->capacity = capacity > 0 ? capacity : 1;
    heap->entries = arena_array(arena, heap->capacity, sizeof *heap->entries);
    return heap->entries != NULL;
}

static void sift_up(struct event_heap *heap, size_t place, struct event_heap_entry entry)
{
    while (place > 0) {
        size_t parent = (place - 1) / CHILDREN;
        if (!happens_before(&entry, &heap->entries[parent]))
            break;
        heap->entries[place] = heap->entries[parent];
        place = parent;
    }
    heap->entries[place] = entry;
}

/* Which of the nodes from `child` on, as many as a node has children, happens first. */
static inline size_t first_child(const struct event_heap *heap, size_t child)
{
    const struct event_heap_entry *entries = heap->entries;
    if (child + CHILDREN <= heap->n) {
        size_t left = child + (happens_before(&entries[child + 1], &entries[child]) ? 1 : 0);
        size_t right =
            child + 2 + (happens_before(&entries[child + 3], &entries[child + 2]) ? 1 : 0);
        return happens_before(&entries[right], &entries[left]) ? right : left;
    }
    size_t first = child;
    for (size_t i = child + 1; i < heap->n; i++)
        if (happens_before(&entries[i], &entries[first]))
            first = i;
    return first;
}

/* An entry for the first place, or for below it. */
static void sift_down(struct event_heap *heap, struct event_heap_entry entry)
{
    size_t place = 0;
    for (size_t child = 1; child < heap->n; child = place * CHILDREN + 1) {
        size_t first = first_child(heap, child);
        if (!happens_before(&heap->entries[first], &entry))
            break;
        heap->entries[place] = heap->entries[first];
        place = first;
    }
    heap->entries[place] = entry;
}

/* The last event moves into a first place that nothing was put into. */
static inline void fill(struct event_heap *heap)
{
    if (!heap->vacant)
        return;
    heap->vacant = false;
    struct event_heap_entry last = heap->entries[--heap->n];
    if (heap->n > 0)
        sift_down(heap, last);
}

bool event_heap_schedule(struct event_heap *heap, double at, uint32_t kind, uint64_t about)
{
    assert(at == at && kind < EVENT_HEAP_KINDS);
    const struct event_heap_entry entry = {at, (uint64_t)kind << KIND_SHIFT | heap->scheduled++,
                                           about};
    if (heap->vacant) {
        heap->vacant = false;
        sift_down(heap, entry);
        return true;
    }
    if (heap->n == heap->capacity &&
        !vector_reserve(heap->arena, heap->entries, heap->capacity, heap->n + 1))
        return false;
    sift_up(heap, heap->n++, entry);
    return true;
}

double event_heap_next_at(struct event_heap *heap)
{
    fill(heap);
    return heap->n > 0 ? heap->entries[0].at : HUGE_VAL;
}

bool event_heap_pop(struct event_heap *heap, struct event *event)
{
    fill(heap);
    if (heap->n == 0)
        return false;
    const struct event_heap_entry *first = &heap->entries[0];
    *event = (struct event){first->at, (uint32_t)(first->order >> KIND_SHIFT), first->about};
    heap->vacant = true;
    return true;
}
