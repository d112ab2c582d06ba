#include "core/scheduling/slots/slots_comparison.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/rounding.h"
#include "core/scheduling/comparison/arrival_order.h"
#include "core/sim/variates.h"
#include "slots_cases.h"

enum { POLICIES = 3, CELLS_MAX = 64 };

static const double limits_s[] = {4};
static const bool draws[POLICIES] = {false};
static struct slots_terms policies[POLICIES] = {
    {.policy = &slots_policy_fifo},
    {.policy = &slots_policy_fair},
    {.policy = &slots_policy_fbq, .limits_s = limits_s, .n_limits = 1}};

/* A comparison with everything that cells need. */
struct compared {
    struct arena arena;
    struct slots_case jobs;
    struct slots_comparison comparison;
    double runtime_s[CASE_JOBS_MAX];
    struct policy_cell *cells;
    size_t n;
    struct slots_cell made[CELLS_MAX];
};

static void
prepare(struct compared *compared, const double loads[], size_t n_loads, size_t repetitions)
{
    compared->jobs = (struct slots_case){
        .cluster = {.slots = {3, 2}, .slow_start = 0.5},
        .given = {{.arrival_s = 0, .maps = {3, 2, 4, 1}, .reduces = {1, 2}},
                  {.arrival_s = 5, .maps = {9, 9}, .reduces = {2}, .shuffle_s = 1},
                  {.arrival_s = 2, .maps = {1}},
                  {.arrival_s = 2, .maps = {2, 2, 2}, .reduces = {1, 1, 1}}}};
    arena_init(&compared->arena, 0);
    slots_case_prepare(&compared->jobs, true);
    compared->comparison = (struct slots_comparison){.plan = {.n_policies = POLICIES,
                                                              .draws = draws,
                                                              .loads = loads,
                                                              .n_loads = n_loads,
                                                              .repetitions = repetitions,
                                                              .seed = 5},
                                                     .cluster = compared->jobs.cluster,
                                                     .jobs = compared->jobs.jobs,
                                                     .n_jobs = compared->jobs.n,
                                                     .policies = policies,
                                                     .runtime_s = compared->runtime_s};
    cr_assert_eq(slots_comparison_complete(&compared->comparison, &compared->arena, NULL), PV_OK);
    cr_assert_eq(slots_runtimes_alone(&compared->jobs.cluster, compared->jobs.jobs,
                                      compared->jobs.n, NULL, &compared->arena, compared->runtime_s,
                                      NULL),
                 PV_OK);
    compared->cells = policy_cells(&compared->comparison.plan, &compared->arena, &compared->n);
    cr_assert(compared->cells != NULL && compared->n <= CELLS_MAX);
    memset(compared->made, 0, sizeof compared->made);
}

static void run_cells(struct compared *compared)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t i = 0; i < compared->n; i++)
        cr_assert_eq(slots_comparison_run(&compared->comparison, &compared->cells[i], NULL,
                                          &scratch, &compared->made[i], NULL),
                     PV_OK);
    arena_fini(&scratch);
}

Test(slots_comparison, without_loads_a_cell_is_the_simulation_of_its_policy)
{
    static struct compared compared;
    struct slots_job_times times[CASE_JOBS_MAX];
    struct slots_job_times kept[CASE_JOBS_MAX];
    double slowdown[CASE_JOBS_MAX];
    double again[CASE_JOBS_MAX];
    struct slots_outcome outcome;
    prepare(&compared, NULL, 0, 7);
    cr_assert_eq(compared.n, POLICIES, "nothing is drawn, so nothing is repeated");
    compared.made[2].times = kept;
    compared.made[2].slowdown = slowdown;
    run_cells(&compared);
    for (size_t p = 0; p < POLICIES; p++) {
        slots_case_run(&compared.jobs, &policies[p], times);
        cr_assert_eq(slots_summarize(&compared.jobs.cluster, compared.jobs.jobs, compared.jobs.n,
                                     times, compared.runtime_s, &compared.arena, again, &outcome,
                                     NULL),
                     PV_OK);
        const struct slots_outcome *found = &compared.made[p].outcome;
        cr_expect_eq(outcome.makespan_s, found->makespan_s);
        cr_expect_eq(outcome.utilization, found->utilization);
        cr_expect_eq(outcome.fairness, found->fairness);
        cr_expect_eq(outcome.completion_s.mean, found->completion_s.mean);
        cr_expect_eq(outcome.slowdown.p95, found->slowdown.p95);
        cr_expect_eq(outcome.slowdown_variability_95, found->slowdown_variability_95);
    }
    for (size_t i = 0; i < compared.jobs.n; i++) {
        cr_expect_eq(kept[i].finish_s, times[i].finish_s);
        cr_expect_eq(slowdown[i], again[i]);
    }
    arena_fini(&compared.arena);
}

Test(slots_comparison, work_and_loads_by_kind)
{
    static struct compared compared;
    prepare(&compared, NULL, 0, 1);
    const struct slots_comparison *comparison = &compared.comparison;
    cr_expect_eq(comparison->work_s[SLOTS_MAP], 35);
    cr_expect_eq(comparison->work_s[SLOTS_REDUCE], 8);
    cr_expect_eq(comparison->tasks, 16);
    /* At load 1 work comes as fast as 5 slots do it: 43 seconds of work in 43/5 seconds. */
    cr_expect(rounding_equal(slots_comparison_kind_load(comparison, SLOTS_MAP, 1),
                             35.0 / (3 * 43.0 / 5)));
    cr_expect(rounding_equal(slots_comparison_kind_load(comparison, SLOTS_REDUCE, 0.5),
                             0.5 * 8.0 / (2 * 43.0 / 5)));
    arena_fini(&compared.arena);
}

/* At a load next to nothing each job is alone. */
Test(slots_comparison, at_a_load_jobs_arrive_as_drawn_and_in_their_order)
{
    static struct compared compared;
    const double loads[] = {1e-6};
    struct slots_job_times times[CASE_JOBS_MAX];
    double slowdown[CASE_JOBS_MAX];
    uint32_t order[CASE_JOBS_MAX];
    prepare(&compared, loads, 1, 1);
    compared.made[0].times = times;
    compared.made[0].slowdown = slowdown;
    run_cells(&compared);
    cr_assert(arrival_order(&times[0].start_s, sizeof times[0], 4, order, &compared.arena));
    double at_s = 0;
    double rate_per_s = 1e-6 * 5 * 4 / 43;
    const struct trial trial = {5, 0};
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(order[i], compared.comparison.order[i]);
        cr_expect(fabs(slowdown[i] - 1) < 1e-6);
        at_s += trial_gap_s(&trial, rate_per_s, order[i]);
        cr_expect(rounding_equal(times[order[i]].start_s, at_s));
    }
    arena_fini(&compared.arena);
}

Test(slots_comparison, means_are_over_the_repetitions_and_choices_by_the_objective)
{
    static struct compared compared;
    const double loads[] = {0.5, 2};
    prepare(&compared, loads, 2, 3);
    cr_assert_eq(compared.n, 2 * POLICIES * 3);
    run_cells(&compared);
    for (enum policy_objective objective = POLICY_SLOWDOWN_P50; objective <= POLICY_MAKESPAN;
         objective++) {
        const struct policy_load *found = slots_comparison_conclude(
            &compared.comparison, compared.made, objective, &compared.arena);
        cr_assert_not_null(found);
        for (size_t l = 0; l < 2; l++) {
            const struct slots_cell *cells = &compared.made[l * POLICIES * 3];
            double least = HUGE_VAL;
            for (size_t p = 0; p < POLICIES; p++) {
                double makespan_s = 0;
                double p95 = 0;
                for (size_t r = 0; r < 3; r++) {
                    makespan_s += cells[3 * p + r].outcome.makespan_s / 3;
                    p95 += cells[3 * p + r].outcome.slowdown.p95 / 3;
                }
                cr_expect(rounding_equal(slots_load_mean(&found[l], p)->makespan_s, makespan_s));
                cr_expect(rounding_equal(slots_load_mean(&found[l], p)->slowdown.p95, p95));
                cr_expect_eq(slots_load_first(&found[l], p), &cells[3 * p]);
                least = fmin(least, objective == POLICY_MAKESPAN ? makespan_s : p95);
            }
            if (objective == POLICY_MAKESPAN || objective == POLICY_SLOWDOWN_P95)
                cr_expect(rounding_equal(found[l].choice.value, least));
        }
    }
    arena_fini(&compared.arena);
}

static bool stop_at_once(void *context, size_t tasks)
{
    (void)context;
    (void)tasks;
    return false;
}

/* Many jobs of many durations: as much memory as a cell may take. */
Test(slots_comparison, a_cell_takes_no_more_memory_than_was_said, .timeout = 60)
{
    enum { JOBS = 2000, TASKS = 20 };
    static struct slots_tasks tasks[JOBS][TASKS];
    static struct slots_job jobs[JOBS];
    static double runtime_s[JOBS];
    static const double loads[] = {0.9};
    struct rng rng = rng_make(1, 1);
    for (size_t j = 0; j < JOBS; j++) {
        for (size_t i = 0; i < TASKS; i++)
            tasks[j][i] = (struct slots_tasks){variate_exponential(&rng, 1), 1};
        jobs[j] = (struct slots_job){.task_lists = {{tasks[j], TASKS / 2}, {tasks[j], TASKS / 2}},
                                     .predicted_size_s = (double)NAN};
        runtime_s[j] = 1;
    }
    for (size_t slots = 10; slots <= 100000; slots *= 100)
        for (size_t p = 0; p < POLICIES; p++) {
            struct slots_comparison comparison = {
                .plan = {.n_policies = POLICIES, .draws = draws, .repetitions = 1},
                .cluster = {.slots = {slots, slots}, .slow_start = 0.05},
                .jobs = jobs,
                .n_jobs = JOBS,
                .policies = policies,
                .runtime_s = runtime_s};
            if (p == 1) {
                comparison.plan.loads = loads;
                comparison.plan.n_loads = 1;
            }
            const struct policy_cell cell = {0, p, 0};
            const struct slots_progress stop = {stop_at_once, NULL};
            struct slots_cell made = {.times = NULL};
            struct arena arena;
            struct arena scratch;
            arena_init(&arena, 0);
            cr_assert_eq(slots_comparison_complete(&comparison, &arena, NULL), PV_OK);
            arena_init(&scratch, slots_comparison_memory(&comparison));
            cr_expect_eq(slots_comparison_run(&comparison, &cell, NULL, &scratch, &made, NULL),
                         PV_OK);
            cr_expect_eq(slots_comparison_run(&comparison, &cell, &stop, &scratch, &made, NULL),
                         PV_E_CANCELLED);
            arena_fini(&scratch);
            arena_fini(&arena);
        }
}
