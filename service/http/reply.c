#include "http/exchange.h"

#include <string.h>
#include <strings.h>

#include "base/instant.h"
#include "http/trace.h"
#include "log/log.h"
#include "threads/clock.h"

enum { SMALL_REPLY = 1 << 20 };

static bool
reply_add(struct MHD_Response *reply, struct exchange *x, const char *name, const char *value)
{
    if (MHD_add_response_header(reply, name, value) == MHD_YES)
        return true;
    LOG_EVENT(LOG_ERROR, "http.header_refused", x->request.request_id, LOG_TEXT("name", name));
    return false;
}

static bool has_header(const struct http_response *response, const char *name)
{
    for (size_t i = 0; i < response->n_headers; i++)
        if (strcasecmp(response->headers[i].name, name) == 0)
            return true;
    return false;
}

/* The trace goes on with our own span. */
static void add_trace(struct MHD_Response *reply, struct exchange *x)
{
    char text[HTTP_TRACEPARENT];
    if (x->request.trace_id[0] == '\0')
        return;
    http_trace_format(x->request.trace_id, x->request.span_id, x->trace_flags, text);
    (void)reply_add(reply, x, "traceparent", text);
}

/* When the caller's token ends, if that is near. Who is not known yet learns nothing. */
static void add_token_end(struct MHD_Response *reply, struct exchange *x)
{
    char text[INSTANT_TEXT];
    const struct principal *who = &x->request.principal;
    uint64_t warning_ns =
        (uint64_t)x->server->config->token_warning_days * 24 * 3600 * UINT64_C(1000000000);
    if (warning_ns == 0 || !x->authenticated || who->expires_ns == 0 ||
        who->expires_ns > clock_monotonic_ns() + warning_ns)
        return;
    instant_format(who->expires_us, text);
    (void)reply_add(reply, x, "Provisor-Token-Expires", text);
}

static void
add_headers(struct MHD_Response *reply, struct exchange *x, const struct http_response *response)
{
    if (response->status != 204 && response->status != 304)
        (void)reply_add(reply, x, "Content-Type",
                        response->content_type == NULL ? "application/json"
                                                       : response->content_type);
    for (size_t i = 0; i < response->n_headers; i++)
        (void)reply_add(reply, x, response->headers[i].name, response->headers[i].value);
    if (x->request.request_id[0] != '\0')
        (void)reply_add(reply, x, "X-Request-Id", x->request.request_id);
    add_trace(reply, x);
    add_token_end(reply, x);
    (void)reply_add(reply, x, "X-Content-Type-Options", "nosniff");
    bool secret = x->route != NULL && x->route->access != HTTP_PUBLIC;
    if (secret && !has_header(response, "Cache-Control"))
        (void)reply_add(reply, x, "Cache-Control", "private, no-cache");
    if (x->close || atomic_load(&x->server->draining))
        (void)reply_add(reply, x, "Connection", "close");
}

/* An answer may take the idle time plus what its size takes at a rate; a reader slower than that
 * only holds a connection. What is large holds memory, too, and is to be read at a rate of its own. */
static uint64_t reply_deadline(const struct exchange *x, size_t body_n)
{
    const struct config *config = x->server->config;
    size_t small = body_n < SMALL_REPLY ? body_n : SMALL_REPLY;
    uint64_t seconds = (uint64_t)config->connection_idle_s +
                       (uint64_t)small / (uint64_t)config->reply_bytes_per_s_min +
                       (uint64_t)(body_n - small) / (uint64_t)config->reply_large_bytes_per_s_min;
    return clock_monotonic_ns() + seconds * 1000000000u;
}

/*
 * The sweeper's word instead of the worker's: the worker may still be writing into the arena, the
 * request and the response of x, so of them only what never changes is read.
 */
static const struct http_response *late_answer(struct exchange *x)
{
    struct pv_error err = {.retry_after_s = 1};
    struct http_request late = {.arena = &x->late_arena, .path = x->request.path};
    memcpy(late.request_id, x->request.request_id, sizeof late.request_id);
    if (atomic_load(&x->state) == JOB_REFUSED) {
        http_admission_refuse(&late, &x->late_response, atomic_load(&x->refusal),
                              x->server->config);
        return &x->late_response;
    }
    if (atomic_load(&x->left))
        (void)pv_fail(&err, PV_E_UNAVAILABLE,
                      "the client ended its side of the connection while the request was waiting");
    else if (!atomic_load(&x->server->stopping))
        (void)pv_fail(&err, PV_E_TIMEOUT, "no answer within %lld ms",
                      (long long)x->server->config->request_timeout_ms);
    else
        (void)pv_fail(&err, PV_E_UNAVAILABLE, "the service is shutting down");
    http_reply_problem(&late, &x->late_response, &err, (struct http_challenge){0});
    return &x->late_response;
}

static const struct http_response *answer_of(struct exchange *x)
{
    enum exchange_state state = atomic_load(&x->state);
    if (state == JOB_EXPIRED || state == JOB_REFUSED)
        return late_answer(x);
    return &x->response;
}

/* --- bodies made while they are sent --- */

/* What became of the job that was to make the next piece. */
static bool filled(struct exchange *x)
{
    bool done = atomic_load(&x->state) == JOB_DONE;
    x->stage = STAGE_REPLIED;
    if (!done || x->failed)
        return false;
    atomic_store(&x->state, JOB_NONE);
    client_enter(x->client, CLIENT_REPLYING, reply_deadline(x, x->piece_n));
    return true;
}

static ssize_t hand_out(struct exchange *x, char *buffer, size_t most)
{
    size_t left = x->piece_n - x->piece_at;
    size_t n = left < most ? left : most;
    memcpy(buffer, x->piece + x->piece_at, n);
    x->piece_at += n;
    x->sent_bytes += n;
    return (ssize_t)n;
}

/*
 * The library asks for more of the body. What there is not yet, a worker makes, with the connection
 * suspended; 0 tells the library to ask again when it is resumed.
 */
static ssize_t send_more(void *cls, uint64_t position, char *buffer, size_t most)
{
    struct exchange *x = cls;
    (void)position;
    if (atomic_load(&x->state) == JOB_RUNNING)
        return 0;
    if (x->stage == STAGE_FILLING) {
        if (!filled(x))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (x->piece_n == 0)
            return MHD_CONTENT_READER_END_OF_STREAM;
    }
    if (x->piece_at < x->piece_n)
        return hand_out(x, buffer, most);
    x->stage = STAGE_FILLING;
    return exchange_submit(x, HTTP_IO, exchange_source_next) ? 0
                                                             : MHD_CONTENT_READER_END_WITH_ERROR;
}

/* Before HTTP/1.1 only the end of the connection ends such a body, so a cut would look whole. */
static void refuse_old_client(struct exchange *x)
{
    struct pv_error err = {0};
    (void)pv_fail(&err, PV_E_SYNTAX, "this reply is sent in chunks, which needs HTTP/1.1");
    exchange_fail(x, &err);
}

static bool sends_pieces(const struct exchange *x, const struct http_response *response)
{
    return response == &x->response && !x->failed && response->source != NULL;
}

static struct MHD_Response *make_reply(struct exchange *x, const struct http_response *response)
{
    enum { BLOCK = 64 * 1024 };
    if (sends_pieces(x, response))
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, send_more, x, NULL);
    /* The library only reads a persistent buffer; the arena outlives the sending. */
    return MHD_create_response_from_buffer(response->body_n, (void *)(uintptr_t)response->body,
                                           MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result exchange_reply(struct exchange *x, struct MHD_Connection *connection)
{
    const struct http_response *response = answer_of(x);
    if (x->http_1_0 && sends_pieces(x, response))
        refuse_old_client(x);
    struct MHD_Response *reply = make_reply(x, response);
    if (reply == NULL)
        return MHD_NO;
    /* The library (0.9.75) sends the last chunk to a HEAD, too: the next answer on the connection
     * would begin with it. Without chunks the connection ends. */
    if (x->label == HTTP_LABEL_HEAD && sends_pieces(x, response))
        (void)MHD_set_response_options(reply, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    add_headers(reply, x, response);
    x->stage = STAGE_REPLIED;
    x->status = response->status;
    x->sent_bytes = x->label == HTTP_LABEL_HEAD ? 0 : response->body_n;
    client_enter(x->client, CLIENT_REPLYING, reply_deadline(x, response->body_n));
    enum MHD_Result queued = MHD_queue_response(connection, response->status, reply);
    MHD_destroy_response(reply);
    return queued;
}

/*
 * While a body is arriving the library takes no answer. So it is written past the library, and what
 * the client still sends is dropped for a moment: closing at once would reset the connection
 * and could take the answer away from the client before it has read it.
 */
void exchange_reply_raw(struct exchange *x)
{
    enum { DRAIN_S = 5 };
    const struct http_response *response = answer_of(x);
    x->stage = STAGE_DRAINING;
    x->close = true;
    x->status = response->status;
    x->sent_bytes = response->body_n;
    client_enter(x->client, CLIENT_LINGERING,
                 clock_monotonic_ns() + (uint64_t)DRAIN_S * 1000000000u);
    client_write_raw(x->client->fd, response, x->request.request_id);
}
