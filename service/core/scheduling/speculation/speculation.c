#include "core/scheduling/speculation/speculation.h"

#include <math.h>

#include "base/rounding.h"

bool speculation_has_progress(const struct speculation_task *task)
{
    return task->progress > 0 && !rounding_equal(task->progress, 0);
}

double speculation_remaining_s(const struct speculation_task *task)
{
    return speculation_has_progress(task) ? task->elapsed_s / task->progress - task->elapsed_s
                                          : (double)NAN;
}
