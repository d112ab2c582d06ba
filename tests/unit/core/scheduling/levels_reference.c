#include "levels_reference.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/rounding.h"

/* --- groups --- */

struct interval {
    double least;
    double greatest;
};

static struct interval
interval_of(const struct levels_case *given, const size_t group[], size_t number, size_t type)
{
    struct interval interval = {HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < given->n; i++) {
        if (group[i] != number)
            continue;
        interval.least = fmin(interval.least, given->mean_s[i][type]);
        interval.greatest = fmax(interval.greatest, given->mean_s[i][type]);
    }
    return interval;
}

struct relation {
    bool above;
    bool below;
    bool overlaps; /* each in some type */
};

static struct relation
relate(const struct levels_case *given, const size_t group[], size_t a, size_t b)
{
    struct relation relation = {false, false, false};
    for (size_t t = 0; t < given->types; t++) {
        struct interval x = interval_of(given, group, a, t);
        struct interval y = interval_of(given, group, b, t);
        bool above = x.least > y.greatest;
        bool below = y.least > x.greatest;
        relation.above = relation.above || above;
        relation.below = relation.below || below;
        relation.overlaps = relation.overlaps || (!above && !below);
    }
    return relation;
}

static void merge(size_t group[], size_t n, size_t from, size_t into)
{
    for (size_t i = 0; i < n; i++)
        group[i] = group[i] == from ? into : group[i];
}

/* Numbers of groups are those of their first nodes here. */
static bool has_group(const size_t group[], size_t number)
{
    return group[number] == number;
}

static bool merge_overlapping(const struct levels_case *given, size_t group[], size_t *into)
{
    for (size_t other = 0; other < given->n; other++) {
        if (!has_group(group, other) || other == *into ||
            !relate(given, group, *into, other).overlaps)
            continue;
        size_t first = other < *into ? other : *into;
        merge(group, given->n, other + *into - first, first);
        *into = first;
        return true;
    }
    return false;
}

static bool merge_crossing(const struct levels_case *given, size_t group[])
{
    for (size_t a = 0; a < given->n; a++) {
        for (size_t b = a + 1; b < given->n; b++) {
            if (!has_group(group, a) || !has_group(group, b))
                continue;
            struct relation relation = relate(given, group, a, b);
            if (!relation.above || !relation.below)
                continue;
            size_t into = a;
            merge(group, given->n, b, a);
            while (merge_overlapping(given, group, &into))
                ;
            return true;
        }
    }
    return false;
}

void reference_groups(const struct levels_case *given, size_t group[])
{
    size_t number[LEVELS_NODES_MAX];
    size_t n_groups = 0;
    for (size_t i = 0; i < given->n; i++)
        group[i] = i;
    while (merge_crossing(given, group))
        ;
    for (size_t i = 0; i < given->n; i++) {
        if (has_group(group, i))
            number[i] = n_groups++;
    }
    for (size_t i = 0; i < given->n; i++)
        group[i] = number[group[i]];
}

/* --- k-means --- */

static void normalize(const struct levels_case *given, double x[][LEVELS_TYPES_MAX])
{
    for (size_t t = 0; t < given->types; t++) {
        double sum = 0;
        for (size_t i = 0; i < given->n; i++)
            sum += given->mean_s[i][t];
        for (size_t i = 0; i < given->n; i++)
            x[i][t] = given->mean_s[i][t] / (sum / (double)given->n);
    }
}

static double sum_of(const double x[], size_t types)
{
    double sum = 0;
    for (size_t t = 0; t < types; t++)
        sum += x[t];
    return sum;
}

static double distance(const double x[], const double y[], size_t types)
{
    double squares = 0;
    for (size_t t = 0; t < types; t++)
        squares += (x[t] - y[t]) * (x[t] - y[t]);
    return sqrt(squares);
}

/* How many others go before: their sums are larger, or as large and they come first. */
static size_t place_of(size_t i, double x[][LEVELS_TYPES_MAX], size_t n, size_t types)
{
    size_t place = 0;
    for (size_t j = 0; j < n; j++) {
        double more = sum_of(x[j], types) - sum_of(x[i], types);
        place += more > 0 || (more >= 0 && j < i);
    }
    return place;
}

static size_t vote_of(const double x[], double centre[][LEVELS_TYPES_MAX], size_t k, size_t types)
{
    size_t nearest = 0;
    for (size_t c = 1; c < k; c++) {
        double now = distance(x, centre[c], types);
        double best = distance(x, centre[nearest], types);
        if (now < best && !rounding_equal(now, best))
            nearest = c;
    }
    return nearest;
}

static size_t elect(const struct levels_case *given,
                    const size_t group[],
                    size_t g,
                    double x[][LEVELS_TYPES_MAX],
                    double centre[][LEVELS_TYPES_MAX],
                    size_t k)
{
    size_t votes[LEVELS_NODES_MAX] = {0};
    size_t elected = 0;
    for (size_t i = 0; i < given->n; i++) {
        if (group[i] == g)
            votes[vote_of(x[i], centre, k, given->types)]++;
    }
    for (size_t c = 1; c < k; c++)
        elected = votes[c] > votes[elected] ? c : elected;
    return elected;
}

static size_t move_centre(const struct levels_case *given,
                          const size_t of_node[],
                          size_t c,
                          double x[][LEVELS_TYPES_MAX],
                          double centre[])
{
    double sum[LEVELS_TYPES_MAX] = {0};
    size_t n = 0;
    for (size_t i = 0; i < given->n; i++) {
        for (size_t t = 0; of_node[i] == c && t < given->types; t++)
            sum[t] += x[i][t];
        n += of_node[i] == c;
    }
    for (size_t t = 0; n > 0 && t < given->types; t++)
        centre[t] = sum[t] / (double)n;
    return n;
}

size_t
reference_levels(const struct levels_case *given, const size_t group[], size_t k, size_t level[])
{
    double x[LEVELS_NODES_MAX][LEVELS_TYPES_MAX];
    double centre[LEVELS_NODES_MAX][LEVELS_TYPES_MAX];
    size_t of_node[LEVELS_NODES_MAX];
    size_t n_nodes[LEVELS_NODES_MAX] = {0};
    size_t level_of[LEVELS_NODES_MAX] = {0};
    size_t n_levels = 0;
    bool changed = true;
    normalize(given, x);
    for (size_t i = 0; i < given->n; i++) {
        of_node[i] = LEVELS_NODES_MAX;
        for (size_t c = 0; c < k; c++) {
            if (place_of(i, x, given->n, given->types) ==
                (size_t)(((double)c + 0.5) * (double)given->n / (double)k))
                memcpy(centre[c], x[i], sizeof centre[c]);
        }
    }
    for (size_t round = 0; changed && round < 1000; round++) {
        changed = false;
        for (size_t i = 0; i < given->n; i++) {
            size_t elected = elect(given, group, group[i], x, centre, k);
            changed = changed || elected != of_node[i];
            of_node[i] = elected;
        }
        for (size_t c = 0; c < k; c++)
            n_nodes[c] = move_centre(given, of_node, c, x, centre[c]);
    }
    for (size_t place = 0; place < k; place++) {
        for (size_t c = 0; c < k; c++) {
            if (n_nodes[c] > 0 && place_of(c, centre, k, given->types) == place)
                level_of[c] = ++n_levels;
        }
    }
    for (size_t i = 0; i < given->n; i++)
        level[i] = level_of[of_node[i]];
    return n_levels;
}

/* --- silhouette --- */

/* To the nodes of a level, without the node itself; NAN: there are none. */
static double mean_distance(const struct levels_case *given,
                            const size_t level[],
                            size_t i,
                            size_t to,
                            double x[][LEVELS_TYPES_MAX])
{
    double sum = 0;
    size_t n = 0;
    for (size_t j = 0; j < given->n; j++) {
        if (j == i || level[j] != to)
            continue;
        sum += distance(x[i], x[j], given->types);
        n++;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

double reference_silhouette(const struct levels_case *given, const size_t level[], size_t n_levels)
{
    double x[LEVELS_NODES_MAX][LEVELS_TYPES_MAX];
    double sum = 0;
    normalize(given, x);
    if (n_levels == 1)
        return 0;
    for (size_t i = 0; i < given->n; i++) {
        double a = mean_distance(given, level, i, level[i], x);
        double b = HUGE_VAL;
        for (size_t l = 1; l <= n_levels; l++)
            b = l != level[i] ? fmin(b, mean_distance(given, level, i, l, x)) : b;
        if (!isnan(a) && fmax(a, b) > 0)
            sum += (b - a) / fmax(a, b);
    }
    return sum / (double)given->n;
}
