#include "core/geo/performance.h"

#include <math.h>
#include <string.h>

enum {
    BINS_PER_OCTAVE = 64,
    OCTAVES_BELOW_1 = 1100, /* no double is smaller: indices are not negative */
    ROOM = 2 * PERFORMANCE_BINS_MAX
};
static const int64_t US_PER_S = 1000000;

/* Beside a sample of weight 1 or more, weights below this change no mean in its 12th digit. */
#define DUST 0x1p-40

/* Bins while they are worked on: those of two, side by side. */
struct bins {
    int64_t level;
    size_t n;
    int64_t index[ROOM];
    double weight[ROOM];
    double mass[ROOM];
};

static int64_t bin_of(double value)
{
    return (int64_t)floor(log2(value) * BINS_PER_OCTAVE) + OCTAVES_BELOW_1 * BINS_PER_OCTAVE;
}

/* Neighbours of the same index become one. */
static void performance_join(struct bins *bins)
{
    size_t n = 0;
    for (size_t i = 0; i < bins->n; i++) {
        if (n > 0 && bins->index[n - 1] >= bins->index[i]) {
            bins->weight[n - 1] += bins->weight[i];
            bins->mass[n - 1] += bins->mass[i];
            continue;
        }
        bins->index[n] = bins->index[i];
        bins->weight[n] = bins->weight[i];
        bins->mass[n++] = bins->mass[i];
    }
    bins->n = n;
}

/* Every index fits into 18 bits, so widening ends in one bin at the latest. */
static void performance_widen(struct bins *bins, size_t points)
{
    while (bins->n > points) {
        bins->level++;
        for (size_t i = 0; i < bins->n; i++)
            bins->index[i] >>= 1;
        performance_join(bins);
    }
}

/* What has faded to dust goes, and with it the need for bins as wide as they are: those that are
 * left stand at their means. */
static void performance_sweep(struct bins *bins)
{
    size_t n = 0;
    for (size_t i = 0; i < bins->n; i++) {
        if (bins->weight[i] < DUST)
            continue;
        bins->weight[n] = bins->weight[i];
        bins->mass[n] = bins->mass[i];
        bins->index[n++] = bins->index[i];
    }
    if (n == bins->n)
        return;
    bins->n = n;
    bins->level = 0;
    for (size_t i = 0; i < n; i++)
        bins->index[i] = bin_of(bins->mass[i] / bins->weight[i]);
    performance_join(bins);
}

/* Both in the order of their values, at the wider of their grids. */
static void
performance_collect(const struct performance *a, const struct performance *b, struct bins *bins)
{
    size_t i = 0;
    size_t j = 0;
    bins->level = a->level > b->level ? a->level : b->level;
    bins->n = 0;
    while (i < a->n || j < b->n) {
        int64_t at = i < a->n ? a->index[i] >> (bins->level - a->level) : INT64_MAX;
        int64_t bt = j < b->n ? b->index[j] >> (bins->level - b->level) : INT64_MAX;
        const struct performance *from = at <= bt ? a : b;
        size_t k = at <= bt ? i++ : j++;
        bins->index[bins->n] = at <= bt ? at : bt;
        bins->weight[bins->n] = from->weight[k];
        bins->mass[bins->n++] = from->mass[k];
    }
    performance_join(bins);
}

static void performance_scale(struct performance *performance, double factor)
{
    for (size_t i = 0; i < performance->n; i++) {
        performance->weight[i] *= factor;
        performance->mass[i] *= factor;
    }
}

/* --- time --- */

/* The last whole number of half-lives since 1970. */
static int64_t landmark_of(int64_t at_us, int64_t half_life_s)
{
    int64_t unit = half_life_s * US_PER_S;
    int64_t whole = at_us / unit - (at_us % unit < 0 ? 1 : 0);
    return whole * unit;
}

static double half_lives(int64_t us, int64_t half_life_s)
{
    return (double)us / ((double)half_life_s * (double)US_PER_S);
}

/* The weight of a sample of that instant. */
static double weight_at(const struct performance *performance, int64_t at_us)
{
    return exp2(half_lives(at_us - performance->landmark_us, performance->half_life_s));
}

/* To a later landmark, whole half-lives away: a power of two, so nothing is rounded until it is
 * dust. */
static void move(struct performance *performance, int64_t landmark_us)
{
    performance_scale(performance, exp2(half_lives(performance->landmark_us - landmark_us,
                                                   performance->half_life_s)));
    performance->landmark_us = landmark_us;
}

/* What its samples are worth at the instant of the newest stays; they fade differently from there
 * on. */
static void adopt(struct performance *performance, int64_t half_life_s)
{
    if (performance->half_life_s == half_life_s)
        return;
    double before = weight_at(performance, performance->newest_us);
    performance->half_life_s = half_life_s;
    performance->landmark_us = landmark_of(performance->newest_us, half_life_s);
    performance_scale(performance, weight_at(performance, performance->newest_us) / before);
}

static double total(const struct performance *performance)
{
    double sum = 0;
    for (size_t i = 0; i < performance->n; i++)
        sum += performance->weight[i];
    return sum;
}

/* --- the whole --- */

void performance_init(struct performance *performance)
{
    *performance = (struct performance){.samples = 0};
}

static void performance_keep(struct performance *performance, const struct bins *bins)
{
    performance->level = bins->level;
    performance->n = bins->n;
    memcpy(performance->index, bins->index, bins->n * sizeof *bins->index);
    memcpy(performance->weight, bins->weight, bins->n * sizeof *bins->weight);
    memcpy(performance->mass, bins->mass, bins->n * sizeof *bins->mass);
}

void performance_merge(struct performance *performance,
                       const struct performance_terms *terms,
                       const struct performance *other)
{
    struct performance added = *other;
    struct bins bins;
    if (added.samples == 0)
        return;
    adopt(&added, terms->half_life_s);
    if (performance->samples == 0)
        *performance = (struct performance){.landmark_us = added.landmark_us,
                                            .half_life_s = terms->half_life_s,
                                            .newest_us = added.newest_us};
    adopt(performance, terms->half_life_s);
    if (performance->landmark_us < added.landmark_us)
        move(performance, added.landmark_us);
    else
        move(&added, performance->landmark_us);
    performance_collect(performance, &added, &bins);
    performance_sweep(&bins);
    performance_widen(&bins, terms->points);
    performance_keep(performance, &bins);
    performance->samples += added.samples;
    if (performance->newest_us < added.newest_us)
        performance->newest_us = added.newest_us;
}

void performance_add(struct performance *performance,
                     const struct performance_terms *terms,
                     const struct performance_sample *sample)
{
    struct performance one = {.landmark_us = landmark_of(sample->at_us, terms->half_life_s),
                              .half_life_s = terms->half_life_s,
                              .n = 1,
                              .samples = 1,
                              .newest_us = sample->at_us};
    one.index[0] = bin_of(sample->value);
    one.weight[0] = weight_at(&one, sample->at_us);
    one.mass[0] = one.weight[0] * sample->value;
    performance_merge(performance, terms, &one);
}

double performance_weight(const struct performance *performance, int64_t now_us)
{
    if (performance->n == 0)
        return 0;
    int64_t at_us = now_us > performance->newest_us ? now_us : performance->newest_us;
    double weight = total(performance) / weight_at(performance, at_us);
    return weight >= PERFORMANCE_FORGOTTEN ? weight : 0;
}

int64_t performance_forgotten_us(const struct performance *performance)
{
    if (performance->n == 0)
        return performance->newest_us;
    double lives = log2(total(performance) / PERFORMANCE_FORGOTTEN);
    return performance->landmark_us +
           (int64_t)ceil(lives * (double)performance->half_life_s * (double)US_PER_S);
}

void performance_speeds(const struct performance *performance, struct speeds *speeds)
{
    struct speed_point points[PERFORMANCE_BINS_MAX];
    double sum = total(performance);
    for (size_t i = 0; i < performance->n; i++)
        points[i] = (struct speed_point){performance->mass[i] / performance->weight[i],
                                         performance->weight[i] / sum};
    speeds_make(points, performance->n, speeds);
}
