#ifndef API_HISTORY_INGESTION_NOTE_H
#define API_HISTORY_INGESTION_NOTE_H

#include "api/history/log_to_save.h"
#include "core/joblog/common/limits.h"
#include "store/history/run.h"

/* Records of logs that were sent (GET /v1/ingestions), of uploads and imports alike. */

enum { LOG_SOURCE_MAX = 300 };

/*
 * The name of a file or object, fit to be kept: its last part is kept, its folder by the policy for
 * paths. A name that holds a credential, or is not text, becomes its hash, so that the name is still
 * known again. "" if the name is empty.
 */
void log_source_fit(const struct joblog_privacy *privacy,
                    struct strview name,
                    char source[LOG_SOURCE_MAX]);

/* Was the file refused because nothing in it is an event (core/joblog/common/log_reader.h)? */
bool log_is_none(const struct pv_error *err);

/* Record an accepted log within the transaction that stores its run. */
enum pv_code log_note_accepted(const struct log_save *save,
                               struct store_tx *tx,
                               const struct run *run,
                               enum run_insert_outcome outcome,
                               struct pv_error *err) PV_MUSTCHECK;

/*
 * Record a refused log in a transaction of its own; run is NULL if the log was not read. A failure
 * that says nothing about the log (no memory, an unreachable database, a limit of requests) is not
 * recorded. If the record cannot be written, that is logged, and the refusal stands.
 */
void log_note_refused(const struct log_save *save,
                      const struct run *run,
                      int64_t most,
                      enum pv_code code,
                      const struct pv_error *why);

#endif
