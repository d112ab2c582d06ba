#ifndef API_LOG_SAVE_H
#define API_LOG_SAVE_H

#include "store/run.h"

/*
 * The run of a log into an application's history, exactly once: what an upload and an import have
 * in common. A log is known by application id + attempt within its application (store/run.h).
 */
struct log_save {
    struct store *store;
    const struct principal *who;
    const char *request_id;      /* for audit rows; may be "" */
    const char *application;     /* made when there is none of that name */
    const unsigned char *digest; /* of the plain log, RUN_DIGEST_BYTES */
    bool advice_named;           /* by the caller, not by the log: it must be there */
    bool dry_run;                /* log_save: find out what would be done, and undo it */
};

/*
 * Which application the run of a log belongs to, by the name that the log gives itself, folded by
 * the rules of the team of `who` (store/name_rules.h); in `arena`. PV_E_INVALID with a fault: code
 * "no_name" (the log has none), "invalid_name" (longer than 255 characters, control characters) or
 * "name_suspicious" (it looks as if it held a credential, so it is not kept); else as store.h.
 */
enum pv_code log_save_application(struct store *store,
                                  const struct principal *who,
                                  const struct run *run,
                                  struct arena *arena,
                                  struct strview *application,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Is the advice there that the run names? A log may come from a cluster whose service had other
 * advice: then run->advice_id is cleared and the warning unknown_advice added, in `arena`.
 * PV_E_INVALID (parameter advice_id): save->advice_named and it is not there; else as store.h.
 */
enum pv_code log_save_check_advice(const struct log_save *save,
                                   struct arena *arena,
                                   struct run *run,
                                   struct pv_error *err) PV_MUSTCHECK;

/* Within a transaction: the application, made when missing, and the run, as store_run_insert. */
enum pv_code log_save_insert(const struct log_save *save,
                             struct store_tx *tx,
                             struct arena *arena,
                             struct run *run,
                             struct application *application,
                             enum run_insert_outcome *outcome,
                             struct pv_error *err) PV_MUSTCHECK;

/*
 * The bytes of a log cannot be asked for again, so what is worth another try is tried again here:
 * true after a short sleep when code is PV_E_RETRY and *attempt, which counts up from 0, is low.
 */
bool log_save_again(enum pv_code code, unsigned *attempt);

/*
 * All of it in a transaction of its own, tried again where that helps: *run as it is stored
 * (RUN_UNCHANGED: the stored one, without stages). Errors as above; nothing half done.
 */
enum pv_code log_save(const struct log_save *save,
                      struct arena *arena,
                      struct run *run,
                      enum run_insert_outcome *outcome,
                      struct pv_error *err) PV_MUSTCHECK;

#endif
