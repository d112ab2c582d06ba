#ifndef CODEC_JSON_NAMES_H
#define CODEC_JSON_NAMES_H

#include "codec/json/reader.h"

/*
 * Names are unique within their list: every later one of equal names is a fault (code duplicate,
 * `detail`) at the member `name` of its item. names[i] is the name of item i; one that is empty was
 * at fault already and is passed over. O(n log n). Scratch space comes from the reader's arena.
 */
void codec_refuse_same_names(const struct codec_node *list,
                             const struct strview names[],
                             size_t n,
                             const char *detail);

/* Likewise for texts of the member `key`. */
void codec_refuse_same_texts(const struct codec_node *list,
                             const char *key,
                             const struct strview texts[],
                             size_t n,
                             const char *detail);

/* Likewise for items that are texts themselves: the fault is at the item. */
void codec_refuse_same_items(const struct codec_node *list,
                             const struct strview texts[],
                             size_t n,
                             const char *detail);

/* Likewise for ids: the member `id`; negative ones are passed over. */
void codec_refuse_same_ids(const struct codec_node *list,
                           const int64_t ids[],
                           size_t n,
                           const char *detail);

#endif
