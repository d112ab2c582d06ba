#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdint.h>

#include "config/config.h"
#include "http/route.h"

/*
 * libmicrohttpd behind the routes: an epoll thread pool that never blocks, bounded workers for
 * handlers, a deadline per request, strict header checks, authentication, problem details, request
 * ids, metrics.
 */
struct http_server;

struct http_server_options {
    const struct config *config;
    const struct http_route *routes; /* ended by a NULL template */
    void *context;                   /* for handlers */
    /*
     * Who holds this bearer token ("prv_..." as sent)? PV_E_UNAUTHENTICATED, PV_E_UNAVAILABLE.
     * Called from io workers (it may ask PostgreSQL); what it answered is remembered for
     * config->token_cache_ms (http/token_cache.h), which keeps most requests from that detour.
     */
    enum pv_code (*authenticate)(void *context,
                                 const char *token,
                                 struct principal *who,
                                 struct pv_error *err);
    /* Fill in /readyz beyond "not draining" and "queues not full". */
    enum pv_code (*ready)(void *context, struct pv_error *err);
    /* Bring metrics that are measured, not counted, up to date before /metrics is printed; may be
     * NULL. */
    void (*collect_metrics)(void *context);
};

/* Starts listening. PV_E_UNAVAILABLE: the address is taken, err->detail says which. */
enum pv_code http_server_open(const struct http_server_options *options,
                              struct http_server **server,
                              struct pv_error *err) PV_MUSTCHECK;

/* The port really bound. */
uint16_t http_server_port(const struct http_server *server);

/* Stop taking connections, let requests finish for at most config->drain_s, answer the rest 503,
 * free. */
void http_server_drain(struct http_server *server);
void http_server_close(struct http_server *server);

#endif
