/* The kinds of models: parameters, laws of scale, leave-one-out, guards, predictions. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

enum { ROWS = 15 };

static const double sizes[3] = {4, 16, 64};
static const double counts[5] = {1, 2, 4, 8, 16};

static struct arena arena;

static void start(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_model, .init = start, .fini = end);

static size_t index_of(const struct model_kind *kind, const char *name)
{
    for (size_t j = 0; j < kind->n_parameters; j++)
        if (strcmp(kind->rules[j].name, name) == 0)
            return j;
    cr_assert(false, "%s has no %s", kind->name, name);
    return 0;
}

static double estimate(const struct model_fit *fit, const char *name)
{
    return fit->model.parameters[index_of(fit->model.kind, name)].estimate;
}

static struct model_fit fit_rows(const struct model_kind *kind,
                                 const struct observation rows[],
                                 size_t n,
                                 enum model_weights weights)
{
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(model_fit(kind, rows, n, weights, &arena, &fit, &err), PV_OK, "%s", err.detail);
    return fit;
}

/* What a law says on the grid, off by up to +-noise of it, in a fixed pattern. */
static void make_rows(double (*duration_s)(double, double),
                      double (*initialization_s)(double),
                      double noise,
                      struct observation rows[ROWS])
{
    struct rng rng = rng_make(23, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double size = sizes[i / 5];
        double m = counts[i % 5];
        double before = initialization_s == NULL ? 0 : initialization_s(m);
        double factor = 1 + noise * (2 * rng_uniform(&rng) - 1);
        rows[i] = model_seen(size, m, before + factor * duration_s(size, m),
                             initialization_s == NULL ? (double)NAN : before);
    }
}

static double ernest_law(double size, double m)
{
    return 12 + 3.5 * size / m + 1.25 * log(m) + 0.4 * m;
}

/* T1 = 20, alpha 1.58, beta 0.05, gamma 0.01. */
static double usba_law(double size, double m)
{
    return 20 * (1 - 0.05 - 0.01 + 1.58 * log(size / m) + 0.05 * m + 0.01 * size);
}

static double usba_startup(double m)
{
    return 9 * (1 - 0.044 + 0.044 * fmin(m, 6));
}

static double scaled_law(double size, double m)
{
    return size / m * (8 + 2 * log(size / m) + 0.5 * m + 0.01 * size);
}

/* --- parameters come back --- */

Test(scaling_model, usba_without_a_unit_run_is_extrapolated)
{
    struct observation rows[ROWS];
    make_rows(usba_law, usba_startup, 0, rows);
    struct model_fit fit = fit_rows(&usba_kind, rows, ROWS, MODEL_SECONDS);
    cr_expect_eq(fit.model.reference, MODEL_EXTRAPOLATED);
    cr_expect_float_eq(estimate(&fit, "alpha"), 1.58, 1e-9);
    cr_expect_float_eq(estimate(&fit, "beta"), 0.05, 1e-9);
    cr_expect_float_eq(estimate(&fit, "gamma"), 0.01, 1e-9);
    cr_expect_float_eq(estimate(&fit, "parallel_s"), 20, 1e-8);
    cr_expect_float_eq(estimate(&fit, "initialization_s"), 9, 1e-9);
    cr_expect_float_eq(estimate(&fit, "epsilon"), 0.044, 1e-9);
    cr_expect_float_eq(estimate(&fit, "theta"), 6, 1e-6);
    cr_expect(fit.mape_percent < 1e-9 && fit.loo_mape_percent < 1e-9);
}

/* The mean of the unit runs is T1, and nothing else enters it. */
Test(scaling_model, usba_with_unit_runs_is_measured)
{
    struct observation rows[ROWS + 2];
    make_rows(usba_law, usba_startup, 0.03, rows);
    rows[ROWS] = model_seen(1, 1, 28, 9);
    rows[ROWS + 1] = model_seen(1, 1, 32, 9);
    struct model_fit fit = fit_rows(&usba_kind, rows, ROWS + 2, MODEL_SECONDS);
    const struct model_parameter *t1 = &fit.model.parameters[index_of(&usba_kind, "parallel_s")];
    cr_expect_eq(fit.model.reference, MODEL_MEASURED);
    cr_expect_float_eq(t1->estimate, 21, 1e-12);
    cr_expect_float_eq(t1->std_error, 2, 1e-12, "sqrt(8 / 2)");
}

Test(scaling_model, ernest_and_scaled_usba_come_back)
{
    struct observation rows[ROWS];
    make_rows(ernest_law, NULL, 0, rows);
    struct model_fit fit = fit_rows(&ernest_kind, rows, ROWS, MODEL_RELATIVE);
    cr_expect_float_eq(estimate(&fit, "a"), 12, 1e-9);
    cr_expect_float_eq(estimate(&fit, "b"), 3.5, 1e-9);
    cr_expect_float_eq(estimate(&fit, "c"), 1.25, 1e-9);
    cr_expect_float_eq(estimate(&fit, "d"), 0.4, 1e-9);
    make_rows(scaled_law, usba_startup, 0, rows);
    fit = fit_rows(&usba_scaled_kind, rows, ROWS, MODEL_SECONDS);
    double t1 = 8 + 0.5 + 0.01;
    cr_expect_float_eq(estimate(&fit, "parallel_s"), t1, 1e-8);
    cr_expect_float_eq(estimate(&fit, "alpha"), 2 / t1, 1e-8);
    cr_expect_float_eq(estimate(&fit, "beta"), 0.5 / t1, 1e-8);
    cr_expect_float_eq(estimate(&fit, "gamma"), 0.01 / t1, 1e-8);
}

/* Off by up to 3 %: the law's own values lie within three standard errors of the estimates, which are
 * neither exact nor lost. */
Test(scaling_model, scaled_usba_knows_its_errors)
{
    struct observation rows[ROWS];
    make_rows(scaled_law, NULL, 0.03, rows);
    struct model_fit fit = fit_rows(&usba_scaled_kind, rows, ROWS, MODEL_RELATIVE);
    static const char *const names[] = {"alpha", "beta", "gamma"};
    static const double values[] = {2 / 8.51, 0.5 / 8.51, 0.01 / 8.51};
    for (size_t k = 0; k < 3; k++) {
        const struct model_parameter *p =
            &fit.model.parameters[index_of(&usba_scaled_kind, names[k])];
        cr_expect(p->std_error > 1e-6 && p->std_error < 1, "%s: %g", names[k], p->std_error);
        cr_expect_lt(fabs(p->estimate - values[k]), 3 * p->std_error, "%s: %g +- %g", names[k],
                     p->estimate, p->std_error);
    }
}

/* alpha .. gamma, q and t0/T1 = 0.6 from exact speedups. */
Test(scaling_model, usba_comes_back_from_speedups)
{
    struct observation rows[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        double size = sizes[i / 5];
        double m = counts[i % 5];
        double below = 0.6 * (1 - 0.2 + 0.2 * fmin(m, 6)) + usba_law(size, m) / 20;
        rows[i] = model_seen_speedup(size, m, (0.6 + size) / below);
    }
    struct model_fit fit = fit_rows(&usba_kind, rows, ROWS, MODEL_SECONDS);
    cr_expect_eq(fit.model.reference, MODEL_RATIO);
    cr_expect(fit.mape_percent < 1e-4, "%g", fit.mape_percent);
    cr_expect_float_eq(estimate(&fit, "alpha"), 1.58, 1e-3);
    cr_expect_float_eq(estimate(&fit, "beta"), 0.05, 1e-3);
}

/* Initialization stops to grow between two of the counts 1, 2, 4, .., 64, with two of them beyond. */
Test(scaling_model, theta_comes_back_from_any_gap)
{
    enum { SEEN = 21 };
    for (double theta = 3; theta < 32; theta *= 2) {
        struct observation rows[SEEN];
        for (size_t i = 0; i < SEEN; i++) {
            double size = sizes[i / 7], m = (double)(1u << i % 7);
            double below = 0.6 * (1 - 0.2 + 0.2 * fmin(m, theta)) + usba_law(size, m) / 20;
            rows[i] = model_seen_speedup(size, m, (0.6 + size) / below);
        }
        struct model_fit fit = fit_rows(&usba_kind, rows, SEEN, MODEL_SECONDS);
        cr_expect_float_eq(estimate(&fit, "theta"), theta, 1e-3 * theta, "%g: %g", theta,
                           estimate(&fit, "theta"));
    }
}

/* Of the last two of 1, 4, 16 and 64 executors the growth may end anywhere between: the search starts, and
 * exact speedups leave it, at their geometric mean. */
Test(scaling_model, theta_in_the_last_gap_is_its_geometric_middle)
{
    for (size_t seen = 3; seen <= 4; seen++) {
        struct observation rows[4 * 4];
        size_t n = 0;
        double last = seen == 3 ? 16 : 64;
        for (double size = 8; size <= 512; size *= 4)
            for (double m = 1; m <= last; m *= 4) {
                double below = 0.6 * (1 - 0.5 + 0.5 * fmin(m, 0.3 * last)) + usba_law(size, m) / 20;
                rows[n++] = model_seen_speedup(size, m, (0.6 + size) / below);
            }
        struct model_fit fit = fit_rows(&usba_kind, rows, n, MODEL_SECONDS);
        cr_expect_float_eq(estimate(&fit, "theta"), last / 2, 1e-6, "%g", estimate(&fit, "theta"));
        cr_expect_lt(fit.mape_percent, 1e-9);
    }
}

static void make_speedups(double epsilon, double noise, struct observation rows[ROWS])
{
    struct rng rng = rng_make(7, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double size = sizes[i / 5];
        double m = counts[i % 5];
        double below = 0.6 * (1 - epsilon + epsilon * fmin(m, 6)) + usba_law(size, m) / 20;
        double factor = 1 + noise * (2 * rng_uniform(&rng) - 1);
        rows[i] = model_seen_speedup(size, m, factor * (0.6 + size) / below);
    }
}

/* Exact speedups tell epsilon and theta; those that are off by more than initialization weighs
 * do not, and the fit says so of the parameter. */
Test(scaling_model, epsilon_and_theta_that_the_speedups_hardly_show_are_told)
{
    struct observation rows[ROWS];
    make_speedups(0.2, 0, rows);
    struct model_fit fit = fit_rows(&usba_kind, rows, ROWS, MODEL_RELATIVE);
    cr_expect_null(finding_find(&fit.warnings, "poorly_determined"));
    make_speedups(0.2, 0.02, rows);
    fit = fit_rows(&usba_kind, rows, ROWS, MODEL_RELATIVE);
    cr_expect_null(finding_find(&fit.warnings, "poorly_determined"), "within a quarter of it");
    make_speedups(0.2, 0.05, rows);
    fit = fit_rows(&usba_kind, rows, ROWS, MODEL_RELATIVE);
    const struct finding *warning = finding_find(&fit.warnings, "poorly_determined");
    cr_assert_not_null(warning);
    cr_expect_eq(strncmp(warning->message, "epsilon is", 10), 0, "%s", warning->message);
    cr_expect_not_null(strstr(warning->message, ", so any value allowed is as good"), "%s",
                       warning->message);
    make_speedups(0.2, 0.43, rows);
    fit = fit_rows(&usba_kind, rows, ROWS, MODEL_RELATIVE);
    const struct finding *last = &fit.warnings.items[fit.warnings.n - 1];
    cr_expect_str_eq(last->code, "poorly_determined");
    cr_expect_eq(strncmp(last->message, "theta is", 8), 0, "%s", last->message);
    cr_expect(finding_find(&fit.warnings, "poorly_determined") < last, "epsilon as well");
    cr_expect_null(strstr(last->message, "any value allowed"), "%s", last->message);
}

/* Stage times that add up to more or less than the parallel time are told, with how many. */
Test(scaling_model, stage_times_that_differ_from_the_parallel_time_are_told)
{
    struct observation rows[ROWS];
    make_rows(usba_law, usba_startup, 0, rows);
    size_t known = 0;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].stages_s = (rows[i].duration_s - rows[i].initialization_s) * 1.09;
        known += rows[i].stages_s > 0;
    }
    struct model_fit fit = fit_rows(&usba_kind, rows, ROWS, MODEL_SECONDS);
    cr_expect_null(finding_find(&fit.warnings, "stage_times_differ"));
    struct model plain = fit.model;
    rows[ROWS - 1].stages_s *= 1.5;
    rows[ROWS - 2].stages_s *= 0.5;
    rows[ROWS - 3].stages_s = 0;
    fit = fit_rows(&usba_kind, rows, ROWS, MODEL_SECONDS);
    const struct finding *warning = finding_find(&fit.warnings, "stage_times_differ");
    cr_assert_not_null(warning);
    cr_expect_eq(finding_value(warning, "count"), 2);
    char counts_told[32];
    (void)snprintf(counts_told, sizeof counts_told, "in 2 of %zu runs", known - 1);
    cr_expect_not_null(strstr(warning->message, counts_told), "%s", warning->message);
    cr_expect_eq(estimate(&fit, "alpha"), plain.parameters[index_of(&usba_kind, "alpha")].estimate,
                 "only told, not fitted");
    fit = fit_rows(&ernest_kind, rows, ROWS, MODEL_SECONDS);
    cr_expect_null(finding_find(&fit.warnings, "stage_times_differ"),
                   "ernest is a law of whole durations");
}

/* Speedups of 0.1 + 0.9 m at 8 for each executor, and two at others. */
Test(scaling_model, gustafson_is_a_law_of_one_size_per_executor)
{
    static const double at[][2] = {{8, 1}, {16, 2}, {32, 4}, {64, 8}, {8, 4}, {8, 8}};
    struct observation rows[6];
    for (size_t i = 0; i < 6; i++)
        rows[i] = model_seen_speedup(at[i][0], at[i][1], 0.1 + 0.9 * at[i][1]);
    struct model_fit fit = fit_rows(&gustafson_kind, rows, 4, MODEL_SECONDS);
    cr_expect_float_eq(estimate(&fit, "eta"), 0.9, 1e-9);
    cr_expect_null(finding_find(&fit.warnings, "size_per_executor_varies"));
    fit = fit_rows(&gustafson_kind, rows, 6, MODEL_SECONDS);
    const struct finding *warning = finding_find(&fit.warnings, "size_per_executor_varies");
    cr_assert_not_null(warning);
    cr_expect_str_eq(
        warning->message,
        "gustafson is a law of one problem_size per executor; these observations hold 3");
}

Test(scaling_model, amdahl_and_gustafson_by_hand)
{
    /* a = 20, b = 180: T1 = 200, eta = 0.9. */
    struct observation durations[] = {model_seen(8, 1, 200, (double)NAN),
                                      model_seen(8, 2, 110, (double)NAN),
                                      model_seen(8, 9, 40, (double)NAN)};
    struct model_fit fit = fit_rows(&amdahl_kind, durations, 3, MODEL_SECONDS);
    cr_expect_float_eq(estimate(&fit, "eta"), 0.9, 1e-12);
    cr_expect_float_eq(estimate(&fit, "sequential_s"), 200, 1e-9);
    cr_expect_str_eq(fit.scaling_type, "IIIs,1");
    /* S = 1 + 0.8 (n - 1). */
    struct observation speedups[] = {model_seen_speedup(4, 1, 1), model_seen_speedup(8, 2, 1.8),
                                     model_seen_speedup(32, 8, 6.6)};
    fit = fit_rows(&gustafson_kind, speedups, 3, MODEL_SECONDS);
    cr_expect_float_eq(estimate(&fit, "eta"), 0.8, 1e-12);
    cr_expect_str_eq(fit.scaling_type, "It");
    /* Perfect speedup lies on the bound, which is reached and not only approached. */
    for (size_t i = 0; i < 3; i++)
        speedups[i].speedup = speedups[i].executors;
    fit = fit_rows(&amdahl_kind, speedups, 3, MODEL_SECONDS);
    cr_expect_eq(estimate(&fit, "eta"), 1);
    cr_expect_str_eq(fit.scaling_type, "Is");
}

/* --- laws --- */

/* Twice and three times as fast on four executors: relative errors are least at 30/13, which a share of
 * 68/90 gives. What is left, 1/13, has two degrees of freedom, as one executor is always as fast as
 * itself; there the speedup rises by 675/169 a unit of the share. */
Test(scaling_model, the_error_of_a_share_by_hand)
{
    const struct observation rows[] = {model_seen_speedup(8, 1, 1), model_seen_speedup(8, 4, 2),
                                       model_seen_speedup(8, 4, 3)};
    struct model_fit fit = fit_rows(&amdahl_kind, rows, 3, MODEL_RELATIVE);
    double expected = sqrt(1.0 / 13 / 2 / (13.0 / 36)) * 169 / 675;
    cr_expect_float_eq(estimate(&fit, "eta"), 68.0 / 90, 1e-6);
    cr_expect_float_eq(fit.model.parameters[0].std_error, expected, 1e-6);
    cr_expect_eq(fit.model.uncertainty.freedom, 2);
    cr_expect_float_eq(fit.model.uncertainty.residual_std, sqrt(1.0 / 26), 1e-2);
}

/* Four executors can be no more than four times as fast, nor slower than one: the share ends at 1 and at 0,
 * and of what stops at an end no error is known. */
Test(scaling_model, a_share_at_its_end_has_no_error)
{
    static const double speedups[] = {5, 0.8};
    for (size_t i = 0; i < 2; i++) {
        const struct observation rows[] = {model_seen_speedup(8, 1, 1),
                                           model_seen_speedup(8, 4, speedups[i])};
        struct model_fit fit = fit_rows(&amdahl_kind, rows, 2, MODEL_RELATIVE);
        cr_expect_eq(estimate(&fit, "eta"), i == 0 ? 1 : 0);
        cr_expect(isnan(fit.model.parameters[0].std_error), "%g",
                  fit.model.parameters[0].std_error);
    }
}

/* 20 + 80 / m on one, two and four executors, off by 1, -3 and 2 s: one degree of freedom leaves a variance
 * of 14. Those of the two coefficients are 21 and 48, together -28; the share is the second by their sum,
 * so it has 0.008^2 x 21 + 2 x 0.008 x 0.002 x 28 + 0.002^2 x 48. */
Test(scaling_model, the_error_of_a_share_of_durations_by_hand)
{
    const struct observation rows[] = {model_seen(8, 1, 101, (double)NAN),
                                       model_seen(8, 2, 57, (double)NAN),
                                       model_seen(8, 4, 42, (double)NAN)};
    struct model_fit fit = fit_rows(&amdahl_kind, rows, 3, MODEL_SECONDS);
    const struct model_parameter *p = fit.model.parameters;
    cr_expect_float_eq(estimate(&fit, "eta"), 0.8, 1e-9);
    cr_expect_float_eq(estimate(&fit, "sequential_s"), 100, 1e-9);
    cr_expect_float_eq(p[0].std_error, sqrt(0.002432), 1e-9, "%.9g", p[0].std_error);
    cr_expect_float_eq(p[1].std_error, sqrt(13), 1e-9, "%.9g", p[1].std_error);
    cr_expect_float_eq(fit.model.uncertainty.residual_std, sqrt(14), 1e-9);
}

/* All times by k: seconds by k, numbers without unit as they were. */
Test(scaling_model, scaling_all_times_scales_the_answer)
{
    static const struct model_kind *const kinds[] = {&usba_kind, &usba_scaled_kind, &ernest_kind,
                                                     &amdahl_kind, &gustafson_kind};
    for (size_t k = 0; k < 5; k++) {
        struct observation rows[ROWS];
        make_rows(usba_law, usba_startup, 0.05, rows);
        struct model_fit once = fit_rows(kinds[k], rows, ROWS, MODEL_SECONDS);
        for (size_t i = 0; i < ROWS; i++) {
            rows[i].duration_s *= 7;
            rows[i].initialization_s *= 7;
        }
        struct model_fit more = fit_rows(kinds[k], rows, ROWS, MODEL_SECONDS);
        struct model_spread a = model_spread(&once.model, 0.9);
        struct model_spread b = model_spread(&more.model, 0.9);
        struct model_prediction x;
        struct model_prediction y;
        model_predict(&once.model, &a, 100, 12, &x);
        model_predict(&more.model, &b, 100, 12, &y);
        cr_expect_float_eq(y.duration_s / x.duration_s, 7, 1e-8, "%s", kinds[k]->name);
        cr_expect_float_eq(y.interval_s[1] / x.interval_s[1], 7, 1e-5, "%s", kinds[k]->name);
        cr_expect_float_eq(more.loo_mape_percent, once.loo_mape_percent, 1e-7, "%s",
                           kinds[k]->name);
    }
}

Test(scaling_model, order_changes_no_digit)
{
    struct observation rows[ROWS];
    struct observation turned[ROWS];
    make_rows(usba_law, usba_startup, 0.05, rows);
    for (size_t i = 0; i < ROWS; i++)
        turned[i] = rows[(i * 7 + 3) % ROWS];
    struct model_fit a = fit_rows(&usba_kind, rows, ROWS, MODEL_SECONDS);
    struct model_fit b = fit_rows(&usba_kind, turned, ROWS, MODEL_SECONDS);
    for (size_t j = 0; j < usba_kind.n_parameters; j++)
        if (!isnan(a.model.parameters[j].estimate))
            cr_expect_eq(a.model.parameters[j].estimate, b.model.parameters[j].estimate);
    cr_expect_eq(a.loo_mape_percent, b.loo_mape_percent);
    for (size_t i = 0; i < ROWS; i++)
        cr_expect_eq(b.residuals[i].actual, turned[i].duration_s, "residuals in the order given");
}

/* Left out row by row, every kind predicts what a fit to the other rows predicts. Relative weights,
 * so that they are part of it. */
Test(scaling_model, left_out_equals_refit)
{
    static const struct model_kind *const kinds[] = {&usba_kind, &usba_scaled_kind, &ernest_kind,
                                                     &amdahl_kind, &gustafson_kind};
    for (size_t k = 0; k < 5; k++) {
        struct observation rows[ROWS];
        make_rows(k == 1 ? scaled_law : usba_law, usba_startup, 0.004, rows);
        struct model_fit all = fit_rows(kinds[k], rows, ROWS, MODEL_RELATIVE);
        for (size_t i = 0; i < ROWS; i++) {
            struct observation rest[ROWS - 1];
            struct model_spread none = MODEL_NO_SPREAD;
            struct model_prediction there;
            memcpy(rest, rows, i * sizeof *rest);
            memcpy(rest + i, rows + i + 1, (ROWS - 1 - i) * sizeof *rest);
            struct model_fit fit = fit_rows(kinds[k], rest, ROWS - 1, MODEL_RELATIVE);
            if (fit.model.parameters[2].dropped != all.model.parameters[2].dropped)
                continue;
            fit.model.uncertainty.observations = 0; /* the law alone */
            model_predict(&fit.model, &none, rows[i].problem_size, rows[i].executors, &there);
            cr_expect_float_eq(all.residuals[i].left_out, there.duration_s, 1e-6, "%s, row %zu",
                               kinds[k]->name, i);
        }
    }
}

/* Without the lone unit run the reference is extrapolated from the others. */
Test(scaling_model, left_out_unit_run_is_extrapolated)
{
    struct observation rows[ROWS + 1];
    struct model_prediction there;
    struct model_spread none = MODEL_NO_SPREAD;
    make_rows(usba_law, usba_startup, 0.004, rows);
    rows[ROWS] = model_seen(1, 1, 29, 9);
    struct model_fit all = fit_rows(&usba_kind, rows, ROWS + 1, MODEL_SECONDS);
    struct model_fit rest = fit_rows(&usba_kind, rows, ROWS, MODEL_SECONDS);
    cr_assert_eq(all.model.parameters[2].dropped, rest.model.parameters[2].dropped);
    model_predict(&rest.model, &none, 1, 1, &there);
    cr_expect_float_eq(all.residuals[ROWS].left_out, there.duration_s, 1e-8);
}

/* --- standard errors --- */

/* Ernest's are those of the normal equations, inverted here by Gauss-Jordan. */
Test(scaling_model, standard_errors_of_ernest)
{
    struct observation rows[ROWS];
    double a[4][8] = {{0}};
    double rss = 0;
    make_rows(ernest_law, NULL, 0.01, rows);
    struct model_fit fit = fit_rows(&ernest_kind, rows, ROWS, MODEL_SECONDS);
    for (size_t i = 0; i < ROWS; i++) {
        double x[4] = {1, rows[i].problem_size / rows[i].executors, log(rows[i].executors),
                       rows[i].executors};
        for (size_t j = 0; j < 4; j++)
            for (size_t k = 0; k < 4; k++)
                a[j][k] += x[j] * x[k];
        rss += pow(fit.residuals[i].predicted - fit.residuals[i].actual, 2);
    }
    for (size_t j = 0; j < 4; j++)
        a[j][4 + j] = 1;
    for (size_t j = 0; j < 4; j++) {
        double pivot = a[j][j];
        for (size_t k = 0; k < 8; k++)
            a[j][k] /= pivot;
        for (size_t r = 0; r < 4; r++) {
            double factor = a[r][j];
            for (size_t k = 0; r != j && k < 8; k++)
                a[r][k] -= factor * a[j][k];
        }
    }
    for (size_t j = 0; j < 4; j++) {
        cr_assert(fit.model.parameters[j].estimate > 0, "all free in this test");
        double expected = sqrt(rss / (ROWS - 4) * a[j][4 + j]);
        cr_expect_float_eq(fit.model.parameters[j].std_error / expected, 1, 1e-8);
    }
}

/* Errors and the share of the variance explained, from the residuals with their weights. */
Test(scaling_model, errors_are_weighted_means_of_the_residuals)
{
    struct observation rows[ROWS];
    double all = 0, mean = 0, mape = 0, loo = 0, most = 0, total = 0, rest = 0;
    make_rows(ernest_law, NULL, 0.05, rows);
    for (size_t i = 0; i < ROWS; i++)
        rows[i].weight = i % 3 == 0 ? 0.25 : 1;
    struct model_fit fit = fit_rows(&ernest_kind, rows, ROWS, MODEL_SECONDS);
    for (size_t i = 0; i < ROWS; i++)
        all += fit.residuals[i].weight;
    for (size_t i = 0; i < ROWS; i++) {
        const struct model_residual *r = &fit.residuals[i];
        double off = 100 * fabs(r->predicted / r->actual - 1);
        mean += r->weight * r->actual / all;
        mape += r->weight * off / all;
        loo += r->weight * 100 * fabs(r->left_out / r->actual - 1) / all;
        most = fmax(most, off);
    }
    for (size_t i = 0; i < ROWS; i++) {
        const struct model_residual *r = &fit.residuals[i];
        total += r->weight * pow(r->actual - mean, 2);
        rest += r->weight * pow(r->actual - r->predicted, 2);
    }
    cr_expect(all < ROWS && all > 0.25 * ROWS, "%g", all);
    cr_expect_float_eq(fit.mape_percent, mape, 1e-9);
    cr_expect_float_eq(fit.loo_mape_percent, loo, 1e-9);
    cr_expect_float_eq(fit.max_error_percent, most, 1e-9);
    cr_expect_float_eq(fit.r_squared, 1 - rest / total, 1e-12);
    cr_expect(fit.r_squared > 0.5 && fit.r_squared < 1);
}

/* --- gamma, guards --- */

static double without_gamma(double size, double m)
{
    return 20 * (1 - 0.05 + 1.58 * log(size / m) + 0.05 * m);
}

Test(scaling_model, gamma_without_effect_is_dropped)
{
    struct observation rows[ROWS];
    make_rows(without_gamma, usba_startup, 0.02, rows);
    struct model_fit fit = fit_rows(&usba_kind, rows, ROWS, MODEL_SECONDS);
    const struct model_parameter *gamma = &fit.model.parameters[index_of(&usba_kind, "gamma")];
    cr_expect(gamma->dropped && gamma->estimate == 0 && isnan(gamma->std_error));
    cr_expect_str_eq(fit.warnings.items[0].code, "gamma_dropped");
    make_rows(usba_law, usba_startup, 0.001, rows);
    fit = fit_rows(&usba_kind, rows, ROWS, MODEL_SECONDS);
    gamma = &fit.model.parameters[index_of(&usba_kind, "gamma")];
    cr_expect(!gamma->dropped && gamma->p_value <= 0.05);
}

Test(scaling_model, degenerate_designs_are_refused_with_a_reason)
{
    struct observation rows[ROWS];
    struct model_fit fit;
    struct pv_error err = {0};
    make_rows(usba_law, usba_startup, 0, rows);
    cr_expect_eq(model_fit(&usba_kind, rows, 3, MODEL_SECONDS, &arena, &fit, &err), PV_E_TOO_FEW);
    cr_expect(strstr(err.detail, "1 more") != NULL, "%s", err.detail);
    for (size_t i = 0; i < ROWS; i++)
        rows[i].problem_size = 4 * rows[i].executors;
    pv_error_clear(&err);
    cr_expect_eq(model_fit(&usba_kind, rows, ROWS, MODEL_SECONDS, &arena, &fit, &err),
                 PV_E_SINGULAR);
    cr_expect(strstr(err.detail, "problem_size per executor") != NULL, "%s", err.detail);
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].problem_size = (double)i + 1;
        rows[i].executors = 3;
    }
    pv_error_clear(&err);
    cr_expect_eq(model_fit(&usba_kind, rows, ROWS, MODEL_SECONDS, &arena, &fit, &err),
                 PV_E_SINGULAR);
    cr_expect(strstr(err.detail, "executor counts") != NULL, "%s", err.detail);
}

Test(scaling_model, runs_of_other_contexts_alone_are_no_observations)
{
    struct observation rows[ROWS];
    struct model_fit fit;
    struct pv_error err = {0};
    make_rows(ernest_law, NULL, 0, rows);
    for (size_t i = 0; i < ROWS; i++)
        rows[i].context = 2;
    cr_expect_eq(model_fit(&ernest_kind, rows, ROWS, MODEL_SECONDS, &arena, &fit, &err),
                 PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail, "there are no observations of the context asked for");
    err = (struct pv_error){0};
    cr_expect_eq(model_fit(&ernest_kind, rows, 0, MODEL_SECONDS, &arena, &fit, &err), PV_E_TOO_FEW);
    cr_expect_str_eq(err.detail, "there are no observations");
}

/* One problem size: usba still predicts at it, without gamma. */
Test(scaling_model, one_problem_size_is_enough_without_gamma)
{
    struct observation rows[5];
    for (size_t i = 0; i < 5; i++)
        rows[i] = model_seen(16, counts[i], 5 + without_gamma(16, counts[i]), 5);
    struct model_fit fit = fit_rows(&usba_kind, rows, 5, MODEL_SECONDS);
    cr_expect(fit.model.parameters[index_of(&usba_kind, "gamma")].dropped);
    cr_expect(fit.mape_percent < 1e-9);
}

/* --- predictions --- */

/* The best executors by formula against all of them tried. */
Test(scaling_model, best_executors_by_brute_force)
{
    static const struct model_kind *const kinds[] = {&usba_kind, &usba_scaled_kind, &ernest_kind};
    for (size_t k = 0; k < 3; k++) {
        struct observation rows[ROWS];
        make_rows(k == 1 ? scaled_law : k == 0 ? usba_law : ernest_law, usba_startup, 0.02, rows);
        struct model_fit fit = fit_rows(kinds[k], rows, ROWS, MODEL_SECONDS);
        for (double size = 1; size < 400; size = ceil(size * 1.7)) {
            double most = k == 1 ? size : 300;
            struct model_spread none = MODEL_NO_SPREAD;
            struct model_prediction at;
            struct model_prediction best;
            bool rising;
            double m = model_best_executors(&fit.model, size, most, &rising);
            model_predict(&fit.model, &none, size, m, &best);
            for (double other = 1; other <= most; other += 1) {
                model_predict(&fit.model, &none, size, other, &at);
                cr_assert(at.duration_s >= best.duration_s - 1e-9 * fabs(best.duration_s),
                          "%s: %g beats %g at N = %g", kinds[k]->name, other, m, size);
            }
        }
    }
}

/* A run that surprises widens the interval, one that does not narrows it or leaves it. */
Test(scaling_model, interval_widens_by_surprise_only)
{
    struct observation rows[ROWS + 1];
    make_rows(ernest_law, NULL, 0.05, rows);
    double width[3];
    for (size_t i = 0; i < 3; i++) {
        double factor[3] = {1, 1, 2};
        rows[ROWS] = rows[7]; /* 16 on 4 */
        rows[ROWS].duration_s *= factor[i];
        struct model_fit fit =
            fit_rows(&ernest_kind, rows, i == 0 ? ROWS : ROWS + 1, MODEL_SECONDS);
        struct model_spread spread = model_spread(&fit.model, 0.9);
        struct model_prediction there;
        model_predict(&fit.model, &spread, 32, 8, &there);
        width[i] = there.interval_s[1] - there.interval_s[0];
    }
    cr_expect(width[1] <= width[0] * 1.02, "%g after %g", width[1], width[0]);
    cr_expect(width[2] > width[0]);
}
