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
#include "api/shared/upload.h"
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
 *
 * A batch is decoded on a compute worker and saved on an io worker, to and fro until the spool is
 * read. The first is decoded before the transaction begins, so most imports never hold one while
 * they wait for a core; a longer one does, for memory is bounded by the batch and not by the
 * import, and import_timeout_s bounds it all.
 */
enum { READ_BYTES = 256 * 1024 };

/* The lines of the spool, a second time. */
struct replay {
    struct import_batch *batch; /* NULL: it has not begun */
    struct ndjson lines;
    uint64_t index; /* of the next record */
    uint64_t at;    /* of the next byte */
    bool is_over;
};

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
    unsigned char digest[32];      /* of the plain bytes */
    struct pv_error faults;        /* of all lines so far */
    bool is_read;                  /* to its end, without fault */
    struct ledger_account storing; /* a place among those that store */
    struct replay replay;
    struct pv_error failure; /* of the decoding of the batch, for the io worker */
    enum pv_code decoded;
    struct api_write write; /* open between the batches; only io workers touch it */
    struct application application;
    unsigned attempt;
};

/* --- begin --- */

static struct upload_bound bound_of(const struct config *config)
{
    return (struct upload_bound){"an import", config->import_bytes_max, ", decompressed",
                                 "import_bytes_max"};
}

static enum pv_code too_large(const struct config *config, struct pv_error *err)
{
    const struct upload_bound bound = bound_of(config);
    return api_upload_too_large(&bound, err);
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
    const struct upload_bound bound = bound_of(api->config);
    PV_TRY(api_upload_check_length(&bound, request, err));
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

/* --- the batches: decoded --- */

static enum pv_code
add_line(void *context, uint64_t number, const char *text, size_t n, struct pv_error *err)
{
    struct replay *replay = context;
    const struct import_line line = {replay->index++, number, text, n};
    PV_TRY(import_batch_add(replay->batch, &line, err));
    replay->lines.pause = import_batch_is_full(replay->batch);
    return PV_OK;
}

static void replay_end(struct replay *replay)
{
    ndjson_fini(&replay->lines);
    import_batch_destroy(replay->batch);
    *replay = (struct replay){.batch = NULL};
}

static enum pv_code replay_begin(struct taking *taking, struct pv_error *err)
{
    const struct config *config = taking->api->config;
    struct replay *replay = &taking->replay;
    replay->batch = import_batch_create(config, &taking->arena, taking->now_us);
    if (replay->batch == NULL)
        return pv_no_memory(err);
    ndjson_init(&replay->lines, (size_t)config->import_line_bytes_max, taking->arena.account,
                add_line, replay);
    return PV_OK;
}

/* Until the batch is full or the spool is read. */
static enum pv_code
replay_lines(struct replay *replay, struct spool *spool, char *buffer, struct pv_error *err)
{
    replay->lines.pause = false;
    while (replay->at < spool_bytes(spool) && !replay->lines.pause) {
        size_t taken = 0;
        ssize_t n = pread(spool_file(spool), buffer, READ_BYTES, (off_t)replay->at);
        if (n <= 0)
            return pv_fail(err, PV_E_INTERNAL, "a spool cannot be read back");
        PV_TRY(ndjson_feed_some(&replay->lines, buffer, (size_t)n, &taken, err));
        replay->at += taken;
    }
    if (replay->lines.pause)
        return PV_OK; /* what is full is saved first, also where only an unended line is left */
    replay->is_over = true;
    return ndjson_finish(&replay->lines, err);
}

static enum pv_code decode_batch(struct taking *taking, struct pv_error *err)
{
    char *buffer = malloc(READ_BYTES);
    enum pv_code code = PV_OK;
    if (buffer == NULL)
        return pv_no_memory(err);
    if (taking->replay.batch == NULL)
        code = replay_begin(taking, err);
    if (code == PV_OK)
        code = replay_lines(&taking->replay, taking->spool, buffer, err);
    free(buffer);
    return code;
}

/* --- and saved --- */

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

/* *replayed: the response is filled in. */
static enum pv_code begin_saving(struct http_request *request,
                                 struct http_response *response,
                                 struct taking *taking,
                                 bool *replayed,
                                 struct pv_error *err)
{
    unsigned char hash[32];
    api_upload_hash(request, taking->digest, hash);
    PV_TRY(api_write_begin(taking->api, request, response, hash, &taking->write, replayed, err));
    if (*replayed)
        return PV_OK;
    PV_TRY(store_application_ensure(taking->write.tx, request->arena, taking->name,
                                    &taking->application, err));
    return store_run_import_begin(taking->write.tx, &taking->application, err);
}

static enum pv_code end_saving(struct http_request *request,
                               struct http_response *response,
                               struct taking *taking,
                               struct pv_error *err)
{
    struct import_outcome outcome = {.unknown_advice = 0};
    PV_TRY(import_batch_finish(taking->replay.batch, taking->write.tx, &taking->application,
                               &outcome, err));
    PV_TRY(run_import_reply(request, response, taking, &outcome, err));
    PV_TRY(api_write_commit(request, response, &taking->write, err));
    if (outcome.counts.inserted + outcome.counts.replaced > 0)
        api_history_changed(taking->api, request->principal.team_id, taking->name);
    return PV_OK;
}

/* The batch that was decoded. The response is filled in when it was the last. */
static enum pv_code save_batch(struct http_request *request,
                               struct http_response *response,
                               struct taking *taking,
                               struct pv_error *err)
{
    bool replayed = false;
    if (taking->decoded != PV_OK) {
        *err = taking->failure;
        return taking->decoded;
    }
    if (taking->write.tx == NULL)
        PV_TRY(begin_saving(request, response, taking, &replayed, err));
    if (replayed)
        return PV_OK;
    if (taking->replay.is_over)
        return end_saving(request, response, taking, err);
    return import_batch_save(taking->replay.batch, taking->write.tx, &taking->application, err);
}

/* From the first line on, as long as another try may help. */
static enum pv_code
start_over(struct taking *taking, enum pv_code code, struct http_response *response)
{
    api_write_end(&taking->write);
    replay_end(&taking->replay);
    *response = (struct http_response){.status = 0};
    return log_save_again(code, &taking->attempt) ? PV_OK : code;
}

/* When the body is whole: its last line, and a place among those that store. */
static enum pv_code
prepare(struct taking *taking, const struct http_request *request, struct pv_error *err)
{
    struct api *api = taking->api;
    PV_TRY(read_end(taking, err));
    taking->is_read = true;
    return resources_take(api->resources, RESOURCE_IMPORTS, request->principal.team_id,
                          &taking->storing, 1, err);
}

static enum pv_code run_import_finish(void *context,
                                      struct http_request *request,
                                      void *state,
                                      struct http_response *response,
                                      struct pv_error *err)
{
    (void)context;
    struct taking *taking = state;
    if (!taking->is_read)
        PV_TRY(prepare(taking, request, err));
    /* A failure here is answered by an io worker, because that rolls the transaction back. */
    if (request->place == HTTP_COMPUTE)
        taking->decoded = decode_batch(taking, &taking->failure);
    PV_TRY(http_move(request, HTTP_IO));
    enum pv_code code = save_batch(request, response, taking, err);
    if (code == PV_OK && response->status != 0)
        return PV_OK;
    if (code != PV_OK)
        PV_TRY(start_over(taking, code, response));
    pv_error_clear(err);
    return http_move(request, HTTP_COMPUTE);
}

static void run_import_end(void *context, void *state)
{
    (void)context;
    struct taking *taking = state;
    if (taking == NULL)
        return;
    api_write_end(&taking->write);
    replay_end(&taking->replay);
    resources_close(taking->api->resources, &taking->storing);
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
