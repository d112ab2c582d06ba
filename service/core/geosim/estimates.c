#include "core/geosim/estimates.h"

#include <math.h>

/* --- one figure --- */

/* The standard normal's density; its integral of z from a to b is density(a) - density(b). */
static double density(double z)
{
    return isinf(z) ? 0 : exp(-z * z / 2) / sqrt(2 * acos(-1.0));
}

static double below(double z)
{
    return erfc(-z / sqrt(2.0)) / 2;
}

/* The z that a share p of the standard normal lies below, by bisection. */
static double quantile(double p)
{
    double low = -10;
    double high = 10;
    if (p <= 0 || p >= 1)
        return p <= 0 ? -HUGE_VAL : HUGE_VAL;
    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;
        if (below(middle) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* The mean of max(1 + rsd z, GEOSIM_LEAST_SHARE) over the part of the line from a to b. */
static double mean_of_part(double rsd, double a, double b)
{
    double cut = rsd > 0 ? (GEOSIM_LEAST_SHARE - 1) / rsd : -HUGE_VAL;
    double all = below(b) - below(a);
    double from = a > cut ? a : cut;
    if (from >= b)
        return GEOSIM_LEAST_SHARE;
    double free = below(b) - below(from);
    return (GEOSIM_LEAST_SHARE * (all - free) + free + rsd * (density(from) - density(b))) / all;
}

/* Where the line is cut into n parts: the end of each. */
struct cuts {
    size_t n;
    double end[SPEEDS_POINTS_MAX];
};

static struct cuts cut_line(size_t n)
{
    struct cuts cuts = {.n = n < SPEEDS_POINTS_MAX ? n : SPEEDS_POINTS_MAX};
    for (size_t i = 0; i < cuts.n; i++)
        cuts.end[i] = quantile((double)(i + 1) / (double)cuts.n);
    return cuts;
}

static void
estimate(const struct geosim_normal *normal, const struct cuts *cuts, struct speeds *speeds)
{
    struct speed_point points[SPEEDS_POINTS_MAX];
    double from = -HUGE_VAL;
    for (size_t i = 0; i < cuts->n; i++) {
        double share = mean_of_part(normal->rsd, from, cuts->end[i]);
        points[i] = (struct speed_point){normal->mean * share, 1 / (double)cuts->n};
        from = cuts->end[i];
    }
    speeds_make(points, cuts->n, speeds);
}

void estimate_normal(const struct geosim_normal *normal, size_t n, struct speeds *speeds)
{
    const struct cuts cuts = cut_line(n);
    estimate(normal, &cuts, speeds);
}

/* --- all of them --- */

/* Bytes per second of work of each operation, over the whole workload; 0: there is no such task. */
static double *find_paces(const struct geosim_workload *workload, struct arena *arena)
{
    size_t n = workload->n_operations;
    double *bytes = arena_calloc(arena, n, sizeof *bytes);
    double *work = arena_calloc(arena, n, sizeof *work);
    if (bytes == NULL || work == NULL)
        return NULL;
    for (size_t w = 0; w < workload->n_workflows; w++) {
        const struct geosim_workflow *workflow = &workload->workflows[w];
        for (size_t t = 0; t < workflow->n_tasks; t++) {
            bytes[workflow->tasks[t].operation] += workflow->tasks[t].input_bytes;
            work[workflow->tasks[t].operation] += workflow->tasks[t].work_s;
        }
    }
    for (size_t op = 0; op < n; op++)
        bytes[op] = work[op] > 0 ? bytes[op] / work[op] : 0;
    return bytes;
}

static const struct speeds *const *make_processing(const struct geosim_cluster *cluster,
                                                   const double paces[],
                                                   size_t n_operations,
                                                   const struct cuts *cuts,
                                                   struct arena *arena)
{
    const struct speeds **processing = arena_calloc(arena, n_operations, sizeof *processing);
    struct speeds unit;
    if (processing == NULL)
        return NULL;
    estimate(&cluster->power, cuts, &unit);
    for (size_t op = 0; op < n_operations; op++) {
        struct speeds *made = arena_alloc(arena, sizeof *made);
        if (made == NULL)
            return NULL;
        *made = unit;
        speeds_scale(made, paces[op] > 0 ? paces[op] : 1);
        processing[op] = made;
    }
    return processing;
}

static bool make_links(const struct geosim_world *world,
                       const struct cuts *cuts,
                       struct arena *arena,
                       struct estimates *estimates)
{
    size_t n = world->n_clusters;
    struct speeds *speeds = arena_array(arena, n * n, sizeof *speeds);
    estimates->links = arena_array(arena, n * n, sizeof *estimates->links);
    estimates->n_links = 0;
    if (speeds == NULL || estimates->links == NULL)
        return false;
    for (size_t from = 0; from < n; from++) {
        for (size_t to = 0; to < n; to++) {
            if (from == to)
                continue;
            estimate(&world->wan[from * n + to], cuts, speeds);
            estimates->links[estimates->n_links++] = (struct geo_link){from, to, speeds++};
        }
    }
    return true;
}

bool estimates_make(const struct geosim_world *world,
                    const struct geosim_workload *workload,
                    size_t points,
                    struct arena *arena,
                    struct estimates *estimates)
{
    const struct cuts cuts = cut_line(points);
    double *paces = find_paces(workload, arena);
    estimates->clusters = arena_array(arena, world->n_clusters, sizeof *estimates->clusters);
    if (paces == NULL || estimates->clusters == NULL)
        return false;
    for (size_t m = 0; m < world->n_clusters; m++) {
        const struct geosim_cluster *cluster = &world->clusters[m];
        const struct speeds *const *processing =
            make_processing(cluster, paces, workload->n_operations, &cuts, arena);
        if (processing == NULL)
            return false;
        estimates->clusters[m] = (struct geo_cluster){cluster->slots,
                                                      0,
                                                      cluster->unreachable_probability,
                                                      cluster->ingress_bytes_per_s,
                                                      cluster->egress_bytes_per_s,
                                                      processing};
    }
    return make_links(world, &cuts, arena, estimates);
}
