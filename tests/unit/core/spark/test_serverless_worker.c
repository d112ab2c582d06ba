#include "core/spark/serverless_worker.h"

#include <criterion/criterion.h>

#include "core/history/run.h"
#include "core/spark/property_value.h"

enum { GIB = 1024 };

static const struct serverless_executor plain = {
    .cores = 4, .task_cpus = 1, .overhead_mib = RUN_UNKNOWN, .overhead_factor = 0.1};

static struct serverless_executor fit(int64_t cores, int64_t heap_mib)
{
    struct serverless_executor executor = plain, fitted;
    executor.cores = cores;
    executor.heap_mib = heap_mib;
    cr_assert(serverless_worker_fit(&executor, &fitted), "%d cores", (int)cores);
    return fitted;
}

/* Cores, heap (MiB), and the worker's vCPUs, spark.task.cpus, heap and overhead. */
static const struct row {
    int64_t cores, heap, vcpus, cpus, fitted, overhead;
} rows[] = {
    {4, 14 * GIB, 4, 1, 14 * GIB, 2 * GIB},    /* the default: 14 and 10 % in 16 GB */
    {4, 27 * GIB, 4, 1, 27 * GIB, 3 * GIB},    /* 29.7 in the greatest, 30 GB */
    {4, GIB, 4, 1, GIB, 7 * GIB},              /* at least 8 GB */
    {1, GIB, 1, 1, GIB, GIB},                  /* 1 and 384 MiB in 2 GB */
    {8, 30 * GIB, 8, 1, 30 * GIB, 6 * GIB},    /* steps of 4 GB: 33 in 36 */
    {16, 60 * GIB, 16, 1, 60 * GIB, 12 * GIB}, /* steps of 8 GB: 66 in 72 */
    {3, 6 * GIB, 4, 1, 8 * GIB, 1 * GIB},      /* 2 GiB a task: 8.8 in 9 GB */
    {5, 10 * GIB, 8, 1, 16 * GIB, 4 * GIB},    /* 17.6 in 20 GB */
    {20, 40 * GIB, 16, 1, 32 * GIB, 8 * GIB},  /* no worker has 20 vCPUs */
    {4, 40 * GIB, 8, 2, 40 * GIB, 4 * GIB},    /* 10 GiB a task need two vCPUs: still 4 slots */
    {1, 20 * GIB, 4, 4, 20 * GIB, 2 * GIB},    /* 22 GB for one task */
};

Test(serverless_worker, sizes_of_the_table)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        struct serverless_executor got = fit(row->cores, row->heap);
        cr_expect(got.cores == row->vcpus && got.task_cpus == row->cpus &&
                      got.heap_mib == row->fitted && got.overhead_mib == row->overhead,
                  "row %zu: %d vCPUs, %d for a task, %d + %d MiB", i, (int)got.cores,
                  (int)got.task_cpus, (int)got.heap_mib, (int)got.overhead_mib);
    }
}

/* An overhead that was set, off-heap and Python memory count, too. */
Test(serverless_worker, all_memory_counts)
{
    struct serverless_executor executor = plain, fitted;
    executor.heap_mib = 8 * GIB;
    executor.overhead_mib = 3 * GIB;
    executor.off_heap_mib = 2 * GIB;
    executor.python_mib = 512;
    cr_assert(serverless_worker_fit(&executor, &fitted));
    cr_expect_eq(fitted.overhead_mib, 3 * GIB + 512); /* 13.5 in 14 GB */
    cr_expect(fitted.heap_mib == 8 * GIB && fitted.off_heap_mib == 2 * GIB &&
              fitted.python_mib == 512);
    executor.overhead_factor = 0.4;
    executor.overhead_mib = RUN_UNKNOWN;
    executor.off_heap_mib = executor.python_mib = 0;
    cr_assert(serverless_worker_fit(&executor, &fitted));
    cr_expect_eq(fitted.overhead_mib, 4 * GIB); /* 11.2 in 12 GB */
}

/* The table again, from the guide, in another form than in the program. */
static bool is_size(int64_t vcpus, int64_t mib)
{
    int64_t gib = mib / GIB;
    if (mib % GIB != 0)
        return false;
    switch (vcpus) {
    case 1:
        return gib >= 2 && gib <= 8;
    case 2:
        return gib >= 4 && gib <= 16;
    case 4:
        return gib >= 8 && gib <= 30;
    case 8:
        return gib >= 16 && gib <= 60 && gib % 4 == 0;
    case 16:
        return gib >= 32 && gib <= 120 && gib % 8 == 0;
    default:
        return false;
    }
}

static void check(const struct serverless_executor *executor)
{
    struct serverless_executor got;
    cr_assert(serverless_worker_fit(executor, &got));
    int64_t total = got.heap_mib + got.overhead_mib + got.off_heap_mib + got.python_mib;
    int64_t slots = serverless_slots(executor), slots_got = serverless_slots(&got);
    cr_assert(is_size(got.cores, total), "%d vCPUs, %d MiB", (int)got.cores, (int)total);
    cr_assert_geq(got.task_cpus, executor->task_cpus);
    cr_assert_leq(got.task_cpus * slots_got, got.cores);
    cr_assert_geq(got.heap_mib * slots, executor->heap_mib * slots_got);
    cr_assert_geq(got.overhead_mib, property_default_overhead(got.heap_mib << 20, 0.1) >> 20);
}

Test(serverless_worker, every_executor_gets_a_worker_that_exists)
{
    struct serverless_executor executor = plain;
    for (executor.cores = 1; executor.cores <= 40; executor.cores++)
        for (executor.heap_mib = 512; executor.heap_mib <= 100 * GIB; executor.heap_mib += 777)
            for (executor.task_cpus = 1; executor.task_cpus <= 3; executor.task_cpus++)
                check(&executor);
}

Test(serverless_worker, what_no_worker_can_hold)
{
    struct serverless_executor executor = plain, fitted = {.cores = -7};
    executor.cores = 1;
    executor.heap_mib = 120 * GIB;
    cr_expect(!serverless_worker_fit(&executor, &fitted) && fitted.cores == -7);
    executor.heap_mib = GIB;
    executor.task_cpus = 17;
    cr_expect_not(serverless_worker_fit(&executor, &fitted));
}
