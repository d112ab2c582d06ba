#ifndef HTTP_REQUEST_METRICS_H
#define HTTP_REQUEST_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "http/router.h"
#include "threads/workers.h"

/*
 * What the server counts (metrics/registry.h). Labels come from closed sets: route template, method,
 * class of status code, queue. Counting is safe from any thread.
 */

/* Methods as labels: those of the routes, and what else a request may carry. */
enum http_method_label {
    HTTP_LABEL_GET,
    HTTP_LABEL_HEAD,
    HTTP_LABEL_POST,
    HTTP_LABEL_PUT,
    HTTP_LABEL_PATCH,
    HTTP_LABEL_DELETE,
    HTTP_LABEL_OPTIONS,
    HTTP_LABEL_OTHER,
    HTTP_LABEL_COUNT
};
extern const char *const http_method_label_text[HTTP_LABEL_COUNT];

struct http_metrics {
    const struct http_router *router;
    struct http_route_metrics *routes; /* one a resource, then one for paths without a route */
    atomic_long in_flight;
    atomic_long connections;
};

/* false: memory is exhausted. */
bool http_metrics_init(struct http_metrics *metrics,
                       const struct http_router *router,
                       int64_t started_us);
void http_metrics_fini(struct http_metrics *metrics);

/* resource NULL: no route has that path. */
void http_metrics_count(struct http_metrics *metrics,
                        const struct http_resource *resource,
                        enum http_method_label method,
                        unsigned status,
                        uint64_t duration_ns);

struct http_metrics_queue {
    const char *name;
    struct workers_statistics now;
};

/* Bring what is measured, not counted, up to date, before the registry is printed. */
void http_metrics_collect(const struct http_metrics *metrics,
                          const struct http_metrics_queue queues[],
                          size_t n_queues);

/* Counting them takes milliseconds: a background thread does it now and then. */
void http_metrics_set_open_fds(unsigned long long n);

#endif
