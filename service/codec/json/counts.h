#ifndef CODEC_JSON_COUNTS_H
#define CODEC_JSON_COUNTS_H

#include "codec/json/reader.h"

/*
 * A list of different whole numbers from 1 to `most`, 1 to most_items of them, in the arena; NULL
 * where it is absent or at fault. The second one of two alike is a fault (duplicate) at the item.
 * O(n^2): for short lists.
 */
int64_t *codec_distinct_counts(
    const struct codec_node *object, const char *key, size_t most_items, int64_t most, size_t *n);

#endif
