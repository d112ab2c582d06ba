#include "core/geosim/comparison.h"

#include <math.h>
#include <stdint.h>

#include "core/sim/statistics.h"

const double comparison_quantiles[COMPARISON_QUANTILES] = {0.05, 0.1, 0.25, 0.5,
                                                           0.75, 0.9, 0.95, 0.99};

void comparison_average(const double *const repetitions[],
                        size_t n_repetitions,
                        size_t n,
                        double mean[])
{
    for (size_t w = 0; w < n; w++) {
        double sum = 0;
        for (size_t r = 0; r < n_repetitions; r++)
            sum += repetitions[r][w];
        mean[w] = n_repetitions > 0 ? sum / (double)n_repetitions : (double)NAN;
    }
}

void comparison_reduction(const double flow_s[],
                          const double other_s[],
                          size_t n,
                          double reduction[])
{
    for (size_t w = 0; w < n; w++)
        reduction[w] = other_s[w] > 0 ? 1 - flow_s[w] / other_s[w] : (double)NAN;
}

double comparison_share(size_t i)
{
    return (double)i / (COMPARISON_CURVE - 1);
}

bool comparison_spread_of(const double figures[],
                          size_t n,
                          struct arena *scratch,
                          struct comparison_spread *spread)
{
    struct arena_mark mark = arena_mark(scratch);
    struct sorted_sample sample;
    if (!sorted_sample_make(&sample, figures, n, scratch))
        return false;
    *spread =
        (struct comparison_spread){.n = sample.n, .absent = sample.absent, .mean = sample.mean};
    for (size_t i = 0; i < COMPARISON_QUANTILES; i++)
        spread->quantiles[i] = sorted_sample_quantile(&sample, comparison_quantiles[i]);
    for (size_t i = 0; i < COMPARISON_CURVE; i++)
        spread->curve[i] = sorted_sample_quantile(&sample, comparison_share(i));
    arena_rewind(scratch, mark);
    return true;
}

struct standing {
    size_t done;
    double mean;
};

static struct standing stand(const double flow_s[], size_t n)
{
    struct standing standing = {0, 0};
    for (size_t w = 0; w < n; w++)
        if (!isnan(flow_s[w])) {
            standing.done++;
            standing.mean += flow_s[w];
        }
    standing.mean = standing.done > 0 ? standing.mean / (double)standing.done : HUGE_VAL;
    return standing;
}

static bool is_better(const struct standing *a, const struct standing *b)
{
    return a->done != b->done ? a->done > b->done : a->mean < b->mean;
}

/* The best one except `besides`; SIZE_MAX: there is none. */
static size_t comparison_find_best(const double *const flow_s[],
                                   size_t n_policies,
                                   size_t n_workflows,
                                   size_t besides)
{
    size_t best = SIZE_MAX;
    struct standing of_best = {0, HUGE_VAL};
    for (size_t p = 0; p < n_policies; p++) {
        struct standing standing = stand(flow_s[p], n_workflows);
        if (p != besides && (best == SIZE_MAX || is_better(&standing, &of_best))) {
            best = p;
            of_best = standing;
        }
    }
    return best;
}

/* Of workflows that both got done. */
static bool differ_clearly(const double a[], const double b[], size_t n)
{
    struct running_moments differences = {0};
    for (size_t w = 0; w < n; w++) {
        double difference = b[w] - a[w];
        if (!isnan(difference))
            running_moments_add(&differences, difference);
    }
    return differences.mean > 0 &&
           differences.mean >= 2 * running_moments_standard_error(&differences);
}

void comparison_choose(const double *const flow_s[],
                       size_t n_policies,
                       size_t n_workflows,
                       struct comparison_best *best)
{
    best->policy = comparison_find_best(flow_s, n_policies, n_workflows, SIZE_MAX);
    best->next = comparison_find_best(flow_s, n_policies, n_workflows, best->policy);
    best->margin = (double)NAN;
    best->clear = true;
    if (best->next == SIZE_MAX)
        return;
    const double *first = flow_s[best->policy];
    const double *second = flow_s[best->next];
    struct standing a = stand(first, n_workflows);
    struct standing b = stand(second, n_workflows);
    if (a.done != b.done)
        return;
    best->margin = a.done > 0 && b.mean > 0 ? 1 - a.mean / b.mean : (double)NAN;
    best->clear = differ_clearly(first, second, n_workflows);
}
