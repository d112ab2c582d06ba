#include "core/geo/plan_make.h"

#include <criterion/criterion.h>
#include <math.h>

#include "geo_cases.h"

TestSuite(mantri, .init = cases_setup, .fini = cases_teardown);

static struct geo_plan plan_of(const struct geo_problem *problem,
                               const struct geo_parameters *parameters)
{
    struct geo_parameters all = geo_parameters_default(&geo_planner_mantri);
    struct geo_plan plan;
    struct pv_error err = {0};
    if (parameters)
        all = *parameters;
    cr_assert_eq(geo_plan_make(problem, &all, NULL, NULL, &arena, &plan, &err), PV_OK, "%s",
                 err.detail);
    return plan;
}

static struct geo_task running(double size, const struct geo_running copies[], size_t n)
{
    struct geo_task made = task(size, NULL, 0);
    made.copies = copies;
    made.n_copies = n;
    return made;
}

/* 10 of 100 bytes in 50 s: 450 s to go, where a new copy takes 10. More than 3 x 10 s are won. */
Test(mantri, a_slow_task_is_doubled_when_slots_are_left)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(10)), cluster(1, 0, fixed(10))};
    const struct geo_running slow[] = {{0, 50, 10}};
    struct geo_task tasks[] = {running(100, slow, 1)};
    struct geo_job jobs[] = {job(100, tasks, 1)};
    clusters[0].busy_slots = 1;
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 1, 1};
    struct geo_plan plan = plan_of(&problem, NULL);
    cr_assert_eq(plan.n_copies, 1);
    cr_expect_eq(plan.copies[0].cluster, 1);
    cr_expect_eq(plan.copies[0].round, 2);
    cr_expect_eq(plan.n_cancellations, 0);
    cr_expect_eq(plan.tasks[0].n_clusters, 2);
}

/* 39.9 s to go, 10 s for a new copy: 29.9 s are not enough; 40.1 s to go are. */
Test(mantri, doubling_must_win_time)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(10)), cluster(1, 0, fixed(10))};
    struct geo_running copy[] = {{0, 39.9, 50}};
    struct geo_task tasks[] = {running(100, copy, 1)};
    struct geo_job jobs[] = {job(100, tasks, 1)};
    clusters[0].busy_slots = 1;
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 1, 1};
    cr_expect_eq(plan_of(&problem, NULL).n_copies, 0);
    copy[0].elapsed_s = 40.1;
    cr_expect_eq(plan_of(&problem, NULL).n_copies, 1);
}

/* Two tasks wait for one slot: the slow one moves there, its own slot goes to one that waits. */
Test(mantri, a_slow_task_is_restarted_when_slots_are_scarce)
{
    struct geo_cluster clusters[] = {cluster(1, 0.1, fixed(10)), cluster(1, 0.2, fixed(10))};
    const struct geo_running slow[] = {{0, 50, 10}};
    struct geo_task tasks[] = {running(100, slow, 1), task(100, NULL, 0), task(100, NULL, 0)};
    struct geo_job jobs[] = {job(300, tasks, 3)};
    clusters[0].busy_slots = 1;
    struct geo_plan plan =
        plan_of(&(struct geo_problem){clusters, 2, NULL, 0, 1, jobs, 1, 1}, NULL);
    cr_assert_eq(plan.n_cancellations, 1);
    cr_expect_eq(plan.cancellations[0].task, 0);
    cr_expect_eq(plan.cancellations[0].cluster, 0);
    cr_assert_eq(plan.n_copies, 2);
    cr_expect_eq(plan.copies[0].task, 0);
    cr_expect_eq(plan.copies[0].cluster, 1);
    cr_expect(isnan(plan.copies[0].saved_s), "the first copy that it has now");
    cr_expect_eq(plan.copies[1].task, 1);
    cr_expect_eq(plan.copies[1].cluster, 0, "the slot that was given up");
    cr_expect_eq(plan.tasks[0].n_clusters, 1);
    cr_expect_float_eq(plan.tasks[0].exemption_probability, pow(0.8, 10), 1e-15);
    cr_assert_eq(plan.n_waiting, 1);
    cr_expect_eq(plan.waiting[0].reason, GEO_NO_SLOT);
}

/*
 * Speeds of 1 or 100: a new copy of 100 bytes takes 100 s or 1 s, 50.5 on the average. 55 s to go
 * are less than 60.5, so it is not restarted; half of 55 s suffices in half of the cases.
 */
Test(mantri, doubling_must_save_slots_when_they_are_scarce)
{
    const struct speeds *wild = two(1, 0.5, 100);
    struct geo_cluster clusters[] = {cluster(1, 0, wild), cluster(1, 0, wild)};
    const struct geo_running copy[] = {{0, 55, 50}};
    struct geo_task tasks[] = {running(100, copy, 1), task(100, NULL, 0), task(100, NULL, 0)};
    struct geo_job jobs[] = {job(300, tasks, 3)};
    clusters[0].busy_slots = 1;
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 1, 1};
    struct geo_plan plan = plan_of(&problem, NULL);
    cr_expect_eq(plan.n_cancellations, 0);
    cr_assert_eq(plan.n_copies, 1);
    cr_expect_eq(plan.copies[0].task, 0);
    struct geo_parameters strict = geo_parameters_default(&geo_planner_mantri);
    cr_assert(geo_parameters_set(&strict, "duplicate_probability", 0.6));
    plan = plan_of(&problem, &strict);
    cr_assert_eq(plan.n_copies, 1);
    cr_expect_eq(plan.copies[0].task, 1, "a task that waits has the slot");
}

/* Three copies are the most; what the fastest of them needs is what remains. */
Test(mantri, copies_are_limited_and_the_fastest_counts)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(10)), cluster(1, 0, fixed(10)),
                                     cluster(1, 0, fixed(10)), cluster(1, 0, fixed(10))};
    struct geo_running copies[] = {{0, 50, 10}, {1, 50, 10}, {2, 50, 10}};
    struct geo_task tasks[] = {running(100, copies, 3)};
    struct geo_job jobs[] = {job(100, tasks, 1)};
    for (size_t m = 0; m < 3; m++)
        clusters[m].busy_slots = 1;
    const struct geo_problem problem = {clusters, 4, NULL, 0, 1, jobs, 1, 1};
    cr_expect_eq(plan_of(&problem, NULL).n_copies, 0);
    tasks[0].n_copies = 2;
    jobs[0] = job(100, tasks, 1);
    cr_expect_eq(plan_of(&problem, NULL).n_copies, 1);
    copies[1].processed_bytes = 90;
    cr_expect_eq(plan_of(&problem, NULL).n_copies, 0, "one of them is nearly through");
}

/* Nothing processed: Flutter's estimate of 10 s counts. Nothing told: it is left alone. */
Test(mantri, without_progress_the_estimate_counts)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(10)), cluster(1, 0, fixed(10))};
    struct geo_running copy[] = {{0, 500, 0}};
    struct geo_task tasks[] = {running(100, copy, 1)};
    struct geo_job jobs[] = {job(100, tasks, 1)};
    clusters[0].busy_slots = 1;
    const struct geo_problem problem = {clusters, 2, NULL, 0, 1, jobs, 1, 1};
    cr_expect_eq(plan_of(&problem, NULL).n_copies, 0);
    copy[0] = (struct geo_running){0, (double)NAN, (double)NAN};
    cr_expect_eq(plan_of(&problem, NULL).n_copies, 0);
}
