#include "core/joblog/common/json.h"

#include <string.h>

#include "base/json/block.h"
#include "base/json/find.h"

struct json json_over(struct strview text)
{
    return (struct json){text.at, text.n == 0 ? text.at : text.at + text.n, false};
}

static bool damage(struct json *json)
{
    json->damaged = true;
    json->at = json->end;
    return false;
}

/* The next byte that is not blank; '\0' at the end. */
static inline char peek(struct json *json)
{
    while (json->at < json->end && json_is_blank(*json->at))
        json->at++;
    return json->at < json->end ? *json->at : '\0';
}

bool json_at_end(struct json *json)
{
    return peek(json) == '\0' && !json->damaged && json->at == json->end;
}

/* Standing at a quote. */
static inline bool take_string(struct json *json, struct json_text *text)
{
    const char *from = json->at + 1;
    const char *at = json_find_text_end(from, json->end);
    text->escaped = false;
    while (at < json->end && *at == '\\') {
        text->escaped = true;
        if (json->end - at < 2)
            return damage(json);
        at = json_find_text_end(at + 2, json->end);
    }
    if (at == json->end)
        return damage(json);
    text->at = from;
    text->n = (size_t)(at - from);
    json->at = at + 1;
    return true;
}

/* Standing at { or [, or within one (level 1) behind a value: go behind its end. */
static bool skip_container(struct json *json, unsigned level)
{
    const char *behind = json_block_skip(json->at, json->end, level);
    if (behind == NULL)
        return damage(json);
    json->at = behind;
    return true;
}

static inline struct strview take_scalar(struct json *json)
{
    const char *from = json->at;
    json->at = json_find_scalar_end(from, json->end);
    return (struct strview){from, (size_t)(json->at - from)};
}

#define IS(word, text) ((word).n == sizeof(text) - 1 && memcmp((word).at, text, (word).n) == 0)

/* A word that JSON knows, or something that begins as a number does. NaN and Infinity pass: Spark's
 * writer emits them. */
static inline bool is_scalar(struct strview word)
{
    if (word.n == 0)
        return false;
    if (json_is_digit(word.at[0]) || (word.at[0] == '-' && word.n > 1))
        return true;
    return IS(word, "null") || IS(word, "true") || IS(word, "false") || IS(word, "NaN") ||
           IS(word, "Infinity");
}

static inline bool skip_value(struct json *json)
{
    char c = peek(json);
    struct json_text text;
    if (c == '"')
        return take_string(json, &text);
    if (c == '{' || c == '[')
        return skip_container(json, 0);
    return is_scalar(take_scalar(json)) || damage(json);
}

bool json_skip(struct json *json)
{
    return skip_value(json);
}

/* What cannot overflow and is nothing but digits; *value is untouched otherwise. */
static inline bool is_plain_number(struct strview word, int64_t *value)
{
    if (word.n > 18)
        return false;
    int64_t sum = 0;
    for (size_t i = 0; i < word.n; i++) {
        if (!json_is_digit(word.at[i]))
            return false;
        sum = sum * 10 + (word.at[i] - '0');
    }
    *value = sum;
    return true;
}

static inline bool read_int(struct json *json, int64_t *value)
{
    char c = peek(json);
    if (!json_is_digit(c) && c != '-') {
        (void)skip_value(json);
        return false;
    }
    struct strview word = take_scalar(json);
    if (is_plain_number(word, value))
        return true;
    if (!json_is_digit(word.at[word.n > 1 && c == '-']))
        return is_scalar(word) ? false : damage(json);
    *value = json_number(word);
    return true;
}

bool json_read_int(struct json *json, int64_t *value)
{
    return read_int(json, value);
}

bool json_read_text(struct json *json, struct json_text *text)
{
    if (peek(json) == '"')
        return take_string(json, text);
    (void)json_skip(json);
    return false;
}

static bool json_read_bool(struct json *json, bool *value)
{
    char c = peek(json);
    if (c != 't' && c != 'f') {
        (void)json_skip(json);
        return false;
    }
    struct strview word = take_scalar(json);
    if (!is_scalar(word))
        return damage(json);
    *value = c == 't';
    return true;
}

bool json_read_raw(struct json *json, struct strview *raw)
{
    char c = peek(json);
    const char *from = json->at;
    if (!json_skip(json) || (c != '{' && c != '['))
        return false;
    *raw = (struct strview){from, (size_t)(json->at - from)};
    return true;
}

/* Standing before a quote: a member's name and its colon. */
static inline bool take_key(struct json *json, struct json_text *key)
{
    if (!take_string(json, key))
        return false;
    if (peek(json) != ':')
        return damage(json);
    json->at++;
    return true;
}

static inline bool next_member(struct json *json, bool *started, struct json_text *key)
{
    char c = peek(json);
    if (*started && c == '}') {
        json->at++;
        return false;
    }
    if (c != (*started ? ',' : '{'))
        return damage(json);
    json->at++;
    c = peek(json);
    if (!*started && c == '}') {
        json->at++;
        return false;
    }
    *started = true;
    return c == '"' ? take_key(json, key) : damage(json);
}

bool json_next_member(struct json *json, bool *started, struct json_text *key)
{
    return next_member(json, started, key);
}

bool json_next_element(struct json *json, bool *started)
{
    char c = peek(json);
    if (*started && c == ']') {
        json->at++;
        return false;
    }
    if (c != (*started ? ',' : '['))
        return damage(json);
    json->at++;
    if (!*started && peek(json) == ']') {
        json->at++;
        return false;
    }
    *started = true;
    return true;
}

/* Spark writes members in a fixed order, so the search goes on where it last found one. */
static inline const struct json_field *
find_field(const struct json_shape *shape, struct json_text key, size_t *next)
{
    size_t at = *next;
    for (size_t i = 0; i < shape->n; i++) {
        const struct json_field *field = &shape->fields[at];
        at = at + 1 < shape->n ? at + 1 : 0;
        /* Most names differ in their length already, and hardly any is written with escapes. */
        if (key.escaped ? !json_text_is(key, field->name)
                        : key.n != field->name.n || memcmp(key.at, field->name.at, key.n) != 0)
            continue;
        *next = at;
        return field;
    }
    return NULL;
}

static void read_field(struct json *json, const struct json_field *field, void *out)
{
    void *to = (char *)out + field->offset;
    switch (field->kind) {
    case JSON_INT:
        (void)read_int(json, to);
        break;
    case JSON_TEXT:
        (void)json_read_text(json, to);
        break;
    case JSON_BOOL:
        (void)json_read_bool(json, to);
        break;
    case JSON_RAW:
        (void)json_read_raw(json, to);
        break;
    case JSON_NESTED:
        (void)json_read_object(json, field->nested, out);
        break;
    }
}

bool json_read_object(struct json *json, const struct json_shape *shape, void *out)
{
    if (peek(json) != '{')
        return skip_value(json);
    bool started = false;
    size_t next = 0;
    uint64_t missing = (UINT64_C(2) << (shape->n - 1)) - 1;
    struct json_text key;
    while (next_member(json, &started, &key)) {
        const struct json_field *field = find_field(shape, key, &next);
        if (field == NULL) {
            (void)skip_value(json);
            continue;
        }
        read_field(json, field, out);
        missing &= ~(UINT64_C(1) << (field - shape->fields));
        /* Nothing more is wanted of this object. */
        if (missing == 0)
            return !json->damaged && skip_container(json, 1);
    }
    return !json->damaged;
}
