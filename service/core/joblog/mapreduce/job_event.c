#include "core/joblog/mapreduce/job_event.h"

#include <string.h>

enum kind { TEXT, INSTANT, COUNT, RAW };

struct field {
    struct strview name;
    enum kind kind;
    size_t offset;
};

#define FIELD(name, kind, member)                                                                  \
    {                                                                                              \
        {name, sizeof(name) - 1}, kind, offsetof(struct job_event, member)                         \
    }

static const struct field fields[] = {
    FIELD("jobid", TEXT, job_id),          FIELD("jobName", TEXT, job_name),
    FIELD("taskid", TEXT, task_id),        FIELD("attemptId", TEXT, attempt_id),
    FIELD("avataar", TEXT, avataar),       FIELD("taskStatus", TEXT, status),
    FIELD("hostname", TEXT, host),         FIELD("submitTime", INSTANT, submit_ms),
    FIELD("startTime", INSTANT, start_ms), FIELD("finishTime", INSTANT, finish_ms),
    FIELD("totalMaps", COUNT, maps),       FIELD("totalReduces", COUNT, reduces),
    FIELD("counters", RAW, counters),
};

static const struct field *job_event_find(struct json_text key)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (json_text_is(key, fields[i].name))
            return &fields[i];
    return NULL;
}

/* Avro names a record or a branch of a union by its type: the last part begins with a capital,
 * which no field of the schema does. */
static bool names_a_record(struct json_text key)
{
    size_t from = key.n;
    while (from > 0 && key.at[from - 1] != '.')
        from--;
    return from < key.n && key.at[from] >= 'A' && key.at[from] <= 'Z';
}

/* Read a value of the table's kind; false when it is of another one. */
static bool read_plain(struct json *json, enum kind kind, void *to)
{
    switch (kind) {
    case TEXT:
        return json_read_text(json, to);
    case INSTANT:
    case COUNT:
        return json_read_int(json, to);
    case RAW:
        return json_read_raw(json, to);
    }
    return false;
}

/* The value, or what is within {"type": value}. */
static void read_value(struct json *json, enum kind kind, void *to)
{
    struct json before = *json;
    struct strview wrapped;
    if (read_plain(json, kind, to) || json->damaged || kind == RAW)
        return;
    *json = before;
    if (!json_read_raw(json, &wrapped) || wrapped.at[0] != '{')
        return;
    struct json inner = json_over(wrapped);
    bool started = false;
    struct json_text type;
    while (json_next_member(&inner, &started, &type))
        if (!read_plain(&inner, kind, to))
            break;
    json->damaged |= inner.damaged;
}

/* The members of a record; those that name a record themselves go to `wrapped`. */
static bool read_members(struct json *json, struct job_event *event, struct strview *wrapped)
{
    bool started = false;
    struct json_text key;
    while (json_next_member(json, &started, &key)) {
        const struct field *field = job_event_find(key);
        if (field != NULL)
            read_value(json, field->kind, (char *)event + field->offset);
        else if (names_a_record(key))
            (void)json_read_raw(json, wrapped);
        else
            (void)json_skip(json);
    }
    return !json->damaged;
}

/* The record of an event, bare or as {"its.Type": record}. */
static bool read_record(struct strview record, struct job_event *event)
{
    struct strview wrapped = {NULL, 0};
    struct strview deeper;
    struct json json = json_over(record);
    if (!read_members(&json, event, &wrapped))
        return false;
    json = json_over(wrapped);
    return wrapped.at == NULL || read_members(&json, event, &deeper);
}

static bool read_line(struct json *json, struct job_event *event)
{
    struct strview record = {NULL, 0};
    bool started = false;
    struct json_text key;
    while (json_next_member(json, &started, &key)) {
        if (json_text_is(key, strview_of("type")))
            (void)json_read_text(json, &event->type);
        else if (json_text_is(key, strview_of("event")))
            (void)json_read_raw(json, &record);
        else
            (void)json_skip(json);
    }
    if (!json_at_end(json) || event->type.at == NULL)
        return false;
    if (record.at == NULL)
        return true; /* the schema, or an event that says nothing */
    return read_record(record, event);
}

bool job_event_read(struct strview line, struct job_event *event)
{
    *event = (struct job_event){
        .submit_ms = NO_TIME, .start_ms = NO_TIME, .finish_ms = NO_TIME, .maps = -1, .reduces = -1};
    struct json json = json_over(line);
    return read_line(&json, event);
}

/* --- counters --- */

enum group { OTHER_GROUP, TASK_GROUP, READ_GROUP, WRITTEN_GROUP };

/* By the last part of the group's name, which has moved between packages. */
static enum group group_of(struct json_text name)
{
    static const struct {
        const char *end;
        enum group group;
    } ends[] = {
        {".TaskCounter", TASK_GROUP},
        {".Task$Counter", TASK_GROUP},
        {".FileInputFormatCounter", READ_GROUP},
        {".FileInputFormat$Counter", READ_GROUP},
        {".FileOutputFormatCounter", WRITTEN_GROUP},
        {".FileOutputFormat$Counter", WRITTEN_GROUP},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i].end);
        if (name.n >= n && memcmp(name.at + name.n - n, ends[i].end, n) == 0)
            return ends[i].group;
    }
    return OTHER_GROUP;
}

static const struct {
    struct strview name;
    enum group group;
    size_t offset;
} counters[] = {
#define COUNTER(name, group, member)                                                               \
    {                                                                                              \
        {name, sizeof(name) - 1}, group, offsetof(struct job_work, member)                         \
    }
    COUNTER("MAP_INPUT_RECORDS", TASK_GROUP, input_records),
    COUNTER("REDUCE_INPUT_RECORDS", TASK_GROUP, input_records),
    COUNTER("MAP_OUTPUT_RECORDS", TASK_GROUP, output_records),
    COUNTER("REDUCE_OUTPUT_RECORDS", TASK_GROUP, output_records),
    COUNTER("REDUCE_SHUFFLE_BYTES", TASK_GROUP, shuffle_read_bytes),
    COUNTER("MAP_OUTPUT_MATERIALIZED_BYTES", TASK_GROUP, shuffle_write_bytes),
    COUNTER("GC_TIME_MILLIS", TASK_GROUP, gc_ms),
    COUNTER("CPU_MILLISECONDS", TASK_GROUP, cpu_ms),
    COUNTER("BYTES_READ", READ_GROUP, input_bytes),
    COUNTER("BYTES_WRITTEN", WRITTEN_GROUP, output_bytes),
#undef COUNTER
};

const struct job_work job_work_unknown = {-1, -1, -1, -1, -1, -1, -1, -1};

static void add_amount(int64_t *sum, int64_t amount)
{
    if (amount < 0)
        return;
    if (*sum < 0)
        *sum = 0;
    if (__builtin_add_overflow(*sum, amount, sum))
        *sum = INT64_MAX;
}

void job_work_add(struct job_work *sum, const struct job_work *work)
{
    add_amount(&sum->input_records, work->input_records);
    add_amount(&sum->input_bytes, work->input_bytes);
    add_amount(&sum->output_bytes, work->output_bytes);
    add_amount(&sum->output_records, work->output_records);
    add_amount(&sum->shuffle_read_bytes, work->shuffle_read_bytes);
    add_amount(&sum->shuffle_write_bytes, work->shuffle_write_bytes);
    add_amount(&sum->gc_ms, work->gc_ms);
    add_amount(&sum->cpu_ms, work->cpu_ms);
}

int64_t job_work_read_bytes(const struct job_work *work)
{
    int64_t bytes = RUN_UNKNOWN;
    add_amount(&bytes, work->input_bytes);
    add_amount(&bytes, work->shuffle_read_bytes);
    return bytes;
}

static void
take_counter(enum group group, struct json_text name, int64_t value, struct job_work *work)
{
    if (group == OTHER_GROUP || name.at == NULL)
        return;
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (counters[i].group == group && json_text_is(name, counters[i].name))
            add_amount((int64_t *)(void *)((char *)work + counters[i].offset), value);
    }
}

struct counter {
    struct json_text name;
    int64_t value;
};

static const struct json_field counter_fields[] = {
    JSON_FIELD("name", JSON_TEXT, struct counter, name),
    JSON_FIELD("value", JSON_INT, struct counter, value),
};
static const struct json_shape counter_shape = JSON_SHAPE(counter_fields);

struct counter_group {
    struct json_text name;
    struct strview counts;
};

static const struct json_field group_fields[] = {
    JSON_FIELD("name", JSON_TEXT, struct counter_group, name),
    JSON_FIELD("counts", JSON_RAW, struct counter_group, counts),
};
static const struct json_shape group_shape = JSON_SHAPE(group_fields);

static bool take_group(struct json *json, struct job_work *work)
{
    struct counter_group read = {{NULL, 0, false}, {NULL, 0}};
    if (!json_read_object(json, &group_shape, &read))
        return false;
    enum group group = read.name.at == NULL ? OTHER_GROUP : group_of(read.name);
    if (group == OTHER_GROUP || read.counts.at == NULL)
        return true;
    struct json counts = json_over(read.counts);
    bool started = false;
    while (json_next_element(&counts, &started)) {
        struct counter counter = {{NULL, 0, false}, -1};
        if (json_read_object(&counts, &counter_shape, &counter))
            take_counter(group, counter.name, counter.value, work);
    }
    return !counts.damaged;
}

static bool take_groups(struct strview groups, struct job_work *work)
{
    struct json json = json_over(groups);
    bool started = false;
    while (json_next_element(&json, &started))
        if (!take_group(&json, work))
            return false;
    return !json.damaged;
}

/* Find the groups, in the record or in what it wraps. */
static bool find_groups(struct strview record, struct strview *groups, struct strview *wrapped)
{
    struct json json = json_over(record);
    bool started = false;
    struct json_text key;
    while (json_next_member(&json, &started, &key)) {
        if (json_text_is(key, strview_of("groups")))
            (void)json_read_raw(&json, groups);
        else if (names_a_record(key))
            (void)json_read_raw(&json, wrapped);
        else
            (void)json_skip(&json);
    }
    return !json.damaged;
}

bool job_event_counters(struct strview counters_text, struct job_work *work)
{
    struct strview groups = {NULL, 0};
    struct strview wrapped = {NULL, 0};
    struct strview deeper;
    if (counters_text.at == NULL)
        return true;
    if (!find_groups(counters_text, &groups, &wrapped) ||
        (wrapped.at != NULL && !find_groups(wrapped, &groups, &deeper)))
        return false;
    struct job_work taken = *work;
    if (groups.at != NULL && !take_groups(groups, &taken))
        return false;
    *work = taken;
    return true;
}
