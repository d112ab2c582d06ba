/* What is written of a run's figures reads back as it was. */
#include "codec/history/run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/history/run_metrics.h"

static struct run read_figures(struct arena *arena, const char *text, size_t n, enum pv_code want)
{
    static const struct codec_bounds bounds = {.depth = 16, .values = 1000};
    static const struct codec_run_limits limits = {.stages = 1, .tasks = 1, .labels = 1};
    struct pv_error err;
    pv_error_clear(&err);
    struct codec_document document;
    struct run run;
    cr_assert_eq(codec_open(&document, text, n, &bounds, arena, &err), PV_OK);
    codec_run_decode_record(&document.top, &limits, &run);
    cr_assert_eq(codec_close(&document), want, "%s: %s", text, err.detail);
    cr_assert_eq(err.n_faults, want == PV_OK ? 0u : 1u, "%s", text);
    return run;
}

static void check_metrics(const struct run_metrics *got, const struct run_metrics *want)
{
#define CHECK_COUNT(name) cr_assert_eq(got->name, want->name, #name);
#define CHECK_SECONDS(name)                                                                        \
    cr_assert(got->name == want->name || (isnan(got->name) && isnan(want->name)), #name);
    RUN_METRICS(CHECK_COUNT, CHECK_SECONDS)
}

static void check_round_trip(const struct run *run)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct writer w;
    writer_init(&w, &arena);
    codec_run_encode(&w, run, strview_of("a"), CODEC_RUN_RECORD);
    size_t n;
    const char *text = writer_finish(&w, &n);
    struct run back = read_figures(&arena, text, n, PV_OK);
#define CHECK_FIGURE(name) cr_assert_eq(back.name, run->name, #name);
#define CHECK_TIME(name)                                                                           \
    cr_assert(back.name == run->name || (isnan(back.name) && isnan(run->name)), #name);
    RUN_TOTALS(CHECK_FIGURE, CHECK_TIME)
    RUN_FIGURES(CHECK_FIGURE, CHECK_TIME, CHECK_FIGURE)
    check_metrics(&back.metrics, &run->metrics);
    cr_assert_eq(back.n_resources, run->n_resources);
    for (size_t i = 0; i < run->n_resources; i++) {
        const struct run_resources *got = &back.resources[i], *want = &run->resources[i];
        cr_assert_eq(got->id, want->id);
        cr_assert_eq(got->executors, want->executors);
        cr_assert_eq(got->cores_per_executor, want->cores_per_executor);
        cr_assert_eq(got->executor_memory_bytes, want->executor_memory_bytes);
        cr_assert_eq(got->cores_per_task, want->cores_per_task);
        cr_assert_eq(got->resource_per_executor, want->resource_per_executor);
        cr_assert(isnan(want->resource_per_task)
                      ? isnan(got->resource_per_task)
                      : got->resource_per_task == want->resource_per_task);
        cr_assert_eq(got->resource.at == NULL, want->resource.at == NULL);
        cr_assert(want->resource.at == NULL || strview_equal(got->resource, want->resource));
    }
    arena_fini(&arena);
}

Test(figures, come_back_as_they_were)
{
    struct run run;
    memset(&run, 0, sizeof run);
    run.from_log = true;
    run_clear_log(&run);
    check_round_trip(&run);
    struct run_resources resources[] = {
        {0, 1, 2, 3, 4, {NULL, 0}, RUN_UNKNOWN, (double)NAN},
        {7, 5, RUN_UNKNOWN, RUN_UNKNOWN, 1, strview_of("gpu"), 2, 0.25}};
    run.exit_code = -1;
    run.tasks_killed = 3;
    run.nodes_excluded = 0;
    run.core_s = 1.0 / 3.0;
    run.peak_driver_heap_bytes = INT64_MAX;
    run.metrics.input_bytes = INT64_C(9007199254740993);
    run.metrics.gc_time_s = 0.1;
    run.resources = resources;
    run.n_resources = 2;
    check_round_trip(&run);
}

Test(figures, what_is_out_of_range_is_refused)
{
#define RECORD(member) "{\"duration_s\":1," member "}"
    static const char *const bad[] = {
        RECORD("\"exit_code\":2147483648"),   RECORD("\"core_s\":-1"),
        RECORD("\"input_bytes\":-1"),         RECORD("\"gc_time_s\":\"1\""),
        RECORD("\"resource_profiles\":[{}]"), RECORD("\"resource_profiles\":[{\"id\":0,\"x\":1}]"),
        RECORD("\"input_bytes\":1.5"),        RECORD("\"output_byte\":1"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena arena;
        arena_init(&arena, 0);
        (void)read_figures(&arena, bad[i], strlen(bad[i]), PV_E_INVALID);
        arena_fini(&arena);
    }
}
