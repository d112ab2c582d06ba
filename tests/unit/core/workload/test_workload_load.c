/* Workloads for the simulators. */
#include "core/workload/workload_load.h"

#include <criterion/criterion.h>
#include <math.h>

#include "workload_cases.h"

static struct workload_case one;

static void setup(void)
{
    workload_case_init(&one);
    workload_case_read(
        &one, WORKLOAD_PROVISOR,
        "{\"name\": \"b\", \"arrival_s\": 9, \"map_durations_s\": [4, 8], \"reduces\": 3, "
        "\"reduce_task_s\": 6, \"queue\": 2, \"predicted_size_s\": 7}\n"
        "{\"name\": \"a\", \"arrival_s\": 3, \"task_durations_s\": [1], \"class\": \"long\"}\n"
        "{\"arrival_s\": 3, \"task_durations_s\": [2, 2, 2]}\n");
}

static void teardown(void)
{
    workload_case_fini(&one);
}

TestSuite(workload_load, .init = setup, .fini = teardown);

Test(workload_load, for_slots_by_arrival)
{
    struct workload_jobs jobs = workload_case_load(
        &one, &(struct workload_load_terms){WORKLOAD_FOR_SLOTS, true, false, 0, (double)NAN});
    cr_assert_eq(jobs.n, (size_t)3);
    cr_expect_null(jobs.tasks);
    cr_expect_str_eq(jobs.names[0], "a");
    cr_expect_str_eq(jobs.names[1], "");
    cr_expect_str_eq(jobs.names[2], "b");
    const struct slots_job *last = &jobs.slots[2];
    cr_expect_eq(last->arrival_s, 9);
    cr_expect_eq(slots_tasks_count(&last->task_lists[SLOTS_MAP]), (size_t)2);
    cr_expect_eq(last->task_lists[SLOTS_REDUCE].n, (size_t)1);
    cr_expect_eq(last->task_lists[SLOTS_REDUCE].tasks[0].count, (size_t)3);
    cr_expect_eq(slots_job_size(last), 30);
    cr_expect_eq(last->queue, (size_t)1);
    cr_expect_eq(last->predicted_size_s, 7);
    cr_expect_eq(jobs.slots[0].task_lists[SLOTS_REDUCE].n, (size_t)0);
    cr_expect(isnan(jobs.slots[0].predicted_size_s));
}

/* Maps and reduces are one bag; a class that is given stands, others follow from the mean. */
Test(workload_load, for_tasks_by_arrival)
{
    static const double bag[] = {4, 8, 6, 6, 6};
    struct workload_jobs jobs = workload_case_load(
        &one, &(struct workload_load_terms){WORKLOAD_FOR_TASKS, false, false, 0, 5});
    cr_assert_eq(jobs.n, (size_t)3);
    cr_expect_null(jobs.slots);
    cr_expect_null(jobs.names);
    cr_expect(jobs.tasks[0].is_long);
    cr_expect_not(jobs.tasks[1].is_long);
    cr_expect(jobs.tasks[2].is_long);
    cr_expect_eq(jobs.tasks[1].tasks, 3U);
    cr_assert_eq(jobs.tasks[2].tasks, 5U);
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(jobs.tasks[2].durations_s[i], bag[i]);
}

Test(workload_load, memory_is_what_was_stated)
{
    for (int names = 0; names < 2; names++) {
        for (int target = 0; target < 2; target++) {
            const struct workload_load_terms terms = {(enum workload_target)target, names == 1,
                                                      false, 0, (double)NAN};
            size_t bytes = workload_load_bytes(&one.summary, &terms);
            struct workload_load *load;
            struct arena arena;
            arena_init(&arena, bytes < 4096 ? 4096 : bytes);
            cr_assert_eq(workload_load_begin(&one.summary, &terms, &arena, &load, NULL), PV_OK);
            cr_expect_leq(arena.used, bytes);
            arena_fini(&arena);
            arena_init(&arena, bytes - 1);
            cr_expect_eq(workload_load_begin(&one.summary, &terms, &arena, &load, &one.err),
                         PV_E_MEMORY);
            arena_fini(&arena);
        }
    }
    struct workload_summary huge = one.summary;
    huge.tasks[0] = UINT64_C(1) << 62;
    const struct workload_load_terms terms = {WORKLOAD_FOR_TASKS, false, false, 0, (double)NAN};
    cr_expect_eq(workload_load_bytes(&huge, &terms), SIZE_MAX);
}
