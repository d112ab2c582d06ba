#ifndef CORE_SCHEDULING_COMPARISON_QUEUE_LENGTHS_H
#define CORE_SCHEDULING_COMPARISON_QUEUE_LENGTHS_H

#include "core/sim/occupancy.h"

/* How many tasks wait and run over time, fit for a plot: of two kinds or classes, means over equal
 * bins (core/sim/occupancy.h). */
enum { QUEUE_BINS_MAX = 200, QUEUE_KINDS = 2 };

struct queue_lengths {
    double start_s; /* the first arrival */
    double bin_s;   /* of the last one, only the part before the last end counts */
    uint32_t n;     /* bins */
    double waiting[QUEUE_KINDS][QUEUE_BINS_MAX];
    double running[QUEUE_KINDS][QUEUE_BINS_MAX];
};

/* An occupancy for it, whose series are what waits of either kind, then what runs. false: out of
 * memory. */
bool queue_lengths_begin(struct occupancy *occupancy, double start_s, struct arena *arena);

/* What was observed until the last end, which is after the start. */
void queue_lengths_take(const struct occupancy *occupancy,
                        double until_s,
                        struct queue_lengths *queues);

#endif
