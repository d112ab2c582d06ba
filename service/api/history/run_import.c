#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/history/event_log_save.h"
#include "api/history/import_batch.h"
#include "api/models/fitter.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/plural.h"
#include "codec/json/finding.h"
#include "codec/json/ndjson.h"
#include "compression/compression.h"
#include "ingest/spool.h"
#include "threads/clock.h"

/*
 * POST /v1/applications/{name}/runs/import: runs as NDJSON, all or none. While the body arrives
 * each line is checked and the plain bytes go into a spool; the database is not touched. When the
 * body is whole and without fault, one transaction takes the lines from the spool in batches. So a
 * client that sends slowly holds nothing but disk, one that breaks off leaves nothing, and what is
 * worth another try is tried again without the client.
 */
enum { READ_BYTES = 256 * 1024 };

struct taking {
    struct api *api;
    const char *name; /* of the application; the request's */
    struct decompressor *framing;
    struct ledger_account disk; /* of the team */
    struct spool_place place;
    struct spool *spool;
    struct ndjson lines;
    struct arena arena; /* of the line being checked */
    int64_t now_us;
    uint64_t sent_bytes;
    uint64_t plain_bytes;
    uint64_t records;
    crypto_generichash_state digest_state;
    unsigned char digest[32]; /* of the plain bytes */
    struct pv_error faults;   /* of all lines so far */
    bool is_read;             /* to its end, without fault */
};

/* --- begin --- */

static enum pv_code too_large(const struct config *config, struct pv_error *err)
{
    return pv_fail(err, PV_E_TOO_LARGE,
                   "an import may have at most %lld bytes, decompressed (import_bytes_max)",
                   (long long)config->import_bytes_max);
}

static enum pv_code
check_length(const struct config *config, const struct http_request *request, struct pv_error *err)
{
    const char *length = http_header(request, "Content-Length");
    if (length == NULL || strtoull(length, NULL, 10) <= (uint64_t)config->import_bytes_max)
        return PV_OK;
    return too_large(config, err);
}

/* Faults are collected over lines; only when there are too many to list the upload ends early. */
static enum pv_code
check_line(void *context, uint64_t number, const char *text, size_t n, struct pv_error *err)
{
    struct taking *taking = context;
    const struct config *config = taking->api->config;
    const struct import_line line = {taking->records, number, text, n};
    if (taking->records++ == (uint64_t)config->import_runs_max)
        return pv_fail(err, PV_E_LIMIT, "an import may hold at most %lld run%s (import_runs_max)",
                       (long long)config->import_runs_max, PLURAL(config->import_runs_max));
    struct run run;
    enum pv_code code =
        import_line_decode(config, &line, taking->now_us, &taking->arena, &run, &taking->faults);
    arena_rewind(&taking->arena, (struct arena_mark){NULL, 0});
    if (code == PV_OK || (taking->faults.n_faults > 0 && taking->faults.n_faults < PV_FAULTS_MAX))
        return PV_OK;
    *err = taking->faults;
    return code;
}

static enum pv_code take_plain(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    struct taking *taking = context;
    taking->plain_bytes += n;
    if (taking->plain_bytes > (uint64_t)taking->api->config->import_bytes_max)
        return too_large(taking->api->config, err);
    (void)crypto_generichash_update(&taking->digest_state, (const unsigned char *)bytes, n);
    PV_TRY(ndjson_feed(&taking->lines, bytes, n, err));
    if (taking->faults.n_faults == 0)
        PV_TRY(spool_write(taking->spool, bytes, n, err));
    return PV_OK;
}

static enum pv_code
open_readers(struct taking *taking, const struct http_request *request, struct pv_error *err)
{
    const struct config *config = taking->api->config;
    const struct compression_limits limits = {
        .total_bytes = UINT64_MAX, /* take_plain counts them */
        .ratio = (double)config->eventlog_ratio_max,
        .window_log_max = (unsigned)config->zstd_window_log_max,
        .account = request->arena->account};
    arena_init_beside(&taking->arena, request->arena, (size_t)config->request_memory_bytes_max);
    ndjson_init(&taking->lines, (size_t)config->import_line_bytes_max, request->arena->account,
                check_line, taking);
    (void)crypto_generichash_init(&taking->digest_state, NULL, 0, sizeof taking->digest);
    taking->framing = decompressor_create(&limits, take_plain, taking);
    if (taking->framing == NULL)
        return pv_no_memory(err);
    struct resources *resources = taking->api->resources;
    if (!resources_open(resources, RESOURCE_SPOOL, request->principal.team_id, &taking->disk))
        return pv_no_memory(err);
    spool_place_init(&taking->place, config, taking->disk.share);
    return spool_open(&taking->place, &taking->spool, err);
}

static enum pv_code
run_import_begin(void *context, struct http_request *request, void **state, struct pv_error *err)
{
    static const char *const allowed[] = {NULL};
    struct api *api = context;
    struct taking *taking = calloc(1, sizeof *taking);
    *state = taking;
    if (taking == NULL)
        return pv_no_memory(err);
    taking->api = api;
    taking->now_us = clock_wall_us();
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_name(request, &taking->name, err));
    PV_TRY(check_length(api->config, request, err));
    return open_readers(taking, request, err);
}

/* --- bytes --- */

static enum pv_code
run_import_piece(void *context, void *state, const char *bytes, size_t n, struct pv_error *err)
{
    (void)context;
    struct taking *taking = state;
    taking->sent_bytes += n;
    if (taking->sent_bytes > (uint64_t)taking->api->config->import_bytes_max)
        return too_large(taking->api->config, err);
    return decompressor_feed(taking->framing, bytes, n, err);
}

/* --- finish --- */

/* The last line is judged, and with it the whole. */
static enum pv_code read_end(struct taking *taking, struct pv_error *err)
{
    bool truncated = false;
    PV_TRY(decompressor_finish(taking->framing, &truncated, err));
    if (truncated)
        return pv_fail(err, PV_E_SYNTAX, "the compressed body ends before its end");
    PV_TRY(ndjson_finish(&taking->lines, err));
    if (taking->faults.n_faults > 0) {
        *err = taking->faults;
        return err->code;
    }
    (void)crypto_generichash_final(&taking->digest_state, taking->digest, sizeof taking->digest);
    return PV_OK;
}

struct taken {
    struct import_batch *batch;
    uint64_t index;
};

static enum pv_code
add_line(void *context, uint64_t number, const char *text, size_t n, struct pv_error *err)
{
    struct taken *taken = context;
    const struct import_line line = {taken->index++, number, text, n};
    return import_batch_add(taken->batch, &line, err);
}

/* Every line of the spool into the batch. */
static enum pv_code
run_import_replay(const struct taking *taking, struct ndjson *lines, struct pv_error *err)
{
    char *buffer = malloc(READ_BYTES);
    enum pv_code code = PV_OK;
    if (buffer == NULL)
        return pv_no_memory(err);
    for (uint64_t at = 0; code == PV_OK && at < spool_bytes(taking->spool);) {
        ssize_t n = pread(spool_file(taking->spool), buffer, READ_BYTES, (off_t)at);
        if (n <= 0)
            code = pv_fail(err, PV_E_INTERNAL, "a spool cannot be read back");
        else
            code = ndjson_feed(lines, buffer, (size_t)n, err);
        at += n > 0 ? (uint64_t)n : 0;
    }
    free(buffer);
    return code == PV_OK ? ndjson_finish(lines, err) : code;
}

static enum pv_code take_over(const struct taking *taking,
                              struct store_tx *tx,
                              const struct application *application,
                              struct import_outcome *outcome,
                              struct pv_error *err)
{
    const struct config *config = taking->api->config;
    struct taken taken = {
        import_batch_create(config, tx, application, &taking->arena, taking->now_us), 0};
    if (taken.batch == NULL)
        return pv_no_memory(err);
    struct ndjson lines;
    ndjson_init(&lines, (size_t)config->import_line_bytes_max, taking->arena.account, add_line,
                &taken);
    enum pv_code code = run_import_replay(taking, &lines, err);
    if (code == PV_OK)
        code = import_batch_finish(taken.batch, outcome, err);
    ndjson_fini(&lines);
    import_batch_destroy(taken.batch);
    return code;
}

static void write_warnings(struct writer *w, const struct import_outcome *outcome)
{
    struct findings warnings = {.arena = w->arena};
    if (outcome->unknown_advice > 0)
        finding_count(
            finding_add(&warnings, "unknown_advice", "runs name advice that does not exist"),
            (size_t)outcome->unknown_advice);
    codec_findings_encode(w, "warnings", &warnings);
}

/* 201 where there is something new, with the place to find it. */
static enum pv_code run_import_reply(struct http_request *request,
                                     struct http_response *response,
                                     const struct taking *taking,
                                     const struct import_outcome *outcome,
                                     struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_member_string(&w, "application", taking->name);
    writer_member_integer(&w, "imported", outcome->counts.inserted);
    writer_member_integer(&w, "replaced", outcome->counts.replaced);
    writer_member_integer(&w, "unchanged", outcome->counts.kept);
    write_warnings(&w, outcome);
    writer_end_object(&w);
    const char *name = api_percent_encode(request->arena, taking->name);
    const char *location =
        name == NULL ? NULL : arena_printf(request->arena, "/v1/applications/%s/runs", name);
    if (location == NULL)
        return pv_no_memory(err);
    if (outcome->counts.inserted > 0)
        http_response_header(request, response, "Location", location);
    return api_reply(response, outcome->counts.inserted > 0 ? 201 : 200, &w, err);
}

/* What an idempotency key guards: the plain bytes. */
static void
hash_body(const struct http_request *request, const struct taking *taking, unsigned char hash[32])
{
    struct http_request whole = *request;
    whole.body = (const char *)taking->digest;
    whole.body_n = sizeof taking->digest;
    api_body_hash(&whole, hash);
}

static enum pv_code carry_out(struct http_request *request,
                              struct http_response *response,
                              const struct taking *taking,
                              struct store_tx *tx,
                              struct import_outcome *outcome,
                              struct pv_error *err)
{
    struct application application;
    PV_TRY(store_application_ensure(tx, request->arena, taking->name, &application, err));
    PV_TRY(store_run_import_begin(tx, &application, err));
    PV_TRY(take_over(taking, tx, &application, outcome, err));
    return run_import_reply(request, response, taking, outcome, err);
}

static enum pv_code run_import_save(struct http_request *request,
                                    struct http_response *response,
                                    const struct taking *taking,
                                    struct pv_error *err)
{
    api_write_auto_t write = {0};
    struct import_outcome outcome = {.unknown_advice = 0};
    bool replayed = false;
    unsigned char hash[32];
    hash_body(request, taking, hash);
    PV_TRY(api_write_begin(taking->api, request, response, hash, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(carry_out(request, response, taking, write.tx, &outcome, err));
    PV_TRY(api_write_commit(request, response, &write, err));
    if (outcome.counts.inserted + outcome.counts.replaced > 0)
        api_history_changed(taking->api, request->principal.team_id, taking->name);
    return PV_OK;
}

static enum pv_code run_import_finish(void *context,
                                      struct http_request *request,
                                      void *state,
                                      struct http_response *response,
                                      struct pv_error *err)
{
    struct api *api = context;
    struct taking *taking = state;
    enum pv_code code;
    unsigned attempt = 0;
    if (!taking->is_read)
        PV_TRY(read_end(taking, err));
    taking->is_read = true;
    PV_TRY(http_move(request, HTTP_IO));
    struct ledger_account place = {.share = NULL};
    PV_TRY(resources_take(api->resources, RESOURCE_IMPORTS, request->principal.team_id, &place, 1,
                          err));
    do {
        pv_error_clear(err);
        *response = (struct http_response){.status = 0};
        code = run_import_save(request, response, taking, err);
    } while (log_save_again(code, &attempt));
    resources_close(api->resources, &place);
    return code;
}

static void run_import_end(void *context, void *state)
{
    (void)context;
    struct taking *taking = state;
    if (taking == NULL)
        return;
    decompressor_destroy(taking->framing);
    ndjson_fini(&taking->lines);
    spool_close(taking->spool);
    resources_close(taking->api->resources, &taking->disk);
    arena_fini(&taking->arena);
    free(taking);
}

static int64_t finish_ms(const void *context)
{
    const struct api *api = context;
    return api->config->import_timeout_s * 1000;
}

const struct http_stream runs_import_stream = {.begin = run_import_begin,
                                               .piece = run_import_piece,
                                               .finish = run_import_finish,
                                               .end = run_import_end,
                                               .finish_ms = finish_ms};
