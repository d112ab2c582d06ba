/* What is said of the label group that a prediction is for. */
#include "core/advice/label_group_explain.h"

#include <criterion/criterion.h>

static struct arena arena;
static struct advice advice;
static const struct strview keys[] = {{"iterations", 10}, {"machine", 7}};
static const struct run_label labels[] = {{{"iterations", 10}, {"10", 2}}};
static const struct run_label_list list = {labels, 1};

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(label_group_explain, .init = set_up, .fini = tear_down);

static void explain(struct label_group group, struct run_label *asked, size_t n)
{
    const struct advice_question question = {.labels = asked, .n_labels = n};
    advice = (struct advice){.warnings = {.arena = &arena}};
    group.keys = keys;
    group.labels = &list;
    group.groups = 3;
    cr_assert_eq(label_group_explain(&group, &question, &arena, &advice, NULL), PV_OK);
}

static void expect_only(const char *code, const char *message)
{
    cr_assert_eq(advice.warnings.n, 1);
    cr_expect_str_eq(advice.warnings.items[0].code, code);
    cr_expect_str_eq(advice.warnings.items[0].message, message);
}

Test(label_group_explain, whose_runs_were_taken)
{
    explain((struct label_group){.n_keys = 2, .runs = 4}, NULL, 0);
    expect_only(
        "labels_of_latest_run",
        "Labels explain the time, and the request names none of them: the prediction is for "
        "runs like the latest (iterations=10, machine absent), one of 3 label groups.");
    cr_expect_eq(finding_value(&advice.warnings.items[0], "runs"), 4);
    explain((struct label_group){.n_keys = 2, .runs = 4, .asked = true}, NULL, 0);
    cr_expect_eq(advice.warnings.n, 0);
    explain((struct label_group){.n_keys = 0, .runs = 0}, NULL, 0);
    cr_expect_eq(advice.warnings.n, 0, "labels make no difference");
    explain((struct label_group){.n_keys = 1, .runs = 0, .asked = true}, NULL, 0);
    expect_only("labels_unknown",
                "None of the latest runs has the labels asked for (iterations=10): the prediction "
                "is from runs of all labels, though these labels explain the time.");
    explain((struct label_group){.n_keys = 1, .runs = 1, .asked = true, .ignored = true}, NULL, 0);
    expect_only("label_group_not_used",
                "None of the 1 run with iterations=10 can be replayed and they are too few for a "
                "model: the prediction is from runs of all labels, though these labels explain the "
                "time.");
}

Test(label_group_explain, labels_that_explain_nothing)
{
    static struct run_label asked[] = {
        {{"owner", 5}, {"me", 2}}, {{"machine", 7}, {"m5", 2}}, {{"zone", 4}, {"a", 1}}};
    explain((struct label_group){.n_keys = 2, .runs = 4, .asked = true}, asked, 3);
    expect_only(
        "labels_not_used",
        "Among the latest runs these labels do not explain the time beyond problem size and "
        "executors, so runs were not chosen by them: owner, zone.");
    explain((struct label_group){.n_keys = 2, .runs = 4, .asked = true}, asked + 1, 1);
    cr_expect_eq(advice.warnings.n, 0);
}
