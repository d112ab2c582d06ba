#include "core/scaling/model/fit.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/numerics/least_squares.h"
#include "core/scaling/model/conflict_check.h"
#include "core/scaling/model/grouped_cv.h"
#include "core/scaling/model/physical_bounds.h"
#include "core/scaling/model/predict.h"

static const double default_confidence = 0.95;

/* --- rows --- */

struct sorted {
    struct observation row;
    size_t index;
};

static int by_value(const void *a, const void *b)
{
    const struct sorted *x = a;
    const struct sorted *y = b;
    int order = observation_compare(&x->row, &y->row);
    return order != 0 ? order : compare_size(x->index, y->index);
}

static int by_context(const void *a, const void *b)
{
    const struct sorted *x = a;
    const struct sorted *y = b;
    return x->row.context != y->row.context ? (x->row.context > y->row.context) * 2 - 1
                                            : by_value(a, b);
}

static bool is_speedup(const struct observation *row)
{
    return !isnan(row->speedup);
}

static bool has_stages(const struct observation *row)
{
    return row->max_task_s > 0 || row->parallel_s > 0;
}

static double actual_of(const struct observation *row, enum model_form form)
{
    switch (form) {
    case MODEL_OF_DURATIONS:
        return row->duration_s;
    case MODEL_OF_SPEEDUPS:
        return row->speedup;
    case MODEL_OF_STAGES:
        return row->serial_s + row->induced_s +
               (row->max_task_s > 0 ? row->max_task_s : row->parallel_s / row->executors);
    }
    return (double)NAN;
}

/* Rows in order, and a weight of 1 for those that have none. */
static void order_rows(struct sorted sorted[], size_t n, int (*order)(const void *a, const void *b))
{
    for (size_t i = 0; i < n; i++)
        if (!(sorted[i].row.weight > 0))
            sorted[i].row.weight = 1;
    qsort(sorted, n, sizeof *sorted, order);
}

static enum pv_code check_form(const struct model_kind *kind,
                               const struct observation rows[],
                               size_t n,
                               enum model_form *form,
                               struct pv_error *err)
{
    if (n == 0)
        return pv_fail(err, PV_E_TOO_FEW, "there are no observations");
    *form = MODEL_OF_STAGES;
    if (kind->forms == MODEL_OF_STAGES)
        return PV_OK;
    *form = is_speedup(&rows[0]) ? MODEL_OF_SPEEDUPS : MODEL_OF_DURATIONS;
    for (size_t i = 1; i < n; i++)
        if (is_speedup(&rows[i]) != is_speedup(&rows[0]))
            return pv_fail(err, PV_E_INVALID, "durations and speedups cannot be fitted together");
    if ((kind->forms & *form) == 0)
        return pv_fail(err, PV_E_INVALID, "%s is fitted to durations, not to speedups", kind->name);
    return PV_OK;
}

/*
 * USBA's paper adds up the times of stages (table 3.2); here the parallel time is what of the
 * duration is not initialization, which also counts gaps and counts parallel stages once.
 */
static void compare_with_stages(const struct model_data *data, struct model_fit *fit)
{
    /* A tenth: smaller gaps between stages are usual. */
    static const double tolerance = 0.1;
    size_t known = 0;
    size_t differ = 0;
    for (size_t i = 0; i < data->n; i++) {
        double parallel_s = data->rows[i].duration_s - data->rows[i].initialization_s;
        double stages_s = data->rows[i].stages_s;
        if (!(stages_s > 0) || isnan(parallel_s))
            continue;
        known++;
        differ += fabs(stages_s - parallel_s) > tolerance * parallel_s;
    }
    if (differ > 0)
        finding_count(
            finding_add(
                &fit->warnings, "stage_times_differ",
                "in %zu of %zu run%s looked at, the stages' durations add up to something more "
                "than %s away from duration_s - initialization_s: gaps, or stages side by side",
                differ, known, PLURAL(known), quantity_share(tolerance).text),
            differ);
}

/* The rows to fit, in canonical order, with where they stood. */
static enum pv_code select_rows(const struct model_kind *kind,
                                const struct observation rows[],
                                size_t n,
                                struct arena *arena,
                                struct model_data *data,
                                size_t **index,
                                struct model_fit *fit,
                                struct pv_error *err)
{
    size_t known = 0;
    size_t own = 0;
    bool stages = data->form == MODEL_OF_STAGES;
    for (size_t i = 0; i < n; i++) {
        own += rows[i].context <= 1;
        known += rows[i].context <= 1 && !isnan(rows[i].initialization_s);
    }
    bool skip = kind->wants_initialization && known > 0;
    struct sorted *sorted = arena_array(arena, n, sizeof *sorted);
    struct observation *chosen = arena_array(arena, n, sizeof *chosen);
    data->factors = arena_array(arena, n, sizeof *data->factors);
    *index = arena_array(arena, n, sizeof **index);
    if (sorted == NULL || chosen == NULL || data->factors == NULL || *index == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        bool wanted = stages ? has_stages(&rows[i]) : !skip || !isnan(rows[i].initialization_s);
        if (!wanted || rows[i].context > 1)
            continue;
        sorted[data->n++] = (struct sorted){rows[i], i};
    }
    if (data->n == 0 && own > 0)
        return pv_fail(err, PV_E_TOO_FEW, "%s needs measured stages; none of %zu observation%s has",
                       kind->name, own, PLURAL(own));
    if (data->n == 0)
        return pv_fail(err, PV_E_TOO_FEW, "there are no observations of the context asked for");
    order_rows(sorted, data->n, by_value);
    for (size_t i = 0; i < data->n; i++) {
        chosen[i] = sorted[i].row;
        (*index)[i] = sorted[i].index;
        bool relative = data->weights == MODEL_RELATIVE || data->form == MODEL_OF_SPEEDUPS;
        data->factors[i] =
            sqrt(chosen[i].weight) / (relative ? actual_of(&chosen[i], data->form) : 1);
    }
    data->rows = chosen;
    data->knows_initialization = known > 0;
    if (skip && data->form == MODEL_OF_DURATIONS)
        compare_with_stages(data, fit);
    conflict_check(data, fit);
    if (data->n < own)
        finding_count(
            finding_add(&fit->warnings, stages ? "stages_unknown" : "initialization_unknown",
                        "%zu observation%s without %s %s left out", own - data->n,
                        PLURAL(own - data->n), stages ? "measured stages" : "initialization_s",
                        PLURAL_VERB(own - data->n, "was", "were")),
            own - data->n);
    else if (kind->wants_initialization && known == 0 && data->form == MODEL_OF_DURATIONS)
        finding_count(
            finding_add(
                &fit->warnings, "initialization_unknown",
                "no observation has initialization_s: whole durations count as parallel time"),
            own);
    return PV_OK;
}

static enum pv_code select_others(const struct observation rows[],
                                  size_t n,
                                  struct arena *arena,
                                  struct model_data *data,
                                  struct pv_error *err)
{
    struct sorted *sorted = arena_array(arena, n, sizeof *sorted);
    struct observation *others = arena_array(arena, n, sizeof *others);
    if (sorted == NULL || others == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (rows[i].context > 1)
            sorted[data->n_others++] = (struct sorted){rows[i], i};
    order_rows(sorted, data->n_others, by_context);
    for (size_t i = 0; i < data->n_others; i++)
        others[i] = sorted[i].row;
    data->others = others;
    return PV_OK;
}

/* --- how good a fit is --- */

static void set_range(const struct model_data *data, struct model_uncertainty *u)
{
    /* Sorted, unknown sizes last. */
    u->problem_size[1] = data->rows[data->n - 1].problem_size;
    u->problem_size[0] = isnan(u->problem_size[1]) ? (double)NAN : data->rows[0].problem_size;
    u->executors[0] = u->executors[1] = data->rows[0].executors;
    for (size_t i = 1; i < data->n; i++) {
        u->executors[0] = fmin(u->executors[0], data->rows[i].executors);
        u->executors[1] = fmax(u->executors[1], data->rows[i].executors);
    }
}

static void fit_set_parameters(struct model *model, const double freedom[])
{
    for (size_t j = 0; j < model->kind->n_parameters; j++) {
        struct model_parameter *parameter = &model->parameters[j];
        double variance = model->uncertainty.covariance[j][j];
        if (!(variance > 0) || parameter->dropped)
            continue;
        parameter->std_error = sqrt(variance);
        parameter->p_value = linear_p_value(parameter->estimate, parameter->std_error, freedom[j]);
    }
}

static void
set_residuals(const struct model_data *data, const size_t index[], struct model_fit *fit)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model bare = fit->model;
    bare.uncertainty.observations = 0;
    for (size_t i = 0; i < data->n; i++) {
        const struct observation *row = &data->rows[i];
        struct model_prediction predicted;
        bare.context = row->context;
        model_predict(&bare, &none, row->problem_size, row->executors, &predicted);
        struct model_residual *residual = &fit->residuals[i];
        *residual = (struct model_residual){.observation = index[i],
                                            .problem_size = row->problem_size,
                                            .executors = row->executors,
                                            .actual = actual_of(row, data->form),
                                            .weight = row->weight,
                                            .left_out = fit->left_out[i],
                                            .left_scale_out = (double)NAN};
        residual->predicted =
            data->form == MODEL_OF_SPEEDUPS ? predicted.speedup : predicted.duration_s;
        residual->error_percent = 100 * (residual->predicted - residual->actual) / residual->actual;
    }
}

/* The errors of the fit are those of its law. Each residual shows what the model predicts. */
static void bound_residuals(const struct model_data *data, struct model_fit *fit)
{
    struct model model = fit->model;
    for (size_t i = 0; data->form == MODEL_OF_DURATIONS && i < data->n; i++) {
        const struct observation *row = &data->rows[i];
        struct model_residual *residual = &fit->residuals[i];
        model.context = row->context;
        residual->predicted = model_duration(&model, row->problem_size, row->executors);
        residual->error_percent = 100 * (residual->predicted - residual->actual) / residual->actual;
    }
}

/* Leaves scores[] ready for the interval; returns the sum of squared residuals. */
static double summarise_errors(struct model_fit *fit, bool relative, struct group_score scores[])
{
    double all = 0;
    double mean = 0;
    for (size_t i = 0; i < fit->n; i++)
        all += fit->residuals[i].weight;
    for (size_t i = 0; i < fit->n; i++)
        mean += fit->residuals[i].weight / all * fit->residuals[i].actual;
    double total = 0;
    double rest = 0;
    double weighted = 0;
    fit->mape_percent = fit->max_error_percent = fit->loo_mape_percent = 0;
    for (size_t i = 0; i < fit->n; i++) {
        const struct model_residual *r = &fit->residuals[i];
        double error = r->predicted - r->actual;
        double off = fabs(r->error_percent);
        double w = r->weight;
        total += w * (r->actual - mean) * (r->actual - mean);
        rest += w * error * error;
        weighted += w * (relative ? error * error / (r->actual * r->actual) : error * error);
        fit->mape_percent += off * w / all;
        fit->max_error_percent = fmax(fit->max_error_percent, off);
        fit->loo_mape_percent += 100 * fabs(r->left_out - r->actual) / r->actual * w / all;
        scores[i] = (struct group_score){prediction_score(r->actual, r->left_out), i, w};
    }
    fit->r_squared = total > 0 ? 1 - rest / total : (double)NAN;
    return weighted;
}

static enum pv_code set_uncertainty(const struct model_data *data,
                                    struct arena *arena,
                                    struct model_fit *fit,
                                    struct pv_error *err)
{
    struct model_uncertainty *u = &fit->model.uncertainty;
    struct group_score *scores = arena_array(arena, fit->n, sizeof *scores);
    if (scores == NULL)
        return pv_no_memory(err);
    u->relative = data->form == MODEL_OF_SPEEDUPS || data->weights == MODEL_RELATIVE;
    double squares = summarise_errors(fit, u->relative, scores);
    u->observations = fit->n;
    u->confidence = default_confidence;
    /* The first parameter of every kind belongs to the part of the law that leaves least. */
    u->freedom = fit->freedom[0];
    u->residual_std = u->freedom > 0 ? sqrt(squares / u->freedom) : (double)NAN;
    if (isfinite(fit->loo_mape_percent))
        return score_table_make(scores, fit->n, 0, u->freedom + REPETITION_FREEDOM, arena, &u->seen,
                                err);
    (void)finding_add(
        &fit->warnings, "no_leave_one_out",
        "some observation alone determines a parameter: there is no leave-one-out error");
    return PV_OK;
}

static int by_observation(const void *a, const void *b)
{
    return compare_size(((const struct model_residual *)a)->observation,
                        ((const struct model_residual *)b)->observation);
}

/* --- where it is fastest --- */

/* At the largest size observed, within the executors that size can use. */
static void find_peak(struct model_fit *fit)
{
    double size = fit->model.uncertainty.problem_size[1];
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction there;
    bool rising;
    if (fit->model.kind->turning_points == NULL || fit->model.form == MODEL_OF_STAGES)
        return;
    /* Of an unknown size any number of executors can be used. */
    double most = isnan(size) ? 1e6 : floor(size);
    double m = model_best_executors(&fit->model, size, most, &rising);
    if (rising)
        return;
    model_predict(&fit->model, &none, size, m, &there);
    if (isfinite(there.speedup))
        fit->peak = (struct model_peak){size, m, there.speedup};
}

/* --- the fit --- */

static bool is_finite(const struct model_fit *fit)
{
    double sum = fit->mape_percent;
    for (size_t j = 0; j < fit->model.kind->n_parameters; j++) {
        double estimate = fit->model.parameters[j].estimate;
        sum += isnan(estimate) ? 0 : estimate;
    }
    return isfinite(sum);
}

static enum pv_code fit_finish(const struct model_data *data,
                               const size_t index[],
                               struct arena *arena,
                               struct model_fit *fit,
                               struct pv_error *err)
{
    fit->residuals = arena_array(arena, data->n, sizeof *fit->residuals);
    if (fit->residuals == NULL)
        return pv_no_memory(err);
    fit->n = data->n;
    fit_set_parameters(&fit->model, fit->freedom);
    if (data->form == MODEL_OF_DURATIONS)
        PV_TRY(physical_bounds_find(data, arena, &fit->model.uncertainty, err));
    set_residuals(data, index, fit);
    set_range(data, &fit->model.uncertainty);
    PV_TRY(set_uncertainty(data, arena, fit, err));
    if (data->form == MODEL_OF_DURATIONS)
        PV_TRY(grouped_cv_run(data, arena, fit, err));
    if (!is_finite(fit))
        return pv_fail(err, PV_E_SINGULAR, "the observations give no finite parameters");
    bound_residuals(data, fit);
    qsort(fit->residuals, fit->n, sizeof *fit->residuals, by_observation);
    if (fit->model.kind->scaling_type != NULL)
        fit->scaling_type = fit->model.kind->scaling_type(&fit->model);
    find_peak(fit);
    return PV_OK;
}

enum pv_code model_fit(const struct model_kind *kind,
                       const struct observation rows[],
                       size_t n,
                       enum model_weights weights,
                       struct arena *arena,
                       struct model_fit *fit,
                       struct pv_error *err)
{
    struct model_data data = {.weights = weights, .scratch = arena};
    struct model_fit made = {.model = model_bare(kind), .warnings = {.arena = arena}};
    size_t *index = NULL;
    PV_TRY(check_form(kind, rows, n, &data.form, err));
    PV_TRY(select_rows(kind, rows, n, arena, &data, &index, &made, err));
    if (kind->pools || kind->learn != NULL)
        PV_TRY(select_others(rows, n, arena, &data, err));
    if (kind->learn != NULL)
        PV_TRY(kind->learn(&data, err));
    made.model.form = data.form;
    made.left_out = arena_array(arena, data.n, sizeof *made.left_out);
    if (made.left_out == NULL)
        return pv_no_memory(err);
    PV_TRY(kind->fit(&data, &made, err));
    PV_TRY(fit_finish(&data, index, arena, &made, err));
    PV_TRY(findings_check(&made.warnings, err));
    *fit = made;
    return PV_OK;
}
