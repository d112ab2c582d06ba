#include "cli/http/retry.h"

#include <criterion/criterion.h>

#include "threads/clock.h"

static const struct retry_policy policy = {.attempts_max = 4, .first_s = 0.5, .wait_s_max = 3.0};

Test(retry, waits_are_drawn_from_0_to_a_ceiling_that_doubles)
{
    cr_assert_eq(retry_wait_s(&policy, 1, 0.0, 0.0), 0.0);
    cr_assert_float_eq(retry_wait_s(&policy, 1, 0.0, 0.5), 0.25, 1e-12);
    cr_assert_float_eq(retry_wait_s(&policy, 2, 0.0, 0.5), 0.5, 1e-12);
    cr_assert_float_eq(retry_wait_s(&policy, 3, 0.0, 0.5), 1.0, 1e-12);
    struct retry_policy patient = policy;
    patient.attempts_max = 5000;
    cr_assert_float_eq(retry_wait_s(&patient, 4000, 0.0, 0.5), 1.5, 1e-12,
                       "the ceiling is wait_s_max");
}

Test(retry, attempts_end)
{
    cr_assert_geq(retry_wait_s(&policy, 3, 0.0, 0.5), 0.0);
    cr_assert_lt(retry_wait_s(&policy, 4, 0.0, 0.5), 0.0);
    cr_assert_lt(retry_wait_s(&policy, 5, 1.0, 0.5), 0.0);
}

Test(retry, what_was_asked_for_is_the_least)
{
    for (double draw = 0.0; draw < 1.0; draw += 0.125) {
        double wait_s = retry_wait_s(&policy, 2, 1.5, draw);
        cr_assert(wait_s >= 1.5 && wait_s <= 2.5, "%f", wait_s);
    }
    cr_assert_eq(retry_wait_s(&policy, 3, 3.0, 0.9), 3.0);
    cr_assert_lt(retry_wait_s(&policy, 1, 3.1, 0.0), 0.0, "longer than anybody waits");
}

Test(retry, draws_are_spread_over_0_to_1)
{
    double sum = 0.0;
    for (unsigned i = 0; i < 4000; i++) {
        double draw = retry_draw();
        cr_assert(draw >= 0.0 && draw < 1.0);
        sum += draw;
    }
    /* The mean of so many has a standard deviation of 0.0046. */
    cr_assert_float_eq(sum / 4000.0, 0.5, 0.04);
}

Test(retry, only_what_may_pass_is_tried_again)
{
    static const long yes[] = {0, 429, 502, 503, 504};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        cr_assert(retry_status(yes[i]), "%ld", yes[i]);
    static const long no[] = {200, 206, 301, 400, 401, 403, 404, 409, 412, 413, 422, 500, 501};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        cr_assert_not(retry_status(no[i]), "%ld", no[i]);
}

Test(retry, a_wait_takes_its_time_and_stops_when_it_is_told, .timeout = 20)
{
    uint64_t before = clock_monotonic_ns();
    cr_assert(retry_sleep(0.03, NULL));
    cr_assert_geq(clock_monotonic_ns() - before, 30000000u);
    atomic_bool stop = true;
    before = clock_monotonic_ns();
    cr_assert_not(retry_sleep(15.0, &stop));
    cr_assert_lt(clock_monotonic_ns() - before, 10000000000u);
}
