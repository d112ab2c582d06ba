#include "core/geosim/topology.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/geosim/graph.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(geosim_topology, .init = setup, .fini = teardown);

static struct geosim_graph grow(size_t n, size_t links, uint64_t seed)
{
    struct rng rng = rng_make(seed, 0);
    struct geosim_graph graph;
    cr_assert(geosim_graph_grow(n, links, &rng, &arena, &graph));
    return graph;
}

static struct geosim_world draw(const struct geosim_world_parameters *terms, uint64_t seed)
{
    struct geosim_world world;
    struct pv_error err;
    pv_error_clear(&err);
    cr_assert_eq(geosim_world_draw(terms, seed, &arena, &world, &err), PV_OK);
    return world;
}

/* Each pair is joined both ways and once, nobody to himself, everybody by `links` lines or more,
 * and the nodes stand by falling degree. */
Test(geosim_topology, graphs_are_simple_and_ordered)
{
    for (size_t links = 1; links <= 3; links++)
        for (size_t n = 1; n <= 40; n += 3) {
            struct geosim_graph graph = grow(n, links, 7 * n + links);
            for (size_t i = 0; i < n; i++) {
                size_t degree = geosim_graph_degree(&graph, i);
                cr_assert_geq(degree, n > links ? links : n - 1);
                cr_assert(i == 0 || degree <= geosim_graph_degree(&graph, i - 1));
                for (size_t k = graph.first[i]; k < graph.first[i + 1]; k++) {
                    cr_assert_neq(graph.neighbours[k], i);
                    cr_assert(k == graph.first[i] || graph.neighbours[k] > graph.neighbours[k - 1]);
                }
            }
        }
}

/* A random graph of as many lines has nobody with more than a few times the mean of four; in a
 * heavy-tailed one the largest degree grows with the root of n, and half have the least there is.
 */
Test(geosim_topology, few_clusters_have_very_many_lines)
{
    struct geosim_graph graph = grow(2000, 2, 1);
    size_t least = 0;
    for (size_t i = 0; i < graph.n; i++)
        least += geosim_graph_degree(&graph, i) == 2;
    cr_assert_gt(geosim_graph_degree(&graph, 0), 50);
    cr_assert_gt(least, 800);
    cr_assert_lt(least, 1200);
}

static bool within(double value, const struct geosim_range *range, double factor)
{
    return value >= range->low * factor * (1 - 1e-12) &&
           value <= range->high * factor * (1 + 1e-12);
}

/* 5 large, 20 medium, 75 small; whatever is drawn lies in the ranges of table 2. */
Test(geosim_topology, draws_from_the_ranges_of_the_paper)
{
    struct geosim_world_parameters terms = geosim_world_defaults;
    terms.slots_factor = 1;
    terms.reference_power = 100;
    terms.outage_period_s = terms.slot_s;
    struct geosim_world world = draw(&terms, 1);
    size_t seen[GEOSIM_SCALES] = {0};
    cr_assert_eq(world.n_clusters, 100);
    for (size_t i = 0; i < world.n_clusters; i++) {
        const struct geosim_cluster *cluster = &world.clusters[i];
        const struct geosim_scale_parameters *scale = &terms.scales[cluster->scale];
        seen[cluster->scale]++;
        cr_assert(i == 0 || cluster->scale >= world.clusters[i - 1].scale);
        cr_assert(within((double)cluster->slots, &scale->slots, 1));
        cr_assert(within(cluster->power.mean, &scale->power, 0.01));
        cr_assert(within(cluster->power.rsd, &scale->power_rsd, 1));
        cr_assert(within(cluster->unreachable_probability, &scale->outage_probability, 1));
        double machines = (double)cluster->slots;
        cr_assert_geq(cluster->ingress_bytes_per_s / machines, 64e3 * scale->gate_ratio.low);
        cr_assert_leq(cluster->ingress_bytes_per_s / machines, 256e3 * scale->gate_ratio.high);
        for (size_t k = 0; k < world.n_clusters; k++) {
            const struct geosim_normal *link = &world.wan[i * world.n_clusters + k];
            if (k == i)
                continue;
            cr_assert(within(link->mean, &scale->wan_bytes_per_s, 1));
            cr_assert(within(link->rsd, &scale->wan_rsd, 1));
        }
    }
    cr_assert_eq(seen[GEOSIM_LARGE], 5);
    cr_assert_eq(seen[GEOSIM_MEDIUM], 20);
    cr_assert_eq(seen[GEOSIM_SMALL], 75);
}

/* The shortest ways, the widest of them, told by brute force over all of two lines. */
Test(geosim_topology, far_clusters_go_the_widest_of_the_shortest_ways)
{
    struct geosim_world_parameters terms = geosim_world_defaults;
    terms.n_clusters = 30;
    struct geosim_world world = draw(&terms, 5);
    struct rng rng = rng_make(5, 0x67726170);
    struct geosim_graph graph;
    cr_assert(geosim_graph_grow(30, terms.links, &rng, &arena, &graph));
    bool joined[30][30];
    memset(joined, 0, sizeof joined);
    for (size_t i = 0; i < 30; i++)
        for (size_t k = graph.first[i]; k < graph.first[i + 1]; k++)
            joined[i][graph.neighbours[k]] = true;
    size_t two = 0;
    for (size_t a = 0; a < 30; a++)
        for (size_t b = 0; b < 30; b++) {
            double widest = 0;
            for (size_t m = 0; m < 30 && a != b && !joined[a][b]; m++)
                if (joined[a][m] && joined[m][b])
                    widest =
                        fmax(widest, fmin(world.wan[a * 30 + m].mean, world.wan[m * 30 + b].mean));
            if (widest > 0) {
                two++;
                cr_assert_float_eq(world.wan[a * 30 + b].mean, widest, 1e-9);
            }
        }
    cr_assert_gt(two, 100);
}

static bool same(const struct geosim_world *a, const struct geosim_world *b)
{
    return memcmp(a->wan, b->wan, a->n_clusters * a->n_clusters * sizeof *a->wan) == 0 &&
           a->clusters[0].slots == b->clusters[0].slots;
}

Test(geosim_topology, a_seed_has_one_world)
{
    struct geosim_world_parameters terms = geosim_world_defaults;
    terms.n_clusters = 12;
    struct geosim_world first = draw(&terms, 3);
    struct geosim_world again = draw(&terms, 3);
    struct geosim_world other = draw(&terms, 4);
    cr_assert(same(&first, &again));
    cr_assert(!same(&first, &other));
}

/* A probability that holds for a time becomes that of its slots: after all of them as likely. */
Test(geosim_topology, outages_are_as_likely_by_any_slot)
{
    struct geosim_world_parameters terms = geosim_world_defaults;
    terms.n_clusters = 3;
    terms.outage_period_s = 300;
    terms.slot_s = 300;
    double whole = draw(&terms, 9).clusters[2].unreachable_probability;
    terms.slot_s = 3;
    double slot = draw(&terms, 9).clusters[2].unreachable_probability;
    cr_assert_float_eq(1 - pow(1 - slot, 100), whole, 1e-12);
}

/* Small numbers keep one large cluster; slots never vanish. */
Test(geosim_topology, small_worlds_are_worlds)
{
    struct geosim_world_parameters terms = geosim_world_defaults;
    terms.slots_factor = 0.001;
    for (size_t n = 1; n < 12; n++) {
        terms.n_clusters = n;
        struct geosim_world world = draw(&terms, n);
        cr_assert_eq(world.clusters[0].scale, GEOSIM_LARGE);
        for (size_t i = 0; i < n; i++)
            cr_assert_geq(world.clusters[i].slots, 1);
    }
    terms.n_clusters = 10;
    cr_assert_eq(geosim_world_count(&terms, GEOSIM_MEDIUM), 2);
    cr_assert_eq(geosim_world_count(&terms, GEOSIM_SMALL), 7);
}

/* Speeds are positive; mean and deviation are those of the normal distribution truncated at the
 * cut, in closed form. */
Test(geosim_topology, draws_are_normal_and_truncated)
{
    const struct geosim_normal normal = {100, 0.5};
    struct rng rng = rng_make(1, 1);
    double sum = 0;
    double squares = 0;
    enum { N = 200000 };
    for (int i = 0; i < N; i++) {
        double value = geosim_normal_draw(&normal, &rng);
        cr_assert_geq(value, 100 * GEOSIM_LEAST_SHARE);
        sum += value;
        squares += value * value;
    }
    double mean = sum / N;
    cr_assert_float_eq(mean, 103.4, 0.5, "%g", mean);
    cr_assert_float_eq(sqrt(squares / N - mean * mean), 46.6, 0.5);
}
