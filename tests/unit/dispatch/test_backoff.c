#include "dispatch/backoff.h"

#include <criterion/criterion.h>

#include "base/rng.h"

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

enum { CASES = 20000 };

static int64_t between(struct rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)(rng_uniform(rng) * (double)(high - low + 1));
}

static struct backoff_limits any_limits(struct rng *rng)
{
    struct backoff_limits any = {.retry_first_ms = between(rng, 1, 100000),
                                 .pause_after = between(rng, 1, 20),
                                 .pause_first_ms = between(rng, 1, 100000)};
    any.retry_max_ms = any.retry_first_ms + between(rng, 0, 100000000);
    any.pause_max_ms = any.pause_first_ms + between(rng, 0, 10000000);
    return any;
}

Test(backoff, laws_for_any_limits)
{
    struct rng rng = rng_make(1, 1);
    for (int i = 0; i < CASES; i++) {
        const struct backoff_limits any = any_limits(&rng);
        int64_t failed = between(&rng, 1, 200);
        int64_t asked_ms = rng_uniform(&rng) < 0.5 ? 0 : between(&rng, 1, 100000000);
        double random = rng_uniform(&rng);
        int64_t delay = backoff_delay_ms(&any, failed, asked_ms, random);
        cr_assert_geq(delay, asked_ms);
        cr_assert(delay == asked_ms || (double)delay <= 1.2 * (double)any.retry_max_ms);
        cr_assert_geq(delay, (int64_t)(0.8 * (double)any.retry_first_ms));
        cr_assert_leq(delay, backoff_delay_ms(&any, failed + 1, asked_ms, random), "never shorter");
        cr_assert_leq(delay, backoff_delay_ms(&any, failed, asked_ms, 1.0));
    }
}

Test(health, laws_for_any_history)
{
    struct rng rng = rng_make(2, 1);
    for (int i = 0; i < CASES / 100; i++) {
        const struct backoff_limits any = any_limits(&rng);
        struct endpoint_health health;
        int64_t in_a_row = 0;
        health_init(&health, between(&rng, 1, 32), 0, 0);
        double often = rng_uniform(&rng);
        for (int step = 0; step < 100; step++) {
            bool succeeds = rng_uniform(&rng) < often;
            int64_t allowed = health.allowed;
            int64_t asked_ms = rng_uniform(&rng) < 0.8 ? 0 : between(&rng, 1, 86400000);
            if (succeeds)
                health_succeeded(&health);
            else
                health_failed(&health, &any, asked_ms, false);
            in_a_row = succeeds ? 0 : in_a_row + 1;
            cr_assert_eq(health.failures, in_a_row);
            cr_assert(health.allowed >= 1 && health.allowed <= health.concurrency);
            cr_assert(succeeds ? health.allowed >= allowed : health.allowed == 1);
            cr_assert_eq(health.pauses > 0, in_a_row >= any.pause_after);
            cr_assert_geq(health.hold_ms, succeeds ? 0 : asked_ms);
            cr_assert(health.hold_ms <= asked_ms || health.hold_ms <= any.pause_max_ms);
            cr_assert(health.pauses == 0 || health.hold_ms >= any.pause_first_ms);
        }
    }
}
