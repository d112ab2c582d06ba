#include "core/geosim/comparison.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(geosim_comparison, .init = setup, .fini = teardown);

/* 1 to 101 in any order: quantile q is 1 + 100 q; what was not done is counted, not averaged. */
Test(geosim_comparison, a_spread_tells_mean_quantiles_and_curve)
{
    double figures[103];
    for (size_t i = 0; i < 101; i++)
        figures[i] = (double)(i * 37 % 101 + 1);
    figures[101] = NAN;
    figures[102] = NAN;
    struct comparison_spread spread;
    cr_assert(comparison_spread_of(figures, 103, &arena, &spread));
    cr_assert_eq(spread.n, 101);
    cr_assert_eq(spread.absent, 2);
    cr_assert_float_eq(spread.mean, 51, 1e-12);
    for (size_t i = 0; i < COMPARISON_QUANTILES; i++)
        cr_assert_float_eq(spread.quantiles[i], 1 + 100 * comparison_quantiles[i], 1e-9);
    for (size_t i = 0; i < COMPARISON_CURVE; i++)
        cr_assert_float_eq(spread.curve[i], 1 + 2.5 * (double)i, 1e-9);
}

Test(geosim_comparison, nothing_done_is_nothing_told)
{
    const double figures[] = {NAN, NAN};
    struct comparison_spread spread;
    cr_assert(comparison_spread_of(figures, 2, &arena, &spread));
    cr_assert_eq(spread.n, 0);
    cr_assert_eq(spread.absent, 2);
    cr_assert(isnan(spread.mean) && isnan(spread.quantiles[0]) && isnan(spread.curve[40]));
}

/* Always 10 % faster is clear; as often faster as slower is not. */
Test(geosim_comparison, the_best_is_told_with_how_sure_that_is)
{
    double slow[100];
    double fast[100];
    double same[100];
    const double *const flows[] = {slow, same, fast};
    struct comparison_best best;
    for (size_t i = 0; i < 100; i++) {
        slow[i] = 100 + (double)i;
        fast[i] = 0.9 * slow[i];
        same[i] = slow[i] + (i % 2 == 0 ? 30 : -29);
    }
    comparison_choose(flows, 3, 100, &best);
    cr_assert_eq(best.policy, 2);
    cr_assert_eq(best.next, 0);
    cr_assert(best.clear);
    cr_assert_float_eq(best.margin, 0.1, 1e-12);
    comparison_choose(flows, 2, 100, &best);
    cr_assert_eq(best.policy, 0);
    cr_assert(!best.clear);
    comparison_choose(flows, 1, 100, &best);
    cr_assert_eq(best.next, SIZE_MAX);
    cr_assert(isnan(best.margin));
}

/* A policy is not best for leaving long workflows undone. */
Test(geosim_comparison, done_counts_before_fast)
{
    const double all[] = {10, 1000};
    const double half[] = {9, NAN};
    const double *const flows[] = {half, all};
    struct comparison_best best;
    comparison_choose(flows, 2, 2, &best);
    cr_assert_eq(best.policy, 1);
    cr_assert(best.clear);
    cr_assert(isnan(best.margin));
}
