#ifndef STORE_HISTORY_RUN_TASK_SUMMARY_H
#define STORE_HISTORY_RUN_TASK_SUMMARY_H

#include "core/history/run.h"
#include "store/store.h"

/* Runs whose task times are to be thinned to sketches of their distribution (core/history). */
struct unthinned {
    char team_id[37];
    char application_id[37];
    char run_id[37];
};

/* Of all teams, at most `limit` whose instant is more than `days` ago; the oldest first. */
enum pv_code store_unthinned_list(struct store *store,
                                  struct arena *arena,
                                  int64_t days,
                                  size_t limit,
                                  struct unthinned **items,
                                  size_t *n,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Lock the application of the run and read those of its stages that list more than `least` tasks:
 * their ids, n_tasks and task_durations_s, nothing else. *n is 0 when the run is gone.
 */
enum pv_code store_run_long_stages(struct store_tx *tx,
                                   struct arena *arena,
                                   const struct unthinned *run,
                                   size_t least,
                                   struct run_stage **stages,
                                   size_t *n,
                                   struct pv_error *err) PV_MUSTCHECK;

/*
 * Put the sketches of these stages in place of their task times and remember that the run was
 * looked at. With at least one stage the history's version rises.
 */
enum pv_code store_run_thin(struct store_tx *tx,
                            const struct unthinned *run,
                            const struct run_stage stages[],
                            size_t n,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
