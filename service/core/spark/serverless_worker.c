#include "core/spark/serverless_worker.h"

#include "base/order.h"
#include "core/history/run.h"
#include "core/spark/property_value.h"

static const struct worker_size {
    int64_t vcpus;
    int64_t least_gib;
    int64_t most_gib;
    int64_t step_gib;
} sizes[] = {{1, 2, 8, 1}, {2, 4, 16, 1}, {4, 8, 30, 1}, {8, 16, 60, 4}, {16, 32, 120, 8}};

enum { SIZES = sizeof sizes / sizeof *sizes };

bool serverless_worker_exists(int64_t cores, int64_t mib)
{
    for (size_t i = 0; i < SIZES; i++)
        if (sizes[i].vcpus == cores)
            return mib >= sizes[i].least_gib << 10 && mib <= sizes[i].most_gib << 10 &&
                   mib % (sizes[i].step_gib << 10) == 0;
    return false;
}

int64_t serverless_slots(const struct serverless_executor *executor)
{
    return larger_int64(executor->cores / executor->task_cpus, 1);
}

/* In proportion to the task slots, rounded up. */
static int64_t scale(int64_t mib, int64_t slots, int64_t slots_before)
{
    return (mib * slots + slots_before - 1) / slots_before;
}

/* The executor on a worker of that size. False if the worker has too little memory. */
static bool place(const struct serverless_executor *executor,
                  const struct worker_size *size,
                  int64_t task_cpus,
                  struct serverless_executor *placed)
{
    int64_t before = serverless_slots(executor);
    *placed = *executor;
    placed->cores = size->vcpus;
    placed->task_cpus = task_cpus;
    int64_t slots = serverless_slots(placed);
    placed->heap_mib = scale(executor->heap_mib, slots, before);
    placed->off_heap_mib = scale(executor->off_heap_mib, slots, before);
    placed->python_mib = scale(executor->python_mib, slots, before);
    int64_t overhead =
        executor->overhead_mib == RUN_UNKNOWN
            ? property_default_overhead(placed->heap_mib << 20, executor->overhead_factor) >> 20
            : scale(executor->overhead_mib, slots, before);
    int64_t others = placed->heap_mib + placed->off_heap_mib + placed->python_mib;
    int64_t step_mib = size->step_gib << 10;
    int64_t total = (others + overhead + step_mib - 1) / step_mib * step_mib;
    total = larger_int64(total, size->least_gib << 10);
    placed->overhead_mib = total - others;
    return total <= size->most_gib << 10;
}

static bool is_better(const struct serverless_executor *executor,
                      const struct serverless_executor *a,
                      const struct serverless_executor *b)
{
    int64_t slots = serverless_slots(executor);
    int64_t slots_a = serverless_slots(a), slots_b = serverless_slots(b);
    if (a->cores * slots_b != b->cores * slots_a)
        return a->cores * slots_b < b->cores * slots_a;
    if ((slots_a == slots) != (slots_b == slots))
        return slots_a == slots;
    /* Sizes are tried in ascending order. */
    return b->cores < executor->cores && a->cores > b->cores;
}

bool serverless_worker_fit(const struct serverless_executor *executor,
                           struct serverless_executor *fitted)
{
    struct serverless_executor best, placed;
    bool found = false;
    for (size_t i = 0; i < SIZES; i++)
        for (int64_t cpus = 1; cpus <= sizes[i].vcpus; cpus *= 2)
            if (cpus >= executor->task_cpus && place(executor, &sizes[i], cpus, &placed) &&
                (!found || is_better(executor, &placed, &best))) {
                best = placed;
                found = true;
            }
    if (found)
        *fitted = best;
    return found;
}
