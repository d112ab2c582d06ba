#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"

/* xoshiro256** from the state {1, 2, 3, 4}: the first outputs follow from its definition by hand:
 * rotl(2 * 5, 7) * 9 = 11520; then the state is {7, 0, 262146, 211106232532992}: 0; and so on. */
Test(rng, follows_its_definition)
{
    struct rng rng = {{1, 2, 3, 4}};
    cr_assert_eq(rng_next(&rng), UINT64_C(11520));
    cr_assert_eq(rng_next(&rng), UINT64_C(0));
    cr_assert_eq(rng_next(&rng), UINT64_C(1509978240));
}

/* Same seed and stream, same numbers; another stream, others. */
Test(rng, is_a_value)
{
    struct rng a = rng_make(42, 1), b = rng_make(42, 1), c = rng_make(42, 2);
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        uint64_t x = rng_next(&a);
        cr_assert_eq(x, rng_next(&b));
        differs = differs || x != rng_next(&c);
    }
    cr_assert(differs);
}

/* Means within five standard errors of 100,000 draws. */
Test(rng, has_the_stated_moments)
{
    struct rng rng = rng_make(7, 0);
    double uniform = 0.0, normal = 0.0, square = 0.0, lognormal = 0.0;
    const int n = 100000;
    for (int i = 0; i < n; i++) {
        double u = rng_uniform(&rng), z = rng_normal(&rng);
        cr_assert(u >= 0.0 && u < 1.0);
        uniform += u;
        normal += z;
        square += z * z;
        lognormal += rng_lognormal(&rng, 3.0, 0.5);
    }
    cr_assert_float_eq(uniform / n, 0.5, 5.0 * 0.2887 / sqrt(n));
    cr_assert_float_eq(normal / n, 0.0, 5.0 / sqrt(n));
    cr_assert_float_eq(square / n, 1.0, 5.0 * sqrt(2.0) / sqrt(n));
    cr_assert_float_eq(lognormal / n, 3.0, 5.0 * 3.0 * 0.533 / sqrt(n));
}
