/* Quotas for the stages of advised executors: the run they are from, and their sentence. */
#include "core/advice/quotas.h"

#include <criterion/criterion.h>
#include <math.h>

#include "../history/sample_runs.h"

static struct arena arena;
static struct run_stage stages[2];
static struct quota_source source;
static struct stage_plan plan;
static struct advice advice;

/* Stages of 120 s and 60 s of task time, at 5 and at 45 s; the run ends at 70 s. */
static void set_up(void)
{
    static const double first_s[] = {60, 60}, second_s[] = {30, 30};
    arena_init(&arena, 0);
    stages[0] = stage_of_tasks(0, first_s, 2);
    stages[0].started_s = 5;
    stages[0].duration_s = 40;
    stages[1] = stage_of_tasks(1, second_s, 2);
    stages[1].started_s = 45;
    stages[1].duration_s = 20;
    struct run run = run_of_stages(stages, 2, 10, 2, 2, 70, 5);
    run.id[0] = 'r';
    cr_assert_eq(quotas_take_run(&run, &arena, &source, NULL), PV_OK);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(quotas, .init = set_up, .fini = tear_down);

static bool make(double deadline_s, double size, int64_t executors)
{
    const struct advise_goal goal = {.deadline_s = deadline_s};
    bool planned = false;
    advice =
        (struct advice){.recommendation = {.executors = executors}, .reasons = {.arena = &arena}};
    cr_assert_eq(quotas_plan(&source, &goal, 2, size, &arena, &advice, &plan, &planned, NULL),
                 PV_OK);
    cr_assert_eq(advice.reasons.n, 1);
    return planned;
}

static void expect(const char *code, const char *message)
{
    cr_expect_str_eq(advice.reasons.items[0].code, code);
    cr_expect_str_eq(advice.reasons.items[0].message, message);
}

/* 95 % of 110.5 s less 10 s are shared among 180 s of task time: 63.3 and 31.7 s. */
Test(quotas, the_stages_share_the_deadline)
{
    cr_expect_str_eq(source.run_id, "r");
    cr_expect_eq(source.ending_s, 5);
    cr_assert(make(110.5, 10, 2));
    expect("stage_quotas",
           "The stages' quotas (cores for each) share 95 % of the deadline, less 10 s of start-up "
           "and of the driver between stages, among the 2 stages of a run of problem size 10, one "
           "after another; none asks for more cores than are recommended.");
    cr_assert_eq(plan.n_steps, 2);
    cr_expect_eq(plan.steps[0].estimated_cores, 3);
    cr_expect_eq(plan.steps[1].estimated_cores, 2);
    cr_expect_eq(finding_value(&advice.reasons.items[0], "fixed_s"), 10);
    cr_expect_eq(finding_value(&advice.reasons.items[0], "stages_short_of_cores"), 0);
    cr_assert(make(30, 10, 2));
    cr_expect_eq(finding_value(&advice.reasons.items[0], "stages_short_of_cores"), 2);
}

/* Twice the size is twice the work; 0.5 % more count as the same. No time outside stages. */
Test(quotas, work_grows_with_the_size)
{
    source.ending_s = source.stages[0].driver_s = 0;
    source.n_stages = 1;
    cr_assert(make(100, 10.05, 2));
    cr_expect_eq(plan.steps[0].estimated_cores, 2);
    expect("stage_quotas",
           "The stages' quotas (cores for each) share 95 % of the deadline among the 1 stage of a "
           "run of problem size 10, one after another; none asks for more cores than are "
           "recommended.");
    cr_assert(make(100, 40, 2));
    cr_expect_eq(plan.steps[0].estimated_cores, 6);
    expect("stage_quotas",
           "The stages' quotas (cores for each) share 95 % of the deadline among the 1 stage of a "
           "run of problem size 10, with 4 times its work for the problem size asked, one after "
           "another; some ask for more cores than are recommended.");
    source.problem_size = (double)NAN;
    cr_assert(make(100, 40, 2));
    cr_expect_eq(plan.steps[0].estimated_cores, 2, "what it grew by is unknown");
}

Test(quotas, without_a_plan_it_says_why)
{
    cr_assert_not(make((double)NAN, 10, 2));
    expect("no_stage_quotas",
           "There are no quotas for stages: without a deadline there is none to share.");
    source.n_stages = 0;
    cr_assert_not(make(100, 10, 2));
    expect("no_stage_quotas", "There are no quotas for stages: the run has no stages.");
    stages[1].task_time_s = (double)NAN;
    struct run run = run_of_stages(stages, 2, 10, 2, 2, 70, 5);
    cr_assert_eq(quotas_take_run(&run, &arena, &source, NULL), PV_OK);
    cr_assert_eq(source.n_stages, 0);
    cr_assert_not(make(100, 10, 2));
    expect("no_stage_quotas",
           "There are no quotas for stages: the task time of stage 1 is not known.");
}
