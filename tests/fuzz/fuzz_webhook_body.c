/*
 * A line with the type of an event, then any bytes as its data, which are an object as PostgreSQL keeps
 * one: in each format a body that is JSON, of bounded length, with the severity.
 */
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "dispatch/event_body.h"
#include "fuzz.h"

/* Types are words of ours. */
static bool is_type(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return n <= 64;
}

static void
look_at(struct arena *arena, enum webhook_format format, const struct event_message *event)
{
    struct strview body = event_body_write(arena, format, event);
    FUZZ_REQUIRE(body.at != NULL && body.n <= EVENT_BODY_MAX);
    json_t *read = json_loadb(body.at, body.n, 0, NULL);
    FUZZ_REQUIRE(read != NULL);
    const json_t *data = json_object_get(read, "data");
    if (format == WEBHOOK_TEXT)
        FUZZ_REQUIRE(json_string_length(json_object_get(read, "text")) > 0);
    else
        FUZZ_REQUIRE(json_object_get(data, "severity") != NULL);
    json_decref(read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *text = (const char *)data;
    const char *end = n == 0 ? NULL : memchr(text, '\n', n);
    size_t type_n = end == NULL ? 0 : (size_t)(end - text);
    if (end == NULL || !is_type(text, type_n))
        return 0;
    struct strview object = {end + 1, n - type_n - 1};
    json_t *read = json_loadb(object.at, object.n, JSON_REJECT_DUPLICATES, NULL);
    bool is_object = json_is_object(read);
    json_decref(read);
    if (!is_object)
        return 0;
    struct arena arena;
    arena_init(&arena, 0);
    const struct event_message event = {.id = "evt_1",
                                        .team_id = "t",
                                        .type = {text, type_n},
                                        .severity = (int64_t)(n % 3),
                                        .data = object};
    for (int format = WEBHOOK_STANDARD; format <= WEBHOOK_TEXT; format++)
        look_at(&arena, (enum webhook_format)format, &event);
    arena_fini(&arena);
    return 0;
}
