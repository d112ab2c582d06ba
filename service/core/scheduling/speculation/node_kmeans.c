#include "core/scheduling/speculation/node_kmeans.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/rounding.h"

enum { ROUNDS_MAX = 1000 };

/* Somebody at a place, with the sum of its coordinates. */
struct ranked {
    double sum;
    size_t index;
};

struct node_kmeans {
    size_t n;
    size_t dimensions;
    double *points;       /* node after node */
    double *sum;          /* by node: of its coordinates */
    struct ranked *order; /* nodes, slowest first */
    size_t *members;      /* nodes, group after group */
    size_t *first_member; /* by group, and the end of the last one */
    size_t n_groups;
};

static const size_t UNASSIGNED = SIZE_MAX;

struct centres {
    const struct node_kmeans *kmeans;
    size_t k;
    double *points;        /* centre after centre */
    double *sums;          /* scratch for the next ones */
    size_t *n_nodes;       /* by centre */
    struct ranked *ranked; /* slowest first */
    size_t *of_group;      /* its centre */
    size_t *votes;         /* by centre; 0 between groups */
    size_t *choice;        /* whom the members of a group vote for */
    double reach;          /* a distance is at least a difference of sums / reach */
};

/* Descending; of equal ones the first. */
static int order_by_sum(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    int order = compare_double(y->sum, x->sum);
    return order != 0 ? order : compare_size(x->index, y->index);
}

static double sum_of(const double point[], size_t dimensions)
{
    double sum = 0;
    for (size_t d = 0; d < dimensions; d++)
        sum += point[d];
    return sum;
}

/* --- what all numbers of levels share --- */

static void copy_points(struct node_kmeans *kmeans, const struct performance_vectors *vectors)
{
    for (size_t i = 0; i < kmeans->n; i++) {
        double *point = &kmeans->points[i * kmeans->dimensions];
        for (size_t d = 0; d < kmeans->dimensions; d++)
            point[d] = vectors->values[d * kmeans->n + i];
        kmeans->sum[i] = sum_of(point, kmeans->dimensions);
        kmeans->order[i] = (struct ranked){kmeans->sum[i], i};
    }
    qsort(kmeans->order, kmeans->n, sizeof *kmeans->order, order_by_sum);
}

/* first_member is cleared. */
static void sort_members(struct node_kmeans *kmeans, const size_t group[])
{
    for (size_t i = 0; i < kmeans->n; i++)
        kmeans->first_member[group[i]]++;
    for (size_t g = 0, end = 0; g <= kmeans->n_groups; g++) {
        end += kmeans->first_member[g];
        kmeans->first_member[g] = end;
    }
    for (size_t i = kmeans->n; i-- > 0;)
        kmeans->members[--kmeans->first_member[group[i]]] = i;
}

enum pv_code node_kmeans_open(const struct performance_vectors *vectors,
                              const size_t group[],
                              size_t n_groups,
                              struct arena *arena,
                              struct node_kmeans **kmeans,
                              struct pv_error *err)
{
    size_t n = vectors->n;
    struct node_kmeans *opened = arena_calloc(arena, 1, sizeof *opened);
    if (opened == NULL)
        return pv_no_memory(err);
    *opened = (struct node_kmeans){
        .n = n,
        .dimensions = vectors->dimensions,
        .points = arena_array(arena, n, vectors->dimensions * sizeof *opened->points),
        .sum = arena_array(arena, n, sizeof *opened->sum),
        .order = arena_array(arena, n, sizeof *opened->order),
        .members = arena_array(arena, n, sizeof *opened->members),
        .first_member = arena_calloc(arena, n_groups + 1, sizeof *opened->first_member),
        .n_groups = n_groups,
    };
    if (opened->points == NULL || opened->sum == NULL || opened->order == NULL ||
        opened->members == NULL || opened->first_member == NULL)
        return pv_no_memory(err);
    copy_points(opened, vectors);
    sort_members(opened, group);
    *kmeans = opened;
    return PV_OK;
}

/* --- a number of levels --- */

static void rank_centres(const struct centres *centres)
{
    size_t dimensions = centres->kmeans->dimensions;
    for (size_t c = 0; c < centres->k; c++)
        centres->ranked[c] =
            (struct ranked){sum_of(&centres->points[c * dimensions], dimensions), c};
    qsort(centres->ranked, centres->k, sizeof *centres->ranked, order_by_sum);
}

static enum pv_code begin(const struct node_kmeans *kmeans,
                          size_t k,
                          struct arena *scratch,
                          struct centres *centres,
                          struct pv_error *err)
{
    size_t dimensions = kmeans->dimensions;
    *centres = (struct centres){
        .kmeans = kmeans,
        .k = k,
        .points = arena_array(scratch, k, dimensions * sizeof *centres->points),
        .sums = arena_array(scratch, k, dimensions * sizeof *centres->sums),
        .n_nodes = arena_array(scratch, k, sizeof *centres->n_nodes),
        .ranked = arena_array(scratch, k, sizeof *centres->ranked),
        .of_group = arena_array(scratch, kmeans->n_groups, sizeof *centres->of_group),
        .votes = arena_calloc(scratch, k, sizeof *centres->votes),
        .choice = arena_array(scratch, kmeans->n, sizeof *centres->choice),
        .reach = sqrt((double)dimensions),
    };
    if (centres->points == NULL || centres->sums == NULL || centres->n_nodes == NULL ||
        centres->ranked == NULL || centres->of_group == NULL || centres->votes == NULL ||
        centres->choice == NULL)
        return pv_no_memory(err);
    for (size_t c = 0; c < k; c++) {
        /* floor((c + 0.5) n / k) */
        size_t node = kmeans->order[(2 * c + 1) * kmeans->n / (2 * k)].index;
        memcpy(&centres->points[c * dimensions], &kmeans->points[node * dimensions],
               dimensions * sizeof *centres->points);
    }
    for (size_t g = 0; g < kmeans->n_groups; g++)
        centres->of_group[g] = UNASSIGNED;
    rank_centres(centres);
    return PV_OK;
}

static double distance_between(const double a[], const double b[], size_t dimensions)
{
    double squares = 0;
    for (size_t d = 0; d < dimensions; d++)
        squares += (a[d] - b[d]) * (a[d] - b[d]);
    return sqrt(squares);
}

struct nearest_centre {
    double distance;
    size_t centre;
};

static void try_centre(const struct centres *centres,
                       const double point[],
                       size_t centre,
                       struct nearest_centre *nearest)
{
    size_t dimensions = centres->kmeans->dimensions;
    double distance = distance_between(point, &centres->points[centre * dimensions], dimensions);
    if (nearest->centre != UNASSIGNED && rounding_equal(distance, nearest->distance)) {
        if (centre < nearest->centre)
            nearest->centre = centre;
    } else if (distance < nearest->distance) {
        *nearest = (struct nearest_centre){distance, centre};
    }
}

/* Centres in order of how far their sums are from that of the node, until no other one can be as
 * near: |sum(a) - sum(b)| <= sqrt(D) |a - b|. */
static size_t nearest_to(const struct centres *centres, size_t node)
{
    const double *point = &centres->kmeans->points[node * centres->kmeans->dimensions];
    double sum = centres->kmeans->sum[node];
    struct nearest_centre nearest = {HUGE_VAL, UNASSIGNED};
    size_t slower = 0; /* ranked[..slower) are slower than the node */
    for (size_t end = centres->k; slower < end;) {
        size_t middle = slower + (end - slower) / 2;
        if (centres->ranked[middle].sum > sum)
            slower = middle + 1;
        else
            end = middle;
    }
    for (size_t faster = slower; slower > 0 || faster < centres->k;) {
        double to_slower = slower > 0 ? centres->ranked[slower - 1].sum - sum : HUGE_VAL;
        double to_faster = faster < centres->k ? sum - centres->ranked[faster].sum : HUGE_VAL;
        double least = fmin(to_slower, to_faster) / centres->reach;
        if (least > nearest.distance && least - nearest.distance > 1e-8 * fmax(1, least))
            break;
        size_t next = to_slower < to_faster ? --slower : faster++;
        try_centre(centres, point, centres->ranked[next].index, &nearest);
    }
    return nearest.centre;
}

/* The centre with most votes, of several the first. */
static size_t elect(const struct centres *centres, const size_t members[], size_t n)
{
    size_t elected = nearest_to(centres, members[0]);
    size_t most = 1;
    centres->choice[0] = elected;
    centres->votes[elected] = 1;
    for (size_t i = 1; i < n; i++) {
        size_t choice = nearest_to(centres, members[i]);
        size_t votes = ++centres->votes[choice];
        centres->choice[i] = choice;
        if (votes > most || (votes == most && choice < elected)) {
            elected = choice;
            most = votes;
        }
    }
    for (size_t i = 0; i < n; i++)
        centres->votes[centres->choice[i]] = 0;
    return elected;
}

/* Whether a group has changed its centre. */
static bool assign_groups(const struct centres *centres)
{
    const struct node_kmeans *kmeans = centres->kmeans;
    bool changed = false;
    for (size_t g = 0; g < kmeans->n_groups; g++) {
        size_t first = kmeans->first_member[g];
        size_t elected =
            elect(centres, &kmeans->members[first], kmeans->first_member[g + 1] - first);
        changed = changed || elected != centres->of_group[g];
        centres->of_group[g] = elected;
    }
    return changed;
}

/* A centre without nodes stays where it is. */
static void move_centres(const struct centres *centres)
{
    const struct node_kmeans *kmeans = centres->kmeans;
    size_t dimensions = kmeans->dimensions;
    memset(centres->sums, 0, centres->k * dimensions * sizeof *centres->sums);
    memset(centres->n_nodes, 0, centres->k * sizeof *centres->n_nodes);
    for (size_t g = 0; g < kmeans->n_groups; g++) {
        size_t centre = centres->of_group[g];
        centres->n_nodes[centre] += kmeans->first_member[g + 1] - kmeans->first_member[g];
        for (size_t i = kmeans->first_member[g]; i < kmeans->first_member[g + 1]; i++) {
            const double *point = &kmeans->points[kmeans->members[i] * dimensions];
            for (size_t d = 0; d < dimensions; d++)
                centres->sums[centre * dimensions + d] += point[d];
        }
    }
    for (size_t c = 0; c < centres->k; c++) {
        for (size_t d = 0; centres->n_nodes[c] > 0 && d < dimensions; d++)
            centres->points[c * dimensions + d] =
                centres->sums[c * dimensions + d] / (double)centres->n_nodes[c];
    }
    rank_centres(centres);
}

/* level_of: by centre; filled here. */
static size_t number_levels(const struct centres *centres, size_t level_of[], size_t level[])
{
    const struct node_kmeans *kmeans = centres->kmeans;
    size_t n_levels = 0;
    for (size_t r = 0; r < centres->k; r++) {
        size_t centre = centres->ranked[r].index;
        if (centres->n_nodes[centre] > 0)
            level_of[centre] = ++n_levels;
    }
    for (size_t g = 0; g < kmeans->n_groups; g++) {
        for (size_t i = kmeans->first_member[g]; i < kmeans->first_member[g + 1]; i++)
            level[kmeans->members[i]] = level_of[centres->of_group[g]];
    }
    return n_levels;
}

enum pv_code node_kmeans_run(const struct node_kmeans *kmeans,
                             size_t k,
                             struct arena *scratch,
                             size_t level[],
                             size_t *n_levels,
                             struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct centres centres;
    PV_TRY(begin(kmeans, k, scratch, &centres, err));
    for (size_t round = 0; round < ROUNDS_MAX && assign_groups(&centres); round++)
        move_centres(&centres);
    *n_levels = number_levels(&centres, centres.votes, level);
    arena_rewind(scratch, mark);
    return PV_OK;
}
