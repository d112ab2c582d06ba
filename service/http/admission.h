#ifndef HTTP_ADMISSION_H
#define HTTP_ADMISSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "http/message.h"
#include "http/router.h"
#include "threads/workers.h"

/*
 * What a job of a request will take is estimated from the requests of its route that came before:
 * their mean time on a worker for each unit of body, recent ones counting more. Safe from any
 * thread: estimates may lose each other's updates, never more.
 */
struct http_cost {
    _Atomic uint64_t ns_per_unit;
};
struct http_costs {
    struct http_cost *all; /* by resource, method, and whether it computes */
};

/* false: memory is exhausted. */
bool http_costs_init(struct http_costs *costs, const struct http_router *router);
void http_costs_fini(struct http_costs *costs);

uint64_t http_costs_estimate(const struct http_costs *costs,
                             const struct http_resource *resource,
                             const struct http_request *request);
void http_costs_learn(struct http_costs *costs,
                      const struct http_resource *resource,
                      const struct http_request *request,
                      uint64_t took_ns);

/*
 * The answer to a request that a queue did not take: 429 with RateLimit and RateLimit-Policy (draft
 * "RateLimit header fields for HTTP") where a team has used its share, else 503.
 */
void http_admission_refuse(struct http_request *request,
                           struct http_response *response,
                           enum workers_admission why,
                           int64_t queue_max);

#endif
