#ifndef BASE_JSON_VALUE_H
#define BASE_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json/keys.h"
#include "base/json_writer.h"
#include "base/strview.h"

/*
 * A JSON value as base/json/parse.h leaves it in an arena: 16 bytes, items side by side, and behind
 * an object's keys, which objects that follow each other with the same ones share, its values in the
 * order of the document. Nothing changes it. Every function here takes NULL for a value that is not
 * there, and answers for it, and for a value of another kind, that there is none.
 */
enum json_value_kind {
    JSON_VALUE_NULL,
    JSON_VALUE_FALSE,
    JSON_VALUE_TRUE,
    JSON_VALUE_INTEGER, /* as written, without fraction and exponent; within int64_t */
    JSON_VALUE_REAL,    /* finite */
    JSON_VALUE_TEXT,    /* UTF-8 without NUL */
    JSON_VALUE_ARRAY,
    JSON_VALUE_OBJECT
};

struct json_value {
    uint8_t kind; /* enum json_value_kind */
    uint32_t n;   /* bytes, items or members */
    union {
        int64_t integer;
        double real;
        const char *text;               /* NUL-terminated */
        const struct json_value *items; /* of an object its values, json_keys before them */
        const struct json_keys *keys;
    };
};

static inline bool json_value_is(const struct json_value *value, enum json_value_kind kind)
{
    return value != NULL && value->kind == kind;
}

static inline bool json_value_is_object(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_OBJECT);
}

static inline bool json_value_is_array(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_ARRAY);
}

static inline bool json_value_is_text(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_TEXT);
}

static inline bool json_value_is_null(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_NULL);
}

static inline bool json_value_is_true(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_TRUE);
}

static inline bool json_value_is_boolean(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_TRUE) || json_value_is(value, JSON_VALUE_FALSE);
}

static inline bool json_value_is_integer(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_INTEGER);
}

static inline bool json_value_is_number(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_INTEGER) || json_value_is(value, JSON_VALUE_REAL);
}

/* Of an integer or a real; 0 of anything else. */
static inline double json_value_number(const struct json_value *value)
{
    return json_value_is(value, JSON_VALUE_REAL) ? value->real
           : json_value_is_integer(value)        ? (double)value->integer
                                                 : 0;
}

/* NULL: no text. */
static inline const char *json_value_text(const struct json_value *value)
{
    return json_value_is_text(value) ? value->text : NULL;
}

/* at == NULL: no text. */
static inline struct strview json_value_view(const struct json_value *value)
{
    return json_value_is_text(value) ? (struct strview){value->text, value->n}
                                     : (struct strview){NULL, 0};
}

/* Items of an array. */
static inline size_t json_value_items(const struct json_value *array)
{
    return json_value_is_array(array) ? array->n : 0;
}

/* NULL: there are not so many. */
static inline const struct json_value *json_value_item(const struct json_value *array, size_t i)
{
    return i < json_value_items(array) ? array->items + i : NULL;
}

/* Members of an object: in the order of the document. */
static inline size_t json_value_members(const struct json_value *object)
{
    return json_value_is_object(object) ? object->n : 0;
}

/* i < json_value_members(object) */
static inline const char *json_value_key(const struct json_value *object, size_t i)
{
    return object->items[-1].keys->keys[i].at;
}

static inline struct strview json_value_key_view(const struct json_value *object, size_t i)
{
    const struct json_key *key = &object->items[-1].keys->keys[i];
    return (struct strview){key->at, key->n};
}

static inline const struct json_value *json_value_member_at(const struct json_value *object,
                                                            size_t i)
{
    return object->items + i;
}

/* The member of that name; NULL: there is none. */
const struct json_value *json_value_member(const struct json_value *object, const char *key);

/* The same value: members in any order, an integer never a real. */
bool json_value_equal(const struct json_value *a, const struct json_value *b);

/* Write the value, members in the order of the document or by their names. Nested no deeper than
 * WRITER_DEPTH_MAX. NULL is null. */
void json_value_write(struct writer *w, const struct json_value *value, bool by_name);

#endif
