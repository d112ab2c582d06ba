#include "http/state.h"

#include "metrics/registry.h"

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

static enum pv_code get_ready(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    struct http_server *server = context;
    PV_TRY(check_no_query(request, err));
    if (atomic_load(&server->draining))
        return pv_fail(err, PV_E_UNAVAILABLE, "the service is shutting down");
    if (server->options.ready != NULL)
        PV_TRY(server->options.ready(server->options.owner, err));
    reply_text(response, "application/json", strview_of("{\"status\":\"ready\"}"));
    return PV_OK;
}

static enum pv_code get_metrics(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    struct http_server *server = context;
    PV_TRY(check_no_query(request, err));
    const struct http_metrics_queue queues[] = {{"io", workers_statistics(server->io)},
                                                {"compute", workers_statistics(server->compute)}};
    http_metrics_collect(&server->metrics, queues, 2);
    http_memory_collect(&server->memory);
    if (server->options.collect_metrics != NULL)
        server->options.collect_metrics(server->options.owner);
    struct strview all = metrics_write(request->arena);
    if (all.at == NULL)
        return pv_no_memory(err);
    reply_text(response, "text/plain; version=0.0.4; charset=utf-8", all);
    return PV_OK;
}

const struct http_route health_routes[] = {
    {HTTP_GET, "/healthz", HTTP_PUBLIC, HTTP_INLINE, get_health, NULL, false},
    {HTTP_GET, "/readyz", HTTP_PUBLIC, HTTP_IO, get_ready, NULL, false},
    {HTTP_GET, "/metrics", HTTP_PUBLIC, HTTP_INLINE, get_metrics, NULL, false},
    {.template = NULL},
};

bool health_owns(const struct http_route *route)
{
    for (const struct http_route *row = health_routes; row->template != NULL; row++)
        if (row == route)
            return true;
    return false;
}
