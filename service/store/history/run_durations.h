#ifndef STORE_HISTORY_RUN_DURATIONS_H
#define STORE_HISTORY_RUN_DURATIONS_H

#include "core/scaling/history/run_observations.h"
#include "store/history/application.h"
#include "store/store.h"

/*
 * The latest runs, at most `limit`, that succeeded and whose size, executors and duration are
 * known: less than store_run_observations reads of a run, for an answer at once. Other runs
 * are not counted. The evidence of other applications (store_team_evidence) and the parameters of a
 * process over label groups (store_theta_find) come with the runs. PV_E_MEMORY and the errors of a
 * transaction.
 */
enum pv_code store_run_durations(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct application *application,
                                 size_t limit,
                                 struct run_observations *observations,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
