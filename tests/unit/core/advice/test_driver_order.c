#include <criterion/criterion.h>
#include <math.h>

#include "../history/sample_runs.h"
#include "core/advice/driver_order.h"
#include "core/deadline/job_from_run.h"

static const double one_task[] = {1.0};

static struct run_stage timed(int64_t id, double started_s, double duration_s)
{
    struct run_stage stage = stage_of_tasks(id, one_task, 1);
    stage.started_s = started_s;
    stage.duration_s = duration_s;
    return stage;
}

static struct edf_job with_driver_order(struct run_stage *stages, size_t n, struct arena *arena)
{
    struct run run = run_of_stages(stages, n, 1, 1, 1, 100.0, 0.0);
    struct edf_job job;
    cr_assert_eq(edf_job_from_run(&run, arena, &job, NULL), PV_OK);
    cr_assert_eq(driver_order_add(&run, arena, &job, NULL), PV_OK);
    return job;
}

/* Two stages at once, then one of a later job without parents: it waits for both. */
Test(driver_order, a_later_job_waits_for_the_one_before)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct run_stage stages[] = {timed(0, 1, 5), timed(1, 1, 6), timed(2, 7.5, 3), timed(3, 11, 1)};
    struct edf_job job = with_driver_order(stages, 4, &arena);
    cr_assert_eq(job.stages[0].n_parents, 0);
    cr_assert_eq(job.stages[1].n_parents, 0);
    cr_assert_eq(job.stages[2].n_parents, 2);
    cr_assert_eq(job.stages[3].n_parents, 1); /* the one before waited for the rest */
    cr_assert_eq(job.stages[3].parents[0], 2);
    arena_fini(&arena);
}

/* Where the parents explain the instant nothing is added; without instants neither. */
Test(driver_order, parents_suffice)
{
    struct arena arena;
    arena_init(&arena, 0);
    int64_t parent = 0;
    struct run_stage stages[] = {timed(0, 0, 5), timed(1, 0, 2), timed(2, 5.001, 3)};
    stages[2].parents = &parent;
    stages[2].n_parents = 1;
    struct edf_job job = with_driver_order(stages, 3, &arena);
    cr_assert_eq(job.stages[2].n_parents, 1);
    stages[1].started_s = (double)NAN;
    stages[2].started_s = 9.0;
    job = with_driver_order(stages, 3, &arena);
    cr_assert_eq(job.stages[2].n_parents, 1);
    arena_fini(&arena);
}

/* A stage that is its own parent is in no order: nothing is added, not even for those before it. */
Test(driver_order, a_stage_that_waits_for_itself_is_left_alone)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct run_stage stages[] = {timed(0, 0, 5), timed(1, 6, 2), timed(2, 9, 3)};
    struct run run = run_of_stages(stages, 3, 1, 1, 1, 100.0, 0.0);
    const size_t itself = 2;
    struct edf_job job;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    struct edf_stage with[] = {job.stages[0], job.stages[1], job.stages[2]};
    job.stages = with;
    cr_assert_eq(driver_order_add(&run, &arena, &job, NULL), PV_OK);
    cr_expect_eq(job.stages[1].n_parents, 1);
    with[2].parents = &itself;
    with[2].n_parents = 1;
    job.stages = with;
    cr_assert_eq(driver_order_add(&run, &arena, &job, NULL), PV_OK);
    cr_expect_eq(job.stages, with);
    cr_expect_eq(job.stages[1].n_parents, 0);
    arena_fini(&arena);
}

/* A thousand stages that a thousand others waited for: each waits for the 64 that completed last. */
Test(driver_order, many_at_once_make_few_edges)
{
    enum { EACH = 1000 };
    struct arena arena;
    arena_init(&arena, 0);
    struct run_stage *stages = arena_array(&arena, (size_t)2 * EACH, sizeof *stages);
    for (int64_t i = 0; i < EACH; i++) {
        stages[i] = timed(i, 0, 5 + (double)(i * 7 % EACH) / EACH);
        stages[EACH + i] = timed(EACH + i, 7, 1);
    }
    struct edf_job job = with_driver_order(stages, (size_t)2 * EACH, &arena);
    for (size_t s = EACH; s < (size_t)2 * EACH; s++) {
        cr_assert_eq(job.stages[s].n_parents, 64);
        for (size_t p = 0; p < 64; p++)
            cr_assert_geq(stages[job.stages[s].parents[p]].duration_s, 5.936);
    }
    arena_fini(&arena);
}

/* Times without any stage: before the first, between the second and the third and fourth, which were
 * submitted together, and between these and the last. */
Test(driver_order, gaps_are_times_in_which_no_stage_was_active)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct run_stage stages[] = {timed(0, 4, 5), timed(1, 6, 6), timed(2, 20, 3), timed(3, 20, 9),
                                 timed(4, 30, 1)};
    struct run run = run_of_stages(stages, 5, 1, 1, 1, 100.0, 0.0);
    struct edf_job job;
    double initialization_s, between_s, delays_s[5] = {0};
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(
        driver_gaps_find(&run, &job, &arena, &initialization_s, &between_s, delays_s, NULL), PV_OK);
    static const double want_s[] = {0, 0, 8, 8, 1};
    cr_assert_float_eq(initialization_s, 4.0, 1e-12);
    cr_assert_float_eq(between_s, 9.0, 1e-12);
    for (size_t s = 0; s < 5; s++)
        cr_assert_float_eq(delays_s[s], want_s[s], 1e-12);
    stages[2].started_s = (double)NAN;
    run.initialization_s = 3.0;
    double none_s[5] = {0};
    cr_assert_eq(driver_gaps_find(&run, &job, &arena, &initialization_s, &between_s, none_s, NULL),
                 PV_OK);
    cr_assert_float_eq(initialization_s, 3.0, 1e-12);
    cr_assert_float_eq(between_s, 0.0, 1e-12);
    arena_fini(&arena);
}

/* A millisecond and a half is the rounding of instants, and no gap. */
Test(driver_order, stages_that_follow_at_once_leave_no_gap)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct run_stage stages[] = {timed(0, 0, 5), timed(1, 5.001, 1), timed(2, 6, 1)};
    struct run run = run_of_stages(stages, 3, 1, 1, 1, 100.0, 0.0);
    struct edf_job job;
    double initialization_s, between_s, delays_s[3] = {0};
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(
        driver_gaps_find(&run, &job, &arena, &initialization_s, &between_s, delays_s, NULL), PV_OK);
    cr_expect_float_eq(between_s, 0, 0);
    for (size_t s = 0; s < 3; s++)
        cr_expect_float_eq(delays_s[s], 0, 0);
    arena_fini(&arena);
}
