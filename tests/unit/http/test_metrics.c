#include "http/metrics.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct http_route table[] = {{.method = HTTP_GET, .template = "/v1/x/{id}"},
                                          {.method = HTTP_POST, .template = "/v1/\"x\\"},
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

TestSuite(metrics, .init = open_metrics, .fini = close_metrics, .timeout = 5);

static const char *text(void)
{
    const struct http_metrics_queue queues[] = {
        {"io", {.queued = 3, .running = 2, .threads = 4, .queue_max = 9}}};
    struct strview out = http_metrics_write(&metrics, queues, 1, &arena);
    cr_assert_not_null(out.at);
    cr_assert_eq(out.at[out.n - 1], '\n', "every line ends in LF, the last too");
    return arena_strndup(&arena, out.at, out.n);
}

static void has(const char *all, const char *line)
{
    cr_assert_not_null(strstr(all, line), "%s is missing in\n%s", line, all);
}

Test(metrics, shows_zeros_from_the_start)
{
    const char *all = text();
    has(all,
        "provisor_http_requests_total{route=\"/v1/x/{id}\",method=\"GET\",status=\"5xx\"} 0\n");
    has(all,
        "provisor_http_requests_total{route=\"unmatched\",method=\"other\",status=\"4xx\"} 0\n");
    has(all, "provisor_http_request_duration_seconds_count{route=\"unmatched\"} 0\n");
    has(all, "provisor_queue_depth{queue=\"io\"} 3\n");
    has(all, "provisor_workers_busy{queue=\"io\"} 2\n");
    has(all, "provisor_queue_capacity{queue=\"io\"} 9\n");
    has(all, "provisor_process_start_time_seconds 1.500\n");
    has(all, "provisor_build_info{version=\"");
    cr_assert_null(strstr(all, "method=\"POST\",status=\"2xx\"} 0\nprovisor_http_requests_total{"
                               "route=\"/v1/x/{id}\",method=\"PUT\""));
}

Test(metrics, buckets_are_cumulative)
{
    const struct http_resource *r = &router.resources[0];
    for (size_t i = 0; i < router.n; i++)
        if (strcmp(router.resources[i].template, "/v1/x/{id}") == 0)
            r = &router.resources[i];
    http_metrics_count(&metrics, r, HTTP_LABEL_GET, 200, 400000);          /* 0.4 ms */
    http_metrics_count(&metrics, r, HTTP_LABEL_GET, 404, 20000000);        /* 20 ms */
    http_metrics_count(&metrics, r, HTTP_LABEL_HEAD, 200, 90000000000ull); /* 90 s */
    const char *all = text();
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"0.0005\"} 1\n");
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"0.01\"} 1\n");
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"0.025\"} 2\n");
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"60\"} 2\n");
    has(all, "_bucket{route=\"/v1/x/{id}\",le=\"+Inf\"} 3\n");
    has(all, "_count{route=\"/v1/x/{id}\"} 3\n");
    has(all, "_sum{route=\"/v1/x/{id}\"} 90.020400000\n");
    has(all, "{route=\"/v1/x/{id}\",method=\"GET\",status=\"4xx\"} 1\n");
    has(all, "{route=\"/v1/x/{id}\",method=\"HEAD\",status=\"2xx\"} 1\n");
}

Test(metrics, escapes_labels)
{
    has(text(), "{route=\"/v1/\\\"x\\\\\",method=\"POST\",status=\"2xx\"} 0\n");
}

/* HELP and TYPE once, and all samples of a metric right behind them. */
Test(metrics, keeps_samples_together)
{
    char *all = arena_strdup(&arena, text());
    char current[128] = "";
    char seen[64][128];
    size_t n = 0;
    for (char *line = strtok(all, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, "# HELP ", 7) == 0) {
            (void)sscanf(line + 7, "%127s", current);
            for (size_t i = 0; i < n; i++)
                cr_assert_str_neq(seen[i], current);
            (void)strcpy(seen[n++], current);
            cr_assert_eq(strncmp(current, "provisor_", 9), 0);
        } else {
            const char *name = line[0] == '#' ? line + 7 : line;
            cr_assert_eq(strncmp(name, current, strlen(current)), 0, "%s under %s", line, current);
        }
    }
    cr_assert_gt(n, 10);
}
