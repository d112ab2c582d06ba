#include "core/geosim/estimates.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

/* --- one figure --- */

/* The standard normal's density; its integral of z from a to b is density(a) - density(b). */
static double density(double z)
{
    return isinf(z) ? 0 : gsl_ran_ugaussian_pdf(z);
}

void geosim_estimate_normal(const struct geosim_normal *normal, size_t n, struct speeds *speeds)
{
    struct speed_point points[SPEEDS_POINTS_MAX];
    size_t parts = n < SPEEDS_POINTS_MAX ? n : SPEEDS_POINTS_MAX;
    double from = normal->rsd > 0 ? (GEOSIM_LEAST_SHARE - 1) / normal->rsd : -HUGE_VAL;
    double never = gsl_cdf_ugaussian_P(from);
    double each = (1 - never) / (double)parts;
    for (size_t i = 0; i < parts; i++) {
        double to =
            i + 1 < parts ? gsl_cdf_ugaussian_Pinv(never + each * (double)(i + 1)) : HUGE_VAL;
        double share = 1 + normal->rsd * (density(from) - density(to)) / each;
        points[i] = (struct speed_point){normal->mean * share, 1 / (double)parts};
        from = to;
    }
    speeds_make(points, parts, speeds);
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
                                                   size_t points,
                                                   struct arena *arena)
{
    const struct speeds **processing = arena_calloc(arena, n_operations, sizeof *processing);
    struct speeds unit;
    if (processing == NULL)
        return NULL;
    geosim_estimate_normal(&cluster->power, points, &unit);
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
                       size_t points,
                       struct arena *arena,
                       struct geosim_estimates *estimates)
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
            geosim_estimate_normal(&world->wan[from * n + to], points, speeds);
            estimates->links[estimates->n_links++] = (struct geo_link){from, to, speeds++};
        }
    }
    return true;
}

bool geosim_estimates_make(const struct geosim_world *world,
                           const struct geosim_workload *workload,
                           size_t points,
                           struct arena *arena,
                           struct geosim_estimates *estimates)
{
    double *paces = find_paces(workload, arena);
    estimates->clusters = arena_array(arena, world->n_clusters, sizeof *estimates->clusters);
    if (paces == NULL || estimates->clusters == NULL)
        return false;
    for (size_t m = 0; m < world->n_clusters; m++) {
        const struct geosim_cluster *cluster = &world->clusters[m];
        const struct speeds *const *processing =
            make_processing(cluster, paces, workload->n_operations, points, arena);
        if (processing == NULL)
            return false;
        estimates->clusters[m] = (struct geo_cluster){cluster->slots,
                                                      0,
                                                      cluster->unreachable_probability,
                                                      cluster->ingress_bytes_per_s,
                                                      cluster->egress_bytes_per_s,
                                                      processing};
    }
    return make_links(world, points, arena, estimates);
}
