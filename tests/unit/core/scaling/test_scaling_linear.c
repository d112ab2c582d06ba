/* Least squares, its nonnegative sister and the startup curve, each against a slower way. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/numerics/least_squares.h"
#include "core/numerics/nnls.h"
#include "core/numerics/nonnegative.h"
#include "core/scaling/laws/startup_overhead.h"

enum { N = 12, K = 4 };

static double draw(struct rng *rng, double low, double high)
{
    return low + (high - low) * rng_uniform(rng);
}

static void make_problem(struct rng *rng, double x[N * K], double y[N], double w[N])
{
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < K; j++)
            x[i * K + j] = j == 0 ? 1 : draw(rng, -1, 3);
        y[i] = draw(rng, -2, 5);
        w[i] = draw(rng, 0.5, 2);
    }
}

/* A line through (0,1) (1,3) (2,4) (3,8): by hand slope 2.2, intercept 0.7, rss 1.8, so that the
 * variance is 0.9, var(slope) = 0.9/5 and var(intercept) = 0.9 (1/4 + 1.5^2/5). */
Test(scaling_linear, line_by_hand)
{
    static const double x[] = {1, 0, 1, 1, 1, 2, 1, 3};
    static const double y[] = {1, 3, 4, 8};
    struct arena arena;
    struct linear_fit fit;
    arena_init(&arena, 0);
    cr_assert_eq(linear_fit(x, 4, 2, y, NULL, &arena, &fit, NULL), PV_OK);
    cr_expect_float_eq(fit.coefficients[0], 0.7, 1e-12);
    cr_expect_float_eq(fit.coefficients[1], 2.2, 1e-12);
    cr_expect_float_eq(fit.rss, 1.8, 1e-12);
    cr_expect_float_eq(fit.variance * fit.inverse[1][1], 0.9 / 5, 1e-12);
    cr_expect_float_eq(fit.variance * fit.inverse[0][0], 0.9 * (0.25 + 2.25 / 5), 1e-12);
    cr_expect_float_eq(fit.leverage[0], 0.25 + 2.25 / 5, 1e-12);
    arena_fini(&arena);
}

/* What rounding makes of a coefficient that is 0: no bound is left by it. */
Test(scaling_linear, a_coefficient_that_is_0_is_not_below_it)
{
    enum { ROWS = 36 };
    double x[ROWS * K], y[ROWS];
    struct nonnegative_fit fit;
    for (int start = 1; start <= 60; start++) {
        size_t n = 0;
        for (int size = 8; size <= 32; size *= 2)
            for (int m = 1; m <= 8; m *= 2)
                for (int again = 0; again < 3; again++, n++) {
                    const double row[K] = {1, size / (double)m, log(m), m};
                    memcpy(&x[n * K], row, sizeof row);
                    y[n] = start + 30.0 * size / m + 2 * m;
                }
        struct arena arena;
        arena_init(&arena, 0);
        cr_assert_eq(nonnegative_fit(x, ROWS, K, y, NULL, &arena, NULL, &fit, NULL), PV_OK);
        for (size_t j = 0; j < K; j++)
            cr_expect_geq(fit.b[j], 0, "%d: %g", start, fit.b[j]);
        arena_fini(&arena);
    }
}

/* Student's t with 1 degree of freedom is Cauchy's law: P(|t| > 1) = 1/2. With 2: 1 -
 * t/sqrt(2+t^2).
 */
Test(scaling_linear, p_values_by_formula)
{
    cr_expect_float_eq(linear_p_value(-3, 3, 1), 0.5, 1e-12);
    cr_expect_float_eq(linear_p_value(2, 1, 2), 1 - 2 / sqrt(6), 1e-12);
    cr_expect(isnan(linear_p_value(2, 0, 2)));
    cr_expect(isnan(linear_p_value(2, 1, 0)));
}

/* The closed form of a row left out is what a fit without it says. */
Test(scaling_linear, left_out_equals_refit)
{
    struct rng rng = rng_make(7, 0);
    for (size_t round = 0; round < 20; round++) {
        double x[N * K];
        double y[N];
        double w[N];
        struct arena arena;
        struct linear_fit all;
        struct linear_fit rest;
        arena_init(&arena, 0);
        make_problem(&rng, x, y, w);
        cr_assert_eq(linear_fit(x, N, K, y, w, &arena, &all, NULL), PV_OK);
        for (size_t i = 0; i < N; i++) {
            double kept = w[i];
            w[i] = 0;
            cr_assert_eq(linear_fit(x, N, K, y, w, &arena, &rest, NULL), PV_OK);
            w[i] = kept;
            double predicted = 0;
            for (size_t j = 0; j < K; j++)
                predicted += x[i * K + j] * rest.coefficients[j];
            cr_expect_float_eq(linear_left_out(&all, y, i), predicted, 1e-9);
        }
        arena_fini(&arena);
    }
}

/* A column twice, one that is zero, fewer rows than columns. */
Test(scaling_linear, dependent_columns_are_refused)
{
    static const double twice[] = {1, 2, 2, 4, 3, 6};
    static const double zero[] = {1, 0, 2, 0, 3, 0};
    static const double y[] = {1, 2, 3};
    struct arena arena;
    struct linear_fit fit;
    arena_init(&arena, 0);
    cr_expect_eq(linear_fit(twice, 3, 2, y, NULL, &arena, &fit, NULL), PV_E_SINGULAR);
    cr_expect_eq(linear_fit(zero, 3, 2, y, NULL, &arena, &fit, NULL), PV_E_SINGULAR);
    cr_expect_eq(linear_fit(twice, 1, 2, y, NULL, &arena, &fit, NULL), PV_E_SINGULAR);
    arena_fini(&arena);
}

/* Kuhn-Tucker: b >= 0, gradient 0 where b > 0 and not positive elsewhere: necessary and sufficient,
 * the problem being convex. */
static void expect_optimal(const double x[], const double y[], const double w[], const double b[])
{
    for (size_t j = 0; j < K; j++) {
        double gradient = 0;
        for (size_t i = 0; i < N; i++) {
            double residual = y[i];
            for (size_t c = 0; c < K; c++)
                residual -= x[i * K + c] * b[c];
            gradient += w[i] * w[i] * x[i * K + j] * residual;
        }
        cr_expect(b[j] >= 0);
        cr_expect(gradient < 1e-10, "column %zu would help: %g", j, gradient);
        if (b[j] > 0)
            cr_expect(gradient > -1e-10, "column %zu is too large: %g", j, gradient);
    }
}

Test(scaling_linear, nnls_is_optimal_on_random_problems)
{
    struct rng rng = rng_make(11, 0);
    size_t bound = 0;
    for (size_t round = 0; round < 500; round++) {
        double x[N * K];
        double y[N];
        double w[N];
        double b[K];
        bool passive[K];
        struct arena arena;
        arena_init(&arena, 0);
        make_problem(&rng, x, y, w);
        cr_assert_eq(nnls_solve(x, N, K, y, w, &arena, b, passive, NULL), PV_OK);
        expect_optimal(x, y, w, b);
        for (size_t j = 0; j < K; j++)
            bound += b[j] == 0;
        arena_fini(&arena);
    }
    cr_expect(bound > 500 && bound < 1500, "%zu of 2000 at the bound: too one-sided a test", bound);
}

/* Two equal columns: either may carry the weight, the fit is the same. */
Test(scaling_linear, nnls_stands_dependent_columns)
{
    static const double x[] = {1, 1, 2, 2, 3, 3};
    static const double y[] = {2, 4, 6};
    double b[2];
    bool passive[2];
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_eq(nnls_solve(x, 3, 2, y, NULL, &arena, b, passive, NULL), PV_OK);
    cr_expect_float_eq(b[0] + b[1], 2, 1e-12);
    arena_fini(&arena);
}

/* Closed form or not, what is left out is predicted as nnls on the other rows would. */
Test(scaling_linear, nonnegative_left_out_equals_refit)
{
    struct rng rng = rng_make(13, 0);
    for (size_t round = 0; round < 60; round++) {
        double x[N * K];
        double y[N];
        double w[N];
        double left_out[N];
        struct nonnegative_fit fit;
        struct arena arena;
        arena_init(&arena, 0);
        make_problem(&rng, x, y, w);
        enum pv_code code = nonnegative_fit(x, N, K, y, w, &arena, left_out, &fit, NULL);
        for (size_t i = 0; code == PV_OK && i < N; i++) {
            double b[K];
            bool passive[K];
            double kept = w[i];
            w[i] = 0;
            cr_assert_eq(nnls_solve(x, N, K, y, w, &arena, b, passive, NULL), PV_OK);
            w[i] = kept;
            double predicted = 0;
            for (size_t j = 0; j < K; j++)
                predicted += x[i * K + j] * b[j];
            cr_expect_float_eq(left_out[i], predicted, 1e-8);
        }
        cr_expect(code == PV_OK || code == PV_E_SINGULAR);
        arena_fini(&arena);
    }
}

/* --- startup --- */

enum { TIMES = 10 };
static const double counts[TIMES] = {1, 2, 2, 4, 8, 8, 16, 24, 32, 64};

static double off_by(const double times_s[], double t0, double epsilon, double theta)
{
    double sum = 0;
    for (size_t i = 0; i < TIMES; i++) {
        double off = times_s[i] - t0 * startup_factor(epsilon, theta, counts[i]);
        sum += off * off;
    }
    return sum;
}

Test(scaling_linear, startup_comes_back_exactly)
{
    static const double thetas[] = {3, 5.5, 16, 19.09, 40};
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t t = 0; t < sizeof thetas / sizeof *thetas; t++) {
        double times_s[TIMES];
        struct startup fit;
        for (size_t i = 0; i < TIMES; i++)
            times_s[i] = 9 * startup_factor(0.044, thetas[t], counts[i]);
        cr_assert_eq(startup_fit(counts, times_s, NULL, TIMES, &arena, NULL, &fit, NULL), PV_OK);
        cr_expect_float_eq(fit.t0_s, 9, 1e-9);
        cr_expect_float_eq(fit.epsilon, 0.044, 1e-9);
        cr_expect_float_eq(fit.theta, thetas[t], 1e-6);
        cr_expect(fit.saturates);
    }
    arena_fini(&arena);
}

/* Ten times: the time alone is one parameter, a growth the second, and where it ends the third. */
Test(scaling_linear, startup_has_the_freedom_that_its_parameters_leave)
{
    static const double epsilons[] = {0, 0.044, 0.044}, thetas[] = {16, 64, 19.09};
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t t = 0; t < 3; t++) {
        double times_s[TIMES];
        struct startup fit;
        for (size_t i = 0; i < TIMES; i++)
            times_s[i] = 9 * startup_factor(epsilons[t], thetas[t], counts[i]);
        cr_assert_eq(startup_fit(counts, times_s, NULL, TIMES, &arena, NULL, &fit, NULL), PV_OK);
        cr_expect_float_eq(fit.freedom, 9 - (double)t, 0);
        cr_expect_eq(fit.saturates, t == 2);
    }
    arena_fini(&arena);
}

/* No point of a fine grid over theta and epsilon, with the best t0 for each, is better. */
Test(scaling_linear, startup_is_the_least_of_all)
{
    struct rng rng = rng_make(17, 0);
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t round = 0; round < 30; round++) {
        double times_s[TIMES];
        struct startup fit;
        double slope = draw(&rng, -0.2, 0.6);
        for (size_t i = 0; i < TIMES; i++)
            times_s[i] = 5 + slope * fmin(counts[i], 20) + draw(&rng, -1, 1);
        cr_assert_eq(startup_fit(counts, times_s, NULL, TIMES, &arena, NULL, &fit, NULL), PV_OK);
        cr_expect(fit.epsilon >= 0 && fit.epsilon <= 1 && fit.theta >= 1 && fit.theta <= 64);
        double least = off_by(times_s, fit.t0_s, fit.epsilon, fit.theta);
        for (double theta = 1; theta <= 64; theta += 0.25) {
            for (double epsilon = 0; epsilon <= 1; epsilon += 0.01) {
                double qq = 0;
                double qt = 0;
                for (size_t i = 0; i < TIMES; i++) {
                    double q = startup_factor(epsilon, theta, counts[i]);
                    qq += q * q;
                    qt += q * times_s[i];
                }
                cr_assert(off_by(times_s, qt / qq, epsilon, theta) >= least * (1 - 1e-9));
            }
        }
    }
    arena_fini(&arena);
}

/* Rows left out: as a fit to the others says, also if the bend then moves far. Beyond the counts of the
 * others a fit has no growth. */
Test(scaling_linear, startup_left_out_equals_refit)
{
    struct rng rng = rng_make(19, 0);
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t round = 0; round < 20; round++) {
        double times_s[TIMES];
        double left_out_s[TIMES];
        struct startup fit;
        for (size_t i = 0; i < TIMES; i++)
            times_s[i] = 5 + (round == 0 ? 0.3 * fmin(counts[i], 20) : 0) + draw(&rng, -1, 1);
        cr_assert_eq(startup_fit(counts, times_s, NULL, TIMES, &arena, left_out_s, &fit, NULL),
                     PV_OK);
        for (size_t i = 0; i < (round == 0 ? TIMES : TIMES - 1); i++) {
            double m[TIMES - 1];
            double t[TIMES - 1];
            for (size_t k = 0, at = 0; k < TIMES; k++) {
                if (k == i)
                    continue;
                m[at] = counts[k];
                t[at++] = times_s[k];
            }
            cr_assert_eq(startup_fit(m, t, NULL, TIMES - 1, &arena, NULL, &fit, NULL), PV_OK);
            cr_expect_float_eq(left_out_s[i],
                               fit.t0_s * startup_factor(fit.epsilon, fit.theta, counts[i]), 1e-9,
                               "%zu, m = %g", round, counts[i]);
        }
    }
    arena_fini(&arena);
}

/* Falling times: no part that grows, and theta, which then means nothing, at its bound. */
Test(scaling_linear, startup_never_falls)
{
    double times_s[TIMES];
    struct startup fit;
    struct arena arena;
    arena_init(&arena, 0);
    double mean = 0;
    for (size_t i = 0; i < TIMES; i++) {
        times_s[i] = 50 - 0.1 * counts[i];
        mean += times_s[i] / TIMES;
    }
    cr_assert_eq(startup_fit(counts, times_s, NULL, TIMES, &arena, NULL, &fit, NULL), PV_OK);
    cr_expect_eq(fit.epsilon, 0);
    cr_expect_eq(fit.theta, 64);
    cr_expect_float_eq(fit.t0_s, mean, 1e-9);
    cr_expect_not(fit.saturates);
    arena_fini(&arena);
}

/* A count of one takes the verb of one. */
Test(scaling_linear, a_single_row_is_told_as_such)
{
    const double x[2] = {1, 2}, y[1] = {3};
    struct arena room;
    struct linear_fit fit;
    struct pv_error err = {0};
    arena_init(&room, 0);
    cr_expect_eq(linear_fit(x, 1, 2, y, NULL, &room, &fit, &err), PV_E_SINGULAR);
    cr_expect_str_eq(err.detail, "1 row does not determine 2 coefficients");
    pv_error_clear(&err);
    cr_expect_eq(linear_fit((const double[4]){1, 0, 1, 0}, 2, 2, x, NULL, &room, &fit, &err),
                 PV_E_SINGULAR);
    cr_expect_str_eq(err.detail, "a column is all zero or not finite");
    arena_fini(&room);
}
