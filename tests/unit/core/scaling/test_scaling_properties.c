/* Laws that every kind of model obeys, whatever it computes. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/laws/worker_load.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

enum { ROWS = 15 };

static const double sizes[3] = {4, 16, 64};
static const double counts[5] = {1, 2, 4, 8, 16};

static struct arena arena;

static void start(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_properties, .init = start, .fini = end);

static struct model_fit fit_rows(const struct model_kind *kind,
                                 const struct observation rows[],
                                 size_t n,
                                 enum model_weights weights)
{
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(model_fit(kind, rows, n, weights, &arena, &fit, &err), PV_OK, "%s: %s", kind->name,
                 err.detail);
    return fit;
}

/* Durations of a job with a serial part, work to share out and overheads that grow, each off by up
 * to +-noise of it. */
static void make_rows(double noise, struct observation rows[ROWS])
{
    struct rng rng = rng_make(23, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double size = sizes[i / 5];
        double m = counts[i % 5];
        double before_s = 5 + 0.2 * fmin(m, 6);
        double after_s = 12 + 3.5 * size / m + 1.25 * log(m) + 0.4 * m;
        double factor = 1 + noise * (2 * rng_uniform(&rng) - 1);
        rows[i] = model_seen(size, m, before_s + factor * after_s, before_s);
    }
}

/* The same as speedups over one executor at that size. */
static void make_speedups(double noise, struct observation rows[ROWS])
{
    make_rows(noise, rows);
    for (size_t i = 0; i < ROWS; i++) {
        double size = sizes[i / 5];
        double alone_s = 5.2 + 12 + 3.5 * size + 0.4;
        rows[i] = model_seen_speedup(size, counts[i % 5], alone_s / rows[i].duration_s);
    }
}

/* Every kind with every form of rows that it takes and either weights. */
struct trial {
    const struct model_kind *kind;
    bool speedups;
    enum model_weights weights;
};

enum { TRIALS_MAX = 64 };

static size_t list_trials(struct trial trials[TRIALS_MAX])
{
    size_t n = 0;
    for (size_t k = 0; model_kinds[k] != NULL; k++) {
        if (model_kinds[k]->pools) /* nothing to learn from here: test_scaling_pooled.c */
            continue;
        if ((model_kinds[k]->forms & MODEL_OF_DURATIONS) != 0) {
            trials[n++] = (struct trial){model_kinds[k], false, MODEL_SECONDS};
            trials[n++] = (struct trial){model_kinds[k], false, MODEL_RELATIVE};
        }
        if ((model_kinds[k]->forms & MODEL_OF_SPEEDUPS) != 0)
            trials[n++] = (struct trial){model_kinds[k], true, MODEL_SECONDS};
    }
    return n;
}

static void make_trial_rows(const struct trial *trial, double noise, struct observation rows[ROWS])
{
    if (trial->speedups)
        make_speedups(noise, rows);
    else
        make_rows(noise, rows);
}

static double predict(const struct model *model, double size, double m)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction there;
    model_predict(model, &none, size, m, &there);
    return model->form == MODEL_OF_SPEEDUPS ? there.speedup : there.duration_s;
}

static const double asked[][2] = {{4, 1}, {16, 3}, {64, 16}, {100, 24}, {5, 2}};

/* Predictions and the errors of a and b are the same, those of a times `scale`. */
static void expect_same(const struct trial *trial,
                        const struct model_fit *a,
                        const struct model_fit *b,
                        double scale,
                        double tolerance)
{
    const char *name = trial->kind->name;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        double x = scale * predict(&a->model, asked[i][0], asked[i][1]);
        double y = predict(&b->model, asked[i][0], asked[i][1]);
        cr_expect_float_eq(x, y, tolerance * fabs(y), "%s at %g, %g: %.17g, %.17g", name,
                           asked[i][0], asked[i][1], x, y);
    }
    cr_expect_float_eq(a->mape_percent, b->mape_percent, tolerance * 100, "%s", name);
    cr_expect_float_eq(a->loo_mape_percent, b->loo_mape_percent, tolerance * 1000, "%s", name);
}

/* A law of dimensions: times told in another unit give the same model in that unit. */
Test(scaling_properties, times_scale_predictions)
{
    struct trial trials[TRIALS_MAX];
    size_t n = list_trials(trials);
    for (size_t t = 0; t < n; t++) {
        struct observation rows[ROWS];
        if (trials[t].speedups)
            continue;
        make_trial_rows(&trials[t], 0.1, rows);
        struct model_fit seconds = fit_rows(trials[t].kind, rows, ROWS, trials[t].weights);
        for (size_t i = 0; i < ROWS; i++) {
            rows[i].duration_s *= 1000;
            rows[i].initialization_s *= 1000;
        }
        struct model_fit milliseconds = fit_rows(trials[t].kind, rows, ROWS, trials[t].weights);
        expect_same(&trials[t], &seconds, &milliseconds, 1000, 1e-6);
    }
}

/* Not by rounding even. */
Test(scaling_properties, order_changes_no_digit)
{
    struct trial trials[TRIALS_MAX];
    size_t n = list_trials(trials);
    for (size_t t = 0; t < n; t++) {
        struct observation rows[ROWS];
        struct observation turned[ROWS];
        make_trial_rows(&trials[t], 0.1, rows);
        for (size_t i = 0; i < ROWS; i++)
            turned[i] = rows[(7 * i + 3) % ROWS];
        struct model_fit a = fit_rows(trials[t].kind, rows, ROWS, trials[t].weights);
        struct model_fit b = fit_rows(trials[t].kind, turned, ROWS, trials[t].weights);
        expect_same(&trials[t], &a, &b, 1, 0);
    }
}

/* Another limit of the load is another law, too. */
static double find_limit(const struct model *model)
{
    if (model->tables.n_components > 0)
        return model->tables.components[0].law.p[WORKER_LIMIT];
    return model->parameters[WORKER_LIMIT].estimate;
}

/* What leave-one-out formulas say is what fitting the other rows says. The nonlinear laws descend
 * from the fit to all rows and stop within 1e-5 of a parameter; a combination leaves a row out of
 * its laws and not of their weights, which one row hardly moves, and robust laws keep limits. */
Test(scaling_properties, left_out_is_a_fit_without)
{
    struct trial trials[TRIALS_MAX];
    size_t n = list_trials(trials);
    for (size_t t = 0; t < n; t++) {
        struct observation rows[ROWS];
        make_trial_rows(&trials[t], 0.03, rows);
        rows[3].weight = 0.4;
        struct model_fit all = fit_rows(trials[t].kind, rows, ROWS, trials[t].weights);
        bool nonlinear = trials[t].speedups || strcmp(trials[t].kind->name, "sun_ni") == 0;
        bool combines = (trials[t].kind->tables & MODEL_HAS_COMPONENTS) != 0;
        bool robust = combines || trials[t].kind == &worker_load_kind;
        double tolerance = combines ? 0.15 : robust ? 5e-2 : nonlinear ? 2e-4 : 1e-8;
        for (size_t i = 0; i < ROWS; i++) {
            struct observation rest[ROWS - 1];
            for (size_t j = 0; j < ROWS - 1; j++)
                rest[j] = rows[j < i ? j : j + 1];
            struct model_fit without = fit_rows(trials[t].kind, rest, ROWS - 1, trials[t].weights);
            /* Another choice of what is significant is another law. */
            if (model_count_parameters(&without.model) != model_count_parameters(&all.model) &&
                trials[t].kind->tables == 0)
                continue;
            if (robust && find_limit(&without.model) != find_limit(&all.model))
                continue;
            without.model.uncertainty.observations = 0; /* the law alone */
            double there = predict(&without.model, rows[i].problem_size, rows[i].executors);
            cr_expect_float_eq(all.residuals[i].left_out, there, tolerance * fabs(there),
                               "%s%s, row %zu: %g, %g", trials[t].kind->name,
                               trials[t].speedups ? " (speedups)" : "", i,
                               all.residuals[i].left_out, there);
        }
    }
}

/* A weight is worth as many copies of the row: the fit and the errors of rows where one counts 1
 * and the rest 1/2 are those of rows where that one stands twice. Left out, only the errors of the
 * other rows are the same: without one of two copies the other remains. */
Test(scaling_properties, weight_counts_as_copies)
{
    struct trial trials[TRIALS_MAX];
    size_t n = list_trials(trials);
    for (size_t t = 0; t < n; t++) {
        struct observation rows[ROWS];
        struct observation doubled[ROWS + 1];
        make_trial_rows(&trials[t], 0.1, rows);
        for (size_t i = 0; i < ROWS; i++) {
            doubled[i] = rows[i];
            rows[i].weight = i == 7 ? 1 : 0.5;
        }
        doubled[ROWS] = doubled[7];
        const char *name = trials[t].kind->name;
        struct model_fit a = fit_rows(trials[t].kind, rows, ROWS, trials[t].weights);
        struct model_fit b = fit_rows(trials[t].kind, doubled, ROWS + 1, trials[t].weights);
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            double x = predict(&a.model, asked[i][0], asked[i][1]);
            double y = predict(&b.model, asked[i][0], asked[i][1]);
            cr_expect_float_eq(x, y, 1e-6 * fabs(y), "%s: %.12g, %.12g", name, x, y);
        }
        cr_expect_float_eq(a.mape_percent, b.mape_percent, 1e-6 * b.mape_percent, "%s", name);
        for (size_t i = 0; i < ROWS; i++)
            if (i != 7)
                cr_expect_float_eq(a.residuals[i].left_out, b.residuals[i].left_out,
                                   1e-4 * fabs(b.residuals[i].left_out), "%s row %zu", name, i);
    }
}
