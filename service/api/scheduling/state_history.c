#include "api/scheduling/state_history.h"

#include <stdlib.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/rounding.h"

enum { NAME_BYTES = 64 }; /* in a message; evidence has all of it */

static int order_by_name(const void *a, const void *b)
{
    const struct state_item *x = a;
    const struct state_item *y = b;
    return compare_strview(x->name, y->name);
}

/* Of one figure: in how many items it fell, and the first of them. */
struct fall {
    size_t count;
    const struct state_item *first;
};

static void note(struct fall falls[], const struct state_item *now, const struct state_item *before)
{
    for (size_t f = 0; f < STATE_FIGURES; f++) {
        if (now->figures[f] >= before->figures[f] ||
            rounding_equal(now->figures[f], before->figures[f]))
            continue;
        if (falls[f].count++ == 0)
            falls[f].first = now;
    }
}

static void warn(const struct fall *fall,
                 const struct state_words *words,
                 size_t figure,
                 struct findings *warnings)
{
    if (fall->count == 0)
        return;
    struct strview first = strview_clip(fall->first->name, NAME_BYTES);
    struct finding *finding = finding_add(
        warnings, words->code[figure],
        "Of %zu %s%s %s is less than in the state before, the first by name is %.*s.", fall->count,
        words->of, PLURAL(fall->count), words->what[figure], (int)first.n, first.at);
    finding_count(finding, fall->count);
    finding_text(finding, words->of, fall->first->name.at);
}

static void compare(const struct state_history *before,
                    const struct state_words *words,
                    const struct state_item items[],
                    size_t n,
                    struct findings *warnings)
{
    struct fall falls[STATE_FIGURES] = {{0, NULL}};
    for (size_t i = 0, k = 0; i < n && k < before->n;) {
        int order = compare_strview(items[i].name, before->items[k].name);
        if (order == 0)
            note(falls, &items[i], &before->items[k]);
        i += order <= 0;
        k += order >= 0;
    }
    for (size_t f = 0; f < STATE_FIGURES; f++)
        warn(&falls[f], words, f, warnings);
}

static enum pv_code remember(struct state_history *history,
                             const struct state_item items[],
                             size_t n,
                             const struct arena *beside,
                             struct pv_error *err)
{
    state_history_forget(history);
    arena_init_beside(&history->arena, beside, 0);
    history->items = arena_array(&history->arena, n, sizeof *history->items);
    if (history->items == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        history->items[i] = items[i];
        history->items[i].name = arena_copy(&history->arena, items[i].name);
        if (history->items[i].name.at == NULL)
            return pv_no_memory(err);
    }
    history->n = n;
    return PV_OK;
}

enum pv_code state_history_follow(struct state_history *history,
                                  const struct state_words *words,
                                  struct state_item items[],
                                  size_t n,
                                  struct findings *warnings,
                                  struct pv_error *err)
{
    qsort(items, n, sizeof *items, order_by_name);
    compare(history, words, items, n, warnings);
    PV_TRY(findings_check(warnings, err));
    return remember(history, items, n, warnings->arena, err);
}

void state_history_forget(struct state_history *history)
{
    arena_fini(&history->arena);
    *history = (struct state_history){.n = 0};
}
