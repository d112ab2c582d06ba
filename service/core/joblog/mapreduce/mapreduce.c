#include "core/joblog/mapreduce/mapreduce.h"

#include <stdlib.h>
#include <string.h>

#include "core/joblog/mapreduce/mapreduce_internal.h"

static const char text_form[] = "Avro-Json";
static const char binary_form[] = "Avro-Binary";

/* The end of year 9999: what an instant of a run can hold. */
static const int64_t LATEST_MS = INT64_C(253402300799999);

struct mapreduce *mapreduce_create(const struct joblog_limits *limits)
{
    struct mapreduce *log = calloc(1, sizeof *log);
    if (log == NULL)
        return NULL;
    log->limits = *limits;
    log->budget.limit = limits->memory_bytes;
    log->lines.longest = limits->line_bytes;
    log->submit_ms = log->finish_ms = log->last_ms = NO_INSTANT;
    log->planned[TASK_MAP] = log->planned[TASK_REDUCE] = RUN_UNKNOWN;
    return log;
}

void mapreduce_destroy(struct mapreduce *log)
{
    if (log == NULL)
        return;
    budget_free(&log->budget, log->attempts, log->attempts_capacity, sizeof *log->attempts);
    idmap_fini(&log->attempt_at, &log->budget);
    lines_fini(&log->lines, &log->budget);
    free(log);
}

bool mapreduce_recognise(const char *bytes, size_t n)
{
    return n >= MAPREDUCE_MAGIC && (memcmp(bytes, text_form, MAPREDUCE_MAGIC) == 0 ||
                                    memcmp(bytes, binary_form, MAPREDUCE_MAGIC) == 0);
}

int64_t mapreduce_see_time(struct mapreduce *log, int64_t ms)
{
    /* Hadoop writes 0 and -1 for an instant that never was. */
    if (ms <= 0 || ms > LATEST_MS) {
        log->notices[NOTICE_BAD_TIME]++;
        return NO_INSTANT;
    }
    if (ms > log->last_ms)
        log->last_ms = ms;
    return ms;
}

int64_t mapreduce_elapsed(struct mapreduce *log, int64_t earlier_ms, int64_t later_ms)
{
    if (earlier_ms == NO_INSTANT || later_ms == NO_INSTANT)
        return 0;
    if (later_ms >= earlier_ms)
        return later_ms - earlier_ms;
    log->notices[NOTICE_BACKWARDS]++;
    return 0;
}

static struct strview trim(struct strview line)
{
    while (line.n > 0 && (line.at[line.n - 1] == ' ' || line.at[line.n - 1] == '\r'))
        line.n--;
    return line;
}

/* The first line says in which form the rest is. */
static enum pv_code take_form(struct mapreduce *log, struct strview line, struct pv_error *err)
{
    if (strview_is(line, binary_form))
        return pv_fail(err, PV_E_MEDIA_TYPE,
                       "the job history is in Avro's binary form, of which only the text form is"
                       " read: run jobs with -Dmapreduce.jobhistory.jhist.format=json (Hadoop 3"
                       " writes binary unless told so)");
    log->notices[NOTICE_DAMAGED_LINE] += !strview_is(line, text_form);
    return PV_OK;
}

static enum pv_code take_line(void *context, struct strview line, struct pv_error *err)
{
    struct mapreduce *log = context;
    line = trim(line);
    if (log->lines.count == 1)
        return take_form(log, line, err);
    if (line.n == 0)
        return PV_OK;
    struct job_event event;
    bool sound = job_event_read(line, &event);
    job_take take = sound ? job_table_find(event.type) : NULL;
    enum pv_code code = take == NULL ? PV_OK : take(log, &event, &sound, err);
    /* The second line is the schema: it is not needed, and not missed either. */
    log->notices[NOTICE_DAMAGED_LINE] += !sound && log->lines.count > 2;
    return code;
}

static void note_too_long(void *context)
{
    struct mapreduce *log = context;
    log->notices[NOTICE_LINE_TOO_LONG]++;
}

static struct lines_sink sink_of(struct mapreduce *log)
{
    return (struct lines_sink){take_line, note_too_long, log};
}

enum pv_code
mapreduce_feed(struct mapreduce *log, const char *bytes, size_t n, struct pv_error *err)
{
    if (log->failed != PV_OK)
        return pv_fail(err, log->failed, "the reader has failed before");
    if (n == 0)
        return PV_OK;
    log->bytes += n;
    struct lines_sink sink = sink_of(log);
    log->failed = lines_feed(&log->lines, &log->budget, bytes, n, &sink, err);
    return log->failed;
}

void mapreduce_note_truncated(struct mapreduce *log)
{
    log->notices[NOTICE_TRUNCATED]++;
    if (log->failed != PV_OK)
        return;
    /* The line the cut went through is no damage of its own. */
    int64_t damaged = log->notices[NOTICE_DAMAGED_LINE];
    struct lines_sink sink = sink_of(log);
    log->failed = lines_finish(&log->lines, &sink, NULL);
    log->notices[NOTICE_DAMAGED_LINE] = damaged;
}

enum pv_code
mapreduce_finish(struct mapreduce *log, struct arena *arena, struct run *run, struct pv_error *err)
{
    if (log->failed != PV_OK)
        return pv_fail(err, log->failed, "the reader has failed before");
    struct lines_sink sink = sink_of(log);
    log->failed = lines_finish(&log->lines, &sink, err);
    if (log->failed != PV_OK)
        return log->failed;
    enum pv_code code = job_run_build(log, arena, run, err);
    log->failed = PV_E_INTERNAL; /* the attempts are sorted now: nothing more can be taken */
    return code;
}

struct joblog_counts mapreduce_counts(const struct mapreduce *log)
{
    return (struct joblog_counts){log->bytes, log->lines.count,
                                  (uint64_t)log->notices[NOTICE_DAMAGED_LINE]};
}
