#include "core/scaling/experiments/predicted_times.h"

#include <math.h>

/* The law's time has no logarithm where it has left its domain: NAN. */
static double
log_factor(const struct predicted_times *times, const struct effects_law *law, size_t i)
{
    double by_law_s = effects_time(law, times->problem_size, times->executors[i]);
    return by_law_s > 0 ? log(times->duration_s[i] / by_law_s) : (double)NAN;
}

double predicted_times_factor(const struct predicted_times *times,
                              const struct effects_law *law,
                              double executors)
{
    const double *counts = times->executors;
    size_t above = 0;
    if (times->n == 0)
        return 1;
    while (above < times->n - 1 && counts[above] < executors)
        above++;
    double logarithm = log_factor(times, law, above);
    if (above > 0 && counts[above] > executors) {
        double share = log(executors / counts[above - 1]) / log(counts[above] / counts[above - 1]);
        logarithm = share * logarithm + (1 - share) * log_factor(times, law, above - 1);
    }
    return isfinite(logarithm) ? exp(logarithm) : 1;
}
