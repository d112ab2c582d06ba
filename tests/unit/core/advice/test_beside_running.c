/* The choice of executors beside jobs that were advised, by hand, and its sentences. */
#include "core/advice/beside_running.h"

#include <criterion/criterion.h>
#include <math.h>

enum { POINTS = 10 };
static struct arena arena, scratch;
static struct curve_point points[POINTS];
static struct history_prediction prediction;
static struct advice_cluster cluster;
static struct advice_question question;
static struct advice_running listed[2];
static struct joint_running running[2];
static const struct advice_limits limits = {.joint_task_budget = 100000};
static struct beside_known known;

/* 10 cores, one an executor; m executors take 100/m s. Another job holds 4 cores for 6 s. */
static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    for (int64_t m = 1; m <= POINTS; m++)
        points[m - 1] = (struct curve_point){.executors = m, .duration_s = 100.0 / (double)m};
    prediction = (struct history_prediction){.curve = {.points = points,
                                                       .n_points = POINTS,
                                                       .problem_size = 1,
                                                       .cores_per_executor = 1,
                                                       .fewest_executors = 1}};
    question = (struct advice_question){.cluster_cores = 10,
                                        .running = listed,
                                        .n_running = 1,
                                        .running_from = RUNNING_ADVISED,
                                        .goal = {.deadline_s = 20,
                                                 .confidence = 0.9,
                                                 .min_executors = 1,
                                                 .max_executors = POINTS,
                                                 .billing = {.per_hour = (double)NAN},
                                                 .max_cost = (double)NAN}};
    for (size_t i = 0; i < 2; i++)
        running[i] = (struct joint_running){
            .deadline_s = 7, .progress = (double)NAN, .cores = 4, .duration_s = 6};
    known = (struct beside_known){.question = &question,
                                  .goal = &question.goal,
                                  .cluster = &cluster,
                                  .prediction = &prediction,
                                  .running = running};
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(beside_running, .init = set_up, .fini = tear_down, .timeout = 20);

static struct beside_counts *choose(void)
{
    struct beside_counts *counts;
    cr_assert_eq(beside_running_choose(&known, &limits, &arena, &scratch, &counts, NULL), PV_OK);
    return counts;
}

static struct advice explain(const struct beside_counts *counts)
{
    struct advice advice = {.reasons = {.arena = &arena}, .warnings = {.arena = &arena}};
    beside_running_explain(&known, counts, &advice);
    return advice;
}

static void expect_message(const struct findings *findings, const char *code, const char *message)
{
    const struct finding *finding = finding_find(findings, code);
    cr_assert_not_null(finding, "%s", code);
    cr_expect_str_eq(finding->message, message);
}

/* 5 and 6 fit beside the 4 cores. The seventh of 7 tasks of 14.3 s begins at 6 s: too late. From 8 on
 * tasks are short enough to wait. */
Test(beside_running, points_that_make_nobody_late_are_kept)
{
    static const int64_t fitting[] = {5, 6, 8, 9, 10};
    struct beside_counts *counts = choose();
    cr_expect(!counts->cut);
    cr_expect_eq(counts->allowed, 10);
    cr_expect_eq(counts->fitting, 5);
    cr_assert_eq(counts->curve.n_points, 5);
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(counts->curve.points[i].executors, fitting[i]);
    struct advice advice = explain(counts);
    cr_expect_eq(advice.warnings.n, 0);
    expect_message(
        &advice.reasons, "beside_advised_jobs",
        "With 5 of 10 allowed executor counts nobody is late, neither this job nor the 1 "
        "other job that runs or is still to begin; the choice is among these.");
    question.goal.min_executors = 6;
    question.goal.max_executors = 7;
    counts = choose();
    cr_expect(counts->allowed == 2 && counts->fitting == 1);
    cr_expect_eq(counts->curve.points[0].executors, 6);
}

/* Two jobs hold 8 of 10 cores for 6 s: 100/m + 6 <= 20 for 8 and more. Nothing fits 12 s. */
Test(beside_running, where_no_count_fits_all_are_kept_with_a_warning)
{
    question.n_running = 2;
    struct beside_counts *counts = choose();
    cr_expect_eq(counts->fitting, 3);
    struct advice advice = explain(counts);
    expect_message(
        &advice.reasons, "beside_advised_jobs",
        "With 3 of 10 allowed executor counts nobody is late, neither this job nor the 2 "
        "other jobs that run or are still to begin; the choice is among these.");
    question.goal.deadline_s = 12;
    counts = choose();
    cr_expect_eq(counts->fitting, 0);
    cr_expect_eq(counts->curve.n_points, POINTS);
    advice = explain(counts);
    cr_expect_eq(advice.reasons.n, 0);
    expect_message(&advice.warnings, "nobody_in_time_beside_advised",
                   "With each of the 10 allowed executor counts somebody is late: this job or "
                   "another one.");
}

/* Jobs that the request lists, or none, leave the choice free. */
Test(beside_running, only_advised_jobs_bound_the_choice)
{
    question.running_from = 0;
    struct beside_counts *counts = choose();
    cr_expect(counts->allowed == 0 && counts->curve.n_points == POINTS);
    struct advice advice = explain(counts);
    cr_expect(advice.reasons.n == 0 && advice.warnings.n == 0);
    question.running_from = RUNNING_ADVISED;
    question.n_running = 0;
    counts = choose();
    cr_expect(counts->allowed == 0 && counts->curve.n_points == POINTS);
    advice = explain(counts);
    cr_expect(advice.reasons.n == 0 && advice.warnings.n == 0);
}

Test(beside_running, a_search_cut_and_jobs_cut_in_words)
{
    struct beside_counts counts = {.cut = true, .allowed = 10};
    question.n_running = 2;
    question.advised_are_cut = true;
    listed[1].advice_id = "x";
    struct advice advice = explain(&counts);
    listed[1].advice_id = NULL;
    cr_expect_eq(advice.reasons.n, 0);
    cr_expect_eq(advice.warnings.n, 2);
    expect_message(&advice.warnings, "search_cut",
                   "The search for the executors that make nobody late was cut by its budget of "
                   "simulated tasks.");
    expect_message(&advice.warnings, "advised_jobs_cut",
                   "More jobs were advised for the cluster and have not reported back: only the "
                   "newest 1 counts (advised_jobs_max).");
}

/* 40 GiB, of which a running job holds 8 for 6 s and one core; executors hold 4 each, so 9 of them wait
 * for memory and end at 17.1 s. */
Test(beside_running, memory_delays_the_launch)
{
    static struct advice_cluster of_memory;
    of_memory.cluster.traits.memory_bytes_per_executor = INT64_C(4) << 30;
    known.cluster = &of_memory;
    running[0].cores = 1;
    running[0].memory_bytes = INT64_C(8) << 30;
    question.goal.deadline_s = 15;
    struct beside_counts *counts = choose();
    cr_assert_eq(counts->fitting, 3);
    cr_expect_eq(counts->curve.points[2].executors, 9, "memory does not count");
    question.launches.bytes = INT64_C(40) << 30;
    counts = choose();
    cr_assert_eq(counts->fitting, 2);
    cr_expect_eq(counts->curve.points[1].executors, 8);

    struct advice advice = {.recommendation = {.executors = 9, .predicted_duration_s = 100.0 / 9},
                            .verdict = ADVISE_MET,
                            .reasons = {.arena = &arena},
                            .warnings = {.arena = &arena}};
    struct joint_outcome joint;
    struct pv_error err = {0};
    int64_t bytes = 0;
    listed[0].application = strview_of("other");
    cr_assert_eq(beside_running_check(&known, &prediction.curve, 100000, &arena, &scratch, &advice,
                                      &joint, &bytes, &err),
                 PV_OK, "%s", err.detail);
    cr_expect_eq(bytes, INT64_C(36) << 30);
    cr_expect(!joint.met);
    cr_expect_float_eq(joint.launched_s, 6, 1e-9);
    cr_expect_float_eq(joint.execution_s, 6 + 100.0 / 9, 1e-9);
    advice.recommendation = (struct advise_choice){.executors = 10, .predicted_duration_s = 10};
    cr_assert_eq(beside_running_check(&known, &prediction.curve, 100000, &arena, &scratch, &advice,
                                      &joint, &bytes, &err),
                 PV_OK);
    advice.recommendation.executors = 11;
    cr_assert_eq(beside_running_check(&known, &prediction.curve, 100000, &arena, &scratch, &advice,
                                      &joint, &bytes, &err),
                 PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/cluster");
    question.launches.bytes = 0;
    cr_assert_eq(beside_running_check(&known, &prediction.curve, 100000, &arena, &scratch, &advice,
                                      &joint, &bytes, &err),
                 PV_OK);
    cr_expect_eq(bytes, 0);
}

Test(beside_running, cores_are_the_cluster_s_or_those_of_the_most_executors)
{
    cr_expect_eq(beside_running_cores(&question, 4), 10);
    question.cluster_cores = RUN_UNKNOWN;
    cr_expect_eq(beside_running_cores(&question, 4), 40);
}
