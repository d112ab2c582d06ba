#include "core/workload/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUCKET_BITS = 10, /* of the mantissa */
    POWER_LEAST = -40,
    POWER_MOST = 60,
    BUCKETS = (POWER_MOST - POWER_LEAST) << BUCKET_BITS,
    BIAS = 1023, /* of exponents in a double */
    MANTISSA_BITS = 52
};

static const double QUANTILE_ERROR = 0x1p-10;

/* The bits of a positive double grow with it: its exponent and the first bits of its mantissa are
 * its bucket. */
static size_t bucket_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int64_t bucket = (int64_t)(bits >> (MANTISSA_BITS - BUCKET_BITS)) -
                     ((int64_t)(BIAS + POWER_LEAST) << BUCKET_BITS);
    return bucket < 0 ? 0 : bucket >= BUCKETS ? BUCKETS - 1 : (size_t)bucket;
}

static void add_to_bucket(struct distribution *d, double value, double count)
{
    struct distribution_group *bucket = &d->buckets[bucket_of(value)];
    bucket->count += count;
    bucket->value += count * value;
}

static enum pv_code
begin_buckets(struct distribution *d, struct budget *budget, struct pv_error *err)
{
    PV_TRY(budget_grow(budget, d->buckets, d->n_buckets, BUCKETS, err));
    memset(d->buckets, 0, d->n_buckets * sizeof *d->buckets);
    for (size_t i = 0; i < d->n_groups; i++)
        add_to_bucket(d, d->groups[i].value, d->groups[i].count);
    budget_free(budget, d->groups, d->capacity, sizeof *d->groups);
    d->groups = NULL;
    d->n_groups = d->capacity = 0;
    return PV_OK;
}

enum pv_code distribution_add(
    struct distribution *d, struct budget *budget, double value, double count, struct pv_error *err)
{
    if (d->buckets == NULL && d->n_groups == DISTRIBUTION_EXACT)
        PV_TRY(begin_buckets(d, budget, err));
    if (d->buckets != NULL) {
        add_to_bucket(d, value, count);
    } else {
        PV_TRY(budget_grow(budget, d->groups, d->capacity, d->n_groups + 1, err));
        d->groups[d->n_groups++] = (struct distribution_group){value, count};
    }
    d->n += count;
    d->max = fmax(d->max, value);
    compensated_sum_add(&d->sum, count * value);
    return PV_OK;
}

static int by_value(const void *left, const void *right)
{
    const struct distribution_group *a = left;
    const struct distribution_group *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

enum pv_code
distribution_finish(struct distribution *d, struct budget *budget, struct pv_error *err)
{
    for (size_t i = 0; i < d->n_buckets; i++) {
        struct distribution_group bucket = d->buckets[i];
        if (bucket.count == 0)
            continue;
        PV_TRY(budget_grow(budget, d->groups, d->capacity, d->n_groups + 1, err));
        d->groups[d->n_groups++] =
            (struct distribution_group){bucket.value / bucket.count, bucket.count};
    }
    if (d->buckets == NULL && d->n_groups > 0)
        qsort(d->groups, d->n_groups, sizeof *d->groups, by_value);
    return PV_OK;
}

/* Type 7 (core/numerics/quantile.h), on groups of equal values. */
static double quantile(const struct distribution *d, double p)
{
    double at = p * (d->n - 1);
    double low = floor(at);
    double passed = 0;
    size_t i = 0;
    while (i + 1 < d->n_groups && passed + d->groups[i].count <= low)
        passed += d->groups[i++].count;
    double value = d->groups[i].value;
    /* The next one is in the next group where this is the last of its own. */
    if (i + 1 < d->n_groups && low + 1 >= passed + d->groups[i].count)
        value += (at - low) * (d->groups[i + 1].value - value);
    return value;
}

struct workload_distribution distribution_describe(const struct distribution *d)
{
    double none = (double)NAN;
    if (d->n == 0)
        return (struct workload_distribution){none, none, none, none, none, 0};
    return (struct workload_distribution){.mean = compensated_sum_value(&d->sum) / d->n,
                                          .p50 = quantile(d, 0.5),
                                          .p90 = quantile(d, 0.9),
                                          .p99 = quantile(d, 0.99),
                                          .max = d->max,
                                          .error = d->buckets == NULL ? 0 : QUANTILE_ERROR};
}

double distribution_top_sum(const struct distribution *d, double k)
{
    double sum = 0;
    for (size_t i = d->n_groups; i > 0 && k > 0; i--) {
        double taken = fmin(k, d->groups[i - 1].count);
        sum += taken * d->groups[i - 1].value;
        k -= taken;
    }
    return sum;
}

double distribution_above(const struct distribution *d, double limit)
{
    double count = 0;
    for (size_t i = d->n_groups; i > 0 && d->groups[i - 1].value > limit; i--)
        count += d->groups[i - 1].count;
    return count;
}

double distribution_tail_index(const struct distribution *d, double k)
{
    double logarithms = 0;
    double left = k;
    size_t i = d->n_groups;
    for (; i > 0 && left >= d->groups[i - 1].count; i--) {
        logarithms += d->groups[i - 1].count * log(d->groups[i - 1].value);
        left -= d->groups[i - 1].count;
    }
    /* Group i - 1 holds x_(k+1), and what is left of the k largest. */
    double threshold = log(d->groups[i - 1].value);
    double sum = logarithms - (k - left) * threshold;
    return sum > 0 ? k / sum : (double)NAN;
}

void distribution_fini(struct distribution *d, struct budget *budget)
{
    budget_free(budget, d->groups, d->capacity, sizeof *d->groups);
    budget_free(budget, d->buckets, d->n_buckets, sizeof *d->buckets);
    *d = (struct distribution){0};
}
