#include "core/joblog/spark/sparklog.h"

#include <string.h>

#include "core/joblog/spark/events.h"
#include "core/joblog/spark/profile.h"
#include "core/joblog/spark/state.h"

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

/* Does the line, whole or cut, begin as every event does? Blanks between do not matter. */
static bool begins_as_event(struct strview line)
{
    static const char start[] = "{\"Event\":\"";
    size_t n = 0;
    for (size_t i = 0; i < line.n && n < sizeof start - 1; i++) {
        if (lines_is_blank(line.at[i]))
            continue;
        if (line.at[i] != start[n++])
            return false;
    }
    return true;
}

static enum pv_code take_line(void *context, struct strview line, struct pv_error *err)
{
    struct sparklog *log = context;
    line = lines_trim(line);
    if (line.n == 0)
        return PV_OK;
    if (!log->has_lines)
        log->begins_as_event = begins_as_event(line);
    log->has_lines = true;
    char decoded[128];
    struct strview name;
    bool sound = name_at_start(line, &name) || name_anywhere(line, decoded, &name);
    event_take take = sound ? events_find(name) : NULL;
    struct json json = json_over(line);
    /* What is not read is still expected to be whole. */
    json.damaged = !sound || line.at[line.n - 1] != '}';
    enum pv_code code = take == NULL || json.damaged ? PV_OK : take(log, &json, err);
    log->reader.notices[NOTICE_DAMAGED_LINE] += json.damaged;
    log->has_events = log->has_events || (take != NULL && !json.damaged);
    if (!log->beginning.over && !json.damaged)
        beginning_see_event(&log->beginning, name, line);
    return code;
}

static const struct log_notice notices[] = {
#define NOTICE_TEXT(notice, code, message) {code, message},
    SPARKLOG_NOTICES(NOTICE_TEXT)
#undef NOTICE_TEXT
};
_Static_assert(LOG_NOTICE_OWN + sizeof notices / sizeof *notices <= LOG_NOTICES_MAX,
               "room for every notice");

const struct log_kind sparklog_kind = {
    .size = sizeof(struct sparklog),
    .end_missing =
        "the log has no end of the application; if all its jobs ended well, it counts as succeeded",
    .notices = notices,
    .n_notices = sizeof notices / sizeof *notices,
    .init = sparklog_init,
    .fini = sparklog_fini,
    .line = take_line,
    .build = profile_build};
