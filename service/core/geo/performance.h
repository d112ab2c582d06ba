#ifndef CORE_GEO_PERFORMANCE_H
#define CORE_GEO_PERFORMANCE_H

#include <stddef.h>
#include <stdint.h>

#include "core/geo/speeds.h"

/*
 * What is remembered of the speeds that were observed: a discrete distribution, bounded in size,
 * in which every sample counts half as much after each half-life.
 *
 * A sample of time t has weight 2^((t - landmark)/half-life) for good (forward decay: Cormode,
 * Shkapenyuk, Srivastava and Xu, "Forward decay: a practical time decay model for streaming
 * systems", ICDE 2009): what fades is the unit, so adding samples is addition and their order does
 * not matter. The landmark is a whole number of half-lives since 1970 and moves by whole ones,
 * which scales weights by powers of two, exactly.
 *
 * Values are gathered in bins on a logarithmic grid. A bin holds the weight and the weighed sum of
 * its samples, hence each is its own mean and the mean of all is exact. When there would be more
 * bins than allowed, neighbours are joined two by two, everywhere, until they fit; how often that
 * is necessary depends on the values alone, again not on their order. The finest bins are 1.1 %
 * wide.
 */
enum { PERFORMANCE_BINS_MAX = SPEEDS_POINTS_MAX };

struct performance {
    int64_t landmark_us; /* since 1970, of weight 1 */
    int64_t half_life_s; /* >= 1 */
    int64_t level;       /* bins are 2^level of the finest wide */
    size_t n;            /* bins, their indices rising strictly */
    int64_t index[PERFORMANCE_BINS_MAX];
    double weight[PERFORMANCE_BINS_MAX]; /* > 0 */
    double mass[PERFORMANCE_BINS_MAX];   /* weight times value, summed */
    int64_t samples;                     /* that were ever added, however faded */
    int64_t newest_us;                   /* instant of the newest one */
};

struct performance_sample {
    int64_t at_us;
    double value; /* bytes per second, > 0 and finite */
};

/* How much is remembered for how long. */
struct performance_terms {
    int64_t half_life_s; /* >= 1 */
    size_t points;       /* most bins, 2 to PERFORMANCE_BINS_MAX */
};

/* Nothing yet. */
void performance_init(struct performance *performance);

/* Add one sample, of any age. What has another half-life, because the setting was changed, takes
 * the new one from its newest sample on. */
void performance_add(struct performance *performance,
                     const struct performance_terms *terms,
                     const struct performance_sample *sample);

/* Add all samples of another one. */
void performance_merge(struct performance *performance,
                       const struct performance_terms *terms,
                       const struct performance *other);

/* How many samples of this instant it is worth; 0: nothing, or forgotten. */
double performance_weight(const struct performance *performance, int64_t now_us);

/* From when on it is forgotten: when it is worth less than PERFORMANCE_FORGOTTEN samples. */
#define PERFORMANCE_FORGOTTEN (1.0 / 1024)
int64_t performance_forgotten_us(const struct performance *performance);

/* As speeds: a point for each bin. Nothing gives n 0. Weights fade alike, so time does not matter.
 */
void performance_speeds(const struct performance *performance, struct speeds *speeds);

#endif
