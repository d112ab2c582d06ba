/* Runs of several jobs under one name are reported as such. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/advice/unrelated_runs.h"

enum { RUNS = 6 };

static struct arena arena, scratch;
static struct run runs[RUNS];
static struct run_stage stages[RUNS][3];
static const int64_t first_parent[] = {0};
static const int64_t second_parent[] = {1};
static struct run_label labels[RUNS][2];
static struct run_label properties[RUNS];

static struct run_label pair(const char *key, const char *value)
{
    return (struct run_label){strview_of(key), strview_of(value)};
}

/* Three jobs in turn, of one, two and three stages in a row; `branch` is the same for all. */
static void set_up(void)
{
    static const char *const jobs[] = {"load", "join", "rank"};
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    memset(runs, 0, sizeof runs);
    memset(stages, 0, sizeof stages);
    for (size_t i = 0; i < RUNS; i++) {
        for (size_t s = 0; s < 3; s++)
            stages[i][s] = (struct run_stage){.id = (int64_t)s,
                                              .parents = s == 1 ? first_parent : second_parent,
                                              .n_parents = s > 0};
        labels[i][0] = pair("branch", "main");
        labels[i][1] = pair("run", (const char *[]){"a", "b", "c", "d", "e", "f"}[i]);
        properties[i] = pair("spark.job.description", jobs[i % 3]);
        runs[i].stages = stages[i];
        runs[i].n_stages = 1 + i % 3;
        runs[i].labels = labels[i];
        runs[i].n_labels = 2;
        runs[i].spark_properties = &properties[i];
        runs[i].n_spark_properties = 1;
    }
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(unrelated_runs, .init = set_up, .fini = tear_down);

static struct unrelated_runs find(double error_percent)
{
    struct unrelated_runs found;
    cr_assert_eq(unrelated_runs_find(runs, RUNS, error_percent, &arena, &scratch, &found, NULL),
                 PV_OK);
    return found;
}

static const struct finding *explain(const struct unrelated_runs *found, struct advice *advice)
{
    *advice = (struct advice){.warnings = {.arena = &arena}};
    cr_assert_eq(unrelated_runs_explain(found, advice, NULL), PV_OK);
    return advice->warnings.n == 0 ? NULL : &advice->warnings.items[0];
}

Test(unrelated_runs, graphs_and_error_show_it_and_a_property_tells_them_apart)
{
    struct advice advice;
    struct unrelated_runs found = find(128.9);
    cr_assert(found.found);
    cr_expect_eq(found.looked_at, RUNS);
    cr_expect_eq(found.graphs, 3);
    cr_expect_eq(found.split, SPLIT_BY_PROPERTY, "not by what is the same, or different, in all");
    cr_expect_str_eq(found.key, "spark.job.description");
    cr_expect_eq(found.split_groups, 3);
    const struct finding *note = explain(&found, &advice);
    cr_assert_not_null(note);
    cr_expect_str_eq(note->code, "runs_unrelated");
    cr_expect_not_null(strstr(note->message, "spark.job.description"));
    cr_expect_not_null(strstr(note->message, "3 stage graphs"));
}

Test(unrelated_runs, a_label_that_goes_with_the_graphs_is_proposed)
{
    for (size_t i = 0; i < RUNS; i++) {
        labels[i][0] = pair("job", i % 3 == 0 ? "x" : i % 3 == 1 ? "y" : "z");
        runs[i].n_spark_properties = 0;
    }
    struct unrelated_runs found = find(60);
    cr_expect_eq(found.split, SPLIT_BY_LABEL);
    cr_expect_str_eq(found.key, "job");
}

Test(unrelated_runs, where_nothing_tells_them_apart_names_are_proposed)
{
    struct advice advice;
    for (size_t i = 0; i < RUNS; i++)
        runs[i].n_labels = runs[i].n_spark_properties = 0;
    struct unrelated_runs found = find(60);
    cr_assert(found.found);
    cr_expect_eq(found.split, SPLIT_UNKNOWN);
    cr_expect_not_null(strstr(explain(&found, &advice)->message, "name rule"));
}

Test(unrelated_runs, what_is_predicted_well_belongs_together)
{
    struct advice advice;
    struct unrelated_runs found = find(UNRELATED_ERROR - 1);
    cr_expect_not(found.found);
    cr_expect_null(explain(&found, &advice));
    cr_expect_not(find((double)NAN).found);
}

Test(unrelated_runs, one_graph_that_varies_is_one_job)
{
    for (size_t i = 0; i < RUNS; i++)
        runs[i].n_stages = 2;
    cr_expect_not(find(128.9).found);
}

Test(unrelated_runs, without_stages_the_error_has_to_be_larger)
{
    for (size_t i = 0; i < RUNS; i++)
        runs[i].n_stages = 0;
    cr_expect_not(find(1.9 * UNRELATED_ERROR).found);
    cr_expect(find(2.1 * UNRELATED_ERROR).found);
}
