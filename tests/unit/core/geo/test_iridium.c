#include "core/geo/planners/iridium.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/geo/plan_make.h"
#include "geo_cases.h"

TestSuite(iridium, .init = cases_setup, .fini = cases_teardown);

static double longest_of(const struct iridium_site sites[], const int64_t tasks[], size_t n)
{
    double all = 0;
    double total = 0;
    double longest = 0;
    for (size_t x = 0; x < n; x++) {
        all += sites[x].bytes;
        total += (double)tasks[x];
    }
    for (size_t x = 0; x < n; x++) {
        double part = (double)tasks[x] / total;
        longest = fmax(longest, (1 - part) * sites[x].bytes / sites[x].up_bytes_per_s);
        longest = fmax(longest, part * (all - sites[x].bytes) / sites[x].down_bytes_per_s);
    }
    return longest;
}

/* All 100 bytes lie in the first, which has 4 of the 10 slots needed: 6 tasks take 60 bytes. */
Test(iridium, slots_decide_how_much_moves)
{
    struct iridium_site sites[] = {{100, 10, 10, 4, 0}, {0, 10, 10, 20, 0}};
    cr_expect_float_eq(iridium_divide(sites, 2, 10), 6, 1e-9);
    cr_expect_eq(sites[0].tasks, 4);
    cr_expect_eq(sites[1].tasks, 6);
}

/* 60 and 40 bytes; the second sends at 1 byte/s, so most tasks go there. With r of ten in the first
 * it sends 4 r s, takes in (10 - r) 6/10 s; the first sends (10 - r) 6/10 s, takes in 4 r/10 s:
 * r = 1 gives 5.4 (r = 2: 8). */
Test(iridium, a_slow_uplink_draws_tasks)
{
    struct iridium_site sites[] = {{60, 10, 10, 10, 0}, {40, 1, 10, 10, 0}};
    cr_expect_float_eq(iridium_divide(sites, 2, 10), 5.4, 1e-9);
    cr_expect_eq(sites[0].tasks, 1);
    cr_expect_eq(sites[1].tasks, 9);
}

/* Against every way to divide the tasks. */
Test(iridium, no_division_has_a_shorter_longest_transfer)
{
    struct rng rng = rng_make(34, 0);
    for (size_t k = 0; k < 2000; k++) {
        struct iridium_site sites[3];
        int64_t slots = 0;
        for (size_t x = 0; x < 3; x++) {
            sites[x] = (struct iridium_site){rng_uniform(&rng) < 0.2 ? 0 : 100 * rng_uniform(&rng),
                                             0.1 + rng_uniform(&rng), 0.1 + rng_uniform(&rng),
                                             (int64_t)(6 * rng_uniform(&rng)), 0};
            slots += sites[x].slots;
        }
        int64_t n = 1 + (int64_t)(8 * rng_uniform(&rng));
        n = n < slots ? n : slots;
        if (n == 0)
            continue;
        double found = iridium_divide(sites, 3, n);
        double best = HUGE_VAL;
        for (int64_t a = 0; a <= sites[0].slots && a <= n; a++)
            for (int64_t b = 0; b <= sites[1].slots && a + b <= n; b++)
                if (n - a - b <= sites[2].slots)
                    best = fmin(best, longest_of(sites, (int64_t[]){a, b, n - a - b}, 3));
        const int64_t tasks[] = {sites[0].tasks, sites[1].tasks, sites[2].tasks};
        cr_assert_eq(tasks[0] + tasks[1] + tasks[2], n);
        for (size_t x = 0; x < 3; x++)
            cr_assert(tasks[x] >= 0 && tasks[x] <= sites[x].slots);
        cr_assert_float_eq(longest_of(sites, tasks, 3), best, 1e-6 * best + 1e-9);
        cr_assert_float_eq(found, best, 1e-6 * best + 1e-9, "case %zu", k);
    }
}

/* Inputs in either cluster, slots for all: every task stays with its input, nothing moves, although
 * the second processes ten times as fast. */
Test(iridium, tasks_stay_with_their_input)
{
    struct geo_cluster clusters[] = {cluster(4, 0, fixed(10)), cluster(4, 0, fixed(100))};
    struct geo_link links[] = {{0, 1, fixed(10)}, {1, 0, fixed(10)}};
    const size_t first[] = {0};
    const size_t second[] = {1};
    struct geo_task tasks[] = {task(50, first, 1), task(50, second, 1), task(50, first, 1),
                               task(50, second, 1)};
    struct geo_job jobs[] = {job(200, tasks, 4)};
    const struct geo_parameters terms = geo_parameters_default(&geo_planner_iridium);
    struct geo_plan plan;
    cr_assert_eq(geo_plan_make(&(struct geo_problem){clusters, 2, links, 2, 1, jobs, 1, 1}, &terms,
                               NULL, NULL, &arena, &plan, NULL),
                 PV_OK);
    cr_assert_eq(plan.n_copies, 4);
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(plan.copies[i].cluster, i % 2);
    cr_expect_eq(plan.use[0].ingress_bytes_per_s + plan.use[1].ingress_bytes_per_s, 0);
}
