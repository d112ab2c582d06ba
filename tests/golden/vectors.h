#ifndef GOLDEN_VECTORS_H
#define GOLDEN_VECTORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What meson takes for a test that was skipped. */
enum { SKIPPED = 77 };

/*
 * The vectors of a topic, golden/vectors/<topic> below PROVISOR_SHARED or `absent`, each read with
 * these flags of jansson and passed to `follow`, which says whether it was one to compare. Counts
 * those in *followed. False, with a line for the log: there is no such folder.
 */
bool vectors_each(const char *topic,
                  const char *absent,
                  size_t flags,
                  bool (*follow)(const char *file, json_t *vector),
                  size_t *followed);

#endif
