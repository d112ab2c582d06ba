#include "codec/kubernetes/spark_object.h"

#include <inttypes.h>

#include "core/spark/property_value.h"

const char *const spark_section_names[SPARK_SECTIONS] = {
    "executor", "dynamicAllocation", "sparkConf", "applicationTolerations/instanceConfig"};

const char *const spark_expected_names[SPARK_EXPECTED] = {"initExecutors", "minExecutors",
                                                          "maxExecutors"};

enum spark_section spark_section_of(size_t field)
{
    return strcmp(operator_fields[field].section, "executor") == 0 ? SPARK_SECTION_EXECUTOR
                                                                   : SPARK_SECTION_DYNAMIC;
}

static bool is_scalar(const struct json_value *value)
{
    return json_value_is_text(value) || json_value_is_integer(value) ||
           json_value_is_boolean(value);
}

/* at == NULL: it is none, or there is no memory. */
static struct strview text_of_scalar(const struct json_value *value, struct arena *arena)
{
    const char *text = NULL;
    if (json_value_is_text(value))
        text = arena_copy(arena, json_value_view(value)).at;
    else if (json_value_is_integer(value))
        text = arena_printf(arena, "%" PRId64, value->integer);
    else if (json_value_is_boolean(value))
        text = json_value_is_true(value) ? "true" : "false";
    return strview_of(text);
}

/* The section of another operator is missing. */
static const struct json_value *section_of(const struct json_value *specification,
                                           enum spark_operator of,
                                           enum spark_section section)
{
    const char *name = spark_section_names[section];
    if (section == SPARK_SECTION_CONF)
        return json_value_member(specification, name);
    if ((section == SPARK_SECTION_INSTANCES) != (of == SPARK_OPERATOR_APACHE))
        return NULL;
    if (section == SPARK_SECTION_INSTANCES)
        return json_value_member(json_value_member(specification, "applicationTolerations"),
                                 "instanceConfig");
    return json_value_member(specification, name);
}

static bool read_sections(const struct json_value *specification,
                          const struct json_value *sections[],
                          struct spark_object *object)
{
    for (size_t i = 0; i < SPARK_SECTIONS; i++) {
        sections[i] = section_of(specification, object->of, (enum spark_section)i);
        object->has[i] = json_value_is_object(sections[i]);
        if (!object->has[i] && sections[i] != NULL && !json_value_is_null(sections[i]))
            return false;
    }
    return true;
}

static bool read_conf(const struct json_value *conf,
                      struct arena *arena,
                      struct spark_object *object,
                      bool *memory)
{
    object->conf = arena_array(arena, json_value_members(conf), sizeof *object->conf);
    *memory = *memory || object->conf == NULL;
    if (*memory)
        return false;
    for (size_t i = 0; i < json_value_members(conf); i++) {
        const struct json_value *value = json_value_member_at(conf, i);
        if (!json_value_is_text(value))
            return false;
        struct run_label *entry = &object->conf[object->n_conf++];
        *entry = (struct run_label){.key = arena_copy(arena, json_value_key_view(conf, i)),
                                    .value = text_of_scalar(value, arena)};
        *memory = *memory || entry->key.at == NULL || entry->value.at == NULL;
        if (*memory)
            return false;
    }
    return true;
}

bool spark_object_read(const struct json_value *specification,
                       const char *pointer,
                       enum spark_operator of,
                       struct arena *arena,
                       struct spark_object *object,
                       bool *memory)
{
    const struct json_value *sections[SPARK_SECTIONS];
    *object = (struct spark_object){.specification = pointer, .of = of};
    *memory = false;
    if (!json_value_is_object(specification) || !read_sections(specification, sections, object))
        return false;
    for (size_t i = 0; i < OPERATOR_FIELDS; i++) {
        const struct json_value *value =
            json_value_member(sections[spark_section_of(i)], operator_fields[i].field);
        object->fields[i] = text_of_scalar(value, arena);
        *memory = *memory || (object->fields[i].at == NULL && is_scalar(value));
    }
    for (size_t i = 0; i < SPARK_EXPECTED; i++) {
        const struct json_value *value =
            json_value_member(sections[SPARK_SECTION_INSTANCES], spark_expected_names[i]);
        object->expected[i] = text_of_scalar(value, arena);
        *memory = *memory || (object->expected[i].at == NULL && is_scalar(value));
    }
    return !*memory && read_conf(sections[SPARK_SECTION_CONF], arena, object, memory);
}

struct strview spark_object_conf(const struct spark_object *object, const char *key)
{
    return property_find(object->conf, object->n_conf, key);
}

size_t spark_object_field(const struct spark_object *object, const char *key)
{
    return object->of == SPARK_OPERATOR_APACHE ? OPERATOR_FIELDS
                                               : operator_field_find(strview_of(key));
}

struct strview spark_object_property(const struct spark_object *object, const char *key)
{
    size_t i = spark_object_field(object, key);
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
    int64_t usual = object->of == SPARK_OPERATOR_APACHE ? 2 : 1;
    struct strview text = spark_object_property(
        object, dynamic ? "spark.dynamicAllocation.maxExecutors" : "spark.executor.instances");
    return count_or(text, dynamic ? RUN_UNKNOWN : usual);
}

int64_t spark_object_cores(const struct spark_object *object)
{
    return count_or(spark_object_property(object, "spark.executor.cores"), 1);
}
