#include "http/state.h"

#include <stdio.h>
#include <string.h>

#include "metrics/registry.h"
#include "threads/clock.h"

/*
 * Calls that every operator asks for, public and part of the server itself: their context is the
 * server, not the handlers' one.
 */

static void reply_text(struct http_response *response, const char *type, struct strview body)
{
    response->status = 200;
    response->content_type = type;
    response->body = body.at;
    response->body_n = body.n;
    response->headers[response->n_headers++] = (struct http_header){"Cache-Control", "no-store"};
}

static enum pv_code check_no_query(const struct http_request *request, struct pv_error *err)
{
    static const char *const none[] = {NULL};
    return http_check_query(request, none, err);
}

/* The process lives. Touches nothing else: a database outage must not restart every replica. */
static enum pv_code get_health(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    (void)context;
    PV_TRY(check_no_query(request, err));
    reply_text(response, "application/json", strview_of("{\"status\":\"ok\"}"));
    return PV_OK;
}

static enum pv_code reply_ready(struct http_request *request,
                                struct http_response *response,
                                const struct http_readiness *seen,
                                struct pv_error *err)
{
    enum { DOCUMENT_MAX = 96 };
    char *text = arena_alloc(request->arena, DOCUMENT_MAX);
    if (text == NULL)
        return pv_no_memory(err);
    if (seen->clock_skew_known)
        (void)snprintf(text, DOCUMENT_MAX, "{\"status\":\"ready\",\"clock_skew_s\":%.6f}",
                       seen->clock_skew_s);
    else
        (void)snprintf(text, DOCUMENT_MAX, "{\"status\":\"ready\"}");
    reply_text(response, "application/json", strview_of(text));
    return PV_OK;
}

static enum pv_code get_ready(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    struct http_server *server = context;
    PV_TRY(check_no_query(request, err));
    if (atomic_load(&server->draining))
        return pv_fail(err, PV_E_UNAVAILABLE, "the service is shutting down");
    struct http_readiness seen = {.clock_skew_known = false};
    if (server->options.ready != NULL)
        PV_TRY(server->options.ready(server->options.owner, &seen, err));
    return reply_ready(request, response, &seen, err);
}

/*
 * The text is some 100 kB: it is made at most once in metrics_cache_ms, and by one thread, so that
 * whoever asks for it often takes next to nothing from others.
 */
static enum pv_code make_metrics(struct http_server *server, struct pv_error *err)
{
    const struct http_metrics_queue queues[] = {{"io", workers_statistics(server->io)},
                                                {"compute", workers_statistics(server->compute)}};
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t fresh_ns = (uint64_t)server->config->metrics_cache_ms * 1000000u;
    if (server->metrics_text.at != NULL && now_ns - server->metrics_made_ns < fresh_ns)
        return PV_OK;
    http_metrics_collect(&server->metrics, queues, 2);
    resources_collect(server->options.resources);
    if (server->options.collect_metrics != NULL)
        server->options.collect_metrics(server->options.owner);
    arena_fini(&server->metrics_arena);
    server->metrics_text = metrics_write(&server->metrics_arena);
    server->metrics_made_ns = now_ns;
    return server->metrics_text.at == NULL ? pv_no_memory(err) : PV_OK;
}

static enum pv_code get_metrics(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    struct http_server *server = context;
    PV_TRY(check_no_query(request, err));
    PV_TRY(make_metrics(server, err));
    /* A copy: the next text may be made while this one is still being sent. */
    const struct strview text = server->metrics_text;
    char *copy = arena_alloc(request->arena, text.n);
    if (copy == NULL)
        return pv_no_memory(err);
    memcpy(copy, text.at, text.n);
    reply_text(response, "text/plain; version=0.0.4; charset=utf-8",
               (struct strview){copy, text.n});
    return PV_OK;
}

const struct http_route health_routes[] = {
    {HTTP_GET, "/healthz", HTTP_PUBLIC, HTTP_INLINE, get_health, NULL, false, NULL, NULL},
    {HTTP_GET, "/readyz", HTTP_PUBLIC, HTTP_IO, get_ready, NULL, false, NULL, NULL},
    {HTTP_GET, "/metrics", HTTP_PUBLIC, HTTP_IO, get_metrics, NULL, false, NULL, NULL},
    {.template = NULL},
};

bool health_owns(const struct http_route *route)
{
    for (const struct http_route *row = health_routes; row->template != NULL; row++)
        if (row == route)
            return true;
    return false;
}

bool health_has(const struct http_resource *resource)
{
    return resource->by_method[HTTP_GET] != NULL && health_owns(resource->by_method[HTTP_GET]);
}

struct workers *health_workers(const struct http_listener *listener, const struct http_route *route)
{
    return route->handler == get_metrics ? listener->server->exposition : listener->readiness;
}
