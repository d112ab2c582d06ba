#include "core/advice/predictor.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/advice/model_curve.h"
#include "core/scaling/model/process_theta.h"

/* Errors that differ by less differ by rounding; the replay is kept then. */
static const double tie_percent = 1e-6;

static bool has_point_within(const struct curve *curve, int64_t least, int64_t most)
{
    for (size_t i = 0; i < curve->n_points; i++)
        if (curve->points[i].executors >= least && curve->points[i].executors <= most)
            return true;
    return false;
}

static size_t count_own(const struct observation rows[], size_t n)
{
    size_t own = 0;
    for (size_t i = 0; i < n; i++)
        own += rows[i].context <= 1;
    return own;
}

static enum pv_code tell_too_few(const struct curve_question *question,
                                 size_t own,
                                 bool has_contexts,
                                 struct arena *arena,
                                 struct predictor *predictor,
                                 struct pv_error *err)
{
    predictor->runs_missing = PREDICTOR_LEAST_RUNS - (int64_t)own;
    predictor->without_model = arena_printf(
        arena, "it takes %d runs with %" PRId64 " core%s per executor%s, and there are %zu",
        PREDICTOR_LEAST_RUNS, question->cores_per_executor, PLURAL(question->cores_per_executor),
        has_contexts ? " and labels like these" : "", own);
    return predictor->without_model == NULL ? pv_no_memory(err) : PV_OK;
}

const struct process_theta *predictor_theta(const struct model_selection *selection)
{
    for (size_t k = 0; k < selection->n; k++)
        if (selection->candidates[k].standing != MODEL_NOT_FITTED &&
            selection->candidates[k].fit.theta != NULL)
            return selection->candidates[k].fit.theta;
    return NULL;
}

/* Why none of all kinds can be selected: what the kind that needs least lacks. */
static enum pv_code tell_unfitted(const struct model_selection *selection,
                                  struct arena *arena,
                                  struct predictor *predictor,
                                  struct pv_error *err)
{
    const char *text = selection->message;
    for (size_t k = selection->n; k-- > 0;)
        if (selection->candidates[k].standing == MODEL_NOT_FITTED &&
            selection->candidates[k].code == PV_E_TOO_FEW)
            text = selection->candidates[k].detail;
    size_t n = strlen(text);
    predictor->without_model = arena_printf(arena, "%.*s", (int)(n - (text[n - 1] == '.')), text);
    return predictor->without_model == NULL ? pv_no_memory(err) : PV_OK;
}

/* The model's curve, or in predictor->without_model why it cannot be taken. */
static enum pv_code fit_curve(const struct observation rows[],
                              size_t n,
                              const struct curve_question *question,
                              const int64_t allowed[2],
                              struct arena *arena,
                              struct arena *scratch,
                              struct curve *curve,
                              struct predictor *predictor,
                              struct pv_error *err)
{
    struct model_selection selection;
    size_t own = count_own(rows, n);
    if (n < PREDICTOR_LEAST_RUNS || own < PREDICTOR_LEAST_POOLED)
        return tell_too_few(question, own, own < n, arena, predictor, err);
    enum pv_code code = model_select(rows, n, scratch, &selection, err);
    if (code != PV_OK)
        return code;
    if (own < PREDICTOR_LEAST_RUNS &&
        (selection.selected == NULL || !selection.selected->kind->pools))
        return tell_too_few(question, own, true, arena, predictor, err);
    if (selection.selected == NULL)
        return tell_unfitted(&selection, arena, predictor, err);
    const struct process_theta *theta = predictor_theta(&selection);
    if (theta != NULL)
        predictor->search = theta->kept ? PREDICTOR_SEARCH_KEPT : PREDICTOR_SEARCHED;
    const struct model_fit *fit = &selection.selected->fit;
    struct pv_error why = {0};
    code = model_curve_make(fit, question, arena, curve, &why);
    if (code == PV_E_MEMORY)
        return pv_fail(err, code, "%s", why.detail);
    if (code != PV_OK || isnan(fit->loo_mape_percent) || isnan(curve->single_s) ||
        !has_point_within(curve, allowed[0], allowed[1])) {
        predictor->without_model =
            arena_printf(arena, "the best one (%s) predicts no time above 0 for these executors",
                         fit->model.kind->name);
        return predictor->without_model == NULL ? pv_no_memory(err) : PV_OK;
    }
    predictor->has_model = true;
    predictor->model_kind = fit->model.kind->name;
    predictor->model_mape_percent = fit->loo_mape_percent;
    predictor->model_runs = fit->n;
    return PV_OK;
}

static bool is_model_better(const struct predictor *predictor)
{
    if (!predictor->has_model || !predictor->has_replay)
        return predictor->has_model;
    return isnan(predictor->replay_mape_percent) ||
           predictor->model_mape_percent < predictor->replay_mape_percent - tie_percent;
}

enum pv_code predictor_choose(const struct observation rows[],
                              size_t n,
                              const struct curve_question *question,
                              int64_t min_executors,
                              int64_t max_executors,
                              bool has_replay,
                              struct arena *arena,
                              struct arena *scratch,
                              struct curve *curve,
                              struct predictor *predictor,
                              struct pv_error *err)
{
    struct predictor made = {.has_replay = has_replay,
                             .model_mape_percent = (double)NAN,
                             .model_runs = count_own(rows, n),
                             .replay_mape_percent = (double)NAN};
    struct curve fitted = {.points = NULL};
    const int64_t allowed[2] = {min_executors, max_executors};
    if (has_replay) {
        made.replay_mape_percent = curve->loo_mape_percent;
        made.replay_runs = curve->runs;
    }
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = fit_curve(rows, n, question, allowed, arena, scratch, &fitted, &made, err);
    arena_rewind(scratch, mark);
    if (code != PV_OK)
        return code;
    *predictor = made;
    if (!made.has_replay && !made.has_model)
        return pv_fail(err, PV_E_TOO_FEW, "no model can be fitted: %.200s", made.without_model);
    /* A model does not know the task slots. */
    memcpy(fitted.slots, curve->slots, sizeof fitted.slots);
    fitted.n_slots = curve->n_slots;
    fitted.fewest_executors = curve->fewest_executors;
    if (is_model_better(&made))
        *curve = fitted;
    return PV_OK;
}

double predictor_error_percent(const struct predictor *predictor, const struct curve *curve)
{
    return curve->model_kind != NULL ? predictor->model_mape_percent
                                     : predictor->replay_mape_percent;
}

static struct finding *
note_choice(const struct predictor *predictor, bool model_chosen, struct advice *advice)
{
    struct findings *reasons = &advice->reasons;
    if (!predictor->has_model)
        return finding_add(
            reasons, "replay_chosen",
            "Recorded runs are replayed, because there is no model to predict from: %s.",
            predictor->without_model);
    if (!model_chosen)
        return finding_add(reasons, "replay_chosen",
                           "Replaying recorded runs is off by %s on average for a run left "
                           "out, the best model (%s) by %s.",
                           quantity_percent(predictor->replay_mape_percent).text,
                           predictor->model_kind,
                           quantity_percent(predictor->model_mape_percent).text);
    if (isnan(predictor->replay_mape_percent))
        return finding_add(reasons, "model_chosen",
                           "The model %s, fitted to %zu run%s, is off by %s on average for "
                           "a run left out; %s.",
                           predictor->model_kind, predictor->model_runs,
                           PLURAL(predictor->model_runs),
                           quantity_percent(predictor->model_mape_percent).text,
                           predictor->has_replay ? "a single run that can be replayed has no such "
                                                   "error to show"
                                                 : "no run can be replayed for this");
    return finding_add(reasons, "model_chosen",
                       "The model %s, fitted to %zu run%s, is off by %s on average for a "
                       "run left out, replaying recorded runs by %s.",
                       predictor->model_kind, predictor->model_runs, PLURAL(predictor->model_runs),
                       quantity_percent(predictor->model_mape_percent).text,
                       quantity_percent(predictor->replay_mape_percent).text);
}

/* Shares of the runs from which on it matters that they count less. */
static const double many_light = 0.2;

static void warn_of_runs(const struct predictor *predictor, struct advice *advice)
{
    const struct drift *drift = &predictor->drift;
    if (drift->state == DRIFT_PRESENT) {
        struct finding *note = finding_add(
            &advice->warnings, "model_drifted",
            "The last %zu run%s %s %s %s than those before: older runs count less and "
            "less, but what is predicted has not caught up yet.",
            drift->runs_since, PLURAL(drift->runs_since),
            PLURAL_VERB(drift->runs_since, "takes", "take"),
            quantity_percent(fabs(drift->change_percent)).text, drift->slower ? "longer" : "less");
        finding_number(note, "change_percent", drift->change_percent);
        finding_number(note, "runs_since", (double)drift->runs_since);
    }
    if ((double)predictor->runs_light > many_light * (double)predictor->runs_watched) {
        struct finding *note = finding_add(
            &advice->warnings, "runs_down_weighted",
            "%zu of %zu run%s count less: they are outliers, were starved of executors, or much of "
            "their work failed.",
            predictor->runs_light, predictor->runs_watched, PLURAL(predictor->runs_watched));
        finding_number(note, "runs", (double)predictor->runs_light);
        finding_number(note, "of", (double)predictor->runs_watched);
    }
}

enum pv_code predictor_explain(const struct predictor *predictor,
                               const struct curve *curve,
                               struct advice *advice,
                               struct pv_error *err)
{
    struct finding *note = note_choice(predictor, curve->model_kind != NULL, advice);
    finding_text(note, "model", predictor->model_kind);
    finding_number(note, "model_loo_mape_percent", predictor->model_mape_percent);
    finding_number(note, "model_runs", (double)predictor->model_runs);
    finding_number(note, "replay_loo_mape_percent", predictor->replay_mape_percent);
    finding_number(note, "replay_runs", (double)predictor->replay_runs);
    warn_of_runs(predictor, advice);
    return advice->reasons.failed || advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}
