#include <criterion/criterion.h>
#include <string.h>

#include "core/spark/startup_rules.h"

/* For each rule the settings that it refuses, and nearly the same that it accepts. */
enum { PROPERTIES = 4 };

static const struct {
    const char *id;
    const char *version;
    unsigned places;
    int64_t barrier_tasks;
    const char *refused[PROPERTIES][2];
    const char *accepted[PROPERTIES][2];
} rows[] = {
#define ON                                                                                         \
    {                                                                                              \
        "spark.dynamicAllocation.enabled", "true"                                                  \
    }
#define DYNAMIC "spark.dynamicAllocation."
    {"property_types",
     "3.5.1",
     0,
     0,
     {{"spark.speculation", "on"}},
     {{"spark.speculation", " True "}, {"spark.app.name", " on "}}},
    {"property_types",
     "3.5.1",
     0,
     0,
     {ON, {DYNAMIC "maxExecutors", "0"}},
     {{DYNAMIC "maxExecutors", "0"}}},
    {"property_types",
     "2.4.0",
     0,
     0,
     {ON, {DYNAMIC "schedulerBacklogTimeout", "500ms"}},
     {ON, {DYNAMIC "schedulerBacklogTimeout", "1500ms"}}},
    {"property_types",
     NULL,
     0,
     0,
     {{DYNAMIC "minExecutors", "1.5"}},
     {{DYNAMIC "minExecutors", "-1"}}},
    {"idle_timeout",
     "2.4.0",
     0,
     0,
     {ON, {DYNAMIC "executorIdleTimeout", "0"}},
     {ON, {DYNAMIC "executorIdleTimeout", "60s"}}},
    {"heap_units",
     "3.5.1",
     0,
     0,
     {{"spark.executor.memory", "1073741824"}},
     {{"spark.executor.memory", "1073741824b "}}},
    {"heap_units",
     NULL,
     0,
     0,
     {{"spark.driver.memory", " 4096 "}},
     {{"spark.driver.memory", "4096m"}}},
    {"executor_memory",
     "3.5.1",
     0,
     0,
     {{"spark.executor.memory", "471859199b"}},
     {{"spark.executor.memory", " 450m"}}},
    {"instances_least",
     "3.5.1",
     0,
     0,
     {{"spark.executor.instances", "0"}},
     {ON, {"spark.executor.instances", "0"}}},
    {"min_executors",
     "3.5.1",
     0,
     0,
     {ON, {DYNAMIC "minExecutors", "3"}, {DYNAMIC "maxExecutors", "2"}},
     {{DYNAMIC "minExecutors", "3"}, {DYNAMIC "maxExecutors", "2"}}},
    {"initial_executors",
     "2.0.0",
     0,
     0,
     {ON, {"spark.executor.instances", "3"}, {DYNAMIC "maxExecutors", "2"}},
     {ON, {"spark.executor.instances", "2"}, {DYNAMIC "maxExecutors", "2"}}},
    {"initial_executors",
     "3.5.1",
     0,
     0,
     {ON, {DYNAMIC "initialExecutors", "3"}, {DYNAMIC "maxExecutors", "2"}},
     {ON, {DYNAMIC "initialExecutors", "1"}, {DYNAMIC "minExecutors", "2"}}},
    {"task_cpus",
     "3.5.1",
     0,
     0,
     {{"spark.executor.cores", "3"}, {"spark.task.cpus", "4"}},
     {{"spark.executor.cores", "4"}, {"spark.task.cpus", "4"}}},
    {"cores_max",
     "3.5.1",
     0,
     0,
     {{"spark.executor.cores", "4"}, {"spark.cores.max", "3"}},
     {{"spark.executor.cores", "4"}, {"spark.cores.max", "4"}}},
    {"shuffle_service",
     "2.4.0",
     0,
     0,
     {ON, {"spark.shuffle.service.enabled", "false"}, {DYNAMIC "shuffleTracking.enabled", "true"}},
     {ON, {"spark.shuffle.service.enabled", "true"}}},
    {"shuffle_kept",
     "3.0.0",
     0,
     0,
     {ON, {DYNAMIC "shuffleTracking.enabled", "false"}},
     {ON, {DYNAMIC "shuffleTracking.enabled", "true"}}},
    {"shuffle_kept",
     NULL,
     0,
     0,
     {ON, {DYNAMIC "shuffleTracking.enabled", "false"}},
     {ON, {DYNAMIC "shuffleTracking.enabled", "false"}, {"spark.decommission.enabled", "true"}}},
    {"off_heap_size",
     "3.5.1",
     0,
     0,
     {{"spark.memory.offHeap.enabled", "true"}, {"spark.memory.offHeap.size", "0"}},
     {{"spark.memory.offHeap.enabled", "false"}, {"spark.memory.offHeap.size", "0"}}},
    {"resource_amounts",
     "3.5.1",
     0,
     0,
     {{"spark.task.resource.gpu.amount", "0.6"}},
     {{"spark.task.resource.gpu.amount", "0.5"}}},
    {"resource_amounts",
     "4.0.0",
     0,
     0,
     {{"spark.task.resource.gpu.amount", "1.5"}},
     {{"spark.task.resource.gpu.amount", "0.6"}}},
    {"resource_amounts",
     "3.5.1",
     0,
     0,
     {{"spark.executor.resource.fpga.amount", "1"}, {"spark.task.resource.fpga.amount", "2"}},
     {{"spark.executor.resource.gpu.amount", "1"}, {"spark.task.resource.fpga.amount", "2"}}},
    {"property_types",
     "3.5.1",
     0,
     0,
     {{"spark.executor.resource.gpu.amount", "0.5"}},
     {{"spark.executor.resource.gpu.discoveryScript", "0.5"}}},
    {"executor_total",
     "3.5.1",
     0,
     0,
     {{"spark.executor.memory", "1t"}, {"spark.executor.memoryOverhead", "2147483647"}},
     {{"spark.executor.memory", "1t"}, {"spark.executor.memoryOverhead", "2146435071"}}},
    {"heartbeat",
     "2.4.0",
     0,
     0,
     {{"spark.executor.heartbeatInterval", "10000"}, {"spark.network.timeout", "10"}},
     {{"spark.executor.heartbeatInterval", "9999"}, {"spark.network.timeout", "10s"}}},
    {"barrier_allocation", "3.5.1", 0, 2, {ON}, {{DYNAMIC "enabled", "false"}}},
    {"barrier_slots",
     "3.5.1",
     0,
     5,
     {{"spark.executor.instances", "2"}, {"spark.executor.cores", "5"}, {"spark.task.cpus", "3"}},
     {{"spark.executor.instances", "5"}, {"spark.executor.cores", "5"}, {"spark.task.cpus", "3"}}},
    {"kubernetes_cpu",
     "3.5.1",
     0,
     0,
     {{"spark.kubernetes.executor.request.cores", "1.1"},
      {"spark.kubernetes.executor.limit.cores", "1000m"}},
     {{"spark.kubernetes.executor.request.cores", "1"},
      {"spark.kubernetes.executor.limit.cores", "1000m"}}},
    {"kubernetes_cpu",
     "3.5.1",
     0,
     0,
     {{"spark.executor.cores", "2"}, {"spark.kubernetes.executor.limit.cores", "1"}},
     {{"spark.executor.cores", "2"},
      {"spark.kubernetes.executor.request.cores", "1"},
      {"spark.kubernetes.executor.limit.cores", "1"}}},
    {"no_shuffle_service",
     "3.5.1",
     STARTUP_KUBERNETES,
     0,
     {{"spark.shuffle.service.enabled", " true "}},
     {{"spark.shuffle.service.enabled", "false"}}},
    {"kubernetes_allocation", "2.4.0", STARTUP_KUBERNETES, 0, {ON}, {{DYNAMIC "enabled", "false"}}},
    {"serverless_max_executors",
     "3.5.1",
     STARTUP_SERVERLESS,
     0,
     {{DYNAMIC "maxExecutors", "2"}},
     {{DYNAMIC "maxExecutors", "2"}, {DYNAMIC "enabled", "false"}}},
    {"serverless_worker",
     "3.5.1",
     STARTUP_SERVERLESS,
     0,
     {{"spark.executor.cores", "4"},
      {"spark.executor.memory", "30g"},
      {"spark.executor.memoryOverhead", "1g"}},
     {{"spark.executor.cores", "4"},
      {"spark.executor.memory", "29g"},
      {"spark.executor.memoryOverhead", "1024"}}},
    {"databricks_workers",
     "3.5.1",
     STARTUP_DATABRICKS,
     0,
     {{"spark.executor.cores", "4"}},
     {{DYNAMIC "maxExecutors", "1"}}},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const struct startup_rule *rule_of(const char *id)
{
    for (size_t i = 0; i < startup_rules_n; i++)
        if (strcmp(startup_rules[i].id, id) == 0)
            return &startup_rules[i];
    cr_assert_fail("no rule %s", id);
    return NULL;
}

static struct startup_settings
settings_of(size_t row, const char *const set[PROPERTIES][2], struct run_label labels[PROPERTIES])
{
    size_t n = 0;
    for (; n < PROPERTIES && set[n][0] != NULL; n++)
        labels[n] = (struct run_label){strview_of(set[n][0]), strview_of(set[n][1])};
    return (struct startup_settings){.properties = labels,
                                     .n = n,
                                     .n_set = n,
                                     .version = strview_of(rows[row].version),
                                     .places = rows[row].places,
                                     .barrier_tasks = rows[row].barrier_tasks};
}

Test(startup_rules, each_refuses_and_accepts)
{
    struct run_label labels[PROPERTIES];
    for (size_t row = 0; row < ROWS; row++) {
        const struct startup_rule *rule = rule_of(rows[row].id);
        struct startup_settings settings = settings_of(row, rows[row].refused, labels);
        cr_expect_not(rule->holds(&settings), "row %zu, %s", row, rule->id);
        const struct startup_rule *broken = startup_broken(&settings);
        cr_assert_not_null(broken, "row %zu, %s", row, rule->id);
        if (rule->places == STARTUP_SPARK)
            cr_expect_str_eq(broken->id, rule->id, "row %zu", row);
        settings = settings_of(row, rows[row].accepted, labels);
        cr_expect(rule->holds(&settings), "row %zu, %s", row, rule->id);
    }
}

Test(startup_rules, each_has_a_row_here_a_sentence_and_a_source)
{
    for (size_t i = 0; i < startup_rules_n; i++) {
        bool found = false;
        for (size_t row = 0; row < ROWS; row++)
            found = found || strcmp(rows[row].id, startup_rules[i].id) == 0;
        cr_expect(found, "%s", startup_rules[i].id);
        cr_expect(strlen(startup_rules[i].sentence) > 20 && strlen(startup_rules[i].sentence) < 100,
                  "%s", startup_rules[i].id);
        cr_expect_neq(startup_rules[i].source[0], '\0');
        cr_expect_not_null(startup_rules[i].keys[0]);
        for (size_t j = 0; j < i; j++)
            cr_expect_str_neq(startup_rules[i].id, startup_rules[j].id);
    }
}

Test(startup_rules, versions_before_and_after_a_rule_are_left_alone)
{
    static const struct run_label heap[] = {{{"spark.executor.memory", 21}, {"300m", 4}}};
    struct startup_settings settings = {
        .properties = heap, .n = 1, .n_set = 1, .version = {"1.5.2", 5}};
    cr_expect_null(startup_broken(&settings));
    settings.version = strview_of("1.6.0");
    cr_expect_str_eq(startup_broken(&settings)->id, "executor_memory");
    settings.version = strview_of("no version");
    cr_expect_str_eq(startup_broken(&settings)->id, "executor_memory");
}

Test(startup_rules, only_rules_about_properties_that_are_to_be_set)
{
    static const struct run_label cores_first[] = {{{"spark.executor.cores", 20}, {"4", 1}},
                                                   {{"spark.executor.memory", 21}, {"300m", 4}},
                                                   {{"spark.speculation", 17}, {"on", 2}}};
    struct startup_settings settings = {.properties = cores_first, .n = 3, .n_set = 1};
    cr_expect_null(startup_broken(&settings));
    settings.n_set = 2;
    cr_expect_str_eq(startup_broken(&settings)->id, "executor_memory");
    settings.n_set = 3;
    cr_expect_str_eq(startup_broken(&settings)->id, "property_types");
}

Test(startup_rules, causes_are_the_properties_of_the_rule)
{
    static const struct run_label set[] = {{{"spark.app.name", 14}, {"a", 1}},
                                           {{"spark.executor.cores", 20}, {"3", 1}},
                                           {{"spark.task.cpus", 15}, {"4", 1}}};
    static const struct run_label typed[] = {{{"spark.executor.cores", 20}, {"4", 1}},
                                             {{"spark.task.cpus", 15}, {"1e0", 3}}};
    struct startup_settings settings = {.properties = set, .n = 3, .n_set = 3};
    const struct run_label *first;
    cr_expect_eq(startup_causes(startup_broken(&settings), &settings, &first), 2);
    cr_expect_eq(first, &set[1]);
    settings = (struct startup_settings){.properties = typed, .n = 2, .n_set = 2};
    cr_expect_eq(startup_causes(startup_broken(&settings), &settings, &first), 1);
    cr_expect_eq(first, &typed[1]);
}

Test(startup_rules, the_sentence_names_two_properties)
{
    static const struct run_label set[] = {{{"spark.executor.cores", 20}, {"3", 1}},
                                           {{"spark.task.cpus", 15}, {"4", 1}}};
    struct startup_settings settings = {.properties = set, .n = 2, .n_set = 2};
    static const struct run_label typed[] = {{{"spark.task.cpus", 15}, {"4d", 2}}};
    struct arena arena;
    arena_init(&arena, 0);
    cr_expect_str_eq(startup_describe(startup_broken(&settings), &settings, &arena),
                     "spark.task.cpus must not be more than spark.executor.cores "
                     "(spark.executor.cores 3, spark.task.cpus 4)");
    settings = (struct startup_settings){.properties = typed, .n = 1, .n_set = 1};
    cr_expect_str_eq(startup_describe(startup_broken(&settings), &settings, &arena),
                     "spark.task.cpus must be a whole number from 1 to 2147483647 (it is 4d)");
    arena_fini(&arena);
}
