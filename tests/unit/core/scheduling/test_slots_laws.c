/* What holds for any workload under every policy: it all ends, the same work is done, no faster than
 * slots allow, and Jain's index is between 1/n and 1. */
#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"
#include "core/scheduling/slots/slots_engine.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scheduling/slots/slots_outcome.h"
#include "core/sim/variates.h"

enum { JOBS = 24, TASKS = 40, CASES = 30, NODES = 3 };

static const double limits_s[] = {60, 200};
static const double partitions[] = {0.3, 0.3, 0.4};
static const struct slots_tenant tenants[] = {{0.75, 0.9}, {0.25, 0.5}};
static const struct slots_node nodes[NODES] = {
    {.slots = {4, 2}, .speed = 0.5}, {.slots = {3, 4}, .speed = 1}, {.slots = {5, 2}, .speed = 2}};

static const struct slots_terms every_term = {.concurrency = 3,
                                              .tau1 = FRESH_TAU1,
                                              .tau2 = FRESH_TAU2,
                                              .ema_weight = OMO_EMA_WEIGHT,
                                              .window_s = OMO_WINDOW_S,
                                              .lazy_start = true,
                                              .batch_finish = true,
                                              .queues = 3,
                                              .limits_s = limits_s,
                                              .n_limits = 2,
                                              .partitions = partitions,
                                              .tenants = tenants,
                                              .n_tenants = 2};

struct workload {
    struct slots_cluster cluster;
    size_t n;
    struct slots_job jobs[JOBS];
    struct slots_tasks tasks[JOBS][SLOTS_KINDS][TASKS];
};

/* Every job has a map, as policies of FRESH want it. */
static void draw(struct workload *workload, uint64_t seed)
{
    const uint64_t purpose[] = {1};
    struct rng rng = variate_stream(seed, purpose, 1);
    workload->n = 1 + variate_index(&rng, JOBS);
    workload->cluster =
        (struct slots_cluster){.slots = {12, 8}, .slow_start = variate_uniform(&rng, 0, 1)};
    if (variate_index(&rng, 2) == 0) {
        workload->cluster.nodes = nodes;
        workload->cluster.n_nodes = NODES;
    }
    for (size_t i = 0; i < workload->n; i++) {
        struct slots_job *job = &workload->jobs[i];
        *job = (struct slots_job){.arrival_s = variate_uniform(&rng, 0, 100),
                                  .shuffle_s = variate_uniform(&rng, 0, 30),
                                  .predicted_size_s = variate_uniform(&rng, 1, 400),
                                  .queue = variate_index(&rng, 2)};
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
            size_t n = variate_index(&rng, TASKS) + (kind == SLOTS_MAP);
            for (size_t t = 0; t < n; t++)
                workload->tasks[i][kind][t] = (struct slots_tasks){variate_uniform(&rng, 1, 20), 1};
            job->task_lists[kind] = (struct slots_task_list){workload->tasks[i][kind], n};
        }
    }
}

/* What tasks have worked that ended, in seconds on a node of speed 1. */
static double work_done(const struct workload *workload, const struct slots_spans *spans)
{
    double work_s = 0;
    for (size_t i = 0; i < spans->n; i++) {
        const struct slots_span *span = &spans->items[i];
        double speed = workload->cluster.n_nodes > 0 ? nodes[span->node].speed : 1;
        cr_assert(span->finished);
        work_s += (double)span->count * (span->end_s - span->begun_s) * speed;
    }
    return work_s;
}

static double work_of(const struct workload *workload)
{
    double work_s = 0;
    for (size_t i = 0; i < workload->n; i++)
        work_s += slots_job_size(&workload->jobs[i]);
    return work_s;
}

static void expect_outcome(const struct workload *workload,
                           const struct slots_job_times times[],
                           struct arena *scratch)
{
    double runtime_s[JOBS];
    double slowdown[JOBS];
    struct slots_outcome outcome;
    cr_assert_eq(slots_runtimes_alone(&workload->cluster, workload->jobs, workload->n, NULL,
                                      scratch, runtime_s, NULL),
                 PV_OK);
    cr_assert_eq(slots_summarize(&workload->cluster, workload->jobs, workload->n, times, runtime_s,
                                 scratch, slowdown, &outcome, NULL),
                 PV_OK);
    cr_assert_geq(outcome.fairness, 1 / (double)workload->n - 1e-12);
    cr_assert_leq(outcome.fairness, 1 + 1e-12);
    double capacity = slots_cluster_capacity(&workload->cluster, SLOTS_MAP) +
                      slots_cluster_capacity(&workload->cluster, SLOTS_REDUCE);
    cr_assert_geq(outcome.makespan_s, work_of(workload) / capacity * (1 - 1e-12));
}

static void follow(const struct workload *workload, size_t policy, struct arena *scratch)
{
    struct slots_terms terms = every_term;
    struct slots_job_times times[JOBS];
    struct slots_spans spans;
    const struct slots_observer observer = {.spans = &spans};
    terms.policy = slots_policies[policy];
    cr_assert(slots_spans_init(&spans, (size_t)2 * JOBS * TASKS, scratch));
    cr_assert_eq(slots_simulate_observed(&workload->cluster, workload->jobs, workload->n, &terms,
                                         NULL, &observer, scratch, times, NULL),
                 PV_OK, "%s: jobs are left", terms.policy->name);
    for (size_t i = 0; i < workload->n; i++)
        cr_assert(times[i].finish_s > workload->jobs[i].arrival_s && isfinite(times[i].finish_s),
                  "%s: job %zu has not ended", terms.policy->name, i);
    cr_assert_float_eq(work_done(workload, &spans), work_of(workload), 1e-6, "%s: other work",
                       terms.policy->name);
    expect_outcome(workload, times, scratch);
}

Test(slots_laws, hold_for_any_workload_under_every_policy)
{
    static struct workload workload;
    struct arena scratch;
    arena_init(&scratch, 0);
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        draw(&workload, seed);
        for (size_t policy = 0; policy < SLOTS_POLICIES; policy++) {
            follow(&workload, policy, &scratch);
            arena_clear(&scratch);
        }
    }
    arena_fini(&scratch);
}
