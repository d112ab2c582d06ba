#include "core/workload/workload_import.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "core/workload/workload_import_internal.h"

const struct workload_rates workload_rates_default = {.map_bytes = 64e6,
                                                      .reduce_bytes = 256e6,
                                                      .map_bytes_per_s = 10e6,
                                                      .shuffle_bytes_per_s = 10e6,
                                                      .output_bytes_per_s = 20e6,
                                                      .task_overhead_s = 1};

static const struct trace_format *const FORMATS[WORKLOAD_FORMATS] = {
    [WORKLOAD_PIGEON] = &trace_pigeon,           [WORKLOAD_SWIM] = &trace_swim,
    [WORKLOAD_GOOGLE_2011] = &trace_google_2011, [WORKLOAD_GOOGLE_2019] = &trace_google_2019,
    [WORKLOAD_PROVISOR] = &trace_provisor,
};

/* Beside lines, jobs and open tasks: statistics. */
static const size_t BUDGET_BASE = (size_t)64 << 20;
enum { BUDGET_LINES = 4, BUDGET_JOB_TASK = 64, BUDGET_OPEN_TASK = 64 };

/* --- begin --- */

static struct workload_limits limits_of(const struct workload_limits *given)
{
    struct workload_limits limits = workload_limits_default;
    if (given == NULL)
        return limits;
    limits.jobs = given->jobs > 0 ? given->jobs : limits.jobs;
    limits.tasks = given->tasks > 0 ? given->tasks : limits.tasks;
    limits.job_tasks = given->job_tasks > 0 ? given->job_tasks : limits.job_tasks;
    limits.line_bytes = given->line_bytes > 0 ? given->line_bytes : limits.line_bytes;
    limits.open_tasks = given->open_tasks > 0 ? given->open_tasks : limits.open_tasks;
    return limits;
}

static enum pv_code check_rates(const struct workload_rates *rates, struct pv_error *err)
{
    const struct {
        double value;
        const char *name;
    } all[] = {{rates->map_bytes, "map_bytes"},
               {rates->reduce_bytes, "reduce_bytes"},
               {rates->map_bytes_per_s, "map_bytes_per_s"},
               {rates->shuffle_bytes_per_s, "shuffle_bytes_per_s"},
               {rates->output_bytes_per_s, "output_bytes_per_s"},
               {rates->task_overhead_s, "task_overhead_s"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!(all[i].value > 0) || isinf(all[i].value))
            return pv_fail(err, PV_E_DOMAIN, "%s must be above 0 and finite", all[i].name);
    }
    return PV_OK;
}

enum pv_code workload_import_begin(const struct workload_terms *terms,
                                   const struct workload_limits *limits,
                                   const struct workload_sink *sink,
                                   struct arena *arena,
                                   struct workload_import **import,
                                   struct pv_error *err)
{
    if (terms->format == WORKLOAD_SWIM)
        PV_TRY(check_rates(&terms->rates, err));
    struct workload_import *made = arena_calloc(arena, 1, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    made->format = FORMATS[terms->format];
    made->rates = terms->rates;
    made->limits = limits_of(limits);
    made->lines.longest = made->limits.line_bytes;
    made->budget = (struct budget){.limit = BUDGET_BASE + BUDGET_LINES * made->limits.line_bytes +
                                            BUDGET_JOB_TASK * made->limits.job_tasks +
                                            BUDGET_OPEN_TASK * made->limits.open_tasks,
                                   .account = arena->account};
    made->arrival_before_s = -HUGE_VAL;
    workload_statistics_init(&made->statistics, &made->budget);
    PV_TRY(chunk_encoder_init(&made->encoder, sink, arena, err));
    if (made->format->begin != NULL)
        PV_TRY(made->format->begin(made, arena, err));
    *import = made;
    return PV_OK;
}

/* --- lines --- */

static enum pv_code
fail_too_long(struct workload_import *import, uint64_t line, struct pv_error *err)
{
    return pv_fail(
        err, PV_E_INVALID,
        "line %" PRIu64
        ": it has more than %zu byte%s (workload_line_bytes_max); is this the right format?",
        line, import->limits.line_bytes, PLURAL(import->limits.line_bytes));
}

static enum pv_code read_line(void *context, struct strview line, struct pv_error *err)
{
    struct workload_import *import = context;
    if (import->too_long > 0)
        return fail_too_long(import, import->too_long, err);
    /* A byte order mark is no part of the text. */
    if (import->lines.count == 1 && line.n >= 3 && memcmp(line.at, "\xef\xbb\xbf", 3) == 0)
        line = (struct strview){line.at + 3, line.n - 3};
    line = lines_trim(line);
    if (line.n == 0)
        return PV_OK;
    if (memchr(line.at, '\0', line.n) != NULL)
        return trace_fail(import, err, PV_E_INVALID, "it holds a NUL byte; is this text in UTF-8?");
    return import->format->line(import, line, err);
}

static void note_too_long(void *context)
{
    struct workload_import *import = context;
    if (import->too_long == 0)
        import->too_long = import->lines.count;
}

static struct lines_sink lines_of(struct workload_import *import)
{
    return (struct lines_sink){read_line, note_too_long, import};
}

enum pv_code
workload_import_feed(struct workload_import *import, struct strview bytes, struct pv_error *err)
{
    struct lines_sink sink = lines_of(import);
    if (bytes.n > 0)
        PV_TRY(lines_feed(&import->lines, &import->budget, bytes.at, bytes.n, &sink, err));
    if (import->too_long > 0 || import->lines.dropping)
        return fail_too_long(
            import, import->too_long > 0 ? import->too_long : import->lines.count + 1, err);
    return PV_OK;
}

uint64_t workload_import_lines(const struct workload_import *import)
{
    return import->given_jobs > 0 ? import->given_jobs
                                  : import->lines.count + (import->lines.n_carry > 0);
}

/* --- jobs that the caller gives --- */

enum pv_code workload_import_job(struct workload_import *import,
                                 const struct workload_job *job,
                                 struct pv_error *err)
{
    struct workload_job copy = *job;
    import->given_jobs++;
    trace_begin_job(import);
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++) {
        for (size_t i = 0; i < job->n_runs[l]; i++)
            PV_TRY(trace_add_tasks(import, (enum workload_list)l, job->runs[l][i].duration_s,
                                   job->runs[l][i].count, err));
    }
    return trace_end_job(import, &copy, err);
}

/* --- finish --- */

static void warn_of_lines(struct findings *warnings,
                          const char *code,
                          const char *what,
                          const struct line_count *count)
{
    if (count->n == 0)
        return;
    struct finding *finding =
        finding_add(warnings, code, "%" PRIu64 " line%s, the first of them line %" PRIu64 ": %s",
                    count->n, PLURAL(count->n), count->first, what);
    finding_number(finding, "count", (double)count->n);
    finding_number(finding, "first_line", (double)count->first);
}

static void warn(const struct workload_import *import, struct findings *warnings)
{
    warn_of_lines(warnings, "arrivals_out_of_order",
                  "the job arrives before the one above it; jobs are simulated in order of arrival",
                  &import->early_jobs);
    warn_of_lines(warnings, "means_disagree",
                  "the mean duration stated is not that of the tasks, which counts",
                  &import->odd_means);
    if (import->unterminated)
        finding_number(finding_add(warnings, "last_line_unterminated",
                                   "the last line, %" PRIu64
                                   ", does not end in a newline: the trace may be cut",
                                   import->lines.count),
                       "line", (double)import->lines.count);
}

static enum pv_code
finish_text(struct workload_import *import, struct findings *warnings, struct pv_error *err)
{
    struct lines_sink sink = lines_of(import);
    import->unterminated = import->lines.n_carry > 0;
    PV_TRY(lines_finish(&import->lines, &sink, err));
    if (import->format->finish != NULL)
        PV_TRY(import->format->finish(import, warnings, err));
    if (import->lines.count == 0)
        return pv_fail(err, PV_E_INVALID, "the trace is empty");
    if (import->statistics.jobs == 0)
        return pv_fail(err, PV_E_INVALID, "line %" PRIu64 ": the trace ends without a job",
                       import->lines.count);
    return PV_OK;
}

enum pv_code workload_import_finish(struct workload_import *import,
                                    struct arena *arena,
                                    struct workload_summary *summary,
                                    struct pv_error *err)
{
    struct workload_summary made = {.warnings = {.arena = arena}};
    if (import->given_jobs == 0)
        PV_TRY(finish_text(import, &made.warnings, err));
    PV_TRY(chunk_encoder_finish(&import->encoder, err));
    PV_TRY(workload_statistics_finish(&import->statistics, &made, err));
    warn(import, &made.warnings);
    made.chunks = import->encoder.chunks;
    made.encoded_bytes = import->encoder.encoded_bytes;
    made.rounded = import->encoder.rounded_tasks;
    made.rounding_error = made.rounded > 0 ? 0x1p-24 : 0;
    memcpy(made.runs, import->encoder.all_runs, sizeof made.runs);
    PV_TRY(findings_check(&made.warnings, err));
    *summary = made;
    return PV_OK;
}

void workload_import_end(struct workload_import *import)
{
    if (import == NULL)
        return;
    lines_fini(&import->lines, &import->budget);
    for (unsigned l = 0; l < WORKLOAD_LISTS; l++)
        budget_free(&import->budget, import->runs[l].items, import->runs[l].capacity,
                    sizeof *import->runs[l].items);
    if (import->format->end != NULL)
        import->format->end(import);
    workload_statistics_fini(&import->statistics);
}
