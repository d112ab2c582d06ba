#include "import/bulk.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/history/event_log_name.h"
#include "api/history/event_log_save.h"
#include "api/history/ingestion_note.h"
#include "codec/history/run.h"
#include "ingest/ingest.h"
#include "store/access/access.h"

enum {
    DATABASE_TRIES = 60, /* a second apart, while PostgreSQL cannot be reached */
    THREAD_STACK = 512 * 1024
};

struct bulk {
    const struct bulk_options *options;
    const struct find *find;
    struct ingest_limits limits;
    struct ledger disk;        /* that archives take while they are read, by the one who imports */
    struct ledger_share share; /* of it */
    struct spool_place spool;
    atomic_size_t next;
    atomic_size_t reported;
    atomic_uint_least64_t bytes;
    atomic_size_t working;
    pthread_mutex_t lock; /* of the two that follow */
    bool lost;
    struct pv_error lost_why;
    size_t n_threads;
    pthread_t threads[];
};

static bool stopping(struct bulk *bulk)
{
    if (atomic_load(bulk->options->stop))
        return true;
    pthread_mutex_lock(&bulk->lock);
    bool lost = bulk->lost;
    pthread_mutex_unlock(&bulk->lock);
    return lost;
}

/* --- one log --- */

/* The fault that a reader or check named, else the code. */
static void refuse_item(struct log_result *result, enum pv_code code, const struct pv_error *err)
{
    bool faulty = err->n_faults > 0;
    const char *word = faulty ? err->faults[0].code : pv_code_name(code);
    const char *why = faulty ? err->faults[0].detail : err->detail;
    log_result_say(result, log_is_none(err) ? LOG_IGNORED : LOG_REJECTED, word, why);
}

/* The name that rules folded, and what the reader noticed. */
static void add_notes(const struct run *run, struct log_result *result)
{
    if (result->outcome != LOG_STORED)
        return;
    for (size_t i = 0; i < run->n_labels; i++)
        if (strview_is(run->labels[i].key, LOG_NAME_LABEL))
            log_result_add_name(result, run->labels[i].value);
    for (size_t i = 0; i < run->warnings.n; i++)
        log_result_add_warning(result, run->warnings.items[i].code,
                               finding_value(&run->warnings.items[i], "count"));
}

static enum log_outcome outcome_of(enum run_insert_outcome outcome)
{
    return outcome == RUN_INSERTED   ? LOG_STORED
           : outcome == RUN_REPLACED ? LOG_REPLACED
                                     : LOG_DUPLICATE;
}

/* PostgreSQL may be away for a while, say for a failover: true when it is worth another try. */
static bool try_again(struct bulk *bulk, enum pv_code code, unsigned *tries)
{
    static const struct timespec second = {.tv_sec = 1};
    return code == PV_E_UNAVAILABLE && ++*tries < DATABASE_TRIES && !stopping(bulk) &&
           nanosleep(&second, NULL) == 0;
}

/* What is left is not tried any more. */
static void give_up(struct bulk *bulk, const struct pv_error *why)
{
    pthread_mutex_lock(&bulk->lock);
    if (!bulk->lost)
        bulk->lost_why = *why;
    bulk->lost = true;
    pthread_mutex_unlock(&bulk->lock);
}

/* Options of the import, and the name of this log. */
static struct log_save
describe_save(const struct bulk *bulk, const unsigned char *digest, const char *source)
{
    const struct bulk_options *options = bulk->options;
    return (struct log_save){.store = options->store,
                             .who = &options->who,
                             .request_id = options->request_id,
                             .application = options->application,
                             .labels_max = (size_t)options->config->labels_max,
                             .digest = digest,
                             .dry_run = options->dry_run,
                             .road = INGESTION_IMPORT,
                             .source = source};
}

/* A refusal is reported and recorded; a dry run records nothing. */
static void refuse_log(const struct bulk *bulk,
                       const struct log_save *save,
                       const struct run *run,
                       enum pv_code code,
                       const struct pv_error *err,
                       struct log_result *result)
{
    refuse_item(result, code, err);
    if (!save->dry_run)
        log_note_refused(save, run, bulk->options->config->ingestions_refused_max, code, err);
}

static enum pv_code save_patiently(struct bulk *bulk,
                                   const struct log_save *save,
                                   struct arena *arena,
                                   struct run *run,
                                   struct strview *application,
                                   struct run_insert *insert,
                                   struct pv_error *err)
{
    unsigned tries = 0;
    enum pv_code code;
    do {
        pv_error_clear(err);
        code = log_save(save, arena, run, application, insert, err);
    } while (try_again(bulk, code, &tries));
    if (code == PV_E_UNAVAILABLE)
        give_up(bulk, err);
    return code;
}

static void save_run(struct bulk *bulk,
                     struct arena *arena,
                     const struct log_save *save,
                     struct run *run,
                     struct log_result *result)
{
    struct pv_error err = {.code = PV_OK};
    struct run_insert insert;
    char sentence[LOG_SENTENCE_MAX];
    struct strview application;
    enum pv_code code = save_patiently(bulk, save, arena, run, &application, &insert, &err);
    (void)snprintf(result->application, sizeof result->application, "%.*s", (int)application.n,
                   application.at == NULL ? "" : application.at);
    if (code != PV_OK) {
        struct log_save named = *save;
        named.application = application.at;
        refuse_log(bulk, &named, run, code, &err, result);
        return;
    }
    log_save_say(&insert, sentence);
    log_result_say_read(result, outcome_of(insert.outcome), !run->ended, sentence);
    add_notes(run, result);
    if (!save->dry_run || insert.outcome != RUN_INSERTED)
        memcpy(result->run_id, run->id, sizeof result->run_id);
}

static void take_run(struct bulk *bulk,
                     struct arena *arena,
                     const struct log_save *save,
                     struct run *run,
                     struct log_result *result)
{
    result->warnings = run->warnings.n;
    run->labels = bulk->options->labels;
    run->n_labels = bulk->options->n_labels;
    save_run(bulk, arena, save, run, result);
}

/* A log being read; what it has added to the bytes done so far. */
struct reading {
    struct bulk *bulk;
    const struct find_item *item;
    uint64_t bytes;
};

static bool go_on(void *context, uint64_t bytes)
{
    struct reading *reading = context;
    uint64_t most = reading->item->bytes;
    bytes = bytes < most ? bytes : most;
    if (bytes > reading->bytes)
        atomic_fetch_add(&reading->bulk->bytes, bytes - reading->bytes);
    reading->bytes = bytes > reading->bytes ? bytes : reading->bytes;
    return !stopping(reading->bulk);
}

/* PV_E_CANCELLED: it was not read to its end, and nothing is to be reported of it. */
static enum pv_code
take_log(struct bulk *bulk, const struct find_item *item, struct log_result *result)
{
    struct arena arena;
    struct run run;
    unsigned char digest[INGEST_DIGEST] = {0};
    char source[LOG_SOURCE_MAX];
    struct pv_error err = {.code = PV_OK};
    struct log_save save = describe_save(bulk, digest, source);
    struct reading reading = {bulk, item, 0};
    const struct ingest_watch watch = {go_on, &reading};
    struct ingest_limits limits = bulk->limits;
    limits.watch = &watch;
    save.bytes = (int64_t)item->bytes;
    log_source_fit(&limits.log.privacy, strview_of(item->path), source);
    arena_init(&arena, limits.log.memory_bytes);
    enum pv_code code = ingest_read_path(item->path, &limits, &arena, &run, digest, &err);
    if (code == PV_OK)
        take_run(bulk, &arena, &save, &run, result);
    else if (code != PV_E_CANCELLED)
        refuse_log(bulk, &save, NULL, code, &err, result);
    arena_fini(&arena);
    atomic_fetch_add(&bulk->bytes, item->bytes - reading.bytes);
    return code;
}

/* --- the threads --- */

static void take_item(struct bulk *bulk, const struct find_item *item)
{
    struct log_result result = {.name = item->path, .bytes = item->bytes};
    switch (item->kind) {
    case FIND_LOG:
        if (take_log(bulk, item, &result) == PV_E_CANCELLED)
            return;
        break;
    case FIND_SKIPPED:
        log_result_say(&result, LOG_IGNORED, "no_log", item->reason);
        break;
    case FIND_UNREADABLE:
        log_result_say(&result, LOG_REJECTED, "unreadable", item->reason);
        break;
    }
    atomic_fetch_add(&bulk->reported, 1);
    bulk->options->notify(bulk->options->context, &result);
}

static void *bulk_work(void *argument)
{
    struct bulk *bulk = argument;
    while (!stopping(bulk)) {
        size_t i = atomic_fetch_add(&bulk->next, 1);
        if (i >= bulk->find->n)
            break;
        take_item(bulk, &bulk->find->items[i]);
    }
    atomic_fetch_sub(&bulk->working, 1);
    return NULL;
}

static bool start_thread(struct bulk *bulk)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attributes, THREAD_STACK);
    atomic_fetch_add(&bulk->working, 1);
    bool started =
        pthread_create(&bulk->threads[bulk->n_threads], &attributes, bulk_work, bulk) == 0;
    (void)pthread_attr_destroy(&attributes);
    if (!started)
        atomic_fetch_sub(&bulk->working, 1);
    bulk->n_threads += started;
    return started;
}

enum pv_code bulk_start(const struct bulk_options *options,
                        const struct find *find,
                        struct bulk **started,
                        struct pv_error *err)
{
    size_t threads = options->threads < find->n ? options->threads : find->n;
    unsigned char key[32];
    PV_TRY(store_service_key(options->store, key, err));
    struct bulk *bulk = calloc(1, sizeof *bulk + threads * sizeof bulk->threads[0]);
    if (bulk == NULL)
        return pv_no_memory(err);
    bulk->options = options;
    bulk->find = find;
    ingest_limits_read(options->config, &bulk->limits);
    ingest_limits_set_privacy(&bulk->limits, options->config, key, options->who.team_id);
    bulk->disk.max = bulk->disk.unit = (size_t)options->config->spool_total_bytes_max;
    bulk->share.ledger = &bulk->disk;
    spool_place_init(&bulk->spool, options->config, &bulk->share);
    bulk->limits.spool = &bulk->spool;
    (void)pthread_mutex_init(&bulk->lock, NULL);
    while (bulk->n_threads < threads && start_thread(bulk))
        ;
    if (bulk->n_threads > 0 || threads == 0) {
        *started = bulk; /* fewer threads than wanted do as well */
        return PV_OK;
    }
    pthread_mutex_destroy(&bulk->lock);
    free(bulk);
    return pv_fail(err, PV_E_MEMORY, "no thread could be started");
}

struct log_progress bulk_progress(struct bulk *bulk)
{
    return (struct log_progress){.items = atomic_load(&bulk->reported),
                                 .bytes = atomic_load(&bulk->bytes),
                                 .done = atomic_load(&bulk->working) == 0};
}

void bulk_join(struct bulk *bulk, bool *lost, struct pv_error *err)
{
    for (size_t i = 0; i < bulk->n_threads; i++)
        (void)pthread_join(bulk->threads[i], NULL);
    *lost = bulk->lost;
    if (bulk->lost)
        *err = bulk->lost_why;
    pthread_mutex_destroy(&bulk->lock);
    free(bulk);
}
