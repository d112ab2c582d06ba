#include "core/geo/plan_make.h"

#include <criterion/criterion.h>

#include "geo_cases.h"

TestSuite(spark, .init = cases_setup, .fini = cases_teardown);

static struct geo_plan plan_of(const struct geo_problem *problem)
{
    const struct geo_parameters terms = geo_parameters_default(&geo_planner_spark);
    struct geo_plan plan;
    struct pv_error err = {0};
    cr_assert_eq(geo_plan_make(problem, &terms, NULL, NULL, &arena, &plan, &err), PV_OK, "%s",
                 err.detail);
    return plan;
}

/* Five slots: one job runs a task already, the other gets what it lacks before they take turns. */
Test(spark, the_job_with_the_fewest_slots_is_next)
{
    struct geo_cluster clusters[] = {cluster(5, 0, fixed(10))};
    const struct geo_running copy[] = {{0, 1, 1}};
    struct geo_task tasks[] = {task(10, NULL, 0), task(10, NULL, 0), task(10, NULL, 0),
                               task(10, NULL, 0)};
    struct geo_job jobs[] = {job(40, tasks, 4), job(40, tasks, 4)};
    struct geo_task first[] = {tasks[0], tasks[1], tasks[2], tasks[3]};
    first[0].copies = copy;
    first[0].n_copies = 1;
    jobs[0].tasks = first;
    clusters[0].busy_slots = 1;
    struct geo_plan plan = plan_of(&(struct geo_problem){clusters, 1, NULL, 0, 1, jobs, 2, 1});
    cr_assert_eq(plan.n_copies, 4);
    const size_t order[] = {1, 0, 1, 0};
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(plan.copies[i].job, order[i]);
    cr_expect_eq(plan.n_waiting, 3);
    cr_expect_eq(plan.waiting[0].reason, GEO_NO_SLOT);
}

/* Its input's cluster is full: after 3 s it goes elsewhere, before that it waits. */
Test(spark, a_task_waits_for_a_slot_near_its_input)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(10)), cluster(4, 0, fixed(10)),
                                     cluster(2, 0, fixed(10))};
    struct geo_link links[] = {{0, 1, fixed(10)}, {0, 2, fixed(10)}};
    const size_t inputs[] = {0};
    struct geo_task tasks[] = {task(10, inputs, 1), task(10, inputs, 1), task(10, inputs, 1)};
    tasks[1].waited_s = 2.9;
    tasks[2].waited_s = 3;
    struct geo_job jobs[] = {job(30, tasks, 3)};
    struct geo_plan plan = plan_of(&(struct geo_problem){clusters, 3, links, 2, 1, jobs, 1, 1});
    cr_assert_eq(plan.n_copies, 2);
    cr_expect_eq(plan.copies[0].cluster, 0);
    cr_expect_eq(plan.copies[1].task, 2);
    cr_expect_eq(plan.copies[1].cluster, 1, "where most slots are idle");
    cr_assert_eq(plan.n_waiting, 1);
    cr_expect_eq(plan.waiting[0].task, 1);
    cr_expect_eq(plan.waiting[0].reason, GEO_LOCALITY);
    cr_expect_str_eq(geo_reason_name(plan.waiting[0].reason), "locality");
}

/* Three of four tasks done in 10 s at the median: one that runs for more than 15 s gets a copy. */
Test(spark, slow_tasks_of_a_nearly_done_stage_are_doubled)
{
    struct geo_cluster clusters[] = {cluster(4, 0, fixed(10)), cluster(1, 0, fixed(10)),
                                     cluster(1, 0, fixed(10))};
    struct geo_link links[] = {{2, 0, fixed(10)}, {2, 1, fixed(10)}};
    struct geo_running copy[] = {{0, 15.1, 1}};
    const size_t inputs[] = {2};
    struct geo_task tasks[] = {task(10, inputs, 1)};
    tasks[0].copies = copy;
    tasks[0].n_copies = 1;
    struct geo_job jobs[] = {job(10, tasks, 1)};
    jobs[0].stage_tasks = 4;
    jobs[0].done_tasks = 3;
    jobs[0].median_duration_s = 10;
    clusters[0].busy_slots = 1;
    const struct geo_problem problem = {clusters, 3, links, 2, 1, jobs, 1, 1};
    struct geo_plan plan = plan_of(&problem);
    cr_assert_eq(plan.n_copies, 1);
    cr_expect_eq(plan.copies[0].cluster, 2, "near its input");
    cr_expect_eq(plan.copies[0].round, 2);
    clusters[2].busy_slots = 1;
    plan = plan_of(&problem);
    cr_assert_eq(plan.n_copies, 1);
    cr_expect_eq(plan.copies[0].cluster, 1, "not where it runs, idle as that is");
    copy[0].elapsed_s = 15;
    cr_expect_eq(plan_of(&problem).n_copies, 0);
    copy[0].elapsed_s = 100;
    jobs[0].done_tasks = 2;
    cr_expect_eq(plan_of(&problem).n_copies, 0, "half of the stage is not enough");
    jobs[0].stage_tasks = 0;
    cr_expect_eq(plan_of(&problem).n_copies, 0, "nothing is known of the stage");
}
