#include "core/history/run_change.h"

#include <math.h>

void run_change_apply(const struct run_change *change,
                      const struct size_measure *before,
                      const struct size_measure *measure,
                      struct run *run)
{
    const struct run *to = &change->to;
    if (change->has_executors)
        run->executors = to->executors;
    if (change->has_cores_per_executor)
        run->cores_per_executor = to->cores_per_executor;
    if (change->has_succeeded)
        run->succeeded = to->succeeded;
    if (change->has_labels) {
        run->labels = to->labels;
        run->n_labels = to->n_labels;
    }
    if (change->has_problem_size) {
        run->problem_size = to->problem_size;
        run->problem_size_given = !isnan(to->problem_size) || !run->from_log;
        run->problem_size_measure = (struct strview){NULL, 0};
        (void)problem_size_measure(run, NULL, measure);
    } else if (change->application.at != NULL || change->has_labels) {
        (void)problem_size_measure(run, before, measure);
    }
}
