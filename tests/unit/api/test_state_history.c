#include "api/scheduling/state_history.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct state_words WORDS = {
    .of = "task", .code = {"progress_fell", "elapsed_fell"}, .what = {"the progress", "the time"}};

static struct arena arena;
static struct state_history history;

static void set_up(void)
{
    arena_init(&arena, 0);
    history = (struct state_history){.n = 0};
}

static void tear_down(void)
{
    state_history_forget(&history);
    arena_fini(&arena);
}

TestSuite(state_history, .init = set_up, .fini = tear_down);

static struct state_item item(const char *name, double progress, double elapsed_s)
{
    return (struct state_item){strview_of(name), {progress, elapsed_s}};
}

static struct findings follow(struct state_item items[], size_t n)
{
    struct findings warnings = {.arena = &arena};
    cr_assert_eq(state_history_follow(&history, &WORDS, items, n, &warnings, NULL), PV_OK);
    return warnings;
}

Test(state_history, names_the_first_item_whose_figure_fell)
{
    struct state_item before[] = {item("c", 0.5, 10), item("a", 0.5, 10), item("b", 0.5, 10)};
    struct state_item now[] = {item("b", 0.4, 15), item("c", 0.3, 9), item("a", 0.5, 10)};
    cr_expect_eq(follow(before, 3).n, 0, "there is none before");
    struct findings warnings = follow(now, 3);
    cr_assert_eq(warnings.n, 2);
    cr_expect_str_eq(warnings.items[0].code, "progress_fell");
    cr_expect_eq(finding_value(&warnings.items[0], "count"), 2);
    cr_expect_str_eq(warnings.items[0].evidence[1].text, "b");
    cr_expect_str_eq(warnings.items[1].code, "elapsed_fell");
    cr_expect_str_eq(warnings.items[1].evidence[1].text, "c");
}

Test(state_history, only_items_of_both_states_are_compared_and_only_of_neighbouring_ones)
{
    struct state_item first[] = {item("a", 0.9, 90), item("b", 0.5, 10)};
    struct state_item second[] = {item("b", 0.6, 11), item("d", 0.1, 1)};
    struct state_item third[] = {item("a", 0.1, 1), item("b", 0.6, 11), item("e", 0, 0)};
    cr_expect_eq(follow(first, 2).n, 0);
    cr_expect_eq(follow(second, 2).n, 0);
    cr_expect_eq(follow(third, 3).n, 0, "it has been away");
    cr_expect_eq(follow(first, 0).n, 0);
    cr_expect_eq(follow(third, 3).n, 0);
}

Test(state_history, names_are_its_own)
{
    char name[] = "task";
    struct state_item item_of = {{name, 4}, {1, 1}};
    cr_expect_eq(follow(&item_of, 1).n, 0);
    memset(name, 'x', 4);
    struct state_item now = item("task", 0, 1);
    cr_expect_eq(follow(&now, 1).n, 1);
}
