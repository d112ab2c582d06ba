#include "core/history/task_slots.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(task_slots, .timeout = 20);

/* Spark 3.5: amount / share of a whole resource, floor(1 / share) tasks on each if they share it. */
Test(task_slots, of_a_resource)
{
    static const struct {
        int64_t per_executor;
        double per_task;
        int64_t tasks;
    } cases[] = {{1, 1, 1},           {1, 0.5, 2},         {1, 0.25, 4},
                 {1, 0.2, 5},         {1, 0.0625, 16},     {1, 0.07, 14},
                 {2, 0.3, 6},         {2, 2, 1},           {4, 3, 1},
                 {8, 2, 4},           {4, 0.75, 4},        {1, 2, 0},
                 {0, 1, RUN_UNKNOWN}, {1, 0, RUN_UNKNOWN}, {RUN_UNKNOWN, 0.5, RUN_UNKNOWN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(task_slots_by_resource(cases[i].per_executor, cases[i].per_task),
                     cases[i].tasks, "%g", cases[i].per_task);
    cr_assert_eq(task_slots_by_resource(1, (double)NAN), RUN_UNKNOWN);
    for (int64_t n = 1; n <= 1000; n++)
        cr_assert_eq(task_slots_by_resource(3, 1.0 / (double)n), n == 1 ? 3 : 3 * n, "1/%d",
                     (int)n);
}

/* The share that cures idle cores: exactly as many tasks, for any number of GPUs and tasks. */
Test(task_slots, the_share_for_so_many_tasks)
{
    cr_assert_float_eq(task_slots_share(1, 8), 0.125, 0);
    cr_assert_float_eq(task_slots_share(1, 6), 0.166666, 0);
    for (int64_t gpus = 1; gpus <= 8; gpus++)
        for (int64_t tasks = gpus; tasks <= 128; tasks++) {
            int64_t slots = task_slots_by_resource(gpus, task_slots_share(gpus, tasks));
            cr_assert(slots >= tasks && slots < tasks + gpus, "%d GPUs, %d tasks", (int)gpus,
                      (int)tasks);
        }
}

static int64_t slots_of(const struct run *run, int64_t profile, int64_t cores)
{
    const struct task_slots slots = task_slots_of(run, profile, false);
    return task_slots_per_executor(&slots, run, cores);
}

Test(task_slots, without_anything_known_each_core_takes_a_task)
{
    const struct run run = {.executors = 3, .cores_per_executor = 8};
    const struct run_stage stage = {.resource_profile_id = RUN_UNKNOWN};
    cr_assert_eq(slots_of(&run, RUN_UNKNOWN, 8), 8);
    cr_assert_eq(slots_of(&run, 5, 3), 3);
    cr_assert_float_eq(task_slots_of_run(&run, &stage), 24.0, 0);
    const struct run unknown = {.executors = RUN_UNKNOWN, .cores_per_executor = 8};
    cr_assert(isnan(task_slots_of_run(&unknown, &stage)));
}

/* As a run that was stored before its profile was read has it. */
Test(task_slots, of_the_property_alone)
{
    struct run_label property = {strview_of("spark.task.cpus"), strview_of("3")};
    const struct run run = {.executors = 2,
                            .cores_per_executor = 8,
                            .spark_properties = &property,
                            .n_spark_properties = 1};
    cr_assert_eq(slots_of(&run, 0, 8), 2);
    cr_assert_eq(slots_of(&run, 0, 2), 0, "no task fits");
}

/* 4 executors of 4 cores with a GPU, and 2 of 2 cores with 2 GPUs, which one task takes. */
static struct run_resources of_two_pools[] = {
    {0, 4, 4, RUN_UNKNOWN, 1, {"gpu", 3}, 1, 0.5},
    {1, 2, 2, RUN_UNKNOWN, 2, {"gpu", 3}, 2, 2.0},
    {2, 0, 4, RUN_UNKNOWN, 4, {NULL, 0}, RUN_UNKNOWN, (double)NAN}};

Test(task_slots, of_profiles_with_executors_and_without)
{
    const struct run run = {
        .executors = 6, .cores_per_executor = 4, .resources = of_two_pools, .n_resources = 3};
    struct task_slots slots = task_slots_of(&run, 0, false);
    cr_assert_eq(task_slots_per_executor(&slots, &run, 4), 2, "the GPU's share allows 2");
    cr_assert_eq(task_slots_executors(&slots, 6), 4);
    cr_assert_eq(task_slots_executors(&slots, 12), 8);
    slots = task_slots_of(&run, 1, false);
    cr_assert_eq(slots.pool, 1);
    cr_assert_eq(task_slots_per_executor(&slots, &run, 4), 1, "the program sets 2 cores");
    cr_assert_eq(task_slots_per_executor(&slots, &run, 16), 1);
    cr_assert_eq(task_slots_executors(&slots, 6), 2);
    slots = task_slots_of(&run, 2, false);
    cr_assert_eq(slots.pool, 0, "it has no executors: it shares those of the default profile");
    cr_assert_eq(task_slots_per_executor(&slots, &run, 4), 1);
    cr_assert_eq(task_slots_per_executor(&slots, &run, 8), 2);
    const struct run_stage stage = {.resource_profile_id = 1};
    cr_assert_float_eq(task_slots_of_run(&run, &stage), 2.0, 0);
}

Test(task_slots, of_what_is_asked)
{
    struct run run = {.executors = 4,
                      .cores_per_executor = 4,
                      .resources = of_two_pools,
                      .n_resources = 1,
                      .asked = {.task_cores = 2, .gpus_per_task = 0.25}};
    struct task_slots slots = task_slots_of(&run, 0, true);
    cr_assert_eq(slots.by_resource, 4);
    cr_assert_eq(task_slots_per_executor(&slots, &run, 4), 2, "2 cores a task");
    cr_assert_eq(slots_of(&run, 0, 4), 2, "as recorded, half a GPU a task");
    slots = task_slots_of(&run, 7, true);
    cr_assert_eq(slots.task_cores, 1, "properties do not change another profile");
}

Test(task_slots, barrier_stages_bound_the_executors)
{
    struct run_stage stages[] = {{.id = 0, .n_tasks = 100},
                                 {.id = 1, .n_tasks = 9, .barrier = true},
                                 {.id = 2, .n_tasks = 50, .barrier = true, .skipped = true}};
    struct run run = {.executors = 5, .cores_per_executor = 2, .stages = stages, .n_stages = 3};
    cr_assert_eq(task_slots_least_executors(&run, 2), 5);
    cr_assert_eq(task_slots_least_executors(&run, 4), 3);
    cr_assert_eq(task_slots_least_executors(&run, 16), 1);
    stages[1].barrier = false;
    cr_assert_eq(task_slots_least_executors(&run, 2), 1);
}
