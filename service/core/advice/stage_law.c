#include "core/advice/stage_law.h"

#include <math.h>

enum { SIGHTINGS_MAX = 64 };

/* Counts that should be equal may differ by rounding: one task, or two percent of a large count. */
static bool is_near(double a, double b)
{
    return fabs(a - b) <= fmax(0.5, 0.02 * fmax(fabs(a), fabs(b)));
}

static double sighting_x(enum law_follows follows,
                         double problem_size,
                         int64_t executors,
                         int64_t cores_per_executor)
{
    switch (follows) {
    case LAW_SIZE:
        return problem_size;
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
    for (size_t i = 1; i < n; i++)
        if (x_of(follows, &seen[i]) != x_of(follows, &seen[0]))
            return true;
    return false;
}

static bool all_tasks_are(const struct stage_sighting seen[], size_t n, size_t tasks)
{
    for (size_t i = 0; i < n; i++)
        if (seen[i].tasks != tasks)
            return false;
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
    for (size_t i = 1; i < n; i++)
        largest = x_of(follows, &seen[i]) > x_of(follows, &seen[largest]) ? i : largest;
    *k = ((double)seen[largest].tasks - (double)offset) / x_of(follows, &seen[largest]);
    for (size_t i = 0; i < n; i++) {
        double want = *k * x_of(follows, &seen[i]) + (double)offset;
        if (!is_near((double)seen[i].tasks, want))
            return false;
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

/* Slope of the number of tasks over the sizes; 0 where they do not differ. */
static double slope_of_tasks(const struct stage_sighting seen[], size_t n)
{
    double x[SIGHTINGS_MAX], y[SIGHTINGS_MAX];
    n = n < SIGHTINGS_MAX ? n : SIGHTINGS_MAX;
    for (size_t i = 0; i < n; i++) {
        x[i] = seen[i].problem_size;
        y[i] = (double)seen[i].tasks;
    }
    return stage_law_slope(x, y, n, 0.0, 2.0, 0.0);
}

/* Centred second moments of ln N (a), ln x (b) and ln work (w). */
struct moments {
    double aa, ab, bb, aw, bw;
};

static struct moments
measure_moments(enum law_follows follows, const struct stage_sighting seen[], size_t n)
{
    double a = 0.0, b = 0.0, w = 0.0, used = 0.0;
    struct moments m = {0};
    for (int pass = 0; pass < 2; pass++) {
        used = 0.0;
        for (size_t i = 0; i < n; i++) {
            if (!(seen[i].work_s > 0.0))
                continue;
            double size = log(seen[i].problem_size);
            double x = log(x_of(follows, &seen[i]));
            double work = log(seen[i].work_s);
            used += 1.0;
            if (pass == 0) {
                a += (size - a) / used;
                b += (x - b) / used;
                w += (work - w) / used;
            } else {
                m.aa += (size - a) * (size - a);
                m.ab += (size - a) * (x - b);
                m.bb += (x - b) * (x - b);
                m.aw += (size - a) * (work - w);
                m.bw += (x - b) * (work - w);
            }
        }
    }
    return m;
}

static bool follows_any_machines(const struct stage_law *law)
{
    return law->follows == LAW_CORES || law->follows == LAW_EXECUTORS;
}

static double within(double value, double low, double high)
{
    return fmin(high, fmax(low, value));
}

/*
 * ln work = c + work_exponent ln N + machine_exponent ln x. A direction in which the sightings do
 * not differ keeps its default (1 and 0); where the two cannot be told apart, growth with N comes
 * first.
 */
static void learn_work(struct stage_law *law, const struct stage_sighting seen[], size_t n)
{
    const double least = 1e-4; /* (ln 1.01)^2: differences below a percent prove nothing */
    bool machines = follows_any_machines(law);
    struct moments m = measure_moments(law->follows, seen, n);
    law->work_exponent = 1.0;
    law->machine_exponent = 0.0;
    bool differ_in_size = m.aa >= least;
    bool differ_in_machines = machines && m.bb >= least;
    double determinant = m.aa * m.bb - m.ab * m.ab;
    if (differ_in_size && differ_in_machines && determinant > 0.05 * m.aa * m.bb)
        law->work_exponent = within((m.bb * m.aw - m.ab * m.bw) / determinant, 0.0, 2.0);
    else if (differ_in_size && !differ_in_machines)
        law->work_exponent = within(m.aw / m.aa, 0.0, 2.0);
    if (differ_in_machines) {
        double rest = m.bw - law->work_exponent * m.ab;
        law->machine_exponent = within(rest / m.bb, 0.0, 1.0);
    }
}

/* follows and offset; the rest is learn_work's. */
static struct stage_law learn_count(const struct stage_sighting seen[], size_t n)
{
    struct stage_law law = {.follows = LAW_FIXED};
    double k;
    bool sizes = moves(LAW_SIZE, seen, n);
    bool machines = moves(LAW_CORES, seen, n);
    if (all_tasks_are(seen, n, 1))
        law.follows = LAW_ONE;
    else if (is_proportional(LAW_SIZE, 0, seen, n, &k) && is_near(k, 1.0) && k == nearbyint(k))
        law.follows = LAW_SIZE;
    else if (sizes && machines && all_tasks_are(seen, n, seen[0].tasks))
        law.follows = LAW_FIXED;
    else if (follows_machines(seen, n, &law))
        return law;
    else if (sizes && (is_proportional(LAW_SIZE, 0, seen, n, &k) || slope_of_tasks(seen, n) > 0.5))
        law.follows = LAW_SIZE;
    return law;
}

struct stage_law stage_law_learn(const struct stage_sighting seen[], size_t n)
{
    struct stage_law law = learn_count(seen, n);
    learn_work(&law, seen, n);
    law.assumed = follows_any_machines(&law) && !moves(law.follows, seen, n);
    return law;
}

bool stage_law_cuts_tasks(const struct stage_law *law)
{
    return follows_any_machines(law) && law->machine_exponent < 0.5;
}

double stage_law_tasks(const struct stage_law *law,
                       const struct stage_sighting *seen,
                       double problem_size,
                       int64_t executors,
                       int64_t cores_per_executor)
{
    if (seen->tasks == 0 || law->follows == LAW_ONE || law->follows == LAW_FIXED)
        return (double)seen->tasks;
    double from = x_of(law->follows, seen);
    double to = sighting_x(law->follows, problem_size, executors, cores_per_executor);
    double offset = (double)law->offset;
    return fmax(1.0, nearbyint(((double)seen->tasks - offset) * to / from + offset));
}

double stage_law_work(const struct stage_law *law,
                      const struct stage_sighting *seen,
                      double problem_size,
                      int64_t executors,
                      int64_t cores_per_executor,
                      double tasks)
{
    if (seen->tasks == 0)
        return 0.0;
    if (law->follows == LAW_SIZE)
        return seen->work_s * tasks / (double)seen->tasks;
    double size_ratio = problem_size / seen->problem_size;
    double x_ratio = sighting_x(law->follows, problem_size, executors, cores_per_executor) /
                     x_of(law->follows, seen);
    return seen->work_s * pow(size_ratio, law->work_exponent) * pow(x_ratio, law->machine_exponent);
}
