#ifndef CORE_WORKLOAD_WORKLOAD_IMPORT_INTERNAL_H
#define CORE_WORKLOAD_WORKLOAD_IMPORT_INTERNAL_H

#include "core/joblog/common/lines.h"
#include "core/workload/chunk_encoder.h"
#include "core/workload/statistics.h"
#include "core/workload/workload_import.h"

/*
 * What formats of traces share: lines come in, jobs go out.
 */

/* Durations of a list of the job that is being read, as they come. */
struct run_list {
    struct workload_run *items;
    size_t n;
    size_t capacity;
    uint64_t tasks;
};

/* Lines that have something in common which is worth a warning. */
struct line_count {
    uint64_t n;
    uint64_t first; /* line */
};

struct google_trace;

struct workload_import {
    const struct trace_format *format;
    struct workload_rates rates;
    struct workload_limits limits;
    struct budget budget;
    struct lines lines;
    uint64_t too_long;   /* the line that was; 0: none */
    uint64_t given_jobs; /* by workload_import_job */
    bool unterminated;   /* the line at hand is the last, and has no newline */
    double arrival_before_s;
    struct run_list runs[WORKLOAD_LISTS];
    struct line_count odd_means;  /* of Pigeon: the stated mean is not that of the durations */
    struct line_count early_jobs; /* that arrive before the one above */
    struct google_trace *google;
    struct chunk_encoder encoder;
    struct workload_statistics statistics;
};

/* How a format is read. All may be NULL but `line`. */
struct trace_format {
    enum pv_code (*begin)(struct workload_import *import,
                          struct arena *arena,
                          struct pv_error *err);
    /* A line without the blanks around it, which is not empty and holds no NUL. */
    enum pv_code (*line)(struct workload_import *import, struct strview line, struct pv_error *err);
    /* Behind the last line: jobs that are still held, and warnings. */
    enum pv_code (*finish)(struct workload_import *import,
                           struct findings *warnings,
                           struct pv_error *err);
    void (*end)(struct workload_import *import);
};

extern const struct trace_format trace_pigeon, trace_swim, trace_google_2011, trace_google_2019,
    trace_provisor;

/* PV_E_INVALID or PV_E_LIMIT, and a message behind the line, or the job, that it is about. */
enum pv_code trace_fail(const struct workload_import *import,
                        struct pv_error *err,
                        enum pv_code code,
                        const char *format,
                        ...) PV_PRINTF(4, 5);

#ifdef __clang_analyzer__
/* As in base/error.h. */
#define trace_fail(import, err, code, ...)                                                         \
    ((void)trace_fail(import, err, code, __VA_ARGS__), (code))
#endif

/* Begin a job: no durations yet. */
void trace_begin_job(struct workload_import *import);

/* The next `count` tasks of a list of the job last this long; equal neighbours become one run.
 * PV_E_LIMIT: more tasks than a job may have. */
enum pv_code trace_add_tasks(struct workload_import *import,
                             enum workload_list list,
                             double duration_s,
                             uint64_t count,
                             struct pv_error *err) PV_MUSTCHECK;

/* End a job: the durations added since it was begun, and all else of `job`. PV_E_INVALID: it is not
 * as workload.h says. */
enum pv_code trace_end_job(struct workload_import *import,
                           struct workload_job *job,
                           struct pv_error *err) PV_MUSTCHECK;

/* PV_E_INVALID when the arrival is before that of the line before: of formats whose lines are in
 * order. */
enum pv_code trace_check_order(struct workload_import *import,
                               double arrival_s,
                               struct pv_error *err) PV_MUSTCHECK;

/* The number at the front of [*at, end), which blanks surround; `what` names it in messages. */
enum pv_code trace_take_number(struct workload_import *import,
                               const char **at,
                               const char *end,
                               const char *what,
                               double *value,
                               struct pv_error *err) PV_MUSTCHECK;

static inline const char *trace_skip_blanks(const char *at, const char *end)
{
    while (at < end && lines_is_blank(*at))
        at++;
    return at;
}

void trace_count_line(const struct workload_import *import, struct line_count *count);

#endif
