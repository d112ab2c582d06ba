#include "cli/output/json_text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/json_writer.h"

/* --- JSON --- */

static void write_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", out);
        else if (c == '\t')
            fputs("\\t", out);
        else if (c < 0x20 || c == 0x7f)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void number_text(const json_t *value, char out[32])
{
    if (json_is_integer(value))
        (void)snprintf(out, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        out[writer_format_number(json_real_value(value), out)] = '\0';
}

static void write_scalar(FILE *out, const json_t *value)
{
    char number[33];
    switch (json_typeof(value)) {
    case JSON_STRING:
        write_string(out, json_string_value(value));
        break;
    case JSON_INTEGER:
    case JSON_REAL:
        number_text(value, number);
        fputs(number, out);
        break;
    case JSON_TRUE:
        fputs("true", out);
        break;
    case JSON_FALSE:
        fputs("false", out);
        break;
    case JSON_NULL:
    case JSON_OBJECT:
    case JSON_ARRAY:
        fputs("null", out);
        break;
    }
}

static void write_json(FILE *out, const json_t *value, int indent);

static void begin_item(FILE *out, bool first, int indent)
{
    fprintf(out, "%s\n%*s", first ? "" : ",", indent, "");
}

static void write_array(FILE *out, const json_t *value, int indent)
{
    size_t n = json_array_size(value);
    if (n == 0) {
        fputs("[]", out);
        return;
    }
    fputc('[', out);
    for (size_t i = 0; i < n; i++) {
        begin_item(out, i == 0, indent + 2);
        write_json(out, json_array_get(value, i), indent + 2);
    }
    fprintf(out, "\n%*s]", indent, "");
}

static void write_object(FILE *out, const json_t *value, int indent)
{
    if (json_object_size(value) == 0) {
        fputs("{}", out);
        return;
    }
    bool first = true;
    const char *key;
    json_t *member;
    fputc('{', out);
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        begin_item(out, first, indent + 2);
        first = false;
        write_string(out, key);
        fputs(": ", out);
        write_json(out, member, indent + 2);
    }
    fprintf(out, "\n%*s}", indent, "");
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the parser lets a reply be
static void write_json(FILE *out, const json_t *value, int indent)
{
    if (json_is_array(value))
        write_array(out, value, indent);
    else if (json_is_object(value))
        write_object(out, value, indent);
    else
        write_scalar(out, value);
}

bool json_text_write(FILE *out, const json_t *value, struct failure *failure)
{
    write_json(out, value, 0);
    fputc('\n', out);
    return ferror(out) == 0 || fail_memory(failure);
}

/* --- YAML --- */

struct yaml_writing {
    yaml_emitter_t emitter;
    bool failed;
};

static void emit(struct yaml_writing *yaml, yaml_event_t *event, int made)
{
    if (made == 0 || yaml->failed || yaml_emitter_emit(&yaml->emitter, event) == 0)
        yaml->failed = true;
}

static void emit_text(struct yaml_writing *yaml, const char *text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    emit(yaml, &event,
         yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
                                      (int)strlen(text), style != YAML_DOUBLE_QUOTED_SCALAR_STYLE,
                                      1, style));
}

/* Could a reader take the text for a number, a truth, a date or nothing at all? */
static bool reads_as_other(const char *text)
{
    static const char *const words[] = {"",   "~",   "null", "true", "false", "yes", "no",
                                        "on", "off", "y",    "n",    "=",     "<<"};
    char lower[8];
    size_t n = strlen(text);
    for (size_t i = 0; i < sizeof words / sizeof *words && n < sizeof lower; i++) {
        for (size_t c = 0; c <= n; c++)
            lower[c] = (char)(text[c] >= 'A' && text[c] <= 'Z' ? text[c] + 32 : text[c]);
        if (strcmp(lower, words[i]) == 0)
            return true;
    }
    return strchr("0123456789+-.", text[0]) != NULL;
}

/* As YAML 1.1 has it, where a number with an exponent needs a point: "1.0e-05". */
static void yaml_number(const json_t *value, char out[40])
{
    char number[33];
    number_text(value, number);
    size_t mantissa = strcspn(number, "e");
    bool pointless = number[mantissa] != '\0' && memchr(number, '.', mantissa) == NULL;
    (void)snprintf(out, 40, "%.*s%s%s", (int)mantissa, number, pointless ? ".0" : "",
                   number + mantissa);
}

static void emit_value(struct yaml_writing *yaml, const json_t *value);

static void emit_members(struct yaml_writing *yaml, const json_t *value)
{
    yaml_event_t event;
    const char *key;
    json_t *member;
    emit(yaml, &event,
         yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE));
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        emit_text(yaml, key,
                  reads_as_other(key) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE);
        emit_value(yaml, member);
    }
    emit(yaml, &event, yaml_mapping_end_event_initialize(&event));
}

static void emit_items(struct yaml_writing *yaml, const json_t *value)
{
    yaml_event_t event;
    emit(yaml, &event,
         yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE));
    for (size_t i = 0; i < json_array_size(value); i++)
        emit_value(yaml, json_array_get(value, i));
    emit(yaml, &event, yaml_sequence_end_event_initialize(&event));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the parser lets a reply be
static void emit_value(struct yaml_writing *yaml, const json_t *value)
{
    char number[40];
    if (json_is_object(value)) {
        emit_members(yaml, value);
    } else if (json_is_array(value)) {
        emit_items(yaml, value);
    } else if (json_is_string(value)) {
        const char *text = json_string_value(value);
        emit_text(yaml, text,
                  reads_as_other(text) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE);
    } else if (json_is_number(value)) {
        yaml_number(value, number);
        emit_text(yaml, number, YAML_PLAIN_SCALAR_STYLE);
    } else {
        emit_text(yaml,
                  json_is_true(value)    ? "true"
                  : json_is_false(value) ? "false"
                                         : "null",
                  YAML_PLAIN_SCALAR_STYLE);
    }
}

bool yaml_text_write(FILE *out, const json_t *value, struct failure *failure)
{
    struct yaml_writing yaml = {.failed = false};
    yaml_event_t event;
    if (yaml_emitter_initialize(&yaml.emitter) == 0)
        return fail_memory(failure);
    yaml_emitter_set_output_file(&yaml.emitter, out);
    yaml_emitter_set_unicode(&yaml.emitter, 1);
    yaml_emitter_set_width(&yaml.emitter, -1);
    emit(&yaml, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&yaml, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    emit_value(&yaml, value);
    emit(&yaml, &event, yaml_document_end_event_initialize(&event, 1));
    emit(&yaml, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&yaml.emitter);
    return !yaml.failed || fail_memory(failure);
}

/* --- reading --- */

const json_t *json_at(const json_t *value, const char *path)
{
    while (value != NULL && *path != '\0') {
        char key[64];
        size_t n = strcspn(path, ".");
        (void)snprintf(key, sizeof key, "%.*s", (int)n, path);
        if (json_is_array(value))
            value = json_array_get(value, (size_t)strtoul(key, NULL, 10));
        else
            value = json_object_get(value, key);
        path += n + (path[n] == '.');
    }
    return value;
}

const char *json_text_at(const json_t *value, const char *path, const char *fallback)
{
    const json_t *found = json_at(value, path);
    return json_is_string(found) ? json_string_value(found) : fallback;
}

double json_number_at(const json_t *value, const char *path, double fallback)
{
    const json_t *found = json_at(value, path);
    return json_is_number(found) ? json_number_value(found) : fallback;
}

bool json_true_at(const json_t *value, const char *path)
{
    return json_is_true(json_at(value, path));
}
