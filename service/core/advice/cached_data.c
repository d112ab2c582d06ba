#include "core/advice/cached_data.h"

#include <math.h>

/* A peak so close to what an executor can hold means that it was full. */
static const double full = 0.95;
/* Tasks that miss take at least so many times as long as those that find their block. */
static const double least_ratio = 1.5;

struct cached_data cached_data_of(const struct run *run)
{
    struct cached_data data = {(double)NAN, (double)NAN};
    bool reads = false;
    for (size_t i = 0; i < run->n_stages; i++)
        reads = reads || (!run->stages[i].skipped && run->stages[i].cache_source_id >= 0);
    int64_t peak = run->metrics.peak_storage_memory_bytes;
    if (!reads || run->executors < 1)
        return data;
    if (run->storage_memory_bytes > 0)
        data.held_bytes = (double)run->storage_memory_bytes;
    if (peak > 0 && (double)peak < full * data.held_bytes)
        data.wanted_bytes = (double)peak * (double)run->executors;
    return data;
}

bool cached_data_fits(const struct cached_data *data, int64_t executors)
{
    return data->wanted_bytes <= data->held_bytes * (double)executors;
}

double cached_data_hit(const struct cached_data *data, double size_ratio, int64_t executors)
{
    double share = (double)executors * data->held_bytes / (data->wanted_bytes * size_ratio);
    return isnan(share) ? 1.0 : fmin(1.0, share);
}

/* The division of ascending values with the least sum of squared deviations from two means (N. Otsu,
 * "A threshold selection method from gray-level histograms", IEEE Trans. SMC 9(1), 1979). */
size_t cached_data_split(const double ascending_s[], size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += log(ascending_s[i]);
    double low = 0.0, most = 0.0;
    size_t split = 0;
    for (size_t i = 1; i < n; i++) {
        low += log(ascending_s[i - 1]);
        double apart = low / (double)i - (sum - low) / (double)(n - i);
        double between = apart * apart * (double)i * (double)(n - i);
        if (between > most) {
            most = between;
            split = i;
        }
    }
    bool gap = split > 0 && ascending_s[split] > least_ratio * ascending_s[split - 1];
    return gap ? split : 0;
}
