#include "core/geo/planners/flutter.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/geo/plan_make.h"
#include "geo_cases.h"

TestSuite(flutter, .init = cases_setup, .fini = cases_teardown);

static struct geo_plan plan_of(const struct geo_problem *problem)
{
    const struct geo_parameters terms = geo_parameters_default(&geo_planner_flutter);
    struct geo_plan plan;
    struct pv_error err = {0};
    cr_assert_eq(geo_plan_make(problem, &terms, NULL, NULL, &arena, &plan, &err), PV_OK, "%s",
                 err.detail);
    return plan;
}

/* Both want to stay with their input, where one slot is idle. The large one would be 20 s on the
 * way, the small one 8: the small one goes. That it goes to the far slower cluster is not seen. */
Test(flutter, the_stage_ends_soonest)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(1000)), cluster(1, 0, fixed(1))};
    struct geo_link links[] = {{0, 1, fixed(5)}};
    const size_t home[] = {0};
    struct geo_job jobs[] = {
        job(140, (struct geo_task[]){task(40, home, 1), task(100, home, 1)}, 2)};
    struct geo_plan plan = plan_of(&(struct geo_problem){clusters, 2, links, 1, 1, jobs, 1, 1});
    cr_assert_eq(plan.n_copies, 2);
    cr_expect_eq(plan.copies[0].cluster, 1);
    cr_expect_eq(plan.copies[1].cluster, 0);
    cr_expect_eq(plan.copies[0].rate_bytes_per_s, 1, "what is told of copies knows the clusters");
    cr_expect_eq(plan.n_shares, 0);
    cr_expect_eq(plan.rounds, 1);
}

/* Inputs come at once: the longest transfer counts, not the mean speed. 5 bytes each: at 10 and
 * 1 bytes/s it is 5 s, at 4 and 4 it is 1.25 s. */
Test(flutter, the_longest_transfer_counts)
{
    struct geo_cluster clusters[] = {cluster(0, 0, fixed(9)), cluster(0, 0, fixed(9)),
                                     cluster(1, 0, fixed(9)), cluster(1, 0, fixed(9))};
    struct geo_link links[] = {
        {0, 2, fixed(10)}, {1, 2, fixed(1)}, {0, 3, fixed(4)}, {1, 3, fixed(4)}};
    const size_t inputs[] = {0, 1};
    struct geo_job jobs[] = {job(10, (struct geo_task[]){task(10, inputs, 2)}, 1)};
    struct geo_plan plan = plan_of(&(struct geo_problem){clusters, 4, links, 4, 1, jobs, 1, 1});
    cr_assert_eq(plan.n_copies, 1);
    cr_expect_eq(plan.copies[0].cluster, 3);
}

/* Of costs: 100 bytes at the mean of 10 and 30 bytes/s, and 50 each over 5 bytes/s. */
Test(flutter, a_cost_is_transfer_and_execution)
{
    struct geo_cluster clusters[] = {cluster(1, 0, fixed(10)), cluster(1, 0, fixed(30))};
    struct geo_link links[] = {{0, 1, fixed(5)}};
    const size_t inputs[] = {0, 1};
    struct geo_job jobs[] = {job(100, (struct geo_task[]){task(100, inputs, 2)}, 1)};
    const struct geo_problem problem = {clusters, 2, links, 1, 1, jobs, 1, 1};
    const struct geo_parameters terms = geo_parameters_default(&geo_planner_flutter);
    struct allocation allocation = {
        .problem = &problem, .parameters = terms.value, .arena = &arena};
    struct placement placement;
    cr_assert_eq(allocation_open(&allocation, NULL), PV_OK);
    cr_assert(flutter_make(&placement, &allocation));
    cr_expect_float_eq(placement_cost(&placement, 0, 0, 1), 100.0 / 20 + 50.0 / 5, 1e-12);
    cr_expect_eq(placement_cost(&placement, 0, 0, 0), HUGE_VAL, "no link leads there");
}

/* The near cluster's gate takes one transfer; the other task goes where it may, or waits. */
Test(flutter, gates_hold_although_it_does_not_see_them)
{
    struct geo_cluster clusters[] = {cluster(0, 0, fixed(9)), cluster(2, 0, fixed(9)),
                                     cluster(1, 0, fixed(9))};
    struct geo_link links[] = {{0, 1, fixed(4)}, {0, 2, fixed(2)}};
    const size_t remote[] = {0};
    struct geo_task tasks[] = {task(10, remote, 1), task(10, remote, 1), task(10, remote, 1)};
    struct geo_job jobs[] = {job(30, tasks, 3)};
    jobs[0].n_tasks = 2;
    clusters[1].ingress_bytes_per_s = 5;
    const struct geo_problem problem = {clusters, 3, links, 2, 1, jobs, 1, 1};
    struct geo_plan plan = plan_of(&problem);
    cr_assert_eq(plan.n_copies, 2);
    cr_expect_eq(plan.copies[0].cluster, 1);
    cr_expect_eq(plan.copies[1].cluster, 2);
    jobs[0].n_tasks = 3;
    plan = plan_of(&problem);
    cr_assert_eq(plan.n_waiting, 1);
    cr_expect_eq(plan.waiting[0].reason, GEO_BANDWIDTH);
    clusters[1].slots = 1;
    plan = plan_of(&problem);
    cr_assert_eq(plan.n_waiting, 1);
    cr_expect_eq(plan.waiting[0].reason, GEO_NO_SLOT);
}

/* Against every placement of a stage's tasks: no smaller longest time. */
Test(flutter, the_longest_time_is_the_least_of_all_placements)
{
    struct rng rng = rng_make(33, 0);
    for (size_t k = 0; k < 200; k++) {
        struct drawn *d = arena_calloc(&arena, 1, sizeof *d);
        do
            draw_problem(&rng, d);
        while (d->problem.n_clusters > 4);
        d->problem.n_jobs = 1;
        d->jobs[0].n_tasks = d->jobs[0].n_tasks < 5 ? d->jobs[0].n_tasks : 5;
        size_t n = d->jobs[0].n_tasks;
        size_t clusters = d->problem.n_clusters;
        for (size_t m = 0; m < clusters; m++) {
            d->clusters[m].ingress_bytes_per_s = d->clusters[m].egress_bytes_per_s = HUGE_VAL;
            d->clusters[m].slots = d->clusters[m].busy_slots + 1 + (int64_t)(m == 0 ? n : 0);
        }
        struct geo_plan plan = plan_of(&d->problem);
        const struct geo_parameters terms = geo_parameters_default(&geo_planner_flutter);
        struct allocation allocation = {
            .problem = &d->problem, .parameters = terms.value, .arena = &arena};
        struct placement placement;
        cr_assert_eq(allocation_open(&allocation, NULL), PV_OK);
        cr_assert(flutter_make(&placement, &allocation));
        double longest = 0;
        cr_assert_eq(plan.n_copies, n);
        for (size_t i = 0; i < n; i++)
            longest = fmax(longest, placement_cost(&placement, 0, plan.copies[i].task,
                                                   plan.copies[i].cluster));
        double best = HUGE_VAL;
        size_t all = 1;
        for (size_t i = 0; i < n; i++)
            all *= clusters;
        for (size_t code = 0; code < all; code++) {
            int64_t left[MOST];
            double most = 0;
            size_t rest = code;
            for (size_t m = 0; m < clusters; m++)
                left[m] = d->clusters[m].slots - d->clusters[m].busy_slots;
            for (size_t i = 0; i < n; i++, rest /= clusters) {
                bool fits = left[rest % clusters]-- > 0;
                double cost = placement_cost(&placement, 0, i, rest % clusters);
                most = fits ? fmax(most, cost) : HUGE_VAL;
            }
            best = fmin(best, most);
        }
        cr_assert_float_eq(longest, best, 1e-12 * best, "case %zu: %g, not %g", k, longest, best);
    }
}
