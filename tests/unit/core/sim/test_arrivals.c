#include "core/sim/arrivals.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/sim/statistics.h"

Test(arrivals, poisson_gaps_have_the_rate_and_are_exponential)
{
    enum { N = 20000 };
    struct arrivals arrivals = arrivals_poisson(N, 0.2, rng_make(3, 1));
    struct running_moments gaps = {0};
    double before = 0;
    double at = 0;
    size_t long_gaps = 0;
    while (arrivals_next(&arrivals, &at)) {
        cr_assert(at > before);
        running_moments_add(&gaps, at - before);
        long_gaps += at - before > 5;
        before = at;
    }
    cr_expect_eq(gaps.n, N);
    /* Mean and deviation of a gap are 5; exp(-1) of them are longer than the mean. */
    cr_expect(fabs(gaps.mean - 5) < 3.3 * running_moments_standard_error(&gaps));
    cr_expect_float_eq(sqrt(running_moments_variance(&gaps)), 5, 0.2);
    cr_expect_float_eq((double)long_gaps / N, exp(-1), 0.012);
}

Test(arrivals, another_rate_stretches_the_same_gaps)
{
    struct arrivals slow = arrivals_poisson(100, 0.5, rng_make(3, 1));
    struct arrivals fast = arrivals_poisson(100, 2, rng_make(3, 1));
    double a = 0;
    double b = 0;
    while (arrivals_next(&slow, &a)) {
        cr_assert(arrivals_next(&fast, &b));
        cr_expect_float_eq(a, 4 * b, 1e-9 * a);
    }
    cr_expect(!arrivals_next(&fast, &b));
}

Test(arrivals, traces_and_batches_as_given)
{
    static const double times[] = {0, 1.5, 1.5, 9};
    struct arrivals trace = arrivals_trace(times, 4);
    struct arrivals batch = arrivals_batch(2, 7);
    double at = -1;
    for (size_t i = 0; i < 4; i++)
        cr_expect(arrivals_next(&trace, &at) && at == times[i]);
    cr_expect(!arrivals_next(&trace, &at) && at == 9);
    cr_expect(arrivals_next(&batch, &at) && at == 7);
    cr_expect(arrivals_next(&batch, &at) && at == 7);
    cr_expect(!arrivals_next(&batch, &at));
}
