/* What runs with other labels teach of the runs asked about. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/laws/context_process.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/context_traits.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"
#include "core/scaling/model/process_theta.h"
#include "core/scaling/selection/selection.h"

enum { COUNTS = 5, CONTEXTS = 12, ROWS = COUNTS * CONTEXTS };

static const double counts[COUNTS] = {2, 4, 6, 8, 12};

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

TestSuite(scaling_pooled, .init = start, .fini = end);

/* A curve that no law here follows: a bump at eight executors, as large as the cliff at two. */
static double shape(double m, double cliff)
{
    return 20 + 300 / m * (m < 3 ? cliff : 1) + (m > 7 && m < 9 ? 20 * cliff : 0);
}

static double numbers[CONTEXTS][2];
static struct context_traits traits[CONTEXTS];

/* Contexts that differ in level and in how much cliff and bump they have, as their labels say;
 * context 1 comes first. */
static size_t make_rows(double noise, struct observation rows[ROWS])
{
    struct rng rng = rng_make(31, 0);
    for (size_t i = 0; i < ROWS; i++) {
        unsigned context = (unsigned)(i / COUNTS) + 1;
        double cliff = 1 + 0.25 * (double)((context * 5) % 7);
        double factor = 0.5 + 0.3 * (double)((context * 3) % 5);
        double off = 1 + noise * (2 * rng_uniform(&rng) - 1);
        double m = counts[i % COUNTS];
        rows[i] = model_seen(16, m, off * factor * shape(m, cliff), (double)NAN);
        rows[i].context = context;
        numbers[context - 1][0] = log(cliff);
        numbers[context - 1][1] = log(factor);
        traits[context - 1] =
            (struct context_traits){.numbers = numbers[context - 1], .n_numbers = 2};
        rows[i].traits = &traits[context - 1];
    }
    return ROWS;
}

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

/* Two own runs, at two and four executors, show the level; the bump at eight is known from others
 * only. */
Test(scaling_pooled, others_show_what_was_not_run)
{
    struct observation rows[ROWS];
    struct observation known[ROWS];
    size_t n = 0;
    make_rows(0.01, rows);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].context > 1 || rows[i].executors <= 4)
            known[n++] = rows[i];
    struct model_fit fit = fit_rows(&pooled_kind, known, n);
    cr_expect_eq(fit.n, 2, "errors are those of the own runs");
    for (size_t i = 0; i < COUNTS; i++)
        cr_expect_float_eq(predict(&fit.model, 16, counts[i]), rows[i].duration_s,
                           0.08 * rows[i].duration_s, "%g executors: %g, %g", counts[i],
                           predict(&fit.model, 16, counts[i]), rows[i].duration_s);
}

/* A context that was never run is between those whose labels are near, not the mean of all. */
Test(scaling_pooled, labels_that_are_numbers_count_as_such)
{
    enum { MANY = 8 };
    struct observation rows[MANY * COUNTS];
    double logs[MANY];
    struct context_traits of[MANY];
    size_t n = 0;
    for (size_t c = 0; c < MANY; c++) {
        double level = pow(2, (double)c);
        logs[c] = log(level);
        of[c] = (struct context_traits){.numbers = &logs[c], .n_numbers = 1};
        for (size_t i = 0; i < COUNTS; i++) {
            if (c == 5 && i > 0)
                continue;
            rows[n] = model_seen(16, counts[i], level * (10 + 300 / counts[i]), (double)NAN);
            rows[n].context = c == 5 ? 1 : (unsigned)c + 2;
            rows[n++].traits = &of[c];
        }
    }
    struct model_fit fit = fit_rows(&pooled_kind, rows, n);
    for (size_t i = 1; i < COUNTS; i++) {
        double there_s = 32 * (10 + 300 / counts[i]);
        cr_expect_float_eq(predict(&fit.model, 16, counts[i]), there_s, 0.03 * there_s);
    }
}

/* Where nothing says what tells contexts apart, they are different all the same. */
Test(scaling_pooled, contexts_without_labels_are_learnt_from)
{
    struct observation rows[ROWS];
    make_rows(0.01, rows);
    for (size_t i = 0; i < ROWS; i++)
        rows[i].traits = NULL;
    struct model_fit fit = fit_rows(&pooled_kind, rows, ROWS);
    for (size_t i = 0; i < COUNTS; i++)
        cr_expect_float_eq(predict(&fit.model, 16, counts[i]), rows[i].duration_s,
                           0.05 * rows[i].duration_s);
}

/* Rows of context 0 are the own ones, too, as those of 1. */
Test(scaling_pooled, context_0_is_the_own_one)
{
    struct observation rows[ROWS];
    make_rows(0.01, rows);
    for (size_t i = 0; i < ROWS; i++)
        rows[i].traits = NULL;
    struct model_fit one = fit_rows(&pooled_kind, rows, ROWS);
    for (size_t i = 0; i < COUNTS; i++)
        rows[i].context = 0;
    struct model_fit none = fit_rows(&pooled_kind, rows, ROWS);
    for (size_t i = 0; i < COUNTS; i++)
        cr_expect_eq(predict(&none.model, 16, counts[i]), predict(&one.model, 16, counts[i]));
}

/* Beyond the executors that any run had only a law knows: it goes on as the own runs do. */
Test(scaling_pooled, beyond_all_executors_the_own_law_predicts)
{
    struct observation rows[ROWS];
    make_rows(0.01, rows);
    struct model_fit pooled = fit_rows(&pooled_kind, rows, ROWS);
    struct model_fit own = fit_rows(&combined_kind, rows, ROWS);
    double there_s = predict(&own.model, 16, 24);
    cr_expect_float_eq(predict(&pooled.model, 16, 24), there_s, 0.01 * there_s);
}

/* Below the least own count: one piece where others ran, two where nobody did. */
Test(scaling_pooled, below_the_own_executors_others_show_longer_and_shorter_times_alike)
{
    struct observation rows[ROWS];
    struct observation above[ROWS];
    struct predictive there;
    size_t n = 0;
    (void)make_rows(0.02, rows);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].context != 1 || rows[i].executors > 5)
            above[n++] = rows[i];
    struct model_fit pooled = fit_rows(&pooled_kind, above, n);
    struct model_fit law = fit_rows(&combined_kind, above, COUNTS - 2);
    cr_expect_eq(pooled.model.uncertainty.pooled_executors[0], 2);
    cr_expect_eq(pooled.model.uncertainty.pooled_executors[1], 12);
    for (double m = 2; m < 6; m++) {
        cr_assert(model_predictive(&pooled.model, 16, m, &there));
        cr_expect_float_eq(predictive_below(&there), 0.5, 1e-12, "m = %g", m);
        cr_assert(model_predictive(&law.model, 16, m, &there));
        cr_expect_lt(predictive_below(&there), 0.45, "m = %g", m);
    }
    cr_assert(model_predictive(&pooled.model, 16, 1, &there));
    cr_expect_lt(predictive_below(&there), 0.45, "no context ran on one");
}

/* Twice the data, never seen here, take as much longer as they do elsewhere. */
Test(scaling_pooled, others_show_how_time_grows_with_the_data)
{
    struct observation rows[2 * ROWS];
    make_rows(0.01, rows);
    for (size_t i = 0; i < ROWS; i++) {
        rows[ROWS + i] = rows[i];
        rows[ROWS + i].problem_size *= 2;
        rows[ROWS + i].duration_s *= 1.6;
        if (rows[ROWS + i].context == 1)
            rows[ROWS + i].context = 2;
    }
    struct model_fit fit = fit_rows(&pooled_kind, rows, 2 * ROWS);
    double ratio = predict(&fit.model, 32, 6) / predict(&fit.model, 16, 6);
    cr_expect(ratio > 1.45 && ratio < 1.75, "%g", ratio);
}

Test(scaling_pooled, order_changes_no_digit)
{
    struct observation rows[ROWS];
    struct observation turned[ROWS];
    make_rows(0.05, rows);
    for (size_t i = 0; i < ROWS; i++)
        turned[i] = rows[(i * 7 + 3) % ROWS];
    struct model_fit a = fit_rows(&pooled_kind, rows, ROWS);
    struct model_fit b = fit_rows(&pooled_kind, turned, ROWS);
    cr_assert_eq(a.model.tables.n_knots, b.model.tables.n_knots);
    for (size_t k = 0; k < a.model.tables.n_knots; k++)
        cr_expect_eq(a.model.tables.knots[k].duration_s, b.model.tables.knots[k].duration_s);
    cr_expect_eq(a.loo_mape_percent, b.loo_mape_percent);
}

Test(scaling_pooled, too_few_others_are_told)
{
    struct observation rows[ROWS];
    struct model_fit fit = {.n = 77};
    struct pv_error err = {0};
    make_rows(0, rows);
    cr_expect_eq(model_fit(&pooled_kind, rows, 3 * COUNTS, MODEL_RELATIVE, &arena, &fit, &err),
                 PV_E_TOO_FEW);
    cr_expect(strstr(err.detail, "there are 2") != NULL, "%s", err.detail);
    cr_expect_eq(fit.n, 77, "untouched");
}

/* Kinds that do not pool see the own runs only. */
Test(scaling_pooled, other_kinds_do_not_see_other_contexts)
{
    struct observation rows[ROWS];
    make_rows(0.05, rows);
    struct model_fit all = fit_rows(&ernest_kind, rows, ROWS);
    struct model_fit own = fit_rows(&ernest_kind, rows, COUNTS);
    cr_expect_eq(all.n, COUNTS);
    cr_expect_eq(all.warnings.n, own.warnings.n);
    for (size_t j = 0; j < ernest_kind.n_parameters; j++)
        cr_expect_eq(all.model.parameters[j].estimate, own.model.parameters[j].estimate);
}

Test(scaling_pooled, it_is_selected_where_it_errs_less)
{
    struct observation rows[ROWS];
    struct model_selection selection;
    struct pv_error err = {0};
    make_rows(0.01, rows);
    cr_assert_eq(model_select(rows, ROWS, &arena, &selection, &err), PV_OK, "%s", err.detail);
    cr_assert_not_null(selection.selected);
    cr_expect_str_eq(selection.selected->kind->name, "pooled", "%s", selection.message);
    cr_expect_str_eq(selection.code, "pooled");
    cr_expect_lt(selection.selected->scale_mape_percent,
                 0.5 * selection.single->scale_mape_percent);
}

/* --- theta kept --- */

static void keep_theta(const struct process_theta *theta, struct observation rows[ROWS])
{
    for (size_t i = 0; i < ROWS; i++)
        rows[i].theta = theta;
}

static bool same_knots(const struct model_fit *a, const struct model_fit *b)
{
    const struct model_tables *x = &a->model.tables;
    const struct model_tables *y = &b->model.tables;
    return x->n_knots == y->n_knots &&
           memcmp(x->knots, y->knots, x->n_knots * sizeof *x->knots) == 0;
}

Test(scaling_pooled, theta_kept_of_the_same_runs_predicts_the_same_to_the_last_digit)
{
    struct observation rows[ROWS];
    (void)make_rows(0.02, rows);
    struct model_fit searched = fit_rows(&pooled_kind, rows, ROWS);
    cr_assert_not_null(searched.theta);
    cr_expect_not(searched.theta->kept);
    keep_theta(searched.theta, rows);
    struct model_fit kept = fit_rows(&pooled_kind, rows, ROWS);
    cr_expect(kept.theta->kept);
    cr_expect(same_knots(&kept, &searched));
    for (size_t i = 0; i < kept.n; i++) {
        cr_expect_float_eq(kept.left_out[i], searched.left_out[i], 0);
        cr_expect_float_eq(kept.residuals[i].left_scale_out, searched.residuals[i].left_scale_out,
                           0);
    }
    struct process_theta other = *searched.theta;
    other.at[0] *= 3;
    keep_theta(&other, rows);
    kept = fit_rows(&pooled_kind, rows, ROWS);
    cr_expect(kept.theta->kept && !same_knots(&kept, &searched), "it is what predicts");
}

/* Context `own` becomes 1, the one asked about, and the others keep their order. */
static void ask_about(unsigned own, struct observation rows[ROWS])
{
    for (size_t i = 0; i < ROWS; i++) {
        unsigned *context = &rows[i].context;
        *context = *context == own ? 1 : *context < own ? *context + 1 : *context;
    }
}

Test(scaling_pooled, theta_is_the_same_whichever_context_is_asked_about)
{
    struct observation rows[ROWS];
    (void)make_rows(0.02, rows);
    struct model_fit first = fit_rows(&pooled_kind, rows, ROWS);
    for (unsigned own = 2; own <= CONTEXTS; own += 5) {
        (void)make_rows(0.02, rows);
        ask_about(own, rows);
        struct model_fit searched = fit_rows(&pooled_kind, rows, ROWS);
        keep_theta(first.theta, rows);
        struct model_fit kept = fit_rows(&pooled_kind, rows, ROWS);
        cr_expect(kept.theta->kept && same_knots(&kept, &searched), "context %u", own);
    }
}

Test(scaling_pooled, theta_of_other_runs_or_of_no_use_is_searched_for)
{
    struct observation rows[ROWS];
    (void)make_rows(0.02, rows);
    struct model_fit first = fit_rows(&pooled_kind, rows, ROWS);
    rows[ROWS - 1].duration_s *= 1 + 1e-12;
    keep_theta(first.theta, rows);
    cr_expect_not(fit_rows(&pooled_kind, rows, ROWS).theta->kept, "another duration");
    (void)make_rows(0.02, rows);
    rows[3].weight = 0.5;
    keep_theta(first.theta, rows);
    cr_expect_not(fit_rows(&pooled_kind, rows, ROWS).theta->kept, "another weight");
    (void)make_rows(0.02, rows);
    for (int which = 0; which < 3; which++) {
        struct process_theta broken = *first.theta;
        broken.n -= which == 0;
        broken.at[1] = which == 1 ? (double)NAN : which == 2 ? -1 : broken.at[1];
        keep_theta(&broken, rows);
        struct model_fit again = fit_rows(&pooled_kind, rows, ROWS);
        cr_expect(!again.theta->kept && same_knots(&again, &first));
    }
}

static const struct process_shape *learn(struct model_data *data)
{
    const struct process_shape *shape;
    cr_assert_eq(process_learn(data, &shape, NULL), PV_OK);
    return shape;
}

/* Two runs on four executors, the first counted three times. What is left of the cell still shows the
 * place: a process of the same theta that never saw the run predicts the same there, but for what the run
 * moves the coefficients of the mean. */
Test(scaling_pooled, a_run_of_a_pair_is_left_out_alone)
{
    struct observation rows[ROWS + 1];
    double factors[ROWS + 1];
    (void)make_rows(0.02, rows + 1);
    rows[0] = rows[1];
    rows[1] = rows[2];
    rows[1].weight = 3;
    rows[2].duration_s *= 1.1;
    for (size_t i = 0; i <= ROWS; i++) {
        rows[i].traits = NULL;
        factors[i] = 1;
    }
    struct model_data data = {.rows = rows, .n = COUNTS + 1, .factors = factors, .scratch = &arena};
    data.others = rows + COUNTS + 1;
    data.n_others = ROWS - COUNTS;
    const struct process_shape *shape = learn(&data);
    struct process *process;
    cr_assert_eq(process_condition(shape, &data, &process, NULL), PV_OK);
    for (size_t out = 1; out <= 2; out++) {
        struct observation rest[COUNTS];
        struct process *never;
        double mean;
        for (size_t i = 0, n = 0; i <= COUNTS; i++)
            if (i != out)
                rest[n++] = rows[i];
        struct model_data less = data;
        less.rows = rest;
        less.n = COUNTS;
        struct process_theta theta = *process_theta(learn(&less));
        memcpy(theta.at, process_theta(shape)->at, sizeof theta.at);
        rest[0].theta = &theta;
        const struct process_shape *same = learn(&less);
        cr_assert(process_theta(same)->kept);
        cr_assert_eq(process_condition(same, &less, &never, NULL), PV_OK);
        process_predict(never, 16, 4, &mean, NULL);
        double without = process_without(process, &data, out);
        cr_expect_float_eq(without, mean, 1e-5, "%zu: %.9g, not %.9g", out, without, mean);
    }
}
