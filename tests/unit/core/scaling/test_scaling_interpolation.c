/* Interpolation: what was measured, in between and beyond it; where it may be used. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

static struct arena arena;

static void start(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_interpolation, .init = start, .fini = end);

static struct model_fit fit_rows(const struct observation rows[], size_t n)
{
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(model_fit(&interpolation_kind, rows, n, MODEL_SECONDS, &arena, &fit, &err), PV_OK,
                 "%s", err.detail);
    return fit;
}

static double predict(const struct model_fit *fit, double size, double m)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction there;
    model_predict(&fit->model, &none, size, m, &there);
    return there.duration_s;
}

/* A power of m and of N is a straight line in logarithms: exact in between, and nearly so beyond the
 * ends, where the exponents of three places are moved a little towards usual ones. */
Test(scaling_interpolation, powers_are_exact_in_between)
{
    struct observation rows[9];
    for (size_t i = 0; i < 9; i++) {
        double size = exp2((double)(4 + i / 3));
        double m = exp2((double)(i % 3));
        rows[i] = model_seen(size, m, 7 * pow(size, 0.8) * pow(m, -0.6), (double)NAN);
    }
    struct model_fit fit = fit_rows(rows, 9);
    for (double size = 3; size < 500; size *= 1.7)
        for (double m = 1; m < 40; m *= 1.4) {
            bool between = size >= 16 && size <= 64 && m <= 4;
            double exact = 7 * pow(size, 0.8) * pow(m, -0.6);
            cr_expect_float_eq(predict(&fit, size, m), exact, (between ? 1e-9 : 0.03) * exact,
                               "%g on %g: %g, not %g", size, m, predict(&fit, size, m), exact);
        }
    cr_expect_lt(fit.mape_percent, 1e-9);
    cr_expect_lt(fit.loo_mape_percent, 3); /* six of nine cells are at an end of their curve */
}

/* Lines between the medians of repetitions; an outlier moves nothing. */
Test(scaling_interpolation, medians_of_cells_are_joined)
{
    const struct observation rows[] = {
        model_seen(8, 2, 100, (double)NAN), model_seen(8, 2, 101, (double)NAN),
        model_seen(8, 2, 900, (double)NAN), model_seen(8, 8, 50, (double)NAN),
        model_seen(8, 8, 49, (double)NAN),  model_seen(8, 8, 51, (double)NAN)};
    struct model_fit fit = fit_rows(rows, 6);
    cr_expect_float_eq(predict(&fit, 8, 2), 101, 1e-9);
    cr_expect_float_eq(predict(&fit, 8, 8), 50, 1e-9);
    cr_expect_float_eq(predict(&fit, 8, 4), sqrt(101 * 50), 1e-9, "half way in logarithms");
    /* Beyond, the exponent is that of the segment, of the regression and the usual one together. */
    double apart = log(4);
    double segment = log(50.0 / 101) / apart;
    double regression = (apart * apart / 2 * segment - 0.02 * 0.7) / (apart * apart / 2 + 0.02);
    double exponent = (apart * apart * segment + 0.02 * regression) / (apart * apart + 0.02);
    cr_expect_float_eq(predict(&fit, 8, 32), 50 * pow(4, exponent), 1e-9);
    /* A lone size: 16 on 4 executors is as 8 on 2, and what executors do not share grows. */
    double rest = sqrt(101 * 50) * (1 + segment);
    cr_expect_float_eq(predict(&fit, 16, 4), 101 + rest * (pow(2, 0.4) - 1), 1e-3);
    cr_expect_str_eq(fit.warnings.items[0].code, "contradicting_observations");
    cr_expect_eq(finding_value(&fit.warnings.items[0], "count"), 3);
    cr_expect_str_eq(fit.warnings.items[1].code, "one_problem_size");
}

/* A run that counts less moves the median less: of 10, 20, 40 with weights 0.2, 0.2, 1 it is 40. */
Test(scaling_interpolation, weights_move_medians)
{
    struct observation rows[] = {
        model_seen(8, 2, 10, (double)NAN), model_seen(8, 2, 20, (double)NAN),
        model_seen(8, 2, 40, (double)NAN), model_seen(8, 8, 50, (double)NAN),
        model_seen(8, 4, 60, (double)NAN)};
    struct model_fit even = fit_rows(rows, 5);
    cr_expect_float_eq(predict(&even, 8, 2), 20, 1e-9);
    rows[0].weight = rows[1].weight = 0.2;
    struct model_fit weighted = fit_rows(rows, 5);
    cr_expect_float_eq(predict(&weighted, 8, 2), 40, 1e-9);
}

static size_t repeat(double size, double m, double seconds, double noise, struct observation rows[])
{
    for (size_t i = 0; i < 3; i++)
        rows[i] = model_seen(size, m, seconds * (1 + noise * ((double)i - 1)), (double)NAN);
    return 3;
}

/* 99.5 s on 8 executors after 99 s on 4 is noise where repetitions differ by 5 %, and a finding
 * where they differ by 0.01 %. */
Test(scaling_interpolation, bumps_within_noise_are_levelled)
{
    static const double noises[2] = {0.05, 0.0001};
    for (size_t k = 0; k < 2; k++) {
        struct observation rows[12];
        size_t n = repeat(8, 2, 180, noises[k], rows);
        n += repeat(8, 4, 99, noises[k], &rows[n]);
        n += repeat(8, 8, 99.5, noises[k], &rows[n]);
        n += repeat(8, 16, 60, noises[k], &rows[n]);
        struct model_fit fit = fit_rows(rows, n);
        if (k == 0)
            cr_expect_float_eq(predict(&fit, 8, 4), predict(&fit, 8, 8), 1e-9);
        else
            cr_expect_float_eq(predict(&fit, 8, 8), 99.5, 1e-9);
    }
}

/* What rises beyond noise stays, and is the peak. */
Test(scaling_interpolation, a_rise_is_kept_and_told)
{
    struct observation rows[12];
    size_t n = repeat(64, 2, 180, 0.01, rows);
    n += repeat(64, 4, 99, 0.01, &rows[n]);
    n += repeat(64, 8, 70, 0.01, &rows[n]);
    n += repeat(64, 16, 95, 0.01, &rows[n]);
    struct model_fit fit = fit_rows(rows, n);
    cr_expect_eq(fit.peak.executors, 8);
    cr_expect_gt(predict(&fit, 64, 32), 95);
}

/* Left out is what a fit to the others says: of repeated and lone cells, of sizes that keep a curve
 * and of one that loses it. */
Test(scaling_interpolation, left_out_is_a_fit_without)
{
    struct observation rows[24];
    struct observation rest[24];
    size_t n = 0;
    for (size_t s = 0; s < 3; s++) {
        n += repeat(exp2((double)(4 + s)), 2, 80 + 50 * (double)s, 0.03, &rows[n]);
        n += repeat(exp2((double)(4 + s)), 4, 70 + 40 * (double)s, 0.02, &rows[n]);
    }
    rows[n++] = model_seen(16, 8, 71, (double)NAN);
    rows[n++] = model_seen(128, 4, 300, (double)NAN);
    rows[n++] = model_seen(128, 8, 250, (double)NAN);
    rows[n++] = model_seen(512, 8, 900, (double)NAN);
    rows[2].weight = 0.3;
    rows[n - 4].weight = 0.5;
    struct model_fit fit = fit_rows(rows, n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        for (size_t j = 0; j < n; j++)
            if (j != i)
                rest[k++] = rows[j];
        struct model_fit without = fit_rows(rest, k);
        double expected = predict(&without, rows[i].problem_size, rows[i].executors);
        cr_expect_float_eq(fit.residuals[i].left_out, expected, 1e-9 * expected, "row %zu", i);
    }
}

Test(scaling_interpolation, scattered_runs_are_refused)
{
    struct observation rows[8];
    struct model_fit fit;
    struct pv_error err = {0};
    for (size_t i = 0; i < 8; i++)
        rows[i] = model_seen(10 + (double)i, 1 + (double)i, 100, (double)NAN);
    rows[1].problem_size = 10;
    cr_expect_eq(model_fit(&interpolation_kind, rows, 8, MODEL_SECONDS, &arena, &fit, &err),
                 PV_E_TOO_FEW);
    cr_expect(strstr(err.detail, "25 %") != NULL, "%s", err.detail);
}
