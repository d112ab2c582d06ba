#include "core/sparklog/json.h"

#include <stdlib.h>
#include <string.h>

#include "core/sparklog/block.h"

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

static void skip_blanks(struct json *json)
{
    while (json->at < json->end &&
           (*json->at == ' ' || *json->at == '\t' || *json->at == '\r' || *json->at == '\n'))
        json->at++;
}

/* The next byte that is not blank; '\0' at the end. */
static char peek(struct json *json)
{
    skip_blanks(json);
    return json->at < json->end ? *json->at : '\0';
}

bool json_at_end(struct json *json)
{
    skip_blanks(json);
    return !json->damaged && json->at == json->end;
}

/* Standing at a quote. */
static bool take_string(struct json *json, struct json_text *text)
{
    const char *from = json->at + 1;
    const char *at = from;
    text->escaped = false;
    for (;;) {
        at = block_find_quote(at, json->end);
        if (at == json->end)
            return damage(json);
        if (*at == '"')
            break;
        text->escaped = true;
        if (json->end - at < 2)
            return damage(json);
        at += 2;
    }
    text->at = from;
    text->n = (size_t)(at - from);
    json->at = at + 1;
    return true;
}

struct depth {
    uint64_t in_string; /* all ones when the block before ended within a string */
    uint64_t escape;
    uint64_t level;
};

/* Follow brackets through one block; the index behind the bracket that closes the outermost level,
 * or -1. */
static int follow(struct depth *depth, const char *bytes)
{
    struct block block = block_classify(bytes);
    if ((block.backslash | depth->escape) != 0)
        block.quote &= ~block_escaped(block.backslash, &depth->escape);
    uint64_t inside = block_prefix_xor(block.quote) ^ depth->in_string;
    depth->in_string = (inside >> (BLOCK - 1)) != 0 ? ~UINT64_C(0) : 0;
    block.open &= ~inside;
    block.close &= ~inside;
    for (uint64_t bits = block.open | block.close; bits != 0; bits &= bits - 1) {
        int i = __builtin_ctzll(bits);
        if ((block.open >> i & 1) != 0)
            depth->level++;
        else if (--depth->level == 0)
            return i + 1;
    }
    return -1;
}

/* Standing at { or [: go behind the matching bracket. Kinds of brackets are not told apart. */
static bool skip_container(struct json *json)
{
    struct depth depth = {0, 0, 0};
    const char *at = json->at;
    for (; json->end - at >= BLOCK; at += BLOCK) {
        int stop = follow(&depth, at);
        if (stop >= 0) {
            json->at = at + stop;
            return true;
        }
    }
    char last[BLOCK] = {0};
    size_t rest = (size_t)(json->end - at);
    memcpy(last, at, rest);
    int stop = follow(&depth, last);
    if (stop < 0)
        return damage(json);
    json->at = at + stop;
    return true;
}

static bool ends_scalar(char c)
{
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct strview take_scalar(struct json *json)
{
    const char *from = json->at;
    while (json->at < json->end && !ends_scalar(*json->at))
        json->at++;
    return (struct strview){from, (size_t)(json->at - from)};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A word that JSON knows, or something that begins as a number does. NaN and Infinity pass: Spark's
 * writer emits them. */
static bool is_scalar(struct strview word)
{
    if (word.n == 0)
        return false;
    if (is_digit(word.at[0]) || (word.at[0] == '-' && word.n > 1))
        return true;
    return strview_is(word, "null") || strview_is(word, "true") || strview_is(word, "false") ||
           strview_is(word, "NaN") || strview_is(word, "Infinity");
}

bool json_skip(struct json *json)
{
    char c = peek(json);
    struct json_text text;
    if (c == '"')
        return take_string(json, &text);
    if (c == '{' || c == '[')
        return skip_container(json);
    return is_scalar(take_scalar(json)) || damage(json);
}

/* Fractions and exponents: rare, so a copy and strtod will do. */
static int64_t round_decimal(struct strview word)
{
    char copy[64];
    size_t n = word.n < sizeof copy - 1 ? word.n : sizeof copy - 1;
    memcpy(copy, word.at, n);
    copy[n] = '\0';
    double value = strtod(copy, NULL);
    if (value >= 0x1p63)
        return INT64_MAX;
    if (value >= -0x1p63)
        return (int64_t)value;
    return INT64_MIN; /* a NaN cannot come from digits */
}

static int64_t to_int(struct strview word)
{
    bool negative = word.at[0] == '-';
    size_t i = negative;
    int64_t value = 0;
    bool over = false;
    /* Grow away from zero so that INT64_MIN fits too. */
    for (; i < word.n && is_digit(word.at[i]); i++) {
        int digit = word.at[i] - '0';
        over = over || __builtin_mul_overflow(value, 10, &value) ||
               __builtin_add_overflow(value, negative ? -digit : digit, &value);
    }
    if (i < word.n)
        return round_decimal(word);
    if (over)
        return negative ? INT64_MIN : INT64_MAX;
    return value;
}

bool json_read_int(struct json *json, int64_t *value)
{
    char c = peek(json);
    if (!is_digit(c) && c != '-') {
        (void)json_skip(json);
        return false;
    }
    struct strview word = take_scalar(json);
    if (!is_digit(word.at[word.n > 1 && c == '-']))
        return is_scalar(word) ? false : damage(json);
    *value = to_int(word);
    return true;
}

bool json_read_text(struct json *json, struct json_text *text)
{
    if (peek(json) == '"')
        return take_string(json, text);
    (void)json_skip(json);
    return false;
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

bool json_next_member(struct json *json, bool *started, struct json_text *key)
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
    if (c != '"' || !take_string(json, key))
        return damage(json);
    if (peek(json) != ':')
        return damage(json);
    json->at++;
    return true;
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
static const struct json_field *
find_field(const struct json_shape *shape, struct json_text key, size_t *next)
{
    for (size_t i = 0; i < shape->n; i++) {
        size_t at = *next + i < shape->n ? *next + i : *next + i - shape->n;
        const struct json_field *field = &shape->fields[at];
        /* Most names differ in their length already, and hardly any is written with escapes. */
        if (!key.escaped && key.n != field->name.n)
            continue;
        if (json_text_is(key, field->name)) {
            *next = at + 1 < shape->n ? at + 1 : 0;
            return field;
        }
    }
    return NULL;
}

static void read_field(struct json *json, const struct json_field *field, void *out)
{
    void *to = (char *)out + field->offset;
    switch (field->kind) {
    case JSON_INT:
        (void)json_read_int(json, to);
        break;
    case JSON_TEXT:
        (void)json_read_text(json, to);
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
        return json_skip(json);
    bool started = false;
    size_t next = 0;
    struct json_text key;
    while (json_next_member(json, &started, &key)) {
        const struct json_field *field = find_field(shape, key, &next);
        if (field == NULL)
            (void)json_skip(json);
        else
            read_field(json, field, out);
    }
    return !json->damaged;
}
