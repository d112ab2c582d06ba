#include "core/spark/memory_cases.h"

#include <criterion/criterion.h>
#include <string.h>

#include "core/history/run_metrics.h"

struct arena memory_arena;

void memory_set_up(void)
{
    arena_init(&memory_arena, 0);
}

void memory_tear_down(void)
{
    arena_fini(&memory_arena);
}

struct run_label eight_gib[1] = {PROPERTY("spark.executor.memory", "8g")};
struct run_label twelve_gib[1] = {PROPERTY("spark.executor.memory", "12g")};
struct run_label ten_gib[1] = {PROPERTY("spark.executor.memory", "10g")};
struct run_label sixteen_and_overhead[2] = {
    PROPERTY("spark.executor.memory", "16G"),
    PROPERTY("spark.executor.memoryOverhead", "16G"),
};

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

struct memory_plan
plan_for(const struct run runs[], size_t n, double size, const struct memory_question *question)
{
    struct memory_plan plan;
    struct pv_error err = {0};
    struct memory_history history;
    memory_history_take(runs, n, size, &history);
    cr_assert_eq(memory_plan_make(&history, question, &memory_arena, &plan, &err), PV_OK);
    return plan;
}

struct memory_plan plan_of(const struct run runs[], size_t n)
{
    const struct memory_question question = question_of(4, 4);
    return plan_for(runs, n, 64, &question);
}

const char *property_in(const struct memory_plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->n_properties; i++)
        if (strcmp(plan->properties[i].key, key) == 0)
            return plan->properties[i].value;
    return NULL;
}
