/* The sentences of deadlines, remedies, stage plans, contention and memory, each at its edges. */
#include "core/deadline/explain.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "core/deadline/launches.h"

static struct arena arena;
static struct findings to;
static const struct strview names[] = {{"etl", 3}, {"report", 6}, {"hourly", 6}};
static struct edf_job jobs[3];
static struct edf_outcome outcomes[3];

static void clear(void)
{
    to = (struct findings){.arena = &arena};
}

/* Deadlines of 100, 50 and 80 s. */
static void set_up(void)
{
    arena_init(&arena, 0);
    clear();
    jobs[0] = (struct edf_job){.deadline_s = 100};
    jobs[1] = (struct edf_job){.deadline_s = 50};
    jobs[2] = (struct edf_job){.deadline_s = 80};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(deadline_explain, .init = set_up, .fini = tear_down);

/* The i-th finding has that code and message. */
static void expect(size_t i, const char *code, const char *message)
{
    cr_assert_gt(to.n, i);
    cr_expect_str_eq(to.items[i].code, code);
    cr_expect_str_eq(to.items[i].message, message);
}

static void take(double first_s, double second_s, double third_s)
{
    const double execution_s[] = {first_s, second_s, third_s};
    for (size_t j = 0; j < 3; j++)
        outcomes[j] = (struct edf_outcome){.execution_s = execution_s[j],
                                           .met = execution_s[j] <= jobs[j].deadline_s};
    clear();
}

static void explain_feasibility(size_t n, const struct edf_remedies *remedies)
{
    struct edf_metrics metrics = {.utilization = 0.755, .makespan_s = 90};
    for (size_t j = 0; j < n; j++)
        metrics.delayed += outcomes[j].met ? 0 : 1;
    feasibility_explain(names, jobs, n, 8, outcomes, &metrics, remedies, &to);
}

Test(deadline_explain, who_comes_closest_or_is_latest)
{
    take(60, 30, 65);
    explain_feasibility(3, NULL);
    expect(0, "all_deadlines_met",
           "Every job meets its deadline; hourly comes closest, 15 s before its deadline.");
    cr_expect_eq(finding_value(&to.items[0], "slack_s"), 15);
    expect(1, "cores_in_use",
           "8 cores work 75.5 % of the 90 s from the first release to the last "
           "end.");
    take(60, 62.5, 65);
    explain_feasibility(3, NULL);
    expect(0, "deadlines_missed", "1 of 3 jobs misses its deadline; report is late by 12.5 s.");
    take(101, 52, 65);
    explain_feasibility(3, NULL);
    expect(0, "deadlines_missed",
           "2 of 3 jobs miss their deadlines; report is late by 2 s, the most.");
    cr_expect_eq(finding_value(&to.items[0], "missed"), 2);
    take(101, 0, 0);
    explain_feasibility(1, NULL);
    expect(0, "deadlines_missed", "etl misses its deadline by 1 s.");
}

Test(deadline_explain, whether_more_cores_help)
{
    struct edf_remedies remedies = {
        .too_long = 3, .has_min_total_cores = true, .min_total_cores = 12, .exact = true};
    take(60, 62.5, 65);
    explain_feasibility(3, &remedies);
    expect(2, "more_cores", "With 12 cores instead of 8 every deadline is met.");
    remedies.has_min_total_cores = false;
    clear();
    explain_feasibility(3, &remedies);
    expect(
        2, "no_cores_suffice",
        "No number of cores meets every deadline: some job's wait for memory and its stages, one "
        "after another, take longer than its deadline allows.");
    remedies.exact = false;
    clear();
    explain_feasibility(3, &remedies);
    expect(2, "search_cut",
           "The search for enough cores was cut by its budget of simulated tasks.");
    remedies.too_long = 2;
    remedies.critical_path_s = 81;
    clear();
    explain_feasibility(3, &remedies);
    expect(2, "no_cores_suffice",
           "No number of cores meets every deadline: the stages of hourly, one after another, take "
           "81 s, and its deadline is 80 s.");
    const struct edf_stage delayed[] = {{.delay_s = 0}, {.delay_s = 1}};
    jobs[2].stages = delayed;
    jobs[2].n_stages = 2;
    clear();
    explain_feasibility(3, &remedies);
    expect(2, "no_cores_suffice",
           "No number of cores meets every deadline: the stages of hourly, one after another, take "
           "81 s with its start-up and its driver's time, and its deadline is 80 s.");
}

/* The job that has to be least late is named; of equals the first. */
Test(deadline_explain, what_to_change)
{
    struct edf_change deadlines[] = {{0, 0, 130, 30}, {1, 0, 70, 20}, {2, 0, 100, 20}};
    struct edf_change releases[] = {{2, 9, 0, 9}, {0, 7.5, 0, 7.5}};
    size_t out[] = {1, 2};
    struct edf_changes changes = {
        .one_later_deadline = {.items = deadlines, .n = 3},
        .later_deadlines = {.items = deadlines, .n = 2, .total_s = 50, .exact = true},
        .one_later_release = {.items = releases, .n = 2},
        .later_releases = {.items = releases, .n = 2, .total_s = 16.5},
        .left_out = {.jobs = out, .n = 2, .exact = true}};
    edf_changes_explain(names, jobs, &changes, &to);
    cr_assert_eq(to.n, 4);
    expect(0, "one_later_deadline",
           "If report alone may take 70 s instead of 50 s, every deadline is met.");
    cr_expect_eq(finding_value(&to.items[0], "later_s"), 20);
    expect(1, "later_deadlines",
           "With later deadlines of 2 jobs, 50 s in all, every deadline is met; no less in all is "
           "enough.");
    expect(2, "one_later_release",
           "If etl alone is released 7.5 s later, every job still ends by when it must, this one "
           "included.");
    expect(3, "jobs_left_out",
           "Without 2 jobs, such as report, every other job meets its "
           "deadline; fewer are not enough.");
    changes.one_later_deadline.n = 0;
    changes.later_deadlines.n = 1;
    changes.one_later_release.n = 0;
    changes.left_out.n = 1;
    clear();
    edf_changes_explain(names, jobs, &changes, &to);
    cr_assert_eq(to.n, 2);
    expect(0, "later_releases",
           "If 2 jobs are released later, every job still ends by when it must.");
    cr_expect_eq(finding_value(&to.items[0], "total_later_s"), 16.5);
    expect(1, "jobs_left_out", "Without report every other job meets its deadline.");
    changes.later_releases.n = 1;
    changes.later_deadlines.n = 2;
    changes.later_deadlines.exact = false;
    changes.left_out = (struct edf_left_out){.jobs = out, .n = 2};
    clear();
    edf_changes_explain(names, jobs, &changes, &to);
    expect(0, "later_deadlines",
           "With later deadlines of 2 jobs, 50 s in all, every deadline is met.");
    expect(1, "later_releases",
           "If 1 job is released later, every job still ends by when it must.");
    expect(2, "jobs_left_out",
           "Without 2 jobs, such as report, every other job meets its deadline.");
    changes.later_releases.n = changes.later_deadlines.n = changes.left_out.n = 0;
    clear();
    edf_changes_explain(names, jobs, &changes, &to);
    cr_expect_eq(to.n, 0);
}

/* Late jobs, the latest first: by their own stages, by themselves, by one other, by several. */
Test(deadline_explain, what_delays_late_jobs)
{
    struct edf_delay items[] = {{
                                    0,
                                    40,
                                    0.625,
                                },
                                {1, 16, 0.25},
                                {2, 8, 0.125}};
    struct edf_job_delays delays[] = {
        {.critical_path_s = 10},
        {.critical_path_s = 50.5},
        {.items = items, .n = 3, .waiting_s = 12, .critical_path_s = 20}};
    take(90, 53, 84);
    edf_delays_explain(names, jobs, 3, outcomes, delays, &to);
    cr_assert_eq(to.n, 2);
    expect(
        0, "delayed",
        "hourly has tasks waiting for 12 s; meanwhile etl has 62.5 % of the core time, more than "
        "any other job, and 12.5 % is its own.");
    cr_expect_eq(finding_value(&to.items[0], "core_s"), 40);
    cr_expect_eq(finding_value(&to.items[0], "own_share"), 0.125);
    expect(1, "critical_path_too_long",
           "report takes at least 50.5 s on any number of cores, and may take 50 s.");
    delays[2].n = 1;
    delays[1].critical_path_s = 50; /* it suffices */
    clear();
    edf_delays_explain(names, jobs, 3, outcomes, delays, &to);
    cr_assert_eq(to.n, 1);
    expect(0, "delayed",
           "hourly has tasks waiting for 12 s; meanwhile all the core time is that of etl.");
    items[0].job = 2;
    clear();
    edf_delays_explain(names, jobs, 3, outcomes, delays, &to);
    expect(0, "delayed",
           "hourly has tasks waiting for 12 s; meanwhile 62.5 % of the core time is its own.");
    take(90, 40, 70);
    edf_delays_explain(names, jobs, 3, outcomes, delays, &to);
    cr_expect_eq(to.n, 0, "nobody is late");
}

/* Of jobs that are as late, in their order; five at most. */
Test(deadline_explain, five_late_jobs_have_a_sentence)
{
    enum { MANY = 7 };
    struct strview many[MANY];
    struct edf_job all[MANY];
    struct edf_outcome ends[MANY];
    struct edf_job_delays delays[MANY];
    static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g"};
    static const double late_s[] = {1, 3, 3, 2, 9, 0.5, 1};
    for (size_t j = 0; j < MANY; j++) {
        many[j] = strview_of(letters[j]);
        all[j] = (struct edf_job){.deadline_s = 10};
        ends[j] = (struct edf_outcome){.execution_s = 10 + late_s[j]};
        delays[j] = (struct edf_job_delays){.critical_path_s = 11};
    }
    edf_delays_explain(many, all, MANY, ends, delays, &to);
    cr_assert_eq(to.n, 5);
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(to.items[i].message[0], "ebcda"[i]);
}

Test(deadline_explain, a_stage_plan_in_words)
{
    struct stage_plan_step steps[] = {{.id = 3, .estimated_cores = 4},
                                      {.id = 5, .estimated_cores = 8},
                                      {.id = 6, .estimated_cores = 8}};
    const struct stage_plan_terms terms = {
        .deadline_s = 100, .alpha = 0.95, .executors = 2, .cores_per_executor = 4};
    struct stage_plan plan = {.steps = steps, .n_steps = 3, .end_s = 95, .feasible = true};
    stage_plan_explain(&terms, &plan, &to);
    cr_assert_eq(to.n, 1);
    expect(0, "stages_fit",
           "Every stage can end by its deadline with the cores there are (8); stage 5 needs most, "
           "8.");
    steps[1].estimated_cores = 9;
    plan.feasible = false;
    clear();
    stage_plan_explain(&terms, &plan, &to);
    cr_assert_eq(to.n, 1);
    expect(0, "too_few_cores",
           "1 of 3 stages needs more cores than there are (8); stage 5 needs most, 9.");
    cr_expect(isnan(finding_value(&to.items[0], "fixed_s")), "nothing is fixed");
    steps[2].estimated_cores = (double)INFINITY;
    plan.end_s = 101;
    clear();
    stage_plan_explain(&terms, &plan, &to);
    cr_assert_eq(to.n, 2);
    expect(0, "too_few_cores",
           "2 of 3 stages need more cores than there are (8); for stage 6 the pinned deadlines "
           "leave no time, so that no number is enough.");
    expect(1, "deadline_exceeded",
           "The deadlines of the stages add up to 1 min 41 s, more than the 1 min 40 s of the "
           "application.");
    plan.fixed_s = 94; /* of 0.95 x 100 s */
    clear();
    stage_plan_explain(&terms, &plan, &to);
    expect(0, "too_few_cores",
           "2 of 3 stages need more cores than there are (8); for stage 6 the pinned deadlines "
           "leave no time, so that no number is enough.");
    plan.fixed_s = 95;
    clear();
    stage_plan_explain(&terms, &plan, &to);
    expect(0, "too_few_cores",
           "2 of 3 stages need more cores than there are (8); for stage 6 the start-up and the "
           "driver's time leave no time, so that no number is enough.");
    expect(1, "deadline_exceeded",
           "The deadlines of the stages, the start-up and the driver's time add up to 1 min 41 s, "
           "more "
           "than the 1 min 40 s of the application.");
    cr_expect_eq(finding_value(&to.items[0], "fixed_s"), 95);
}

Test(deadline_explain, contention_in_words)
{
    const struct contention_strategy *strategy = &contention_strategies[0];
    struct contention_terms terms = {.gamma = 0, .max_cores = 16};
    char want[160];
    contention_explain(strategy, &terms, &(struct contention_outcome){20, true}, &to);
    (void)snprintf(want, sizeof want,
                   "20 cores are requested, and there are 16: the strategy %s shares out all of "
                   "them.",
                   strategy->name);
    cr_assert_eq(to.n, 1);
    expect(0, "contention", want);
    clear();
    contention_explain(strategy, &terms, &(struct contention_outcome){1, false}, &to);
    cr_assert_eq(to.n, 1);
    expect(0, "no_contention",
           "1 core is requested, and there are 16: each application can have "
           "what it requests.");
    terms.gamma = 0.5;
    clear();
    contention_explain(strategy, &terms, &(struct contention_outcome){1, false}, &to);
    (void)snprintf(want, sizeof want,
                   "With gamma 0.5 the strategy %s shares out the idle cores, too.",
                   strategy->name);
    cr_assert_eq(to.n, 2);
    expect(1, "saturating", want);
    clear();
    contention_explain(strategy, &terms, &(struct contention_outcome){0, false}, &to);
    cr_assert_eq(to.n, 1);
    expect(0, "nothing_requested", "No application requests a core.");
}

/* Two of three wait: report for 4 s, as it needs 6 GiB of the 10 that there are. */
Test(deadline_explain, jobs_that_wait_for_memory)
{
    struct launches launches = {.holding = 3,
                                .waited = 2,
                                .fits_at_once = 1,
                                .longest = 1,
                                .longest_s = 4,
                                .longest_bytes = INT64_C(6) << 30,
                                .memory_bytes = INT64_C(10) << 30};
    launches_explain(&launches, names[1], &to);
    cr_assert_eq(to.n, 1);
    expect(0, "waited_for_memory",
           "2 of 3 jobs wait for memory before they are launched; report waits longest, 4 s for "
           "6.0 GiB of the cluster's 10.0 GiB. At the start 1 of them fits at once.");
    cr_expect_eq(finding_value(&to.items[0], "waited_s"), 4);
    cr_expect_eq(finding_value(&to.items[0], "memory_bytes"), 10737418240.0);
    launches.waited = 1;
    launches.fits_at_once = 2;
    clear();
    launches_explain(&launches, names[1], &to);
    expect(0, "waited_for_memory",
           "1 of 3 jobs waits for memory before it is launched; report waits longest, 4 s for 6.0 "
           "GiB of the cluster's 10.0 GiB. At the start 2 of them fit at once.");
    struct arena none;
    arena_init(&none, 1);
    to = (struct findings){.arena = &none};
    launches_explain(&launches, names[1], &to);
    cr_expect(to.failed, "there is no memory for the name");
    arena_fini(&none);
    launches.waited = 0;
    clear();
    launches_explain(&launches, names[1], &to);
    cr_expect_eq(to.n, 0);
    cr_expect_not(to.failed);
}

Test(deadline_explain, memory_that_is_short)
{
    struct worker_memory_application applications[] = {
        {.heap_bytes = 10}, {.heap_bytes = 11}, {.heap_bytes = 12}};
    struct worker_memory plan = {.users = 0, .each_bytes = WORKER_MEMORY_NONE};
    worker_memory_warn(names, applications, 3, 12, &plan, &to);
    cr_expect_eq(to.n, 0);
    worker_memory_warn(names, applications, 3, 11, &plan, &to);
    cr_assert_eq(to.n, 1);
    expect(0, "heap_exceeds_memory",
           "hourly never starts: its heap is larger than the memory of the worker.");
    clear();
    plan = (struct worker_memory){.users = 0, .each_bytes = 0};
    worker_memory_warn(names, applications, 3, 12, &plan, &to);
    cr_expect_eq(to.n, 0, "nobody uses any");
    plan = (struct worker_memory){.users = 2, .each_bytes = 0};
    worker_memory_warn(names, applications, 3, 10, &plan, &to);
    cr_assert_eq(to.n, 2);
    expect(0, "heap_exceeds_memory",
           "2 applications never start, such as report: their heaps are "
           "larger than the memory of the worker.");
    expect(1, "no_off_heap_memory",
           "The heaps leave no memory for 2 applications that use off-heap memory.");
}
