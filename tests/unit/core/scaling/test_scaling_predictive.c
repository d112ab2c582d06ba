/* The distribution behind intervals: probabilities and quantiles are inverses, every level is the
 * widest of its parts, conformal levels hold what they promise. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/physical_bounds.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/model/predictive.h"

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

TestSuite(scaling_predictive, .init = start, .fini = end);

static double normal(struct rng *rng)
{
    return rng_normal(rng);
}

static struct score_table table_of(const double scores[], size_t n, size_t a_group, double weight)
{
    struct group_score rows[256];
    struct score_table table;
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct group_score){scores[i], a_group == 0 ? i : i / a_group, weight};
    cr_assert_eq(score_table_make(rows, n, a_group == 0 ? 0 : n / a_group, 5, &arena, &table, NULL),
                 PV_OK);
    return table;
}

/* 19 scores make the largest the 95% one; beyond, Student's t takes over and is no narrower. */
Test(scaling_predictive, the_rank_is_the_conformal_one)
{
    double scores[200];
    for (size_t i = 0; i < 200; i++)
        scores[i] = (double)(200 - i) / 100;
    struct score_table table = table_of(scores, 19, 0, 1);
    cr_expect_float_eq(score_table_quantile(&table, 0.95), 2.0, 1e-12);
    cr_expect_float_eq(score_table_quantile(&table, 0.5), scores[9], 1e-12);
    cr_expect(score_table_quantile(&table, 0.99) > 2.0);
    /* Of many, quantiles are kept; they are never below the true ones. */
    table = table_of(scores, 200, 0, 1);
    cr_expect_eq(table.n, SCORES_MAX);
    double score = score_table_quantile(&table, 0.9);
    cr_expect(score >= scores[19] - 0.02 && score <= scores[16], "%g", score);
}

/* Nine runs of one executor count with small scores and one each of two others: each count has a
 * third of what can be promised, and the tail knows of three only. */
Test(scaling_predictive, groups_count_and_not_their_runs)
{
    struct group_score rows[11];
    struct score_table table;
    for (size_t i = 0; i < 11; i++)
        rows[i] = (struct group_score){i < 9 ? 0.01 : 0.1 * (double)(i - 8), i < 9 ? 0 : i - 8, 1};
    cr_assert_eq(score_table_make(rows, 11, 3, 3, &arena, &table, NULL), PV_OK);
    cr_expect_float_eq(table.levels[8], 11.0 / 12 / 3, 1e-12);
    cr_expect_float_eq(table.levels[10], 11.0 / 12, 1e-12);
    cr_expect_float_eq(table.spread, sqrt((0.0001 + 0.01 + 0.04) / 3), 1e-12);
    cr_expect(score_table_quantile(&table, 0.5) > 0.05);
    cr_expect_float_eq(score_table_quantile(&table, 0.99), table.spread * 5.840909, 1e-5,
                       "Student's t with 3 degrees of freedom");
}

/* Runs that fade promise less: the levels they reach fall, the intervals widen. */
Test(scaling_predictive, runs_of_little_weight_promise_little)
{
    double scores[30];
    for (size_t i = 0; i < 30; i++)
        scores[i] = (double)(i + 1) / 100;
    struct score_table whole = table_of(scores, 30, 0, 1);
    struct score_table faded = table_of(scores, 30, 0, 0.05);
    cr_expect_float_eq(faded.levels[faded.n - 1], 1.5 / 2.5, 1e-12);
    cr_expect(score_table_quantile(&faded, 0.9) > score_table_quantile(&whole, 0.9));
}

/* A score that is added has the levels i / (n + 1) that it would have had among the others. */
Test(scaling_predictive, a_score_added_stands_in_its_place)
{
    static const double added[] = {0.05, 0.3, 0.5};
    for (size_t k = 0; k < 3; k++) {
        double scores[] = {0.1, 0.2, 0.4};
        struct score_table table = table_of(scores, 3, 0, 1);
        score_table_add(&table, added[k]);
        cr_assert_eq(table.n, 4);
        for (size_t i = 0; i < 4; i++) {
            cr_expect_float_eq(table.levels[i], (double)(i + 1) / 5, 1e-12, "%g", added[k]);
            double score = i == k + (k > 0) ? added[k] : scores[i < k + (k > 0) ? i : i - 1];
            cr_expect_float_eq(table.scores[i], score, 0);
        }
        cr_expect_float_eq(table.spread, sqrt((0.21 + added[k] * added[k]) / 4), 1e-12);
        cr_expect_float_eq(table.freedom, 6, 0);
    }
    struct score_table one = {.n = 0, .freedom = 1};
    score_table_add(&one, 0.3);
    cr_expect_float_eq(one.levels[0], 0.5, 1e-12);
    cr_expect_float_eq(one.spread, 0.3, 1e-12);
}

Test(scaling_predictive, a_full_table_takes_no_more_scores)
{
    double scores[SCORES_MAX];
    for (size_t i = 0; i < SCORES_MAX; i++)
        scores[i] = (double)(i + 1);
    struct score_table table = table_of(scores, SCORES_MAX, 0, 1);
    const struct score_table before = table;
    score_table_add(&table, 3);
    cr_expect_eq(memcmp(&table, &before, sizeof table), 0);
}

static struct predictive three_parts(const struct score_table *table, double scale)
{
    struct predictive predictive = {.predicted_s = 120};
    predictive_add(&predictive,
                   (struct predictive_part){PREDICTIVE_LOG_STUDENT, 0.04 * scale, 6, NULL});
    predictive_add(&predictive,
                   (struct predictive_part){PREDICTIVE_LOG_SCORES, 1.3 * scale, 0, table});
    predictive_add(&predictive, (struct predictive_part){PREDICTIVE_STUDENT, 9 * scale, 11, NULL});
    return predictive;
}

/* P(T <= the bound kept with probability p) = p, rising in p, and no part reaches further. */
static void expect_inverses(const struct predictive *distribution)
{
    const struct predictive all = *distribution;
    double below = predictive_below(&all);
    double last_s = 0;
    for (int i = 1; i < 200; i++) {
        double p = i / 200.0;
        double bound_s = predictive_quantile(&all, p);
        cr_assert(bound_s >= last_s, "%g s after %g s at %g", bound_s, last_s, p);
        last_s = bound_s;
        cr_assert_float_eq(predictive_probability(&all, bound_s), p, 1e-6, "%g: %.9g", p,
                           predictive_probability(&all, bound_s));
        for (size_t k = 0; k < all.n; k++) {
            struct predictive one = {
                .predicted_s = 120, .shorter = all.shorter, .parts = {all.parts[k]}, .n = 1};
            double alone_s = predictive_quantile(&one, p);
            cr_assert(p < below ? bound_s <= alone_s * (1 + 1e-12)
                                : bound_s >= alone_s * (1 - 1e-12));
        }
    }
    cr_expect_eq(predictive_probability(&all, 0), 0);
    cr_expect_float_eq(predictive_probability(&all, 1e9), 1, 1e-6);
}

Test(scaling_predictive, probabilities_and_bounds_are_inverses)
{
    double scores[12] = {0.01, 0.012, 0.02, 0.021, 0.03, 0.033,
                         0.05, 0.051, 0.06, 0.08,  0.09, 0.11};
    struct score_table table = table_of(scores, 12, 0, 1);
    struct predictive all = three_parts(&table, 1);
    expect_inverses(&all);
    for (double shorter = 0.2; shorter < 3; shorter *= 1.5) {
        all.shorter = shorter;
        expect_inverses(&all);
        cr_expect_float_eq(predictive_probability(&all, 120), shorter / (1 + shorter), 1e-12);
    }
}

/* The density of ln T does not jump where the pieces meet, and integrates to one. */
Test(scaling_predictive, two_pieces_are_one_density)
{
    enum { STEPS = 40000 };
    static const double step = 30.0 / STEPS;
    struct predictive two = {.predicted_s = 120, .shorter = 0.4};
    double mass = 0;
    double last = 0;
    predictive_add(&two, (struct predictive_part){PREDICTIVE_LOG_STUDENT, 0.1, 2.5, NULL});
    for (int i = 0; i < STEPS; i++) {
        double x = -15 + i * step;
        double more = predictive_probability(&two, 120 * exp(x + step)) -
                      predictive_probability(&two, 120 * exp(x));
        cr_assert(more >= -1e-12, "falls at %g", x);
        cr_assert(fabs(more - last) < 0.03 * fmax(more, 1e-3), "%g after %g at %g", more, last, x);
        last = more;
        mass += more;
    }
    cr_expect_float_eq(mass, 1, 1e-4);
}

Test(scaling_predictive, what_is_no_time_is_an_open_end)
{
    struct predictive wide = {.predicted_s = 10};
    double ends_s[2];
    predictive_add(&wide, (struct predictive_part){PREDICTIVE_STUDENT, 20, 1, NULL});
    predictive_interval(&wide, 0.95, ends_s);
    cr_expect(isnan(ends_s[0]));
    cr_expect(ends_s[1] > 100);
    struct predictive unknown = {.predicted_s = 10};
    predictive_interval(&unknown, 0.95, ends_s);
    cr_expect(isnan(ends_s[0]) && isnan(ends_s[1]));
    cr_expect(isnan(predictive_probability(&unknown, 20)));
}

/* Of runs drawn alike, new ones stay within the conformal bound as often as it says, or a little
 * more often for the rank that cannot be cut: 4000 draws have a standard error below 0.7 points. */
Test(scaling_predictive, conformal_bounds_hold)
{
    const double confidences[3] = {0.8, 0.9, 0.95};
    struct rng rng = rng_make(11, 0);
    for (size_t c = 0; c < 3; c++) {
        size_t inside = 0;
        enum { TRIALS = 4000, RUNS = 24 };
        for (size_t t = 0; t < TRIALS; t++) {
            double scores[RUNS];
            for (size_t i = 0; i < RUNS; i++)
                scores[i] = fabs(normal(&rng));
            struct score_table table = table_of(scores, RUNS, 0, 1);
            inside += fabs(normal(&rng)) <= score_table_quantile(&table, confidences[c]);
        }
        double share = (double)inside / TRIALS;
        cr_expect(share > confidences[c] - 0.02 && share < confidences[c] + 0.04, "%g: %g",
                  confidences[c], share);
    }
}

/* Amdahl's law, of 20 runs at counts of 8 to 128, 4 each. */
static void fit_noisy(struct model_fit *fit)
{
    static const double counts[5] = {8, 16, 32, 64, 128};
    struct observation rows[20];
    struct rng rng = rng_make(3, 0);
    for (size_t i = 0; i < 20; i++)
        rows[i] = model_seen(64, counts[i % 5],
                             (20 + 1600 / counts[i % 5]) * exp(0.05 * normal(&rng)), (double)NAN);
    cr_assert_eq(model_fit(model_find_kind("amdahl"), rows, 20, MODEL_SECONDS, &arena, fit, NULL),
                 PV_OK);
}

/* Below the least count a run is likelier to take longer than predicted than to take less; next to
 * the counts that ran, and beyond them, it is as likely. */
Test(scaling_predictive, below_the_least_count_longer_times_are_likelier)
{
    struct model_fit fit;
    struct predictive there;
    double last = 1;
    fit_noisy(&fit);
    for (double m = 1; m < 8; m *= 1.2) {
        cr_assert(model_predictive(&fit.model, 64, m, &there));
        double below = predictive_probability(&there, there.predicted_s);
        cr_assert(below > 1.0 / 3 && below < 0.5, "m = %g: %g", m, below);
        cr_assert(m == 1 || below >= last, "m = %g: %g after %g", m, below, last);
        last = below;
        cr_expect(log(predictive_quantile(&there, 0.95) / there.predicted_s) >
                  log(there.predicted_s / predictive_quantile(&there, 0.05)));
    }
    cr_assert(model_predictive(&fit.model, 64, 8 * (1 - 1e-6), &there));
    cr_expect_float_eq(predictive_below(&there), 0.5, 1e-3);
    cr_assert(model_predictive(&fit.model, 64, 8, &there));
    cr_expect_float_eq(predictive_below(&there), 0.5, 1e-12);
    for (double m = 9; m < 1000; m *= 1.7) {
        cr_assert(model_predictive(&fit.model, 64, m, &there));
        cr_expect_float_eq(predictive_below(&there), 0.5, 1e-12, "m = %g", m);
    }
}

/* The ends of the interval that a model predicts are those of the distribution it gives. */
Test(scaling_predictive, a_model_has_one_distribution)
{
    struct model_fit fit;
    fit_noisy(&fit);
    struct model_spread spread = model_spread(&fit.model, 0.9);
    for (double m = 1; m <= 256; m++) {
        struct model_prediction there;
        struct predictive predictive;
        double ends_s[2];
        model_predict(&fit.model, &spread, 64, m, &there);
        cr_assert(model_predictive(&fit.model, 64, m, &predictive));
        predictive_interval(&predictive, 0.9, ends_s);
        for (size_t e = 0; e < 2; e++)
            cr_assert(isnan(ends_s[e]) ? isnan(there.interval_s[e])
                                       : fabs(ends_s[e] / there.interval_s[e] - 1) < 1e-9,
                      "m = %g: %g, %g", m, ends_s[e], there.interval_s[e]);
    }
}

/* A fit of which only the uncertainty that a test sets is known. */
static struct model_uncertainty *forget_errors(struct model_fit *fit)
{
    struct model_uncertainty *u = &fit->model.uncertainty;
    fit_noisy(fit);
    memset(u->covariance, 0, sizeof u->covariance);
    u->seen = (struct score_table){.n = 0};
    u->n_recorded = 0;
    u->repetition_std = 1e-12;
    u->freedom = 0;
    u->residual_std = (double)NAN;
    return u;
}

static void check_ends(const struct model_fit *fit, double m, double low, double high)
{
    struct model_spread spread = model_spread(&fit->model, 0.9);
    struct model_prediction there;
    model_predict(&fit->model, &spread, 64, m, &there);
    cr_expect_float_eq(there.interval_s[0] / low, 1, 1e-6, "%g", there.interval_s[0]);
    cr_expect_float_eq(there.interval_s[1] / high, 1, 1e-6, "%g", there.interval_s[1]);
}

/* Residuals of 5 s and a parameter of the whole duration with a standard error of 3 s, 4 degrees of
 * freedom and 3 of the prior of repetitions: t(0.95, 7) = 1.894579 times sqrt(34) s. */
Test(scaling_predictive, an_interval_at_a_count_that_ran_is_that_of_the_fit)
{
    struct model_fit fit;
    struct model_uncertainty *u = forget_errors(&fit);
    double duration_s = model_duration(&fit.model, 64, 8);
    double half_s = 1.894578605 * sqrt(34);
    u->freedom = 4;
    u->residual_std = 5;
    u->relative = false;
    /* T(1, 8) = t1 (1 - f + f / 8): of t1 the duration is a multiple. */
    double t1 = fit.model.parameters[1].estimate;
    u->covariance[1][1] = pow(3 * t1 / duration_s, 2);
    check_ends(&fit, 8, duration_s - half_s, duration_s + half_s);
    /* Residuals as a share of the prediction. */
    u->relative = true;
    u->residual_std = 5 / duration_s;
    check_ends(&fit, 8, duration_s - half_s, duration_s + half_s);
    u->covariance[1][1] = 0;
    check_ends(&fit, 8, duration_s - 5 * 1.894578605, duration_s + 5 * 1.894578605);
}

/* Without observations nothing is known but the prediction. */
Test(scaling_predictive, without_observations_there_is_no_distribution)
{
    struct model_fit fit;
    struct model_uncertainty *u = forget_errors(&fit);
    struct predictive there;
    u->freedom = 4;
    u->residual_std = 5;
    cr_assert(model_predictive(&fit.model, 64, 8, &there));
    cr_expect_gt(there.n, 0);
    u->observations = 0;
    cr_assert(model_predictive(&fit.model, 64, 8, &there));
    cr_expect_eq(there.n, 0);
    cr_expect_float_eq(there.predicted_s, model_duration(&fit.model, 64, 8), 0);
    cr_expect(isnan(predictive_probability(&there, 100)));
}

/* A law that gives no time has no interval of it. */
Test(scaling_predictive, without_a_time_there_is_no_interval)
{
    struct model_fit fit;
    struct model_uncertainty *u = forget_errors(&fit);
    struct predictive there;
    struct model_prediction predicted;
    u->freedom = 4;
    u->residual_std = 5;
    u->relative = false;
    fit.model.parameters[1].estimate = 0;
    struct model_spread spread = model_spread(&fit.model, 0.9);
    model_predict(&fit.model, &spread, 64, 8, &predicted);
    cr_expect_eq(predicted.duration_s, 0);
    cr_expect(isnan(predicted.speedup));
    cr_expect(isnan(predicted.interval_s[0]) && isnan(predicted.interval_s[1]));
    cr_expect(!model_predictive(&fit.model, 64, 8, &there));
}

/* Two hypotheses: P is the weighted mean of both, the interval spans both, and the median of equal
 * ones far apart lies between them. */
Test(scaling_predictive, a_mixture_of_two_hypotheses)
{
    const struct predictive_centre centres[] = {{86, 0.6}, {146, 0.4}};
    const struct predictive_part part = {
        .shape = PREDICTIVE_LOG_STUDENT, .scale = 0.08, .freedom = 6};
    struct predictive mixed = {.n = 0}, fast = {.predicted_s = 86}, slow = {.predicted_s = 146};
    predictive_add(&mixed, part);
    predictive_add(&fast, part);
    predictive_add(&slow, part);
    predictive_mix(&mixed, centres, 2);
    for (double at_s = 60; at_s < 220; at_s += 7)
        cr_assert_float_eq(predictive_probability(&mixed, at_s),
                           0.6 * predictive_probability(&fast, at_s) +
                               0.4 * predictive_probability(&slow, at_s),
                           1e-12);
    cr_assert_float_eq(predictive_probability(&mixed, 120), 0.6, 0.01);
    cr_assert_float_eq(predictive_probability(&mixed, mixed.predicted_s), 0.5, 1e-9);
    /* 0.5 of the mixture is 0.5 / 0.6 of the fast one, to what the slow one adds. */
    cr_assert_float_eq(mixed.predicted_s, predictive_quantile(&fast, 0.5 / 0.6), 0.3);
    cr_assert_float_eq(predictive_quantile(&mixed, 0.95), predictive_quantile(&slow, 0.875), 0.3);
    for (double p = 0.01; p < 1; p += 0.07)
        cr_assert_float_eq(predictive_probability(&mixed, predictive_quantile(&mixed, p)), p, 1e-9);
    double ends_s[2];
    predictive_interval(&mixed, 0.9, ends_s);
    cr_assert_float_eq(ends_s[0], predictive_quantile(&mixed, 0.05), 1e-9);
    cr_assert_float_eq(ends_s[1], predictive_quantile(&mixed, 0.95), 1e-9);
    /* One hypothesis of probability 1 is the distribution without any. */
    predictive_mix(&mixed, (struct predictive_centre[]){{86, 1.0}}, 1);
    cr_assert_float_eq(mixed.predicted_s, 86, 1e-9);
    cr_assert_float_eq(predictive_quantile(&mixed, 0.9), predictive_quantile(&fast, 0.9), 1e-9);
}
