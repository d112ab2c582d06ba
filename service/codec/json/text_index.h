#ifndef CODEC_JSON_TEXT_INDEX_H
#define CODEC_JSON_TEXT_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/strview.h"

/* Finds texts of a list by what they say, in O(log n). */
struct text_index_entry {
    struct strview text;
    size_t place;
};

struct text_index {
    struct text_index_entry *entries; /* by text */
    size_t n;
};

/* Of n texts, which are borrowed; of equal ones the first is found. False: out of memory. */
bool text_index_make(struct text_index *index,
                     const struct strview texts[],
                     size_t n,
                     struct arena *arena);

/* Sorts entries that were put in by hand, and drops all but the first of equal ones. */
void text_index_sort(struct text_index *index);

/* SIZE_MAX: it is not there. */
size_t text_index_find(const struct text_index *index, struct strview text);

/* The place of the text; where it is not there it is added, as place n, for which `entries` must have
 * room. The text is borrowed. O(log n), and O(n) for a new one. */
size_t text_index_place(struct text_index *index, struct strview text);

#endif
