/* Sun and Ni's memory-bounded law: its parameters come back, and what cannot be told is refused. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

enum { ROWS = 18 };

static struct arena arena;

static void start(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_sun_ni, .init = start, .fini = end);

static double estimate(const struct model_fit *fit, const char *name)
{
    const struct model_kind *kind = fit->model.kind;
    for (size_t j = 0; j < kind->n_parameters; j++)
        if (strcmp(kind->rules[j].name, name) == 0)
            return fit->model.parameters[j].estimate;
    cr_assert(false, "%s has no %s", kind->name, name);
    return 0;
}

static struct model_fit fit_rows(const struct observation rows[], size_t n)
{
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(model_fit(&sun_ni_kind, rows, n, MODEL_RELATIVE, &arena, &fit, &err), PV_OK, "%s",
                 err.detail);
    return fit;
}

static void
expect_refused(const struct observation rows[], size_t n, enum pv_code code, const char *word)
{
    struct model_fit fit;
    struct pv_error err = {0};
    cr_expect_eq(model_fit(&sun_ni_kind, rows, n, MODEL_RELATIVE, &arena, &fit, &err), code);
    cr_expect(strstr(err.detail, word) != NULL, "%s", err.detail);
}

/* Rows of T = 100 (1 - eta + eta (N/16)^b / m); the mean size per executor is 16. */
static size_t make_durations(double eta, double growth, struct observation rows[ROWS])
{
    static const double counts[6] = {1, 2, 4, 8, 16, 32};
    static const double shares[3] = {8, 16, 24};
    for (size_t i = 0; i < ROWS; i++) {
        double m = counts[i % 6];
        double size = shares[i / 6] * m;
        double work = pow(size / 16, growth);
        rows[i] = model_seen(size, m, 100 * (1 - eta + eta * work / m), (double)NAN);
    }
    return ROWS;
}

/* The speedups of the same, memory filled: N = 16 m, g = m^b. */
static size_t make_speedups(double eta, double growth, struct observation rows[6])
{
    for (size_t i = 0; i < 6; i++) {
        double m = exp2((double)i);
        double g = pow(m, growth);
        rows[i] = model_seen_speedup(16 * m, m, (eta * g + 1 - eta) / (eta * g / m + 1 - eta));
    }
    return 6;
}

Test(scaling_sun_ni, finds_growth_from_durations)
{
    static const double growths[] = {0.3, 1, 1.5, 2.5};
    struct observation rows[ROWS];
    for (size_t g = 0; g < 4; g++) {
        struct model_fit fit = fit_rows(rows, make_durations(0.7, growths[g], rows));
        cr_expect_float_eq(estimate(&fit, "growth"), growths[g], 1e-7);
        cr_expect_float_eq(estimate(&fit, "eta"), 0.7, 1e-7);
        cr_expect_float_eq(estimate(&fit, "sequential_s"), 100, 1e-5);
        cr_expect_float_eq(estimate(&fit, "size_per_executor"), 16, 1e-12);
        cr_expect_lt(fit.loo_mape_percent, 1e-4);
    }
}

Test(scaling_sun_ni, finds_growth_from_speedups)
{
    struct observation rows[6];
    struct model_fit fit = fit_rows(rows, make_speedups(0.9, 1.5, rows));
    cr_expect_float_eq(estimate(&fit, "growth"), 1.5, 1e-7);
    cr_expect_float_eq(estimate(&fit, "eta"), 0.9, 1e-8);
    cr_expect_eq(fit.model.reference, MODEL_RATIO);
}

/* g = 1 is Amdahl's law and g = n Gustafson's: the speedups are theirs. */
Test(scaling_sun_ni, holds_the_older_laws)
{
    const struct model_kind *const older[2] = {&amdahl_kind, &gustafson_kind};
    struct model_spread none = MODEL_NO_SPREAD;
    for (size_t k = 0; k < 2; k++) {
        struct observation rows[6];
        struct model_fit fit = fit_rows(rows, make_speedups(0.8, (double)k, rows));
        struct model law = model_bare(older[k]);
        law.form = MODEL_OF_SPEEDUPS;
        law.parameters[0].estimate = 0.8;
        for (double m = 1; m < 40; m += 3) {
            struct model_prediction ours;
            struct model_prediction theirs;
            model_predict(&fit.model, &none, 16 * m, m, &ours);
            model_predict(&law, &none, 16 * m, m, &theirs);
            cr_expect_float_eq(ours.speedup, theirs.speedup, 1e-6 * theirs.speedup);
        }
    }
}

Test(scaling_sun_ni, what_cannot_be_told_is_refused)
{
    struct observation rows[ROWS];
    struct observation flat[6];
    for (size_t i = 0; i < 6; i++)
        rows[i] = model_seen(32, exp2((double)i), 10 + 100 / exp2((double)i), (double)NAN);
    expect_refused(rows, 6, PV_E_SINGULAR, "problem sizes");
    expect_refused(rows, 3, PV_E_TOO_FEW, "4 different pairs");
    for (size_t i = 0; i < 6; i++)
        flat[i] = model_seen_speedup(8 + (double)i, 1 + (double)i, 1);
    expect_refused(flat, 6, PV_E_SINGULAR, "nothing");
    for (size_t i = 0; i < 6; i++)
        flat[i] = model_seen(16 * exp2((double)i), exp2((double)i), 50, (double)NAN);
    expect_refused(flat, 6, PV_E_SINGULAR, "grow");
}
