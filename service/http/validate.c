#include "http/validate.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/reply_fields.h"
#include "http/target.h"
#include "http/trace.h"
#include "threads/clock.h"

struct collector {
    struct exchange *x;
    size_t *size;
    size_t capacity;
    bool failed;
};

/* Copied: a handler that is given up on may read its header after the connection is gone. */
static enum MHD_Result collect_header(void *cls,
                                      enum MHD_ValueKind kind,
                                      const char *key,
                                      size_t key_n,
                                      const char *value,
                                      size_t value_n)
{
    struct collector *c = cls;
    struct http_request *request = &c->x->request;
    (void)kind;
    (void)key_n;
    if (request->n_headers == c->capacity)
        return MHD_NO;
    const char *name = arena_strdup(request->arena, key);
    const char *copy = arena_strndup(request->arena, value == NULL ? "" : value, value_n);
    c->failed = name == NULL || copy == NULL;
    if (c->failed)
        return MHD_NO;
    c->size[request->n_headers] = value_n;
    request->headers[request->n_headers++] = (struct http_header){name, copy};
    return MHD_YES;
}

enum pv_code validate_fields(struct exchange *x, struct pv_error *err)
{
    struct http_request *request = &x->request;
    int n = MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, NULL, NULL);
    struct collector c = {.x = x, .capacity = n > 0 ? (size_t)n : 0};
    request->headers = arena_calloc(&x->arena, c.capacity, sizeof *request->headers);
    c.size = arena_calloc(&x->arena, c.capacity, sizeof *c.size);
    if (request->headers == NULL || c.size == NULL)
        return pv_no_memory(err);
    (void)MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, collect_header, &c);
    if (c.failed)
        return pv_no_memory(err);
    enum pv_code code =
        http_fields_check(request->headers, c.size, request->n_headers, &x->framing, err);
    if (code != PV_OK)
        return code;
    const struct config *config = x->server->config;
    return http_fields_limit(request->headers, request->n_headers, (size_t)config->headers_max,
                             (size_t)config->header_bytes_max, err);
}

void validate_identity(struct exchange *x)
{
    struct http_request *request = &x->request;
    const char *id = http_header(request, "X-Request-Id");
    if (id != NULL && http_request_id_is_valid(id))
        (void)snprintf(request->request_id, sizeof request->request_id, "%s", id);
    else
        clock_uuid7(request->request_id);

    uint8_t random[24];
    clock_random(random, sizeof random);
    http_trace_hex(random, 8, request->span_id);
    const char *parent = http_header(request, "traceparent");
    struct http_trace trace;
    if (parent != NULL && http_trace_parse(parent, &trace)) {
        memcpy(request->trace_id, trace.trace_id, sizeof request->trace_id);
        x->trace_flags = trace.flags;
    } else {
        http_trace_hex(random + 8, 16, request->trace_id);
    }
}

enum http_method_label validate_method(const char *method)
{
    for (size_t i = 0; i < HTTP_LABEL_OTHER; i++)
        if (strcmp(method, http_method_label_text[i]) == 0)
            return (enum http_method_label)i;
    return HTTP_LABEL_OTHER;
}

static enum http_method method_of(enum http_method_label label)
{
    static const enum http_method methods[HTTP_LABEL_COUNT] = {
        [HTTP_LABEL_GET] = HTTP_GET,     [HTTP_LABEL_HEAD] = HTTP_GET,
        [HTTP_LABEL_POST] = HTTP_POST,   [HTTP_LABEL_PUT] = HTTP_PUT,
        [HTTP_LABEL_PATCH] = HTTP_PATCH, [HTTP_LABEL_DELETE] = HTTP_DELETE,
    };
    return methods[label];
}

/* OPTIONS is answered here, for a path and for "*". */
static void answer_options(struct exchange *x, const char *allow)
{
    x->response = (struct http_response){.status = 204};
    http_response_header(&x->request, &x->response, "Allow", allow);
    x->failed = true; /* the answer is known: nothing else is asked of this request */
}

static enum pv_code refuse_method(struct exchange *x, struct pv_error *err)
{
    (void)snprintf(err->allow, sizeof err->allow, "%s", x->resource->allow);
    return pv_fail(err, PV_E_METHOD, "%s is not among the methods of %s",
                   http_method_label_text[x->label], x->resource->template);
}

enum pv_code validate_route(struct exchange *x, struct pv_error *err)
{
    struct http_request *request = &x->request;
    struct http_target target;
    if (x->label == HTTP_LABEL_OTHER)
        return pv_fail(err, PV_E_NOT_IMPLEMENTED, "the method is not known");
    enum pv_code code = http_target_parse(x->target, &x->arena, &target, err);
    if (code != PV_OK)
        return code;
    request->path = target.path;
    request->query = target.query;
    request->n_query = target.n_query;
    if (target.asterisk && x->label != HTTP_LABEL_OPTIONS)
        return pv_fail(err, PV_E_SYNTAX, "only OPTIONS takes * as its target");
    if (target.asterisk) {
        answer_options(x, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        return PV_OK;
    }
    x->resource = http_router_find(&x->server->router, target.segments, target.n_segments);
    if (x->resource != NULL && x->client->listener->for_health && !health_has(x->resource))
        return pv_fail(err, PV_E_NOT_FOUND, "this port answers questions about health only");
    if (x->resource == NULL)
        return pv_fail(err, PV_E_NOT_FOUND, "no resource has this path");
    request->template = x->resource->template;
    if (x->label == HTTP_LABEL_OPTIONS) {
        answer_options(x, x->resource->allow);
        return PV_OK;
    }
    request->method = method_of(x->label);
    x->route = x->resource->by_method[request->method];
    if (x->route == NULL)
        return refuse_method(x, err);
    if (x->route->ndjson != NULL && http_fields_are_ndjson(request))
        x->route = x->route->ndjson;
    request->n_path_parameters = x->resource->n_parameters;
    request->path_parameters =
        http_router_parameters(x->resource, target.segments, target.n_segments, &x->arena);
    if (request->path_parameters == NULL)
        return pv_no_memory(err);
    if (http_query(request, "fields") != NULL)
        request->reply_members = http_reply_members_find(x->server->options.reply_members, request);
    return PV_OK;
}

/* The token of "Bearer <token>", or an error when there is none. */
enum pv_code validate_token(struct exchange *x, struct pv_error *err)
{
    const char *value = http_header(&x->request, "Authorization");
    if (value == NULL || strncasecmp(value, "Bearer ", 7) != 0)
        return pv_fail(err, PV_E_UNAUTHENTICATED, "send a token as Authorization: Bearer <token>");
    x->token = value + 7 + strspn(value + 7, " ");
    return PV_OK;
}

enum pv_code validate_scope(struct exchange *x, struct pv_error *err)
{
    static const unsigned needed[] = {[HTTP_PUBLIC] = 0,
                                      [HTTP_READ] = SCOPE_READ,
                                      [HTTP_WRITE] = SCOPE_WRITE,
                                      [HTTP_ADMIN] = SCOPE_ADMIN};
    unsigned need = needed[x->route->access];
    unsigned scopes = x->request.principal.scopes;
    if ((scopes & need) == need || (exchange_only_reads(x) && (scopes & SCOPE_READ) != 0))
        return PV_OK;
    return pv_fail(err, PV_E_FORBIDDEN, "the token lacks the scope this call needs: %s",
                   exchange_scope_name(x));
}

enum pv_code validate_body(struct exchange *x, struct pv_error *err)
{
    int64_t most = x->server->config->body_bytes_max;
    if (!x->framing.has_body)
        return PV_OK;
    if (!x->route->takes_body)
        return pv_fail(err, PV_E_SYNTAX, "this call takes no body");
    if (x->route->stream != NULL)
        return PV_OK;
    enum pv_code code = http_fields_type(&x->request, x->route->takes_body, err);
    if (code == PV_OK && x->framing.length > (uint64_t)most)
        code =
            pv_fail(err, PV_E_TOO_LARGE, "the body may have %lld bytes at most", (long long)most);
    return code;
}
