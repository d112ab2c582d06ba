#include "http/request_metrics.h"

#include <criterion/criterion.h>
#include <string.h>

#include "metrics/registry.h"

static const struct http_route table[] = {{.method = HTTP_GET, .template = "/v1/x/{id}"},
                                          {.method = HTTP_POST, .template = "/v1/y"},
                                          {.template = NULL}};
static struct http_router router;
static struct http_metrics metrics;
static struct arena arena;

static void open_metrics(void)
{
    const struct http_route *const tables[] = {table};
    arena_init(&arena, 0);
    cr_assert_eq(http_router_init(&router, tables, 1, NULL), PV_OK);
    cr_assert(http_metrics_init(&metrics, &router, 1500000));
}

static void close_metrics(void)
{
    http_metrics_fini(&metrics);
    http_router_fini(&router);
    arena_fini(&arena);
}

TestSuite(http_metrics, .init = open_metrics, .fini = close_metrics, .timeout = 5);

static const char *text(void)
{
    const struct http_metrics_queue queues[] = {
        {"io", {.queued = 3, .running = 2, .threads = 4, .queue_max = 9}}};
    http_metrics_collect(&metrics, queues, 1);
    struct strview out = metrics_write(&arena);
    cr_assert_not_null(out.at);
    return arena_strndup(&arena, out.at, out.n);
}

static void has(const char *all, const char *line)
{
    cr_assert_not_null(strstr(all, line), "%s is missing in\n%s", line, all);
}

Test(http_metrics, what_is_measured_is_there_what_was_never_counted_is_not)
{
    const char *all = text();
    has(all, "provisor_queue_depth{queue=\"io\"} 3\n");
    has(all, "provisor_workers_busy{queue=\"io\"} 2\n");
    has(all, "provisor_queue_capacity{queue=\"io\"} 9\n");
    has(all, "provisor_workers{queue=\"io\"} 4\n");
    has(all, "process_start_time_seconds 1.5\n");
    has(all, "provisor_build_info{version=\"");
    cr_assert_null(strstr(all, "provisor_http_requests_total"));
    cr_assert_null(strstr(all, "provisor_http_request_duration_seconds"));
    cr_assert_null(strstr(all, "process_resident_memory_bytes 0\n"));
}

Test(http_metrics, requests_count_by_route_method_and_class_of_status)
{
    const struct http_resource *r = &router.resources[0];
    for (size_t i = 0; i < router.n; i++)
        if (strcmp(router.resources[i].template, "/v1/x/{id}") == 0)
            r = &router.resources[i];
    http_metrics_count(&metrics, r, HTTP_LABEL_GET, 200, 400000);          /* 0.4 ms */
    http_metrics_count(&metrics, r, HTTP_LABEL_GET, 404, 20000000);        /* 20 ms */
    http_metrics_count(&metrics, r, HTTP_LABEL_HEAD, 200, 90000000000ull); /* 90 s */
    http_metrics_count(&metrics, NULL, HTTP_LABEL_OTHER, 404, 1);
    http_metrics_count(&metrics, NULL, HTTP_LABEL_OTHER, 0, 1); /* cut before an answer */
    const char *all = text();
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"0.0005\"} 1\n");
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"0.01\"} 1\n");
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"0.025\"} 2\n");
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"60\"} 2\n");
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"+Inf\"} 3\n");
    has(all, "_sum{route=\"/v1/x/{id}\"} 90.0204\n");
    has(all, "_total{route=\"/v1/x/{id}\",method=\"GET\",code_class=\"4xx\"} 1\n");
    has(all, "_total{route=\"/v1/x/{id}\",method=\"GET\",code_class=\"2xx\"} 2\n");
    has(all, "_total{route=\"unmatched\",method=\"other\",code_class=\"4xx\"} 1\n");
    cr_assert_null(strstr(all, "HEAD\""));
}
