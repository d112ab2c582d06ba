#include "core/scheduling/comparison/slowdown.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/rounding.h"
#include "core/numerics/quantile.h"

/* A job of known size: its half decade, size and slowdown. */
struct sized {
    double half_decade;
    double size_s;
    double slowdown;
};

double slowdown_of(const struct slowdown_job *job)
{
    return (job->finish_s - job->arrival_s) / job->runtime_s;
}

static int order_by_class(const void *a, const void *b)
{
    const struct sized *x = a;
    const struct sized *y = b;
    int order = compare_double(x->half_decade, y->half_decade);
    return order != 0 ? order : compare_double(x->slowdown, y->slowdown);
}

static double mean_of(const double values[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* --- percentiles --- */

static void take_slowdowns(const double ascending[],
                           size_t n,
                           struct slowdown_percentile percentiles[],
                           size_t n_percentiles,
                           struct slowdown_summary *summary)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        squares += ascending[i] * ascending[i];
        summary->faster_than_alone += ascending[i] < 1 && !rounding_equal(ascending[i], 1);
    }
    summary->mean = mean_of(ascending, n);
    summary->median = quantile_of_sorted(ascending, n, 0.5);
    summary->jain = summary->mean * summary->mean * (double)n / squares;
    for (size_t i = 0; i < n_percentiles; i++) {
        double value = quantile_of_sorted(ascending, n, percentiles[i].percent / 100);
        percentiles[i].slowdown = value;
        percentiles[i].variability = value / summary->median;
        percentiles[i].completion_over_longest_task = (double)NAN;
    }
}

/* sojourns and longest: room for n numbers each. */
static void take_completions(const struct slowdown_job jobs[],
                             size_t n,
                             double sojourns[],
                             double longest[],
                             struct slowdown_percentile percentiles[],
                             size_t n_percentiles)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(jobs[i].longest_task_s))
            return;
        sojourns[i] = jobs[i].finish_s - jobs[i].arrival_s;
        longest[i] = jobs[i].longest_task_s;
    }
    qsort(sojourns, n, sizeof *sojourns, order_by_double);
    qsort(longest, n, sizeof *longest, order_by_double);
    for (size_t i = 0; i < n_percentiles; i++) {
        double p = percentiles[i].percent / 100;
        percentiles[i].completion_over_longest_task =
            quantile_of_sorted(sojourns, n, p) / quantile_of_sorted(longest, n, p);
    }
}

/* --- classes --- */

static struct slowdown_class
class_of(const struct sized jobs[], size_t n, double all_s, double slowdowns[])
{
    double work_s = 0;
    for (size_t i = 0; i < n; i++) {
        work_s += jobs[i].size_s;
        slowdowns[i] = jobs[i].slowdown;
    }
    return (struct slowdown_class){
        .from_s = pow(10, jobs[0].half_decade / 2),
        .to_s = pow(10, (jobs[0].half_decade + 1) / 2),
        .count = n,
        .mean = mean_of(slowdowns, n),
        .median = quantile_of_sorted(slowdowns, n, 0.5),
        .work_share = work_s / all_s,
    };
}

/* jobs by class, and in it by slowdown. false: no memory. */
static bool take_classes(const struct sized jobs[],
                         size_t n,
                         double slowdowns[],
                         struct arena *arena,
                         struct slowdown_summary *summary)
{
    double all_s = 0;
    size_t n_classes = 0;
    for (size_t i = 0; i < n; i++) {
        all_s += jobs[i].size_s;
        n_classes += i == 0 || jobs[i].half_decade != jobs[i - 1].half_decade;
    }
    if (n == 0)
        return true;
    summary->classes = arena_array(arena, n_classes, sizeof *summary->classes);
    if (summary->classes == NULL)
        return false;
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && jobs[to].half_decade == jobs[from].half_decade)
            to++;
        summary->classes[summary->n_classes++] = class_of(&jobs[from], to - from, all_s, slowdowns);
    }
    return true;
}

static size_t take_sized(const struct slowdown_job jobs[], size_t n, struct sized sized[])
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(jobs[i].size_s))
            sized[known++] =
                (struct sized){.half_decade = rounding_floor(2 * log10(jobs[i].size_s)),
                               .size_s = jobs[i].size_s,
                               .slowdown = slowdown_of(&jobs[i])};
    qsort(sized, known, sizeof *sized, order_by_class);
    return known;
}

enum pv_code slowdown_summarize(const struct slowdown_job jobs[],
                                size_t n,
                                struct slowdown_percentile percentiles[],
                                size_t n_percentiles,
                                struct arena *arena,
                                struct slowdown_summary *summary,
                                struct pv_error *err)
{
    struct slowdown_summary found = {0};
    double *values = arena_array(arena, n, 2 * sizeof *values);
    struct sized *sized = arena_array(arena, n, sizeof *sized);
    if (values == NULL || sized == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        values[i] = slowdown_of(&jobs[i]);
    qsort(values, n, sizeof *values, order_by_double);
    take_slowdowns(values, n, percentiles, n_percentiles, &found);
    take_completions(jobs, n, values, values + n, percentiles, n_percentiles);
    size_t known = take_sized(jobs, n, sized);
    if (!take_classes(sized, known, values, arena, &found))
        return pv_no_memory(err);
    *summary = found;
    return PV_OK;
}

void slowdown_warn(const struct slowdown_summary *summary, struct findings *warnings)
{
    if (summary->faster_than_alone == 0)
        return;
    struct finding *warning = finding_add(
        warnings, "faster_than_alone",
        "%zu job%s ended sooner than %s runtime in the empty system: check `runtime_s`.",
        summary->faster_than_alone, PLURAL(summary->faster_than_alone),
        PLURAL_VERB(summary->faster_than_alone, "its", "their"));
    finding_count(warning, summary->faster_than_alone);
}
