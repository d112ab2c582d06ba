/* Spark properties of advised executors, and those that start the job otherwise. */
#include "core/advice/spark_advice.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct arena arena;
static struct history_prediction prediction;
static struct spark_constraints constraints;
static struct spark_configuration made;
static struct advice advice;

#define DYNAMIC "spark.dynamicAllocation."
#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }

static void set_up(void)
{
    arena_init(&arena, 0);
    constraints = (struct spark_constraints){0};
    prediction = (struct history_prediction){.spark = {.version = strview_of("3.5.1"),
                                                       .executors = 8,
                                                       .cores_per_executor = 4,
                                                       .shuffle_bytes = (double)NAN}};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(spark_advice, .init = set_up, .fini = tear_down);

/* For 6 executors of 4 cores, with these properties enforced. */
static void make(struct run_label *enforced, size_t n)
{
    constraints.enforced = enforced;
    constraints.n_enforced = n;
    advice = (struct advice){.recommendation = {.executors = 6},
                             .reasons = {.arena = &arena},
                             .warnings = {.arena = &arena}};
    cr_assert_eq(spark_advise(&prediction, &constraints, 4, NULL, &arena, &advice, &made, NULL),
                 PV_OK);
}

static void expect_difference(const char *message)
{
    cr_assert_eq(advice.warnings.n, 1);
    cr_expect_str_eq(advice.warnings.items[0].code, "properties_differ");
    cr_expect_str_eq(advice.warnings.items[0].message, message);
}

Test(spark_advice, properties_that_start_the_job_otherwise)
{
    make(NULL, 0);
    cr_expect_eq(advice.warnings.n, 0);
    struct run_label instances[] = {PROPERTY("spark.executor.instances", "6")};
    make(instances, 1);
    cr_expect_eq(advice.warnings.n, 0);
    instances[0].value = strview_of("1");
    make(instances, 1);
    expect_difference(
        "Properties that are enforced or preserved start the job with 1 executor of 4 "
        "cores instead of the recommended 6 of 4: the prediction does not hold for "
        "these.");
    struct run_label cores[] = {PROPERTY("spark.executor.cores", "1")};
    make(cores, 1);
    expect_difference("Properties that are enforced or preserved start the job with 6 executors of "
                      "1 core instead of the recommended 6 of 4: the prediction does not hold for "
                      "these.");
    cr_expect_eq(finding_value(&advice.warnings.items[0], "cores_per_executor"), 1);
}

/* With dynamic allocation the initial executors start the job, or the most there may be. */
Test(spark_advice, dynamic_allocation_that_starts_otherwise)
{
    static const struct run_label ran[] = {PROPERTY(DYNAMIC "enabled", "true")};
    prediction.spark.properties = ran;
    prediction.spark.n = 1;
    make(NULL, 0);
    cr_assert(made.dynamic_allocation);
    cr_expect_eq(advice.warnings.n, 0);
    struct run_label initial[] = {PROPERTY(DYNAMIC "initialExecutors", "2"),
                                  PROPERTY(DYNAMIC "minExecutors", "1")};
    make(initial, 2);
    expect_difference("Properties that are enforced or preserved start the job with 2 executors of "
                      "4 cores instead of the recommended 6 of 4: the prediction does not hold for "
                      "these.");
    struct run_label most[] = {PROPERTY(DYNAMIC "maxExecutors", "9")};
    make(most, 1);
    expect_difference("Properties that are enforced or preserved start the job with 9 executors of "
                      "4 cores instead of the recommended 6 of 4: the prediction does not hold for "
                      "these.");
}

/* The author's minExecutors stays, and the warning says what starts more executors. */
Test(spark_advice, least_executors_that_start_the_job_otherwise)
{
    static const struct run_label ran[] = {PROPERTY(DYNAMIC "enabled", "true"),
                                           PROPERTY(DYNAMIC "minExecutors", "8")};
    prediction.spark.properties = ran;
    prediction.spark.n = 2;
    make(NULL, 0);
    expect_difference("spark.dynamicAllocation.minExecutors, which is kept, starts the job with 8 "
                      "executors of 4 cores instead of the recommended 6 of 4: the prediction does "
                      "not hold for these.");
}

static const char *split_size(void)
{
    constraints.apply = PROPOSAL_PARTITIONS;
    make(NULL, 0);
    for (size_t i = 0; i < made.n; i++)
        if (strcmp(made.properties[i].key, "spark.sql.files.maxPartitionBytes") == 0)
            return made.properties[i].value;
    return "none";
}

/* 4 tasks read 1.5 GiB each: on 6 x 4 cores splits are of 256 MiB, on 6 x 2 task slots of 512 MiB. */
Test(spark_advice, cures_are_for_the_task_slots_advised)
{
    struct findings findings = {.arena = &arena};
    struct finding *note = finding_add(&findings, "too_few_tasks", "It is slow.");
    finding_number(note, "tasks", 4);
    finding_number(note, "bytes_per_task", 1.5 * (1 << 30));
    struct bottleneck item = {.kind = BOTTLENECK_TOO_FEW_TASKS,
                              .stage_id = 1,
                              .from_storage = true,
                              .cure = "Do it.",
                              .finding = *note};
    prediction.bottlenecks = (struct bottlenecks){.items = &item, .n = 1};
    cr_expect_str_eq(split_size(), "256m");
    prediction.curve.n_slots = 1;
    prediction.curve.slots[0].per_executor = 2;
    cr_expect_str_eq(split_size(), "512m");
    prediction.curve.slots[0].per_executor = 5;
    cr_expect_str_eq(split_size(), "256m");
}

/* A heap that was too small, and its remedy is only proposed: said before all else. */
Test(spark_advice, a_run_out_of_memory_is_said_first)
{
    static struct run_label instances[] = {PROPERTY("spark.executor.instances", "9")};
    const struct memory_plan memory = {
        .known = true,
        .basis = MEMORY_OUT_OF_MEMORY,
        .n_properties = 1,
        .properties = {{"spark.executor.memory", "12g", "it ran out", PROPOSAL_MEMORY}}};
    constraints.enforced = instances;
    constraints.n_enforced = 1;
    for (unsigned apply = 0; apply <= PROPOSAL_MEMORY; apply++) {
        constraints.apply = apply;
        advice = (struct advice){.recommendation = {.executors = 6},
                                 .reasons = {.arena = &arena},
                                 .warnings = {.arena = &arena}};
        (void)finding_add(&advice.reasons, "memory", "It ran out.");
        cr_assert_eq(
            spark_advise(&prediction, &constraints, 4, &memory, &arena, &advice, &made, NULL),
            PV_OK);
        cr_assert_eq(advice.warnings.n, apply == 0 ? 2 : 1);
        cr_expect_str_eq(advice.warnings.items[0].code,
                         apply == 0 ? "memory_not_applied" : "properties_differ");
    }
    constraints.apply = 0;
    struct strview key = strview_of("spark.executor.memory");
    constraints.exclude = &key;
    constraints.n_exclude = 1;
    advice.warnings.n = 0;
    cr_assert_eq(spark_advise(&prediction, &constraints, 4, &memory, &arena, &advice, &made, NULL),
                 PV_OK);
    cr_expect_null(finding_find(&advice.warnings, "memory_not_applied"), "it is not proposed");
}

/* No number is recommended that is late. */
Test(spark_advice, executors_that_are_late_are_the_closest)
{
    advice = (struct advice){.recommendation = {.executors = 6}, .warnings = {.arena = &arena}};
    for (int missed = 0; missed < 2; missed++) {
        advice.verdict = missed ? ADVISE_MISSED : ADVISE_AT_RISK;
        cr_assert_eq(spark_advise(&prediction, &constraints, 4, NULL, &arena, &advice, &made, NULL),
                     PV_OK);
        cr_assert_eq(made.n_changes, 1);
        cr_expect_str_eq(made.changes[0].reason,
                         missed ? "the closest allowed executors" : "the recommended executors");
    }
}

/* A fixed number that is to be kept; none with dynamic allocation. */
Test(spark_advice, executors_to_keep)
{
    static const struct run_label ran[] = {PROPERTY("spark.executor.instances", "5"),
                                           PROPERTY(DYNAMIC "enabled", "true")};
    static const struct strview preserve[] = {{"spark.executor.instances", 24}};
    prediction.spark.properties = ran;
    prediction.spark.n = 1;
    cr_expect_eq(spark_kept_executors(&prediction.spark, &constraints), RUN_UNKNOWN);
    constraints.preserve = preserve;
    constraints.n_preserve = 1;
    cr_expect_eq(spark_kept_executors(&prediction.spark, &constraints), 5);
    prediction.spark.n = 2;
    cr_expect_eq(spark_kept_executors(&prediction.spark, &constraints), RUN_UNKNOWN);
}
