#ifndef TESTS_GOLDEN_OMO_YARN_H
#define TESTS_GOLDEN_OMO_YARN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * The YARN cluster that J. Wang's dissertation compares OMO with (UMass Boston 2017, section 4.4.3.3,
 * table 4.6): 20 nodes of 8 vcores and 40 GB, 8 Terasort jobs whose tasks ask for 2 vcores, so that a
 * node runs four, and for 2, 4, 6 or 8 GB; the Fair Scheduler with everything else by default. Task times
 * are those of omo_sets.h.
 *
 * Prints its table, and expects what docs/slots-evidence.md says of it. omo_..._s: makespans of OMO on 80
 * slots, with maps that take as long as ever and OMO_SLOWER times as long; tasks differ by up to
 * `spread`; figures are means over seeds.
 */
void omo_yarn_compare(
    double omo_alike_s, double omo_slower_s, double spread, size_t seeds, struct arena *arena);

#endif
