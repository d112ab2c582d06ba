#include "metrics/registry.h"

#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Series are only ever added, at the front of their metric's list: readers need no lock. */
struct metric_series {
    const struct metric *metric;
    struct metric_series *next;
    const char *labels[METRIC_LABELS_MAX]; /* values; NULL beyond the last */
    _Atomic double value;                  /* of a histogram the sum */
    atomic_uint_least64_t buckets[];       /* of a histogram: not cumulative; the last is +Inf */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of adding */
static struct metric *first;
static size_t n_metrics;

void metric_define(struct metric *metric)
{
    metric->next = first;
    first = metric;
    n_metrics++;
    if (metric->labels[0] == '\0' && metric->type != METRIC_TYPE_HISTOGRAM)
        (void)metric_series(metric, NULL);
}

/* --- series --- */

static size_t label_count(const struct metric *metric)
{
    size_t n = metric->labels[0] != '\0';
    for (const char *c = metric->labels; *c != '\0'; c++)
        n += *c == ',';
    return n;
}

static bool has_labels(const struct metric_series *series, const char *const labels[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (series->labels[i] != labels[i] && strcmp(series->labels[i], labels[i]) != 0)
            return false;
    return true;
}

static struct metric_series *
find_series(const struct metric *metric, const char *const labels[], size_t n)
{
    struct metric_series *series = atomic_load_explicit(&metric->series, memory_order_acquire);
    while (series != NULL && !has_labels(series, labels, n))
        series = series->next;
    return series;
}

static struct metric_series *
create_series(struct metric *metric, const char *const labels[], size_t n)
{
    size_t n_buckets = metric->type == METRIC_TYPE_HISTOGRAM ? metric->n_bounds + 1 : 0;
    struct metric_series *made =
        calloc(1, sizeof *made + n_buckets * sizeof(atomic_uint_least64_t));
    bool whole = made != NULL;
    for (size_t i = 0; whole && i < n; i++)
        whole = (made->labels[i] = strdup(labels[i])) != NULL;
    if (whole) {
        made->metric = metric;
        return made;
    }
    for (size_t i = 0; made != NULL && i < n; i++)
        free((void *)(uintptr_t)made->labels[i]);
    free(made);
    return NULL;
}

struct metric_series *metric_series(struct metric *metric, const char *const labels[])
{
    size_t n = label_count(metric);
    struct metric_series *series = find_series(metric, labels, n);
    if (series != NULL)
        return series;
    (void)pthread_mutex_lock(&lock);
    series = find_series(metric, labels, n); /* another thread may have been faster */
    if (series == NULL && metric->n_series < METRIC_SERIES_MAX) {
        series = create_series(metric, labels, n);
        if (series != NULL) {
            series->next = atomic_load(&metric->series);
            atomic_store_explicit(&metric->series, series, memory_order_release);
            metric->n_series++;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return series;
}

/* --- counting --- */

void metric_series_add(struct metric_series *series, double n)
{
    if (series == NULL)
        return;
    double before = atomic_load_explicit(&series->value, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&series->value, &before, before + n,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void metric_series_observe(struct metric_series *series, double value)
{
    if (series == NULL)
        return;
    const struct metric *metric = series->metric;
    size_t i = 0;
    while (i < metric->n_bounds && value > metric->bounds[i])
        i++;
    (void)atomic_fetch_add_explicit(&series->buckets[i], 1, memory_order_relaxed);
    metric_series_add(series, value);
}

void metric_add(struct metric *metric, double n, const char *const labels[])
{
    metric_series_add(metric_series(metric, labels), n);
}

void metric_set(struct metric *metric, double value, const char *const labels[])
{
    struct metric_series *series = metric_series(metric, labels);
    if (series != NULL)
        atomic_store_explicit(&series->value, value, memory_order_relaxed);
}

void metric_observe(struct metric *metric, double value, const char *const labels[])
{
    metric_series_observe(metric_series(metric, labels), value);
}

/* --- text --- */

struct text {
    struct arena *arena;
    char *at;
    size_t n;
    size_t capacity;
    bool failed;
};

static void registry_put(struct text *t, const char *bytes, size_t n)
{
    if (!t->failed && t->capacity - t->n < n) {
        size_t capacity = t->capacity == 0 ? 8192 : t->capacity;
        while (capacity - t->n < n)
            capacity *= 2;
        char *bigger = arena_alloc(t->arena, capacity);
        t->failed = bigger == NULL;
        if (bigger != NULL && t->n > 0)
            memcpy(bigger, t->at, t->n);
        t->at = bigger;
        t->capacity = capacity;
    }
    if (t->failed)
        return;
    memcpy(t->at + t->n, bytes, n);
    t->n += n;
}

static void put_text(struct text *t, const char *text)
{
    registry_put(t, text, strlen(text));
}

static void put_escaped(struct text *t, const char *text, bool quotes)
{
    for (; *text != '\0'; text++) {
        if (*text == '\\' || *text == '\n' || (quotes && *text == '"'))
            registry_put(t, "\\", 1);
        registry_put(t, *text == '\n' ? "n" : text, 1);
    }
}

static void put_number(struct text *t, double value)
{
    char number[32];
    bool whole = fabs(value) < 9007199254740992.0 && nearbyint(value) == value;
    registry_put(t, number,
                 (size_t)snprintf(number, sizeof number, whole ? "%.0f" : "%.15g", value));
}

/* {a="x",b="y",le="0.5"}; nothing without labels. */
static void put_labels(struct text *t, const struct metric_series *series, const char *le)
{
    const char *name = series->metric->labels;
    bool any = false;
    for (size_t i = 0; i < METRIC_LABELS_MAX && series->labels[i] != NULL; i++) {
        size_t n = strcspn(name, ",");
        put_text(t, any ? "," : "{");
        registry_put(t, name, n);
        put_text(t, "=\"");
        put_escaped(t, series->labels[i], true);
        put_text(t, "\"");
        name += n + (name[n] == ',');
        any = true;
    }
    if (le != NULL) {
        put_text(t, any ? ",le=\"" : "{le=\"");
        put_text(t, le);
        put_text(t, "\"");
        any = true;
    }
    put_text(t, any ? "}" : "");
}

static void put_sample(struct text *t,
                       const struct metric_series *series,
                       const char *suffix,
                       const char *le,
                       double value)
{
    put_text(t, series->metric->name);
    put_text(t, suffix);
    put_labels(t, series, le);
    put_text(t, " ");
    put_number(t, value);
    put_text(t, "\n");
}

static void put_histogram(struct text *t, const struct metric_series *series)
{
    const struct metric *metric = series->metric;
    double total = 0;
    for (size_t i = 0; i <= metric->n_bounds; i++) {
        char le[32] = "+Inf";
        total += (double)atomic_load_explicit(&series->buckets[i], memory_order_relaxed);
        if (i < metric->n_bounds)
            (void)snprintf(le, sizeof le, "%g", metric->bounds[i]);
        put_sample(t, series, "_bucket", le, total);
    }
    put_sample(t, series, "_sum", NULL, atomic_load_explicit(&series->value, memory_order_relaxed));
    put_sample(t, series, "_count", NULL, total);
}

static const char *type_name(const struct metric *metric)
{
    switch (metric->type) {
    case METRIC_TYPE_COUNTER:
        return "counter";
    case METRIC_TYPE_GAUGE:
        return "gauge";
    case METRIC_TYPE_HISTOGRAM:
        return "histogram";
    }
    return "untyped";
}

static int by_labels(const void *a, const void *b)
{
    const struct metric_series *x = *(const struct metric_series *const *)a;
    const struct metric_series *y = *(const struct metric_series *const *)b;
    int order = 0;
    for (size_t i = 0; order == 0 && i < METRIC_LABELS_MAX && x->labels[i] != NULL; i++)
        order = strcmp(x->labels[i], y->labels[i]);
    return order;
}

static void put_metric(struct text *t, const struct metric *metric)
{
    size_t n = 0;
    struct metric_series *head = atomic_load_explicit(&metric->series, memory_order_acquire);
    for (const struct metric_series *s = head; s != NULL; s = s->next)
        n++;
    if (n == 0)
        return;
    const struct metric_series **sorted = arena_array(t->arena, n, sizeof(*sorted));
    if (sorted == NULL) {
        t->failed = true;
        return;
    }
    n = 0;
    for (const struct metric_series *s = head; s != NULL; s = s->next)
        sorted[n++] = s;
    qsort(sorted, n, sizeof(*sorted), by_labels);
    put_text(t, "# HELP ");
    put_text(t, metric->name);
    put_text(t, " ");
    put_escaped(t, metric->help, false);
    put_text(t, "\n# TYPE ");
    put_text(t, metric->name);
    put_text(t, " ");
    put_text(t, type_name(metric));
    put_text(t, "\n");
    for (size_t i = 0; i < n; i++) {
        if (metric->type == METRIC_TYPE_HISTOGRAM)
            put_histogram(t, sorted[i]);
        else
            put_sample(t, sorted[i], "", NULL,
                       atomic_load_explicit(&sorted[i]->value, memory_order_relaxed));
    }
}

static int by_name(const void *a, const void *b)
{
    const struct metric *x = *(const struct metric *const *)a;
    const struct metric *y = *(const struct metric *const *)b;
    return strcmp(x->name, y->name);
}

static void sort_metrics(const struct metric *sorted[])
{
    size_t n = 0;
    for (const struct metric *metric = first; metric != NULL; metric = metric->next)
        sorted[n++] = metric;
    qsort(sorted, n, sizeof *sorted, by_name);
}

struct strview metrics_write(struct arena *arena)
{
    struct text t = {.arena = arena};
    const struct metric **sorted = arena_array(arena, n_metrics + 1, sizeof(*sorted));
    if (sorted == NULL)
        return (struct strview){NULL, 0};
    sort_metrics(sorted);
    for (size_t i = 0; i < n_metrics; i++)
        put_metric(&t, sorted[i]);
    if (t.failed)
        return (struct strview){NULL, 0};
    return (struct strview){t.at == NULL ? "" : t.at, t.n};
}

void metrics_print_markdown(FILE *out)
{
    const struct metric **sorted = calloc(n_metrics + 1, sizeof(*sorted));
    if (sorted == NULL)
        return;
    sort_metrics(sorted);
    (void)fputs("| metric | type | labels | what it is |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < n_metrics; i++) {
        (void)fprintf(out, "| `%s` | %s | ", sorted[i]->name, type_name(sorted[i]));
        for (const char *c = sorted[i]->labels; *c != '\0';) {
            size_t n = strcspn(c, ",");
            (void)fprintf(out, "`%.*s`%s", (int)n, c, c[n] == ',' ? ", " : "");
            c += n + (c[n] == ',');
        }
        (void)fprintf(out, "%s| %s |\n", sorted[i]->labels[0] == '\0' ? "" : " ", sorted[i]->help);
    }
    free(sorted);
}
