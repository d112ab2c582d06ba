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
 * PV_E_RETRY also carries what http_defer (http/message.h) and http_park (http/park.h) ask for: to
 * be run again on a compute worker, or when something has happened.
 */
typedef enum pv_code (*http_handler)(void *context,
                                     struct http_request *request,
                                     struct http_response *response,
                                     struct pv_error *err);

/*
 * A body taken in pieces while it arrives, by bounded workers, never by the server's own threads.
 * begin    headers only: may refuse before a byte is read. *state is the handler's.
 * piece    the next bytes; a failure ends the upload with that error.
 * finish   the body is complete: do the effect, fill in the response. One that answers
 *          http_defer(request) is called again on a compute worker, as often as it likes: each turn has the time of a request, and others have theirs in between.
 * end      always called last, once, also when the client went away or begin failed (state may be
 *          NULL).
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
    /* How long finish may take before the client is answered 503; NULL: request_timeout_ms. */
    int64_t (*finish_ms)(const void *context);
};

/* A call needs exactly the scope of its row; no scope contains another. */
enum http_access {
    HTTP_PUBLIC, /* no token looked at */
    HTTP_READ,
    HTTP_WRITE,
    HTTP_ADMIN
};

/* Where a handler runs. Each kind of worker has its own bounded queue: a full one answers 503. */
enum http_place {
    HTTP_INLINE, /* on the server's thread: microseconds, no blocking */
    HTTP_IO,     /* waits for PostgreSQL */
    HTTP_COMPUTE /* may take long on a core */
};

/* What a call takes as its body; to a stream a body is bytes of any type. */
enum http_body { HTTP_NO_BODY, HTTP_JSON, HTTP_JSON_OR_CSV };

struct http_route {
    enum http_method method;
    const char *template; /* "/v1/applications/{name}/runs" */
    enum http_access access;
    enum http_place place;
    http_handler handler;             /* NULL for a streaming route */
    const struct http_stream *stream; /* NULL for all others */
    enum http_body takes_body;        /* false and true do for the first two */
};

#endif
