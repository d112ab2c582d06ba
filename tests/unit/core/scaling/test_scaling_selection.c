/* Which kind of model a history gets: the law behind exact data, the simpler of two that cannot be
 * told apart, none where there is nothing to compare. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/selection/selection.h"

enum { ROWS = 20 };

static const double sizes[4] = {8, 16, 40, 64};
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

TestSuite(scaling_selection, .init = start, .fini = end);

typedef double (*law)(double size, double m);

static double amdahl_law(double size, double m)
{
    (void)size;
    return 30 + 270 / m;
}

static double ernest_law(double size, double m)
{
    return 12 + 3.5 * size / m + 1.25 * log(m) + 0.4 * m;
}

static double usba_law(double size, double m)
{
    return 20 * (1 - 0.05 - 0.01 + 1.58 * log(size / m) + 0.05 * m + 0.01 * size);
}

static double scaled_law(double size, double m)
{
    return size / m * (8 + 2 * log(size / m) + 0.5 * m + 0.01 * size);
}

static void make_rows(law of, double noise, struct observation rows[ROWS])
{
    struct rng rng = rng_make(5, 0);
    for (size_t i = 0; i < ROWS; i++) {
        double size = sizes[i / 5];
        double m = counts[i % 5];
        double before = 4 + 0.5 * fmin(m, 6);
        double factor = 1 + noise * (2 * rng_uniform(&rng) - 1);
        rows[i] = model_seen(size, m, factor * (before + of(size, m)), factor * before);
    }
}

static struct model_selection select_from(const struct observation rows[], size_t n)
{
    struct model_selection selection;
    struct pv_error err = {0};
    cr_assert_eq(model_select(rows, n, &arena, &selection, &err), PV_OK, "%s", err.detail);
    return selection;
}

static const struct model_candidate *find(const struct model_selection *selection, const char *name)
{
    for (size_t k = 0; k < selection->n; k++)
        if (strcmp(selection->candidates[k].kind->name, name) == 0)
            return &selection->candidates[k];
    cr_assert(false, "there is no candidate %s", name);
    return NULL;
}

/* --- recovery --- */

static void expect_law(law of, bool initialization, const char *name)
{
    struct observation rows[ROWS];
    make_rows(of, 0, rows);
    for (size_t i = 0; !initialization && i < ROWS; i++) {
        rows[i].duration_s -= rows[i].initialization_s;
        rows[i].initialization_s = 0;
    }
    struct model_selection selection = select_from(rows, ROWS);
    cr_assert_not_null(selection.selected, "%s: %s", name, selection.message);
    cr_expect_str_eq(selection.selected->kind->name, name, "%s", selection.message);
    cr_expect_lt(selection.selected->compared_mape_percent, 1e-6);
    cr_expect_eq(selection.compared, ROWS);
    size_t kinds = 0;
    for (size_t k = 0; model_kinds[k] != NULL; k++)
        kinds += model_kinds[k]->forms != MODEL_OF_STAGES;
    cr_expect_eq(selection.n, kinds, "all candidates are kept");
}

Test(scaling_selection, exact_data_give_the_law_behind_them)
{
    expect_law(amdahl_law, false, "amdahl");
    expect_law(ernest_law, false, "ernest");
    expect_law(usba_law, true, "usba");
    expect_law(scaled_law, true, "usba_scaled");
}

/* Within one problem size Ernest holds Amdahl's law: both are exact, two parameters do. Of Amdahl's
 * law and the same one with the size, the latter is taken: it answers for other sizes, too. */
Test(scaling_selection, of_two_exact_laws_the_simpler_is_taken)
{
    struct observation rows[5];
    for (size_t i = 0; i < 5; i++)
        rows[i] = model_seen(32, counts[i], amdahl_law(32, counts[i]), (double)NAN);
    struct model_selection selection = select_from(rows, 5);
    cr_assert_not_null(selection.selected);
    cr_expect_str_eq(selection.selected->kind->name, "load_per_executor", "%s", selection.message);
    cr_expect_lt(find(&selection, "amdahl")->compared_mape_percent, 1e-6);
    cr_expect_lt(find(&selection, "ernest")->compared_mape_percent, 1e-6);
    cr_expect(find(&selection, "ernest")->close);
}

/* --- noise --- */

/* The single kind taken: nobody with fewer parameters ties with the best, and nobody is better by
 * more than a tie, but for tables. */
static void expect_simplest_of_the_tied(const struct model_selection *selection)
{
    double least = HUGE_VAL;
    cr_assert_not_null(selection->single);
    for (size_t k = 0; k < selection->n; k++)
        if (selection->candidates[k].standing == MODEL_COMPARED &&
            selection->candidates[k].kind->tables == 0)
            least = fmin(least, selection->candidates[k].compared_mape_percent);
    cr_expect_leq(selection->single->compared_mape_percent, 1.02 * least + 1e-6);
    for (size_t k = 0; k < selection->n; k++) {
        const struct model_candidate *other = &selection->candidates[k];
        if (other->standing == MODEL_COMPARED && other->kind->tables == 0 &&
            other->compared_mape_percent <= least)
            cr_expect(other->parameters >= selection->single->parameters, "%s", other->kind->name);
    }
}

Test(scaling_selection, of_those_that_tie_the_simplest_is_taken)
{
    const law laws[] = {amdahl_law, ernest_law, usba_law, scaled_law};
    for (size_t k = 0; k < 4; k++)
        for (int step = 1; step <= 4; step++) {
            struct observation rows[ROWS];
            make_rows(laws[k], 0.05 * step, rows);
            struct model_selection selection = select_from(rows, ROWS);
            expect_simplest_of_the_tied(&selection);
        }
}

/* Repetitions of one size with 3 % of noise: the noise hides that Ernest's two other terms are 0,
 * and does not make up for them. */
Test(scaling_selection, noise_does_not_buy_parameters)
{
    struct rng rng = rng_make(11, 0);
    struct observation rows[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        double m = counts[i % 5];
        double factor = 1 + 0.03 * (2 * rng_uniform(&rng) - 1);
        rows[i] = model_seen(32, m, factor * amdahl_law(32, m), (double)NAN);
    }
    struct model_selection selection = select_from(rows, ROWS);
    cr_assert_not_null(selection.single);
    cr_expect_str_eq(selection.single->kind->name, "load_per_executor", "%s", selection.message);
}

/* One wild run makes every difference noisy; a kind that is five times as wrong is not taken for
 * its few parameters. */
Test(scaling_selection, noise_is_bounded_by_the_least_error)
{
    struct observation rows[ROWS];
    make_rows(ernest_law, 0.01, rows);
    rows[7].duration_s *= 6;
    struct model_selection selection = select_from(rows, ROWS);
    cr_assert_not_null(selection.selected);
    double least = HUGE_VAL;
    for (size_t k = 0; k < selection.n; k++)
        if (selection.candidates[k].standing == MODEL_COMPARED &&
            selection.candidates[k].kind != &combined_kind)
            least = fmin(least, selection.candidates[k].compared_mape_percent);
    cr_expect_leq(selection.single->compared_mape_percent, 1.2 * least + 1e-9);
}

/* --- laws --- */

Test(scaling_selection, order_changes_no_digit)
{
    struct observation rows[ROWS];
    struct observation turned[ROWS];
    make_rows(ernest_law, 0.1, rows);
    for (size_t i = 0; i < ROWS; i++)
        turned[i] = rows[(i * 7 + 3) % ROWS];
    struct model_selection a = select_from(rows, ROWS);
    struct model_selection b = select_from(turned, ROWS);
    cr_expect_eq(a.selected->kind, b.selected->kind);
    cr_expect_str_eq(a.message, b.message);
    for (size_t k = 0; k < a.n; k++) {
        cr_expect_eq(a.candidates[k].standing, b.candidates[k].standing);
        if (a.candidates[k].standing != MODEL_COMPARED)
            continue;
        cr_expect_eq(a.candidates[k].compared_mape_percent, b.candidates[k].compared_mape_percent);
        cr_expect_eq(a.candidates[k].noise_percent, b.candidates[k].noise_percent);
    }
}

/* What rounding may make of a difference is the least noise, not the most: the best differs from
 * itself by no more, and others by what their errors on counts left out show. */
Test(scaling_selection, noise_is_that_of_the_differences)
{
    struct observation rows[ROWS];
    make_rows(ernest_law, 0.1, rows);
    struct model_selection selection = select_from(rows, ROWS);
    double least = HUGE_VAL;
    size_t compared = 0;
    for (size_t k = 0; k < selection.n; k++)
        if (selection.candidates[k].standing == MODEL_COMPARED)
            least = fmin(least, selection.candidates[k].compared_mape_percent);
    for (size_t k = 0; k < selection.n; k++) {
        const struct model_candidate *candidate = &selection.candidates[k];
        if (candidate->standing != MODEL_COMPARED)
            continue;
        cr_expect_float_eq(candidate->difference_percent, candidate->compared_mape_percent - least,
                           1e-12);
        if (candidate->compared_mape_percent == least) {
            cr_expect_float_eq(candidate->noise_percent, 1e-6, 1e-12, "%s", candidate->kind->name);
            continue;
        }
        compared++;
        cr_expect(candidate->noise_percent > 0.01 &&
                      candidate->noise_percent <= 0.2 * least * (1 + 1e-9),
                  "%s: %g", candidate->kind->name, candidate->noise_percent);
        cr_expect_eq(candidate->close,
                     candidate->compared_mape_percent - least <= candidate->noise_percent);
    }
    cr_expect_gt(compared, 3);
}

Test(scaling_selection, the_unit_of_time_does_not_matter)
{
    struct observation rows[ROWS];
    make_rows(scaled_law, 0.1, rows);
    struct model_selection once = select_from(rows, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].duration_s *= 1024;
        rows[i].initialization_s *= 1024;
    }
    struct model_selection more = select_from(rows, ROWS);
    cr_expect_eq(more.selected->kind, once.selected->kind);
    cr_expect_float_eq(more.selected->compared_mape_percent, once.selected->compared_mape_percent,
                       1e-7);
}

/* --- what cannot be compared --- */

/* A run that USBA leaves out, because its initialization is unknown, counts for nobody; a kind that
 * can use only a few runs does not take part. */
Test(scaling_selection, errors_are_compared_over_the_same_runs)
{
    struct observation rows[ROWS];
    make_rows(usba_law, 0.02, rows);
    rows[3].initialization_s = (double)NAN;
    rows[3].duration_s *= 40;
    struct model_selection selection = select_from(rows, ROWS);
    cr_expect_eq(find(&selection, "usba")->fit.n, ROWS - 1);
    cr_expect_eq(selection.compared, ROWS - 1);
    cr_expect_lt(find(&selection, "ernest")->loo_mape_percent,
                 find(&selection, "ernest")->fit.loo_mape_percent);
    for (size_t i = 0; i < ROWS; i++)
        if (i % 2 == 1 || i == 0)
            rows[i].initialization_s = (double)NAN;
    selection = select_from(rows, ROWS);
    cr_expect_eq(find(&selection, "usba")->standing, MODEL_FEW_RUNS_USED);
    cr_expect_eq(selection.compared, ROWS);
}

Test(scaling_selection, kinds_that_cannot_be_fitted_say_why)
{
    struct observation rows[4];
    for (size_t i = 0; i < 4; i++)
        rows[i] = model_seen(sizes[i], 8, 10 + sizes[i], (double)NAN);
    struct model_selection selection = select_from(rows, 4);
    const struct model_candidate *amdahl = find(&selection, "amdahl");
    cr_expect_eq(amdahl->standing, MODEL_NOT_FITTED);
    cr_expect_eq(amdahl->code, PV_E_SINGULAR);
    cr_expect(strstr(amdahl->detail, "executor counts") != NULL, "%s", amdahl->detail);
    selection = select_from(rows, 1);
    cr_expect_null(selection.selected);
    cr_expect_str_eq(selection.code, "none_fitted");
    cr_expect_eq(find(&selection, "ernest")->code, PV_E_TOO_FEW);
    selection = select_from(rows, 0);
    cr_expect_null(selection.selected);
    cr_expect_str_eq(selection.code, "none_fitted");
}

/* Two runs fit Amdahl's law without telling how well it predicts a third. */
Test(scaling_selection, without_a_leave_one_out_error_nothing_is_selected)
{
    struct observation rows[] = {model_seen(8, 1, 300, (double)NAN),
                                 model_seen(8, 4, 100, (double)NAN)};
    struct model_selection selection = select_from(rows, 2);
    cr_expect_eq(find(&selection, "amdahl")->standing, MODEL_NO_LEAVE_ONE_OUT);
    cr_expect_null(selection.selected);
    cr_expect_str_eq(selection.code, "no_error_comparable");
}

Test(scaling_selection, speedups_are_left_to_the_kinds_that_take_them)
{
    struct observation rows[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        double m = counts[i % 5];
        rows[i] = model_seen_speedup(sizes[i / 5], m, 1 / (0.8 / m + 0.2));
    }
    struct model_selection selection = select_from(rows, ROWS);
    cr_expect_eq(find(&selection, "ernest")->standing, MODEL_NOT_FITTED);
    cr_assert_not_null(selection.selected);
    cr_expect_str_eq(selection.selected->kind->name, "amdahl", "%s", selection.message);
}

Test(scaling_selection, no_memory_is_an_ordinary_answer)
{
    struct observation rows[ROWS];
    struct arena small;
    struct model_selection selection = {.n = 77};
    struct pv_error err = {0};
    make_rows(ernest_law, 0, rows);
    arena_init(&small, 1024);
    cr_expect_eq(model_select(rows, ROWS, &small, &selection, &err), PV_E_MEMORY);
    cr_expect_eq(selection.n, 77, "untouched");
    arena_fini(&small);
}

/* --- executor counts left out --- */

/* Runs of one executor count stand for each other when one of them is left out: four counts with
 * ten runs each hold four errors, not forty. */
Test(scaling_selection, what_is_left_out_are_whole_executor_counts)
{
    enum { REPEATED = 40 };
    static const double odd[4] = {1.1, 0.85, 1.15, 0.9};
    struct observation rows[REPEATED];
    for (size_t i = 0; i < REPEATED; i++) {
        double m = counts[1 + i % 4];
        double factor = odd[i % 4] * (1 + 0.001 * (double)i);
        rows[i] = model_seen(32, m, factor * amdahl_law(32, m), (double)NAN);
    }
    struct model_selection selection = select_from(rows, REPEATED);
    cr_expect(selection.by_executors);
    const struct model_candidate *load = find(&selection, "load_per_executor");
    double mean = 0;
    for (size_t i = 0; i < REPEATED; i++) {
        const struct model_residual *r = &load->fit.residuals[i];
        mean += 100 * fabs(r->left_scale_out - r->actual) / r->actual / REPEATED;
    }
    cr_expect_float_eq(load->scale_mape_percent, mean, 1e-9);
    cr_expect_eq(load->compared_mape_percent, load->scale_mape_percent);
    cr_expect_lt(load->loo_mape_percent, load->scale_mape_percent);
}

/* Without a third executor count there is nothing to leave out: runs are, and nothing is combined.
 */
Test(scaling_selection, two_executor_counts_leave_runs_out)
{
    struct observation rows[8];
    for (size_t i = 0; i < 8; i++)
        rows[i] = model_seen(32, counts[i % 2],
                             (1 + 0.01 * (double)i) * amdahl_law(32, counts[i % 2]), (double)NAN);
    struct model_selection selection = select_from(rows, 8);
    cr_assert_not_null(selection.selected);
    cr_expect_not(selection.by_executors);
    cr_expect_eq(find(&selection, "combined")->standing, MODEL_NOT_FITTED);
    cr_expect_eq(selection.selected, selection.single);
}

/* Data that no law describes: the kinds are hardly told apart, so that they are combined; and where
 * one law is behind the data, also with little noise, it is taken. */
Test(scaling_selection, laws_are_combined_unless_one_is_clearly_better)
{
    struct observation rows[5];
    static const double odd[5] = {1.1, 0.85, 1.15, 0.9, 1.1};
    for (size_t i = 0; i < 5; i++)
        rows[i] = model_seen(32, counts[i], odd[i] * amdahl_law(32, counts[i]), (double)NAN);
    struct model_selection selection = select_from(rows, 5);
    cr_assert_not_null(selection.selected);
    cr_expect_str_eq(selection.code, "combination", "%s", selection.message);
    cr_expect_str_eq(selection.selected->kind->name, "combined");
    cr_expect(strstr(selection.message, selection.single->kind->name) != NULL);
    struct observation more[ROWS];
    make_rows(ernest_law, 0.002, more);
    selection = select_from(more, ROWS);
    cr_expect_str_eq(selection.selected->kind->name, "ernest", "%s", selection.message);
}

/* One call for a kind that is asked for and for none. */
Test(scaling_selection, a_kind_is_fitted_or_selected)
{
    struct observation rows[ROWS];
    struct model_selection selection;
    struct model_fit fit;
    struct pv_error err = {0};
    make_rows(amdahl_law, 0, rows);
    cr_assert_eq(model_fit_or_select(model_find_kind("ernest"), rows, ROWS, MODEL_RELATIVE, &arena,
                                     &selection, &fit, &err),
                 PV_OK);
    cr_expect_str_eq(fit.model.kind->name, "ernest");
    cr_assert_eq(
        model_fit_or_select(NULL, rows, ROWS, MODEL_RELATIVE, &arena, &selection, &fit, &err),
        PV_OK);
    cr_assert_not_null(selection.selected);
    cr_expect_eq(fit.model.kind, selection.selected->kind);
    cr_expect_eq(model_fit_or_select(NULL, rows, 1, MODEL_RELATIVE, &arena, &selection, &fit, &err),
                 PV_E_TOO_FEW);
    cr_expect_eq(strncmp(err.detail, selection.message, strlen(selection.message) - 1), 0,
                 "what was found out, and what is missing: %s", err.detail);
    cr_expect(strlen(err.detail) > strlen(selection.message));
    cr_expect_null(strstr(err.detail, ".:"), "one sentence: %s", err.detail);
    cr_expect_null(strstr(err.detail, "1 runs"), "one run is singular: %s", err.detail);
}

/* One of Amdahl's two counts, and three knots; of the laws that are combined a weight each, three of four
 * parameters and two knots. */
Test(scaling_selection, parameters_are_all_numbers_of_a_model)
{
    struct model model = model_bare(model_find_kind("amdahl"));
    struct model_component component = {
        0.5, {.kind = model_find_kind("ernest"), .p = {1, (double)NAN, 1, 1}}};
    component.law.tables.n_knots = 2;
    cr_expect_eq(model_count_parameters(&model), 0);
    model.parameters[0].estimate = model.parameters[1].estimate = 1;
    cr_expect_eq(model_count_parameters(&model), 2);
    model.parameters[1].dropped = true;
    model.tables.n_knots = 3;
    cr_expect_eq(model_count_parameters(&model), 4);
    model.tables.components = &component;
    model.tables.n_components = 1;
    cr_expect_eq(model_count_parameters(&model), 10);
}

/* Places that stray from any law by more and more: a table of what was measured is taken in place of
 * the best law once its error is less by half of it, and not before. */
Test(scaling_selection, a_table_has_to_be_better_by_half)
{
    enum { REPEATED = 36 };
    struct rng rng = rng_make(31, 0);
    size_t near = 0, far = 0;
    for (size_t round = 0; round < 60; round++) {
        struct observation rows[REPEATED];
        double stray = 0.0005 * (double)round;
        for (size_t i = 0; i < REPEATED; i++) {
            size_t place = i / 6;
            double size = sizes[place / 2], m = place % 2 == 0 ? 2 : 8;
            double off = stray * (place % 3 == 1 ? 1 : -1) + 0.02 * rng_normal(&rng);
            rows[i] = model_seen(size, m, ernest_law(size, m) * exp(off), (double)NAN);
        }
        struct model_selection selection = select_from(rows, REPEATED);
        double table = HUGE_VAL, by_law = HUGE_VAL;
        for (size_t k = 0; k < selection.n; k++) {
            const struct model_candidate *candidate = &selection.candidates[k];
            if (candidate->standing != MODEL_COMPARED || candidate->kind == &combined_kind)
                continue;
            double *least = candidate->kind->tables != 0 ? &table : &by_law;
            *least = fmin(*least, candidate->compared_mape_percent);
        }
        cr_assert_not_null(selection.single);
        bool is_table = selection.single->kind->tables != 0;
        cr_expect_eq(is_table, by_law > 1.5 * table, "%s: %g, %g", selection.single->kind->name,
                     by_law, table);
        near += by_law > table && by_law <= 1.5 * table;
        far += by_law > 1.5 * table;
    }
    cr_expect_gt(near, 5);
    cr_expect_gt(far, 5);
}
