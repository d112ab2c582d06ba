#ifndef CORE_DIAGNOSIS_STAGE_TIME_H
#define CORE_DIAGNOSIS_STAGE_TIME_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/*
 * The wall clock that each stage is charged with: the time it ran alone, and of the time that k
 * stages ran side by side one k-th. A stage whose start is unknown ran alone; one whose duration is
 * unknown, or that was skipped, has 0.
 *
 * charged_s: one for each of run->stages, set on PV_OK. scratch is back at its mark. PV_E_MEMORY.
 * O(n log n).
 */
enum pv_code stage_time_charge(const struct run *run,
                               struct arena *scratch,
                               double charged_s[],
                               struct pv_error *err) PV_MUSTCHECK;

#endif
