#ifndef API_SIMULATIONS_COMPARISON_PROGRESS_H
#define API_SIMULATIONS_COMPARISON_PROGRESS_H

#include "operation/parts.h"

/* Progress is counted in tasks as limits count them: a part that is a simulation of some tasks counts
 * for `work` of them in all, however many there are, so that what is left takes about as long for
 * each as what is done. */
struct comparison_progress {
    struct operation_part *part;
    double each; /* what a task counts for */
};

static inline struct comparison_progress
comparison_progress(struct operation_part *part, double tasks, double work)
{
    return (struct comparison_progress){part, work / tasks};
}

/* So many tasks of the part are done. false: stop. */
static inline bool comparison_goes_on(const struct comparison_progress *progress, double tasks)
{
    return operation_part_goes_on(progress->part, (int64_t)(progress->each * tasks));
}

#endif
