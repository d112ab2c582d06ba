#ifndef CORE_SCALING_HISTORY_HISTORY_MODELS_H
#define CORE_SCALING_HISTORY_HISTORY_MODELS_H

#include "core/history/warned_runs.h"
#include "core/scaling/history/history_drift.h"
#include "core/scaling/history/idle_machine.h"
#include "core/scaling/history/label_group.h"
#include "core/scaling/model/speedup_surface.h"
#include "core/scaling/selection/selection.h"

/* The models of an application's history: which runs a fit sees, with which weight, which model
 * answers, and what is missing where none does. */

enum { HISTORY_MODEL_SIZES_MAX = 8, HISTORY_MODEL_EXECUTORS_MAX = 12 };

/* Values of an axis where none are asked for: what was observed, thinned. */
struct history_axes {
    double problem_sizes[HISTORY_MODEL_SIZES_MAX];
    size_t n_sizes;
    double executors[HISTORY_MODEL_EXECUTORS_MAX];
    size_t n_executors;
};

struct history_models {
    struct run_observations seen; /* all that was looked at, weighed and with contexts */
    struct run_observations own;  /* of it the runs that the models are for */
    struct surface_base smallest; /* of own; zeros without any */
    struct history_axes axes;     /* of own */
    struct label_group group;
    struct history_drift drift;
    struct idle_machine idle;
    double law_error; /* for other applications (core/scaling/history/law_errors.h); NAN: unknown */
    struct model_selection selection;
    size_t fitted; /* kinds */
    /* Where no kind is selected, why: PV_E_TOO_FEW or PV_E_SINGULAR, and one sentence. */
    enum pv_code refusal_code;
    const char *refusal; /* NULL: one is selected */
};

/*
 * Find the label group, weigh the runs, select for the group; where its runs are too few for any
 * model, for runs of all labels. No kind that can be fitted is an answer, not an error.
 *
 * seen    rows get their contexts and weights; borrowed as long as *models
 * labels  whose group is asked for; n == 0: that of the latest run
 * Fails as label_group_find. What *models points at lives in `arena`.
 */
enum pv_code history_models_fit(const struct run_observations *seen,
                                const struct run_label labels[],
                                size_t n,
                                struct arena *arena,
                                struct history_models *models,
                                struct pv_error *err) PV_MUSTCHECK;

/* Only the runs: of those seen the ones that such a fit would be for, weighed as it weighs them.
 * Fails as label_group_find. */
enum pv_code history_models_runs(struct run_observations *seen,
                                 const struct run_label labels[],
                                 size_t n,
                                 struct arena *arena,
                                 struct run_observations *own,
                                 struct pv_error *err) PV_MUSTCHECK;

/* Counts the runs that have warnings. */
struct warned_runs history_models_warned(const struct run_observations *seen);

#endif
