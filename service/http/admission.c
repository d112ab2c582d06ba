#include "http/admission.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/problem.h"
#include "metrics/registry.h"

enum { UNIT_BYTES = 4096 }; /* of a body; a request without one is a unit, too */

static const uint64_t first_estimate_ns = 1000000; /* of a unit, before anything is known */

METRIC_COUNTER(rejected,
               "provisor_http_rejected_total",
               "Requests refused for want of a place in a queue or of memory, because the team's "
               "share of it was used, or because too many unknown tokens were sent.",
               "reason");

/* --- costs --- */

/* Streams have no steps: what their jobs are is theirs. */
static size_t cost_index(const struct http_resource *resource,
                         enum http_method method,
                         size_t step,
                         enum http_place place)
{
    size_t row = (resource->index * HTTP_METHOD_COUNT + method) * HTTP_STEPS_MAX + step;
    return row * 2 + (place == HTTP_COMPUTE);
}

static uint64_t count_units(const struct http_request *request)
{
    return 1 + request->body_n / UNIT_BYTES;
}

bool http_costs_init(struct http_costs *costs, const struct http_router *router)
{
    size_t n = router->n * HTTP_METHOD_COUNT * HTTP_STEPS_MAX * 2;
    costs->all = calloc(n, sizeof *costs->all);
    if (costs->all == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        atomic_init(&costs->all[i].ns_per_unit, first_estimate_ns);
    return true;
}

void http_costs_fini(struct http_costs *costs)
{
    free(costs->all);
    costs->all = NULL;
}

uint64_t http_costs_estimate(const struct http_costs *costs,
                             const struct http_resource *resource,
                             const struct http_request *request,
                             size_t step)
{
    const struct http_cost *cost =
        &costs->all[cost_index(resource, request->method, step, request->place)];
    return atomic_load_explicit(&cost->ns_per_unit, memory_order_relaxed) * count_units(request);
}

void http_costs_learn(struct http_costs *costs,
                      const struct http_resource *resource,
                      const struct http_request *request,
                      size_t step,
                      enum http_place place,
                      uint64_t took_ns)
{
    enum { MEMORY = 16 }; /* requests that the mean is of */
    struct http_cost *cost = &costs->all[cost_index(resource, request->method, step, place)];
    uint64_t mean = atomic_load_explicit(&cost->ns_per_unit, memory_order_relaxed);
    mean = mean - mean / MEMORY + took_ns / count_units(request) / MEMORY;
    atomic_store_explicit(&cost->ns_per_unit, mean, memory_order_relaxed);
}

/* --- refusals --- */

enum http_refusal http_refusal_of(enum workers_admission why)
{
    return why == WORKERS_SHARE_USED ? HTTP_REFUSED_QUEUE_SHARE : HTTP_REFUSED_QUEUE;
}

void http_admission_refuse(struct http_request *request,
                           struct http_response *response,
                           enum http_refusal why,
                           const struct config *config)
{
    static const struct {
        enum pv_code code;
        const char *reason;
        const char *detail;
    } rows[] = {
        [HTTP_REFUSED_QUEUE] = {PV_E_UNAVAILABLE, "queue", "too many requests are waiting already"},
        [HTTP_REFUSED_QUEUE_SHARE] = {PV_E_QUOTA, "queue_share",
                                      "the team's share of the requests that may wait is used, and "
                                      "others wait, too"},
        [HTTP_REFUSED_MEMORY] = {PV_E_UNAVAILABLE, "memory",
                                 "requests hold as much memory as they may (memory_bytes_max)"},
        [HTTP_REFUSED_MEMORY_SHARE] = {PV_E_QUOTA, "memory_share",
                                       "the team's requests hold their share of the memory, and "
                                       "others hold some, too (memory_bytes_max)"},
        [HTTP_REFUSED_MEMORY_ALONE] = {PV_E_LIMIT, "memory_alone",
                                       "the request needs more memory than a team may hold (three "
                                       "quarters of memory_bytes_max)"},
        [HTTP_REFUSED_LOOKUPS] = {PV_E_UNAVAILABLE, "token_lookups",
                                  "more new tokens were sent within this second than are looked up "
                                  "(token_lookups_per_s)"}};
    struct pv_error err = {.retry_after_s = rows[why].code == PV_E_LIMIT ? 0 : 1};
    if (why == HTTP_REFUSED_QUEUE_SHARE)
        pv_error_set_limit(&err, "queue", "concurrent-requests", config->io_queue, 1);
    if (why == HTTP_REFUSED_MEMORY_SHARE)
        pv_error_set_limit(&err, "memory", "content-bytes", config->memory_bytes_max, 1);
    metric_add(&rejected, 1, METRIC_LABELS(rows[why].reason));
    (void)pv_fail(&err, rows[why].code, "%s", rows[why].detail);
    http_reply_problem(request, response, &err, (struct http_challenge){0});
}
