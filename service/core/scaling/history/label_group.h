#ifndef CORE_SCALING_HISTORY_LABEL_GROUP_H
#define CORE_SCALING_HISTORY_LABEL_GROUP_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/history/run_observations.h"

/* The runs that models or predictions are for, where labels make a difference: those that agree
 * with one run in the labels that explain the time (core/scaling/history/explaining_labels.h). */
struct label_group {
    const struct strview *keys;          /* that explain the time */
    size_t n_keys;                       /* 0: labels make no difference */
    const struct run_label_list *labels; /* of a run of the group, or those asked for */
    size_t groups;                       /* that the runs fall into */
    size_t runs;                         /* of this one; 0: none has the labels asked for */
    bool asked;                          /* rather than that of the latest run */
    bool ignored;                        /* it had too few runs: those of all groups are taken */
};

/*
 * The group of the newest run that has all of the labels, n == 0: of the newest run. Sets the
 * context of every row: 1 in the group, others from 2; 0 everywhere where labels make no
 * difference. A fault at parameter label where no run has them. PV_E_MEMORY.
 *
 * What *group points at lives in `arena` and among the labels of the runs.
 */
enum pv_code label_group_find(struct run_observations *seen,
                              const struct run_label labels[],
                              size_t n,
                              struct arena *arena,
                              struct label_group *group,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * The same where labels that explain nothing are passed over. Where no run has the others,
 * group->runs is 0, group->ignored is set and no run is chosen by labels. PV_E_MEMORY.
 */
enum pv_code label_group_of_explaining(struct run_observations *seen,
                                       const struct run_label labels[],
                                       size_t n,
                                       struct arena *arena,
                                       struct label_group *group,
                                       struct pv_error *err) PV_MUSTCHECK;

/* Its runs are too few: those of all groups are taken. */
void label_group_ignore(struct label_group *group, struct run_observations *seen);

/* Of the runs seen those of the group, copied into `arena`. PV_E_MEMORY. */
enum pv_code label_group_runs(const struct run_observations *seen,
                              struct arena *arena,
                              struct run_observations *own,
                              struct pv_error *err) PV_MUSTCHECK;

/* The rows of its runs that can be replayed, nearest in size (NAN: latest first), ties
 * latest first, at most `most`; *n is 0 where labels make no difference. PV_E_MEMORY. */
enum pv_code label_group_nearest(const struct label_group *group,
                                 const struct run_observations *seen,
                                 double problem_size,
                                 size_t most,
                                 struct arena *arena,
                                 size_t **rows,
                                 size_t *n,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Is it a key that explains the time? */
bool label_group_has_key(const struct label_group *group, struct strview key);

/* The group with everything it points at in `arena`. PV_E_MEMORY. */
enum pv_code label_group_copy(const struct label_group *group,
                              struct arena *arena,
                              struct label_group *copy,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
