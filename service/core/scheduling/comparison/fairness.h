#ifndef CORE_SCHEDULING_COMPARISON_FAIRNESS_H
#define CORE_SCHEDULING_COMPARISON_FAIRNESS_H

#include <stddef.h>

#include "core/sim/statistics.h"

/*
 * How evenly jobs are served: Jain's index of what each of them has got, (sum x)^2 / (n sum x^2) (R.
 * Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for resource
 * allocation in shared computer systems", DEC-TR-301, 1984). {0} has no jobs yet.
 */
struct fairness {
    struct compensated_sum values;
    struct compensated_sum squares;
    size_t n;
};

/* One more job has got this, >= 0. O(1). */
void fairness_add(struct fairness *fairness, double value);

/* From 1/n, where one job has got everything, to 1, where all have got the same; 1 also where
 * nobody has got anything, or there is no job. */
double fairness_index(const struct fairness *fairness);

#endif
