#include "core/scheduling/speculation.h"

#include <math.h>

double speculation_remaining_s(const struct speculation_task *task)
{
    return task->progress > 0 ? task->elapsed_s / task->progress - task->elapsed_s : (double)NAN;
}
