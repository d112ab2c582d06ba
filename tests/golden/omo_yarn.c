#include "omo_yarn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/scheduling/slots/slots_resources.h"
#include "evidence.h"
#include "omo_sets.h"

enum { MEMORIES = 4, NODES = 20, NODE_VCORES = 8, NODE_GB = 40, TASK_VCORES = 2 };

static const size_t memory_gb[MEMORIES] = {2, 4, 6, 8};
static const double published_s[MEMORIES] = {1583, 1490, 1464, 1481};
static const double PUBLISHED_OMO_S = 1319;

static const uint64_t GB = UINT64_C(1) << 30;

/* yarn.app.mapreduce.am.resource, by default: a node with an application master runs three tasks. */
static const struct slots_resources MASTER = {1, UINT64_C(1536) << 20};

struct row {
    const char *name;
    double slower;
    bool masters; /* one on each of the first nodes */
    const struct slots_policy *policy;
};

static const struct row rows[] = {
    {"slots alike", 1, false, &slots_policy_fair},
    {"slots alike, application masters", 1, true, &slots_policy_fair},
    {"maps 1.64 times as long", OMO_SLOWER, false, &slots_policy_fair},
    {"maps 1.64 times as long, application masters", OMO_SLOWER, true, &slots_policy_fair},
    {"the same, `drf`", OMO_SLOWER, true, &slots_policy_drf},
    {"the same, `fifo`", OMO_SLOWER, true, &slots_policy_fifo}};
enum { ROWS = sizeof rows / sizeof *rows };

static double
simulate(const struct row *row, size_t gb, double spread, size_t seeds, struct arena *arena)
{
    const struct slots_resources request = {TASK_VCORES, gb * GB};
    const struct slots_resources requests[SLOTS_KINDS] = {request, request};
    const struct slots_terms terms = {.policy = row->policy};
    struct slots_node nodes[NODES];
    struct slots_cluster cluster = {
        .slow_start = SLOTS_SLOW_START, .ramp_up = SLOTS_RAMP_UP, .nodes = nodes, .n_nodes = NODES};
    struct mapreduce_job jobs[MAPREDUCE_JOBS_MAX];
    size_t n = omo_set_jobs(&omo_sets[OMO_8_TERASORT], row->slower, jobs);
    double mean_s = 0;
    for (size_t i = 0; i < NODES; i++) {
        nodes[i] = (struct slots_node){.speed = 1, .room = {NODE_VCORES, NODE_GB * GB}};
        if (row->masters && i < n)
            slots_resources_take(&nodes[i].room, &MASTER, 1);
    }
    if (slots_resources_measure(&cluster, nodes, requests, SLOTS_KINDS, arena, NULL) != PV_OK)
        abort();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct arena_mark mark = arena_mark(arena);
        struct mapreduce_batch batch = mapreduce_draw(jobs, n, spread, seed, arena);
        for (size_t i = 0; i < n; i++)
            batch.jobs[i].requests = requests;
        mean_s += mapreduce_run(&cluster, &batch, &terms, arena).makespan_s / (double)seeds;
        arena_rewind(arena, mark);
    }
    return mean_s;
}

static void print_row(const char *name, const double seconds[], double omo_s)
{
    double least_s = HUGE_VAL;
    double most_s = 0;
    printf("| %s |", name);
    for (size_t i = 0; i < MEMORIES; i++) {
        printf(" %.0f |", seconds[i]);
        least_s = fmin(least_s, seconds[i]);
        most_s = fmax(most_s, seconds[i]);
    }
    double of_least = mapreduce_change(omo_s, least_s);
    double of_most = mapreduce_change(omo_s, most_s);
    if (least_s == most_s)
        printf(" %.0f | %.1f %% |\n", omo_s, of_most);
    else
        printf(" %.0f | %.1f to %.1f %% |\n", omo_s, of_least, of_most);
}

void omo_yarn_compare(
    double omo_alike_s, double omo_slower_s, double spread, size_t seeds, struct arena *arena)
{
    double here_s[ROWS][MEMORIES];
    evidence_begin("OMO, YARN");
    printf("| 8 Terasort | YARN 2 GB | 4 GB | 6 GB | 8 GB | OMO | OMO against YARN |\n"
           "|---|---|---|---|---|---|---|\n");
    print_row("published", published_s, PUBLISHED_OMO_S);
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < MEMORIES; i++)
            here_s[r][i] = simulate(&rows[r], memory_gb[i], spread, seeds, arena);
        print_row(rows[r].name, here_s[r], rows[r].slower > 1 ? omo_slower_s : omo_alike_s);
    }
    evidence_end();
    for (size_t r = 0; r < ROWS; r++) {
        double omo_s = rows[r].slower > 1 ? omo_slower_s : omo_alike_s;
        bool equal = true;
        for (size_t i = 1; i < MEMORIES; i++)
            equal = equal && here_s[r][i] == here_s[r][0];
        evidence_expect(equal, "YARN, %s: with 2 vcores a task, memory makes no difference",
                        rows[r].name);
        evidence_expect(omo_s < here_s[r][0], "YARN, %s: OMO is faster", rows[r].name);
    }
    double changes[] = {mapreduce_change(omo_alike_s, here_s[1][0]),
                        mapreduce_change(omo_slower_s, here_s[3][0])};
    evidence_expect(changes[0] <= -9 && changes[0] >= -18 && changes[1] <= -9 && changes[1] >= -18,
                    "YARN with application masters: OMO takes %.1f and %.1f %% less", -changes[0],
                    -changes[1]);
}
