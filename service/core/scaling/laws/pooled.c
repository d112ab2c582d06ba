/*
 * What runs with other labels show of the runs asked about (docs/design.md, "Other kinds of
 * models"): a Gaussian process over the contexts of an application
 * (core/scaling/laws/context_process.h) beside the law of the own runs
 * (core/scaling/laws/combined.c).
 *
 * Each has a distribution of ln T at every place, and the prediction is their mean weighted by
 * 1 / variance. A process knows much between the executors that were run in any context and nothing
 * beyond them; there the own law alone predicts, where the own runs determine one.
 *
 * The result is read off between knots (core/scaling/laws/interpolation.h), so that predicting
 * needs no other run: on the executor counts and problem sizes of all contexts, the middles between
 * counts, and some way beyond either.
 *
 * Left-out errors. Without a run, or without a whole executor count or size, the process is
 * conditioned on all other runs, with the same theta; the law is fitted again.
 *
 * PV_E_TOO_FEW: fewer than POOLED_CURVES sets of labels and problem sizes of other contexts.
 * PV_E_SINGULAR: one executor count. PV_E_MEMORY.
 */
#include "core/scaling/laws/kinds.h"

#include <math.h>
#include <string.h>

#include "base/order.h"
#include "base/quantity_text.h"
#include "core/scaling/laws/context_process.h"
#include "core/scaling/laws/interpolation.h"
#include "core/scaling/model/describe.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

enum { POOLED_CURVES = 3, COUNTS_MAX = 20, SIZES_MAX = 10, BEYOND_COUNTS = 8, BEYOND_SIZES = 2 };
enum { TICKS_MAX = 2 * COUNTS_MAX + 2 * BEYOND_COUNTS };

/* Of ln T: a law never knows a place better. */
static const double least_std = 0.01;

struct pool {
    const struct model_data *data;
    struct process *process;
    const struct model *law; /* of the own runs; NULL: they determine none */
    double executors[2];     /* of all contexts */
};

/* --- law and process together --- */

/* The law's ln T and the square of its error there; false: it gives no time. */
static bool ask_law(const struct pool *pool, double size, double m, double *mean, double *variance)
{
    struct predictive there;
    double std = 0;
    if (pool->law == NULL || !model_predictive(pool->law, size, m, &there))
        return false;
    *mean = log(there.predicted_s);
    if (there.n == 0)
        return false;
    if (there.parts[0].shape == PREDICTIVE_LOG_STUDENT)
        std = there.parts[0].scale;
    else if (there.parts[0].shape == PREDICTIVE_LOG_SCORES)
        std = there.parts[0].table->spread;
    *variance = fmax(std, least_std) * fmax(std, least_std);
    return true;
}

static double weigh(double mean, double variance, double law_mean, double law_variance)
{
    return (mean / variance + law_mean / law_variance) / (1 / variance + 1 / law_variance);
}

static double log_time(const struct pool *pool, double size, double m)
{
    double mean;
    double variance;
    double law_mean;
    double law_variance;
    bool has_law = ask_law(pool, size, m, &law_mean, &law_variance);
    bool inside = m >= pool->executors[0] * (1 - 1e-9) && m <= pool->executors[1] * (1 + 1e-9);
    if (has_law && !inside)
        return law_mean;
    process_predict(pool->process, size, m, &mean, has_law ? &variance : NULL);
    return has_law ? weigh(mean, variance, law_mean, law_variance) : mean;
}

/* --- knots --- */

/* Of n ascending values `most`, evenly spread. */
static size_t thin(double values[], size_t n, size_t most)
{
    size_t kept = n < most ? n : most;
    for (size_t i = 0; i < kept && kept < n; i++)
        values[i] = values[i * (n - 1) / (kept - 1)];
    return kept;
}

/* A fit to part of the runs is asked for the others only, which lie at the counts there are. */
static size_t take_counts(const struct pool *pool, double values[], double ticks[TICKS_MAX])
{
    size_t counts = thin(values, process_counts(pool->process, values), COUNTS_MAX);
    size_t n = 0;
    for (size_t k = BEYOND_COUNTS; k > 0 && !pool->data->whole; k--)
        if (values[0] / pow(2, (double)k / 2) >= 1)
            ticks[n++] = values[0] / pow(2, (double)k / 2);
    for (size_t i = 0; i < counts; i++) {
        if (i > 0 && !pool->data->whole)
            ticks[n++] = sqrt(values[i - 1] * values[i]);
        ticks[n++] = values[i];
    }
    for (size_t k = 1; k <= BEYOND_COUNTS && !pool->data->whole; k++)
        ticks[n++] = values[counts - 1] * pow(2, (double)k / 2);
    return n;
}

static size_t take_sizes(const struct pool *pool, double values[], double sizes[])
{
    size_t found = thin(values, process_sizes(pool->process, pool->data->whole, values), SIZES_MAX);
    size_t n = 0;
    for (size_t k = BEYOND_SIZES; k > 0 && !pool->data->whole; k--)
        if (values[0] / pow(2, (double)k) >= 1)
            sizes[n++] = values[0] / pow(2, (double)k);
    for (size_t i = 0; i < found; i++)
        sizes[n++] = values[i];
    for (size_t k = 1; k <= BEYOND_SIZES && !pool->data->whole; k++)
        sizes[n++] = values[found - 1] * pow(2, (double)k);
    return n;
}

static enum pv_code set_knots(const struct pool *pool, struct model *model, struct pv_error *err)
{
    struct arena *scratch = pool->data->scratch;
    double ticks[TICKS_MAX];
    double sizes[SIZES_MAX + 2 * BEYOND_SIZES];
    double *values = arena_array(scratch, PROCESS_CELLS_MAX, sizeof *values);
    if (values == NULL)
        return pv_no_memory(err);
    size_t n_ticks = take_counts(pool, values, ticks);
    size_t n_sizes = take_sizes(pool, values, sizes);
    struct model_knot *knots = arena_array(scratch, n_sizes * n_ticks, sizeof *knots);
    if (knots == NULL)
        return pv_no_memory(err);
    for (size_t s = 0; s < n_sizes; s++)
        for (size_t t = 0; t < n_ticks; t++)
            knots[s * n_ticks + t] =
                (struct model_knot){sizes[s], ticks[t], exp(log_time(pool, sizes[s], ticks[t]))};
    model->tables.knots = knots;
    model->tables.n_knots = n_sizes * n_ticks;
    return PV_OK;
}

/* --- the fit --- */

/* What the own runs alone determine. Rows of the fit and then of others, of which the law learns
 * whether a machine idles. */
static enum pv_code
fit_law(const struct model_data *data, const struct model_fit **law, struct pv_error *err)
{
    struct arena *scratch = data->scratch;
    size_t n = data->n + data->n_others;
    struct pv_error why = {0};
    struct model_fit *fit = arena_calloc(scratch, 1, sizeof *fit);
    struct observation *rows = arena_array(scratch, n, sizeof *rows);
    *law = NULL;
    if (fit == NULL || rows == NULL)
        return pv_no_memory(err);
    memcpy(rows, data->rows, data->n * sizeof *rows);
    memcpy(rows + data->n, data->others, data->n_others * sizeof *rows);
    enum pv_code code = model_fit(&combined_kind, rows, n, MODEL_RELATIVE, scratch, fit, &why);
    if (code == PV_E_MEMORY)
        return pv_no_memory(err);
    if (code == PV_OK)
        *law = fit;
    return PV_OK;
}

static void leave_rows_out(const struct pool *pool, const struct model_fit *law, double left_out[])
{
    const struct model_data *data = pool->data;
    for (size_t i = 0; i < data->n; i++) {
        const struct observation *row = &data->rows[i];
        double mean;
        double variance;
        double law_mean;
        double law_variance;
        double without = process_without(pool->process, data, i);
        if (law != NULL &&
            ask_law(pool, row->problem_size, row->executors, &law_mean, &law_variance)) {
            process_predict(pool->process, row->problem_size, row->executors, &mean, &variance);
            /* The rows of the fit are in the order of data->rows. */
            law_mean = log(fmax(law->residuals[i].left_out, 1e-300));
            without = weigh(without, variance, law_mean, law_variance);
        }
        left_out[i] = exp(without);
    }
}

static enum pv_code
fit_pooled(const struct model_data *data, struct model_fit *fit, struct pv_error *err)
{
    struct pool pool = {.data = data};
    const struct model_fit *law;
    size_t curves = 0;
    for (size_t i = 0; i < data->n_others; i++)
        curves += i == 0 || data->others[i].context != data->others[i - 1].context ||
                  data->others[i].problem_size != data->others[i - 1].problem_size;
    if (curves < POOLED_CURVES)
        return pv_fail(err, PV_E_TOO_FEW,
                       "pooled needs runs of at least %d other sets of labels or their problem "
                       "sizes; there are %zu",
                       POOLED_CURVES, curves);
    PV_TRY(process_condition(data->process, data, &pool.process, err));
    process_range(pool.process, pool.executors);
    if (pool.executors[0] == pool.executors[1])
        return pv_fail(err, PV_E_SINGULAR,
                       "pooled needs 2 different executor counts; all runs have %s",
                       quantity_number(pool.executors[0]).text);
    PV_TRY(fit_law(data, &law, err));
    pool.law = law == NULL ? NULL : &law->model;
    PV_TRY(set_knots(&pool, &fit->model, err));
    if (!data->whole)
        leave_rows_out(&pool, law, fit->left_out);
    fit->freedom[0] = data->n > 1 ? (double)(data->n - 1) : 0;
    memcpy(fit->model.uncertainty.pooled_executors, pool.executors, sizeof pool.executors);
    fit->model.reference = MODEL_EXTRAPOLATED;
    fit->theta = process_theta(data->process);
    return PV_OK;
}

static enum pv_code learn_contexts(struct model_data *data, struct pv_error *err)
{
    return data->n_others == 0 ? PV_OK : process_learn(data, &data->process, err);
}

static void pooled_describe(const struct model *model, struct findings *findings)
{
    struct finding *finding =
        finding_add(findings, "pooled_curves",
                    "The curve over executors that these labels' own runs and the curves of other "
                    "labels make likely, read off between %zu knots.",
                    model->tables.n_knots);
    finding_number(finding, "knots", (double)model->tables.n_knots);
}

const struct model_kind pooled_kind = {
    .name = "pooled",
    .forms = MODEL_OF_DURATIONS,
    .tables = MODEL_HAS_KNOTS,
    .pools = true,
    .learn = learn_contexts,
    .fit = fit_pooled,
    .duration_s = interpolated_duration,
    .turning_points = interpolated_turning_points,
    .describe = pooled_describe,
};
