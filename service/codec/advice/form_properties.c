#include "codec/advice/form_properties.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/order.h"
#include "base/plural.h"
#include "codec/advice/operator_fields.h"
#include "core/spark/property_type.h"
#include "core/spark/property_value.h"
#include "core/spark/serverless_worker.h"
#include "core/spark/startup_rules.h"

#define DYNAMIC "spark.dynamicAllocation."
#define INSTANCES "spark.executor.instances"
#define CORES "spark.executor.cores"
#define TASK_CPUS "spark.task.cpus"
#define HEAP "spark.executor.memory"
#define OVERHEAD "spark.executor.memoryOverhead"
#define OVERHEAD_FACTOR "spark.executor.memoryOverheadFactor"
#define OFF_HEAP "spark.memory.offHeap."
#define PYTHON "spark.executor.pyspark.memory"
#define SHUFFLE_SERVICE "spark.shuffle.service.enabled"

enum { ADDED_MAX = 12, MIB = 1 << 20 };

/* --- the set --- */

static const struct json_value *spark_member(const struct form_properties *form, const char *key)
{
    return json_value_member(json_value_member(form->advice, "spark"), key);
}

void form_properties_read(struct form_properties *form,
                          const struct json_value *advice,
                          struct arena *arena)
{
    *form = (struct form_properties){.advice = advice, .arena = arena};
    const struct json_value *properties = spark_member(form, "properties");
    size_t n = json_value_members(properties);
    form->capacity = n + ADDED_MAX;
    form->items = arena_array(arena, form->capacity, sizeof *form->items);
    form->failed = form->items == NULL;
    for (size_t i = 0; !form->failed && i < n; i++) {
        const char *key = json_value_key(properties, i);
        const char *value = json_value_text(json_value_member_at(properties, i));
        /* Stored advice may be older than the one form of values. */
        const struct strview form_of =
            property_in_one_form(strview_of(key), strview_of(value), arena);
        form->items[form->n++] = (struct form_property){key, form_of.at};
        form->failed = form->items[i].value == NULL;
    }
}

/* The place of the key, or the place where it belongs. */
static size_t place_of(const struct form_properties *form, const char *key)
{
    size_t i = 0;
    while (i < form->n && strcmp(form->items[i].key, key) < 0)
        i++;
    return i;
}

static bool is_at(const struct form_properties *form, size_t i, const char *key)
{
    return i < form->n && strcmp(form->items[i].key, key) == 0;
}

const char *form_property_find(const struct form_properties *form, const char *key)
{
    size_t i = place_of(form, key);
    return is_at(form, i, key) ? form->items[i].value : NULL;
}

void form_property_set(struct form_properties *form, const char *key, const char *value)
{
    size_t i = place_of(form, key);
    form->failed = form->failed || value == NULL || form->n == form->capacity;
    if (form->failed)
        return;
    if (!is_at(form, i, key)) {
        memmove(form->items + i + 1, form->items + i, (form->n - i) * sizeof *form->items);
        form->n++;
    }
    form->items[i] = (struct form_property){key, value};
}

static void set_count(struct form_properties *form, const char *key, int64_t count)
{
    form_property_set(form, key, arena_printf(form->arena, "%" PRId64, count));
}

static void drop_at(struct form_properties *form, size_t i)
{
    form->n--;
    memmove(form->items + i, form->items + i + 1, (form->n - i) * sizeof *form->items);
}

static void drop(struct form_properties *form, const char *key)
{
    size_t i = place_of(form, key);
    if (is_at(form, i, key))
        drop_at(form, i);
}

/* RUN_UNKNOWN: the property is not set, or is not a count. */
static int64_t count_of(const struct form_properties *form, const char *key)
{
    return property_count(strview_of(form_property_find(form, key)));
}

static bool is_true(const struct form_properties *form, const char *key)
{
    return property_boolean(strview_of(form_property_find(form, key)), false);
}

bool form_property_is_removed(const struct form_properties *form, const char *key)
{
    const struct json_value *changes = spark_member(form, "changes");
    for (size_t i = 0; i < json_value_items(changes); i++) {
        const struct json_value *change = json_value_item(changes, i);
        const char *changed = json_value_text(json_value_member(change, "key"));
        if (json_value_is_null(json_value_member(change, "new")) && changed != NULL &&
            strcmp(changed, key) == 0)
            return true;
    }
    return false;
}

bool form_is_of_platform(const struct form_properties *form, const char *name)
{
    const char *platform = json_value_text(spark_member(form, "platform"));
    return platform != NULL && strcmp(platform, name) == 0;
}

static struct strview version_of(const struct form_properties *form)
{
    return json_value_view(spark_member(form, "spark_version"));
}

/* --- what Spark starts with --- */

void form_set_instances(struct form_properties *form)
{
    /* The caller may exclude some. Spark accepts any number up to maxExecutors. Before Spark 2.0 the
     * instances would switch dynamic allocation off. */
    static const char *const keys[] = {DYNAMIC "initialExecutors", DYNAMIC "minExecutors",
                                       DYNAMIC "maxExecutors"};
    const char *count = NULL;
    if (!property_version_is(version_of(form), 2, 0, true))
        return;
    for (size_t i = 0; count == NULL && i < sizeof keys / sizeof *keys; i++)
        count = form_property_find(form, keys[i]);
    if (count != NULL && form_property_is_removed(form, INSTANCES))
        form_property_set(form, INSTANCES, count);
}

void form_replace_shuffle_service(struct form_properties *form)
{
    static const char tracking[] = DYNAMIC "shuffleTracking.enabled";
    bool has_service = is_true(form, SHUFFLE_SERVICE);
    /* Without dynamic allocation the tracking has no effect. */
    bool may_be_dynamic = is_true(form, DYNAMIC "enabled") ||
                          (has_service && form_property_find(form, DYNAMIC "enabled") == NULL);
    if (has_service)
        drop(form, SHUFFLE_SERVICE);
    if (may_be_dynamic && form_property_find(form, tracking) == NULL)
        form_property_set(form, tracking, "true");
}

/* --- EMR Serverless --- */

/* In whole MiB, rounded up; RUN_UNKNOWN: the property is not set, or is not a size. */
static int64_t mib_of(const struct form_properties *form, const char *key, int64_t unit)
{
    int64_t bytes = property_size(strview_of(form_property_find(form, key)), unit);
    return bytes == RUN_UNKNOWN ? RUN_UNKNOWN : bytes / MIB + (bytes % MIB > 0);
}

static void set_mib(struct form_properties *form, const char *key, int64_t mib)
{
    form_property_set(form, key,
                      mib % 1024 == 0 ? arena_printf(form->arena, "%" PRId64 "g", mib / 1024)
                                      : arena_printf(form->arena, "%" PRId64 "m", mib));
}

static int64_t cores_of(const struct form_properties *form)
{
    int64_t cores = count_of(form, CORES);
    const struct json_value *recommended =
        json_value_member(json_value_member(form->advice, "recommendation"), "cores_per_executor");
    if (cores == RUN_UNKNOWN && json_value_is_integer(recommended))
        cores = recommended->integer;
    return larger_int64(cores, 1);
}

/* Without a heap the platform's default holds: 14 GiB for 4 cores. */
static struct serverless_executor executor_of(const struct form_properties *form)
{
    enum { DEFAULT_MIB_PER_CORE = 3584, MOST_CORES = 1 << 20 };
    double factor = property_number(strview_of(form_property_find(form, OVERHEAD_FACTOR)));
    bool off_heap = is_true(form, OFF_HEAP "enabled");
    struct serverless_executor executor = {
        .cores = smaller_int64(cores_of(form), MOST_CORES),
        .task_cpus = larger_int64(count_of(form, TASK_CPUS), 1),
        .heap_mib = mib_of(form, HEAP, MIB),
        .overhead_mib = mib_of(form, OVERHEAD, MIB),
        .overhead_factor = factor > 0 ? factor : 0.1,
        .off_heap_mib = off_heap ? larger_int64(mib_of(form, OFF_HEAP "size", 1), 0) : 0,
        .python_mib = larger_int64(mib_of(form, PYTHON, MIB), 0)};
    if (executor.heap_mib == RUN_UNKNOWN)
        executor.heap_mib = DEFAULT_MIB_PER_CORE * executor.cores;
    return executor;
}

static void set_worker(struct form_properties *form,
                       const struct serverless_executor *before,
                       const struct serverless_executor *worker)
{
    if (worker->cores != before->cores)
        set_count(form, CORES, worker->cores);
    if (worker->task_cpus != before->task_cpus)
        set_count(form, TASK_CPUS, worker->task_cpus);
    if (worker->heap_mib != before->heap_mib || form_property_find(form, HEAP) == NULL)
        set_mib(form, HEAP, worker->heap_mib);
    if (worker->off_heap_mib != before->off_heap_mib)
        set_mib(form, OFF_HEAP "size", worker->off_heap_mib);
    if (worker->python_mib != before->python_mib)
        set_mib(form, PYTHON, worker->python_mib);
    set_mib(form, OVERHEAD, worker->overhead_mib);
    drop(form, OVERHEAD_FACTOR);
}

/* As many executors as have the task slots that were advised. */
static void scale_counts(struct form_properties *form, int64_t slots_before, int64_t slots)
{
    static const char *const keys[] = {INSTANCES, DYNAMIC "initialExecutors",
                                       DYNAMIC "minExecutors", DYNAMIC "maxExecutors"};
    for (size_t i = 0; slots != slots_before && i < sizeof keys / sizeof *keys; i++) {
        int64_t count = count_of(form, keys[i]);
        if (count >= 0)
            set_count(form, keys[i],
                      (int64_t)ceil((double)count * (double)slots_before / (double)slots));
    }
}

/* Is the advice without dynamic allocation? The caller may exclude some of its properties. */
static bool is_static(const struct form_properties *form)
{
    bool has_instances = json_value_member(spark_member(form, "properties"), INSTANCES) != NULL;
    bool has_bounds = form_property_find(form, DYNAMIC "initialExecutors") != NULL &&
                      form_property_find(form, DYNAMIC "maxExecutors") != NULL;
    return has_instances || !(is_true(form, DYNAMIC "enabled") || has_bounds);
}

static void set_allocation(struct form_properties *form)
{
    int64_t most = count_of(form, DYNAMIC "maxExecutors");
    if (most >= 0 && most < SERVERLESS_INITIAL_EXECUTORS)
        set_count(form, DYNAMIC "maxExecutors", SERVERLESS_INITIAL_EXECUTORS);
    /* The platform's default is dynamic allocation without a bound. */
    if (is_static(form))
        form_property_set(form, DYNAMIC "enabled", "false");
}

static void drop_of_kubernetes(struct form_properties *form)
{
    static const char start[] = "spark.kubernetes.";
    for (size_t i = form->n; i-- > 0;)
        if (strncmp(form->items[i].key, start, strlen(start)) == 0)
            drop_at(form, i);
}

enum pv_code form_fit_serverless(struct form_properties *form, struct pv_error *err)
{
    struct serverless_executor worker;
    const struct serverless_executor executor = executor_of(form);
    if (!serverless_worker_fit(&executor, &worker))
        return pv_fail(err, PV_E_CONFLICT,
                       "no worker of EMR Serverless has enough memory for one task: executors have "
                       "%" PRId64 " MiB of heap and run at most %" PRId64 " task%s at once; ask "
                       "with a smaller spark.executor.memory in constraints.enforced",
                       executor.heap_mib, serverless_slots(&executor),
                       PLURAL(serverless_slots(&executor)));
    set_worker(form, &executor, &worker);
    scale_counts(form, serverless_slots(&executor), serverless_slots(&worker));
    set_allocation(form);
    form_replace_shuffle_service(form);
    drop_of_kubernetes(form);
    return PV_OK;
}

/* --- the rules of Spark and of the platform --- */

/* The advice may say so of what the job runs with besides. */
static const char *refusal_of(const struct form_properties *form)
{
    const struct json_value *warnings = json_value_member(form->advice, "warnings");
    for (size_t i = 0; i < json_value_items(warnings); i++) {
        const struct json_value *warning = json_value_item(warnings, i);
        const char *code = json_value_text(json_value_member(warning, "code"));
        if (code != NULL && strcmp(code, "would_not_start") == 0)
            return json_value_text(json_value_member(warning, "message"));
    }
    return NULL;
}

enum pv_code
form_check_start(const struct form_properties *form, unsigned places, struct pv_error *err)
{
    struct run_label *labels = arena_array(form->arena, form->n, sizeof *labels);
    const struct startup_settings settings = {.properties = labels,
                                              .n = form->n,
                                              .n_set = form->n,
                                              .version = version_of(form),
                                              .places = places};
    const char *refusal = refusal_of(form);
    if (refusal != NULL)
        return pv_fail(err, PV_E_CONFLICT, "%s", refusal);
    if (labels == NULL || form->failed)
        return pv_no_memory(err);
    for (size_t i = 0; i < form->n; i++)
        labels[i] =
            (struct run_label){strview_of(form->items[i].key), strview_of(form->items[i].value)};
    const struct startup_rule *broken = startup_broken(&settings);
    if (broken == NULL)
        return PV_OK;
    const char *why = startup_describe(broken, &settings, form->arena);
    return why == NULL ? pv_no_memory(err)
                       : pv_fail(err, PV_E_CONFLICT, "Spark would not start: %s", why);
}
