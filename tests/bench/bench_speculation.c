/*
 * Decisions on copies of slow tasks: eSplash, with levels given and with levels found from what nodes
 * have finished, and LATE, for 1,000 nodes with 20,000 running tasks, for 2,000 nodes, the most of
 * which a number of levels is chosen, and for 10,000 nodes with 200,000 tasks. A type of tasks is a
 * job's maps or reduces; nodes are of four speeds, each with noise, one in fifty a straggler.
 *
 * The status is 1 when a decision for 1,000 nodes takes 30 ms or more.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/scheduling/speculation/esplash.h"
#include "core/scheduling/speculation/late.h"
#include "core/sim/variates.h"

enum { RUNS = 7, SPEEDS = 4, GOAL_NODES = 1000 };

static const double GOAL_S = 30e-3;

static bool met = true;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct size {
    size_t nodes;
    size_t tasks;
    size_t types;
    double noise; /* of a node's mean durations, between types */
};

static void *take(struct arena *arena, size_t n, size_t size)
{
    void *items = arena_array(arena, n, size);
    if (items == NULL)
        abort();
    return items;
}

static struct speculation_task draw_task(struct rng *rng, const struct speculation_finished *normal)
{
    double slower = variate_uniform(rng, 0.9, 1.1);
    double progress = variate_uniform(rng, 0.01, 1);
    return (struct speculation_task){
        .type = normal->type,
        .elapsed_s = progress * normal->mean_s * slower,
        .progress = progress,
        .progress_rate_per_s = 1 / (normal->mean_s * slower),
        .copy = variate_index(rng, 50) == 0 ? SPECULATION_COPY_WAITS : SPECULATION_NO_COPY,
    };
}

static struct speculation_node
draw_node(struct rng *rng, const struct size *size, size_t speed, struct arena *arena)
{
    size_t n_running = size->tasks / size->nodes;
    bool straggler = variate_index(rng, 50) == 0;
    struct speculation_finished *finished = take(arena, size->types, sizeof *finished);
    struct speculation_task *running = take(arena, n_running, sizeof *running);
    for (size_t t = 0; t < size->types; t++) {
        double mean_s = (80 >> speed) * (1 + 0.1 * (double)t) *
                        variate_uniform(rng, 1 - size->noise, 1 + size->noise);
        finished[t] = (struct speculation_finished){t, 10, mean_s, 0.08 * mean_s};
    }
    for (size_t t = 0; t < n_running; t++) {
        running[t] = draw_task(rng, &finished[variate_index(rng, size->types)]);
        if (straggler) {
            running[t].elapsed_s *= 5;
            running[t].progress_rate_per_s /= 5;
        }
    }
    return (struct speculation_node){
        .containers = 2 * n_running,
        .free_containers = variate_index(rng, 5),
        .finished = finished,
        .n_finished = size->types,
        .running = running,
        .n_running = n_running,
    };
}

static struct speculation_cluster
draw_cluster(const struct size *size, size_t level[], struct arena *arena)
{
    const uint64_t purpose[] = {size->nodes};
    struct rng rng = variate_stream(1, purpose, 1);
    struct speculation_node *nodes = take(arena, size->nodes, sizeof *nodes);
    for (size_t i = 0; i < size->nodes; i++) {
        level[i] = 1 + variate_index(&rng, SPEEDS);
        nodes[i] = draw_node(&rng, size, level[i] - 1, arena);
    }
    return (struct speculation_cluster){nodes, size->nodes, size->types};
}

/* Levels given, unless they are found for `count`. */
static double decide_esplash(const struct speculation_cluster *cluster,
                             size_t *level,
                             const size_t *count,
                             struct arena *arena,
                             struct node_levels *levels,
                             struct esplash_decision *decision)
{
    static const struct esplash_terms terms = {3, 1, 1, 0.05, 10};
    double best_s = HUGE_VAL;
    for (size_t run = 0; run < RUNS; run++) {
        struct arena_mark mark = arena_mark(arena);
        double began_s = cpu_s();
        if (count == NULL)
            *levels = node_levels_given(level, cluster->n_nodes);
        else if (node_levels_find(cluster, *count, arena, levels, NULL) != PV_OK)
            abort();
        if (esplash_decide(cluster, levels, &terms, arena, decision, NULL) != PV_OK)
            abort();
        best_s = fmin(best_s, cpu_s() - began_s);
        if (run + 1 < RUNS)
            arena_rewind(arena, mark);
    }
    return best_s;
}

static double decide_late(const struct speculation_cluster *cluster, struct arena *arena)
{
    double best_s = HUGE_VAL;
    for (size_t run = 0; run < RUNS; run++) {
        struct arena_mark mark = arena_mark(arena);
        struct late_decision decision;
        double began_s = cpu_s();
        if (late_decide(cluster, arena, &decision, NULL) != PV_OK)
            abort();
        best_s = fmin(best_s, cpu_s() - began_s);
        arena_rewind(arena, mark);
    }
    return best_s;
}

static void report(const struct size *size, const char *what, double took_s)
{
    met = met && (size->nodes > GOAL_NODES || took_s < GOAL_S);
    printf("%6zu nodes, %6zu tasks of %3zu types  %-22s %8.3f ms", size->nodes, size->tasks,
           size->types, what, took_s * 1e3);
}

static void measure_esplash(const struct size *size,
                            const struct speculation_cluster *cluster,
                            size_t *level,
                            const size_t *count,
                            const char *what)
{
    struct arena arena;
    struct node_levels levels;
    struct esplash_decision decision;
    arena_init(&arena, 0);
    report(size, what, decide_esplash(cluster, level, count, &arena, &levels, &decision));
    printf("   %zu levels, %zu groups, %zu candidates, %zu rechecks\n", levels.highest,
           levels.n_groups, decision.n_candidates, decision.n_rechecks);
    arena_fini(&arena);
}

static void measure(const struct size *size)
{
    static const size_t found = NODE_LEVELS_AUTO;
    static const size_t four = 4;
    const size_t hundred = 100;
    struct arena arena;
    arena_init(&arena, 0);
    size_t *level = take(&arena, size->nodes, sizeof *level);
    const struct speculation_cluster cluster = draw_cluster(size, level, &arena);
    measure_esplash(size, &cluster, level, NULL, "eSplash, levels given");
    if (size->nodes <= 2000)
        measure_esplash(size, &cluster, level, &found, "eSplash, levels auto");
    measure_esplash(size, &cluster, level, &four, "eSplash, 4 levels");
    measure_esplash(size, &cluster, level, &hundred, "eSplash, 100 levels");
    report(size, "LATE", decide_late(&cluster, &arena));
    printf("\n");
    arena_fini(&arena);
}

int main(void)
{
    static const struct size sizes[] = {
        {1000, 20000, 1, 0.05},    {1000, 20000, 2, 0.05},  {1000, 20000, 2, 0},
        {1000, 20000, 20, 0.05},   {1000, 20000, 20, 0},    {2000, 40000, 2, 0.05},
        {2000, 40000, 1, 0.05},    {2000, 40000, 20, 0.05}, {10000, 200000, 1, 0.05},
        {10000, 200000, 20, 0.05}, {10000, 200000, 20, 0},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        measure(&sizes[i]);
    return met ? 0 : 1;
}
