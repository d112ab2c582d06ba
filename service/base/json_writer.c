#include "base/json_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/instant.h"

enum { FIRST_CAPACITY = 1024 };

void writer_init(struct writer *w, struct arena *arena)
{
    *w = (struct writer){.arena = arena};
}

static bool grow(struct writer *w, size_t n)
{
    size_t capacity = w->capacity == 0 ? FIRST_CAPACITY : w->capacity * 2;
    while (capacity - w->n <= n) {
        if (__builtin_mul_overflow(capacity, (size_t)2, &capacity)) {
            w->failed = true;
            return false;
        }
    }
    char *text = arena_alloc(w->arena, capacity);
    if (text == NULL) {
        w->failed = true;
        return false;
    }
    if (w->n > 0)
        memcpy(text, w->text, w->n);
    w->text = text;
    w->capacity = capacity;
    return true;
}

static inline bool json_writer_reserve(struct writer *w, size_t n)
{
    return !w->failed && (w->capacity - w->n > n || grow(w, n));
}

static void json_writer_put(struct writer *w, const char *bytes, size_t n)
{
    if (!json_writer_reserve(w, n))
        return;
    memcpy(w->text + w->n, bytes, n);
    w->n += n;
}

static inline void put_byte(struct writer *w, char c)
{
    if (json_writer_reserve(w, 1))
        w->text[w->n++] = c;
}

static void before_value(struct writer *w)
{
    if (w->after_key)
        w->after_key = false;
    else if (w->comma[w->depth])
        put_byte(w, ',');
    w->comma[w->depth] = true;
}

static void json_writer_begin(struct writer *w, char bracket)
{
    before_value(w);
    put_byte(w, bracket);
    if (w->depth + 1 == WRITER_DEPTH_MAX) {
        w->failed = true;
        return;
    }
    w->comma[++w->depth] = false;
}

static void json_writer_end(struct writer *w, char bracket)
{
    put_byte(w, bracket);
    if (w->depth > 0)
        w->depth--;
}

void writer_begin_object(struct writer *w)
{
    json_writer_begin(w, '{');
}

void writer_end_object(struct writer *w)
{
    json_writer_end(w, '}');
}

void writer_end_line(struct writer *w)
{
    put_byte(w, '\n');
    w->comma[w->depth] = false;
}

void writer_begin_array(struct writer *w)
{
    json_writer_begin(w, '[');
}

void writer_end_array(struct writer *w)
{
    json_writer_end(w, ']');
}

/* --- texts --- */

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
}

/* The byte in each of eight. */
static inline uint64_t eight(unsigned char c)
{
    return UINT64_C(0x0101010101010101) * c;
}

/* Has one of eight bytes no bit? The highest bit of a byte is then in the answer. */
static inline uint64_t with_zero(uint64_t bytes)
{
    return (bytes - eight(1)) & ~bytes;
}

static inline bool are_plain(uint64_t bytes)
{
    uint64_t control = (bytes - eight(0x20)) & ~bytes;
    uint64_t quoted = with_zero(bytes ^ eight('"')) | with_zero(bytes ^ eight('\\'));
    return ((control | quoted | with_zero(bytes ^ eight(0x7f))) & eight(0x80)) == 0;
}

/* How many bytes of the text are plain from its beginning; they are copied. There is room for all n.
 */
static inline size_t copy_plain(char *to, const char *from, size_t n)
{
    size_t i = 0;
    for (uint64_t bytes; n - i >= sizeof bytes; i += sizeof bytes) {
        memcpy(&bytes, from + i, sizeof bytes);
        if (!are_plain(bytes))
            break;
        memcpy(to + i, &bytes, sizeof bytes);
    }
    for (; i < n && is_plain((unsigned char)from[i]); i++)
        to[i] = from[i];
    return i;
}

static void put_escape(struct writer *w, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        const char escape[2] = {'\\', (char)c};
        json_writer_put(w, escape, 2);
    } else if (c == '\n') {
        json_writer_put(w, "\\n", 2);
    } else if (c == '\t') {
        json_writer_put(w, "\\t", 2);
    } else {
        const char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        json_writer_put(w, escape, 6);
    }
}

static void put_quoted(struct writer *w, struct strview text)
{
    if (!json_writer_reserve(w, text.n + 2))
        return;
    w->text[w->n++] = '"';
    for (size_t done = 0;;) {
        size_t plain = copy_plain(w->text + w->n, text.at + done, text.n - done);
        done += plain;
        w->n += plain;
        if (done == text.n)
            break;
        put_escape(w, (unsigned char)text.at[done++]);
        if (!json_writer_reserve(w, text.n - done + 1))
            return;
    }
    w->text[w->n++] = '"';
}

void writer_key_view(struct writer *w, struct strview key)
{
    before_value(w);
    put_quoted(w, key);
    put_byte(w, ':');
    w->after_key = true;
}

/* Most keys are plain: they are copied once, with all that goes around them. */
void writer_key(struct writer *w, const char *key)
{
    size_t n = strlen(key);
    if (!json_writer_reserve(w, n + 4))
        return;
    char *at = w->text + w->n;
    if (!w->after_key && w->comma[w->depth])
        *at++ = ',';
    *at++ = '"';
    if (copy_plain(at, key, n) < n) {
        writer_key_view(w, (struct strview){key, n});
        return;
    }
    at += n;
    *at++ = '"';
    *at++ = ':';
    w->n = (size_t)(at - w->text);
    w->comma[w->depth] = true;
    w->after_key = true;
}

/* 10^0 to 10^22 are doubles, so that one rounding is all that scaling by them takes. */
static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
enum { POWERS = sizeof powers_of_ten / sizeof *powers_of_ten };

double writer_rounded(double value, unsigned digits)
{
    if (!isfinite(value) || value == trunc(value))
        return value;
    int places = (int)digits - 1 - (int)floor(log10(fabs(value)));
    if (places < 0)
        return nearbyint(value);
    if (places >= POWERS) { /* so small that none matters: rare */
        char text[32];
        (void)snprintf(text, sizeof text, "%.*e", (int)digits - 1, value);
        return strtod(text, NULL);
    }
    return nearbyint(value * powers_of_ten[places]) / powers_of_ten[places];
}

double writer_rounded_up(double value, unsigned digits)
{
    double rounded = writer_rounded(value, digits);
    if (!(rounded < value))
        return rounded;
    /* One unit of the last digit is at most this share of the value, and at least a tenth of it. */
    double unit = fabs(value) * 10.0 / powers_of_ten[digits];
    return writer_rounded(value + unit, digits);
}

void writer_number(struct writer *w, double value)
{
    if (!isfinite(value)) {
        writer_null(w);
        return;
    }
    before_value(w);
    if (w->digits > 0)
        value = writer_rounded(value, w->digits);
    if (json_writer_reserve(w, 32))
        w->n += writer_format_number(value, w->text + w->n);
}

void writer_integer(struct writer *w, int64_t value)
{
    before_value(w);
    if (json_writer_reserve(w, 24))
        w->n += writer_format_integer(value, w->text + w->n);
}

void writer_boolean(struct writer *w, bool value)
{
    before_value(w);
    json_writer_put(w, value ? "true" : "false", value ? 4 : 5);
}

void writer_null(struct writer *w)
{
    before_value(w);
    json_writer_put(w, "null", 4);
}

void writer_text(struct writer *w, struct strview text)
{
    if (text.at == NULL) {
        writer_null(w);
        return;
    }
    before_value(w);
    put_quoted(w, text);
}

void writer_string(struct writer *w, const char *text)
{
    writer_text(w, strview_of(text));
}

void writer_raw(struct writer *w, struct strview json)
{
    before_value(w);
    json_writer_put(w, json.at, json.n);
}

void writer_instant(struct writer *w, int64_t us)
{
    if (us == INSTANT_UNKNOWN) {
        writer_null(w);
        return;
    }
    char text[INSTANT_TEXT];
    instant_format(us, text);
    writer_string(w, text);
}

void writer_member_number(struct writer *w, const char *key, double value)
{
    writer_key(w, key);
    writer_number(w, value);
}

void writer_member_integer(struct writer *w, const char *key, int64_t value)
{
    writer_key(w, key);
    writer_integer(w, value);
}

void writer_member_count(struct writer *w, const char *key, int64_t value)
{
    writer_key(w, key);
    if (value < 0)
        writer_null(w);
    else
        writer_integer(w, value);
}

void writer_member_boolean(struct writer *w, const char *key, bool value)
{
    writer_key(w, key);
    writer_boolean(w, value);
}

void writer_member_text(struct writer *w, const char *key, struct strview text)
{
    writer_key(w, key);
    writer_text(w, text);
}

void writer_member_string(struct writer *w, const char *key, const char *text)
{
    writer_key(w, key);
    writer_string(w, text);
}

void writer_member_instant(struct writer *w, const char *key, int64_t us)
{
    writer_key(w, key);
    writer_instant(w, us);
}

void writer_member_null(struct writer *w, const char *key)
{
    writer_key(w, key);
    writer_null(w);
}

void writer_member_numbers(struct writer *w, const char *key, const double values[], size_t n)
{
    writer_member_array(w, key);
    for (size_t i = 0; i < n; i++)
        writer_number(w, values[i]);
    writer_end_array(w);
}

void writer_member_pair(struct writer *w, const char *key, const double pair[2])
{
    if (isnan(pair[0]) && isnan(pair[1]))
        writer_member_null(w, key);
    else
        writer_member_numbers(w, key, pair, 2);
}

void writer_member_object(struct writer *w, const char *key)
{
    writer_key(w, key);
    writer_begin_object(w);
}

void writer_member_array(struct writer *w, const char *key)
{
    writer_key(w, key);
    writer_begin_array(w);
}

const char *writer_finish(struct writer *w, size_t *n)
{
    json_writer_put(w, "", 1);
    if (w->failed)
        return NULL;
    *n = w->n - 1;
    return w->text;
}
