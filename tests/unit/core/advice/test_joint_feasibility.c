/* Jobs of which only advice is known, beside each other, by hand. */
#include "core/advice/joint_feasibility.h"

#include <criterion/criterion.h>
#include <math.h>

#include "../history/sample_runs.h"

static struct arena arena, scratch;

static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
    arena_fini(&arena);
}

TestSuite(joint_feasibility, .init = set_up, .fini = tear_down, .timeout = 60);

static struct joint_running
advised(double release_s, double deadline_s, int64_t cores, double takes)
{
    return (struct joint_running){.release_s = release_s,
                                  .deadline_s = deadline_s,
                                  .progress = (double)NAN,
                                  .cores = cores,
                                  .duration_s = takes};
}

static struct joint_question ask(const struct joint_running running[],
                                 size_t n,
                                 int64_t executors,
                                 double takes,
                                 double deadline_s)
{
    return (struct joint_question){
        .target = {.problem_size = 1, .executors = executors, .cores_per_executor = 2},
        .predicted_duration_s = takes,
        .deadline_s = deadline_s,
        .running = running,
        .n_running = n,
        .cores = 10,
        .capped = true,
        .task_budget = 100000};
}

static struct joint_outcome check(const struct joint_question *question)
{
    struct joint_outcome outcome;
    cr_assert_eq(joint_feasibility_check(question, &arena, &scratch, &outcome, NULL), PV_OK);
    cr_assert_null(scratch.head, "scratch is back at its mark");
    return outcome;
}

/* 8 of 10 cores are taken for 6 s more: of 4 tasks of 5 s two begin now, two after these. */
Test(joint_feasibility, what_runs_keeps_its_cores)
{
    const struct joint_running running[] = {advised(-4, 20, 8, 10)};
    struct joint_question question = ask(running, 1, 2, 5, 11);
    struct joint_outcome outcome = check(&question);
    cr_assert(outcome.met && outcome.execution_s == 10 && outcome.alone_s == 5);
    cr_assert(outcome.running[0].met && outcome.running[0].execution_s == 10);
    question.deadline_s = 9.5;
    outcome = check(&question);
    cr_assert(!outcome.met && outcome.has_remedies && outcome.min_total_cores == 12);
}

/* A running job of a recorded run on 8 cores: 6 s of start-up, 12 tasks of 4 s, 3 s of the driver, 4 tasks
 * of 5 s, 2 s of the driver: 24 s. What it has behind it is not waited for again. */
Test(joint_feasibility, a_recorded_job_that_runs_keeps_what_is_left_of_its_start_up)
{
    static const int64_t parents[] = {0};
    static const double four[] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, five[] = {5, 5, 5, 5};
    struct run_stage stages[] = {stage_of_tasks(0, four, 12), stage_of_tasks(1, five, 4)};
    stages[0].started_s = 6, stages[0].duration_s = 8;
    stages[1].started_s = 17, stages[1].duration_s = 5;
    stages[1].parents = parents, stages[1].n_parents = 1;
    const struct run run = run_of_stages(stages, 2, 1, 4, 2, 24, 6);
    struct joint_running running = {
        .runs = &run, .n_runs = 1, .problem_size = 1, .deadline_s = 30, .progress = (double)NAN};
    struct joint_question question = ask(&running, 1, 4, 1, 1000);
    question.cores = 8;
    cr_expect_float_eq(check(&question).running[0].execution_s, 24, 1e-9);
    running.release_s = -2;
    cr_expect_float_eq(check(&question).running[0].execution_s, 24, 1e-9, "from its release");
    running.progress = 0;
    cr_expect_float_eq(check(&question).running[0].execution_s, 22, 1e-9,
                       "2 s of start-up are over");
    running.release_s = -100;
    cr_expect_float_eq(check(&question).running[0].execution_s, 18, 1e-9, "all of it is over");
    running.progress = 0.5; /* 34 of 68 s: of the first stage 14 s are left, in 4 tasks */
    cr_expect_float_eq(check(&question).running[0].execution_s, 4 + 3 + 5 + 2, 1e-9);
    running.progress = 53.0 / 68; /* of the second one 15 s, in 3 tasks */
    cr_expect_float_eq(check(&question).running[0].execution_s, 5 + 2, 1e-9);
}

/* One that by its prediction has ended takes nothing; it is neither late. */
Test(joint_feasibility, what_has_ended_takes_nothing)
{
    const struct joint_running running[] = {advised(-12, 20, 10, 10)};
    const struct joint_question question = ask(running, 1, 5, 5, 5);
    struct joint_outcome outcome = check(&question);
    cr_assert(outcome.met && outcome.execution_s == 5 && outcome.running[0].met);
}

/* 6 of 10 bytes are held for 6 s more. By deadline the new job comes first, yet who runs already holds
 * its memory. */
Test(joint_feasibility, waits_for_memory_of_what_runs)
{
    for (int order = EDF_FIRST_COME; order <= EDF_EARLIEST_DEADLINE; order++) {
        const struct edf_memory memory = {10, (enum edf_launch_order)order};
        struct joint_running running[] = {advised(-4, 200, 4, 10)};
        struct joint_question question = ask(running, 1, 2, 5, 12);
        running[0].memory_bytes = 6;
        question.memory = &memory;
        question.memory_bytes = 5;
        struct joint_outcome outcome = check(&question);
        cr_assert(outcome.launched_s == 6 && outcome.execution_s == 11 && outcome.met);
        cr_assert(outcome.running[0].launched_s == -4 && outcome.launches.waited == 1);
        question.memory_bytes = 4;
        outcome = check(&question);
        cr_assert(outcome.launched_s == 0 && outcome.launches.waited == 0);
        running[0].release_s = 0;
        running[0].progress = 0.5; /* two of its four tasks */
        question.memory_bytes = 5;
        outcome = check(&question);
        cr_assert(outcome.launched_s == 10 && outcome.running[0].launched_s == 0);
    }
}

enum { POINTS = 5 };

/* Executors 1 to 5 of 2 cores take 20, 10, 8, 6 and 5 s. */
static bool *counts(const struct joint_question *question,
                    const struct advise_goal *goal,
                    const int64_t each_bytes[],
                    bool *whole)
{
    static bool fits[POINTS];
    static struct curve_point points[POINTS];
    static const double takes[POINTS] = {20, 10, 8, 6, 5};
    for (int i = 0; i < POINTS; i++)
        points[i] = (struct curve_point){.executors = i + 1, .duration_s = takes[i]};
    const struct curve curve = {.points = points, .n_points = POINTS, .cores_per_executor = 2};
    cr_assert_eq(
        joint_feasibility_counts(question, &curve, goal, each_bytes, &scratch, fits, whole, NULL),
        PV_OK);
    cr_assert_null(scratch.head, "scratch is back at its mark");
    return fits;
}

static void expect(const bool fits[], bool a, bool b, bool c, bool d, bool e)
{
    cr_assert(fits[0] == a && fits[1] == b && fits[2] == c && fits[3] == d && fits[4] == e,
              "%d %d %d %d %d", fits[0], fits[1], fits[2], fits[3], fits[4]);
}

/* 6 of 10 cores are taken for 6 s. Within 12 s: 1 executor takes 20; 2 run beside, 10; 3 have 2 of 6
 * tasks wait, 14; 4 have 4 of 8 wait, 12; 5 have 6 of 10 wait, 4 of which begin at 5, 2 at 6: 11. */
Test(joint_feasibility, counts_that_make_nobody_late)
{
    const struct joint_running running[] = {advised(-4, 20, 6, 10)};
    struct joint_question question = ask(running, 1, 1, 1, 12);
    struct advise_goal goal = {.min_executors = 1, .max_executors = 5};
    bool whole = false;
    expect(counts(&question, &goal, NULL, &whole), false, true, false, true, true);
    cr_assert(whole);
    goal.max_executors = 4;
    expect(counts(&question, &goal, NULL, &whole), false, true, false, true, false);
    question.task_budget = 10;
    (void)counts(&question, &goal, NULL, &whole);
    cr_assert_not(whole, "the budget is spent");
}

/* A job of 8 cores comes in 1 s and has to end 6 s later: its tasks last 5. Those 3 executors or more
 * leave it too few; one that is late without the new job, too, is no reason. */
Test(joint_feasibility, counts_that_make_another_late)
{
    struct joint_running running[] = {advised(1, 6, 6, 5), advised(0, 1, 1, 2)};
    struct joint_question question = ask(running, 1, 1, 1, NAN);
    struct advise_goal goal = {.min_executors = 1, .max_executors = 5};
    bool whole = false;
    expect(counts(&question, &goal, NULL, &whole), true, true, false, false, false);
    question.running = &running[1];
    expect(counts(&question, &goal, NULL, &whole), true, true, true, true, true);
}

/* Memory for 3 executors in all, of which one that runs holds one for 6 s: within 13 s 2 fit beside it,
 * 3 would wait and take 6 + 8. */
Test(joint_feasibility, counts_that_fit_the_memory)
{
    const struct edf_memory memory = {3, EDF_FIRST_COME};
    struct joint_running running[] = {advised(-4, 20, 1, 10)};
    struct joint_question question = ask(running, 1, 1, 1, 13);
    struct advise_goal goal = {.min_executors = 1, .max_executors = 5};
    bool whole = false;
    running[0].memory_bytes = 1;
    question.memory = &memory;
    static const int64_t ones[POINTS] = {1, 1, 1, 1, 1};
    expect(counts(&question, &goal, ones, &whole), false, true, false, false, false);
    question.deadline_s = 14;
    expect(counts(&question, &goal, ones, &whole), false, true, true, false, false);
    static const int64_t falling[POINTS] = {4, 2, 1, 1, 1}; /* two hold 4, more than there are */
    expect(counts(&question, &goal, falling, &whole), false, false, true, false, false);
}

static void explain(struct joint_standing standings[], bool met, bool capped, struct advice *advice)
{
    static const char *const names[] = {"hourly", "daily"};
    static const struct joint_running running[] = {{.deadline_s = 30}, {.deadline_s = 40}};
    const struct joint_question question = {
        .deadline_s = 60, .running = running, .n_running = 2, .cores = 40, .capped = capped};
    const struct joint_outcome outcome = {
        .running = standings, .met = met, .execution_s = 57.5, .alone_s = 31};
    *advice = (struct advice){
        .verdict = advice->verdict, .reasons = {.arena = &arena}, .warnings = {.arena = &arena}};
    (void)finding_add(&advice->reasons, "deadline_at_risk", "It may be late.");
    (void)finding_add(&advice->reasons, "bound", "It is work.");
    cr_assert_eq(joint_feasibility_explain(&question, &outcome, names, &arena, advice, NULL),
                 PV_OK);
}

Test(joint_feasibility, what_it_means_in_words)
{
    struct joint_standing both[] = {{true, true, 20, 0}, {true, true, 35, 0}};
    struct advice advice = {.verdict = ADVISE_AT_RISK};
    explain(both, true, false, &advice);
    cr_expect_eq(advice.verdict, ADVISE_AT_RISK);
    cr_expect_eq(advice.warnings.n, 0);
    cr_expect_str_eq(advice.reasons.items[0].message, "It may be late.");
    cr_expect_str_eq(finding_find(&advice.reasons, "met_beside_running")->message,
                     "It shares the cluster's 40 cores with 2 running jobs, scheduled earliest "
                     "deadline first, and ends after 57.5 s and meets its deadline; without them, "
                     "on the same cores, it would end after 31 s. The recommended executors are no "
                     "cap in either case.");
    /* It misses what it met alone: that comes first, and what was said before is marked. */
    explain(both, false, true, &advice);
    cr_expect_eq(advice.verdict, ADVISE_MISSED);
    cr_expect_str_eq(advice.reasons.items[0].code, "missed_beside_running");
    cr_expect_str_eq(advice.reasons.items[0].message,
                     "It shares the cluster's 40 cores with 2 running jobs, scheduled earliest "
                     "deadline first, and ends after 57.5 s and misses its deadline; without them, "
                     "on the same cores, it would end after 31 s. It has the recommended executors "
                     "and no more.");
    cr_expect_str_eq(advice.reasons.items[1].code, "deadline_at_risk_alone");
    cr_expect_str_eq(advice.reasons.items[1].message, "Alone on the cluster: It may be late.");
    cr_expect_str_eq(advice.reasons.items[2].message, "It is work.");
    /* It missed alone, too: the order stays. */
    explain(both, false, true, &advice);
    cr_expect_str_eq(advice.reasons.items[0].message, "It may be late.");
}

Test(joint_feasibility, late_running_jobs_in_words)
{
    struct joint_standing late[] = {{true, false, 45, 0}, {false, false, 50, 0}};
    struct advice advice = {.verdict = ADVISE_MET};
    explain(late, true, false, &advice);
    cr_assert_eq(advice.warnings.n, 2);
    const struct finding *because = &advice.warnings.items[0], *anyway = &advice.warnings.items[1];
    cr_expect_str_eq(because->message,
                     "1 running job would miss the deadline because of this one.");
    cr_expect_eq(finding_value(because, "execution_s"), 45);
    cr_expect_eq(finding_value(because, "deadline_s"), 30);
    cr_expect_str_eq(anyway->message,
                     "1 running job misses the deadline, with this one or without.");
    cr_expect_str_eq(anyway->evidence[0].text, "daily");
    late[1].met_alone = true;
    explain(late, true, false, &advice);
    cr_assert_eq(advice.warnings.n, 1);
    cr_expect_str_eq(advice.warnings.items[0].message,
                     "2 running jobs would miss the deadline because of this one.");
    cr_expect_str_eq(advice.warnings.items[0].evidence[0].text, "hourly");
}
