/* Laws of the load of an executor, the sums they are fitted from, and their combination. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/numerics/nnls.h"
#include "core/numerics/normal_equations.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/describe.h"
#include "core/scaling/model/fit.h"

enum { COUNTS = 6, SIZES = 3, ROWS = COUNTS * SIZES };

static const double counts[COUNTS] = {2, 4, 6, 8, 12, 16};
static const double sizes[SIZES] = {10, 20, 45};

static struct arena arena;

static void start(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(scaling_load, .init = start, .fini = end);

static struct model_fit
fit_rows(const struct model_kind *kind, const struct observation rows[], size_t n)
{
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(model_fit(kind, rows, n, MODEL_RELATIVE, &arena, &fit, &err), PV_OK, "%s: %s",
                 kind->name, err.detail);
    return fit;
}

static double predict(const struct model *model, double size, double m)
{
    struct model_law law = model_law(model);
    return law.kind->duration_s(&law, size, m);
}

/* --- sums of products --- */

/* The same minimum as the active sets of Lawson and Hanson find, and the same after a row is taken
 * out as when it was never there. */
Test(scaling_load, sums_of_products_find_the_nonnegative_minimum)
{
    enum { N = 9, K = 4 };
    struct rng rng = rng_make(41, 0);
    for (int turn = 0; turn < 200; turn++) {
        double x[N * K];
        double y[N];
        double weights[N];
        double b[K];
        double expected[K];
        bool passive[K];
        struct gram gram;
        struct gram less;
        struct gram fresh;
        struct pv_error err = {0};
        gram_init(&gram, K);
        gram_init(&fresh, K);
        for (size_t i = 0; i < N; i++) {
            for (size_t j = 0; j < K; j++)
                x[i * K + j] = 2 * rng_uniform(&rng) - 0.7;
            y[i] = 3 * rng_uniform(&rng) - 1;
            weights[i] = 0.2 + rng_uniform(&rng);
            gram_add(&gram, x + i * K, y[i], weights[i]);
            if (i > 0)
                gram_add(&fresh, x + i * K, y[i], weights[i]);
        }
        double rest = gram_solve(&gram, b);
        cr_assert_eq(nnls_solve(x, N, K, y, weights, &arena, expected, passive, &err), PV_OK);
        double squares = 0;
        for (size_t i = 0; i < N; i++) {
            double error = y[i];
            for (size_t j = 0; j < K; j++)
                error -= x[i * K + j] * expected[j];
            squares += weights[i] * weights[i] * error * error;
        }
        cr_expect_float_eq(rest, squares, 1e-9);
        for (size_t j = 0; j < K; j++)
            cr_expect_float_eq(b[j], expected[j], 1e-7);
        less = gram;
        gram_drop(&less, x, y[0], weights[0]);
        cr_expect_float_eq(gram_solve(&less, b), gram_solve(&fresh, expected), 1e-9);
        for (size_t j = 0; j < K; j++)
            cr_expect_float_eq(b[j], expected[j], 1e-6);
    }
}

Test(scaling_load, a_column_no_row_is_left_of_stays_zero)
{
    const double x[3][2] = {{1, 0}, {1, 0}, {1, 1}};
    struct gram gram;
    double b[2];
    gram_init(&gram, 2);
    for (size_t i = 0; i < 3; i++)
        gram_add(&gram, x[i], i == 2 ? 9 : 4, 0.1);
    gram_solve(&gram, b);
    cr_expect_float_eq(b[1], 5, 1e-9);
    gram_drop(&gram, x[2], 9, 0.1);
    gram_solve(&gram, b);
    cr_expect_eq(b[1], 0);
    cr_expect_float_eq(b[0], 4, 1e-9);
}

/* --- the laws --- */

static void make_rows(const struct model *of, double noise, struct observation rows[ROWS])
{
    struct rng rng = rng_make(7, 1);
    for (size_t i = 0; i < ROWS; i++) {
        double size = sizes[i / COUNTS];
        double m = counts[i % COUNTS];
        double factor = 1 + noise * (2 * rng_uniform(&rng) - 1);
        rows[i] = model_seen(size, m, factor * predict(of, size, m), (double)NAN);
    }
}

static struct model draw_law(const struct model_kind *kind, struct rng *rng)
{
    struct model model = model_bare(kind);
    model.form = MODEL_OF_DURATIONS;
    for (size_t j = 0; j < kind->n_parameters; j++)
        model.parameters[j].estimate = 0.5 + 20 * rng_uniform(rng);
    if (strcmp(kind->name, "power_law") == 0)
        model.parameters[3].estimate = 0.5 + 0.25 * floor(7 * rng_uniform(rng));
    if (strcmp(kind->name, "memory_cliff") == 0)
        model.parameters[4].estimate = rng_uniform(rng) < 0.5 ? sqrt(8) : sqrt(24);
    return model;
}

/* Noiseless data of random laws give their numbers back, and nothing is off when a run is left
 * out. */
Test(scaling_load, exact_data_give_the_parameters_back)
{
    const struct model_kind *const kinds[] = {&load_per_executor_kind, &power_law_kind,
                                              &memory_spill_kind, &memory_cliff_kind};
    struct rng rng = rng_make(19, 0);
    for (size_t k = 0; k < 4; k++)
        for (int turn = 0; turn < 40; turn++) {
            struct observation rows[ROWS];
            struct model law = draw_law(kinds[k], &rng);
            make_rows(&law, 0, rows);
            struct model_fit fit = fit_rows(kinds[k], rows, ROWS);
            for (size_t j = 0; j < kinds[k]->n_parameters; j++)
                cr_expect_float_eq(fit.model.parameters[j].estimate, law.parameters[j].estimate,
                                   1e-6 * law.parameters[j].estimate, "%s %zu", kinds[k]->name, j);
            cr_expect_lt(fit.loo_mape_percent, 1e-2, "%s", kinds[k]->name);
        }
}

/* What a run left out is predicted as is what a fit to the others says, shape and all. */
Test(scaling_load, left_out_is_a_fit_to_the_others)
{
    const struct model_kind *const kinds[] = {&load_per_executor_kind, &power_law_kind,
                                              &memory_spill_kind, &memory_cliff_kind};
    struct rng rng = rng_make(3, 0);
    for (size_t k = 0; k < 4; k++) {
        struct observation rows[ROWS];
        struct observation others[ROWS - 1];
        struct model law = draw_law(kinds[k], &rng);
        make_rows(&law, 0.2, rows);
        struct model_fit fit = fit_rows(kinds[k], rows, ROWS);
        for (size_t i = 0; i < ROWS; i++) {
            size_t n = 0;
            for (size_t j = 0; j < ROWS; j++)
                if (j != i)
                    others[n++] = rows[j];
            struct model_fit without = fit_rows(kinds[k], others, n);
            double expected = predict(&without.model, rows[i].problem_size, rows[i].executors);
            cr_expect_float_eq(fit.residuals[i].left_out, expected, 1e-6 * expected, "%s",
                               kinds[k]->name);
        }
    }
}

/* One problem size does not tell a fixed time from one that grows with the data. */
Test(scaling_load, one_size_leaves_growth_out)
{
    struct observation rows[COUNTS];
    for (size_t i = 0; i < COUNTS; i++)
        rows[i] = model_seen(10, counts[i], 20 + 300 / counts[i], (double)NAN);
    struct model_fit fit = fit_rows(&load_per_executor_kind, rows, COUNTS);
    cr_expect(fit.model.parameters[1].dropped);
    cr_expect_eq(fit.model.parameters[1].estimate, 0);
    cr_expect_float_eq(fit.model.parameters[0].estimate, 20, 1e-6);
    cr_expect_float_eq(fit.model.parameters[2].estimate, 30, 1e-6);
}

/* A loss below four executors is found where it is, and not taken for work that divides badly. */
Test(scaling_load, the_cliff_is_found_where_it_is)
{
    struct observation rows[COUNTS];
    for (size_t i = 0; i < COUNTS; i++)
        rows[i] = model_seen(10, counts[i], 20 + 300 / counts[i] + (counts[i] < 4 ? 500 : 0),
                             (double)NAN);
    struct model_fit fit = fit_rows(&memory_cliff_kind, rows, COUNTS);
    cr_expect(fit.model.parameters[4].estimate > 2 && fit.model.parameters[4].estimate < 4);
    cr_expect_float_eq(fit.model.parameters[3].estimate, 50, 1e-6);
    cr_expect_float_eq(predict(&fit.model, 10, 24), 20 + 300.0 / 24, 1e-6);
}

Test(scaling_load, one_executor_count_is_refused)
{
    const struct observation rows[] = {model_seen(10, 4, 20, (double)NAN),
                                       model_seen(20, 4, 30, (double)NAN)};
    struct model_fit fit = {.n = 77};
    struct pv_error err = {0};
    cr_expect_eq(model_fit(&memory_cliff_kind, rows, 2, MODEL_RELATIVE, &arena, &fit, &err),
                 PV_E_SINGULAR);
    cr_expect_eq(model_fit(&combined_kind, rows, 2, MODEL_RELATIVE, &arena, &fit, &err),
                 PV_E_TOO_FEW);
    cr_expect_eq(fit.n, 77, "untouched");
}

/* --- combined --- */

Test(scaling_load, the_combination_is_the_mean_of_its_components)
{
    struct observation rows[ROWS];
    struct rng rng = rng_make(23, 0);
    struct model law = draw_law(&memory_spill_kind, &rng);
    make_rows(&law, 0.1, rows);
    struct model_fit fit = fit_rows(&combined_kind, rows, ROWS);
    const struct model_tables *tables = &fit.model.tables;
    double sum = 0;
    double logs = 0;
    for (size_t c = 0; c < tables->n_components; c++) {
        const struct model_law *component = &tables->components[c].law;
        struct model_fit alone = fit_rows(component->kind, rows, ROWS);
        sum += tables->components[c].weight;
        logs += tables->components[c].weight * log(predict(&alone.model, 30, 5));
    }
    cr_expect_eq(tables->n_components, 4);
    cr_expect_float_eq(sum, 1, 1e-12);
    cr_expect_float_eq(predict(&fit.model, 30, 5), exp(logs), 1e-9 * exp(logs));
}

/* Three executor counts say nothing of laws of three coefficients; more of them do. */
Test(scaling_load, weights_are_equal_until_there_is_something_to_judge_by)
{
    struct observation rows[COUNTS];
    for (size_t i = 0; i < COUNTS; i++)
        rows[i] = model_seen(10, counts[i], 20 + 300 / counts[i] + 4000 / counts[i] / counts[i],
                             (double)NAN);
    struct model_fit few = fit_rows(&combined_kind, rows, 3);
    struct model_fit many = fit_rows(&combined_kind, rows, COUNTS);
    for (size_t c = 0; c < 4; c++) {
        const struct model_component *component = &many.model.tables.components[c];
        cr_expect_float_eq(few.model.tables.components[c].weight, 0.25, 1e-12);
        if (component->law.kind == &memory_spill_kind)
            cr_expect_gt(component->weight, 0.5, "the law behind the data");
        else
            cr_expect_lt(component->weight, 0.25);
    }
}

Test(scaling_load, the_combination_explains_itself)
{
    struct observation rows[COUNTS];
    struct findings findings = {.arena = &arena};
    for (size_t i = 0; i < COUNTS; i++)
        rows[i] = model_seen(10, counts[i], 20 + 300 / counts[i], (double)NAN);
    struct model_fit fit = fit_rows(&combined_kind, rows, COUNTS);
    model_describe(&fit.model, &findings);
    cr_assert_eq(findings.n, 1);
    cr_expect_str_eq(findings.items[0].code, "combined_laws");
    cr_assert_eq(findings.items[0].n_evidence, 4);
    for (size_t c = 0; c < 4; c++)
        cr_expect_eq(findings.items[0].evidence[c].value, fit.model.tables.components[c].weight);
}
