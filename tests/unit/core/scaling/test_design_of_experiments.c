/* Which runs to make next: against brute force, designs known from the literature, and simulation.
 * What the IMSE criterion computes is in test_imse.c. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "core/scaling/experiments/design.h"
#include "core/scaling/experiments/information.h"
#include "core/scaling/laws/kinds.h"
#include "core/scaling/model/extrapolation.h"
#include "core/scaling/model/fit.h"
#include "core/scaling/model/predict.h"

static struct arena arena;

static void setup(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
}

static void teardown(void)
{
    arena_fini(&arena);
}

TestSuite(design_of_experiments, .init = setup, .fini = teardown, .timeout = 60);

enum { GRID_MAX = 256 };

struct grid {
    struct effects_point points[GRID_MAX];
    size_t n;
};

static struct grid
grid_of(const double sizes[], size_t n_sizes, const double executors[], size_t n_executors)
{
    struct grid grid = {.n = 0};
    for (size_t i = 0; i < n_sizes; i++)
        for (size_t j = 0; j < n_executors; j++)
            grid.points[grid.n++] = (struct effects_point){sizes[i], executors[j]};
    return grid;
}

static const enum experiments_criterion criteria[] = {EXPERIMENTS_IMSE, EXPERIMENTS_CHEAPEST,
                                                      EXPERIMENTS_D_OPTIMAL};
enum { N_CRITERIA = sizeof criteria / sizeof *criteria };

static struct experiments_question
question_of(const struct grid *grid, const struct effects_point *asked, size_t count)
{
    return (struct experiments_question){.allowed = grid->points,
                                         .n_allowed = grid->n,
                                         .asked = asked,
                                         .n_asked = 1,
                                         .criterion = EXPERIMENTS_D_OPTIMAL,
                                         .count = count,
                                         .confidence = 0.95,
                                         .executor_s_max = (double)NAN,
                                         .doubt = 0};
}

/* A law with given estimates, nothing known of its errors but their scatter. */
static struct model model_with(const char *kind, const double estimates[], size_t n)
{
    struct model model = model_bare(model_find_kind(kind));
    for (size_t j = 0; j < n; j++)
        model.parameters[j].estimate = estimates[j];
    model.uncertainty.relative = true;
    model.uncertainty.residual_std = 0.05;
    return model;
}

static struct experiments_plan choose(const struct observation rows[],
                                      size_t n,
                                      const struct model *model,
                                      const struct experiments_question *question)
{
    struct experiments_plan plan;
    struct pv_error err = {0};
    cr_assert_eq(experiments_choose(rows, n, model, question, &arena, &plan, &err), PV_OK, "%s",
                 err.detail);
    return plan;
}

static size_t count_at(const struct experiments_plan *plan, double problem_size, double executors)
{
    size_t found = 0;
    for (size_t i = 0; i < plan->n; i++)
        if (fabs(plan->items[i].at.problem_size - problem_size) < 1e-9 &&
            fabs(plan->items[i].at.executors - executors) < 1e-9)
            found += plan->items[i].repeat;
    return found;
}

/* --- against brute force --- */

/* log det of the information of a set of points: worked out by Gaussian elimination from the
 * effects alone, not by the updates under test. */
static double log_determinant(const struct effects *effects,
                              const struct effects_point points[],
                              const size_t set[],
                              size_t n,
                              double noise)
{
    double a[EFFECTS_MAX][EFFECTS_MAX] = {{0}};
    double x[EFFECTS_MAX];
    struct effects copy = *effects;
    for (size_t j = 0; j < copy.k; j++)
        a[j][j] = 1;
    for (size_t i = 0; i < n; i++) {
        cr_assert(effects_at(&copy, &points[set[i]], x), "%g %g", points[set[i]].problem_size,
                  points[set[i]].executors);
        for (size_t r = 0; r < copy.k; r++)
            for (size_t c = 0; c < copy.k; c++)
                a[r][c] += x[r] * x[c] / noise;
    }
    double sum = 0;
    for (size_t p = 0; p < copy.k; p++) {
        sum += log(a[p][p]);
        for (size_t r = p + 1; r < copy.k; r++)
            for (size_t c = p + 1; c < copy.k; c++)
                a[r][c] -= a[r][p] * a[p][c] / a[p][p];
    }
    return sum;
}

/* The next multiset of k out of n as ascending indices; false: that was the last. */
static bool next_set(size_t set[], size_t k, size_t n)
{
    size_t i = k;
    while (i > 0 && set[i - 1] == n - 1)
        i--;
    if (i == 0)
        return false;
    size_t value = set[i - 1] + 1;
    for (; i <= k; i++)
        set[i - 1] = value;
    return true;
}

static double
best_of_all(const struct effects *effects, const struct grid *grid, size_t k, double noise)
{
    size_t set[8] = {0};
    double best = -1e300;
    do
        best = fmax(best, log_determinant(effects, grid->points, set, k, noise));
    while (next_set(set, k, grid->n));
    return best;
}

static double reached(const struct effects *effects,
                      const struct grid *grid,
                      const struct experiments_plan *plan,
                      double noise)
{
    size_t set[8];
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++) {
        size_t at = 0;
        while (fabs(grid->points[at].problem_size - plan->items[i].at.problem_size) > 1e-9 ||
               fabs(grid->points[at].executors - plan->items[i].at.executors) > 1e-9)
            at++;
        for (size_t k = 0; k < plan->items[i].repeat; k++)
            set[n++] = at;
    }
    return log_determinant(effects, grid->points, set, n, noise);
}

/* Over all multisets of up to 5 of 12 points, for laws of several kinds: the exchange finds a
 * design whose determinant is the greatest, or all but (its root per effect within 2 percent),
 * and greedy's bound of 1 - 1/e of the logarithm gained always holds. */
Test(design_of_experiments, no_design_has_a_much_greater_determinant)
{
    static const struct {
        const char *kind;
        double p[MODEL_PARAMETERS_MAX];
    } laws[] = {{"ernest", {20, 3, 4, 0.5}},
                {"ernest", {5, 10, 0, 0.1}},
                {"amdahl", {0.9, 100}},
                {"gustafson", {0.8, 100, 4}},
                {"usba_scaled", {0.2, 0.01, 0.003, 0.1, 8, 10, 4, (double)NAN}}};
    const double sizes[] = {8, 16, 64};
    const double executors[] = {1, 2, 8, 16};
    const struct grid grid = grid_of(sizes, 3, executors, 4);
    const struct effects_point asked = {64, 8};
    size_t exact = 0;
    size_t tried = 0;
    for (size_t l = 0; l < sizeof laws / sizeof *laws; l++) {
        struct model model = model_with(laws[l].kind, laws[l].p, MODEL_PARAMETERS_MAX);
        const struct effects_law law = {.model = &model};
        const struct effects effects = effects_of(&law, grid.points, grid.n, 0);
        for (size_t k = 1; k <= 5; k++) {
            struct experiments_question question = question_of(&grid, &asked, k);
            struct experiments_plan plan = choose(NULL, 0, &model, &question);
            cr_assert_eq(plan.runs, k);
            double noise = 0.05 * 0.05;
            double best = best_of_all(&effects, &grid, k, noise);
            double found = reached(&effects, &grid, &plan, noise);
            cr_expect_geq(found, (1 - exp(-1)) * best);
            cr_expect_geq(found, best + (double)effects.k * log(0.98), "%s, %zu runs: %g of %g",
                          laws[l].kind, k, found, best);
            exact += found >= best - 1e-9;
            tried++;
        }
    }
    cr_expect_geq(exact * 10, tried * 8, "%zu of %zu are the best there is", exact, tried);
}

/* --- designs that are known --- */

/* Amdahl with equal absolute errors is a straight line in 1/m: half of the runs at either end
 * (Atkinson and Donev, section 2.2). With relative errors the ends stay the ends. */
Test(design_of_experiments, a_straight_line_is_measured_at_its_ends)
{
    const double estimates[] = {0.9, 100};
    const double size[] = {16};
    const double executors[] = {1, 2, 3, 4, 6, 8, 12, 16};
    const struct grid grid = grid_of(size, 1, executors, 8);
    const struct effects_point asked = {16, 4};
    struct experiments_question question = question_of(&grid, &asked, 6);
    struct model model = model_with("amdahl", estimates, 2);
    model.uncertainty.relative = false;
    model.uncertainty.residual_std = 2;
    struct experiments_plan plan = choose(NULL, 0, &model, &question);
    cr_expect_eq(count_at(&plan, 16, 1), 3);
    cr_expect_eq(count_at(&plan, 16, 16), 3);
    model.uncertainty.relative = true;
    model.uncertainty.residual_std = 0.02;
    plan = choose(NULL, 0, &model, &question);
    cr_expect_eq(count_at(&plan, 16, 1), 3);
    cr_expect_eq(count_at(&plan, 16, 16), 3);
}

/* What is measured already counts: with three runs at one end the next goes to the other. */
Test(design_of_experiments, runs_that_are_there_are_built_upon)
{
    const double estimates[] = {0.9, 100};
    const double size[] = {16};
    const double executors[] = {1, 2, 4, 8, 16};
    const struct grid grid = grid_of(size, 1, executors, 5);
    const struct effects_point asked = {16, 4};
    const struct observation rows[] = {{.problem_size = 16, .executors = 1, .duration_s = 100},
                                       {.problem_size = 16, .executors = 1, .duration_s = 101},
                                       {.problem_size = 16, .executors = 1, .duration_s = 99}};
    struct experiments_question question = question_of(&grid, &asked, 2);
    struct model model = model_with("amdahl", estimates, 2);
    struct experiments_plan plan = choose(rows, 3, &model, &question);
    cr_assert_eq(plan.n, 1, "one configuration is one item");
    cr_expect_eq(plan.runs, 2);
    cr_expect_eq(count_at(&plan, 16, 16), 2);
    cr_expect_eq(plan.items[0].reason, EXPERIMENTS_NEW_EXECUTORS);
    cr_expect_eq(plan.items[0].there, 0, "what was only chosen has not been made");
}

/* Amdahl knows one problem size only. Asked about another it goes there all the same as soon as
 * effects that the law leaves out are thought of, and not before. */
Test(design_of_experiments, doubt_leads_beyond_what_the_law_knows)
{
    const double estimates[] = {0.9, 100};
    const double sizes[] = {16, 64};
    const double executors[] = {1, 4, 16};
    const struct grid grid = grid_of(sizes, 2, executors, 3);
    const struct effects_point asked = {64, 8};
    struct observation rows[6];
    for (size_t i = 0; i < 6; i++)
        rows[i] = (struct observation){
            .problem_size = 16, .executors = executors[i % 3], .duration_s = 100};
    struct experiments_question question = question_of(&grid, &asked, 2);
    struct model model = model_with("amdahl", estimates, 2);
    struct experiments_plan plan = choose(rows, 6, &model, &question);
    cr_expect_eq(plan.items[0].at.problem_size, 16, "equal to the law: the smaller of the two");
    question.doubt = EFFECTS_DOUBT;
    plan = choose(rows, 6, &model, &question);
    cr_expect_eq(plan.items[0].at.problem_size, 64);
    cr_expect_eq(plan.items[0].reason, EXPERIMENTS_NEW_SIZE);
}

/* --- models without parameters of their own --- */

/* Interpolation has none: the run farthest from all others in (ln N, ln m), here the middle of the
 * longest stretch without one. */
Test(design_of_experiments, the_widest_gap_is_filled)
{
    const double sizes[] = {16, 64};
    const double executors[] = {1, 2, 4, 8, 16};
    const struct grid grid = grid_of(sizes, 2, executors, 5);
    const struct effects_point asked = {64, 8};
    const struct observation rows[] = {
        model_seen(16, 1, 60, (double)NAN), model_seen(16, 2, 40, (double)NAN),
        model_seen(16, 16, 20, (double)NAN), model_seen(64, 1, 200, (double)NAN),
        model_seen(64, 16, 40, (double)NAN)};
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(
        model_fit(model_find_kind("interpolation"), rows, 5, MODEL_RELATIVE, &arena, &fit, &err),
        PV_OK, "%s", err.detail);
    struct experiments_question question = question_of(&grid, &asked, 1);
    question.doubt = EFFECTS_DOUBT;
    struct experiments_plan plan = choose(rows, 5, &fit.model, &question);
    cr_expect(plan.from_model);
    cr_expect_eq(plan.items[0].reason, EXPERIMENTS_WIDEST_GAP);
    cr_expect_eq(plan.items[0].at.problem_size, 64);
    cr_expect_eq(plan.items[0].at.executors, 4);
    question.criterion = EXPERIMENTS_IMSE;
    plan = choose(rows, 5, &fit.model, &question);
    cr_expect_eq(plan.items[0].reason, EXPERIMENTS_MOST_CERTAINTY, "needs no parameters");
    cr_expect_eq(plan.items[0].at.problem_size, 64);
    cr_expect_eq(plan.items[0].at.executors, 8, "asked about and not measured");
}

/* Of two laws that are combined the one that weighs more says what is open: Ernest's four effects,
 * not Amdahl's two. Times are those of both. */
Test(design_of_experiments, of_combined_laws_the_heaviest_is_followed)
{
    const double ernest[] = {20, 3, 4, 0.5};
    const double amdahl[] = {0.9, 100};
    const struct model one = model_with("ernest", ernest, 4);
    const struct model other = model_with("amdahl", amdahl, 2);
    const struct model_component components[] = {{0.3, model_law(&other)}, {0.7, model_law(&one)}};
    struct model both = model_with("combined", NULL, 0);
    both.tables.components = components;
    both.tables.n_components = 2;
    const double sizes[] = {8, 64};
    const double executors[] = {1, 4, 16};
    const struct grid grid = grid_of(sizes, 2, executors, 3);
    const struct effects_law law = {.model = &both};
    const struct effects effects = effects_of(&law, grid.points, grid.n, 0);
    cr_expect_eq(effects.n_own, 4);
    const struct effects_point asked = {64, 8};
    struct experiments_question question = question_of(&grid, &asked, 4);
    struct experiments_plan plan = choose(NULL, 0, &both, &question);
    struct experiments_plan alone = choose(NULL, 0, &one, &question);
    cr_expect(plan.from_model);
    cr_assert_eq(plan.n, alone.n);
    for (size_t i = 0; i < plan.n; i++)
        cr_expect_eq(count_at(&plan, alone.items[i].at.problem_size, alone.items[i].at.executors),
                     count_at(&alone, alone.items[i].at.problem_size, alone.items[i].at.executors));
    const struct effects_point at = plan.items[0].at;
    double mixed =
        pow(20 + 3 * at.problem_size / at.executors + 4 * log(at.executors) + 0.5 * at.executors,
            0.7) *
        pow(100 * (0.9 / at.executors + 0.1), 0.3);
    cr_expect_float_eq(plan.items[0].duration_s, mixed, 1e-9 * mixed);
}

/* --- what is known after runs --- */

/* The covariance after runs is the inverse of the identity plus the sum of their information. */
Test(design_of_experiments, information_is_the_inverse_of_what_runs_add_up_to)
{
    enum { K = 4, RUNS = 9 };
    struct rng rng = rng_make(4, 0);
    struct information known = information_none(K);
    double sum[K][K] = {{0}};
    for (size_t j = 0; j < K; j++)
        sum[j][j] = 1;
    for (size_t r = 0; r < RUNS; r++) {
        double x[K];
        double noise = 0.01 + rng_uniform(&rng);
        for (size_t j = 0; j < K; j++)
            x[j] = rng_normal(&rng);
        information_add(&known, x, noise);
        for (size_t a = 0; a < K; a++)
            for (size_t b = 0; b < K; b++)
                sum[a][b] += x[a] * x[b] / noise;
    }
    for (size_t a = 0; a < K; a++)
        for (size_t b = 0; b < K; b++) {
            double product = 0;
            for (size_t c = 0; c < K; c++)
                product += known.covariance[a][c] * sum[c][b];
            cr_expect_float_eq(product, a == b, 1e-9);
        }
}

/* --- few runs, or none --- */

/* With nothing known the first runs spread over executors and over N/m, so that after four of them
 * Ernest's four effects are told apart; no time is known, so no cost is. */
Test(design_of_experiments, with_no_runs_it_says_where_to_start)
{
    const double sizes[] = {8, 16, 32};
    const double executors[] = {1, 2, 4, 8};
    const struct grid grid = grid_of(sizes, 3, executors, 4);
    const struct effects_point asked = {64, 8};
    struct experiments_question question = question_of(&grid, &asked, 4);
    question.doubt = EFFECTS_DOUBT;
    struct experiments_plan plan = choose(NULL, 0, NULL, &question);
    cr_assert_eq(plan.n, 4);
    cr_expect(!plan.from_model);
    cr_expect_eq(plan.items[0].reason, EXPERIMENTS_FIRST);
    struct observation rows[4];
    for (size_t i = 0; i < 4; i++) {
        const struct effects_point at = plan.items[i].at;
        cr_expect(isnan(plan.items[i].duration_s) && isnan(plan.items[i].executor_s));
        cr_expect_gt(plan.items[i].cut_percent, 0);
        if (i > 0)
            cr_expect_gt(plan.items[i].cumulative_cut_percent,
                         plan.items[i - 1].cumulative_cut_percent);
        rows[i] = model_seen(at.problem_size, at.executors,
                             30 + 2 * at.problem_size / at.executors + 5 * log(at.executors) +
                                 at.executors,
                             (double)NAN);
    }
    struct model_fit fit;
    struct pv_error err = {0};
    cr_assert_eq(model_fit(model_find_kind("ernest"), rows, 4, MODEL_RELATIVE, &arena, &fit, &err),
                 PV_OK, "%s", err.detail);
}

/* One run, then more at the same executor count: the next is on another count, whatever else. */
Test(design_of_experiments, one_executor_count_asks_for_another)
{
    const double sizes[] = {8, 16, 32, 64};
    const double executors[] = {1, 2, 4, 8};
    const struct grid grid = grid_of(sizes, 4, executors, 4);
    const struct effects_point asked = {64, 8};
    struct observation rows[4];
    for (size_t i = 0; i < 4; i++)
        rows[i] = model_seen(sizes[i], 4, 20 + sizes[i], (double)NAN);
    for (size_t c = 0; c < N_CRITERIA; c++) {
        struct experiments_question question = question_of(&grid, &asked, 1);
        question.criterion = criteria[c];
        question.doubt = EFFECTS_DOUBT;
        struct experiments_plan plan = choose(rows, 4, NULL, &question);
        cr_assert_eq(plan.n, 1);
        cr_expect_neq(plan.items[0].at.executors, 4);
        cr_expect_eq(plan.items[0].reason, EXPERIMENTS_NEW_EXECUTORS);
        cr_expect_gt(plan.items[0].duration_s, 0, "one run tells the unit of time");
    }
}

/* --- cost --- */

static double cost_of(const struct experiments_plan *plan)
{
    double sum = 0;
    for (size_t i = 0; i < plan->n; i++)
        sum += plan->items[i].executor_s;
    return sum;
}

/* Cheapest first costs less than the same criterion without cost does, and no choice exceeds its
 * budget. */
Test(design_of_experiments, cheapest_first_is_cheap_and_all_keep_to_a_budget)
{
    const double estimates[] = {20, 3, 4, 0.5};
    const double sizes[] = {8, 16, 64, 256};
    const double executors[] = {1, 2, 4, 8, 16};
    const struct grid grid = grid_of(sizes, 4, executors, 5);
    const struct effects_point asked = {256, 16};
    struct model model = model_with("ernest", estimates, 4);
    struct experiments_question question = question_of(&grid, &asked, 3);
    question.criterion = EXPERIMENTS_IMSE;
    struct experiments_plan best = choose(NULL, 0, &model, &question);
    question.criterion = EXPERIMENTS_CHEAPEST;
    struct experiments_plan cheap = choose(NULL, 0, &model, &question);
    for (size_t i = 0; i < cheap.n; i++) {
        const struct effects_point at = cheap.items[i].at;
        double time_s =
            20 + 3 * at.problem_size / at.executors + 4 * log(at.executors) + 0.5 * at.executors;
        cr_expect_float_eq(cheap.items[i].duration_s, time_s, 1e-9, "of one run");
        cr_expect_float_eq(cheap.items[i].executor_s,
                           (double)cheap.items[i].repeat * time_s * at.executors, 1e-9, "of all");
    }
    cr_expect_lt(cost_of(&cheap), cost_of(&best));
    for (size_t c = 0; c < N_CRITERIA; c++) {
        question.criterion = criteria[c];
        question.executor_s_max = 200;
        struct experiments_plan plan = choose(NULL, 0, &model, &question);
        cr_expect_gt(plan.runs, 0);
        cr_expect_leq(cost_of(&plan), 200);
    }
    question.executor_s_max = 1;
    struct experiments_plan none = choose(NULL, 0, &model, &question);
    cr_expect_eq(none.n, 0);
    cr_expect_eq(none.runs, 0);
    cr_expect_float_eq(none.cheapest_s, 20 + 3 * 8 + 0.5, 1e-9, "(8, 1), not %g", none.cheapest_s);
}

/* A run that costs next to nothing and says next to nothing about what is asked is not chosen. Here
 * it costs a millionth: for the square root of its cost it would reduce the variance most. */
Test(design_of_experiments, a_run_that_says_little_is_not_the_cheapest)
{
    const struct effects_point points[] = {{1, 1}, {1e6, 1000}};
    const struct grid grid = {.points = {points[0], points[1]}, .n = 2};
    struct experiments_question question = question_of(&grid, &points[1], 1);
    const double estimates[] = {0, 1, 0, 0};
    struct model model = model_with("ernest", estimates, 4);
    question.criterion = EXPERIMENTS_CHEAPEST;
    struct experiments_plan plan = choose(NULL, 0, &model, &question);
    cr_expect_eq(count_at(&plan, 1e6, 1000), 1);
}

/* Two allowed points and five runs: two items that add up to five, the later of which starts from
 * what the earlier leaves. */
Test(design_of_experiments, repetitions_of_a_configuration_are_one_item)
{
    const double size[] = {16};
    const double executors[] = {1, 16};
    const struct grid grid = grid_of(size, 1, executors, 2);
    const double estimates[] = {0.9, 100};
    struct model model = model_with("amdahl", estimates, 2);
    for (size_t c = 0; c < N_CRITERIA; c++) {
        struct experiments_question question = question_of(&grid, &grid.points[1], 5);
        question.criterion = criteria[c];
        struct experiments_plan plan = choose(NULL, 0, &model, &question);
        size_t runs = 0;
        cr_assert_leq(plan.n, 2);
        for (size_t i = 0; i < plan.n; i++) {
            cr_expect_geq(plan.items[i].repeat, 1);
            runs += plan.items[i].repeat;
        }
        cr_expect_eq(runs, 5);
        cr_expect_eq(plan.runs, 5);
        cr_expect_eq(plan.items[0].reason, EXPERIMENTS_FIRST);
        cr_expect_float_eq(plan.items[0].cut_percent, plan.items[0].cumulative_cut_percent, 1e-9);
    }
}

/* Equal runs: the cheaper, then the smaller. Gustafson with all work parallel has one time for all
 * N, so that only the order decides. */
Test(design_of_experiments, ties_go_to_the_cheaper_then_the_smaller)
{
    const double estimates[] = {0.9, 100};
    const double sizes[] = {64, 8, 16};
    const double executors[] = {4, 1, 2};
    const struct grid grid = grid_of(sizes, 3, executors, 3);
    const struct effects_point asked = {16, 2};
    struct experiments_question question = question_of(&grid, &asked, 1);
    struct model model = model_with("amdahl", estimates, 2); /* N does not matter to it */
    struct experiments_plan plan = choose(NULL, 0, &model, &question);
    cr_expect_eq(plan.items[0].at.problem_size, 8);
}

/* --- order, domains --- */

/* Unknown numbers are equal; padding does not count. */
static void expect_same(const struct experiment *a, const struct experiment *b)
{
    const double numbers[][2] = {{a->at.problem_size, b->at.problem_size},
                                 {a->at.executors, b->at.executors},
                                 {a->uncertainty_percent, b->uncertainty_percent},
                                 {a->duration_s, b->duration_s},
                                 {a->executor_s, b->executor_s},
                                 {a->cut_percent, b->cut_percent},
                                 {a->cumulative_cut_percent, b->cumulative_cut_percent}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cr_expect(numbers[i][0] == numbers[i][1] || (isnan(numbers[i][0]) && isnan(numbers[i][1])),
                  "%zu: %.17g, %.17g", i, numbers[i][0], numbers[i][1]);
    cr_expect_eq(a->reason, b->reason);
    cr_expect_eq(a->there, b->there);
    cr_expect_eq(a->repeat, b->repeat);
}

Test(design_of_experiments, order_of_runs_and_points_changes_nothing)
{
    const double estimates[] = {20, 3, 4, 0.5};
    const double sizes[] = {8, 16, 64};
    const double executors[] = {1, 2, 4, 8};
    struct grid grid = grid_of(sizes, 3, executors, 4);
    const struct effects_point asked = {64, 8};
    struct observation rows[6];
    for (size_t i = 0; i < 6; i++)
        rows[i] = model_seen(sizes[i % 3], executors[i % 4], 30 + (double)i, (double)NAN);
    struct model model = model_with("ernest", estimates, 4);
    struct experiments_question question = question_of(&grid, &asked, 3);
    struct experiments_plan first[N_CRITERIA];
    for (size_t c = 0; c < N_CRITERIA; c++) {
        question.criterion = criteria[c];
        first[c] = choose(rows, 6, &model, &question);
    }
    for (size_t i = 0; i < 3; i++) {
        struct observation row = rows[i];
        rows[i] = rows[5 - i];
        rows[5 - i] = row;
    }
    for (size_t i = 0; i < grid.n / 2; i++) {
        struct effects_point point = grid.points[i];
        grid.points[i] = grid.points[grid.n - 1 - i];
        grid.points[grid.n - 1 - i] = point;
    }
    for (size_t c = 0; c < N_CRITERIA; c++) {
        question.criterion = criteria[c];
        struct experiments_plan second = choose(rows, 6, &model, &question);
        cr_assert_eq(second.n, first[c].n);
        for (size_t i = 0; i < second.n; i++)
            expect_same(&first[c].items[i], &second.items[i]);
    }
}

/* Where a law gives no time > 0 it is not asked: the point is left out and counted. */
Test(design_of_experiments, points_without_a_time_are_left_out)
{
    /* USBA with a strong negative alpha: below zero at large N/m. */
    const double estimates[] = {-0.5, 0, 0, 0, 1, 1, 10, (double)NAN};
    const double sizes[] = {8, 64};
    const double executors[] = {1, 8};
    const struct grid grid = grid_of(sizes, 2, executors, 2);
    const struct effects_point asked = {8, 8};
    struct model model = model_with("usba", estimates, 8);
    struct experiments_question question = question_of(&grid, &asked, 4);
    struct experiments_plan plan = choose(NULL, 0, &model, &question);
    cr_expect(plan.from_model);
    cr_expect_eq(plan.without_time, 1);
    cr_expect_eq(count_at(&plan, 64, 1), 0);
    const struct effects_point nowhere = {64, 1};
    question.asked = &nowhere;
    plan = choose(NULL, 0, &model, &question);
    cr_expect(!plan.from_model, "a law without a time where it is asked about is not followed");
}

/* --- one point, by hand --- */

static const double by_ernest_s = 20 + 3 * 8 + 4 * 2.0794415416798357 + 0.5 * 8;

static struct grid only_point(void)
{
    return (struct grid){.points = {{64, 8}}, .n = 1};
}

static struct model ernest_of_20_s(double residual_std, bool relative)
{
    const double estimates[] = {20, 3, 4, 0.5};
    struct model model = model_with("ernest", estimates, 4);
    model.uncertainty.residual_std = residual_std;
    model.uncertainty.relative = relative;
    return model;
}

/* Each of Ernest's four effects makes the whole time at the only point, so the variance there is 4 as a
 * share of the time; runs of noise s^2 and weights w leave 1 / (1/4 + sum w / s^2). */
static double left_by_runs(double runs, double noise)
{
    return 1 / (0.25 + runs / noise);
}

static void expect_two_runs(const struct model *model, double there, double noise)
{
    const struct grid grid = only_point();
    struct experiments_question question = question_of(&grid, &grid.points[0], 2);
    struct observation row = model_seen(64, 8, by_ernest_s, (double)NAN);
    row.weight = there;
    struct experiments_plan plan = choose(&row, there > 0, model, &question);
    cr_assert_eq(plan.n, 1);
    const struct experiment *item = &plan.items[0];
    double before = left_by_runs(there, noise);
    double after = left_by_runs(there + 2, noise);
    double cut = 100 * (1 - sqrt((after + noise) / (before + noise)));
    cr_expect_float_eq(item->cut_percent, cut, 1e-6, "%g, not %g", item->cut_percent, cut);
    cr_expect_float_eq(item->cumulative_cut_percent, cut, 1e-6);
    cr_expect_float_eq(item->uncertainty_percent, 100 * sqrt(before), 1e-6);
    cr_expect_float_eq(item->duration_s, by_ernest_s, 1e-9);
    cr_expect_float_eq(item->executor_s, 2 * 8 * by_ernest_s, 1e-9);
    cr_expect_eq(item->repeat, 2);
    cr_expect_eq(item->there, there > 0);
    cr_expect_eq(item->reason, there > 0 ? EXPERIMENTS_REPEATS : EXPERIMENTS_FIRST);
}

Test(design_of_experiments, two_runs_cut_the_spread_at_the_only_point)
{
    struct model model = ernest_of_20_s(0.05, true);
    expect_two_runs(&model, 0, 0.05 * 0.05);
    expect_two_runs(&model, 1, 0.05 * 0.05);
    expect_two_runs(&model, 3, 0.05 * 0.05);
    model = ernest_of_20_s(0.05 * by_ernest_s, false);
    expect_two_runs(&model, 1, 0.05 * 0.05);
    model = ernest_of_20_s(0.001, true); /* never less than a hundredth */
    expect_two_runs(&model, 1, 0.01 * 0.01);
    model = ernest_of_20_s((double)NAN, true); /* a tenth is assumed */
    expect_two_runs(&model, 1, 0.1 * 0.1);
}

/* A replay says 50 s, from 40 to 70: its ends come nearer by the cut of the law's spread. */
Test(design_of_experiments, a_predicted_interval_narrows_as_the_laws_does)
{
    const struct grid grid = only_point();
    const double count = 8, time_s = 50;
    const double ends_s[1][2] = {{40, 70}}, open_s[1][2] = {{(double)NAN, 70}};
    struct model model = ernest_of_20_s(0.05, true);
    struct experiments_question question = question_of(&grid, &grid.points[0], 1);
    question.predicted = (struct predicted_times){64, &count, &time_s, ends_s, 1};
    struct experiments_plan plan = choose(NULL, 0, &model, &question);
    double left = sqrt((left_by_runs(1, 0.0025) + 0.0025) / 4.0025);
    cr_expect_float_eq(plan.items[0].duration_s, 50, 1e-9);
    cr_expect_float_eq(plan.items[0].executor_s, 400, 1e-9);
    cr_expect_float_eq(plan.cheapest_s, 400, 1e-9);
    cr_expect_float_eq(plan.interval_s[0], 40, 1e-9);
    cr_expect_float_eq(plan.interval_s[1], 70, 1e-9);
    cr_expect_float_eq(plan.expected_interval_s[0], 50 - 10 * left, 1e-6);
    cr_expect_float_eq(plan.expected_interval_s[1], 50 + 20 * left, 1e-6);
    question.predicted.intervals_s = open_s;
    plan = choose(NULL, 0, &model, &question);
    cr_expect(isnan(plan.interval_s[0]));
    cr_expect_float_eq(plan.interval_s[1], 70, 1e-9);
    cr_expect_float_eq(plan.expected_interval_s[1], 50 + 20 * left, 1e-6);
    question.predicted.problem_size = 32;
    plan = choose(NULL, 0, &model, &question);
    cr_expect(isnan(plan.interval_s[1]), "of another size no interval is predicted");
}

/* A law of 100 s on one executor, 0.9 of it shared: 21.25 s on 8. Residuals of 2 s, and of t1 (of which
 * the time is 0.2125) a standard error that makes 1.5 s of it; 8 degrees of freedom and 3 of the prior
 * of repetitions. A run leaves 1.5^2 - 1.5^4 / (1.5^2 + 2^2) of the variance, and t(0.975) of 12 in place of
 * 11 degrees. */
Test(design_of_experiments, an_interval_narrows_by_what_a_run_shows)
{
    const struct grid grid = only_point();
    const double estimates[] = {0.9, 100};
    struct model model = model_with("amdahl", estimates, 2);
    struct model_uncertainty *u = &model.uncertainty;
    model.form = MODEL_OF_DURATIONS;
    u->observations = 10;
    u->freedom = 8;
    u->relative = false;
    u->residual_std = 2;
    u->repetition_std = 1e-12;
    u->covariance[1][1] = pow(1.5 / 0.2125, 2);
    u->problem_size[0] = u->problem_size[1] = 64;
    u->executors[0] = u->executors[1] = 8;
    gap_axis_add(&u->seen_sizes, 64);
    gap_axis_add(&u->seen_executors, 8);
    struct experiments_question question = question_of(&grid, &grid.points[0], 1);
    struct experiments_plan plan = choose(NULL, 0, &model, &question);
    double half_s = 2.2009851601 * sqrt(6.25);
    double then_s = 2.1788128297 * sqrt(4 + 2.25 - 2.25 * 2.25 / 6.25);
    cr_expect_float_eq(plan.interval_s[0], 21.25 - half_s, 1e-6, "%.9g", plan.interval_s[0]);
    cr_expect_float_eq(plan.interval_s[1], 21.25 + half_s, 1e-6);
    cr_expect_float_eq(plan.expected_interval_s[0], 21.25 - then_s, 1e-6, "%.9g",
                       plan.expected_interval_s[0]);
    cr_expect_float_eq(plan.expected_interval_s[1], 21.25 + then_s, 1e-6);
    cr_expect_float_eq(plan.items[0].cut_percent, 100 * (1 - then_s / half_s), 1e-6);
}

/* --- the narrowing that is promised --- */

/* Ernest with 5 percent of noise, twelve runs; a further one is chosen and its cut promised. Then the same
 * history is drawn 300 times, fitted with and without that run: the mean cut of the interval that a
 * prediction carries is near what was promised. */
Test(design_of_experiments, the_interval_narrows_about_as_promised)
{
    enum { DRAWS = 300, KNOWN = 12 };
    const double sizes[] = {8, 16, 32};
    const double executors[] = {1, 2, 4, 6};
    const double more_executors[] = {1, 2, 4, 8, 12, 16};
    const double more_sizes[] = {8, 16, 32, 64};
    const struct grid there = grid_of(sizes, 3, executors, 4);
    const struct grid grid = grid_of(more_sizes, 4, more_executors, 6);
    const struct effects_point asked = {64, 12};
    const struct model_kind *kind = model_find_kind("ernest");
    struct rng rng = rng_make(20161116, 6);
    double promised = 0;
    double widths[2] = {0, 0};
    for (size_t draw = 0; draw < DRAWS; draw++) {
        struct observation rows[KNOWN + 1];
        struct model_fit fits[2];
        struct pv_error err = {0};
        struct arena_mark mark = arena_mark(&arena);
        for (size_t i = 0; i <= KNOWN; i++) {
            double n = i < KNOWN ? there.points[i].problem_size : 0;
            double m = i < KNOWN ? there.points[i].executors : 1;
            if (i == KNOWN) {
                struct experiments_question question = question_of(&grid, &asked, 1);
                cr_assert_eq(model_fit(kind, rows, KNOWN, MODEL_RELATIVE, &arena, &fits[0], &err),
                             PV_OK);
                struct experiments_plan plan = choose(rows, KNOWN, &fits[0].model, &question);
                n = plan.items[0].at.problem_size;
                m = plan.items[0].at.executors;
                promised += plan.items[0].cut_percent / DRAWS;
            }
            double time_s = 20 + 3 * n / m + 4 * log(m) + 0.5 * m;
            rows[i] = model_seen(n, m, rng_lognormal(&rng, time_s, 0.05), (double)NAN);
        }
        cr_assert_eq(model_fit(kind, rows, KNOWN + 1, MODEL_RELATIVE, &arena, &fits[1], &err),
                     PV_OK);
        for (size_t k = 0; k < 2; k++) {
            struct model_prediction at;
            struct model_spread spread = model_spread(&fits[k].model, 0.95);
            model_predict(&fits[k].model, &spread, asked.problem_size, asked.executors, &at);
            widths[k] += (at.interval_s[1] - at.interval_s[0]) / at.duration_s / DRAWS;
        }
        arena_rewind(&arena, mark);
    }
    double measured = 100 * (1 - widths[1] / widths[0]);
    cr_log_info("promised %.1f, measured %.1f percent", promised, measured);
    cr_expect_gt(promised, 8);
    /* A count of its own beyond the others errs more when it is left out than they do, which is not
     * foreseen. */
    cr_expect(promised < measured + 7 && promised > measured - 7, "promised %g, measured %g",
              promised, measured);
}
