#include "core/advice/stage_law.h"

#include <math.h>
#include <stdbool.h>

/* Counts that should be equal may differ by rounding: one task, or two percent of a large count. */
static bool is_near(double a, double b)
{
    return fabs(a - b) <= fmax(0.5, 0.02 * fmax(fabs(a), fabs(b)));
}

static double sighting_x(enum law_follows follows,
                         int64_t problem_size,
                         int64_t executors,
                         int64_t cores_per_executor)
{
    switch (follows) {
    case LAW_SIZE:
        return (double)problem_size;
    case LAW_CORES:
        return (double)executors * (double)cores_per_executor;
    case LAW_EXECUTORS:
        return (double)executors;
    case LAW_ONE:
    case LAW_FIXED:
        break;
    }
    return 1.0;
}

static double x_of(enum law_follows follows, const struct stage_sighting *seen)
{
    return sighting_x(follows, seen->problem_size, seen->executors, seen->cores_per_executor);
}

static bool moves(enum law_follows follows, const struct stage_sighting seen[], size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (x_of(follows, &seen[i]) != x_of(follows, &seen[0])) {
            return true;
        }
    }
    return false;
}

static bool all_tasks_are(const struct stage_sighting seen[], size_t n, size_t tasks)
{
    for (size_t i = 0; i < n; i++) {
        if (seen[i].tasks != tasks) {
            return false;
        }
    }
    return true;
}

/* tasks = k x + offset in every sighting, with k from the largest x. */
static bool is_proportional(enum law_follows follows,
                            int64_t offset,
                            const struct stage_sighting seen[],
                            size_t n,
                            double *k)
{
    size_t largest = 0;
    for (size_t i = 1; i < n; i++) {
        largest = x_of(follows, &seen[i]) > x_of(follows, &seen[largest]) ? i : largest;
    }
    *k = ((double)seen[largest].tasks - (double)offset) / x_of(follows, &seen[largest]);
    for (size_t i = 0; i < n; i++) {
        double want = *k * x_of(follows, &seen[i]) + (double)offset;
        if (!is_near((double)seen[i].tasks, want)) {
            return false;
        }
    }
    return true;
}

/* Without evidence of movement only small whole multiples count: the rest is coincidence. */
static bool is_whole_multiple(double k, double most)
{
    return k >= 1.0 && k <= most && fabs(k - nearbyint(k)) <= 1e-9 * k;
}

static bool follows_machines(const struct stage_sighting seen[], size_t n, struct stage_law *law)
{
    static const enum law_follows kinds[] = {LAW_CORES, LAW_EXECUTORS};
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (int64_t offset = 0; offset >= -1; offset--) {
            double k;
            if (is_proportional(kinds[kind], offset, seen, n, &k) && is_whole_multiple(k, 4.0)) {
                law->follows = kinds[kind];
                law->offset = offset;
                return true;
            }
        }
    }
    return false;
}

double stage_law_slope(
    const double x[], const double y[], size_t n, double low, double high, double absent)
{
    double mean_x = 0.0, mean_y = 0.0, used = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] > 0.0 && y[i] > 0.0) {
            used += 1.0;
            mean_x += (log(x[i]) - mean_x) / used;
            mean_y += (log(y[i]) - mean_y) / used;
        }
    }
    double sxx = 0.0, sxy = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] > 0.0 && y[i] > 0.0) {
            double dx = log(x[i]) - mean_x;
            sxx += dx * dx;
            sxy += dx * (log(y[i]) - mean_y);
        }
    }
    /* ln 1.01 squared: sizes closer than a percent say nothing about growth. */
    return sxx < 1e-4 ? absent : fmin(high, fmax(low, sxy / sxx));
}

/* Slope of a figure of the sightings over their sizes, without an array of unknown length. */
static double
slope_over_size(const struct stage_sighting seen[], size_t n, bool of_work, double absent)
{
    enum { MOST = 64 };
    double x[MOST], y[MOST];
    size_t used = n < MOST ? n : MOST;
    for (size_t i = 0; i < used; i++) {
        x[i] = (double)seen[i].problem_size;
        y[i] = of_work ? seen[i].work_s : (double)seen[i].tasks;
    }
    return stage_law_slope(x, y, used, 0.0, 2.0, absent);
}

struct stage_law stage_law_learn(const struct stage_sighting seen[], size_t n)
{
    struct stage_law law = {LAW_FIXED, 0, slope_over_size(seen, n, true, 1.0)};
    double k;
    bool sizes = moves(LAW_SIZE, seen, n);
    bool machines = moves(LAW_CORES, seen, n);
    if (all_tasks_are(seen, n, 1)) {
        law.follows = LAW_ONE;
    } else if (is_proportional(LAW_SIZE, 0, seen, n, &k) && is_near(k, 1.0) && k == nearbyint(k)) {
        law.follows = LAW_SIZE;
    } else if (sizes && machines && all_tasks_are(seen, n, seen[0].tasks)) {
        law.follows = LAW_FIXED;
    } else if (follows_machines(seen, n, &law)) {
        return law;
    } else if (sizes && (is_proportional(LAW_SIZE, 0, seen, n, &k) ||
                         slope_over_size(seen, n, false, 0.0) > 0.5)) {
        law.follows = LAW_SIZE;
    }
    return law;
}

double stage_law_tasks(const struct stage_law *law,
                       const struct stage_sighting *seen,
                       int64_t problem_size,
                       int64_t executors,
                       int64_t cores_per_executor)
{
    if (seen->tasks == 0 || law->follows == LAW_ONE || law->follows == LAW_FIXED) {
        return (double)seen->tasks;
    }
    double from = x_of(law->follows, seen);
    double to = sighting_x(law->follows, problem_size, executors, cores_per_executor);
    double offset = (double)law->offset;
    return fmax(1.0, nearbyint(((double)seen->tasks - offset) * to / from + offset));
}
