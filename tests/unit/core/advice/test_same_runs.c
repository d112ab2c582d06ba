/* Runs of the very configuration asked for bound what may be promised there. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "core/advice/curve.h"
#include "core/advice/same_runs.h"

static struct arena arena;

static void start(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(same_runs, .init = start, .fini = end);

static double durations_s[] = {100, 110, 120};
static double weights[] = {1, 1, 1};

Test(same_runs, late_runs_cap_the_probability_by_counting)
{
    struct same_runs runs = {durations_s, weights, 1};
    cr_expect_float_eq(same_runs_probability(&runs, 99), 0.25, 1e-12, "0 of 1");
    cr_expect_float_eq(same_runs_probability(&runs, 100), 1, 0, "1 of 1");
    runs.n = 2;
    cr_expect_float_eq(same_runs_probability(&runs, 99), 1 / 6.0, 1e-12, "0 of 2");
    cr_expect_float_eq(same_runs_probability(&runs, 105), 0.5, 1e-12, "1 of 2");
    runs.n = 3;
    cr_expect_float_eq(same_runs_probability(&runs, 119), 0.625, 1e-12, "2 of 3");
    cr_expect_float_eq(same_runs_probability(&runs, 120), 1, 0, "3 of 3");
    cr_expect_float_eq(same_runs_probability(NULL, 1), 1, 0);
}

Test(same_runs, runs_that_count_less_cap_less)
{
    double half[] = {0.5, 0.5};
    struct same_runs runs = {durations_s, half, 2};
    cr_expect_float_eq(same_runs_probability(&runs, 99), 0.25, 1e-12);
    cr_expect_float_eq(same_runs_probability(&runs, 105), 0.5, 1e-12);
}

Test(same_runs, quantiles_are_the_inverse)
{
    struct same_runs runs = {durations_s, weights, 3};
    cr_expect_float_eq(same_runs_quantile(&runs, 0.12), 0, 0, "0 of 3 are allowed 1/8");
    cr_expect_float_eq(same_runs_quantile(&runs, 0.13), 100, 0);
    cr_expect_float_eq(same_runs_quantile(&runs, 0.37), 100, 0);
    cr_expect_float_eq(same_runs_quantile(&runs, 0.38), 110, 0);
    cr_expect_float_eq(same_runs_quantile(&runs, 0.62), 110, 0);
    cr_expect_float_eq(same_runs_quantile(&runs, 0.99), 120, 0);
    cr_expect_float_eq(same_runs_quantile(NULL, 0.99), 0, 0);
}

/* Probability, quantile and interval of a point stay one distribution. */
Test(same_runs, a_curve_gives_the_lesser_of_both)
{
    struct same_runs runs = {durations_s, weights, 2};
    struct curve_point point = {.executors = 4, .duration_s = 90, .spread = 0.05, .ran = &runs};
    struct curve_point free = point;
    struct curve curve = {.points = &point, .n_points = 1, .freedom = 8};
    double ends_s[2];
    free.ran = NULL;
    cr_expect_gt(curve_probability(&curve, &free, 99.9), 0.9);
    cr_expect_float_eq(curve_probability(&curve, &point, 99.9), 1 / 6.0, 1e-12);
    cr_expect_float_eq(curve_probability(&curve, &point, 105), 0.5, 1e-12);
    cr_expect_float_eq(curve_probability(&curve, &point, 80), curve_probability(&curve, &free, 80),
                       1e-12, "the prediction promises less than counting allows");
    cr_expect_float_eq(curve_probability(&curve, &point, 110),
                       curve_probability(&curve, &free, 110), 1e-12, "both runs were in time");
    cr_expect_float_eq(curve_quantile(&curve, &point, 0.9), 110, 0);
    cr_expect_float_eq(curve_quantile(&curve, &point, 0.05), curve_quantile(&curve, &free, 0.05),
                       1e-12);
    curve_interval(&curve, &point, 0.9, ends_s);
    cr_expect_float_eq(ends_s[0], curve_quantile(&curve, &free, 0.05), 1e-9);
    cr_expect_float_eq(ends_s[1], 110, 0);
    point.duration_s = 150;
    curve_interval(&curve, &point, 0.9, ends_s);
    free.duration_s = 150;
    cr_expect_float_eq(ends_s[1], curve_quantile(&curve, &free, 0.95), 1e-9);
}

enum { ROWS = 11 };

/* Of 64 blocks on 4 executors with 2 cores; each of the others differs in one thing. */
Test(same_runs, only_runs_of_the_configuration_count)
{
    struct observation rows[ROWS];
    struct run_evidence evidence[ROWS];
    const struct same_runs_of four = {64, 4, 2}, eight = {64, 8, 2}, sixteen = {64, 16, 2};
    const struct same_runs *ran;
    struct run_observations seen = {.rows = rows, .evidence = evidence, .n = ROWS};
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = model_seen(64, 4, 100.0 - (double)i, (double)NAN);
        evidence[i] = (struct run_evidence){
            .replayable = true, .cores_per_executor = 2, .executors_share = (double)NAN};
    }
    rows[1].problem_size = 64.3; /* within 1 percent */
    rows[1].weight = 0.5;
    rows[2].problem_size = 70;
    rows[3].executors = 8;
    rows[4].context = 2;
    evidence[5].cores_per_executor = 4;
    evidence[6].dynamic_allocation = true;
    rows[7].problem_size = 32;
    rows[8].executors = 5;
    evidence[9].dynamic_allocation = evidence[10].dynamic_allocation = true;
    evidence[9].executors_share = 0.8;
    evidence[10].executors_share = 0.7; /* fewer for too long */
    cr_assert_eq(same_runs_find(&seen, &four, &arena, &ran, NULL), PV_OK);
    cr_assert_not_null(ran);
    cr_assert_eq(ran->n, 3);
    cr_expect_float_eq(ran->durations_s[0], 91, 0, "with dynamic allocation");
    cr_expect_float_eq(ran->durations_s[1], 99, 0);
    cr_expect_float_eq(ran->durations_s[2], 100, 0);
    cr_expect_float_eq(ran->weights[1], 0.5, 0);
    cr_expect_float_eq(ran->weights[2], 1, 0);
    cr_assert_eq(same_runs_find(&seen, &eight, &arena, &ran, NULL), PV_OK);
    cr_assert_not_null(ran);
    cr_expect_eq(ran->n, 1);
    cr_assert_eq(same_runs_find(&seen, &sixteen, &arena, &ran, NULL), PV_OK);
    cr_expect_null(ran);
}
