#include "core/control/trace.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"
#include "core/sim/variates.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(control_trace, .init = set_up, .fini = tear_down);

Test(control_trace, intervals_hold_means_over_time)
{
    struct control_trace trace;
    cr_assert(control_trace_init(&trace, 1, 0, 8, 10, 1, &arena));
    control_trace_set(&trace, 0, 10.5, 4, 2);
    control_trace_set(&trace, 0, 12, 8, 8);
    control_trace_set(&trace, 0, 12.25, 0, 0);
    control_trace_end(&trace, 12.5);
    cr_assert_eq(trace.intervals, 3);
    cr_expect_eq(trace.interval_s, 1);
    const double requested[] = {2, 4, 4};
    const double granted[] = {1, 2, 4};
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(trace.jobs[0].requested[i], requested[i]);
        cr_expect_eq(trace.jobs[0].granted[i], granted[i], "the last interval is half as long");
    }
}

Test(control_trace, a_long_trace_has_longer_intervals_and_the_same_area)
{
    struct rng rng = rng_make(5, 0);
    struct control_trace trace;
    double area[2] = {0, 0};
    double now_s = -3;
    double has[2] = {0, 0};
    cr_assert(control_trace_init(&trace, 2, 0, 33, now_s, 0.5, &arena));
    for (size_t i = 0; i < 4000; i++) {
        double later_s = now_s + variate_exponential(&rng, 2);
        size_t j = variate_index(&rng, 2);
        for (size_t k = 0; k < 2; k++)
            area[k] += has[k] * (later_s - now_s);
        now_s = later_s;
        has[j] = variate_uniform(&rng, 0, 16);
        control_trace_set(&trace, j, now_s, 2 * has[j], has[j]);
    }
    control_trace_end(&trace, now_s);
    cr_assert_leq(trace.intervals, 32, "an even number");
    cr_assert_geq(trace.intervals, 16);
    cr_expect_eq(fmod(log2(trace.interval_s), 1), 0, "doubled from a half");
    for (size_t j = 0; j < 2; j++) {
        double sum = 0;
        double requested = 0;
        for (size_t i = 0; i < trace.intervals; i++) {
            double from_s = trace.start_s + (double)i * trace.interval_s;
            double lasts_s = fmin(now_s - from_s, trace.interval_s);
            sum += trace.jobs[j].granted[i] * lasts_s;
            requested += trace.jobs[j].requested[i] * lasts_s;
        }
        cr_expect(fabs(sum - area[j]) < 1e-9 * area[j], "%.17g, not %.17g", sum, area[j]);
        cr_expect(fabs(requested - 2 * area[j]) < 2e-9 * area[j]);
    }
}

Test(control_trace, one_that_ends_where_it_began_is_empty)
{
    struct control_trace trace;
    cr_assert(control_trace_init(&trace, 1, 1, 4, 7, 1, &arena));
    control_trace_set(&trace, 0, 7, 1, 1);
    control_trace_end(&trace, 7);
    cr_expect_eq(trace.intervals, 0);
    cr_expect(isnan(trace.stages[0].started_s));
}

/* At 1e12 s, instants are 1.2e-4 s apart. */
Test(control_trace, intervals_are_no_shorter_than_instants_can_be_told_apart, .timeout = 20)
{
    struct control_trace trace;
    cr_assert(control_trace_init(&trace, 1, 0, 8, 1e12, 1e-6, &arena));
    cr_expect_eq(fmod(log2(trace.interval_s / 1e-6), 1), 0, "doubled");
    cr_expect_lt(1e12, 1e12 + trace.interval_s);
    control_trace_set(&trace, 0, 1e12, 4, 2);
    control_trace_end(&trace, 1e12 + 0.0078125);
    double sum = 0;
    for (size_t i = 0; i < trace.intervals; i++)
        sum += trace.jobs[0].granted[i] *
               fmin(0.0078125 - (double)i * trace.interval_s, trace.interval_s);
    cr_expect(fabs(sum - 2 * 0.0078125) < 2e-4, "%.17g", sum);
}
