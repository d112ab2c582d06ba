#include "core/scheduling/slots/slots_cuts.h"

#include <math.h>

#include "core/numerics/quantile.h"
#include "core/sim/statistics.h"

#define PARTITION_MIN 0.01
#define TAIL_SHARE 0.01 /* of the jobs, above the last cut */

/* --- cuts --- */

/* The work in queues below a cut. */
static double work_below(const struct slots_sizes *sizes, bool through, double cut)
{
    struct compensated_sum sum = {0, 0};
    for (size_t i = 0; i < sizes->n; i++) {
        double size = sizes->ascending[i];
        if (size <= cut)
            compensated_sum_add(&sum, size);
        else if (through)
            compensated_sum_add(&sum, cut);
    }
    return compensated_sum_value(&sum);
}

/* The size up to which jobs have a part of the work; `through`: the service up to which they all
 * have it together, which lies between two sizes where it grows by what is left of the jobs. */
static double cut_by_work(const struct slots_sizes *sizes, bool through, double work)
{
    double done = 0; /* by the jobs so far, whole */
    for (size_t i = 0; i < sizes->n; i++) {
        double size = sizes->ascending[i];
        double left = (double)(sizes->n - i);
        if (through && done + left * size >= work)
            return (work - done) / left;
        done += size;
        if (!through && done >= work)
            return size;
    }
    return sizes->ascending[sizes->n - 1];
}

static double four_digits(double x)
{
    double scale = pow(10, floor(log10(x)) - 3);
    return round(x / scale) * scale;
}

/* The cut above queue j of all, from 1. */
static double
cut_of(const struct slots_sizes *sizes, bool through, enum slots_cut_rule rule, double j, double k)
{
    double least = sizes->ascending[0];
    double most = sizes->ascending[sizes->n - 1];
    switch (rule) {
    case SLOTS_CUT_EQUAL_WORK:
        return cut_by_work(sizes, through, j / k * work_below(sizes, through, most));
    case SLOTS_CUT_EQUAL_JOBS:
        return quantile_of_sorted(sizes->ascending, sizes->n, j / k);
    case SLOTS_CUT_GEOMETRIC:
        return least * pow(most / least, j / k);
    case SLOTS_CUT_TAIL:
        return quantile_of_sorted(sizes->ascending, sizes->n, 1 - pow(TAIL_SHARE, j / (k - 1)));
    }
    return most;
}

bool slots_cuts_make(const struct slots_sizes *sizes,
                     bool through,
                     enum slots_cut_rule rule,
                     size_t queues,
                     double cuts[])
{
    bool rise = true;
    for (size_t j = 0; j + 1 < queues; j++) {
        cuts[j] = four_digits(cut_of(sizes, through, rule, (double)(j + 1), (double)queues));
        rise = rise && cuts[j] > (j > 0 ? cuts[j - 1] : 0);
    }
    return rise && cuts[queues - 2] < sizes->ascending[sizes->n - 1];
}

/* --- partitions --- */

void slots_cuts_shares(const struct slots_sizes *sizes,
                       bool through,
                       const double cuts[],
                       size_t queues,
                       double shares[])
{
    double all = work_below(sizes, through, sizes->ascending[sizes->n - 1]);
    double below = 0;
    for (size_t k = 0; k < queues; k++) {
        double until = k + 1 < queues ? work_below(sizes, through, cuts[k]) : all;
        shares[k] = fmax(0, until - below) / all;
        below = until;
    }
}

void slots_cuts_partitions(const double shares[], size_t queues, double even, double partitions[])
{
    size_t largest = 0;
    double sum = 0;
    for (size_t k = 0; k < queues; k++) {
        double mixed = even / (double)queues + (1 - even) * shares[k];
        partitions[k] = fmax(PARTITION_MIN, round(1000 * mixed) / 1000);
        sum += partitions[k];
        if (partitions[k] > partitions[largest])
            largest = k;
    }
    partitions[largest] += 1 - sum;
}
