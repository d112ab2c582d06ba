/* Growth with the scale-out degree, refitted, and the step of two lines, by hand. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "core/scaling/laws/ipso/growth_law.h"
#include "core/scaling/laws/ipso/ipso_step.h"

static struct arena arena;

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(growth_law, .init = set_up, .fini = tear_down);

static struct growth refit(enum growth_form form, const double n[], const double y[], size_t rows)
{
    const struct growth near = {.form = form, .exponent = 0.5};
    struct growth growth;
    struct pv_error err = {0};
    cr_assert_eq(growth_refit(n, y, rows, &near, &arena, &growth, &err), PV_OK, "%s", err.detail);
    return growth;
}

/* 1 and 3 at ln n = 0 and 2 are a constant of 2, off by 1 twice: a variance of 2, and of the exponent
 * 2 / (2^2 x 2). One count, or values whose mean is not above 0, say nothing of an exponent. */
Test(growth_law, a_constant_says_how_flat_it_is)
{
    const double n[] = {1, exp(2)};
    const double same[] = {4, 4};
    struct growth growth = refit(GROWTH_CONSTANT, n, (const double[]){1, 3}, 2);
    cr_expect_float_eq(growth.at_one, 2, 1e-12);
    cr_expect_float_eq(growth.rss, 2, 1e-12);
    cr_expect_eq(growth.freedom, 1);
    cr_expect_float_eq(growth.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT], 0.25, 1e-12);
    cr_expect_float_eq(growth.covariance[GROWTH_AT_ONE][GROWTH_COEFFICIENT], 1, 1e-12);
    growth = refit(GROWTH_CONSTANT, same, (const double[]){1, 3}, 2);
    cr_expect_eq(growth.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT], 0);
    growth = refit(GROWTH_CONSTANT, n, (const double[]){-1, 1}, 2);
    cr_expect_eq(growth.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT], 0);
    growth = refit(GROWTH_CONSTANT, n, (const double[]){-3, -1}, 2);
    cr_expect_eq(growth.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT], 0);
}

/* 3 n^0.5 beyond a start of 2. With one count beyond, or without the start, a power is left. What lies
 * beside the rows is not read. */
Test(growth_law, an_anchor_needs_two_counts_beyond_it)
{
    const double n[] = {0.5, 1, 2, 4, 8};
    const double twice[] = {0.5, 1, 2, 2, 8};
    const double y[] = {99, 2, 3 * sqrt(2), 6, 3 * sqrt(8)};
    struct growth growth = refit(GROWTH_ANCHORED, n + 1, y + 1, 3);
    cr_expect_eq(growth.form, GROWTH_ANCHORED);
    cr_expect_float_eq(growth.at_one, 2, 1e-9);
    cr_expect_float_eq(growth.coefficient, 3, 1e-6);
    cr_expect_float_eq(growth.exponent, 0.5, 1e-6);
    growth = refit(GROWTH_ANCHORED, n + 1, y + 1, 2);
    cr_expect_eq(growth.form, GROWTH_POWER);
    cr_expect_float_eq(growth.at_one, 2, 1e-6);
    cr_expect_float_eq(growth.exponent, log2(1.5 * sqrt(2)), 1e-6);
    growth = refit(GROWTH_ANCHORED, twice + 1, y + 1, 3);
    cr_expect_eq(growth.form, GROWTH_POWER);
    growth = refit(GROWTH_ANCHORED, n + 2, y + 2, 3);
    cr_expect_eq(growth.form, GROWTH_POWER);
    cr_expect_float_eq(growth.at_one, 3, 1e-6);
    cr_expect_float_eq(growth.exponent, 0.5, 1e-6);
}

/* Two lines of four counts each, 20 apart, that leave 8 / 16. Of eight rows two lines take five numbers
 * and one curve three, so the F of 2 and 3 degrees exceeds that of the step by (left by two lines / left
 * by one curve)^1.5; three places were tried. */
Test(growth_law, a_step_is_as_unlikely_as_the_f_test_says)
{
    static const double off[] = {0.25, -0.25, -0.25, 0.25};
    double n[8], y[8];
    for (size_t i = 0; i < 8; i++) {
        n[i] = (double)i + 1;
        y[i] = (i < 4 ? 10 : 30) + n[i] + off[i % 4];
    }
    struct growth plain, bent;
    struct step step;
    cr_assert_eq(growth_fit(n, y, 8, &arena, &plain, NULL), PV_OK);
    cr_assert_eq(growth_fit_bent(n, y, 8, &arena, &bent, NULL), PV_OK);
    cr_assert_eq(step_find(n, y, 8, &arena, &step, NULL), PV_OK);
    cr_assert(step.found);
    cr_expect_eq(step.at, 4.5);
    cr_expect_float_eq(step.jump_percent, 100 * 20 / 14.5, 1e-9);
    double expected = 3 * pow(0.5 / fmin(plain.rss, bent.rss), 1.5);
    cr_expect_float_eq(step.p_value, expected, 1e-6 * expected, "%g, not %g", step.p_value,
                       expected);
}

static struct step refit_step(const double n[], const double y[], size_t rows, double first_after)
{
    struct step step = {.found = true,
                        .first_after = first_after,
                        .before = {.offset = -1, .slope = -2},
                        .after = {.offset = -3, .slope = -4}};
    step_refit(n, y, rows, &step);
    return step;
}

/* 1 + 2 n below three, 10 + 5 n from there on. A side of one row, or of one count, leaves both lines. */
Test(growth_law, lines_of_a_step_are_fitted_again)
{
    const double y[] = {3, 5, 25, 30};
    struct step step = refit_step((const double[]){1, 2, 3, 4}, y, 4, 3);
    cr_expect_float_eq(step.before.offset, 1, 1e-12);
    cr_expect_float_eq(step.before.slope, 2, 1e-12);
    cr_expect_float_eq(step.after.offset, 10, 1e-12);
    cr_expect_float_eq(step.after.slope, 5, 1e-12);
    static const double left[][5] = {
        {1, 2, 3, 4, 2}, {1, 2, 3, 4, 4}, {1, 2, 3, 4, 5}, {1, 1, 3, 4, 3}, {1, 2, 3, 3, 3}};
    for (size_t i = 0; i < 5; i++) {
        step = refit_step(left[i], y, 4, left[i][4]);
        cr_expect(step.before.offset == -1 && step.before.slope == -2, "%zu", i);
        cr_expect(step.after.offset == -3 && step.after.slope == -4, "%zu", i);
    }
}

/* 10 + n at one to four, off by 1, -1, -1 and 1: a variance of 2 and (X'X)^-1 of 1.5, -0.5 and 0.2. The
 * exponent is as sure as that of n ln n beside the line: of that column `square` lies across the line,
 * and `along` of it along the errors. */
Test(growth_law, a_line_says_how_sure_it_is)
{
    const double n[] = {1, 2, 3, 4};
    const double y[] = {12, 11, 12, 15};
    struct growth growth = refit(GROWTH_LINE, n, y, 4);
    double along = -2 * log(2) - 3 * log(3) + 4 * log(4);
    double wave = 3 * 2 * log(2) - 3 * 3 * log(3) + 4 * log(4);
    double square = along * along / 4 + wave * wave / 20;
    cr_expect_float_eq(growth.at_one, 11, 1e-12);
    cr_expect_float_eq(growth.offset, 10, 1e-12);
    cr_expect_float_eq(growth.coefficient, 1, 1e-12);
    cr_expect_eq(growth.freedom, 2);
    cr_expect_float_eq(growth.rss, 4, 1e-12);
    cr_expect_float_eq(growth.bic, 2 * log(4), 1e-12);
    cr_expect_float_eq(growth.covariance[GROWTH_AT_ONE][GROWTH_AT_ONE], 1.4, 1e-9);
    cr_expect_float_eq(growth.covariance[GROWTH_AT_ONE][GROWTH_COEFFICIENT], -0.6, 1e-9);
    cr_expect_float_eq(growth.covariance[GROWTH_COEFFICIENT][GROWTH_AT_ONE], -0.6, 1e-9);
    cr_expect_float_eq(growth.covariance[GROWTH_COEFFICIENT][GROWTH_COEFFICIENT], 0.4, 1e-9);
    cr_expect_float_eq(growth.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT],
                       (4 - along * along / square) / square, 1e-9);
    growth = refit(GROWTH_LINE, n, y, 3);
    cr_expect_eq(growth.freedom, 1);
    cr_expect(isnan(growth.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT]));
    growth = refit(GROWTH_LINE, n, y, 2);
    cr_expect_eq(growth.freedom, 0);
    cr_expect(isnan(growth.covariance[GROWTH_COEFFICIENT][GROWTH_COEFFICIENT]));
}

/* Starts of 2 and 4, then about 3 n^0.5: the power of the others alone, and the mean of the starts, which
 * is off by 1 twice. */
Test(growth_law, an_anchored_curve_is_the_mean_and_a_power)
{
    const double n[] = {1, 1, 2, 4, 9, 16};
    const double y[] = {2, 4, 4.3, 5.9, 9.1, 11.9};
    struct growth power = refit(GROWTH_POWER, n + 2, y + 2, 4);
    struct growth growth = refit(GROWTH_ANCHORED, n, y, 6);
    cr_expect_eq(growth.at_one, 3);
    cr_expect_float_eq(growth.coefficient, power.coefficient, 1e-12);
    cr_expect_float_eq(growth.exponent, power.exponent, 1e-12);
    cr_expect_float_eq(growth.rss, power.rss + 2, 1e-12);
    cr_expect_float_eq(growth.bic, 6 * log(growth.rss / 6) + 3 * log(6), 1e-12);
    cr_expect_float_eq(power.bic, 4 * log(power.rss / 4) + 2 * log(4), 1e-12);
    cr_expect_float_eq(growth.covariance[GROWTH_AT_ONE][GROWTH_AT_ONE], power.rss / 2 / 2, 1e-9);
    cr_expect_eq(growth.covariance[GROWTH_AT_ONE][GROWTH_EXPONENT], 0);
    cr_expect_eq(growth.covariance[GROWTH_COEFFICIENT][GROWTH_AT_ONE], 0);
    cr_expect_float_eq(growth.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT],
                       power.covariance[GROWTH_EXPONENT][GROWTH_EXPONENT], 1e-12);
}

Test(growth_law, a_bent_line_needs_four_rows_at_three_counts)
{
    const double n[] = {1, 4, 9, 16};
    const double y[] = {7, 5 + 2 * 8, 5 + 2 * 27, 5 + 2 * 64};
    const double twice[] = {1, 1, 9, 9};
    struct growth growth;
    struct pv_error err = {0};
    cr_assert_eq(growth_fit_bent(n, y, 4, &arena, &growth, &err), PV_OK);
    cr_expect_eq(growth.form, GROWTH_BENT);
    cr_expect_eq(growth.freedom, 1);
    cr_expect_float_eq(growth.at_one, 7, 1e-6);
    cr_expect_float_eq(growth.offset, 5, 1e-6);
    cr_expect_float_eq(growth.coefficient, 2, 1e-6);
    cr_expect_float_eq(growth.exponent, 1.5, 1e-6);
    cr_expect_eq(growth_fit_bent(n, y, 3, &arena, &growth, &err), PV_E_TOO_FEW);
    pv_error_clear(&err);
    cr_expect_eq(growth_fit_bent(twice, y, 4, &arena, &growth, &err), PV_E_TOO_FEW);
}
