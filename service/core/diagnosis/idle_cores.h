#ifndef CORE_DIAGNOSIS_IDLE_CORES_H
#define CORE_DIAGNOSIS_IDLE_CORES_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/task_slots.h"

/*
 * Cores of an executor that no task of a resource profile can take. Either the share of a GPU or another
 * resource that a task takes allows fewer tasks than the cores do, or the CPUs of a task do not divide
 * the cores.
 */
struct idle_cores {
    int64_t cores; /* idle; the members below are set if there are any */
    int64_t taken; /* by tasks */
    double share;  /* of the resource, with which tasks take all cores; NAN: CPUs leave them idle */
    const char *key;   /* of the property to set; NULL: the program sets it in a resource profile */
    const char *value; /* of the property */
    const char *cure;  /* a sentence */
};

/* Idle cores of an executor that runs so many tasks at once. Texts are in `arena`. PV_E_MEMORY. */
enum pv_code idle_cores_find(const struct task_slots *slots,
                             int64_t cores,
                             int64_t tasks,
                             struct arena *arena,
                             struct idle_cores *idle,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
