#include "core/scaling/selection/selection.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/selection/cv_errors.h"

/* Percent; what rounding alone may make of the error of an exact law. */
static const double rounding_percent = 1e-6;
/* Of the least error: beyond it no difference is noise. */
static const double noise_share = 0.2;
/* Of the least error: up to it, and within noise, two candidates tie. */
static const double tie_share = 0.02;

/* Of the combination's error: a single kind that errs by less needs no test. */
static const double clear_share = 0.3;
/* That a single kind seems better than the combination though it is not. */
static const double chance = 0.05;
/* Executor counts left out that a t-test needs: with fewer it mostly takes chance for a gain. */
enum { TEST_CELLS = 8 };
/* Of the error of what is taken without them: up to it runs of other contexts are worth more. */
static const double pool_loss = 2;
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
    case MODEL_NO_LEAVE_SCALE_OUT:
        return "no_leave_scale_out";
    case MODEL_FEW_RUNS_USED:
        return "too_few_runs_in_fit";
    case MODEL_NOT_POSITIVE:
        return "not_positive";
    }
    return "";
}

/* --- candidates --- */

static enum model_standing selection_judge(const struct model_fit *fit, size_t parameters, size_t n)
{
    /* Fewer runs than parameters would be left: bounds >= 0 may still yield a number then, but
     * not one the runs determine. */
    bool law = fit->model.kind->tables == 0;
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
        candidate->loo_mape_percent = candidate->scale_mape_percent = (double)NAN;
    candidate->code =
        model_fit(candidate->kind, rows, n, MODEL_RELATIVE, arena, &candidate->fit, &why);
    if (candidate->code == PV_E_MEMORY)
        return pv_fail(err, PV_E_MEMORY, "%s", why.detail);
    if (candidate->code != PV_OK) {
        memcpy(candidate->detail, why.detail, sizeof candidate->detail);
        return PV_OK;
    }
    candidate->parameters = model_count_parameters(&candidate->fit.model);
    size_t own = 0;
    for (size_t i = 0; i < n; i++)
        own += rows[i].context <= 1;
    candidate->standing = selection_judge(&candidate->fit, candidate->parameters, own);
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
        return pv_no_memory(err);
    for (size_t k = 0; k < kinds; k++) {
        /* What is fitted to measured stages predicts no whole duration. */
        if (model_kinds[k]->forms == MODEL_OF_STAGES)
            continue;
        struct model_candidate *candidate = &selection->candidates[selection->n++];
        candidate->kind = model_kinds[k];
        PV_TRY(fit_candidate(rows, n, arena, candidate, err));
    }
    return PV_OK;
}

/* --- errors on what was left out --- */

/* By executor counts where the combination of laws could be judged so: fewer than three counts
 * show nothing of a fourth, nor do speedups of a law that was not tried on them. */
static bool can_leave_scales_out(const struct model_selection *selection)
{
    for (size_t k = 0; k < selection->n; k++)
        if (selection->candidates[k].standing == MODEL_COMPARED &&
            selection->candidates[k].kind == &combined_kind)
            return cv_errors_has_scales(&selection->candidates[k].fit);
    return false;
}

static enum pv_code selection_make_table(const struct model_selection *selection,
                                         enum cv_by by,
                                         struct arena *arena,
                                         struct cv_errors *table,
                                         struct pv_error *err)
{
    const struct model_fit **fits = arena_array(arena, selection->n, sizeof *fits);
    if (fits == NULL)
        return pv_no_memory(err);
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        fits[k] = candidate->standing == MODEL_COMPARED ? &candidate->fit : NULL;
    }
    return cv_errors_make(fits, selection->n, selection->observations, by, arena, table, err);
}

/* Without that count less than half of the runs would be left to judge it by. */
static bool is_one_count_most(const struct observation rows[], size_t n)
{
    size_t own = 0;
    for (size_t i = 0; i < n; i++)
        own += rows[i].context <= 1;
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        for (size_t j = 0; j < n && rows[i].context <= 1; j++)
            same += rows[j].context <= 1 && rows[i].executors == rows[j].executors;
        if (2 * same > own)
            return true;
    }
    return false;
}

/* Both tables; what is compared is taken from *table. */
static enum pv_code judge_all(struct model_selection *selection,
                              const struct observation rows[],
                              struct arena *arena,
                              struct cv_errors *table,
                              struct pv_error *err)
{
    struct cv_errors runs;
    selection->by_executors =
        can_leave_scales_out(selection) && !is_one_count_most(rows, selection->observations);
    for (size_t k = 0; selection->by_executors && k < selection->n; k++)
        if (selection->candidates[k].standing == MODEL_COMPARED &&
            !cv_errors_has_scales(&selection->candidates[k].fit))
            selection->candidates[k].standing = MODEL_NO_LEAVE_SCALE_OUT;
    PV_TRY(selection_make_table(selection, CV_BY_RUNS, arena, &runs, err));
    *table = runs;
    if (selection->by_executors)
        PV_TRY(selection_make_table(selection, CV_BY_SCALES, arena, table, err));
    selection->compared = runs.runs;
    for (size_t k = 0; k < selection->n; k++) {
        struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_COMPARED)
            continue;
        /* Where no run is common to all, each is judged by the runs it used. */
        candidate->loo_mape_percent =
            runs.cells > 0 ? cv_errors_mean(&runs, k) : candidate->fit.loo_mape_percent;
        if (selection->by_executors)
            candidate->scale_mape_percent = cv_errors_mean(table, k);
        candidate->compared_mape_percent = selection->by_executors && table->cells > 0
                                               ? candidate->scale_mape_percent
                                               : candidate->loo_mape_percent;
    }
    return PV_OK;
}

/* --- the choice --- */

/* One law (or table) of the own runs alone. With one size recorded, a law of durations without the
 * size is none: load_per_executor is the same law with the size. */
static bool is_single(const struct model_candidate *candidate)
{
    const struct model *model = &candidate->fit.model;
    bool ignores_size = model->kind->size_use == MODEL_IGNORES_SIZE &&
                        model->form == MODEL_OF_DURATIONS && model->uncertainty.seen_sizes.n == 1;
    return model->kind != &combined_kind && !model->kind->pools && !ignores_size;
}

/* The least error of all, or of all single kinds; selection->n: there is none. */
static size_t find_least(const struct model_selection *selection, bool single)
{
    size_t least = selection->n;
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_COMPARED || (single && !is_single(candidate)))
            continue;
        if (least == selection->n ||
            candidate->compared_mape_percent < selection->candidates[least].compared_mape_percent)
            least = k;
    }
    return least;
}

static void set_noise(struct model_selection *selection, const struct cv_errors *table, size_t best)
{
    double least = selection->candidates[best].compared_mape_percent;
    for (size_t k = 0; k < selection->n; k++) {
        struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_COMPARED)
            continue;
        double noise = k == best ? 0 : fmin(cv_errors_noise(table, k, best), noise_share * least);
        candidate->difference_percent = candidate->compared_mape_percent - least;
        candidate->noise_percent = fmax(noise, rounding_percent);
        candidate->close = candidate->difference_percent <= candidate->noise_percent;
    }
}

/* The least error of the single kinds that follow a law, unless that of a table of what was
 * measured is less by more than table_gain of it. */
static size_t prefer_law(const struct model_selection *selection, size_t least)
{
    double error = selection->candidates[least].compared_mape_percent;
    size_t law = selection->n;
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing != MODEL_COMPARED || candidate->kind->tables != 0 ||
            !is_single(candidate) ||
            candidate->compared_mape_percent > error + table_gain * error + rounding_percent)
            continue;
        if (law == selection->n ||
            candidate->compared_mape_percent < selection->candidates[law].compared_mape_percent)
            law = k;
    }
    return law < selection->n ? law : least;
}

/* Of the single kinds that tie with the base the one with the fewest parameters, of these the one
 * with the least error; of those that differ by rounding alone the first. */
static size_t
choose_single(const struct model_selection *selection, const struct cv_errors *table, size_t base)
{
    size_t chosen = base;
    double least = selection->candidates[base].compared_mape_percent;
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *other = &selection->candidates[k];
        const struct model_candidate *so_far = &selection->candidates[chosen];
        if (other->standing != MODEL_COMPARED || !is_single(other) ||
            other->parameters > so_far->parameters)
            continue;
        double behind = other->compared_mape_percent - least;
        double tie = fmin(cv_errors_noise(table, k, base), tie_share * least);
        if (behind > fmax(tie, rounding_percent))
            continue;
        double gain = so_far->compared_mape_percent - other->compared_mape_percent;
        if (other->parameters < so_far->parameters || gain > rounding_percent ||
            (gain >= -rounding_percent && k < chosen))
            chosen = k;
    }
    return chosen;
}

/* Is a single kind better than the combination by more than chance gives? */
static bool is_clearly_better(const struct model_selection *selection,
                              const struct cv_errors *table,
                              size_t single,
                              size_t combined)
{
    double error = selection->candidates[single].compared_mape_percent;
    double gain = selection->candidates[combined].compared_mape_percent - error;
    if (error <= rounding_percent || error < clear_share * (error + gain))
        return true;
    if (table->cells < TEST_CELLS)
        return false;
    double t = gsl_cdf_tdist_Pinv(1 - chance, (double)(table->cells - 1));
    return gain > t * cv_errors_noise(table, combined, single);
}

static void selection_choose(struct model_selection *selection, const struct cv_errors *table)
{
    size_t combined = selection->n;
    size_t single = find_least(selection, true);
    for (size_t k = 0; k < selection->n; k++)
        if (selection->candidates[k].kind == &combined_kind &&
            selection->candidates[k].standing == MODEL_COMPARED)
            combined = k;
    if (single < selection->n) {
        single = choose_single(selection, table, prefer_law(selection, single));
        selection->single = &selection->candidates[single];
    }
    bool keep_single =
        combined == selection->n ||
        (single < selection->n && is_clearly_better(selection, table, single, combined));
    size_t chosen = keep_single ? single : combined;
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *other = &selection->candidates[k];
        if (other->standing == MODEL_COMPARED && other->kind->pools &&
            (chosen == selection->n ||
             other->compared_mape_percent <
                 pool_loss * selection->candidates[chosen].compared_mape_percent))
            chosen = k;
    }
    selection->selected = &selection->candidates[chosen];
}

static size_t count_standing(const struct model_selection *selection, enum model_standing standing)
{
    size_t n = 0;
    for (size_t k = 0; k < selection->n; k++)
        n += selection->candidates[k].standing == standing;
    return n;
}

/* "leave-one-out error", "over 20 runs" or by executor counts. */
static const char *error_word(const struct model_selection *selection)
{
    return selection->by_executors ? "error on executor counts left out" : "leave-one-out error";
}

static void explain_single(struct model_selection *selection, const struct model_candidate *least)
{
    const struct model_candidate *chosen = selection->selected;
    const char *code = "least_error";
    size_t rivals = count_standing(selection, MODEL_COMPARED);
    if (rivals == 1) {
        code = "only_candidate";
        (void)snprintf(selection->message, sizeof selection->message,
                       "Only %s can be judged by these runs; its %s is %s.", chosen->kind->name,
                       error_word(selection), quantity_percent(chosen->compared_mape_percent).text);
    } else if (chosen == least || !chosen->close) {
        code = chosen == least ? code : "parametric_preferred";
        (void)snprintf(
            selection->message, sizeof selection->message,
            chosen == least ? "Kind %s has the least %s of %zu kinds: %.3g %% over %zu run%s."
                            : "Kind %s has the least %s of the laws among %zu kinds, %.3g %% over "
                              "%zu run%s; a table of what was measured would have to be better by "
                              "half.",
            chosen->kind->name, error_word(selection), rivals, chosen->compared_mape_percent,
            selection->compared, PLURAL(selection->compared));
    } else {
        code = "simpler_within_noise";
        (void)snprintf(selection->message, sizeof selection->message,
                       "Kind %s (%zu parameter%s) has an %s of %s, %s (%zu) of %s: within "
                       "noise (%s) that is the same, so the simpler is taken.",
                       chosen->kind->name, chosen->parameters, PLURAL(chosen->parameters),
                       error_word(selection), quantity_percent(chosen->compared_mape_percent).text,
                       least->kind->name, least->parameters,
                       quantity_percent(least->compared_mape_percent).text,
                       quantity_number(chosen->noise_percent).text);
    }
    (void)snprintf(selection->code, sizeof selection->code, "%s", code);
}

static void explain(struct model_selection *selection, const struct model_candidate *least)
{
    const struct model_candidate *single = selection->single;
    if (selection->selected->kind->pools) {
        (void)snprintf(selection->code, sizeof selection->code, "pooled");
        (void)snprintf(selection->message, sizeof selection->message,
                       "With what runs of other labels teach, the %s is %s, less than by the "
                       "own runs alone.",
                       error_word(selection),
                       quantity_percent(selection->selected->compared_mape_percent).text);
        return;
    }
    if (selection->selected->kind != &combined_kind || single == NULL) {
        explain_single(selection, least);
        return;
    }
    (void)snprintf(selection->code, sizeof selection->code, "combination");
    (void)snprintf(selection->message, sizeof selection->message,
                   "Several laws combined have an %s of %s. The best single kind, %s, has "
                   "%s: not clearly less (t-test at %s).",
                   error_word(selection),
                   quantity_percent(selection->selected->compared_mape_percent).text,
                   single->kind->name, quantity_percent(single->compared_mape_percent).text,
                   quantity_share(chance).text);
}

static void explain_none(struct model_selection *selection)
{
    size_t unfitted = count_standing(selection, MODEL_NOT_FITTED);
    bool all = unfitted == selection->n;
    (void)snprintf(selection->code, sizeof selection->code, "%s",
                   all ? "none_fitted" : "no_error_comparable");
    (void)snprintf(selection->message, sizeof selection->message,
                   all ? "None of %zu kinds can be fitted to %zu run%s."
                       : "None of %zu kinds has a leave-one-out error that can be compared, with "
                         "%zu run%s.",
                   selection->n, selection->observations, PLURAL(selection->observations));
}

enum pv_code model_select(const struct observation rows[],
                          size_t n,
                          struct arena *arena,
                          struct model_selection *selection,
                          struct pv_error *err)
{
    struct model_selection made = {.observations = n};
    struct cv_errors table;
    PV_TRY(fit_all(rows, n, arena, &made, err));
    PV_TRY(judge_all(&made, rows, arena, &table, err));
    size_t least = find_least(&made, false);
    if (least == made.n) {
        made.compared = 0;
        explain_none(&made);
    } else {
        set_noise(&made, &table, least);
        selection_choose(&made, &table);
        explain(&made, &made.candidates[least]);
    }
    *selection = made;
    return PV_OK;
}

/* What the kind that needs least lacks, where none can be compared. */
static enum pv_code refuse_all(const struct model_selection *selection, struct pv_error *err)
{
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *candidate = &selection->candidates[k];
        if (candidate->standing == MODEL_NOT_FITTED && candidate->code != PV_E_INVALID)
            return pv_fail(err, candidate->code, "%.*s: %s", (int)strcspn(selection->message, "."),
                           selection->message, candidate->detail);
    }
    return pv_fail(err, PV_E_TOO_FEW, "%s", selection->message);
}

enum pv_code model_fit_or_select(const struct model_kind *kind,
                                 const struct observation rows[],
                                 size_t n,
                                 enum model_weights weights,
                                 struct arena *arena,
                                 struct model_selection *selection,
                                 struct model_fit *fit,
                                 struct pv_error *err)
{
    if (kind != NULL)
        return model_fit(kind, rows, n, weights, arena, fit, err);
    PV_TRY(model_select(rows, n, arena, selection, err));
    if (selection->selected == NULL)
        return refuse_all(selection, err);
    *fit = selection->selected->fit;
    return PV_OK;
}
