#ifndef STORE_MODELS_APPLICATION_MODEL_H
#define STORE_MODELS_APPLICATION_MODEL_H

#include "core/scaling/history/run_observations.h"
#include "core/scaling/model/process_theta.h"
#include "store/store.h"

/* What an application's history teaches about how it scales: the runs as observations, and the
 * models fitted to them, kept until the history moves on. */

/*
 * The newest runs of the application, at most `most`, out of columns of the run alone; only of some
 * of them the durations of the stages are added up, to be compared. One statement, so
 * history_version and rows belong together; another reads what other applications show
 * (store_team_evidence). PV_E_NOT_FOUND.
 */
enum pv_code store_run_observations(struct store_tx *tx,
                                    struct arena *arena,
                                    const char *application_id,
                                    size_t most,
                                    struct run_observations *observations,
                                    struct pv_error *err) PV_MUSTCHECK;

/*
 * Sets observations->idle and law_errors: what the kept models of the team's other applications
 * show of a machine that does no work, and how far their laws err. Of the most recently fitted
 * applications, IDLE_APPLICATIONS_MAX for each way of counting, and LAW_ERRORS_MAX. By itself, of
 * runs read otherwise.
 */
enum pv_code store_team_evidence(struct store_tx *tx,
                                 struct arena *arena,
                                 const char *application_id,
                                 struct run_observations *observations,
                                 struct pv_error *err) PV_MUSTCHECK;

/* theta kept of the application's runs, of whichever version of its history; NULL: none. In the
 * arena. */
enum pv_code store_theta_find(struct store_tx *tx,
                              struct arena *arena,
                              const char *application_id,
                              const struct process_theta **theta,
                              struct pv_error *err) PV_MUSTCHECK;

/* Keep it beside the application's models, where there are any. */
enum pv_code store_theta_keep(struct store_tx *tx,
                              const char *application_id,
                              const struct process_theta *theta,
                              struct pv_error *err) PV_MUSTCHECK;

struct application_model {
    char application_id[37];
    struct strview application; /* its name */
    int64_t history_now;        /* history_version of the application */
    int64_t history_version;    /* that the models were fitted to; RUN_UNKNOWN: never fitted */
    struct strview fingerprint; /* of the fits: revision of the program's, settings */
    int64_t fitted;             /* how many kinds could be */
    struct strview selected;    /* the kind; at == NULL: none */
    struct strview refusal_code;
    struct strview refusal; /* where none is selected: what is missing */
    struct strview document;
    double idle_evidence;  /* what the runs show of a machine that does no work; NAN: nothing */
    bool idle_counted;     /* of executors counted in event logs, else of machines */
    double law_error;      /* how far laws err on executor counts left out; NAN: unknown */
    struct strview refit;  /* what the last refit found, a JSON text; at == NULL: there was none */
    int64_t refit_version; /* the history_version that it belongs to */
    struct strview drift_event; /* data of model.drifted, a JSON text; at == NULL: none is due */
    int64_t drift_us;           /* the instant of the run that gave the drift away */
};

/* The application of that name with what is kept of its models. PV_E_NOT_FOUND: no application. */
enum pv_code store_application_model_find(struct store_tx *tx,
                                          struct arena *arena,
                                          const char *name,
                                          struct application_model *model,
                                          struct pv_error *err) PV_MUSTCHECK;

/*
 * Keep the models, unless ones of a later history are there or the application is gone. Where a
 * drift is due to be reported and none of a run as late was reported before, its event goes into
 * the outbox with them.
 */
enum pv_code store_application_model_keep(struct store_tx *tx,
                                          const struct application_model *model,
                                          struct pv_error *err) PV_MUSTCHECK;

/*
 * Keep what a refit found at that history version, unless one of a later version is there; *now is
 * the application's history_version as it is. Behind store_application_model_keep in one
 * transaction. PV_E_NOT_FOUND: the application was removed.
 */
enum pv_code store_application_refit_keep(struct store_tx *tx,
                                          const char *application_id,
                                          int64_t history_version,
                                          struct strview refit,
                                          int64_t *now,
                                          struct pv_error *err) PV_MUSTCHECK;

#endif
