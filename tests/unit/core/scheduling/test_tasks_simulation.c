#include "core/scheduling/tasks/tasks_simulation.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rounding.h"
#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/pigeon_plan.h"
#include "core/scheduling/tasks/tasks_policy.h"
#include "core/sim/statistics.h"
#include "core/sim/variates.h"
#include "tasks_cases.h"

static struct tasks_result simulate(const struct tasks_model *model,
                                    const struct tasks_terms *terms,
                                    uint64_t seed,
                                    uint64_t repetition,
                                    struct arena *arena)
{
    const struct trial trial = {seed, repetition};
    struct tasks_result result;
    struct arena scratch;
    arena_init(&scratch, 0);
    cr_assert_eq(tasks_simulate(model, terms, &trial, 0, NULL, arena, &scratch, &result, NULL),
                 PV_OK);
    cr_assert_leq(result.memory, tasks_simulation_memory(model, terms));
    arena_fini(&scratch);
    return result;
}

static struct tasks_terms terms_of(int id, uint32_t groups)
{
    struct tasks_terms terms = tasks_terms_default((enum tasks_policy_id)id);
    terms.groups = groups;
    return terms;
}

/* --- what holds of every policy --- */

static void expect_sound(int id, uint64_t seed, double load, double communication_s)
{
    struct arena arena;
    struct arena scratch;
    struct tasks_outcome outcome;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    uint32_t workers = 7 + (uint32_t)seed * 5;
    struct tasks_model model =
        tasks_case_random(&arena, seed, workers, 600, 12, load, communication_s);
    struct tasks_terms terms = terms_of(id, 3);
    struct tasks_result result = simulate(&model, &terms, seed, 0, &arena);
    cr_assert_eq(tasks_outcome_of(&model, &result, NULL, &scratch, &outcome, NULL), PV_OK);
    cr_expect_str_eq(tasks_case_fault(&model, &terms, &result), "", "policy %d, seed %d", id,
                     (int)seed);
    cr_expect(outcome.utilization > 0 && outcome.utilization <= 1);
    cr_expect(rounding_equal(outcome.utilization * workers * outcome.makespan_s, model.work_s));
    cr_expect_eq(outcome.classes[TASKS_ALL].count, 600);
    cr_expect_eq(outcome.classes[TASKS_SHORT].count + outcome.classes[TASKS_LONG].count, 600);
    cr_expect_geq(outcome.classes[TASKS_ALL].slowdown.p50, 1);
    cr_expect_geq(outcome.classes[TASKS_ALL].completion_s.p99,
                  outcome.classes[TASKS_ALL].completion_s.p95);
    arena_fini(&scratch);
    arena_fini(&arena);
}

Test(tasks_simulation, every_policy_is_sound)
{
    for (int id = 0; id < TASKS_POLICIES; id++)
        for (uint64_t seed = 0; seed < 8; seed++) {
            expect_sound(id, seed, 0.3, 0.01);
            expect_sound(id, seed, 0.9, 0.0005);
            expect_sound(id, seed, 3, 0);
        }
}

/* One worker and one group never rest while there is work, whoever schedules: jobs are done when
 * their work is. */
Test(tasks_simulation, one_worker_conserves_work)
{
    for (int id = 0; id < TASKS_POLICIES; id++) {
        struct arena arena;
        arena_init(&arena, 0);
        struct tasks_model model = tasks_case_random(&arena, 3, 1, 200, 5, 0.8, 0);
        struct tasks_terms terms = terms_of(id, 1);
        struct tasks_result result = simulate(&model, &terms, 1, 0, &arena);
        double busy_until_s = 0;
        double last_s = 0;
        for (uint32_t i = 0; i < model.n_jobs; i++) {
            const struct tasks_job *job = &model.jobs[model.order[i]];
            busy_until_s = fmax(busy_until_s, job->arrival_s);
            for (uint32_t k = 0; k < job->tasks; k++)
                busy_until_s += job->durations_s[k];
            last_s = fmax(last_s, result.finish_s[model.order[i]]);
        }
        cr_expect(rounding_equal(last_s, busy_until_s), "policy %d: %g, not %g", id, last_s,
                  busy_until_s);
        arena_fini(&arena);
    }
}

/* How many of the jobs at most, of one task each, run at one instant; of long ones only, or all. */
static uint32_t
most_at_once(const struct tasks_model *model, const struct tasks_result *result, bool long_only)
{
    uint32_t most = 0;
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        uint32_t running = 0;
        for (uint32_t k = 0; k < model->n_jobs; k++)
            running += (!long_only || model->jobs[k].is_long) &&
                       result->start_s[k] <= result->start_s[j] &&
                       result->start_s[k] + model->longest_s[k] > result->start_s[j];
        most = running > most ? running : most;
    }
    return most;
}

/* Under overload all workers are busy at some time, and never more than there are; of long tasks,
 * where workers are reserved, as many as others are left. */
Test(tasks_simulation, workers_have_one_task_each)
{
    for (int id = 0; id < TASKS_POLICIES; id++) {
        struct arena arena;
        arena_init(&arena, 0);
        struct tasks_model model = tasks_case_random(&arena, 8, 20, 1500, 1, 3, 0.001);
        struct tasks_terms terms = terms_of(id, 4);
        terms.reserved_share = 0.2;
        struct tasks_result result = simulate(&model, &terms, 1, 0, &arena);
        cr_expect_eq(most_at_once(&model, &result, false), 20, "policy %d", id);
        cr_expect_eq(most_at_once(&model, &result, true), id == TASKS_SPARROW ? 20 : 16,
                     "policy %d: %u", id, most_at_once(&model, &result, true));
        arena_fini(&arena);
    }
}

/* --- draws --- */

Test(tasks_simulation, one_seed_has_one_result)
{
    for (int id = 0; id < TASKS_POLICIES; id++) {
        struct arena arena;
        arena_init(&arena, 0);
        struct tasks_model model = tasks_case_random(&arena, 5, 40, 500, 9, 0.9, 0.001);
        struct tasks_terms terms = terms_of(id, 4);
        struct tasks_result first = simulate(&model, &terms, 1, 0, &arena);
        struct tasks_result again = simulate(&model, &terms, 1, 0, &arena);
        struct tasks_result seed = simulate(&model, &terms, 2, 0, &arena);
        struct tasks_result repetition = simulate(&model, &terms, 1, 1, &arena);
        cr_expect(tasks_case_same(&first, &again, 500));
        cr_expect_eq(tasks_case_same(&first, &seed, 500), id == TASKS_CENTRALISED);
        cr_expect_eq(tasks_case_same(&first, &repetition, 500), id == TASKS_CENTRALISED);
        arena_fini(&arena);
    }
}

/* A job that comes when the others are done changes nothing for them: no draw depends on it. */
Test(tasks_simulation, later_jobs_do_not_change_draws)
{
    for (int id = 0; id < TASKS_POLICIES; id++) {
        struct arena arena;
        arena_init(&arena, 0);
        struct tasks_model model = tasks_case_random(&arena, 6, 30, 301, 9, 0.9, 0.001);
        struct tasks_job *jobs = arena_array(&arena, 301, sizeof *jobs);
        cr_assert_not_null(jobs);
        memcpy(jobs, model.jobs, 301 * sizeof *jobs);
        jobs[300].arrival_s = 1e6;
        model.jobs = jobs;
        cr_assert_eq(tasks_model_complete(&model, &arena, NULL), PV_OK);
        struct tasks_terms terms = terms_of(id, 4);
        struct tasks_result with = simulate(&model, &terms, 1, 0, &arena);
        model.n_jobs = 300;
        cr_assert_eq(tasks_model_complete(&model, &arena, NULL), PV_OK);
        struct tasks_result without = simulate(&model, &terms, 1, 0, &arena);
        cr_expect(tasks_case_same(&with, &without, 300));
        arena_fini(&arena);
    }
}

/* --- loads --- */

Test(tasks_simulation, retimed_arrivals_scale_and_keep_their_order)
{
    const struct trial trial = {9, 2};
    struct arena arena;
    struct tasks_job half[2000];
    struct tasks_job full[2000];
    arena_init(&arena, 0);
    struct tasks_model model = tasks_case_random(&arena, 1, 10, 2000, 3, 1, 0);
    tasks_retime(&model, 0.5, &trial, half);
    tasks_retime(&model, 1, &trial, full);
    double last_s = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t j = model.order[i];
        cr_assert_gt(full[j].arrival_s, last_s);
        cr_assert(rounding_equal(half[j].arrival_s, 2 * full[j].arrival_s));
        last_s = full[j].arrival_s;
    }
    /* All work comes within the time that the workers need for it, give or take 5 deviations. */
    cr_expect(fabs(last_s * 10 / model.work_s - 1) < 5 / sqrt(2000));
    arena_fini(&arena);
}

/* Instants of 1e11 s are 1.5e-5 s apart. */
Test(tasks_simulation, no_job_is_faster_than_its_longest_task_however_late_it_is)
{
    for (int id = 0; id < TASKS_POLICIES; id++) {
        struct tasks_case one;
        const double early_s = 1;
        const double late_s = 0.1003;
        struct tasks_terms terms = terms_of(id, 1);
        tasks_case_init(&one, 2, 0);
        tasks_case_job(&one, 0, &early_s, 1);
        tasks_case_job(&one, 99999999999.7, &late_s, 1);
        tasks_case_run(&one, &terms);
        for (uint32_t j = 0; j < 2; j++)
            cr_expect_eq(tasks_slowdown(&one.model, &one.result, j), 1, "policy %d", id);
        tasks_case_fini(&one);
    }
}

/* --- bounds --- */

static bool stop_at_once(void *context, uint64_t tasks)
{
    uint64_t *reported = context;
    *reported = tasks;
    return false;
}

Test(tasks_simulation, stops_when_asked_to)
{
    const struct trial trial = {1, 0};
    uint64_t reported = 0;
    const struct tasks_progress progress = {stop_at_once, &reported};
    struct pv_error err = {0};
    struct tasks_result result;
    struct arena arena;
    struct arena scratch;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    struct tasks_model model = tasks_case_random(&arena, 2, 50, 5000, 9, 0.9, 0.001);
    struct tasks_terms terms = terms_of(TASKS_PIGEON, 5);
    cr_expect_eq(
        tasks_simulate(&model, &terms, &trial, 0, &progress, &arena, &scratch, &result, &err),
        PV_E_CANCELLED);
    cr_expect(reported > 0 && reported < model.tasks);
    arena_fini(&scratch);
    arena_fini(&arena);
}

struct count {
    uint64_t reports;
    uint64_t most; /* after these it is to stop */
};

static bool count_report(void *context, uint64_t tasks)
{
    struct count *count = context;
    (void)tasks;
    return ++count->reports < count->most;
}

static enum pv_code
count_reports(const struct tasks_model *model, const struct tasks_terms *terms, struct count *count)
{
    const struct trial trial = {1, 0};
    const struct tasks_progress progress = {count_report, count};
    struct tasks_result result;
    struct arena arena;
    arena_init(&arena, 0);
    enum pv_code code =
        tasks_simulate(model, terms, &trial, 0, &progress, &arena, &arena, &result, NULL);
    arena_fini(&arena);
    return code;
}

/* A single job: its tasks and probes are many steps of one event. */
Test(tasks_simulation, a_long_event_is_reported_from_within)
{
    enum { TASKS = 200000 };
    struct arena arena;
    arena_init(&arena, 0);
    double *durations_s = arena_array(&arena, TASKS, sizeof *durations_s);
    for (uint32_t i = 0; i < TASKS; i++)
        durations_s[i] = 1;
    for (int id = 0; id < TASKS_POLICIES; id++)
        for (int is_long = 0; is_long < 2; is_long++) {
            const struct tasks_job job = {
                .durations_s = durations_s, .tasks = TASKS, .is_long = is_long != 0};
            struct tasks_model model = {.workers = TASKS, .jobs = &job, .n_jobs = 1};
            cr_assert_eq(tasks_model_complete(&model, &arena, NULL), PV_OK);
            struct tasks_terms terms = terms_of(id, 300);
            struct count count = {.most = UINT64_MAX};
            cr_assert_eq(count_reports(&model, &terms, &count), PV_OK);
            /* Every task is a step when it is placed, and another one when its end is heard of. */
            cr_expect_geq(count.reports, 2 * TASKS / TASKS_REPORT_EVERY, "policy %d", id);
            count = (struct count){.most = 20};
            cr_expect_eq(count_reports(&model, &terms, &count), PV_E_CANCELLED);
            cr_expect_eq(count.reports, 20);
        }
    arena_fini(&arena);
}

/* Workers and groups are set up before anything happens. */
Test(tasks_simulation, setting_up_is_reported)
{
    static const double second[] = {1};
    static const struct tasks_job job = {.durations_s = second, .tasks = 1};
    static const struct pigeon_layout layout = {.report_every_s = 1};
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_model model = {.workers = 100000, .jobs = &job, .n_jobs = 1};
    cr_assert_eq(tasks_model_complete(&model, &arena, NULL), PV_OK);
    for (int id = 0; id < TASKS_POLICIES; id++)
        for (int layouts = 0; layouts <= (id == TASKS_PIGEON); layouts++) {
            struct tasks_terms terms = terms_of(id, 100000);
            struct count count = {.most = 2};
            terms.layout = layouts > 0 ? &layout : NULL;
            if (id == TASKS_CENTRALISED)
                continue; /* it counts its workers */
            cr_expect_eq(count_reports(&model, &terms, &count), PV_E_CANCELLED, "policy %d", id);
            cr_expect_eq(count.reports, 2);
        }
    arena_fini(&arena);
}

Test(tasks_simulation, memory_is_bounded)
{
    const struct trial trial = {1, 0};
    for (int id = 0; id < TASKS_POLICIES; id++) {
        struct pv_error err = {0};
        struct tasks_result result;
        struct arena arena;
        struct arena scratch;
        arena_init(&arena, 0);
        struct tasks_model model = tasks_case_random(&arena, 2, 500, 3000, 40, 5, 0);
        struct tasks_terms terms = terms_of(id, 5);
        size_t most = tasks_simulation_memory(&model, &terms);
        arena_init(&scratch, most);
        cr_expect_eq(
            tasks_simulate(&model, &terms, &trial, most, NULL, &arena, &scratch, &result, &err),
            PV_OK);
        cr_expect_eq(
            tasks_simulate(&model, &terms, &trial, most - 1, NULL, &arena, &scratch, &result, &err),
            PV_E_LIMIT);
        arena_fini(&scratch);
        /* Too little of it is reported, whenever it happens. */
        for (size_t limit = 8; limit < 4 * result.memory; limit *= 4) {
            struct pv_error missing = {0};
            arena_init(&scratch, limit);
            enum pv_code code = tasks_simulate(&model, &terms, &trial, 0, NULL, &arena, &scratch,
                                               &result, &missing);
            cr_expect(code == PV_E_MEMORY || (code == PV_OK && limit >= result.memory));
            arena_fini(&scratch);
        }
        arena_fini(&arena);
    }
}

/* More probes than any memory holds are refused before they are sent. */
Test(tasks_simulation, memory_of_many_probes_is_bounded)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct tasks_model model = tasks_case_random(&arena, 2, 500, 3000, 40, 5, 0);
    struct tasks_terms terms = terms_of(TASKS_SPARROW, 1);
    terms.probes_per_task = 1000000000;
    cr_expect_gt(tasks_simulation_memory(&model, &terms), (size_t)1 << 36);
    arena_fini(&arena);
}

/* --- outcome --- */

/* Two short jobs, completions 1 and 4, longest tasks 1 and 2; no long job. */
Test(tasks_simulation, outcome_by_hand)
{
    static const double two[] = {1, 2};
    struct tasks_case one;
    tasks_case_init(&one, 1, 0);
    tasks_case_short(&one, 5, 1, 1);
    tasks_case_job(&one, 5, two, 2);
    struct tasks_terms terms = terms_of(TASKS_CENTRALISED, 1);
    tasks_case_run(&one, &terms);
    const struct tasks_class *all = &one.outcome.classes[TASKS_ALL];
    cr_expect_eq(one.outcome.makespan_s, 4);
    cr_expect_eq(one.outcome.utilization, 1);
    cr_expect_eq(all->completion_s.mean, 2.5);
    cr_expect_eq(all->completion_s.p50, 2.5);
    cr_expect(fabs(all->completion_s.p90 - 3.7) < 1e-12);
    cr_expect_eq(all->slowdown.mean, 1.5);
    cr_expect(fabs(all->slowdown.p95 - 1.95) < 1e-12);
    cr_expect(fabs(all->completion_over_longest_p50 - 2.5 / 1.5) < 1e-12);
    cr_expect(fabs(all->completion_over_longest_p90 - 3.7 / 1.9) < 1e-12);
    cr_expect(fabs(all->completion_over_longest_p99 - 3.97 / 1.99) < 1e-12);
    cr_expect_eq(one.outcome.classes[TASKS_SHORT].count, 2);
    cr_expect_eq(one.outcome.classes[TASKS_LONG].count, 0);
    cr_expect(isnan(one.outcome.classes[TASKS_LONG].completion_s.mean));
    tasks_case_fini(&one);
}

Test(tasks_simulation, cut_off_is_short)
{
    static const double durations[] = {0.1, 0.2};
    cr_expect_not(tasks_are_long(durations, 2, 0.15));
    cr_expect_not(tasks_are_long(durations, 2, NAN));
    cr_expect(tasks_are_long(durations, 2, 0.1499));
}

/* --- theory (eqs 4.1 to 4.6) --- */

struct queued {
    double waited;  /* share of jobs whose completion is above their longest task */
    double delay_s; /* mean of how much above */
};

/* Jobs of `fanout` tasks of mean 1, exponential or equal in each job, on groups of n workers. */
static struct queued simulate_theory(
    uint32_t n, uint32_t groups, uint32_t fanout, uint32_t jobs, double load, bool equal)
{
    const struct trial trial = {4, 0};
    struct rng rng = rng_make(11, 3);
    struct arena arena;
    struct running_moments delays = {0, 0, 0};
    struct queued queued = {0, 0};
    arena_init(&arena, 0);
    double *durations_s = arena_array(&arena, (size_t)jobs * fanout, sizeof *durations_s);
    struct tasks_job *made = arena_array(&arena, jobs, 2 * sizeof *made);
    cr_assert(durations_s != NULL && made != NULL);
    for (uint32_t j = 0; j < jobs; j++) {
        double *of_job = &durations_s[(size_t)j * fanout];
        made[j] = (struct tasks_job){.durations_s = of_job, .tasks = fanout};
        for (uint32_t i = 0; i < fanout; i++)
            of_job[i] = equal && i > 0 ? of_job[0] : variate_exponential(&rng, 1);
    }
    struct tasks_model model = {.workers = n * groups, .jobs = made, .n_jobs = jobs};
    cr_assert_eq(tasks_model_complete(&model, &arena, NULL), PV_OK);
    tasks_retime(&model, load, &trial, made + jobs);
    model.jobs = made + jobs;
    struct tasks_terms terms = terms_of(TASKS_PIGEON, groups);
    terms.reserved_share = 0;
    struct tasks_result result = simulate(&model, &terms, 1, 0, &arena);
    /* The first third of the jobs finds workers idle that will be busy. */
    for (uint32_t j = jobs / 3; j < jobs; j++) {
        double delay_s = tasks_completion_s(&model, &result, j) - model.longest_s[j];
        running_moments_add(&delays, delay_s);
        queued.waited += delay_s > 1e-6;
    }
    queued.waited /= delays.n;
    queued.delay_s = delays.mean;
    arena_fini(&arena);
    return queued;
}

static struct pigeon_candidate theory(uint32_t n, uint32_t groups, uint32_t fanout, double load)
{
    const struct pigeon_terms terms = {
        .workers = (int64_t)n * groups, .load = load, .fanout = fanout, .task_s = 1};
    return pigeon_candidate_of(&terms, n);
}

/* One group and one task a job are M/M/n, of which the formulas are exact. */
Test(tasks_simulation, agrees_with_erlang)
{
    struct pigeon_candidate expected = theory(5, 1, 1, 0.6);
    struct queued found = simulate_theory(5, 1, 1, 400000, 0.6, false);
    cr_expect(fabs(1 - found.waited - expected.task_zero_queuing) < 0.015, "%g, not %g",
              1 - found.waited, expected.task_zero_queuing);
    cr_expect(fabs(found.delay_s / expected.queuing_s - 1) < 0.1, "%g, not %g", found.delay_s,
              expected.queuing_s);
}

/* Jobs of 50 tasks, which seldom wait for the longest one: the approximation of eq. 4.6, and its
 * figures 0.979 and 0.766. */
Test(tasks_simulation, agrees_with_theory_of_jobs)
{
    static const double loads[] = {0.8, 0.9};
    static const double said[] = {0.979, 0.766};
    for (size_t i = 0; i < 2; i++) {
        struct pigeon_candidate expected = theory(100, 60, 50, loads[i]);
        struct queued found = simulate_theory(100, 60, 50, 20000, loads[i], false);
        cr_expect(fabs(expected.job_exponential - said[i]) < 0.0005);
        cr_expect(fabs(1 - found.waited - said[i]) < 0.02, "load %g: %g, not %g", loads[i],
                  1 - found.waited, said[i]);
    }
}

/* Equal tasks, as few as keep groups independent of each other (eq. 4.3). */
Test(tasks_simulation, agrees_with_theory_of_equal_tasks)
{
    static const double loads[] = {0.7, 0.8, 0.9};
    for (size_t i = 0; i < 3; i++) {
        struct pigeon_candidate expected = theory(20, 200, 4, loads[i]);
        struct queued found = simulate_theory(20, 200, 4, 150000, loads[i], true);
        cr_expect(fabs(1 - found.waited - expected.job_equal) < 0.03, "load %g: %g, not %g",
                  loads[i], 1 - found.waited, expected.job_equal);
    }
}
