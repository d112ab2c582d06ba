#include "api/scheduling/decision_log.h"

#include <stdlib.h>
#include <string.h>

#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/upload.h"
#include "base/plural.h"
#include "codec/json/finding.h"
#include "codec/json/ndjson.h"
#include "compression/compression.h"
#include "http/problem.h"

/* Which lines the reply has. */
enum which { WHICH_ALL, WHICH_DIFFERENT, WHICH_NONE };
static const char *const which_words[] = {
    [WHICH_ALL] = "all", [WHICH_DIFFERENT] = "different", [WHICH_NONE] = "none", NULL};

struct decision_log {
    const struct decision_log_row *row;
    struct api *api;
    size_t which; /* enum which */
    bool figures;
    struct decompressor *framing;
    struct ndjson lines;
    uint64_t sent_bytes;
    uint64_t plain_bytes;
    struct arena scratch; /* of a line */
    void *decoded;
    void *memory;    /* of the line before */
    struct writer w; /* the reply, in the request's arena */
    struct decision_summary summary;
};

/* --- limits --- */

static enum pv_code count_bytes(const struct config *config, uint64_t bytes, struct pv_error *err)
{
    const struct upload_bound bound = {"a log of decisions", config->decision_log_bytes_max,
                                       ", decompressed", "decision_log_bytes_max"};
    return bytes > (uint64_t)config->decision_log_bytes_max ? api_upload_too_large(&bound, err)
                                                            : PV_OK;
}

static enum pv_code count_line(struct decision_log *log, struct pv_error *err)
{
    int64_t most = log->api->config->decision_log_lines_max;
    if (log->summary.lines++ < (uint64_t)most)
        return PV_OK;
    return pv_fail(err, PV_E_LIMIT,
                   "a log of decisions may have at most %lld line%s (decision_log_lines_max)",
                   (long long)most, PLURAL(most));
}

/* --- a line --- */

static enum pv_code
decode_line(struct decision_log *log, const char *text, size_t n, struct pv_error *fault)
{
    const struct config *config = log->api->config;
    const struct codec_bounds bounds = {(size_t)config->json_depth_max,
                                        (size_t)config->json_values_max};
    struct codec_document line;
    PV_TRY(codec_open(&line, text, n, &bounds, &log->scratch, fault));
    log->row->decode(&line.top, config, log->decoded);
    return codec_close(&line);
}

/* The member `warnings`, where there are any. */
static enum pv_code write_contradictions(struct decision_log *log, bool *any, struct pv_error *err)
{
    struct findings warnings = {.arena = &log->scratch};
    *any = false;
    if (log->row->follow == NULL)
        return PV_OK;
    PV_TRY(log->row->follow(log->decoded, log->memory, &log->scratch, &warnings, err));
    *any = warnings.n > 0;
    if (*any)
        codec_findings_encode(&log->w, "warnings", &warnings);
    log->summary.contradicting += *any;
    return PV_OK;
}

/* Lines that are not wanted are decided on all the same, and their text goes back. */
static enum pv_code write_decision(struct decision_log *log, uint64_t number, struct pv_error *err)
{
    struct decision_made made;
    bool contradicts;
    size_t before = writer_size(&log->w);
    writer_begin_object(&log->w);
    writer_member_integer(&log->w, "line", (int64_t)number);
    PV_TRY(log->row->decide(log->decoded, log->figures, &log->scratch, &log->w, &made, err));
    if (made.recorded)
        writer_member_boolean(&log->w, "differs", made.differs);
    PV_TRY(write_contradictions(log, &contradicts, err));
    writer_end_object(&log->w);
    writer_end_line(&log->w);
    bool remarkable = (made.recorded && made.differs) || contradicts;
    if (log->which == WHICH_NONE || (log->which == WHICH_DIFFERENT && !remarkable))
        writer_take_back(&log->w, before);
    decision_summary_add(&log->summary, &made);
    return PV_OK;
}

static enum pv_code write_fault(struct decision_log *log,
                                uint64_t number,
                                const struct pv_error *fault,
                                struct pv_error *err)
{
    size_t n;
    const char *problem =
        http_problem_write(&log->scratch, http_status_of(fault->code), fault, NULL, NULL, &n);
    if (problem == NULL)
        return pv_no_memory(err);
    log->summary.refused++;
    if (log->which == WHICH_NONE)
        return PV_OK;
    writer_begin_object(&log->w);
    writer_member_integer(&log->w, "line", (int64_t)number);
    writer_key(&log->w, "error");
    writer_raw(&log->w, (struct strview){problem, n});
    writer_end_object(&log->w);
    writer_end_line(&log->w);
    return PV_OK;
}

static enum pv_code
take_line(void *context, uint64_t number, const char *text, size_t n, struct pv_error *err)
{
    struct decision_log *log = context;
    struct pv_error fault = {.code = PV_OK};
    PV_TRY(count_line(log, err));
    enum pv_code code = decode_line(log, text, n, &fault);
    if (code == PV_OK)
        code = write_decision(log, number, err);
    else if (code == PV_E_MEMORY)
        *err = fault;
    else
        code = write_fault(log, number, &fault, err);
    arena_rewind(&log->scratch, (struct arena_mark){NULL, 0});
    return code;
}

/* --- begin --- */

static enum pv_code take_plain(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    struct decision_log *log = context;
    log->plain_bytes += n;
    PV_TRY(count_bytes(log->api->config, log->plain_bytes, err));
    return ndjson_feed(&log->lines, bytes, n, err);
}

static enum pv_code
read_query(struct decision_log *log, const struct http_request *request, struct pv_error *err)
{
    static const char *const allowed[] = {"lines", "include", NULL};
    static const char *const includes[] = {"figures", NULL};
    unsigned listed = 0;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_word(request, "lines", which_words, &log->which, err));
    PV_TRY(api_query_words(request, "include", includes, &listed, err));
    log->figures = listed != 0;
    return PV_OK;
}

static enum pv_code
open_readers(struct decision_log *log, struct http_request *request, struct pv_error *err)
{
    const struct config *config = log->api->config;
    const struct compression_limits limits = {
        .total_bytes = UINT64_MAX, /* take_plain counts them */
        .ratio = (double)config->eventlog_ratio_max,
        .window_log_max = (unsigned)config->zstd_window_log_max,
        .account = request->arena->account};
    arena_init_beside(&log->scratch, request->arena, (size_t)config->request_memory_bytes_max);
    writer_init(&log->w, request->arena);
    ndjson_init(&log->lines, (size_t)config->decision_log_line_bytes_max, request->arena->account,
                take_line, log);
    log->lines.setting = "decision_log_line_bytes_max";
    log->decoded = calloc(1, log->row->line_bytes);
    if (log->row->memory_bytes > 0)
        log->memory = calloc(1, log->row->memory_bytes);
    log->framing = decompressor_create(&limits, take_plain, log);
    bool ready = log->decoded != NULL && log->framing != NULL &&
                 (log->row->memory_bytes == 0 || log->memory != NULL);
    return ready ? PV_OK : pv_no_memory(err);
}

enum pv_code decision_log_begin(const struct decision_log_row *row,
                                void *context,
                                struct http_request *request,
                                void **state,
                                struct pv_error *err)
{
    struct decision_log *log = calloc(1, sizeof *log);
    *state = log;
    if (log == NULL)
        return pv_no_memory(err);
    log->row = row;
    log->api = context;
    PV_TRY(read_query(log, request, err));
    return open_readers(log, request, err);
}

/* --- bytes, and the end --- */

enum pv_code
decision_log_piece(void *context, void *state, const char *bytes, size_t n, struct pv_error *err)
{
    struct decision_log *log = state;
    (void)context;
    log->sent_bytes += n;
    PV_TRY(count_bytes(log->api->config, log->sent_bytes, err));
    return decompressor_feed(log->framing, bytes, n, err);
}

enum pv_code decision_log_finish(void *context,
                                 struct http_request *request,
                                 void *state,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct decision_log *log = state;
    bool truncated = false;
    (void)context;
    (void)request;
    PV_TRY(decompressor_finish(log->framing, &truncated, err));
    if (truncated)
        return pv_fail(err, PV_E_SYNTAX, "the compressed body ends before its end");
    PV_TRY(ndjson_finish(&log->lines, err));
    writer_begin_object(&log->w);
    decision_summary_write(&log->w, &log->summary);
    writer_end_object(&log->w);
    writer_end_line(&log->w);
    PV_TRY(api_reply(response, 200, &log->w, err));
    response->content_type = "application/x-ndjson";
    return PV_OK;
}

void decision_log_end(void *context, void *state)
{
    struct decision_log *log = state;
    (void)context;
    if (log == NULL)
        return;
    decompressor_destroy(log->framing);
    ndjson_fini(&log->lines);
    arena_fini(&log->scratch);
    if (log->memory != NULL)
        log->row->forget(log->memory);
    free(log->memory);
    free(log->decoded);
    free(log);
}
