#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/history/event_log_save.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "api/shared/upload.h"
#include "api/shared/write.h"
#include "api/workloads/workload_chunks.h"
#include "api/workloads/workload_query.h"
#include "api/workloads/workload_runs.h"
#include "api/workloads/workload_trace.h"
#include "base/plural.h"
#include "codec/workloads/workload.h"
#include "store/workloads/workload.h"
#include "threads/clock.h"

/*
 * POST /v1/workloads: a trace, read while it arrives, or a JSON body that names stored runs. Either
 * way jobs become chunks on the disk; when all are there, one transaction takes the chunks and then
 * the row. So a client that sends slowly holds nothing but disk, one that breaks off leaves nothing,
 * and what is worth another try is tried again without the client.
 */
struct workload_upload {
    struct api *api;
    struct arena arena; /* of the import and of what it comes to */
    bool from_runs;
    struct workload_query query; /* of a trace */
    struct workload_import *import;
    struct workload_chunks chunks;
    struct workload_trace trace;
    VECTOR(char) body; /* that names runs; in the arena */
    bool decoded;
    struct workload_runs runs;
    bool is_read; /* all of it: `record` is what is to be stored */
    struct workload_record record;
    unsigned char hash[32];        /* that an idempotency key guards */
    struct ledger_account storing; /* a place among those that store */
};

/* --- begin --- */

static bool is_json(const struct http_request *request)
{
    static const char json[] = "application/json";
    const char *type = http_header(request, "Content-Type");
    return type != NULL && strncasecmp(type, json, sizeof json - 1) == 0 &&
           strchr("; \t", type[sizeof json - 1]) != NULL;
}

static struct workload_room room_of(const struct config *config)
{
    return (struct workload_room){config->workloads_max, config->workload_bytes_max};
}

/* Refused before the body is sent, unless it was stored before. */
static enum pv_code
check_room(struct api *api, const struct http_request *request, struct pv_error *err)
{
    const struct workload_room room = room_of(api->config);
    store_tx_auto_t *tx = NULL;
    if (http_header(request, "Idempotency-Key") != NULL)
        return PV_OK;
    PV_TRY(api_read(api, request, &tx, err));
    return store_workload_check_room(tx, &room, 1, err);
}

static enum pv_code begin_import(struct workload_upload *upload, struct pv_error *err)
{
    const struct config *config = upload->api->config;
    const struct workload_limits limits = {.jobs = (uint64_t)config->workload_jobs_max,
                                           .tasks = (uint64_t)config->workload_tasks_max,
                                           .job_tasks = (uint64_t)config->workload_job_tasks_max,
                                           .line_bytes = (size_t)config->workload_line_bytes_max,
                                           .open_tasks = (uint64_t)config->workload_open_tasks_max};
    const struct workload_sink sink = workload_chunks_sink(&upload->chunks);
    return workload_import_begin(&upload->query.terms, &limits, &sink, &upload->arena,
                                 &upload->import, err);
}

static enum pv_code
begin_reading(struct workload_upload *upload, struct http_request *request, struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct api *api = upload->api;
    PV_TRY(api_upload_refuse_form(request, "the trace", err));
    upload->from_runs = is_json(request);
    PV_TRY(upload->from_runs ? http_check_query(request, no_parameters, err)
                             : workload_query_read(request, &upload->query, err));
    PV_TRY(check_room(api, request, err));
    PV_TRY(workload_chunks_open(&upload->chunks, api, request->principal.team_id, err));
    PV_TRY(begin_import(upload, err));
    if (!upload->from_runs)
        return workload_trace_open(&upload->trace, api->config, request, upload->import, err);
    workload_runs_open(&upload->runs, api, request->arena);
    return PV_OK;
}

static enum pv_code
upload_begin(void *context, struct http_request *request, void **state, struct pv_error *err)
{
    struct workload_upload *upload = calloc(1, sizeof *upload);
    *state = upload;
    if (upload == NULL)
        return pv_no_memory(err);
    upload->api = context;
    arena_init_beside(&upload->arena, request->arena, 0);
    return begin_reading(upload, request, err);
}

/* --- bytes --- */

/* NUL-terminated at any time. */
static enum pv_code
keep_body(struct workload_upload *upload, const char *bytes, size_t n, struct pv_error *err)
{
    const int64_t most = upload->api->config->body_bytes_max;
    if (n > (uint64_t)most - upload->body.n)
        return pv_fail(err, PV_E_TOO_LARGE, "a body may have at most %lld byte%s (body_bytes_max)",
                       (long long)most, PLURAL(most));
    if (!vector_reserve(&upload->arena, upload->body.items, upload->body.capacity,
                        upload->body.n + n + 1))
        return pv_no_memory(err);
    memcpy(upload->body.items + upload->body.n, bytes, n);
    upload->body.n += n;
    upload->body.items[upload->body.n] = '\0';
    return PV_OK;
}

static enum pv_code
upload_piece(void *context, void *state, const char *bytes, size_t n, struct pv_error *err)
{
    struct workload_upload *upload = state;
    (void)context;
    return upload->from_runs ? keep_body(upload, bytes, n, err)
                             : workload_trace_feed(&upload->trace, bytes, n, err);
}

/* --- the end of reading, on a compute worker --- */

static enum pv_code
decode_body(struct workload_upload *upload, struct http_request *request, struct pv_error *err)
{
    struct http_request whole = *request;
    whole.body = upload->body.n > 0 ? upload->body.items : "";
    whole.body_n = upload->body.n;
    PV_TRY(workload_runs_decode(&upload->runs, &whole, err));
    api_body_hash(&whole, upload->hash);
    upload->decoded = true;
    return PV_OK;
}

static enum pv_code
read_runs(struct workload_upload *upload, struct http_request *request, struct pv_error *err)
{
    if (!upload->decoded)
        PV_TRY(decode_body(upload, request, err));
    return workload_runs_read(&upload->runs, request, upload->import, err);
}

static enum pv_code
read_trace(struct workload_upload *upload, struct http_request *request, struct pv_error *err)
{
    unsigned char digest[32];
    PV_TRY(workload_trace_finish(&upload->trace, digest, err));
    api_upload_hash(request, digest, upload->hash);
    return PV_OK;
}

static enum pv_code write_summary(struct workload_upload *upload,
                                  const struct codec_workload_summary *summary,
                                  struct pv_error *err)
{
    struct writer w;
    writer_init(&w, &upload->arena);
    codec_workload_summary_encode(&w, summary);
    upload->record.summary.at = writer_finish(&w, &upload->record.summary.n);
    return upload->record.summary.at != NULL ? PV_OK : pv_no_memory(err);
}

/* What is to be stored. */
static enum pv_code describe(struct workload_upload *upload, struct pv_error *err)
{
    struct codec_workload_summary summary = {.rates = NULL};
    struct workload_record *record = &upload->record;
    PV_TRY(workload_import_finish(upload->import, &upload->arena, &summary.summary, err));
    record->origin = upload->from_runs ? WORKLOAD_OF_RUNS : upload->query.terms.format;
    record->name = upload->from_runs ? upload->runs.asked.name : upload->query.name;
    workload_record_count(&summary.summary, record);
    clock_uuid7(record->id);
    if (upload->from_runs) {
        summary.durations = &upload->runs.durations;
        workload_runs_warn(&upload->runs, &summary.summary.warnings);
    }
    if (record->origin == WORKLOAD_SWIM)
        summary.rates = &upload->query.terms.rates;
    return write_summary(upload, &summary, err);
}

static enum pv_code
read_rest(struct workload_upload *upload, struct http_request *request, struct pv_error *err)
{
    PV_TRY(upload->from_runs ? read_runs(upload, request, err) : read_trace(upload, request, err));
    PV_TRY(describe(upload, err));
    upload->is_read = true;
    return resources_take(upload->api->resources, RESOURCE_IMPORTS, request->principal.team_id,
                          &upload->storing, 1, err);
}

/* --- storing, on an io worker --- */

static enum pv_code upload_reply(struct http_request *request,
                                 struct http_response *response,
                                 const struct workload_record *record,
                                 struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    codec_workload_encode(&w, record);
    PV_TRY(api_reply_location(request, response, "/v1/workloads", record->id, err));
    return api_reply(response, 201, &w, err);
}

static enum pv_code save_once(struct workload_upload *upload,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    struct api *api = upload->api;
    const struct workload_room room = room_of(api->config);
    struct workload_record stored = upload->record;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(api, request, response, upload->hash, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(workload_chunks_store(&upload->chunks, write.tx, stored.id, err));
    PV_TRY(store_workload_finish(write.tx, request->arena, &room, &stored, err));
    PV_TRY(upload_reply(request, response, &stored, err));
    return api_write_commit(request, response, &write, err);
}

static enum pv_code upload_finish(void *context,
                                  struct http_request *request,
                                  void *state,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    struct workload_upload *upload = state;
    enum pv_code code;
    unsigned attempt = 0;
    (void)context;
    if (!upload->is_read)
        PV_TRY(read_rest(upload, request, err));
    PV_TRY(http_move(request, HTTP_IO));
    do {
        pv_error_clear(err);
        *response = (struct http_response){.status = 0};
        code = save_once(upload, request, response, err);
    } while (log_save_again(code, &attempt));
    return code;
}

static void upload_end(void *context, void *state)
{
    struct api *api = context;
    struct workload_upload *upload = state;
    if (upload == NULL)
        return;
    workload_import_end(upload->import);
    workload_trace_close(&upload->trace);
    workload_runs_close(&upload->runs);
    workload_chunks_close(&upload->chunks, api);
    resources_close(api->resources, &upload->storing);
    arena_fini(&upload->arena);
    free(upload);
}

static int64_t finish_ms(const void *context)
{
    const struct api *api = context;
    return api->config->import_timeout_s * 1000;
}

const struct http_stream workloads_stream = {.begin = upload_begin,
                                             .piece = upload_piece,
                                             .finish = upload_finish,
                                             .end = upload_end,
                                             .finish_ms = finish_ms};
