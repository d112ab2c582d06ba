#ifndef CORE_JOBLOG_COMMON_JSON_H
#define CORE_JOBLOG_COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strview.h"

/*
 * A pull scanner for one line of an event log. It goes once over the bytes, reads the members that
 * a table of fields asks for and skips everything else without looking into it, 64 bytes at a time.
 * Nothing is allocated or copied; texts stay in the line as they were written.
 *
 * It is tolerant on purpose: unknown members pass, members come in any order, a member of another
 * type than the table says counts as absent, of repeated members the last one read wins. What
 * breaks the structure (a missing quote, colon, comma or bracket, a line cut short) marks the line
 * damaged. The inside of skipped values, and what follows in an object once every member that the
 * table asks for was there, is only followed for quotes and brackets.
 */
struct json {
    const char *at;
    const char *end;
    bool damaged; /* sticky */
};

/* A string between its quotes, escapes not resolved. at == NULL: absent. */
struct json_text {
    const char *at;
    size_t n;
    bool escaped; /* holds at least one backslash */
};

enum json_kind {
    JSON_INT,   /* int64_t; beyond its range the nearest end, fractions cut off */
    JSON_TEXT,  /* struct json_text */
    JSON_BOOL,  /* bool */
    JSON_RAW,   /* struct strview: an array or object as it is written, for a scanner of its own */
    JSON_NESTED /* the fields of an object inside, into the same struct */
};

struct json_shape;

struct json_field {
    struct strview name;
    enum json_kind kind;
    size_t offset;
    const struct json_shape *nested;
};

struct json_shape {
    const struct json_field *fields;
    size_t n; /* 1 to 64 */
};

/* Rows of a table of fields. */
#define JSON_FIELD(name, kind, type, member)                                                       \
    {                                                                                              \
        {name, sizeof(name) - 1}, kind, offsetof(type, member), NULL                               \
    }
#define JSON_INSIDE(name, shape)                                                                   \
    {                                                                                              \
        {name, sizeof(name) - 1}, JSON_NESTED, 0, &(shape)                                         \
    }
#define JSON_SHAPE(rows)                                                                           \
    {                                                                                              \
        rows, sizeof(rows) / sizeof *(rows)                                                        \
    }

struct json json_over(struct strview text);

/* Read one object into *out, whose members hold their defaults beforehand. A value that is no
 * object is skipped. False when the line is damaged; *out is then half filled. */
bool json_read_object(struct json *json, const struct json_shape *shape, void *out);

/* Nothing but blanks is left. */
bool json_at_end(struct json *json);

/*
 * Walk over an object: true once per member, the scanner standing at its value, which the caller
 * must read or skip. Begin with *started == false. False at the end or when damaged.
 */
bool json_next_member(struct json *json, bool *started, struct json_text *key);

/* The same for the elements of an array. */
bool json_next_element(struct json *json, bool *started);

bool json_skip(struct json *json);
/* False, and the value skipped, when it is not of the kind asked for. */
bool json_read_int(struct json *json, int64_t *value);
bool json_read_text(struct json *json, struct json_text *text);
bool json_read_raw(struct json *json, struct strview *raw);

/* What a word that begins as a number does means: beyond the range the nearest end, fractions cut
 * off. word.n > 0. */
int64_t json_number(struct strview word);

/* Equal after escapes are resolved? */
bool json_text_is(struct json_text text, struct strview plain);

/* The whole text with its NUL into out, or "" and false when it does not fit. */
bool json_text_keep(struct json_text text, char *out, size_t capacity);

/*
 * Resolve escapes into out: valid UTF-8 whatever the log holds; bad bytes, lone surrogates and
 * control characters become U+FFFD. Returns the length. *cut says that the text did not fit
 * whole; it then ends at the last whole character.
 */
size_t json_text_decode(struct json_text text, char *out, size_t capacity, bool *cut);

#endif
