#include "workload_cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/workload/workload_chunk.h"

static enum pv_code keep_chunk(void *context, struct strview bytes, struct pv_error *err)
{
    struct workload_case *one = context;
    (void)err;
    cr_assert_leq(bytes.n, (size_t)WORKLOAD_CHUNK_MAX);
    cr_assert_lt(one->n_chunks, (size_t)CASE_CHUNKS_MAX);
    one->chunks[one->n_chunks++] = arena_copy(&one->arena, bytes);
    return PV_OK;
}

void workload_case_init(struct workload_case *one)
{
    memset(one, 0, sizeof *one);
    arena_init(&one->arena, 0);
    one->limits = workload_limits_default;
    one->rates = workload_rates_default;
}

void workload_case_fini(struct workload_case *one)
{
    arena_fini(&one->arena);
}

static void begin(struct workload_case *one, enum workload_format format)
{
    const struct workload_terms terms = {format, one->rates};
    const struct workload_sink sink = {keep_chunk, one};
    one->n_chunks = 0;
    pv_error_clear(&one->err);
    cr_assert_eq(
        workload_import_begin(&terms, &one->limits, &sink, &one->arena, &one->import, &one->err),
        PV_OK);
}

void workload_case_feed(struct workload_case *one,
                        enum workload_format format,
                        struct strview text,
                        size_t piece)
{
    begin(one, format);
    one->code = PV_OK;
    for (size_t at = 0; at < text.n && one->code == PV_OK; at += piece) {
        struct strview part = {text.at + at, text.n - at < piece ? text.n - at : piece};
        one->code = workload_import_feed(one->import, part, &one->err);
    }
    if (one->code == PV_OK)
        one->code = workload_import_finish(one->import, &one->arena, &one->summary, &one->err);
    workload_import_end(one->import);
}

void workload_case_read(struct workload_case *one, enum workload_format format, const char *text)
{
    workload_case_feed(one, format, strview_of(text), strlen(text));
    cr_assert_eq(one->code, PV_OK, "%s", one->err.detail);
}

void workload_case_begin(struct workload_case *one)
{
    begin(one, WORKLOAD_PROVISOR);
}

void workload_case_finish(struct workload_case *one)
{
    one->code = workload_import_finish(one->import, &one->arena, &one->summary, &one->err);
    cr_assert_eq(one->code, PV_OK, "%s", one->err.detail);
    workload_import_end(one->import);
}

/* --- text --- */

struct printed {
    char *text;
    size_t n;
    size_t capacity;
};

static void print(struct printed *to, const char *format, ...) PV_PRINTF(2, 3);

static void print(struct printed *to, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int n = vsnprintf(to->text + to->n, to->capacity - to->n, format, values);
    va_end(values);
    cr_assert(n >= 0 && (size_t)n < to->capacity - to->n, "too much text for a test");
    to->n += (size_t)n;
}

static void print_job(struct printed *to, const struct workload_job *job)
{
    print(to, "%s%.*s %.15g", to->n > 0 ? "\n" : "", (int)job->name.n,
          job->name.n > 0 ? job->name.at : "", job->arrival_s);
    if (!isnan(job->input_bytes))
        print(to, " input=%.15g", job->input_bytes);
    if (job->shuffle_s > 0)
        print(to, " shuffle=%.15g", job->shuffle_s);
    if (!isnan(job->predicted_size_s))
        print(to, " predicted=%.15g", job->predicted_size_s);
    if (job->queue > 0)
        print(to, " queue=%u", job->queue);
    if (job->class != WORKLOAD_UNCLASSED)
        print(to, " %s", job->class == WORKLOAD_LONG ? "long" : "short");
    print(to, ":");
}

static void print_list(struct printed *to,
                       struct workload_chunk_reader *reader,
                       enum workload_list list,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct workload_run run;
        cr_assert_eq(workload_chunk_runs(reader, list, &run, 1, NULL), PV_OK);
        print(to, " %.9g", run.duration_s);
        if (run.count > 1)
            print(to, "*%zu", (size_t)run.count);
    }
}

static void print_chunk(struct printed *to, struct strview chunk)
{
    struct workload_chunk_reader reader;
    struct workload_entry entry;
    bool more;
    cr_assert_eq(workload_chunk_open(chunk, &reader, NULL), PV_OK);
    while (workload_chunk_next(&reader, &entry, &more, NULL) == PV_OK && more) {
        if (!entry.continues)
            print_job(to, &entry.job);
        print_list(to, &reader, WORKLOAD_TASKS, entry.job.n_runs[WORKLOAD_TASKS]);
        if (entry.job.n_runs[WORKLOAD_REDUCES] > 0)
            print(to, " |");
        print_list(to, &reader, WORKLOAD_REDUCES, entry.job.n_runs[WORKLOAD_REDUCES]);
    }
    cr_assert_not(more);
}

const char *workload_case_text(struct workload_case *one)
{
    struct printed to = {.capacity = 1 << 20};
    to.text = arena_alloc(&one->arena, to.capacity);
    to.text[0] = '\0';
    for (size_t i = 0; i < one->n_chunks; i++)
        print_chunk(&to, one->chunks[i]);
    return to.text;
}

/* --- loading, warnings --- */

struct workload_jobs workload_case_load(struct workload_case *one,
                                        const struct workload_load_terms *terms)
{
    struct workload_load *load;
    struct workload_jobs jobs;
    cr_assert_eq(workload_load_begin(&one->summary, terms, &one->arena, &load, &one->err), PV_OK);
    for (size_t i = 0; i < one->n_chunks; i++)
        cr_assert_eq(workload_load_chunk(load, one->chunks[i], &one->err), PV_OK, "%s",
                     one->err.detail);
    cr_assert_eq(workload_load_finish(load, &jobs, &one->err), PV_OK, "%s", one->err.detail);
    return jobs;
}

double workload_case_warning(const struct workload_case *one, const char *code, const char *name)
{
    const struct finding *finding = finding_find(&one->summary.warnings, code);
    return finding == NULL ? (double)NAN : finding_value(finding, name);
}
