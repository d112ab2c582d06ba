#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/autoscaling/allocation_replay.h"

static struct arena arena, scratch;

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

TestSuite(allocation_replay, .init = set_up, .fini = tear_down, .timeout = 60);

static const uint64_t BUDGET = 1000000;

static struct allocation_outcome run(const struct allocation_job *job,
                                     const struct allocation_policy *policy)
{
    struct allocation_outcome outcome;
    struct pv_error err = {0};
    enum pv_code code = allocation_replay(job, policy, BUDGET, &arena, &scratch, &outcome, &err);
    cr_assert_eq(code, PV_OK, "%s", err.detail);
    return outcome;
}

/* Spark's defaults, with the external shuffle service. */
static struct allocation_policy dynamic(int64_t min, int64_t initial, int64_t max)
{
    return (struct allocation_policy){.min_executors = min,
                                      .initial_executors = initial,
                                      .max_executors = max,
                                      .allocation_ratio = 1.0,
                                      .idle_timeout_s = 60.0,
                                      .backlog_timeout_s = 1.0,
                                      .sustained_backlog_timeout_s = 1.0,
                                      .shuffle_timeout_s = (double)INFINITY};
}

static const size_t after_first[] = {0};

/* Two stages, the second reads what the first wrote. */
static struct edf_job
two_stages(struct edf_stage stages[2], size_t n0, double t0, size_t n1, double t1)
{
    stages[0] = (struct edf_stage){.tasks = n0, .task_duration_s = t0};
    stages[1] = (struct edf_stage){
        .id = 1, .parents = after_first, .n_parents = 1, .tasks = n1, .task_duration_s = t1};
    return (struct edf_job){.deadline_s = 1.0, .stages = stages, .n_stages = 2};
}

Test(allocation_replay, executors_are_added_in_doubling_steps)
{
    const struct edf_stage stage = {.tasks = 64, .task_duration_s = 100.0};
    const struct edf_job tasks = {.deadline_s = 1.0, .stages = &stage, .n_stages = 1};
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 1};
    const struct allocation_policy policy = dynamic(0, 0, 1000);
    struct allocation_outcome outcome = run(&job, &policy);
    /* 1, 3, 7, 15, 31 and 63 executors after so many seconds; the last one is all that is needed. */
    cr_assert_float_eq(outcome.duration_s, 107.0, 1e-9);
    cr_assert_eq(outcome.peak_executors, 64);
    cr_assert_eq(outcome.started, 64);
    cr_assert_float_eq(outcome.executor_s,
                       106 + 2 * 105 + 4 * 104 + 8 * 103 + 16 * 102 + 32 * 101 + 100, 1e-9);
    static const int64_t counts[] = {0, 1, 3, 7, 15, 31, 63, 64};
    cr_assert_eq(outcome.n_steps, sizeof counts / sizeof *counts);
    for (size_t i = 0; i < outcome.n_steps; i++) {
        cr_assert_eq(outcome.steps[i].executors, counts[i]);
        cr_assert_float_eq(outcome.steps[i].at_s, (double)i, 1e-9);
    }
}

Test(allocation_replay, start_up_delays_the_first_task_and_is_held)
{
    const struct edf_stage stage = {.tasks = 3, .task_duration_s = 100.0};
    const struct edf_job tasks = {.deadline_s = 1.0, .stages = &stage, .n_stages = 1};
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 1, .startup_s = 10.0};
    const struct allocation_policy policy = dynamic(0, 0, 1000);
    struct allocation_outcome outcome = run(&job, &policy);
    cr_assert_float_eq(outcome.duration_s, 112.0, 1e-9); /* asked for at 1 and 2 */
    cr_assert_float_eq(outcome.executor_s, 111 + 2 * 110, 1e-9);
}

Test(allocation_replay, idle_executors_are_let_go_down_to_what_is_needed)
{
    struct edf_stage stages[2];
    const struct edf_job tasks = two_stages(stages, 10, 10.0, 1, 100.0);
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 1};
    struct allocation_policy policy = dynamic(0, 10, 10);
    policy.idle_timeout_s = 20.0;
    struct allocation_outcome outcome = run(&job, &policy);
    cr_assert_float_eq(outcome.duration_s, 110.0, 1e-9);
    cr_assert_eq(outcome.released, 9);
    cr_assert_float_eq(outcome.executor_s, 9 * 30 + 110, 1e-9);
    policy.min_executors = 4;
    outcome = run(&job, &policy);
    cr_assert_eq(outcome.released, 6);
    cr_assert_float_eq(outcome.executor_s, 6 * 30 + 4 * 110, 1e-9);
}

Test(allocation_replay, shuffle_output_holds_executors_where_it_is_tracked)
{
    struct edf_stage stages[2];
    const struct edf_job tasks = two_stages(stages, 10, 10.0, 1, 100.0);
    struct allocation_job job = {.job = &tasks, .cores_per_executor = 1, .ending_s = 100.0};
    struct allocation_policy policy = dynamic(1, 10, 10);
    policy.idle_timeout_s = 20.0;
    policy.shuffle_tracking = true;
    struct allocation_outcome outcome = run(&job, &policy);
    cr_assert_float_eq(outcome.duration_s, 210.0, 1e-9);
    cr_assert_eq(outcome.released, 0);
    cr_assert_float_eq(outcome.executor_s, 10 * 210, 1e-9);
    /* It is read until 110, when those idle since 10 have been so for long enough. */
    policy.shuffle_timeout_s = 50.0;
    outcome = run(&job, &policy);
    cr_assert_eq(outcome.released, 9);
    cr_assert_float_eq(outcome.executor_s, 9 * 110 + 210, 1e-9);
    policy.shuffle_timeout_s = 150.0;
    outcome = run(&job, &policy);
    cr_assert_float_eq(outcome.executor_s, 9 * 160 + 210, 1e-9);
    /* Stages that wait for the driver alone read nothing. */
    struct edf_stage apart[2] = {stages[0], stages[1]};
    apart[1].n_parents = 0;
    job.shuffles = apart;
    outcome = run(&job, &policy);
    cr_assert_float_eq(outcome.executor_s, 9 * 30 + 130 + 80, 1e-9);
}

Test(allocation_replay, the_ratio_asks_for_fewer_executors)
{
    const struct edf_stage stage = {.tasks = 40, .task_duration_s = 10.0};
    const struct edf_job tasks = {.deadline_s = 1.0, .stages = &stage, .n_stages = 1};
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 4};
    struct allocation_policy policy = dynamic(0, 0, 1000);
    policy.backlog_timeout_s = policy.sustained_backlog_timeout_s = 0.0;
    cr_assert_eq(run(&job, &policy).peak_executors, 10);
    policy.allocation_ratio = 0.5;
    struct allocation_outcome outcome = run(&job, &policy);
    cr_assert_eq(outcome.peak_executors, 5);
    cr_assert_float_eq(outcome.duration_s, 20.0, 1e-9);
}

Test(allocation_replay, a_backlog_after_a_pause_begins_with_one_executor_again)
{
    struct edf_stage stages[2];
    const struct edf_job tasks = two_stages(stages, 7, 50.0, 7, 50.0);
    const double delays_s[] = {0.0, 100.0};
    const struct allocation_job job = {.job = &tasks,
                                       .delays_s = delays_s,
                                       .initialization_s = 5.0,
                                       .ending_s = 2.0,
                                       .cores_per_executor = 1};
    struct allocation_policy policy = dynamic(0, 0, 100);
    policy.idle_timeout_s = 10.0;
    struct allocation_outcome outcome = run(&job, &policy);
    /* 1, 2 and 4 executors one, two and three seconds after each submission: 5 + 3 + 50, then 100
     * for the driver, then 3 + 50 + 2. */
    cr_assert_float_eq(outcome.duration_s, 213.0, 1e-9);
    cr_assert_eq(outcome.started, 14);
    cr_assert_eq(outcome.peak_executors, 7);
    /* Of the second stage none has been idle for long enough when the driver ends. */
    cr_assert_eq(outcome.released, 7);
    cr_assert_float_eq(outcome.executor_s, 7 * 60 + 54 + 2 * 53 + 4 * 52, 1e-9);
}

Test(allocation_replay, what_is_asked_for_in_vain_is_called_off)
{
    struct edf_stage stages[2];
    const struct edf_job tasks = two_stages(stages, 4, 5.0, 1, 1.0);
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 1, .startup_s = 30.0};
    const struct allocation_policy policy = dynamic(2, 2, 100);
    struct allocation_outcome outcome = run(&job, &policy);
    cr_assert_float_eq(outcome.duration_s, 11.0, 1e-9);
    cr_assert_eq(outcome.started, 0);
    cr_assert_float_eq(outcome.executor_s, 22.0, 1e-9);
}

Test(allocation_replay, stages_without_tasks_end_at_once_and_cycles_are_refused)
{
    struct edf_stage stages[2];
    struct edf_job tasks = two_stages(stages, 0, 1.0, 2, 3.0);
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 1};
    const struct allocation_policy policy = allocation_fixed(1);
    cr_assert_float_eq(run(&job, &policy).duration_s, 6.0, 1e-9);
    static const size_t itself[] = {1};
    struct allocation_outcome outcome;
    struct pv_error err = {0};
    stages[1].parents = itself;
    cr_assert_eq(allocation_replay(&job, &policy, BUDGET, &arena, &scratch, &outcome, &err),
                 PV_E_DOMAIN);
}

Test(allocation_replay, more_tasks_than_the_budget_are_refused)
{
    struct edf_stage stages[2];
    const struct edf_job tasks = two_stages(stages, 10, 1.0, 10, 3.0);
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 1};
    const struct allocation_policy policy = allocation_fixed(1);
    struct allocation_outcome outcome;
    struct pv_error err = {0};
    cr_assert_eq(allocation_replay(&job, &policy, 20, &arena, &scratch, &outcome, &err), PV_OK);
    cr_assert_eq(allocation_replay(&job, &policy, 19, &arena, &scratch, &outcome, &err),
                 PV_E_LIMIT);
}

Test(allocation_replay, without_an_arena_there_are_no_lists)
{
    struct edf_stage stages[2];
    const struct edf_job tasks = two_stages(stages, 10, 1.0, 10, 3.0);
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 1};
    const struct allocation_policy policy = allocation_fixed(5);
    struct allocation_outcome outcome;
    cr_assert_eq(allocation_replay(&job, &policy, BUDGET, NULL, &scratch, &outcome, NULL), PV_OK);
    cr_assert_float_eq(outcome.duration_s, 8.0, 1e-9);
    cr_assert_float_eq(outcome.executor_s, 40.0, 1e-9);
    cr_assert_eq(outcome.n_steps + outcome.n_leases, 0);
    cr_assert_null(outcome.steps);
}

/* A ratio near zero asks for one executor where tasks wait, and a billion cores are as good as one a
 * task. */
Test(allocation_replay, extremes_of_a_policy)
{
    struct edf_stage stages[2];
    const struct edf_job tasks = two_stages(stages, 10, 1.0, 10, 3.0);
    struct allocation_job job = {.job = &tasks, .cores_per_executor = 2};
    struct allocation_policy policy = dynamic(0, 0, 1000);
    policy.allocation_ratio = 1e-300;
    struct allocation_outcome outcome = run(&job, &policy);
    cr_assert_eq(outcome.peak_executors, 1);
    cr_assert_float_eq(outcome.duration_s, 1.0 + 5.0 + 15.0, 1e-9);
    job.cores_per_executor = 1000000000;
    outcome = run(&job, &policy);
    cr_assert_float_eq(outcome.duration_s, 1.0 + 1.0 + 3.0, 1e-9);
}

/* Executors that the minimum holds are not looked through at each task: 100 million steps take
 * seconds, 10 thousand of 10 thousand executors would take minutes. */
Test(allocation_replay, executors_held_by_the_minimum_cost_nothing, .timeout = 20)
{
    const struct edf_stage stage = {.tasks = 40000, .task_duration_s = 1.0};
    double lengths_s[40000];
    for (size_t i = 0; i < 40000; i++)
        lengths_s[i] = 1.0 + (double)i * 1e-6;
    struct edf_stage stages[2] = {
        stage,
        {.id = 1, .parents = after_first, .n_parents = 1, .tasks = 1, .task_duration_s = 1.0}};
    stages[0].task_durations_s = lengths_s;
    const struct edf_job tasks = {.deadline_s = 1.0, .stages = stages, .n_stages = 2};
    const struct allocation_job job = {.job = &tasks, .cores_per_executor = 1};
    struct allocation_policy policy = dynamic(20000, 20000, 20001);
    policy.allocation_ratio = 0.001;
    policy.idle_timeout_s = 0.0;
    policy.shuffle_timeout_s = 0.0;
    policy.shuffle_tracking = true;
    cr_assert_eq(run(&job, &policy).released, 0);
}

/* --- random jobs --- */

enum { STAGES_MOST = 6, TASKS_MOST = 12 };

struct random_job {
    struct edf_stage stages[STAGES_MOST];
    size_t parents[STAGES_MOST][STAGES_MOST];
    double durations_s[STAGES_MOST][TASKS_MOST];
    double delays_s[STAGES_MOST];
    struct edf_job job;
};

static size_t draw(struct rng *rng, size_t n)
{
    return (size_t)(rng_uniform(rng) * (double)n);
}

static void draw_job(struct rng *rng, struct random_job *made)
{
    size_t n = 1 + draw(rng, STAGES_MOST);
    memset(made, 0, sizeof *made);
    for (size_t s = 0; s < n; s++) {
        struct edf_stage *stage = &made->stages[s];
        *stage = (struct edf_stage){.id = (int64_t)s,
                                    .parents = made->parents[s],
                                    .tasks = draw(rng, TASKS_MOST + 1),
                                    .task_durations_s = made->durations_s[s]};
        for (size_t p = 0; p < s; p++)
            if (draw(rng, 3) == 0)
                made->parents[s][stage->n_parents++] = p;
        for (size_t t = 0; t < TASKS_MOST; t++)
            made->durations_s[s][t] = 1.0 + 20.0 * rng_uniform(rng);
        made->delays_s[s] = (double)draw(rng, 2) * 10.0 * rng_uniform(rng);
    }
    made->job = (struct edf_job){
        .deadline_s = 1.0, .overhead_per_task_s = 0.1, .stages = made->stages, .n_stages = n};
}

Test(allocation_replay, fixed_executors_take_what_clairvoyant_edf_takes)
{
    struct rng rng = rng_make(20260105, 0);
    for (int i = 0; i < 300; i++) {
        struct random_job random;
        struct edf_outcome want;
        struct pv_error err = {0};
        draw_job(&rng, &random);
        int64_t executors = 1 + (int64_t)draw(&rng, 5), cores = 1 + (int64_t)draw(&rng, 3);
        cr_assert_eq(edf_schedule(&random.job, 1, (size_t)(executors * cores), &scratch, &want,
                                  NULL, NULL, &err),
                     PV_OK);
        const struct allocation_job job = {.job = &random.job,
                                           .initialization_s = 3.0,
                                           .ending_s = 4.0,
                                           .cores_per_executor = cores,
                                           .startup_s = 7.0};
        const struct allocation_policy policy = allocation_fixed(executors);
        struct allocation_outcome outcome = run(&job, &policy);
        cr_assert_float_eq(outcome.duration_s, 7.0 + want.execution_s, 1e-9);
        cr_assert_float_eq(outcome.executor_s, (double)executors * outcome.duration_s, 1e-9);
        cr_assert_eq(outcome.started + outcome.released, 0);
    }
}

/*
 * The same rules without any list, heap or shortcut: everything is looked for anew at each instant.
 */
struct plain_executor {
    bool there, holds[STAGES_MOST], holds_any;
    double requested_s, idle_since_s, changed_s;
    int64_t free;
    size_t changed; /* order of what happened */
};

enum { PLAIN_MOST = 64, PLAIN_TASKS = STAGES_MOST * TASKS_MOST };

struct plain {
    const struct allocation_job *job;
    const struct allocation_policy *policy;
    struct plain_executor executors[PLAIN_MOST * 8];
    size_t numbered, changes;
    struct {
        size_t executor, stage;
        double end_s;
    } running[PLAIN_TASKS];
    size_t n_running;
    double coming[PLAIN_MOST * 8]; /* requests */
    size_t n_coming;
    size_t started[STAGES_MOST], ended[STAGES_MOST];
    double submit_s[STAGES_MOST]; /* INFINITY: not yet known */
    bool done[STAGES_MOST];
    int64_t target, step_up;
    double add_at_s, now_s, end_s, executor_s;
    size_t released, arrived;
};

static int64_t plain_there(const struct plain *p)
{
    int64_t n = 0;
    for (size_t e = 0; e < p->numbered; e++)
        n += p->executors[e].there;
    return n;
}

static bool plain_reads(const struct plain *p, size_t reader, size_t s)
{
    for (size_t i = 0; i < p->job->job->stages[reader].n_parents; i++)
        if (p->job->job->stages[reader].parents[i] == s)
            return true;
    return false;
}

static bool plain_unread(const struct plain *p, size_t s)
{
    for (size_t r = 0; r < p->job->job->n_stages; r++)
        if (plain_reads(p, r, s) && !p->done[r])
            return true;
    return false;
}

static size_t plain_waiting(const struct plain *p)
{
    size_t n = 0;
    for (size_t s = 0; s < p->job->job->n_stages; s++)
        if (p->submit_s[s] <= p->now_s)
            n += p->job->job->stages[s].tasks - p->started[s];
    return n;
}

static int64_t plain_needed(const struct plain *p)
{
    return (int64_t)ceil((double)(plain_waiting(p) + p->n_running) * p->policy->allocation_ratio /
                             (double)p->job->cores_per_executor -
                         1e-9);
}

/* Stages end, and others are submitted for it, until nothing changes. */
static void plain_stages(struct plain *p)
{
    const struct edf_job *job = p->job->job;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t s = 0; s < job->n_stages; s++) {
            if (!p->done[s] && p->submit_s[s] <= p->now_s && p->ended[s] == job->stages[s].tasks) {
                p->done[s] = changed = true;
            }
            bool ready = true;
            for (size_t i = 0; i < job->stages[s].n_parents; i++)
                ready = ready && p->done[job->stages[s].parents[i]];
            if (ready && isinf(p->submit_s[s])) {
                p->submit_s[s] = p->now_s + p->job->delays_s[s];
                changed = true;
            }
        }
    }
    bool all = true;
    for (size_t s = 0; s < job->n_stages; s++)
        all = all && p->done[s];
    if (all && isinf(p->end_s))
        p->end_s = p->now_s + p->job->ending_s;
}

/* Most free cores; of idle ones the one without a task for the longest time, before those with
 * shuffle output; of others the one that changed least recently. */
static size_t plain_choose(const struct plain *p)
{
    size_t best = SIZE_MAX;
    for (size_t e = 0; e < p->numbered; e++) {
        const struct plain_executor *x = &p->executors[e];
        if (!x->there || x->free == 0)
            continue;
        if (best == SIZE_MAX) {
            best = e;
            continue;
        }
        const struct plain_executor *y = &p->executors[best];
        bool idle = x->free == p->job->cores_per_executor;
        if (x->free != y->free)
            best = x->free > y->free ? e : best;
        else if (idle && x->holds_any != y->holds_any)
            best = x->idle_since_s < y->idle_since_s ||
                           (x->idle_since_s == y->idle_since_s && !x->holds_any)
                       ? e
                       : best;
        else
            best = x->changed < y->changed ? e : best;
    }
    return best;
}

static void plain_start(struct plain *p)
{
    const struct edf_job *job = p->job->job;
    for (size_t s = 0; s < job->n_stages; s++) {
        while (p->submit_s[s] <= p->now_s && p->started[s] < job->stages[s].tasks) {
            size_t e = plain_choose(p);
            if (e == SIZE_MAX)
                return;
            struct plain_executor *x = &p->executors[e];
            x->free--;
            x->changed = ++p->changes;
            if (p->policy->shuffle_tracking && plain_unread(p, s))
                x->holds[s] = x->holds_any = true;
            p->running[p->n_running].executor = e;
            p->running[p->n_running].stage = s;
            p->running[p->n_running++].end_s = p->now_s +
                                               job->stages[s].task_durations_s[p->started[s]++] +
                                               job->overhead_per_task_s;
        }
    }
}

static void plain_end_tasks(struct plain *p)
{
    for (;;) {
        /* In the order in which they end; at one instant by executor, then stage. */
        size_t first = SIZE_MAX;
        for (size_t i = 0; i < p->n_running; i++) {
            if (p->running[i].end_s > p->now_s)
                continue;
            if (first == SIZE_MAX || p->running[i].end_s < p->running[first].end_s)
                first = i;
        }
        if (first == SIZE_MAX)
            return;
        struct plain_executor *x = &p->executors[p->running[first].executor];
        x->free++;
        x->changed = ++p->changes;
        x->idle_since_s = p->now_s;
        p->ended[p->running[first].stage]++;
        p->running[first] = p->running[--p->n_running];
    }
}

static void plain_arrive(struct plain *p)
{
    size_t left = 0;
    for (size_t i = 0; i < p->n_coming; i++) {
        if (p->coming[i] + p->job->startup_s > p->now_s) {
            p->coming[left++] = p->coming[i];
            continue;
        }
        p->executors[p->numbered++] = (struct plain_executor){.there = true,
                                                              .requested_s = p->coming[i],
                                                              .idle_since_s = p->now_s,
                                                              .free = p->job->cores_per_executor,
                                                              .changed = ++p->changes};
        p->arrived++;
    }
    p->n_coming = left;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void plain_policy(struct plain *p)
{
    const struct allocation_policy *policy = p->policy;
    int64_t wanted = plain_needed(p);
    if (plain_waiting(p) == 0) {
        p->add_at_s = (double)INFINITY;
        p->step_up = 1;
    } else if (isinf(p->add_at_s)) {
        p->add_at_s = p->now_s + policy->backlog_timeout_s;
    }
    if (wanted < p->target) {
        p->target = wanted > policy->min_executors ? wanted : policy->min_executors;
        p->step_up = 1;
        while (p->n_coming > 0 && plain_there(p) + (int64_t)p->n_coming > p->target)
            p->n_coming--;
        return;
    }
    int64_t most = least(wanted, policy->max_executors);
    if (p->add_at_s > p->now_s || p->target >= most)
        return;
    int64_t before = p->target, there = plain_there(p);
    p->target = least((before > there ? before : there) + p->step_up, most);
    p->target = p->target > before ? p->target : before;
    p->step_up = p->target - before == p->step_up ? 2 * p->step_up : 1;
    while (there + (int64_t)p->n_coming < p->target)
        p->coming[p->n_coming++] = p->now_s;
    p->add_at_s = p->now_s + policy->sustained_backlog_timeout_s;
}

static bool plain_may_go(const struct plain *p)
{
    int64_t left = plain_there(p) - 1;
    return left >= p->policy->min_executors && left >= p->target;
}

static double plain_expiry(const struct plain *p, const struct plain_executor *x)
{
    if (!x->there || x->free < p->job->cores_per_executor)
        return (double)INFINITY;
    if (!x->holds_any)
        return x->idle_since_s + p->policy->idle_timeout_s;
    for (size_t s = 0; s < p->job->job->n_stages; s++)
        if (x->holds[s] && plain_unread(p, s))
            return (double)INFINITY;
    return x->idle_since_s + fmax(p->policy->idle_timeout_s, p->policy->shuffle_timeout_s);
}

/* Those without shuffle output first, each in the order in which they became idle. */
static void plain_release(struct plain *p)
{
    for (int holding = 0; holding < 2; holding++) {
        for (;;) {
            size_t first = SIZE_MAX;
            for (size_t e = 0; e < p->numbered; e++) {
                const struct plain_executor *x = &p->executors[e];
                if (x->holds_any == (holding == 1) && plain_expiry(p, x) <= p->now_s &&
                    (first == SIZE_MAX || x->changed < p->executors[first].changed))
                    first = e;
            }
            if (first == SIZE_MAX || !plain_may_go(p))
                break;
            p->executors[first].there = false;
            p->executor_s += p->now_s - p->executors[first].requested_s;
            p->released++;
        }
    }
}

static double plain_next(const struct plain *p)
{
    double next_s = (double)INFINITY;
    for (size_t i = 0; i < p->n_running; i++)
        next_s = fmin(next_s, p->running[i].end_s);
    for (size_t i = 0; i < p->n_coming; i++)
        next_s = fmin(next_s, p->coming[i] + p->job->startup_s);
    for (size_t s = 0; s < p->job->job->n_stages; s++)
        if (p->submit_s[s] > p->now_s)
            next_s = fmin(next_s, p->submit_s[s]);
    for (size_t e = 0; e < p->numbered && plain_may_go(p); e++)
        next_s = fmin(next_s, plain_expiry(p, &p->executors[e]));
    if (p->target < least(plain_needed(p), p->policy->max_executors))
        next_s = fmin(next_s, p->add_at_s);
    return next_s > p->now_s ? next_s : p->now_s;
}

static struct plain plain_state;

static void plain_run(const struct allocation_job *job, const struct allocation_policy *policy)
{
    struct plain *p = &plain_state;
    memset(p, 0, sizeof *p);
    p->job = job;
    p->policy = policy;
    p->now_s = job->initialization_s;
    p->end_s = p->add_at_s = (double)INFINITY;
    p->step_up = 1;
    p->target = policy->initial_executors;
    for (size_t s = 0; s < STAGES_MOST; s++)
        p->submit_s[s] = (double)INFINITY;
    for (int64_t i = 0; i < policy->initial_executors; i++)
        p->executors[p->numbered++] = (struct plain_executor){.there = true,
                                                              .idle_since_s = p->now_s,
                                                              .free = job->cores_per_executor,
                                                              .changed = ++p->changes};
    for (;;) {
        plain_end_tasks(p);
        plain_stages(p);
        plain_arrive(p);
        double step_s = policy->sustained_backlog_timeout_s;
        if (p->target < least(plain_needed(p), policy->max_executors) && p->add_at_s < p->now_s &&
            step_s > 0)
            p->add_at_s += ceil((p->now_s - p->add_at_s) / step_s) * step_s;
        plain_start(p);
        plain_policy(p);
        plain_release(p);
        double next_s = plain_next(p);
        if (next_s >= p->end_s)
            break;
        p->now_s = next_s;
    }
    for (size_t e = 0; e < p->numbered; e++)
        p->executor_s += p->executors[e].there ? p->end_s - p->executors[e].requested_s : 0.0;
}

/* What the steps hold, and the start-up of those that were added. */
static double held_by_steps(const struct allocation_outcome *outcome, double startup_s)
{
    double sum = (double)outcome->started * startup_s;
    for (size_t i = 0; i < outcome->n_steps; i++) {
        double to_s = i + 1 < outcome->n_steps ? outcome->steps[i + 1].at_s : outcome->duration_s;
        sum += (double)outcome->steps[i].executors * (to_s - outcome->steps[i].at_s);
    }
    return sum;
}

Test(allocation_replay, a_plain_simulation_of_the_same_rules_agrees)
{
    struct rng rng = rng_make(7, 0);
    size_t released = 0, started = 0;
    for (int i = 0; i < 3000; i++) {
        struct random_job random;
        draw_job(&rng, &random);
        int64_t max = 1 + (int64_t)draw(&rng, 9), min = (int64_t)draw(&rng, (size_t)max + 1);
        struct allocation_policy policy =
            dynamic(min, min + (int64_t)draw(&rng, (size_t)(max - min) + 1), max);
        policy.allocation_ratio = draw(&rng, 2) == 0 ? 1.0 : 0.3 + 0.7 * rng_uniform(&rng);
        policy.idle_timeout_s = 15.0 * rng_uniform(&rng);
        policy.backlog_timeout_s = 3.0 * rng_uniform(&rng);
        policy.sustained_backlog_timeout_s = 0.1 + 3.0 * rng_uniform(&rng);
        policy.shuffle_tracking = draw(&rng, 3) > 0;
        policy.shuffle_timeout_s = draw(&rng, 3) == 0 ? (double)INFINITY : 20.0 * rng_uniform(&rng);
        const struct allocation_job job = {.job = &random.job,
                                           .delays_s = random.delays_s,
                                           .initialization_s = 5.0 * rng_uniform(&rng),
                                           .ending_s = 20.0 * rng_uniform(&rng),
                                           .cores_per_executor = 1 + (int64_t)draw(&rng, 3),
                                           .startup_s =
                                               (double)draw(&rng, 2) * 8.0 * rng_uniform(&rng)};
        struct allocation_outcome outcome = run(&job, &policy);
        plain_run(&job, &policy);
        cr_assert_float_eq(outcome.duration_s, plain_state.end_s, 1e-9, "job %d", i);
        cr_assert_float_eq(outcome.executor_s, plain_state.executor_s, 1e-6, "job %d: %g, %g", i,
                           outcome.executor_s, plain_state.executor_s);
        cr_assert_eq(outcome.released, plain_state.released, "job %d", i);
        cr_assert_eq(outcome.started, plain_state.arrived, "job %d", i);
        cr_assert_eq(outcome.n_leases, (size_t)policy.initial_executors + outcome.started);
        for (size_t k = 1; k < outcome.n_leases; k++)
            cr_assert_leq(outcome.leases[k - 1].from_s, outcome.leases[k].from_s);
        cr_assert_leq(outcome.peak_executors, max);
        cr_assert_float_eq(held_by_steps(&outcome, job.startup_s), outcome.executor_s, 1e-6);
        released += outcome.released;
        started += outcome.started;
    }
    cr_assert_gt(released, 1000);
    cr_assert_gt(started, 1000);
}
