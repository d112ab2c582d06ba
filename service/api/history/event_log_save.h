#ifndef API_HISTORY_EVENT_LOG_SAVE_H
#define API_HISTORY_EVENT_LOG_SAVE_H

#include "api/history/log_to_save.h"
#include "store/history/run.h"

/*
 * Is the advice there that the run names? A log may come from a cluster whose service had other
 * advice: then run->advice_id is cleared and the warning unknown_advice added, in `arena`.
 * PV_E_INVALID (parameter advice_id): save->advice_named and it is not there; else as store.h.
 */
enum pv_code log_save_check_advice(const struct log_save *save,
                                   struct arena *arena,
                                   struct run *run,
                                   struct pv_error *err) PV_MUSTCHECK;

/* Within a transaction: the application, made when missing, the run, as store_run_insert, and the
 * record of the attempt. */
enum pv_code log_save_insert(const struct log_save *save,
                             struct store_tx *tx,
                             struct arena *arena,
                             struct run *run,
                             struct application *application,
                             struct run_insert *insert,
                             struct pv_error *err) PV_MUSTCHECK;

/* A sentence about the other log of the run: the log that was replaced, or the more complete log that
 * is stored. "" if no other log was compared. */
enum { LOG_SENTENCE_MAX = 320 };
void log_save_say(const struct run_insert *insert, char sentence[LOG_SENTENCE_MAX]);

/*
 * The bytes of a log cannot be asked for again, so what is worth another try is tried again here:
 * true after a short sleep when code is PV_E_RETRY and *attempt, which counts up from 0, is low.
 */
bool log_save_again(enum pv_code code, unsigned *attempt);

/*
 * All of it in a transaction of its own, tried again where that helps: *run as it is stored
 * (RUN_UNCHANGED: the stored one, without stages). Without save->application it is the one that the
 * log names; *application says which as soon as it is known, also on failure, in `arena`. Errors
 * as above and of log_name_application; nothing half done.
 */
enum pv_code log_save(const struct log_save *save,
                      struct arena *arena,
                      struct run *run,
                      struct strview *application,
                      struct run_insert *insert,
                      struct pv_error *err) PV_MUSTCHECK;

#endif
