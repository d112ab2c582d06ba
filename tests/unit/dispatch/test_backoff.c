#include "dispatch/backoff.h"

#include <criterion/criterion.h>

static const struct backoff_limits limits = {.retry_first_ms = 5000,
                                             .retry_max_ms = 14400000,
                                             .pause_after = 10,
                                             .pause_first_ms = 30000,
                                             .pause_max_ms = 3600000};

Test(backoff, three_times_as_long_up_to_the_longest)
{
    static const int64_t even[] = {5000,    15000,   45000,    135000,   405000,
                                   1215000, 3645000, 10935000, 14400000, 14400000};
    for (int64_t n = 1; n <= 10; n++)
        cr_expect_eq(backoff_delay_ms(&limits, n, 0, 0.5), even[n - 1], "%d: %lld", (int)n,
                     (long long)backoff_delay_ms(&limits, n, 0, 0.5));
    cr_expect_eq(backoff_delay_ms(&limits, 1000000, 0, 0.5), limits.retry_max_ms);
}

Test(backoff, give_or_take_a_fifth)
{
    cr_expect_eq(backoff_delay_ms(&limits, 1, 0, 0), 4000);
    cr_expect_eq(backoff_delay_ms(&limits, 1, 0, 1), 6000);
}

Test(backoff, retry_after_is_a_lower_bound)
{
    cr_expect_eq(backoff_delay_ms(&limits, 1, 60000, 0.5), 60000);
    cr_expect_eq(backoff_delay_ms(&limits, 3, 1000, 0.5), 45000);
}

Test(health, starts_slowly_and_falls_back)
{
    struct endpoint_health health;
    static const int64_t allowed[] = {2, 4, 8, 10, 10};
    health_init(&health, 10, 0, 0);
    cr_assert_eq(health.allowed, 1);
    for (size_t i = 0; i < 5; i++) {
        health_succeeded(&health);
        cr_expect_eq(health.allowed, allowed[i]);
    }
    health_failed(&health, &limits, 0, false);
    cr_expect(health.allowed == 1 && health.failures == 1 && health.pauses == 0 &&
              health.hold_ms == 0);
    health_init(&health, 1, 0, 0);
    health_succeeded(&health);
    cr_expect_eq(health.allowed, 1, "never more than its concurrency");
}

Test(health, pauses_after_so_many_failures_and_longer_each_time)
{
    struct endpoint_health health;
    health_init(&health, 8, 0, 0);
    for (int i = 0; i < 9; i++)
        health_failed(&health, &limits, 0, false);
    cr_expect_eq(health.hold_ms, 0);
    static const int64_t pause_ms[] = {30000,  60000,   120000,  240000, 480000,
                                       960000, 1920000, 3600000, 3600000};
    for (size_t i = 0; i < sizeof pause_ms / sizeof *pause_ms; i++) {
        health_failed(&health, &limits, 0, false);
        cr_expect_eq(health.hold_ms, pause_ms[i]);
        cr_expect_eq(health.pauses, (int64_t)i + 1);
    }
    health_failed(&health, &limits, 0, true);
    cr_expect_eq(health.pauses, 9, "one that began before the pause does not make it longer");
    health_succeeded(&health);
    cr_expect(health.failures == 0 && health.pauses == 0 && health.hold_ms == 0);
}

Test(health, an_endpoint_that_asks_for_time_gets_it)
{
    struct endpoint_health health;
    health_init(&health, 8, 0, 0);
    health_failed(&health, &limits, 7000, false);
    cr_expect(health.hold_ms == 7000 && health.pauses == 0);
    for (int i = 0; i < 9; i++)
        health_failed(&health, &limits, 7000, false);
    cr_expect_eq(health.hold_ms, 30000, "the pause is longer");
}
