/* What an application ran with. */
#include "core/advice/spark_history.h"

#include <criterion/criterion.h>
#include <math.h>

#include "../history/sample_runs.h"

static struct arena arena;
static struct run_label kept[] = {{{"spark.a", 7}, {"1", 1}}, {{"spark.b", 7}, {NULL, 0}}};

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(spark_history, .init = set_up, .fini = tear_down);

static struct spark_before
take(const struct run *latest, size_t n_latest, const struct run *nearest)
{
    struct history_extent extent = history_extent_unknown;
    struct spark_before before;
    extent.last.executors = 3;
    extent.last.cores_per_executor = 4;
    cr_assert_eq(spark_history_take(latest, n_latest, nearest, nearest != NULL, &extent, 20, &arena,
                                    &before, NULL),
                 PV_OK);
    cr_expect(before.executors == 3 && before.cores_per_executor == 4);
    return before;
}

/* Of the latest run that succeeded and has properties. */
Test(spark_history, properties_of_the_latest_run_that_has_them)
{
    struct run runs[3];
    for (size_t i = 0; i < 3; i++) {
        runs[i] = run_of_stages(NULL, 0, 10, 2, 2, 50, 0);
        runs[i].spark_properties = kept;
        runs[i].n_spark_properties = 2;
        runs[i].spark_version = strview_of("3.5.1");
    }
    runs[0].succeeded = false;
    runs[1].n_spark_properties = 0;
    struct spark_before before = take(runs, 3, NULL);
    cr_assert_eq(before.n, 2);
    cr_expect(strview_is(before.properties[0].key, "spark.a"));
    cr_expect(strview_is(before.properties[0].value, "1"));
    cr_expect_null(before.properties[1].value.at);
    cr_expect(before.properties != kept, "a copy");
    cr_expect(strview_is(before.version, "3.5.1"));
    cr_expect(isnan(before.shuffle_bytes));
    before = take(runs, 2, NULL);
    cr_expect_eq(before.n, 0);
    cr_expect_null(before.version.at);
}

/* The largest shuffle of the nearest run, in proportion to a larger size. */
Test(spark_history, the_largest_shuffle_grows_with_the_size)
{
    struct run_stage stages[3];
    for (size_t i = 0; i < 3; i++)
        stages[i] = stage_of_tasks((int64_t)i, NULL, 0);
    stages[0].metrics.shuffle_read_bytes = RUN_UNKNOWN;
    stages[1].metrics.shuffle_read_bytes = 500;
    stages[2].metrics.shuffle_read_bytes = 300;
    struct run run = run_of_stages(stages, 3, 10, 2, 2, 50, 0);
    cr_expect_float_eq(take(NULL, 0, &run).shuffle_bytes, 1000, 1e-9);
    run.problem_size = 40;
    cr_expect_float_eq(take(NULL, 0, &run).shuffle_bytes, 500, 1e-9);
    run.problem_size = 0;
    cr_expect_float_eq(take(NULL, 0, &run).shuffle_bytes, 500, 1e-9);
    run.problem_size = (double)NAN;
    cr_expect_float_eq(take(NULL, 0, &run).shuffle_bytes, 500, 1e-9);
    for (size_t i = 0; i < 3; i++)
        stages[i].metrics.shuffle_read_bytes = RUN_UNKNOWN;
    cr_expect(isnan(take(NULL, 0, &run).shuffle_bytes));
}
