#ifndef API_HISTORY_LOG_TO_SAVE_H
#define API_HISTORY_LOG_TO_SAVE_H

#include "core/history/ingestion.h"
#include "store/store.h"

/*
 * The run of a log into an application's history, exactly once: what an upload and an import have
 * in common. Within its application a log is known by application id, attempt and origin
 * (store/history/run.h).
 */
struct log_save {
    struct store *store;
    const struct principal *who;
    const char *request_id;  /* for audit rows; may be "" */
    const char *application; /* made when there is none of that name */
    size_t labels_max; /* where the log names the application (api/history/event_log_name.h) */
    const unsigned char *digest; /* of the plain log, RUN_DIGEST_BYTES */
    bool advice_named;           /* by the caller, not by the log: it must be there */
    bool dry_run;                /* log_save: find out what would be done, and undo it */
    /* For the record of the attempt (api/history/ingestion_note.h). */
    enum ingestion_road road;
    const char *source; /* of log_source_fit */
    int64_t bytes;      /* as sent; RUN_UNKNOWN */
};

#endif
