/* How many tasks wait and hold slots over time. */
#include <criterion/criterion.h>

#include "slots_cases.h"

enum { BINS = 8 };

/* Two map slots, one reduce slot; maps of 4, 2 and 2, then a reduce of 3, which is given its slot when
 * all of them have finished, at 4. */
Test(slots_observed, counts_by_hand)
{
    static const double expected[SLOTS_SERIES][7] = {[SLOTS_PENDING + SLOTS_MAP] = {1, 1},
                                                     [SLOTS_PENDING + SLOTS_REDUCE] = {1, 1, 1, 1},
                                                     [SLOTS_HELD + SLOTS_MAP] = {2, 2, 2, 2},
                                                     [SLOTS_HELD + SLOTS_REDUCE] = {[4] = 1, 1, 1}};
    struct slots_case one = {.cluster = {.slots = {2, 1}, .slow_start = 1},
                             .given = {{.maps = {4, 2, 2}, .reduces = {3}}},
                             .n = 1};
    const struct slots_terms terms = {.policy = slots_policies[SLOTS_FIFO]};
    struct slots_job_times times[1];
    struct occupancy occupancy;
    const struct slots_observer observer = {.occupancy = &occupancy};
    struct arena arena;
    double means[BINS];
    arena_init(&arena, 0);
    slots_case_prepare(&one, true);
    cr_assert(occupancy_init(&occupancy, SLOTS_SERIES, BINS, 0, &arena));
    cr_assert_eq(slots_simulate_observed(&one.cluster, one.jobs, 1, &terms, NULL, &observer, &arena,
                                         times, NULL),
                 PV_OK);
    cr_assert_eq(occupancy.width_s, 1);
    for (uint32_t s = 0; s < SLOTS_SERIES; s++) {
        cr_assert_eq(occupancy_means(&occupancy, s, times[0].finish_s, means), 7);
        for (int i = 0; i < 7; i++)
            cr_expect_float_eq(means[i], expected[s][i], 1e-12, "series %u, bin %d: %g", s, i,
                               means[i]);
    }
    arena_fini(&arena);
}
