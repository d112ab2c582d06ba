#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "core/advice/advise.h"
#include "core/advice/model_curve.h"
#include "core/advice/predictor.h"
#include "core/history/run.h"
#include "core/numerics/student.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

/* Advice from a model: the curve made from a fit, and when it is preferred to the replay's. */

enum { COUNTS = 64 };
static struct arena arena, scratch;
static int64_t counts[COUNTS];
static struct observation rows[32];
static size_t n_rows;
static struct curve_question question;

static double ernest(double size, double m)
{
    return 12.0 + 9.0 * size / m + 2.0 * log(m) + 0.25 * m;
}

static void observe(double size, double m, double duration_s)
{
    rows[n_rows++] = model_seen(size, m, duration_s, (double)NAN);
}

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    n_rows = 0;
    for (double size = 32; size <= 128; size *= 2)
        for (double m = 1; m <= 16; m *= 2)
            observe(size, m, ernest(size, m));
    for (int64_t m = 1; m <= COUNTS; m++)
        counts[m - 1] = m;
    question = (struct curve_question){
        .problem_size = 64, .cores_per_executor = 4, .executors = counts, .n_executors = COUNTS};
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(predictor, .init = set_up, .fini = tear_down, .timeout = 20);

static enum pv_code
choose(bool has_replay, struct curve *curve, struct predictor *predictor, struct pv_error *err)
{
    return predictor_choose(rows, n_rows, &question, 1, COUNTS, has_replay, &arena, &scratch, curve,
                            predictor, err);
}

static struct advice ask(const struct curve *curve, double deadline_s, double confidence)
{
    struct advise_goal asked = {.objective = ADVISE_MIN_EXECUTORS,
                                .deadline_s = deadline_s,
                                .confidence = confidence,
                                .min_executors = 1,
                                .max_executors = COUNTS,
                                .billing = {.per_hour = (double)NAN},
                                .max_cost = (double)NAN};
    struct advice advice;
    cr_assert_eq(advise(curve, &asked, &arena, &advice, NULL), PV_OK);
    return advice;
}

/* Noiseless runs of an Ernest law: at confidence one half the count is the law's own. */
Test(predictor, noiseless_runs_give_the_exact_count)
{
    struct curve curve = {.points = NULL};
    struct predictor predictor;
    cr_assert_eq(choose(false, &curve, &predictor, NULL), PV_OK);
    cr_assert(predictor.has_model);
    cr_assert_str_eq(curve.model_kind, "ernest");
    cr_assert_float_eq(curve.loo_mape_percent, 0, 1e-6);
    cr_assert_eq(curve.runs, n_rows);
    for (double deadline_s = 60; deadline_s < 500; deadline_s += 17) {
        int64_t law = 1;
        while (ernest(64, (double)law) > deadline_s)
            law++;
        struct advice advice = ask(&curve, deadline_s, 0.5);
        cr_assert((advice.verdict == ADVISE_MET));
        cr_assert_eq(advice.recommendation.executors, law, "%g s: %lld, not %lld", deadline_s,
                     (long long)advice.recommendation.executors, (long long)law);
        cr_assert_float_eq(advice.recommendation.predicted_duration_s, ernest(64, (double)law),
                           1e-6);
        cr_assert(ask(&curve, deadline_s, 0.95).recommendation.executors >= law);
    }
}

/* Advice and the model's own interval come from one distribution, which widens outside the runs. */
Test(predictor, an_advice_has_the_interval_of_the_model)
{
    for (size_t i = 0; i < n_rows; i++)
        rows[i].duration_s *= i % 3 == 0 ? 1.3 : i % 3 == 1 ? 0.8 : 1.0;
    struct model_fit fit;
    struct curve curve;
    cr_assert_eq(model_fit(&ernest_kind, rows, n_rows, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    cr_assert_eq(model_curve_make(&fit, &question, &arena, &curve, NULL), PV_OK);
    struct model_spread spread = model_spread(&fit.model, 0.95);
    double last = 0;
    for (size_t i = 0; i < curve.n_points; i++) {
        const struct curve_point *point = &curve.points[i];
        struct model_prediction own;
        model_predict(&fit.model, &spread, 64, (double)point->executors, &own);
        if (point->duration_s > own.duration_s * (1 + 1e-9)) {
            cr_assert_gt(point->executors, 16, "only linear speedup bounds the curve");
            continue;
        }
        cr_assert_float_eq(curve_quantile(&curve, point, 0.975), own.interval_s[1],
                           1e-9 * own.interval_s[1]);
        cr_assert_float_eq(curve_probability(&curve, point, own.interval_s[1]), 0.975, 1e-9);
        double width = own.interval_s[1] / own.duration_s;
        /* Up to 16 by runs left out, beyond by counts left out. */
        cr_assert(point->executors <= 17 || width > last, "%g after %g", width, last);
        last = width;
        cr_assert_eq(point->extrapolated, point->executors > 16);
        cr_assert_float_eq(curve_probability(&curve, point, point->duration_s), 0.5, 1e-12);
    }
}

/* A law that falls through 0 is not followed to where it promises time for nothing, and one that
 * promises more than linear speedup beyond the runs is taken to promise that. */
Test(predictor, no_more_than_linear_speedup_is_believed_beyond_the_runs)
{
    struct model_fit fit;
    struct curve curve;
    const struct model_kind *usba = model_find_kind("usba");
    n_rows = 0;
    for (double size = 32; size <= 128; size *= 2)
        for (double m = 1; m <= 8; m *= 2)
            observe(size, m, 4 + 40 * log(size / m) + 0.5 * size);
    cr_assert_eq(model_fit(usba, rows, n_rows, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    question.problem_size = 32;
    cr_assert_eq(model_curve_make(&fit, &question, &arena, &curve, NULL), PV_OK);
    double edge_s = curve_find(&curve, 8)->duration_s;
    cr_assert(curve.n_points >= 48 && curve.n_points < COUNTS, "%zu", curve.n_points);
    cr_expect_float_eq(curve_find(&curve, 48)->duration_s, edge_s / 6, 1e-9 * edge_s);
    for (size_t i = 8; i < curve.n_points; i++) {
        const struct curve_point *point = &curve.points[i];
        cr_assert(point->duration_s * (double)point->executors >= 8 * edge_s * (1 - 1e-9));
    }
}

/* Runs that show superlinear speedup: the model answers beyond them too, as if it were linear from
 * there on, and what lies around the prediction is as wide in proportion. */
Test(predictor, a_superlinear_model_answers_beyond_its_runs)
{
    struct predictor predictor;
    struct curve curve = {.points = NULL}, far = {.points = NULL};
    n_rows = 0;
    for (double m = 4; m <= 40; m += 6)
        observe(64, m, 1e4 * pow(m, -1.5));
    cr_assert_eq(choose(false, &curve, &predictor, NULL), PV_OK);
    double edge_s = curve_find(&curve, 40)->duration_s;
    cr_expect_float_eq(edge_s, 1e4 * pow(40, -1.5), 1e-3 * edge_s);
    const struct curve_point *beyond = curve_find(&curve, 50);
    cr_assert_not_null(beyond);
    cr_expect_float_eq(beyond->duration_s, edge_s * 40 / 50, 1e-9 * edge_s);
    cr_expect_float_eq(curve_probability(&curve, beyond, beyond->duration_s), 0.5, 1e-12);
    cr_assert_eq(predictor_choose(rows, n_rows, &question, 50, 50, false, &arena, &scratch, &far,
                                  &predictor, NULL),
                 PV_OK);
    cr_expect_eq(curve_find(&far, 50)->duration_s, beyond->duration_s);
}

/* Without a model it is told how many runs one lacks, or what they do not differ in. */
Test(predictor, what_a_model_lacks_is_told)
{
    struct predictor predictor;
    struct curve curve = {.points = NULL};
    n_rows = 0;
    for (double m = 1; m <= 5; m++)
        observe(64, 4, 100 + m);
    cr_assert_eq(choose(false, &curve, &predictor, NULL), PV_E_TOO_FEW);
    cr_expect_eq(predictor.runs_missing, 0);
    cr_expect_eq(predictor.model_runs, 5);
    cr_expect_str_eq(
        predictor.without_model,
        "amdahl needs 2 different pairs of problem_size and executors; there are 1 in 5 "
        "observations: 1 more needed");
    n_rows = 4;
    cr_assert_eq(choose(false, &curve, &predictor, NULL), PV_E_TOO_FEW);
    cr_expect_eq(predictor.runs_missing, 1);
    cr_expect_eq(predictor.model_runs, 4);
}

/* A speedup among durations: no kind can be fitted, and none lacks runs. */
Test(predictor, the_sentence_of_no_kind_is_quoted_without_its_full_stop)
{
    struct predictor predictor;
    struct curve curve = {.points = NULL};
    n_rows = 5;
    rows[4].speedup = 2;
    cr_assert_eq(choose(false, &curve, &predictor, NULL), PV_E_TOO_FEW);
    cr_expect_str_eq(predictor.without_model, "None of 14 kinds can be fitted to 5 runs");
}

/* Three runs with labels like those asked for suffice together with those of other labels, two do not. */
Test(predictor, three_runs_suffice_for_a_model_that_learns_from_other_labels)
{
    struct predictor predictor;
    struct curve curve = {.points = NULL};
    for (size_t own = 2; own <= 3; own++) {
        n_rows = 0;
        for (unsigned context = 1; context <= 4; context++)
            for (size_t i = 0; i < (context == 1 ? own : 6); i++) {
                double m = (double)(1u << (context == 1 ? 2 * i : i));
                observe(64, m, context * ernest(64, m));
                rows[n_rows - 1].context = context;
            }
        enum pv_code code = choose(false, &curve, &predictor, NULL);
        cr_expect_eq(predictor.has_model, own == 3, "%zu own runs: %s", own,
                     predictor.has_model ? predictor.model_kind : predictor.without_model);
        cr_expect_eq(code, own == 3 ? PV_OK : PV_E_TOO_FEW);
    }
    cr_expect_float_eq(curve_find(&curve, 8)->duration_s, ernest(64, 8), 0.1 * ernest(64, 8));
}

/* Of a fit without observed errors the spread is the prior's, wider beyond the counts that ran. */
Test(predictor, without_observed_errors_the_prior_counts)
{
    struct model_fit fit;
    struct curve curve;
    cr_assert_eq(model_fit(&ernest_kind, rows, n_rows, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    fit.model.uncertainty.observations = 0;
    cr_assert_eq(model_curve_make(&fit, &question, &arena, &curve, NULL), PV_OK);
    double half = student_quantile(0.9, CURVE_PRIOR_FREEDOM) * CURVE_PRIOR_SPREAD;
    const struct curve_point *at = curve_find(&curve, 16);
    cr_expect_float_eq(log(curve_quantile(&curve, at, 0.95) / at->duration_s), half, 1e-9);
    at = curve_find(&curve, 48);
    double far = gap_overshoot(fit.model.uncertainty.executors, 48);
    cr_expect_gt(far, 0.1);
    cr_expect_float_eq(log(curve_quantile(&curve, at, 0.95) / at->duration_s), half * (1 + far),
                       1e-9);
}

/* 15 runs of sizes 32 to 128 on 1 to 16 executors of 4 cores. */
Test(predictor, a_curve_says_what_it_was_fitted_to)
{
    struct model_fit fit;
    struct curve curve;
    cr_assert_eq(model_fit(&ernest_kind, rows, n_rows, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    cr_assert_eq(model_curve_make(&fit, &question, &arena, &curve, NULL), PV_OK);
    cr_expect_str_eq(curve.model_kind, "ernest");
    cr_expect_eq(curve.runs, 15);
    cr_expect_eq(curve.distinct_cores, 5);
    cr_expect_eq(curve.least_cores, 4);
    cr_expect_eq(curve.most_cores, 64);
    cr_expect_eq(curve.least_size, 32);
    cr_expect_eq(curve.most_size, 128);
    cr_expect(!curve.size_extrapolated);
    cr_expect_eq(curve.n_points, COUNTS);
    cr_expect_float_eq(curve.single_s, ernest(64, 1), 1e-6);
    cr_expect(!curve_find(&curve, 16)->extrapolated && curve_find(&curve, 17)->extrapolated);
    question.problem_size = 160;
    cr_assert_eq(model_curve_make(&fit, &question, &arena, &curve, NULL), PV_OK);
    cr_expect(curve.size_extrapolated);
}

/* A model that has no time for any executors allowed is not used. */
Test(predictor, a_model_without_a_time_for_the_executors_allowed_is_not_used)
{
    struct predictor predictor;
    struct curve curve = {.points = NULL};
    cr_assert_eq(predictor_choose(rows, n_rows, &question, COUNTS + 1, 2 * COUNTS, false, &arena,
                                  &scratch, &curve, &predictor, NULL),
                 PV_E_TOO_FEW);
    cr_expect(!predictor.has_model);
    cr_expect_str_eq(predictor.without_model,
                     "the best one (ernest) predicts no time above 0 for these executors");
}

static struct curve replayed(double loo_mape_percent)
{
    static struct curve_point point = {.executors = 4, .duration_s = 100, .spread = 0.05};
    return (struct curve){.points = &point,
                          .n_points = 1,
                          .problem_size = 64,
                          .cores_per_executor = 4,
                          .single_s = 100,
                          .freedom = 8,
                          .runs = 5,
                          .loo_mape_percent = loo_mape_percent};
}

/* The lesser error decides; a tie, too few runs, or nothing to fit leave it with the replay. */
Test(predictor, the_lesser_error_decides)
{
    struct predictor predictor;
    struct curve curve = replayed(5.0);
    cr_assert_eq(choose(true, &curve, &predictor, NULL), PV_OK);
    cr_assert_str_eq(curve.model_kind, "ernest");
    cr_assert_eq(predictor.replay_mape_percent, 5.0);
    cr_assert_eq(predictor.replay_runs, 5);

    curve = replayed(0.0);
    cr_assert_eq(choose(true, &curve, &predictor, NULL), PV_OK);
    cr_assert_null(curve.model_kind);
    cr_assert(predictor.has_model && predictor.has_replay);

    curve = replayed((double)NAN);
    cr_assert_eq(choose(true, &curve, &predictor, NULL), PV_OK);
    cr_assert_not_null(curve.model_kind);

    for (size_t i = 0; i < n_rows; i++)
        rows[i].duration_s *= i % 2 == 0 ? 2.0 : 0.5;
    curve = replayed(10.0);
    cr_assert_eq(choose(true, &curve, &predictor, NULL), PV_OK);
    cr_assert_null(curve.model_kind);
    cr_assert_gt(predictor.model_mape_percent, 10.0);

    n_rows = 4;
    curve = replayed(50.0);
    cr_assert_eq(choose(true, &curve, &predictor, NULL), PV_OK);
    cr_assert_null(curve.model_kind);
    cr_assert_not_null(predictor.without_model);
}

/* Both figures stand in the reason, whichever was chosen. */
Test(predictor, the_reason_tells_both_errors)
{
    struct predictor predictor;
    struct curve curve = replayed(5.0);
    cr_assert_eq(choose(true, &curve, &predictor, NULL), PV_OK);
    struct advice advice = ask(&curve, 300, 0.9);
    cr_assert_eq(predictor_explain(&predictor, &curve, &advice, NULL), PV_OK);
    const struct finding *note = &advice.reasons.items[advice.reasons.n - 1];
    cr_assert_str_eq(note->code, "model_chosen");
    bool model = false, replay = false;
    for (size_t i = 0; i < note->n_evidence; i++) {
        model = model || strcmp(note->evidence[i].name, "model_loo_mape_percent") == 0;
        if (strcmp(note->evidence[i].name, "replay_loo_mape_percent") == 0) {
            replay = true;
            cr_assert_eq(note->evidence[i].value, 5.0);
        }
    }
    cr_assert(model && replay);
}

/* The order of the runs changes no digit. */
Test(predictor, the_order_of_runs_does_not_matter)
{
    struct predictor predictor;
    struct curve one = {.points = NULL}, other = {.points = NULL};
    for (size_t i = 0; i < n_rows; i++)
        rows[i].duration_s *= 1.0 + 0.01 * (double)(i % 5);
    cr_assert_eq(choose(false, &one, &predictor, NULL), PV_OK);
    for (size_t i = 0; i < n_rows / 2; i++) {
        struct observation swapped = rows[i];
        rows[i] = rows[n_rows - 1 - i];
        rows[n_rows - 1 - i] = swapped;
    }
    cr_assert_eq(choose(false, &other, &predictor, NULL), PV_OK);
    cr_assert_eq(one.n_points, other.n_points);
    for (size_t i = 0; i < one.n_points; i++) {
        cr_assert_eq(one.points[i].duration_s, other.points[i].duration_s);
        cr_assert_eq(one.points[i].spread, other.points[i].spread);
    }
}

/* Without replay and without a model: an error that says what is lacking. */
Test(predictor, too_few_runs_of_everything)
{
    struct predictor predictor;
    struct curve curve = {.points = NULL};
    struct pv_error err = {0};
    n_rows = 2;
    cr_assert_eq(choose(false, &curve, &predictor, &err), PV_E_TOO_FEW);
    cr_assert_not_null(strstr(err.detail, "5 runs"));
}

/* Rows of other contexts are no runs of the one asked about: half as long there moves nothing here.
 */
Test(predictor, runs_of_other_contexts_are_not_averaged_in)
{
    struct curve alone = {.points = NULL}, among = {.points = NULL};
    struct predictor predictor;
    cr_assert_eq(choose(false, &alone, &predictor, NULL), PV_OK);
    size_t own = n_rows;
    for (size_t i = 0; i < own; i++)
        rows[i].context = 1;
    for (size_t i = 0; i < own && n_rows < sizeof rows / sizeof *rows; i++) {
        observe(rows[i].problem_size, rows[i].executors, rows[i].duration_s / 2);
        rows[n_rows - 1].context = 3;
    }
    cr_assert_gt(n_rows, own + 5);
    cr_assert_eq(choose(false, &among, &predictor, NULL), PV_OK);
    cr_assert_eq(predictor.model_runs, own);
    cr_assert_eq(among.runs, own);
    for (size_t i = 0; i < among.n_points && i < 16; i++)
        cr_assert_float_eq(among.points[i].duration_s, alone.points[i].duration_s,
                           0.01 * alone.points[i].duration_s);
}

/* Twelve runs of another context are none of this one: it takes its own. */
Test(predictor, a_context_without_runs_has_no_model)
{
    struct curve curve = {.points = NULL};
    struct predictor predictor;
    struct pv_error err = {0}, again = {0};
    for (size_t i = 0; i < n_rows; i++)
        rows[i].context = 2;
    cr_assert_eq(choose(false, &curve, &predictor, &err), PV_E_TOO_FEW);
    cr_assert(strstr(err.detail, "labels like these, and there are 0") != NULL, "%s", err.detail);
    rows[0].context = 1;
    cr_assert_eq(choose(false, &curve, &predictor, &again), PV_E_TOO_FEW);
    cr_assert(strstr(again.detail, "labels like these, and there are 1") != NULL, "%s",
              again.detail);
}

/* However many reasons an answer has, one more is no failure. */
Test(predictor, a_seventeenth_reason_is_said_as_the_others)
{
    enum { ENOUGH = 16 };
    struct predictor predictor;
    struct curve curve = replayed(5.0);
    cr_assert_eq(choose(true, &curve, &predictor, NULL), PV_OK);
    struct advice advice = ask(&curve, 300, 0.9);
    while (advice.reasons.n < ENOUGH)
        (void)finding_add(&advice.reasons, "one_more", "One more.");
    cr_assert_eq(predictor_explain(&predictor, &curve, &advice, NULL), PV_OK);
    cr_assert_eq(advice.reasons.n, ENOUGH + 1);
    cr_expect_str_eq(advice.reasons.items[ENOUGH].code, "model_chosen");
}
