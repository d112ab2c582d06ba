#include "http/request_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/duty.h"
#include "http/process.h"
#include "metrics/registry.h"

const char *const http_method_label_text[HTTP_LABEL_COUNT] = {
    [HTTP_LABEL_GET] = "GET",         [HTTP_LABEL_HEAD] = "HEAD",   [HTTP_LABEL_POST] = "POST",
    [HTTP_LABEL_PUT] = "PUT",         [HTTP_LABEL_PATCH] = "PATCH", [HTTP_LABEL_DELETE] = "DELETE",
    [HTTP_LABEL_OPTIONS] = "OPTIONS", [HTTP_LABEL_OTHER] = "other",
};

static const double duration_bounds_s[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                           0.1,    0.25,  0.5,    1,     2.5,  10,    60};

METRIC_COUNTER(requests,
               "provisor_http_requests_total",
               "Requests answered, by route, method (HEAD counts as GET) and class of status code.",
               "route,method,code_class");
METRIC_HISTOGRAM(durations,
                 "provisor_http_request_duration_seconds",
                 "From the request line to the end of the answer, by route.",
                 "route",
                 duration_bounds_s);
METRIC_GAUGE(in_flight, "provisor_http_requests_in_flight", "Requests being answered.", "");
METRIC_GAUGE(connections, "provisor_http_connections", "Open connections.", "");
METRIC_GAUGE(queue_depth, "provisor_queue_depth", "Jobs that wait for a worker.", "queue");
METRIC_GAUGE(queue_capacity,
             "provisor_queue_capacity",
             "Jobs that may wait before requests are refused.",
             "queue");
METRIC_GAUGE(workers_busy, "provisor_workers_busy", "Workers at work.", "queue");
METRIC_GAUGE(workers, "provisor_workers", "Workers there are.", "queue");
METRIC_COUNTER(misplaced,
               "provisor_misplaced_work_total",
               "Faults of the program: waits for PostgreSQL on a compute worker (wait), and large "
               "texts parsed on an io worker (parse).",
               "what");
METRIC_GAUGE(build_info, "provisor_build_info", "Always 1; the label is the version.", "version");
METRIC_COUNTER(cpu, "process_cpu_seconds_total", "User and system time of the process.", "");
METRIC_GAUGE(resident, "process_resident_memory_bytes", "Resident memory of the process.", "");
METRIC_GAUGE(open_fds,
             "process_open_fds",
             "Open file descriptors, counted every five seconds.",
             "");
METRIC_GAUGE(max_fds, "process_max_fds", "File descriptors that the process may open.", "");
METRIC_GAUGE(started,
             "process_start_time_seconds",
             "When the process started, in seconds since 1970.",
             "");

/* Handles of what is counted with every request, looked up once. */
struct http_route_metrics {
    _Atomic(struct metric_series *) requests[HTTP_LABEL_COUNT][4]; /* 2xx 3xx 4xx 5xx */
    _Atomic(struct metric_series *) durations;
};

bool http_metrics_init(struct http_metrics *metrics,
                       const struct http_router *router,
                       int64_t started_us)
{
    memset(metrics, 0, sizeof *metrics);
    metrics->router = router;
    metric_set(&build_info, 1, METRIC_LABELS(PROVISOR_VERSION));
    metric_set(&started, (double)started_us * 1e-6, NULL);
    metrics->routes = calloc(router->n + 1, sizeof *metrics->routes);
    return metrics->routes != NULL;
}

void http_metrics_fini(struct http_metrics *metrics)
{
    free(metrics->routes);
    metrics->routes = NULL;
}

static void count_request(struct http_route_metrics *of,
                          const char *route,
                          enum http_method_label method,
                          size_t class)
{
    static const char *const class_text[] = {"2xx", "3xx", "4xx", "5xx"};
    enum http_method_label label = method == HTTP_LABEL_HEAD ? HTTP_LABEL_GET : method;
    struct metric_series *series = atomic_load(&of->requests[label][class]);
    if (series == NULL) {
        series = metric_series(
            &requests, METRIC_LABELS(route, http_method_label_text[label], class_text[class]));
        atomic_store(&of->requests[label][class], series);
    }
    metric_series_add(series, 1);
}

void http_metrics_count(struct http_metrics *metrics,
                        const struct http_resource *resource,
                        enum http_method_label method,
                        unsigned status,
                        uint64_t duration_ns)
{
    const char *route = resource == NULL ? "unmatched" : resource->template;
    struct http_route_metrics *of =
        &metrics->routes[resource == NULL ? metrics->router->n : resource->index];
    if (status < 200 || status > 599)
        return;
    count_request(of, route, method, status / 100 - 2);
    struct metric_series *series = atomic_load(&of->durations);
    if (series == NULL) {
        series = metric_series(&durations, METRIC_LABELS(route));
        atomic_store(&of->durations, series);
    }
    metric_series_observe(series, (double)duration_ns * 1e-9);
}

void http_metrics_set_open_fds(unsigned long long n)
{
    metric_set(&open_fds, (double)n, NULL);
}

/* What base counts, as the counter that it is. */
static void collect_misplaced(void)
{
    static const char *const what[] = {[DUTY_FAULT_WAIT] = "wait", [DUTY_FAULT_PARSE] = "parse"};
    for (enum duty_fault fault = 0; fault < DUTY_FAULT_COUNT; fault++)
        metric_set(&misplaced, (double)duty_faults(fault), METRIC_LABELS(what[fault]));
}

static double positive(const atomic_long *gauge)
{
    long value = atomic_load(gauge);
    return value > 0 ? (double)value : 0;
}

void http_metrics_collect(const struct http_metrics *metrics,
                          const struct http_metrics_queue queues[],
                          size_t n_queues)
{
    struct process_usage usage;
    process_usage_read(&usage);
    metric_set(&cpu, usage.cpu_s, NULL);
    metric_set(&resident, (double)usage.resident_bytes, NULL);
    metric_set(&max_fds, (double)usage.max_fds, NULL);
    metric_set(&in_flight, positive(&metrics->in_flight), NULL);
    collect_misplaced();
    metric_set(&connections, positive(&metrics->connections), NULL);
    for (size_t i = 0; i < n_queues; i++) {
        const char *const *labels = METRIC_LABELS(queues[i].name);
        metric_set(&queue_depth, (double)queues[i].now.queued, labels);
        metric_set(&queue_capacity, (double)queues[i].now.queue_max, labels);
        metric_set(&workers_busy, (double)queues[i].now.running, labels);
        metric_set(&workers, (double)queues[i].now.threads, labels);
    }
}
