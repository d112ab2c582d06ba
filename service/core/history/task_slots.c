#include "core/history/task_slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t task_slots_by_resource(int64_t per_executor, double per_task)
{
    if (per_executor < 1 || !(per_task > 0.0))
        return RUN_UNKNOWN;
    /* 1 / 0.2 may be a little less than 5 */
    double tasks = per_task < 1.0 ? (double)per_executor * floor(1.0 / per_task + 1e-9)
                                  : floor((double)per_executor / per_task + 1e-9);
    return tasks < 0x1p53 ? (int64_t)tasks : RUN_UNKNOWN;
}

double task_slots_share(int64_t per_executor, int64_t tasks)
{
    /* Rounded down: 1 / 0.166667 is less than 6. */
    return floor(1e6 / ceil((double)tasks / (double)per_executor)) / 1e6;
}

static const struct run_resources *find_profile(const struct run *run, int64_t id)
{
    for (size_t i = 0; i < run->n_resources; i++)
        if (run->resources[i].id == id)
            return &run->resources[i];
    return NULL;
}

/* For runs whose log has no resource profile, and for runs that an older program stored. */
static int64_t cores_by_property(const struct run *run)
{
    for (size_t i = 0; i < run->n_spark_properties; i++) {
        const struct run_label *property = &run->spark_properties[i];
        char text[16] = "";
        if (!strview_is(property->key, "spark.task.cpus") || property->value.n >= sizeof text)
            continue;
        memcpy(text, property->value.at, property->value.n);
        long cores = strtol(text, NULL, 10);
        return cores >= 1 ? cores : 1;
    }
    return 1;
}

/* The profile on whose executors tasks of `profile` run: itself if it has executors. NULL: the log
 * has no executors of any profile. */
static const struct run_resources *
find_host(const struct run *run, const struct run_resources *profile, size_t *n_hosts)
{
    const struct run_resources *host = profile != NULL && profile->executors > 0 ? profile : NULL;
    *n_hosts = 0;
    for (size_t i = 0; i < run->n_resources; i++) {
        if (run->resources[i].executors < 1)
            continue;
        ++*n_hosts;
        host = host == NULL ? &run->resources[i] : host; /* ascending: the default profile first */
    }
    return host;
}

static void
find_pool(const struct run *run, const struct run_resources *profile, struct task_slots *slots)
{
    size_t n_hosts;
    const struct run_resources *host = find_host(run, profile, &n_hosts);
    if (host == NULL)
        return;
    slots->pool = (size_t)(host - run->resources);
    slots->cores = host->cores_per_executor;
    slots->cores_are_fixed = host->id != 0;
    if (n_hosts > 1 && run->executors > 0)
        slots->share = fmin(1.0, (double)host->executors / (double)run->executors);
}

static void take_asked(const struct run_asked *asked, struct task_slots *slots)
{
    if (asked->task_cores > 0)
        slots->task_cores = asked->task_cores;
    if (asked->gpus_per_executor == 0 && asked->gpus_per_task == 0.0)
        return;
    if (asked->gpus_per_executor > 0)
        slots->per_executor = asked->gpus_per_executor;
    if (asked->gpus_per_task > 0.0)
        slots->resource_per_task = asked->gpus_per_task;
    int64_t tasks = task_slots_by_resource(slots->per_executor, slots->resource_per_task);
    if (tasks == RUN_UNKNOWN)
        return;
    slots->by_resource = tasks;
    slots->resource = strview_of("gpu");
}

struct task_slots task_slots_of(const struct run *run, int64_t profile_id, bool asked)
{
    const bool is_default = profile_id <= 0;
    const struct run_resources *profile = find_profile(run, is_default ? 0 : profile_id);
    struct task_slots slots = {.profile = is_default ? 0 : profile_id,
                               .task_cores =
                                   profile == NULL ? RUN_UNKNOWN : profile->cores_per_task,
                               .by_resource = RUN_UNKNOWN,
                               .resource_per_task = (double)NAN,
                               .per_executor = RUN_UNKNOWN,
                               .share = 1.0,
                               .cores = RUN_UNKNOWN};
    if (slots.task_cores < 1)
        slots.task_cores = cores_by_property(run);
    if (profile != NULL && profile->resource.at != NULL) {
        slots.by_resource =
            task_slots_by_resource(profile->resource_per_executor, profile->resource_per_task);
        slots.resource = profile->resource;
        slots.resource_per_task = profile->resource_per_task;
        slots.per_executor = profile->resource_per_executor;
    }
    if (asked && is_default)
        take_asked(&run->asked, &slots);
    find_pool(run, profile, &slots);
    return slots;
}

int64_t
task_slots_cores(const struct task_slots *slots, const struct run *run, int64_t cores_per_executor)
{
    bool as_recorded = slots->cores_are_fixed || cores_per_executor == run->cores_per_executor;
    return as_recorded && slots->cores > 0 ? slots->cores : cores_per_executor;
}

int64_t task_slots_per_executor(const struct task_slots *slots,
                                const struct run *run,
                                int64_t cores_per_executor)
{
    int64_t tasks = task_slots_cores(slots, run, cores_per_executor) / slots->task_cores;
    return slots->by_resource >= 0 && slots->by_resource < tasks ? slots->by_resource : tasks;
}

int64_t task_slots_executors(const struct task_slots *slots, int64_t executors)
{
    int64_t own = (int64_t)nearbyint(slots->share * (double)executors);
    return own < 1 ? 1 : own;
}

double task_slots_of_run(const struct run *run, const struct run_stage *stage)
{
    if (run->executors < 1 || run->cores_per_executor < 1)
        return (double)NAN;
    const struct task_slots slots = task_slots_of(run, stage->resource_profile_id, false);
    int64_t each = task_slots_per_executor(&slots, run, run->cores_per_executor);
    return (double)task_slots_executors(&slots, run->executors) * (double)(each < 1 ? 1 : each);
}

int64_t task_slots_least_executors(const struct run *run, int64_t cores_per_executor)
{
    int64_t least = 1;
    for (size_t i = 0; i < run->n_stages; i++) {
        const struct run_stage *stage = &run->stages[i];
        if (!stage->barrier || stage->skipped || stage->n_tasks < 1)
            continue;
        const struct task_slots slots = task_slots_of(run, stage->resource_profile_id, true);
        int64_t each = task_slots_per_executor(&slots, run, cores_per_executor);
        double own = ceil((double)stage->n_tasks / (double)(each < 1 ? 1 : each));
        double all = ceil(own / slots.share - 1e-9);
        least = all > (double)least ? (int64_t)all : least;
    }
    return least;
}
