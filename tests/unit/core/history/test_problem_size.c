#include <criterion/criterion.h>
#include <math.h>

#include "core/history/problem_size.h"
#include "core/history/run_change.h"
#include "core/history/run_metrics.h"

static struct run_stage stages[4];
static struct run_label labels[] = {{{"blocks", 6}, {"12.5", 4}}, {{"branch", 6}, {"main", 4}}};
static struct run_label properties[] = {{{"spark.sql.shuffle.partitions", 28}, {"200", 3}}};

/* Stage 0 lists files on one task; 1 reads 1,000 records on three; 2 shuffles; 3 was skipped. */
static struct run a_run(void)
{
    static const int64_t tasks[] = {1, 3, 8, 99};
    for (size_t i = 0; i < 4; i++)
        stages[i] = (struct run_stage){.id = (int64_t)i,
                                       .n_tasks = tasks[i],
                                       .started_s = 10.0 * (double)i,
                                       .input_records = 1000,
                                       .skipped = i == 3,
                                       .metrics = run_metrics_unknown()};
    stages[1].metrics.input_bytes = 64 << 20;
    stages[2].metrics.shuffle_read_records = 1000;
    return (struct run){.from_log = true,
                        .problem_size = (double)NAN,
                        .metrics = {.input_bytes = 64 << 20},
                        .stages = stages,
                        .n_stages = 4,
                        .has_stages = true,
                        .labels = labels,
                        .n_labels = 2,
                        .spark_properties = properties,
                        .n_spark_properties = 1};
}

static struct strview measured;

static double by(const struct run *run, enum size_measure_kind kind, const char *key)
{
    const struct size_measure measure = {kind,
                                         key == NULL ? (struct strview){NULL, 0} : strview_of(key)};
    return problem_size_of_run(run, &measure, &measured);
}

/* The word of the measure that `by` used last; "" for none. */
static const char *word(void)
{
    return measured.at == NULL ? "" : measured.at;
}

Test(problem_size, is_measured_in_many_ways)
{
    struct run run = a_run();
    cr_assert_eq(by(&run, SIZE_INPUT_BLOCKS, NULL), 0.5);
    cr_assert_str_eq(word(), "input_blocks");
    cr_assert_eq(by(&run, SIZE_INPUT_RECORDS, NULL), 1000);
    cr_assert_str_eq(word(), "input_records");
    cr_assert_eq(by(&run, SIZE_FIRST_PARALLEL_STAGE, NULL), 3);
    cr_assert_eq(by(&run, SIZE_FIRST_STAGE, NULL), 1);
    cr_assert_eq(by(&run, SIZE_LABEL, "blocks"), 12.5);
    cr_assert_eq(by(&run, SIZE_SPARK_PROPERTY, "spark.sql.shuffle.partitions"), 200);
}

Test(problem_size, is_unknown_where_nothing_shows_it)
{
    struct run run = a_run();
    cr_assert(isnan(by(&run, SIZE_LABEL, "branch")));
    cr_assert(isnan(by(&run, SIZE_LABEL, "blocks of input")));
    cr_assert(isnan(by(&run, SIZE_SPARK_PROPERTY, "blocks")));
    run.n_stages = 0;
    run.metrics.input_bytes = RUN_UNKNOWN;
    for (unsigned kind = SIZE_INPUT_BLOCKS; kind <= SIZE_FIRST_STAGE; kind++) {
        cr_assert(isnan(by(&run, (enum size_measure_kind)kind, NULL)));
        cr_assert_str_eq(word(), "");
    }
}

Test(problem_size, fewer_bytes_than_a_mebibyte_are_counted_in_tasks)
{
    struct run run = a_run();
    run.metrics.input_bytes = stages[1].metrics.input_bytes = 1 << 20;
    cr_assert_eq(by(&run, SIZE_INPUT_BLOCKS, NULL), 1.0 / 128);
    cr_assert_str_eq(word(), "input_blocks");
    run.metrics.input_bytes = stages[1].metrics.input_bytes = (1 << 20) - 1;
    cr_assert_eq(by(&run, SIZE_INPUT_BLOCKS, NULL), 3);
    cr_assert_str_eq(word(), "first_parallel_stage");
    stages[1].tasks_lost = 3; /* that read as much */
    cr_assert_gt(by(&run, SIZE_INPUT_BLOCKS, NULL), 1.9 / 128);
    cr_assert_str_eq(word(), "input_blocks");
    run.n_stages = 0; /* few bytes are all that is known */
    cr_assert_lt(by(&run, SIZE_INPUT_BLOCKS, NULL), 1.0 / 128);
    cr_assert_str_eq(word(), "input_blocks");
}

/* Of n runs, the newest so many of which are measured in tasks. */
static const char *prevailing(size_t n, size_t in_tasks)
{
    static struct run runs[25];
    for (size_t i = 0; i < n; i++)
        runs[i] = (struct run){.succeeded = true,
                               .problem_size_measure = strview_of(
                                   i < in_tasks ? "first_parallel_stage" : "input_blocks")};
    return problem_size_prevailing(runs, n);
}

Test(problem_size, the_measure_of_most_of_the_latest_runs_prevails)
{
    cr_assert_null(prevailing(0, 0));
    cr_assert_str_eq(prevailing(3, 1), "input_blocks");
    cr_assert_str_eq(prevailing(3, 2), "first_parallel_stage");
    cr_assert_str_eq(prevailing(4, 2), "input_blocks");
    cr_assert_str_eq(prevailing(25, 11), "first_parallel_stage"); /* of 20 */
    const struct run failed = {.problem_size_measure = strview_of("input_blocks")};
    cr_assert_null(problem_size_prevailing(&failed, 1));
    cr_assert(problem_size_compares(&failed, NULL));
    cr_assert(problem_size_compares(&failed, "input_blocks"));
    cr_assert_not(problem_size_compares(&failed, "first_parallel_stage"));
    const struct run given = {.succeeded = true};
    cr_assert(problem_size_compares(&given, "input_blocks"));
}

Test(problem_size, a_small_input_that_was_stored_in_blocks_is_measured_again)
{
    const struct size_measure blocks = {.kind = SIZE_INPUT_BLOCKS};
    struct run run = a_run();
    run.metrics.input_bytes = stages[1].metrics.input_bytes = 2048;
    run.problem_size = 2048 / PROBLEM_SIZE_BLOCK_BYTES;
    cr_assert(problem_size_measure(&run, &blocks, &blocks) && run.problem_size == 3);
    cr_assert(strview_is(run.problem_size_measure, "first_parallel_stage"));
}

Test(problem_size, is_the_first_parallel_stage_where_no_input_is_known)
{
    struct run run = a_run();
    run.metrics.input_bytes = RUN_UNKNOWN;
    cr_assert_eq(by(&run, SIZE_INPUT_BLOCKS, NULL), 3);
    stages[2].started_s = 5; /* before the other one */
    cr_assert_eq(by(&run, SIZE_INPUT_BLOCKS, NULL), 8);
    run.n_stages = 1;
    cr_assert_eq(by(&run, SIZE_INPUT_BLOCKS, NULL), 1);
}

Test(problem_size, is_measured_again_unless_it_was_given)
{
    const struct size_measure blocks = {.kind = SIZE_INPUT_BLOCKS};
    const struct size_measure records = {.kind = SIZE_INPUT_RECORDS};
    struct run run = a_run();
    cr_assert(problem_size_measure(&run, NULL, &blocks) && run.problem_size == 0.5);
    cr_assert(strview_is(run.problem_size_measure, "input_blocks"));
    cr_assert(!problem_size_measure(&run, &blocks, &blocks));
    cr_assert(problem_size_measure(&run, &blocks, &records) && run.problem_size == 1000);
    run.problem_size = 1; /* of a program that measured by the first stage */
    cr_assert(problem_size_measure(&run, &blocks, &records) && run.problem_size == 1000);
    run.problem_size = 77; /* it did not store who gave a size, either */
    cr_assert(!problem_size_measure(&run, &blocks, &records) && run.problem_size == 77);
    run.problem_size_given = true;
    run.problem_size = 0.5;
    cr_assert(!problem_size_measure(&run, &blocks, &records) && run.problem_size == 0.5);
}

Test(problem_size, a_correction_says_what_is_given)
{
    const struct size_measure blocks = {.kind = SIZE_INPUT_BLOCKS};
    const struct size_measure records = {.kind = SIZE_INPUT_RECORDS};
    struct run run = a_run();
    run.problem_size = 0.5;
    struct run_change change = {.has_problem_size = true, .to = {.problem_size = 14}};
    run_change_apply(&change, &blocks, &blocks, &run);
    cr_assert(run.problem_size == 14 && run.problem_size_given);
    change.to.problem_size = (double)NAN;
    run_change_apply(&change, &blocks, &blocks, &run);
    cr_assert(run.problem_size == 0.5 && !run.problem_size_given);
    /* It goes where records are counted. */
    change = (struct run_change){.application = strview_of("other")};
    run_change_apply(&change, &blocks, &records, &run);
    cr_assert(run.problem_size == 1000);
    run.from_log = false;
    change = (struct run_change){.has_problem_size = true, .to = {.problem_size = (double)NAN}};
    run_change_apply(&change, &blocks, &blocks, &run);
    cr_assert(isnan(run.problem_size) && run.problem_size_given);
}
