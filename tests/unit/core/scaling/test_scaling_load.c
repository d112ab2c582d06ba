/* Laws of the load of an executor, the sums they are fitted from, and their combination. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/numerics/nnls.h"
#include "core/numerics/normal_equations.h"
#include "core/scaling/laws/deviations.h"
#include "core/scaling/laws/idle_share.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/laws/load_cells.h"
#include "core/scaling/laws/load_limit.h"
#include "core/scaling/laws/worker_load.h"
#include "core/scaling/model/describe.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

/* Of a combination. */
enum { WORKERS, ALL_WORK, SPILL, MEMORY, MEMORY_ALL_WORK, POWER, MEMBERS };
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

/* A problem of 64 on 16 executors: 5 s, 0.1 x 64, 2 x 64 for each of 16^exponent, and what is lost. */
static double
describe_extra(const struct model_kind *kind, double more, double shape, double shared_s)
{
    struct findings findings = {.arena = &arena};
    struct model model = model_bare(kind);
    model.form = MODEL_OF_DURATIONS;
    model.uncertainty.problem_size[1] = 64;
    model.uncertainty.executors[1] = 16;
    const double p[] = {5, 0.1, 2, more, shape};
    for (size_t j = 0; j < kind->n_parameters; j++)
        model.parameters[j].estimate = p[j];
    model_describe(&model, &findings);
    const struct finding *parts = finding_find(&findings, "largest_part");
    cr_assert_not_null(parts);
    cr_expect_not_null(finding_find(&findings, "doubling"));
    cr_expect_float_eq(finding_value(parts, "fixed_s"), 5, 1e-12);
    cr_expect_float_eq(finding_value(parts, "grows_s"), 6.4, 1e-12);
    cr_expect_float_eq(finding_value(parts, "shared_s"), shared_s, 1e-12);
    double extra_s = finding_value(parts, "extra_s");
    double expected_s = 11.4 + shared_s + (isnan(extra_s) ? 0 : extra_s);
    cr_expect_float_eq(predict(&model, 64, 16), expected_s, 1e-9);
    return extra_s;
}

Test(scaling_load, parts_of_the_laws_by_hand)
{
    cr_expect(isnan(describe_extra(&load_per_executor_kind, 0, 0, 8)));
    cr_expect(isnan(describe_extra(&power_law_kind, 0.5, 0, 32)));
    cr_expect_float_eq(describe_extra(&memory_spill_kind, 4, 0, 8), 1, 1e-12);
    cr_expect_float_eq(describe_extra(&memory_cliff_kind, 3, 17, 8), 192, 1e-12);
    cr_expect_eq(describe_extra(&memory_cliff_kind, 3, 16, 8), 0);
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

/* But for what it leaves unexplained nearby. */
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
        cr_expect_eq(component->kind, &worker_load_kind);
        sum += tables->components[c].weight;
        logs += tables->components[c].weight * log(component->kind->duration_s(component, 30, 5));
    }
    cr_expect_eq(tables->n_components, MEMBERS);
    cr_expect_float_eq(sum, 1, 1e-12);
    double expected_s = exp(logs + deviation_at(tables, 30, 5));
    cr_expect_float_eq(predict(&fit.model, 30, 5), expected_s, 1e-9 * expected_s);
}

/* Of eight exact runs the fullest of the laws, a power of the executors, takes three numbers. Noise
 * gives four to the law whose memory overflows. */
Test(scaling_load, the_combination_counts_what_its_fullest_law_takes)
{
    for (size_t noisy = 0; noisy < 2; noisy++) {
        struct observation rows[8];
        for (size_t i = 0; i < 8; i++) {
            double m = (double)(2 + 2 * i);
            double factor = noisy == 0 ? 1 : i % 2 == 0 ? 1.02 : 0.98;
            rows[i] = model_seen(10, m, (60 + 800 / m) * factor, (double)NAN);
        }
        struct model_fit fit = fit_rows(&combined_kind, rows, 8);
        const struct model_uncertainty *u = &fit.model.uncertainty;
        double squares = 0;
        for (size_t i = 0; i < 8; i++)
            squares += fit.residuals[i].error_percent * fit.residuals[i].error_percent;
        cr_expect_eq(u->freedom, noisy == 0 ? 5 : 4, "%g", u->freedom);
        cr_expect_float_eq(u->residual_std, sqrt(squares / u->freedom) / 100, 1e-12);
        struct model_spread spread = model_spread(&fit.model, 0.95);
        struct model_prediction there;
        model_predict(&fit.model, &spread, 10, 8, &there);
        double width = there.interval_s[1] / there.interval_s[0];
        /* Runs without noise have the floor of repetitions. */
        cr_expect(noisy == 0 ? width > 1.05 && width < 1.15 : width > 1.06 && width < 1.3, "%g",
                  width);
    }
}

/* Three executor counts say nothing of laws of three coefficients; more of them do. */
Test(scaling_load, the_prior_decides_until_there_is_something_to_judge_by)
{
    struct observation rows[COUNTS];
    for (size_t i = 0; i < COUNTS; i++)
        rows[i] = model_seen(10, counts[i], 20 + 300 / counts[i] + 4000 / counts[i] / counts[i],
                             (double)NAN);
    struct model_fit few = fit_rows(&combined_kind, rows, 3);
    struct model_fit many = fit_rows(&combined_kind, rows, COUNTS);
    const struct model_component *first = few.model.tables.components;
    cr_expect_float_eq(first[WORKERS].weight + first[ALL_WORK].weight, 0.4, 1e-12);
    cr_expect_float_eq(first[MEMORY].weight + first[MEMORY_ALL_WORK].weight, 0.2, 1e-12);
    cr_expect_float_eq(first[WORKERS].weight / first[ALL_WORK].weight,
                       first[MEMORY].weight / first[MEMORY_ALL_WORK].weight, 1e-9);
    cr_expect_float_eq(first[SPILL].weight, 0.2, 1e-12);
    cr_expect_float_eq(first[POWER].weight, 0.2, 1e-12);
    for (size_t c = 0; c < MEMBERS; c++)
        cr_expect(c == SPILL || many.model.tables.components[c].weight <
                                    many.model.tables.components[SPILL].weight,
                  "the law behind the data weighs most");
}

/* --- the node that does no work --- */

/* The law of five machines of which `idle` does nothing, for one size. */
static void make_cluster(double idle, double noise, struct observation rows[COUNTS])
{
    struct rng rng = rng_make(11, 0);
    for (size_t i = 0; i < COUNTS; i++) {
        double off = 1 + noise * (2 * rng_uniform(&rng) - 1);
        rows[i] = model_seen(64, counts[i], off * (30 + 900 / (counts[i] - idle)), (double)NAN);
    }
}

static double idle_weight(const struct model_fit *fit)
{
    const struct model_component *c = fit->model.tables.components;
    return (c[WORKERS].weight + c[MEMORY].weight) /
           (c[WORKERS].weight + c[MEMORY].weight + c[ALL_WORK].weight + c[MEMORY_ALL_WORK].weight);
}

Test(scaling_load, whether_a_machine_idles_is_learnt_from_the_runs)
{
    struct observation rows[COUNTS];
    for (int idle = 0; idle < 2; idle++) {
        make_cluster(idle, 0.01, rows);
        struct model_fit fit = fit_rows(&combined_kind, rows, COUNTS);
        cr_expect(idle == 1 ? idle_weight(&fit) > 0.9 : idle_weight(&fit) < 0.1, "%g",
                  idle_weight(&fit));
        fit = fit_rows(&worker_load_kind, rows, COUNTS);
        cr_expect_eq(fit.model.parameters[WORKER_IDLE].estimate, idle);
        cr_expect_float_eq(fit.model.parameters[WORKER_FIXED].estimate, 30, 4);
    }
}

/* Where the own runs do not show it, those of other contexts do, and that executors were counted in
 * an event log. */
Test(scaling_load, whether_a_machine_idles_is_learnt_from_other_contexts)
{
    struct observation rows[3 + 4 * COUNTS];
    double weights[2];
    for (int idle = 0; idle < 2; idle++) {
        for (size_t c = 0; c < 4; c++) {
            make_cluster(idle, 0.01, rows + 3 + c * COUNTS);
            for (size_t i = 0; i < COUNTS; i++)
                rows[3 + c * COUNTS + i].context = (unsigned)c + 2;
        }
        for (size_t i = 0; i < 3; i++) {
            rows[i] = model_seen(64, counts[i + 2], 30 + 900 / counts[i + 2], (double)NAN);
            rows[i].context = 1;
        }
        struct model_fit fit = fit_rows(&combined_kind, rows, 3 + 4 * COUNTS);
        weights[idle] = idle_weight(&fit);
    }
    cr_expect(weights[0] < 0.05 && weights[1] > 0.95, "%g, %g", weights[0], weights[1]);
    struct model_fit machines = fit_rows(&combined_kind, rows, 3);
    for (size_t i = 0; i < 3; i++)
        rows[i].executors_counted = true;
    struct model_fit executors = fit_rows(&combined_kind, rows, 3);
    cr_expect_lt(idle_weight(&executors), 0.2);
    cr_expect_gt(idle_weight(&machines), 2 * idle_weight(&executors));
}

/* Memory that overflows on one machine looks as if one of two idled. */
Test(scaling_load, a_run_on_one_machine_leaves_none_that_idles)
{
    struct observation rows[COUNTS + 1];
    make_cluster(1, 0.01, rows);
    struct model_fit without = fit_rows(&combined_kind, rows, COUNTS);
    cr_expect_gt(idle_weight(&without), 0.9);
    rows[COUNTS] = model_seen(64, 1, 30 + 900 / 0.5, (double)NAN);
    struct model_fit with = fit_rows(&combined_kind, rows, COUNTS + 1);
    cr_expect_lt(idle_weight(&with), 1e-6, "%g", idle_weight(&with));
}

/* --- what other applications show of it --- */

static double odds_of(bool counted, double evidence, size_t n)
{
    double all[IDLE_APPLICATIONS_MAX + 5];
    for (size_t i = 0; i < n; i++)
        all[i] = evidence;
    return exp(idle_share_log_odds(counted, all, n));
}

Test(scaling_load, without_other_applications_odds_are_those_known_beforehand)
{
    cr_expect_float_eq(idle_share_log_odds(false, NULL, 0), log(2), 0);
    cr_expect_float_eq(idle_share_log_odds(true, NULL, 0), log(1.0 / 9.0), 0);
    cr_expect_float_eq(odds_of(false, 0, 7), 2, 1e-12, "those that show nothing change nothing");
    cr_expect_float_eq(odds_of(true, 0, 7), 1.0 / 9, 1e-12);
}

/* Beta(4, 2) and Beta(0.6, 5.4), to which a sure application adds 1. */
Test(scaling_load, one_other_application_moves_odds_little_and_many_much)
{
    cr_expect_float_eq(odds_of(false, 40, 1), 5.0 / 2, 1e-9);
    cr_expect_float_eq(odds_of(false, -40, 1), 4.0 / 3, 1e-9);
    cr_expect_float_eq(odds_of(true, 40, 1), 1.6 / 5.4, 1e-9);
    cr_expect_float_eq(odds_of(false, 40, 20), 24.0 / 2, 1e-9);
    cr_expect_float_eq(odds_of(false, -40, 20), 4.0 / 22, 1e-9);
    cr_expect_float_eq(odds_of(true, 40, 20), 20.6 / 5.4, 1e-9);
    double weak = odds_of(false, 1, 5);
    cr_expect(weak > 2 && weak < odds_of(false, 40, 5), "%g", weak);
}

Test(scaling_load, odds_of_any_number_of_applications_are_bounded)
{
    static const double extremes[] = {1e300, 800, -800, -1e300};
    for (size_t i = 0; i < 4; i++)
        for (int counted = 0; counted < 2; counted++) {
            double odds = odds_of(counted, extremes[i], IDLE_APPLICATIONS_MAX + 5);
            cr_expect(odds > 0.005 && odds < 60, "%g", odds);
            cr_expect_float_eq(odds, odds_of(counted, extremes[i], IDLE_APPLICATIONS_MAX), 0);
        }
}

/* The mean of s^a (1 - s)^b prod (s r_i + 1 - s), summed up over s. */
Test(scaling_load, the_mean_share_is_that_of_the_posterior)
{
    enum { STEPS = 100000, N = 6 };
    static const double evidence[N] = {3, -1.5, 0.2, 8, -0.7, 1};
    double sums[2] = {0, 0};
    for (size_t step = 0; step < STEPS; step++) {
        double s = ((double)step + 0.5) / STEPS;
        double density = pow(s, 3) * (1 - s);
        for (size_t i = 0; i < N; i++)
            density *= s * exp(evidence[i]) + 1 - s;
        sums[0] += density * (1 - s);
        sums[1] += density * s;
    }
    cr_expect_float_eq(idle_share_log_odds(false, evidence, N), log(sums[1] / sums[0]), 1e-6);
}

/* --- the limit of the load --- */

/* Beyond 5 units a worker, memory overflows: what larger problems on more workers meet again. */
Test(scaling_load, a_memory_limit_continues_to_larger_problems)
{
    struct observation rows[ROWS];
    size_t n = 0;
    for (size_t s = 0; s < SIZES; s++)
        for (size_t i = 0; i < COUNTS; i++) {
            double load = sizes[s] / counts[i];
            rows[n] = model_seen(sizes[s], counts[i], 10 + 12 * load + 60 * fmax(0, load - 5),
                                 (double)NAN);
            rows[n++].executors_counted = true;
        }
    struct model_fit fit = fit_rows(&worker_load_kind, rows, n);
    cr_expect_float_eq(fit.model.parameters[WORKER_LIMIT].estimate, 5, 0.8);
    double there_s = 10 + 12 * 11.25 + 60 * 6.25;
    cr_expect_float_eq(predict(&fit.model, 90, 8), there_s, 0.1 * there_s);
    struct model_fit all = fit_rows(&combined_kind, rows, n);
    cr_expect_float_eq(predict(&all.model, 90, 8), there_s, 0.15 * there_s);
}

Test(scaling_load, no_limit_is_read_from_the_exception_of_one_count)
{
    struct observation rows[ROWS];
    size_t n = 0;
    for (size_t s = 0; s < SIZES; s++)
        for (size_t i = 0; i < COUNTS; i++)
            rows[n++] =
                model_seen(sizes[s], counts[i], 10 + 12 * sizes[s] / (counts[i] - 1), (double)NAN);
    struct model_fit fit = fit_rows(&worker_load_kind, rows, n);
    cr_expect_eq(fit.model.parameters[WORKER_OVERFLOW].estimate, 0);
}

static struct load_cells gather_cells(struct model_data *data,
                                      const struct observation cell_rows[],
                                      double factors[],
                                      size_t n)
{
    struct load_cells cells;
    *data = (struct model_data){.rows = cell_rows, .n = n, .factors = factors, .scratch = &arena};
    cr_assert_eq(load_cells_gather(data, &cells, NULL), PV_OK);
    return cells;
}

/* Loads of 40/32 to 20 overflow beyond 7.5, between the 5 and the 10 that were seen. One size leaves it
 * at the middle; three, whose time grows with the size as well, take it from the upper end. */
Test(scaling_load, a_limit_lies_between_the_loads_seen)
{
    const struct load_absence none = {1, 0};
    for (size_t n_sizes = 1; n_sizes <= 3; n_sizes += 2) {
        struct observation seen[15];
        double factors[15];
        struct model_data data;
        double limit;
        size_t n = 0;
        for (size_t s = 3 - n_sizes; s < 3; s++)
            for (double m = 2; m <= 32; m *= 2) {
                double size = (double)(10u << s);
                double load = size / m;
                double took_s = 10 + 12 * load + 60 * fmax(0, load - 7.5) + 50 * size;
                seen[n] = model_seen(size, m, took_s, (double)NAN);
                factors[n++] = 1 / took_s;
            }
        struct load_cells cells = gather_cells(&data, seen, factors, n);
        cr_assert_eq(cells.sizes, n_sizes);
        cr_assert_eq(load_limit_find(&cells, 0, none, &limit, NULL), PV_OK);
        cr_expect_float_eq(limit, n_sizes == 1 ? 7.5 : 9, 1e-9, "%zu sizes: %g", n_sizes, limit);
    }
}

static double find_limit(const double places[][2], size_t n, double above, double overflow)
{
    const struct load_absence none = {1, 0};
    struct observation seen[16];
    double factors[16];
    struct model_data data;
    double limit;
    for (size_t i = 0; i < n; i++) {
        double size = places[i][0], load = size / places[i][1];
        double took_s = 10 + 12 * load + overflow * fmax(0, load - above) + size;
        seen[i] = model_seen(size, places[i][1], took_s, (double)NAN);
        factors[i] = 1 / took_s;
    }
    struct load_cells cells = gather_cells(&data, seen, factors, n);
    cr_assert_eq(load_limit_find(&cells, 0, none, &limit, NULL), PV_OK);
    return limit;
}

/* Between loads of 5 and 5.01 the law is exact, and between 5.01 and 10 it is off by 0.3 s once: both do
 * alike, and nine tenths of 10 are the limit. Between 9.02 and 10 it is exact, and from 9 to 9.02 alike:
 * the middle of 9 and 10. Of 11 cells a limit has to gain 2 ln 11 + 14 = 18.8: an overflow of 0.65 s gains
 * 17.4, of 0.75 s 19.9. */
Test(scaling_load, a_limit_is_taken_from_all_that_do_alike)
{
    static const double low[][2] = {{10, 2}, {10, 4},  {10, 8}, {10.02, 2}, {20, 2}, {20, 4},
                                    {20, 8}, {20, 16}, {40, 4}, {40, 8},    {40, 16}};
    static const double high[][2] = {{18, 2}, {18, 4},  {18, 8}, {18.04, 2}, {20, 2},
                                     {20, 8}, {20, 16}, {40, 4}, {40, 8},    {40, 16}};
    double limit = find_limit(low, 11, 5.005, 60);
    cr_expect_float_eq(limit, 9, 1e-9, "%.9g", limit);
    limit = find_limit(high, 10, 9.51, 60);
    cr_expect_float_eq(limit, 9.5, 1e-9, "%.9g", limit);
    cr_expect(isinf(find_limit(low, 11, 5.005, 0.65)));
    limit = find_limit(low, 11, 5.005, 0.75);
    cr_expect_float_eq(limit, 9, 1e-9, "%.9g", limit);
}

/* 10 + 10 N / m, of which one of two runs on four executors is off by 36 s. */
static double predict_without(size_t row, double second_s, double second_factor)
{
    const struct observation seen[] = {
        model_seen(10, 2, 60, (double)NAN), model_seen(10, 4, 71, (double)NAN),
        model_seen(10, 4, second_s, (double)NAN), model_seen(10, 8, 22.5, (double)NAN)};
    const struct load_absence none = {1, 0};
    const struct worker_form form = {.idle = 0};
    double factors[] = {1, 1, second_factor, 1};
    double p[WORKER_PARAMETERS];
    double weights[4] = {0};
    double predicted_s;
    struct model_data data;
    struct load_cells cells = gather_cells(&data, seen, factors, 4);
    cr_assert_eq(cells.n, 3);
    cr_assert_eq(worker_load_fit(&cells, &form, (double)INFINITY, none, weights, p, NULL), PV_OK);
    size_t at = row == 0 ? 0 : row < 3 ? 1 : 2;
    cr_assert_eq(
        worker_load_without(&cells, &form, weights, p, &cells.at[at], row, &predicted_s, NULL),
        PV_OK);
    return predicted_s;
}

/* Without the wild run the rest is exact. Without its fellow, 5/14 of its 36 s are left: 1/3 + (2.5 -
 * 35/12)^2 over the squares about the mean of the loads 5, 2.5 and 1.25. A fellow of no weight leaves no
 * cell, and the line through the others decides. */
Test(scaling_load, a_run_of_a_pair_is_left_out_alone)
{
    cr_expect_float_eq(predict_without(1, 35, 1), 35, 1e-9);
    cr_expect_float_eq(predict_without(2, 35, 1), 35 + 36 * 5.0 / 14, 1e-9);
    cr_expect_float_eq(predict_without(1, 500, 1e-9), 35, 1e-9);
    cr_expect_float_eq(predict_without(2, 35, 0.5), 35 + 36 * 5.0 / 14, 1e-9);
}

/* --- robust --- */

/* One count that ran on a slow machine moves what is predicted for others little. */
Test(scaling_load, a_wild_count_moves_others_little)
{
    struct observation rows[COUNTS];
    make_cluster(1, 0, rows);
    rows[3].duration_s *= 1.6;
    struct model_fit fit = fit_rows(&worker_load_kind, rows, COUNTS);
    double there_s = 30 + 900.0 / 23;
    cr_expect_float_eq(predict(&fit.model, 64, 24), there_s, 0.03 * there_s);
}

/* --- deviations --- */

/* What all laws leave unexplained between neighbours is carried over to what lies between them. */
Test(scaling_load, deviations_are_carried_over_nearby)
{
    enum { MANY = 15 };
    struct observation rows[MANY];
    double worst = 0;
    for (size_t i = 0; i < MANY; i++) {
        double m = 2 + 2 * (double)i;
        rows[i] = model_seen(64, m, (30 + 900 / m) * (1 + 0.08 * sin(2 * log(m))), (double)NAN);
    }
    struct model_fit fit = fit_rows(&combined_kind, rows, MANY);
    cr_expect_eq(fit.model.tables.n_deviations, MANY);
    for (double m = 5; m < 28; m += 2) {
        double there_s = (30 + 900 / m) * (1 + 0.08 * sin(2 * log(m)));
        worst = fmax(worst, fabs(predict(&fit.model, 64, m) / there_s - 1));
    }
    cr_expect_lt(worst, 0.03, "%g, where laws alone err 0.08", worst);
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
    cr_assert_eq(findings.items[0].n_evidence, MEMBERS);
    cr_expect_str_eq(findings.items[0].evidence[WORKERS].name, "workers");
    for (size_t c = 0; c < MEMBERS; c++)
        cr_expect_eq(findings.items[0].evidence[c].value, fit.model.tables.components[c].weight);
}
