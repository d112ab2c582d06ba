#include "core/geosim/topology.h"

#include <math.h>

#include "core/geosim/graph.h"
#include "core/sim/variates.h"

/* Streams of the seed: others than the engine's and the workload's. */
static const uint64_t STREAM_GRAPH = 0x67726170;
static const uint64_t STREAM_FIGURES = 0x66696775;

const struct geosim_world_parameters geosim_world_defaults = {
    .n_clusters = 100,
    .links = 2,
    .slots_factor = 0.02,
    .reference_power = 355,
    .outage_period_s = 60,
    .slot_s = 1,
    .outage_s = 60,
    .scales = {
        [GEOSIM_LARGE] = {.share = 0.05,
                          .slots = {500, 1500},
                          .gate_ratio = {0.55, 0.75},
                          .power = {174, 355},
                          .power_rsd = {0.25, 0.6},
                          .wan_bytes_per_s = {64e3, 256e3},
                          .wan_rsd = {0.2, 0.5},
                          .outage_probability = {0.002, 0.011}},
        [GEOSIM_MEDIUM] = {.share = 0.2,
                           .slots = {50, 500},
                           .gate_ratio = {0.65, 0.85},
                           .power = {128, 241},
                           .power_rsd = {0.55, 0.85},
                           .wan_bytes_per_s = {64e3, 256e3},
                           .wan_rsd = {0.2, 0.5},
                           .outage_probability = {0.02, 0.2}},
        [GEOSIM_SMALL] = {.share = 0.75,
                          .slots = {10, 50},
                          .gate_ratio = {0.75, 0.95},
                          .power = {68, 179},
                          .power_rsd = {0.35, 0.75},
                          .wan_bytes_per_s = {64e3, 256e3},
                          .wan_rsd = {0.2, 0.5},
                          .outage_probability = {0.05, 0.5}},
    }};

static size_t topology_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t geosim_world_count(const struct geosim_world_parameters *terms, enum geosim_scale scale)
{
    double n = (double)terms->n_clusters;
    size_t large = (size_t)floor(terms->scales[GEOSIM_LARGE].share * n + 0.5);
    size_t medium = (size_t)floor(terms->scales[GEOSIM_MEDIUM].share * n + 0.5);
    large = topology_least(large > 0 ? large : 1, terms->n_clusters);
    medium = topology_least(medium, terms->n_clusters - large);
    switch (scale) {
    case GEOSIM_LARGE:
        return large;
    case GEOSIM_MEDIUM:
        return medium;
    case GEOSIM_SMALL:
    case GEOSIM_SCALES:
        break;
    }
    return terms->n_clusters - large - medium;
}

static double draw_even(const struct geosim_range *range, struct rng *rng)
{
    return variate_uniform(rng, range->low, range->high);
}

/* --- clusters --- */

static int64_t draw_slots(const struct geosim_range *range, double factor, struct rng *rng)
{
    double drawn = floor(variate_uniform(rng, range->low, range->high + 1));
    double scaled = floor(fmin(drawn, range->high) * factor + 0.5);
    return scaled < 1 ? 1 : (int64_t)scaled;
}

/* Of an outage that begins within `period` with this probability, at an even rate: that it begins
 * within a slot. */
static double slot_probability(const struct geosim_world_parameters *terms, double probability)
{
    return -expm1(log1p(-probability) * (terms->slot_s / terms->outage_period_s));
}

static enum geosim_scale scale_of(const struct geosim_world_parameters *terms, size_t cluster)
{
    size_t large = geosim_world_count(terms, GEOSIM_LARGE);
    if (cluster < large)
        return GEOSIM_LARGE;
    return cluster < large + geosim_world_count(terms, GEOSIM_MEDIUM) ? GEOSIM_MEDIUM
                                                                      : GEOSIM_SMALL;
}

/* The gates wait for the links: until then they hold their ratio. */
static void draw_clusters(const struct geosim_world_parameters *terms,
                          struct rng *rng,
                          struct geosim_cluster clusters[])
{
    for (size_t i = 0; i < terms->n_clusters; i++) {
        struct geosim_cluster *cluster = &clusters[i];
        cluster->scale = scale_of(terms, i);
        const struct geosim_scale_parameters *scale = &terms->scales[cluster->scale];
        cluster->slots = draw_slots(&scale->slots, terms->slots_factor, rng);
        cluster->power.mean = draw_even(&scale->power, rng) / terms->reference_power;
        cluster->power.rsd = draw_even(&scale->power_rsd, rng);
        double probability = draw_even(&scale->outage_probability, rng);
        cluster->unreachable_probability = slot_probability(terms, probability);
        cluster->ingress_bytes_per_s = draw_even(&scale->gate_ratio, rng);
        cluster->egress_bytes_per_s = cluster->ingress_bytes_per_s;
    }
}

/* --- links --- */

struct links {
    const struct geosim_world_parameters *terms;
    const struct geosim_cluster *clusters;
    struct geosim_graph graph;
    struct geosim_normal *wan;
    size_t *hops;  /* from where the search began; SIZE_MAX: not reached */
    size_t *queue; /* in the order reached */
};

static struct geosim_normal *link_between(const struct links *links, size_t from, size_t to)
{
    return &links->wan[from * links->graph.n + to];
}

static void draw_lines(struct links *links, struct rng *rng)
{
    const struct geosim_graph *graph = &links->graph;
    for (size_t from = 0; from < graph->n; from++)
        for (size_t k = graph->first[from]; k < graph->first[from + 1]; k++) {
            size_t to = graph->neighbours[k];
            const struct geosim_scale_parameters *scale =
                &links->terms->scales[links->clusters[to].scale];
            struct geosim_normal *line = link_between(links, from, to);
            line->mean = draw_even(&scale->wan_bytes_per_s, rng);
            line->rsd = draw_even(&scale->wan_rsd, rng);
        }
}

/* The way to `to` whose last line begins at `last` as one link: its narrowest line. */
static const struct geosim_normal *
through(const struct links *links, size_t from, size_t last, size_t to)
{
    const struct geosim_normal *line = link_between(links, last, to);
    const struct geosim_normal *way = link_between(links, from, last);
    return last == from || line->mean < way->mean ? line : way;
}

/* Breadth first: what is reached in h lines is known in full before anything h + 1 lines away
 * looks back at it, and so is the widest of the shortest ways to it. */
static void join_far(struct links *links, size_t from)
{
    const struct geosim_graph *graph = &links->graph;
    size_t n = 0;
    for (size_t i = 0; i < graph->n; i++)
        links->hops[i] = SIZE_MAX;
    links->hops[from] = 0;
    links->queue[n++] = from;
    for (size_t head = 0; head < n; head++) {
        size_t last = links->queue[head];
        for (size_t k = graph->first[last]; k < graph->first[last + 1]; k++) {
            size_t to = graph->neighbours[k];
            bool first = links->hops[to] == SIZE_MAX;
            if (!first && links->hops[to] != links->hops[last] + 1)
                continue;
            if (first) {
                links->hops[to] = links->hops[last] + 1;
                links->queue[n++] = to;
            }
            const struct geosim_normal *way = through(links, from, last, to);
            struct geosim_normal *link = link_between(links, from, to);
            if (last != from && (first || way->mean > link->mean))
                *link = *way;
        }
    }
}

static bool draw_links(struct links *links, struct rng *rng, struct arena *arena)
{
    size_t n = links->graph.n;
    links->hops = arena_array(arena, n, sizeof *links->hops);
    links->queue = arena_array(arena, n, sizeof *links->queue);
    if (links->hops == NULL || links->queue == NULL)
        return false;
    draw_lines(links, rng);
    for (size_t from = 0; from < n; from++)
        join_far(links, from);
    return true;
}

/* --- gates --- */

/* What the cluster's own lines carry. A world of one cluster has none, and a gate that nothing
 * passes. */
struct lines {
    double mean; /* what one machine takes in or sends out */
    double widest;
};

static struct lines lines_of(const struct links *links, size_t cluster, bool inward)
{
    const struct geosim_graph *graph = &links->graph;
    struct lines lines = {0, 0};
    size_t degree = geosim_graph_degree(graph, cluster);
    for (size_t k = graph->first[cluster]; k < graph->first[cluster + 1]; k++) {
        size_t other = graph->neighbours[k];
        double mean = inward ? link_between(links, other, cluster)->mean
                             : link_between(links, cluster, other)->mean;
        lines.mean += mean / (double)degree;
        lines.widest = fmax(lines.widest, mean);
    }
    return lines;
}

static double gate_of(const struct geosim_cluster *cluster, double ratio, struct lines lines)
{
    return fmax(ratio * (double)cluster->slots * lines.mean, lines.widest);
}

static void open_gates(const struct links *links, struct geosim_cluster clusters[])
{
    for (size_t i = 0; i < links->graph.n; i++) {
        struct geosim_cluster *cluster = &clusters[i];
        double ratio = cluster->ingress_bytes_per_s;
        cluster->ingress_bytes_per_s = gate_of(cluster, ratio, lines_of(links, i, true));
        cluster->egress_bytes_per_s = gate_of(cluster, ratio, lines_of(links, i, false));
    }
}

enum pv_code geosim_world_draw(const struct geosim_world_parameters *terms,
                               uint64_t seed,
                               struct arena *arena,
                               struct geosim_world *world,
                               struct pv_error *err)
{
    struct rng graph_rng = variate_stream(seed, &STREAM_GRAPH, 1);
    struct rng rng = variate_stream(seed, &STREAM_FIGURES, 1);
    size_t n = terms->n_clusters;
    size_t pairs;
    struct geosim_cluster *clusters = arena_calloc(arena, n, sizeof *clusters);
    struct links links = {.terms = terms, .clusters = clusters};
    if (clusters != NULL && !__builtin_mul_overflow(n, n, &pairs))
        links.wan = arena_calloc(arena, pairs, sizeof *links.wan);
    if (links.wan == NULL || !geosim_graph_grow(n, terms->links, &graph_rng, arena, &links.graph))
        return pv_no_memory(err);
    draw_clusters(terms, &rng, clusters);
    if (!draw_links(&links, &rng, arena))
        return pv_no_memory(err);
    open_gates(&links, clusters);
    *world = (struct geosim_world){clusters, n, links.wan, terms->slot_s, terms->outage_s};
    return PV_OK;
}
