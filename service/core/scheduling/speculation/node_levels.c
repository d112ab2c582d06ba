#include "core/scheduling/speculation/node_levels.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/rounding.h"
#include "core/scheduling/speculation/node_groups.h"
#include "core/scheduling/speculation/node_kmeans.h"
#include "core/scheduling/speculation/node_silhouette.h"

enum { DIVISIONS_MAX = NODE_LEVELS_AUTO_MAX - 1 }; /* 2, 3, ... levels */

static const size_t NO_DIMENSION = SIZE_MAX;
static const double SEPARATED = 0.25; /* silhouette below which there is but one level */

/* --- performance vectors --- */

/* Types that every node has finished, in order of the first node; the others get NO_DIMENSION. */
static size_t
find_dimensions(const struct speculation_cluster *cluster, size_t dimension_of[], size_t seen_by[])
{
    const struct speculation_node *first = &cluster->nodes[0];
    size_t dimensions = 0;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        for (size_t f = 0; f < cluster->nodes[i].n_finished; f++)
            seen_by[cluster->nodes[i].finished[f].type]++;
    }
    for (size_t t = 0; t < cluster->n_types; t++)
        dimension_of[t] = NO_DIMENSION;
    for (size_t f = 0; f < first->n_finished; f++) {
        if (seen_by[first->finished[f].type] == cluster->n_nodes)
            dimension_of[first->finished[f].type] = dimensions++;
    }
    return dimensions;
}

static void fill_vectors(const struct speculation_cluster *cluster,
                         const size_t dimension_of[],
                         double values[])
{
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        for (size_t f = 0; f < cluster->nodes[i].n_finished; f++) {
            const struct speculation_finished *finished = &cluster->nodes[i].finished[f];
            size_t dimension = dimension_of[finished->type];
            if (dimension != NO_DIMENSION)
                values[dimension * cluster->n_nodes + i] = finished->mean_s;
        }
    }
}

/* Each dimension divided by its mean. */
static void normalize(double values[], size_t n, size_t dimensions)
{
    for (size_t d = 0; d < dimensions; d++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += values[d * n + i];
        for (size_t i = 0; i < n; i++)
            values[d * n + i] /= sum / (double)n;
    }
}

/* --- a number of levels --- */

static enum pv_code divide(const struct node_kmeans *kmeans,
                           size_t n_nodes,
                           size_t count,
                           struct arena *scratch,
                           struct node_division *division,
                           struct pv_error *err)
{
    size_t *level = arena_array(scratch, n_nodes, sizeof *level);
    if (level == NULL)
        return pv_no_memory(err);
    PV_TRY(node_kmeans_run(kmeans, count, scratch, level, &division->n_levels, err));
    division->level = level;
    return PV_OK;
}

/* The one with the largest silhouette, of several the one with fewest levels. */
static size_t best_of(const double silhouette[], size_t n)
{
    size_t best = 0;
    for (size_t k = 1; k < n; k++) {
        if (silhouette[k] > silhouette[best] && !rounding_equal(silhouette[k], silhouette[best]))
            best = k;
    }
    return best;
}

/* `levels` are one, and stay so where no others are well enough separated. */
static enum pv_code choose(const struct performance_vectors *vectors,
                           const struct node_kmeans *kmeans,
                           struct arena *scratch,
                           struct node_levels *levels,
                           struct pv_error *err)
{
    struct node_division divisions[DIVISIONS_MAX];
    double silhouette[DIVISIONS_MAX];
    size_t n = 0;
    for (; n < DIVISIONS_MAX && n + 3 <= vectors->n; n++)
        PV_TRY(divide(kmeans, vectors->n, n + 2, scratch, &divisions[n], err));
    if (n == 0)
        return PV_OK;
    PV_TRY(node_silhouettes(vectors, divisions, n, scratch, silhouette, err));
    size_t best = best_of(silhouette, n);
    levels->silhouette = silhouette[best];
    if (silhouette[best] < SEPARATED && !rounding_equal(silhouette[best], SEPARATED))
        return PV_OK;
    memcpy(levels->level, divisions[best].level, vectors->n * sizeof *levels->level);
    levels->highest = divisions[best].n_levels;
    return PV_OK;
}

static enum pv_code separate(double values[],
                             size_t n_nodes,
                             size_t count,
                             struct arena *scratch,
                             struct node_levels *levels,
                             struct pv_error *err)
{
    const struct performance_vectors vectors = {values, n_nodes, levels->common_types};
    struct node_kmeans *kmeans = NULL;
    PV_TRY(node_groups_find(&vectors, scratch, levels->group, &levels->n_groups, err));
    normalize(values, n_nodes, levels->common_types);
    PV_TRY(node_kmeans_open(&vectors, levels->group, levels->n_groups, scratch, &kmeans, err));
    if (count == NODE_LEVELS_AUTO)
        return choose(&vectors, kmeans, scratch, levels, err);
    return node_kmeans_run(kmeans, count, scratch, levels->level, &levels->highest, err);
}

/* --- all of it --- */

/* On one level, in one group. */
static enum pv_code
begin(size_t n_nodes, struct arena *arena, struct node_levels *levels, struct pv_error *err)
{
    *levels = (struct node_levels){
        .level = arena_array(arena, n_nodes, sizeof *levels->level),
        .highest = 1,
        .group = arena_calloc(arena, n_nodes, sizeof *levels->group),
        .n_groups = 1,
        .silhouette = (double)NAN,
    };
    if (levels->level == NULL || levels->group == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n_nodes; i++)
        levels->level[i] = 1;
    return PV_OK;
}

enum pv_code node_levels_find(const struct speculation_cluster *cluster,
                              size_t count,
                              struct arena *arena,
                              struct node_levels *levels,
                              struct pv_error *err)
{
    struct node_levels found;
    PV_TRY(begin(cluster->n_nodes, arena, &found, err));
    struct arena_mark mark = arena_mark(arena);
    size_t *dimension_of = arena_array(arena, cluster->n_types, sizeof *dimension_of);
    size_t *seen_by = arena_calloc(arena, cluster->n_types, sizeof *seen_by);
    if (dimension_of == NULL || seen_by == NULL)
        return pv_no_memory(err);
    found.common_types = find_dimensions(cluster, dimension_of, seen_by);
    if (found.common_types > 0) {
        double *values = arena_array(arena, cluster->n_nodes, found.common_types * sizeof *values);
        if (values == NULL)
            return pv_no_memory(err);
        fill_vectors(cluster, dimension_of, values);
        PV_TRY(separate(values, cluster->n_nodes, count, arena, &found, err));
    }
    arena_rewind(arena, mark);
    *levels = found;
    return PV_OK;
}

struct node_levels node_levels_given(size_t *level, size_t n_nodes)
{
    struct node_levels levels = {.level = level, .silhouette = (double)NAN};
    for (size_t i = 0; i < n_nodes; i++)
        levels.highest = level[i] > levels.highest ? level[i] : levels.highest;
    return levels;
}
