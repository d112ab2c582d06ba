#include "core/sim/variates.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "base/order.h"

enum { DRAWS = 20000 };

/* The largest distance between the empirical and the true distribution (Kolmogorov and Smirnov);
 * above 1.95/sqrt(n) once in a thousand seeds. */
static double distance(double draws[], double (*cdf)(double x))
{
    double most = 0;
    qsort(draws, DRAWS, sizeof *draws, order_by_double);
    for (size_t i = 0; i < DRAWS; i++) {
        double at = cdf(draws[i]);
        most = fmax(most, fmax(at - (double)i / DRAWS, (double)(i + 1) / DRAWS - at));
    }
    return most;
}

static double draws[DRAWS];

static struct rng stream(uint64_t about)
{
    return variate_stream(42, (const uint64_t[]){1, about}, 2);
}

#define EXPECT_DISTRIBUTION(draw, cdf)                                                             \
    do {                                                                                           \
        struct rng rng = stream(__LINE__);                                                         \
        for (size_t i = 0; i < DRAWS; i++)                                                         \
            draws[i] = (draw);                                                                     \
        double off = distance(draws, (cdf));                                                       \
        cr_expect(off < 1.95 / sqrt(DRAWS), "off by %g", off);                                     \
    } while (0)

static double cdf_uniform(double x)
{
    return (x + 3) / 8;
}

static double cdf_exponential(double x)
{
    return -expm1(-0.25 * x);
}

/* Of mean 5 and deviation 4, not below 1. */
static double cdf_normal_above(double x)
{
    double never = gsl_cdf_ugaussian_P(-1);
    return (gsl_cdf_ugaussian_P((x - 5) / 4) - never) / (1 - never);
}

static double cdf_pareto(double x)
{
    return (1 - pow(2 / x, 1.1)) / (1 - pow(2.0 / 500, 1.1));
}

Test(variates, continuous_distributions)
{
    EXPECT_DISTRIBUTION(variate_uniform(&rng, -3, 5), cdf_uniform);
    EXPECT_DISTRIBUTION(variate_exponential(&rng, 0.25), cdf_exponential);
    EXPECT_DISTRIBUTION(variate_normal_above(&rng, 5, 4, 1), cdf_normal_above);
    EXPECT_DISTRIBUTION(variate_bounded_pareto(&rng, 2, 500, 1.1), cdf_pareto);
    cr_expect(draws[0] >= 2 && draws[DRAWS - 1] <= 500);
}

/* The sum of (seen - expected)^2/expected, above the limit once in a thousand seeds. */
static void expect_chi_square(const size_t seen[], const double expected[], size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pow((double)seen[i] - DRAWS * expected[i], 2) / (DRAWS * expected[i]);
    double limit = gsl_cdf_chisq_Pinv(0.999, (double)(n - 1));
    cr_expect(sum < limit, "%g of %g", sum, limit);
}

Test(variates, discrete_distributions)
{
    static const double weights[] = {0.5, 0.05, 0.15, 0.3};
    static const double alike[] = {0.25, 0.25, 0.25, 0.25};
    double geometric[5];
    size_t chosen[4] = {0};
    size_t index[4] = {0};
    size_t failures[5] = {0};
    struct rng rng = stream(1);
    for (size_t i = 0; i < 5; i++)
        geometric[i] = i < 4 ? 0.3 * pow(0.7, (double)i) : pow(0.7, 4);
    for (size_t i = 0; i < DRAWS; i++) {
        double failed = variate_geometric(&rng, 0.3);
        chosen[variate_choice(&rng, weights, 4)]++;
        index[variate_index(&rng, 4)]++;
        failures[failed < 4 ? (size_t)failed : 4]++;
    }
    expect_chi_square(chosen, weights, 4);
    expect_chi_square(index, alike, 4);
    expect_chi_square(failures, geometric, 5);
    cr_expect_eq(variate_geometric(&rng, 1), 0);
    cr_expect(isinf(variate_geometric(&rng, 0)));
    cr_expect_eq(variate_choice(&rng, (const double[]){0, 0}, 2), 1, "what rounding leaves");
}

/* Each ordered pair of five items is as likely, and nothing is there twice. */
Test(variates, samples_without_replacement)
{
    size_t seen[20] = {0};
    double alike[20];
    struct rng rng = stream(2);
    for (size_t i = 0; i < 20; i++)
        alike[i] = 0.05;
    for (size_t i = 0; i < DRAWS; i++) {
        size_t items[] = {0, 1, 2, 3, 4};
        variate_sample(&rng, items, 5, 2);
        cr_assert_neq(items[0], items[1]);
        seen[items[0] * 4 + items[1] - (items[1] > items[0])]++;
        qsort(items, 5, sizeof *items, order_by_size);
        for (size_t k = 0; k < 5; k++)
            cr_assert_eq(items[k], k);
    }
    expect_chi_square(seen, alike, 20);
}

/* The same name, the same numbers; any other key, or their order, others. */
Test(variates, streams_are_named_by_all_their_keys)
{
    static const uint64_t names[][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3},
                                        {2, 2, 3}, {1, 2, 4}, {1, 2, 0}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rng a = variate_stream(7, names[i], 3);
        struct rng again = variate_stream(7, names[i], 3);
        struct rng seed = variate_stream(8, names[i], 3);
        uint64_t first = rng_next(&a);
        cr_expect_eq(first, rng_next(&again));
        cr_expect_neq(first, rng_next(&seed));
        for (size_t k = 0; k < i; k++) {
            struct rng other = variate_stream(7, names[k], 3);
            cr_expect_neq(first, rng_next(&other), "%zu and %zu", i, k);
        }
    }
    cr_expect_neq(variate_subkey(0, 0), 0);
    cr_expect_neq(variate_subkey(1, 2), variate_subkey(2, 1));
}

/* Neighbouring names do not give numbers that go together. */
Test(variates, streams_of_neighbouring_names_are_uncorrelated)
{
    double products = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct rng a = stream(i);
        struct rng b = stream(i + 1);
        products += (rng_uniform(&a) - 0.5) * (rng_uniform(&b) - 0.5);
    }
    /* Mean 0, variance 1/144 each. */
    cr_expect(fabs(products) < 3.3 * sqrt(DRAWS) / 12, "%g", products);
}
