#include "core/geo/speeds.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/order.h"

static int speeds_ascending(const void *a, const void *b)
{
    return compare_double(((const struct speed_point *)a)->value,
                          ((const struct speed_point *)b)->value);
}

/* Bins of equal width between the first and the last value; each becomes its mean. */
static void compress(const struct speed_point points[], size_t n, struct speeds *made)
{
    double low = points[0].value;
    double bins_per_unit = SPEEDS_POINTS_MAX / (points[n - 1].value - low);
    made->n = 0;
    for (size_t i = 0, last = SIZE_MAX; i < n; i++) {
        size_t bin = (size_t)((points[i].value - low) * bins_per_unit);
        bin = bin < SPEEDS_POINTS_MAX ? bin : SPEEDS_POINTS_MAX - 1;
        if (bin != last) {
            made->value[made->n] = 0;
            made->probability[made->n++] = 0;
        }
        made->value[made->n - 1] += points[i].value * points[i].probability;
        made->probability[made->n - 1] += points[i].probability;
        last = bin;
    }
    for (size_t k = 0; k < made->n; k++)
        made->value[k] /= made->probability[k];
}

static void find_moments(struct speeds *s)
{
    s->mean = 0;
    s->variance = 0;
    for (size_t i = 0; i < s->n; i++)
        s->mean += s->value[i] * s->probability[i];
    for (size_t i = 0; i < s->n; i++)
        s->variance += (s->value[i] - s->mean) * (s->value[i] - s->mean) * s->probability[i];
}

/* Points that rise strictly, of probability > 0; what they add up to becomes 1. */
static void speeds_settle(struct speed_point points[], size_t n, struct speeds *made)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += points[i].probability;
    for (size_t i = 0; i < n; i++)
        points[i].probability /= sum;
    if (n > SPEEDS_POINTS_MAX) {
        compress(points, n, made);
    } else {
        made->n = n;
        for (size_t i = 0; i < n; i++) {
            made->value[i] = points[i].value;
            made->probability[i] = points[i].probability;
        }
    }
    find_moments(made);
}

/* Sorts, joins equal values and drops what never happens; returns how many are left. */
static size_t tidy(struct speed_point points[], size_t n)
{
    size_t kept = 0;
    if (n > 0)
        qsort(points, n, sizeof *points, speeds_ascending);
    for (size_t i = 0; i < n; i++) {
        if (points[i].probability <= 0)
            continue;
        if (kept > 0 && points[kept - 1].value == points[i].value)
            points[kept - 1].probability += points[i].probability;
        else
            points[kept++] = points[i];
    }
    return kept;
}

void speeds_make(struct speed_point points[], size_t n, struct speeds *made)
{
    n = tidy(points, n);
    if (n == 0)
        *made = (struct speeds){0};
    else
        speeds_settle(points, n, made);
}

/* Sums that are too many to be kept go straight into their bins. */
static void add_into_bins(const struct speeds *a, const struct speeds *b, struct speeds *made)
{
    double range = a->value[a->n - 1] - a->value[0] + (b->value[b->n - 1] - b->value[0]);
    double bins_per_unit = SPEEDS_POINTS_MAX / range;
    double mass[SPEEDS_POINTS_MAX + 1] = {0}; /* the last one: the very last sum */
    double probability[SPEEDS_POINTS_MAX + 1] = {0};
    double at[SPEEDS_POINTS_MAX];
    for (size_t j = 0; j < b->n; j++)
        at[j] = (b->value[j] - b->value[0]) * bins_per_unit;
    for (size_t i = 0; i < a->n; i++) {
        double from = (a->value[i] - a->value[0]) * bins_per_unit;
        for (size_t j = 0; j < b->n; j++) {
            double p = a->probability[i] * b->probability[j];
            double bin = from + at[j];
            size_t k = bin < SPEEDS_POINTS_MAX ? (size_t)(int)bin : SPEEDS_POINTS_MAX;
            mass[k] += (a->value[i] + b->value[j]) * p;
            probability[k] += p;
        }
    }
    mass[SPEEDS_POINTS_MAX - 1] += mass[SPEEDS_POINTS_MAX];
    probability[SPEEDS_POINTS_MAX - 1] += probability[SPEEDS_POINTS_MAX];
    made->n = 0;
    for (size_t bin = 0; bin < SPEEDS_POINTS_MAX; bin++) {
        if (probability[bin] > 0) {
            made->value[made->n] = mass[bin] / probability[bin];
            made->probability[made->n++] = probability[bin];
        }
    }
    find_moments(made);
}

void speeds_add(const struct speeds *a, const struct speeds *b, struct speeds *made)
{
    struct speed_point points[SPEEDS_POINTS_MAX];
    size_t n = 0;
    if (a->n * b->n > SPEEDS_POINTS_MAX) {
        add_into_bins(a, b, made);
        return;
    }
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++)
            points[n++] = (struct speed_point){a->value[i] + b->value[j],
                                               a->probability[i] * b->probability[j]};
    speeds_make(points, n, made);
}

void speeds_scale(struct speeds *speeds, double factor)
{
    speeds->mean *= factor;
    speeds->variance *= factor * factor;
    for (size_t i = 0; i < speeds->n; i++)
        speeds->value[i] *= factor;
}

/* --- on the merged grid --- */

/* Walks the values of both, rising, each once; the shares of probability up to and including it. */
struct walk {
    const struct speeds *a;
    const struct speeds *b;
    size_t i;
    size_t j;
    double value;
    double below_a;
    double below_b;
};

static bool walk_on(struct walk *w)
{
    bool in_a = w->i < w->a->n;
    bool in_b = w->j < w->b->n;
    if (!in_a && !in_b)
        return false;
    w->value = in_a && (!in_b || w->a->value[w->i] <= w->b->value[w->j]) ? w->a->value[w->i]
                                                                         : w->b->value[w->j];
    if (in_a && w->a->value[w->i] == w->value)
        w->below_a += w->a->probability[w->i++];
    if (in_b && w->b->value[w->j] == w->value)
        w->below_b += w->b->probability[w->j++];
    return true;
}

/* P(min <= x) = 1 - (1 - A)(1 - B), P(max <= x) = A B. */
static double least_below(const struct walk *w)
{
    double above_a = w->i < w->a->n ? 1 - w->below_a : 0;
    double above_b = w->j < w->b->n ? 1 - w->below_b : 0;
    return 1 - above_a * above_b;
}

static double greatest_below(const struct walk *w)
{
    double below_a = w->i < w->a->n ? w->below_a : 1;
    double below_b = w->j < w->b->n ? w->below_b : 1;
    return below_a * below_b;
}

static void speeds_combine(const struct speeds *a,
                           const struct speeds *b,
                           double (*below)(const struct walk *),
                           struct speeds *made)
{
    struct speed_point points[2 * SPEEDS_POINTS_MAX];
    struct walk walk = {.a = a, .b = b};
    double before = 0;
    size_t n = 0;
    while (walk_on(&walk)) {
        double now = below(&walk);
        if (now > before)
            points[n++] = (struct speed_point){walk.value, now - before};
        before = now;
    }
    speeds_settle(points, n, made);
}

void speeds_min(const struct speeds *a, const struct speeds *b, struct speeds *made)
{
    speeds_combine(a, b, least_below, made);
}

void speeds_max(const struct speeds *a, const struct speeds *b, struct speeds *made)
{
    speeds_combine(a, b, greatest_below, made);
}

/* Half of all the time goes here: values come in order, so E[min] is the sum over the steps of the
 * merged grid of their width times the chance that both exceed it. */
double speeds_min_mean(const struct speeds *a, const struct speeds *b)
{
    double mean = 0;
    double from = 0;
    double above_a = 1;
    double above_b = 1;
    size_t i = 0;
    size_t j = 0;
    while (i < a->n && j < b->n) {
        bool first = a->value[i] <= b->value[j];
        double value = first ? a->value[i] : b->value[j];
        mean += (value - from) * above_a * above_b;
        from = value;
        if (first)
            above_a -= a->probability[i++];
        else
            above_b -= b->probability[j++];
    }
    return mean;
}

double speeds_max_mean(const struct speeds *a, const struct speeds *b)
{
    return a->mean + b->mean - speeds_min_mean(a, b);
}

double speeds_max_upper_bound(double mean_a, double variance_a, double mean_b, double variance_b)
{
    double apart = mean_a - mean_b;
    return (mean_a + mean_b + sqrt(variance_a + variance_b + apart * apart)) / 2;
}
