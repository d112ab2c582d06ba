#include "core/scheduling/slots/slots_spans.h"

#include <stdlib.h>

#include "core/sim/event_heap.h"

#define NO_SLOT SIZE_MAX

bool slots_spans_init(struct slots_spans *spans, size_t most, struct arena *arena)
{
    *spans =
        (struct slots_spans){.items = arena_array(arena, most, sizeof *spans->items), .most = most};
    return spans->items != NULL;
}

void slots_spans_add(struct slots_spans *spans, const struct slots_span *span)
{
    if (span->count > spans->most - spans->tasks) {
        spans->omitted += span->count;
        return;
    }
    spans->items[spans->n++] = *span;
    spans->tasks += span->count;
}

/* --- slots --- */

/* The slots of a kind of a node. */
struct lane_group {
    size_t lanes; /* used so far */
    size_t free;  /* the bar whose slot came free last; NO_SLOT: none */
};

struct placing {
    struct slots_bar *bars;
    struct lane_group *groups;
    size_t *next_free; /* by bar: whose slot came free before */
    struct event_heap ends;
    bool shared;
};

/* Where all of it is equal the order does not matter. */
static int order_by_given(const void *a, const void *b)
{
    const struct slots_span *x = a;
    const struct slots_span *y = b;
    int by_given = (x->given_s > y->given_s) - (x->given_s < y->given_s);
    int by_end = (x->end_s > y->end_s) - (x->end_s < y->end_s);
    int by_job = (x->job > y->job) - (x->job < y->job);
    int by_node = (x->node > y->node) - (x->node < y->node);
    return by_given != 0 ? by_given : by_end != 0 ? by_end : by_job != 0 ? by_job : by_node;
}

static struct lane_group *group_of(const struct placing *placing, const struct slots_span *span)
{
    size_t kind = placing->shared ? 0 : (size_t)span->kind;
    return &placing->groups[span->node * SLOTS_KINDS + kind];
}

static void free_until(struct placing *placing, double at_s)
{
    struct event event;
    while (event_heap_next_at(&placing->ends) <= at_s && event_heap_pop(&placing->ends, &event)) {
        struct lane_group *group = group_of(placing, placing->bars[event.about].span);
        placing->next_free[event.about] = group->free;
        group->free = event.about;
    }
}

static bool place(struct placing *placing, size_t bar, const struct slots_span *span)
{
    struct lane_group *group = group_of(placing, span);
    placing->bars[bar] = (struct slots_bar){span, group->lanes};
    if (group->free == NO_SLOT) {
        group->lanes++;
    } else {
        placing->bars[bar].slot = placing->bars[group->free].slot;
        group->free = placing->next_free[group->free];
    }
    return event_heap_schedule(&placing->ends, span->end_s, 0, bar);
}

static bool place_all(struct slots_spans *spans, struct placing *placing)
{
    size_t bar = 0;
    for (size_t i = 0; i < spans->n; i++) {
        const struct slots_span *span = &spans->items[i];
        free_until(placing, span->given_s);
        for (size_t k = 0; k < span->count; k++)
            if (!place(placing, bar++, span))
                return false;
    }
    return true;
}

bool slots_spans_place(struct slots_spans *spans,
                       size_t n_nodes,
                       bool shared,
                       struct arena *scratch,
                       struct slots_bar bars[])
{
    struct arena_mark mark = arena_mark(scratch);
    size_t n_groups = SLOTS_KINDS * (n_nodes > 0 ? n_nodes : 1);
    struct placing placing = {.bars = bars,
                              .groups = arena_calloc(scratch, n_groups, sizeof *placing.groups),
                              .next_free =
                                  arena_array(scratch, spans->tasks, sizeof *placing.next_free),
                              .shared = shared};
    for (size_t g = 0; placing.groups != NULL && g < n_groups; g++)
        placing.groups[g].free = NO_SLOT;
    qsort(spans->items, spans->n, sizeof *spans->items, order_by_given);
    bool placed = placing.groups != NULL && placing.next_free != NULL &&
                  event_heap_init(&placing.ends, 64, scratch) && place_all(spans, &placing);
    arena_rewind(scratch, mark);
    return placed;
}
