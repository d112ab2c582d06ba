#include "codec/advice/advice_spark.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/unseen_character.h"
#include "core/spark/property_type.h"
#include "core/spark/property_value.h"
#include "core/spark/startup_rules.h"

/* --- request --- */

static bool is_key(struct strview key)
{
    static const char start[] = "spark.";
    if (key.n <= strlen(start) || key.n > CODEC_SPARK_KEY_MAX ||
        memcmp(key.at, start, strlen(start)) != 0)
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
                   key.at[i]) == NULL)
            return false;
    return true;
}

/* Has it no control character and no line end? YAML takes U+0085 for the end of a line. */
static bool is_value(struct strview value)
{
    unsigned code;
    for (size_t i = 0; i < value.n; i++)
        if (unseen_character((struct strview){value.at + i, value.n - i}, &code) > 0 &&
            (code < 0xa0 || code == 0x2028 || code == 0x2029))
            return false;
    return true;
}

static const char NO_KEY[] =
    "must be the key of a Spark property: spark. and letters, digits, '.', "
    "'_' or '-', at most 128 in all";

/* {"spark.executor.memory": "8g"} */
static void decode_properties(const struct codec_node *constraints,
                              const char *member,
                              const struct run_label **properties,
                              size_t *n)
{
    struct run_label *labels = NULL;
    codec_labels(constraints, member, CODEC_NULLABLE, CODEC_SPARK_PROPERTIES_MAX, &labels, n);
    struct codec_node map = codec_member(constraints, member);
    for (size_t i = 0; i < *n; i++) {
        char key[1024]; /* 255 characters */
        if (labels[i].key.n >= sizeof key)
            continue;
        memcpy(key, labels[i].key.at, labels[i].key.n);
        key[labels[i].key.n] = '\0';
        if (!is_key(labels[i].key))
            codec_fault_member(&map, key, "not_allowed", "%s", NO_KEY);
        else if (!is_value(labels[i].value))
            codec_fault_member(&map, key, "not_allowed", "has control characters");
        labels[i].value =
            property_in_one_form(labels[i].key, labels[i].value, constraints->reader->arena);
        if (labels[i].value.at == NULL)
            (void)pv_no_memory(constraints->reader->err);
    }
    *properties = labels;
}

static void decode_keys(const struct codec_node *constraints,
                        const char *member,
                        const struct strview **keys,
                        size_t *n)
{
    struct codec_node list;
    struct strview *all = codec_list(constraints, member, CODEC_NULLABLE, 0,
                                     CODEC_SPARK_PROPERTIES_MAX, sizeof *all, &list, n);
    for (size_t i = 0; i < *n; i++) {
        struct codec_node item = codec_item(&list, i);
        all[i] = codec_as_name(&item);
        if (all[i].at != NULL && !is_key(all[i]))
            codec_fault(&item, "not_allowed", "%s", NO_KEY);
    }
    *keys = all;
}

/* An enforced number, a fault where it is none; RUN_UNKNOWN where it is not enforced. */
static int64_t enforced_count(const struct codec_node *constraints,
                              const struct spark_constraints *spark_constraints,
                              const char *key,
                              int64_t least)
{
    struct codec_node enforced = codec_member(constraints, "enforced");
    struct strview text =
        property_find(spark_constraints->enforced, spark_constraints->n_enforced, key);
    int64_t value = property_count(text);
    if (text.at != NULL && (value == RUN_UNKNOWN || value < least)) {
        codec_fault_member(&enforced, key, "out_of_range",
                           "must be a whole number from %d to 2147483647", (int)least);
        return RUN_UNKNOWN;
    }
    return value;
}

static void enforce_cores(const struct codec_node *constraints, struct advice_question *request)
{
    static const char key[] = "spark.executor.cores";
    struct codec_node enforced = codec_member(constraints, "enforced");
    int64_t cores = enforced_count(constraints, &request->spark_constraints, key, 1);
    if (cores == RUN_UNKNOWN)
        return;
    if (request->cores_per_executor >= 1 && request->cores_per_executor != cores)
        codec_fault_member(&enforced, key, "conflict",
                           "must be %" PRId64 ", as cores_per_executor says, or one of both must "
                           "be left out",
                           request->cores_per_executor);
    request->cores_per_executor = cores;
}

/* Under dynamic allocation the greatest number of executors bounds; else all of them are given. */
static void enforce_executors(const struct codec_node *constraints, struct advice_question *request)
{
    static const char instances[] = "spark.executor.instances";
    static const char greatest[] = "spark.dynamicAllocation.maxExecutors";
    struct codec_node enforced = codec_member(constraints, "enforced");
    struct advise_goal *goal = &request->goal;
    int64_t all = enforced_count(constraints, &request->spark_constraints, instances, 1);
    int64_t most = enforced_count(constraints, &request->spark_constraints, greatest, 1);
    int64_t bound = all != RUN_UNKNOWN ? all : most;
    const char *key = all != RUN_UNKNOWN ? instances : greatest;
    if (bound == RUN_UNKNOWN)
        return;
    if (goal->min_executors > bound || (all != RUN_UNKNOWN && goal->max_executors < bound)) {
        codec_fault_member(
            &enforced, key, "conflict",
            "must lie within min_executors and max_executors, or these must be left out");
        return;
    }
    if (all != RUN_UNKNOWN)
        goal->min_executors = bound;
    if (all != RUN_UNKNOWN || goal->max_executors > bound) {
        goal->max_executors = bound;
        goal->limited_by = key;
    }
    request->has_max_executors = true;
}

static void check_allocation(const struct codec_node *constraints,
                             const struct advice_question *request)
{
#define DYNAMIC "spark.dynamicAllocation."
    const struct spark_constraints *spark_constraints = &request->spark_constraints;
    struct codec_node enforced = codec_member(constraints, "enforced");
    int64_t least = enforced_count(constraints, spark_constraints, DYNAMIC "minExecutors", 0);
    int64_t initial = enforced_count(constraints, spark_constraints, DYNAMIC "initialExecutors", 0);
    int64_t most = property_count(property_find(
        spark_constraints->enforced, spark_constraints->n_enforced, DYNAMIC "maxExecutors"));
    struct strview enabled = property_find(spark_constraints->enforced,
                                           spark_constraints->n_enforced, DYNAMIC "enabled");
    bool is_dynamic = enabled.at != NULL
                          ? property_boolean(enabled, false)
                          : spark_constraints->allocation == SPARK_ALLOCATION_DYNAMIC;
    bool instances = property_find(spark_constraints->enforced, spark_constraints->n_enforced,
                                   "spark.executor.instances")
                         .at != NULL;
    if (enabled.at != NULL && property_boolean(enabled, false) != property_boolean(enabled, true))
        codec_fault_member(&enforced, DYNAMIC "enabled", "not_allowed", "must be true or false");
    if (most != RUN_UNKNOWN && least > most)
        codec_fault_member(&enforced, DYNAMIC "minExecutors", "conflict",
                           "is larger than maxExecutors");
    if ((most != RUN_UNKNOWN && initial > most) || (initial != RUN_UNKNOWN && initial < least))
        codec_fault_member(&enforced, DYNAMIC "initialExecutors", "conflict",
                           "is not between minExecutors and maxExecutors");
    if (instances && is_dynamic)
        codec_fault_member(
            &enforced, "spark.executor.instances", "conflict",
            "must be left out: dynamic allocation decides how many executors there are");
    if (enabled.at != NULL && spark_constraints->allocation != SPARK_ALLOCATION_AS_RAN &&
        is_dynamic != (spark_constraints->allocation == SPARK_ALLOCATION_DYNAMIC))
        codec_fault_member(&enforced, DYNAMIC "enabled", "conflict", "is not dynamic_allocation");
#undef DYNAMIC
}

/* Refuses enforced properties with which Spark starts no job. */
static void check_start(const struct codec_node *constraints,
                        const struct spark_constraints *spark_constraints)
{
    const struct run_label *labels = spark_constraints->enforced;
    const struct startup_settings settings = {.properties = labels,
                                              .n = spark_constraints->n_enforced,
                                              .n_set = spark_constraints->n_enforced};
    const struct startup_rule *broken = startup_broken(&settings);
    if (broken == NULL || codec_result(constraints->reader) != PV_OK)
        return;
    struct codec_node enforced = codec_member(constraints, "enforced");
    const struct run_label *first;
    size_t n = startup_causes(broken, &settings, &first);
    const char *why = startup_describe(broken, &settings, constraints->reader->arena);
    if (first != NULL && why != NULL)
        codec_fault_member(&enforced, first->key.at, n > 1 ? "conflict" : "not_allowed",
                           "Spark would not start: %s", why);
}

void codec_advice_spark_decode(const struct codec_node *constraints,
                               struct advice_question *request)
{
    struct spark_constraints *spark_constraints = &request->spark_constraints;
    if (codec_present(constraints, "dynamic_allocation"))
        spark_constraints->allocation =
            codec_boolean(constraints, "dynamic_allocation", CODEC_NULLABLE, false)
                ? SPARK_ALLOCATION_DYNAMIC
                : SPARK_ALLOCATION_STATIC;
    decode_properties(constraints, "current", &spark_constraints->current,
                      &spark_constraints->n_current);
    decode_properties(constraints, "enforced", &spark_constraints->enforced,
                      &spark_constraints->n_enforced);
    decode_keys(constraints, "preserve", &spark_constraints->preserve,
                &spark_constraints->n_preserve);
    decode_keys(constraints, "exclude", &spark_constraints->exclude, &spark_constraints->n_exclude);
    if (spark_constraints->n_enforced == 0)
        return;
    enforce_cores(constraints, request);
    enforce_executors(constraints, request);
    check_allocation(constraints, request);
    check_start(constraints, spark_constraints);
}

/* --- reply --- */

static void begin_change(struct writer *w, const struct spark_change *change)
{
    writer_begin_object(w);
    writer_member_string(w, "key", change->key);
    writer_member_string(w, "old", change->old_value);
    writer_member_string(w, "new", change->new_value);
    writer_member_string(w, "reason", change->reason);
}

static void write_change(struct writer *w,
                         const struct spark_change *change,
                         const struct advice_comparison *compared)
{
    bool known = change->is_scale && compared->known;
    begin_change(w, change);
    writer_member_number(w, "duration_change_percent",
                         known ? compared->duration_change_percent : (double)NAN);
    writer_member_number(w, "cost_change_percent",
                         known ? compared->cost_change_percent : (double)NAN);
    writer_end_object(w);
}

void codec_advice_spark_encode(struct writer *w, const struct advice_answer *answer)
{
    const struct spark_configuration *spark = &answer->spark;
    if (!writer_member_object_or_null(w, "spark", answer->has_spark))
        return;
    writer_member_object(w, "properties");
    for (size_t i = 0; i < spark->n; i++)
        writer_member_string(w, spark->properties[i].key, spark->properties[i].value);
    writer_end_object(w);
    writer_member_array(w, "changes");
    for (size_t i = 0; i < spark->n_changes; i++)
        write_change(w, &spark->changes[i], &answer->comparison);
    writer_end_array(w);
    writer_member_array(w, "proposals");
    for (size_t i = 0; i < spark->n_proposals; i++) {
        begin_change(w, &spark->proposals[i]);
        writer_member_string(w, "kind", spark_proposal_word(spark->proposals[i].kind));
        writer_end_object(w);
    }
    writer_end_array(w);
    if (spark->version.at != NULL)
        writer_member_text(w, "spark_version", spark->version);
    if (spark->platform != NULL)
        writer_member_string(w, "platform", spark->platform);
    writer_end_object(w);
}
