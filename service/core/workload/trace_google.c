/* Google's cluster data: the columns of task_events of 2011 (version 2, no line of names) and of
 * instance_events of 2019 (version 3, exported as CSV with a line of names). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "core/workload/google_jobs.h"
#include "core/workload/number.h"

enum { FIELDS_MOST = 64, SHOWN_MOST = 24 };

struct fields {
    struct strview at[FIELDS_MOST];
    size_t n;
};

static enum pv_code
begin_google(struct workload_import *import, struct arena *arena, struct pv_error *err)
{
    import->google = arena_calloc(arena, 1, sizeof *import->google);
    if (import->google == NULL)
        return pv_no_memory(err);
    google_trace_init(import->google);
    return PV_OK;
}

/* --- CSV --- */

/* The field at `at`, without its quotes; returns where it ends. NULL: a quote is not closed. */
static const char *take_field(const char *at, const char *end, struct strview *field)
{
    if (at < end && *at == '"') {
        const char *from = ++at;
        while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
            if (at + 1 == end || at[1] != '"') {
                *field = (struct strview){from, (size_t)(at - from)};
                return at + 1;
            }
            at += 2; /* a quote inside; no field that is read has one */
        }
        return NULL;
    }
    const char *comma = memchr(at, ',', (size_t)(end - at));
    *field = (struct strview){at, (size_t)((comma == NULL ? end : comma) - at)};
    return at + field->n;
}

static enum pv_code split(struct workload_import *import,
                          struct strview line,
                          struct fields *fields,
                          struct pv_error *err)
{
    const char *at = line.at;
    const char *end = line.at + line.n;
    for (fields->n = 0; fields->n < FIELDS_MOST; at++) {
        at = take_field(at, end, &fields->at[fields->n++]);
        if (at == NULL || (at < end && *at != ','))
            return trace_fail(import, err, PV_E_INVALID, "column %zu: its quotes are not closed",
                              fields->n);
        if (at == end)
            return PV_OK;
    }
    return trace_fail(import, err, PV_E_INVALID, "there are more than %d columns; is this CSV?",
                      (int)FIELDS_MOST);
}

static enum pv_code take_integer(struct workload_import *import,
                                 struct strview field,
                                 const char *what,
                                 int64_t *value,
                                 struct pv_error *err)
{
    const char *at = field.at;
    char shown[SHOWN_MOST];
    if (field.n > 0 && number_take_integer(&at, field.at + field.n, value) &&
        at == field.at + field.n)
        return PV_OK;
    strview_shorten(field, shown, sizeof shown);
    return trace_fail(import, err, PV_E_INVALID, "%s is \"%s\", not a whole number", what, shown);
}

/* --- 2011 --- */

enum {
    TASK_EVENT_COLUMNS = 13,
    TASK_EVENT_LEAST = 6, /* up to the type of event: what is read */
    JOB_EVENT_COLUMNS = 8
};

static enum pv_code
read_2011(struct workload_import *import, struct strview line, struct pv_error *err)
{
    static const enum google_event events[] = {GOOGLE_SUBMIT, GOOGLE_SCHEDULE, GOOGLE_EVICT,
                                               GOOGLE_FAIL,   GOOGLE_FINISH,   GOOGLE_KILL,
                                               GOOGLE_LOST,   GOOGLE_OTHER,    GOOGLE_OTHER};
    struct fields fields;
    int64_t at_us, job, task, type;
    PV_TRY(split(import, line, &fields, err));
    if (fields.n == JOB_EVENT_COLUMNS) {
        import->google->other_rows++;
        return PV_OK;
    }
    if (fields.n != TASK_EVENT_COLUMNS && fields.n != TASK_EVENT_LEAST)
        return trace_fail(import, err, PV_E_INVALID,
                          "there %s %zu column%s; task_events have 13, or the first 6 of them",
                          PLURAL_VERB(fields.n, "is", "are"), fields.n, PLURAL(fields.n));
    PV_TRY(take_integer(import, fields.at[0], "the time, column 1,", &at_us, err));
    PV_TRY(take_integer(import, fields.at[2], "the job, column 3,", &job, err));
    PV_TRY(take_integer(import, fields.at[3], "the task, column 4,", &task, err));
    PV_TRY(take_integer(import, fields.at[5], "the event, column 6,", &type, err));
    if (type < 0 || type >= (int64_t)(sizeof events / sizeof *events))
        return trace_fail(import, err, PV_E_INVALID, "there is no event %" PRId64, type);
    return google_event(import, at_us, job, task, events[type], err);
}

/* --- 2019 --- */

enum column_2019 { TIME, TYPE, COLLECTION, INSTANCE, COLLECTION_TYPE };
enum { COLUMNS_2019 = COLLECTION_TYPE + 1 };

static const char *const NAMES_2019[COLUMNS_2019] = {"time", "type", "collection_id",
                                                     "instance_index", "collection_type"};

_Static_assert((int)COLUMNS_2019 <=
                   (int)(sizeof((struct google_trace *)NULL)->columns / sizeof(int)),
               "a trace has room for the columns");

/* A line of names, of which a file that was put together has several. */
static bool is_header(const struct fields *fields)
{
    for (size_t i = 0; i < fields->n; i++) {
        if (strview_is(fields->at[i], NAMES_2019[COLLECTION]))
            return true;
    }
    return false;
}

static enum pv_code
read_header(struct workload_import *import, const struct fields *fields, struct pv_error *err)
{
    int *columns = import->google->columns;
    for (unsigned c = 0; c < COLUMNS_2019; c++) {
        columns[c] = -1;
        for (size_t i = 0; i < fields->n; i++) {
            if (strview_is(fields->at[i], NAMES_2019[c]))
                columns[c] = (int)i;
        }
    }
    for (unsigned c = 0; c <= COLLECTION; c++) {
        if (columns[c] < 0)
            return trace_fail(import, err, PV_E_INVALID, "there is no column named %s",
                              NAMES_2019[c]);
    }
    return PV_OK;
}

static enum pv_code take_event(struct workload_import *import,
                               struct strview field,
                               enum google_event *event,
                               struct pv_error *err)
{
    static const struct {
        const char *word;
        enum google_event event;
    } events[] = {
        {"SUBMIT", GOOGLE_SUBMIT},        {"QUEUE", GOOGLE_OTHER},         {"ENABLE", GOOGLE_OTHER},
        {"SCHEDULE", GOOGLE_SCHEDULE},    {"EVICT", GOOGLE_EVICT},         {"FAIL", GOOGLE_FAIL},
        {"FINISH", GOOGLE_FINISH},        {"KILL", GOOGLE_KILL},           {"LOST", GOOGLE_LOST},
        {"UPDATE_PENDING", GOOGLE_OTHER}, {"UPDATE_RUNNING", GOOGLE_OTHER}};
    const size_t n = sizeof events / sizeof *events;
    int64_t type;
    for (size_t i = 0; i < n; i++) {
        if (strview_is(field, events[i].word)) {
            *event = events[i].event;
            return PV_OK;
        }
    }
    PV_TRY(take_integer(import, field, "type", &type, err));
    if (type < 0 || (uint64_t)type >= n)
        return trace_fail(import, err, PV_E_INVALID, "there is no event %" PRId64, type);
    *event = events[type].event;
    return PV_OK;
}

/* About a collection as a whole, or of an alloc set. */
static bool is_other(const struct fields *fields, const int columns[])
{
    if (columns[INSTANCE] < 0)
        return true;
    if (columns[COLLECTION_TYPE] < 0)
        return false;
    struct strview type = fields->at[columns[COLLECTION_TYPE]];
    return strview_is(type, "1") || strview_is(type, "ALLOC_SET");
}

static enum pv_code
read_2019(struct workload_import *import, struct strview line, struct pv_error *err)
{
    const int *columns = import->google->columns;
    struct fields fields;
    enum google_event event;
    int64_t at_us, job, task;
    PV_TRY(split(import, line, &fields, err));
    if (is_header(&fields))
        return read_header(import, &fields, err);
    if (columns[TIME] < 0)
        return trace_fail(import, err, PV_E_INVALID,
                          "the first line has to name the columns: time, type, collection_id, "
                          "instance_index");
    for (unsigned c = 0; c < COLUMNS_2019; c++) {
        if (columns[c] >= (int)fields.n)
            return trace_fail(import, err, PV_E_INVALID, "there %s %zu column%s, too few for %s",
                              PLURAL_VERB(fields.n, "is", "are"), fields.n, PLURAL(fields.n),
                              NAMES_2019[c]);
    }
    if (is_other(&fields, columns)) {
        import->google->other_rows++;
        return PV_OK;
    }
    PV_TRY(take_integer(import, fields.at[columns[TIME]], NAMES_2019[TIME], &at_us, err));
    PV_TRY(take_event(import, fields.at[columns[TYPE]], &event, err));
    PV_TRY(take_integer(import, fields.at[columns[COLLECTION]], NAMES_2019[COLLECTION], &job, err));
    PV_TRY(take_integer(import, fields.at[columns[INSTANCE]], NAMES_2019[INSTANCE], &task, err));
    return google_event(import, at_us, job, task, event, err);
}

const struct trace_format trace_google_2011 = {
    .begin = begin_google, .line = read_2011, .finish = google_finish, .end = google_end};

const struct trace_format trace_google_2019 = {
    .begin = begin_google, .line = read_2019, .finish = google_finish, .end = google_end};
