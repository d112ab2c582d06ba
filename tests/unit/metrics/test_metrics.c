#include "metrics/registry.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const double bounds[] = {0.1, 1, 10};

METRIC_COUNTER(plain, "test_plain_total", "Counted without labels.", "");
METRIC_COUNTER(labelled, "test_labelled_total", "Two \\ labels,\nand a line.", "route,code");
METRIC_GAUGE(gauge, "test_gauge", "Set.", "");
METRIC_HISTOGRAM(durations, "test_duration_seconds", "How long.", "route", bounds);
METRIC_HISTOGRAM(unseen, "test_unseen", "Never observed.", "", bounds);

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
    (void)&unseen;
}
static void tear_down(void)
{
    arena_fini(&arena);
}
TestSuite(metrics, .init = set_up, .fini = tear_down, .timeout = 20);

static const char *text(void)
{
    struct strview out = metrics_write(&arena);
    cr_assert_not_null(out.at);
    cr_assert_eq(out.at[out.n - 1], '\n', "every line ends in LF, the last too");
    return arena_strndup(&arena, out.at, out.n);
}

static void has(const char *all, const char *line)
{
    cr_assert_not_null(strstr(all, line), "%s is missing in\n%s", line, all);
}

Test(metrics, without_labels_a_metric_is_there_from_the_start_with_them_once_it_is_counted)
{
    const char *all = text();
    has(all, "# HELP test_plain_total Counted without labels.\n"
             "# TYPE test_plain_total counter\ntest_plain_total 0\n");
    has(all, "# TYPE test_gauge gauge\ntest_gauge 0\n");
    cr_assert_null(strstr(all, "test_labelled_total"));
    cr_assert_null(strstr(all, "test_duration_seconds"));
    cr_assert_null(strstr(all, "test_unseen"));
}

Test(metrics, counters_grow_and_gauges_are_set)
{
    metric_add(&plain, 2, NULL);
    metric_add(&plain, 0.5, NULL);
    metric_set(&gauge, 7, NULL);
    metric_set(&gauge, -1.25, NULL);
    const char *all = text();
    has(all, "\ntest_plain_total 2.5\n");
    has(all, "\ntest_gauge -1.25\n");
    metric_set(&plain, 9007199254740991.0, NULL);
    has(text(), "\ntest_plain_total 9007199254740991\n");
}

Test(metrics, each_combination_of_labels_counts_by_itself_and_is_escaped)
{
    metric_add(&labelled, 1, METRIC_LABELS("/b", "2xx"));
    metric_add(&labelled, 1, METRIC_LABELS("/a\"\\\n", "2xx"));
    metric_add(&labelled, 1, METRIC_LABELS("/b", "2xx"));
    metric_add(&labelled, 1, METRIC_LABELS("/b", "4xx"));
    has(text(), "# HELP test_labelled_total Two \\\\ labels,\\nand a line.\n"
                "# TYPE test_labelled_total counter\n"
                "test_labelled_total{route=\"/a\\\"\\\\\\n\",code=\"2xx\"} 1\n"
                "test_labelled_total{route=\"/b\",code=\"2xx\"} 2\n"
                "test_labelled_total{route=\"/b\",code=\"4xx\"} 1\n");
}

Test(metrics, buckets_are_cumulative_and_a_bound_belongs_to_its_bucket)
{
    struct metric_series *series = metric_series(&durations, METRIC_LABELS("/x"));
    metric_series_observe(series, 0.05);
    metric_series_observe(series, 1);
    metric_series_observe(series, 1);
    metric_observe(&durations, 90, METRIC_LABELS("/x"));
    has(text(), "# TYPE test_duration_seconds histogram\n"
                "test_duration_seconds_bucket{route=\"/x\",le=\"0.1\"} 1\n"
                "test_duration_seconds_bucket{route=\"/x\",le=\"1\"} 3\n"
                "test_duration_seconds_bucket{route=\"/x\",le=\"10\"} 3\n"
                "test_duration_seconds_bucket{route=\"/x\",le=\"+Inf\"} 4\n"
                "test_duration_seconds_sum{route=\"/x\"} 92.05\n"
                "test_duration_seconds_count{route=\"/x\"} 4\n");
}

Test(metrics, combinations_of_labels_are_bounded)
{
    char label[16];
    for (int i = 0; i < METRIC_SERIES_MAX + 10; i++) {
        (void)snprintf(label, sizeof label, "%d", i);
        metric_add(&labelled, 1, METRIC_LABELS(label, "2xx"));
    }
    cr_assert_null(metric_series(&labelled, METRIC_LABELS("one more", "2xx")));
    cr_assert_not_null(metric_series(&labelled, METRIC_LABELS("17", "2xx")));
}

enum { THREADS = 4, ROUNDS = 20000 };

static void *count(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        metric_add(&plain, 1, NULL);
        metric_add(&labelled, 1, METRIC_LABELS(i % 2 == 0 ? "even" : "odd", "2xx"));
        metric_observe(&durations, 1, METRIC_LABELS("/t"));
    }
    return NULL;
}

Test(metrics, threads_lose_nothing)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    const char *all = text();
    has(all, "\ntest_plain_total 80000\n");
    has(all, "test_labelled_total{route=\"even\",code=\"2xx\"} 40000\n");
    has(all, "test_labelled_total{route=\"odd\",code=\"2xx\"} 40000\n");
    has(all, "test_duration_seconds_count{route=\"/t\"} 80000\n");
}

Test(metrics, the_table_names_every_metric_with_its_labels)
{
    char *table = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&table, &n);
    metrics_print_markdown(out);
    (void)fclose(out);
    has(table, "| `test_duration_seconds` | histogram | `route` | How long. |\n");
    has(table, "| `test_labelled_total` | counter | `route`, `code` | Two");
    has(table, "| `test_unseen` | histogram | | Never observed. |\n");
    free(table);
}
