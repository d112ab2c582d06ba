/*
 * Workloads: traces read, summarized and encoded, and loaded again; tasks a second of the processor
 * and bytes a task.
 *
 *     bench_workload [FOLDER]     FOLDER: with pigeon-traces and swim, as the traces were published
 *
 * "drawn" is a trace of Pigeon's with 10^7 tasks in 10^6 jobs, six digits each as those published.
 * "events" is as many rows of Google's task_events of 2011: a SUBMIT, SCHEDULE and FINISH a task.
 *
 * The status is 1 when "drawn" is read with fewer than 5,000,000 tasks a second, when a published
 * trace takes more than 6 bytes a task, or when 10^7 tasks take more than a gigabyte loaded.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vector.h"
#include "core/sim/variates.h"
#include "core/workload/workload_import.h"
#include "core/workload/workload_load.h"

static const double GOAL = 5e6;     /* tasks a second */
static const double BYTES_MOST = 6; /* a task */
static const double LOADED_MOST = 1e9;

enum { PIECE = 64 * 1024, DRAWN_JOBS = 1000000, DRAWN_TASKS = 10, EVENT_JOBS = 300000 };

struct text {
    char *items;
    size_t n;
    size_t capacity;
};

struct chunks {
    struct text bytes;
    VECTOR(size_t) ends;
};

static int status;

static void *need(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void append(struct text *text, const char *bytes, size_t n)
{
    if (!vector_reserve(NULL, text->items, text->capacity, text->n + n))
        abort();
    memcpy(text->items + text->n, bytes, n);
    text->n += n;
}

static enum pv_code keep_chunk(void *context, struct strview bytes, struct pv_error *err)
{
    struct chunks *chunks = context;
    (void)err;
    append(&chunks->bytes, bytes.at, bytes.n);
    *(size_t *)need(vector_add(NULL, &chunks->ends)) = chunks->bytes.n;
    return PV_OK;
}

/* --- traces --- */

static bool read_file(struct text *text, const char *folder, const char *name)
{
    char path[1024];
    char piece[PIECE];
    size_t n;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        append(text, piece, n);
    (void)fclose(file);
    return true;
}

static void draw_pigeon(struct text *text)
{
    static const uint64_t purpose[] = {1};
    struct rng rng = variate_stream(1, purpose, 1);
    char line[DRAWN_TASKS * 16 + 64];
    double arrival_s = 0;
    for (size_t j = 0; j < DRAWN_JOBS; j++) {
        double mean_s = variate_bounded_pareto(&rng, 0.1, 100, 1.2);
        double sum_s = 0;
        char tasks[DRAWN_TASKS * 16];
        int n = 0;
        arrival_s += variate_exponential(&rng, 0.1);
        for (size_t t = 0; t < DRAWN_TASKS; t++) {
            double duration_s = mean_s * variate_uniform(&rng, 0.5, 1.5);
            sum_s += duration_s;
            n += snprintf(tasks + n, sizeof tasks - (size_t)n, "  %g", duration_s);
        }
        n = snprintf(line, sizeof line, "%.7g  %d  %g%s  \n", arrival_s, (int)DRAWN_TASKS,
                     sum_s / DRAWN_TASKS, tasks);
        append(text, line, (size_t)n);
    }
}

static void draw_events(struct text *text)
{
    static const char rest[] = "user,2,200,0.125,0.07446,0.0004244,0";
    char line[256];
    int n;
    for (long long j = 0; j < EVENT_JOBS; j++) {
        long long at_us = 600000000 + j * 30000;
        for (int event = 0; event < 3; event++) {
            int type = event == 2 ? 4 : event;
            for (int t = 0; t < DRAWN_TASKS; t++) {
                n = snprintf(line, sizeof line, "%lld,,%lld,%d,%d,%d,%s\n",
                             at_us + event * 1000 + t * 37 + (j * 7919 + t * 104729) % 29,
                             6251812952 + j, t, 38676 + t, type, rest);
                append(text, line, (size_t)n);
            }
        }
    }
}

/* --- measuring --- */

static void load(const struct chunks *chunks,
                 const struct workload_summary *summary,
                 enum workload_target target,
                 double tasks)
{
    const struct workload_load_terms terms = {.target = target, .short_cutoff_s = 1};
    struct workload_load *load;
    struct workload_jobs jobs;
    struct arena arena;
    size_t from = 0;
    arena_init(&arena, 0);
    double began_s = cpu_s();
    if (workload_load_begin(summary, &terms, &arena, &load, NULL) != PV_OK)
        abort();
    for (size_t i = 0; i < chunks->ends.n; from = chunks->ends.items[i++]) {
        struct strview chunk = {chunks->bytes.items + from, chunks->ends.items[i] - from};
        if (workload_load_chunk(load, chunk, NULL) != PV_OK)
            abort();
    }
    if (workload_load_finish(load, &jobs, NULL) != PV_OK)
        abort();
    double took_s = cpu_s() - began_s;
    size_t stated = workload_load_bytes(summary, &terms);
    printf("%-14s   for %-6s %9.1f ms %12.0f %10.1f MB, %.1f MB stated\n", "",
           target == WORKLOAD_FOR_SLOTS ? "slots" : "tasks", took_s * 1e3, tasks / took_s,
           (double)arena.total / 1e6, (double)stated / 1e6);
    if (arena.total > stated || (double)arena.total > LOADED_MOST)
        status = 1;
    arena_fini(&arena);
}

static double measure(const char *name, enum workload_format format, const struct text *text)
{
    const struct workload_terms terms = {format, workload_rates_default};
    const struct workload_limits limits = {.jobs = 100000000, .tasks = 100000000};
    struct chunks chunks = {0};
    const struct workload_sink sink = {keep_chunk, &chunks};
    struct workload_summary summary;
    struct workload_import *import;
    struct arena arena;
    struct pv_error err = {0};
    arena_init(&arena, 0);
    double began_s = cpu_s();
    if (workload_import_begin(&terms, &limits, &sink, &arena, &import, &err) != PV_OK)
        abort();
    for (size_t at = 0; at < text->n; at += PIECE) {
        struct strview piece = {text->items + at, text->n - at < PIECE ? text->n - at : PIECE};
        if (workload_import_feed(import, piece, &err) != PV_OK) {
            (void)fprintf(stderr, "%s: %s\n", name, err.detail);
            exit(1);
        }
    }
    if (workload_import_finish(import, &arena, &summary, &err) != PV_OK) {
        (void)fprintf(stderr, "%s: %s\n", name, err.detail);
        exit(1);
    }
    double took_s = cpu_s() - began_s;
    double tasks = (double)(summary.tasks[0] + summary.tasks[1]);
    double bytes = (double)summary.encoded_bytes / tasks;
    printf("%-14s %10.0f %9.1f ms %12.0f %10.2f bytes a task, %.0f MB/s, %.0f%% rounded\n", name,
           tasks, took_s * 1e3, tasks / took_s, bytes, (double)text->n / took_s / 1e6,
           100 * (double)summary.rounded / tasks);
    if (bytes > BYTES_MOST && format != WORKLOAD_GOOGLE_2011)
        status = 1;
    load(&chunks, &summary, WORKLOAD_FOR_TASKS, tasks);
    load(&chunks, &summary, WORKLOAD_FOR_SLOTS, tasks);
    workload_import_end(import);
    arena_fini(&arena);
    free(chunks.bytes.items);
    free(chunks.ends.items);
    return tasks / took_s;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        const char *path;
        enum workload_format format;
    } published[] = {{"NGO 90", "pigeon-traces/NGO_trace90", WORKLOAD_PIGEON},
                     {"NYH 90", "pigeon-traces/NYH_trace90", WORKLOAD_PIGEON},
                     {"FB-2009", "swim/FB-2009_samples_24_times_1hr_0.tsv", WORKLOAD_SWIM}};
    struct text text = {0};
    printf("%-14s %10s %12s %12s\n", "trace", "tasks", "time", "tasks/s");
    for (size_t i = 0; argc > 1 && i < sizeof published / sizeof *published; i++) {
        text.n = 0;
        if (read_file(&text, argv[1], published[i].path))
            (void)measure(published[i].name, published[i].format, &text);
    }
    text.n = 0;
    draw_events(&text);
    (void)measure("events", WORKLOAD_GOOGLE_2011, &text);
    text.n = 0;
    draw_pigeon(&text);
    if (measure("drawn", WORKLOAD_PIGEON, &text) < GOAL)
        status = 1;
    free(text.items);
    return status;
}
