#ifndef CORE_CLUSTER_BILLING_H
#define CORE_CLUSTER_BILLING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cluster/price.h"

/*
 * What a provider bills for executors over a time (docs/design.md, "Cost"). A unit is what has a
 * price by the hour: an executor, or a machine that holds several. All units are taken for the
 * whole time, and each is billed for
 *
 *     billed = increment x ceil(max(minimum, startup + duration) / increment)
 *
 * so that the cost is units x billed / 3600 x price. Zeros all over are executors that are billed
 * to the moment and cost nothing.
 */
struct billing {
    double per_hour;               /* price of a unit; NAN: unknown */
    int64_t executors_per_machine; /* 0: each executor is a unit of its own */
    double startup_s;              /* billed before the application starts */
    double minimum_s;
    double increment_s; /* 0: billed to the moment */
};

/* Executors by their time, at so much an hour; NAN: unknown. */
struct billing billing_of_executors(double per_hour);

/*
 * By a price. executors_per_machine counts where the price is of machines. Terms that are unknown
 * are zero, and a price for spot that is unknown is NAN.
 */
struct billing
billing_of_price(const struct price *price, bool spot, int64_t executors_per_machine);

/* Is executor time all that is billed? Then units x billed time is executors x duration. */
bool billing_is_plain(const struct billing *billing);

/* Machines for so many executors, or these themselves; executors >= 0. */
int64_t billing_units(const struct billing *billing, int64_t executors);

/* Seconds billed for each unit, never less than duration_s but for rounding; duration_s >= 0. Does
 * not fall as duration_s grows. */
double billing_billed_s(const struct billing *billing, double duration_s);

/* Units x billed seconds: what costs of one price are compared by, also where it is unknown. */
double billing_unit_s(const struct billing *billing, int64_t executors, double duration_s);

/* NAN where the price is unknown. */
double billing_cost(const struct billing *billing, int64_t executors, double duration_s);

/*
 * Of how many units that fail independently, with equal shares of the work, the mean time of the
 * executors varies as much as of these: executors on one machine fail together, and the last
 * machine may hold fewer. m^2 / sum k_i^2 where machine i holds k_i of the m executors.
 */
double billing_independent_units(const struct billing *billing, int64_t executors);

/* --- packing --- */

struct packing {
    int64_t executors; /* that a machine holds; 0: not even one fits */
    bool by_memory;    /* its memory decides, rather than its cores */
    bool known;        /* false: what the machine has, as specified, cannot be compared */
};

/*
 * Executors of so many cores and container bytes (RUN_UNKNOWN) on a machine of so many: the least
 * of both quotients, rounded down; what is unknown of either does not bound it.
 */
struct packing billing_pack(int64_t machine_cores,
                            int64_t machine_bytes,
                            int64_t executor_cores,
                            int64_t container_bytes);

#endif
