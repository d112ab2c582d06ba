#ifndef API_ADVICE_RECENT_RUNS_H
#define API_ADVICE_RECENT_RUNS_H

#include "store/history/run.h"

/* So many of the latest runs are looked at; what an application looks like is a matter of now. */
enum { RECENT_RUNS_MAX = 20 };

/*
 * Those of the latest runs that succeeded and have stages, newest first, with stages but without
 * single tasks. None: list->n is 0. Fails as store_run_list.
 */
enum pv_code recent_runs_load(struct store_tx *tx,
                              struct arena *arena,
                              const struct application *application,
                              struct run_list *list,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
