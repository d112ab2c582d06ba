#include "core/deadline/job_from_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(job_from_run, .init = set_up, .fini = tear_down);

static struct run run_of(struct run_stage *stages, size_t n)
{
    return (struct run){.executors = RUN_UNKNOWN,
                        .cores_per_executor = RUN_UNKNOWN,
                        .duration_s = (double)NAN,
                        .stages = stages,
                        .n_stages = n,
                        .has_stages = true};
}

/* Durations one by one, a mean, a sum alone, and no tasks: each as the run knows it. */
Test(job_from_run, takes_task_times_as_they_are_known)
{
    const double each[] = {1, 2, 6};
    struct run_stage stages[] = {
        {.id = 2, .n_tasks = 3, .task_durations_s = each, .task_duration_s = 3},
        {.id = 3, .n_tasks = 4, .task_duration_s = 2.5, .task_time_s = (double)NAN},
        {.id = 5, .n_tasks = 4, .task_duration_s = (double)NAN, .task_time_s = 6},
        {.id = 9, .n_tasks = 0, .task_duration_s = (double)NAN, .task_time_s = (double)NAN}};
    struct run run = run_of(stages, 4);
    struct edf_job job = {.release_s = -4, .deadline_s = 7};
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.n_stages, 4);
    cr_assert_eq(job.stages[0].task_durations_s, each);
    cr_assert_eq(job.stages[0].tasks, 3);
    cr_assert_null(job.stages[1].task_durations_s);
    cr_assert_eq(job.stages[1].task_duration_s, 2.5);
    cr_assert_eq(job.stages[2].task_duration_s, 1.5);
    cr_assert_eq(job.stages[3].tasks, 0);
    cr_assert_eq(job.stages[3].id, 9);
    cr_assert_eq(job.release_s, -4, "the caller's");
    cr_assert_eq(job.deadline_s, 7, "the caller's");
}

static bool has_parent(const struct edf_stage *stage, size_t parent)
{
    for (size_t i = 0; i < stage->n_parents; i++)
        if (stage->parents[i] == parent)
            return true;
    return false;
}

/* Parents with ids above and below all stages, of which nothing is known. The stages are in memory of
 * their exact size: sanitizers see a look behind the last one. */
Test(job_from_run, unknown_parents_are_passed_over)
{
    const int64_t unknown[] = {7, -1, 1};
    struct run_stage *stages = calloc(3, sizeof *stages);
    cr_assert_not_null(stages);
    for (int64_t i = 0; i < 3; i++)
        stages[i] = (struct run_stage){.id = 2 * i, .n_tasks = 1};
    stages[2].parents = unknown;
    stages[2].n_parents = 3;
    struct run run = run_of(stages, 3);
    struct edf_job job = {0};
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.n_stages, 3);
    cr_assert_eq(job.stages[2].n_parents, 0);
    free(stages);
}

/* 1 and 4 were skipped, 99 was never described. 7 hangs on 4 and 1, hence on what 1 and 4 hang on:
 * 0 by two ways, once, and 3. */
Test(job_from_run, skipped_stages_hand_on_their_parents)
{
    const int64_t zero[] = {0};
    const int64_t one_three[] = {1, 3, 99};
    const int64_t four_one[] = {4, 1};
    struct run_stage stages[] = {
        {.id = 0, .n_tasks = 1},
        {.id = 1, .skipped = true, .parents = zero, .n_parents = 1, .n_tasks = RUN_UNKNOWN},
        {.id = 3, .n_tasks = 1, .parents = zero, .n_parents = 1},
        {.id = 4, .skipped = true, .parents = one_three, .n_parents = 3},
        {.id = 7, .n_tasks = 1, .parents = four_one, .n_parents = 2}};
    struct run run = run_of(stages, 5);
    struct edf_job job = {0};
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.n_stages, 3);
    cr_assert_eq(job.stages[0].n_parents, 0);
    cr_assert_eq(job.stages[1].n_parents, 1);
    cr_assert(has_parent(&job.stages[1], 0));
    cr_assert_eq(job.stages[2].n_parents, 2);
    cr_assert(has_parent(&job.stages[2], 0) && has_parent(&job.stages[2], 1));
}

/* 7 is above every id of the run, -1 below, and 1 between two: no such stage is a parent. The array
 * ends with its last stage, so that a sanitizer sees a look behind it. */
Test(job_from_run, parents_that_were_never_described_are_left_out)
{
    const int64_t strangers[] = {7, -1, 1};
    struct run_stage *stages = calloc(3, sizeof *stages);
    for (int64_t s = 0; s < 3; s++)
        stages[s] =
            (struct run_stage){.id = 2 * s, .n_tasks = 1, .parents = strangers, .n_parents = 3};
    struct run run = run_of(stages, 3);
    struct edf_job job = {0};
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.n_stages, 3);
    for (size_t s = 0; s < 3; s++)
        cr_assert_eq(job.stages[s].n_parents, 0, "stage %zu", s);
    free(stages);
}

/* 20 s on 2 x 4 cores with 100 s of tasks, 10 of them: (20 - 100/8) / (10/8) = 6 s a task. With the
 * overhead the replay takes as long as the run where the cores stay busy; a run shorter than its
 * work has none; one that does not tell its cores has none. */
Test(job_from_run, overhead_is_what_the_run_took_beyond_its_tasks)
{
    struct run_stage stages[] = {{.id = 0, .n_tasks = 10, .task_duration_s = 10}};
    struct run run = run_of(stages, 1);
    struct edf_job job = {0};
    run.executors = 2;
    run.cores_per_executor = 4;
    run.duration_s = 20;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_float_eq(job.overhead_per_task_s, 6, 1e-12);
    run.executors = 1;
    run.cores_per_executor = 8;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_float_eq(job.overhead_per_task_s, 6, 1e-12, "of one executor");
    run.executors = 8;
    run.cores_per_executor = 1;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_float_eq(job.overhead_per_task_s, 6, 1e-12, "of one core each");
    run.duration_s = 12;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.overhead_per_task_s, 0);
    run.duration_s = 20;
    run.executors = RUN_UNKNOWN;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.overhead_per_task_s, 0);
    run.executors = 8;
    run.cores_per_executor = RUN_UNKNOWN;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_OK);
    cr_assert_eq(job.overhead_per_task_s, 0);
}

/* What is needed and not known is PV_E_TOO_FEW and says which stage; the job stays as it was. */
Test(job_from_run, unknown_task_times_are_refused)
{
    struct run_stage stages[] = {
        {.id = 0, .n_tasks = 10, .task_duration_s = 10},
        {.id = 41, .n_tasks = 2, .task_duration_s = (double)NAN, .task_time_s = (double)NAN}};
    struct run run = run_of(stages, 2);
    struct edf_job job = {.n_stages = 123};
    struct pv_error err = {0};
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, &err), PV_E_TOO_FEW);
    cr_assert_not_null(strstr(err.detail, "41"));
    cr_assert_eq(job.n_stages, 123);
    stages[1].n_tasks = RUN_UNKNOWN;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_E_TOO_FEW);
    stages[0].skipped = stages[1].skipped = true;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_E_TOO_FEW);
    run.n_stages = 0;
    cr_assert_eq(edf_job_from_run(&run, &arena, &job, NULL), PV_E_TOO_FEW);
}
