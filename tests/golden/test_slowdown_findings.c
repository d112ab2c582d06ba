/*
 * What B. Ghit and D. Epema found ("Reducing job slowdown variability for data-intensive workloads",
 * MASCOTS 2015) on the trace that they took their workload from, FB-2009 of SWIM (data/swim of the
 * shared data), with their cluster, limits and partitions:
 *
 *     test_slowdown_findings [--quick | --tune]
 *
 * --tune: limits and partitions of two queues with the least 95th percentile, as the paper looks for
 * its own. --quick: one seed, and nothing is compared.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence.h"
#include "slowdown_runs.h"

enum { SKIPPED = 77, SEEDS = 10 };
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
                                                    "SITA, 10 % below 2,000 s",
                                                    "TAGS, 50 % up to 6,000 s"};

static const double fbq_limits_s[] = {12000};
static const double fbq_4_limits_s[] = {4000, 10000, 36000};
static const double sita_limits_s[] = {18000};
static const double sita_partitions[] = {0.3, 0.7};
static const double tags_limits_s[] = {14000};
static const double tags_partitions[] = {0.5, 0.5};
static const double sita_tuned_limits_s[] = {2000};
static const double sita_tuned_partitions[] = {0.1, 0.9};
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

/* --- tables --- */

struct found {
    struct slowdown_found at[SLOWDOWN_LOADS][SETTINGS];
};

static void print_cell(const struct running_moments *figure)
{
    printf(" %.2f (%.2f) |", figure->mean, sqrt(running_moments_variance(figure)));
}

static void print_found(const char *workload, const struct found *found)
{
    char title[64];
    (void)snprintf(title, sizeof title, "slowdowns, %s", workload);
    evidence_begin(title);
    printf("| load | policy | median | 95th percentile | V_F(95) |\n|---|---|---|---|---|\n");
    for (size_t l = 0; l < SLOWDOWN_LOADS; l++)
        for (size_t s = 0; s < SETTINGS; s++) {
            printf("| %.1f | %s |", slowdown_loads[l], setting_names[s]);
            print_cell(&found->at[l][s].p50);
            print_cell(&found->at[l][s].p95);
            print_cell(&found->at[l][s].v95);
            printf("\n");
        }
    evidence_end();
}

/* --- findings --- */

/* On all jobs but one: every finding of the paper. */
static void expect_findings(const struct found *found)
{
    for (size_t l = 0; l < SLOWDOWN_LOADS; l++) {
        const struct slowdown_found *at = found->at[l];
        double times = at[FIFO].v95.mean / at[FBQ].v95.mean;
        evidence_expect(times >= 2, "load %.1f: V_F(95) of FIFO is %.1f times FBQ's",
                        slowdown_loads[l], times);
        times = at[FIFO].p95.mean / at[FBQ].p95.mean;
        evidence_expect(times >= 2, "load %.1f: 95th percentile of FIFO is %.1f times FBQ's",
                        slowdown_loads[l], times);
        evidence_expect(at[SITA].p95.mean <= at[FIFO].p95.mean / 2 &&
                            at[SITA].p50.mean <= at[FIFO].p50.mean &&
                            at[FBQ].p50.mean <= at[FIFO].p50.mean,
                        "load %.1f: SITA halves FIFO's 95th percentile; medians of both are lower",
                        slowdown_loads[l]);
        evidence_expect(at[SITA].p95.mean <= 3 * at[FBQ].p95.mean,
                        "load %.1f: 95th percentile of SITA is %.1f times FBQ's", slowdown_loads[l],
                        at[SITA].p95.mean / at[FBQ].p95.mean);
    }
    const struct slowdown_found *low = found->at[LOAD_70];
    const struct slowdown_found *high = found->at[LOAD_90];
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
                    "load 0.9: FBQ with K = 4 is better than with K = 2, the median by %.0f %%",
                    100 * (1 - high[FBQ_4].p50.mean / high[FBQ].p50.mean));
    evidence_expect(high[COMP_4].p50.mean < high[FBQ_4].p50.mean &&
                        high[COMP_4].v95.mean > high[FBQ_4].v95.mean,
                    "load 0.9: with K = 4, COMP has a lower median than FBQ and varies more");
}

/* On the others: what the page says of them. */
static void expect_elsewhere(size_t workload, const struct found *found)
{
    const char *name = slowdown_workloads[workload].name;
    for (size_t l = 0; l < SLOWDOWN_LOADS; l++) {
        const struct slowdown_found *at = found->at[l];
        double times = at[FIFO].p95.mean / at[FBQ].p95.mean;
        evidence_expect(times >= 1.5 && at[FBQ].p50.mean <= at[FIFO].p50.mean,
                        "%s, load %.1f: 95th percentile of FIFO is %.1f times FBQ's, median %.1f "
                        "times, V_F(95) %.1f times",
                        name, slowdown_loads[l], times, at[FIFO].p50.mean / at[FBQ].p50.mean,
                        at[FIFO].v95.mean / at[FBQ].v95.mean);
    }
    double below = 1 - found->at[LOAD_90][FBQ_4].p50.mean / found->at[LOAD_90][FBQ].p50.mean;
    evidence_expect(below > 0, "%s, load 0.9: K = 4 lowers the median of FBQ by %.0f %%", name,
                    100 * below);
}

static int tune_all(const struct slowdown_workload selected[])
{
    static const struct slots_policy *const policies[] = {&slots_policy_fbq, &slots_policy_sita,
                                                          &slots_policy_tags};
    for (size_t w = 0; w < SLOWDOWN_WORKLOADS; w++) {
        printf("# %s\n", slowdown_workloads[w].name);
        for (size_t p = 0; p < 3; p++)
            slowdown_tune(&selected[w], policies[p]);
    }
    return 0;
}

static int compare(const struct slowdown_workload selected[], bool quick, struct arena *scratch)
{
    struct found found[SLOWDOWN_WORKLOADS] = {0};
    for (size_t w = 0; w < SLOWDOWN_WORKLOADS; w++)
        slowdown_simulate(&selected[w], SLOWDOWN_LOADS, settings, SETTINGS, quick ? 1 : SEEDS,
                          &found[w].at[0][0]);
    if (quick)
        return 0;
    slowdown_print_workloads(selected, scratch);
    for (size_t w = 0; w < SLOWDOWN_WORKLOADS; w++)
        print_found(slowdown_workloads[w].name, &found[w]);
    expect_findings(&found[SLOWDOWN_ALL_BUT_ONE]);
    expect_elsewhere(SLOWDOWN_ALL, &found[SLOWDOWN_ALL]);
    expect_elsewhere(SLOWDOWN_LIKE_THEIRS, &found[SLOWDOWN_LIKE_THEIRS]);
    const struct slowdown_found *high = found[SLOWDOWN_LIKE_THEIRS].at[LOAD_90];
    evidence_expect(high[SITA_TUNED].p95.mean <= high[FIFO].p95.mean / 1.5 &&
                        high[TAGS_TUNED].p95.mean > high[FIFO].p95.mean,
                    "%s, load 0.9: with limits that suit it SITA is better than FIFO, TAGS is not",
                    slowdown_workloads[SLOWDOWN_LIKE_THEIRS].name);
    return evidence_status();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    struct slowdown_workload selected[SLOWDOWN_WORKLOADS];
    struct stored_trace trace;
    char path[1024];
    if (!slowdown_trace_read(&trace, path, sizeof path)) {
        printf("skipped: no trace %s (set PROVISOR_SHARED)\n", path);
        return SKIPPED;
    }
    slowdown_select(&trace, selected);
    int status = strcmp(mode, "--tune") == 0
                     ? tune_all(selected)
                     : compare(selected, strcmp(mode, "--quick") == 0, &trace.arena);
    stored_trace_end(&trace);
    return status;
}
