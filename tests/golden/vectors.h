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

/* A number of an object; absent where there is none. */
double vectors_number(json_t *object, const char *key, double absent);

/* Whether a word is in the list of an object; `absent` where there is no such list. */
bool vectors_lists(json_t *object, const char *key, const char *word, bool absent);

/* Figures that were compared, and those of them that differ. */
struct vectors_figures {
    size_t compared;
    size_t differ;
};

/*
 * Compare a figure with the one that an object expects under a key: within 1e-9 max(1, |it|); NAN
 * where that is null or absent. A line for the log where it differs; `where` says what it is about.
 */
void vectors_expect(struct vectors_figures *figures,
                    const char *where,
                    json_t *object,
                    const char *key,
                    double got);

/* Likewise of a word; NULL where that is null or absent. */
void vectors_expect_word(struct vectors_figures *figures,
                         const char *where,
                         json_t *object,
                         const char *key,
                         const char *got);

#endif
