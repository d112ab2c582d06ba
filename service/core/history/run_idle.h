#ifndef CORE_HISTORY_RUN_IDLE_H
#define CORE_HISTORY_RUN_IDLE_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/*
 * The run as it would have been without the time in which a session was left alone: its
 * duration is shorter by away_s, which becomes 0, and its stages and executors move closer together.
 *
 * The gaps without stages that are long enough (RUN_AWAY_LEAST_S) shrink in proportion to their
 * lengths, because only the sum of this time is known. The gap before the first stage begins
 * with the first executor.
 *
 * Stages and executor lifetimes are copied into `arena`. Nothing happens where away_s is 0.
 * PV_E_MEMORY.
 */
enum pv_code
run_leave_out_idle(struct run *run, struct arena *arena, struct pv_error *err) PV_MUSTCHECK;

#endif
