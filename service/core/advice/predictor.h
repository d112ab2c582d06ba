#ifndef CORE_ADVICE_PREDICTOR_H
#define CORE_ADVICE_PREDICTOR_H

#include "core/advice/advise.h"
#include "core/scaling/drift/drift_detection.h"
#include "core/scaling/model/observation.h"
#include "core/scaling/selection/selection.h"

/*
 * Which predicts: the recorded tasks, replayed, or a scaling model fitted to the durations of all
 * runs? The one with the lesser leave-one-out error.
 *
 * A model needs PREDICTOR_LEAST_RUNS runs that left-out errors could be had of, and a point within
 * the executors allowed. Where labels make contexts (observation.context), the runs are those of
 * the one asked about; PREDICTOR_LEAST_POOLED do for a kind that learns from the others. Where they
 * tie (to a millionth of a percent), or the model needs what it has not, the replay is taken: it
 * knows what bounds the duration. A replay of a single run has no error to show; then the model
 * has.
 */
enum { PREDICTOR_LEAST_RUNS = 5, PREDICTOR_LEAST_POOLED = 3 };

/* Whether a process over label groups was searched for (core/scaling/model/process_theta.h). */
enum predictor_search { PREDICTOR_NO_SEARCH, PREDICTOR_SEARCHED, PREDICTOR_SEARCH_KEPT };

struct predictor {
    bool has_replay;
    bool has_model;            /* one was fitted and could have been taken */
    const char *model_kind;    /* NULL: none */
    double model_mape_percent; /* NAN */
    enum predictor_search search;
    size_t model_runs;          /* with these cores per executor, of the context asked about */
    double replay_mape_percent; /* NAN */
    size_t replay_runs;
    struct drift drift; /* of the runs' durations; filled in by who watched them */
    size_t runs_watched;
    size_t runs_light;         /* of them, that count less for what they show themselves */
    const char *without_model; /* why there is none to take, where there is none: a clause */
    int64_t runs_missing;      /* so many more allow a model; 0: it is not their number */
};

/*
 * rows      of runs with question->cores_per_executor, durations only.
 * curve     in: the replay's, read where `has_replay`; out: the one chosen. Points in `arena`.
 * predictor strings live in `arena`; nothing was watched. Written also on PV_E_TOO_FEW.
 * PV_E_TOO_FEW without a replay and without a model to take; without_model says what it lacks.
 * PV_E_MEMORY.
 */
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
                              struct pv_error *err) PV_MUSTCHECK;

/* Of the kind that was fitted and has a process; NULL: there is none. */
const struct process_theta *predictor_theta(const struct model_selection *selection);

/* On runs left out, of the one whose curve was taken; NAN: unknown. */
double predictor_error_percent(const struct predictor *predictor, const struct curve *curve);

/* A reason, model_chosen or replay_chosen, with both errors; warnings model_drifted until the model
 * has caught up, runs_down_weighted where a fifth of the runs is. PV_E_MEMORY. */
enum pv_code predictor_explain(const struct predictor *predictor,
                               const struct curve *curve,
                               struct advice *advice,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
