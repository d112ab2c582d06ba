#ifndef CORE_SCALING_HISTORY_LABEL_TRAITS_H
#define CORE_SCALING_HISTORY_LABEL_TRAITS_H

#include "core/scaling/history/explaining_labels.h"
#include "core/scaling/model/context_traits.h"

/*
 * What the labels with those keys say of each row, into rows[i].traits. A label all of whose values
 * are numbers >= 0, one of them above 0, is a number, of which the logarithm counts (0 counts as a
 * tenth of the least above it); any other is a word. A row without the label has an unknown number,
 * or a word of its own kind.
 *
 * rows    n, with the labels of each, borrowed; what traits point at lives in `arena`
 * PV_E_MEMORY. O(n keys log n).
 */
enum pv_code label_traits_set(struct observation rows[],
                              const struct run_label_list labels[],
                              size_t n,
                              const struct strview keys[],
                              size_t n_keys,
                              struct arena *arena,
                              struct pv_error *err) PV_MUSTCHECK;

/* The same by all keys that there are, at most LABEL_TRAITS_KEYS_MAX, those of the first rows. */
enum { LABEL_TRAITS_KEYS_MAX = 16 };

enum pv_code label_traits_set_all(struct observation rows[],
                                  const struct run_label_list labels[],
                                  size_t n,
                                  struct arena *arena,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif
