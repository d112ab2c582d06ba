#include "core/deadline/core_quantum.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"
#include "core/sim/variates.h"

enum { MOST = 40 };

static struct arena scratch;

static void set_up(void)
{
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
}

TestSuite(core_quantum, .init = set_up, .fini = tear_down);

static void
expect_cores(const double shares[], size_t n, double worker, double quantum, const double want[])
{
    double got[MOST];
    cr_assert(core_quantum_round(shares, n, worker, quantum, &scratch, got));
    for (size_t i = 0; i < n; i++)
        cr_expect_eq(got[i], want[i], "share %zu: %.17g, not %.17g", i, got[i], want[i]);
}

Test(core_quantum, quanta_are_the_decimals_one_writes)
{
    cr_expect_eq(core_quanta(17, 0.05), 0.85);
    cr_expect_eq(core_quanta(3, 0.1), 0.3);
    cr_expect_eq(core_quanta(7, 1), 7);
    cr_expect_eq(core_quanta(2, 0.3), 0.6);
}

/* Table 3.4's shares add up to 16 cores: 155.15, 106.67 and 58.18 quanta; the one that is left over
 * goes to the largest remainder. */
Test(core_quantum, the_thesis_s_shares)
{
    expect_cores((const double[]){256.0 / 33, 176.0 / 33, 96.0 / 33}, 3, 16, 0.05,
                 (const double[]){7.75, 5.35, 2.9});
}

Test(core_quantum, the_total_is_rounded_up_but_never_beyond_the_worker)
{
    /* 0.4 + 0.4 + 0.4 quanta are two, which the first two get. */
    expect_cores((const double[]){0.4, 0.4, 0.4}, 3, 4, 1, (const double[]){1, 1, 0});
    /* Two and a half quanta would be three; the worker has two and a half. */
    expect_cores((const double[]){1.25, 1.25}, 2, 2.5, 1, (const double[]){1, 1});
    expect_cores((const double[]){0.02}, 1, 16, 0.05, (const double[]){0.05});
    expect_cores((const double[]){0, 0}, 2, 16, 0.05, (const double[]){0, 0});
}

Test(core_quantum, what_is_within_rounding_of_a_whole_number_has_no_remainder)
{
    expect_cores((const double[]){0.3 / 0.1 * 0.1, 0.1 + 0.2}, 2, 1, 0.1,
                 (const double[]){0.3, 0.3});
}

/* Remainders within 1e-9 are equal, and the earlier share is first, although the later is larger.
 * */
Test(core_quantum, equal_remainders_go_by_order)
{
    expect_cores((const double[]){1.25, 2.25, 1.25 + 1e-11, 2.25}, 4, 8, 1,
                 (const double[]){2, 2, 1, 2});
    expect_cores((const double[]){1.5, 1.5 + 2e-10, 1.5 + 4e-10, 1.5}, 4, 8, 1,
                 (const double[]){2, 2, 1, 1});
}

Test(core_quantum, random_shares_lose_less_than_a_quantum_and_fit_the_worker)
{
    struct rng rng = rng_make(3, 0);
    for (size_t trial = 0; trial < 2000; trial++) {
        size_t n = 1 + variate_index(&rng, MOST);
        double worker = 1 + (double)variate_index(&rng, 32);
        double quantum = variate_uniform(&rng, 0, 1) < 0.5 ? 0.05 : variate_uniform(&rng, 0.01, 1);
        double weights = 0;
        double shares[MOST];
        double cores[MOST];
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            weights += shares[i] = variate_exponential(&rng, 1);
        for (size_t i = 0; i < n; i++)
            shares[i] *= worker / weights * variate_uniform(&rng, 0.5, 1);
        cr_assert(core_quantum_round(shares, n, worker, quantum, &scratch, cores));
        for (size_t i = 0; i < n; i++) {
            sum += cores[i];
            cr_assert_lt(fabs(cores[i] - shares[i]), quantum * (1 + 1e-9));
            cr_assert_lt(fabs(cores[i] / quantum - round(cores[i] / quantum)), 1e-9);
        }
        cr_assert_leq(sum, worker * (1 + 1e-12));
    }
    cr_assert_eq(scratch.used, 0, "scratch is back at its mark");
}
