#ifndef CORE_DEADLINE_CORE_QUANTUM_H
#define CORE_DEADLINE_CORE_QUANTUM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* Cores in whole quanta, as a container gets them. */

/* `units` quanta. Where 1/quantum is whole, dividing by it gives 0.85 for 17 units of 0.05, where a
 * product would give 0.8500000000000001. */
double core_quanta(double units, double quantum);

/*
 * Round n shares of a worker's cores to quanta by the largest remainder (docs/design.md, "Quota
 * loops"). The total is rounded up, but not above the worker's cores; each share gets its whole
 * quanta and, in order of the remainders, at most one more. Remainders within 1e-9 of each other:
 * the earlier index first. A share within 1e-9 of a whole number of quanta has no remainder.
 *
 * shares: >= 0, their sum at most worker_cores. cores: n entries, the caller's; it may be shares.
 * scratch is back at its mark. false: out of memory. O(n log n).
 */
bool core_quantum_round(const double shares[],
                        size_t n,
                        double worker_cores,
                        double quantum,
                        struct arena *scratch,
                        double cores[]);

#endif
