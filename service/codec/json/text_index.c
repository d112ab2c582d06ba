#include "codec/json/text_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

static int compare_entries(const void *a, const void *b)
{
    const struct text_index_entry *x = a;
    const struct text_index_entry *y = b;
    int order = compare_strview(x->text, y->text);
    return order != 0 ? order : compare_size(x->place, y->place);
}

bool text_index_make(struct text_index *index,
                     const struct strview texts[],
                     size_t n,
                     struct arena *arena)
{
    struct text_index_entry *entries = arena_array(arena, n, sizeof *entries);
    if (entries == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct text_index_entry){texts[i], i};
    qsort(entries, n, sizeof *entries, compare_entries);
    *index = (struct text_index){entries, n};
    return true;
}

void text_index_sort(struct text_index *index)
{
    size_t n = index->n;
    index->n = 0;
    qsort(index->entries, n, sizeof *index->entries, compare_entries);
    for (size_t i = 0; i < n; i++)
        if (index->n == 0 ||
            !strview_equal(index->entries[i].text, index->entries[index->n - 1].text))
            index->entries[index->n++] = index->entries[i];
}

/* Where the text is, or would be. */
static size_t lower_bound(const struct text_index *index, struct strview text)
{
    size_t low = 0;
    size_t high = index->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_strview(index->entries[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const struct text_index *index, size_t at, struct strview text)
{
    return at < index->n && strview_equal(index->entries[at].text, text);
}

size_t text_index_find(const struct text_index *index, struct strview text)
{
    size_t at = lower_bound(index, text);
    return is_at(index, at, text) ? index->entries[at].place : SIZE_MAX;
}

size_t text_index_place(struct text_index *index, struct strview text)
{
    size_t at = lower_bound(index, text);
    if (!is_at(index, at, text)) {
        memmove(&index->entries[at + 1], &index->entries[at],
                (index->n - at) * sizeof *index->entries);
        index->entries[at] = (struct text_index_entry){text, index->n++};
    }
    return index->entries[at].place;
}
