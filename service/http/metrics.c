#include "http/metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/process.h"

const char *const http_method_label_text[HTTP_LABEL_COUNT] = {
    [HTTP_LABEL_GET] = "GET",         [HTTP_LABEL_HEAD] = "HEAD",   [HTTP_LABEL_POST] = "POST",
    [HTTP_LABEL_PUT] = "PUT",         [HTTP_LABEL_PATCH] = "PATCH", [HTTP_LABEL_DELETE] = "DELETE",
    [HTTP_LABEL_OPTIONS] = "OPTIONS", [HTTP_LABEL_OTHER] = "other",
};

static const double bucket_s[HTTP_BUCKETS] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                              0.1,    0.25,  0.5,    1,     2.5,  10,    60};

bool http_metrics_init(struct http_metrics *metrics,
                       const struct http_router *router,
                       int64_t started_us)
{
    memset(metrics, 0, sizeof *metrics);
    metrics->router = router;
    metrics->started_us = started_us;
    metrics->routes = calloc(router->n + 1, sizeof *metrics->routes);
    return metrics->routes != NULL;
}

void http_metrics_fini(struct http_metrics *metrics)
{
    free(metrics->routes);
    metrics->routes = NULL;
}

static void add(atomic_uint_least64_t *counter, uint64_t n)
{
    (void)atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_least64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void http_metrics_count(struct http_metrics *metrics,
                        const struct http_resource *resource,
                        enum http_method_label method,
                        unsigned status,
                        uint64_t duration_ns)
{
    size_t index = resource == NULL ? metrics->router->n : resource->index;
    struct http_route_counters *c = &metrics->routes[index];
    if (status < 200 || status > 599)
        return;
    add(&c->by_status[method][status / 100 - 2], 1);
    double seconds = (double)duration_ns * 1e-9;
    size_t b = 0;
    while (b < HTTP_BUCKETS && seconds > bucket_s[b])
        b++;
    add(&c->buckets[b], 1);
    add(&c->duration_ns, duration_ns);
}

/* --- text --- */

struct text {
    struct arena *arena;
    char *at;
    size_t n;
    size_t capacity;
    bool failed;
};

static void grow(struct text *t, size_t need)
{
    size_t capacity = t->capacity == 0 ? 16384 : t->capacity * 2;
    while (capacity < need)
        capacity *= 2;
    char *bigger = arena_alloc(t->arena, capacity);
    if (bigger == NULL) {
        t->failed = true;
        return;
    }
    if (t->n > 0)
        memcpy(bigger, t->at, t->n);
    t->at = bigger;
    t->capacity = capacity;
}

static void line(struct text *t, const char *format, ...) PV_PRINTF(2, 3);

static void line(struct text *t, const char *format, ...)
{
    enum { LINE_MAX_BYTES = 1024 };
    if (t->capacity - t->n < LINE_MAX_BYTES)
        grow(t, t->n + LINE_MAX_BYTES);
    if (t->failed)
        return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->n, LINE_MAX_BYTES - 1, format, args);
    va_end(args);
    if (n < 0 || n >= LINE_MAX_BYTES - 1) {
        t->failed = true;
        return;
    }
    t->n += (size_t)n;
    t->at[t->n++] = '\n';
}

static void head(struct text *t, const char *name, const char *type, const char *help)
{
    line(t, "# HELP %s %s", name, help);
    line(t, "# TYPE %s %s", name, type);
}

/* Templates are our own words, yet a label is escaped wherever it comes from. */
static void escape_label(const char *value, char out[256])
{
    size_t n = 0;
    for (; *value != '\0' && n < 253; value++) {
        char c = *value;
        if (c == '\\' || c == '"' || c == '\n')
            out[n++] = '\\';
        out[n++] = c == '\n' ? 'n' : c;
    }
    out[n] = '\0';
}

static const char *route_label(const struct http_metrics *m, size_t i, char out[256])
{
    escape_label(i < m->router->n ? m->router->resources[i].template : "unmatched", out);
    return out;
}

/* Which methods are shown from the start: those of the table (HEAD comes with GET). */
static bool is_defined(const struct http_metrics *m, size_t i, size_t method)
{
    static const int of_label[HTTP_LABEL_COUNT] = {HTTP_GET,   HTTP_GET,    HTTP_POST, HTTP_PUT,
                                                   HTTP_PATCH, HTTP_DELETE, -1,        -1};
    if (i == m->router->n)
        return true;
    return of_label[method] >= 0 && m->router->resources[i].by_method[of_label[method]] != NULL;
}

static void write_requests(struct text *t, const struct http_metrics *m)
{
    static const char name[] = "provisor_http_requests_total";
    head(t, name, "counter", "Requests answered, by route, method and class of status.");
    for (size_t i = 0; i <= m->router->n; i++) {
        char route[256];
        (void)route_label(m, i, route);
        for (size_t method = 0; method < HTTP_LABEL_COUNT; method++)
            for (size_t class = 0; class < 4; class ++) {
                uint64_t value = get(&m->routes[i].by_status[method][class]);
                if (value > 0 || is_defined(m, i, method))
                    line(t, "%s{route=\"%s\",method=\"%s\",status=\"%zuxx\"} %llu", name, route,
                         http_method_label_text[method], class + 2, (unsigned long long)value);
            }
    }
}

static void write_durations(struct text *t, const struct http_metrics *m)
{
    static const char name[] = "provisor_http_request_duration_seconds";
    head(t, name, "histogram", "From the request line to the end of the answer, by route.");
    for (size_t i = 0; i <= m->router->n; i++) {
        char route[256];
        (void)route_label(m, i, route);
        uint64_t total = 0;
        for (size_t b = 0; b < HTTP_BUCKETS; b++) {
            total += get(&m->routes[i].buckets[b]);
            line(t, "%s_bucket{route=\"%s\",le=\"%g\"} %llu", name, route, bucket_s[b],
                 (unsigned long long)total);
        }
        total += get(&m->routes[i].buckets[HTTP_BUCKETS]);
        line(t, "%s_bucket{route=\"%s\",le=\"+Inf\"} %llu", name, route, (unsigned long long)total);
        line(t, "%s_sum{route=\"%s\"} %.9f", name, route,
             (double)get(&m->routes[i].duration_ns) * 1e-9);
        line(t, "%s_count{route=\"%s\"} %llu", name, route, (unsigned long long)total);
    }
}

static void write_one(
    struct text *t, const char *name, const char *type, const char *help, unsigned long long value)
{
    head(t, name, type, help);
    line(t, "%s %llu", name, value);
}

static unsigned long long positive(const atomic_long *gauge)
{
    long value = atomic_load_explicit(gauge, memory_order_relaxed);
    return value > 0 ? (unsigned long long)value : 0;
}

static void write_server(struct text *t, const struct http_metrics *m)
{
    write_one(t, "provisor_http_requests_in_flight", "gauge", "Requests being served.",
              positive(&m->in_flight));
    write_one(t, "provisor_http_connections", "gauge", "Open connections.",
              positive(&m->connections));
    write_one(t, "provisor_http_requests_aborted_total", "counter",
              "Requests that ended without a whole answer.", get(&m->aborted));
    write_one(t, "provisor_http_timeouts_total", "counter", "Requests whose time was over.",
              get(&m->timeouts));
    write_one(t, "provisor_http_rejected_total", "counter", "Requests refused by a full queue.",
              get(&m->rejected));
    write_one(t, "provisor_http_received_body_bytes_total", "counter", "Bytes of bodies received.",
              get(&m->body_bytes));
}

static void write_queues(struct text *t, const struct http_metrics_queue queues[], size_t n)
{
    static const struct {
        const char *name;
        const char *help;
        size_t offset;
    } gauges[] = {
        {"provisor_queue_depth", "Jobs that wait for a worker.",
         offsetof(struct workers_statistics, queued)},
        {"provisor_queue_capacity", "Jobs that may wait before requests are refused.",
         offsetof(struct workers_statistics, queue_max)},
        {"provisor_workers_busy", "Workers at work.", offsetof(struct workers_statistics, running)},
        {"provisor_workers", "Workers there are.", offsetof(struct workers_statistics, threads)},
    };
    for (size_t g = 0; g < sizeof gauges / sizeof *gauges; g++) {
        head(t, gauges[g].name, "gauge", gauges[g].help);
        for (size_t i = 0; i < n; i++) {
            size_t value;
            memcpy(&value, (const char *)&queues[i].now + gauges[g].offset, sizeof value);
            line(t, "%s{queue=\"%s\"} %zu", gauges[g].name, queues[i].name, value);
        }
    }
}

static void write_process(struct text *t, const struct http_metrics *m)
{
    struct process_usage usage;
    process_usage_read(&usage);
    head(t, "provisor_build_info", "gauge", "Always 1; the labels say what runs.");
    line(t, "provisor_build_info{version=\"%s\"} 1", PROVISOR_VERSION);
    head(t, "provisor_process_cpu_seconds_total", "counter", "User and system time.");
    line(t, "provisor_process_cpu_seconds_total %.6f", usage.cpu_s);
    write_one(t, "provisor_process_resident_memory_bytes", "gauge", "Resident set size.",
              usage.resident_bytes);
    write_one(t, "provisor_process_open_fds", "gauge", "Open file descriptors.", get(&m->open_fds));
    write_one(t, "provisor_process_max_fds", "gauge", "File descriptors allowed.", usage.max_fds);
    head(t, "provisor_process_start_time_seconds", "gauge", "Start, in seconds since 1970.");
    line(t, "provisor_process_start_time_seconds %.3f", (double)m->started_us * 1e-6);
}

struct strview http_metrics_write(const struct http_metrics *metrics,
                                  const struct http_metrics_queue queues[],
                                  size_t n_queues,
                                  struct arena *arena)
{
    struct text t = {.arena = arena};
    write_requests(&t, metrics);
    write_durations(&t, metrics);
    write_server(&t, metrics);
    write_queues(&t, queues, n_queues);
    write_process(&t, metrics);
    return t.failed ? (struct strview){NULL, 0} : (struct strview){t.at, t.n};
}
