#ifndef CORE_CLUSTER_RESERVATIONS_H
#define CORE_CLUSTER_RESERVATIONS_H

#include "base/arena.h"
#include "core/cluster/cluster.h"

/*
 * Cores and memory of a cluster that are promised over time. Each reservation holds its amounts from
 * begin_us (inclusive) to end_us (exclusive). Cores are whole quanta of RESERVATION_QUANTUM, so that
 * sums are exact.
 */
#define RESERVATION_QUANTUM                                                                        \
    0.05 /* cores: what a container gets them by (docs/design.md, "Words and units") */

/* Amounts of a cluster, or of those who hold or ask for some of it. */
struct reservation_amounts {
    int64_t quanta;
    int64_t memory_bytes; /* RUN_UNKNOWN: of a cluster, there is no bound known; of others, none */
};

struct reservation {
    int64_t begin_us, end_us;
    struct reservation_amounts amounts;
};

/* Whole quanta of that many cores, the nearest; and back. */
int64_t reservation_quanta(double cores);
double reservation_cores(int64_t quanta);

/* Whether that many cores are whole quanta, to within 1e-9 of their number. */
bool reservation_is_whole(double cores);

/*
 * What a cluster has, by its traits: executors x cores_per_executor, and x memory_bytes_per_executor
 * where that is known. Both numbers of executors and cores are needed (cluster_count_cores).
 */
struct reservation_amounts reservation_capacity(const struct cluster_traits *traits);

/*
 * What is free at every instant of [begin_us, end_us): the least of each amount, 0 where more is
 * promised than there is. memory_bytes is RUN_UNKNOWN where that of the capacity is.
 * scratch is back at its mark. false: out of memory. O(n log n).
 */
bool reservations_free(const struct reservation held[],
                       size_t n,
                       struct reservation_amounts capacity,
                       int64_t begin_us,
                       int64_t end_us,
                       struct arena *scratch,
                       struct reservation_amounts *room);

/*
 * The earliest instant from from_us on at which the amounts asked are free for length_us;
 * RUN_NO_INSTANT where the cluster never has as much. Otherwise like reservations_free.
 */
bool reservations_earliest(const struct reservation held[],
                           size_t n,
                           struct reservation_amounts capacity,
                           struct reservation_amounts asked,
                           int64_t from_us,
                           int64_t length_us,
                           struct arena *scratch,
                           int64_t *begin_us);

#endif
