/* Which points a next run may have. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/history/run.h"
#include "core/scaling/experiments/region.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(experiment_region, .init = setup, .fini = teardown, .timeout = 30);

static struct experiment_bounds any(void)
{
    return (struct experiment_bounds){.problem_size = (double)NAN,
                                      .executors_included = (double)NAN,
                                      .min_executors = RUN_UNKNOWN,
                                      .max_executors = RUN_UNKNOWN,
                                      .executors_step = RUN_UNKNOWN,
                                      .executors_max = 1000,
                                      .points_max = 2000};
}

static struct experiment_region make(const struct experiment_bounds *bounds,
                                     const struct observation rows[],
                                     size_t n,
                                     bool has_model)
{
    struct experiment_region region;
    struct pv_error err = {0};
    cr_assert_eq(experiment_region_make(bounds, rows, n, has_model, &arena, &region, &err), PV_OK,
                 "%s", err.detail);
    return region;
}

static void refuse(const struct experiment_bounds *bounds, const char *parameter)
{
    struct experiment_region region;
    struct pv_error err = {0};
    cr_assert_eq(experiment_region_make(bounds, NULL, 0, false, &arena, &region, &err),
                 PV_E_INVALID);
    cr_assert_eq(err.n_faults, 1);
    cr_expect_str_eq(err.faults[0].at, parameter);
}

static void expect_values(const double got[], size_t n, const double wanted[], size_t n_wanted)
{
    cr_assert_eq(n, n_wanted, "%zu values", n);
    for (size_t i = 0; i < n; i++)
        cr_expect_eq(got[i], wanted[i], "%g for %g", got[i], wanted[i]);
}

/* Nothing known but the size of interest: small parts of it, no more executors than size. */
Test(experiment_region, where_to_start_is_small)
{
    struct experiment_bounds bounds = any();
    bounds.problem_size = 64;
    struct experiment_region region = make(&bounds, NULL, 0, false);
    const double sizes[] = {8, 16, 32};
    expect_values(region.problem_sizes, region.n_sizes, sizes, 3);
    cr_expect_eq(region.min_executors, 1);
    cr_expect_eq(region.max_executors, EXPERIMENT_EXECUTORS_MOST);
    for (size_t i = 0; i < region.n_allowed; i++)
        cr_expect_leq(region.allowed[i].executors, region.allowed[i].problem_size);
    cr_expect_eq(region.asked[0].problem_size, 64);
    bounds.problem_size = 1;
    region = make(&bounds, NULL, 0, false);
    cr_expect_eq(region.n_allowed, 1);
    cr_expect_eq(region.allowed[0].executors, 1);
}

/* Runs bring their sizes and counts; twice the executors seen may be tried. */
Test(experiment_region, runs_tell_what_is_usual)
{
    const struct observation rows[] = {{.problem_size = 30, .executors = 5, .duration_s = 9},
                                       {.problem_size = 20, .executors = 10, .duration_s = 9}};
    struct experiment_bounds bounds = any();
    struct experiment_region region = make(&bounds, rows, 2, true);
    const double sizes[] = {20, 30};
    expect_values(region.problem_sizes, region.n_sizes, sizes, 2);
    cr_expect_eq(region.problem_size, 30);
    cr_expect_eq(region.max_executors, 20);
    const double counts[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20};
    double got[32];
    size_t n = 0;
    for (size_t i = 0; i < region.n_allowed; i++)
        if (region.allowed[i].problem_size < 25)
            got[n++] = region.allowed[i].executors;
    expect_values(got, n, counts, 11);
    bounds.problem_size = 80;
    region = make(&bounds, rows, 2, true);
    cr_expect_eq(region.problem_sizes[region.n_sizes - 1], 80);
}

/* Problem sizes may be gigabytes: where runs had more executors than size, the next may have. */
Test(experiment_region, sizes_smaller_than_executors_are_taken_from_runs_that_had_them)
{
    const struct observation rows[] = {{.problem_size = 4, .executors = 12, .duration_s = 9}};
    struct experiment_bounds bounds = any();
    struct experiment_region region = make(&bounds, rows, 1, true);
    bool found = false;
    for (size_t i = 0; i < region.n_allowed; i++)
        found = found || region.allowed[i].executors > region.allowed[i].problem_size;
    cr_expect(found);
}

Test(experiment_region, bounds_and_steps_are_kept)
{
    const double given[] = {40, 10};
    const double executors[] = {4, 6};
    struct experiment_bounds bounds = any();
    bounds.problem_size = 40;
    bounds.problem_sizes = given;
    bounds.n_sizes = 2;
    bounds.min_executors = 2;
    bounds.max_executors = 9;
    bounds.executors_step = 3;
    bounds.executors = executors;
    bounds.n_executors = 2;
    struct experiment_region region = make(&bounds, NULL, 0, false);
    cr_assert_eq(region.n_allowed, 6);
    const double counts[] = {2, 5, 8};
    for (size_t i = 0; i < 6; i++) {
        cr_expect_eq(region.allowed[i].problem_size, i < 3 ? 10 : 40);
        cr_expect_eq(region.allowed[i].executors, counts[i % 3]);
    }
    cr_assert_eq(region.n_asked, 2);
    cr_expect_eq(region.asked[1].executors, 6);
}

Test(experiment_region, what_cannot_be_is_refused_by_name)
{
    struct experiment_bounds bounds = any();
    refuse(&bounds, "problem_size");
    bounds.problem_size = 64;
    bounds.min_executors = 9;
    bounds.max_executors = 8;
    refuse(&bounds, "min_executors");
    bounds.min_executors = 1;
    bounds.max_executors = 1000;
    bounds.executors_step = 1;
    refuse(&bounds, "executors_step"); /* 3 x 1000 */
    bounds.points_max = 999;
    refuse(&bounds, "executors_step");
    const double sizes[] = {1, 2, 3};
    bounds.points_max = 2000;
    bounds.problem_sizes = sizes;
    bounds.n_sizes = 3;
    refuse(&bounds, "problem_sizes");
}

/* A count that has to be allowed, as the one that is recommended, is not asked about alone; a range
 * that is given keeps it out. */
Test(experiment_region, a_count_can_be_included)
{
    const struct observation rows[] = {{.problem_size = 64, .executors = 2, .duration_s = 9},
                                       {.problem_size = 64, .executors = 4, .duration_s = 5}};
    struct experiment_bounds bounds = any();
    bounds.executors_included = 21;
    struct experiment_region region = make(&bounds, rows, 2, true);
    cr_expect_eq(region.max_executors, 21);
    cr_expect_float_eq(region.allowed[region.n_allowed - 1].executors, 21, 1e-12);
    cr_expect_gt(region.n_asked, 1);
    bounds.max_executors = 8;
    region = make(&bounds, rows, 2, true);
    cr_expect_eq(region.max_executors, 8);
    cr_expect_float_eq(region.allowed[region.n_allowed - 1].executors, 8, 1e-12);
}
