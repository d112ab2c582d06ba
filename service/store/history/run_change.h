#ifndef STORE_HISTORY_RUN_CHANGE_H
#define STORE_HISTORY_RUN_CHANGE_H

#include "core/history/run_change.h"
#include "store/history/application.h"

/*
 * Correct a run: it is written anew under its id, with an audit row run.update. *run is the run as
 * it is now, with its stages; *application the one it belongs to. The applications are locked, so
 * that nobody adds a log to them meanwhile.
 *
 * PV_E_NOT_FOUND: no such application or run; PV_E_INVALID at /application: there is none of that
 * name to move it to; PV_E_CONFLICT: that one has the run's log already.
 */
enum pv_code store_run_change(struct store_tx *tx,
                              struct arena *arena,
                              const char *application_name,
                              const char *run_id,
                              const struct run_change *change,
                              struct run *run,
                              struct application *application,
                              struct pv_error *err) PV_MUSTCHECK;

/*
 * After the application's measure has changed from `before`: work out the problem size of all its
 * runs that were measured, in batches. The application has to be locked. Grows the history's
 * version where a run changed.
 */
enum pv_code store_run_measure_sizes(struct store_tx *tx,
                                     const struct application *application,
                                     const struct size_measure *before,
                                     struct pv_error *err) PV_MUSTCHECK;

#endif
