/* The bootstrap of fitted laws: intervals that hold the truth as often as they say, nothing where
 * there is no noise, the same answer whatever the order of rows and steps. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "core/numerics/permutation.h"
#include "core/numerics/quantile.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/uncertainty/bca.h"
#include "core/scaling/uncertainty/bootstrap.h"
#include "core/scaling/uncertainty/resample.h"

enum { ROWS_MAX = 128 };

static struct arena arena;

static void start(void)
{
    (void)gsl_set_error_handler_off();
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

/* Coverage is much work under sanitizers on a busy machine. */
TestSuite(scaling_bootstrap, .init = start, .fini = end, .timeout = 300);

/* --- histories --- */

static const struct bootstrap_point points[2] = {{32, 4}, {96, 12}};

static double law(double size, double m)
{
    return 12 + 3.5 * size / m + 1.25 * log(m) + 0.4 * m;
}

struct grid {
    size_t sizes;
    size_t counts;
    size_t repeats;
    double noise;      /* of a run */
    double cell_noise; /* that the runs of a cell share */
};

static size_t make_rows(const struct grid *grid, uint64_t seed, struct observation rows[])
{
    struct rng rng = rng_make(1000, seed);
    size_t n = 0;
    for (size_t a = 0; a < grid->sizes; a++)
        for (size_t b = 0; b < grid->counts; b++) {
            double size = 8 * (double)(a + 1);
            double m = 1 + 2 * (double)b;
            double shared = exp(grid->cell_noise * rng_normal(&rng));
            for (size_t k = 0; k < grid->repeats; k++) {
                double time_s = law(size, m) * shared * exp(grid->noise * rng_normal(&rng));
                rows[n++] = model_seen(size, m, time_s, (double)NAN);
            }
        }
    return n;
}

static struct bootstrap_order
order_of(const char *kind, const struct observation rows[], size_t n, size_t resamples)
{
    return (struct bootstrap_order){.kind = model_find_kind(kind),
                                    .weights = MODEL_RELATIVE,
                                    .rows = rows,
                                    .n = n,
                                    .points = points,
                                    .n_points = 2,
                                    .resamples = resamples,
                                    .confidence = 0.9,
                                    .seed = 7};
}

/* Steps i, i + stride, ..., wrapped: another order for each stride prime to their number. */
static struct bootstrap_result run(const struct bootstrap_order *order, size_t stride)
{
    struct bootstrap *b = NULL;
    struct bootstrap_result result;
    struct pv_error err = {0};
    struct arena scratch;
    arena_init(&scratch, 0);
    cr_assert_eq(bootstrap_begin(order, &arena, &b, &err), PV_OK, "%s", err.detail);
    size_t steps = bootstrap_steps(b);
    for (size_t i = 0; i < steps; i++)
        cr_assert_eq(bootstrap_step(b, i * stride % steps, &scratch, &err), PV_OK, "%s",
                     err.detail);
    cr_assert_eq(bootstrap_finish(b, &arena, &result, &err), PV_OK, "%s", err.detail);
    arena_fini(&scratch);
    return result;
}

static enum pv_code begin_code(const struct bootstrap_order *order)
{
    struct bootstrap *b = NULL;
    return bootstrap_begin(order, &arena, &b, NULL);
}

/* --- coverage --- */

struct coverage {
    size_t histories;
    size_t expected;
    size_t next_run;
    size_t parameter;
};

static bool holds(const double interval[2], double value)
{
    return interval[0] <= value && value <= interval[1];
}

static struct coverage cover(const struct grid *grid, size_t histories, enum resample_method method)
{
    struct coverage seen = {.histories = histories};
    struct rng rng = rng_make(2000, 0);
    for (size_t h = 0; h < histories; h++) {
        struct observation rows[ROWS_MAX];
        struct arena_mark mark = arena_mark(&arena);
        struct bootstrap_order order = order_of("ernest", rows, make_rows(grid, h, rows), 300);
        order.seed = h;
        struct bootstrap_result result = run(&order, 1);
        const struct bootstrap_prediction *there = &result.predictions[0];
        double truth = law(points[0].problem_size, points[0].executors);
        double next =
            truth * exp(grid->cell_noise * rng_normal(&rng) + grid->noise * rng_normal(&rng));
        cr_assert_eq(result.method, method);
        seen.expected += holds(there->expected.interval, truth) ? 1 : 0;
        seen.next_run += holds(there->next_run, next) ? 1 : 0;
        seen.parameter += holds(result.parameters[1].interval, 3.5) ? 1 : 0;
        arena_rewind(&arena, mark);
    }
    return seen;
}

/* Within four standard deviations of the binomial count, and five points more below: a bootstrap
 * of few runs is known to fall somewhat short. */
static void expect_share(const char *what, size_t hits, size_t histories, double nominal)
{
    double share = (double)hits / (double)histories;
    double sigma = sqrt(nominal * (1 - nominal) / (double)histories);
    cr_expect(share > nominal - 4 * sigma - 0.05 && share < nominal + 4 * sigma,
              "%s: %.3f of %zu where %.2f is nominal", what, share, histories, nominal);
}

static void expect_coverage(const struct grid *grid, enum resample_method method)
{
    struct coverage seen = cover(grid, 120, method);
    expect_share("expected", seen.expected, seen.histories, 0.9);
    expect_share("next run", seen.next_run, seen.histories, 0.9);
    expect_share("parameter", seen.parameter, seen.histories, 0.9);
}

Test(scaling_bootstrap, intervals_of_few_runs_hold)
{
    expect_coverage(&(struct grid){3, 4, 2, 0.05, 0}, RESAMPLE_RESIDUALS);
}

Test(scaling_bootstrap, intervals_of_many_cells_hold)
{
    expect_coverage(&(struct grid){5, 6, 1, 0.05, 0}, RESAMPLE_CASES);
}

/* Four runs of a cell that all are off by the same do not make the law twice as sure. */
Test(scaling_bootstrap, intervals_hold_where_cells_stray_from_the_law)
{
    expect_coverage(&(struct grid){4, 3, 4, 0.02, 0.06}, RESAMPLE_RESIDUALS);
}

Test(scaling_bootstrap, more_confidence_is_wider_and_more_runs_are_narrower)
{
    struct observation few[ROWS_MAX];
    struct observation many[ROWS_MAX];
    struct bootstrap_order order =
        order_of("ernest", few, make_rows(&(struct grid){3, 4, 1, 0.05, 0}, 3, few), 600);
    struct bootstrap_result narrow = run(&order, 1);
    order.confidence = 0.99;
    struct bootstrap_result wide = run(&order, 1);
    order = order_of("ernest", many, make_rows(&(struct grid){3, 4, 8, 0.05, 0}, 3, many), 600);
    struct bootstrap_result sure = run(&order, 1);
    for (size_t k = 0; k < 2; k++) {
        const double *a = narrow.predictions[k].expected.interval;
        const double *b = wide.predictions[k].expected.interval;
        const double *c = sure.predictions[k].expected.interval;
        cr_expect(b[0] < a[0] && a[1] < b[1]);
        cr_expect_lt(c[1] - c[0], 0.6 * (a[1] - a[0]));
        cr_expect_leq(narrow.predictions[k].next_run[0], a[0]);
        cr_expect_geq(narrow.predictions[k].next_run[1], a[1]);
    }
}

/* --- no noise --- */

Test(scaling_bootstrap, exact_data_give_intervals_of_no_width)
{
    const char *const kinds[] = {"ernest", "usba", "amdahl"};
    for (size_t k = 0; k < 3; k++) {
        struct observation rows[20];
        struct model exact = model_bare(model_find_kind(kinds[k]));
        const double p[3][MODEL_PARAMETERS_MAX] = {
            {12, 3.5, 1.25, 0.4}, {1.58, 0.05, 0.01, 0.04, 6, 9, 20, (double)NAN}, {0.9, 300}};
        for (size_t j = 0; j < exact.kind->n_parameters; j++)
            exact.parameters[j].estimate = p[k][j];
        struct model_spread none = MODEL_NO_SPREAD;
        for (size_t i = 0; i < 20; i++) {
            double size = 8 * (double)(1 + i / 5);
            double m = exp2((double)(i % 5));
            struct model_prediction there;
            model_predict(&exact, &none, size, m, &there);
            double before = 9 * (1 - 0.04 + 0.04 * fmin(m, 6));
            rows[i] = model_seen(size, m, there.duration_s, k == 1 ? before : (double)NAN);
        }
        struct bootstrap_order order = order_of(kinds[k], rows, 20, 100);
        struct bootstrap_result result = run(&order, 1);
        cr_expect_eq(result.failed, 0);
        for (size_t q = 0; q < 2; q++) {
            const struct bootstrap_prediction *there = &result.predictions[q];
            double least = 1e-6 * there->expected.estimate;
            cr_expect_float_eq(there->expected.interval[0], there->expected.estimate, least,
                               "%s at point %zu", kinds[k], q);
            cr_expect_float_eq(there->next_run[1], there->next_run[0], 2 * least);
        }
        for (size_t j = 0; j < exact.kind->n_parameters; j++)
            if (!isnan(p[k][j]))
                cr_expect_float_eq(result.parameters[j].interval[1],
                                   result.parameters[j].interval[0], 1e-5 * fmax(1, fabs(p[k][j])),
                                   "%s parameter %zu", kinds[k], j);
    }
}

/* --- the same answer --- */

static void expect_same_figure(const struct bootstrap_figure *a, const struct bootstrap_figure *b)
{
    cr_expect_eq(memcmp(&a->interval, &b->interval, sizeof a->interval), 0, "%.17g and %.17g",
                 a->interval[0], b->interval[0]);
    cr_expect(a->estimate == b->estimate && a->std_error == b->std_error);
}

static void expect_same(const struct bootstrap_result *a, const struct bootstrap_result *b)
{
    for (size_t j = 0; j < 4; j++)
        expect_same_figure(&a->parameters[j], &b->parameters[j]);
    for (size_t k = 0; k < 2; k++) {
        expect_same_figure(&a->predictions[k].expected, &b->predictions[k].expected);
        cr_expect_eq(memcmp(a->predictions[k].next_run, b->predictions[k].next_run,
                            sizeof a->predictions[k].next_run),
                     0);
    }
    cr_assert_eq(a->n_choices, b->n_choices);
    for (size_t k = 0; k < a->n_choices; k++)
        cr_expect(a->choices[k].kind == b->choices[k].kind &&
                  a->choices[k].times == b->choices[k].times);
}

static void expect_reproducible(const struct grid *grid)
{
    struct observation rows[ROWS_MAX];
    struct observation mixed[ROWS_MAX];
    size_t n = make_rows(grid, 9, rows);
    for (size_t i = 0; i < n; i++)
        mixed[i * 53 % n] = rows[i];
    struct bootstrap_order order = order_of("ernest", rows, n, 150);
    order.selections = 21;
    struct bootstrap_result first = run(&order, 1);
    struct bootstrap_result again = run(&order, 101);
    expect_same(&first, &again);
    order.rows = mixed;
    again = run(&order, 1);
    expect_same(&first, &again);
    order.seed = 8;
    again = run(&order, 1);
    cr_expect_neq(first.predictions[0].expected.interval[0],
                  again.predictions[0].expected.interval[0], "the seed changes nothing");
}

Test(scaling_bootstrap, residuals_are_drawn_alike_in_any_order)
{
    expect_reproducible(&(struct grid){3, 4, 2, 0.05, 0});
}

Test(scaling_bootstrap, cases_are_drawn_alike_in_any_order)
{
    expect_reproducible(&(struct grid){6, 6, 1, 0.05, 0});
}

Test(scaling_bootstrap, the_unit_of_time_does_not_matter)
{
    struct observation rows[ROWS_MAX];
    size_t n = make_rows(&(struct grid){3, 4, 2, 0.05, 0}, 4, rows);
    struct bootstrap_order order = order_of("ernest", rows, n, 200);
    struct bootstrap_result seconds = run(&order, 1);
    for (size_t i = 0; i < n; i++)
        rows[i].duration_s *= 4;
    struct bootstrap_result quarters = run(&order, 1);
    for (size_t k = 0; k < 2; k++)
        for (size_t e = 0; e < 2; e++) {
            double expected = 4 * seconds.predictions[k].expected.interval[e];
            cr_expect_float_eq(quarters.predictions[k].expected.interval[e], expected,
                               1e-6 * expected);
        }
}

/* --- which kind --- */

Test(scaling_bootstrap, a_clear_law_is_selected_every_time)
{
    struct observation rows[ROWS_MAX];
    size_t n = make_rows(&(struct grid){4, 5, 1, 0.001, 0}, 1, rows);
    struct bootstrap_order order = order_of("ernest", rows, n, 50);
    order.selections = 40;
    struct bootstrap_result result = run(&order, 1);
    cr_expect_eq(result.selections, 40);
    cr_expect_eq(result.left_out, 4, "the root of 20 cells");
    cr_expect_eq(result.undecided, 0);
    cr_assert_eq(result.n_choices, 1);
    cr_expect_str_eq(result.choices[0].kind->name, "ernest");
    cr_expect_eq(result.choices[0].times, 40);
}

Test(scaling_bootstrap, what_noise_decides_is_selected_now_and_then)
{
    struct observation rows[ROWS_MAX];
    size_t n = make_rows(&(struct grid){2, 10, 1, 0.2, 0}, 6, rows);
    struct bootstrap_order order = order_of("ernest", rows, n, 50);
    order.selections = 60;
    struct bootstrap_result result = run(&order, 1);
    size_t times = result.undecided;
    cr_expect_gt(result.n_choices, 1);
    for (size_t k = 0; k < result.n_choices; k++) {
        times += result.choices[k].times;
        cr_expect(k == 0 || result.choices[k].times <= result.choices[k - 1].times);
    }
    cr_expect_eq(times, 60);
}

/* --- where there is little --- */

Test(scaling_bootstrap, as_many_runs_as_parameters_tell_nothing)
{
    struct observation rows[ROWS_MAX];
    (void)make_rows(&(struct grid){1, 3, 1, 0.05, 0}, 1, rows);
    struct bootstrap_order order = order_of("amdahl", rows, 2, 10);
    cr_expect_eq(begin_code(&order), PV_E_TOO_FEW);
    order.n = 3;
    cr_expect_eq(begin_code(&order), PV_OK);
    order.n = 0;
    cr_expect_eq(begin_code(&order), PV_E_TOO_FEW);
}

Test(scaling_bootstrap, a_history_that_no_kind_fits_says_why)
{
    struct observation rows[6];
    for (size_t i = 0; i < 6; i++)
        rows[i] = model_seen(8 + (double)i, 4, 10 + (double)i, (double)NAN);
    struct bootstrap_order order = order_of("ernest", rows, 6, 10);
    cr_expect_eq(begin_code(&order), PV_E_SINGULAR);
}

/* 40 cells of which all but one lie at one executor count: draws without it determine nothing. */
static size_t lopsided(struct observation rows[])
{
    struct rng rng = rng_make(3, 3);
    for (size_t i = 0; i < 40; i++) {
        double size = 8 + (double)i;
        double m = i < 3 ? 2 + 4 * (double)i : 4;
        rows[i] = model_seen(size, m, law(size, m) * exp(0.03 * rng_normal(&rng)), (double)NAN);
    }
    return 40;
}

Test(scaling_bootstrap, resamples_that_determine_nothing_are_counted)
{
    struct observation rows[ROWS_MAX];
    struct bootstrap_order order = order_of("ernest", rows, lopsided(rows), 300);
    struct bootstrap_result result = run(&order, 1);
    cr_assert_eq(result.method, RESAMPLE_CASES);
    cr_expect(result.failed > 0 && 2 * result.failed < 300, "%zu of 300 failed", result.failed);
    cr_expect(isfinite(result.predictions[0].expected.interval[0]));
}

Test(scaling_bootstrap, a_down_weighted_run_moves_little)
{
    struct observation rows[ROWS_MAX];
    size_t n = make_rows(&(struct grid){3, 4, 2, 0.02, 0}, 2, rows);
    struct bootstrap_order order = order_of("ernest", rows, n, 300);
    struct bootstrap_result clean = run(&order, 1);
    rows[5].duration_s *= 3;
    struct bootstrap_result wild = run(&order, 1);
    rows[5].weight = 1e-4;
    struct bootstrap_result tame = run(&order, 1);
    double width[3];
    const struct bootstrap_result *all[3] = {&clean, &wild, &tame};
    for (size_t k = 0; k < 3; k++)
        width[k] = all[k]->predictions[0].expected.interval[1] -
                   all[k]->predictions[0].expected.interval[0];
    cr_expect_gt(width[1], 3 * width[0]);
    cr_expect_lt(width[2], 1.5 * width[0]);
}

Test(scaling_bootstrap, speedups_have_intervals_of_speedups)
{
    struct observation rows[12];
    struct rng rng = rng_make(5, 5);
    for (size_t i = 0; i < 12; i++) {
        double m = exp2((double)(i % 6));
        double speedup = 1 / (0.9 / m + 0.1) * exp(0.02 * rng_normal(&rng));
        rows[i] = model_seen_speedup(8, m, speedup);
    }
    struct bootstrap_order order = order_of("amdahl", rows, 12, 200);
    struct bootstrap_result result = run(&order, 1);
    double at = 1 / (0.9 / points[0].executors + 0.1);
    cr_expect(holds(result.predictions[0].next_run, at));
    cr_expect_lt(result.predictions[0].next_run[1], 1.3 * at);
    cr_expect(isnan(result.parameters[1].interval[0]), "a time that speedups do not tell");
}

Test(scaling_bootstrap, memory_that_runs_out_is_an_error)
{
    struct observation rows[ROWS_MAX];
    size_t n = make_rows(&(struct grid){3, 4, 2, 0.02, 0}, 2, rows);
    struct bootstrap_order order = order_of("ernest", rows, n, 50);
    struct bootstrap *b = NULL;
    struct arena tight;
    arena_init(&tight, 8000);
    cr_expect_eq(bootstrap_begin(&order, &tight, &b, NULL), PV_E_MEMORY);
    arena_fini(&tight);
    struct pv_error err;
    cr_assert_eq(bootstrap_begin(&order, &arena, &b, &err), PV_OK);
    arena_init(&tight, 1);
    cr_expect_eq(bootstrap_step(b, 0, &tight, NULL), PV_E_MEMORY);
    arena_fini(&tight);
}

/* --- the interval itself --- */

Test(scaling_bootstrap, quantiles_lie_between_neighbours)
{
    const double values[] = {1, 2, 4, 8};
    cr_expect_float_eq(quantile_of_sorted(values, 4, 0), 1, 0);
    cr_expect_float_eq(quantile_of_sorted(values, 4, 0.5), 3, 1e-12);
    cr_expect_float_eq(quantile_of_sorted(values, 4, 1), 8, 0);
    cr_expect(isnan(quantile_of_sorted(values, 0, 0.5)));
}

/* Replications that are normal about the estimate: plain t standard errors. */
Test(scaling_bootstrap, normal_replications_give_the_normal_interval)
{
    static double values[20000];
    struct rng rng = rng_make(11, 0);
    for (size_t i = 0; i < 20000; i++)
        values[i] = 5 + 2 * rng_normal(&rng);
    struct bca made = bca_interval(values, 20000, 5, 0, 1.96);
    cr_expect_float_eq(made.interval[0], 5 - 3.92, 0.12);
    cr_expect_float_eq(made.interval[1], 5 + 3.92, 0.12);
    cr_expect_float_eq(made.std_error, 2, 0.03);
    /* Far beyond 20,000 replications: the ends go on by the standard error. */
    made = bca_interval(values, 20000, 5, 0, 12.7);
    cr_expect_float_eq(made.interval[1], 5 + 12.7 * made.std_error, 1e-9);
}

/* Efron's correction undoes a bias: replications of x + 1 (median) about x shift the ends down. */
Test(scaling_bootstrap, bias_is_corrected)
{
    static double values[20000];
    struct rng rng = rng_make(12, 0);
    for (size_t i = 0; i < 20000; i++)
        values[i] = 6 + 2 * rng_normal(&rng);
    struct bca made = bca_interval(values, 20000, 5, 0, 1.645);
    cr_expect_float_eq(made.interval[0], 4 - 3.29, 0.15);
    cr_expect_float_eq(made.interval[1], 4 + 3.29, 0.15);
}

/* Means of n exponentials: Efron's acceleration of a mean is skewness / (6 sqrt n). */
Test(scaling_bootstrap, acceleration_is_that_of_a_skewed_mean)
{
    double left_out[10];
    const double x[10] = {0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.1, 1.5, 2, 3};
    double sum = 0;
    double second = 0;
    double third = 0;
    for (size_t i = 0; i < 10; i++)
        sum += x[i];
    for (size_t i = 0; i < 10; i++) {
        left_out[i] = (sum - x[i]) / 9;
        second += pow(x[i] - sum / 10, 2) / 10;
        third += pow(x[i] - sum / 10, 3) / 10;
    }
    double expected = third / pow(second, 1.5) / (6 * sqrt(10));
    cr_expect_float_eq(bca_acceleration(left_out, 10), expected, 1e-9);
    left_out[3] = (double)NAN;
    cr_expect_gt(bca_acceleration(left_out, 10), 0);
    cr_expect_eq(bca_acceleration(left_out, 2), 0);
}

/* --- what is asked --- */

Test(scaling_bootstrap, points_are_the_configurations_observed)
{
    struct observation rows[ROWS_MAX];
    struct bootstrap_point *found = NULL;
    size_t n = 0;
    size_t n_rows = make_rows(&(struct grid){.sizes = 4, .counts = 5, .repeats = 3}, 1, rows);
    struct observation first = rows[0];
    rows[0] = rows[n_rows - 1];
    rows[n_rows - 1] = first;
    cr_assert_eq(bootstrap_observed_points(rows, n_rows, 64, &arena, &found, &n, NULL), PV_OK);
    cr_assert_eq(n, 20);
    for (size_t i = 0; i < n; i++) {
        cr_expect_float_eq(found[i].problem_size, 8 * (double)(i / 5 + 1), 0);
        cr_expect_float_eq(found[i].executors, 1 + 2 * (double)(i % 5), 0);
    }
    cr_assert_eq(bootstrap_observed_points(rows, n_rows, 4, &arena, &found, &n, NULL), PV_OK);
    cr_assert_eq(n, 4);
    cr_expect_float_eq(found[0].executors, 1, 0);
    cr_expect_float_eq(found[3].problem_size, 32, 0);
    cr_expect_float_eq(found[3].executors, 9, 0);
    cr_assert_eq(bootstrap_observed_points(rows, 0, 4, &arena, &found, &n, NULL), PV_OK);
    cr_expect_eq(n, 0);
}

/* Every step is taken once, whatever their number. */
Test(scaling_bootstrap, strides_reach_every_step)
{
    for (size_t steps = 1; steps < 200; steps++) {
        bool taken[200] = {false};
        size_t stride = permutation_step(steps), at = 0;
        for (size_t i = 0; i < steps; i++, at = (at + stride) % steps) {
            cr_expect(!taken[at], "%zu of %zu twice", at, steps);
            taken[at] = true;
        }
    }
}

/* What learns from other groups cannot be resampled within one. */
Test(scaling_bootstrap, a_kind_that_pools_gives_way_to_the_best_that_does_not)
{
    struct model_candidate candidates[2] = {{.kind = model_find_kind("pooled")},
                                            {.kind = model_find_kind("ernest")}};
    struct model_selection selection = {.candidates = candidates, .n = 2};
    cr_assert(candidates[0].kind != NULL && candidates[0].kind->pools);
    cr_expect_null(bootstrap_kind(&selection));
    selection.selected = &candidates[0];
    cr_expect_null(bootstrap_kind(&selection), "there is no other");
    selection.single = &candidates[1];
    cr_expect_eq(bootstrap_kind(&selection), candidates[1].kind);
    selection.selected = &candidates[1];
    cr_expect_eq(bootstrap_kind(&selection), candidates[1].kind);
}

/* Six runs in the cells 1, 2, 4 (two runs), 8 and 16: without the cells 1 and 4 of every three, 1, 4, 4 and 8
 * are left. */
Test(scaling_bootstrap, every_third_cell_is_left_out)
{
    static const double counts[] = {1, 2, 4, 4, 8, 16}, left[] = {1, 4, 4, 8};
    struct observation rows[6], without[6];
    struct model_fit fit;
    struct resample from;
    for (size_t i = 0; i < 6; i++)
        rows[i] = model_seen(64, counts[i], 20 + 100 / counts[i] + (double)(i % 2), (double)NAN);
    cr_assert_eq(model_fit(&amdahl_kind, rows, 6, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    cr_assert_eq(resample_make(rows, &fit, 2, &arena, &from, NULL), PV_OK);
    cr_assert_eq(from.cells, 5);
    cr_assert_eq(resample_without(&from, 1, 3, without), 4);
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(without[i].executors, left[i]);
    cr_expect_eq(resample_without(&from, 2, 3, without), 4);
}

/* What a run's time is made up of is drawn with it: of one run a cell, each part stays the same share. */
Test(scaling_bootstrap, the_parts_of_a_run_are_drawn_with_its_time)
{
    enum { CELLS = 6 };
    struct observation rows[CELLS], drawn[CELLS];
    struct model_fit fit;
    struct resample from;
    struct rng rng = rng_make(8, 0);
    bool moved = false;
    for (size_t i = 0; i < CELLS; i++) {
        double m = (double)(1u << i);
        rows[i] = model_seen(64, m, 20 + 100 / m + (double)(i % 2), 5);
        rows[i].stages_s = 12;
        rows[i].parallel_s = 80;
        rows[i].serial_s = 3;
        rows[i].induced_s = 2;
        rows[i].max_task_s = 7;
    }
    cr_assert_eq(model_fit(&amdahl_kind, rows, CELLS, MODEL_RELATIVE, &arena, &fit, NULL), PV_OK);
    cr_assert_eq(resample_make(rows, &fit, 2, &arena, &from, NULL), PV_OK);
    cr_assert_eq(from.method, RESAMPLE_RESIDUALS);
    for (int round = 0; round < 10; round++) {
        cr_assert_eq(resample_draw(&from, &rng, drawn), CELLS);
        for (size_t i = 0; i < CELLS; i++) {
            double factor = drawn[i].duration_s / rows[i].duration_s;
            moved = moved || fabs(factor - 1) > 1e-3;
            cr_expect_float_eq(drawn[i].initialization_s, 5 * factor, 1e-9);
            cr_expect_float_eq(drawn[i].stages_s, 12 * factor, 1e-9);
            cr_expect_float_eq(drawn[i].parallel_s, 80 * factor, 1e-9);
            cr_expect_float_eq(drawn[i].serial_s, 3 * factor, 1e-9);
            cr_expect_float_eq(drawn[i].induced_s, 2 * factor, 1e-9);
            cr_expect_float_eq(drawn[i].max_task_s, 7 * factor, 1e-9);
        }
    }
    cr_expect(moved);
}
