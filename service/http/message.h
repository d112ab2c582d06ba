#ifndef HTTP_MESSAGE_H
#define HTTP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/principal.h"
#include "base/strview.h"

/* One request as handlers see it, and the reply they fill in. Both live in the request's arena. */

enum http_method {
    HTTP_GET, /* HEAD too: the library drops the body */
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_METHOD_COUNT
};

struct http_parameter {
    const char *name;
    const char *value; /* percent-decoded, valid UTF-8, no NUL */
};

struct http_header {
    const char *name;
    const char *value;
};

/* Where a step of a call runs. Each kind of worker has its own bounded queue: a full one refuses. */
enum http_place {
    HTTP_INLINE,  /* on the server's thread: microseconds, no blocking */
    HTTP_IO,      /* may wait for PostgreSQL, may not take a core for long */
    HTTP_COMPUTE, /* the other way round */
    /* Of steps only, not where a request is: */
    HTTP_ANYWHERE, /* on whichever worker has the request; http_move takes it to another */
    HTTP_BODY /* likewise, but on a compute worker where the body is large (inline_body_bytes) */
};

/* How a step that answered PV_E_RETRY is run again. */
enum http_again {
    HTTP_AGAIN_AT_ONCE, /* a concurrent change got in the way */
    HTTP_AGAIN_MOVED,   /* http_move: on the worker of another place; http_turn: in another turn */
    HTTP_AGAIN_WOKEN    /* http_park: when its ticket is used */
};

struct http_reply_members;
struct json_selection;

struct http_request {
    struct arena *arena; /* emptied when the reply is sent */
    enum http_method method;
    const char *path; /* as sent, without the query */
    const char
        *template; /* of the route: "/v1/applications/{name}"; a closed set, fit for metrics */
    struct http_parameter *path_parameters; /* in the order of the template */
    size_t n_path_parameters;
    struct http_parameter *query; /* in the order sent */
    size_t n_query;
    struct http_header *headers;
    size_t n_headers;
    const char *body; /* the whole body of a non-streaming route; NUL-terminated */
    size_t body_n;
    struct principal principal; /* who asks; empty on routes without authentication */
    char request_id[129];
    char trace_id[33];
    char span_id[17];            /* our own */
    unsigned char body_hash[32]; /* of the body and the query, once body_hashed: the api's */
    bool body_hashed;
    /* Where ?fields= was sent, and is one of the call's parameters; the server's, as is what it
     * selects. */
    const struct http_reply_members *reply_members;
    const struct json_selection *selection;
    void *state;             /* what the steps of its call leave to each other; see route.h */
    enum http_place place;   /* where it is now; the server's, as are the next two */
    enum http_place move_to; /* of HTTP_AGAIN_MOVED */
    enum http_again again;   /* what PV_E_RETRY means this time */
    char resumes[40];        /* "" at first; what a handler that parks leaves for its next turn */
    uint64_t deadline_ns; /* monotonic: work that is not done by then is given up (PV_E_TIMEOUT) */
};

/*
 * For a step that needs to be elsewhere (HTTP_IO or HTTP_COMPUTE), at its beginning, as
 * `PV_TRY(http_move(request, HTTP_IO))`: PV_OK where it is there already, else PV_E_RETRY, and the step
 * is run again from its start on a worker of that place.
 */
enum pv_code http_move(struct http_request *request, enum http_place place) PV_MUSTCHECK;

/* Returns PV_E_RETRY, for work in turns: the step is run again on a compute worker when the
 * requests of others have had theirs. */
enum pv_code http_turn(struct http_request *request) PV_MUSTCHECK;

/* Value of a path parameter; asserts that the template has it. */
const char *http_path_parameter(const struct http_request *request, const char *name);
/* First value of a query parameter, or NULL. */
const char *http_query(const struct http_request *request, const char *name);
/* First field of that name (case does not matter), or NULL. */
const char *http_header(const struct http_request *request, const char *name);

/*
 * Refuse query parameters that are not in `allowed` (NULL-terminated list), and repeated ones
 * unless the name in the list ends in '*' ("label*" may repeat). `fields` is allowed where replies
 * of the call can be selected from (http/reply_fields.h). Faults name the parameter.
 */
enum pv_code http_check_query(const struct http_request *request,
                              const char *const allowed[],
                              struct pv_error *err) PV_MUSTCHECK;

enum { HTTP_RESPONSE_HEADERS_MAX = 16 };

/*
 * A body made piece by piece while it is sent, for answers of any length in flat memory. Workers
 * make the pieces, each when the client has taken the one before, so a client that reads slowly
 * costs no worker; one that stops reading is cut off.
 * next  the next piece, the source's own memory until it is asked again; *n == 0: that was all.
 *       After a failure the connection is cut in the middle of the chunked body, so that nobody
 *       takes the part for the whole. PV_E_RETRY after http_park (http/park.h): there is none yet, ask
 *       again when the ticket is used.
 * end   always called last, once, on a worker.
 */
struct http_source {
    enum pv_code (*next)(void *state, const char **bytes, size_t *n, struct pv_error *err);
    void (*end)(void *state);
};

struct http_response {
    unsigned status;          /* 0 until the handler decides */
    const char *content_type; /* default application/json */
    const char *body;         /* in the request's arena, or static */
    size_t body_n;
    const struct http_source *source; /* in place of body; the server's once PV_OK is returned */
    void *source_state;
    struct http_header headers[HTTP_RESPONSE_HEADERS_MAX];
    size_t n_headers;
};

/* name is static, value is copied into the request's arena. PV_E_MEMORY is answered by a 500. */
void http_response_header(struct http_request *request,
                          struct http_response *response,
                          const char *name,
                          const char *value);

#endif
