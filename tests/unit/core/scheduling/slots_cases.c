#include "slots_cases.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"

static struct slots_task_list
take(const double durations_s[], struct slots_tasks *tasks, bool packed)
{
    size_t n = 0;
    while (n < CASE_TASKS_MAX && durations_s[n] > 0)
        n++;
    for (size_t i = 0; i < n; i++)
        tasks[i] = (struct slots_tasks){durations_s[i], 1};
    if (packed)
        n = slots_tasks_pack(durations_s, n, tasks);
    return (struct slots_task_list){tasks, n};
}

void slots_case_prepare(struct slots_case *slots_case, bool packed)
{
    slots_case->n = 0;
    for (size_t i = 0; i < CASE_JOBS_MAX; i++) {
        const struct case_job *given = &slots_case->given[i];
        if (!(given->maps[0] > 0) && !(given->reduces[0] > 0))
            break;
        slots_case->jobs[i] = (struct slots_job){
            .arrival_s = given->arrival_s,
            .task_lists = {take(given->maps, slots_case->tasks[i][SLOTS_MAP], packed),
                           take(given->reduces, slots_case->tasks[i][SLOTS_REDUCE], packed)},
            .shuffle_s = given->shuffle_s,
            .shuffle_bytes = given->shuffle_bytes,
            .predicted_size_s = given->predicted_size_s > 0 ? given->predicted_size_s : (double)NAN,
            .queue = given->queue};
        slots_case->n++;
    }
}

void slots_case_run(struct slots_case *slots_case,
                    const struct slots_terms *terms,
                    struct slots_job_times times[])
{
    struct arena scratch;
    arena_init(&scratch, 0);
    slots_case_prepare(slots_case, true);
    cr_assert_eq(slots_simulate(&slots_case->cluster, slots_case->jobs, slots_case->n, terms, NULL,
                                &scratch, times, NULL),
                 PV_OK);
    arena_fini(&scratch);
}

struct slots_terms slots_case_terms(const struct slots_policy *policy)
{
    static const double limits_s[] = {4, 9};
    static const double partitions[] = {0.3, 0.3, 0.4};
    static const struct slots_tenant tenants[] = {{0.5, 1}, {0.5, 1}};
    bool phased = policy == &slots_policy_fresh || policy == &slots_policy_fresh_static;
    return (struct slots_terms){.policy = policy,
                                .concurrency = phased ? 2 : 0,
                                .tau1 = FRESH_TAU1,
                                .tau2 = FRESH_TAU2,
                                .ema_weight = OMO_EMA_WEIGHT,
                                .window_s = 2,
                                .lazy_start = true,
                                .batch_finish = true,
                                .queues = 3,
                                .limits_s = limits_s,
                                .n_limits = 2,
                                .partitions = partitions,
                                .tenants = tenants,
                                .n_tenants = 2};
}
