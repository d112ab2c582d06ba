/* Which runs a prediction is from, replay or model, and the answer as a whole. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../history/sample_runs.h"
#include "base/quantity_text.h"
#include "core/advice/answer.h"

enum { ROWS = 48, RUNS = 4, TASKS = 32 };

static struct arena arena, scratch;
static struct pv_error err;
static struct observation rows[ROWS];
static struct run_label pairs[ROWS];
static struct run_label_list labels[ROWS];
static struct run_evidence evidence[ROWS];
static struct run_stage stages[RUNS];
static struct run runs[RUNS];
static double tasks_s[RUNS][TASKS];
static struct advice_question question;
static struct advice_history history;
static struct history_prediction made;
static struct advice_limits limits = {
    .executors = 64,
    .cores = 1000,
    .task_budget = 2000000,
    .joint_task_budget = 2000000,
    .extrapolation = 4.0,
    .error_percent = 50.0,
};

static double law(double m)
{
    return 10 + 320 / m;
}

/* Newest first; every second run is of the machine that takes twice as long. */
static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    err = (struct pv_error){0};
    for (size_t i = 0; i < ROWS; i++) {
        bool slow = i % 2 == 1;
        double m = (double)(1u << (i / 2 % 4));
        rows[i] = model_seen(32, m, law(m) * (slow ? 2 : 1), (double)NAN);
        pairs[i] = (struct run_label){strview_of("machine"), strview_of(slow ? "slow" : "fast")};
        labels[i] = (struct run_label_list){&pairs[i], 1};
        evidence[i] = (struct run_evidence){.instant_us = (int64_t)(ROWS - i) * 1000000,
                                            .replayable = true,
                                            .cores_per_executor = 1,
                                            .executors_asked = (double)NAN,
                                            .executors_share = (double)NAN,
                                            .failed_share = (double)NAN};
        (void)snprintf(evidence[i].run_id, sizeof evidence[i].run_id, "run-%zu", i);
    }
    for (size_t i = 0; i < RUNS; i++) {
        double m = (double)(1u << i);
        for (size_t t = 0; t < TASKS; t++)
            tasks_s[i][t] = 10;
        stages[i] = stage_of_tasks(0, tasks_s[i], TASKS);
        runs[i] = run_of_stages(&stages[i], 1, 32, (int64_t)m, 1, law(m), 10);
        (void)snprintf(runs[i].id, sizeof runs[i].id, "run-%zu", 2 * i);
    }
    question = (struct advice_question){.application = strview_of("sort"),
                                        .problem_size = (double)NAN,
                                        .cores_per_executor = RUN_UNKNOWN,
                                        .cluster_cores = RUN_UNKNOWN,
                                        .goal = {.objective = ADVISE_MIN_EXECUTORS,
                                                 .deadline_s = 95,
                                                 .confidence = 0.5,
                                                 .min_executors = 1,
                                                 .max_executors = 16,
                                                 .billing = {.per_hour = (double)NAN},
                                                 .max_cost = (double)NAN}};
    history = (struct advice_history){
        .seen = {.rows = rows, .labels = labels, .evidence = evidence, .n = ROWS},
        .nearest = runs,
        .n_nearest = RUNS,
        .lack = "nothing can be replayed"};
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(history_prediction, .init = set_up, .fini = tear_down, .timeout = 60);

static enum pv_code predict(void)
{
    return history_predict(&question, &limits, &history, &arena, &scratch, &made, &err);
}

static void find_group(const struct run_label *asked, size_t n)
{
    cr_assert_eq(label_group_of_explaining(&history.seen, asked, n, &arena, &history.group, &err),
                 PV_OK);
    cr_assert_eq(history.group.n_keys, 1);
}

static double duration_at(int64_t executors)
{
    const struct curve_point *point = curve_find(&made.curve, executors);
    cr_assert_not_null(point);
    return point->duration_s;
}

/* The nearest run fills in size and cores; the runs that follow the law exactly are replayed. */
Test(history_prediction, runs_are_replayed_and_fill_in_what_is_open)
{
    for (size_t i = 0; i < ROWS; i++)
        pairs[i].value = strview_of("fast"), rows[i].duration_s = law(rows[i].executors);
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_expect_eq(made.curve.problem_size, 32);
    cr_expect_eq(made.curve.cores_per_executor, 1);
    cr_expect(made.predictor.has_replay && made.predictor.has_model);
    cr_expect_eq(made.predictor.runs_watched, ROWS);
    cr_expect_float_eq(duration_at(4), law(4), 0.5);
    cr_expect_eq(made.stages.n_stages, 1);
    cr_expect_str_eq(made.stages.run_id, "run-0");
    cr_expect(!made.from_own);
}

/* Four fifths of the budget over 1 + 4 x 32 tasks are far more points than there are executors. Twice the
 * data has twice the tasks, and room for 40 points: 5 of them for special counts, 1 for the most. */
Test(history_prediction, the_budget_of_tasks_decides_how_many_points_are_replayed)
{
    limits.task_budget = 100000;
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_expect_eq(made.replayed.n_points, 64, "%zu", made.replayed.n_points);
    limits.task_budget = 13011;
    question.problem_size = 64;
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_expect_eq(made.replayed.n_points, 35, "%zu", made.replayed.n_points);
}

/* Of 1 + (2 + 1 + 1 + 2) x 32 tasks, as runs on more data or an unknown amount are not shrunk: from 9650
 * of the budget on there is room for 40 points, from 9891.25 on for one more. */
Test(history_prediction, only_runs_on_less_data_cost_more_than_their_tasks)
{
    question.problem_size = 64;
    runs[1].problem_size = (double)NAN;
    runs[2].problem_size = 128;
    static const uint64_t budgets[] = {9648, 9652, 9889, 9893};
    static const size_t points[] = {34, 35, 35, 36};
    for (size_t i = 0; i < 4; i++) {
        limits.task_budget = budgets[i];
        cr_assert_eq(predict(), PV_OK, "%s", err.detail);
        cr_expect_eq(made.replayed.n_points, points[i], "%zu: %zu", i, made.replayed.n_points);
    }
}

/* The start-up is the median of the runs that know theirs; the most cores are of any run, older ones that
 * can be replayed included. */
Test(history_prediction, startup_and_most_cores_are_those_of_the_runs)
{
    static const double startups_s[RUNS] = {5, 1, (double)NAN, 3};
    for (size_t i = 0; i < RUNS; i++)
        runs[i].executor_startup_s = startups_s[i];
    history.latest = runs;
    history.n_latest = RUNS;
    runs[RUNS - 1].executors = 40;
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_expect_eq(made.executor_startup_s, 3);
    cr_expect_eq(made.extent.most_cores, 40);
    runs[2].executor_startup_s = 4;
    cr_assert_eq(predict(), PV_OK);
    cr_expect_eq(made.executor_startup_s, 3.5);
}

Test(history_prediction, the_group_decides_whose_runs_count)
{
    const struct run_label slow = {strview_of("machine"), strview_of("slow")};
    find_group(&slow, 1);
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_expect_float_eq(duration_at(4), 2 * law(4), 1);
    cr_expect(made.predictor.has_model && !made.predictor.has_replay);
    cr_expect(!made.from_own, "none of its runs was there to be replayed");
    cr_expect_str_eq(made.stages.missing, history.lack);
    cr_expect(strview_is(made.group.keys[0], "machine"));
}

Test(history_prediction, runs_of_the_group_are_preferred_for_replay)
{
    find_group(NULL, 0);
    history.own = runs;
    history.n_own = RUNS;
    history.n_nearest = 0;
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_expect(made.from_own && made.predictor.has_replay);
    cr_expect(!made.group.ignored);
}

/* Two runs are too few for a model, and none can be replayed: all runs answer, and that is said. */
Test(history_prediction, a_group_that_allows_nothing_is_ignored)
{
    const struct run_label slow = {strview_of("machine"), strview_of("slow")};
    for (size_t i = 5; i < ROWS; i += 2)
        pairs[i].value = strview_of("fast"), rows[i].duration_s /= 2;
    find_group(&slow, 1);
    cr_assert_eq(history.group.runs, 2);
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_expect(made.group.ignored);
    cr_expect_float_eq(duration_at(4), law(4), 2);
}

Test(history_prediction, what_is_lacking_is_said)
{
    history.seen.n = 2;
    history.n_nearest = 0;
    cr_expect_eq(predict(), PV_OK);
    cr_expect_str_eq(made.lack, "nothing can be replayed; and no model can be fitted: it takes 5 "
                                "runs with 1 core per executor, and there are 2");
    cr_expect_eq(made.predictor.runs_missing, 3);
    history.n_nearest = 1;
    runs[0].n_stages = 0;
    cr_expect_eq(predict(), PV_OK);
    cr_expect_eq(strncmp(made.lack, "the only run near enough cannot be replayed: ", 45), 0, "%s",
                 made.lack);
    history.n_nearest = 2;
    runs[1].n_stages = 0;
    cr_expect_eq(predict(), PV_OK);
    cr_expect_eq(strncmp(made.lack, "none of the 2 nearest runs can be replayed: ", 44), 0, "%s",
                 made.lack);
}

/* What weighs little in a fit weighs little in a replay. */
Test(history_prediction, runs_before_a_drift_fade_in_a_replay_too)
{
    for (size_t i = 0; i < ROWS; i++)
        rows[i].duration_s = law(rows[i].executors) * (i < 16 ? 1.5 : 1);
    (void)snprintf(runs[3].id, sizeof runs[3].id, "unknown");
    (void)snprintf(runs[2].id, sizeof runs[2].id, "run-40");
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_assert_eq(made.predictor.drift.drifts, 1);
    cr_expect(runs[0].weight > 0.99);
    cr_expect(runs[2].weight < 0.01, "from before");
    cr_expect_float_eq(runs[3].weight, rows[ROWS - 1].weight, 0, "older than all that was seen");
}

Test(history_prediction, a_profile_is_replayed_alone)
{
    question.profile = runs[2];
    cr_assert_eq(profile_predict(&question, &limits, &arena, &scratch, &made, &err), PV_OK);
    cr_expect_float_eq(duration_at(4), law(4), 1e-6);
    cr_expect(!made.predictor.has_replay && !made.predictor.has_model);
    question.profile.n_stages = 0;
    cr_expect_eq(profile_predict(&question, &limits, &arena, &scratch, &made, &err), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/profile");
}

/* --- the answer --- */

static struct advice_answer answer_with(const struct joint_running *running)
{
    static struct advice_cluster cluster;
    struct advice_answer answer;
    cr_assert_eq(advice_cluster_apply(NULL, NULL, &limits, &question, &cluster, &err), PV_OK);
    const struct advice_known known = {.question = &question,
                                       .cluster = &cluster,
                                       .prediction = &made,
                                       .runs = runs,
                                       .n_runs = RUNS,
                                       .running = running};
    cr_assert_eq(advice_answer(&known, &limits, &arena, &scratch, &answer, &err), PV_OK, "%s",
                 err.detail);
    return answer;
}

static bool has(const struct findings *list, const char *code)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].code, code) == 0)
            return true;
    return false;
}

/* 10 + 320 / m <= 95 from m = 4 on. */
Test(history_prediction, the_answer_meets_the_deadline_with_the_fewest_executors)
{
    find_group(NULL, 0);
    history.own = runs;
    history.n_own = RUNS;
    question.include = ADVICE_STAGES;
    cr_assert_eq(predict(), PV_OK);
    struct advice_answer answer = answer_with(NULL);
    cr_expect_eq(answer.advice.verdict, ADVISE_MET);
    cr_expect_eq(answer.advice.recommendation.executors, 4);
    cr_expect(answer.has_quotas && !answer.has_joint);
    cr_expect_eq(answer.quotas.n_steps, 1);
    cr_expect(has(&answer.advice.warnings, "labels_of_latest_run"));
    cr_expect(has(&answer.advice.reasons, "replay_chosen") ||
              has(&answer.advice.reasons, "model_chosen"));
}

static const struct finding *reason_of(const struct advice_answer *answer, const char *code)
{
    for (size_t i = 0; i < answer->advice.reasons.n; i++)
        if (strcmp(answer->advice.reasons.items[i].code, code) == 0)
            return &answer->advice.reasons.items[i];
    return NULL;
}

/* Five executors that are to be kept are recommended, unless fewer are allowed. */
Test(history_prediction, executors_to_keep_are_bounded_by_those_allowed)
{
    static struct run_label five[] = {{{"spark.executor.instances", 24}, {"5", 1}}};
    static const struct strview preserve[] = {{"spark.executor.instances", 24}};
    for (size_t i = 0; i < ROWS; i++)
        pairs[i].value = strview_of("fast"), rows[i].duration_s = law(rows[i].executors);
    question.spark_constraints = (struct spark_constraints){
        .current = five, .n_current = 1, .preserve = preserve, .n_preserve = 1};
    cr_assert_eq(predict(), PV_OK);
    question.goal.max_executors = 5;
    cr_expect_eq(answer_with(NULL).advice.recommendation.executors, 5);
    question.goal.max_executors = 3;
    cr_expect_leq(answer_with(NULL).advice.recommendation.executors, 3);
    question.goal.max_executors = 16;
    question.goal.min_executors = 6;
    cr_expect_geq(answer_with(NULL).advice.recommendation.executors, 6);
}

/* 16 executors take 30 s and 8 take 50 s: what is compared with the last run, in words. */
Test(history_prediction, the_comparison_with_the_last_run_in_words)
{
    for (size_t i = 0; i < ROWS; i++)
        pairs[i].value = strview_of("fast"), rows[i].duration_s = law(rows[i].executors);
    rows[0].executors = 8;
    rows[0].duration_s = law(8);
    question.goal.min_executors = question.goal.max_executors = 4;
    cr_assert_eq(predict(), PV_OK);
    made.extent.last.executors = 8;
    made.extent.last.cores_per_executor = 1;
    struct advice_answer answer = answer_with(NULL);
    double change = answer.comparison.duration_change_percent;
    double cost = answer.comparison.cost_change_percent;
    char text[200];
    cr_expect_float_eq(change, 80, 3, "90 s instead of 50 s: %g", change);
    cr_expect_float_eq(cost, -10, 2, "360 instead of 400 executor seconds: %g", cost);
    (void)snprintf(text, sizeof text, "takes %s more time and %s less executor time.",
                   quantity_percent(change).text, quantity_percent(-cost).text);
    cr_expect(strstr(reason_of(&answer, "compared_with_last_run")->message, text) != NULL, "%s",
              reason_of(&answer, "compared_with_last_run")->message);
    made.extent.last.executors = 4;
    answer = answer_with(NULL);
    cr_expect_str_eq(reason_of(&answer, "compared_with_last_run")->message,
                     "The last run had as many cores.");
}

/* Without a prediction the answer still follows the goal that was asked for. */
Test(history_prediction, an_answer_without_a_curve_keeps_the_goal)
{
    history.seen.n = 2;
    history.n_nearest = 0;
    question.goal.objective = ADVISE_MIN_COST;
    cr_assert_eq(predict(), PV_OK);
    struct advice_answer answer = answer_with(NULL);
    cr_expect_eq(answer.advice.verdict, ADVISE_UNKNOWN);
    cr_expect_eq(answer.advice.objective, ADVISE_MIN_COST);
    cr_expect_eq(answer.goal.objective, ADVISE_MIN_COST);
    cr_expect_float_eq(answer.goal.deadline_s, 95, 0);
    cr_expect_float_eq(answer.goal.confidence, 0.5, 0);
    cr_expect_eq(answer.goal.max_executors, 16);
}

/* Only what was asked for is in the answer. */
Test(history_prediction, an_answer_has_what_was_asked_for)
{
    cr_assert_eq(predict(), PV_OK);
    static const unsigned includes[] = {0, ADVICE_SPARK, ADVICE_AUTOSCALING, ADVICE_STAGES};
    for (size_t i = 0; i < sizeof includes / sizeof *includes; i++) {
        question.include = includes[i];
        struct advice_answer answer = answer_with(NULL);
        cr_expect_eq(answer.has_spark, includes[i] == ADVICE_SPARK);
        cr_expect_eq(answer.has_autoscaling, includes[i] == ADVICE_AUTOSCALING);
        cr_expect_eq(answer.has_quotas, includes[i] == ADVICE_STAGES);
    }
}

static const struct task_slots half_of_a_gpu = {.share = 1,
                                                .task_cores = 2,
                                                .resource = {"gpu", 3},
                                                .per_executor = 1,
                                                .resource_per_task = 0.5};

static const char *warning_of_slots(struct curve_slots slots)
{
    made.curve.slots[0] = slots;
    made.curve.n_slots = 1;
    struct advice_answer answer = answer_with(NULL);
    for (size_t i = 0; i < answer.advice.warnings.n; i++)
        if (strcmp(answer.advice.warnings.items[i].code, "idle_cores") == 0)
            return answer.advice.warnings.items[i].message;
    return "none";
}

/* Executors of 8 cores whose tasks leave some of them idle, by their share of a resource or by CPUs. */
Test(history_prediction, idle_cores_in_words)
{
    cr_assert_eq(predict(), PV_OK);
    struct curve_slots slots = {.of = half_of_a_gpu, .per_executor = 2, .cores = 8};
    cr_expect_str_eq(warning_of_slots(slots),
                     "4 cores of each executor idle: the share of a gpu that a task takes allows "
                     "2 tasks at once. Set spark.task.resource.gpu.amount to 0.25 if the memory of "
                     "each gpu suffices, else spark.executor.cores to 4.");
    slots.of.task_cores = 3;
    cr_expect_str_eq(warning_of_slots(slots),
                     "2 cores of each executor idle: a task takes 3 CPUs. Set spark.executor.cores "
                     "to 6 and start more executors on the cores that this frees.");
    slots.per_executor = 1;
    slots.of.task_cores = 7;
    slots.of.resource.at = NULL;
    cr_expect_str_eq(warning_of_slots(slots),
                     "1 core of each executor idles: a task takes 7 CPUs. Set spark.executor.cores "
                     "to 7 and start more executors on the cores that this frees.");
    slots.of.task_cores = 8;
    cr_expect_str_eq(warning_of_slots(slots), "none");
}

static const char *message_of(const struct findings *list, const char *code)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].code, code) == 0)
            return list->items[i].message;
    return "none";
}

/* Executors of a resource profile have the share of its stages. */
Test(history_prediction, task_slots_in_words)
{
    cr_assert_eq(predict(), PV_OK);
    question.goal.min_executors = question.goal.max_executors = 4;
    made.curve.n_slots = 1;
    made.curve.slots[0] = (struct curve_slots){.of = half_of_a_gpu, .per_executor = 2, .cores = 8};
    struct advice_answer answer = answer_with(NULL);
    cr_expect_str_eq(message_of(&answer.advice.reasons, "task_slots"),
                     "4 executors have 8 task slots: 8 cores, 2 CPUs a task.");
    made.curve.slots[0] = (struct curve_slots){
        .of = {.profile = 3, .share = 0.3, .task_cores = 1}, .per_executor = 1, .cores = 1};
    answer = answer_with(NULL);
    cr_expect_str_eq(message_of(&answer.advice.reasons, "task_slots"),
                     "1 executor has 1 task slot for stages of resource profile 3: 1 core, 1 CPU a "
                     "task.");
    made.curve.slots[0].of.share = 0.1; /* at least one */
    made.curve.slots[0].per_executor = 3;
    answer = answer_with(NULL);
    cr_expect_eq(finding_value(reason_of(&answer, "task_slots"), "task_slots"), 3);
    cr_expect_eq(finding_value(reason_of(&answer, "task_slots"), "executors"), 1);
}

static enum pv_code refuse(void)
{
    static struct advice_cluster cluster;
    struct advice_answer answer;
    cr_assert_eq(advice_cluster_apply(NULL, NULL, &limits, &question, &cluster, &err), PV_OK);
    const struct advice_known known = {.question = &question,
                                       .cluster = &cluster,
                                       .prediction = &made,
                                       .runs = runs,
                                       .n_runs = RUNS};
    return advice_answer(&known, &limits, &arena, &scratch, &answer, &err);
}

/* A barrier stage is a lower bound of executors. */
Test(history_prediction, a_barrier_stage_needs_its_executors)
{
    cr_assert_eq(predict(), PV_OK);
    struct advice_answer answer = answer_with(NULL);
    cr_expect_eq(answer.advice.recommendation.executors, 4);
    cr_expect_str_eq(message_of(&answer.advice.reasons, "barrier_stage"), "none");
    made.curve.fewest_executors = 6;
    answer = answer_with(NULL);
    cr_expect_eq(answer.advice.recommendation.executors, 6);
    cr_expect_str_eq(message_of(&answer.advice.reasons, "barrier_stage"),
                     "A barrier stage needs a task slot for each of its tasks at once: at least 6 "
                     "executors.");
    question.goal.max_executors = 6;
    question.has_max_executors = true;
    cr_expect_eq(answer_with(NULL).advice.recommendation.executors, 6);
    question.goal.max_executors = 5;
    cr_assert_eq(refuse(), PV_E_INVALID);
    cr_expect_str_eq(err.faults[0].at, "/constraints/max_executors");
    cr_expect_str_eq(
        err.faults[0].detail,
        "is less than 6: a barrier stage needs as many executors at once for its tasks");
}

/* What the answer assumes is said: the size of the latest run, executors up to four times what ran, cost
 * without a price. */
Test(history_prediction, what_an_answer_assumes_in_words)
{
    cr_assert_eq(predict(), PV_OK);
    struct advice_answer answer = answer_with(NULL);
    cr_expect_str_eq(message_of(&answer.advice.warnings, "problem_size_of_latest_run"),
                     "The request names no problem size: it is taken to be that of the latest run, "
                     "32.");
    cr_expect(!has(&answer.advice.warnings, "cost_in_executor_seconds"));
    cr_expect(!has(&answer.advice.warnings, "executors_bounded"));
    question.problem_size = 32;
    question.goal.objective = ADVISE_MIN_COST;
    answer = answer_with(NULL);
    cr_expect(!has(&answer.advice.warnings, "problem_size_of_latest_run"));
    cr_expect_str_eq(message_of(&answer.advice.warnings, "cost_in_executor_seconds"),
                     "No price is known: the least cost is taken to be the fewest executor "
                     "seconds.");
    made.extent.most_cores = 2;
    question.goal.objective = ADVISE_MIN_EXECUTORS;
    question.goal.deadline_s = 31;
    answer = answer_with(NULL);
    cr_expect_eq(answer.advice.verdict, ADVISE_MISSED);
    cr_expect_eq(answer.advice.recommendation.executors, 8);
    cr_expect_str_eq(message_of(&answer.advice.warnings, "executors_bounded"),
                     "Executors were considered up to 8, which have 4 times the 2 cores of the "
                     "largest run: more would be a guess. Set max_executors to allow them.");
    question.has_max_executors = true;
    answer = answer_with(NULL);
    cr_expect(!has(&answer.advice.warnings, "executors_bounded"));
}

/* Up to 8 executors, 50 s: more would make 51 s surer, unless they take as long. */
Test(history_prediction, more_executors_that_are_no_surer_are_not_missed)
{
    cr_assert_eq(predict(), PV_OK);
    made.extent.most_cores = 2;
    question.goal.deadline_s = 51;
    question.goal.confidence = 0.999;
    struct advice_answer answer = answer_with(NULL);
    cr_expect_eq(answer.advice.verdict, ADVISE_AT_RISK);
    cr_expect(has(&answer.advice.warnings, "executors_bounded"));
    const struct curve_point eight = *curve_find(&made.curve, 8);
    for (size_t i = 0; i < made.curve.n_points; i++)
        if (made.curve.points[i].executors > 8) {
            int64_t executors = made.curve.points[i].executors;
            made.curve.points[i] = eight;
            made.curve.points[i].executors = executors;
        }
    answer = answer_with(NULL);
    cr_expect_eq(answer.advice.verdict, ADVISE_AT_RISK);
    cr_expect(!has(&answer.advice.warnings, "executors_bounded"));
}

/* Dynamic allocation without a bound takes all executors that the service allows, or all cores. */
Test(history_prediction, unbounded_dynamic_allocation_is_bounded_by_the_limits)
{
    static struct run_label dynamic[] = {{{"spark.dynamicAllocation.enabled", 31}, {"true", 4}}};
    cr_assert_eq(predict(), PV_OK);
    made.spark.properties = dynamic;
    made.spark.n = 1;
    question.include = ADVICE_AUTOSCALING;
    for (int64_t cores = 1000; cores >= 40; cores -= 960) {
        limits.cores = cores;
        struct advice_answer answer = answer_with(NULL);
        const struct autoscaling_case *configured =
            autoscaling_find(&answer.autoscaling, AUTOSCALING_AS_CONFIGURED);
        cr_assert_not_null(configured, "%s", answer.autoscaling.lack);
        cr_expect_eq(configured->policy.max_executors, cores < 64 ? cores : 64);
    }
}

Test(history_prediction, limits_of_memory_are_those_of_the_service)
{
    limits.memory_cut_runs = 7;
    limits.memory_per_core_bytes = INT64_C(3) << 30;
    cr_assert_eq(predict(), PV_OK);
    cr_expect_eq(made.memory_cut_runs, 7);
    cr_expect_eq(made.memory_per_core_bytes, INT64_C(3) << 30);
}

/* In local mode the driver is the only executor, unless executors are asked for. */
Test(history_prediction, local_mode_has_one_executor)
{
    static struct run_label local[] = {{{"spark.master", 12}, {"local[4]", 8}}};
    cr_assert_eq(predict(), PV_OK);
    made.spark.properties = local;
    made.spark.n = 1;
    made.extent.last.executors = 1;
    struct advice_answer answer = answer_with(NULL);
    cr_expect_eq(answer.advice.recommendation.executors, 1);
    cr_expect_str_eq(message_of(&answer.advice.warnings, "local_mode"),
                     "The job runs in local mode, where the driver is the only executor. Set "
                     "max_executors or name a cluster to ask about a cluster.");
    question.has_max_executors = true;
    cr_expect_eq(answer_with(NULL).advice.recommendation.executors, 4);
    question.has_max_executors = false;
    made.extent.last.executors = 2;
    cr_expect_eq(answer_with(NULL).advice.recommendation.executors, 4);
}

/* The newest of five runs on four executors took twice as long: both levels are in the curve, that of
 * the slow run by its own replay, whose one task that grew does not shrink with more executors. */
Test(history_prediction, a_slow_newest_run_is_a_level_of_its_own)
{
    for (size_t i = 0; i < RUNS; i++) {
        runs[i].executors = 4;
        runs[i].duration_s = i == 0 ? 180 : 90;
        rows[i] = model_seen(32, 4, runs[i].duration_s, (double)NAN);
        (void)snprintf(runs[i].id, sizeof runs[i].id, "run-%zu", i);
    }
    tasks_s[0][TASKS - 1] = 100;
    stages[0].duration_s = 170;
    history.seen.n = RUNS;
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_assert(made.latest.deviates && made.latest.slower);
    cr_expect_eq(made.latest.streak, 1);
    cr_assert_not_null(made.curve.other);
    cr_expect_float_eq(duration_at(4), 90, 0.5, "the slow run does not move the usual level");
    const struct curve_point *slow = curve_find(made.curve.other, 4);
    cr_expect_float_eq(slow->duration_s, 180, 0.5);
    cr_expect_geq(curve_find(made.curve.other, 16)->duration_s, 110, "the long task stays");
    struct advice_answer answer = answer_with(NULL);
    cr_expect(has(&answer.advice.warnings, "latest_run_deviates"));
    cr_expect_float_eq(rows[0].weight, DRIFT_LEAST_WEIGHT, 0);
}

/* 16 cores; a running job that holds them all for longer than the deadline makes the new one late.
 */
Test(history_prediction, running_jobs_can_make_it_infeasible)
{
    for (size_t i = 0; i < ROWS; i++)
        pairs[i].value = strview_of("fast"), rows[i].duration_s = law(rows[i].executors);
    static double long_s[64];
    for (size_t t = 0; t < 64; t++)
        long_s[t] = 60;
    struct run_stage stage = stage_of_tasks(0, long_s, 64);
    struct run other = run_of_stages(&stage, 1, 64, 16, 1, 240, 0);
    struct advice_running running = {.application = strview_of("other"), .deadline_s = 50};
    const struct joint_running job = {.runs = &other,
                                      .n_runs = 1,
                                      .problem_size = (double)NAN,
                                      .release_s = 0,
                                      .deadline_s = 50,
                                      .progress = (double)NAN};
    question.running = &running;
    question.n_running = 1;
    cr_assert_eq(predict(), PV_OK);
    struct advice_answer answer = answer_with(&job);
    cr_assert(answer.has_joint);
    cr_expect(answer.advice.verdict == ADVISE_MISSED && !answer.joint.met);
    cr_expect_str_eq(answer.advice.reasons.items[0].code, "missed_beside_running");
    cr_expect(has(&answer.advice.warnings, "running_jobs_late"));
}

/* The only run of the group on such executors is too large to be replayed: the model is of all
 * runs, and the stages, which need no replay, are still those of the group. */
Test(history_prediction, stages_stay_those_of_a_group_of_too_few_runs)
{
    const struct run_label slow = {strview_of("machine"), strview_of("slow")};
    uint64_t budget = limits.task_budget;
    for (size_t i = 3; i < ROWS; i += 2)
        evidence[i].cores_per_executor = 2;
    find_group(&slow, 1);
    history.own = runs;
    history.n_own = 1;
    limits.task_budget = 1;
    enum pv_code code = predict();
    limits.task_budget = budget;
    cr_assert_eq(code, PV_OK, "%s", err.detail);
    cr_expect(made.group.ignored && made.predictor.has_model && !made.predictor.has_replay);
    cr_expect_str_eq(made.stages.run_id, "run-0");
    cr_expect(made.from_own, "whose stages they are");
}

/* --- what is kept for predictions --- */

/* Of four machines on which runs differ by a factor, so that label groups are pooled. */
static void make_machines(void)
{
    static const char *const machines[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < ROWS; i++) {
        double m = (double)(1u << (i / 4 % 4));
        double off = 1 + 0.02 * (double)((i * 7) % 5);
        rows[i] = model_seen(32, m, off * law(m) * (1 + (double)(i % 4)), (double)NAN);
        pairs[i] = (struct run_label){strview_of("machine"), strview_of(machines[i % 4])};
    }
    history.n_nearest = 0;
    question.problem_size = 32;
    question.cores_per_executor = 1;
    history.seen.theta = NULL;
    find_group(NULL, 0);
}

Test(history_prediction, a_search_made_beforehand_is_the_one_of_the_prediction)
{
    const struct process_theta *theta;
    make_machines();
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_assert_eq(made.predictor.search, PREDICTOR_SEARCHED);
    double searched_s = duration_at(3);
    make_machines();
    cr_assert_eq(history_learn_theta(&history.seen, &arena, &theta, &err), PV_OK);
    cr_assert_not_null(theta);
    make_machines();
    history.seen.theta = theta;
    cr_assert_eq(predict(), PV_OK, "%s", err.detail);
    cr_expect_eq(made.predictor.search, PREDICTOR_SEARCH_KEPT);
    cr_expect_float_eq(duration_at(3), searched_s, 0);
    make_machines();
    history.seen.theta = theta;
    cr_assert_eq(history_learn_theta(&history.seen, &arena, &theta, &err), PV_OK);
    cr_expect(theta->kept, "and not made again");
}

Test(history_prediction, runs_that_are_alike_need_no_search)
{
    const struct process_theta *theta;
    for (size_t i = 0; i < ROWS; i++)
        rows[i].context = 0;
    cr_assert_eq(history_learn_theta(&history.seen, &arena, &theta, &err), PV_OK);
    cr_expect_null(theta);
}
