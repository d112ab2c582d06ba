/* Plans of memory for any history. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "core/spark/memory_plan.h"
#include "core/spark/property_value.h"
#include "memory_cases.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(spark_memory_histories, .init = set_up, .fini = tear_down, .timeout = 120);

/* A random state of its own, so that a million histories take little time. */
static uint64_t drawn = 4711;
static uint64_t draw(void)
{
    drawn ^= drawn << 13;
    drawn ^= drawn >> 7;
    drawn ^= drawn << 17;
    return drawn;
}

static double uniform(void)
{
    return (double)(draw() >> 11) / 9007199254740992.0;
}

/* Unknown, or from bytes to `most` on a logarithmic scale. */
static int64_t any_bytes(double most)
{
    return draw() % 4 == 0 ? RUN_UNKNOWN : (int64_t)exp(uniform() * log(most));
}

enum { HEAPS = 40 };
static struct run_label heaps[HEAPS][4];
static char heap_texts[HEAPS][24], other_texts[HEAPS][24];

/* Heaps from 1 MiB to 1 PiB; every third has an overhead that was set, every fifth a plugin. */
static void make_heaps(void)
{
    for (size_t i = 0; i < HEAPS; i++) {
        (void)snprintf(heap_texts[i], sizeof heap_texts[i], "%.0fm",
                       exp(uniform() * log(1073741824.0)));
        (void)snprintf(other_texts[i], sizeof other_texts[i], "%.0fm", exp(uniform() * log(1e6)));
        struct run_label all[4] = {
            {strview_of("spark.executor.memory"), strview_of(heap_texts[i])},
            {strview_of(i % 3 == 0 ? "spark.executor.memoryOverhead" : "spark.executor.memoryX"),
             strview_of(other_texts[i])},
            {strview_of("spark.executor.pyspark.memory"), strview_of(other_texts[i])},
            {strview_of("spark.plugins"),
             strview_of(i % 5 == 0 ? "com.nvidia.spark.SQLPlugin" : "")}};
        memcpy(heaps[i], all, sizeof all);
    }
}

static struct run any_run(void)
{
    struct run run = run_with(heaps[draw() % HEAPS], 4, any_bytes(1e15));
    run.problem_size = draw() % 8 == 0 ? (double)NAN : exp((uniform() - 0.5) * 40);
    if (draw() % 2 == 0)
        run.problem_size = 64;
    run.succeeded = draw() % 4 > 0;
    run.cores_per_executor = draw() % 16 == 0 ? RUN_UNKNOWN : (int64_t)(1 + draw() % 8);
    run.executors = draw() % 8 == 0 ? RUN_UNKNOWN : (int64_t)(1 + draw() % 50);
    run.out_of_memory_errors = draw() % 6 == 0 ? 2 : 0;
    run.memory_limit_kills = draw() % 6 == 0 ? 1 : 0;
    run.metrics.peak_unified_memory_bytes = any_bytes(1e15);
    run.metrics.peak_storage_memory_bytes = any_bytes(1e15);
    run.metrics.peak_jvm_non_heap_bytes = any_bytes(1e15);
    run.metrics.peak_process_memory_bytes = any_bytes(1e15);
    run.metrics.peak_python_memory_bytes = any_bytes(1e15);
    run.metrics.disk_spilled_bytes = draw() % 2 == 0 ? 0 : any_bytes(1e15);
    run.metrics.memory_spilled_bytes = any_bytes(1e15);
    run.metrics.input_bytes = any_bytes(1e15);
    run.metrics.executor_run_time_s = 100;
    run.metrics.gc_time_s = draw() % 4 == 0 ? 20 * uniform() : 0;
    return run;
}

static bool is_short_of_memory(const struct run *run)
{
    double read = fmax(0, (double)run->metrics.input_bytes);
    return run->out_of_memory_errors > 0 || run->memory_limit_kills > 0 ||
           ((double)run->metrics.disk_spilled_bytes >= 0.1 * read && read > 0) ||
           run->metrics.gc_time_s >= 10;
}

static void check_plan(const struct run runs[],
                       size_t n,
                       const struct memory_question *question,
                       const struct memory_plan *plan)
{
    const struct memory_sizes *ran = &plan->ran, *sizes = &plan->sizes;
    int64_t total = memory_sizes_total(sizes), ran_total = memory_sizes_total(ran);
    int64_t most = question->most_per_executor;
    bool is_short = false, differs = false;
    size_t well = 0;
    for (size_t i = 0; i < n; i++) {
        is_short = is_short || is_short_of_memory(&runs[i]);
        differs = differs || runs[i].cores_per_executor < question->cores_per_executor ||
                  !(runs[i].problem_size > 63 && runs[i].problem_size < 65);
        well += runs[i].succeeded && !is_short_of_memory(&runs[i]);
    }
    cr_assert_geq(sizes->heap, 0);
    cr_assert(total <= ran_total || (total <= question->cores_per_executor * MEMORY_PER_CORE_MAX),
              "grown above what is stated per core");
    if (!is_short && !differs)
        cr_assert_leq(total, ran_total, "grown, though no run was short of memory");
    cr_assert_geq(2 * sizes->heap + 1, ran->heap, "cut to less than a half");
    cr_assert_geq(2 * sizes->pyspark + 1, ran->pyspark);
    if (well < MEMORY_CUT_RUNS && most == RUN_UNKNOWN)
        cr_assert_geq(sizes->heap, ran->heap, "cut by too few runs");
    if (property_find(runs[0].spark_properties, 4, "spark.executor.memoryOverhead").at != NULL &&
        n == 1)
        cr_assert_geq(sizes->overhead, ran->overhead);
    if (most != RUN_UNKNOWN && plan->n_properties > 0)
        cr_assert_leq(total, most, "changed to what no machine holds");
    const char *heap = property_in(plan, "spark.executor.memory");
    cr_assert_eq(heap == NULL ? ran->heap : property_size(strview_of(heap), 1),
                 heap == NULL || sizes->heap % MIB == 0 ? sizes->heap
                                                        : sizes->heap / MIB * MIB + MIB);
}

/* A million histories, sizes from bytes to petabytes: memory grows only if a run was short of it, by
 * no more than is stated per core, is cut to one half at most after five runs, and nothing is
 * changed to what no machine of the cluster holds. */
Test(spark_memory_histories, grow_only_if_memory_is_short)
{
    make_heaps();
    size_t changed = 0, cuts = 0;
    for (int i = 0; i < 1000000; i++) {
        struct run runs[8];
        struct memory_plan plan;
        struct memory_history history;
        struct pv_error err = {0};
        struct arena_mark mark = arena_mark(&arena);
        size_t n = 1 + draw() % 8;
        bool alike = draw() % 2 == 0;
        struct memory_question question =
            question_of((int64_t)(1 + draw() % 50), (int64_t)(1 + draw() % 16));
        if (draw() % 3 == 0)
            question.most_per_executor = (int64_t)exp(log(1e8) + uniform() * log(1e7));
        for (size_t k = 0; k < n; k++)
            runs[k] = k > 0 && alike ? runs[0] : any_run();
        memory_history_take(runs, n, 64, &history);
        cr_assert_eq(memory_plan_make(&history, &question, &arena, &plan, &err), PV_OK);
        if (plan.known)
            check_plan(runs, n, &question, &plan);
        changed += plan.known && plan.n_properties > 0;
        cuts += plan.known && plan.sizes.heap < plan.ran.heap;
        arena_rewind(&arena, mark);
    }
    cr_assert_gt(changed, 50000, "%zu", changed);
    cr_assert_gt(cuts, 10000, "%zu", cuts);
}
