#ifndef API_HISTORY_EVENT_LOG_NAME_H
#define API_HISTORY_EVENT_LOG_NAME_H

#include "core/history/run.h"
#include "store/history/name_rules.h"

/* Which application the run of a log belongs to where nobody says: the name the log gives itself,
 * folded by the team's rules. */

/* The label under which a run keeps the name that was folded away. */
#define LOG_NAME_LABEL "job_name"

/*
 * The application of a log: by the rules about its Spark properties (JSON as the log has it, or
 * empty), then by those about names; where an application of the whole name exists, that, unless it
 * is the name of a shell or server. In `arena`.
 * PV_E_INVALID with a fault (code "no_name", "invalid_name" or "name_suspicious") when the name
 * cannot be used; PV_E_MEMORY.
 */
enum pv_code log_name_fold(const struct name_rules *rules,
                           bool exists,
                           struct strview name,
                           struct strview properties,
                           struct arena *arena,
                           struct name_folding *folding,
                           struct pv_error *err) PV_MUSTCHECK;

/*
 * *application is in `arena`, NUL-terminated. Where the rules fold the name, run->labels becomes a
 * copy with LOG_NAME_LABEL among them, unless that key is taken, `labels_max` would be passed, or
 * the name looks as if it held a credential before it was folded.
 * PV_E_INVALID as log_name_fold; else as store.h.
 */
enum pv_code log_name_application(struct store_tx *tx,
                                  struct arena *arena,
                                  struct run *run,
                                  size_t labels_max,
                                  struct strview *application,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif
