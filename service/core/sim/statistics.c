#include "core/sim/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/numerics/quantile.h"

void compensated_sum_add(struct compensated_sum *sum, double term)
{
    double total = sum->sum + term;
    if (fabs(sum->sum) >= fabs(term))
        sum->compensation += (sum->sum - total) + term;
    else
        sum->compensation += (term - total) + sum->sum;
    sum->sum = total;
}

void running_moments_add(struct running_moments *moments, double value)
{
    moments->n++;
    double deviation = value - moments->mean;
    moments->mean += deviation / moments->n;
    moments->squares += deviation * (value - moments->mean);
}

void running_moments_merge(struct running_moments *moments, const struct running_moments *others)
{
    double n = moments->n + others->n;
    double apart = others->mean - moments->mean;
    if (others->n == 0)
        return;
    moments->squares += others->squares + apart * apart * moments->n * others->n / n;
    moments->mean += apart * others->n / n;
    moments->n = n;
}

double running_moments_variance(const struct running_moments *moments)
{
    return moments->n > 1 ? moments->squares / (moments->n - 1) : (double)NAN;
}

double running_moments_standard_error(const struct running_moments *moments)
{
    return sqrt(running_moments_variance(moments) / moments->n);
}

void time_average_set(struct time_average *average, double at, double value)
{
    compensated_sum_add(&average->area, average->value * (at - average->changed));
    average->changed = at;
    average->value = value;
}

double time_average_until(const struct time_average *average, double at)
{
    double area = compensated_sum_value(&average->area) + average->value * (at - average->changed);
    return at > average->began ? area / (at - average->began) : (double)NAN;
}

bool sorted_sample_make(struct sorted_sample *sample,
                        const double values[],
                        size_t n,
                        struct arena *arena)
{
    struct compensated_sum sum = {0, 0};
    *sample = (struct sorted_sample){.mean = (double)NAN};
    sample->ascending = arena_array(arena, n, sizeof *sample->ascending);
    if (sample->ascending == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i]))
            continue;
        compensated_sum_add(&sum, values[i]);
        sample->ascending[sample->n++] = values[i];
    }
    sample->absent = n - sample->n;
    qsort(sample->ascending, sample->n, sizeof *sample->ascending, order_by_double);
    if (sample->n > 0)
        sample->mean = compensated_sum_value(&sum) / (double)sample->n;
    return true;
}

double sorted_sample_quantile(const struct sorted_sample *sample, double q)
{
    return quantile_of_sorted(sample->ascending, sample->n, q);
}

double sorted_sample_share_within(const struct sorted_sample *sample, double limit)
{
    size_t low = 0;
    size_t high = sample->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sample->ascending[middle] <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return sample->n + sample->absent > 0 ? (double)low / (double)(sample->n + sample->absent)
                                          : (double)NAN;
}
