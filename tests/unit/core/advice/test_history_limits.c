/* Where a history does not allow an answer: each limit at its edge, and what is said of it. */
#include "core/advice/history_limits.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct arena arena;
static struct curve_point point;
static struct history_prediction prediction;
static struct advise_choice choice;
static const struct advice_limits limits = {.extrapolation = 4, .error_percent = 50};

static void set_up(void)
{
    arena_init(&arena, 0);
    point = (struct curve_point){.executors = 6, .duration_s = 100};
    prediction = (struct history_prediction){.curve = {.points = &point,
                                                       .n_points = 1,
                                                       .problem_size = 64,
                                                       .cores_per_executor = 4,
                                                       .least_size = 32,
                                                       .most_size = 64,
                                                       .least_cores = 8,
                                                       .most_cores = 48,
                                                       .runs = 5,
                                                       .loo_mape_percent = 10}};
    choice = (struct advise_choice){.executors = 6, .lower_s = 90, .upper_s = 110};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(history_limits, .init = set_up, .fini = tear_down);

static enum history_lack find(void)
{
    return history_limits_find(&prediction, &choice, &limits);
}

static struct advice refuse(enum history_lack lack)
{
    struct advice advice = {.objective = ADVISE_MIN_COST, .recommendation = choice};
    cr_assert_eq(history_limits_refuse(&prediction, &limits, lack, 0.9, &arena, &advice, NULL),
                 PV_OK);
    cr_expect_eq(advice.verdict, ADVISE_UNKNOWN);
    cr_expect_eq(advice.objective, ADVISE_MIN_COST);
    cr_expect(advice.n_alternatives == 0 && isnan(advice.remedies.deadline_s));
    cr_assert_eq(advice.reasons.n, 1);
    cr_expect_str_eq(advice.reasons.items[0].code, "history_insufficient");
    cr_expect_eq(finding_value(&advice.reasons.items[0], "runs"), (double)prediction.curve.runs);
    return advice;
}

static void expect_runs(const struct advice *advice, int64_t runs, size_t n, int64_t first)
{
    cr_expect_eq(advice->data_needed_runs, runs);
    cr_assert_eq(advice->n_data_needed, n);
    cr_expect_eq(advice->data_needed_executors[0], first);
}

Test(history_limits, a_good_history_suffices)
{
    cr_expect_eq(find(), HISTORY_SUFFICES);
    prediction.curve.loo_mape_percent = 50;
    cr_expect_eq(find(), HISTORY_SUFFICES);
    prediction.curve.loo_mape_percent = (double)NAN;
    cr_expect_eq(find(), HISTORY_SUFFICES, "a single run");
}

Test(history_limits, runs_left_out_that_are_far_off)
{
    prediction.curve.loo_mape_percent = 50.5;
    cr_assert_eq(find(), HISTORY_ERRS);
    struct advice advice = refuse(HISTORY_ERRS);
    cr_expect_str_eq(advice.reasons.items[0].message,
                     "Predictions of runs left out are off by 50.5 %; beyond 50 % no executor "
                     "count is advised.");
    expect_runs(&advice, 2, 2, 2);
    cr_expect_eq(advice.data_needed_executors[1], 12);
    cr_expect_eq(advice.data_needed_problem_size, 64);
    prediction.unrelated.found = true;
    prediction.unrelated.error_percent = 80;
    cr_assert_eq(find(), HISTORY_UNRELATED);
    advice = refuse(HISTORY_UNRELATED);
    cr_expect_str_eq(advice.reasons.items[0].message,
                     "The runs seem to be of different jobs: predictions of runs left out are off "
                     "by 80 %. No executor count is advised.");
    expect_runs(&advice, 5, 0, 0);
}

/* Several runs allow 16 times, a single replayed one four times as large or small. */
Test(history_limits, sizes_far_away)
{
    static const struct {
        double size;
        bool single;
        bool far;
    } cases[] = {{1024, false, false}, {1025, false, true}, {2, false, false}, {1.99, false, true},
                 {256, true, false},   {257, true, true},   {8, true, false},  {7.9, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        prediction.curve.problem_size = cases[i].size;
        prediction.curve.runs = cases[i].single ? 1 : 5;
        cr_expect_eq(find(), cases[i].far ? HISTORY_FAR : HISTORY_SUFFICES, "%g", cases[i].size);
    }
    prediction.curve.model_kind = "ernest"; /* not a replay of one run */
    cr_expect_eq(find(), HISTORY_SUFFICES);
    prediction.curve.model_kind = NULL;
    prediction.curve.problem_size = 640;
    struct advice advice = refuse(HISTORY_FAR);
    cr_expect_str_eq(
        advice.reasons.items[0].message,
        "The problem size 640 is 10 times away from the nearest of 1 run, 64: beyond 4 "
        "times no executor count is advised.");
    expect_runs(&advice, 1, 1, 12);
    prediction.curve.problem_size = 1;
    prediction.curve.runs = 5;
    advice = refuse(HISTORY_FAR);
    cr_expect_str_eq(
        advice.reasons.items[0].message,
        "The problem size 1 is 32 times away from the nearest of 5 runs, 32: beyond 16 "
        "times no executor count is advised.");
    cr_expect_eq(finding_value(&advice.reasons.items[0], "nearest_problem_size"), 32);
}

/* An end more than ten times the other, or unknown. */
Test(history_limits, intervals_that_are_too_wide)
{
    choice.lower_s = 20;
    choice.upper_s = 200;
    cr_expect_eq(find(), HISTORY_SUFFICES);
    choice.upper_s = 201;
    cr_assert_eq(find(), HISTORY_WIDE);
    struct advice advice = refuse(HISTORY_WIDE);
    cr_expect_str_eq(
        advice.reasons.items[0].message,
        "The 90 % interval of the duration with 6 executors extends from 20 s to 3 min 21 s. The "
        "upper "
        "end may be at most 10 times the lower end: no executor count is recommended.");
    expect_runs(&advice, 2, 2, 2);
    cr_expect_str_eq(advice.data_needed_why,
                     "runs of the problem size asked for, on the fewest and "
                     "the most executors, narrow the interval");
    point.extrapolated = true;
    advice = refuse(HISTORY_WIDE);
    expect_runs(&advice, 1, 1, 6);
    prediction.curve.size_extrapolated = true;
    advice = refuse(HISTORY_WIDE);
    expect_runs(&advice, 1, 1, 12);
    choice.upper_s = (double)NAN;
    cr_assert_eq(find(), HISTORY_WIDE);
    advice = refuse(HISTORY_WIDE);
    cr_expect_str_eq(advice.reasons.items[0].message,
                     "The 90 % interval of the duration with 6 executors has an end that the runs "
                     "do not bound. The upper end may be at most 10 times the lower end: no "
                     "executor count is recommended.");
}

/* Nothing can be predicted: what is missing depends on how near a model is. */
Test(history_limits, a_history_that_cannot_be_used)
{
    prediction.lack = "no run has stages";
    cr_assert_eq(find(), HISTORY_UNUSABLE);
    struct advice advice = refuse(HISTORY_UNUSABLE);
    cr_expect_str_eq(advice.reasons.items[0].message,
                     "Nothing can be predicted from the history: no run has stages. No executor "
                     "count is advised.");
    expect_runs(&advice, 1, 0, 0);
    cr_expect(strstr(advice.data_needed_why, "a run that succeeded") != NULL);
    prediction.predictor.runs_missing = 5; /* of a model that has no run at all */
    advice = refuse(HISTORY_UNUSABLE);
    expect_runs(&advice, 1, 0, 0);
    prediction.predictor.model_runs = 2;
    prediction.predictor.runs_missing = 3;
    advice = refuse(HISTORY_UNUSABLE);
    expect_runs(&advice, 3, 0, 0);
    cr_expect(strstr(advice.data_needed_why, "with so many more runs") != NULL);
    prediction.predictor.runs_missing = 0;
    advice = refuse(HISTORY_UNUSABLE);
    expect_runs(&advice, 1, 0, 0);
    cr_expect(strstr(advice.data_needed_why, "a run on another executor count") != NULL);
}

/* A warning beyond half of the error allowed. */
Test(history_limits, a_poor_model_is_warned_of)
{
    struct advice advice = {.warnings = {.arena = &arena}};
    prediction.curve.loo_mape_percent = 25;
    cr_assert_eq(history_limits_warn(&prediction, &limits, &advice, NULL), PV_OK);
    cr_expect_eq(advice.warnings.n, 0);
    prediction.curve.loo_mape_percent = 26;
    cr_assert_eq(history_limits_warn(&prediction, &limits, &advice, NULL), PV_OK);
    cr_assert_eq(advice.warnings.n, 1);
    cr_expect_str_eq(
        advice.warnings.items[0].message,
        "Predictions of runs left out are off by 26 %; beyond 50 % nothing would be advised.");
}
