#include "core/scaling/model/physical_bounds.h"

#include <math.h>

/* Exponent of N for the time that executors do not share, if one size was recorded. */
static const double rest_exponent = 0.4;
/* Prior of the exponent of size, and its standard deviation. */
static const double prior_exponent = 1;
static const double prior_std = 0.5;
/* Prior standard deviation of ln T of a size about a power law, and its degrees of freedom. */
static const double size_std = 0.2;
static const double size_freedom = 2;
/* Prior exponent of the executors, and its weight as a sum of squares of ln m. */
static const double count_exponent = -0.7;
static const double count_weight = 0.1;
static const double exponent_max = 3;
/* Less data for each executor than a recorded run had, as a factor: up to it a recorded run bounds a
 * prediction, and up to it another recorded run contradicts that bound. */
static const double bound_reach = 1.1;
static const double evidence_reach = 1.4;
/* Relatively: times and sizes that differ by less are the same. */
static const double same = 1e-9;

/* --- recorded medians --- */

/* Weighted median of the rows [from, to) of one (N, m), which are sorted by time. */
static double median_of(const struct observation rows[], size_t from, size_t to)
{
    double all = 0;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        all += rows[i].weight;
    for (size_t i = from; i < to; i++) {
        sum += rows[i].weight;
        if (sum > all / 2 * (1 + same) || i + 1 == to)
            return rows[i].duration_s;
        if (sum >= all / 2 * (1 - same))
            return (rows[i].duration_s + rows[i + 1].duration_s) / 2;
    }
    return (double)NAN;
}

static size_t list_medians(const struct model_data *data, struct model_recorded medians[])
{
    const struct observation *rows = data->rows;
    size_t n = 0;
    for (size_t from = 0, to; from < data->n; from = to) {
        to = from + 1;
        while (to < data->n && rows[to].problem_size == rows[from].problem_size &&
               rows[to].executors == rows[from].executors)
            to++;
        double median_s = median_of(rows, from, to);
        medians[n++] = (struct model_recorded){rows[from].problem_size, rows[from].executors,
                                               median_s, median_s};
    }
    return n;
}

/* The second place has at least as much data, on at least as many executors, as the first: the factor
 * by which it may be faster nevertheless. That is 1 if it has as much data for each executor, and
 * more if it has less, up to a factor of `reach`. NAN: it may be faster by any factor. */
static double gain_at(const struct model_recorded *a,
                      const struct model_recorded *b,
                      double reach,
                      double exponent)
{
    double less = a->problem_size / a->executors / (b->problem_size / b->executors);
    if (b->problem_size < a->problem_size * (1 - same) ||
        b->executors < a->executors * (1 - same) || less > reach * (1 + same))
        return (double)NAN;
    return less <= 1 + same ? 1 : pow(less, exponent);
}

static void resolve_contradictions(struct model_recorded at[], size_t n, double exponent)
{
    double median_s[RECORDED_MAX];
    for (size_t i = 0; i < n; i++)
        median_s[i] = at[i].least_s;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            /* Runs of one size show no more than how they divide. */
            bool more = at[j].problem_size > at[i].problem_size;
            double gain = more ? gain_at(&at[i], &at[j], evidence_reach, exponent) : (double)NAN;
            at[i].least_s = fmin(at[i].least_s, gain * median_s[j]);
            at[j].most_s = fmax(at[j].most_s, median_s[i] / gain);
        }
}

/* --- the exponent of size --- */

/* Where the pairs of one size end, and the means of their ln m and ln T. */
static size_t
size_end(const struct model_recorded at[], size_t from, size_t n, double *count, double *time)
{
    size_t to = from;
    *count = *time = 0;
    for (; to < n && at[to].problem_size == at[from].problem_size; to++) {
        double k = (double)(to - from + 1);
        *count += (log(at[to].executors) - *count) / k;
        *time += (log(at[to].least_s) - *time) / k;
    }
    return to;
}

/* d ln T / d ln m within sizes. */
static double slope_by_executors(const struct model_recorded at[], size_t n)
{
    double xx = count_weight;
    double xy = count_weight * count_exponent;
    for (size_t from = 0, to; from < n; from = to) {
        double count;
        double time;
        to = size_end(at, from, n, &count, &time);
        for (size_t i = from; i < to; i++) {
            double x = log(at[i].executors) - count;
            xx += x * x;
            xy += x * (log(at[i].least_s) - time);
        }
    }
    return xy / xx;
}

/* Medians before contradictions are resolved, ascending by N. */
static double find_exponent(const struct model_recorded at[], size_t n)
{
    double slope = slope_by_executors(at, n);
    double mean[2] = {0, 0}; /* of ln N, and of ln T at one executor */
    double xx = 0;
    double xy = 0;
    double yy = 0;
    double sizes = 0;
    for (size_t from = 0, to; from < n; from = to) {
        double count;
        double time;
        to = size_end(at, from, n, &count, &time);
        double x = log(at[from].problem_size) - mean[0];
        double y = time - slope * count - mean[1];
        double share = sizes / (sizes + 1);
        sizes++;
        mean[0] += x / sizes;
        mean[1] += y / sizes;
        xx += share * x * x;
        xy += share * x * y;
        yy += share * y * y;
    }
    double left = xx > 0 ? fmax(0, yy - xy * xy / xx) : 0;
    double variance =
        (left + size_freedom * size_std * size_std) / (fmax(0, sizes - 2) + size_freedom);
    double prior = 1 / (prior_std * prior_std);
    double precision = xx / variance + prior;
    double exponent = (xy / variance + prior * prior_exponent) / precision;
    return fmax(1, fmin(exponent_max, exponent + sqrt(1 / precision)));
}

enum pv_code physical_bounds_find(const struct model_data *data,
                                  struct arena *arena,
                                  struct model_uncertainty *u,
                                  struct pv_error *err)
{
    struct model_recorded *medians = arena_array(arena, data->n, sizeof *medians);
    if (medians == NULL)
        return pv_no_memory(err);
    size_t n = list_medians(data, medians);
    u->size_exponent = find_exponent(medians, n);
    u->n_recorded = n < RECORDED_MAX ? n : RECORDED_MAX;
    for (size_t i = 0; i < u->n_recorded && n > RECORDED_MAX; i++)
        medians[i] = medians[i * (n - 1) / (RECORDED_MAX - 1)];
    resolve_contradictions(medians, u->n_recorded, u->size_exponent);
    u->recorded = medians;
    return PV_OK;
}

/* --- predicting --- */

double physical_bounds_rest(const struct model_law *law, double problem_size, double executors)
{
    static const double many = 1e9; /* executors: the time that is left is not shared */
    static const double step = 1e-3;
    const struct model_kind *kind = law->kind;
    double here_s = kind->duration_s(law, problem_size, executors);
    if (!(here_s > 0))
        return (double)NAN;
    if (kind->turning_points == NULL)
        return fmax(0, fmin(1, kind->duration_s(law, problem_size, many) / here_s));
    double fewer_s = kind->duration_s(law, problem_size, executors * (1 - step));
    double more_s = kind->duration_s(law, problem_size, executors * (1 + step));
    double shared = log(fewer_s / more_s) / log((1 + step) / (1 - step));
    return isfinite(shared) ? fmax(0, fmin(1, 1 - shared)) : (double)NAN;
}

/* The law of runs of one size, asked for another; or a law without N beyond the size recorded. */
static double
grow_from(const struct model_law *law, double recorded, double problem_size, double executors)
{
    double ratio = problem_size / recorded;
    double there_s = law->kind->duration_s(law, recorded, executors);
    double rest_s = there_s * physical_bounds_rest(law, recorded, executors);
    double law_s = law->kind->size_use == MODEL_USES_SIZE
                       ? law->kind->duration_s(law, problem_size, executors)
                       : rest_s + (there_s - rest_s) * ratio;
    return law_s + rest_s * (pow(ratio, rest_exponent) - 1);
}

/* A question beyond the recorded sizes. */
struct beyond {
    const struct model_law *law;
    double edge; /* the nearest recorded size */
    bool grows;  /* the law says nothing of other sizes */
    double executors;
};

static double law_beyond(const struct beyond *beyond, double size)
{
    if (beyond->grows)
        return grow_from(beyond->law, beyond->edge, size, beyond->executors);
    return beyond->law->kind->duration_s(beyond->law, size, beyond->executors);
}

/* The law's time, or if it falls with the data there, its highest time between the recorded sizes
 * and there (its lowest one below them), of laws with one turn, by golden section. */
static double rise_beyond(const struct beyond *beyond, double size)
{
    static const double golden = 0.6180339887498949;
    enum { STEPS = 60 };
    double here_s = law_beyond(beyond, size);
    double sign = size > beyond->edge ? 1 : -1;
    double nearer = size * (1 - sign * 1e-6);
    if (!(sign * (law_beyond(beyond, nearer) - here_s) > 0))
        return here_s;
    double low = fmin(size, beyond->edge);
    double high = fmax(size, beyond->edge);
    for (size_t step = 0; step < STEPS; step++) {
        double a = high - golden * (high - low);
        double b = low + golden * (high - low);
        if (sign * law_beyond(beyond, a) > sign * law_beyond(beyond, b))
            high = b;
        else
            low = a;
    }
    return law_beyond(beyond, (low + high) / 2);
}

/* Between no growth with size and a power of it, as seen from the nearest recorded size. */
static double
bound_growth(const struct model_uncertainty *u, const struct beyond *beyond, double size)
{
    double edge_s = beyond->law->kind->duration_s(beyond->law, beyond->edge, beyond->executors);
    double duration_s = rise_beyond(beyond, size);
    if (!(edge_s > 0))
        return duration_s;
    double grown_s = edge_s * pow(size / beyond->edge, u->size_exponent);
    return fmax(fmin(edge_s, grown_s), fmin(fmax(edge_s, grown_s), duration_s));
}

/* A bound from another size: nothing of it counts at that size, all of it a tenth away. */
static double fade(double duration_s, double bound_s, double size, double other)
{
    double share = fabs(log(size / other)) / log(bound_reach);
    return share < 1 - same ? duration_s * pow(bound_s / duration_s, share) : bound_s;
}

static double bound_by_recorded(const struct model_uncertainty *u, double size, double m, double s)
{
    const struct model_recorded here = {size, m, s, s};
    double least_s = 0;
    double most_s = (double)INFINITY;
    for (size_t i = 0; i < u->n_recorded; i++) {
        const struct model_recorded *at = &u->recorded[i];
        double low_s = at->least_s / gain_at(at, &here, bound_reach, u->size_exponent);
        double high_s = at->most_s * gain_at(&here, at, bound_reach, u->size_exponent);
        if (low_s > s)
            least_s = fmax(least_s, fade(s, low_s, size, at->problem_size));
        if (high_s < s)
            most_s = fmin(most_s, fade(s, high_s, size, at->problem_size));
    }
    return fmax(least_s, fmin(most_s, s));
}

double model_duration(const struct model *model, double problem_size, double executors)
{
    const struct model_uncertainty *u = &model->uncertainty;
    const struct model_law law = model_law(model);
    double duration_s = law.kind->duration_s(&law, problem_size, executors);
    if (u->observations == 0 || u->n_recorded == 0)
        return duration_s;
    double least = u->recorded[0].problem_size;
    double most = u->recorded[u->n_recorded - 1].problem_size;
    double edge = fmax(least, fmin(most, problem_size));
    bool grows = least == most || law.kind->size_use == MODEL_IGNORES_SIZE;
    const struct beyond beyond = {&law, edge, grows, executors};
    if (fabs(problem_size - edge) > same * edge)
        duration_s = bound_growth(u, &beyond, problem_size);
    if (!(duration_s > 0) || !isfinite(duration_s))
        return duration_s;
    return bound_by_recorded(u, problem_size, executors, duration_s);
}

double model_correction(const struct model *model, double problem_size, double executors)
{
    const struct model_law law = model_law(model);
    if (model->form != MODEL_OF_DURATIONS || model->uncertainty.n_recorded == 0)
        return 1;
    double law_s = law.kind->duration_s(&law, problem_size, executors);
    return law_s > 0 && isfinite(law_s) ? model_duration(model, problem_size, executors) / law_s
                                        : 1;
}
