#ifndef STORE_HISTORY_RUN_IMPORT_H
#define STORE_HISTORY_RUN_IMPORT_H

#include "core/history/run_reach.h"
#include "store/history/run.h"

/*
 * Runs taken over in bulk, within one transaction: begin, then for each batch look and write, then
 * end. Looking says what is there already; what that means is the caller's business.
 *
 * The application is not locked until the end, so that single runs can arrive meanwhile; a log that
 * arrives in both ways at once makes one of the two transactions start again (PV_E_RETRY).
 */

/* A run, what is there of it, and what is to become of it. */
struct run_import {
    struct run *run;   /* run->id: the id it asks for */
    char other_id[37]; /* asked for where another application of the team has that id */

    /* filled in by looking */
    bool id_elsewhere;            /* another application of the team has a run of run->id */
    char by_id[37];               /* this application's run of either id, "" for none */
    char by_log[37];              /* and the one that the verdict on its log is about */
    enum run_verdict log_verdict; /* on its log, next to all logs of the run that are stored */
    bool log_same;                /* by_log was read from the very log: it has its digest */
    struct run *known;            /* the runs of these logs, and which of them give way */
    bool *gives_way;
    size_t n_known;
    bool advice_absent; /* advice_id names none of the team's */
    struct run there;   /* by_log, else by_id; with stages, without tasks; not if log_same */

    /* decided by the caller */
    enum run_verdict verdict; /* no conflict */
};

struct run_import_counts {
    int64_t inserted;
    int64_t replaced;
    int64_t kept;
    int64_t merged; /* more runs gave way than were replaced: several logs of one run were stored */
};

/* PV_E_CONFLICT: another import into the application is under way. PV_E_RETRY: it was deleted just
 * now. */
enum pv_code store_run_import_begin(struct store_tx *tx,
                                    const struct application *application,
                                    struct pv_error *err) PV_MUSTCHECK;

/* One round trip for the batch, two more where something of it is there. Ids and logs are each once
 * in a batch. `there` lives in arena. */
enum pv_code store_run_import_find(struct store_tx *tx,
                                   struct arena *arena,
                                   const struct application *application,
                                   struct run_import items[],
                                   size_t n,
                                   struct pv_error *err) PV_MUSTCHECK;

/* Queue what the verdicts say; nothing is waited for. Chooses the final run->id; recorded_us is the
 * caller's to set. */
enum pv_code store_run_import_write(struct store_tx *tx,
                                    const struct application *application,
                                    struct run_import items[],
                                    size_t n,
                                    struct run_import_counts *counts,
                                    struct pv_error *err) PV_MUSTCHECK;

/* One change of the history, one event, one audit row for all; nothing when nothing changed. */
enum pv_code store_run_import_end(struct store_tx *tx,
                                  const struct application *application,
                                  const struct run_import_counts *counts,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif
