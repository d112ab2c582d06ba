/* What ran, and what it bounds. */
#include "core/advice/history_extent.h"

#include <criterion/criterion.h>
#include <math.h>

static struct observation rows[3];
static struct run_evidence evidence[3];

static struct history_extent find(const struct run runs[], size_t n)
{
    const struct run_observations seen = {.rows = rows, .evidence = evidence, .n = 3};
    for (size_t i = 0; i < 3; i++)
        evidence[i].run_id[0] = (char)('a' + i);
    return history_extent_find(&seen, runs, n);
}

/* The newest run of the label group is the last one; the most cores are those of any run. */
Test(history_extent, the_last_run_and_the_most_cores)
{
    for (size_t i = 0; i < 3; i++) {
        rows[i] = (struct observation){.problem_size = 10.0 + (double)i,
                                       .executors = 2.0 + (double)i,
                                       .duration_s = 50.0 + (double)i};
        evidence[i].cores_per_executor = 4;
    }
    struct history_extent extent = find(NULL, 0);
    cr_expect_str_eq(extent.last.run_id, "a");
    cr_expect(extent.last.executors == 2 && extent.last.cores_per_executor == 4);
    cr_expect(extent.last.problem_size == 10 && extent.last.duration_s == 50);
    cr_expect_eq(extent.most_cores, 16);
    rows[0].context = 2; /* of another group */
    rows[1].context = 1;
    extent = find(NULL, 0);
    cr_expect_str_eq(extent.last.run_id, "b");
    evidence[1].cores_per_executor = RUN_UNKNOWN;
    extent = find(NULL, 0);
    cr_expect_str_eq(extent.last.run_id, "c");
    const struct run older = {.executors = 5, .cores_per_executor = 4};
    cr_expect_eq(find(&older, 1).most_cores, 20);
    rows[2].executors = 0.5;
    extent = find(NULL, 0);
    cr_expect_eq(extent.last.executors, RUN_UNKNOWN);
    cr_expect_eq(extent.most_cores, 8);
}

Test(history_extent, of_a_single_run)
{
    struct run run = {
        .id = "x", .problem_size = 7, .duration_s = 9, .executors = 3, .cores_per_executor = 2};
    struct history_extent extent = history_extent_of_run(&run);
    cr_expect(extent.most_cores == 6 && extent.last.executors == 3);
    cr_expect_str_eq(extent.last.run_id, "x");
    run.executors = run.cores_per_executor = 1;
    extent = history_extent_of_run(&run);
    cr_expect(extent.most_cores == 1 && extent.last.executors == 1);
    cr_expect_eq(history_extent_last(&extent, 1), 1);
    cr_expect_eq(history_extent_bound(&extent, 4, 1), 4);
    run.executors = RUN_UNKNOWN;
    extent = history_extent_of_run(&run);
    cr_expect(extent.most_cores == RUN_UNKNOWN && extent.last.executors == RUN_UNKNOWN);
}

/* In executors of another size, at least one, at most 1e9. */
Test(history_extent, bounds_in_executors)
{
    struct history_extent extent = history_extent_unknown;
    cr_expect_eq(history_extent_bound(&extent, 4, 4), RUN_UNKNOWN);
    cr_expect_eq(history_extent_last(&extent, 4), RUN_UNKNOWN);
    extent.most_cores = 10;
    extent.last.executors = 5;
    extent.last.cores_per_executor = 2;
    cr_expect_eq(history_extent_bound(&extent, 4, 4), 10);
    cr_expect_eq(history_extent_bound(&extent, 4, 6), 6, "rounded down");
    cr_expect_eq(history_extent_bound(&extent, 1, 11), 1);
    cr_expect_eq(history_extent_bound(&extent, 1e10, 1), 1000000000);
    cr_expect_eq(history_extent_bound(&extent, 4, 0), RUN_UNKNOWN);
    cr_expect_eq(history_extent_last(&extent, 4), 3, "2.5, rounded");
    cr_expect_eq(history_extent_last(&extent, 30), 1);
    cr_expect_eq(history_extent_last(&extent, 0), RUN_UNKNOWN);
    extent.last.executors = INT64_C(3000000000);
    cr_expect_eq(history_extent_last(&extent, 1), 1000000000);
}
