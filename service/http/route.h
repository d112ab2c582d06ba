#ifndef HTTP_ROUTE_H
#define HTTP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "http/message.h"

/*
 * A call of the service is a row: method, path template, who may, where it runs, what it does.
 *
 * Handlers are synchronous. They return PV_OK with `response` filled in, or a code with `err`,
 * which http/problem.c turns into problem details; nothing may be half done then. A handler that
 * answers PV_E_RETRY is run again from the start (at most 3 times, with jitter), so it may not
 * change its request. `context` is what http_server_open was given (the api's struct api).
 *
 * PV_E_RETRY also carries what http_move, http_turn (http/message.h) and http_park (http/park.h) ask
 * for: to be run again elsewhere, in another turn, or when something has happened.
 */
typedef enum pv_code (*http_handler)(void *context,
                                     struct http_request *request,
                                     struct http_response *response,
                                     struct pv_error *err);

/*
 * A call in steps, each where it belongs: decode, load from the database, compute, store. So nothing
 * that computes keeps others from the database, and nothing that waits for the database keeps a core
 * idle. The server takes the request from one kind of worker to the other between two steps; as long as
 * it stays at one place it stays on one thread.
 *
 * What one step leaves to the next is in request->state: state_bytes, zeros at first, in the request's
 * arena, as is what it points at. The first step that fills in response->status is the last one run.
 * Each step is a handler as above, and run again by itself, with the state as it left it: what it
 * finds there is what the steps before made, or what its own earlier try did.
 */
enum { HTTP_STEPS_MAX = 8 };

struct http_step {
    enum http_place place;
    http_handler run; /* NULL: there are no more */
};

struct http_call {
    size_t state_bytes;
    struct http_step steps[HTTP_STEPS_MAX + 1];
    /* Where a call begins of whose steps none must be at one place: HTTP_IO or HTTP_COMPUTE. NULL: at
     * HTTP_IO. */
    enum http_place (*begins_at)(const struct http_request *request);
    /* Whether this request changes nothing: then the scope `read` does, beside that of the row. NULL:
     * it is not asked. */
    bool (*only_reads)(const struct http_request *request);
    /* Once when no step is run any more, answered or not, if the state was made; on any thread, so it
     * may not wait. NULL: there is nothing to give back. */
    void (*end)(void *state);
};

/*
 * A body taken in pieces while it arrives, by bounded workers, never by the server's own threads.
 * begin    headers only, on an io worker: may refuse before a byte is read. *state is the handler's.
 * piece    the next bytes, on a compute worker; a failure ends the upload with that error.
 * finish   the body is complete: do the effect, fill in the response. It begins on a compute worker and
 *          goes where it must be by http_move, to and fro if need be. One that answers http_turn is
 *          called again as often as it likes: others have their turns in between.
 * refused  on an io worker, before the answer, if one of the above failed with a status of 4xx and *state
 *          was made. It may wait for the database. NULL: refusals are not noted.
 * end      always called last, once, also when the client went away or begin failed (state may be
 *          NULL): on the worker that had the failure or the answer, and where the client went away in
 *          between on an io worker.
 */
struct http_stream {
    enum pv_code (*begin)(void *context,
                          struct http_request *request,
                          void **state,
                          struct pv_error *err);
    enum pv_code (*piece)(
        void *context, void *state, const char *bytes, size_t n, struct pv_error *err);
    enum pv_code (*finish)(void *context,
                           struct http_request *request,
                           void *state,
                           struct http_response *response,
                           struct pv_error *err);
    void (*end)(void *context, void *state);
    /* How long finish may take, all turns and the waits between them together, before the client is
     * answered 503. NULL: each turn has request_timeout_ms. */
    int64_t (*finish_ms)(const void *context);
    void (*refused)(void *context, void *state, const struct pv_error *why);
};

/* A call needs exactly the scope of its row; no scope contains another. */
enum http_access {
    HTTP_PUBLIC, /* no token looked at */
    HTTP_READ,
    HTTP_WRITE,
    HTTP_ADMIN
};

/* What a call takes as its body; to a stream a body is bytes of any type. */
enum http_body { HTTP_NO_BODY, HTTP_JSON, HTTP_JSON_OR_CSV, HTTP_JSON_OR_NDJSON };

struct http_route {
    enum http_method method;
    const char *template; /* "/v1/applications/{name}/runs" */
    enum http_access access;
    enum http_place place;
    http_handler handler;             /* of a call in one step at that place; NULL for all others */
    const struct http_stream *stream; /* NULL for all others */
    enum http_body takes_body;        /* false and true do for the first two */
    const struct http_call *call;     /* in steps; NULL for all others */
    /* HTTP_JSON_OR_NDJSON: the row that takes over where the body is application/x-ndjson, a stream. */
    const struct http_route *ndjson;
};

#endif
