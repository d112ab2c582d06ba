#include "api/history/event_log_save.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/history/event_log_name.h"
#include "api/history/ingestion_note.h"
#include "api/history/run_clock.h"
#include "base/plural.h"
#include "store/advice/advice.h"
#include "threads/clock.h"

enum { SAVE_RETRIES = 3 };

enum pv_code log_save_check_advice(const struct log_save *save,
                                   struct arena *arena,
                                   struct run *run,
                                   struct pv_error *err)
{
    if (run->advice_id[0] == '\0')
        return PV_OK;
    store_tx_auto_t *tx = NULL;
    struct pv_error why;
    pv_error_clear(&why);
    struct advice_row advice;
    PV_TRY(store_begin(save->store, save->who, save->request_id, STORE_READ, &tx, err));
    enum pv_code code = store_advice_find(tx, arena, run->advice_id, &advice, &why);
    store_rollback(&tx);
    if (code == PV_E_NOT_FOUND && save->advice_named)
        return pv_fault(err, PV_PLACE_PARAMETER, "advice_id", "unknown_advice",
                        "there is no such advice");
    if (code == PV_E_NOT_FOUND) {
        run->advice_id[0] = '\0';
        run->warnings.arena = arena;
        (void)finding_add(&run->warnings, "unknown_advice",
                          "the log names advice that does not exist");
        return findings_check(&run->warnings, err);
    }
    if (code != PV_OK && err != NULL)
        *err = why;
    return code;
}

enum pv_code log_save_insert(const struct log_save *save,
                             struct store_tx *tx,
                             struct arena *arena,
                             struct run *run,
                             struct application *application,
                             struct run_insert *insert,
                             struct pv_error *err)
{
    PV_TRY(store_application_ensure(tx, arena, save->application, application, err));
    (void)problem_size_measure(run, NULL, &application->size_measure);
    run_leave_out_lost(run);
    PV_TRY(run_clock_warn(run, arena, err));
    PV_TRY(store_run_insert(tx, arena, application, save->digest, run, insert, err));
    return log_note_accepted(save, tx, run, insert->outcome, err);
}

/* "63.1 s, 200 tasks, unfinished" */
static void say_extent(const struct log_extent *extent, char words[96])
{
    char duration[32] = "unknown duration";
    char tasks[40] = "";
    if (!isnan(extent->duration_s))
        (void)snprintf(duration, sizeof duration, "%.3g s", extent->duration_s);
    if (extent->duration_s >= 1000)
        (void)snprintf(duration, sizeof duration, "%.0f s", extent->duration_s);
    if (extent->tasks >= 0)
        (void)snprintf(tasks, sizeof tasks, ", %" PRId64 " task%s", extent->tasks,
                       PLURAL(extent->tasks));
    (void)snprintf(words, 96, "%s%s%s%s", duration, tasks, extent->ended ? "" : ", unfinished",
                   extent->damage > 0 ? ", damaged" : "");
}

/* If two logs are as complete as each other, the one with the larger digest stays. */
static bool is_as_complete(const struct log_extent *a, const struct log_extent *b)
{
    return a->ended == b->ended && a->damage == b->damage && a->tasks == b->tasks &&
           (a->ended || a->duration_s == b->duration_s);
}

void log_save_say(const struct run_insert *insert, char sentence[LOG_SENTENCE_MAX])
{
    char sent[96];
    char stored[96];
    say_extent(&insert->sent, sent);
    say_extent(&insert->stored, stored);
    bool tie = is_as_complete(&insert->sent, &insert->stored);
    sentence[0] = '\0';
    if (!insert->compared)
        return;
    if (insert->outcome == RUN_REPLACED)
        (void)snprintf(sentence, LOG_SENTENCE_MAX,
                       "replaced %s complete log of this run (%s) by this log (%s); the audit "
                       "has the old figures",
                       tie ? "an equally" : "a less", stored, sent);
    else if (insert->outcome == RUN_UNCHANGED)
        (void)snprintf(sentence, LOG_SENTENCE_MAX,
                       "%s complete log of this run is stored (%s); this log has %s",
                       tie ? "an equally" : "a more", stored, sent);
}

bool log_save_again(enum pv_code code, unsigned *attempt)
{
    if (code != PV_E_RETRY || *attempt >= SAVE_RETRIES)
        return false;
    clock_sleep_for_retry(++*attempt);
    return true;
}

static enum pv_code save_within(const struct log_save *save,
                                struct store_tx *tx,
                                struct arena *arena,
                                struct run *run,
                                struct strview *application,
                                struct run_insert *insert,
                                struct pv_error *err)
{
    struct application row;
    struct log_save named = *save;
    *application = strview_of(save->application);
    if (save->application == NULL)
        PV_TRY(log_name_application(tx, arena, run, save->labels_max, application, err));
    named.application = application->at;
    return log_save_insert(&named, tx, arena, run, &row, insert, err);
}

static enum pv_code save_once(const struct log_save *save,
                              struct arena *arena,
                              struct run *run,
                              struct strview *application,
                              struct run_insert *insert,
                              struct pv_error *err)
{
    PV_TRY(log_save_check_advice(save, arena, run, err));
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(save->store, save->who, save->request_id, STORE_WRITE, &tx, err));
    PV_TRY(save_within(save, tx, arena, run, application, insert, err));
    if (!save->dry_run)
        return store_commit(&tx, err);
    return PV_OK;
}

enum pv_code log_save(const struct log_save *save,
                      struct arena *arena,
                      struct run *run,
                      struct strview *application,
                      struct run_insert *insert,
                      struct pv_error *err)
{
    struct run saved;
    unsigned attempt = 0;
    enum pv_code code;
    *application = (struct strview){NULL, 0};
    do {
        pv_error_clear(err);
        saved = *run;
        code = save_once(save, arena, &saved, application, insert, err);
    } while (log_save_again(code, &attempt));
    if (code == PV_OK)
        *run = saved;
    return code;
}
