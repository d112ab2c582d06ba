#ifndef CORE_SCHEDULING_SLOTS_SLOTS_CUTS_H
#define CORE_SCHEDULING_SLOTS_SLOTS_CUTS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where to divide jobs by size, and the slots by what falls to each part. Jobs are given by their
 * sizes in ascending order. Queues are either for jobs of a size (sita), or jobs go through them one
 * after the other as their service grows (fbq, tags): `through`.
 */
struct slots_sizes {
    const double *ascending; /* n >= 1, each > 0 */
    size_t n;
};

/* Rules for cuts between queues. */
enum slots_cut_rule {
    SLOTS_CUT_EQUAL_WORK, /* every queue has as much work */
    SLOTS_CUT_EQUAL_JOBS, /* as many jobs end in every queue */
    SLOTS_CUT_GEOMETRIC,  /* from the smallest to the largest size by equal factors */
    SLOTS_CUT_TAIL /* what is above has a share of the jobs that falls by equal factors to 1 % */
};
enum { SLOTS_CUT_RULES = SLOTS_CUT_TAIL + 1 };

/* cuts[0 .. queues - 2], to four digits, queues >= 2. false: they do not rise, or one is not below
 * the largest size. O(queues n). */
bool slots_cuts_make(const struct slots_sizes *sizes,
                     bool through,
                     enum slots_cut_rule rule,
                     size_t queues,
                     double cuts[]);

/* The share of the work that is done in each queue between these cuts, 0 possible. O(queues n). */
void slots_cuts_shares(const struct slots_sizes *sizes,
                       bool through,
                       const double cuts[],
                       size_t queues,
                       double shares[]);

/* Partitions: `even` 0 for the shares of the work, 1 for equal ones, between them a mixture; each at
 * least 0.01, to three digits; they add up to 1. At most 50 queues. */
void slots_cuts_partitions(const double shares[], size_t queues, double even, double partitions[]);

#endif
