#include "core/scheduling/comparison/queue_lengths.h"

bool queue_lengths_begin(struct occupancy *occupancy, double start_s, struct arena *arena)
{
    return occupancy_init(occupancy, 2 * QUEUE_KINDS, QUEUE_BINS_MAX, start_s, arena);
}

void queue_lengths_take(const struct occupancy *occupancy,
                        double until_s,
                        struct queue_lengths *queues)
{
    queues->start_s = occupancy->origin_s;
    queues->bin_s = occupancy->width_s;
    for (uint32_t k = 0; k < QUEUE_KINDS; k++) {
        queues->n = occupancy_means(occupancy, k, until_s, queues->waiting[k]);
        (void)occupancy_means(occupancy, QUEUE_KINDS + k, until_s, queues->running[k]);
    }
}
