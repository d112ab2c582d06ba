#ifndef CORE_GEO_PLANNERS_DOLLY_H
#define CORE_GEO_PLANNERS_DOLLY_H

#include <stddef.h>

/*
 * Dolly's number of copies of each task of a job of n_tasks: the fewest with which the probability
 * that all copies of some task straggle is at most `risk`; at least 1 and at most `most`.
 *
 * straggler_probability  of one copy, 0 to 1
 */
size_t dolly_copies(double straggler_probability, double risk, size_t n_tasks, size_t most);

#endif
