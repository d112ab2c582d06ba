#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "core/advice/autoscaling.h"
#include "core/advice/replay_curve.h"

static struct arena arena;
static struct arena scratch;

static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(autoscaling, .init = set_up, .fini = tear_down, .timeout = 60);

enum { TASKS = 24, MOST = 8 };

static double durations_s[TASKS];

/* Equal tasks of 10 s on 4 executors of one core, after 5 s. */
static struct run recorded(struct run_stage *stage)
{
    for (size_t i = 0; i < TASKS; i++)
        durations_s[i] = 10.0;
    *stage = stage_of_tasks(0, durations_s, TASKS);
    stage->started_s = 5.0;
    stage->duration_s = 60.0;
    struct run run = run_of_stages(stage, 1, TASKS, 4, 1, 65.0, 5.0);
    run.executor_startup_s = 2.0;
    return run;
}

static struct curve predicted;

static void predict(const struct run *run)
{
    static int64_t counts[MOST];
    for (int64_t m = 1; m <= MOST; m++)
        counts[m - 1] = m;
    const struct curve_question asked = {.problem_size = TASKS,
                                         .cores_per_executor = 1,
                                         .executors = counts,
                                         .n_executors = MOST,
                                         .task_budget = 1000000,
                                         .least_runs = 1};
    cr_assert_eq(replay_curve_make(run, 1, &asked, &arena, &scratch, &predicted, NULL), PV_OK);
}

static struct spark_before ran_with = {.executors = 4, .cores_per_executor = 1};

static struct autoscaling compare(const struct run *run, int64_t executors, struct billing billing)
{
    const struct advise_goal goal = {
        .deadline_s = (double)NAN, .confidence = 0.9, .max_executors = MOST};
    const struct advise_choice choice = {.executors = executors,
                                         .predicted_duration_s =
                                             curve_find(&predicted, executors)->duration_s};
    const struct spark_constraints none = {0};
    const struct autoscaling_question question = {.runs = run,
                                                  .n_runs = 1,
                                                  .curve = &predicted,
                                                  .goal = &goal,
                                                  .choice = &choice,
                                                  .last_executors = 4,
                                                  .before = &ran_with,
                                                  .spark_constraints = &none,
                                                  .executors_max = 100,
                                                  .billing = billing,
                                                  .task_budget = 1000000};
    struct autoscaling made;
    cr_assert_eq(autoscaling_compare(&question, &arena, &scratch, &made, NULL), PV_OK);
    cr_assert_null(made.lack);
    return made;
}

/* What was made outlives the scratch memory that it was made with. */
Test(autoscaling, cases_are_billed_by_how_long_executors_are_held)
{
    struct run_stage stage;
    const struct run run = recorded(&stage);
    predict(&run);
    struct autoscaling made = compare(&run, 8, billing_of_executors(3600.0));
    arena_fini(&scratch);
    arena_init(&scratch, 0);
    const struct autoscaling_case *fixed = autoscaling_find(&made, AUTOSCALING_STATIC);
    const struct autoscaling_case *last = autoscaling_find(&made, AUTOSCALING_STATIC_LAST);
    const struct autoscaling_case *dynamic = autoscaling_find(&made, AUTOSCALING_FROM_MINIMUM);
    cr_assert_float_eq(fixed->predicted_duration_s, 35.0, 1e-6);
    cr_assert_float_eq(fixed->cost, 8 * 35.0, 1e-6);
    cr_assert_float_eq(last->predicted_duration_s, 65.0, 1e-6);
    cr_assert_float_eq(last->cost, 4 * 65.0, 1e-6);
    /* The 5 s before the first stage hold 2 in which executors start, which nothing waits for here.
     * Asked for at 4, 5, 6 and 7 s: 1, 2, 4 and the last of 8; there 2 s later. The tasks take 3
     * rounds and the time until the last executor ran its own. */
    double held_s = 0;
    for (size_t i = 0; i < dynamic->n_steps; i++) {
        double to_s =
            i + 1 < dynamic->n_steps ? dynamic->steps[i + 1].at_s : dynamic->predicted_duration_s;
        held_s += (double)dynamic->steps[i].executors * (to_s - dynamic->steps[i].at_s);
    }
    cr_assert_eq(dynamic->peak_executors, 8);
    cr_assert_float_eq(dynamic->executor_s, held_s + 8 * 2.0, 1e-6);
    cr_assert_float_eq(dynamic->cost, dynamic->executor_s, 1e-6);
    cr_assert_float_eq(dynamic->steps[1].at_s, 6.0, 1e-6);
    cr_assert_float_eq(dynamic->predicted_duration_s, 39.0, 1e-6);
    cr_assert_null(autoscaling_find(&made, AUTOSCALING_AS_CONFIGURED));
}

Test(autoscaling, machines_are_billed_until_the_last_of_their_executors_goes)
{
    struct run_stage stage;
    const struct run run = recorded(&stage);
    predict(&run);
    struct billing billing = billing_of_executors(3600.0);
    billing.executors_per_machine = 4;
    struct autoscaling made = compare(&run, 8, billing);
    const struct autoscaling_case *fixed = autoscaling_find(&made, AUTOSCALING_STATIC);
    const struct autoscaling_case *dynamic = autoscaling_find(&made, AUTOSCALING_FROM_MINIMUM);
    cr_assert_float_eq(fixed->cost, 2 * 35.0, 1e-6);
    /* The first of each machine is asked for at 4 and at 6 s. */
    cr_assert_float_eq(dynamic->cost, (39.0 - 4.0) + (39.0 - 6.0), 1e-6);
}

/* As configured up to 6 executors are held, so the job is that of the curve on 6: 90 s there instead of
 * the 45 s of a replay makes tasks of 20 s after 10 s. Asked for at 9, 10 and 11 s, 1, 2 and 3
 * executors exist 2 s later; each runs 4 tasks, the last three from 13 s to 93 s. */
Test(autoscaling, the_configured_case_is_that_of_the_executors_it_holds)
{
    const struct run_label properties[] = {
        {strview_of("spark.dynamicAllocation.enabled"), strview_of("true")},
        {strview_of("spark.dynamicAllocation.maxExecutors"), strview_of("6")}};
    struct run_stage stage;
    const struct run run = recorded(&stage);
    predict(&run);
    predicted.points[5].duration_s = 90.0;
    ran_with.properties = properties;
    ran_with.n = 2;
    const struct autoscaling made = compare(&run, 2, billing_of_executors((double)NAN));
    const struct autoscaling_case *configured = autoscaling_find(&made, AUTOSCALING_AS_CONFIGURED);
    cr_assert_not_null(configured);
    cr_expect_eq(configured->peak_executors, 6);
    cr_expect_float_eq(configured->predicted_duration_s, 93.0, 1e-6, "%g",
                       configured->predicted_duration_s);
}

Test(autoscaling, without_a_run_to_replay_it_says_why)
{
    struct run_stage stage;
    struct run run = recorded(&stage);
    const struct curve curve = {.cores_per_executor = 1, .problem_size = TASKS};
    const struct advise_goal goal = {.deadline_s = (double)NAN, .confidence = 0.9};
    const struct advise_choice choice = {.executors = 4, .predicted_duration_s = 65.0};
    const struct spark_before before = {.executors = 4};
    const struct spark_constraints none = {0};
    const struct autoscaling_question question = {.runs = &run,
                                                  .n_runs = 1,
                                                  .curve = &curve,
                                                  .goal = &goal,
                                                  .choice = &choice,
                                                  .last_executors = RUN_UNKNOWN,
                                                  .before = &before,
                                                  .spark_constraints = &none,
                                                  .executors_max = 100,
                                                  .billing = billing_of_executors((double)NAN),
                                                  .task_budget = 1000000};
    struct autoscaling made;
    struct advice advice = {.reasons = {.arena = &arena}, .warnings = {.arena = &arena}};
    run.n_stages = 0;
    run.has_stages = false;
    cr_assert_eq(autoscaling_compare(&question, &arena, &scratch, &made, NULL), PV_OK);
    cr_assert_not_null(made.lack);
    cr_assert_eq(made.n_cases, 0);
    cr_assert_eq(autoscaling_explain(&made, &goal, &advice, NULL), PV_OK);
    cr_assert_not_null(finding_find(&advice.warnings, "no_autoscaling"));
}

/* 200 tasks on 200 executors, each two seconds longer than the one before: executors leave one by one,
 * and the 100 steps that are kept are evenly spread. */
Test(autoscaling, of_many_steps_a_hundred_are_kept)
{
    enum { MANY = 200 };
    static double rising_s[MANY];
    static int64_t counts[] = {MANY};
    for (size_t i = 0; i < MANY; i++)
        rising_s[i] = 10.0 + 2.0 * (double)i;
    struct run_stage stage = stage_of_tasks(0, rising_s, MANY);
    stage.started_s = 5.0;
    stage.duration_s = 408.0;
    struct run run = run_of_stages(&stage, 1, MANY, MANY, 1, 413.0, 5.0);
    run.executor_startup_s = 2.0;
    const struct curve_question asked = {.problem_size = MANY,
                                         .cores_per_executor = 1,
                                         .executors = counts,
                                         .n_executors = 1,
                                         .task_budget = 1000000,
                                         .least_runs = 1};
    struct curve curve;
    cr_assert_eq(replay_curve_make(&run, 1, &asked, &arena, &scratch, &curve, NULL), PV_OK);
    const struct advise_goal goal = {
        .deadline_s = (double)NAN, .confidence = 0.9, .max_executors = MANY};
    const struct advise_choice choice = {.executors = MANY, .predicted_duration_s = 413.0};
    const struct spark_before before = {.executors = MANY, .cores_per_executor = 1};
    const struct spark_constraints none = {0};
    const struct autoscaling_question question = {.runs = &run,
                                                  .n_runs = 1,
                                                  .curve = &curve,
                                                  .goal = &goal,
                                                  .choice = &choice,
                                                  .last_executors = MANY,
                                                  .before = &before,
                                                  .spark_constraints = &none,
                                                  .executors_max = MANY,
                                                  .billing = billing_of_executors((double)NAN),
                                                  .task_budget = 1000000};
    struct autoscaling made;
    cr_assert_eq(autoscaling_compare(&question, &arena, &scratch, &made, NULL), PV_OK);
    const struct autoscaling_case *full = autoscaling_find(&made, AUTOSCALING_FROM_MAXIMUM);
    cr_assert_not_null(full);
    cr_assert_eq(full->n_steps, AUTOSCALING_STEPS_MAX);
    double step_s = full->predicted_duration_s / AUTOSCALING_STEPS_MAX;
    for (size_t i = 0; i < full->n_steps; i++) {
        cr_expect_float_eq(full->steps[i].at_s, step_s * (double)i, 1e-6);
        /* A task ends at 15 s + 2 s x its place; its executor leaves a minute later. */
        int64_t left = (int64_t)floor((full->steps[i].at_s - 75.0) / 2.0) + 1;
        int64_t want = left > 0 ? MANY - left : MANY;
        cr_expect(llabs(full->steps[i].executors - want) <= 1, "%g s: %lld, not %lld",
                  full->steps[i].at_s, (long long)full->steps[i].executors, (long long)want);
    }
}

/* A budget of fewer tasks than a case has. */
Test(autoscaling, a_budget_too_small_is_a_lack)
{
    struct run_stage stage;
    const struct run run = recorded(&stage);
    struct curve_point point = {.executors = 4, .duration_s = 65.0};
    const struct curve curve = {
        .points = &point, .n_points = 1, .cores_per_executor = 1, .problem_size = TASKS};
    const struct advise_goal goal = {.deadline_s = (double)NAN, .confidence = 0.9};
    const struct advise_choice choice = {.executors = 4, .predicted_duration_s = 65.0};
    const struct spark_before before = {.executors = 4};
    const struct spark_constraints none = {0};
    struct autoscaling_question question = {.runs = &run,
                                            .n_runs = 1,
                                            .curve = &curve,
                                            .goal = &goal,
                                            .choice = &choice,
                                            .last_executors = RUN_UNKNOWN,
                                            .before = &before,
                                            .spark_constraints = &none,
                                            .executors_max = 100,
                                            .billing = billing_of_executors((double)NAN),
                                            .task_budget = TASKS - 1};
    struct autoscaling made;
    cr_assert_eq(autoscaling_compare(&question, &arena, &scratch, &made, NULL), PV_OK);
    cr_assert_not_null(made.lack);
    question.task_budget = 1000000;
    cr_assert_eq(autoscaling_compare(&question, &arena, &scratch, &made, NULL), PV_OK);
    cr_assert_null(made.lack);
}

static struct autoscaling_case case_of(enum autoscaling_allocation allocation,
                                       int64_t initial,
                                       double duration_s,
                                       double executor_s,
                                       double probability)
{
    return (struct autoscaling_case){
        .allocation = allocation,
        .is_dynamic = allocation >= AUTOSCALING_FROM_MINIMUM,
        .policy = {.initial_executors = initial, .min_executors = 1, .max_executors = 8},
        .predicted_duration_s = duration_s,
        .deadline_probability = probability,
        .executor_s = executor_s};
}

/* The dynamic case that holds least among those that are in time; if none is, the least, and a
 * remark. */
Test(autoscaling, the_best_dynamic_case_in_words)
{
    struct autoscaling made = {.startup_s = 7.5,
                               .startup_measured = true,
                               .cases = {case_of(AUTOSCALING_STATIC, 8, 100, 800, 0.99),
                                         case_of(AUTOSCALING_FROM_MINIMUM, 1, 110, 600, 0.9),
                                         case_of(AUTOSCALING_FROM_MAXIMUM, 8, 120, 500, 0.89),
                                         case_of(AUTOSCALING_AS_CONFIGURED, 3, 105, 640, 0.95)},
                               .n_cases = 4};
    const struct advise_goal goal = {.deadline_s = 130, .confidence = 0.9};
    struct advice advice = {.reasons = {.arena = &arena}, .warnings = {.arena = &arena}};
    cr_assert_eq(autoscaling_explain(&made, &goal, &advice, NULL), PV_OK);
    cr_expect_str_eq(
        finding_find(&advice.reasons, "dynamic_allocation")->message,
        "With dynamic allocation that begins with 1 executor and goes up to 8 the job is predicted "
        "to take 1 min 50 s (10 % longer) and to hold executors for 10 min in all (25 % less).");
    cr_expect_eq(advice.warnings.n, 0);
    for (size_t i = 1; i < 4; i++)
        made.cases[i].deadline_probability = 0.5;
    made.startup_measured = false;
    advice = (struct advice){.reasons = {.arena = &arena}, .warnings = {.arena = &arena}};
    cr_assert_eq(autoscaling_explain(&made, &goal, &advice, NULL), PV_OK);
    cr_expect_str_eq(
        finding_find(&advice.reasons, "dynamic_allocation")->message,
        "With dynamic allocation that begins with 8 executors and goes up to 8 the job is "
        "predicted to take 2 min (20 % longer) and to hold executors for 8 min 20 s in all (37.5 % "
        "less); no dynamic case meets the deadline with confidence.");
    cr_expect_str_eq(finding_find(&advice.warnings, "executor_startup_assumed")->message,
                     "No log of the nearest run says how long executors take to start: it is taken "
                     "to be 7.5 s.");
}
