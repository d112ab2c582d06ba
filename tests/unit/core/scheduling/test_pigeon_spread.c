#include "core/scheduling/tasks/pigeon_spread.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { GROUPS = 5, DRAWS = 20000 };

static struct arena arena;

static struct pigeon_spread over(const double powers[], uint32_t n)
{
    struct pigeon_spread spread;
    arena_init(&arena, 0);
    cr_assert(pigeon_spread_init(&spread, n, &arena));
    for (uint32_t i = 0; i < n; i++) {
        spread.groups[i] = i;
        spread.shares[i] = powers[i];
    }
    pigeon_spread_by_power(&spread, n);
    return spread;
}

/* How many tasks each group gets in one draw. */
static void draw(struct pigeon_spread *spread, uint32_t tasks, uint64_t seed, uint32_t counts[])
{
    struct rng stream = rng_make(seed, 3);
    uint32_t n = pigeon_spread_tasks(spread, tasks, &stream);
    memset(counts, 0, spread->n * sizeof *counts);
    for (uint32_t i = 0; i < n; i++) {
        cr_assert_gt(spread->portions[i].tasks, 0);
        counts[spread->portions[i].group] += spread->portions[i].tasks;
    }
}

/* Each group gets its share of the tasks, rounded down or up, and on average exactly. */
static void expect_shares(const double powers[], uint32_t tasks)
{
    struct pigeon_spread spread = over(powers, GROUPS);
    double sums[GROUPS] = {0};
    double all = 0;
    uint32_t counts[GROUPS];
    for (int g = 0; g < GROUPS; g++)
        all += powers[g];
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint32_t sum = 0;
        draw(&spread, tasks, i, counts);
        for (int g = 0; g < GROUPS; g++) {
            double exact = tasks * powers[g] / all;
            cr_assert(counts[g] >= floor(exact - 1e-9) && counts[g] <= ceil(exact + 1e-9),
                      "%u tasks of %g", counts[g], exact);
            sums[g] += counts[g];
            sum += counts[g];
        }
        cr_assert_eq(sum, tasks);
    }
    for (int g = 0; g < GROUPS; g++) {
        double exact = tasks * powers[g] / all;
        double part = exact - floor(exact);
        cr_expect(fabs(sums[g] / DRAWS - exact) <= 5 * sqrt(part * (1 - part) / DRAWS) + 1e-9,
                  "%g, not %g of %u tasks", sums[g] / DRAWS, exact, tasks);
    }
    arena_fini(&arena);
}

Test(pigeon_spread, tasks_are_in_proportion_to_power)
{
    static const double powers[GROUPS] = {1, 2, 0.5, 7, 3.3};
    static const double equal[GROUPS] = {2, 2, 2, 2, 2};
    static const uint32_t tasks[] = {1, 2, 3, 5, 7, 13, 100};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        expect_shares(powers, tasks[i]);
        expect_shares(equal, tasks[i]);
    }
}

/* Shares of whole tasks leave nothing to draw, though sums are rounded: 0.1, 0.2, ... of 30. */
Test(pigeon_spread, whole_shares_are_exact)
{
    static const double powers[GROUPS] = {0.1, 0.2, 0.3, 0.3, 0.1};
    static const uint32_t expected[GROUPS] = {3, 6, 9, 9, 3};
    struct pigeon_spread spread = over(powers, GROUPS);
    uint32_t counts[GROUPS];
    for (uint64_t i = 0; i < 100; i++) {
        draw(&spread, 30, i, counts);
        cr_expect_eq(memcmp(counts, expected, sizeof expected), 0);
    }
    arena_fini(&arena);
}

/* Two tasks left of groups with equal parts: each pair as often, not neighbours in a fixed order. */
Test(pigeon_spread, any_two_groups_may_get_what_is_left)
{
    static const double powers[GROUPS] = {1, 1, 1, 1, 6};
    struct pigeon_spread spread = over(powers, GROUPS);
    uint32_t together = 0;
    uint32_t counts[GROUPS];
    /* 5 tasks: 0.5 each for four groups, 3 for the last one. */
    for (uint64_t i = 0; i < DRAWS; i++) {
        draw(&spread, 5, i, counts);
        together += counts[0] == 1 && counts[1] == 1;
        cr_assert_eq(counts[4], 3);
    }
    cr_expect(fabs((double)together / DRAWS - 1.0 / 6) < 5 * sqrt(5.0 / 36 / DRAWS), "%u",
              together);
    arena_fini(&arena);
}
