#include "core/deadline/edf_trial.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(edf_trial, .init = set_up, .fini = tear_down);

static struct edf_trial trial;

static void begin(const struct edf_job jobs[], size_t n, size_t cores)
{
    cr_assert_eq(edf_trial_init(&trial, jobs, n, cores, &arena, NULL), PV_OK);
    edf_trial_begin(&trial, UINT64_MAX);
}

/* 1 s, two tasks of 3 s, 2 s, one task of 4 s. */
static const size_t first[] = {0};
static const struct edf_stage stages[] = {
    {.id = 0, .tasks = 2, .task_duration_s = 3, .delay_s = 1},
    {.id = 1, .parents = first, .n_parents = 1, .tasks = 1, .task_duration_s = 4, .delay_s = 2}};

/* From the start of its first stage the job takes 3 + 2 + 4 s, from that of the last 4 s. A start
 * is late only beyond all rounding. */
Test(edf_trial, the_latest_starts_leave_time_for_what_follows)
{
    const struct edf_job job = {.deadline_s = 20, .stages = stages, .n_stages = 2};
    begin(&job, 1, 1);
    cr_assert_eq(trial.lengths_s[0], 1 + 3 + 2 + 4);
    cr_assert_eq(trial.work_s[0], 2 * 3 + 4);
    cr_assert(trial.latest_starts_s[0] > 11 && trial.latest_starts_s[0] < 11 + 1e-9);
    cr_assert(trial.latest_starts_s[1] > 16 && trial.latest_starts_s[1] < 16 + 1e-9);
    edf_trial_set_deadline(&trial, 0, 15);
    cr_assert(trial.latest_starts_s[1] > 11 && trial.latest_starts_s[1] < 11 + 1e-9);
    edf_trial_set_release(&trial, 0, 100);
    cr_assert(trial.latest_starts_s[1] > 111 && trial.latest_starts_s[1] < 111 + 1e-9);
    edf_trial_leave_out(&trial, 0, true);
    cr_assert_eq(trial.latest_starts_s[1], (double)INFINITY);
}

/* 3 tasks, 2 stages and a few more sums; no instant is beyond 30 + 10 s. */
Test(edf_trial, rounding_grows_with_the_sums_and_the_instants)
{
    const struct edf_job job = {
        .release_s = -30, .deadline_s = 20, .stages = stages, .n_stages = 2};
    begin(&job, 1, 1);
    cr_assert_eq(trial.rounding_s, 40 * (3 + 2 + 8) * DBL_EPSILON);
}

/* Enough for a few replays of 3 tasks and 2 stages is 15. */
Test(edf_trial, a_part_of_the_budget_is_enough_for_a_few_replays)
{
    const struct edf_job job = {.deadline_s = 20, .stages = stages, .n_stages = 2};
    begin(&job, 1, 1);
    edf_trial_allot_part(&trial, 100, 4);
    cr_assert_eq(trial.budget, 25);
    edf_trial_allot_part(&trial, 100, 10);
    cr_assert_eq(trial.budget, 15, "a tenth is less than a few replays");
    edf_trial_allot_part(&trial, 12, 10);
    cr_assert_eq(trial.budget, 12, "no more than there is");
    trial.replay.steps = 90;
    edf_trial_allot_part(&trial, 100, 1);
    cr_assert_eq(trial.budget, 100);
    edf_trial_allot_part(&trial, UINT64_MAX, 1);
    cr_assert_eq(trial.budget, UINT64_MAX);
    trial.replay.steps = 100;
    edf_trial_allot_part(&trial, 99, 2);
    cr_assert_eq(trial.budget, 100, "nothing is left");
}

Test(edf_trial, a_share_of_the_budget_is_of_what_is_left)
{
    const struct edf_job job = {.deadline_s = 20, .stages = stages, .n_stages = 2};
    begin(&job, 1, 1);
    trial.replay.steps = 40;
    edf_trial_allot(&trial, 100, 0.25);
    cr_assert_eq(trial.budget, 40 + 15);
    cr_assert_not(edf_trial_is_spent(&trial));
    edf_trial_allot(&trial, 30, 1);
    cr_assert_eq(trial.budget, 40);
    cr_assert(edf_trial_is_spent(&trial));
    edf_trial_allot(&trial, UINT64_MAX, 1);
    cr_assert_eq(trial.budget, UINT64_MAX);
}

/* On two cores A and B run from 0 to 3; C, first an end without tasks, from 3 to 7, by 7.5; D's
 * first task from 3 to 5, and its second should have started by 9 - 6. C's stages began in time. */
Test(edf_trial, who_cannot_end_in_time_is_late_before_the_deadline)
{
    const struct edf_stage three = {.tasks = 1, .task_duration_s = 3};
    const struct edf_stage c[] = {
        {.id = 0}, {.id = 1, .parents = first, .n_parents = 1, .tasks = 1, .task_duration_s = 4}};
    const struct edf_stage d[] = {
        {.id = 0, .tasks = 1, .task_duration_s = 2},
        {.id = 1, .parents = first, .n_parents = 1, .tasks = 1, .task_duration_s = 6}};
    const struct edf_job jobs[] = {{.deadline_s = 3, .stages = &three, .n_stages = 1},
                                   {.deadline_s = 3.5, .stages = &three, .n_stages = 1},
                                   {.deadline_s = 7.5, .stages = c, .n_stages = 2},
                                   {.deadline_s = 9, .stages = d, .n_stages = 2}};
    begin(jobs, 4, 2);
    cr_assert_eq(edf_trial_run(&trial, NULL), EDF_REPLAY_MISSED);
    cr_assert_eq(trial.replay.now, 5);
    for (size_t j = 0; j < 3; j++)
        cr_assert_not(edf_trial_is_late(&trial, j), "job %zu", j);
    cr_assert(edf_trial_is_late(&trial, 3));
    cr_assert_eq(edf_trial_elapsed_s(&trial, 3), 5);
}
