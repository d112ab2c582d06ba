#include "core/history/run_cores.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/plural.h"

static int64_t at_least_one(int64_t count)
{
    return count < 1 ? 1 : count;
}

bool run_cores_exceed(const struct run *run,
                      bool on_executors,
                      int64_t most,
                      struct run_cores_fault *fault)
{
    int64_t executors = at_least_one(run->executors);
    int64_t cores = at_least_one(run->cores_per_executor);
    bool is_executors = executors > most || (on_executors && cores <= most);
    int64_t other = is_executors ? cores : executors;
    if (executors <= most / cores)
        return false;
    fault->member = is_executors ? "executors" : "cores_per_executor";
    if (other > most)
        (void)snprintf(fault->text, sizeof fault->text, "must be at most %" PRId64 " (cores_max)",
                       most);
    else
        (void)snprintf(fault->text, sizeof fault->text,
                       "must be at most %" PRId64 " with %" PRId64 " %s%s%s: all executors "
                       "together have at most %" PRId64 " core%s (cores_max)",
                       most / other, other, is_executors ? "core" : "executor", PLURAL(other),
                       is_executors ? " per executor" : "", most, PLURAL(most));
    return true;
}
