#include "base/json/value.h"

const struct json_value *json_value_member(const struct json_value *object, const char *key)
{
    if (json_value_members(object) == 0)
        return NULL;
    size_t place = json_keys_find(object->items[-1].keys, strview_of(key));
    return place == SIZE_MAX ? NULL : object->items + place;
}

static bool equal_items(const struct json_value *a, const struct json_value *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (!json_value_equal(a->items + i, b->items + i))
            return false;
    return true;
}

static bool equal_members(const struct json_value *a, const struct json_value *b)
{
    for (size_t i = 0; i < a->n; i++) {
        size_t place = json_keys_find(b->items[-1].keys, json_value_key_view(a, i));
        if (place == SIZE_MAX || !json_value_equal(a->items + i, b->items + place))
            return false;
    }
    return true;
}

bool json_value_equal(const struct json_value *a, const struct json_value *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    if (a->kind != b->kind)
        return false;
    switch ((enum json_value_kind)a->kind) {
    case JSON_VALUE_NULL:
    case JSON_VALUE_FALSE:
    case JSON_VALUE_TRUE:
        return true;
    case JSON_VALUE_INTEGER:
        return a->integer == b->integer;
    case JSON_VALUE_REAL:
        return a->real == b->real;
    case JSON_VALUE_TEXT:
        return strview_equal(json_value_view(a), json_value_view(b));
    case JSON_VALUE_ARRAY:
        return a->n == b->n && equal_items(a, b);
    case JSON_VALUE_OBJECT:
        return a->n == b->n && equal_members(a, b);
    }
    return false;
}

static void write_items(struct writer *w, const struct json_value *array, bool by_name)
{
    writer_begin_array(w);
    for (size_t i = 0; i < array->n; i++)
        json_value_write(w, array->items + i, by_name);
    writer_end_array(w);
}

static void write_members(struct writer *w, const struct json_value *object, bool by_name)
{
    uint32_t few[JSON_KEYS_FEW];
    const uint32_t *order = NULL;
    if (by_name && object->n > 0)
        order = json_keys_order(object->items[-1].keys, few);
    writer_begin_object(w);
    for (size_t i = 0; i < object->n; i++) {
        size_t place = order == NULL ? i : order[i];
        writer_key_view(w, json_value_key_view(object, place));
        json_value_write(w, object->items + place, by_name);
    }
    writer_end_object(w);
}

void json_value_write(struct writer *w, const struct json_value *value, bool by_name)
{
    switch (value == NULL ? JSON_VALUE_NULL : (enum json_value_kind)value->kind) {
    case JSON_VALUE_NULL:
        writer_null(w);
        break;
    case JSON_VALUE_FALSE:
    case JSON_VALUE_TRUE:
        writer_boolean(w, value->kind == JSON_VALUE_TRUE);
        break;
    case JSON_VALUE_INTEGER:
        writer_integer(w, value->integer);
        break;
    case JSON_VALUE_REAL:
        writer_number(w, value->real);
        break;
    case JSON_VALUE_TEXT:
        writer_text(w, json_value_view(value));
        break;
    case JSON_VALUE_ARRAY:
        write_items(w, value, by_name);
        break;
    case JSON_VALUE_OBJECT:
        write_members(w, value, by_name);
        break;
    }
}
