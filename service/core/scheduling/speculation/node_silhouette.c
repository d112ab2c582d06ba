#include "core/scheduling/speculation/node_silhouette.h"

#include <math.h>

/*
 * Nodes that are on one level in every division are an atom. Of the n^2 distances, those from a node
 * to an atom are added up once; each division adds up atoms.
 */
struct atoms {
    size_t n;
    size_t *of_node;
    size_t *first;   /* place of its first node, by atom, and the end of the last one */
    double *ordered; /* coordinates, dimension after dimension, nodes atom after atom */
    size_t *node;    /* by place */
};

struct division {
    const struct node_division *levels;
    size_t *level_of; /* by atom */
    double *sum_s;    /* by level, from 1: of the distances from the node in hand */
    size_t *n_nodes;  /* by level, from 1 */
};

/* One atom less for every pair of levels that a division makes of one. number_of: n x n_levels. */
static enum pv_code refine(struct atoms *atoms,
                           const struct node_division *levels,
                           size_t n,
                           struct arena *scratch,
                           struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    size_t *number_of = arena_calloc(scratch, atoms->n, levels->n_levels * sizeof *number_of);
    size_t n_atoms = 0;
    if (number_of == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        size_t *number = &number_of[atoms->of_node[i] * levels->n_levels + levels->level[i] - 1];
        if (*number == 0)
            *number = ++n_atoms;
        atoms->of_node[i] = *number - 1;
    }
    atoms->n = n_atoms;
    arena_rewind(scratch, mark);
    return PV_OK;
}

/* Nodes and their coordinates, atom after atom. first is cleared. */
static void order_nodes(struct atoms *atoms, const struct performance_vectors *vectors)
{
    for (size_t i = 0; i < vectors->n; i++)
        atoms->first[atoms->of_node[i]]++;
    for (size_t a = 0, end = 0; a <= atoms->n; a++) {
        end += atoms->first[a];
        atoms->first[a] = end;
    }
    for (size_t i = vectors->n; i-- > 0;)
        atoms->node[--atoms->first[atoms->of_node[i]]] = i;
    for (size_t d = 0; d < vectors->dimensions; d++) {
        for (size_t p = 0; p < vectors->n; p++)
            atoms->ordered[d * vectors->n + p] = vectors->values[d * vectors->n + atoms->node[p]];
    }
}

static enum pv_code find_atoms(const struct performance_vectors *vectors,
                               const struct node_division divisions[],
                               size_t n_divisions,
                               struct arena *scratch,
                               struct atoms *atoms,
                               struct pv_error *err)
{
    size_t n = vectors->n;
    *atoms = (struct atoms){.n = 1, .of_node = arena_calloc(scratch, n, sizeof *atoms->of_node)};
    if (atoms->of_node == NULL)
        return pv_no_memory(err);
    for (size_t k = 0; k < n_divisions; k++)
        PV_TRY(refine(atoms, &divisions[k], n, scratch, err));
    atoms->first = arena_calloc(scratch, atoms->n + 1, sizeof *atoms->first);
    atoms->ordered = arena_array(scratch, n, vectors->dimensions * sizeof *atoms->ordered);
    atoms->node = arena_array(scratch, n, sizeof *atoms->node);
    if (atoms->first == NULL || atoms->ordered == NULL || atoms->node == NULL)
        return pv_no_memory(err);
    order_nodes(atoms, vectors);
    return PV_OK;
}

static enum pv_code prepare(struct division *division,
                            const struct node_division *levels,
                            const struct atoms *atoms,
                            struct arena *scratch,
                            struct pv_error *err)
{
    *division = (struct division){
        .levels = levels,
        .level_of = arena_array(scratch, atoms->n, sizeof *division->level_of),
        .sum_s = arena_array(scratch, levels->n_levels + 1, sizeof *division->sum_s),
        .n_nodes = arena_calloc(scratch, levels->n_levels + 1, sizeof *division->n_nodes),
    };
    if (division->level_of == NULL || division->sum_s == NULL || division->n_nodes == NULL)
        return pv_no_memory(err);
    for (size_t a = 0; a < atoms->n; a++) {
        size_t level = levels->level[atoms->node[atoms->first[a]]];
        division->level_of[a] = level;
        division->n_nodes[level] += atoms->first[a + 1] - atoms->first[a];
    }
    return PV_OK;
}

/* By place: from the node at `place`. */
static void measure_distances(const struct performance_vectors *vectors,
                              const struct atoms *atoms,
                              size_t place,
                              double distance[])
{
    size_t n = vectors->n;
    for (size_t p = 0; p < n; p++)
        distance[p] = 0;
    for (size_t d = 0; d < vectors->dimensions; d++) {
        const double *values = &atoms->ordered[d * n];
        for (size_t p = 0; p < n; p++)
            distance[p] += (values[p] - values[place]) * (values[p] - values[place]);
    }
    for (size_t p = 0; p < n; p++)
        distance[p] = sqrt(distance[p]);
}

/* Of a node, by the sums of its distances to atoms. */
static double
node_silhouette(const struct division *division, const double to_atom[], size_t n_atoms, size_t own)
{
    double nearest = HUGE_VAL;
    for (size_t l = 1; l <= division->levels->n_levels; l++)
        division->sum_s[l] = 0;
    for (size_t a = 0; a < n_atoms; a++)
        division->sum_s[division->level_of[a]] += to_atom[a];
    if (division->n_nodes[own] == 1)
        return 0;
    double within = division->sum_s[own] / (double)(division->n_nodes[own] - 1);
    for (size_t l = 1; l <= division->levels->n_levels; l++) {
        if (l != own)
            nearest = fmin(nearest, division->sum_s[l] / (double)division->n_nodes[l]);
    }
    double larger = fmax(within, nearest);
    return larger > 0 ? (nearest - within) / larger : 0;
}

static void add_nodes(const struct performance_vectors *vectors,
                      const struct atoms *atoms,
                      const struct division divisions[],
                      size_t n_divisions,
                      double *distance,
                      double *to_atom,
                      double silhouette[])
{
    for (size_t p = 0; p < vectors->n; p++) {
        size_t own = atoms->of_node[atoms->node[p]];
        measure_distances(vectors, atoms, p, distance);
        for (size_t a = 0; a < atoms->n; a++) {
            to_atom[a] = 0;
            for (size_t i = atoms->first[a]; i < atoms->first[a + 1]; i++)
                to_atom[a] += distance[i];
        }
        for (size_t k = 0; k < n_divisions; k++) {
            if (divisions[k].levels->n_levels > 1)
                silhouette[k] +=
                    node_silhouette(&divisions[k], to_atom, atoms->n, divisions[k].level_of[own]);
        }
    }
}

enum pv_code node_silhouettes(const struct performance_vectors *vectors,
                              const struct node_division divisions[],
                              size_t n_divisions,
                              struct arena *scratch,
                              double silhouette[],
                              struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct atoms atoms;
    PV_TRY(find_atoms(vectors, divisions, n_divisions, scratch, &atoms, err));
    struct division *prepared = arena_array(scratch, n_divisions, sizeof *prepared);
    double *distance = arena_array(scratch, vectors->n, sizeof *distance);
    double *to_atom = arena_array(scratch, atoms.n, sizeof *to_atom);
    if (prepared == NULL || distance == NULL || to_atom == NULL)
        return pv_no_memory(err);
    for (size_t k = 0; k < n_divisions; k++) {
        PV_TRY(prepare(&prepared[k], &divisions[k], &atoms, scratch, err));
        silhouette[k] = 0;
    }
    add_nodes(vectors, &atoms, prepared, n_divisions, distance, to_atom, silhouette);
    for (size_t k = 0; k < n_divisions; k++)
        silhouette[k] /= (double)vectors->n;
    arena_rewind(scratch, mark);
    return PV_OK;
}
