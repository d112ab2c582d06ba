#include "memory_cases.h"

#include <string.h>

#include "core/history/run_metrics.h"

struct run run_with(struct run_label *properties, size_t n, int64_t peak_heap)
{
    struct run run = {.problem_size = 64,
                      .executors = 4,
                      .cores_per_executor = 4,
                      .succeeded = true,
                      .spark_properties = properties,
                      .n_spark_properties = n};
    run_clear_log(&run);
    run.out_of_memory_errors = run.memory_limit_kills = 0;
    run.metrics.peak_jvm_heap_bytes = peak_heap;
    return run;
}

struct memory_question question_of(int64_t executors, int64_t cores)
{
    return (struct memory_question){.executors = executors,
                                    .cores_per_executor = cores,
                                    .most_per_executor = RUN_UNKNOWN,
                                    .fixed = {RUN_UNKNOWN, RUN_UNKNOWN, RUN_UNKNOWN, RUN_UNKNOWN}};
}

const char *property_in(const struct memory_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->n_properties; i++)
        if (strcmp(plan->properties[i].key, key) == 0)
            return plan->properties[i].value;
    return NULL;
}
