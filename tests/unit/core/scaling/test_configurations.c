/* What runs differ in, and what they lack, in words. */
#include "core/scaling/laws/configurations.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scaling/laws/kinds.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(configurations, .init = set_up, .fini = tear_down);

/* Four runs, two of them of 10 on two executors; 10 on two and 20 on four are 5 for each. */
Test(configurations, each_place_counts_once)
{
    const struct observation rows[] = {
        model_seen(10, 2, 30, (double)NAN), model_seen(10, 2, 31, (double)NAN),
        model_seen(10, 4, 20, (double)NAN), model_seen(20, 4, 40, (double)NAN)};
    const struct model_data data = {.rows = rows, .n = 4, .scratch = &arena};
    struct configurations design;
    struct pv_error err = {0};
    cr_assert_eq(configurations_require(&data, &ernest_kind, 3, 2, &design, &err), PV_OK);
    cr_expect_eq(design.configurations, 3);
    cr_expect_eq(design.sizes, 2);
    cr_expect_eq(design.executors, 2);
    cr_expect_eq(design.shares, 2);
    cr_expect_eq(configurations_require(&data, &ernest_kind, 4, 2, &design, &err), PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail,
                     "ernest needs 4 different pairs of problem_size and executors; there "
                     "are 3 in 4 observations: 1 more needed");
    pv_error_clear(&err);
    cr_expect_eq(configurations_require(&data, &ernest_kind, 3, 3, &design, &err), PV_E_SINGULAR);
    cr_expect_str_eq(err.detail,
                     "ernest needs 3 different executor counts; in 4 observations there are "
                     "2 (the first has 2): add runs on others");
}

static void expect_blame(size_t n, size_t executors, size_t shares, const char *message)
{
    const struct model_data data = {.n = n};
    const struct configurations design = {
        .data = &data, .kind = &ernest_kind, .sizes = n, .executors = executors, .shares = shares};
    struct pv_error err = {0};
    cr_expect_eq(configurations_blame(&design, &err), PV_E_SINGULAR);
    cr_expect_str_eq(err.detail, message);
}

Test(configurations, what_is_missing_is_said)
{
    expect_blame(
        1, 1, 1,
        "the 1 observation does not separate the effects of ernest (1 problem size, 1 executor "
        "count, 1 ratio of both): add runs on another executor count");
    expect_blame(
        5, 2, 1,
        "the 5 observations do not separate the effects of ernest (5 problem sizes, 2 executor "
        "counts, 1 ratio of both): add runs with another problem_size per executor");
    expect_blame(
        5, 2, 2,
        "the 5 observations do not separate the effects of ernest (5 problem sizes, 2 executor "
        "counts, 2 ratios of both): add runs with a third problem_size per executor");
    expect_blame(
        5, 2, 3,
        "the 5 observations do not separate the effects of ernest (5 problem sizes, 2 executor "
        "counts, 3 ratios of both): add runs on a third executor count");
    expect_blame(
        5, 3, 3,
        "the 5 observations do not separate the effects of ernest (5 problem sizes, 3 executor "
        "counts, 3 ratios of both): add runs whose problem_size and executors do not move in "
        "step");
}
