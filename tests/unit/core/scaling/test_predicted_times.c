/* Times of experiments by another predictor than the law: exact where it predicts, the law's way
 * between and beyond, and what follows for choices, costs and the interval. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "core/scaling/experiments/design.h"
#include "core/scaling/laws/kinds.h"

static struct arena arena;

static void setup(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(predicted_times, .init = setup, .fini = teardown, .timeout = 60);

static const struct effects_law law = {.fixed = 2, .unit_s = 10}; /* 10 (2 + N/m) */

static const double counts[] = {1, 4, 16}, predicted_s[] = {360, 90, 20};
static const struct predicted_times times = {16, counts, predicted_s, NULL, 3};

static double by_law(const void *of, double problem_size, double executors)
{
    return effects_time(of, problem_size, executors);
}

static double time_at(double problem_size, double executors)
{
    return effects_time(&law, problem_size, executors) *
           predicted_times_factor(&times, by_law, &law, executors);
}

Test(predicted_times, are_exact_where_there_is_a_prediction)
{
    for (size_t i = 0; i < 3; i++)
        cr_expect_float_eq(time_at(16, counts[i]), predicted_s[i], 1e-9);
}

/* Halfway between 1 and 4 executors the factor is the geometric mean of theirs. */
Test(predicted_times, follow_the_law_between_counts)
{
    double by_law = 10 * (2 + 16.0 / 2);
    cr_expect_float_eq(time_at(16, 2), by_law * sqrt(360 / 180.0 * 90 / 60.0), 1e-9);
}

Test(predicted_times, go_on_as_the_law_beyond_the_prediction)
{
    cr_expect_float_eq(time_at(16, 32), 10 * (2 + 16.0 / 32) * 20 / 30.0, 1e-9);
    cr_expect_float_eq(time_at(16, 0.5), 10 * (2 + 16.0 / 0.5) * 2, 1e-9);
    cr_expect_float_eq(time_at(256, 4), 10 * (2 + 256.0 / 4) * 90 / 60.0, 1e-9);
    cr_expect_float_eq(time_at(4, 1), 10 * (2 + 4.0) * 2, 1e-9);
}

Test(predicted_times, change_nothing_where_there_are_none)
{
    const struct predicted_times none = {.n = 0};
    cr_expect_eq(predicted_times_factor(&none, by_law, &law, 4), 1);
}

/* By the law that the runs show, one executor takes 180 s. */
Test(predicted_times, decide_what_experiments_cost)
{
    const double all_counts[] = {1, 2, 4, 8};
    const double all_s[] = {400, 150, 70, 30};
    const double intervals_s[][2] = {{300, 500}, {100, 200}, {(double)NAN, 90}, {20, (double)NAN}};
    const struct observation rows[] = {model_seen(16, 4, 60, (double)NAN),
                                       model_seen(16, 8, 40, (double)NAN)};
    struct effects_point allowed[4];
    for (size_t i = 0; i < 4; i++)
        allowed[i] = (struct effects_point){16, all_counts[i]};
    struct experiments_question question = {.allowed = allowed,
                                            .n_allowed = 4,
                                            .asked = allowed,
                                            .n_asked = 1,
                                            .criterion = EXPERIMENTS_IMSE,
                                            .count = 1,
                                            .confidence = 0.9,
                                            .executor_s_max = (double)NAN,
                                            .doubt = EFFECTS_DOUBT,
                                            .predicted = {16, all_counts, all_s, intervals_s, 4}};
    cr_expect_eq(predicted_times_interval(&question.predicted, 16, 4)[1], 90, "open below");
    cr_expect_null(predicted_times_interval(&question.predicted, 16, 8), "unknown");
    cr_expect_null(predicted_times_interval(&question.predicted, 16, 3), "of no count predicted");
    cr_expect_null(predicted_times_interval(&question.predicted, 16, 9));
    cr_expect_null(predicted_times_interval(&question.predicted, 8, 1), "of another size");
    struct experiments_plan plan;
    struct pv_error err = {0};
    cr_assert_eq(experiments_choose(rows, 2, NULL, &question, &arena, &plan, &err), PV_OK);
    cr_assert_eq(plan.n, 1);
    cr_expect_eq(plan.items[0].at.executors, 1);
    cr_expect_float_eq(plan.items[0].duration_s, 400, 1e-9);
    cr_expect_float_eq(plan.items[0].executor_s, 400, 1e-9);
    cr_expect_float_eq(plan.cheapest_s, 240, 1e-9, "8 executors for 30 s");
    cr_expect_eq(plan.interval_s[0], 300);
    cr_expect_eq(plan.interval_s[1], 500);
    double kept = 1 - plan.items[0].cumulative_cut_percent / 100;
    cr_assert(kept < 0.9 && kept > 0);
    cr_expect_float_eq(plan.expected_interval_s[0], 400 - kept * 100, 1e-9);
    cr_expect_float_eq(plan.expected_interval_s[1], 400 + kept * 100, 1e-9);

    question.executor_s_max = 350; /* by the law it costs 180 */
    cr_assert_eq(experiments_choose(rows, 2, NULL, &question, &arena, &plan, &err), PV_OK);
    cr_assert_eq(plan.n, 1);
    cr_expect_eq(plan.items[0].at.executors, 2, "what the prediction makes too dear is left out");
}

/* A profile without a measured duration has no unit but the prediction's. */
Test(predicted_times, give_times_where_there_is_no_run)
{
    const double two_counts[] = {1, 2};
    const double two_s[] = {400, 150};
    const struct effects_point allowed[] = {{16, 1}, {16, 2}};
    const struct experiments_question question = {.allowed = allowed,
                                                  .n_allowed = 2,
                                                  .asked = allowed,
                                                  .n_asked = 2,
                                                  .criterion = EXPERIMENTS_CHEAPEST,
                                                  .count = 2,
                                                  .confidence = 0.9,
                                                  .executor_s_max = (double)NAN,
                                                  .doubt = EFFECTS_DOUBT,
                                                  .predicted = {16, two_counts, two_s, NULL, 2}};
    struct experiments_plan plan;
    struct pv_error err = {0};
    cr_assert_eq(experiments_choose(NULL, 0, NULL, &question, &arena, &plan, &err), PV_OK);
    for (size_t i = 0; i < plan.n; i++)
        cr_expect_float_eq(plan.items[i].duration_s, plan.items[i].at.executors > 1 ? 150 : 400,
                           1e-9);
    cr_expect(isnan(plan.interval_s[0]));
}
