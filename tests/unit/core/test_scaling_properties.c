/* Laws that every kind of model obeys, whatever it computes. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"
#include "core/scaling/model.h"

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

/* A weight is worth as many copies of the row: for every kind and both kinds of errors, the fit and
 * the errors of rows where one counts 1 and the rest 1/2 are those of rows where that one stands
 * twice. Left out, only the errors of the other rows are the same: without one of two copies the
 * other remains. */
Test(scaling_properties, weight_counts_as_copies)
{
    struct observation rows[ROWS];
    struct observation doubled[ROWS + 1];
    for (size_t k = 0; model_kinds[k] != NULL; k++) {
        if ((model_kinds[k]->forms & MODEL_OF_DURATIONS) == 0 || model_kinds[k]->tables != 0)
            continue;
        for (int weights = MODEL_SECONDS; weights <= MODEL_RELATIVE; weights++) {
            make_rows(0.1, rows);
            for (size_t i = 0; i < ROWS; i++) {
                doubled[i] = rows[i];
                rows[i].weight = i == 7 ? 1 : 0.5;
            }
            doubled[ROWS] = doubled[7];
            struct model_fit a = fit_rows(model_kinds[k], rows, ROWS, (enum model_weights)weights);
            struct model_fit b = fit_rows(model_kinds[k], doubled, ROWS + 1, weights);
            for (size_t j = 0; j < model_kinds[k]->n_parameters; j++)
                if (!isnan(b.model.parameters[j].estimate))
                    cr_expect_float_eq(a.model.parameters[j].estimate,
                                       b.model.parameters[j].estimate,
                                       1e-7 * (1e-3 + fabs(b.model.parameters[j].estimate)),
                                       "%s parameter %zu", model_kinds[k]->name, j);
            cr_expect_float_eq(a.mape_percent, b.mape_percent, 1e-7 * b.mape_percent);
            for (size_t i = 0; i < ROWS; i++)
                if (i != 7)
                    cr_expect_float_eq(a.residuals[i].left_out, b.residuals[i].left_out,
                                       1e-7 * fabs(b.residuals[i].left_out), "%s row %zu",
                                       model_kinds[k]->name, i);
        }
    }
}
