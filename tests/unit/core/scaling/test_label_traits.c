/* Labels as numbers and words, for the kinds that learn from all contexts. */
#include <criterion/criterion.h>
#include <math.h>

#include "core/scaling/history/label_traits.h"

enum { ROWS = 4 };

static struct arena arena;
static struct observation rows[ROWS];
static struct run_label pairs[ROWS][2];
static struct run_label_list labels[ROWS];

static void start(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_fini(&arena);
}

TestSuite(label_traits, .init = start, .fini = end);

/* NULL: the row has none. */
static void label_rows(const char *const values[ROWS], const char *const others[ROWS])
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t n = 0;
        rows[i] = model_seen(10, 2, 30, (double)NAN);
        if (values[i] != NULL)
            pairs[i][n++] = (struct run_label){strview_of("a"), strview_of(values[i])};
        if (others != NULL)
            pairs[i][n++] = (struct run_label){strview_of("b"), strview_of(others[i])};
        labels[i] = (struct run_label_list){pairs[i], n};
    }
    cr_assert_eq(label_traits_set_all(rows, labels, ROWS, &arena, NULL), PV_OK);
}

Test(label_traits, numbers_count_by_their_logarithms)
{
    static const char *const values[ROWS] = {"3", "0", "1e2", "0.5"};
    label_rows(values, NULL);
    static const double expected[ROWS] = {3, 0.05, 100, 0.5};
    for (size_t i = 0; i < ROWS; i++) {
        cr_assert_eq(rows[i].traits->n_numbers, 1);
        cr_assert_eq(rows[i].traits->n_words, 0);
        cr_expect_float_eq(rows[i].traits->numbers[0], log(expected[i]), 1e-12);
    }
}

Test(label_traits, one_value_that_is_no_number_makes_words_of_all)
{
    static const char *const values[ROWS] = {"3", "x", "3", "30"};
    label_rows(values, NULL);
    cr_assert_eq(rows[0].traits->n_words, 1);
    cr_assert_eq(rows[0].traits->n_numbers, 0);
    cr_expect_eq(rows[0].traits->words[0], rows[2].traits->words[0]);
    cr_expect_neq(rows[0].traits->words[0], rows[1].traits->words[0]);
    cr_expect_neq(rows[0].traits->words[0], rows[3].traits->words[0]);
}

Test(label_traits, what_looks_like_a_number_and_is_none_is_a_word)
{
    static const char *const odd[] = {"-1", "nan", "inf", "0x10", "1e999", "", "3 ", "1-2", "0"};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        const char *const values[ROWS] = {odd[k], odd[k], odd[k], odd[k]};
        label_rows(values, NULL);
        cr_expect_eq(rows[0].traits->n_words, 1, "%s", odd[k]);
    }
}

Test(label_traits, rows_without_a_label_are_unknown_or_of_their_own_kind)
{
    static const char *const numbers[ROWS] = {"3", NULL, "4", NULL};
    static const char *const words[ROWS] = {"x", "y", "x", "y"};
    label_rows(numbers, words);
    cr_assert_eq(rows[1].traits->n_numbers, 1);
    cr_expect(isnan(rows[1].traits->numbers[0]));
    cr_expect_float_eq(rows[2].traits->numbers[0], log(4), 1e-12);
    cr_expect_eq(rows[0].traits->words[0], rows[2].traits->words[0]);
    static const char *const some[ROWS] = {"x", NULL, "x", NULL};
    label_rows(some, NULL);
    cr_expect_eq(rows[1].traits->words[0], rows[3].traits->words[0]);
    cr_expect_neq(rows[1].traits->words[0], rows[0].traits->words[0]);
}

Test(label_traits, without_labels_nothing_is_set)
{
    static const char *const none[ROWS] = {NULL, NULL, NULL, NULL};
    label_rows(none, NULL);
    cr_expect_null(rows[0].traits);
}
