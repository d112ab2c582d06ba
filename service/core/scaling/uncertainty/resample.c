#include "core/scaling/uncertainty/resample.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/plural.h"

/* Lack of fit that chance would bring more often than this counts as none. */
static const double lack_of_fit_level = 0.1;
/* A row that nearly determines its own prediction shows little of the errors in its residual. */
static const double least_freedom = 0.1;
/* Of what the law says: a drawn time stays above it. */
static const double least_share = 0.05;

const char *resample_method_name(enum resample_method method)
{
    switch (method) {
    case RESAMPLE_CASES:
        return "cases";
    case RESAMPLE_RESIDUALS:
        return "residuals";
    }
    return "";
}

/* --- rows and cells --- */

static int by_cell(const struct observation *x, const struct observation *y)
{
    int order = compare_nan_last(x->problem_size, y->problem_size);
    if (order == 0)
        order = compare_nan_last(x->executors, y->executors);
    return order != 0 ? order : compare_size(x->context, y->context);
}

enum pv_code resample_sort(const struct observation rows[],
                           size_t n,
                           struct arena *arena,
                           struct observation **sorted,
                           struct pv_error *err)
{
    struct observation *copy = arena_array(arena, n, sizeof *copy);
    if (copy == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        copy[i] = rows[i];
    if (n > 1)
        qsort(copy, n, sizeof *copy, observation_compare);
    *sorted = copy;
    return PV_OK;
}

/* The rows that the fit used, the law there, and where each cell begins. */
static enum pv_code take_rows(const struct observation rows[],
                              const struct model_fit *fit,
                              struct arena *arena,
                              struct resample *made,
                              struct pv_error *err)
{
    struct observation *used = arena_array(arena, fit->n, sizeof *used);
    double *actual = arena_array(arena, fit->n, sizeof *actual);
    double *law = arena_array(arena, fit->n, sizeof *law);
    size_t *first = arena_array(arena, fit->n + 1, sizeof *first);
    if (used == NULL || actual == NULL || law == NULL || first == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < fit->n; i++) {
        used[i] = rows[fit->residuals[i].observation];
        used[i].weight = fit->residuals[i].weight;
        actual[i] = fit->residuals[i].actual;
        law[i] = fit->residuals[i].predicted;
        if (i == 0 || by_cell(&used[i - 1], &used[i]) != 0)
            first[made->cells++] = i;
    }
    first[made->cells] = fit->n;
    made->rows = used;
    made->n = fit->n;
    made->actual = actual;
    made->law = law;
    made->first = first;
    return PV_OK;
}

/* --- errors --- */

/* As an error of a run of weight 1. */
static double resample_scaled(const struct model_residual *r, double error, bool relative)
{
    return sqrt(r->weight) * (relative ? error / r->predicted : error);
}

/* What is not determined without that row has no meaningful error: NAN. */
static double corrected_error(const struct model_residual *r, bool relative)
{
    double error = r->actual - r->predicted;
    double left_out = r->actual - r->left_out;
    if (isnan(left_out))
        return (double)NAN;
    double freedom = left_out != 0 ? error / left_out : 1;
    freedom = fmin(fmax(freedom, least_freedom), 1);
    /* left_out sqrt(1 - h) is error / sqrt(1 - h), and does not vanish where h is 1. */
    return resample_scaled(r, left_out * sqrt(freedom), relative);
}

static double plain_error(const struct model_residual *r, bool relative)
{
    return resample_scaled(r, r->actual - r->predicted, relative);
}

static void centre(double values[], size_t n)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        values[i] -= mean;
}

/* Centre the values and give them that standard deviation. */
static void rescale(double values[], size_t n, double deviation)
{
    double squares = 0;
    centre(values, n);
    for (size_t i = 0; i < n; i++)
        squares += values[i] * values[i];
    double factor = squares > 0 ? deviation / sqrt(squares / (double)n) : 0;
    for (size_t i = 0; i < n; i++)
        values[i] *= factor;
}

/* Mean squares of an analysis of variance of the residuals by cell. */
struct variances {
    double between; /* of cells about the law, cells - parameters degrees of freedom */
    double within;  /* of runs about their cell's mean, n - cells */
    double repeats; /* runs of a cell, a mean that weighs cells of unequal size */
};

static struct variances
analyse(const struct resample *made, const struct model_fit *fit, size_t parameters, double means[])
{
    struct variances v = {0, 0, 0};
    double squares = 0;
    for (size_t c = 0; c < made->cells; c++) {
        double size = (double)(made->first[c + 1] - made->first[c]);
        means[c] = 0;
        for (size_t i = made->first[c]; i < made->first[c + 1]; i++)
            means[c] += plain_error(&fit->residuals[i], made->relative) / size;
        for (size_t i = made->first[c]; i < made->first[c + 1]; i++) {
            double off = plain_error(&fit->residuals[i], made->relative) - means[c];
            v.within += off * off;
        }
        v.between += size * means[c] * means[c];
        squares += size * size;
    }
    double n = (double)made->n;
    double cells = (double)made->cells;
    v.between /= cells - (double)parameters;
    v.within /= n - cells;
    v.repeats = (n - squares / n) / (cells - 1);
    return v;
}

/* Do the cells stray from the law by more than their own runs explain? */
static bool lacks_fit(const struct resample *made, const struct variances *v, size_t parameters)
{
    double between = (double)made->cells - (double)parameters;
    double within = (double)made->n - (double)made->cells;
    return v->between > v->within * gsl_cdf_fdist_Pinv(1 - lack_of_fit_level, between, within);
}

/* Two pools: of the cells, and of the runs about their cell. */
static enum pv_code split_errors(const struct model_fit *fit,
                                 const struct variances *v,
                                 double means[],
                                 struct arena *arena,
                                 struct resample *made,
                                 struct pv_error *err)
{
    double *within = arena_array(arena, made->n, sizeof *within);
    if (within == NULL)
        return pv_no_memory(err);
    size_t n = 0;
    for (size_t c = 0; c < made->cells; c++)
        for (size_t i = made->first[c];
             made->first[c + 1] - made->first[c] > 1 && i < made->first[c + 1]; i++)
            within[n++] = plain_error(&fit->residuals[i], made->relative) - means[c];
    rescale(within, n, sqrt(v->within));
    rescale(means, made->cells, sqrt((v->between - v->within) / v->repeats));
    made->run_errors = within;
    made->n_run_errors = n;
    made->cell_errors = means;
    return PV_OK;
}

static enum pv_code pool_errors(const struct model_fit *fit,
                                struct arena *arena,
                                struct resample *made,
                                struct pv_error *err)
{
    double *pool = arena_array(arena, made->n, sizeof *pool);
    if (pool == NULL)
        return pv_no_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < made->n; i++) {
        double error = corrected_error(&fit->residuals[i], made->relative);
        if (isfinite(error))
            pool[n++] = error;
    }
    if (n == 0)
        return pv_fail(err, PV_E_TOO_FEW,
                       "each run alone determines a parameter: nothing shows how far the law is "
                       "off");
    centre(pool, n);
    made->run_errors = pool;
    made->n_run_errors = n;
    return PV_OK;
}

static enum pv_code make_errors(const struct model_fit *fit,
                                size_t parameters,
                                struct arena *arena,
                                struct resample *made,
                                struct pv_error *err)
{
    if (made->n <= parameters)
        return pv_fail(err, PV_E_TOO_FEW,
                       "%zu run%s and %zu parameter%s: nothing is left to show how far the law is "
                       "off",
                       made->n, PLURAL(made->n), parameters, PLURAL(parameters));
    made->freedom = (double)(made->n - parameters);
    double *means = arena_array(arena, made->cells, sizeof *means);
    if (means == NULL)
        return pv_no_memory(err);
    if (made->n > made->cells && made->cells > parameters && made->cells > 1) {
        struct variances v = analyse(made, fit, parameters, means);
        if (v.within > 0 && lacks_fit(made, &v, parameters)) {
            made->freedom = (double)(made->cells - parameters);
            return split_errors(fit, &v, means, arena, made, err);
        }
    }
    return pool_errors(fit, arena, made, err);
}

/* A law that says a time <= 0 where there was a run gives nothing to add errors to. */
static bool is_positive(const struct resample *made)
{
    for (size_t i = 0; i < made->n; i++)
        if (!(made->law[i] > 0))
            return false;
    return true;
}

enum pv_code resample_make(const struct observation rows[],
                           const struct model_fit *fit,
                           size_t parameters,
                           struct arena *arena,
                           struct resample *made,
                           struct pv_error *err)
{
    struct resample build = {.relative = fit->model.uncertainty.relative};
    PV_TRY(take_rows(rows, fit, arena, &build, err));
    bool many = build.cells >= RESAMPLE_CASES_CELLS &&
                build.cells >= RESAMPLE_CASES_CELLS_PER_PARAMETER * parameters;
    build.method = many || !is_positive(&build) ? RESAMPLE_CASES : RESAMPLE_RESIDUALS;
    PV_TRY(make_errors(fit, parameters, arena, &build, err));
    if (build.method == RESAMPLE_CASES && build.cells <= parameters)
        return pv_fail(err, PV_E_TOO_FEW,
                       "the law says times that are not positive, and there are too few different "
                       "configurations to draw them anew");
    if (build.method == RESAMPLE_CASES)
        build.freedom = (double)(build.cells - parameters);
    *made = build;
    return PV_OK;
}

/* --- drawing --- */

static size_t pick(struct rng *rng, size_t n)
{
    size_t i = (size_t)(rng_uniform(rng) * (double)n);
    return i < n ? i : n - 1;
}

static double draw_error(const struct resample *from, struct rng *rng)
{
    return from->run_errors[pick(rng, from->n_run_errors)];
}

static double draw_cell_error(const struct resample *from, struct rng *rng)
{
    return from->cell_errors == NULL ? 0 : from->cell_errors[pick(rng, from->cells)];
}

static double add_error(const struct resample *from, double law, double error)
{
    double time = from->relative ? law * (1 + error) : law + error;
    return fmax(time, least_share * law);
}

double resample_next_run(const struct resample *from, struct rng *rng, double law)
{
    double shared = draw_cell_error(from, rng);
    return add_error(from, law, shared + draw_error(from, rng));
}

size_t resample_rows_max(const struct resample *from)
{
    size_t widest = 0;
    if (from->method == RESAMPLE_RESIDUALS)
        return from->n;
    for (size_t c = 0; c < from->cells; c++)
        widest = widest > from->first[c + 1] - from->first[c] ? widest
                                                              : from->first[c + 1] - from->first[c];
    return widest * from->cells;
}

static size_t copy_cell(const struct resample *from, size_t c, struct observation rows[])
{
    size_t n = from->first[c + 1] - from->first[c];
    for (size_t i = 0; i < n; i++)
        rows[i] = from->rows[from->first[c] + i];
    return n;
}

static size_t draw_cases(const struct resample *from, struct rng *rng, struct observation rows[])
{
    size_t n = 0;
    for (size_t c = 0; c < from->cells; c++)
        n += copy_cell(from, pick(rng, from->cells), rows + n);
    return n;
}

/* The run, all it measured scaled by that factor. */
static struct observation resample_scale(const struct observation *run, double factor)
{
    struct observation made = *run;
    made.duration_s *= factor;
    made.initialization_s *= factor;
    made.speedup *= factor;
    made.stages_s *= factor;
    made.parallel_s *= factor;
    made.serial_s *= factor;
    made.induced_s *= factor;
    made.max_task_s *= factor;
    return made;
}

/* How a run's time is made up (initialization, stages) is drawn with it, from its own cell. */
static size_t
draw_residuals(const struct resample *from, struct rng *rng, struct observation rows[])
{
    for (size_t c = 0; c < from->cells; c++) {
        size_t begin = from->first[c];
        size_t runs = from->first[c + 1] - begin;
        double shared = draw_cell_error(from, rng);
        for (size_t i = begin; i < begin + runs; i++) {
            size_t like = begin + pick(rng, runs);
            double error = (shared + draw_error(from, rng)) / sqrt(from->rows[i].weight);
            double drawn = add_error(from, from->law[i], error);
            rows[i] = resample_scale(&from->rows[like], drawn / from->actual[like]);
            rows[i].weight = from->rows[i].weight;
        }
    }
    return from->n;
}

size_t resample_draw(const struct resample *from, struct rng *rng, struct observation rows[])
{
    return from->method == RESAMPLE_CASES ? draw_cases(from, rng, rows)
                                          : draw_residuals(from, rng, rows);
}

size_t resample_leave_out(const struct resample *from,
                          size_t out,
                          struct rng *rng,
                          size_t order[],
                          struct observation rows[])
{
    size_t n = 0;
    for (size_t c = 0; c < from->cells; c++)
        order[c] = c;
    for (size_t k = 0; k < from->cells; k++) {
        size_t other = k + pick(rng, from->cells - k);
        size_t cell = order[other];
        order[other] = order[k];
        order[k] = cell;
        if (k >= out)
            n += copy_cell(from, cell, rows + n);
    }
    return n;
}

size_t
resample_without(const struct resample *from, size_t part, size_t parts, struct observation rows[])
{
    size_t n = 0;
    for (size_t c = 0; c < from->cells; c++)
        if (c % parts != part)
            n += copy_cell(from, c, rows + n);
    return n;
}
