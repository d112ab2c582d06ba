#include "core/joblog/spark/sparklog.h"

#include <stdlib.h>
#include <string.h>

#include "core/joblog/spark/events.h"
#include "core/joblog/spark/profile.h"

/* The end of year 9999: what an instant of a run can hold. */
static const int64_t LATEST_MS = INT64_C(253402300799999);

struct sparklog *sparklog_create(const struct joblog_limits *limits)
{
    struct sparklog *log = calloc(1, sizeof *log);
    if (log == NULL)
        return NULL;
    log->limits = *limits;
    log->budget.limit = limits->memory_bytes;
    log->lines.longest = limits->line_bytes;
    log->application.start_ms = NO_TIME;
    log->application.end_ms = NO_TIME;
    log->last_ms = NO_TIME;
    log->first_stage_ms = NO_TIME;
    log->cores_most = RUN_UNKNOWN;
    log->driver_heap = RUN_UNKNOWN;
    log->application.exit_code = RUN_NO_EXIT_CODE;
    return log;
}

void sparklog_stage_fini(struct stage *stage, struct budget *budget)
{
    budget_free(budget, stage->name, stage->name_capacity, 1);
    budget_free(budget, stage->parents, stage->parents_capacity, sizeof *stage->parents);
    budget_free(budget, stage->attempts, stage->attempts_capacity, sizeof *stage->attempts);
    tasks_fini(&stage->tasks, budget);
}

void sparklog_destroy(struct sparklog *log)
{
    if (log == NULL)
        return;
    for (size_t i = 0; i < log->n_stages; i++)
        sparklog_stage_fini(&log->stages[i], &log->budget);
    budget_free(&log->budget, log->stages, log->stages_capacity, sizeof *log->stages);
    idmap_fini(&log->stage_at, &log->budget);
    budget_free(&log->budget, log->executors, log->executors_capacity, sizeof *log->executors);
    idmap_fini(&log->executor_at, &log->budget);
    idmap_fini(&log->nodes_excluded, &log->budget);
    budget_free(&log->budget, log->jobs_seen, log->jobs_capacity, sizeof *log->jobs_seen);
    idmap_fini(&log->job_at, &log->budget);
    lines_fini(&log->lines, &log->budget);
    free(log);
}

int64_t sparklog_see_time(struct sparklog *log, int64_t ms)
{
    if (ms < 0 || ms > LATEST_MS) {
        log->notices[NOTICE_BAD_TIME]++;
        return NO_TIME;
    }
    if (ms > log->last_ms)
        log->last_ms = ms;
    return ms;
}

int64_t sparklog_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b > 0 ? INT64_MAX : INT64_MIN;
}

int64_t sparklog_times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t sparklog_elapsed(struct sparklog *log, int64_t earlier_ms, int64_t later_ms)
{
    if (earlier_ms == NO_TIME || later_ms == NO_TIME)
        return 0;
    if (later_ms >= earlier_ms)
        return later_ms - earlier_ms;
    log->notices[NOTICE_BACKWARDS]++;
    return 0;
}

enum pv_code
sparklog_get_stage(struct sparklog *log, int64_t id, struct stage **stage, struct pv_error *err)
{
    const uint32_t *known = idmap_find(&log->stage_at, id);
    if (known != NULL) {
        *stage = &log->stages[*known];
        return PV_OK;
    }
    if (log->n_attempts >= log->limits.stages || log->n_stages >= UINT32_MAX)
        return pv_fail(err, PV_E_LIMIT, "the log holds more than %zu stages", log->limits.stages);
    void *stages = log->stages;
    enum pv_code code = budget_grow(&log->budget, &stages, &log->stages_capacity, log->n_stages + 1,
                                    sizeof *log->stages, err);
    if (code != PV_OK)
        return code;
    log->stages = stages;
    code = idmap_insert(&log->stage_at, &log->budget, id, (uint32_t)log->n_stages, err);
    if (code != PV_OK)
        return code;
    *stage = &log->stages[log->n_stages++];
    **stage = (struct stage){.id = id,
                             .tasks_planned = RUN_UNKNOWN,
                             .resource_profile = RUN_UNKNOWN,
                             .amounts = amounts_unknown};
    log->n_attempts++;
    return PV_OK;
}

/* Where Spark's writer puts it: the first member, without a blank. */
static bool name_at_start(struct strview line, struct strview *name)
{
    static const char start[] = "{\"Event\":\"";
    const size_t n = sizeof start - 1;
    if (line.n <= n || memcmp(line.at, start, n) != 0)
        return false;
    const char *from = line.at + n;
    const char *quote = memchr(from, '"', line.n - n);
    if (quote == NULL || memchr(from, '\\', (size_t)(quote - from)) != NULL)
        return false;
    *name = (struct strview){from, (size_t)(quote - from)};
    return true;
}

struct event_name {
    struct json_text name;
};

static const struct json_field name_fields[] = {
    JSON_FIELD("Event", JSON_TEXT, struct event_name, name),
};
static const struct json_shape name_shape = JSON_SHAPE(name_fields);

/* Anywhere among the members, written in any way. False for what is not an event. */
static bool name_anywhere(struct strview line, char decoded[128], struct strview *name)
{
    struct json json = json_over(line);
    struct event_name event = {{NULL, 0, false}};
    bool cut;
    if (!events_read(&json, &name_shape, &event) || event.name.at == NULL)
        return false;
    *name = (struct strview){decoded, json_text_decode(event.name, decoded, 128, &cut)};
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct strview trim(struct strview line)
{
    while (line.n > 0 && is_blank(line.at[line.n - 1]))
        line.n--;
    while (line.n > 0 && is_blank(line.at[0])) {
        line.at++;
        line.n--;
    }
    return line;
}

static enum pv_code take_line(void *context, struct strview line, struct pv_error *err)
{
    struct sparklog *log = context;
    line = trim(line);
    if (line.n == 0)
        return PV_OK;
    char decoded[128];
    struct strview name;
    bool sound = name_at_start(line, &name) || name_anywhere(line, decoded, &name);
    event_take take = sound ? events_find(name) : NULL;
    struct json json = json_over(line);
    /* What is not read is still expected to be whole. */
    json.damaged = !sound || line.at[line.n - 1] != '}';
    enum pv_code code = take == NULL || json.damaged ? PV_OK : take(log, &json, err);
    log->notices[NOTICE_DAMAGED_LINE] += json.damaged;
    return code;
}

static void note_too_long(void *context)
{
    struct sparklog *log = context;
    log->notices[NOTICE_LINE_TOO_LONG]++;
}

static struct lines_sink sink_of(struct sparklog *log)
{
    return (struct lines_sink){take_line, note_too_long, log};
}

enum pv_code sparklog_feed(struct sparklog *log, const char *bytes, size_t n, struct pv_error *err)
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

void sparklog_note_truncated(struct sparklog *log)
{
    log->notices[NOTICE_TRUNCATED]++;
    if (log->failed != PV_OK)
        return;
    /* The line the cut went through ends here, so that it does not spoil the first line of the next
     * part. If it is not whole, that is what `truncated` says already. */
    int64_t damaged = log->notices[NOTICE_DAMAGED_LINE];
    struct lines_sink sink = sink_of(log);
    log->failed = lines_finish(&log->lines, &sink, NULL);
    log->notices[NOTICE_DAMAGED_LINE] = damaged;
}

enum pv_code
sparklog_finish(struct sparklog *log, struct arena *arena, struct run *run, struct pv_error *err)
{
    if (log->failed != PV_OK)
        return pv_fail(err, log->failed, "the reader has failed before");
    struct lines_sink sink = sink_of(log);
    log->failed = lines_finish(&log->lines, &sink, err);
    if (log->failed != PV_OK)
        return log->failed;
    enum pv_code code = profile_build(log, arena, run, err);
    log->failed = PV_E_INTERNAL; /* the stages are sorted now: nothing more can be taken */
    return code;
}

struct joblog_counts sparklog_counts(const struct sparklog *log)
{
    return (struct joblog_counts){log->bytes, log->lines.count,
                                  (uint64_t)log->notices[NOTICE_DAMAGED_LINE]};
}
