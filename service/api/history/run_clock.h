#ifndef API_HISTORY_RUN_CLOCK_H
#define API_HISTORY_RUN_CLOCK_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/*
 * A warning (starts_in_future) of a run that starts more than a day from now by the clock of this
 * machine: lists have it first, and until then it counts as the latest run. It is stored all the
 * same, for the other clock may be the right one. Memory of `arena`; PV_E_MEMORY.
 */
enum pv_code
run_clock_warn(struct run *run, struct arena *arena, struct pv_error *err) PV_MUSTCHECK;

#endif
