#ifndef TESTS_SLOTS_REFERENCE_H
#define TESTS_SLOTS_REFERENCE_H

#include "core/scheduling/slots/slots_engine.h"

/* The same simulation, written plainly: every task and every slot by itself, everything scanned at
 * every instant. Few jobs and tasks; fails the test where a slot would run two tasks or a reduce
 * end before its maps. */
void slots_reference(const struct slots_cluster *cluster,
                     const struct slots_job jobs[],
                     size_t n,
                     const struct slots_terms *terms,
                     struct slots_job_times times[]);

#endif
