/* What IPSO takes from the stages of a run: each measure by hand, and the busiest core against a
 * plain list schedule. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"
#include "core/history/run_measures.h"
#include "sample_runs.h"

static struct run_measures measure(const struct run *run)
{
    struct arena arena;
    struct run_measures measures;
    arena_init(&arena, 0);
    cr_assert_eq(run_measure(run, &arena, &measures, NULL), PV_OK);
    cr_assert_eq(arena.used, 0, "scratch is back at its mark");
    arena_fini(&arena);
    return measures;
}

static struct run_stage timed(struct run_stage stage, double duration_s, double started_s)
{
    stage.duration_s = duration_s;
    stage.started_s = started_s;
    return stage;
}

/* Five tasks on two cores go 4 | 1, then 1+2, then 3+3 beside 4, then 4+5: the busiest has 9. */
Test(run_measures, by_hand)
{
    static const double tasks[] = {4, 1, 2, 3, 5};
    static const double more[] = {6, 6};
    struct run_stage stages[] = {timed(stage_of_tasks(0, tasks, 5), 10, 2),
                                 timed(stage_of_tasks(1, more, 2), 6.5, 15)};
    struct run run = run_of_stages(stages, 2, 5, 1, 2, 25, 2);
    struct run_measures m = measure(&run);
    cr_expect_float_eq(m.parallel_s, 27, 1e-12);
    cr_expect_float_eq(m.max_task_s, 9 + 6, 1e-12);
    cr_expect_float_eq(m.induced_s, 1 + 0.5, 1e-12);
    cr_expect_float_eq(m.serial_s, 25 - 2 - 16.5, 1e-12);
}

/* Stages side by side count once as time in which a stage runs. */
Test(run_measures, stages_side_by_side)
{
    static const double tasks[] = {4, 4};
    struct run_stage stages[] = {timed(stage_of_tasks(0, tasks, 2), 4, 0),
                                 timed(stage_of_tasks(1, tasks, 2), 4, 2),
                                 timed(stage_of_tasks(2, tasks, 2), 4, 9)};
    struct run run = run_of_stages(stages, 3, 2, 1, 2, 15, 0);
    cr_expect_float_eq(measure(&run).serial_s, 15 - 6 - 4, 1e-12);
    stages[1].started_s = (double)NAN; /* then one after another is all that can be said */
    cr_expect_float_eq(measure(&run).serial_s, 15 - 12, 1e-12);
    run.from_log = true;
    run.stage_time_s = 11;
    cr_expect_float_eq(measure(&run).serial_s, 4, 1e-12);
}

Test(run_measures, means_go_in_whole_waves_and_skipped_stages_nowhere)
{
    static const double tasks[] = {100};
    struct run_stage mean = stage_of_tasks(0, NULL, 0);
    mean.n_tasks = 5;
    mean.task_duration_s = 3;
    mean.task_time_s = 15;
    struct run_stage skipped = timed(stage_of_tasks(1, tasks, 1), 100, 0);
    skipped.skipped = true;
    struct run_stage stages[] = {timed(mean, 10, 0), skipped};
    struct run run = run_of_stages(stages, 2, 5, 2, 1, 12, 0);
    struct run_measures m = measure(&run);
    cr_expect_float_eq(m.parallel_s, 15, 1e-12);
    cr_expect_float_eq(m.max_task_s, 9, 1e-12);
    cr_expect_float_eq(m.induced_s, 1, 1e-12);
    cr_expect_float_eq(m.serial_s, 2, 1e-12);
}

/* What is not known stays unknown, and nothing is below 0. */
Test(run_measures, unknown_stays_unknown)
{
    static const double tasks[] = {4, 4, 4};
    struct run_stage stages[] = {timed(stage_of_tasks(0, tasks, 3), 4, 0)};
    struct run run = run_of_stages(stages, 1, 3, 1, 2, 3, 0);
    struct run_measures m = measure(&run); /* the stage is shorter than its busiest core */
    cr_expect_eq(m.induced_s, 0);
    cr_expect_eq(m.serial_s, 0);
    run.cores_per_executor = RUN_UNKNOWN;
    m = measure(&run);
    cr_expect_float_eq(m.parallel_s, 12, 1e-12);
    cr_expect(isnan(m.max_task_s) && isnan(m.induced_s));
    run.initialization_s = (double)NAN;
    cr_expect(isnan(measure(&run).serial_s));
    run.n_stages = 0;
    m = measure(&run);
    cr_expect(isnan(m.parallel_s) && isnan(m.max_task_s) && isnan(m.induced_s) &&
              isnan(m.serial_s));
}

/* Each task to the core that is free first, looked for by going over all of them. */
static double deal_slowly(const double tasks[], size_t n, size_t cores)
{
    double free_s[64] = {0};
    double busiest = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        for (size_t c = 1; c < cores; c++)
            if (free_s[c] < free_s[first])
                first = c;
        free_s[first] += tasks[i];
        busiest = fmax(busiest, free_s[first]);
    }
    return busiest;
}

Test(run_measures, the_busiest_core_is_that_of_a_list_schedule)
{
    struct rng rng = rng_make(31, 0);
    for (size_t round = 0; round < 100; round++) {
        double tasks[200];
        size_t n = 1 + (size_t)(rng_uniform(&rng) * 199);
        size_t cores = 1 + (size_t)(rng_uniform(&rng) * 63);
        for (size_t i = 0; i < n; i++)
            tasks[i] = rng_lognormal(&rng, 5, 1);
        struct run_stage stages[] = {timed(stage_of_tasks(0, tasks, n), 1e6, 0)};
        struct run run = run_of_stages(stages, 1, 8, (int64_t)cores, 1, 1e6, 0);
        struct run_measures m = measure(&run);
        cr_expect_float_eq(m.max_task_s, deal_slowly(tasks, n, cores), 1e-9);
        cr_expect_geq(m.max_task_s * (double)cores, m.parallel_s * (1 - 1e-12));
    }
}

/* Two executors of 4 cores, 2 CPUs a task: 4 slots, so that 5 tasks of 3 s take two waves. */
Test(run_measures, tasks_that_take_several_cores_have_fewer_slots)
{
    static const double tasks[] = {3, 3, 3, 3, 3};
    struct run_resources profile = {0, 2, 4, RUN_UNKNOWN, 2, {NULL, 0}, RUN_UNKNOWN, (double)NAN};
    struct run_stage stage = timed(stage_of_tasks(0, tasks, 5), 6, 2);
    struct run run = run_of_stages(&stage, 1, 5, 2, 4, 9, 2);
    cr_expect_float_eq(measure(&run).max_task_s, 3, 1e-12);
    run.resources = &profile;
    run.n_resources = 1;
    cr_expect_float_eq(measure(&run).max_task_s, 6, 1e-12);
    cr_expect_float_eq(measure(&run).induced_s, 0, 1e-12);
}
