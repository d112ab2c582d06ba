/*
 * What B. Ghit and D. Epema found ("Reducing job slowdown variability for data-intensive workloads",
 * MASCOTS 2015) on the trace that they took their workload from, FB-2009 of SWIM (data/swim of the
 * shared data), with their cluster, limits and partitions:
 *
 *     test_slowdown_findings [--quick | --tune]
 *
 * The trace has no times; the rates are such that tasks last as long as those of their table II.
 * --tune: limits and partitions of two queues with the least 95th percentile, as the paper looks for
 * its own. --quick: one seed, and nothing is compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/slots_outcome.h"
#include "core/sim/arrivals.h"
#include "core/sim/statistics.h"
#include "core/sim/variates.h"
#include "evidence.h"
#include "swim_trace.h"

enum { SKIPPED = 77, SEEDS = 10, LOADS = 3 };

/* 100 nodes with 6 map and 2 reduce slots each. */
static const struct slots_cluster CLUSTER = {.slots = {600, 200}, .slow_start = 0.05};

static const struct swim_rates RATES = {.block_bytes = 128e6,
                                        .reduce_bytes = 1e9,
                                        .map_bytes_per_s = 6e6,
                                        .shuffle_bytes_per_s = 10e6,
                                        .output_bytes_per_s = 20e6,
                                        .task_s = 15};

static const double loads[LOADS] = {0.7, 0.8, 0.9};
enum { LOAD_70, LOAD_80, LOAD_90 };

/* --- policies --- */

/* The last two: found by --tune for LIKE_THEIRS. */
enum { FIFO, FBQ, FBQ_4, SITA, TAGS, COMP, COMP_4, SITA_TUNED, TAGS_TUNED, SETTINGS };

static const char *const setting_names[SETTINGS] = {"FIFO",
                                                    "FBQ",
                                                    "FBQ, K = 4",
                                                    "SITA",
                                                    "TAGS",
                                                    "COMP",
                                                    "COMP, K = 4",
                                                    "SITA, 30 % below 10,000 s",
                                                    "TAGS, 50 % up to 6,000 s"};

static const double fbq_limits_s[] = {12000};
static const double fbq_4_limits_s[] = {4000, 10000, 36000};
static const double sita_limits_s[] = {18000};
static const double sita_partitions[] = {0.3, 0.7};
static const double tags_limits_s[] = {14000};
static const double tags_partitions[] = {0.5, 0.5};
static const double sita_tuned_limits_s[] = {10000};
static const double sita_tuned_partitions[] = {0.3, 0.7};
static const double tags_tuned_limits_s[] = {6000};
static const double tags_tuned_partitions[] = {0.5, 0.5};

static const struct slots_terms settings[SETTINGS] = {
    [FIFO] = {.policy = &slots_policy_fifo},
    [FBQ] = {.policy = &slots_policy_fbq, .limits_s = fbq_limits_s, .n_limits = 1},
    [FBQ_4] = {.policy = &slots_policy_fbq, .limits_s = fbq_4_limits_s, .n_limits = 3},
    [SITA] = {.policy = &slots_policy_sita,
              .limits_s = sita_limits_s,
              .n_limits = 1,
              .partitions = sita_partitions},
    [TAGS] = {.policy = &slots_policy_tags,
              .limits_s = tags_limits_s,
              .n_limits = 1,
              .partitions = tags_partitions},
    [COMP] = {.policy = &slots_policy_comp, .queues = 2},
    [COMP_4] = {.policy = &slots_policy_comp, .queues = 4},
    [SITA_TUNED] = {.policy = &slots_policy_sita,
                    .limits_s = sita_tuned_limits_s,
                    .n_limits = 1,
                    .partitions = sita_tuned_partitions},
    [TAGS_TUNED] = {.policy = &slots_policy_tags,
                    .limits_s = tags_tuned_limits_s,
                    .n_limits = 1,
                    .partitions = tags_tuned_partitions},
};

/* --- workloads --- */

/* Jobs of the trace whose input lies between these bounds. */
struct bounds {
    const char *name;
    double least_bytes;
    double most_bytes;
};

enum { ALL_BUT_ONE, ALL, LIKE_THEIRS, WORKLOADS };

static const struct bounds workloads[WORKLOADS] = {
    [ALL_BUT_ONE] = {"all jobs but one", 0, 1e12},
    [ALL] = {"all jobs", 0, HUGE_VAL},
    [LIKE_THEIRS] = {"7 MB to 150 GB", 7e6, 150e9},
};

struct workload {
    struct slots_job *jobs;
    double *runtime_s; /* of each alone */
    size_t n;
    double work_s; /* of all */
    struct running_moments sizes_s;
};

static void *need(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static struct workload
select_jobs(const struct swim_trace *trace, const struct bounds *bounds, struct arena *arena)
{
    struct workload workload = {0};
    workload.jobs = need(arena_array(arena, trace->jobs.n, sizeof *workload.jobs));
    for (size_t i = 0; i < trace->jobs.n; i++) {
        double input_bytes = trace->input_bytes.items[i];
        if (input_bytes < bounds->least_bytes || input_bytes > bounds->most_bytes)
            continue;
        double size_s = slots_job_size(&trace->jobs.items[i]);
        workload.jobs[workload.n++] = trace->jobs.items[i];
        workload.work_s += size_s;
        running_moments_add(&workload.sizes_s, size_s);
    }
    workload.runtime_s = need(arena_array(arena, workload.n, sizeof *workload.runtime_s));
    if (slots_runtimes_alone(&CLUSTER, workload.jobs, workload.n, NULL, arena, workload.runtime_s,
                             NULL) != PV_OK)
        abort();
    return workload;
}

/* The jobs in random order, as a Poisson process that loads the slots: drawn[i] is the index of the
 * i-th job there. One gap a job, the same up to scale for every load. */
static void draw_order(const struct workload *workload,
                       double load,
                       uint64_t seed,
                       struct slots_job jobs[],
                       size_t drawn[])
{
    enum { ORDER = 1, ARRIVALS };
    static const uint64_t order_key[] = {ORDER};
    static const uint64_t arrivals_key[] = {ARRIVALS};
    double slots = (double)(CLUSTER.slots[SLOTS_MAP] + CLUSTER.slots[SLOTS_REDUCE]);
    double rate_per_s = load * slots * (double)workload->n / workload->work_s;
    struct rng order = variate_stream(seed, order_key, 1);
    struct arrivals arrivals =
        arrivals_poisson(workload->n, rate_per_s, variate_stream(seed, arrivals_key, 1));
    for (size_t i = 0; i < workload->n; i++)
        drawn[i] = i;
    variate_sample(&order, drawn, workload->n, workload->n);
    for (size_t i = 0; i < workload->n; i++) {
        jobs[i] = workload->jobs[drawn[i]];
        (void)arrivals_next(&arrivals, &jobs[i].arrival_s);
    }
}

/* --- simulation --- */

/* Of slowdowns, over seeds; V is the variability at a percentile, over the median. */
struct found {
    struct running_moments p50;
    struct running_moments p95;
    struct running_moments v90;
    struct running_moments v95;
    struct running_moments v99;
};

static void simulate(const struct workload *workload,
                     double load,
                     uint64_t seed,
                     const struct slots_terms terms[],
                     size_t n_terms,
                     struct found found[],
                     struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    size_t n = workload->n;
    struct slots_job *jobs = need(arena_array(scratch, n, sizeof *jobs));
    size_t *drawn = need(arena_array(scratch, n, sizeof *drawn));
    double *runtime_s = need(arena_array(scratch, n, sizeof *runtime_s));
    double *slowdown = need(arena_array(scratch, n, sizeof *slowdown));
    struct slots_job_times *times = need(arena_array(scratch, n, sizeof *times));
    draw_order(workload, load, seed, jobs, drawn);
    for (size_t i = 0; i < n; i++)
        runtime_s[i] = workload->runtime_s[drawn[i]];
    for (size_t s = 0; s < n_terms; s++) {
        struct slots_outcome outcome;
        if (slots_simulate(&CLUSTER, jobs, n, &terms[s], NULL, scratch, times, NULL) != PV_OK ||
            slots_summarize(&CLUSTER, jobs, n, times, runtime_s, scratch, slowdown, &outcome,
                            NULL) != PV_OK)
            abort();
        running_moments_add(&found[s].p50, outcome.slowdown.p50);
        running_moments_add(&found[s].p95, outcome.slowdown.p95);
        running_moments_add(&found[s].v90, outcome.slowdown.p90 / outcome.slowdown.p50);
        running_moments_add(&found[s].v95, outcome.slowdown_variability_95);
        running_moments_add(&found[s].v99, outcome.slowdown.p99 / outcome.slowdown.p50);
    }
    arena_rewind(scratch, mark);
}

/* --- limits and partitions --- */

enum { TRIED_LIMITS = 15, TRIED_SHARES = 5, TUNING_SEEDS = 3 };

/* Of two queues, at load 0.7: the one limit and share of the first partition. */
static void
tune(const struct workload *workload, const struct slots_policy *policy, struct arena *scratch)
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
            struct found found = {0};
            for (uint64_t seed = 1; seed <= TUNING_SEEDS; seed++)
                simulate(workload, loads[LOAD_70], seed, &terms, 1, &found, scratch);
            if (found.p95.mean >= best)
                continue;
            best = found.p95.mean;
            printf("%s, %.0f s, first partition %.1f: median %.2f, 95th percentile %.2f\n",
                   policy->name, limits_s[l], parted ? shares[p] : 1, found.p50.mean, best);
        }
}

/* --- tables --- */

static void print_cell(const struct running_moments *figure)
{
    printf(" %.2f (%.2f) |", figure->mean, sqrt(running_moments_variance(figure)));
}

static void print_found(const struct bounds *bounds, struct found found[LOADS][SETTINGS])
{
    char title[64];
    (void)snprintf(title, sizeof title, "slowdowns, %s", bounds->name);
    evidence_begin(title);
    printf("| load | policy | median | 95th percentile | V_F(95) |\n|---|---|---|---|---|\n");
    for (size_t l = 0; l < LOADS; l++)
        for (size_t s = 0; s < SETTINGS; s++) {
            printf("| %.1f | %s |", loads[l], setting_names[s]);
            print_cell(&found[l][s].p50);
            print_cell(&found[l][s].p95);
            print_cell(&found[l][s].v95);
            printf("\n");
        }
    evidence_end();
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The share of jobs, the largest ones, that have half of the work. */
static double share_with_half(const struct workload *workload, struct arena *scratch)
{
    double *sizes_s = need(arena_array(scratch, workload->n, sizeof *sizes_s));
    double sum_s = 0;
    size_t jobs = 0;
    for (size_t i = 0; i < workload->n; i++)
        sizes_s[i] = slots_job_size(&workload->jobs[i]);
    qsort(sizes_s, workload->n, sizeof *sizes_s, falling);
    while (sum_s < workload->work_s / 2)
        sum_s += sizes_s[jobs++];
    return (double)jobs / (double)workload->n;
}

static double squared_variation(const struct running_moments *moments)
{
    return running_moments_variance(moments) / (moments->mean * moments->mean);
}

static void
print_workload(const struct bounds *bounds, const struct workload *workload, struct arena *scratch)
{
    struct running_moments runtimes_s = {0};
    for (size_t i = 0; i < workload->n; i++)
        running_moments_add(&runtimes_s, workload->runtime_s[i]);
    printf("| %s | %zu | %.1f | %.1f | %.1f | %.1f %% | %.0f |\n", bounds->name, workload->n,
           workload->sizes_s.mean, squared_variation(&workload->sizes_s),
           squared_variation(&runtimes_s), 100 * share_with_half(workload, scratch),
           runtimes_s.mean * runtimes_s.n / 3600);
}

/* --- findings --- */

/* On all jobs but one: every finding of the paper. */
static void expect_findings(struct found found[LOADS][SETTINGS])
{
    for (size_t l = 0; l < LOADS; l++) {
        const struct found *at = found[l];
        double times = at[FIFO].v95.mean / at[FBQ].v95.mean;
        evidence_expect(times >= 2, "load %.1f: V_F(95) of FIFO is %.1f times FBQ's", loads[l],
                        times);
        times = at[FIFO].p95.mean / at[FBQ].p95.mean;
        evidence_expect(times >= 2, "load %.1f: 95th percentile of FIFO is %.1f times FBQ's",
                        loads[l], times);
        evidence_expect(
            at[SITA].p95.mean <= at[FIFO].p95.mean / 2 && at[SITA].p50.mean <= at[FIFO].p50.mean &&
                at[FBQ].p50.mean <= at[FIFO].p50.mean,
            "load %.1f: SITA halves FIFO's 95th percentile; medians of both are lower", loads[l]);
        evidence_expect(at[SITA].p95.mean <= 3 * at[FBQ].p95.mean,
                        "load %.1f: 95th percentile of SITA is %.1f times FBQ's", loads[l],
                        at[SITA].p95.mean / at[FBQ].p95.mean);
    }
    const struct found *low = found[LOAD_70];
    const struct found *high = found[LOAD_90];
    evidence_expect(low[FIFO].v90.mean >= 2 * low[FBQ].v90.mean &&
                        low[FIFO].v99.mean >= 2 * low[FBQ].v99.mean,
                    "load 0.7: FBQ halves V_F at the 90th and 99th percentile as well");
    evidence_expect(high[TAGS].p50.mean >= 2 * high[FIFO].p50.mean,
                    "load 0.9: the median of TAGS is %.1f times FIFO's",
                    high[TAGS].p50.mean / high[FIFO].p50.mean);
    evidence_expect(high[SITA].p50.mean <= high[FIFO].p50.mean / 2,
                    "load 0.9: the median of SITA is at most half of FIFO's");
    evidence_expect(high[TAGS].p95.mean > 50 && high[COMP].p95.mean > 60,
                    "load 0.9: 95th percentiles of TAGS and COMP are %.0f and %.0f",
                    high[TAGS].p95.mean, high[COMP].p95.mean);
    evidence_expect(high[FBQ_4].p50.mean < high[FBQ].p50.mean &&
                        high[FBQ_4].p95.mean < high[FBQ].p95.mean &&
                        high[FBQ_4].v95.mean < high[FBQ].v95.mean,
                    "load 0.9: FBQ with K = 4 is better than with K = 2");
    evidence_expect(high[COMP_4].p50.mean < high[FBQ_4].p50.mean &&
                        high[COMP_4].v95.mean > high[FBQ_4].v95.mean,
                    "load 0.9: with K = 4, COMP has a lower median than FBQ and varies more");
}

/* On the others: what the page says of them. */
static void expect_elsewhere(const struct bounds *bounds, struct found found[LOADS][SETTINGS])
{
    for (size_t l = 0; l < LOADS; l++) {
        const struct found *at = found[l];
        double times = at[FIFO].p95.mean / at[FBQ].p95.mean;
        evidence_expect(times >= 1.5 && at[FBQ].p50.mean <= at[FIFO].p50.mean,
                        "%s, load %.1f: 95th percentile of FIFO is %.1f times FBQ's, median %.1f "
                        "times, V_F(95) %.1f times",
                        bounds->name, loads[l], times, at[FIFO].p50.mean / at[FBQ].p50.mean,
                        at[FIFO].v95.mean / at[FBQ].v95.mean);
    }
    evidence_expect(found[LOAD_90][FBQ_4].p50.mean < found[LOAD_90][FBQ].p50.mean,
                    "%s, load 0.9: the median of FBQ with K = 4 is below that with K = 2",
                    bounds->name);
}

static int tune_all(const struct workload selected[], struct arena *scratch)
{
    static const struct slots_policy *const policies[] = {&slots_policy_fbq, &slots_policy_sita,
                                                          &slots_policy_tags};
    for (size_t w = 0; w < WORKLOADS; w++) {
        printf("# %s\n", workloads[w].name);
        for (size_t p = 0; p < 3; p++)
            tune(&selected[w], policies[p], scratch);
    }
    return 0;
}

static void print_workloads(const struct workload selected[], struct arena *scratch)
{
    evidence_begin("slowdown workloads");
    printf("| jobs by input | jobs | mean size s | squared variation of sizes | of runtimes | jobs "
           "with half of the work | runtimes h |\n|---|---|---|---|---|---|---|\n");
    for (size_t w = 0; w < WORKLOADS; w++)
        print_workload(&workloads[w], &selected[w], scratch);
    evidence_end();
}

static int compare(const struct workload selected[], bool quick, struct arena *scratch)
{
    struct found found[WORKLOADS][LOADS][SETTINGS] = {0};
    for (size_t w = 0; w < WORKLOADS; w++)
        for (size_t l = 0; l < LOADS; l++)
            for (uint64_t seed = 1; seed <= (quick ? 1 : SEEDS); seed++)
                simulate(&selected[w], loads[l], seed, settings, SETTINGS, found[w][l], scratch);
    if (quick)
        return 0;
    print_workloads(selected, scratch);
    for (size_t w = 0; w < WORKLOADS; w++)
        print_found(&workloads[w], found[w]);
    expect_findings(found[ALL_BUT_ONE]);
    expect_elsewhere(&workloads[ALL], found[ALL]);
    expect_elsewhere(&workloads[LIKE_THEIRS], found[LIKE_THEIRS]);
    const struct found *high = found[LIKE_THEIRS][LOAD_90];
    evidence_expect(high[SITA_TUNED].p95.mean <= high[FIFO].p95.mean / 1.5 &&
                        high[TAGS_TUNED].p95.mean > high[FIFO].p95.mean,
                    "%s, load 0.9: with limits that suit it SITA is better than FIFO, TAGS is not",
                    workloads[LIKE_THEIRS].name);
    return evidence_status();
}

int main(int argc, char **argv)
{
    const char *shared = getenv("PROVISOR_SHARED");
    const char *mode = argc > 1 ? argv[1] : "";
    struct workload selected[WORKLOADS];
    struct swim_trace trace = {0};
    struct arena arena;
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/data/swim/FB-2009_samples_24_times_1hr_0.tsv",
                   shared != NULL ? shared : SHARED_DEFAULT);
    arena_init(&arena, 0);
    if (!swim_trace_read(&trace, path, &RATES, &arena)) {
        printf("skipped: no trace %s (set PROVISOR_SHARED)\n", path);
        return SKIPPED;
    }
    for (size_t w = 0; w < WORKLOADS; w++)
        selected[w] = select_jobs(&trace, &workloads[w], &arena);
    int status = strcmp(mode, "--tune") == 0
                     ? tune_all(selected, &arena)
                     : compare(selected, strcmp(mode, "--quick") == 0, &arena);
    arena_fini(&arena);
    return status;
}
