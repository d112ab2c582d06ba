#include "slowdown_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/slots/slots_comparison.h"
#include "core/sim/variates.h"
#include "evidence.h"

const double slowdown_loads[SLOWDOWN_LOADS] = {0.7, 0.8, 0.9};

/* --- simulation --- */

/* The jobs of a comparison, in the random order of the seed. */
static void draw_order(const struct slowdown_workload *workload,
                       uint64_t seed,
                       struct slots_comparison *comparison,
                       struct arena *scratch)
{
    static const uint64_t purpose[] = {1};
    size_t n = workload->n;
    struct rng rng = variate_stream(seed, purpose, 1);
    size_t *drawn = evidence_need(arena_array(scratch, n, sizeof *drawn));
    struct slots_job *jobs = evidence_need(arena_array(scratch, n, sizeof *jobs));
    double *runtime_s = evidence_need(arena_array(scratch, n, sizeof *runtime_s));
    for (size_t i = 0; i < n; i++)
        drawn[i] = i;
    variate_sample(&rng, drawn, n, n);
    for (size_t i = 0; i < n; i++) {
        jobs[i] = workload->jobs[drawn[i]];
        jobs[i].arrival_s = (double)i;
        runtime_s[i] = workload->runtime_s[drawn[i]];
    }
    comparison->jobs = jobs;
    comparison->n_jobs = n;
    comparison->runtime_s = runtime_s;
}

static void add_outcome(struct slowdown_found *found, const struct slots_outcome *outcome)
{
    running_moments_add(&found->p50, outcome->slowdown.p50);
    running_moments_add(&found->p95, outcome->slowdown.p95);
    running_moments_add(&found->v90, outcome->slowdown.p90 / outcome->slowdown.p50);
    running_moments_add(&found->v95, outcome->slowdown_variability_95);
    running_moments_add(&found->v99, outcome->slowdown.p99 / outcome->slowdown.p50);
}

static void simulate_seed(const struct slowdown_workload *workload,
                          const struct policy_comparison *plan,
                          const struct slots_terms policies[],
                          struct slowdown_found found[],
                          struct arena *scratch)
{
    struct slots_comparison comparison = {.plan = *plan, .cluster = slowdown_cluster};
    size_t n;
    comparison.policies =
        evidence_need(arena_array(scratch, plan->n_policies, sizeof *comparison.policies));
    memcpy(comparison.policies, policies, plan->n_policies * sizeof *comparison.policies);
    draw_order(workload, plan->seed, &comparison, scratch);
    if (slots_comparison_complete(&comparison, scratch, NULL) != PV_OK)
        abort();
    const struct policy_cell *cells = evidence_need(policy_cells(plan, scratch, &n));
    for (size_t i = 0; i < n; i++) {
        struct slots_cell made = {.times = NULL};
        if (slots_comparison_run(&comparison, &cells[i], NULL, scratch, &made, NULL) != PV_OK)
            abort();
        add_outcome(&found[cells[i].load * plan->n_policies + cells[i].policy], &made.outcome);
    }
}

void slowdown_simulate(const struct slowdown_workload *workload,
                       size_t n_loads,
                       const struct slots_terms policies[],
                       size_t n_policies,
                       uint64_t seeds,
                       struct slowdown_found found[])
{
    struct arena scratch;
    arena_init(&scratch, 0);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        arena_clear(&scratch);
        const bool *draws = evidence_need(arena_calloc(&scratch, n_policies, sizeof *draws));
        const struct policy_comparison plan = {.n_policies = n_policies,
                                               .draws = draws,
                                               .loads = slowdown_loads,
                                               .n_loads = n_loads,
                                               .repetitions = 1,
                                               .seed = seed};
        simulate_seed(workload, &plan, policies, found, &scratch);
    }
    arena_fini(&scratch);
}

/* --- limits and partitions --- */

enum { TRIED_LIMITS = 15, TRIED_SHARES = 5, TUNING_SEEDS = 10 };

void slowdown_tune(const struct slowdown_workload *workload, const struct slots_policy *policy)
{
    static const double limits_s[TRIED_LIMITS] = {500,   1000,  2000,  3000,  4000,
                                                  6000,  8000,  10000, 12000, 14000,
                                                  18000, 24000, 36000, 50000, 100000};
    static const double shares[TRIED_SHARES] = {0.1, 0.2, 0.3, 0.4, 0.5};
    bool parted = policy != &slots_policy_fbq;
    double best = HUGE_VAL;
    for (size_t p = 0; p < (parted ? TRIED_SHARES : 1); p++)
        for (size_t l = 0; l < TRIED_LIMITS; l++) {
            const double partitions[] = {shares[p], 1 - shares[p]};
            const struct slots_terms terms = {.policy = policy,
                                              .limits_s = &limits_s[l],
                                              .n_limits = 1,
                                              .partitions = partitions};
            struct slowdown_found found = {0};
            slowdown_simulate(workload, 1, &terms, 1, TUNING_SEEDS, &found);
            if (found.p95.mean >= best)
                continue;
            best = found.p95.mean;
            printf("%s, %.0f s, first partition %.1f: median %.2f, 95th percentile %.2f\n",
                   policy->name, limits_s[l], parted ? shares[p] : 1, found.p50.mean, best);
        }
}
