/* Which labels explain the time that size and executors leave over. */
#include <criterion/criterion.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>

#include "base/rng.h"
#include "core/scaling/history/explaining_labels.h"

enum { ROWS = 96, LABELS = 3 };

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

TestSuite(scaling_contexts, .init = start, .fini = end);

static struct observation rows[ROWS];
static struct run_label pairs[ROWS][LABELS];
static struct run_label_list labels[ROWS];

/* Four machines (one slower than the other by `machine`), three settings of k, and a run number. */
static void make_rows(double machine, double k, double noise)
{
    struct rng rng = rng_make(17, 0);
    for (size_t i = 0; i < ROWS; i++) {
        static const char *const machines[] = {"c4", "m4", "r4", "x1"};
        double m = (double)(2 + 2 * (i % 4));
        size_t which = i / 4 % 4;
        size_t setting = i / 16 % 3;
        double factor = (1 + machine * (double)which) * (1 + k * (double)setting) *
                        (1 + noise * (2 * rng_uniform(&rng) - 1));
        rows[i] = model_seen(10, m, factor * (20 + 100 / m), (double)NAN);
        pairs[i][0] = (struct run_label){strview_of("k"), strview_of(setting == 0   ? "3"
                                                                     : setting == 1 ? "5"
                                                                                    : "7")};
        pairs[i][1] = (struct run_label){strview_of("machine"), strview_of(machines[which])};
        pairs[i][2] =
            (struct run_label){strview_of("number"), strview_of(arena_printf(&arena, "%zu", i))};
        labels[i] = (struct run_label_list){pairs[i], LABELS};
    }
}

static struct label_groups find(void)
{
    struct label_groups contexts;
    struct pv_error err = {0};
    cr_assert_eq(label_groups_find(rows, labels, ROWS, &arena, &contexts, &err), PV_OK, "%s",
                 err.detail);
    return contexts;
}

Test(scaling_contexts, the_labels_that_explain_the_time_are_found)
{
    make_rows(0.5, 0.2, 0.02);
    struct label_groups contexts = find();
    cr_assert_eq(contexts.n_keys, 2);
    cr_expect(strview_is(contexts.keys[0], "machine"), "what explains most comes first");
    cr_expect(strview_is(contexts.keys[1], "k"));
    cr_expect_eq(contexts.n, 12);
    make_rows(0, 0.2, 0.02);
    contexts = find();
    cr_assert_eq(contexts.n_keys, 1);
    cr_expect(strview_is(contexts.keys[0], "k"));
}

/* Neither noise nor a label that names each run makes contexts. */
Test(scaling_contexts, labels_that_explain_nothing_are_left)
{
    make_rows(0, 0, 0.1);
    struct label_groups contexts = find();
    cr_expect_eq(contexts.n_keys, 0);
    cr_expect_eq(contexts.n, 1);
}

Test(scaling_contexts, the_context_of_a_row_is_that_of_the_fits)
{
    const struct run_label asked[] = {{strview_of("k"), strview_of("5")},
                                      {strview_of("machine"), strview_of("r4")}};
    const struct run_label odd[] = {{strview_of("k"), strview_of("6")}};
    make_rows(0.5, 0.2, 0.02);
    struct label_groups contexts = find();
    size_t row = label_groups_match(labels, ROWS, asked, 2);
    cr_assert_lt(row, ROWS);
    cr_expect_eq(label_groups_match(labels, ROWS, odd, 1), ROWS);
    cr_expect_eq(label_groups_match(labels, ROWS, NULL, 0), 0, "the newest");
    label_groups_assign(&contexts, row, rows, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        bool own = strview_is(pairs[i][0].value, "5") && strview_is(pairs[i][1].value, "r4");
        cr_expect_eq(rows[i].context == 1, own);
        cr_expect_geq(rows[i].context, 1);
    }
}

Test(scaling_contexts, runs_without_the_label_are_a_context_of_their_own)
{
    make_rows(0.5, 0, 0.02);
    for (size_t i = 0; i < ROWS; i++)
        if (strview_is(pairs[i][1].value, "x1")) {
            pairs[i][1] = pairs[i][2];
            labels[i].n = 2;
        }
    struct label_groups contexts = find();
    cr_assert_eq(contexts.n_keys, 1);
    cr_expect_eq(contexts.n, 4);
}

Test(scaling_contexts, few_runs_are_not_grouped)
{
    struct label_groups contexts;
    struct pv_error err = {0};
    make_rows(2, 0, 0);
    cr_assert_eq(
        label_groups_find(rows, labels, LABEL_GROUPS_LEAST_RUNS - 1, &arena, &contexts, &err),
        PV_OK);
    cr_expect_eq(contexts.n_keys, 0);
    cr_assert_eq(label_groups_find(rows, labels, 0, &arena, &contexts, &err), PV_OK);
}
