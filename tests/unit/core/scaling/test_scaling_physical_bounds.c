/* What holds for the predictions of every kind at sizes that did not run. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/physical_bounds.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/selection/selection.h"
#include "rounds.h"

enum { ROWS_MAX = 120, HISTORIES = 2000 };

static struct arena arena;

static void start(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_physical_bounds, .init = start, .fini = end);

static struct model_prediction prediction(const struct model *model, double size, double m)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction there;
    model_predict(model, &none, size, m, &there);
    return there;
}

static double duration(const struct model *model, double size, double m)
{
    return prediction(model, size, m).duration_s;
}

static double share(struct rng *rng, double low, double high)
{
    return low + (high - low) * rng_uniform(rng);
}

/* --- random histories --- */

struct history {
    struct observation rows[ROWS_MAX];
    size_t n;
    double sizes[5];
    size_t n_sizes;
    double counts[6];
    size_t n_counts;
};

/* A job with a fixed part, a part that grows with the data, a part that is shared, and a memory that
 * overflows; each run is off by a factor, and one in twenty is an outlier. Sizes may be close. */
static void draw_history(struct rng *rng, struct history *history)
{
    double fixed_s = share(rng, 0, 200);
    double grows = share(rng, 0, 5);
    double shared = exp(share(rng, 0, 5));
    double limit = share(rng, 2, 60);
    double overflow = rng_uniform(rng) < 0.3 ? 5 * shared : 0;
    double noise = share(rng, 0.005, 0.2);
    double close = rng_uniform(rng) < 0.3 ? 1.03 : share(rng, 1.2, 3);
    history->n = 0;
    history->n_sizes = 1 + (size_t)share(rng, 0, 4.99);
    history->n_counts = 2 + (size_t)share(rng, 0, 4.99);
    history->sizes[0] = exp(share(rng, 0, 5));
    history->counts[0] = 1 + floor(share(rng, 0, 4));
    for (size_t i = 1; i < history->n_sizes; i++)
        history->sizes[i] = history->sizes[i - 1] * (i % 2 == 1 ? close : share(rng, 1.1, 2.5));
    for (size_t i = 1; i < history->n_counts; i++)
        history->counts[i] = history->counts[i - 1] + 1 + floor(share(rng, 0, 5));
    for (size_t s = 0; s < history->n_sizes; s++)
        for (size_t c = 0; c < history->n_counts; c++) {
            size_t repeated = 1 + (size_t)share(rng, 0, 2.99);
            double size = history->sizes[s];
            double m = history->counts[c];
            double time_s = 1 + fixed_s + grows * size + shared * size / m +
                            overflow * fmax(0, size / m - limit);
            for (size_t k = 0; k < repeated && history->n < ROWS_MAX; k++) {
                double factor = rng_uniform(rng) < 0.05 ? 3 : 1;
                history->rows[history->n++] =
                    model_seen(size, m, rng_lognormal(rng, time_s * factor, noise), (double)NAN);
            }
        }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_at(const struct history *history, double size, double m)
{
    double times_s[ROWS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < history->n; i++)
        if (history->rows[i].problem_size == size && history->rows[i].executors == m)
            times_s[n++] = history->rows[i].duration_s;
    qsort(times_s, n, sizeof *times_s, ascending);
    return n == 0 ? (double)NAN : (times_s[(n - 1) / 2] + times_s[n / 2]) / 2;
}

/* Does a recorded median of more data show that N on m executors is less work than it took? Up
 * to 1.4 times less data for each executor counts, with a time that grows at least in proportion. */
static bool is_contradicted(const struct history *history, double size, double m)
{
    double here_s = median_at(history, size, m);
    for (size_t i = 0; i < history->n; i++) {
        const struct observation *row = &history->rows[i];
        double less = size / m / (row->problem_size / row->executors);
        double there_s = median_at(history, row->problem_size, row->executors);
        if (row->problem_size > size && row->executors >= m && less <= 1.4 + 1e-9 &&
            there_s * fmax(1, less) < here_s)
            return true;
    }
    return false;
}

/* Twice the data on twice the executors is not faster than a recorded run, nor are other multiples.
 * Returns how many medians were compared. */
static size_t expect_weak_scaling(const struct history *history, const struct model *model)
{
    static const double multiples[][2] = {{1.1, 1}, {1.1, 1.1}, {1.5, 1},   {1.5, 1.5},
                                          {2, 1},   {2, 1.5},   {2, 2},     {4, 1},
                                          {4, 3},   {4, 4},     {100, 100}, {100, 1}};
    size_t compared = 0;
    for (size_t s = 0; s < history->n_sizes; s++)
        for (size_t c = 0; c < history->n_counts; c++) {
            double size = history->sizes[s];
            double m = history->counts[c];
            double recorded_s = median_at(history, size, m);
            if (isnan(recorded_s) || is_contradicted(history, size, m))
                continue;
            compared++;
            for (size_t k = 0; k < sizeof multiples / sizeof *multiples; k++) {
                double more = multiples[k][0] * size;
                double time_s = duration(model, more, multiples[k][1] * m);
                cr_assert(!(time_s > 0) || time_s >= recorded_s * (1 - 1e-9),
                          "%s: %g on %g took %g s, and %g on %g are predicted as %g s",
                          model->kind->name, size, m, recorded_s, more, multiples[k][1] * m,
                          time_s);
            }
        }
    return compared;
}

/* Beyond the sizes that ran, time does not fall with the data, and grows at most with its cube. */
static void expect_growth(const struct history *history, const struct model *model)
{
    static const double multiples[] = {1, 1.01, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 100};
    double most = history->sizes[history->n_sizes - 1];
    double slowest_s = 0;
    for (size_t i = 0; i < history->n; i++)
        slowest_s = fmax(slowest_s, history->rows[i].duration_s);
    for (double m = 1; m < 60; m = ceil(m * 1.4)) {
        double edge_s = duration(model, most, m);
        double before_s = edge_s;
        if (!(edge_s > 0))
            continue;
        for (size_t k = 1; k < sizeof multiples / sizeof *multiples; k++) {
            double time_s = duration(model, multiples[k] * most, m);
            cr_assert(time_s >= before_s * (1 - 1e-9),
                      "%s on %g: %g s for %g times the largest size, %g s for %g times",
                      model->kind->name, m, before_s, multiples[k - 1], time_s, multiples[k]);
            cr_assert_leq(time_s, fmax(slowest_s, edge_s * pow(multiples[k], 3)) * (1 + 1e-9));
            before_s = time_s;
        }
    }
}

/* The size that was not fitted must count, whatever the law: ten times the only size takes longer
 * on executors that share some of the work. */
static void expect_size_counts(const struct history *history, const struct model *model)
{
    double size = history->sizes[0];
    double m = history->counts[0];
    double here_s = duration(model, size, m);
    if (history->n_sizes > 1 || !(here_s > 0) || !(duration(model, size, 2 * m) < 0.8 * here_s))
        return;
    double more_s = duration(model, 10 * size, m);
    cr_assert(more_s > 2 * here_s, "%s: %g s for %g, %g s for ten times that", model->kind->name,
              here_s, size, more_s);
    struct predictive there;
    cr_assert(model_predictive(model, 10 * size, m, &there));
}

/* A law with a speedup of its own gives none that the bounds on its durations exclude: what changes
 * the time on m executors, or on one, changes the speedup as much. Returns how many were changed. */
static size_t expect_bounded_speedups(const struct history *history, const struct model *model)
{
    struct model law = *model;
    size_t changed = 0;
    law.uncertainty.observations = 0;
    for (double size = history->sizes[0] / 3; size < 200 * history->sizes[0]; size *= 2.7)
        for (double m = 1; m < 60; m = ceil(m * 1.7)) {
            struct model_prediction there = prediction(model, size, m);
            struct model_prediction by_law = prediction(&law, size, m);
            double one_s = duration(model, size, 1);
            double one_by_law_s = duration(&law, size, 1);
            if (!(one_s > 0 && one_by_law_s > 0 && there.duration_s > 0) ||
                !(by_law.duration_s > 0 && by_law.speedup > 0))
                continue;
            double expected =
                by_law.speedup * by_law.duration_s / there.duration_s * (one_s / one_by_law_s);
            cr_assert_float_eq(there.speedup, expected, 1e-9 * expected,
                               "%s, %g on %g: speedup %g, not %g", model->kind->name, size, m,
                               there.speedup, expected);
            changed += fabs(there.speedup / by_law.speedup - 1) > 0.01;
        }
    return changed;
}

Test(scaling_physical_bounds, random_histories, .timeout = 120)
{
    struct rng rng = rng_make(20261127, 0);
    size_t compared = 0;
    size_t fitted = 0;
    size_t speedups = 0;
    const size_t histories = rounds(HISTORIES);
    for (size_t round = 0; round < histories; round++) {
        struct history history;
        struct model_selection selection;
        struct pv_error err = {0};
        struct arena_mark mark = arena_mark(&arena);
        draw_history(&rng, &history);
        cr_assert_eq(model_select(history.rows, history.n, &arena, &selection, &err), PV_OK, "%s",
                     err.detail);
        for (size_t k = 0; k < selection.n; k++) {
            const struct model_candidate *candidate = &selection.candidates[k];
            if (candidate->standing == MODEL_NOT_FITTED)
                continue;
            fitted++;
            compared += expect_weak_scaling(&history, &candidate->fit.model);
            expect_growth(&history, &candidate->fit.model);
            expect_size_counts(&history, &candidate->fit.model);
            if (candidate->kind->speedup != NULL)
                speedups += expect_bounded_speedups(&history, &candidate->fit.model);
        }
        if (selection.selected != NULL && history.n_sizes == 1)
            cr_assert_str_neq(selection.selected->kind->name, "amdahl");
        arena_rewind(&arena, mark);
    }
    cr_expect_gt(fitted, 5 * histories);
    cr_expect_gt(compared, 20 * histories);
    cr_expect_gt(speedups, 20 * histories);
}

/* --- values --- */

static struct model_fit fit_rows(const char *kind, const struct observation rows[], size_t n)
{
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(model_fit(model_find_kind(kind), rows, n, MODEL_RELATIVE, &arena, &fit, &err),
                 PV_OK, "%s", err.detail);
    return fit;
}

/* T = 60 + 800/m of one size. The shared part follows the load of an executor, the rest grows like
 * (N/N0)^0.4, with and without a size in the law. */
Test(scaling_physical_bounds, one_size_grows_like_a_root)
{
    static const char *const kinds[] = {"amdahl", "load_per_executor", "ernest", "combined"};
    struct observation rows[6];
    for (size_t i = 0; i < 6; i++)
        rows[i] = model_seen(100, (double)(4 + 2 * i), 60 + 800 / (double)(4 + 2 * i), (double)NAN);
    for (size_t k = 0; k < 4; k++) {
        struct model_fit fit = fit_rows(kinds[k], rows, 6);
        for (double size = 60; size < 2000; size *= 1.9) {
            double expected = 60 * pow(size / 100, 0.4) + 800 * size / 100 / 12;
            cr_expect_float_eq(duration(&fit.model, size, 12), expected,
                               (k == 3 ? 0.03 : 1e-4) * expected, "%s, %g: %g, not %g", kinds[k],
                               size, duration(&fit.model, size, 12), expected);
        }
        cr_expect_float_eq(fit.model.uncertainty.size_exponent, 1.5, 1e-12, "the prior alone");
    }
}

/* Two sizes 2 % apart, 540 and 690 s (an exponent of 10), among sizes that grow by 0.7. */
Test(scaling_physical_bounds, close_sizes_do_not_set_the_exponent)
{
    static const double sizes[] = {15.6, 20, 30, 40, 50.78, 51.98};
    struct observation rows[12];
    for (size_t s = 0; s < 6; s++)
        for (size_t c = 0; c < 2; c++) {
            double time_s = 540 * pow(sizes[s] / 50.78, 0.7) * (s == 5 ? 690.0 / 549 : 1);
            rows[2 * s + c] =
                model_seen(sizes[s], c == 0 ? 4 : 8, time_s / pow(2, 0.5 * (double)c), (double)NAN);
        }
    struct model_fit fit = fit_rows("interpolation", rows, 12);
    double twice_s = duration(&fit.model, 103.95, 4);
    cr_expect(twice_s > 690 * pow(2, 0.6) && twice_s < 690 * pow(2, 1), "%g", twice_s);
    cr_expect(fit.model.uncertainty.size_exponent < 1.3, "%g", fit.model.uncertainty.size_exponent);
    /* A square that all sizes show is believed. */
    for (size_t i = 0; i < 12; i++)
        rows[i].duration_s = rows[i].problem_size * rows[i].problem_size / rows[i].executors;
    fit = fit_rows("interpolation", rows, 12);
    cr_expect(fit.model.uncertainty.size_exponent > 1.9 &&
              fit.model.uncertainty.size_exponent < 2.2);
    cr_expect_float_eq(duration(&fit.model, 104, 4), 104 * 104 / 4.0, 0.1 * 104 * 104 / 4);
}

/* 227 on 2 executors took about 2,670 s; the law that has an idle machine makes 454 on 4 faster.
 * The median of the three runs is the bound, not the outlier; just below it holds in part. */
Test(scaling_physical_bounds, a_median_bounds_twice_the_data)
{
    static const double counts[] = {2, 4, 6, 8, 10, 12};
    struct observation rows[18];
    for (size_t i = 0; i < 18; i++) {
        double m = counts[i / 3];
        double time_s = m > 2 ? 100 + 1600 / (m - 1) : 2666 + 10 * (double)i;
        rows[i] = model_seen(227, m, i == 2 ? 9000 : time_s, (double)NAN);
    }
    static const char *const kinds[] = {"combined", "usba", "amdahl", "worker_load", "power_law"};
    for (size_t k = 0; k < 5; k++) {
        struct model_fit fit = fit_rows(kinds[k], rows, 18);
        cr_expect_geq(duration(&fit.model, 454, 4), 2676, "%s: %.17g", kinds[k],
                      duration(&fit.model, 454, 4));
        cr_expect_geq(duration(&fit.model, 454, 2), 2676, "%s", kinds[k]);
        cr_expect(duration(&fit.model, 450, 4) > 0.9 * 2676, "%s", kinds[k]);
        cr_expect_lt(duration(&fit.model, 454, 4), 6000, "%s", kinds[k]);
        /* The time of one executor over that of four. */
        if (strcmp(kinds[k], "usba") != 0)
            cr_expect_float_eq(prediction(&fit.model, 454, 4).speedup,
                               duration(&fit.model, 454, 1) / duration(&fit.model, 454, 4), 1e-9,
                               "%s", kinds[k]);
    }
}

/* Recorded runs of more data that were faster take the bound away. */
Test(scaling_physical_bounds, recorded_runs_decide_against_the_rule)
{
    struct observation rows[6];
    for (size_t i = 0; i < 6; i++) {
        double size = i < 3 ? 100 : 200;
        double m = (double)(2 << (i % 3));
        rows[i] =
            model_seen(size, m, size == 100 && m == 2 ? 3000 : 40 + 2 * size / m, (double)NAN);
    }
    struct model_fit fit = fit_rows("load_per_executor", rows, 6);
    const struct model_uncertainty *u = &fit.model.uncertainty;
    cr_assert_eq(u->n_recorded, 6);
    cr_expect_float_eq(u->recorded[0].least_s, 140, 1e-9, "as 200 on 4 took");
    cr_expect_float_eq(u->recorded[0].most_s, 3000, 1e-9);
    cr_expect_float_eq(u->recorded[3].most_s, 3000, 1e-9, "200 on 2 is not known to be faster");
}

/* N - 100 seconds give no time at the largest size, so that no growth is bounded by it. */
Test(scaling_physical_bounds, a_law_without_a_time_at_the_edge_is_not_bounded_by_it)
{
    struct observation rows[6];
    for (size_t i = 0; i < 6; i++) {
        double size = i < 3 ? 50 : 100;
        double m = (double)(1 << (i % 3));
        rows[i] = model_seen(size, m, 10 + size / m, (double)NAN);
    }
    struct model_fit fit = fit_rows("ernest", rows, 6);
    struct model_recorded *recorded =
        arena_array(&arena, fit.model.uncertainty.n_recorded, sizeof *recorded);
    for (size_t i = 0; i < fit.model.uncertainty.n_recorded; i++)
        recorded[i] =
            (struct model_recorded){rows[i].problem_size, rows[i].executors, 0, (double)INFINITY};
    fit.model.uncertainty.recorded = recorded;
    const double estimates[] = {-100, 1, 0, 0};
    for (size_t j = 0; j < 4; j++)
        fit.model.parameters[j].estimate = estimates[j];
    cr_expect_float_eq(duration(&fit.model, 200, 1), 100, 1e-9);
    cr_expect_float_eq(duration(&fit.model, 300, 1), 200, 1e-9);
}

/* Predictions of a sent model are those of the fitted one: what bounds them is part of it. */
Test(scaling_physical_bounds, of_many_pairs_some_are_kept)
{
    struct observation *rows = arena_array(&arena, 1200, sizeof *rows);
    for (size_t i = 0; i < 1200; i++) {
        double size = 100 + (double)(i / 4);
        double m = (double)(1 + i % 4);
        rows[i] = model_seen(size, m, 10 + size / m, (double)NAN);
    }
    struct model_fit fit = fit_rows("load_per_executor", rows, 1200);
    const struct model_uncertainty *u = &fit.model.uncertainty;
    cr_assert_eq(u->n_recorded, RECORDED_MAX);
    cr_expect_eq(u->recorded[0].problem_size, 100);
    cr_expect_eq(u->recorded[RECORDED_MAX - 1].problem_size, 399);
}
