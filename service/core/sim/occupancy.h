#ifndef CORE_SIM_OCCUPANCY_H
#define CORE_SIM_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * Counts that change over time, such as tasks that wait or run, as their means over equal bins of
 * time. There are always as many bins at most: when a change comes after the last one, neighbours
 * become one bin of double width. So memory is constant, whatever the simulation's length, and what
 * is kept depends on the changes alone.
 *
 * Changes may be added in any order, those of later instants before those of earlier ones: a bin
 * keeps the sum of its changes, and what they contribute to its own mean.
 */
struct occupancy_cell {
    double change; /* of the count, in the bin */
    double ahead;  /* each change times the part of the bin that comes after it, summed */
};

struct occupancy {
    struct occupancy_cell *cells; /* of each bin, of each series */
    uint32_t series;
    uint32_t bins;
    double origin_s; /* where the first bin begins */
    double width_s;  /* of a bin: OCCUPANCY_FIRST_WIDTH_S times a power of two */
    double bins_per_s;
};

/* A power of two, so that no bin's edge is ever rounded. */
#define OCCUPANCY_FIRST_WIDTH_S (1.0 / 1024)

/* So many series of counts, all 0 before origin_s, in `bins` bins, an even number >= 2. 16 bytes a
 * bin and series of the arena. false: out of memory. */
bool occupancy_init(struct occupancy *occupancy,
                    uint32_t series,
                    uint32_t bins,
                    double origin_s,
                    struct arena *arena);

/* Bins double their width until the last one reaches beyond an instant. */
void occupancy_stretch(struct occupancy *occupancy, double at_s);

/* At an instant not before the origin, and finite, a count of one series changes. O(1), amortized. */
static inline void
occupancy_change(struct occupancy *occupancy, uint32_t series, double at_s, double by)
{
    double at = (at_s - occupancy->origin_s) * occupancy->bins_per_s;
    if (at >= occupancy->bins) {
        occupancy_stretch(occupancy, at_s);
        at = (at_s - occupancy->origin_s) * occupancy->bins_per_s;
    }
    uint32_t bin = (uint32_t)at;
    struct occupancy_cell *cell = &occupancy->cells[(size_t)bin * occupancy->series + series];
    cell->change += by;
    cell->ahead += by * ((double)(bin + 1) - at);
}

/* One of a series from one instant to another one not before it. */
static inline void
occupancy_span(struct occupancy *occupancy, uint32_t series, double from_s, double until_s)
{
    occupancy_change(occupancy, series, from_s, 1);
    occupancy_change(occupancy, series, until_s, -1);
}

/* The means of a series over the bins until an instant after the origin, which no change follows;
 * the last one is over the part of its bin that lies before it. Returns the number of bins, at most
 * all of them. O(bins). */
uint32_t
occupancy_means(const struct occupancy *occupancy, uint32_t series, double until_s, double means[]);

#endif
