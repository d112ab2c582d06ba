#ifndef STORE_HISTORY_INGESTION_H
#define STORE_HISTORY_INGESTION_H

#include "core/history/ingestion.h"
#include "store/store.h"

/*
 * Attempts to bring logs in: the table provisor.ingestion. Who and which request are those of the
 * transaction.
 */

/* A log that was accepted: adds the record and closes the open refusals of the same digest, Spark
 * application or source, and those of the same application that have neither of the last two.
 * Deferred: costs no round trip. */
enum pv_code store_ingestion_accept(struct store_tx *tx,
                                    const struct ingestion *ingestion,
                                    struct pv_error *err) PV_MUSTCHECK;

/* A log that was refused: adds the record, or counts the attempt in the record of the same refusal.
 * The team keeps the newest `most` shared records. The record of a file that is no log (is_no_log) is
 * closed at once if its source is known: no log is missing. Deferred. */
enum pv_code store_ingestion_refuse(struct store_tx *tx,
                                    const struct ingestion *ingestion,
                                    int64_t most,
                                    struct pv_error *err) PV_MUSTCHECK;

/* A member that is not given selects everything. */
struct ingestion_filter {
    const char *application;
    const char *outcome; /* one of ingestion_outcome_words */
    bool open;           /* refusals that no later attempt has closed */
    int64_t since_us;    /* RUN_NO_INSTANT: from the first one */
};

struct ingestion_list {
    struct ingestion *items; /* the latest first */
    size_t n;
    bool more;
};

/* Before the id `before` ("": from the latest). */
enum pv_code store_ingestion_list(struct store_tx *tx,
                                  struct arena *arena,
                                  const struct ingestion_filter *filter,
                                  const char *before,
                                  size_t limit,
                                  struct ingestion_list *list,
                                  struct pv_error *err) PV_MUSTCHECK;

/* Delete the records of an application. Deferred. */
enum pv_code ingestion_delete_of_application(struct store_tx *tx,
                                             const char *application,
                                             struct pv_error *err) PV_MUSTCHECK;

/* Delete records older than so many days, but none younger than 30 (as the audit); at most `batch`. */
enum pv_code store_ingestions_expire(struct store_tx *tx,
                                     int64_t days,
                                     size_t batch,
                                     size_t *gone,
                                     struct pv_error *err) PV_MUSTCHECK;

#endif
