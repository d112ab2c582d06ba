#include "dispatch/event_body.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json/parse.h"
#include "dispatch/event_sentence.h"

void event_message_id(const char event_id[37], char out[EVENT_ID_TEXT])
{
    (void)snprintf(out, EVENT_ID_TEXT, "evt_%.36s", event_id);
}

const char *event_content_type(enum webhook_format format)
{
    return format == WEBHOOK_CLOUDEVENTS ? "application/cloudevents+json" : "application/json";
}

static const char *severity_word(const struct event_message *event)
{
    return event_severity_words[event->severity < 0 || event->severity >= EVENT_SEVERITIES
                                    ? EVENT_INFO
                                    : event->severity];
}

/* The members of an object, without its braces. */
static struct strview members_of(struct strview object)
{
    const char *blanks = " \t\r\n";
    while (object.n > 0 && strchr(blanks, object.at[0]) != NULL)
        object.at++, object.n--;
    while (object.n > 0 && strchr(blanks, object.at[object.n - 1]) != NULL)
        object.n--;
    if (object.n < 2 || object.at[0] != '{' || object.at[object.n - 1] != '}')
        return (struct strview){"", 0};
    object.at++;
    object.n -= 2;
    while (object.n > 0 && strchr(blanks, object.at[0]) != NULL)
        object.at++, object.n--;
    return object;
}

/* The severity, then what there was. */
static struct strview data_with_severity(struct arena *arena, const struct event_message *event)
{
    struct strview members = members_of(event->data);
    const char *text = arena_printf(arena, "{\"severity\": \"%s\"%s%.*s}", severity_word(event),
                                    members.n > 0 ? ", " : "", (int)members.n, members.at);
    return strview_of(text);
}

static struct strview finish(struct writer *w)
{
    struct strview body;
    body.at = writer_finish(w, &body.n);
    return body;
}

static struct strview
write_standard(struct arena *arena, const struct event_message *event, struct strview data)
{
    struct writer w;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_member_text(&w, "type", event->type);
    writer_member_instant(&w, "timestamp", event->happened_us);
    writer_key(&w, "data");
    writer_raw(&w, data);
    writer_end_object(&w);
    return finish(&w);
}

/* What an event is about, where it says so. */
static void write_subject(struct writer *w, const struct json_value *data)
{
    const char *name = json_value_text(json_value_member(data, "application"));
    if (name != NULL)
        writer_member_string(w, "subject", name);
}

static struct strview write_cloudevent(struct arena *arena,
                                       const struct event_message *event,
                                       const struct json_value *read,
                                       struct strview data)
{
    struct writer w;
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_member_string(&w, "specversion", "1.0");
    writer_member_string(&w, "id", event->id);
    writer_member_string(&w, "source", arena_printf(arena, "urn:provisor:team:%s", event->team_id));
    writer_member_string(&w, "type",
                         arena_printf(arena, "provisor.%.*s", (int)event->type.n, event->type.at));
    write_subject(&w, read);
    writer_member_instant(&w, "time", event->happened_us);
    writer_member_string(&w, "datacontenttype", "application/json");
    writer_member_string(&w, "severity", severity_word(event));
    writer_key(&w, "data");
    writer_raw(&w, data);
    writer_end_object(&w);
    return finish(&w);
}

/* --- one line for people --- */

/* Slack takes these three for markup. */
static const char *escape(struct arena *arena, const char *text)
{
    size_t n = strlen(text);
    char *out = arena_alloc(arena, 5 * n + 1);
    size_t at = 0;
    for (size_t i = 0; out != NULL && i < n; i++) {
        const char *as = text[i] == '&'   ? "&amp;"
                         : text[i] == '<' ? "&lt;"
                         : text[i] == '>' ? "&gt;"
                                          : NULL;
        size_t length = as == NULL ? 1 : strlen(as);
        memcpy(out + at, as == NULL ? text + i : as, length);
        at += length;
    }
    if (out != NULL)
        out[at] = '\0';
    return out;
}

static struct strview
write_line(struct arena *arena, const struct event_message *event, const struct json_value *data)
{
    const char *text = event_sentence(arena, event->type, data);
    if (text != NULL)
        text = escape(arena, text);
    struct writer w;
    if (text == NULL)
        return (struct strview){NULL, 0};
    writer_init(&w, arena);
    writer_begin_object(&w);
    writer_member_string(&w, "text", text);
    writer_end_object(&w);
    return finish(&w);
}

static struct strview write_body(struct arena *arena,
                                 enum webhook_format format,
                                 const struct event_message *event,
                                 const struct json_value *read)
{
    struct strview data = data_with_severity(arena, event);
    if (data.at == NULL)
        return data;
    switch (format) {
    case WEBHOOK_CLOUDEVENTS:
        return write_cloudevent(arena, event, read, data);
    case WEBHOOK_TEXT:
        return write_line(arena, event, read);
    default:
        return write_standard(arena, event, data);
    }
}

struct strview
event_body_write(struct arena *arena, enum webhook_format format, const struct event_message *event)
{
    const struct json_value *read = NULL;
    if (json_parse_own(event->data, arena, &read, NULL) == PV_E_MEMORY)
        return (struct strview){NULL, 0};
    struct strview body = write_body(arena, format, event, read);
    if (body.at == NULL || body.n <= EVENT_BODY_MAX)
        return body;
    struct event_message bare = *event;
    bare.data = strview_of("{}");
    return write_body(arena, format, &bare, NULL);
}
