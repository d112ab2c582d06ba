#ifndef CORE_SCALING_MODEL_CONTEXT_TRAITS_H
#define CORE_SCALING_MODEL_CONTEXT_TRAITS_H

#include <stddef.h>

/* What tells the contexts of a history apart, for kinds that learn from all of them. The same
 * members in every context of a history. */
struct context_traits {
    const double *numbers; /* logarithms of labels whose values are numbers; NAN: unknown */
    size_t n_numbers;
    const unsigned *words; /* of labels that are words: equal where the values are */
    size_t n_words;
};

#endif
