/* Widths of intervals, by hand: of the fit at counts that ran, of repetitions, of laws at counts
 * that did not run, and what these take from their priors. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "core/scaling/history/law_errors.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

enum { ROWS_MAX = 32 };
static struct arena arena;
static struct observation rows[ROWS_MAX];
static size_t n_rows;

/* Of Student's t, two-sided 90 %, with 3 and 9 degrees of freedom. */
static const double t3 = 2.3533634348;
static const double t9 = 1.8331129327;

static void start(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    n_rows = 0;
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_intervals, .init = start, .fini = end);

static void observe(double m, double duration_s)
{
    rows[n_rows++] = model_seen(64, m, duration_s, (double)NAN);
}

static double line(double m)
{
    return 60 + 40 / m;
}

static struct model fit_amdahl(void)
{
    struct model_fit fit;
    cr_assert_eq(model_fit(&amdahl_kind, rows, n_rows, MODEL_SECONDS, &arena, &fit, NULL), PV_OK);
    return fit.model;
}

static void expect_interval(const struct model *model, double m, double low_s, double high_s)
{
    struct model_spread spread = model_spread(model, 0.9);
    struct model_prediction there;
    struct predictive predictive;
    model_predict(model, &spread, 64, m, &there);
    cr_expect_float_eq(there.interval_s[0], low_s, 1e-5, "%.9g", there.interval_s[0]);
    cr_expect_float_eq(there.interval_s[1], high_s, 1e-5, "%.9g", there.interval_s[1]);
    cr_assert(model_predictive(model, 64, m, &predictive));
    cr_expect_float_eq(predictive_quantile(&predictive, 0.05), low_s, 1e-5);
    cr_expect_float_eq(predictive_quantile(&predictive, 0.95), high_s, 1e-5);
}

/* Residuals of `off` seconds about 60 + 40/m, on 1, 2, 4 and 8 executors: with x = 1/m, mean(x) =
 * 0.46875 and Sxx = 0.8984375, the variance of the prediction at x is
 * s^2 (1/8 + (x - 0.46875)^2 / Sxx), s^2 = 8 off^2 / 6. */
static void observe_scatter(double off)
{
    for (double m = 1; m <= 8; m *= 2)
        for (int sign = -1; sign <= 1; sign += 2)
            observe(m, line(m) + sign * off);
}

static double half_of_fit(double off, double m)
{
    double x = 1 / m - 0.46875;
    return t9 * off * sqrt(8 / 6.0 * (1 + 0.125 + x * x / 0.8984375));
}

Test(scaling_intervals, at_a_known_count_the_width_is_that_of_the_scatter)
{
    for (double off = 1; off <= 5; off += 4) {
        n_rows = 0;
        observe_scatter(off);
        struct model model = fit_amdahl();
        cr_expect_float_eq(model.uncertainty.freedom, 6, 0);
        cr_expect_float_eq(model.uncertainty.residual_std, off * sqrt(8 / 6.0), 1e-9);
        model.uncertainty.seen.n = 0;
        model.uncertainty.repetition_std = 1e-9;
        for (double m = 1; m <= 8; m *= 2)
            expect_interval(&model, m, line(m) - half_of_fit(off, m),
                            line(m) + half_of_fit(off, m));
    }
    /* The same by R: predict(lm(T ~ x), se.fit = TRUE) at 4 executors, 1.8331129 times 6.2670058. */
    cr_expect_float_eq(half_of_fit(5, 4), 11.488130, 1e-5);
}

/* Two runs a count: repetitions widen by sqrt(1 + 1/2) times 0.62 of their deviation. */
Test(scaling_intervals, repetitions_are_the_least_width)
{
    observe_scatter(1e-6);
    struct model model = fit_amdahl();
    model.uncertainty.repetition_std = 0.05;
    double far = t3 * 0.62 * 0.05 * sqrt(1.5);
    expect_interval(&model, 4, 70 * exp(-far), 70 * exp(far));
    model.uncertainty.repetition_std = 0; /* unknown: that of public histories */
    far = t3 * 0.62 * 0.03 * sqrt(1.5);
    expect_interval(&model, 4, 70 * exp(-far), 70 * exp(far));
}

/* At 6, between 4 and 8, the gap is sqrt(a b / (a + b)) with a = ln(6/4) and b = ln(8/6). */
Test(scaling_intervals, at_a_new_count_errors_of_the_law_and_repetitions_add_up)
{
    observe_scatter(1e-6);
    struct model model = fit_amdahl();
    double gap = sqrt(log(1.5) * log(4 / 3.0) / log(2));
    double repetition = 0.62 * 0.05 * sqrt(1.5);
    model.uncertainty.repetition_std = 0.05;
    for (double std = 0.1; std <= 0.4; std *= 4) {
        model.uncertainty.new_executors = (struct model_error_scale){std, 3};
        double far = t3 * hypot(std * gap, repetition);
        expect_interval(&model, 6, line(6) * exp(-far), line(6) * exp(far));
    }
    /* However well repetitions agree, the law may be off. */
    model.uncertainty.repetition_std = 1e-9;
    double far = t3 * 0.4 * gap;
    expect_interval(&model, 6, line(6) * exp(-far), line(6) * exp(far));
}

/* Farther from the counts that ran no interval is narrower. */
Test(scaling_intervals, widths_grow_with_the_gap)
{
    observe_scatter(3);
    struct model model = fit_amdahl();
    struct model_spread spread = model_spread(&model, 0.9);
    double last = 0;
    for (double m = 8.001; m < 1000; m *= 1.01) {
        struct model_prediction there;
        model_predict(&model, &spread, 64, m, &there);
        double width = there.interval_s[1] / there.interval_s[0];
        cr_assert_gt(width, last, "%g executors: %g after %g", m, width, last);
        last = width;
    }
}

Test(scaling_intervals, a_model_without_observations_has_no_interval)
{
    struct model model = model_bare(&amdahl_kind);
    struct predictive predictive;
    model.form = MODEL_OF_DURATIONS;
    model.parameters[0].estimate = 0.4;
    model.parameters[1].estimate = 100;
    cr_expect(model_predictive(&model, 64, 4, &predictive));
    cr_expect_float_eq(predictive.predicted_s, 70, 1e-9);
    cr_expect_eq(predictive.n, 0);
}

/* --- what a fit finds --- */

/* About their medians, 10 % apart and 3 counts: 6 squares of 0.05^2, 3 degrees of freedom. */
Test(scaling_intervals, repetitions_lean_on_their_prior)
{
    for (double m = 1; m <= 4; m *= 2)
        for (int sign = -1; sign <= 1; sign += 2)
            observe(m, line(m) * exp(0.05 * sign));
    cr_expect_float_eq(fit_amdahl().uncertainty.repetition_std,
                       sqrt((3 * 0.03 * 0.03 + 6 * 0.05 * 0.05) / 6), 1e-9);
    n_rows = 0;
    for (double m = 1; m <= 4; m *= 2)
        for (int k = 0; k < 2; k++)
            observe(m, line(m));
    cr_expect_float_eq(fit_amdahl().uncertainty.repetition_std, sqrt(3 * 0.03 * 0.03 / 6), 1e-9,
                       "pairs that agree leave half of the prior's variance");
    n_rows = 0;
    for (double m = 1; m <= 4; m *= 2)
        for (int sign = -1; sign <= 1; sign += 2)
            observe(m, line(m) * exp(0.5 * sign));
    cr_expect_float_eq(fit_amdahl().uncertainty.repetition_std, 0.15, 1e-12, "no more than that");
}

/* Amdahl's law by two of three counts, exact but for the one left out: its error e is all there is,
 * with half of e^2 as noise. */
Test(scaling_intervals, without_repetitions_half_of_the_errors_of_counts_left_out_count)
{
    observe(1, 100);
    observe(2, 90);
    observe(4, 70);
    double squares = 0;
    /* The lines through two of the points 1/m: (1, 100), (0.5, 90), (0.25, 70). */
    const double predicted[] = {130, 80, 85};
    for (size_t i = 0; i < 3; i++)
        squares += pow(log(rows[i].duration_s / predicted[i]), 2);
    cr_expect_float_eq(fit_amdahl().uncertainty.repetition_std,
                       sqrt((3 * 0.03 * 0.03 + squares / 2) / (3 + 1.5)), 1e-6);
}

/* The exact law errs nothing at the three counts left out. */
Test(scaling_intervals, errors_of_laws_lean_on_their_prior)
{
    for (double m = 1; m <= 4; m *= 2)
        observe(m, line(m));
    cr_expect_float_eq(fit_amdahl().uncertainty.new_executors.std, 0.07 * sqrt(2.7 / 5.7), 1e-9);
    for (size_t i = 0; i < n_rows; i++)
        rows[i].law_error = 0.2;
    cr_expect_float_eq(fit_amdahl().uncertainty.new_executors.std, 0.2 * sqrt(2.7 / 5.7), 1e-9,
                       "as other applications showed");
    cr_expect_float_eq(fit_amdahl().uncertainty.new_executors.freedom, 3, 0);
}

/* Three sizes on 2, 4 and 8 executors; on 2 the time of the largest is three times the law's. */
Test(scaling_intervals, errors_by_size_are_those_of_the_executor_count)
{
    struct model_fit fit;
    struct predictive few;
    struct predictive many;
    for (double size = 64; size <= 256; size *= 2)
        for (double m = 2; m <= 8; m *= 2)
            rows[n_rows++] = model_seen(
                size, m, (20 + size + 4 * size / m) * (size > 128 && m < 3 ? 3 : 1), (double)NAN);
    cr_assert_eq(model_fit(&combined_kind, rows, n_rows, MODEL_RELATIVE, &arena, &fit, NULL),
                 PV_OK);
    const struct model_uncertainty *u = &fit.model.uncertainty;
    cr_assert_eq(u->n_size_errors, 3);
    for (size_t c = 0; c < 3; c++) {
        cr_expect_float_eq(u->size_errors[c].executors, rows[c].executors, 0);
        cr_expect_float_eq(u->size_errors[c].scale.freedom, 2.7 + 3, 1e-12);
    }
    cr_expect_gt(u->size_errors[0].scale.std, 2 * u->size_errors[2].scale.std);
    cr_assert(model_predictive(&fit.model, 512, 2, &few));
    cr_assert(model_predictive(&fit.model, 512, 8, &many));
    cr_expect_gt(few.parts[0].scale, 1.5 * many.parts[0].scale);
    cr_expect_lt(predictive_below(&many), 0.5, "a larger problem rather takes longer");
}

Test(scaling_intervals, two_counts_have_intervals_and_one_has_none)
{
    for (int k = 0; k < 3; k++) {
        observe(2, line(2));
        observe(4, line(4));
    }
    struct model model = fit_amdahl();
    cr_expect_float_eq(model.uncertainty.new_executors.std, 2.2 * 0.07, 1e-12);
    /* Below the least count as much as above the most: at 1 and at 8 the gap is sqrt(ln 2) (1 + 1),
     * three runs a count. */
    double repetition = 0.62 * model.uncertainty.repetition_std * sqrt(4 / 3.0);
    double far = t3 * hypot(2.2 * 0.07 * 2 * sqrt(log(2)), repetition);
    expect_interval(&model, 1, line(1) * exp(-far), line(1) * exp(far));
    expect_interval(&model, 8, line(8) * exp(-far), line(8) * exp(far));
    n_rows = 0;
    for (int k = 0; k < 3; k++)
        observe(2, line(2) + k);
    struct model_fit fit;
    if (model_fit(&amdahl_kind, rows, n_rows, MODEL_SECONDS, &arena, &fit, NULL) == PV_OK)
        cr_expect_float_eq(fit.model.uncertainty.new_executors.freedom, 0, 0);
}

/* --- what other applications show --- */

Test(scaling_intervals, errors_are_learnt_from_other_applications)
{
    const double two[] = {0.01, 0.0025};
    const double far[] = {100};
    double many[LAW_ERRORS_MAX + 1];
    for (size_t i = 0; i <= LAW_ERRORS_MAX; i++)
        many[i] = i < LAW_ERRORS_MAX ? 0.0004 : 0.09;
    cr_expect_float_eq(law_errors_std(NULL, 0), 0.07, 1e-12);
    cr_expect_float_eq(law_errors_std(two, 2), sqrt((4 * 0.0049 + 0.0125) / 6), 1e-12);
    cr_expect_float_eq(law_errors_std(far, 1), sqrt((4 * 0.0049 + 0.09) / 5), 1e-12);
    cr_expect_float_eq(law_errors_std(many, LAW_ERRORS_MAX + 1),
                       sqrt((4 * 0.0049 + 0.04) / (4 + LAW_ERRORS_MAX)), 1e-12);
}

/* A run each on 1, 2, 4 and 8: the law's errors per gap, squared, on average. */
Test(scaling_intervals, what_a_history_shows_is_the_mean_of_its_squares)
{
    struct model_selection selection;
    for (double m = 1; m <= 8; m *= 2)
        observe(m, line(m) * (m > 3 ? 1.2 : 1));
    cr_assert_eq(model_select(rows, n_rows, &arena, &selection, NULL), PV_OK);
    double shown = law_errors_shown(&selection);
    for (size_t k = 0; k < selection.n; k++) {
        const struct model_candidate *candidate = &selection.candidates[k];
        if (candidate->kind != &combined_kind)
            continue;
        const struct model_error_scale *scale = &candidate->fit.model.uncertainty.new_executors;
        cr_expect_float_eq(scale->std * scale->std, (2.7 * 0.07 * 0.07 + 4 * shown) / (2.7 + 4),
                           1e-12);
    }
    cr_expect_gt(shown, 0);
    cr_assert_eq(model_select(rows, 2, &arena, &selection, NULL), PV_OK);
    cr_expect(isnan(law_errors_shown(&selection)), "two counts show nothing");
}

/* What one count left out shows is no mean, and a law that was not fitted shows nothing. */
Test(scaling_intervals, a_history_shows_errors_of_two_counts_or_more)
{
    static struct model_candidate candidates[2];
    const struct model_selection selection = {.candidates = candidates, .n = 2};
    candidates[0].kind = &amdahl_kind;
    candidates[0].fit.scale_outs_judged = 5;
    candidates[1].kind = &combined_kind;
    candidates[1].fit.scale_out_squares = 0.08;
    candidates[1].fit.scale_outs_judged = 1;
    cr_expect(isnan(law_errors_shown(&selection)));
    candidates[1].fit.scale_outs_judged = 2;
    cr_expect_float_eq(law_errors_shown(&selection), 0.04, 1e-12);
    candidates[1].standing = MODEL_NOT_FITTED;
    cr_expect(isnan(law_errors_shown(&selection)));
}
