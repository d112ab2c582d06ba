#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "api/operations/operation_document.h"
#include "api/operations/operation_watch.h"
#include "api/routes.h"
#include "base/plural.h"
#include "base/uuid.h"
#include "http/park.h"
#include "threads/clock.h"

/*
 * GET /v1/operations/{id}/events: server-sent events. The events lie in the database, numbered
 * without gaps, so a stream can be taken up behind any of them (Last-Event-ID), on any replica. A
 * stream holds no thread and no connection to the database while nothing happens: its source is
 * parked, and operation_watch.c wakes it. It ends behind the last event, when the token is no good
 * any more, and when the process is asked to end.
 */
enum {
    EVENTS_AT_ONCE = 100,
    STREAM_RETRY_S = 5,
    COMMENT_S = 15 /* so that nobody in between takes the silence for an end */
};
/* How many milliseconds a client rests before it connects again. */
static const char retry[] = "retry: 2000\n\n";

struct stream {
    struct api *api;
    struct http_request *request; /* lives as long as the source */
    struct ledger_account place;
    char id[37];
    int64_t seen;      /* number of the last event sent */
    int64_t events;    /* number of the last event there is */
    bool over;         /* it was sent, and no other will come */
    const char *ready; /* the first piece; NULL once it is given away */
    atomic_bool revoked;
    uint64_t comment_ns; /* when the next is due */
    struct arena arena;  /* of the piece */
};

/* --- text --- */

static const char *
event_data(struct arena *arena, const struct operation_row *o, const struct operation_event *event)
{
    struct writer w;
    size_t n;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_member_string(&w, "id", o->id);
    writer_member_text(&w, "kind", o->kind);
    writer_member_text(&w, "application", o->application_name);
    writer_member_string(&w, "status", operation_status_word(event->status));
    writer_member_boolean(&w, "cancelling",
                          event->cancelling && !operation_has_ended(event->status));
    writer_member_integer(&w, "attempt", event->attempt);
    writer_key(&w, "progress");
    operation_progress_write(&w, event->done, event->total, event->unit);
    writer_member_instant(&w, "at", event->at_us);
    if (operation_has_ended(event->status) && o->error.at != NULL) {
        writer_key(&w, "error");
        writer_raw(&w, o->error);
    }
    writer_end_object(&w);
    return writer_finish(&w, &n);
}

/* JSON text has no line ends of its own, so data is one line. */
static const char *add_events(struct arena *arena,
                              const char *text,
                              const struct operation_row *o,
                              const struct operation_event *events,
                              size_t n)
{
    for (size_t i = 0; text != NULL && i < n; i++) {
        const char *data = event_data(arena, o, &events[i]);
        if (data == NULL)
            return NULL;
        text = arena_printf(arena, "%sid: %lld\nevent: %s\ndata: %s\n\n", text,
                            (long long)events[i].number,
                            events[i].is_progress ? "progress" : "status", data);
    }
    return text;
}

/* --- events --- */

static enum pv_code read_events(struct stream *stream,
                                struct operation_row *operation,
                                struct operation_event **events,
                                size_t *n,
                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    const struct http_request *request = stream->request;
    PV_TRY(store_begin(stream->api->store, &request->principal, request->request_id, STORE_READ,
                       &tx, err));
    PV_TRY(store_operation_find(tx, &stream->arena, stream->id, operation, err));
    return store_operation_events(tx, &stream->arena, stream->id, stream->seen, EVENTS_AT_ONCE,
                                  events, n, err);
}

/* The events that are there, behind `head`; *text is "" when there is nothing to send. */
static enum pv_code
make_piece(struct stream *stream, const char *head, const char **text, struct pv_error *err)
{
    struct operation_row operation;
    struct operation_event *events = NULL;
    size_t n = 0;
    arena_fini(&stream->arena);
    enum pv_code code = read_events(stream, &operation, &events, &n, err);
    if (code != PV_OK)
        return code;
    *text = add_events(&stream->arena, head, &operation, events, n);
    if (*text == NULL)
        return pv_no_memory(err);
    if (n > 0)
        stream->seen = events[n - 1].number;
    stream->events = operation.events;
    stream->over = operation_has_ended(operation.status) && stream->seen >= operation.events;
    return PV_OK;
}

static int64_t comment_every_ns(const struct config *config)
{
    int64_t half_ms = config->request_timeout_ms / 2;
    return (half_ms < COMMENT_S * 1000 ? half_ms : COMMENT_S * 1000) * 1000000;
}

static void put_off_comment(struct stream *stream)
{
    stream->comment_ns = clock_monotonic_ns() + (uint64_t)comment_every_ns(stream->api->config);
}

/* Until something happens, or silence has lasted long enough. */
static enum pv_code wait_for_more(struct stream *stream)
{
    const struct principal *who = &stream->request->principal;
    struct operation_wait wait = {
        .seen = stream->seen, .wake_at_ns = stream->comment_ns, .revoked = &stream->revoked};
    memcpy(wait.what.team_id, who->team_id, sizeof wait.what.team_id);
    memcpy(wait.what.id, stream->id, sizeof wait.what.id);
    memcpy(wait.what.token_id, who->token_id, sizeof wait.what.token_id);
    struct http_ticket *ticket = http_park(stream->request);
    if (ticket == NULL)
        return PV_OK;
    if (operation_watch_add(stream->api->watch, &wait, ticket))
        return PV_E_RETRY;
    http_ticket_drop(ticket);
    return PV_OK;
}

static bool is_to_end(const struct stream *stream)
{
    return stream->over || atomic_load(&stream->revoked) ||
           operation_watch_is_closing(stream->api->watch);
}

/* An operation that is there no longer has no more events: that is an end, too. */
static enum pv_code next_piece(struct stream *stream, const char **text, struct pv_error *err)
{
    struct pv_error why = {.code = PV_OK};
    enum pv_code code = make_piece(stream, "", text, &why);
    if (code == PV_E_NOT_FOUND || code == PV_E_GONE) {
        *text = "";
        stream->over = true;
        return PV_OK;
    }
    if (code != PV_OK && err != NULL)
        *err = why;
    return code;
}

static enum pv_code
operation_stream_next(void *state, const char **bytes, size_t *n, struct pv_error *err)
{
    struct stream *stream = state;
    const char *text = "";
    *n = 0;
    if (stream->ready != NULL) {
        *bytes = stream->ready;
        *n = strlen(stream->ready);
        stream->ready = NULL;
        return PV_OK;
    }
    if (stream->over || atomic_load(&stream->revoked))
        return PV_OK;
    PV_TRY(next_piece(stream, &text, err));
    if (text[0] == '\0' && clock_monotonic_ns() >= stream->comment_ns)
        text = ":\n\n";
    if (text[0] == '\0' && !is_to_end(stream))
        PV_TRY(wait_for_more(stream));
    *bytes = text;
    *n = strlen(text);
    put_off_comment(stream);
    return PV_OK;
}

static void operation_stream_end(void *state)
{
    struct stream *stream = state;
    resources_close(stream->api->resources, &stream->place);
    arena_fini(&stream->arena);
    free(stream);
}

static const struct http_source source = {.next = operation_stream_next,
                                          .end = operation_stream_end};

/* --- the request --- */

static bool read_number(const char *text, int64_t *number)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits] != '\0')
        return false;
    *number = strtoll(text, NULL, 10);
    return true;
}

static const char LAST_HEADER[] = "Last-Event-ID";
static const char LAST_PARAMETER[] = "last_event_id";

/* Where both are given the header counts: it is the later one. */
static bool last_is_header(const struct http_request *request)
{
    const char *header = http_header(request, LAST_HEADER);
    return header != NULL && header[0] != '\0';
}

/* The header is what browsers send by themselves when they connect again; ?last_event_id= is for
 * those that begin in the middle and cannot set it. */
static enum pv_code
read_last(const struct http_request *request, int64_t *last, struct pv_error *err)
{
    const char *parameter = http_query(request, LAST_PARAMETER);
    *last = 0;
    if (last_is_header(request))
        return read_number(http_header(request, LAST_HEADER), last)
                   ? PV_OK
                   : pv_fault(err, PV_PLACE_HEADER, LAST_HEADER, "invalid_number",
                              "must be the number of an event");
    if (parameter != NULL && !read_number(parameter, last))
        return pv_fault(err, PV_PLACE_PARAMETER, LAST_PARAMETER, "invalid_number",
                        "must be the number of an event");
    return PV_OK;
}

static enum pv_code take_place(struct stream *stream, struct pv_error *err)
{
    struct api *api = stream->api;
    int64_t most = api->config->operation_team_streams_max;
    if (!resources_open(api->resources, RESOURCE_STREAMS, stream->request->principal.team_id,
                        &stream->place))
        return pv_no_memory(err);
    if (atomic_load(&stream->place.share->used) < (size_t)most)
        return ledger_take(&stream->place, 1)
                   ? PV_OK
                   : resources_refuse(&stream->place, RESOURCE_STREAMS, err);
    pv_error_set_limit(err, "streams", "concurrent-requests", most, STREAM_RETRY_S);
    return pv_fail(err, PV_E_QUOTA,
                   "the team has %lld stream%s open already (operation_team_streams_max)",
                   (long long)most, PLURAL(most));
}

/* *made is the caller's to end, also after a failure. */
static enum pv_code open_stream(struct api *api,
                                struct http_request *request,
                                const char *id,
                                struct stream **made,
                                struct pv_error *err)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return pv_no_memory(err);
    stream->api = api;
    stream->request = request;
    memcpy(stream->id, id, sizeof stream->id);
    atomic_init(&stream->revoked, false);
    arena_init_beside(&stream->arena, request->arena,
                      (size_t)api->config->request_memory_bytes_max);
    put_off_comment(stream);
    *made = stream;
    return take_place(stream, err);
}

/* 204 tells a browser that it need not come back. */
static void reply_nothing_more(struct http_response *response, struct stream *stream)
{
    operation_stream_end(stream);
    response->status = 204;
}

/* The first piece is made before the answer begins, so that what can fail at once has its status.
 */
static enum pv_code begin_stream(struct stream *stream, int64_t last, struct pv_error *err)
{
    stream->seen = last;
    PV_TRY(make_piece(stream, retry, &stream->ready, err));
    if (last > stream->events)
        return pv_fault(err, last_is_header(stream->request) ? PV_PLACE_HEADER : PV_PLACE_PARAMETER,
                        last_is_header(stream->request) ? LAST_HEADER : LAST_PARAMETER,
                        "out_of_range", "the last event so far has number %lld",
                        (long long)stream->events);
    return PV_OK;
}

static void
reply_stream(struct http_request *request, struct http_response *response, struct stream *stream)
{
    http_response_header(request, response, "Cache-Control", "no-store");
    if (stream->over && strcmp(stream->ready, retry) == 0) {
        reply_nothing_more(response, stream);
        return;
    }
    http_response_header(request, response, "X-Accel-Buffering", "no");
    response->status = 200;
    response->content_type = "text/event-stream";
    response->source = &source;
    response->source_state = stream;
}

enum pv_code operations_events(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    static const char *const known[] = {LAST_PARAMETER, NULL};
    struct stream *stream = NULL;
    char id[37];
    int64_t last = 0;
    enum pv_code code = http_check_query(request, known, err);
    if (code == PV_OK && !uuid_parse(http_path_parameter(request, "id"), id))
        code = pv_fail(err, PV_E_NOT_FOUND, "there is no operation of that id");
    if (code == PV_OK)
        code = read_last(request, &last, err);
    if (code == PV_OK)
        code = open_stream(context, request, id, &stream, err);
    if (code == PV_OK)
        code = begin_stream(stream, last, err);
    if (code == PV_OK)
        reply_stream(request, response, stream);
    else if (stream != NULL)
        operation_stream_end(stream);
    return code;
}
