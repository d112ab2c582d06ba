#include "core/scaling/history/history_models.h"

#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "base/quantity_text.h"
#include "core/scaling/history/law_errors.h"

/* ", failed 1, without executors 2": of what there is. */
static const char *list_skipped(const struct run_observations *seen, struct arena *arena)
{
    const struct {
        size_t n;
        const char *what;
    } parts[] = {{seen->failed, "failed"},
                 {seen->without_problem_size, "without problem_size"},
                 {seen->without_executors, "without executors"},
                 {seen->without_duration, "without duration_s"}};
    const char *text = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts && text != NULL; i++)
        if (parts[i].n > 0)
            text = arena_printf(arena, "%s, %s %zu", text, parts[i].what, parts[i].n);
    return text;
}

static const struct model_candidate *first_unfitted(const struct model_selection *selection)
{
    for (size_t k = 0; k < selection->n; k++)
        if (selection->candidates[k].standing == MODEL_NOT_FITTED)
            return &selection->candidates[k];
    return NULL;
}

/* What runs on one executor count, and of one size, lack. NULL: there are others. */
static const char *describe_single(const struct run_observations *seen, struct arena *arena)
{
    for (size_t i = 1; i < seen->n; i++)
        if (seen->rows[i].executors != seen->rows[0].executors ||
            seen->rows[i].problem_size != seen->rows[0].problem_size)
            return NULL;
    char runs[48];
    (void)snprintf(runs, sizeof runs, "all %zu runs were", seen->n);
    return arena_printf(arena, "a model needs runs on two executor counts; %s on %s",
                        seen->n == 1   ? "the only run was"
                        : seen->n == 2 ? "both runs were"
                                       : runs,
                        quantity_count(seen->rows[0].executors).text);
}

/* One sentence: what the kind that needs least lacks, and how many runs can be used. */
static enum pv_code
explain_refusal(struct arena *arena, struct history_models *models, struct pv_error *err)
{
    const struct run_observations *seen = &models->seen;
    const struct model_candidate *unfitted = first_unfitted(&models->selection);
    bool none = models->fitted == 0 && unfitted != NULL;
    const char *need = "every kind that fits needs more runs than it has parameters to be judged";
    if (seen->n == 0)
        need = "a model needs runs that succeeded with problem_size, executors and duration_s";
    else if (none) {
        const char *single = describe_single(seen, arena);
        need = single != NULL ? single : unfitted->detail;
    }
    const char *skipped = list_skipped(seen, arena);
    models->refusal_code = none && unfitted->code == PV_E_SINGULAR ? PV_E_SINGULAR : PV_E_TOO_FEW;
    models->refusal =
        skipped == NULL
            ? NULL
            : arena_printf(arena, "%s (%zu of the application's %lld run%s can be used%s)", need,
                           seen->n, (long long)seen->runs, PLURAL(seen->runs), skipped);
    return models->refusal == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code
find_axes(struct arena *arena, struct history_models *models, struct pv_error *err)
{
    const struct run_observations *own = &models->own;
    struct history_axes *axes = &models->axes;
    double *values = arena_array(arena, own->n, sizeof *values);
    if (values == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < own->n; i++)
        values[i] = own->rows[i].problem_size;
    axes->n_sizes = surface_ticks(values, own->n, HISTORY_MODEL_SIZES_MAX, axes->problem_sizes);
    for (size_t i = 0; i < own->n; i++)
        values[i] = own->rows[i].executors;
    axes->n_executors = surface_ticks(values, own->n, HISTORY_MODEL_EXECUTORS_MAX, axes->executors);
    if (own->n > 0)
        models->smallest = surface_smallest(own->rows, own->n);
    return PV_OK;
}

static enum pv_code
select_model(struct arena *arena, struct history_models *models, struct pv_error *err)
{
    struct run_observations *seen = &models->seen;
    struct model_selection *selection = &models->selection;
    PV_TRY(model_select(seen->rows, seen->n, arena, selection, err));
    if (selection->selected != NULL || models->group.n_keys == 0)
        return PV_OK;
    label_group_ignore(&models->group, seen);
    return model_select(seen->rows, seen->n, arena, selection, err);
}

enum pv_code history_models_fit(const struct run_observations *seen,
                                const struct run_label labels[],
                                size_t n,
                                struct arena *arena,
                                struct history_models *models,
                                struct pv_error *err)
{
    *models = (struct history_models){.seen = *seen};
    PV_TRY(label_group_find(&models->seen, labels, n, arena, &models->group, err));
    PV_TRY(history_drift_find(&models->seen, arena, &models->drift, err));
    idle_machine_learn(&models->seen);
    law_errors_learn(&models->seen);
    PV_TRY(select_model(arena, models, err));
    PV_TRY(label_group_runs(&models->seen, arena, &models->own, err));
    PV_TRY(idle_machine_find(&models->seen, &models->own, models->group.ignored, arena,
                             &models->idle, err));
    /* Labels that make a difference and were ignored would count as errors of the law. */
    models->law_error = models->group.ignored ? (double)NAN : law_errors_shown(&models->selection);
    PV_TRY(find_axes(arena, models, err));
    for (size_t k = 0; k < models->selection.n; k++)
        models->fitted += models->selection.candidates[k].standing != MODEL_NOT_FITTED;
    return models->selection.selected != NULL ? PV_OK : explain_refusal(arena, models, err);
}

enum pv_code history_models_runs(struct run_observations *seen,
                                 const struct run_label labels[],
                                 size_t n,
                                 struct arena *arena,
                                 struct run_observations *own,
                                 struct pv_error *err)
{
    struct label_group group;
    struct history_drift drift; /* read by nobody: it weighs the runs */
    PV_TRY(label_group_find(seen, labels, n, arena, &group, err));
    PV_TRY(history_drift_find(seen, arena, &drift, err));
    return label_group_runs(seen, arena, own, err);
}

struct warned_runs history_models_warned(const struct run_observations *seen)
{
    struct warned_runs counts = {.runs = 0};
    for (size_t i = 0; i < seen->n; i++)
        warned_runs_add(&counts, seen->evidence[i].warnings, seen->evidence[i].run_id);
    return counts;
}
