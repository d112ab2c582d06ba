#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "cli/input/document.h"

enum { DEPTH_MAX = 64 };

struct reading {
    yaml_parser_t parser;
    const char *file;
    struct failure *failure;
};

/* --- scalars --- */

static bool is_one_of(const char *text, const char *const words[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return false;
}

/* A number as JSON writes it, with the sign and the bare point that YAML allows besides. */
static json_t *number_of(const char *text)
{
    size_t n = strlen(text);
    if (n == 0 || n >= 64 || strspn(text, "0123456789+-.eE") != n ||
        strpbrk(text, "0123456789") == NULL)
        return NULL;
    char *end;
    errno = 0;
    if (strpbrk(text, ".eE") == NULL) {
        long long whole = strtoll(text, &end, 10);
        return *end == '\0' && errno == 0 ? json_integer(whole) : NULL;
    }
    double real = strtod(text, &end);
    return *end == '\0' && isfinite(real) ? json_real(real) : NULL;
}

static json_t *plain_scalar(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const trues[] = {"true", "True", "TRUE"};
    static const char *const falses[] = {"false", "False", "FALSE"};
    if (is_one_of(text, nulls, sizeof nulls / sizeof *nulls))
        return json_null();
    if (is_one_of(text, trues, sizeof trues / sizeof *trues))
        return json_true();
    if (is_one_of(text, falses, sizeof falses / sizeof *falses))
        return json_false();
    json_t *number = number_of(text);
    return number != NULL ? number : json_string(text);
}

static json_t *scalar(const struct reading *reading, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
                 event->data.scalar.plain_implicit != 0;
    json_t *made = plain ? plain_scalar(text) : json_stringn(text, event->data.scalar.length);
    if (made == NULL)
        (void)fail(reading->failure, EXIT_USAGE, "%s, line %zu: the text is not UTF-8",
                   reading->file, event->start_mark.line + 1);
    return made;
}

/* --- collections --- */

static bool next(struct reading *reading, yaml_event_t *event)
{
    if (yaml_parser_parse(&reading->parser, event) != 0)
        return true;
    const yaml_parser_t *parser = &reading->parser;
    return fail(reading->failure, EXIT_USAGE, "%s, line %zu: no valid YAML: %s", reading->file,
                parser->problem_mark.line + 1,
                parser->problem == NULL ? "it cannot be read" : parser->problem);
}

static json_t *value_of(struct reading *reading, const yaml_event_t *event, unsigned depth);

// NOLINTNEXTLINE(misc-no-recursion): at most DEPTH_MAX deep
static bool read_items(struct reading *reading, json_t *list, unsigned depth)
{
    yaml_event_t event;
    while (next(reading, &event)) {
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        json_t *item = end ? NULL : value_of(reading, &event, depth);
        yaml_event_delete(&event);
        if (end)
            return true;
        if (item == NULL || json_array_append_new(list, item) != 0)
            return false;
    }
    return false;
}

static char *key_of(const struct reading *reading, const yaml_event_t *event, const json_t *object)
{
    const char *text =
        event->type == YAML_SCALAR_EVENT ? (const char *)event->data.scalar.value : NULL;
    size_t line = event->start_mark.line + 1;
    if (text == NULL)
        (void)fail(reading->failure, EXIT_USAGE, "%s, line %zu: a key has to be text",
                   reading->file, line);
    else if (json_object_get(object, text) != NULL)
        (void)fail(reading->failure, EXIT_USAGE, "%s, line %zu: the key %.60s is there twice",
                   reading->file, line, text);
    else
        return strdup(text);
    return NULL;
}

// NOLINTNEXTLINE(misc-no-recursion): at most DEPTH_MAX deep
static bool read_members(struct reading *reading, json_t *object, unsigned depth)
{
    yaml_event_t event;
    while (next(reading, &event)) {
        bool end = event.type == YAML_MAPPING_END_EVENT;
        char *key = end ? NULL : key_of(reading, &event, object);
        yaml_event_delete(&event);
        if (end || key == NULL)
            return end;
        bool good = next(reading, &event);
        json_t *value = good ? value_of(reading, &event, depth) : NULL;
        if (good)
            yaml_event_delete(&event);
        good = value != NULL && json_object_set_new(object, key, value) == 0;
        free(key);
        if (!good)
            return false;
    }
    return false;
}

// NOLINTNEXTLINE(misc-no-recursion): at most DEPTH_MAX deep
static json_t *value_of(struct reading *reading, const yaml_event_t *event, unsigned depth)
{
    if (event->type == YAML_SCALAR_EVENT)
        return scalar(reading, event);
    size_t line = event->start_mark.line + 1;
    if (event->type == YAML_ALIAS_EVENT || depth == DEPTH_MAX) {
        (void)fail(reading->failure, EXIT_USAGE,
                   depth == DEPTH_MAX ? "%s, line %zu: it is nested too deeply"
                                      : "%s, line %zu: aliases (*name) are not read",
                   reading->file, line);
        return NULL;
    }
    bool list = event->type == YAML_SEQUENCE_START_EVENT;
    json_t *made = list ? json_array() : json_object();
    bool good = made != NULL && (list ? read_items(reading, made, depth + 1)
                                      : read_members(reading, made, depth + 1));
    if (good)
        return made;
    json_decref(made);
    return NULL;
}

/* --- the document --- */

static bool skip_to(struct reading *reading, yaml_event_type_t wanted, yaml_event_t *event)
{
    while (next(reading, event)) {
        yaml_event_type_t type = event->type;
        if (type == wanted)
            return true;
        yaml_event_delete(event);
        if (type == YAML_STREAM_END_EVENT)
            return fail(reading->failure, EXIT_USAGE, "%s is empty", reading->file);
    }
    return false;
}

static bool read_end(struct reading *reading)
{
    yaml_event_t event;
    while (next(reading, &event)) {
        yaml_event_type_t type = event.type;
        size_t line = event.start_mark.line + 1;
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT)
            return true;
        if (type == YAML_DOCUMENT_START_EVENT)
            return fail(reading->failure, EXIT_USAGE, "%s, line %zu: a second document begins",
                        reading->file, line);
    }
    return false;
}

static json_t *read_document(struct reading *reading)
{
    yaml_event_t event;
    if (!skip_to(reading, YAML_DOCUMENT_START_EVENT, &event))
        return NULL;
    yaml_event_delete(&event);
    if (!next(reading, &event))
        return NULL;
    json_t *value = value_of(reading, &event, 0);
    yaml_event_delete(&event);
    if (value != NULL && read_end(reading))
        return value;
    json_decref(value);
    return NULL;
}

json_t *yaml_document_read(const char *text, size_t n, const char *file, struct failure *failure)
{
    struct reading reading = {.file = file, .failure = failure};
    if (yaml_parser_initialize(&reading.parser) == 0) {
        (void)fail_memory(failure);
        return NULL;
    }
    yaml_parser_set_input_string(&reading.parser, (const unsigned char *)text, n);
    json_t *value = read_document(&reading);
    yaml_parser_delete(&reading.parser);
    if (value == NULL)
        (void)fail_memory(failure); /* unless something else is recorded */
    return value;
}
