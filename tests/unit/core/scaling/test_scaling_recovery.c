/* From what a law says, its parameters come back: for each kind, of parameters drawn at random, and
 * observations without noise. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/numerics/levenberg_marquardt.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

enum { DRAWS = 40, SIZES = 4, COUNTS = 7, ROWS = SIZES * COUNTS };

static const double sizes[SIZES] = {24, 48, 96, 192};
static const double counts[COUNTS] = {1, 2, 3, 6, 10, 16, 24};

/* A parameter, and the range it is drawn from. */
struct range {
    const char *name;
    double low;
    double high;
};

struct subject {
    const char *kind;
    enum model_form form;
    double tolerance; /* relative, of the estimates */
    struct range ranges[MODEL_PARAMETERS_MAX];
};

/* Within what a bounded law can be: coefficients that are 0 by chance are tried by their own tests.
 */
static const struct subject subjects[] = {
    {"amdahl", MODEL_OF_DURATIONS, 1e-8, {{"eta", 0.05, 1}, {"sequential_s", 10, 1e4}}},
    {"amdahl", MODEL_OF_SPEEDUPS, 1e-8, {{"eta", 0.05, 1}}},
    {"gustafson", MODEL_OF_DURATIONS, 1e-8, {{"eta", 0.05, 1}, {"sequential_s", 10, 1e4}}},
    {"gustafson", MODEL_OF_SPEEDUPS, 1e-8, {{"eta", 0.05, 1}}},
    {"sun_ni",
     MODEL_OF_DURATIONS,
     1e-5,
     {{"eta", 0.1, 0.99}, {"growth", 0.05, 2.9}, {"sequential_s", 10, 1e4}}},
    {"sun_ni", MODEL_OF_SPEEDUPS, 1e-5, {{"eta", 0.1, 0.99}, {"growth", 0.05, 2.9}}},
    {"ernest",
     MODEL_OF_DURATIONS,
     1e-6,
     {{"a", 0.1, 100}, {"b", 0.1, 100}, {"c", 0.1, 100}, {"d", 0.1, 10}}},
    {"usba",
     MODEL_OF_DURATIONS,
     1e-6,
     {{"alpha", 0.1, 3},
      {"beta", 0.01, 0.2},
      {"gamma", 0.005, 0.05},
      {"epsilon", 0.02, 0.3},
      {"theta", 2, 20},
      {"initialization_s", 1, 20},
      {"parallel_s", 5, 500}}},
    {"usba",
     MODEL_OF_SPEEDUPS,
     1e-3,
     {{"alpha", 0.5, 3},
      {"beta", 0.05, 0.2},
      {"gamma", 0.01, 0.05},
      {"epsilon", 0.1, 0.3},
      {"theta", 4, 14},
      {"initialization_ratio", 0.5, 3}}},
    {"usba_scaled",
     MODEL_OF_DURATIONS,
     1e-6,
     {{"alpha", 0.05, 0.5},
      {"beta", 0.01, 0.2},
      {"gamma", 0.001, 0.01},
      {"epsilon", 0.02, 0.3},
      {"theta", 2, 20},
      {"initialization_s", 1, 20},
      {"parallel_s", 5, 500}}},
};

static struct arena arena;

static void start(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_recovery, .init = start, .fini = end);

static size_t index_of(const struct model_kind *kind, const char *name)
{
    for (size_t j = 0; j < kind->n_parameters; j++)
        if (strcmp(kind->rules[j].name, name) == 0)
            return j;
    cr_assert(false, "%s has no %s", kind->name, name);
    return 0;
}

static struct model draw(const struct subject *subject, struct rng *rng)
{
    const struct model_kind *kind = model_find_kind(subject->kind);
    struct model model = model_bare(kind);
    model.form = subject->form;
    for (const struct range *r = subject->ranges; r->name != NULL; r++)
        model.parameters[index_of(kind, r->name)].estimate =
            r->low * exp(rng_uniform(rng) * log(r->high / r->low));
    /* What is given by the observations themselves: their mean size per executor. */
    for (size_t j = 0; j < kind->n_parameters; j++)
        if (strcmp(kind->rules[j].name, "size_per_executor") == 0)
            model.parameters[j].estimate = (24 + 48 + 96 + 192) / (double)SIZES /
                                           ((1 + 2 + 3 + 6 + 10 + 16 + 24) / (double)COUNTS);
    return model;
}

static struct model_prediction predict(const struct model *model, double size, double m)
{
    struct model_spread none = MODEL_NO_SPREAD;
    struct model_prediction there;
    model_predict(model, &none, size, m, &there);
    return there;
}

/* Also beyond the observations. */
/* Of the law alone: one whose work grows less than the data contradicts weak scaling. */
static double value_at(const struct model *model, double size, double m)
{
    struct model bare = *model;
    bare.uncertainty.observations = 0;
    struct model_prediction there = predict(&bare, size, m);
    return model->form == MODEL_OF_SPEEDUPS ? there.speedup : there.duration_s;
}

/* False: the law drawn gives no positive value somewhere. */
static bool observe(const struct model *law, struct observation rows[ROWS])
{
    size_t startup = MODEL_PARAMETERS_MAX;
    for (size_t j = 0; j < law->kind->n_parameters; j++)
        if (strcmp(law->kind->rules[j].name, "initialization_s") == 0)
            startup = j;
    for (size_t i = 0; i < ROWS; i++) {
        double size = sizes[i / COUNTS];
        double m = counts[i % COUNTS];
        double value = value_at(law, size, m);
        if (!(value > 0))
            return false;
        rows[i] = law->form == MODEL_OF_SPEEDUPS ? model_seen_speedup(size, m, value)
                                                 : model_seen(size, m, value, (double)NAN);
        if (startup < MODEL_PARAMETERS_MAX && law->form == MODEL_OF_DURATIONS) {
            const struct model_parameter *p = law->parameters;
            double epsilon = p[index_of(law->kind, "epsilon")].estimate;
            double theta = p[index_of(law->kind, "theta")].estimate;
            rows[i].initialization_s =
                p[startup].estimate * (1 - epsilon + epsilon * fmin(m, theta));
        }
    }
    return true;
}

static bool expect_recovered(const struct subject *subject, const struct model *law, size_t draw_no)
{
    struct observation rows[ROWS];
    struct model_fit fit;
    struct pv_error err = {0};
    if (!observe(law, rows))
        return false;
    cr_assert_eq(model_fit(law->kind, rows, ROWS, MODEL_RELATIVE, &arena, &fit, &err), PV_OK,
                 "%s, draw %zu: %s", subject->kind, draw_no, err.detail);
    cr_expect_lt(fit.mape_percent, 1e-3 * subject->tolerance * 1e5, "%s, draw %zu: %g",
                 subject->kind, draw_no, fit.mape_percent);
    cr_expect_lt(fit.loo_mape_percent, 1e-2, "%s, draw %zu: %g", subject->kind, draw_no,
                 fit.loo_mape_percent);
    for (const struct range *r = subject->ranges; r->name != NULL; r++) {
        size_t j = index_of(law->kind, r->name);
        double expected = law->parameters[j].estimate;
        cr_expect_float_eq(fit.model.parameters[j].estimate, expected,
                           subject->tolerance * expected, "%s, draw %zu: %s %.9g, not %.9g",
                           subject->kind, draw_no, r->name, fit.model.parameters[j].estimate,
                           expected);
    }
    for (double m = 1; m < 60; m *= 1.9) {
        double expected = value_at(law, 2.5 * m + 20, m);
        cr_expect_float_eq(value_at(&fit.model, 2.5 * m + 20, m), expected,
                           10 * subject->tolerance * expected, "%s, draw %zu at %g", subject->kind,
                           draw_no, m);
    }
    return true;
}

Test(scaling_recovery, parameters_come_back)
{
    for (size_t s = 0; s < sizeof subjects / sizeof *subjects; s++) {
        struct rng rng = rng_make(41, s);
        size_t tried = 0;
        for (size_t i = 0; i < DRAWS; i++) {
            struct arena_mark mark = arena_mark(&arena);
            struct model law = draw(&subjects[s], &rng);
            tried += expect_recovered(&subjects[s], &law, i);
            arena_rewind(&arena, mark);
        }
        cr_expect_gt(tried, DRAWS / 2, "%s: only %zu of the laws drawn can be observed",
                     subjects[s].kind, tried);
    }
}

/* --- the descent itself --- */

/* y = p0 exp(-p1 x) at x = 0, 0.25, ..: two parameters that bend. */
static double decay_row(void *context, const double p[], size_t i, double slope[])
{
    const double *y = context;
    double x = 0.25 * (double)i;
    double shape = exp(-p[1] * x);
    if (slope != NULL) {
        slope[0] = shape;
        slope[1] = -p[0] * x * shape;
    }
    return p[0] * shape - y[i];
}

static struct descent make_decay(double y[], size_t n)
{
    struct rng rng = rng_make(5, 0);
    for (size_t i = 0; i < n; i++)
        y[i] = 3 * exp(-0.175 * (double)i) + 0.4 * (rng_uniform(&rng) - 0.5);
    return (struct descent){.n = n, .k = 2, .high = {100, 10}, .context = y, .row = decay_row};
}

/* At the minimum no step by either parameter lowers the sum, and descending without a row from
 * there arrives where descending without it from afar does. */
Test(scaling_recovery, descent_finds_the_minimum_without_each_row)
{
    double y[20];
    struct descent d = make_decay(y, 20);
    struct descent_sums sums;
    double p[DESCENT_MAX] = {1, 1};
    (void)descent_find(&d, 20, 100, 1e-6, p);
    double least = descent_polish(&d, 1e-13, p);
    for (size_t j = 0; j < 2; j++)
        for (int side = -1; side <= 1; side += 2) {
            double moved[DESCENT_MAX] = {p[0], p[1]};
            moved[j] *= 1 + side * 1e-4;
            cr_expect_gt(descent_squares(&d, moved, 20), least);
        }
    descent_sum(&d, p, 20, &sums);
    descent_sharpen(&d, p, &sums);
    for (size_t i = 0; i < 20; i++) {
        double near[DESCENT_MAX] = {p[0], p[1]};
        double far[DESCENT_MAX] = {1, 1};
        descent_find_without(&d, &sums, i, 1e-9, near);
        (void)descent_find(&d, i, 1000, 1e-13, far);
        cr_expect_float_eq(near[0], far[0], 1e-8, "row %zu", i);
        cr_expect_float_eq(near[1], far[1], 1e-8, "row %zu", i);
    }
}

/* A wall in the way: the other parameter is the best there is beside it. */
Test(scaling_recovery, descent_stops_at_walls)
{
    double y[20];
    double inverse[DESCENT_MAX][DESCENT_MAX];
    struct descent_sums sums;
    size_t freed;
    struct descent d = make_decay(y, 20);
    d.high[1] = 0.5;
    double p[DESCENT_MAX] = {1, 0.2};
    (void)descent_find(&d, 20, 200, 1e-13, p);
    cr_expect_eq(p[1], 0.5);
    double above = 0;
    double below = 0;
    for (size_t i = 0; i < 20; i++) {
        double shape = exp(-0.5 * 0.25 * (double)i);
        above += shape * y[i];
        below += shape * shape;
    }
    cr_expect_float_eq(p[0], above / below, 1e-9);
    descent_sum(&d, p, 20, &sums);
    cr_assert(descent_inverse(&d, &sums, p, inverse, &freed));
    cr_expect_eq(freed, 1);
    cr_expect_float_eq(inverse[0][0], 1 / below, 1e-12);
    cr_expect_eq(inverse[1][1], 0);
}
