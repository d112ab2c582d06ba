#include "core/geo/planners/dolly.h"

#include <criterion/criterion.h>

#include "core/geo/plan_make.h"
#include "geo_cases.h"

TestSuite(dolly, .init = cases_setup, .fini = cases_teardown);

static struct geo_plan plan_of(const struct geo_problem *problem,
                               const struct geo_parameters *parameters)
{
    struct geo_plan plan;
    struct pv_error err = {0};
    cr_assert_eq(geo_plan_make(problem, parameters, NULL, NULL, &arena, &plan, &err), PV_OK, "%s",
                 err.detail);
    return plan;
}

static struct geo_job job_of(size_t n)
{
    struct geo_task tasks[MOST];
    for (size_t i = 0; i < n; i++)
        tasks[i] = task(100, NULL, 0);
    return job(100.0 * (double)n, tasks, n);
}

/* p 0.1: 1 - (1 - 0.01)^10 = 0.096, 1 - (1 - 0.001)^10 = 0.00996; for 150 tasks 0.139 and 0.0149.
 */
Test(dolly, copies_follow_from_the_chance_that_a_job_straggles)
{
    cr_expect_eq(dolly_copies(0.1, 0.05, 1, 9), 2);
    cr_expect_eq(dolly_copies(0.1, 0.05, 10, 9), 3);
    cr_expect_eq(dolly_copies(0.1, 0.05, 150, 9), 4);
    cr_expect_eq(dolly_copies(0.1, 0.05, 150, 3), 3, "there are no more clusters");
}

/* 60 slots: one more copy is within 5% of them, twenty more are not. */
Test(dolly, clones_stay_within_the_budget)
{
    struct geo_cluster clusters[] = {cluster(20, 0.1, fixed(10)), cluster(20, 0.1, fixed(10)),
                                     cluster(20, 0.1, fixed(10))};
    struct geo_job jobs[] = {job_of(10), job_of(1)};
    const struct geo_problem problem = {clusters, 3, NULL, 0, 1, jobs, 2, 1};
    struct geo_parameters terms = geo_parameters_default(&geo_planner_dolly);
    struct geo_plan plan = plan_of(&problem, &terms);
    cr_assert_eq(plan.n_copies, 12);
    cr_expect_eq(plan.copies[11].job, 1);
    cr_expect_eq(plan.copies[11].round, 2);
    cr_expect(plan.copies[11].cluster != plan.copies[10].cluster);
    cr_assert(geo_parameters_set(&terms, "budget", 1));
    plan = plan_of(&problem, &terms);
    cr_expect_eq(plan.n_copies, 32, "three of each of ten, two of one");
    cr_expect_eq(plan.rounds, 3);
    cr_assert(geo_parameters_set(&terms, "utilization_max", 0.5));
    cr_expect_eq(plan_of(&problem, &terms).n_copies, 31, "the 31st slot is beyond a half");
    cr_assert(geo_parameters_set(&terms, "tasks_max", 9));
    cr_expect_eq(plan_of(&problem, &terms).n_copies, 12, "ten tasks are not a small job");
}

/* What runs twice already counts in the budget of 3 slots. */
Test(dolly, running_clones_count)
{
    struct geo_cluster clusters[] = {cluster(30, 0, fixed(10)), cluster(30, 0, fixed(10))};
    const struct geo_running copies[] = {{0, 1, 1}, {0, 1, 1}, {1, 1, 1}};
    struct geo_task cloned = task(100, NULL, 0);
    cloned.copies = copies;
    cloned.n_copies = 3;
    struct geo_job jobs[] = {job(100, &cloned, 1), job_of(1), job_of(1)};
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 3, 1};
    const struct geo_parameters terms = geo_parameters_default(&geo_planner_dolly);
    struct geo_plan plan = plan_of(&problem, &terms);
    cr_assert_eq(plan.n_copies, 3, "of the two new jobs only the first is cloned");
    cr_expect_eq(plan.copies[1].job, 1);
    cr_expect_eq(plan.copies[2].job, 2);
}

/* Ten clones, five slots in the other cluster: none is made, and the slots are there for others. */
Test(dolly, a_job_is_cloned_whole_or_not_at_all)
{
    struct geo_cluster clusters[] = {cluster(30, 0.1, fixed(10)), cluster(5, 0.1, fixed(10))};
    struct geo_job jobs[] = {job_of(10), job_of(2)};
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 2, 1};
    const struct geo_parameters terms = {&geo_planner_dolly, {0.05, 0.05, 1, 1, 150}};
    struct geo_plan plan = plan_of(&problem, &terms);
    cr_assert_eq(plan.n_copies, 14);
    for (size_t i = 0; i < 10; i++)
        cr_expect_eq(plan.tasks[i].n_clusters, 1);
    cr_expect_eq(plan.tasks[10].n_clusters, 2);
    cr_expect_eq(plan.tasks[11].n_clusters, 2);
    cr_expect_eq(plan.use[1].slots, 2);
}
