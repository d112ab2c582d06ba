#include "core/sim/occupancy.h"

#include <assert.h>
#include <math.h>

bool occupancy_init(struct occupancy *occupancy,
                    uint32_t series,
                    uint32_t bins,
                    double origin_s,
                    struct arena *arena)
{
    assert(bins >= 2 && bins % 2 == 0);
    *occupancy = (struct occupancy){.series = series,
                                    .bins = bins,
                                    .origin_s = origin_s,
                                    .width_s = OCCUPANCY_FIRST_WIDTH_S,
                                    .bins_per_s = 1 / OCCUPANCY_FIRST_WIDTH_S};
    occupancy->cells = arena_calloc(arena, bins, series * sizeof *occupancy->cells);
    return occupancy->cells != NULL;
}

/* A change in the first of two bins holds for all of the second one. */
static struct occupancy_cell merged(struct occupancy_cell first, struct occupancy_cell second)
{
    return (struct occupancy_cell){first.change + second.change,
                                   (first.ahead + first.change + second.ahead) / 2};
}

static void merge_neighbours(struct occupancy *occupancy)
{
    size_t series = occupancy->series;
    size_t half = occupancy->bins / 2;
    for (size_t bin = 0; bin < half; bin++)
        for (size_t s = 0; s < series; s++)
            occupancy->cells[bin * series + s] =
                merged(occupancy->cells[2 * bin * series + s],
                       occupancy->cells[(2 * bin + 1) * series + s]);
    for (size_t i = half * series; i < 2 * half * series; i++)
        occupancy->cells[i] = (struct occupancy_cell){0, 0};
    occupancy->width_s *= 2;
    occupancy->bins_per_s /= 2;
}

void occupancy_stretch(struct occupancy *occupancy, double at_s)
{
    while ((at_s - occupancy->origin_s) * occupancy->bins_per_s >= occupancy->bins)
        merge_neighbours(occupancy);
}

uint32_t
occupancy_means(const struct occupancy *occupancy, uint32_t series, double until_s, double means[])
{
    double until = (until_s - occupancy->origin_s) * occupancy->bins_per_s;
    double bins = fmin(ceil(until), occupancy->bins);
    double level = 0;
    uint32_t n = bins > 0 ? (uint32_t)bins : 0;
    for (uint32_t bin = 0; bin < n; bin++) {
        const struct occupancy_cell *cell =
            &occupancy->cells[(size_t)bin * occupancy->series + series];
        double part = fmin(until - bin, 1);
        double after = level + cell->change;
        means[bin] = (level + cell->ahead - after * (1 - part)) / part;
        level = after;
    }
    return n;
}
