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

/* Largest x of the sightings, relative to the least. */
static double range_of(enum law_follows follows, const struct stage_sighting seen[], size_t n)
{
    double least = x_of(follows, &seen[0]), most = least;
    for (size_t i = 1; i < n; i++) {
        least = fmin(least, x_of(follows, &seen[i]));
        most = fmax(most, x_of(follows, &seen[i]));
    }
    return most / least;
}

/* Sizes closer than 5 % are one size: sizes measured from bytes differ every day. */
static bool moves(enum law_follows follows, const struct stage_sighting seen[], size_t n)
{
    return range_of(follows, seen, n) > (follows == LAW_SIZE ? 1.05 : 1.0);
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

/* Without evidence of movement only small whole multiples count: the rest is coincidence. With it
 * any multiple counts, whole ones first. */
enum multiple_kind { MULTIPLE_SMALL, MULTIPLE_WHOLE, MULTIPLE_ANY };

static bool is_multiple(double k, enum multiple_kind kind)
{
    if (kind == MULTIPLE_ANY)
        return k > 0.0;
    return k >= 1.0 && (kind == MULTIPLE_WHOLE || k <= 4.0) && fabs(k - nearbyint(k)) <= 1e-9 * k;
}

/* The multiple of the machines; 0 if the count does not follow them. */
static double fit_machines(const struct stage_sighting seen[], size_t n, struct stage_law *law)
{
    static const enum law_follows kinds[] = {LAW_CORES, LAW_EXECUTORS};
    bool alike = all_tasks_are(seen, n, seen[0].tasks);
    for (int multiple = MULTIPLE_SMALL; multiple <= MULTIPLE_ANY; multiple++) {
        for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
            bool shown = !alike && range_of(kinds[kind], seen, n) >= 1.25;
            if (multiple != MULTIPLE_SMALL && !shown)
                continue;
            for (int64_t offset = 0; offset >= -1; offset--) {
                double k;
                if (is_proportional(kinds[kind], offset, seen, n, &k) &&
                    is_multiple(k, (enum multiple_kind)multiple)) {
                    law->follows = kinds[kind];
                    law->offset = offset;
                    return k;
                }
            }
        }
    }
    return 0.0;
}

double stage_law_evidence(double sum_of_squares)
{
    /* (ln ratio)^2 / 2 for two values at a ratio of 1.05 and at one of 1.25. */
    const double nothing = 0.00119, all = 0.0249;
    return fmin(1.0, fmax(0.0, (sum_of_squares - nothing) / (all - nothing)));
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
    double share = stage_law_evidence(sxx);
    if (share <= 0.0)
        return absent;
    return absent + share * (fmin(high, fmax(low, sxy / sxx)) - absent);
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

bool stage_law_follows_machines(const struct stage_law *law)
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
    struct moments m = measure_moments(law->follows, seen, n);
    law->work_exponent = 1.0;
    law->machine_exponent = 0.0;
    double by_size = stage_law_evidence(m.aa);
    double by_machines = stage_law_follows_machines(law) ? stage_law_evidence(m.bb) : 0.0;
    double determinant = m.aa * m.bb - m.ab * m.ab;
    double slope = 1.0;
    if (by_size > 0.0 && by_machines > 0.0) {
        if (determinant > 0.05 * m.aa * m.bb)
            slope = (m.bb * m.aw - m.ab * m.bw) / determinant;
    } else if (by_size > 0.0) {
        slope = m.aw / m.aa;
    }
    law->work_exponent += by_size * (within(slope, 0.0, 2.0) - 1.0);
    if (by_machines > 0.0) {
        double rest = m.bw - law->work_exponent * m.ab;
        law->machine_exponent = by_machines * within(rest / m.bb, 0.0, 1.0);
    }
}

/* How likely a count of `multiple` times the machines follows them, though no run on another number
 * shows it. Never so likely that a coincidence alone promises a deadline at 0.9. Partitions that
 * adaptive execution may have merged say no more than a count of unknown source. */
static double
follow_probability(const struct stage_law *law, double multiple, enum count_source source)
{
    if (law->offset != 0)
        return 0.2;
    if (law->follows == LAW_EXECUTORS || multiple > 1.5)
        return 0.3;
    if (source == COUNT_PARALLELISM || source == COUNT_SMALL_SPLITS)
        return 0.7;
    return 0.5;
}

/* Finds both laws of the number of tasks; learn_work completes them. */
static struct stage_laws
learn_count(const struct stage_sighting seen[], size_t n, enum count_source source)
{
    const struct stage_law fixed = {.follows = LAW_FIXED}, size = {.follows = LAW_SIZE};
    struct stage_law machine = fixed;
    struct stage_laws laws = {fixed, fixed, 1.0};
    double k;
    bool sizes = moves(LAW_SIZE, seen, n), machines = moves(LAW_CORES, seen, n);
    bool alike = all_tasks_are(seen, n, seen[0].tasks);
    bool by_size = is_proportional(LAW_SIZE, 0, seen, n, &k);
    bool equals_size = by_size && is_near(k, 1.0) && k == nearbyint(k);
    bool rises = sizes && !alike && (by_size || slope_of_tasks(seen, n) > 0.5);
    if (all_tasks_are(seen, n, 1)) {
        laws.law.follows = LAW_ONE;
    } else if (alike && source == COUNT_SET) {
        laws.law = fixed;
    } else if (source == COUNT_SPLITS && (!sizes || rises)) {
        laws.law = size;
    } else if (sizes && machines && alike) {
        laws.law = fixed;
    } else {
        double multiple = fit_machines(seen, n, &machine);
        bool shown = multiple > 0.0 && !alike && moves(machine.follows, seen, n);
        double p = multiple > 0.0 ? follow_probability(&machine, multiple, source) : 0.0;
        bool small_splits = source == COUNT_SMALL_SPLITS && !sizes;
        if (equals_size && multiple > 0.0 && (!sizes || shown))
            return (struct stage_laws){size, machine, 1.0 - fmin(p, 0.5)};
        if (equals_size)
            laws.law = size;
        else if (multiple > 0.0 && shown && rises && by_size)
            return (struct stage_laws){machine, size, 0.5};
        else if (multiple > 0.0 && !shown)
            return (struct stage_laws){machine, small_splits ? size : fixed, p};
        else if (multiple > 0.0)
            laws.law = machine;
        else if (rises || small_splits)
            laws.law = size;
    }
    laws.otherwise = laws.law;
    return laws;
}

struct stage_laws
stage_laws_learn(const struct stage_sighting seen[], size_t n, enum count_source source)
{
    struct stage_laws laws = learn_count(seen, n, source);
    learn_work(&laws.law, seen, n);
    learn_work(&laws.otherwise, seen, n);
    return laws;
}

struct stage_law stage_law_learn(const struct stage_sighting seen[], size_t n)
{
    return stage_laws_learn(seen, n, COUNT_UNKNOWN).law;
}

bool stage_law_cuts_tasks(const struct stage_law *law)
{
    return stage_law_follows_machines(law) && law->machine_exponent < 0.5;
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
