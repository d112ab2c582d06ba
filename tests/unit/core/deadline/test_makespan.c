#include "core/deadline/makespan.h"
#include "core/deadline/slot_makespan.h"

#include <criterion/criterion.h>

#include "edf_cases.h"

enum { STAGES = 12, TASKS = 60 };

static struct arena scratch;

static void set_up(void)
{
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
}

TestSuite(makespan, .init = set_up, .fini = tear_down, .timeout = 60);

static double find(const struct edf_job *job, size_t cores)
{
    const struct edf_plan *plan;
    double longest_s[STAGES], seconds = -1;
    cr_assert_leq(job->n_stages, (size_t)STAGES);
    for (size_t s = 0; s < job->n_stages; s++)
        longest_s[s] = makespan_longest_s(&job->stages[s]);
    struct arena_mark mark = arena_mark(&scratch);
    cr_assert_eq(makespan_plan(job, &scratch, &plan, NULL), PV_OK);
    const size_t used = scratch.used;
    cr_assert_eq(makespan_find(plan, job, longest_s, cores, &scratch, &seconds, NULL), PV_OK);
    cr_assert_eq(scratch.used, used, "scratch is back at its mark");
    arena_rewind(&scratch, mark);
    return seconds;
}

static double find_on_slots(const struct edf_job *job,
                            const struct slot_need needs[],
                            const int64_t units[],
                            size_t n_pools)
{
    const struct edf_plan *plan;
    double seconds = -1;
    struct arena_mark mark = arena_mark(&scratch);
    cr_assert_eq(makespan_plan(job, &scratch, &plan, NULL), PV_OK);
    const size_t used = scratch.used;
    cr_assert_eq(slot_makespan_find(plan, job, needs, units, n_pools, &scratch, &seconds, NULL),
                 PV_OK);
    cr_assert_eq(scratch.used, used, "scratch is back at its mark");
    arena_rewind(&scratch, mark);
    return seconds;
}

static double scheduled(const struct edf_job *job, size_t cores)
{
    struct edf_outcome outcome;
    cr_assert_eq(edf_schedule(job, 1, cores, &scratch, &outcome, NULL, NULL, NULL), PV_OK);
    return outcome.execution_s;
}

/* One job of many stages: some without tasks, some whose tasks are all alike, some of length 0. */
struct wide_job {
    struct edf_job job;
    struct edf_stage stages[STAGES];
    size_t parents[STAGES][STAGES];
    double durations[STAGES][TASKS];
};

static double draw_seconds(struct numbers *numbers, bool fine)
{
    return fine ? (double)numbers_below(numbers, 1U << 30) / 1e7
                : (double)numbers_below(numbers, 5);
}

static void draw_stage(struct wide_job *made, size_t s, struct numbers *numbers, bool fine)
{
    struct edf_stage *stage = &made->stages[s];
    const uint64_t density = 1 + numbers_below(numbers, 6);
    const size_t most = numbers_below(numbers, 3) == 0 ? 3 : TASKS;
    *stage = (struct edf_stage){.id = (int64_t)(numbers_below(numbers, 1000) * STAGES + s),
                                .parents = made->parents[s],
                                .tasks = numbers_below(numbers, most + 1),
                                .task_duration_s = draw_seconds(numbers, fine)};
    for (size_t p = 0; p < s; p++)
        if (numbers_below(numbers, density + 1) == 0)
            made->parents[s][stage->n_parents++] = p;
    if (numbers_below(numbers, 4) == 0)
        return;
    stage->task_durations_s = made->durations[s];
    for (size_t t = 0; t < stage->tasks; t++)
        made->durations[s][t] = t > 0 && numbers_below(numbers, 4) == 0
                                    ? made->durations[s][t - 1]
                                    : draw_seconds(numbers, fine);
}

static void draw_job(struct wide_job *made, struct numbers *numbers, bool fine)
{
    made->job = (struct edf_job){.deadline_s = 1,
                                 .overhead_per_task_s = numbers_below(numbers, 2) == 0 ? 0 : 0.137,
                                 .stages = made->stages,
                                 .n_stages = 1 + numbers_below(numbers, STAGES)};
    for (size_t s = 0; s < made->job.n_stages; s++)
        draw_stage(made, s, numbers, fine);
}

/* On whole numbers (many equal instants, tasks of length 0) and on fractions; from one core to more
 * than there are tasks. */
Test(makespan, is_the_completion_of_the_schedule_to_the_last_bit)
{
    static struct wide_job made;
    struct numbers numbers = {7};
    for (size_t round = 0; round < 6000; round++) {
        draw_job(&made, &numbers, round % 2 == 1);
        for (size_t k = 0; k < 4; k++) {
            const size_t cores = 1 + numbers_below(&numbers, k == 3 ? 900 : k == 2 ? 130 : 12);
            cr_assert_eq(find(&made.job, cores), scheduled(&made.job, cores),
                         "round %zu, %zu cores", round, cores);
        }
    }
}

/* Tasks that all take as many units of one pool: each so many units are a core. */
Test(makespan, on_slots_that_are_alike_is_the_same_to_the_last_bit)
{
    static struct wide_job made;
    struct numbers numbers = {11};
    for (size_t round = 0; round < 2000; round++) {
        draw_job(&made, &numbers, round % 2 == 1);
        const int64_t cores = 1 + (int64_t)numbers_below(&numbers, 40);
        const int64_t each = 1 + (int64_t)numbers_below(&numbers, 5);
        const int64_t units = cores * each + (int64_t)numbers_below(&numbers, (size_t)each);
        struct slot_need needs[STAGES];
        for (size_t s = 0; s < made.job.n_stages; s++)
            needs[s] = (struct slot_need){.units = each};
        cr_assert_eq(find_on_slots(&made.job, needs, &units, 1), find(&made.job, (size_t)cores),
                     "round %zu, %d cores", round, (int)cores);
    }
}

/* 6 units: two tasks of 3 units for 10 s each leave nothing; the barrier stage of 4 waits until all of its
 * tasks can start, and lets the last stage pass. */
Test(makespan, on_slots_by_hand)
{
    const struct edf_stage stages[] = {{.id = 0, .tasks = 3, .task_duration_s = 10},
                                       {.id = 1, .tasks = 4, .task_duration_s = 5},
                                       {.id = 2, .tasks = 3, .task_duration_s = 12}};
    const struct edf_job job = {.stages = stages, .n_stages = 3};
    struct slot_need needs[] = {{.units = 3}, {.units = 1, .is_barrier = true}, {.units = 1}};
    const int64_t six = 6;
    /* 0: 0-10, 0-10, 10-20; 2: from 10 to 22 on three units; 1: at 20 three units are free, at 22 six. */
    cr_assert_float_eq(find_on_slots(&job, needs, &six, 1), 27.0, 1e-9);
    needs[1].is_barrier = false;
    /* 1 takes three units at 10, then, one by one, 15: the last task of 1 and two of 2, ... */
    cr_assert_float_eq(find_on_slots(&job, needs, &six, 1), 32.0, 1e-9);
    /* A pool of its own each. */
    const int64_t pools[] = {3, 2, 3};
    needs[1].pool = 1;
    needs[2].pool = 2;
    cr_assert_float_eq(find_on_slots(&job, needs, pools, 3), 30.0, 1e-9);
    needs[1].is_barrier = true; /* that its pool is too small for: as if it were none */
    cr_assert_float_eq(find_on_slots(&job, needs, pools, 3), 30.0, 1e-9);
}

/* Four tasks of 2 of the 6 units never run at once, barrier or not: one beside the task of 3 units
 * from 0 to 5, one from 5 to 10, two from 10 to 15. */
Test(makespan, a_barrier_that_no_pool_holds_is_none)
{
    const struct edf_stage stages[] = {{.id = 0, .tasks = 1, .task_duration_s = 10},
                                       {.id = 1, .tasks = 4, .task_duration_s = 5}};
    const struct edf_job job = {.stages = stages, .n_stages = 2};
    const struct slot_need needs[] = {{.units = 3}, {.units = 2, .is_barrier = true}};
    const int64_t six = 6;
    cr_assert_float_eq(find_on_slots(&job, needs, &six, 1), 15.0, 1e-9);
}

Test(makespan, agrees_with_a_plain_scheduler_on_random_cases)
{
    struct numbers numbers = {3};
    for (size_t round = 0; round < 6000; round++) {
        struct edf_case c;
        double want[CASE_JOBS];
        struct placements placed = {.n = 0};
        edf_case_make(&c, &numbers, round % 2 == 1);
        c.jobs[0].release_s = 0;
        const size_t cores = 1 + numbers_below(&numbers, 7);
        reference_schedule(c.jobs, 1, cores, want, &placed);
        cr_assert_eq(find(&c.jobs[0], cores), want[0], "round %zu", round);
    }
}

/* Two scans and a join. On 4 cores the second scan gets what the first leaves over: its tasks of 2
 * end at 2, 4, 5, 6. */
Test(makespan, of_a_small_case_by_hand)
{
    static const size_t both[] = {0, 1};
    static const double first_s[] = {1, 4, 3};
    const struct edf_stage stages[] = {
        {.id = 0, .tasks = 3, .task_durations_s = first_s},
        {.id = 1, .tasks = 4, .task_duration_s = 2},
        {.id = 2, .tasks = 2, .task_duration_s = 1, .parents = both, .n_parents = 2}};
    const struct edf_job job = {.stages = stages, .n_stages = 3};
    cr_assert_eq(find(&job, 4), 6.0);
    cr_assert_eq(find(&job, 1), 18.0);
    cr_assert_eq(find(&job, 1000), 5.0);
}

/* A plan serves for any tasks of the same stages. */
Test(makespan, one_plan_serves_jobs_with_other_tasks)
{
    static const size_t first[] = {0};
    struct edf_stage stages[] = {
        {.id = 0, .tasks = 3, .task_duration_s = 1},
        {.id = 1, .tasks = 1, .task_duration_s = 2, .parents = first, .n_parents = 1}};
    const struct edf_job job = {.stages = stages, .n_stages = 2};
    const struct edf_plan *plan;
    const double longest_s[] = {1, 2};
    double seconds;
    cr_assert_eq(makespan_plan(&job, &scratch, &plan, NULL), PV_OK);
    stages[0].tasks = 9;
    cr_assert_eq(makespan_find(plan, &job, longest_s, 2, &scratch, &seconds, NULL), PV_OK);
    cr_assert_eq(seconds, 7.0);
}

/* Many stages that wait cost no more than their tasks: 10,000 of 10 tasks each, with slots for two. */
Test(makespan, many_waiting_stages_cost_no_more_than_their_tasks, .timeout = 10)
{
    enum { MANY = 10000, EACH = 10 };
    struct edf_stage *stages = arena_calloc(&scratch, MANY, sizeof *stages);
    struct slot_need *needs = arena_calloc(&scratch, MANY, sizeof *needs);
    const int64_t units[] = {4};
    const struct edf_plan *plan;
    double seconds;
    for (size_t s = 0; s < MANY; s++) {
        stages[s] = (struct edf_stage){.id = (int64_t)s, .tasks = EACH, .task_duration_s = 1};
        needs[s] = (struct slot_need){.units = 2};
    }
    const struct edf_job job = {.stages = stages, .n_stages = MANY};
    cr_assert_eq(makespan_plan(&job, &scratch, &plan, NULL), PV_OK);
    cr_assert_eq(slot_makespan_find(plan, &job, needs, units, 1, &scratch, &seconds, NULL), PV_OK);
    cr_assert_eq(seconds, MANY * EACH / 2.0);
}

Test(makespan, a_circle_of_stages_is_refused)
{
    static const size_t first[] = {0}, second[] = {1};
    const struct edf_stage stages[] = {
        {.id = 0, .tasks = 1, .task_duration_s = 1, .parents = second, .n_parents = 1},
        {.id = 1, .tasks = 1, .task_duration_s = 1, .parents = first, .n_parents = 1}};
    const struct edf_job job = {.stages = stages, .n_stages = 2};
    const struct edf_plan *plan;
    cr_assert_eq(makespan_plan(&job, &scratch, &plan, NULL), PV_E_DOMAIN);
}

Test(makespan, says_when_memory_is_exhausted)
{
    struct edf_stage stage = {.id = 0, .tasks = 100000, .task_duration_s = 1};
    const struct edf_job job = {.stages = &stage, .n_stages = 1};
    const double longest_s[] = {1};
    const struct edf_plan *plan;
    struct arena little;
    double seconds;
    struct pv_error err = {0};
    cr_assert_eq(makespan_plan(&job, &scratch, &plan, NULL), PV_OK);
    arena_init(&little, 65536);
    cr_assert_eq(makespan_find(plan, &job, longest_s, 50000, &little, &seconds, &err), PV_E_MEMORY);
    arena_fini(&little);
}
