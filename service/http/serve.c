#include "http/exchange.h"

#include <string.h>

#include "http/token_lookup.h"
#include "http/validate.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "threads/clock.h"

/*
 * The library calls serve_request several times for one request: with the header only, for each
 * piece of the body, once more at the end, and again whenever a suspended connection is resumed.
 * The stage of the exchange says where it stands; each function below moves it on by one.
 *
 * What is no HTTP at all is answered before the library sees it (receive.c). The library itself
 * answers, with HTML: 414 and 431 for what does not fit its 32 kB, 505 for other versions.
 */
enum {
    DISCARD_MAX = 64 * 1024,      /* of a refused body, to keep the connection */
    DRAIN_MAX = 16 * 1024 * 1024, /* of a refused body, so that the answer can be read */
    GATHER = 256 * 1024           /* pieces of a stream */
};

METRIC_COUNTER(aborted,
               "provisor_http_requests_aborted_total",
               "Requests that ended without a whole answer.",
               "");
METRIC_COUNTER(body_bytes,
               "provisor_http_received_body_bytes_total",
               "Bytes of bodies received.",
               "");

void *serve_request_line(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct client *client = client_of(connection);
    (void)cls;
    if (client == NULL)
        return NULL;
    struct exchange *x = exchange_create(client->server, client, uri);
    (void)pthread_mutex_lock(&client->lock);
    client->exchange = x;
    if (x != NULL) {
        client->phase = CLIENT_READING;
        client->since_ns = x->started_ns;
        client->deadline_ns = x->request.deadline_ns;
        client->ended_ns = 0;
    }
    (void)pthread_mutex_unlock(&client->lock);
    return x;
}

static enum MHD_Result answer_without_memory(struct MHD_Connection *connection)
{
    static char body[] = "{\"type\":\"/problems/unavailable\",\"title\":\"the service cannot "
                         "answer just now\",\"status\":503}";
    struct MHD_Response *reply =
        MHD_create_response_from_buffer(sizeof body - 1, body, MHD_RESPMEM_PERSISTENT);
    if (reply == NULL)
        return MHD_NO;
    (void)MHD_add_response_header(reply, "Content-Type", "application/problem+json");
    (void)MHD_add_response_header(reply, "Retry-After", "1");
    (void)MHD_add_response_header(reply, "Connection", "close");
    enum MHD_Result queued = MHD_queue_response(connection, 503, reply);
    MHD_destroy_response(reply);
    return queued;
}

/* --- refusals, by how much of the body is still to come --- */

/* The answer waits for the end of a body that is short, and for no longer than a request may. */
static void discard_rest(struct exchange *x)
{
    uint64_t allowed_ns = (uint64_t)x->server->config->request_timeout_ms * 1000000u;
    x->stage = STAGE_DISCARDING;
    client_enter(x->client, CLIENT_READING, clock_monotonic_ns() + allowed_ns);
}

/* The library takes answers only before the body or after it. */
static enum MHD_Result refuse_at_header(struct exchange *x)
{
    if (!x->framing.has_body) {
        discard_rest(x);
        return MHD_YES;
    }
    if (x->framing.expect_continue) {
        x->close = true;
        return exchange_reply(x, x->connection);
    }
    if (!x->framing.chunked && x->framing.length <= DISCARD_MAX) {
        discard_rest(x);
        return MHD_YES;
    }
    exchange_reply_raw(x);
    return MHD_YES;
}

static void refuse_in_body(struct exchange *x)
{
    uint64_t left = x->framing.length > x->received ? x->framing.length - x->received : 0;
    if (!x->framing.chunked && left <= DISCARD_MAX)
        discard_rest(x);
    else
        exchange_reply_raw(x);
}

static enum MHD_Result discard_body(struct exchange *x, size_t *n)
{
    x->received += *n;
    if (*n == 0)
        return exchange_reply(x, x->connection);
    *n = 0;
    return MHD_YES;
}

static enum MHD_Result drain_connection(struct exchange *x, size_t *n)
{
    x->received += *n;
    if (*n == 0 || x->received > DRAIN_MAX)
        return MHD_NO;
    *n = 0;
    return MHD_YES;
}

/* --- from the header to the body --- */

/*
 * What an upload's client may take in all grows with what has come, `received` bytes: one that sends
 * a byte now and then holds memory and disk of its request no longer than others. Of a body whose
 * length is known that is the grace and length / rate at most. What our workers take does not count.
 */
static uint64_t upload_allowed_ns(const struct config *config, uint64_t received)
{
    static const double longest_s = 1e9;
    double s =
        (double)config->upload_grace_s + (double)received / (double)config->upload_bytes_per_s_min;
    return (uint64_t)((s < longest_s ? s : longest_s) * 1e9);
}

static void await_upload(struct exchange *x, uint64_t received)
{
    const struct config *config = x->server->config;
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t begun_ns = x->reads_since_ns - x->reading_ns; /* had we taken no time at all */
    client_enter_upload(x->client, now_ns + (uint64_t)config->connection_idle_s * 1000000000u,
                        begun_ns + upload_allowed_ns(config, received));
}

static void await_body(struct exchange *x)
{
    x->stage = STAGE_BODY;
    if (x->route->stream == NULL) {
        client_enter(x->client, CLIENT_READING, x->request.deadline_ns);
        return;
    }
    x->reads_since_ns = clock_monotonic_ns();
    await_upload(x, x->received);
}

/* Its place is wanted at once: no rest of a body is waited for. */
static enum MHD_Result refuse_connection(struct exchange *x, const struct pv_error *err)
{
    exchange_fail(x, err);
    x->close = true;
    if (!x->framing.has_body || x->framing.expect_continue)
        return refuse_at_header(x);
    exchange_reply_raw(x);
    return MHD_YES;
}

static enum MHD_Result open_body(struct exchange *x)
{
    struct pv_error err = {0};
    x->authenticated = x->route->access != HTTP_PUBLIC;
    if (x->authenticated && client_join(x->client, x->request.principal.team_id, &err) != PV_OK)
        return refuse_connection(x, &err);
    enum pv_code code = validate_scope(x, &err);
    if (code == PV_OK && !resources_open(x->server->options.resources, RESOURCE_MEMORY,
                                         x->request.principal.team_id, &x->account))
        code = pv_no_memory(&err);
    if (code == PV_OK)
        code = validate_body(x, &err);
    if (code != PV_OK) {
        exchange_fail(x, &err);
        return refuse_at_header(x);
    }
    if (x->route->stream == NULL) {
        await_body(x);
        return MHD_YES;
    }
    x->stage = STAGE_BEGINNING;
    if (exchange_submit(x, HTTP_IO, exchange_stream_begin))
        return MHD_YES;
    return refuse_at_header(x);
}

static enum MHD_Result refuse_token(struct exchange *x, const char *why)
{
    struct pv_error err = {0};
    (void)pv_fail(&err, PV_E_UNAUTHENTICATED, "%s", why);
    exchange_fail(x, &err);
    return refuse_at_header(x);
}

static enum MHD_Result authenticate(struct exchange *x)
{
    struct pv_error err = {0};
    if (validate_token(x, &err) != PV_OK) {
        exchange_fail(x, &err);
        return refuse_at_header(x);
    }
    struct principal who = {.scopes = 0};
    char why[TOKEN_REASON];
    uint64_t now_ns = clock_monotonic_ns();
    switch (token_cache_get(x->server->tokens, x->token, now_ns, &who, why)) {
    case TOKEN_DUE:
        token_renew(x->server, x->token, who.team_id);
        x->request.principal = who;
        return open_body(x);
    case TOKEN_VALID:
        x->request.principal = who;
        return open_body(x);
    case TOKEN_FALSE:
        return refuse_token(x, why);
    case TOKEN_LAPSED:
        /* Whoever floods us with new tokens shall keep nobody out who was let in before. */
        memcpy(x->presumed_team, who.team_id, sizeof x->presumed_team);
        break;
    case TOKEN_UNKNOWN:
        if (x->server->options.recognize != NULL && !x->server->options.recognize(x->token))
            return refuse_token(x, "the token is not valid");
        if (http_rate_take(&x->server->lookups, now_ns))
            break;
        exchange_refuse(x, HTTP_REFUSED_LOOKUPS);
        return refuse_at_header(x);
    }
    x->stage = STAGE_AUTHENTICATING;
    if (exchange_submit(x, HTTP_IO, exchange_authenticate))
        return MHD_YES;
    return refuse_at_header(x);
}

static enum MHD_Result serve_header(struct exchange *x, const char *method)
{
    struct pv_error err = {0};
    x->label = validate_method(method);
    x->counted = true;
    (void)atomic_fetch_add(&x->server->metrics.in_flight, 1);
    enum pv_code code = validate_fields(x, &err);
    validate_identity(x);
    if (code != PV_OK) {
        /* Where this request ends is not certain: what follows must not be read as another. */
        x->close = true;
        exchange_fail(x, &err);
        return exchange_reply(x, x->connection);
    }
    code = validate_route(x, &err);
    if (code != PV_OK)
        exchange_fail(x, &err);
    if (x->failed)
        return refuse_at_header(x);
    return x->route->access == HTTP_PUBLIC ? open_body(x) : authenticate(x);
}

/* --- after a job --- */

/* true: go on. false: x holds an answer, be it a problem or the sweeper's. */
static bool job_went_well(struct exchange *x)
{
    if (atomic_load(&x->state) != JOB_DONE)
        return false;
    atomic_store(&x->state, JOB_NONE);
    return !x->failed;
}

static enum MHD_Result after_authentication(struct exchange *x)
{
    if (!job_went_well(x))
        return refuse_at_header(x);
    return open_body(x);
}

static enum MHD_Result after_begin(struct exchange *x)
{
    if (!job_went_well(x))
        return refuse_at_header(x);
    await_body(x);
    return MHD_YES;
}

/* --- the body --- */

/* Room for n more bytes and a NUL. What was promised is only believed once some of it has come. */
static enum pv_code reserve_body(struct exchange *x, size_t n, struct pv_error *err)
{
    enum { FIRST = 64 * 1024 };
    size_t need = x->body_n + n + 1;
    if (need <= x->body_capacity)
        return PV_OK;
    size_t promised = (size_t)x->framing.length + 1;
    size_t capacity = x->body_capacity * 2;
    if (!x->framing.chunked && (x->body_capacity > 0 || promised <= FIRST))
        capacity = promised;
    if (capacity < need)
        capacity = need;
    char *bigger = arena_alloc(&x->arena, capacity);
    if (bigger == NULL)
        return pv_fail(err, PV_E_TOO_LARGE, "the body does not fit the memory of a request");
    if (x->body_n > 0)
        memcpy(bigger, x->body, x->body_n);
    x->body = bigger;
    x->body_capacity = capacity;
    return PV_OK;
}

/* For want of the process's memory, or as err says. */
static void refuse_body(struct exchange *x, const struct pv_error *err)
{
    if (x->account.refused)
        exchange_refuse_memory(x);
    else
        exchange_fail(x, err);
    refuse_in_body(x);
}

static enum MHD_Result append_to_body(struct exchange *x, const char *bytes, size_t *n)
{
    struct pv_error err = {0};
    enum pv_code code = PV_OK;
    if (x->received + *n > (uint64_t)x->server->config->body_bytes_max)
        code = pv_fail(&err, PV_E_TOO_LARGE, "the body may have %lld bytes at most",
                       (long long)x->server->config->body_bytes_max);
    if (code == PV_OK)
        code = reserve_body(x, *n, &err);
    if (code == PV_OK) {
        memcpy(x->body + x->body_n, bytes, *n);
        x->body_n += *n;
    } else {
        refuse_body(x, &err);
    }
    *n = 0;
    return MHD_YES;
}

/* Takes what fits; the library brings the rest again after the job. */
static enum MHD_Result serve_gather(struct exchange *x, const char *bytes, size_t *n)
{
    struct pv_error err = {0};
    if (x->body == NULL) {
        x->body = arena_alloc(&x->arena, GATHER);
        if (x->body == NULL) {
            (void)pv_no_memory(&err);
            refuse_body(x, &err);
            *n = 0;
            return MHD_YES;
        }
    }
    size_t taken = *n < GATHER - x->body_n ? *n : GATHER - x->body_n;
    memcpy(x->body + x->body_n, bytes, taken);
    x->body_n += taken;
    *n -= taken;
    await_upload(x, x->received + taken);
    if (x->body_n < GATHER)
        return MHD_YES;
    x->stage = STAGE_PIECE;
    x->reading_ns += clock_monotonic_ns() - x->reads_since_ns;
    if (exchange_submit(x, HTTP_COMPUTE, exchange_stream_piece))
        return MHD_YES;
    *n = 0;
    refuse_in_body(x);
    return MHD_YES;
}

static enum MHD_Result finish_body(struct exchange *x)
{
    bool stream = x->route->stream != NULL;
    if (!stream) {
        x->request.body = x->body_n > 0 ? x->body : "";
        x->request.body_n = x->body_n;
        if (x->body_n > 0)
            x->body[x->body_n] = '\0';
    }
    x->stage = STAGE_WORKING;
    enum http_place place = stream ? HTTP_COMPUTE : exchange_first_place(x);
    if (place == HTTP_INLINE) {
        x->request.place = place;
        exchange_handle(x);
        return exchange_reply(x, x->connection);
    }
    if (exchange_submit(x, place, stream ? exchange_stream_finish : exchange_handle))
        return MHD_YES;
    return exchange_reply(x, x->connection);
}

static enum MHD_Result serve_body(struct exchange *x, const char *bytes, size_t *n)
{
    if (*n == 0)
        return finish_body(x);
    size_t before = *n;
    enum MHD_Result result =
        x->route->stream != NULL ? serve_gather(x, bytes, n) : append_to_body(x, bytes, n);
    x->received += before - *n;
    metric_add(&body_bytes, (double)(before - *n), NULL);
    return result;
}

static enum MHD_Result after_piece(struct exchange *x, const char *bytes, size_t *n)
{
    if (job_went_well(x)) {
        await_body(x);
        return serve_body(x, bytes, n);
    }
    if (*n == 0)
        return exchange_reply(x, x->connection);
    refuse_in_body(x);
    return x->stage == STAGE_DRAINING ? drain_connection(x, n) : discard_body(x, n);
}

enum MHD_Result serve_request(void *cls,
                              struct MHD_Connection *connection,
                              const char *url,
                              const char *method,
                              const char *version,
                              const char *upload_data,
                              size_t *upload_data_size,
                              void **con_cls)
{
    struct exchange *x = *con_cls;
    (void)cls;
    (void)url;
    if (x == NULL)
        return answer_without_memory(connection);
    if (x->client->refused) {
        *upload_data_size = 0;
        return MHD_YES;
    }
    client_restore(x->client);
    /* With several chunks in its buffer the library goes on calling although the connection has
     * been suspended: leaving the bytes where they are makes it stop. */
    if (atomic_load(&x->state) == JOB_RUNNING)
        return MHD_YES;
    switch (x->stage) {
    case STAGE_HEADERS:
        x->http_1_0 = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
        return serve_header(x, method);
    case STAGE_AUTHENTICATING:
        return after_authentication(x);
    case STAGE_BEGINNING:
        return after_begin(x);
    case STAGE_BODY:
        return serve_body(x, upload_data, upload_data_size);
    case STAGE_PIECE:
        return after_piece(x, upload_data, upload_data_size);
    case STAGE_WORKING:
        (void)job_went_well(x);
        return exchange_reply(x, connection);
    case STAGE_DISCARDING:
        return discard_body(x, upload_data_size);
    case STAGE_DRAINING:
        return drain_connection(x, upload_data_size);
    case STAGE_REPLIED:
    case STAGE_FILLING:
        break;
    }
    *upload_data_size = 0;
    return MHD_YES;
}

/* --- the end --- */

void serve_report_cut_lines(struct http_server *server)
{
    unsigned long long n = atomic_exchange(&server->stranger_lines_cut, 0);
    if (n > 0)
        LOG_EVENT(LOG_INFO, "http.lines_about_strangers_cut", NULL, LOG_COUNT("count", n));
}

static void log_request(struct exchange *x, bool whole)
{
    struct http_metrics *metrics = &x->server->metrics;
    uint64_t took_ns = clock_monotonic_ns() - x->started_ns;
    const char *route = x->resource == NULL ? "unmatched" : x->resource->template;
    if (!whole)
        metric_add(&aborted, 1, NULL);
    http_metrics_count(metrics, x->resource, x->label, x->status, took_ns);
    const char *id = x->request.request_id[0] == '\0' ? NULL : x->request.request_id;
    if (exchange_takes_line(x))
        LOG_EVENT(LOG_INFO, "http.request", id,
                  LOG_TEXT("method", http_method_label_text[x->label]), LOG_TEXT("route", route),
                  LOG_COUNT("status", x->status), LOG_NUMBER("duration_ms", (double)took_ns * 1e-6),
                  LOG_COUNT("bytes", x->sent_bytes), LOG_TEXT("trace_id", x->request.trace_id),
                  LOG_TEXT("outcome", whole ? "answered" : "cut"));
    if (x->counted)
        (void)atomic_fetch_sub(&metrics->in_flight, 1);
}

void serve_completed(void *cls,
                     struct MHD_Connection *connection,
                     void **con_cls,
                     enum MHD_RequestTerminationCode toe)
{
    struct exchange *x = *con_cls;
    *con_cls = NULL;
    (void)cls;
    (void)connection;
    if (x == NULL)
        return;
    struct client *client = x->client;
    (void)pthread_mutex_lock(&client->lock);
    client->exchange = NULL;
    client->phase = CLIENT_WAITING;
    client->since_ns = clock_monotonic_ns();
    client->deadline_ns =
        client->since_ns + (uint64_t)client->server->config->connection_idle_s * 1000000000u;
    client->ended_ns = 0;
    if (x->status == 0)
        x->status = client->cut_status;
    client->cut_status = 0;
    (void)pthread_mutex_unlock(&client->lock);
    bool early = x->stage == STAGE_DRAINING;
    log_request(x, early || toe == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    exchange_release(x, false);
    if (client->fault_waits)
        receive_answer_fault(client);
}
