#include "core/history/run_reach.h"

#include <math.h>

#include "base/order.h"

/* Counts that are unknown are negative, and so are sums of two such. */
static int64_t sum_of(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

bool run_reaches(const struct run *run, const struct run *other)
{
    if (run->ended || other->ended)
        return run->ended;
    int order = isnan(run->duration_s) || isnan(other->duration_s)
                    ? isnan(other->duration_s) - isnan(run->duration_s)
                    : compare_double(run->duration_s, other->duration_s);
    if (order == 0)
        order = compare_int64(sum_of(run->tasks_succeeded, run->tasks_failed),
                              sum_of(other->tasks_succeeded, other->tasks_failed));
    if (order == 0)
        order = compare_int64(sum_of(run->stages_completed, run->stages_failed),
                              sum_of(other->stages_completed, other->stages_failed));
    if (order == 0)
        order = compare_int64(run->jobs, other->jobs);
    return order >= 0;
}

enum run_verdict run_log_verdict(const struct run *run,
                                 bool has_digest,
                                 const struct known_log *known,
                                 const struct run *stored)
{
    if (known->same)
        return RUN_VERDICT_KEEP;
    if (known->undigested && has_digest && run->ended)
        return RUN_VERDICT_REPLACE;
    if (known->ended)
        return RUN_VERDICT_CONFLICT;
    return run_reaches(run, stored) ? RUN_VERDICT_REPLACE : RUN_VERDICT_KEEP;
}
