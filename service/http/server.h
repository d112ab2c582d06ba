#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdint.h>

#include "http/options.h"

/*
 * libmicrohttpd behind the routes: an epoll thread pool that never blocks, bounded workers for
 * handlers, a deadline per request, strict header checks, authentication, problem details, request
 * ids, metrics.
 */
struct http_server;

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
