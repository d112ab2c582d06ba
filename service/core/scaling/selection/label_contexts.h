#ifndef CORE_SCALING_SELECTION_LABEL_CONTEXTS_H
#define CORE_SCALING_SELECTION_LABEL_CONTEXTS_H

#include "core/history/run.h"
#include "core/scaling/model/observation.h"

/*
 * Runs of one application may differ in more than size: machine type, iterations, what their labels
 * show. Which labels explain the time is found from the runs, and runs with equal values of these
 * form a context, for which models are fitted (observation.context).
 *
 * The rule: the law `load_per_executor` (core/scaling/laws/load_laws.h) is fitted to all runs; what is left of
 * ln T is grouped by the values of a label, and of several. Keys are added one by one, each time
 * the one that lowers the Schwarz criterion n ln(RSS/n) + g ln n the most (g groups; G. Schwarz,
 * "Estimating the dimension of a model", Annals of Statistics 6, 1978), as long as that is by more
 * than 10, which counts as very strong evidence (R. E. Kass and A. E. Raftery, "Bayes factors",
 * JASA 90, 1995), and groups hold three runs on average, so that no key that names single runs is
 * taken. Residuals below half a percent count as that.
 */
enum { CONTEXTS_KEYS_MAX = 4, CONTEXTS_LEAST_RUNS = 8 };

struct context_labels {
    const struct run_label *labels; /* sorted by key */
    size_t n;
};

struct contexts {
    struct strview keys[CONTEXTS_KEYS_MAX]; /* in the order found; point into the labels */
    size_t n_keys;                          /* 0: all runs are of one context */
    size_t *groups;                         /* of each row, from 0 */
    size_t n;                               /* groups */
};

/*
 * rows    n of durations, with the labels of each, borrowed
 * arena   holds groups and working memory
 * PV_E_MEMORY. O(keys n log n).
 */
enum pv_code contexts_find(const struct observation rows[],
                           const struct context_labels labels[],
                           size_t n,
                           struct arena *arena,
                           struct contexts *contexts,
                           struct pv_error *err) PV_MUSTCHECK;

/* The first row that has all the labels asked for; n: there is none. */
size_t contexts_match(const struct context_labels labels[],
                      size_t n,
                      const struct run_label asked[],
                      size_t n_asked);

/* Make the context of a row that of the fits: 1, and others from 2. */
void contexts_assign(const struct contexts *contexts,
                     size_t row,
                     struct observation rows[],
                     size_t n);

/* The value of a label; at == NULL: the run has none. */
struct strview context_label_value(const struct context_labels *labels, struct strview key);

#endif
