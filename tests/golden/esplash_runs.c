#include "esplash_runs.h"
#include "core/scheduling/slots/omo.h"

#include <math.h>
#include <stdlib.h>

#include "evidence.h"

enum { JOBS = 8, BENCHMARKS = 4, WORDCOUNT = 1, LEVELS = ESPLASH_PLACES, NODES_MAX = 2 * LEVELS };

static const double SPREAD = 0.2;
static const double STRAGGLER_S = 1000;
static const double RESTART_S = 600;

/* --- cluster, stragglers and jobs --- */

static const struct {
    size_t vcores;
    double speed;
} levels[LEVELS] = {{32, 0.25}, {16, 0.5}, {8, 1}, {4, 1.25}};

struct nodes {
    struct slots_node nodes[NODES_MAX];
    struct slots_incident incidents[2];
    struct slots_cluster cluster;
};

/* Slowest first. Kinds of slots do not matter. */
static void make_nodes(struct nodes *made, size_t a_level)
{
    *made = (struct nodes){.cluster = {.slow_start = 0.8, .n_nodes = LEVELS * a_level}};
    made->cluster.nodes = made->nodes;
    for (size_t i = 0; i < made->cluster.n_nodes; i++) {
        size_t level = i / a_level;
        made->nodes[i] = (struct slots_node){.slots = {levels[level].vcores - 1, 1},
                                             .speed = levels[level].speed,
                                             .level = level + 1};
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            made->cluster.slots[kind] += made->nodes[i].slots[kind];
    }
}

static void
make_incidents(struct nodes *made, enum esplash_scenario scenario, double slowed_to, uint64_t seed)
{
    static const size_t n[ESPLASH_SCENARIOS] = {0, 1, 1, 2};
    size_t node = scenario == ESPLASH_SLOW_NODE ? 0 : made->cluster.n_nodes - 1;
    double at_s = 200 + 200 * (double)(seed % 3);
    double until_s = at_s + STRAGGLER_S;
    made->incidents[0] = (struct slots_incident){node, at_s, until_s, slowed_to, false};
    made->incidents[1] = (struct slots_incident){node, until_s, until_s + RESTART_S, 1, true};
    made->cluster.incidents = made->incidents;
    made->cluster.n_incidents = n[scenario];
}

static const struct mapreduce_job benchmarks[BENCHMARKS] = {
    {80, 10, 60, 100, 50}, {80, 10, 90, 50, 25}, {80, 10, 66, 25, 6}, {80, 10, 72, 25, 6}};

/* --- runs --- */

static struct slots_terms terms_of(enum esplash_copies copies, double epoch_s)
{
    static const enum slots_speculation_kind kinds[COPIES_KINDS] = {
        SLOTS_NO_SPECULATION, SLOTS_LATE, SLOTS_ESPLASH, SLOTS_ESPLASH};
    bool strict = copies == COPIES_STRICT;
    const struct esplash_terms esplash = {.threshold = strict ? 8 : 3,
                                          .duration_weight = 1,
                                          .rate_weight = 1,
                                          .deviation_floor = strict ? 0.25 : 0.05,
                                          .ratio_cap = 10};
    return (struct slots_terms){
        .policy = &slots_policy_omo, /* without its techniques: fair, on slots of no fixed kind */
        .ema_weight = OMO_EMA_WEIGHT,
        .window_s = OMO_WINDOW_S,
        .speculation = {.kind = kinds[copies], .epoch_s = epoch_s, .esplash = esplash}};
}

static double run(const struct slots_cluster *cluster,
                  const struct mapreduce_batch *batch,
                  const struct slots_terms *terms,
                  const struct slots_observer *observer,
                  struct arena *scratch)
{
    struct slots_job_times times[JOBS];
    double makespan_s = 0;
    if (slots_simulate_observed(cluster, batch->jobs, batch->n, terms, NULL, observer, scratch,
                                times, NULL) != PV_OK)
        abort();
    for (size_t i = 0; i < batch->n; i++)
        makespan_s = fmax(makespan_s, times[i].finish_s);
    return makespan_s;
}

struct cell {
    const struct esplash_setting *setting;
    enum esplash_scenario scenario;
    enum esplash_copies copies;
};

/* Eight jobs of one benchmark, or of all of them by turns. */
static void add_run(struct esplash_found *mean,
                    const struct cell *cell,
                    size_t benchmark,
                    uint64_t seed,
                    double weight,
                    struct arena *scratch)
{
    const struct slots_terms terms = terms_of(cell->copies, cell->setting->epoch_s);
    struct arena_mark mark = arena_mark(scratch);
    struct mapreduce_job jobs[JOBS];
    struct slots_speculation counts = {0};
    const struct slots_observer observer = {.speculation = &counts};
    struct nodes made;
    make_nodes(&made, 2);
    make_incidents(&made, cell->scenario, cell->setting->slowed_to, seed);
    for (size_t i = 0; i < JOBS; i++)
        jobs[i] = benchmarks[benchmark < BENCHMARKS ? benchmark : i % BENCHMARKS];
    struct mapreduce_batch batch = mapreduce_draw(jobs, JOBS, SPREAD, seed, scratch);
    mean->makespan_s += weight * run(&made.cluster, &batch, &terms, &observer, scratch);
    mean->copies += weight * (double)counts.copies;
    mean->killed += weight * (double)(counts.copies - counts.useful);
    mean->on_straggler += weight * (double)counts.killed_on_straggler;
    mean->on_slower += weight * (double)counts.killed_on_slower;
    mean->wasted_s += weight * counts.wasted_s;
    arena_rewind(scratch, mark);
}

struct esplash_found esplash_runs_compare(const struct esplash_setting *setting,
                                          bool mixed,
                                          enum esplash_scenario scenario,
                                          enum esplash_copies copies,
                                          size_t seeds,
                                          struct arena *scratch)
{
    const struct cell cell = {setting, scenario, copies};
    struct esplash_found mean = {0};
    double weight = 1 / (double)(seeds * BENCHMARKS);
    for (uint64_t i = 0; i < seeds * BENCHMARKS; i++) {
        if (mixed)
            add_run(&mean, &cell, BENCHMARKS, i + 1, weight, scratch);
        else
            add_run(&mean, &cell, i % BENCHMARKS, i / BENCHMARKS + 1, weight, scratch);
    }
    return mean;
}

/* --- where copies of LATE go --- */

void esplash_runs_places(size_t seeds,
                         struct arena *scratch,
                         double finished[ESPLASH_PLACES],
                         double killed[ESPLASH_PLACES])
{
    enum { SMALL_JOBS = 5, TASKS_MAX = 1024 };
    const struct slots_terms late = terms_of(COPIES_LATE, 15);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct arena_mark mark = arena_mark(scratch);
        struct mapreduce_job jobs[SMALL_JOBS];
        struct nodes made;
        struct slots_spans spans;
        struct slots_speculation counts = {0};
        const struct slots_observer observer = {.spans = &spans, .speculation = &counts};
        make_nodes(&made, 1);
        for (size_t i = 0; i < SMALL_JOBS; i++) {
            jobs[i] = benchmarks[WORDCOUNT];
            jobs[i].maps = 38;
        }
        struct mapreduce_batch batch = mapreduce_draw(jobs, SMALL_JOBS, SPREAD, seed, scratch);
        if (!slots_spans_init(&spans, TASKS_MAX, scratch))
            abort();
        (void)run(&made.cluster, &batch, &late, &observer, scratch);
        for (size_t i = 0; i < spans.n; i++)
            if (spans.items[i].is_copy)
                (spans.items[i].finished ? finished : killed)[spans.items[i].node] +=
                    (double)spans.items[i].count / (double)seeds;
        arena_rewind(scratch, mark);
    }
}
