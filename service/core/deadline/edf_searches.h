#ifndef CORE_DEADLINE_EDF_SEARCHES_H
#define CORE_DEADLINE_EDF_SEARCHES_H

#include "core/deadline/edf_change.h"
#include "core/deadline/edf_trial.h"

/* The searches of core/deadline/edf_changes.h. Each begins with edf_trial_begin; what it finds
 * lives in `arena`, its working memory stays in `scratch`. PV_E_MEMORY. */

/* The places from which edf_later_deadline_alone looks. */
enum edf_places {
    EDF_FIRST_PLACES, /* from the job's own on */
    EDF_LAST_PLACE,   /* the last only: the deadline is enough, but need not be the least */
};

/*
 * The least deadline of job j alone, from floor_s on, with which all are met, the deadlines of the
 * others being as set. EDF_REPLAY_DONE: there is one. EDF_REPLAY_MISSED: there is none.
 * EDF_REPLAY_CUT: `budget` was spent before. contention is the caller's working memory.
 */
enum edf_replay_end edf_later_deadline_alone(struct edf_trial *trial,
                                             size_t j,
                                             double floor_s,
                                             enum edf_places places,
                                             struct edf_contention *contention,
                                             uint32_t others[],
                                             double *deadline_s);

enum pv_code edf_find_one_later_deadline(struct edf_trial *trial,
                                         uint64_t budget,
                                         struct arena *arena,
                                         struct arena *scratch,
                                         struct edf_change_list *list,
                                         struct pv_error *err) PV_MUSTCHECK;

enum pv_code edf_find_later_deadlines(struct edf_trial *trial,
                                      uint64_t budget,
                                      const double raised_deadlines_s[],
                                      const struct edf_change_list *alone,
                                      struct arena *arena,
                                      struct arena *scratch,
                                      struct edf_change_list *list,
                                      struct pv_error *err) PV_MUSTCHECK;

enum pv_code edf_find_one_later_release(struct edf_trial *trial,
                                        uint64_t budget,
                                        struct arena *arena,
                                        struct arena *scratch,
                                        struct edf_change_list *list,
                                        struct pv_error *err) PV_MUSTCHECK;

enum pv_code edf_find_later_releases(struct edf_trial *trial,
                                     uint64_t budget,
                                     struct arena *arena,
                                     struct arena *scratch,
                                     struct edf_change_list *list,
                                     struct pv_error *err) PV_MUSTCHECK;

enum pv_code edf_find_left_out(struct edf_trial *trial,
                               uint64_t budget,
                               struct arena *arena,
                               struct arena *scratch,
                               struct edf_left_out *found,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
