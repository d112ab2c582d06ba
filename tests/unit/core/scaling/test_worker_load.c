/* The law of the load of a worker, and the cells it is fitted to, by hand. */
#include "core/scaling/laws/worker_load.h"

#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <math.h>

#include "core/scaling/laws/kinds.h"
#include "core/scaling/laws/load_cells.h"
#include "core/scaling/model/describe.h"

static struct arena arena;
static struct findings findings;

static void set_up(void)
{
    gsl_set_error_handler_off();
    arena_init(&arena, 0);
    findings = (struct findings){.arena = &arena};
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(worker_load, .init = set_up, .fini = tear_down);

Test(worker_load, half_of_few_machines_work_at_least)
{
    cr_expect_eq(worker_count(1, 1), 0.5);
    cr_expect_eq(worker_count(1, 2), 1);
    cr_expect_eq(worker_count(1, 5), 4);
    cr_expect_eq(worker_count(0, 5), 5);
}

/* N = 10 on five machines of which four work: 5 + 2 x 10 + 3 x 10/2 + 4 x 10/25 + 7 (2.5 - 1). */
Test(worker_load, the_terms_add_up)
{
    double p[WORKER_PARAMETERS] = {
        [WORKER_FIXED] = 5, [WORKER_GROWS] = 2, [WORKER_SHARED] = 3,   [WORKER_EXPONENT] = 0.5,
        [WORKER_IDLE] = 1,  [WORKER_SPILL] = 4, [WORKER_OVERFLOW] = 7, [WORKER_LIMIT] = 1};
    cr_expect_float_eq(worker_load_duration(p, 10, 5), 52.1, 1e-12);
    p[WORKER_LIMIT] = 2.5;
    cr_expect_float_eq(worker_load_duration(p, 10, 5), 41.6, 1e-12);
    p[WORKER_LIMIT] = 3;
    cr_expect_float_eq(worker_load_duration(p, 10, 5), 41.6, 1e-12);
    p[WORKER_OVERFLOW] = 0;
    cr_expect_float_eq(worker_load_duration(p, 10, 5), 41.6, 1e-12);
}

/* 64 units on 16 workers. */
Test(worker_load, work_divides_by_a_power_of_the_workers)
{
    static const double cases[][2] = {{1, 4},   {0.75, 8},  {1.25, 2}, {0.5, 16},
                                      {1.5, 1}, {0.25, 32}, {2, 0.25}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double p[WORKER_PARAMETERS] = {[WORKER_SHARED] = 1, [WORKER_EXPONENT] = cases[i][0]};
        cr_expect_float_eq(worker_load_duration(p, 64, 16), cases[i][1], 1e-12, "%g", cases[i][0]);
    }
}

/* 0.04 in ln T is the usual error. */
Test(worker_load, the_loss_grows_slower_than_squares)
{
    cr_expect_eq(worker_load_loss(0), 0);
    cr_expect_float_eq(worker_load_loss(0.04), log(2), 1e-12);
    cr_expect_float_eq(worker_load_loss(-0.12), log(10), 1e-12);
}

/* The mean of two rows is weighted by the squares of their factors, 1 and 3. */
Test(worker_load, rows_of_one_place_are_a_cell)
{
    const struct observation rows[] = {
        model_seen(10, 2, 30, (double)NAN), model_seen(10, 4, 10, (double)NAN),
        model_seen(10, 4, 20, (double)NAN), model_seen(20, 2, 50, (double)NAN),
        model_seen(20, 4, 25, (double)NAN)};
    double factors[] = {2, 1, 3, 1, 1};
    const struct model_data data = {.rows = rows, .n = 5, .factors = factors, .scratch = &arena};
    struct load_cells cells;
    cr_assert_eq(load_cells_gather(&data, &cells, NULL), PV_OK);
    cr_assert_eq(cells.n, 4);
    cr_expect_eq(cells.sizes, 2);
    cr_assert_eq(cells.n_counts, 2);
    cr_expect(cells.counts[0] == 2 && cells.counts[1] == 4);
    cr_expect_eq(cells.at[0].weight, 2);
    cr_expect_float_eq(cells.at[1].mean_s, 19, 1e-12);
    cr_expect_float_eq(cells.at[1].weight, sqrt(10), 1e-12);
    cr_expect(cells.at[1].first == 1 && cells.at[1].rows == 2);
    cr_expect(cells.at[2].first == 3 && cells.at[2].rows == 1);
    cr_expect_eq(cells.at[2].problem_size, 20);
    cr_expect(load_is_absent(&cells.at[0], (struct load_absence){2, 2}));
    cr_expect_not(load_is_absent(&cells.at[0], (struct load_absence){3, 4}));
    cr_expect_not(load_is_absent(&cells.at[1], (struct load_absence){2, 3}));
}

/* At N = 90 nine of ten machines have a load of 10: 5 s, 0.1 x 90, 2 x 10 and 3 (10 - 4). */
Test(worker_load, the_law_in_words)
{
    struct model model = model_bare(&worker_load_kind);
    model.form = MODEL_OF_DURATIONS;
    model.uncertainty.problem_size[1] = 90;
    model.uncertainty.executors[1] = 10;
    model.parameters[WORKER_FIXED].estimate = 5;
    model.parameters[WORKER_GROWS].estimate = 0.1;
    model.parameters[WORKER_SHARED].estimate = 2;
    model.parameters[WORKER_EXPONENT].estimate = 1;
    model.parameters[WORKER_IDLE].estimate = 1;
    model.parameters[WORKER_SPILL].estimate = 0;
    model.parameters[WORKER_OVERFLOW].estimate = 3;
    model.parameters[WORKER_LIMIT].estimate = 4;
    model_describe(&model, &findings);
    const struct finding *parts = finding_find(&findings, "largest_part");
    cr_assert_not_null(parts);
    cr_expect_float_eq(finding_value(parts, "fixed_s"), 5, 1e-12);
    cr_expect_float_eq(finding_value(parts, "grows_s"), 9, 1e-12);
    cr_expect_float_eq(finding_value(parts, "shared_s"), 20, 1e-12);
    cr_expect_float_eq(finding_value(parts, "overflow_s"), 18, 1e-12);
    const struct finding *limit = finding_find(&findings, "memory_limit");
    cr_assert_not_null(limit);
    cr_expect_str_eq(limit->message, "Beyond a problem_size of 4 for each worker its memory "
                                     "overflows: further data take longer.");
    cr_expect_eq(finding_value(limit, "load_limit"), 4);
    cr_expect_not_null(finding_find(&findings, "idle_node"));
    cr_expect_not_null(finding_find(&findings, "doubling"));
    findings = (struct findings){.arena = &arena};
    model.parameters[WORKER_IDLE].estimate = model.parameters[WORKER_OVERFLOW].estimate = 0;
    model_describe(&model, &findings);
    cr_expect_null(finding_find(&findings, "idle_node"));
    cr_expect_null(finding_find(&findings, "memory_limit"));
}
