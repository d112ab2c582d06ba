#include "core/scaling/experiments/predicted_times.h"

#include <math.h>

/* Where a value lies among others: at one of them where both are the same. */
struct between {
    size_t low;
    size_t high;
    double share; /* of the way from low to high, in the logarithm */
};

static struct between find_between(const double values[], size_t n, double x)
{
    size_t at = 0;
    while (at < n && values[at] < x)
        at++;
    if (at == n)
        return (struct between){n - 1, n - 1, 0};
    if (at == 0 || values[at] <= x)
        return (struct between){at, at, 0};
    return (struct between){at - 1, at, log(x / values[at - 1]) / log(values[at] / values[at - 1])};
}

/* The law's time has no logarithm where it has left its domain: NAN. */
static double log_factor(const struct predicted_times *times,
                         const struct effects_law *law,
                         size_t size,
                         size_t count)
{
    const struct predicted_curve *curve = &times->curves[size];
    double by_law_s = effects_time(law, times->problem_sizes[size], curve->executors[count]);
    return by_law_s > 0 ? log(curve->duration_s[count] / by_law_s) : (double)NAN;
}

static double log_factor_between(const struct predicted_times *times,
                                 const struct effects_law *law,
                                 size_t size,
                                 double executors)
{
    const struct predicted_curve *curve = &times->curves[size];
    const struct between at = find_between(curve->executors, curve->n, executors);
    return (1 - at.share) * log_factor(times, law, size, at.low) +
           at.share * log_factor(times, law, size, at.high);
}

double predicted_times_factor(const struct predicted_times *times,
                              const struct effects_law *law,
                              double problem_size,
                              double executors)
{
    if (times->n == 0)
        return 1;
    const struct between at = find_between(times->problem_sizes, times->n, problem_size);
    double logarithm = (1 - at.share) * log_factor_between(times, law, at.low, executors) +
                       at.share * log_factor_between(times, law, at.high, executors);
    return isfinite(logarithm) ? exp(logarithm) : 1;
}
