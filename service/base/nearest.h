#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/*
 * The word that a mistyped one was meant to be. Words that differ only in the case of letters, '_',
 * '-' and '.' are nearest; then those a few edits away (a character inserted, left out or replaced,
 * or two neighbours swapped: the restricted Damerau-Levenshtein distance), at most a third of the
 * longer word's characters. Words of more than NEAREST_LENGTH_MAX bytes have no nearest.
 */
enum { NEAREST_LENGTH_MAX = 64 };

struct nearest {
    const char *word; /* NULL: none is near */
    size_t edits;
};

/* Keep the candidate if it is nearer to `asked` than what was kept; of equally near the first. */
void nearest_try(struct nearest *nearest, const char *asked, const char *candidate);

#endif
