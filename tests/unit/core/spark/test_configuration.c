#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/spark/configuration.h"
#include "core/spark/property_value.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(spark_configuration, .init = set_up, .fini = tear_down, .timeout = 20);

#define DYNAMIC "spark.dynamicAllocation."
#define REQUEST_CORES "spark.kubernetes.executor.request.cores"
#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }

static struct spark_before ran(const struct run_label properties[], size_t n)
{
    return (struct spark_before){.properties = properties,
                                 .n = n,
                                 .version = strview_of("3.5.1"),
                                 .executors = RUN_UNKNOWN,
                                 .cores_per_executor = RUN_UNKNOWN,
                                 .shuffle_bytes = (double)NAN};
}

static struct spark_configuration make(const struct spark_before *before,
                                       const struct spark_constraints *spark_constraints,
                                       int64_t executors,
                                       int64_t cores)
{
    struct spark_configuration made;
    struct pv_error err = {0};
    cr_assert_eq(spark_configuration_make(before, spark_constraints, executors, cores, NULL, NULL,
                                          0, &arena, &made, &err),
                 PV_OK);
    return made;
}

static const char *value_of(const struct spark_configuration *made, const char *key)
{
    for (size_t i = 0; i < made->n; i++)
        if (strcmp(made->properties[i].key, key) == 0)
            return made->properties[i].value;
    return NULL;
}

static const struct spark_change *change_of(const struct spark_configuration *made, const char *key)
{
    for (size_t i = 0; i < made->n_changes; i++)
        if (strcmp(made->changes[i].key, key) == 0)
            return &made->changes[i];
    return NULL;
}

static void expect(const struct spark_configuration *made, const char *key, const char *value)
{
    const char *found = value_of(made, key);
    cr_assert_not_null(found, "%s", key);
    cr_assert_str_eq(found, value, "%s is %s", key, found);
}

/* Nothing is known of what ran but its size: instances and cores, and the change of the one. */
Test(spark_configuration, static_executors)
{
    struct spark_before before = ran(NULL, 0);
    before.executors = 8;
    before.cores_per_executor = 4;
    const struct spark_constraints none = {0};
    struct spark_configuration made = make(&before, &none, 6, 4);
    cr_assert_eq(made.n, 2);
    expect(&made, "spark.executor.instances", "6");
    expect(&made, "spark.executor.cores", "4");
    cr_assert_eq(made.n_changes, 1);
    cr_assert_str_eq(made.changes[0].old_value, "8");
    cr_assert(made.changes[0].is_scale);
}

/* The job ran with dynamic allocation and instances that were its initial number only. */
Test(spark_configuration, dynamic_allocation_as_it_ran)
{
    static const struct run_label properties[] = {
        PROPERTY(DYNAMIC "enabled", "true"),     PROPERTY(DYNAMIC "minExecutors", "9"),
        PROPERTY("spark.executor.cores", "4"),   PROPERTY("spark.executor.instances", "2"),
        PROPERTY("spark.executor.memory", "8g"),
    };
    const struct spark_before before = ran(properties, 5);
    const struct spark_constraints none = {0};
    struct spark_configuration made = make(&before, &none, 6, 4);
    cr_assert(made.dynamic_allocation);
    expect(&made, DYNAMIC "enabled", "true");
    expect(&made, DYNAMIC "maxExecutors", "9");
    expect(&made, DYNAMIC "initialExecutors", "9");
    expect(&made, DYNAMIC "minExecutors", "9");
    cr_assert_null(change_of(&made, DYNAMIC "minExecutors"));
    cr_expect_str_eq(change_of(&made, DYNAMIC "maxExecutors")->reason,
                     "no less than the initial and the least executors, which stay");
    cr_expect_str_eq(change_of(&made, DYNAMIC "initialExecutors")->reason,
                     "no less than the least executors, which stay");
    expect(&made, DYNAMIC "shuffleTracking.enabled", "true");
    expect(&made, "spark.executor.memory", "8g");
    cr_assert_null(value_of(&made, "spark.executor.instances"));
    const struct spark_change *removed = change_of(&made, "spark.executor.instances");
    cr_assert_str_eq(removed->old_value, "2");
    cr_assert_null(removed->new_value);
    cr_assert_null(change_of(&made, "spark.executor.memory"));
    cr_assert_null(change_of(&made, DYNAMIC "enabled"));

    const struct spark_constraints fixed = {.allocation = SPARK_ALLOCATION_STATIC};
    made = make(&before, &fixed, 6, 4);
    expect(&made, DYNAMIC "enabled", "false");
    expect(&made, "spark.executor.instances", "6");
    cr_assert_null(change_of(&made, DYNAMIC "minExecutors")->new_value);
}

/* The author's least number is above what the caller allows: it is lowered to that. */
Test(spark_configuration, the_least_executors_are_no_more_than_the_caller_allows)
{
    static const struct run_label properties[] = {PROPERTY(DYNAMIC "enabled", "true"),
                                                  PROPERTY(DYNAMIC "maxExecutors", "20"),
                                                  PROPERTY(DYNAMIC "minExecutors", "8")};
    const struct spark_before before = ran(properties, 3);
    struct spark_constraints bounded = {.max_executors = 5};
    struct spark_configuration made = make(&before, &bounded, 2, 4);
    expect(&made, DYNAMIC "minExecutors", "5");
    expect(&made, DYNAMIC "initialExecutors", "5");
    expect(&made, DYNAMIC "maxExecutors", "5");
    cr_expect_str_eq(change_of(&made, DYNAMIC "minExecutors")->old_value, "8");
    bounded.max_executors = 12;
    made = make(&before, &bounded, 2, 4);
    expect(&made, DYNAMIC "minExecutors", "8");
    expect(&made, DYNAMIC "maxExecutors", "8");
}

/* Shuffle tracking came with Spark 3.0; before it the external service is needed. */
Test(spark_configuration, shuffle_output_outlives_its_executors)
{
    struct spark_before before = ran(NULL, 0);
    const struct spark_constraints spark_constraints = {.allocation = SPARK_ALLOCATION_DYNAMIC};
    before.version = strview_of("2.4.8");
    struct spark_configuration made = make(&before, &spark_constraints, 6, 4);
    expect(&made, "spark.shuffle.service.enabled", "true");
    cr_assert_null(value_of(&made, DYNAMIC "shuffleTracking.enabled"));
    static const struct run_label service[] = {PROPERTY("spark.shuffle.service.enabled", "TRUE")};
    before = ran(service, 1);
    made = make(&before, &spark_constraints, 6, 4);
    cr_assert_not_null(value_of(&made, "spark.shuffle.service.enabled"));
    cr_assert_null(value_of(&made, DYNAMIC "shuffleTracking.enabled"));
    static const struct run_label off[] = {PROPERTY("spark.shuffle.service.enabled", "false")};
    const struct spark_constraints without = {
        .allocation = SPARK_ALLOCATION_DYNAMIC, .enforced = off, .n_enforced = 1};
    made = make(&before, &without, 6, 4); /* it is not to run: the driver tracks the output */
    expect(&made, "spark.shuffle.service.enabled", "false");
    expect(&made, DYNAMIC "shuffleTracking.enabled", "true");
}

/* 200 partitions of 1 GiB in all on 24 cores: 9 waves, 5 MiB each. Left alone. On 150 cores the
 * second wave is a third full; on 400 half of the cores idle. */
Test(spark_configuration, partitions_fit_the_cores)
{
    static const struct run_label plain[] = {PROPERTY("spark.sql.adaptive.enabled", "false")};
    struct spark_before before = ran(plain, 1);
    const struct spark_constraints applied = {.apply = PROPOSAL_PARTITIONS};
    const char *const key = "spark.sql.shuffle.partitions";
    struct spark_configuration made = make(&before, &applied, 100, 4);
    cr_assert_null(value_of(&made, key), "no shuffle is known");
    before.shuffle_bytes = 1073741824.0;
    made = make(&before, &applied, 6, 4);
    cr_assert_null(value_of(&made, key));
    made = make(&before, &applied, 100, 4);
    expect(&made, key, "400");
    cr_assert_null(change_of(&made, key)->old_value);
    made = make(&before, &applied, 25, 6);
    expect(&made, key, "150");
    made = make(&before, &applied, 25, 4);
    cr_assert_null(value_of(&made, key), "two whole waves leave no core idle");
    made = make(&before, &applied, 50, 4);
    cr_assert_null(value_of(&made, key), "nor does one");
    before.shuffle_bytes = 0;
    made = make(&before, &applied, 100, 4);
    cr_assert_null(value_of(&made, key), "nothing is shuffled");
    before.shuffle_bytes = 200.0 * 1073741824.0; /* 1 GiB each */
    made = make(&before, &applied, 6, 4);
    expect(&made, key, "1608"); /* 1600 of 128 MiB in waves of 24 */
    before.properties = NULL;
    before.n = 0; /* Spark 3.5 coalesces them itself */
    made = make(&before, &applied, 6, 4);
    cr_assert_null(value_of(&made, key));
}

/* The case above that changes 200 partitions, of a job that sets its own number. */
Test(spark_configuration, what_the_job_sets_itself_is_withheld)
{
    static const struct run_label plain[] = {PROPERTY("spark.sql.adaptive.enabled", "false"),
                                             PROPERTY("spark.sql.shuffle.partitions", "200")};
    static const struct run_label submitted[] = {PROPERTY("spark.sql.shuffle.partitions", "")};
    static const struct run_label enforced[] = {PROPERTY("spark.sql.shuffle.partitions", "77")};
    const char *const key = "spark.sql.shuffle.partitions";
    const struct spark_constraints none = {.apply = PROPOSAL_PARTITIONS};
    const struct spark_constraints forced = {.enforced = enforced, .n_enforced = 1};
    struct spark_before before = ran(plain, 2);
    before.shuffle_bytes = 1073741824.0;
    struct spark_configuration made = make(&before, &none, 100, 4);
    expect(&made, key, "400");
    cr_assert_eq(made.n_withheld, 0);
    before.submitted = submitted;
    before.n_submitted = 1;
    made = make(&before, &none, 100, 4);
    cr_assert_null(value_of(&made, key));
    cr_assert_null(change_of(&made, key));
    cr_assert_eq(made.n_withheld, 1);
    cr_assert_str_eq(made.withheld[0], key);
    made = make(&before, &forced, 100, 4);
    expect(&made, key, "77");
    made = make(&before, &none, 50, 4);
    cr_assert_eq(made.n_withheld, 0, "no other number would be recommended");
}

Test(spark_configuration, constraints_are_followed)
{
    static const struct run_label properties[] = {
        PROPERTY("spark.executor.cores", "2"),
        PROPERTY("spark.executor.memory", "8g"),
    };
    static const struct run_label current[] = {PROPERTY("spark.executor.cores", "4")};
    static const struct run_label enforced[] = {PROPERTY("spark.executor.memory", "16g"),
                                                PROPERTY("spark.speculation", "true")};
    static const struct strview exclude[] = {{"spark.executor.instances", 24}};
    const struct spark_before before = ran(properties, 2);
    const struct spark_constraints spark_constraints = {.current = current,
                                                        .n_current = 1,
                                                        .enforced = enforced,
                                                        .n_enforced = 2,
                                                        .exclude = exclude,
                                                        .n_exclude = 1};
    struct spark_configuration made = make(&before, &spark_constraints, 6, 4);
    cr_assert_null(change_of(&made, "spark.executor.cores"), "it is 4 today");
    expect(&made, "spark.executor.memory", "16g");
    cr_assert_str_eq(change_of(&made, "spark.executor.memory")->old_value, "8g");
    expect(&made, "spark.speculation", "true");
    cr_assert_null(value_of(&made, "spark.executor.instances"));
    cr_assert_null(change_of(&made, "spark.executor.instances"));
    for (size_t i = 1; i < made.n; i++)
        cr_assert_lt(strcmp(made.properties[i - 1].key, made.properties[i].key), 0);
}

/* What the caller fixed is no recommendation, and is not explained as one. */
Test(spark_configuration, a_value_that_is_enforced_has_that_as_its_reason)
{
    static const struct run_label properties[] = {
        PROPERTY("spark.executor.cores", "2"),
        PROPERTY("spark.executor.instances", "3"),
        PROPERTY(DYNAMIC "maxExecutors", "9"),
        PROPERTY(DYNAMIC "minExecutors", "5"),
    };
    static const char *const dynamic[] = {DYNAMIC "enabled", DYNAMIC "initialExecutors",
                                          DYNAMIC "maxExecutors", DYNAMIC "minExecutors"};
    static const struct run_label enforced[] = {
        PROPERTY(DYNAMIC "enabled", "true"), PROPERTY(DYNAMIC "initialExecutors", "4"),
        PROPERTY(DYNAMIC "maxExecutors", "7"), PROPERTY(DYNAMIC "minExecutors", "1")};
    const struct spark_before before = ran(properties, 4);
    const struct spark_constraints all = {.enforced = enforced, .n_enforced = 4};
    struct spark_configuration made = make(&before, &all, 6, 2);
    for (size_t i = 0; i < sizeof dynamic / sizeof *dynamic; i++)
        cr_expect_str_eq(change_of(&made, dynamic[i])->reason, "it is enforced", "%s", dynamic[i]);
    static const struct run_label instances[] = {PROPERTY("spark.executor.instances", "6"),
                                                 PROPERTY("spark.executor.cores", "4")};
    const struct spark_constraints some = {.enforced = instances, .n_enforced = 2};
    made = make(&before, &some, 6, 4);
    cr_assert_str_eq(change_of(&made, "spark.executor.instances")->reason, "it is enforced");
    cr_assert_str_eq(change_of(&made, "spark.executor.cores")->reason, "it is enforced");
    const struct spark_constraints none = {.allocation = SPARK_ALLOCATION_DYNAMIC};
    made = make(&before, &none, 6, 4);
    cr_assert(strstr(change_of(&made, DYNAMIC "maxExecutors")->reason, "recommended") != NULL);

    /* Nine that are preserved are the greatest number, though six are recommended. */
    static const struct strview preserve[] = {{DYNAMIC "minExecutors", sizeof DYNAMIC - 1 + 12}};
    static const struct run_label today[] = {PROPERTY(DYNAMIC "minExecutors", "9"),
                                             PROPERTY(DYNAMIC "maxExecutors", "20")};
    const struct spark_constraints kept = {.allocation = SPARK_ALLOCATION_DYNAMIC,
                                           .current = today,
                                           .n_current = 2,
                                           .preserve = preserve,
                                           .n_preserve = 1};
    made = make(&before, &kept, 6, 4);
    expect(&made, DYNAMIC "maxExecutors", "9");
    cr_assert_null(strstr(change_of(&made, DYNAMIC "maxExecutors")->reason, "recommended"));
}

/* An enforced property that no recommendation is made of is a change where it is new or differs, and
 * none where the job ran with it. */
Test(spark_configuration, an_enforced_property_is_a_change_only_where_it_differs)
{
    static const struct run_label enforced[] = {PROPERTY("spark.speculation", "true")};
    static const struct run_label with[] = {PROPERTY("spark.speculation", "true")};
    static const struct run_label without[] = {PROPERTY("spark.speculation", "false")};
    const struct spark_constraints constraints = {.enforced = enforced, .n_enforced = 1};
    const struct spark_before nothing = ran(NULL, 0), before = ran(with, 1),
                              other = ran(without, 1);
    struct spark_configuration made = make(&nothing, &constraints, 6, 4);
    const struct spark_change *change = change_of(&made, "spark.speculation");
    cr_assert_not_null(change);
    cr_expect_null(change->old_value);
    cr_expect_str_eq(change->new_value, "true");
    cr_expect_str_eq(change->reason, "it is enforced");
    made = make(&before, &constraints, 6, 4);
    cr_expect_null(change_of(&made, "spark.speculation"));
    expect(&made, "spark.speculation", "true");
    made = make(&other, &constraints, 6, 4);
    cr_expect_str_eq(change_of(&made, "spark.speculation")->old_value, "false");
}

/* spark.dynamicAllocation.enabled alone decides, whatever the job ran with. */
Test(spark_configuration, enforced_dynamic_allocation_overrides_what_ran)
{
    static const struct run_label dynamic[] = {PROPERTY(DYNAMIC "enabled", "true"),
                                               PROPERTY(DYNAMIC "maxExecutors", "9")};
    static const struct run_label fixed[] = {PROPERTY("spark.executor.instances", "3")};
    static const struct run_label off[] = {PROPERTY(DYNAMIC "enabled", "false")};
    static const struct run_label on[] = {PROPERTY(DYNAMIC "enabled", "true")};
    const struct spark_before was_dynamic = ran(dynamic, 2), was_static = ran(fixed, 1);
    const struct spark_constraints turn_off = {.enforced = off, .n_enforced = 1};
    const struct spark_constraints turn_on = {.enforced = on, .n_enforced = 1};
    struct spark_configuration made = make(&was_dynamic, &turn_off, 6, 4);
    cr_expect_not(made.dynamic_allocation);
    expect(&made, "spark.executor.instances", "6");
    cr_expect_null(value_of(&made, DYNAMIC "maxExecutors"));
    made = make(&was_static, &turn_on, 6, 4);
    cr_expect(made.dynamic_allocation);
    expect(&made, DYNAMIC "maxExecutors", "6");
    cr_expect_null(value_of(&made, "spark.executor.instances"));
    const struct spark_constraints instances = {.enforced = fixed, .n_enforced = 1};
    cr_expect_not(spark_is_dynamic(&was_dynamic, &instances), "three and no other number");
    made = make(&was_dynamic, &instances, 6, 4);
    cr_expect_not(made.dynamic_allocation);
    expect(&made, "spark.executor.instances", "3");
}

/* 1.6 of 2 cores are 3.2 of 4, in steps of 0.05. */
Test(spark_configuration, quotas_of_kubernetes_stay_in_proportion)
{
    static const struct run_label properties[] = {
        PROPERTY("spark.executor.cores", "2"),
        PROPERTY("spark.kubernetes.executor.limit.cores", "2"),
        PROPERTY("spark.kubernetes.executor.request.cores", "1600m"),
    };
    const struct spark_before before = ran(properties, 3);
    const struct spark_constraints none = {0};
    struct spark_configuration made = make(&before, &none, 6, 4);
    expect(&made, "spark.kubernetes.executor.request.cores", "3200m");
    expect(&made, "spark.kubernetes.executor.limit.cores", "4");
    made = make(&before, &none, 6, 3);
    expect(&made, "spark.kubernetes.executor.request.cores", "2400m");
    made = make(&before, &none, 6, 2);
    expect(&made, "spark.kubernetes.executor.request.cores", "1600m");
    cr_assert_null(change_of(&made, "spark.kubernetes.executor.request.cores"));
    static const struct run_label enforced[] = {
        PROPERTY("spark.kubernetes.executor.limit.cores", "2.5")};
    const struct spark_constraints spark_constraints = {.enforced = enforced, .n_enforced = 1};
    made = make(&before, &spark_constraints, 6, 4);
    expect(&made, "spark.kubernetes.executor.limit.cores", "2.5");
    expect(&made, "spark.kubernetes.executor.request.cores", "2500m");
    const struct spark_before unset = ran(NULL, 0);
    made = make(&unset, &none, 6, 4);
    cr_assert_null(value_of(&made, "spark.kubernetes.executor.request.cores"));
}

/* The cores that an executor had are those of its property; without one, those that it ran with. */
Test(spark_configuration, quotas_are_in_proportion_to_the_cores_there_were)
{
    static const char key[] = REQUEST_CORES;
    static const struct run_label single[] = {PROPERTY("spark.executor.cores", "1"),
                                              PROPERTY(REQUEST_CORES, "800m")};
    static const struct run_label alone[] = {PROPERTY(REQUEST_CORES, "0.80")};
    const struct spark_constraints none = {0};
    struct spark_before before = ran(single, 2);
    before.cores_per_executor = 2; /* it ran before the property was set */
    struct spark_configuration made = make(&before, &none, 6, 2);
    expect(&made, key, "1600m");
    before.properties = alone;
    before.n = 1;
    made = make(&before, &none, 6, 4);
    expect(&made, key, "1600m");
    made = make(&before, &none, 6, 2);
    expect(&made, key, "0.80"); /* in its own words */
    cr_assert_null(change_of(&made, key));
    before.cores_per_executor = RUN_UNKNOWN;
    made = make(&before, &none, 6, 4);
    expect(&made, key, "0.80");
}

/* Of the memory and the cures the values and the reasons are taken over; what they do not name stays
 * as it ran. */
Test(spark_configuration, memory_and_cures_are_taken_over)
{
    static const struct run_label properties[] = {PROPERTY("spark.executor.memory", "8g"),
                                                  PROPERTY("spark.memory.fraction", "0.5")};
    static const struct spark_property_plan cures[] = {
        {"spark.sql.adaptive.enabled", "true", "partitions differ", PROPOSAL_PARTITIONS},
        {"a.first", "1", "it cures", PROPOSAL_SPECULATION}};
    const struct spark_before before = ran(properties, 2);
    const struct spark_constraints all = {.apply = PROPOSAL_MEMORY | PROPOSAL_PARTITIONS |
                                                   PROPOSAL_SPECULATION};
    const struct memory_plan memory = {
        .n_properties = 2,
        .properties = {
            {"spark.executor.memory", "4g", "the runs used less", PROPOSAL_MEMORY},
            {"spark.executor.memoryOverhead", "819m", "it would shrink", PROPOSAL_MEMORY}}};
    struct spark_configuration made;
    struct pv_error err = {0};
    cr_assert_eq(
        spark_configuration_make(&before, &all, 6, 4, &memory, cures, 2, &arena, &made, &err),
        PV_OK);
    cr_assert_eq(made.n_proposals, 0);
    expect(&made, "spark.executor.memory", "4g");
    expect(&made, "spark.executor.memoryOverhead", "819m");
    expect(&made, "spark.memory.fraction", "0.5");
    expect(&made, "spark.sql.adaptive.enabled", "true");
    cr_expect_str_eq(made.properties[0].key, "a.first");
    const struct spark_change *change = change_of(&made, "spark.executor.memory");
    cr_expect_str_eq(change->old_value, "8g");
    cr_expect_str_eq(change->reason, "the runs used less");
    cr_expect_str_eq(change_of(&made, "spark.executor.memoryOverhead")->reason, "it would shrink");
    cr_expect_str_eq(change_of(&made, "a.first")->reason, "it cures");
    cr_expect_null(change_of(&made, "spark.memory.fraction"));
}

/* What is not applied is a proposal, memory first; its property stays as it ran, or is not set. */
Test(spark_configuration, only_kinds_that_are_applied_are_set)
{
    static const struct run_label properties[] = {PROPERTY("spark.executor.memory", "8g")};
    static const struct run_label enforced[] = {PROPERTY("spark.speculation", "false")};
    static const struct spark_property_plan cures[] = {
        {"spark.speculation", "true", "a straggler", PROPOSAL_SPECULATION},
        {"spark.sql.files.maxPartitionBytes", "21m", "few tasks", PROPOSAL_PARTITIONS}};
    const struct spark_before before = ran(properties, 1);
    const struct memory_plan memory = {
        .n_properties = 1,
        .properties = {{"spark.executor.memory", "12g", "it ran out", PROPOSAL_MEMORY}}};
    struct spark_constraints constraints = {0};
    struct spark_configuration made;
    struct pv_error err = {0};
#define MAKE()                                                                                     \
    cr_assert_eq(spark_configuration_make(&before, &constraints, 6, 4, &memory, cures, 2, &arena,  \
                                          &made, &err),                                            \
                 PV_OK)
    MAKE();
    cr_assert_eq(made.n_proposals, 3);
    cr_expect_str_eq(made.proposals[0].key, "spark.executor.memory");
    cr_expect_str_eq(made.proposals[0].old_value, "8g");
    cr_expect_str_eq(made.proposals[0].new_value, "12g");
    cr_expect_str_eq(made.proposals[1].key, "spark.speculation");
    cr_expect_null(made.proposals[1].old_value);
    cr_expect_str_eq(made.proposals[2].reason, "few tasks");
    expect(&made, "spark.executor.memory", "8g");
    cr_assert_null(value_of(&made, "spark.speculation"));
    cr_assert_null(change_of(&made, "spark.executor.memory"));

    constraints.apply = PROPOSAL_MEMORY;
    MAKE();
    cr_assert_eq(made.n_proposals, 2);
    expect(&made, "spark.executor.memory", "12g");

    constraints = (struct spark_constraints){.enforced = enforced, .n_enforced = 1};
    MAKE();
    expect(&made, "spark.speculation", "false");
    cr_assert_eq(made.n_proposals, 2, "what the caller enforces is no proposal");

    const struct strview key = strview_of("spark.executor.memory");
    constraints = (struct spark_constraints){.exclude = &key, .n_exclude = 1};
    MAKE();
    cr_assert_eq(made.n_proposals, 2, "what the caller excludes is not proposed");
    cr_assert_null(value_of(&made, "spark.executor.memory"));
#undef MAKE
}

/* --- whatever the input --- */

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

static const char *const keys[] = {
    DYNAMIC "enabled",
    DYNAMIC "initialExecutors",
    DYNAMIC "maxExecutors",
    DYNAMIC "minExecutors",
    DYNAMIC "shuffleTracking.enabled",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.kubernetes.executor.limit.cores",
    "spark.kubernetes.executor.request.cores",
    "spark.shuffle.service.enabled",
    "spark.sql.adaptive.enabled",
    "spark.sql.shuffle.partitions",
    "spark.task.cpus",
};
enum { KEYS = sizeof keys / sizeof *keys };

static const char *draw_value(size_t key)
{
    static const char *const booleans[] = {"true", "false", "yes", ""};
    static const char *const counts[] = {"1", "2", "7", "40", "300", "0", "many"};
    bool is_boolean = strstr(keys[key], "enabled") != NULL;
    static const char *const quotas[] = {"1", "1600m", "2.5", "0.7", "0", "-1", "half"};
    if (strstr(keys[key], "kubernetes") != NULL)
        return quotas[draw(7)];
    if (strcmp(keys[key], "spark.executor.memory") == 0)
        return "8g";
    return is_boolean ? booleans[draw(4)] : counts[draw(7)];
}

static size_t draw_properties(struct run_label properties[KEYS])
{
    size_t n = 0;
    for (size_t i = 0; i < KEYS; i++)
        if (draw(2) == 0)
            properties[n++] = (struct run_label){strview_of(keys[i]), strview_of(draw_value(i))};
    return n;
}

static int64_t count_of(const struct spark_configuration *made, const char *key)
{
    const char *text = value_of(made, key);
    return text == NULL ? RUN_UNKNOWN : property_count(strview_of(text));
}

static void check_coherence(const struct spark_configuration *made)
{
    int64_t least = count_of(made, DYNAMIC "minExecutors");
    int64_t initial = count_of(made, DYNAMIC "initialExecutors");
    int64_t most = count_of(made, DYNAMIC "maxExecutors");
    if (made->dynamic_allocation) {
        cr_assert(0 <= least && least <= initial && initial <= most, "%d %d %d", (int)least,
                  (int)initial, (int)most);
        cr_assert_null(value_of(made, "spark.executor.instances"));
        const char *service = value_of(made, "spark.shuffle.service.enabled");
        const char *tracking = value_of(made, DYNAMIC "shuffleTracking.enabled");
        cr_assert(service != NULL || tracking != NULL || made->refused != NULL);
    } else {
        cr_assert(least == RUN_UNKNOWN && initial == RUN_UNKNOWN && most == RUN_UNKNOWN);
        cr_assert_not_null(value_of(made, "spark.executor.instances"));
    }
    cr_assert_geq(count_of(made, "spark.executor.cores"), 1);
    const char *request = value_of(made, "spark.kubernetes.executor.request.cores");
    const char *limit = value_of(made, "spark.kubernetes.executor.limit.cores");
    if (request != NULL && limit != NULL)
        cr_assert_leq(property_cores(strview_of(request)), property_cores(strview_of(limit)));
    const char *partitions = value_of(made, "spark.sql.shuffle.partitions");
    cr_assert(partitions == NULL || property_count(strview_of(partitions)) > 0);
    for (size_t i = 1; i < made->n; i++)
        cr_assert_lt(strcmp(made->properties[i - 1].key, made->properties[i].key), 0);
    for (size_t i = 0; i < made->n_proposals; i++)
        cr_assert_null(change_of(made, made->proposals[i].key), "proposed and changed");
}

static size_t set(struct run_label properties[], size_t n, const char *key, const char *value)
{
    for (size_t i = 0; i < n; i++)
        if (strview_is(properties[i].key, key)) {
            properties[i].value = strview_of(value);
            return n;
        }
    properties[n++] = (struct run_label){strview_of(key), strview_of(value)};
    return n;
}

/* Configured as advised there is nothing left to change. */
static void check_stays(const struct spark_before *before,
                        const struct spark_constraints *spark_constraints,
                        const struct spark_configuration *made,
                        int64_t executors,
                        int64_t cores)
{
    struct run_label today[64];
    size_t n = 0, kept = 0;
    if (made->refused != NULL) /* nobody configures it so */
        return;
    for (size_t i = 0; i < before->n; i++)
        today[n++] = before->properties[i];
    for (size_t i = 0; i < spark_constraints->n_current; i++)
        n = set(today, n, spark_constraints->current[i].key.at,
                spark_constraints->current[i].value.at);
    for (size_t i = 0; i < made->n; i++)
        n = set(today, n, made->properties[i].key, made->properties[i].value);
    for (size_t i = 0; i < n; i++) {
        const struct spark_change *change = change_of(made, today[i].key.at);
        if (change == NULL || change->new_value != NULL)
            today[kept++] = today[i];
    }
    struct spark_before again = *before;
    again.properties = today;
    again.n = kept;
    const struct spark_constraints none = {.apply = spark_constraints->apply};
    struct spark_configuration twice = make(&again, &none, executors, cores);
    cr_assert_eq(twice.n_changes, 0, "%s: %s to %s", twice.changes[0].key,
                 twice.changes[0].old_value, twice.changes[0].new_value);
}

Test(spark_configuration, is_coherent_whatever_ran)
{
    state = 11;
    for (int round = 0; round < 20000; round++) {
        struct run_label properties[KEYS], current[KEYS];
        struct spark_before before = ran(properties, draw_properties(properties));
        struct spark_constraints spark_constraints = {.allocation = (enum spark_allocation)draw(3),
                                                      .current = current,
                                                      .apply = (unsigned)draw(8)};
        static const char *const versions[] = {"3.5.1", "2.4.0", "3.1.2", "unknown"};
        before.version = strview_of(versions[draw(4)]);
        before.shuffle_bytes = draw(2) == 0 ? (double)NAN : (double)draw(UINT64_C(1) << 31) * 1000;
        before.executors = draw(2) == 0 ? RUN_UNKNOWN : (int64_t)draw(50) + 1;
        spark_constraints.n_current = draw(3) == 0 ? draw_properties(current) : 0;
        int64_t executors = (int64_t)draw(400) + 1, cores = (int64_t)draw(16) + 1;
        struct spark_configuration made = make(&before, &spark_constraints, executors, cores);
        check_coherence(&made);
        check_stays(&before, &spark_constraints, &made, executors, cores);
        arena_fini(&arena);
        arena_init(&arena, 0);
    }
}

/* What Spark reads: the advised value; if none is advised the one that is excluded or that the job sets. */
static int64_t read_by_spark(const struct spark_configuration *made,
                             const struct spark_before *before,
                             const char *key,
                             int64_t otherwise)
{
    const struct spark_change *change = change_of(made, key);
    int64_t count = count_of(made, key);
    if (count == RUN_UNKNOWN && change == NULL)
        count = property_count(property_find(before->properties, before->n, key));
    return count == RUN_UNKNOWN ? otherwise : count;
}

static bool starts(int64_t least, int64_t initial, int64_t instances, int64_t most)
{
    return least <= most && initial <= most && instances <= most;
}

/* Executors that are excluded, or that the job sets itself, count: Spark ends at its start unless
 * max(minExecutors, initialExecutors, instances) <= maxExecutors. */
Test(spark_configuration, spark_starts_whatever_is_left_out)
{
    static const char *const counts[] = {DYNAMIC "initialExecutors", DYNAMIC "maxExecutors",
                                         DYNAMIC "minExecutors", "spark.executor.instances"};
    size_t checked = 0;
    state = 7;
    for (int round = 0; round < 20000; round++) {
        struct run_label properties[5] = {PROPERTY(DYNAMIC "enabled", "true")}, set_by_job[4];
        struct strview exclude[4];
        char texts[4][8];
        int64_t values[4] = {0, INT64_MAX, 0, 0};
        size_t n = 1, n_exclude = 0, n_set = 0;
        for (size_t i = 0; i < 4; i++) {
            if (draw(3) == 0)
                continue;
            values[i] = (int64_t)draw(30) + 1;
            (void)snprintf(texts[i], sizeof texts[i], "%d", (int)values[i]);
            properties[n++] = (struct run_label){strview_of(counts[i]), strview_of(texts[i])};
            uint64_t who = draw(4);
            if (who == 0)
                exclude[n_exclude++] = strview_of(counts[i]);
            else if (who == 1)
                set_by_job[n_set++] = (struct run_label){strview_of(counts[i]), strview_of("")};
        }
        if (!starts(values[2], values[0], values[3], values[1]))
            continue; /* it cannot have run */
        struct spark_before before = ran(properties, n);
        before.submitted = set_by_job;
        before.n_submitted = n_set;
        const struct spark_constraints left_out = {.exclude = exclude, .n_exclude = n_exclude};
        struct spark_configuration made = make(&before, &left_out, (int64_t)draw(40) + 1, 4);
        int64_t read[4];
        for (size_t i = 0; i < 4; i++)
            read[i] = read_by_spark(&made, &before, counts[i], i == 1 ? INT64_MAX : 0);
        cr_assert(starts(read[2], read[0], read[3], read[1]), "%d: %d %d %d above %d", round,
                  (int)read[2], (int)read[0], (int)read[3], (int)read[1]);
        checked++;
        arena_fini(&arena);
        arena_init(&arena, 0);
    }
    cr_assert_gt(checked, 5000);
}

/* Where the job ran, if that platform needs a form of its own. */
Test(spark_configuration, the_platform_of_emr_serverless)
{
    static const struct run_label serverless[] = {PROPERTY("spark.master", SERVERLESS_MASTER)};
    static const struct run_label disk[] = {PROPERTY(SERVERLESS_DISK, "20G")};
    static const struct run_label local[] = {PROPERTY("spark.master", "local[4]")};
    const struct spark_constraints none = {0};
    struct spark_before before = ran(disk, 1);
    cr_expect_str_eq(make(&before, &none, 2, 4).platform, "emr_serverless");
    before = ran(serverless, 1);
    cr_expect_str_eq(make(&before, &none, 2, 4).platform, "emr_serverless");
    before = ran(local, 1);
    cr_expect_null(make(&before, &none, 2, 4).platform);
    cr_expect(property_is_local(local[0].value) && !property_is_local(serverless[0].value));
}
