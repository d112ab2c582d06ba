#include "api/history/ingestion_note.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "codec/json/reader.h"
#include "core/joblog/common/secret_scan.h"
#include "log/log.h"
#include "store/history/ingestion.h"
#include "threads/clock.h"

/* --- the source --- */

static struct strview trim_slashes(struct strview name)
{
    while (name.n > 0 && name.at[name.n - 1] == '/')
        name.n--;
    return name;
}

static size_t length_of_folder(struct strview name)
{
    size_t n = name.n;
    while (n > 0 && name.at[n - 1] != '/')
        n--;
    return n;
}

void log_source_fit(const struct joblog_privacy *privacy,
                    struct strview name,
                    char source[LOG_SOURCE_MAX])
{
    char digits[17] = "";
    name = trim_slashes(name);
    struct strview folder = {name.at, length_of_folder(name)};
    struct strview file = {name.at + folder.n, name.n - folder.n};
    source[0] = '\0';
    if (name.n == 0)
        return;
    /* A credential may hold a slash: its end alone does not look like one. */
    if (!codec_is_name(file) || screen_is_suspicious(name) || screen_is_suspicious(file)) {
        privacy->hash(privacy->key, name, digits);
        (void)snprintf(source, LOG_SOURCE_MAX, "name:%s", digits);
    } else if (privacy->paths == JOBLOG_KEEP && codec_is_name(name)) {
        (void)snprintf(source, LOG_SOURCE_MAX, "%.*s", (int)name.n, name.at);
    } else if (privacy->paths == JOBLOG_DROP || folder.n == 0) {
        (void)snprintf(source, LOG_SOURCE_MAX, "%.*s", (int)file.n, file.at);
    } else {
        privacy->hash(privacy->key, folder, digits);
        (void)snprintf(source, LOG_SOURCE_MAX, "path:%s/%.*s", digits, (int)file.n, file.at);
    }
}

/* --- the record --- */

enum { HEX = 2 * RUN_DIGEST_BYTES + 1, REASON_MAX = 640, RETRIES = 3 };

/* Members that accepted and refused logs have in common. Texts are borrowed from save, run and digest. */
static struct ingestion
describe(const struct log_save *save, const struct run *run, char digest[HEX])
{
    struct ingestion ingestion = {.road = save->road, .bytes = save->bytes};
    if (save->source[0] != '\0')
        ingestion.source = strview_of(save->source);
    if (save->application != NULL && !screen_is_suspicious(strview_of(save->application)))
        ingestion.application = strview_of(save->application);
    if (run != NULL)
        ingestion.spark_application_id = run->spark_application_id;
    if (save->digest != NULL && !sodium_is_zero(save->digest, RUN_DIGEST_BYTES)) {
        (void)sodium_bin2hex(digest, HEX, save->digest, RUN_DIGEST_BYTES);
        ingestion.digest = strview_of(digest);
    }
    return ingestion;
}

/* The key of attempts that share a record. */
static void
say_same(struct ingestion *ingestion, const struct strview parts[], size_t n, char out[HEX])
{
    unsigned char hash[RUN_DIGEST_BYTES];
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, sizeof hash);
    for (size_t i = 0; i < n; i++) {
        (void)crypto_generichash_update(&state, (const unsigned char *)&parts[i].n,
                                        sizeof parts[i].n);
        (void)crypto_generichash_update(&state, (const unsigned char *)parts[i].at, parts[i].n);
    }
    (void)crypto_generichash_final(&state, hash, sizeof hash);
    (void)sodium_bin2hex(out, HEX, hash, sizeof hash);
    ingestion->same = strview_of(out);
}

enum pv_code log_note_accepted(const struct log_save *save,
                               struct store_tx *tx,
                               const struct run *run,
                               enum run_insert_outcome outcome,
                               struct pv_error *err)
{
    static const enum ingestion_outcome outcomes[] = {[RUN_INSERTED] = INGESTION_STORED,
                                                      [RUN_UNCHANGED] = INGESTION_DUPLICATE,
                                                      [RUN_REPLACED] = INGESTION_REPLACED};
    char digest[HEX];
    char same[HEX];
    assert(run != NULL);
    struct ingestion ingestion = describe(save, run, digest);
    ingestion.outcome = outcomes[outcome];
    memcpy(ingestion.run_id, run->id, sizeof ingestion.run_id);
    if (outcome == RUN_UNCHANGED)
        say_same(&ingestion, (struct strview[]){strview_of("duplicate"), strview_of(run->id)}, 2,
                 same);
    return store_ingestion_accept(tx, &ingestion, err);
}

/* --- refusals --- */

bool log_is_none(const struct pv_error *err)
{
    return err->n_faults == 2 && strcmp(err->faults[1].code, "not_a_log") == 0;
}

/* Does the failure say something about the log or the call? Others pass: the log is sent again. */
static bool is_refusal(enum pv_code code)
{
    switch (code) {
    case PV_E_SYNTAX:
    case PV_E_INVALID:
    case PV_E_LIMIT:
    case PV_E_TOO_LARGE:
    case PV_E_MEDIA_TYPE:
    case PV_E_CONFLICT:
    case PV_E_STORAGE:
        return true;
    default:
        return false;
    }
}

/* The first fault with its place, else the detail; never a credential that the reason repeats. */
static void say_reason(struct ingestion *ingestion,
                       enum pv_code code,
                       const struct pv_error *why,
                       char reason[REASON_MAX])
{
    bool faulty = why->n_faults > 0;
    const struct pv_fault *fault = &why->faults[0];
    bool placed = faulty && fault->place != PV_PLACE_POINTER;
    ingestion->outcome = INGESTION_REFUSED;
    ingestion->problem = strview_of(pv_code_name(code));
    ingestion->is_no_log = log_is_none(why);
    if (faulty)
        ingestion->code = strview_of(fault->code);
    (void)snprintf(reason, REASON_MAX, "%s%s%s", placed ? fault->at : "", placed ? ": " : "",
                   faulty                   ? fault->detail
                   : why->detail[0] != '\0' ? why->detail
                                            : pv_code_text(code));
    if (screen_is_suspicious(strview_of(reason)))
        (void)snprintf(reason, REASON_MAX,
                       "%s; the details look like a credential and are not kept",
                       pv_code_text(code));
    ingestion->reason = strview_of(reason);
}

static enum pv_code write_refusal(const struct log_save *save,
                                  const struct ingestion *ingestion,
                                  int64_t most,
                                  struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(store_begin(save->store, save->who, save->request_id, STORE_WRITE, &tx, err));
    PV_TRY(store_ingestion_refuse(tx, ingestion, most, err));
    return store_commit(&tx, err);
}

void log_note_refused(const struct log_save *save,
                      const struct run *run,
                      int64_t most,
                      enum pv_code code,
                      const struct pv_error *why)
{
    char digest[HEX];
    char same[HEX];
    char reason[REASON_MAX];
    struct pv_error err = {.code = PV_OK};
    if (!is_refusal(code))
        return;
    struct ingestion ingestion = describe(save, run, digest);
    say_reason(&ingestion, code, why, reason);
    /* Without a digest the source tells logs apart; without a source nothing does. */
    say_same(&ingestion,
             (struct strview[]){strview_of("refused"), ingestion.reason,
                                ingestion.digest.n > 0 ? ingestion.digest : ingestion.source},
             3, same);
    code = write_refusal(save, &ingestion, most, &err);
    for (unsigned attempt = 1; code == PV_E_RETRY && attempt <= RETRIES; attempt++) {
        clock_sleep_for_retry(attempt);
        pv_error_clear(&err);
        code = write_refusal(save, &ingestion, most, &err);
    }
    if (code != PV_OK)
        LOG_EVENT(LOG_WARN, "ingestion.not_recorded", save->request_id,
                  LOG_TEXT("reason", err.detail));
}
