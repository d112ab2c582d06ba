/* What the executors of a run held, together and by resource profile. */
#include <math.h>
#include <stdlib.h>

#include "core/joblog/spark/profile.h"

/* Core milliseconds of one executor; those that never left stayed to the end. */
static int64_t core_ms(struct sparklog *log, const struct executor *executor)
{
    if (!executor->alive)
        return executor->core_ms;
    int64_t since = executor->since_ms == NO_TIME ? log->application.start_ms : executor->since_ms;
    int64_t end = profile_end(log);
    int64_t ms = since == NO_TIME || end == NO_TIME || end < since ? 0 : end - since;
    return sparklog_add(executor->core_ms, sparklog_times(executor->cores, ms));
}

static void set_core_time(struct sparklog *log, struct run *run)
{
    int64_t sum = 0;
    bool any = false;
    for (size_t i = 0; i < log->n_executors; i++) {
        const struct executor *executor = &log->executors[i];
        if (!executor->added)
            continue;
        any = true;
        if (executor->cores <= 0) {
            run->core_s = (double)NAN;
            return;
        }
        sum = sparklog_add(sum, core_ms(log, executor));
        log->notices[NOTICE_MIXED_CORES] += executor->cores < log->cores_most;
    }
    run->core_s = any ? profile_seconds(sum) : (double)NAN;
}

static int compare_profiles(const void *a, const void *b)
{
    const struct profile *left = a;
    const struct profile *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

/* What executors really had counts before what was asked for. */
static struct run_resources resources_of(const struct profile *profile)
{
    int64_t memory = profile->memory_mib > 0 ? sparklog_times(profile->memory_mib, INT64_C(1) << 20)
                                             : RUN_UNKNOWN;
    return (struct run_resources){
        .id = profile->id,
        .executors = profile->most,
        .cores_per_executor = profile->cores_most > 0 ? profile->cores_most : profile->cores_asked,
        .executor_memory_bytes = memory,
        .cores_per_task = profile->task_cpus};
}

static bool set_resources(struct sparklog *log, struct arena *arena, struct run *run)
{
    run->resources = arena_calloc(arena, log->n_profiles, sizeof *run->resources);
    if (run->resources == NULL)
        return false;
    if (log->n_profiles > 0)
        qsort(log->profiles, log->n_profiles, sizeof *log->profiles, compare_profiles);
    for (size_t i = 0; i < log->n_profiles; i++)
        run->resources[i] = resources_of(&log->profiles[i]);
    run->n_resources = log->n_profiles;
    return true;
}

bool profile_build_executors(struct sparklog *log, struct arena *arena, struct run *run)
{
    set_core_time(log, run);
    return set_resources(log, arena, run);
}
