#include "core/geo/system_load.h"

#include <criterion/criterion.h>
#include <math.h>

/* The paper's five rates, as shares of the heaviest, give its five choices. */
Test(geo_load, the_hint_is_kept)
{
    static const double hint[][2] = {
        {0.02, 0.8}, {0.05, 0.6}, {0.07, 0.6}, {0.11, 0.4}, {0.15, 0.2}};
    for (size_t i = 0; i < sizeof hint / sizeof *hint; i++)
        cr_expect_float_eq(geo_system_load_epsilon(hint[i][0] / 0.15), hint[i][1], 1e-12, "rate %g",
                           hint[i][0]);
}

Test(geo_load, beyond_the_hint_its_ends_hold)
{
    cr_expect_eq(geo_system_load_epsilon(0), 0.8);
    cr_expect_eq(geo_system_load_epsilon(1), 0.2);
    cr_expect_eq(geo_system_load_epsilon(7), 0.2);
    cr_expect_eq(geo_system_load_epsilon(HUGE_VAL), 0.2);
}

/* Half way between two of the rates, half way between their choices. */
Test(geo_load, between_are_straight_lines)
{
    cr_expect_float_eq(geo_system_load_epsilon(0.035 / 0.15), 0.7, 1e-12);
    cr_expect_float_eq(geo_system_load_epsilon(0.06 / 0.15), 0.6, 1e-12);
    cr_expect_float_eq(geo_system_load_epsilon(0.13 / 0.15), 0.3, 1e-12);
}

Test(geo_load, a_greater_load_never_raises_epsilon)
{
    double last = geo_system_load_epsilon(0);
    for (int i = 1; i <= 3000; i++) {
        double now = geo_system_load_epsilon((double)i / 2000);
        cr_assert(now <= last && now >= 0.2, "at %d", i);
        last = now;
    }
}

/* A task with a copy is among the busy slots already. */
Test(geo_load, busy_slots_and_tasks_that_run_nowhere_count)
{
    static const struct geo_cluster clusters[] = {{.slots = 6, .busy_slots = 2}, {.slots = 4}};
    static const struct geo_task tasks[] = {{.n_copies = 1}, {.n_copies = 0}, {.n_copies = 0}};
    static const struct geo_job jobs[] = {{.tasks = tasks, .n_tasks = 3}, {.n_tasks = 0}};
    const struct geo_problem problem = {
        .clusters = clusters, .n_clusters = 2, .jobs = jobs, .n_jobs = 2};
    struct geo_system_load load = geo_system_load_measure(&problem);
    cr_expect(load.slots == 10 && load.busy_slots == 2 && load.ready_tasks == 2);
    cr_expect_float_eq(load.load, 0.4, 1e-15);
}

Test(geo_load, without_a_slot_it_is_infinite)
{
    const struct geo_problem none = {.n_clusters = 0};
    cr_expect_eq(geo_system_load_measure(&none).load, HUGE_VAL);
}
