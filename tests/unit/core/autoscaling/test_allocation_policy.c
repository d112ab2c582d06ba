#include <criterion/criterion.h>
#include <math.h>

#include "core/autoscaling/allocation_policy.h"
#include "core/spark/property_value.h"

TestSuite(allocation_policy, .timeout = 20);

#define PROPERTY(k, v)                                                                             \
    {                                                                                              \
        .key = {k, sizeof k - 1}, .value = { v, sizeof v - 1 }                                     \
    }
#define DYNAMIC "spark.dynamicAllocation."

static struct allocation_policy
policy_of(const struct run_label properties[], size_t n, const char *version, int64_t most)
{
    const struct property_list list = {properties, n};
    return allocation_of_properties(&list, 1, strview_of(version), most);
}

Test(allocation_policy, without_properties_it_has_the_defaults_of_spark)
{
    struct allocation_policy policy = policy_of(NULL, 0, "3.5.1", 40);
    cr_assert_eq(policy.min_executors, 0);
    cr_assert_eq(policy.initial_executors, 0);
    cr_assert_eq(policy.max_executors, 40);
    cr_assert_float_eq(policy.allocation_ratio, 1.0, 0);
    cr_assert_float_eq(policy.idle_timeout_s, 60.0, 0);
    cr_assert_float_eq(policy.backlog_timeout_s, 1.0, 0);
    cr_assert_float_eq(policy.sustained_backlog_timeout_s, 1.0, 0);
    cr_assert(policy.shuffle_tracking);
    cr_assert(isinf(policy.shuffle_timeout_s));
}

Test(allocation_policy, it_takes_what_is_set)
{
    const struct run_label properties[] = {
        PROPERTY(DYNAMIC "executorAllocationRatio", "0.5"),
        PROPERTY(DYNAMIC "executorIdleTimeout", "2min"),
        PROPERTY(DYNAMIC "initialExecutors", "5"),
        PROPERTY(DYNAMIC "maxExecutors", "20"),
        PROPERTY(DYNAMIC "minExecutors", "2"),
        PROPERTY(DYNAMIC "schedulerBacklogTimeout", "3"),
        PROPERTY(DYNAMIC "shuffleTracking.timeout", "1h"),
    };
    struct allocation_policy policy =
        policy_of(properties, sizeof properties / sizeof *properties, "3.5.1", 40);
    cr_assert_eq(policy.min_executors, 2);
    cr_assert_eq(policy.initial_executors, 5);
    cr_assert_eq(policy.max_executors, 20);
    cr_assert_float_eq(policy.allocation_ratio, 0.5, 0);
    cr_assert_float_eq(policy.idle_timeout_s, 120.0, 0);
    cr_assert_float_eq(policy.backlog_timeout_s, 3.0, 0);
    cr_assert_float_eq(policy.sustained_backlog_timeout_s, 3.0, 0);
    cr_assert_float_eq(policy.shuffle_timeout_s, 3600.0, 0);
}

Test(allocation_policy, instances_are_a_lower_bound_of_the_initial_executors)
{
    const struct run_label properties[] = {PROPERTY(DYNAMIC "initialExecutors", "3"),
                                           PROPERTY("spark.executor.instances", "7")};
    cr_assert_eq(policy_of(properties, 2, "3.5.1", 40).initial_executors, 7);
    cr_assert_eq(policy_of(properties, 2, "3.5.1", 5).initial_executors, 5);
}

Test(allocation_policy, counts_that_contradict_each_other_are_put_in_order)
{
    const struct run_label properties[] = {PROPERTY(DYNAMIC "initialExecutors", "1"),
                                           PROPERTY(DYNAMIC "maxExecutors", "4"),
                                           PROPERTY(DYNAMIC "minExecutors", "9")};
    struct allocation_policy policy = policy_of(properties, 3, "3.5.1", 40);
    cr_assert_eq(policy.min_executors, 4);
    cr_assert_eq(policy.initial_executors, 4);
    cr_assert_eq(policy.max_executors, 4);
}

Test(allocation_policy, the_shuffle_service_holds_shuffle_output_and_so_it_was_before_spark_3)
{
    const struct run_label service[] = {PROPERTY("spark.shuffle.service.enabled", "true")};
    cr_assert_not(policy_of(service, 1, "3.5.1", 4).shuffle_tracking);
    cr_assert_not(policy_of(NULL, 0, "2.4.8", 4).shuffle_tracking);
}

Test(allocation_policy, the_first_list_that_has_a_key_decides)
{
    const struct run_label first[] = {PROPERTY(DYNAMIC "minExecutors", "3")};
    const struct run_label second[] = {PROPERTY(DYNAMIC "maxExecutors", "8"),
                                       PROPERTY(DYNAMIC "minExecutors", "1")};
    const struct property_list lists[] = {{NULL, 0}, {first, 1}, {second, 2}};
    struct allocation_policy policy = allocation_of_properties(lists, 3, strview_of("3.5.1"), 40);
    cr_assert_eq(policy.min_executors, 3);
    cr_assert_eq(policy.max_executors, 8);
}

Test(allocation_policy, values_that_spark_would_refuse_count_as_not_set)
{
    const struct run_label properties[] = {
        PROPERTY(DYNAMIC "executorAllocationRatio", "1.5"),
        PROPERTY(DYNAMIC "executorIdleTimeout", "soon"),
        PROPERTY(DYNAMIC "maxExecutors", "0"),
        PROPERTY(DYNAMIC "minExecutors", "-1"),
    };
    struct allocation_policy policy = policy_of(properties, 4, "3.5.1", 40);
    cr_assert_float_eq(policy.allocation_ratio, 1.0, 0);
    cr_assert_float_eq(policy.idle_timeout_s, 60.0, 0);
    cr_assert_eq(policy.max_executors, 1);
    cr_assert_eq(policy.min_executors, 0);
}

Test(allocation_policy, times_have_the_units_of_spark)
{
    static const struct {
        char text[8];
        double seconds;
    } rows[] = {{"10", 10},  {"10s", 10},   {"1500ms", 1.5}, {"250us", 2.5e-4},
                {"2m", 120}, {"2MIN", 120}, {"1h", 3600},    {"3d", 259200}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_float_eq(property_seconds(strview_of(rows[i].text)), rows[i].seconds, 1e-12, "%s",
                           rows[i].text);
    static const char *const none[] = {"", "s", "1.5s", "-1s", "1 s", "1w", "9223372036854775808s"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_assert(isnan(property_seconds(strview_of(none[i]))), "%s", none[i]);
    cr_assert(isnan(property_seconds((struct strview){NULL, 0})));
}

Test(allocation_policy, fixed_executors_are_equal_whatever_their_time_outs)
{
    struct allocation_policy a = allocation_fixed(4), b = allocation_fixed(4);
    b.idle_timeout_s = 1.0;
    cr_assert(allocation_is_equal(&a, &b));
    a.min_executors = b.min_executors = 1;
    cr_assert_not(allocation_is_equal(&a, &b));
    b.idle_timeout_s = a.idle_timeout_s;
    cr_assert(allocation_is_equal(&a, &b));
}
