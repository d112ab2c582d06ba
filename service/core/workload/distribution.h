#ifndef CORE_WORKLOAD_DISTRIBUTION_H
#define CORE_WORKLOAD_DISTRIBUTION_H

#include "core/joblog/common/budget.h"
#include "core/sim/statistics.h"
#include "core/workload/workload.h"

/*
 * The distribution of a stream of values in bounded memory. Exact as long as no more than
 * DISTRIBUTION_EXACT different additions were made (equal values added at once are one); beyond it
 * a histogram with 1024 buckets for each power of two (as G. Tene's HdrHistogram): quantiles are
 * then off by 2^-10 of themselves at most, sums over the largest values by less.
 */
enum { DISTRIBUTION_EXACT = 131072 };

/* Values that count as equal, and how many there are. */
struct distribution_group {
    double value; /* of a bucket: the mean of what is in it */
    double count;
};

struct distribution {
    struct distribution_group *groups; /* in order of addition; NULL once there are buckets */
    size_t n_groups;
    size_t capacity;
    struct distribution_group *buckets; /* count, and in `value` their sum; NULL: exact */
    size_t n_buckets;
    double n;
    double max;
    struct compensated_sum sum;
};

/* Add a value, 2^-40 to 2^60, `count` >= 1 times. What grows is counted to the budget. PV_E_LIMIT,
 * PV_E_MEMORY. O(1), but once O(DISTRIBUTION_EXACT). */
enum pv_code distribution_add(struct distribution *distribution,
                              struct budget *budget,
                              double value,
                              double count,
                              struct pv_error *err) PV_MUSTCHECK;

/* No more additions: groups are in ascending order from now on. PV_E_LIMIT, PV_E_MEMORY. O(n_groups
 * log(n_groups)) where it is exact. */
enum pv_code distribution_finish(struct distribution *distribution,
                                 struct budget *budget,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Of a finished one: mean, quantiles, maximum. */
struct workload_distribution distribution_describe(const struct distribution *distribution);

/* The sum of the k largest values, 0 < k <= n. Where a group is taken in part, so is its sum. */
double distribution_top_sum(const struct distribution *distribution, double k);

/* How many values are above a limit. */
double distribution_above(const struct distribution *distribution, double limit);

/* Hill's estimate of the tail index, k/sum of ln(x_i/x_(k+1)) over the k largest, 0 < k < n (B. M.
 * Hill, "A simple general approach to inference about the tail of a distribution", Annals of
 * Statistics 3, 1975). NAN where they are equal. */
double distribution_tail_index(const struct distribution *distribution, double k);

void distribution_fini(struct distribution *distribution, struct budget *budget);

#endif
