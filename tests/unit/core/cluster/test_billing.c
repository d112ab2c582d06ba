/* What is billed: by hand, by laws that hold for any terms, and packing against brute force. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"
#include "core/cluster/billing.h"

Test(billing, by_hand)
{
    const struct billing plain = billing_of_executors(0.5);
    cr_expect(billing_is_plain(&plain));
    cr_expect_eq(billing_cost(&plain, 3, 1800), 0.75);
    cr_expect_eq(billing_unit_s(&plain, 3, 1800), 5400);
    /* 7 executors, 3 a machine: 3 machines. 100 s + 50 s are at least 60 s, in minutes 180 s. */
    const struct billing machines = {.per_hour = 2,
                                     .executors_per_machine = 3,
                                     .startup_s = 50,
                                     .minimum_s = 60,
                                     .increment_s = 60};
    cr_expect_not(billing_is_plain(&machines));
    cr_expect_eq(billing_units(&machines, 7), 3);
    cr_expect_eq(billing_billed_s(&machines, 100), 180);
    cr_expect_float_eq(billing_cost(&machines, 7, 100), 3 * 180.0 / 3600 * 2, 1e-12);
    cr_expect_eq(billing_billed_s(&machines, 3), 60);
    cr_expect_eq(billing_billed_s(&machines, 10), 60, "a whole increment is not rounded up");
    /* A minimum that is no multiple: whole increments of it. */
    cr_expect_eq(billing_billed_s(&(struct billing){.minimum_s = 100, .increment_s = 60}, 1), 120);
    cr_expect(isnan(billing_cost(&(struct billing){.per_hour = (double)NAN}, 1, 1)));
}

Test(billing, terms_of_a_price)
{
    struct price price = price_of_executors(1, 0.4, (double)NAN);
    struct billing billing = billing_of_price(&price, true, 5);
    cr_expect(billing_is_plain(&billing) && billing.per_hour == 0.4);
    price = price_of_executors((double)NAN, (double)NAN, (double)NAN);
    price.per_machine_hour = 3;
    price.minimum_billed_s = 60;
    billing = billing_of_price(&price, false, 5);
    cr_expect(billing.executors_per_machine == 5 && billing.per_hour == 3);
    cr_expect(billing.minimum_s == 60 && billing.startup_s == 0 && billing.increment_s == 0);
    cr_expect(isnan(billing_of_price(&price, true, 5).per_hour));
}

static struct billing draw(struct rng *rng)
{
    return (struct billing){.per_hour = rng_uniform(rng),
                            .executors_per_machine = (int64_t)(rng_uniform(rng) * 6),
                            .startup_s = rng_uniform(rng) < 0.5 ? 0 : rng_uniform(rng) * 300,
                            .minimum_s = rng_uniform(rng) < 0.5 ? 0 : rng_uniform(rng) * 900,
                            .increment_s = rng_uniform(rng) < 0.3   ? 0
                                           : rng_uniform(rng) < 0.5 ? 1
                                                                    : rng_uniform(rng) * 3600};
}

/* Never less than the time taken, whole increments, less than one increment more than needed; never
 * falling with time or executors; in proportion to the price. */
Test(billing, laws)
{
    struct rng rng = rng_make(11, 0);
    for (int i = 0; i < 20000; i++) {
        struct billing billing = draw(&rng);
        double time_s = rng_uniform(&rng) * 5000, longer_s = time_s + rng_uniform(&rng) * 100;
        int64_t m = 1 + (int64_t)(rng_uniform(&rng) * 40);
        double billed_s = billing_billed_s(&billing, time_s), step = billing.increment_s;
        double needed_s = fmax(billing.minimum_s, billing.startup_s + time_s);
        cr_assert_geq(billed_s, needed_s * (1 - 1e-8));
        cr_assert_leq(billed_s, needed_s + step);
        if (step > 0)
            cr_assert_float_eq(billed_s / step, round(billed_s / step), 1e-9);
        cr_assert_geq(billing_billed_s(&billing, longer_s), billed_s);
        cr_assert_geq(billing_cost(&billing, m + 1, time_s), billing_cost(&billing, m, time_s));
        double cost = billing_cost(&billing, m, time_s);
        billing.per_hour *= 2;
        cr_assert_float_eq(billing_cost(&billing, m, time_s), 2 * cost, 1e-9 * cost);
    }
}

/* What rounding leaves beyond an increment begins none; what is there does. */
Test(billing, increments_are_not_begun_by_rounding)
{
    const struct billing hours = {.increment_s = 3600}, tenths = {.increment_s = 0.1};
    cr_expect_eq(billing_billed_s(&hours, 3600 * (1 + 1e-15)), 3600);
    cr_expect_eq(billing_billed_s(&hours, 3600.001), 7200);
    cr_expect_float_eq(billing_billed_s(&tenths, 0.1 + 0.2), 0.3, 1e-12);
    cr_expect_eq(billing_billed_s(&hours, 0), 0);
    cr_expect_eq(billing_billed_s(&(struct billing){.increment_s = 1e-300}, 1e12), 1e12);
}

/* One executor after the other onto a machine, until its cores or its memory are used up. */
static int64_t fill(int64_t cores, int64_t bytes, int64_t executor_cores, int64_t container)
{
    int64_t n = 0;
    while ((cores == RUN_UNKNOWN || cores >= executor_cores) &&
           (bytes == RUN_UNKNOWN || container == RUN_UNKNOWN || bytes >= container)) {
        cores -= cores == RUN_UNKNOWN ? 0 : executor_cores;
        bytes -= bytes == RUN_UNKNOWN ? 0 : container;
        n++;
    }
    return n;
}

Test(billing, packing_by_brute_force)
{
    static const int64_t cores[] = {RUN_UNKNOWN, 1, 3, 4, 8, 17}, bytes[] = {RUN_UNKNOWN, 1, 9, 40};
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 4; j++)
            for (int64_t executor = 1; executor <= 5; executor++)
                for (int64_t container = -1; container <= 12; container += container < 0 ? 2 : 1) {
                    const struct packing got =
                        billing_pack(cores[i], bytes[j], executor, container);
                    bool known = cores[i] != RUN_UNKNOWN ||
                                 (bytes[j] != RUN_UNKNOWN && container != RUN_UNKNOWN);
                    cr_assert_eq(got.known, known);
                    int64_t want = known ? fill(cores[i], bytes[j], executor, container) : 0;
                    cr_assert_eq(got.executors, want, "%d cores %d bytes", (int)cores[i],
                                 (int)bytes[j]);
                    if (got.by_memory && cores[i] != RUN_UNKNOWN)
                        cr_assert_lt(want, fill(cores[i], RUN_UNKNOWN, executor, container));
                }
}

/* Machines filled one after the other; and the sum of squares of what they hold. */
Test(billing, units_by_brute_force)
{
    for (int64_t each = 0; each <= 7; each++)
        for (int64_t m = 1; m <= 40; m++) {
            const struct billing billing = {.executors_per_machine = each};
            int64_t machines = 0, squares = 0, room = each == 0 ? 1 : each;
            for (int64_t left = m; left > 0; left -= room) {
                int64_t held = left < room ? left : room;
                squares += held * held;
                machines++;
            }
            cr_assert_eq(billing_units(&billing, m), machines);
            cr_assert_float_eq(billing_independent_units(&billing, m),
                               (double)(m * m) / (double)squares, 1e-12);
        }
}
