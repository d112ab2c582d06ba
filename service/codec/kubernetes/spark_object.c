#include "codec/kubernetes/spark_object.h"

#include "core/spark/property_value.h"

const char *const spark_section_names[SPARK_SECTIONS] = {"executor", "dynamicAllocation",
                                                         "sparkConf"};

enum spark_section spark_section_of(size_t field)
{
    return strcmp(operator_fields[field].section, "executor") == 0 ? SPARK_SECTION_EXECUTOR
                                                                   : SPARK_SECTION_DYNAMIC;
}

static bool is_scalar(const json_t *value)
{
    return json_is_string(value) || json_is_integer(value) || json_is_boolean(value);
}

/* at == NULL: it is none, or there is no memory. */
static struct strview text_of_scalar(const json_t *value, struct arena *arena)
{
    const char *text = NULL;
    if (json_is_string(value))
        text = arena_strndup(arena, json_string_value(value), json_string_length(value));
    else if (json_is_integer(value))
        text = arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_boolean(value))
        text = json_is_true(value) ? "true" : "false";
    return strview_of(text);
}

static bool
read_sections(const json_t *specification, const json_t *sections[], struct spark_object *object)
{
    for (size_t i = 0; i < SPARK_SECTIONS; i++) {
        sections[i] = json_object_get(specification, spark_section_names[i]);
        object->has[i] = json_is_object(sections[i]);
        if (!object->has[i] && sections[i] != NULL && !json_is_null(sections[i]))
            return false;
    }
    return true;
}

static bool
read_conf(const json_t *conf, struct arena *arena, struct spark_object *object, bool *memory)
{
    const char *key;
    json_t *value;
    object->conf = arena_array(arena, json_object_size(conf), sizeof *object->conf);
    *memory = *memory || object->conf == NULL;
    if (*memory)
        return false;
    json_object_foreach((json_t *)(uintptr_t)conf, key, value)
    {
        if (!json_is_string(value))
            return false;
        struct run_label *entry = &object->conf[object->n_conf++];
        *entry = (struct run_label){.key = arena_copy(arena, strview_of(key)),
                                    .value = text_of_scalar(value, arena)};
        *memory = *memory || entry->key.at == NULL || entry->value.at == NULL;
        if (*memory)
            return false;
    }
    return true;
}

bool spark_object_read(const json_t *specification,
                       const char *pointer,
                       struct arena *arena,
                       struct spark_object *object,
                       bool *memory)
{
    const json_t *sections[SPARK_SECTIONS];
    *object = (struct spark_object){.specification = pointer};
    *memory = false;
    if (!json_is_object(specification) || !read_sections(specification, sections, object))
        return false;
    for (size_t i = 0; i < OPERATOR_FIELDS; i++) {
        const json_t *value =
            json_object_get(sections[spark_section_of(i)], operator_fields[i].field);
        object->fields[i] = text_of_scalar(value, arena);
        *memory = *memory || (object->fields[i].at == NULL && is_scalar(value));
    }
    return !*memory && read_conf(sections[SPARK_SECTION_CONF], arena, object, memory);
}

struct strview spark_object_conf(const struct spark_object *object, const char *key)
{
    return property_find(object->conf, object->n_conf, key);
}

struct strview spark_object_property(const struct spark_object *object, const char *key)
{
    size_t i = operator_field_find(strview_of(key));
    return i < OPERATOR_FIELDS && object->fields[i].at != NULL ? object->fields[i]
                                                               : spark_object_conf(object, key);
}

bool spark_object_is_dynamic(const struct spark_object *object)
{
    return property_boolean(spark_object_property(object, "spark.dynamicAllocation.enabled"),
                            false);
}

static int64_t count_or(struct strview text, int64_t otherwise)
{
    int64_t count = text.at == NULL ? otherwise : property_count(text);
    return count >= 1 ? count : RUN_UNKNOWN;
}

int64_t spark_object_executors(const struct spark_object *object)
{
    bool dynamic = spark_object_is_dynamic(object);
    struct strview text = spark_object_property(
        object, dynamic ? "spark.dynamicAllocation.maxExecutors" : "spark.executor.instances");
    return count_or(text, dynamic ? RUN_UNKNOWN : 1);
}

int64_t spark_object_cores(const struct spark_object *object)
{
    return count_or(spark_object_property(object, "spark.executor.cores"), 1);
}
