#include "core/spark/startup_rules.h"

#include <math.h>
#include <string.h>

#include "base/order.h"
#include "core/spark/property_type.h"
#include "core/spark/property_value.h"
#include "core/spark/serverless_worker.h"

#define DYNAMIC "spark.dynamicAllocation."
#define EXECUTOR "spark.executor."
#define MEMORY "spark.memory."
#define KUBERNETES "spark.kubernetes.executor."
#define EXECUTOR_RESOURCE "spark.executor.resource."
#define TASK_RESOURCE "spark.task.resource."

static const int64_t INT_MOST = 2147483647;
static const int64_t MIB = INT64_C(1) << 20;
/* 1.5 times the 300 MiB that Spark reserves of each heap. */
static const int64_t LEAST_HEAP = 471859200;

/* --- values --- */

/* at == NULL: the property is not set. */
static struct strview value_of(const struct startup_settings *settings, const char *key)
{
    return property_find(settings->properties, settings->n, key);
}

static bool is_set(const struct startup_settings *settings, const char *key)
{
    return value_of(settings, key).at != NULL;
}

static bool is_true(const struct startup_settings *settings, const char *key, bool otherwise)
{
    return property_boolean(value_of(settings, key), otherwise);
}

static int64_t count_of(const struct startup_settings *settings, const char *key, int64_t otherwise)
{
    int64_t count = property_count(value_of(settings, key));
    return count == RUN_UNKNOWN ? otherwise : count;
}

static bool is_before(const struct startup_settings *settings, int64_t major, int64_t minor)
{
    return !property_version_is(settings->version, major, minor, true);
}

/* EMR Serverless has dynamic allocation by default. Before Spark 2.0 spark.executor.instances switched
 * dynamic allocation off. */
static bool is_dynamic(const struct startup_settings *settings)
{
    bool by_default = (settings->places & STARTUP_SERVERLESS) != 0;
    return is_true(settings, DYNAMIC "enabled", by_default) &&
           !(is_before(settings, 2, 0) && count_of(settings, EXECUTOR "instances", 0) > 0);
}

static bool begins(struct strview text, const char *start)
{
    return text.n > strlen(start) && memcmp(text.at, start, strlen(start)) == 0;
}

/* --- types --- */

/* Without dynamic allocation Spark does not check the bounds of its properties. */
static bool is_bounded(const struct startup_settings *settings, struct strview key)
{
    return !begins(key, DYNAMIC) || is_dynamic(settings);
}

/* Is it to be set, and not of its type? */
static bool is_mistyped(const struct startup_settings *settings, size_t i)
{
    const struct run_label *property = &settings->properties[i];
    const struct property_type *type = property_type_of(property->key);
    bool within;
    return i < settings->n_set && type != NULL &&
           (!property_type_reads(type, property->value, &within) ||
            (!within && is_bounded(settings, property->key)));
}

static bool holds_types(const struct startup_settings *settings)
{
    for (size_t i = 0; i < settings->n_set; i++)
        if (is_mistyped(settings, i))
            return false;
    return true;
}

/* --- executors --- */

static bool holds_instances(const struct startup_settings *settings)
{
    return is_dynamic(settings) || count_of(settings, EXECUTOR "instances", 1) > 0;
}

static bool holds_bounds(const struct startup_settings *settings)
{
    return !is_dynamic(settings) || count_of(settings, DYNAMIC "minExecutors", 0) <=
                                        count_of(settings, DYNAMIC "maxExecutors", INT_MOST);
}

static bool holds_initial(const struct startup_settings *settings)
{
    int64_t most = count_of(settings, DYNAMIC "maxExecutors", INT_MOST);
    return !is_dynamic(settings) || (count_of(settings, DYNAMIC "initialExecutors", 0) <= most &&
                                     count_of(settings, EXECUTOR "instances", 0) <= most);
}

static bool holds_task_cpus(const struct startup_settings *settings)
{
    int64_t cpus = count_of(settings, "spark.task.cpus", 1);
    return count_of(settings, EXECUTOR "cores", cpus) >= cpus;
}

static bool holds_cores_max(const struct startup_settings *settings)
{
    return count_of(settings, EXECUTOR "cores", 1) <=
           count_of(settings, "spark.cores.max", INT_MOST);
}

static bool holds_idle_timeout(const struct startup_settings *settings)
{
    struct strview timeout = value_of(settings, DYNAMIC "executorIdleTimeout");
    return !is_dynamic(settings) || timeout.at == NULL || property_seconds(timeout) >= 1;
}

/* --- shuffle output under dynamic allocation --- */

static bool holds_service(const struct startup_settings *settings)
{
    return !is_dynamic(settings) ||
           is_true(settings, "spark.shuffle.service.enabled", !settings->complete);
}

static bool holds_shuffle(const struct startup_settings *settings)
{
    bool tracks = !settings->complete || !is_before(settings, 3, 4); /* by default */
    bool decommissions =
        is_true(settings, "spark.decommission.enabled", false) &&
        is_true(settings, "spark.storage.decommission.shuffleBlocks.enabled", true);
    return !is_dynamic(settings) || is_true(settings, "spark.shuffle.service.enabled", false) ||
           is_true(settings, DYNAMIC "shuffleTracking.enabled", tracks) || decommissions ||
           is_set(settings, "spark.shuffle.sort.io.plugin.class");
}

/* --- memory --- */

/* The driver reads a heap without unit in bytes, and everything else in MiB. */
static bool has_unit(const struct startup_settings *settings, const char *key)
{
    struct strview heap = property_trim(value_of(settings, key));
    return heap.n == 0 || heap.at[heap.n - 1] < '0' || heap.at[heap.n - 1] > '9';
}

static bool holds_heap_units(const struct startup_settings *settings)
{
    return has_unit(settings, EXECUTOR "memory") && has_unit(settings, "spark.driver.memory");
}

static bool holds_heap(const struct startup_settings *settings)
{
    struct strview heap = value_of(settings, EXECUTOR "memory");
    return heap.at == NULL || property_size(heap, 1) >= LEAST_HEAP;
}

/* A size that is set elsewhere is not known. */
static bool holds_off_heap(const struct startup_settings *settings)
{
    struct strview size = value_of(settings, MEMORY "offHeap.size");
    return !is_true(settings, MEMORY "offHeap.enabled", false) ||
           (size.at == NULL ? !settings->complete : property_size(size, 1) > 0);
}

static int64_t bytes_of(const struct startup_settings *settings, const char *key, int64_t unit)
{
    return larger_int64(property_size(value_of(settings, key), unit), 0);
}

/* Memory that an executor asks for, as far as it is set. */
static int64_t executor_bytes(const struct startup_settings *settings)
{
    bool off_heap = is_true(settings, MEMORY "offHeap.enabled", false);
    return bytes_of(settings, EXECUTOR "memory", 1) +
           bytes_of(settings, EXECUTOR "memoryOverhead", MIB) +
           bytes_of(settings, EXECUTOR "pyspark.memory", MIB) +
           (off_heap ? bytes_of(settings, MEMORY "offHeap.size", 1) : 0);
}

/* YARN takes the sum in MiB as a whole number of 32 bits. */
static bool holds_total(const struct startup_settings *settings)
{
    return executor_bytes(settings) / MIB <= INT_MOST;
}

/* --- heartbeats --- */

static double
seconds_of(const struct startup_settings *settings, const char *key, double unit, double otherwise)
{
    double seconds = property_time(value_of(settings, key), unit);
    return isnan(seconds) ? otherwise : seconds;
}

static bool holds_heartbeat(const struct startup_settings *settings)
{
    double by_default = settings->complete ? 120 : 1e18;
    return seconds_of(settings, EXECUTOR "heartbeatInterval", 1e-3, 0) <
           floor(seconds_of(settings, "spark.network.timeout", 1, by_default) + 1e-9);
}

/* --- resources such as GPUs --- */

/* The name of the resource if the property is its amount; at == NULL: the property is another one. */
static struct strview resource_of(struct strview key, const char *start)
{
    static const char end[] = ".amount";
    size_t outside = strlen(start) + strlen(end);
    bool is_amount = key.n > outside && begins(key, start) &&
                     memcmp(key.at + key.n - strlen(end), end, strlen(end)) == 0;
    return is_amount ? (struct strview){key.at + strlen(start), key.n - outside}
                     : (struct strview){NULL, 0};
}

/* Until Spark 4.0 a fraction is at most a half. */
static bool is_task_amount(const struct startup_settings *settings, double amount)
{
    return amount >= 0 &&
           (amount <= (is_before(settings, 4, 0) ? 0.5 : 1.0) || amount == floor(amount));
}

/* The amount of the resource that an executor has; NAN: the amount is not set. */
static double executor_amount(const struct startup_settings *settings, struct strview resource)
{
    for (size_t i = 0; i < settings->n; i++)
        if (strview_equal(resource_of(settings->properties[i].key, EXECUTOR_RESOURCE), resource))
            return property_number(settings->properties[i].value);
    return (double)NAN;
}

static bool holds_resources(const struct startup_settings *settings)
{
    for (size_t i = 0; i < settings->n; i++) {
        const struct run_label *property = &settings->properties[i];
        struct strview resource = resource_of(property->key, TASK_RESOURCE);
        if (resource.at == NULL)
            continue;
        double amount = property_number(property->value);
        double has = executor_amount(settings, resource);
        if (!is_task_amount(settings, amount) || amount > has ||
            (settings->complete && isnan(has) && amount > 0))
            return false;
    }
    return true;
}

/* --- barrier stages --- */

static bool holds_barrier_allocation(const struct startup_settings *settings)
{
    return settings->barrier_tasks == 0 || !is_dynamic(settings);
}

static bool holds_barrier_slots(const struct startup_settings *settings)
{
    int64_t cpus = larger_int64(count_of(settings, "spark.task.cpus", 1), 1);
    int64_t cores = count_of(settings, EXECUTOR "cores", RUN_UNKNOWN);
    int64_t instances = count_of(settings, EXECUTOR "instances", RUN_UNKNOWN);
    if (settings->barrier_tasks == 0 || is_dynamic(settings) || cores == RUN_UNKNOWN ||
        instances == RUN_UNKNOWN)
        return true;
    return instances * (cores / cpus) >= settings->barrier_tasks;
}

/* --- platforms --- */

static bool holds_quotas(const struct startup_settings *settings)
{
    struct strview request = value_of(settings, KUBERNETES "request.cores");
    struct strview limit = value_of(settings, KUBERNETES "limit.cores");
    double requested = request.at == NULL ? (double)count_of(settings, EXECUTOR "cores", 0)
                                          : property_cores(request);
    return limit.at == NULL || requested <= property_cores(limit);
}

static bool holds_no_service(const struct startup_settings *settings)
{
    return !is_true(settings, "spark.shuffle.service.enabled", false);
}

static bool holds_no_allocation(const struct startup_settings *settings)
{
    return !is_dynamic(settings);
}

static bool holds_serverless_most(const struct startup_settings *settings)
{
    return !is_dynamic(settings) ||
           count_of(settings, DYNAMIC "maxExecutors", INT_MOST) >= SERVERLESS_INITIAL_EXECUTORS;
}

static bool holds_worker(const struct startup_settings *settings)
{
    int64_t bytes = executor_bytes(settings);
    return serverless_worker_exists(count_of(settings, EXECUTOR "cores", 0),
                                    bytes / MIB + (bytes % MIB > 0));
}

static bool holds_workers(const struct startup_settings *settings)
{
    return count_of(settings, DYNAMIC "maxExecutors",
                    count_of(settings, EXECUTOR "instances", 0)) >= 1;
}

/* --- the rules --- */

/* clang-format off */
const struct startup_rule startup_rules[] = {
    {"property_types", STARTUP_SPARK, 0, 0, holds_types,
     {"spark."},
     "each property must be of the type of its entry, and within its bounds",
     "core/spark/property_type.c"},
    {"instances_least", STARTUP_SPARK, 0, 0, holds_instances,
     {EXECUTOR "instances", DYNAMIC "enabled"},
     "spark.executor.instances must be at least 1 without dynamic allocation",
     "deploy/SparkSubmitArguments.validateSubmitArguments"},
    {"min_executors", STARTUP_SPARK, 0, 0, holds_bounds,
     {DYNAMIC "minExecutors", DYNAMIC "maxExecutors", DYNAMIC "enabled"},
     "minExecutors must not be more than maxExecutors",
     "ExecutorAllocationManager.validateSettings"},
    {"initial_executors", STARTUP_SPARK, 0, 0, holds_initial,
     {DYNAMIC "maxExecutors", DYNAMIC "initialExecutors", EXECUTOR "instances", DYNAMIC "enabled"},
     "initialExecutors and instances must not be more than maxExecutors",
     "scheduler/cluster/SchedulerBackendUtils.getInitialTargetExecutorNumber"},
    {"task_cpus", STARTUP_SPARK, 0, 0, holds_task_cpus,
     {EXECUTOR "cores", "spark.task.cpus"},
     "spark.task.cpus must not be more than spark.executor.cores",
     "resource/ResourceUtils.validateTaskCpusLargeEnough; before Spark 3.0 SparkConf.validateSettings"},
    {"cores_max", STARTUP_SPARK, 0, 0, holds_cores_max,
     {EXECUTOR "cores", "spark.cores.max"},
     "the standalone manager starts no executor of more cores than spark.cores.max",
     "deploy/master/Master.startExecutorsOnWorkers"},
    {"idle_timeout", STARTUP_SPARK, 0, 300, holds_idle_timeout,
     {DYNAMIC "executorIdleTimeout", DYNAMIC "enabled"},
     "before Spark 3.0 executorIdleTimeout must be at least 1s",
     "ExecutorAllocationManager.validateSettings"},
    {"shuffle_service", STARTUP_SPARK, 0, 300, holds_service,
     {"spark.shuffle.service.enabled", DYNAMIC "enabled"},
     "before Spark 3.0 dynamic allocation needs the external shuffle service",
     "ExecutorAllocationManager.validateSettings"},
    {"shuffle_kept", STARTUP_SPARK, 300, 0, holds_shuffle,
     {DYNAMIC "shuffleTracking.enabled", "spark.shuffle.service.enabled", DYNAMIC "enabled"},
     "dynamic allocation needs shuffle tracking or the external shuffle service",
     "ExecutorAllocationManager.validateSettings"},
    {"heap_units", STARTUP_SPARK, 106, 0, holds_heap_units,
     {EXECUTOR "memory", "spark.driver.memory"},
     "a heap must have a unit: Spark reads a number alone in bytes and, elsewhere, in MiB",
     "internal/config/package.EXECUTOR_MEMORY, util/Utils.memoryStringToMb"},
    {"executor_memory", STARTUP_SPARK, 106, 0, holds_heap,
     {EXECUTOR "memory"},
     "spark.executor.memory must be at least 450m",
     "memory/UnifiedMemoryManager.getMaxMemory"},
    {"executor_total", STARTUP_SPARK, 0, 0, holds_total,
     {EXECUTOR "memory", EXECUTOR "memoryOverhead", EXECUTOR "pyspark.memory", MEMORY "offHeap.size"},
     "the memory of an executor must not total more than 2147483647m",
     "resource/ResourceProfile.getResourcesForClusterManager; deploy/yarn/YarnAllocator"},
    {"heartbeat", STARTUP_SPARK, 203, 0, holds_heartbeat,
     {EXECUTOR "heartbeatInterval", "spark.network.timeout"},
     "spark.network.timeout must be longer than spark.executor.heartbeatInterval",
     "SparkConf.validateSettings (SPARK-22754)"},
    {"off_heap_size", STARTUP_SPARK, 106, 0, holds_off_heap,
     {MEMORY "offHeap.enabled", MEMORY "offHeap.size"},
     "spark.memory.offHeap.size must be a size above 0 if off-heap memory is enabled",
     "memory/MemoryManager.tungstenMemoryMode"},
    {"resource_amounts", STARTUP_SPARK, 300, 0, holds_resources,
     {EXECUTOR_RESOURCE, TASK_RESOURCE},
     "an executor must have a whole amount, no less than a task takes: a half at most, or whole",
     "resource/ResourceProfile.calculateTasksAndLimitingResource, "
     "resource/ResourceUtils.calculateAmountAndPartsForFraction; "
     "from Spark 4.0 on fractions up to 1, resource/TaskResourceRequest"},
    {"barrier_allocation", STARTUP_SPARK, 204, 0, holds_barrier_allocation,
     {DYNAMIC "enabled", DYNAMIC "initialExecutors", DYNAMIC "maxExecutors"},
     "Spark runs no barrier stage with dynamic allocation",
     "scheduler/DAGScheduler.checkBarrierStageWithDynamicAllocation (SPARK-24942)"},
    {"barrier_slots", STARTUP_SPARK, 204, 0, holds_barrier_slots,
     {EXECUTOR "instances", EXECUTOR "cores", "spark.task.cpus"},
     "executors must have a task slot for each task of the barrier stage",
     "scheduler/DAGScheduler.checkBarrierStageWithNumSlots (SPARK-24819)"},
    {"kubernetes_cpu", STARTUP_SPARK, 0, 0, holds_quotas,
     {KUBERNETES "limit.cores", KUBERNETES "request.cores", EXECUTOR "cores"},
     "an executor on Kubernetes must not request more cores than its limit",
     "Kubernetes, core/validation.ValidateContainerResourceRequirements; "
     "deploy/k8s/features/BasicExecutorFeatureStep"},
    {"no_shuffle_service", STARTUP_KUBERNETES | STARTUP_SERVERLESS, 0, 0, holds_no_service,
     {"spark.shuffle.service.enabled"},
     "executors would wait for an external shuffle service, which the platform does not have",
     "storage/BlockManager.registerWithExternalShuffleServer; "
     "Spark documentation, Running on Kubernetes, Future Work"},
    {"kubernetes_allocation", STARTUP_KUBERNETES | STARTUP_SERVERLESS, 0, 300, holds_no_allocation,
     {DYNAMIC "enabled"},
     "before Spark 3.0 the platform has no dynamic allocation: it has no external shuffle service",
     "ExecutorAllocationManager.validateSettings"},
    {"serverless_max_executors", STARTUP_SERVERLESS, 0, 0, holds_serverless_most,
     {DYNAMIC "maxExecutors", DYNAMIC "enabled"},
     "EMR Serverless starts a job with 3 executors: maxExecutors must be at least 3",
     "Amazon EMR Serverless User Guide, Using Spark configurations, "
     "default of spark.dynamicAllocation.initialExecutors"},
    {"serverless_worker", STARTUP_SERVERLESS, 0, 0, holds_worker,
     {EXECUTOR "cores", EXECUTOR "memory", EXECUTOR "memoryOverhead", MEMORY "offHeap.size", EXECUTOR "pyspark.memory"},
     "an executor must have the size of a worker of EMR Serverless",
     "Amazon EMR Serverless User Guide, Worker configurations and sizes"},
    {"databricks_workers", STARTUP_DATABRICKS, 0, 0, holds_workers,
     {EXECUTOR "instances", DYNAMIC "maxExecutors"},
     "a Databricks cluster needs the number of its workers: do not exclude the executors",
     "Databricks Clusters API, num_workers and autoscale; 0 workers are a single node"},
};
/* clang-format on */

const size_t startup_rules_n = sizeof startup_rules / sizeof *startup_rules;

static bool is_named(const char *named, struct strview key)
{
    bool is_start = named[strlen(named) - 1] == '.';
    return is_start ? begins(key, named) : strview_is(key, named);
}

/* Is the rule about that property? That of the types is, if it is broken there. */
static bool
is_about(const struct startup_rule *rule, const struct startup_settings *settings, size_t i)
{
    if (rule->holds == holds_types)
        return is_mistyped(settings, i);
    for (size_t k = 0; k < STARTUP_KEYS_MAX && rule->keys[k] != NULL; k++)
        if (is_named(rule->keys[k], settings->properties[i].key))
            return true;
    return false;
}

static bool applies(const struct startup_rule *rule, const struct startup_settings *settings)
{
    unsigned places = settings->places | STARTUP_SPARK;
    bool is_set = false;
    for (size_t i = 0; !is_set && i < settings->n_set; i++)
        is_set = is_about(rule, settings, i);
    return (is_set || settings->n_set == settings->n) && (rule->places & places) != 0 &&
           (rule->from == 0 || !is_before(settings, rule->from / 100, rule->from % 100)) &&
           (rule->to == 0 || is_before(settings, rule->to / 100, rule->to % 100));
}

const struct startup_rule *startup_broken(const struct startup_settings *settings)
{
    for (size_t i = 0; i < startup_rules_n; i++)
        if (applies(&startup_rules[i], settings) && !startup_rules[i].holds(settings))
            return &startup_rules[i];
    return NULL;
}

size_t startup_causes(const struct startup_rule *rule,
                      const struct startup_settings *settings,
                      const struct run_label **first)
{
    size_t n = 0;
    *first = NULL;
    for (size_t i = 0; i < settings->n; i++)
        if (is_about(rule, settings, i) && n++ == 0)
            *first = &settings->properties[i];
    return rule->holds == holds_types && n > 1 ? 1 : n;
}

enum { VALUE_ROOM = 33 };

/* One property that is not of its type, with the type. */
static const char *describe_type(const struct startup_settings *settings, struct arena *arena)
{
    const struct run_label *property = NULL;
    for (size_t i = 0; property == NULL && i < settings->n_set; i++)
        property = is_mistyped(settings, i) ? &settings->properties[i] : NULL;
    if (property == NULL)
        return "";
    char value[VALUE_ROOM];
    const char *type = property_type_describe(property_type_of(property->key), arena);
    strview_shorten(property->value, value, sizeof value);
    return type == NULL ? NULL
                        : arena_printf(arena, "%.*s must be %s (it is %s)", (int)property->key.n,
                                       property->key.at, type, value[0] == '\0' ? "empty" : value);
}

const char *startup_describe(const struct startup_rule *rule,
                             const struct startup_settings *settings,
                             struct arena *arena)
{
    enum { SHOWN = 2 };
    const char *text = rule->sentence;
    size_t shown = 0;
    if (rule->holds == holds_types)
        return describe_type(settings, arena);
    for (size_t k = 0; k < STARTUP_KEYS_MAX && rule->keys[k] != NULL; k++)
        for (size_t i = 0; text != NULL && shown < SHOWN && i < settings->n; i++) {
            const struct run_label *property = &settings->properties[i];
            char value[VALUE_ROOM];
            if (!is_named(rule->keys[k], property->key))
                continue;
            strview_shorten(property->value, value, sizeof value);
            text = arena_printf(arena, "%s%s%.*s %s", text, shown > 0 ? ", " : " (",
                                (int)property->key.n, property->key.at, value);
            shown++;
        }
    return shown > 0 && text != NULL ? arena_printf(arena, "%s)", text) : text;
}
