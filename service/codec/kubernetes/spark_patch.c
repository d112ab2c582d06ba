#include "codec/kubernetes/spark_patch.h"

#include <stdio.h>

#include "base/plural.h"
#include "codec/json/reader.h"
#include "core/spark/property_value.h"

/* --- what is to be done --- */

/* One member of a section that gets a value, or goes. */
struct step {
    enum spark_section section;
    const char *member;
    const char *value;     /* NULL: it goes */
    bool is_scalar;        /* the value is a number or a truth value */
    struct strview before; /* at == NULL: it is not there */
};

struct steps {
    const struct spark_object *object;
    struct step *items;
    size_t n;
};

static void
add_step(struct steps *steps, enum spark_section section, const char *member, const char *value)
{
    steps->items[steps->n++] = (struct step){.section = section, .member = member, .value = value};
}

/* value NULL: it goes. */
static void set_field(struct steps *steps, size_t field, const char *value)
{
    struct strview before = steps->object->fields[field];
    if (value == NULL ? before.at == NULL : strview_is(before, value))
        return;
    add_step(steps, spark_section_of(field), operator_fields[field].field, value);
    steps->items[steps->n - 1].before = before;
    steps->items[steps->n - 1].is_scalar =
        value != NULL && operator_field_is_scalar(&operator_fields[field], value);
}

static void set_conf(struct steps *steps, const char *key, const char *value)
{
    struct strview before = spark_object_conf(steps->object, key);
    if (value == NULL ? before.at == NULL : strview_is(before, value))
        return;
    add_step(steps, SPARK_SECTION_CONF, key, value);
    steps->items[steps->n - 1].before = before;
}

/* An entry of sparkConf beside the field goes. */
static void set_property(struct steps *steps, const char *key, const char *value)
{
    size_t field = spark_object_field(steps->object, key);
    if (field < OPERATOR_FIELDS)
        set_field(steps, field, value);
    set_conf(steps, key, field < OPERATOR_FIELDS ? NULL : value);
}

static bool is_kept(const struct strview keep[], size_t n_keep, const char *key)
{
    for (size_t i = 0; i < n_keep; i++)
        if (strview_is(keep[i], key))
            return true;
    return false;
}

static const char *value_of(const struct spark_configuration *advised, const char *key)
{
    for (size_t i = 0; i < advised->n; i++)
        if (strcmp(advised->properties[i].key, key) == 0)
            return advised->properties[i].value;
    return NULL;
}

/* No more executors are expected than the application starts with. */
static void lower_expected(struct steps *steps, const struct spark_configuration *advised)
{
    const char *started =
        value_of(advised, advised->dynamic_allocation ? "spark.dynamicAllocation.initialExecutors"
                                                      : "spark.executor.instances");
    for (size_t i = 0; started != NULL && i < SPARK_EXPECTED; i++) {
        struct strview before = steps->object->expected[i];
        if (property_count(before) <= property_count(strview_of(started)))
            continue;
        add_step(steps, SPARK_SECTION_INSTANCES, spark_expected_names[i], started);
        steps->items[steps->n - 1].before = before;
        steps->items[steps->n - 1].is_scalar = true;
    }
}

/* False: there is no memory. */
static bool plan_steps(const struct spark_object *object,
                       const struct spark_configuration *advised,
                       const struct strview keep[],
                       size_t n_keep,
                       const char *advice_id,
                       struct arena *arena,
                       struct steps *steps)
{
    *steps = (struct steps){.object = object};
    steps->items = arena_array(arena, 2 * (advised->n + advised->n_changes) + SPARK_EXPECTED + 1,
                               sizeof *steps->items);
    if (steps->items == NULL)
        return false;
    for (size_t i = 0; i < advised->n; i++)
        if (!is_kept(keep, n_keep, advised->properties[i].key))
            set_property(steps, advised->properties[i].key, advised->properties[i].value);
    for (size_t i = 0; i < advised->n_changes; i++)
        if (advised->changes[i].new_value == NULL &&
            !is_kept(keep, n_keep, advised->changes[i].key))
            set_property(steps, advised->changes[i].key, NULL);
    lower_expected(steps, advised);
    if (advice_id != NULL)
        set_conf(steps, "spark.provisor.adviceId", advice_id);
    return true;
}

/* --- as JSON Patch --- */

struct patch {
    struct writer *w;
    const struct spark_object *object;
    bool has[SPARK_SECTIONS]; /* by now */
    size_t n;
};

/* One segment of a JSON Pointer; NULL: there is no memory. */
static const char *escape(struct arena *arena, const char *key)
{
    const size_t room = 2 * strlen(key) + 2; /* each character may become two */
    char *out = arena_alloc(arena, room);
    if (out != NULL)
        out[codec_pointer_segment(key, 0, out, room)] = '\0';
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

static void write_step(struct patch *patch, const struct step *step)
{
    if (step->value == NULL) {
        begin_operation(patch, "remove", step->section, step->member);
        writer_end_object(patch->w);
        return;
    }
    begin_add(patch, step->section, step->member);
    if (step->is_scalar)
        writer_raw(patch->w, strview_of(step->value));
    else
        writer_string(patch->w, step->value);
    writer_end_object(patch->w);
}

size_t spark_patch_encode(struct writer *w,
                          const struct spark_object *object,
                          const struct spark_configuration *advised,
                          const struct strview keep[],
                          size_t n_keep,
                          const char *advice_id)
{
    struct patch patch = {.w = w, .object = object};
    struct steps steps;
    memcpy(patch.has, object->has, sizeof patch.has);
    if (!plan_steps(object, advised, keep, n_keep, advice_id, w->arena, &steps)) {
        w->failed = true;
        return 0;
    }
    writer_begin_array(w);
    for (size_t i = 0; i < steps.n; i++)
        write_step(&patch, &steps.items[i]);
    writer_end_array(w);
    return patch.n;
}

/* --- in words --- */

enum { VALUE_ROOM = 33, STEP_ROOM = 180 };

/* "set executor.instances from 4 to 6", "set spark.sql.shuffle.partitions to 48",
 * "remove executor.instances, which is 2" */
static void describe_step(const struct step *step, char text[STEP_ROOM])
{
    char before[VALUE_ROOM], value[VALUE_ROOM], member[STEP_ROOM / 2];
    bool conf = step->section == SPARK_SECTION_CONF;
    strview_shorten(step->before, before, sizeof before);
    strview_shorten(strview_of(step->value), value, sizeof value);
    strview_shorten(strview_of(step->member), member, sizeof member);
    const char *section = conf ? "" : spark_section_names[step->section];
    const char *dot = conf ? "" : ".";
    if (step->value == NULL)
        (void)snprintf(text, STEP_ROOM, "remove %s%s%s (%s)", section, dot, member, before);
    else if (step->before.at == NULL)
        (void)snprintf(text, STEP_ROOM, "set %s%s%s to %s", section, dot, member, value);
    else
        (void)snprintf(text, STEP_ROOM, "set %s%s%s from %s to %s", section, dot, member, before,
                       value);
}

size_t spark_patch_describe(const struct spark_object *object,
                            const struct spark_configuration *advised,
                            const struct strview keep[],
                            size_t n_keep,
                            size_t room,
                            struct arena *arena,
                            const char *texts[],
                            size_t most,
                            bool *memory)
{
    enum { MORE_ROOM = sizeof ", and make 1000 other changes" };
    struct steps steps;
    size_t n = 0;
    *memory = !plan_steps(object, advised, keep, n_keep, NULL, arena, &steps);
    for (size_t i = 0; !*memory && i < steps.n; i++) {
        char step[STEP_ROOM];
        describe_step(&steps.items[i], step);
        bool joins = n > 0 && strlen(texts[n - 1]) + strlen(step) + MORE_ROOM < room;
        if (!joins && n == most) {
            texts[n - 1] = arena_printf(arena, "%s, and make %zu other change%s", texts[n - 1],
                                        steps.n - i, PLURAL(steps.n - i));
            *memory = texts[n - 1] == NULL;
            return n;
        }
        n += !joins;
        texts[n - 1] = joins ? arena_printf(arena, "%s, %s", texts[n - 1], step)
                             : arena_printf(arena, "would %s", step);
        *memory = texts[n - 1] == NULL;
    }
    return n;
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
