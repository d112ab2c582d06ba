/* The IMSE criterion: against conditioning a dense covariance matrix on the runs all at once. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "core/scaling/experiments/imse.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(imse, .init = setup, .fini = teardown, .timeout = 60);

static const double run_noise = 0.03 * 0.03;

enum { SIZES = 3, COUNTS = 4, POINTS = SIZES * COUNTS, RUNS_MAX = 32, MORE = 4 };

struct design {
    struct effects_point candidates[POINTS];
    struct effects_point asked[2];
    struct observation rows[RUNS_MAX];
    size_t n_rows;
};

/* 3 sizes by 4 executor counts; the least and the greatest are ends of the region. */
static struct design make_design(void)
{
    static const double sizes[SIZES] = {8, 24, 128};
    static const double counts[COUNTS] = {1, 3, 8, 32};
    struct design design = {.asked = {{128, 8}, {64, 16}}};
    for (size_t i = 0; i < POINTS; i++)
        design.candidates[i] = (struct effects_point){sizes[i / COUNTS], counts[i % COUNTS]};
    return design;
}

static void see(struct design *design, double problem_size, double executors, double weight)
{
    struct observation *row = &design->rows[design->n_rows++];
    *row = model_seen(problem_size, executors, 100, (double)NAN);
    row->weight = weight;
}

static struct imse begin(const struct design *design)
{
    struct imse imse;
    struct pv_error err = {0};
    cr_assert_eq(imse_begin(design->candidates, POINTS, design->asked, 2, design->rows,
                            design->n_rows, MORE, &arena, &imse, &err),
                 PV_OK, "%s", err.detail);
    return imse;
}

static size_t find_best(const struct imse *imse)
{
    size_t best = 0;
    for (size_t i = 1; i < POINTS; i++)
        if (imse_reduction(imse, i) > imse_reduction(imse, best) * (1 + 1e-9))
            best = i;
    return best;
}

/* --- the dense peer: one row of the covariance matrix for every single run --- */

static double covariance(struct effects_point a, struct effects_point b)
{
    double x = log(a.problem_size / 8) / log(16);
    double y = log(b.problem_size / 8) / log(16);
    double u = log(a.executors) / log(32);
    double v = log(b.executors) / log(32);
    return 1 + (x - 0.5) * (y - 0.5) + 4 * (u - 0.5) * (v - 0.5) +
           0.15 * 0.15 * exp(-hypot(x - y, u - v) / 0.5);
}

/* x solves a x = b, by Gaussian elimination; a and b are lost. */
static void solve(size_t n, double a[RUNS_MAX][RUNS_MAX], double b[], double x[])
{
    for (size_t p = 0; p < n; p++)
        for (size_t r = p + 1; r < n; r++) {
            double factor = a[r][p] / a[p][p];
            for (size_t c = p; c < n; c++)
                a[r][c] -= factor * a[p][c];
            b[r] -= factor * b[p];
        }
    for (size_t p = n; p-- > 0;) {
        x[p] = b[p];
        for (size_t c = p + 1; c < n; c++)
            x[p] -= a[p][c] * x[c];
        x[p] /= a[p][p];
    }
}

static double variance_after(const struct effects_point runs[],
                             const double noise[],
                             size_t n,
                             struct effects_point at)
{
    double a[RUNS_MAX][RUNS_MAX];
    double b[RUNS_MAX];
    double x[RUNS_MAX];
    for (size_t i = 0; i < n; i++) {
        b[i] = covariance(runs[i], at);
        for (size_t j = 0; j < n; j++)
            a[i][j] = covariance(runs[i], runs[j]) + (i == j ? noise[i] : 0);
    }
    solve(n, a, b, x);
    double sum = covariance(at, at);
    for (size_t i = 0; i < n; i++)
        sum -= x[i] * covariance(runs[i], at);
    return sum;
}

/* By how much a run of a candidate reduces the sum of both variances. */
static double dense_reduction(const struct design *design,
                              const size_t chosen[],
                              size_t n_chosen,
                              size_t candidate)
{
    struct effects_point runs[RUNS_MAX];
    double noise[RUNS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < design->n_rows; i++) {
        noise[n] = run_noise / design->rows[i].weight;
        runs[n++] = (struct effects_point){design->rows[i].problem_size, design->rows[i].executors};
    }
    for (size_t i = 0; i < n_chosen; i++) {
        noise[n] = run_noise;
        runs[n++] = design->candidates[chosen[i]];
    }
    noise[n] = run_noise;
    runs[n] = design->candidates[candidate];
    double sum = 0;
    for (size_t a = 0; a < 2; a++)
        sum += variance_after(runs, noise, n, design->asked[a]) -
               variance_after(runs, noise, n + 1, design->asked[a]);
    return sum;
}

static void expect_dense(const struct design *design)
{
    struct imse imse = begin(design);
    size_t chosen[MORE];
    for (size_t step = 0; step < MORE; step++) {
        for (size_t i = 0; i < POINTS; i++) {
            double dense = dense_reduction(design, chosen, step, i);
            cr_expect_float_eq(imse_reduction(&imse, i), dense, 1e-9,
                               "step %zu, candidate %zu: %g, not %g", step, i,
                               imse_reduction(&imse, i), dense);
        }
        chosen[step] = find_best(&imse);
        imse_add(&imse, chosen[step]);
    }
}

Test(imse, before_any_run_it_is_that_of_the_prior)
{
    struct design design = make_design();
    expect_dense(&design);
}

/* Runs that are repeated, that weigh less than one, that are no candidates. */
Test(imse, it_is_what_dense_conditioning_gives)
{
    struct design design = make_design();
    see(&design, 8, 1, 1);
    see(&design, 8, 1, 1);
    see(&design, 8, 1, 0.5);
    see(&design, 24, 5, 1);
    see(&design, 100, 32, 0.25);
    expect_dense(&design);
}

/* --- what counts and what does not --- */

Test(imse, a_weight_of_three_is_three_runs)
{
    struct design one = make_design();
    struct design three = one;
    see(&one, 24, 3, 3);
    for (size_t i = 0; i < 3; i++)
        see(&three, 24, 3, 1);
    struct imse a = begin(&one);
    struct imse b = begin(&three);
    cr_expect_eq(a.n_runs, 1);
    cr_expect_eq(b.n_runs, 1, "one cell");
    for (size_t i = 0; i < POINTS; i++)
        cr_expect_float_eq(imse_reduction(&a, i), imse_reduction(&b, i), 1e-12);
}

Test(imse, a_run_that_is_added_is_one_that_is_there)
{
    struct design design = make_design();
    struct imse added = begin(&design);
    imse_add(&added, 5);
    see(&design, design.candidates[5].problem_size, design.candidates[5].executors, 1);
    struct imse there = begin(&design);
    for (size_t i = 0; i < POINTS; i++)
        cr_expect_float_eq(imse_reduction(&added, i), imse_reduction(&there, i), 1e-12);
}

Test(imse, order_of_runs_changes_no_digit)
{
    struct design design = make_design();
    struct rng rng = rng_make(14, 4);
    for (size_t i = 0; i < 12; i++)
        see(&design, 8 + 100 * rng_uniform(&rng), 1 + 30 * rng_uniform(&rng),
            0.1 + rng_uniform(&rng));
    for (size_t i = 0; i < 6; i++)
        see(&design, 24, 3, 0.1 + rng_uniform(&rng));
    struct imse first = begin(&design);
    for (size_t i = 0; i < design.n_rows / 2; i++) {
        struct observation row = design.rows[i];
        design.rows[i] = design.rows[design.n_rows - 1 - i];
        design.rows[design.n_rows - 1 - i] = row;
    }
    struct imse second = begin(&design);
    for (size_t i = 0; i < POINTS; i++) {
        double before = imse_reduction(&first, i);
        double after = imse_reduction(&second, i);
        cr_expect(before <= after && before >= after, "candidate %zu: %a, then %a", i, before,
                  after);
    }
}

Test(imse, a_run_of_unknown_size_says_nothing)
{
    struct design design = make_design();
    see(&design, (double)NAN, 4, 1);
    cr_expect_eq(begin(&design).n_runs, 0);
}

/* One size: only executors tell candidates apart, and no 0/0 is made of the axis. */
Test(imse, an_axis_of_one_value_takes_no_part)
{
    struct effects_point line[3] = {{16, 1}, {16, 4}, {16, 16}};
    struct effects_point tenfold[3] = {{160, 1}, {160, 4}, {160, 16}};
    struct imse a;
    struct imse b;
    struct pv_error err = {0};
    cr_assert_eq(imse_begin(line, 3, &line[2], 1, NULL, 0, 1, &arena, &a, &err), PV_OK);
    cr_assert_eq(imse_begin(tenfold, 3, &tenfold[2], 1, NULL, 0, 1, &arena, &b, &err), PV_OK);
    for (size_t i = 0; i < 3; i++) {
        cr_expect(isfinite(imse_reduction(&a, i)));
        cr_expect_float_eq(imse_reduction(&a, i), imse_reduction(&b, i), 1e-12);
    }
    cr_expect_gt(imse_reduction(&a, 2), imse_reduction(&a, 0), "the one asked about says most");
}

/* More cells than there is room for: the runs still count. */
Test(imse, a_long_history_is_thinned)
{
    enum { LONG = 3 * IMSE_CELLS_MAX };
    struct design design = make_design();
    struct observation *rows = calloc(LONG, sizeof *rows);
    struct rng rng = rng_make(14, 5);
    struct imse imse;
    struct pv_error err = {0};
    cr_assert_not_null(rows);
    for (size_t i = 0; i < LONG; i++)
        rows[i] = model_seen(8 * pow(16, rng_uniform(&rng)), pow(32, rng_uniform(&rng)), 100,
                             (double)NAN);
    cr_assert_eq(imse_begin(design.candidates, POINTS, design.asked, 2, rows, LONG, MORE, &arena,
                            &imse, &err),
                 PV_OK);
    cr_expect_leq(imse.n_runs, IMSE_CELLS_MAX);
    for (size_t i = 0; i < POINTS; i++) {
        cr_expect_geq(imse_reduction(&imse, i), 0);
        cr_expect_lt(imse_reduction(&imse, i), 0.01, "much is known everywhere");
    }
    free(rows);
}

/* Two runs in each of 16 by 16 squares, off its centre, count as two at the centre. */
Test(imse, a_thinned_history_is_one_at_the_centres)
{
    enum { CELLS = IMSE_GRID * IMSE_GRID };
    static struct observation near[2 * CELLS], centres[CELLS];
    struct design design = make_design();
    struct imse thinned, whole;
    for (size_t i = 0; i < CELLS; i++) {
        double x = ((double)(i / IMSE_GRID) + 0.5) / IMSE_GRID;
        double u = ((double)(i % IMSE_GRID) + 0.5) / IMSE_GRID;
        centres[i] = model_seen(8 * pow(16, x), pow(32, u), 100, (double)NAN);
        centres[i].weight = 2;
        for (size_t k = 0; k < 2; k++) {
            double off = k == 0 ? -0.02 : 0.01;
            near[2 * i + k] = model_seen(8 * pow(16, x + off), pow(32, u - off), 100, (double)NAN);
        }
    }
    cr_assert_eq(imse_begin(design.candidates, POINTS, design.asked, 2, near, (size_t)2 * CELLS,
                            MORE, &arena, &thinned, NULL),
                 PV_OK);
    cr_assert_eq(imse_begin(design.candidates, POINTS, design.asked, 2, centres, CELLS, MORE,
                            &arena, &whole, NULL),
                 PV_OK);
    cr_expect_eq(thinned.n_runs, CELLS);
    for (size_t i = 0; i < POINTS; i++)
        cr_expect_float_eq(imse_reduction(&thinned, i), imse_reduction(&whole, i),
                           1e-6 * imse_reduction(&whole, i), "%zu", i);
}
