/*
 * Simulations of MapReduce jobs on map and reduce slots: tasks a second of the processor, for each
 * policy, on traces whose load is 0.7 of 600 map and 200 reduce slots (100 nodes, as in the paper
 * of FBQ).
 *
 *     bench_slots [TRACE] [LOAD]     TRACE: of SWIM, e.g. FB-2009_samples_24_times_1hr_0.tsv
 *
 * "swim" is that trace. It has bytes and no times: a map reads a block of 64 MB at 10 MB/s, the
 * last one what is left; a reduce takes 256 MB of shuffled bytes at 10 MB/s, with its share of the
 * output at 20 MB/s; every task lasts a second more. "equal" is drawn, a million tasks of jobs with
 * bounded Pareto counts whose tasks last equally long, and "distinct" the same with another
 * duration for every task, so that none are handled together. "Seen" is with the tasks that wait and
 * hold slots over time. "Nodes", "late" and "esplash" are on 100 nodes of two speeds, of which some are
 * slowed for a time, without copies of tasks and with them. "Containers" are on 100 nodes of 8 vcores, maps
 * with 1 GiB and reduces with 2 of 12; "64 sizes" are containers of so many sizes. Arrivals keep their order and
 * pattern, and are stretched to the load.
 *
 * The status is 1 when fifo or fbq simulate fewer than 3,000,000 tasks a second of "swim", or of
 * "equal" where there is no trace; or fifo on nodes, with copies or without them, or in containers,
 * less than half as many.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../golden/stored_trace.h"
#include "core/scheduling/slots/slots_outcome.h"
#include "core/scheduling/slots/slots_resources.h"
#include "core/sim/variates.h"

static const struct slots_cluster CLUSTER = {.slots = {600, 200}, .slow_start = 0.05};
static const double GOAL = 3e6; /* tasks a second */
static const double DRAWN_TASKS = 1e6;

enum { TENANTS = 4, RUNS = 3, BINS = 200, CONCURRENCY = 8, NODES = 100, SIZES = 64 };

static struct arena arena;

struct trace {
    VECTOR(struct slots_job) jobs;
    double tasks;
};

static void *need(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* --- traces --- */

/* false: there is no such file. */
static bool read_swim(struct trace *trace, struct stored_trace *stored, const char *path)
{
    const struct workload_terms terms = {WORKLOAD_SWIM, workload_rates_default};
    const struct workload_summary *summary = &stored->summary;
    if (!stored_trace_read(stored, path, &terms))
        return false;
    struct workload_jobs jobs = stored_trace_load(stored, WORKLOAD_FOR_SLOTS);
    trace->jobs.items = jobs.slots;
    trace->jobs.n = jobs.n;
    trace->tasks = (double)(summary->tasks[WORKLOAD_TASKS] + summary->tasks[WORKLOAD_REDUCES]);
    return true;
}

static void draw_tasks(struct trace *trace,
                       struct rng *rng,
                       struct slots_job *job,
                       enum slots_kind kind,
                       double count,
                       bool distinct)
{
    double mean_s = variate_bounded_pareto(rng, 2, 200, 1.2);
    size_t entries = distinct ? (size_t)count : 1;
    struct slots_tasks *tasks = need(arena_array(&arena, entries, sizeof *tasks));
    job->task_lists[kind] = (struct slots_task_list){tasks, entries};
    trace->tasks += count;
    if (!distinct) {
        tasks[0] = (struct slots_tasks){mean_s, (size_t)count};
        return;
    }
    for (size_t i = 0; i < entries; i++)
        tasks[i] = (struct slots_tasks){variate_uniform(rng, 0.5, 1.5) * mean_s, 1};
}

static void draw(struct trace *trace, bool distinct)
{
    static const uint64_t purpose[] = {1};
    struct rng rng = variate_stream(1, purpose, 1);
    double at_s = 0;
    while (trace->tasks < DRAWN_TASKS) {
        at_s += variate_exponential(&rng, 1);
        struct slots_job *job = need(vector_add(&arena, &trace->jobs));
        job->arrival_s = at_s;
        job->predicted_size_s = (double)NAN;
        double maps = floor(variate_bounded_pareto(&rng, 1, 30000, 0.7));
        draw_tasks(trace, &rng, job, SLOTS_MAP, maps, distinct);
        if (maps > 4)
            draw_tasks(trace, &rng, job, SLOTS_REDUCE, ceil(maps / 20), distinct);
    }
}

/* Arrivals stretched so that the work of all jobs is `load` of what the slots can do meanwhile; jobs
 * belong to the tenants in turn. */
static void stretch(struct trace *trace, double load)
{
    if (trace->jobs.n == 0)
        return;
    double work_s = 0;
    double last_s = 0;
    double capacity = (double)(CLUSTER.slots[SLOTS_MAP] + CLUSTER.slots[SLOTS_REDUCE]);
    for (size_t i = 0; i < trace->jobs.n; i++) {
        work_s += slots_job_size(&trace->jobs.items[i]);
        last_s = trace->jobs.items[i].arrival_s;
    }
    for (size_t i = 0; i < trace->jobs.n; i++) {
        trace->jobs.items[i].arrival_s *= work_s / (load * capacity * last_s);
        trace->jobs.items[i].queue = i % TENANTS;
    }
}

/* --- policies --- */

/* Seconds of the processor; observed: with counts over time. */
static double simulate(const struct slots_cluster *cluster,
                       const struct trace *trace,
                       const struct slots_terms *terms,
                       bool observed,
                       struct arena *scratch,
                       struct slots_job_times times[])
{
    struct occupancy occupancy;
    const struct slots_observer observer = {.occupancy = &occupancy};
    if (observed && !occupancy_init(&occupancy, SLOTS_SERIES, BINS, 0, scratch))
        abort();
    double began_s = cpu_s();
    if (slots_simulate_observed(cluster, trace->jobs.items, trace->jobs.n, terms, NULL,
                                observed ? &observer : NULL, scratch, times, NULL) != PV_OK)
        abort();
    return cpu_s() - began_s;
}

/* Tasks a second, the best of some runs; prints a line. */
static double measure(const char *name,
                      const struct slots_cluster *cluster,
                      const struct trace *trace,
                      const struct slots_terms *terms,
                      const char *policy,
                      bool observed,
                      const double runtime_s[])
{
    size_t n = trace->jobs.n;
    struct arena scratch;
    double best_s = HUGE_VAL;
    struct slots_outcome outcome;
    arena_init(&scratch, 0);
    struct slots_job_times *times = need(arena_array(&scratch, n, sizeof *times));
    double *slowdown = need(arena_array(&scratch, n, sizeof *slowdown));
    for (size_t i = 0; i < RUNS; i++)
        best_s = fmin(best_s, simulate(cluster, trace, terms, observed, &scratch, times));
    if (slots_summarize(cluster, trace->jobs.items, n, times, runtime_s, &scratch, slowdown,
                        &outcome, NULL) != PV_OK)
        abort();
    printf("%-9s %-12s %8.1f ms %12.0f %10.2f %10.2f %10.2f\n", name, policy, best_s * 1e3,
           trace->tasks / best_s, outcome.slowdown.p50, outcome.slowdown.p95, outcome.utilization);
    arena_fini(&scratch);
    return trace->tasks / best_s;
}

/* The same slots on nodes, slow and fast ones in turn; every tenth is slowed now and then, so that there
 * are stragglers to find. Returns the least tasks a second. */
static double measure_nodes(const char *name,
                            const struct trace *trace,
                            struct slots_terms *terms,
                            const double runtime_s[])
{
    static const char *const labels[SLOTS_SPECULATION_KINDS] = {"fifo nodes", "fifo late",
                                                                "fifo esplash"};
    struct slots_node nodes[NODES];
    struct slots_incident incidents[NODES];
    struct slots_cluster cluster = CLUSTER;
    double last_s = trace->jobs.items[trace->jobs.n - 1].arrival_s;
    double least = HUGE_VAL;
    for (size_t i = 0; i < NODES; i++) {
        nodes[i] = (struct slots_node){
            .slots = {CLUSTER.slots[SLOTS_MAP] / NODES, CLUSTER.slots[SLOTS_REDUCE] / NODES},
            .speed = i % 2 == 0 ? 0.8 : 1.2,
            .level = 1 + i % 2};
        incidents[i] = (struct slots_incident){.node = i / 10 * 10,
                                               .at_s = (double)i / NODES * last_s,
                                               .until_s = (double)(i + 1) / NODES * last_s,
                                               .speed_factor = i % 2 == 0 ? 0.2 : 1};
    }
    cluster.nodes = nodes;
    cluster.n_nodes = NODES;
    cluster.incidents = incidents;
    cluster.n_incidents = NODES;
    for (size_t kind = 0; kind < SLOTS_SPECULATION_KINDS; kind++) {
        terms->speculation =
            (struct slots_speculation_terms){.kind = (enum slots_speculation_kind)kind,
                                             .epoch_s = SLOTS_EPOCH_S,
                                             .esplash = {.threshold = 3,
                                                         .duration_weight = 1,
                                                         .rate_weight = 1,
                                                         .deviation_floor = 0.05,
                                                         .ratio_cap = 10}};
        least = fmin(least, measure(name, &cluster, trace, terms, labels[kind], false, runtime_s));
    }
    return least;
}

/* Under drf, with containers of SIZES sizes in turn: what sizes cost (slots_terms_weight). */
static void measure_sizes(const char *name,
                          struct slots_cluster *cluster,
                          struct slots_node nodes[],
                          const struct trace *trace,
                          struct slots_terms *terms,
                          const double runtime_s[])
{
    static struct slots_resources requests[SIZES][SLOTS_KINDS];
    struct arena sizes;
    arena_init(&sizes, 0);
    for (size_t i = 0; i < SIZES; i++)
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            requests[i][kind] = (struct slots_resources){1, (UINT64_C(1) << 30) + i};
    for (size_t i = 0; i < trace->jobs.n; i++)
        trace->jobs.items[i].requests = requests[i % SIZES];
    if (slots_resources_measure(cluster, nodes, requests[0], SIZES * SLOTS_KINDS, &sizes, NULL) !=
        PV_OK)
        abort();
    terms->policy = &slots_policy_drf;
    (void)measure(name, cluster, trace, terms, "drf 64 sizes", false, runtime_s);
    arena_fini(&sizes);
}

/* Containers in place of the slots. Returns the tasks a second of fifo. */
static double measure_containers(const char *name,
                                 const struct trace *trace,
                                 struct slots_terms *terms,
                                 const double runtime_s[])
{
    static const struct slots_resources requests[SLOTS_KINDS] = {{1, UINT64_C(1) << 30},
                                                                 {1, UINT64_C(2) << 30}};
    static const struct {
        const struct slots_policy *policy;
        const char *label;
    } rows[] = {{&slots_policy_fifo, "fifo cont."},
                {&slots_policy_fair, "fair cont."},
                {&slots_policy_drf, "drf cont."},
                {&slots_policy_capacity, "capac. cont."},
                {&slots_policy_fbq, "fbq cont."}};
    struct slots_node nodes[NODES];
    struct slots_cluster cluster = {.slow_start = 0.05, .ramp_up = 0.5, .n_nodes = NODES};
    struct arena sizes;
    double fifo = 0;
    arena_init(&sizes, 0);
    for (size_t i = 0; i < NODES; i++)
        nodes[i] = (struct slots_node){.speed = 1, .room = {8, UINT64_C(12) << 30}};
    cluster.nodes = nodes;
    if (slots_resources_measure(&cluster, nodes, requests, SLOTS_KINDS, &sizes, NULL) != PV_OK)
        abort();
    for (size_t i = 0; i < trace->jobs.n; i++)
        trace->jobs.items[i].requests = requests;
    terms->speculation.kind = SLOTS_NO_SPECULATION;
    terms->concurrency = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        terms->policy = rows[r].policy;
        double rate = measure(name, &cluster, trace, terms, rows[r].label, false, runtime_s);
        fifo = r == 0 ? rate : fifo;
    }
    measure_sizes(name, &cluster, nodes, trace, terms, runtime_s);
    arena_fini(&sizes);
    return fifo;
}

/* The lesser of fifo's and fbq's tasks a second, and of twice those on nodes. */
static double measure_all(const char *name, struct trace *trace, double load)
{
    static const double limits_s[] = {1e3, 1e4, 1e5};
    static const double parts[] = {0.25, 0.25, 0.25, 0.25};
    static const struct slots_tenant tenants[TENANTS] = {
        {0.25, 1}, {0.25, 1}, {0.25, 1}, {0.25, 1}};
    struct slots_terms terms = {.queues = 4,
                                .limits_s = limits_s,
                                .n_limits = 3,
                                .partitions = parts,
                                .tenants = tenants,
                                .n_tenants = TENANTS,
                                .tau1 = 0.8,
                                .tau2 = 0.6,
                                .ema_weight = 0.5,
                                .window_s = 10,
                                .lazy_start = true,
                                .batch_finish = true};
    struct arena scratch;
    double least = HUGE_VAL;
    stretch(trace, load);
    arena_init(&scratch, 0);
    double *runtime_s = need(arena_array(&scratch, trace->jobs.n, sizeof *runtime_s));
    double began_s = cpu_s();
    if (slots_runtimes_alone(&CLUSTER, trace->jobs.items, trace->jobs.n, NULL, &scratch, runtime_s,
                             NULL) != PV_OK)
        abort();
    double alone_s = cpu_s() - began_s;
    printf("%-9s %-12s %8.1f ms %12.0f   %zu jobs, %.0f tasks\n", name, "(alone)", alone_s * 1e3,
           trace->tasks / alone_s, trace->jobs.n, trace->tasks);
    for (size_t p = 0; p < SLOTS_POLICIES; p++) {
        terms.policy = slots_policies[p];
        terms.concurrency = p == SLOTS_FRESH_STATIC || p == SLOTS_FRESH ? CONCURRENCY : 0;
        double rate = measure(name, &CLUSTER, trace, &terms, terms.policy->name, false, runtime_s);
        if (p == SLOTS_FIFO || p == SLOTS_FBQ)
            least = fmin(least, rate);
    }
    terms.policy = &slots_policy_fbq;
    (void)measure(name, &CLUSTER, trace, &terms, "fbq seen", true, runtime_s);
    terms.policy = &slots_policy_fifo;
    (void)measure(name, &CLUSTER, trace, &terms, "fifo seen", true, runtime_s);
    terms.policy = &slots_policy_fair;
    terms.concurrency = CONCURRENCY;
    (void)measure(name, &CLUSTER, trace, &terms, "fair k=8", false, runtime_s);
    terms.policy = &slots_policy_fifo;
    least = fmin(least, 2 * measure_nodes(name, trace, &terms, runtime_s));
    least = fmin(least, 2 * measure_containers(name, trace, &terms, runtime_s));
    arena_fini(&scratch);
    return least;
}

int main(int argc, char **argv)
{
    double load = argc > 2 ? strtod(argv[2], NULL) : 0.7;
    double least = 0;
    struct stored_trace stored;
    struct trace swim = {0};
    struct trace equal = {0};
    struct trace distinct = {0};
    arena_init(&arena, 0);
    printf("%-9s %-12s %11s %12s %10s %10s %10s\n", "trace", "policy", "time", "tasks/s",
           "slowdown", "p95", "utilization");
    bool has_swim = argc > 1 && read_swim(&swim, &stored, argv[1]);
    if (has_swim) {
        least = measure_all("swim", &swim, load);
        stored_trace_end(&stored);
    }
    draw(&equal, false);
    double drawn = measure_all("equal", &equal, load);
    draw(&distinct, true);
    (void)measure_all("distinct", &distinct, load);
    arena_fini(&arena);
    return (has_swim ? least : drawn) >= GOAL ? 0 : 1;
}
