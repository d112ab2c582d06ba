/* What a copy plan may be misread for: shares beyond all slots, copies that insure against nothing. */
#include "core/geo/plan_explain.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "geo_cases.h"

TestSuite(plan_explain, .init = cases_setup, .fini = cases_teardown, .timeout = 20);

static struct geo_cluster clusters[2] = {{.slots = 12}, {.slots = 4}};
static const struct geo_problem problem = {.clusters = clusters, .n_clusters = 2};

static struct findings explain(const struct geo_plan *plan)
{
    struct findings findings = {.arena = &arena};
    geo_plan_explain(&problem, plan, &findings);
    return findings;
}

static double evidence(const struct finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->n_evidence; i++)
        if (strcmp(finding->evidence[i].name, name) == 0)
            return finding->evidence[i].value;
    return (double)NAN;
}

Test(plan_explain, shares_up_to_all_slots_are_no_news)
{
    struct geo_plan_share shares[] = {{.job = 0, .slots = 12}, {.job = 1, .slots = 4}};
    struct geo_plan plan = {.shares = shares, .n_shares = 2};
    cr_assert_eq(explain(&plan).n, 0);
    shares[1].slots = 5;
    struct findings found = explain(&plan);
    cr_assert_eq(found.n, 1);
    cr_assert_str_eq(found.items[0].code, "shares_exceed_slots");
    cr_assert_eq(evidence(&found.items[0], "shares"), 17);
    cr_assert_eq(evidence(&found.items[0], "slots"), 16);
}

/* Task 0.1 has three copies in cluster 0, which save 0.5 s and 1 s of it; task 1.0 one in each. */
Test(plan_explain, copies_beside_others_of_their_task_are_told)
{
    size_t same[] = {0, 0, 0};
    size_t apart[] = {0, 1};
    struct geo_plan_task tasks[] = {
        {.job = 0, .task = 1, .clusters = same, .n_clusters = 3, .duration_s = 19},
        {.job = 1, .task = 0, .clusters = apart, .n_clusters = 2, .duration_s = 10}};
    struct geo_plan_copy copies[] = {
        {.job = 0, .task = 1, .saved_s = (double)NAN},
        {.job = 1, .task = 0, .saved_s = (double)NAN},
        {.job = 1, .task = 0, .cluster = 1, .saved_s = 9},
        {.job = 0, .task = 1, .saved_s = 0.5},
        {.job = 0, .task = 1, .saved_s = 1},
    };
    struct geo_plan plan = {.copies = copies, .n_copies = 5, .tasks = tasks, .n_tasks = 2};
    struct findings found = explain(&plan);
    cr_assert_eq(found.n, 1);
    cr_assert_str_eq(found.items[0].code, "copies_share_a_cluster");
    cr_assert_eq(evidence(&found.items[0], "count"), 2);
    cr_assert_float_eq(evidence(&found.items[0], "saved_percent_most"), 5, 1e-12);
    cr_assert_not_null(strstr(found.items[0].message, "2 further copies go"));
    plan.n_copies = 4;
    cr_assert_not_null(strstr(explain(&plan).items[0].message, "1 further copy goes"));
    plan.n_copies = 3;
    cr_assert_eq(explain(&plan).n, 0);
}
