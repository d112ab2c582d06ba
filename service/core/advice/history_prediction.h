#ifndef CORE_ADVICE_HISTORY_PREDICTION_H
#define CORE_ADVICE_HISTORY_PREDICTION_H

#include "core/advice/history_extent.h"
#include "core/advice/latest_run.h"
#include "core/advice/predictor.h"
#include "core/advice/question.h"
#include "core/advice/quotas.h"
#include "core/advice/spark_history.h"
#include "core/advice/unrelated_runs.h"
#include "core/diagnosis/bottlenecks.h"
#include "core/scaling/history/label_group.h"
#include "core/scaling/model/process_theta.h"
#include "core/spark/memory_history.h"

/* What is predicted of an application from its history, or of a profile: the curve that advice
 * chooses from, and how it came to be. */

/* What is loaded of a history. */
struct advice_history {
    struct run_observations seen; /* of the latest runs, with the contexts of `group` */
    struct label_group group;
    /* Runs that can be replayed, nearest in size first: those of the group where labels make one;
     * failing these, those of all. */
    struct run *own;
    size_t n_own;
    struct run *nearest;
    size_t n_nearest;
    struct run *latest; /* newest first, whatever became of them, without stages */
    size_t n_latest;
    const char *size_measure;    /* of the sizes of the runs that are used; NULL: unknown */
    size_t n_measured_otherwise; /* of the latest runs, which are not used */
    const char *lack;            /* where there are none: why, a clause */
    bool streaming;              /* there are none, but runs of a streaming application */
    bool session;                /* the runs are of interactive sessions */
};

struct history_prediction {
    struct curve curve;
    struct curve replayed;      /* the replay's, whichever was chosen; n_points 0: there is none */
    struct predictor predictor; /* how the curve came to be; neither flag set: of a profile */
    struct quota_source stages; /* of the nearest run that has them */
    struct label_group group;   /* whose runs it is from; n_keys == 0: all are alike */
    struct unrelated_runs unrelated;
    struct latest_run latest; /* whether the newest run deviates */
    bool from_own;            /* replayed runs and stages are those of the group */
    struct history_extent extent;
    struct spark_before spark; /* what it ran with */
    struct memory_history memory;
    int64_t memory_per_core_bytes; /* of the limits; what advice plans memory by */
    size_t memory_cut_runs;
    double executor_startup_s;      /* median of the latest runs' medians; NAN: unknown */
    struct bottlenecks bottlenecks; /* of the nearest run that has stages */
    const char *lack;               /* why there is no curve, a clause; NULL: there is one */
    struct warned_runs newest;      /* counted only without a curve */
    bool streaming;                 /* there is none because it is a streaming application */
    bool session;                   /* the runs are of interactive sessions, no guide to a job */
    size_t n_measured_otherwise;    /* as in advice_history */
};

/*
 * Weigh the runs, and predict from those of the group: by replay or by a model, whichever errs
 * less; where they allow neither, from all runs. Where the question leaves size or cores open, the
 * nearest run fills in, or the latest where none can be replayed.
 *
 * history  its rows and runs get their weights; borrowed during the call
 * arena    holds what *made points at; scratch is back at its mark
 *
 * Where neither can be done, made->lack says why and there is no curve. PV_E_LIMIT: what could be
 * replayed is beyond the budget and there is no model. PV_E_MEMORY. GSL's error handler must be
 * off.
 */
enum pv_code history_predict(const struct advice_question *question,
                             const struct advice_limits *limits,
                             struct advice_history *history,
                             struct arena *arena,
                             struct arena *scratch,
                             struct history_prediction *made,
                             struct pv_error *err) PV_MUSTCHECK;

/*
 * What history_predict searches for where it pools label groups, for whoever keeps it for later
 * (seen->theta): of the latest run's cores per executor, for questions with any labels. *theta is in
 * the arena; NULL: nothing is pooled.
 *
 * seen  with the contexts that a question without labels gives it. PV_E_MEMORY.
 */
enum pv_code history_learn_theta(struct run_observations *seen,
                                 struct arena *arena,
                                 const struct process_theta **theta,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The same from question->profile alone. PV_E_TOO_FEW comes with a fault at /profile. */
enum pv_code profile_predict(const struct advice_question *question,
                             const struct advice_limits *limits,
                             struct arena *arena,
                             struct arena *scratch,
                             struct history_prediction *made,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
