#include "core/geosim/flow.h"

#include <math.h>
#include <stdlib.h>

#include "core/scaling/uncertainty/bca.h"

void flow_average(const double *const repetitions[], size_t n_repetitions, size_t n, double mean[])
{
    for (size_t w = 0; w < n; w++) {
        double sum = 0;
        for (size_t r = 0; r < n_repetitions; r++)
            sum += repetitions[r][w];
        mean[w] = n_repetitions > 0 ? sum / (double)n_repetitions : (double)NAN;
    }
}

void flow_reduction(const double flow_s[], const double other_s[], size_t n, double reduction[])
{
    for (size_t w = 0; w < n; w++)
        reduction[w] = other_s[w] > 0 ? 1 - flow_s[w] / other_s[w] : (double)NAN;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

struct flow_sample flow_sort(const double figures[], size_t n, struct arena *arena)
{
    struct flow_sample sample = {.mean = (double)NAN};
    double sum = 0;
    sample.ascending = arena_array(arena, n, sizeof *sample.ascending);
    if (sample.ascending == NULL)
        return sample;
    for (size_t i = 0; i < n; i++) {
        if (isnan(figures[i]))
            continue;
        sum += figures[i];
        sample.ascending[sample.n++] = figures[i];
    }
    sample.absent = n - sample.n;
    qsort(sample.ascending, sample.n, sizeof *sample.ascending, rising);
    if (sample.n > 0)
        sample.mean = sum / (double)sample.n;
    return sample;
}

double flow_quantile(const struct flow_sample *sample, double q)
{
    return bca_quantile(sample->ascending, sample->n, q);
}

double flow_share_within(const struct flow_sample *sample, double limit)
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
