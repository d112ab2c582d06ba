#ifndef CORE_SCALING_HISTORY_EXPLAINING_LABELS_H
#define CORE_SCALING_HISTORY_EXPLAINING_LABELS_H

#include "core/history/run.h"
#include "core/scaling/model/observation.h"

/*
 * Runs of one application may differ in more than size: machine type, iterations, what their labels
 * show. Which labels explain the time is found from the runs, and runs with equal values of these
 * form a label group: models are fitted for one of them (observation.context).
 *
 * The rule: the law `load_per_executor` (core/scaling/laws/load_laws.h) is fitted to all runs; what
 * is left of ln T is grouped by the values of a label, and of several. Keys are added one by one,
 * each time the one that lowers the Schwarz criterion n ln(RSS/n) + g ln n the most (g groups; G.
 * Schwarz, "Estimating the dimension of a model", Annals of Statistics 6, 1978), as long as that is
 * by more than 10, which counts as very strong evidence (R. E. Kass and A. E. Raftery, "Bayes
 * factors", JASA 90, 1995), and groups hold three runs on average, so that no key that names single
 * runs is taken. Residuals below half a percent count as that.
 */
enum { LABEL_GROUPS_KEYS_MAX = 4, LABEL_GROUPS_LEAST_RUNS = 8 };

struct run_label_list {
    const struct run_label *labels; /* sorted by key */
    size_t n;
};

struct label_groups {
    struct strview keys[LABEL_GROUPS_KEYS_MAX]; /* in the order found; point into the labels */
    size_t n_keys;                              /* 0: all runs are of one group */
    size_t *groups;                             /* of each row, from 0 */
    size_t n;                                   /* groups */
};

/*
 * rows    n of durations, with the labels of each, borrowed
 * arena   holds groups and working memory
 * PV_E_MEMORY. O(keys n log n).
 */
enum pv_code label_groups_find(const struct observation rows[],
                               const struct run_label_list labels[],
                               size_t n,
                               struct arena *arena,
                               struct label_groups *groups,
                               struct pv_error *err) PV_MUSTCHECK;

/* The first row that has all the labels asked for; n: there is none. */
size_t label_groups_match(const struct run_label_list labels[],
                          size_t n,
                          const struct run_label asked[],
                          size_t n_asked);

/* Mark the rows for the fits (observation.context): 1 in the group of `row`, 2 and more in others.
 */
void label_groups_assign(const struct label_groups *groups,
                         size_t row,
                         struct observation rows[],
                         size_t n);

/* The value of a label; at == NULL: the run has none. */
struct strview run_label_value(const struct run_label_list *labels, struct strview key);

#endif
