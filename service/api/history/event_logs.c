#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/advice/advised_runs.h"
#include "api/history/event_log_name.h"
#include "api/history/event_log_save.h"
#include "api/history/ingestion_note.h"
#include "api/history/run_reply.h"
#include "api/models/fitter.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/upload.h"
#include "api/shared/write.h"
#include "base/uuid.h"
#include "core/history/run_cores.h"
#include "http/target.h"
#include "ingest/ingest.h"
#include "store/history/run_change.h"

/*
 * POST /v1/applications/{name}/eventlogs: a Spark event log, read while it arrives.
 * POST /v1/eventlogs: likewise, into the application that the log names.
 *
 * Bytes go into an intake (decompression, digest, log reader); what is kept is the reader's
 * profile, so an upload of any length takes the same memory. The database is touched once, at the
 * end: an upload that breaks off leaves nothing.
 */
struct upload {
    const struct config *config;
    bool named_by_log;
    const char *name; /* of the application; the request's, NULL where the log names it */
    /* query parameters; RUN_UNKNOWN, "" and 0 where not given */
    double problem_size;
    int64_t executors;
    int64_t cores_per_executor;
    char advice_id[37];
    struct run_label *labels;
    size_t n_labels;

    struct ledger_account disk; /* of the team */
    struct spool_place spool;
    struct ingest *intake;
    struct arena arena; /* of the run */

    bool is_read; /* there are a run and a digest */
    struct run run;
    unsigned char digest[INGEST_DIGEST]; /* zeros: unknown */
    char source[LOG_SOURCE_MAX];
    struct log_save save;
};

/* --- begin --- */

static enum pv_code read_query(struct api *api,
                               struct http_request *request,
                               struct upload *upload,
                               struct pv_error *err)
{
    static const char *const allowed[] = {"problem_size", "executors", "cores_per_executor",
                                          "advice_id",    "label*",    NULL};
    PV_TRY(http_check_query(request, allowed, err));
    if (!upload->named_by_log)
        PV_TRY(api_query_name(request, &upload->name, err));
    PV_TRY(api_query_problem_size(request, &upload->problem_size, err));
    PV_TRY(api_query_count(request, "executors", &upload->executors, err));
    PV_TRY(api_query_count(request, "cores_per_executor", &upload->cores_per_executor, err));
    PV_TRY(api_query_labels(api, request, &upload->labels, &upload->n_labels, err));
    const char *advice = http_query(request, "advice_id");
    if (advice != NULL && !uuid_parse(advice, upload->advice_id))
        return pv_fault(err, PV_PLACE_PARAMETER, "advice_id", "invalid_id", "must be a UUID");
    return PV_OK;
}

static struct upload_bound bound_of(const struct config *config)
{
    return (struct upload_bound){"an event log", config->eventlog_bytes_max, " as sent",
                                 "eventlog_bytes_max"};
}

/* X-Log-Source: what the client calls the log, percent-encoded. */
static enum pv_code read_source(const struct http_request *request,
                                const struct joblog_privacy *privacy,
                                struct upload *upload,
                                struct pv_error *err)
{
    const char *sent = http_header(request, "X-Log-Source");
    if (sent == NULL)
        return PV_OK;
    enum pv_code code = PV_OK;
    const char *name = http_percent_decode(strview_of(sent), false, request->arena, &code);
    if (name == NULL && code == PV_E_MEMORY)
        return pv_no_memory(err);
    if (name == NULL)
        return pv_fault(err, PV_PLACE_HEADER, "X-Log-Source", "invalid_name",
                        "must be percent-encoded UTF-8");
    log_source_fit(privacy, strview_of(name), upload->source);
    return PV_OK;
}

static enum pv_code open_intake(struct api *api,
                                const struct http_request *request,
                                struct upload *upload,
                                const struct ingest_limits *read_limits,
                                struct pv_error *err)
{
    struct ingest_limits limits = *read_limits;
    if (!resources_open(api->resources, RESOURCE_SPOOL, request->principal.team_id, &upload->disk))
        return pv_no_memory(err);
    spool_place_init(&upload->spool, api->config, upload->disk.share);
    limits.spool = &upload->spool;
    arena_init_beside(&upload->arena, request->arena, limits.log.memory_bytes);
    ingest_limits_set_account(&limits, request->arena->account);
    upload->intake = ingest_create(&limits);
    return upload->intake != NULL ? PV_OK : pv_no_memory(err);
}

static enum pv_code event_logs_start(struct api *api,
                                     struct http_request *request,
                                     bool named_by_log,
                                     void **state,
                                     struct pv_error *err)
{
    struct ingest_limits limits;
    unsigned char key[32];
    struct upload *upload = calloc(1, sizeof *upload);
    *state = upload;
    if (upload == NULL)
        return pv_no_memory(err);
    upload->config = api->config;
    upload->named_by_log = named_by_log;
    upload->save =
        (struct log_save){.store = api->store,
                          .who = &request->principal,
                          .request_id = request->request_id,
                          .digest = upload->digest,
                          .road = named_by_log ? INGESTION_LOG_NAME : INGESTION_APPLICATION,
                          .source = upload->source,
                          .bytes = RUN_UNKNOWN};
    const struct upload_bound bound = bound_of(api->config);
    PV_TRY(api_service_key(api, key, err));
    ingest_limits_read(api->config, &limits);
    ingest_limits_set_privacy(&limits, api->config, key, request->principal.team_id);
    PV_TRY(read_source(request, &limits.log.privacy, upload, err));
    PV_TRY(api_upload_refuse_form(request, "the log", err));
    PV_TRY(read_query(api, request, upload, err));
    upload->save.application = upload->name;
    upload->save.advice_named = upload->advice_id[0] != '\0';
    PV_TRY(api_upload_check_length(&bound, request, err));
    return open_intake(api, request, upload, &limits, err);
}

static enum pv_code
event_logs_begin(void *context, struct http_request *request, void **state, struct pv_error *err)
{
    return event_logs_start(context, request, false, state, err);
}

static enum pv_code
begin_named(void *context, struct http_request *request, void **state, struct pv_error *err)
{
    return event_logs_start(context, request, true, state, err);
}

/* --- bytes --- */

static enum pv_code
event_logs_piece(void *context, void *state, const char *bytes, size_t n, struct pv_error *err)
{
    (void)context;
    struct upload *upload = state;
    return ingest_feed(upload->intake, bytes, n, err);
}

/* --- finish --- */

/* The caller's word stands above what the log says. */
static void apply_query(const struct upload *upload, struct run *run)
{
    if (!isnan(upload->problem_size)) {
        run->problem_size = upload->problem_size;
        run->problem_size_given = true;
    }
    if (upload->executors != RUN_UNKNOWN)
        run->executors = upload->executors;
    if (upload->cores_per_executor != RUN_UNKNOWN)
        run->cores_per_executor = upload->cores_per_executor;
    if (upload->advice_id[0] != '\0')
        memcpy(run->advice_id, upload->advice_id, sizeof run->advice_id);
    run->labels = upload->labels;
    run->n_labels = upload->n_labels;
}

/* Executors and cores of the query obey the bound of clusters. */
static enum pv_code
check_query(const struct upload *upload, const struct run *run, struct pv_error *err)
{
    struct run_cores_fault fault;
    bool has_cores = upload->cores_per_executor != RUN_UNKNOWN;
    bool changes = has_cores || upload->executors != RUN_UNKNOWN;
    if (!changes || !run_cores_exceed(run, !has_cores, upload->config->cores_max, &fault))
        return PV_OK;
    return pv_fault(err, PV_PLACE_PARAMETER, fault.member, "out_of_range", "%s", fault.text);
}

/* An archive is read now that it is whole: core's work, in turns with what others want computed. */
static enum pv_code
read_turn(struct http_request *request, struct upload *upload, struct pv_error *err)
{
    static const uint64_t turn_bytes = 8 * 1024 * 1024;
    bool more = false;
    PV_TRY(ingest_end(upload->intake, &more, err));
    if (more)
        PV_TRY(ingest_read(upload->intake, turn_bytes, &more, err));
    return more ? http_turn(request) : PV_OK;
}

/* Of a log that is known already: what the query says corrects its run. */
static enum pv_code correct_known(struct http_request *request,
                                  struct store_tx *tx,
                                  const struct upload *upload,
                                  const struct application *application,
                                  struct run *run,
                                  struct pv_error *err)
{
    bool is_new = upload->problem_size != run->problem_size || !run->problem_size_given;
    struct run_change change = {
        .has_problem_size = !isnan(upload->problem_size) && is_new,
        .has_executors = upload->executors != RUN_UNKNOWN && upload->executors != run->executors,
        .has_cores_per_executor = upload->cores_per_executor != RUN_UNKNOWN &&
                                  upload->cores_per_executor != run->cores_per_executor};
    struct application same;
    change.to.problem_size = upload->problem_size;
    change.to.executors = upload->executors;
    change.to.cores_per_executor = upload->cores_per_executor;
    if (!change.has_problem_size && !change.has_executors && !change.has_cores_per_executor)
        return PV_OK;
    return store_run_change(tx, request->arena, application->name.at, run->id, &change, run, &same,
                            err);
}

/* Those of `provisord import`. */
static const char *const outcome_words[] = {
    [RUN_INSERTED] = "stored", [RUN_UNCHANGED] = "duplicate", [RUN_REPLACED] = "replaced"};

static enum pv_code event_logs_insert(struct http_request *request,
                                      struct http_response *response,
                                      struct store_tx *tx,
                                      const struct upload *upload,
                                      const struct log_save *what,
                                      struct run *run,
                                      struct pv_error *err)
{
    struct application application;
    struct run_insert insert;
    char sentence[LOG_SENTENCE_MAX];
    PV_TRY(log_save_insert(what, tx, request->arena, run, &application, &insert, err));
    log_save_say(&insert, sentence);
    if (insert.outcome == RUN_UNCHANGED)
        PV_TRY(correct_known(request, tx, upload, &application, run, err));
    PV_TRY(api_reply_run_location(request, response, run, application.name, err));
    http_response_header(request, response, "X-Log-Outcome", outcome_words[insert.outcome]);
    if (sentence[0] != '\0')
        http_response_header(request, response, "X-Log-Reason", sentence);
    return api_reply_run(request, response, insert.outcome == RUN_INSERTED ? 201 : 200, run,
                         application.name, 0, err);
}

/* Whose history the run goes into; upload->name, or what the log says. */
static enum pv_code find_name(struct http_request *request,
                              struct store_tx *tx,
                              const struct upload *upload,
                              struct run *run,
                              const char **name,
                              struct pv_error *err)
{
    struct strview folded;
    *name = upload->name;
    if (!upload->named_by_log)
        return PV_OK;
    PV_TRY(log_name_application(tx, request->arena, run, (size_t)upload->config->labels_max,
                                &folded, err));
    *name = folded.at;
    return PV_OK;
}

static enum pv_code event_logs_save(struct api *api,
                                    struct http_request *request,
                                    struct http_response *response,
                                    struct upload *upload,
                                    struct pv_error *err)
{
    struct run run = upload->run;
    struct log_save *what = &upload->save;
    PV_TRY(log_save_check_advice(what, request->arena, &run, err));
    unsigned char hash[32];
    api_upload_hash(request, upload->digest, hash);
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(api, request, response, hash, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(find_name(request, write.tx, upload, &run, &what->application, err));
    PV_TRY(event_logs_insert(request, response, write.tx, upload, what, &run, err));
    PV_TRY(api_write_commit(request, response, &write, err));
    api_history_changed(api, request->principal.team_id, what->application);
    if (response->status == 201)
        advised_runs_count(api, request, &run);
    return PV_OK;
}

static enum pv_code
read_rest(struct http_request *request, struct upload *upload, struct pv_error *err)
{
    PV_TRY(read_turn(request, upload, err));
    PV_TRY(ingest_finish(upload->intake, &upload->arena, &upload->run, upload->digest, err));
    apply_query(upload, &upload->run);
    PV_TRY(check_query(upload, &upload->run, err));
    upload->save.bytes = (int64_t)ingest_counts(upload->intake).bytes_sent;
    upload->is_read = true;
    return PV_OK;
}

static enum pv_code event_logs_finish(void *context,
                                      struct http_request *request,
                                      void *state,
                                      struct http_response *response,
                                      struct pv_error *err)
{
    struct upload *upload = state;
    enum pv_code code;
    unsigned attempt = 0;
    if (!upload->is_read)
        PV_TRY(read_rest(request, upload, err));
    PV_TRY(http_move(request, HTTP_IO));
    do {
        pv_error_clear(err);
        *response = (struct http_response){.status = 0};
        code = event_logs_save(context, request, response, upload, err);
    } while (log_save_again(code, &attempt));
    return code;
}

static void event_logs_refused(void *context, void *state, const struct pv_error *why)
{
    struct api *api = context;
    struct upload *upload = state;
    if (upload->intake != NULL)
        upload->save.bytes = (int64_t)ingest_counts(upload->intake).bytes_sent;
    log_note_refused(&upload->save, upload->is_read ? &upload->run : NULL,
                     api->config->ingestions_refused_max, why->code, why);
}

static void event_logs_end(void *context, void *state)
{
    struct api *api = context;
    struct upload *upload = state;
    if (upload == NULL)
        return;
    if (upload->intake != NULL) {
        struct ingest_counts counts = ingest_counts(upload->intake);
        upload_count(counts.bytes_sent, &counts.read);
    }
    ingest_destroy(upload->intake);
    resources_close(api->resources, &upload->disk);
    arena_fini(&upload->arena);
    free(upload);
}

const struct http_stream eventlogs_stream = {.begin = event_logs_begin,
                                             .piece = event_logs_piece,
                                             .finish = event_logs_finish,
                                             .refused = event_logs_refused,
                                             .end = event_logs_end};
const struct http_stream named_eventlogs_stream = {.begin = begin_named,
                                                   .piece = event_logs_piece,
                                                   .finish = event_logs_finish,
                                                   .refused = event_logs_refused,
                                                   .end = event_logs_end};
