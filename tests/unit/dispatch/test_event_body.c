#include "dispatch/event_body.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>

#include "base/instant.h"

static struct event_message message(const char *type, int64_t severity, const char *data)
{
    int64_t us = 0;
    cr_assert(instant_parse("2026-01-05T02:00:00.123456Z", &us));
    return (struct event_message){.id = "evt_1",
                                  .team_id = "0197",
                                  .type = strview_of(type),
                                  .severity = severity,
                                  .happened_us = us,
                                  .data = strview_of(data)};
}

static json_t *written(enum webhook_format format, const struct event_message *event, size_t *n)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct strview body = event_body_write(&arena, format, event);
    cr_assert_not_null(body.at);
    json_error_t where;
    json_t *read = json_loadb(body.at, body.n, JSON_REJECT_DUPLICATES, &where);
    cr_assert_not_null(read, "%s: %.*s", where.text, (int)body.n, body.at);
    if (n != NULL)
        *n = body.n;
    arena_fini(&arena);
    return read;
}

static const char *text_at(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text == NULL ? "" : text;
}

Test(event_body, standard)
{
    struct event_message event =
        message("advice.created", 0, " {\"id\" : \"a\", \"deadline_s\" : null} ");
    json_t *body = written(WEBHOOK_STANDARD, &event, NULL);
    cr_expect_eq(json_object_size(body), 3);
    cr_expect_str_eq(text_at(body, "type"), "advice.created");
    cr_expect_str_eq(text_at(body, "timestamp"), "2026-01-05T02:00:00.123456Z");
    json_t *data = json_object_get(body, "data");
    cr_expect_str_eq(text_at(data, "severity"), "info");
    cr_expect_str_eq(text_at(data, "id"), "a");
    cr_expect(json_is_null(json_object_get(data, "deadline_s")));
    json_decref(body);
}

Test(event_body, data_without_members)
{
    struct event_message event = message("webhook.ping", 2, "{ }");
    json_t *body = written(WEBHOOK_STANDARD, &event, NULL);
    cr_expect_eq(json_object_size(json_object_get(body, "data")), 1);
    cr_expect_str_eq(text_at(json_object_get(body, "data"), "severity"), "critical");
    json_decref(body);
}

Test(event_body, cloudevents)
{
    struct event_message event = message("run.ingested", 1, "{\"application\":\"etl \\u00e9\"}");
    json_t *body = written(WEBHOOK_CLOUDEVENTS, &event, NULL);
    static const char *const members[][2] = {{"specversion", "1.0"},
                                             {"id", "evt_1"},
                                             {"source", "urn:provisor:team:0197"},
                                             {"type", "provisor.run.ingested"},
                                             {"subject", "etl \xc3\xa9"},
                                             {"time", "2026-01-05T02:00:00.123456Z"},
                                             {"datacontenttype", "application/json"},
                                             {"severity", "warning"}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        cr_expect_str_eq(text_at(body, members[i][0]), members[i][1]);
    cr_expect_str_eq(text_at(json_object_get(body, "data"), "severity"), "warning");
    json_decref(body);
    event = message("operation.completed", 0, "{\"id\":\"x\"}");
    body = written(WEBHOOK_CLOUDEVENTS, &event, NULL);
    cr_expect_null(json_object_get(body, "subject"));
    json_decref(body);
}

Test(event_body, one_line_for_people)
{
    struct event_message event = message("webhook.ping", 0, "{}");
    json_t *body = written(WEBHOOK_TEXT, &event, NULL);
    cr_expect_eq(json_object_size(body), 1);
    cr_expect_str_eq(text_at(body, "text"), "This is a test: provisor reaches this endpoint.");
    json_decref(body);
    event = message("run.ingested", 0, "{\"application\":\"a<b>&c\\n\\\"\\u00e9\"}");
    body = written(WEBHOOK_TEXT, &event, NULL);
    cr_expect_str_eq(text_at(body, "text"), "a&lt;b&gt;&amp;c \"\xc3\xa9: a run was stored.");
    json_decref(body);
}

Test(event_body, a_body_that_would_be_too_long_keeps_the_event)
{
    static char data[40000];
    (void)snprintf(data, sizeof data, "{\"application\":\"%0*d\"}", 30000, 0);
    for (int format = 0; format < 3; format++) {
        size_t n = 0;
        struct event_message event = message("run.ingested", 0, data);
        json_t *body = written((enum webhook_format)format, &event, &n);
        cr_expect_leq(n, EVENT_BODY_MAX);
        json_decref(body);
    }
}

Test(event_body, ids)
{
    char id[EVENT_ID_TEXT];
    event_message_id("01990b7e-0000-7000-8000-000000000001", id);
    cr_assert_str_eq(id, "evt_01990b7e-0000-7000-8000-000000000001");
    cr_assert_null(strchr(id, '.'), "a dot separates what is signed");
}
