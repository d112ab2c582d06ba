/* Kriging of what a law leaves unexplained, by hand: one to three cells about a law of 100 s. */
#include "core/scaling/laws/deviations.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scaling/laws/kinds.h"

static struct arena arena;
static struct load_cell at[3];
static struct load_cells cells;
static struct model_data data;
static struct model_law law;
static struct model_tables tables;
static double nearby[3];

static void start(void)
{
    arena_init(&arena, 0);
    data = (struct model_data){.scratch = &arena};
    cells = (struct load_cells){.data = &data, .at = at, .n_counts = 2};
    law = (struct model_law){.kind = &amdahl_kind, .form = MODEL_OF_DURATIONS, .p = {0, 100}};
    tables = (struct model_tables){.n_deviations = 0};
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(deviations, .init = start, .fini = end);

static void see(double m, double off)
{
    at[cells.n++] =
        (struct load_cell){.problem_size = 64, .executors = m, .mean_s = 100 * exp(off)};
}

static void find(void)
{
    cr_assert_eq(deviations_find(&cells, &law, &tables, nearby, NULL), PV_OK);
    cr_assert_eq(tables.n_deviations, cells.n);
}

/* A factor of 2 apart the covariance is c = 2^-1.5 of the ratio r: (1 + r, r c; r c, 1 + r) inverted
 * times the offs, times r. From the other alone a cell is predicted r c / (1 + r) of its off. */
static void expect_two(double ratio)
{
    const double c = 0.35355339059327379;
    double determinant = (1 + ratio) * (1 + ratio) - ratio * ratio * c * c;
    double a = ratio * ((1 + ratio) * 0.2 - ratio * c * 0.1) / determinant;
    double b = ratio * ((1 + ratio) * 0.1 - ratio * c * 0.2) / determinant;
    find();
    cr_expect_float_eq(tables.deviations[0].coefficient, a, 1e-12);
    cr_expect_float_eq(tables.deviations[1].coefficient, b, 1e-12);
    cr_expect_float_eq(nearby[0], ratio * c / (1 + ratio) * 0.1, 1e-12);
    cr_expect_float_eq(nearby[1], ratio * c / (1 + ratio) * 0.2, 1e-12);
    cr_expect_float_eq(deviation_at(&tables, 64, 2), a + c * b, 1e-12);
    cr_expect_float_eq(deviation_at(&tables, 64, 8), a / 8 + c * b, 1e-12);
    cr_expect_float_eq(deviation_at(&tables, 32, 2), c * a + b / 8, 1e-12);
    cr_expect_float_eq(deviation_at(&tables, 128, 4), a / 8 + c * b, 1e-12);
}

Test(deviations, two_cells)
{
    see(2, 0.2);
    see(4, 0.1);
    expect_two(1);
    cells.n_counts = 7;
    expect_two(1);
    cells.n_counts = 8;
    expect_two(3);
}

/* Offs of 0.1, 0.2 and 3 so far apart that each stands alone and counts half: their deviations from the
 * median are 0.1, 0 and 2.8, so that three standard deviations are 3 x 1.4826 x 0.1. */
Test(deviations, far_offs_are_clipped)
{
    see(1, -0.1);
    see(1e8, -0.2);
    see(1e16, -3);
    find();
    cr_expect_float_eq(tables.deviations[0].coefficient, -0.05, 1e-9);
    cr_expect_float_eq(tables.deviations[1].coefficient, -0.1, 1e-9);
    cr_expect_float_eq(tables.deviations[2].coefficient, -0.22239, 1e-9);
    cr_expect_float_eq(deviation_at(&tables, 64, 1e16), -0.22239, 1e-9);
}

Test(deviations, a_law_without_a_time_has_none)
{
    see(2, 0.2);
    see(4, 0.1);
    nearby[0] = nearby[1] = 7;
    law.p[1] = 0;
    cr_assert_eq(deviations_find(&cells, &law, &tables, nearby, NULL), PV_OK);
    cr_expect_eq(tables.n_deviations, 0);
    cr_expect_eq(nearby[0], 0);
    cr_expect_eq(nearby[1], 0);
}
