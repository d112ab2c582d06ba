#include "core/scaling/model/predicted_times.h"

#include <math.h>

/* The law's time has no logarithm where it has left its domain: NAN. */
static double
log_factor(const struct predicted_times *times, law_time *time_of, const void *law, size_t i)
{
    double by_law_s = time_of(law, times->problem_size, times->executors[i]);
    return by_law_s > 0 ? log(times->duration_s[i] / by_law_s) : (double)NAN;
}

/* Of the counts from `executors` on the least, or else the last. */
static size_t find_from(const struct predicted_times *times, double executors)
{
    size_t low = 0;
    size_t high = times->n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times->executors[middle] < executors)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double predicted_times_factor(const struct predicted_times *times,
                              law_time *time_of,
                              const void *law,
                              double executors)
{
    const double *counts = times->executors;
    if (times->n == 0)
        return 1;
    size_t above = find_from(times, executors);
    double logarithm = log_factor(times, time_of, law, above);
    if (above > 0 && counts[above] > executors) {
        double share = log(executors / counts[above - 1]) / log(counts[above] / counts[above - 1]);
        logarithm = share * logarithm + (1 - share) * log_factor(times, time_of, law, above - 1);
    }
    return isfinite(logarithm) ? exp(logarithm) : 1;
}

const double *
predicted_times_interval(const struct predicted_times *times, double problem_size, double executors)
{
    if (times->n == 0 || times->intervals_s == NULL || problem_size != times->problem_size)
        return NULL;
    size_t at = find_from(times, executors);
    const double *interval_s = times->intervals_s[at];
    return times->executors[at] == executors && !isnan(interval_s[1]) ? interval_s : NULL;
}
