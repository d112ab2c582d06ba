#ifndef HTTP_ADMISSION_H
#define HTTP_ADMISSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "http/message.h"
#include "http/router.h"
#include "threads/workers.h"

/*
 * What a job of a request will take is estimated from the requests of its route that came before:
 * their mean time on a worker for each unit of body, recent ones counting more. A job is what is done
 * of a request at one place: it is known by its first step and by where it runs. Safe from any
 * thread: estimates may lose each other's updates, never more.
 */
struct http_cost {
    _Atomic uint64_t ns_per_unit;
};
struct http_costs {
    struct http_cost *all; /* by resource, method, step, and whether it computes */
};

/* false: memory is exhausted. */
bool http_costs_init(struct http_costs *costs, const struct http_router *router);
void http_costs_fini(struct http_costs *costs);

/* Of the job that begins with that step where the request is. */
uint64_t http_costs_estimate(const struct http_costs *costs,
                             const struct http_resource *resource,
                             const struct http_request *request,
                             size_t step);
void http_costs_learn(struct http_costs *costs,
                      const struct http_resource *resource,
                      const struct http_request *request,
                      size_t step,
                      enum http_place place,
                      uint64_t took_ns);

/* Why a request is refused although nothing is wrong with it. */
enum http_refusal {
    HTTP_REFUSED_QUEUE, /* nothing more may wait */
    HTTP_REFUSED_QUEUE_SHARE,
    HTTP_REFUSED_MEMORY, /* requests hold as much as they may */
    HTTP_REFUSED_MEMORY_SHARE,
    HTTP_REFUSED_MEMORY_ALONE, /* it wants more than a team alone may hold */
    HTTP_REFUSED_LOOKUPS       /* too many tokens that nobody knows */
};

/* `why` is not WORKERS_ACCEPTED. */
enum http_refusal http_refusal_of(enum workers_admission why);

/*
 * The answer to such a request: 429 with RateLimit and RateLimit-Policy (draft "RateLimit header
 * fields for HTTP") where the team has used its share and others want theirs, 422 where asking again
 * is of no use, else 503.
 */
void http_admission_refuse(struct http_request *request,
                           struct http_response *response,
                           enum http_refusal why,
                           const struct config *config);

#endif
