#ifndef HTTP_METRICS_H
#define HTTP_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "http/router.h"
#include "threads/workers.h"

/*
 * Counters of the server and their Prometheus text (version 0.0.4). Labels come from closed sets:
 * route template, method, status class, queue. Counting is safe from any thread.
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

enum { HTTP_BUCKETS = 14 }; /* without +Inf */

struct http_route_counters {
    atomic_uint_least64_t by_status[HTTP_LABEL_COUNT][4]; /* 2xx 3xx 4xx 5xx */
    atomic_uint_least64_t buckets[HTTP_BUCKETS + 1];      /* not cumulative; the last is +Inf */
    atomic_uint_least64_t duration_ns;
};

struct http_metrics {
    const struct http_router *router;
    struct http_route_counters *routes; /* one a resource, then one for paths without a route */
    atomic_uint_least64_t aborted;      /* ended without a whole answer */
    atomic_uint_least64_t timeouts;     /* deadlines that passed: answered 503 or 408, or cut */
    atomic_uint_least64_t rejected;     /* 503 because a queue was full */
    atomic_uint_least64_t body_bytes;   /* received */
    atomic_long in_flight;
    atomic_long connections;
    atomic_uint_least64_t open_fds; /* kept up to date by the sweeper */
    int64_t started_us;
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

/* The text in the arena, every line ended by LF. at is NULL when memory is exhausted. */
struct strview http_metrics_write(const struct http_metrics *metrics,
                                  const struct http_metrics_queue queues[],
                                  size_t n_queues,
                                  struct arena *arena);

#endif
