#include "core/scaling/selection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Percent; what rounding alone may make of the error of an exact law. */
static const double rounding_percent = 1e-6;
/* Of the least error: beyond it no difference is noise. */
static const double noise_share = 0.2;
/* Of the least error: up to it, and within noise, two candidates tie. */
static const double tie_share = 0.02;

/* Of the least error: by so much a table has to be better than any law. */
static const double table_gain = 0.5;

const char *model_standing_name(enum model_standing standing)
{
    switch (standing) {
    case MODEL_COMPARED:
        return "compared";
    case MODEL_NOT_FITTED:
        return "not_fitted";
    case MODEL_NO_LEAVE_ONE_OUT:
        return "no_leave_one_out";
    case MODEL_FEW_RUNS_USED:
        return "few_runs_used";
    case MODEL_NOT_POSITIVE:
        return "not_positive";
    }
    return "";
}

static enum pv_code out_of_memory(struct pv_error *err)
{
    return pv_fail(err, PV_E_MEMORY, "not enough memory to compare models");
}

/* --- candidates --- */

static enum model_standing judge(const struct model_fit *fit, size_t parameters, size_t n)
{
    /* Fewer runs than parameters would be left: bounds >= 0 may still yield a number then, but
     * not one the runs determine. */
    bool law = fit->model.tables.n_knots == 0;
    if (!isfinite(fit->loo_mape_percent) || (law && fit->n <= parameters))
        return MODEL_NO_LEAVE_ONE_OUT;
    if (fit->n < n - fit->n)
        return MODEL_FEW_RUNS_USED;
    for (size_t i = 0; i < fit->n; i++)
        if (!(fit->residuals[i].predicted > 0))
            return MODEL_NOT_POSITIVE;
    return MODEL_COMPARED;
}

static enum pv_code fit_candidate(const struct observation rows[],
                                  size_t n,
                                  struct arena *arena,
                                  struct model_candidate *candidate,
                                  struct pv_error *err)
{
    struct pv_error why = {0};
    candidate->standing = MODEL_NOT_FITTED;
    candidate->compared_mape_percent = candidate->difference_percent = candidate->noise_percent =
        (double)NAN;
    candidate->code =
        model_fit(candidate->kind, rows, n, MODEL_RELATIVE, arena, &candidate->fit, &why);
    if (candidate->code == PV_E_MEMORY)
        return pv_fail(err, PV_E_MEMORY, "%s", why.detail);
    if (candidate->code != PV_OK) {
        memcpy(candidate->detail, why.detail, sizeof candidate->detail);
        return PV_OK;
    }
    candidate->parameters = model_count_parameters(&candidate->fit.model);
    candidate->standing = judge(&candidate->fit, candidate->parameters, n);
    return PV_OK;
}

static enum pv_code fit_all(const struct observation rows[],
                            size_t n,
                            struct arena *arena,
                            struct model_selection *selection,
                            struct pv_error *err)
{
    size_t kinds = 0;
    while (model_kinds[kinds] != NULL)
        kinds++;
    selection->candidates = arena_calloc(arena, kinds, sizeof *selection->candidates);
    if (selection->candidates == NULL)
        return out_of_memory(err);
    for (size_t k = 0; k < kinds; k++) {
        /* What is fitted to measured stages predicts no whole duration. */
        if (model_kinds[k]->forms == MODEL_OF_STAGES)
            continue;
        struct model_candidate *candidate = &selection->candidates[selection->n++];
        candidate->kind = model_kinds[k];
        enum pv_code code = fit_candidate(rows, n, arena, candidate, err);
        if (code != PV_OK)
            return code;
    }
    return PV_OK;
}

/* --- errors of single runs --- */

/* Absolute percentage errors of leaving each run out: k candidates (rows) by n runs, NAN where a
 * candidate did not use the run. */
struct error_table {
    double *errors;
    size_t n;
    size_t compared;
};

static double *errors_of(const struct error_table *table, size_t k)
{
    return table->errors + k * table->n;
}

/* A run that one of the compared did not use is taken from all of them. */
static void keep_common(const struct model_selection *selection, struct error_table *table)
{
    for (size_t i = 0; i < table->n; i++) {
        bool common = true;
        for (size_t k = 0; k < selection->n; k++)
            if (selection->candidates[k].standing == MODEL_COMPARED)
                common = common && !isnan(errors_of(table, k)[i]);
        table->compared += common;
        for (size_t k = 0; !common && k < selection->n; k++)
            errors_of(table, k)[i] = (double)NAN;
    }
}

static enum pv_code make_table(const struct model_selection *selection,
                               struct arena *arena,
                               struct error_table *table,
                               struct pv_error *err)
{
    size_t cells;
    if (__builtin_mul_overflow(selection->n, table->n, &cells))
        return out_of_memory(err);
    table->errors = arena_array(arena, cells, sizeof *table->errors);
    if (table->errors == NULL)
        return out_of_memory(err);
    for (size_t i = 0; i < cells; i++)
        table->errors[i] = (double)NAN;
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_COMPARED)
            continue;
        for (size_t i = 0; i < candidate->fit.n; i++) {
            const struct model_residual *r = &candidate->fit.residuals[i];
            errors_of(table, k)[r->observation] = 100 * fabs(r->left_out - r->actual) / r->actual;
        }
    }
    keep_common(selection, table);
    return PV_OK;
}

/* --- sums that do not hang on the order of the runs --- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_mean(double values[], size_t n)
{
    double sum = 0;
    qsort(values, n, sizeof *values, ascending);
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static double mean_error(const struct error_table *table, size_t k, double room[])
{
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++)
        if (!isnan(errors_of(table, k)[i]))
            room[n++] = errors_of(table, k)[i];
    return sorted_mean(room, n);
}

/* Standard error of the mean of error a - error b over the runs. */
static double paired_error(const struct error_table *table, size_t a, size_t b, double room[])
{
    size_t n = 0;
    for (size_t i = 0; i < table->n; i++)
        if (!isnan(errors_of(table, a)[i]))
            room[n++] = errors_of(table, a)[i] - errors_of(table, b)[i];
    if (n < 2)
        return 0;
    double mean = sorted_mean(room, n);
    for (size_t i = 0; i < n; i++)
        room[i] = (room[i] - mean) * (room[i] - mean);
    return sqrt(sorted_mean(room, n) / (double)(n - 1));
}

/* --- the choice --- */

/* Where no run is common to all, each candidate is judged by the runs it used. */
static size_t
compare_errors(struct model_selection *selection, const struct error_table *table, double room[])
{
    size_t best = selection->n;
    for (size_t k = 0; k < selection->n; k++) {
        struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_COMPARED)
            continue;
        candidate->compared_mape_percent =
            table->compared > 0 ? mean_error(table, k, room) : candidate->fit.loo_mape_percent;
        if (best == selection->n ||
            candidate->compared_mape_percent < selection->candidates[best].compared_mape_percent)
            best = k;
    }
    return best;
}

static void tell_noise(struct model_selection *selection,
                       const struct error_table *table,
                       size_t best,
                       double room[])
{
    double least = selection->candidates[best].compared_mape_percent;
    for (size_t k = 0; k < selection->n; k++) {
        struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_COMPARED)
            continue;
        double noise =
            k == best ? 0 : fmin(paired_error(table, k, best, room), noise_share * least);
        candidate->difference_percent = candidate->compared_mape_percent - least;
        candidate->noise_percent = fmax(noise, rounding_percent);
        candidate->close = candidate->difference_percent <= candidate->noise_percent;
    }
}

/* The least error of those that follow a law, unless every law exceeds that of a table of what was
 * measured by more than table_gain of it; else the least of all. */
static size_t prefer_law(const struct model_selection *selection, size_t best)
{
    size_t law = selection->n;
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_COMPARED || candidate->kind->tables != 0 ||
            candidate->difference_percent >
                table_gain * selection->candidates[best].compared_mape_percent + rounding_percent)
            continue;
        if (law == selection->n ||
            candidate->compared_mape_percent < selection->candidates[law].compared_mape_percent)
            law = k;
    }
    return law < selection->n ? law : best;
}

/* Of those that tie with the base the one with the fewest parameters, of these the one with the
 * least error. */
static const struct model_candidate *choose(const struct model_selection *selection, size_t base)
{
    const struct model_candidate *chosen = &selection->candidates[base];
    double least = chosen->compared_mape_percent;
    bool is_least = chosen->difference_percent <= 0;
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *other = &selection->candidates[k];
        double behind = other->compared_mape_percent - least;
        bool tied = other->close || (!is_least && other->kind->tables == 0);
        if (!tied || !(behind <= fmax(tie_share * least, rounding_percent)) ||
            other->parameters > chosen->parameters)
            continue;
        /* Of those that rounding alone tells apart the first. */
        double gain = chosen->compared_mape_percent - other->compared_mape_percent;
        if (other->parameters < chosen->parameters || gain > rounding_percent ||
            (gain >= -rounding_percent && other < chosen))
            chosen = other;
    }
    return chosen;
}

static size_t count_standing(const struct model_selection *selection, enum model_standing standing)
{
    size_t n = 0;
    for (size_t k = 0; k < selection->n; k++)
        n += selection->candidates[k].standing == standing;
    return n;
}

static void explain(struct model_selection *selection, size_t best)
{
    const struct model_candidate *chosen = selection->selected;
    const struct model_candidate *least = &selection->candidates[best];
    const char *code = "least_error";
    size_t rivals = count_standing(selection, MODEL_COMPARED);
    if (rivals == 1) {
        code = "only_candidate";
        (void)snprintf(selection->message, sizeof selection->message,
                       "%s is the only kind these runs support; its leave-one-out error is %.3g %%",
                       chosen->kind->name, chosen->compared_mape_percent);
    } else if (chosen == least) {
        (void)snprintf(selection->message, sizeof selection->message,
                       "%s has the least leave-one-out error of %zu kinds: %.3g %% over %zu runs",
                       chosen->kind->name, rivals, chosen->compared_mape_percent,
                       selection->compared);
    } else if (!chosen->close) {
        code = "law_over_table";
        (void)snprintf(
            selection->message, sizeof selection->message,
            "%s errs by %.3g %% with a run left out; %s, which joins what was measured, "
            "errs by %.3g %%, and would have to be better by half to be trusted beyond it",
            chosen->kind->name, chosen->compared_mape_percent, least->kind->name,
            least->compared_mape_percent);
    } else {
        code = "simpler_within_noise";
        (void)snprintf(selection->message, sizeof selection->message,
                       "%s (%zu parameters) errs by %.3g %% with a run left out, %s (%zu) by "
                       "%.3g %%: within noise (%.2g) that is the same, so the simpler is taken",
                       chosen->kind->name, chosen->parameters, chosen->compared_mape_percent,
                       least->kind->name, least->parameters, least->compared_mape_percent,
                       chosen->noise_percent);
    }
    (void)snprintf(selection->code, sizeof selection->code, "%s", code);
}

static void explain_none(struct model_selection *selection)
{
    size_t unfitted = count_standing(selection, MODEL_NOT_FITTED);
    bool all = unfitted == selection->n;
    (void)snprintf(selection->code, sizeof selection->code, "%s",
                   all ? "none_fitted" : "none_comparable");
    (void)snprintf(selection->message, sizeof selection->message,
                   all ? "none of %zu kinds can be fitted to %zu runs"
                       : "none of %zu kinds has a leave-one-out error that can be compared, with "
                         "%zu runs",
                   selection->n, selection->observations);
}

enum pv_code model_select(const struct observation rows[],
                          size_t n,
                          struct arena *arena,
                          struct model_selection *selection,
                          struct pv_error *err)
{
    struct model_selection made = {.observations = n};
    struct error_table table = {.n = n};
    enum pv_code code = fit_all(rows, n, arena, &made, err);
    if (code == PV_OK)
        code = make_table(&made, arena, &table, err);
    if (code != PV_OK)
        return code;
    double *room = arena_array(arena, n, sizeof *room);
    if (room == NULL)
        return out_of_memory(err);
    made.compared = table.compared;
    size_t best = compare_errors(&made, &table, room);
    if (best == made.n) {
        made.compared = 0;
        explain_none(&made);
    } else {
        tell_noise(&made, &table, best, room);
        made.selected = choose(&made, prefer_law(&made, best));
        explain(&made, best);
    }
    *selection = made;
    return PV_OK;
}
