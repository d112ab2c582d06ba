#ifndef CORE_HISTORY_RUN_CHANGE_H
#define CORE_HISTORY_RUN_CHANGE_H

#include "core/history/problem_size.h"
#include "core/history/run.h"

/* What a correction of a stored run sets; a member that is not `has_` stays as it is. */
struct run_change {
    bool has_problem_size;
    bool has_executors;
    bool has_cores_per_executor;
    bool has_labels;
    bool has_succeeded;
    struct run to;              /* problem_size NAN: measured from the log again */
    struct strview application; /* it belongs to; at == NULL: as it is */
};

/*
 * Apply the change to a run with stages. before, measure: those of the application that the run was
 * of and of the one that it is of now. Labels are borrowed from the change.
 */
void run_change_apply(const struct run_change *change,
                      const struct size_measure *before,
                      const struct size_measure *measure,
                      struct run *run);

#endif
