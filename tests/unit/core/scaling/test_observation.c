/* The canonical order of observations: by one member after the other, unknown values last. */
#include "core/scaling/model/observation.h"

#include <criterion/criterion.h>
#include <math.h>

static struct observation plain(void)
{
    return model_seen(10, 4, 100, 5);
}

static void expect_order(const struct observation *first, const struct observation *second)
{
    cr_expect_lt(observation_compare(first, second), 0);
    cr_expect_gt(observation_compare(second, first), 0);
}

Test(observation, each_member_decides_in_its_turn)
{
    struct observation a = plain(), b = plain();
    cr_expect_eq(observation_compare(&a, &b), 0);
    b.weight = 0.5;
    expect_order(&b, &a);
    b = plain();
    b.executors_counted = true;
    expect_order(&a, &b);
    b = plain();
    b.idle_learnt = 1;
    expect_order(&a, &b);
    a.speedup = 3; /* known comes before unknown, whatever comes later in the order */
    expect_order(&a, &b);
    b.initialization_s = 4;
    expect_order(&b, &a);
    a.duration_s = 99;
    expect_order(&a, &b);
    b.context = 0;
    a.context = 2;
    expect_order(&b, &a);
    a.executors = 3;
    expect_order(&a, &b);
    b.problem_size = 9;
    expect_order(&b, &a);
    b.problem_size = (double)NAN;
    expect_order(&a, &b);
}

Test(observation, what_is_not_seen_is_unknown)
{
    struct observation time = plain(), speedup = model_seen_speedup(10, 4, 3.5);
    cr_expect(time.problem_size == 10 && time.executors == 4 && time.duration_s == 100);
    cr_expect(time.initialization_s == 5 && isnan(time.speedup));
    cr_expect(speedup.problem_size == 10 && speedup.executors == 4 && speedup.speedup == 3.5);
    cr_expect(isnan(speedup.duration_s) && isnan(speedup.initialization_s));
}
