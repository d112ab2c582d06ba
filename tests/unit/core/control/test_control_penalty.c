#include "core/control/penalty.h"

#include <criterion/criterion.h>
#include <math.h>

#include "control_cases.h"
#include "core/control/recommend.h"

static struct arena arena;
static struct control_options options;

static void set_up(void)
{
    arena_init(&arena, 0);
    options = control_options_default();
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(control_penalty, .init = set_up, .fini = tear_down, .timeout = 120);

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

/* --- by hand --- */

/* Job 0 takes 90 of 100 s, after it waited 20 s; job 1 takes 150 of 100 s, after 50 s. */
static struct edf_job jobs[] = {{.deadline_s = 100}, {.deadline_s = 100}};
static struct control_job terms[] = {{0.95, 2e6}, {0.95, 1e5}};
static struct edf_outcome outcomes[] = {{0, 90, 90, 10, true}, {0, 150, 150, 50, false}};
static double waits_s[] = {20, 50};
static double deviations[] = {0.25, 0.125};
static double core_s[] = {300, 500};

static struct control_model small_model(void)
{
    return (struct control_model){
        .options = options, .actual = jobs, .jobs = terms, .plan = {.n_jobs = 2, .work_s = 600}};
}

static struct control_result small_result(void)
{
    return (struct control_result){.outcomes = outcomes,
                                   .core_s = core_s,
                                   .longest_wait_s = waits_s,
                                   .share_deviation = deviations,
                                   .metrics = {.advance = 1, .delayed = 1}};
}

Test(control_penalty, each_by_hand)
{
    const struct control_model model = small_model();
    const struct control_result result = small_result();
    static const double in_time[] = {0, 0, 0.1, 0.2, 0.1 + 0.25, 0};
    static const double late[] = {1 + 0.01 * 0.5 / 1.5, 0.5, 0.5, 0.5 + 0.5, 0.5 + 0.125, 0.5 * 10};
    for (size_t p = 0; p < CONTROL_PENALTIES; p++) {
        enum control_penalty penalty = (enum control_penalty)p;
        double first = control_penalty_of(penalty, &model, &result, 0);
        double second = control_penalty_of(penalty, &model, &result, 1);
        cr_expect(near(first, in_time[p]), "%s: %.17g", control_penalty_words[p], first);
        cr_expect(near(second, late[p]), "%s: %.17g", control_penalty_words[p], second);
    }
}

Test(control_penalty, what_a_baseline_does_not_know_is_unknown)
{
    const struct control_model model = small_model();
    struct control_result result = small_result();
    result.longest_wait_s = result.share_deviation = NULL;
    for (size_t p = 0; p < CONTROL_PENALTIES; p++) {
        bool unknown = isnan(control_penalty_of((enum control_penalty)p, &model, &result, 1));
        cr_expect_eq(unknown, p == CONTROL_NO_STARVATION || p == CONTROL_FAIR);
    }
}

/* A strict job that is late outweighs soft ones that are late by less than their deadlines. */
Test(control_penalty, weights_and_kinds_add_up)
{
    const struct control_model model = small_model();
    const struct control_result result = small_result();
    struct control_stake stakes[] = {{CONTROL_ABSOLUTE_ERROR, 4}, {CONTROL_STRICT, 10}};
    const struct control_problem problem = {.stakes = stakes, .n = 2, .repetitions = 2};
    struct control_score score;
    cr_assert(control_score_init(&score, &problem, &arena));
    control_score_add(&score, &problem, &model, &result);
    cr_expect(near(score.total, 4 * 0.1 + 10 * (1 + 0.01 / 3)));
    cr_expect(isnan(score.deviation), "of one repetition");
    cr_expect_eq(score.core_s, 800);
    cr_expect_eq(score.used_s, 600);

    stakes[1].weight = 1e-9;
    control_score_add(&score, &problem, &model, &result);
    cr_expect(near(score.total, (0.4 + 10 * (1 + 0.01 / 3) + 0.4 + 1e-9 * (1 + 0.01 / 3)) / 2));
    cr_expect(near(score.penalties[0], 0.1));
    cr_expect(near(score.deviation, (score.most - score.least) / sqrt(2)));
    cr_expect_eq(score.late, 1);
}

Test(control_penalty, fewer_late_strict_jobs_come_first_however_late)
{
    struct control_model model = small_model();
    struct control_result result = small_result();
    struct edf_outcome worst[] = {{0, 90, 90, 10, true}, {0, 1e9, 1e9, 1e9, false}};
    struct edf_outcome both[] = {{0, 101, 101, 1, false}, {0, 101, 101, 1, false}};
    double totals[2] = {0, 0};
    for (size_t j = 0; j < 2; j++) {
        result.outcomes = worst;
        totals[0] += control_penalty_of(CONTROL_STRICT, &model, &result, j);
        result.outcomes = both;
        totals[1] += control_penalty_of(CONTROL_STRICT, &model, &result, j);
    }
    cr_expect_lt(totals[0], totals[1]);
}

/* --- what the simulation measures --- */

static struct control_case two_jobs(double release_s, double deadline_s)
{
    struct control_case made = {.n = 2, .cluster = {1, 4}};
    for (size_t j = 0; j < 2; j++) {
        made.stages[j][0] = (struct edf_stage){.tasks = 40, .task_duration_s = 1};
        made.jobs[j] = (struct edf_job){.deadline_s = deadline_s, .n_stages = 1};
        made.terms[j] = (struct control_job){0.95, 1e6};
    }
    made.jobs[1].release_s = release_s;
    return made;
}

static struct control_result run_case(struct control_case *made, const char *strategy, double gamma)
{
    for (size_t j = 0; j < made->n; j++)
        made->jobs[j].stages = made->stages[j];
    const struct control_model model = control_case_model(made, &options, &arena);
    return control_case_run(&model, strategy, gamma, NULL, &arena);
}

/* The second job comes at 0.5, waits for the sample at 1, and then has all cores for 10 s. */
Test(control_penalty, a_job_waits_while_it_requests_cores_and_has_none)
{
    struct control_case made = two_jobs(0.5, 12);
    made.jobs[1].deadline_s = 1;
    struct control_result result = run_case(&made, "edf_all", 1);
    cr_expect_eq(result.outcomes[1].completion_s, 11);
    cr_expect_eq(result.longest_wait_s[1], 0.5);
    cr_expect_eq(result.longest_wait_s[0], 10);
    result = run_case(&made, "proportional", 1);
    cr_expect_eq(result.longest_wait_s[0], 0, "it always has some");
}

/* Both are late at the first sample of theirs, at 0.5, and want all 4 cores; the first has them for
 * 10 samples, where even shares are half of each request. A small job sets the clock. */
Test(control_penalty, shares_deviate_from_those_of_all)
{
    struct control_case made = two_jobs(0.25, 1e-3);
    made.jobs[0].release_s = 0.25;
    made.n = 3;
    made.stages[2][0] = (struct edf_stage){.tasks = 1, .task_duration_s = 0.1};
    made.jobs[2] = (struct edf_job){.release_s = -0.5, .deadline_s = 1, .n_stages = 1};
    made.terms[2] = made.terms[0];
    struct control_result result = run_case(&made, "edf_all", 0);
    cr_expect_eq(result.outcomes[0].completion_s, 10.5);
    cr_expect(near(result.share_deviation[0], 0.5), "%g", result.share_deviation[0]);
    cr_expect(near(result.share_deviation[1], 0.25), "%g", result.share_deviation[1]);
    result = run_case(&made, "proportional", 0);
    cr_expect(near(result.share_deviation[0], 0) && near(result.share_deviation[1], 0));
}

/* One after the other on all 4 cores; beside each other on 2. */
Test(control_penalty, what_baselines_hold_and_wait)
{
    struct control_case made = two_jobs(1, 100);
    struct control_result result;
    for (size_t j = 0; j < 2; j++)
        made.jobs[j].stages = made.stages[j];
    const struct control_model model = control_case_model(&made, &options, &arena);
    for (size_t b = 0; b < CONTROL_BASELINES; b++) {
        cr_assert_eq(control_baseline_run(&control_baselines[b], &model, NULL, &arena, &arena,
                                          &result, NULL),
                     PV_OK);
        cr_expect_eq(result.core_s[0], 40);
        cr_expect_eq(result.core_s[1], 40);
        cr_expect_null(result.share_deviation);
        cr_expect_eq(result.longest_wait_s == NULL, b == 0);
        if (b > 0)
            cr_expect_eq(result.longest_wait_s[1], b == 1 ? 9 : 0);
    }
}

/* Between the releases and the end nobody waits longer than there is time. */
Test(control_penalty, measures_keep_within_their_bounds)
{
    for (uint64_t i = 0; i < 60; i++) {
        struct control_case made;
        control_case_make(&made, i, i % 2 == 0 ? 0.2 : 1);
        const struct control_model model = control_case_model(&made, &options, &arena);
        for (size_t s = 0; s < CONTENTION_STRATEGIES; s++) {
            struct control_result result =
                control_case_run(&model, contention_strategies[s].name, 0, NULL, &arena);
            for (size_t j = 0; j < made.n; j++) {
                cr_expect_geq(result.longest_wait_s[j], 0);
                cr_expect_leq(result.longest_wait_s[j], result.outcomes[j].execution_s);
                cr_expect(result.share_deviation[j] >= 0 && result.share_deviation[j] <= 1);
            }
            if (made.n == 1)
                cr_expect_lt(result.share_deviation[0], 0.2, "only rounding, and its own stages");
        }
        arena_clear(&arena);
    }
}

/* --- the choice --- */

static struct control_score score_of(double total, double core_seconds)
{
    return (struct control_score){.total = total, .core_s = core_seconds};
}

Test(control_penalty, least_total_then_core_seconds_then_the_first)
{
    const struct control_score scores[] = {score_of(2, 10), score_of(1, 30), score_of(1, 20),
                                           score_of(1, 20)};
    struct control_choice choice = control_choose(scores, 4);
    cr_expect_eq(choice.best, 2);
    cr_expect_eq(choice.second, 3);
    choice = control_choose(scores, 3);
    cr_expect_eq(choice.best, 2);
    cr_expect_eq(choice.second, 1);
    choice = control_choose(scores, 1);
    cr_expect_eq(choice.best, 0);
    cr_expect_eq(choice.second, CONTROL_NO_SECOND);
}

/* 0.1 ten times over is 1 less the last bit: no better than 1, as a total or as core seconds. */
Test(control_penalty, what_differs_by_the_rounding_of_sums_alone_is_no_better)
{
    double sum = 0;
    for (int i = 0; i < 10; i++)
        sum += 0.1;
    cr_assert_lt(sum, 1);
    struct control_score exact = score_of(0, 1);
    struct control_score summed = score_of(0, sum);
    cr_expect_not(control_score_is_better(&summed, &exact));
    cr_expect_not(control_score_is_better(&exact, &summed));
    exact = score_of(1, 10);
    summed = score_of(sum, 20);
    cr_expect(control_score_is_better(&exact, &summed), "as large, with fewer core seconds");
}

/* Differences 1, 1, 4: mean 2, standard deviation sqrt(3), of three. */
Test(control_penalty, differences_are_those_within_repetitions)
{
    double a[] = {5, 50, 500};
    double b[] = {6, 51, 504};
    const struct control_score scores[] = {{.totals = a, .repetitions = 3, .total = 185},
                                           {.totals = b, .repetitions = 3, .total = 187}};
    cr_expect(near(control_score_error(&scores[0], &scores[1]), 1));
}

static const char *message(const struct findings *findings, const char *code)
{
    const struct finding *finding = finding_find(findings, code);
    cr_assert_not_null(finding, "no %s", code);
    return finding->message;
}

Test(control_penalty, reasons_have_the_numbers)
{
    double totals[3][2] = {{1, 2}, {1.5, 2.6}, {9, 9}};
    double penalties[2] = {1.2, 0.05};
    struct control_stake stakes[] = {{CONTROL_STRICT, 1}, {CONTROL_FAIR, 6}};
    const struct strview names[] = {strview_of("etl"), strview_of("report")};
    const struct control_problem problem = {.stakes = stakes, .n = 2, .repetitions = 2};
    const struct control_point points[] = {{.strategy = &contention_strategies[1]},
                                           {.strategy = &contention_strategies[3], .gamma = 1}};
    struct control_score scores[3] = {
        {totals[0], penalties, 2, 1.5, 0.7, 1, 2, 4000, 3000, 1},
        {totals[1], penalties, 2, 2.05, 0.7, 1.5, 2.6, 7600, 3000, 1},
        {totals[2], penalties, 2, 9, 0, 9, 9, 9000, 3000, 2},
    };
    const struct control_score baselines[CONTROL_BASELINES] = {
        scores[2], {totals[0], penalties, 2, 0.5, 0, 0.5, 0.5, 8000, 3000, 0}, scores[2]};
    const struct control_comparison of = {&problem, names, points, scores, 2, baselines};
    struct control_choice choice = control_choose(scores, 2);
    struct findings why = {.arena = &arena};
    control_explain_choice(&of, &choice, &why);
    cr_expect_str_eq(message(&why, "least_penalty"),
                     "With edf_pure and gamma 0 the total penalty is 1.5, the least of 2 outcomes. "
                     "The next is 2.05, with proportional and gamma 1.");
    cr_expect_str_eq(message(&why, "largest_penalty"),
                     "80 % of the total penalty is that of etl: 1.2 (strict, weight 1).");
    cr_expect_str_eq(message(&why, "core_seconds"),
                     "Core seconds granted: 4000, of which tasks use 75 %. With proportional and "
                     "gamma 1 they are 1.9 times as many.");
    cr_expect_str_eq(message(&why, "baseline_costs_less"),
                     "Without the control loop, spark_fifo has a smaller total penalty, 0.5. Core "
                     "seconds held: 8000.");
    cr_expect_null(finding_find(&why, "difference_may_be_chance"), "0.5 and 0.6 differ by little");
    totals[1][1] = 1.9;
    scores[1].total = 1.7;
    control_explain_choice(&of, &choice, &why);
    cr_expect_not_null(finding_find(&why, "difference_may_be_chance"));
    why = (struct findings){.arena = &arena};
    scores[1].total = 1.5 * (1 - 1e-15); /* as large, but for rounding */
    control_explain_choice(&of, &choice, &why);
    cr_expect_str_eq(message(&why, "fewest_core_seconds"),
                     "2 of 2 outcomes have the least total penalty, 1.5. Of these, edf_pure with "
                     "gamma 0 is granted the fewest core seconds, 4000.");
}
