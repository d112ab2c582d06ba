#include "codec/kubernetes/spark_patch.h"

struct patch {
    struct writer *w;
    const struct spark_object *object;
    bool has[SPARK_SECTIONS]; /* by now */
    size_t n;
};

/* One segment of a JSON Pointer (RFC 6901). */
static const char *escape(struct arena *arena, const char *key)
{
    char *out = arena_array(arena, strlen(key) + 1, 2);
    char *at = out;
    for (; out != NULL && *key != '\0'; key++) {
        *at++ = *key;
        if (*key != '~' && *key != '/')
            continue;
        at[-1] = '~';
        *at++ = *key == '~' ? '0' : '1';
    }
    if (out != NULL)
        *at = '\0';
    return out;
}

/* member NULL: the section itself. */
static void
begin_operation(struct patch *patch, const char *op, enum spark_section section, const char *member)
{
    struct writer *w = patch->w;
    const char *path =
        arena_printf(w->arena, "%s/%s", patch->object->specification, spark_section_names[section]);
    const char *escaped = member == NULL ? NULL : escape(w->arena, member);
    if (escaped != NULL && path != NULL)
        path = arena_printf(w->arena, "%s/%s", path, escaped);
    w->failed = w->failed || path == NULL || (member != NULL && escaped == NULL);
    writer_begin_object(w);
    writer_member_string(w, "op", op);
    writer_member_string(w, "path", path);
    patch->n++;
}

static void patch_remove(struct patch *patch, enum spark_section section, const char *member)
{
    begin_operation(patch, "remove", section, member);
    writer_end_object(patch->w);
}

/* `add` replaces a member that is there. */
static void begin_add(struct patch *patch, enum spark_section section, const char *member)
{
    if (!patch->has[section]) {
        begin_operation(patch, "add", section, NULL);
        writer_member_object(patch->w, "value");
        writer_end_object(patch->w);
        writer_end_object(patch->w);
        patch->has[section] = true;
    }
    begin_operation(patch, "add", section, member);
    writer_key(patch->w, "value");
}

static enum spark_section section_of(size_t field)
{
    return strcmp(operator_fields[field].section, "executor") == 0 ? SPARK_SECTION_EXECUTOR
                                                                   : SPARK_SECTION_DYNAMIC;
}

static void set_field(struct patch *patch, size_t field, const char *value)
{
    if (strview_is(patch->object->fields[field], value))
        return;
    begin_add(patch, section_of(field), operator_fields[field].field);
    if (operator_field_is_scalar(&operator_fields[field], value))
        writer_raw(patch->w, strview_of(value));
    else
        writer_string(patch->w, value);
    writer_end_object(patch->w);
}

static void set_conf(struct patch *patch, const char *key, const char *value)
{
    if (strview_is(spark_object_conf(patch->object, key), value))
        return;
    begin_add(patch, SPARK_SECTION_CONF, key);
    writer_string(patch->w, value);
    writer_end_object(patch->w);
}

static void remove_conf(struct patch *patch, const char *key)
{
    if (spark_object_conf(patch->object, key).at != NULL)
        patch_remove(patch, SPARK_SECTION_CONF, key);
}

static void set_property(struct patch *patch, const char *key, const char *value)
{
    size_t field = operator_field_find(strview_of(key));
    if (field == OPERATOR_FIELDS) {
        set_conf(patch, key, value);
        return;
    }
    set_field(patch, field, value);
    remove_conf(patch, key);
}

static void remove_property(struct patch *patch, const char *key)
{
    size_t field = operator_field_find(strview_of(key));
    if (field < OPERATOR_FIELDS && patch->object->fields[field].at != NULL)
        patch_remove(patch, section_of(field), operator_fields[field].field);
    remove_conf(patch, key);
}

static bool is_kept(const struct strview keep[], size_t n_keep, const char *key)
{
    for (size_t i = 0; i < n_keep; i++)
        if (strview_is(keep[i], key))
            return true;
    return false;
}

size_t spark_patch_encode(struct writer *w,
                          const struct spark_object *object,
                          const struct spark_configuration *advised,
                          const struct strview keep[],
                          size_t n_keep,
                          const char *advice_id)
{
    struct patch patch = {.w = w, .object = object};
    memcpy(patch.has, object->has, sizeof patch.has);
    writer_begin_array(w);
    for (size_t i = 0; i < advised->n; i++)
        if (!is_kept(keep, n_keep, advised->properties[i].key))
            set_property(&patch, advised->properties[i].key, advised->properties[i].value);
    for (size_t i = 0; i < advised->n_changes; i++)
        if (advised->changes[i].new_value == NULL &&
            !is_kept(keep, n_keep, advised->changes[i].key))
            remove_property(&patch, advised->changes[i].key);
    if (advice_id != NULL)
        set_conf(&patch, "spark.provisor.adviceId", advice_id);
    writer_end_array(w);
    return patch.n;
}

const char *spark_patch_base64(struct arena *arena, struct strview bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = arena_array(arena, bytes.n / 3 + 2, 4);
    char *at = out;
    for (size_t i = 0; out != NULL && i < bytes.n; i += 3) {
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        unsigned three = 0;
        for (size_t k = 0; k < 3; k++)
            three = three << 8 | (k < n ? (unsigned char)bytes.at[i + k] : 0u);
        for (size_t k = 0; k < 4; k++)
            *at++ = '=';
        for (size_t k = 0; k <= n; k++)
            at[(ptrdiff_t)k - 4] = digits[three >> (18 - 6 * k) & 63];
    }
    if (out != NULL)
        *at = '\0';
    return out;
}
