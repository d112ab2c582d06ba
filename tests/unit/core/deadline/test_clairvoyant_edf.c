#include "core/deadline/clairvoyant_edf.h"

#include <criterion/criterion.h>
#include <math.h>

#include "edf_cases.h"

static struct arena scratch;

static void set_up(void)
{
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
}

TestSuite(clairvoyant_edf, .init = set_up, .fini = tear_down, .timeout = 60);

static void run(const struct edf_job jobs[], size_t n, size_t cores, struct edf_outcome outcomes[])
{
    cr_assert_eq(edf_schedule(jobs, n, cores, &scratch, outcomes, NULL, NULL, NULL), PV_OK);
}

/* Completions, placements and their order agree with a scheduler written from the definition, with
 * and without an observer, on integers (many equal instants, tasks of length 0) and on fractions.
 */
Test(clairvoyant_edf, agrees_with_a_plain_scheduler_on_random_cases)
{
    struct numbers numbers = {1};
    for (size_t round = 0; round < 6000; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, round % 2 == 1);
        if (round % 3 == 0)
            edf_case_delay(&c, &numbers, round % 2 == 1);
        size_t cores = 1 + numbers_below(&numbers, 7);
        double want[CASE_JOBS];
        struct placements wanted = {.n = 0};
        reference_schedule(c.jobs, c.n, cores, want, &wanted);

        struct edf_outcome got[CASE_JOBS];
        struct edf_outcome quick[CASE_JOBS];
        struct placements placed = {.n = 0};
        const struct edf_observer observer = {placements_add, &placed};
        run(c.jobs, c.n, cores, quick);
        cr_assert_eq(edf_schedule(c.jobs, c.n, cores, &scratch, got, NULL, &observer, NULL), PV_OK);
        for (size_t j = 0; j < c.n; j++) {
            cr_assert_eq(got[j].completion_s, want[j], "round %zu job %zu", round, j);
            cr_assert_eq(quick[j].completion_s, want[j], "round %zu job %zu", round, j);
        }
        cr_assert_eq(placed.n, wanted.n);
        for (size_t i = 0; i < wanted.n; i++) {
            const struct edf_placement *a = &placed.items[i];
            const struct edf_placement *b = &wanted.items[i];
            cr_assert(a->job == b->job && a->stage == b->stage && a->task == b->task &&
                          a->core == b->core && a->start_s == b->start_s && a->end_s == b->end_s,
                      "round %zu placement %zu", round, i);
        }
    }
    cr_assert_eq(scratch.used, 0);
    cr_assert_null(scratch.head, "scratch is back at its mark");
}

static void check_laws(const struct edf_case *c, size_t cores, const struct placements *placed)
{
    cr_assert_eq(placed->n, c->tasks, "every task runs once");
    for (size_t i = 0; i < placed->n; i++) {
        const struct edf_placement *a = &placed->items[i];
        cr_assert_lt(a->core, cores);
        cr_assert_geq(a->start_s, c->jobs[a->job].release_s);
        for (size_t k = 0; k < placed->n; k++) {
            const struct edf_placement *b = &placed->items[k];
            cr_assert(i == k || a->core != b->core || a->start_s >= b->end_s ||
                          b->start_s >= a->end_s,
                      "two tasks on one core at a time");
            if (a->job != b->job)
                continue;
            const struct edf_stage *stage = &c->jobs[a->job].stages[a->stage];
            for (size_t p = 0; p < stage->n_parents; p++)
                cr_assert(stage->parents[p] != b->stage || b->end_s <= a->start_s,
                          "a task started before a parent stage had ended");
        }
    }
}

/* Whatever the case: one task a core at a time, parents first, nothing before its release. */
Test(clairvoyant_edf, respects_cores_parents_and_releases)
{
    struct numbers numbers = {2};
    for (size_t round = 0; round < 2000; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, round % 2 == 0);
        size_t cores = 1 + numbers_below(&numbers, 5);
        struct edf_outcome outcomes[CASE_JOBS];
        struct placements placed = {.n = 0};
        const struct edf_observer observer = {placements_add, &placed};
        cr_assert_eq(edf_schedule(c.jobs, c.n, cores, &scratch, outcomes, NULL, &observer, NULL),
                     PV_OK);
        check_laws(&c, cores, &placed);
    }
}

/* Multiplying all times by a power of two (exact in binary) multiplies every instant by it. */
Test(clairvoyant_edf, scales_with_time)
{
    struct numbers numbers = {3};
    for (size_t round = 0; round < 500; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, true);
        struct edf_outcome before[CASE_JOBS];
        struct edf_outcome after[CASE_JOBS];
        run(c.jobs, c.n, 3, before);
        for (size_t j = 0; j < c.n; j++) {
            c.jobs[j].release_s *= 8;
            c.jobs[j].deadline_s *= 8;
            c.jobs[j].overhead_per_task_s *= 8;
            for (size_t s = 0; s < c.jobs[j].n_stages; s++) {
                c.stages[j][s].task_duration_s *= 8;
                for (size_t t = 0; t < CASE_TASKS; t++)
                    c.durations[j][s][t] *= 8;
            }
        }
        run(c.jobs, c.n, 3, after);
        for (size_t j = 0; j < c.n; j++) {
            cr_assert_eq(after[j].completion_s, 8 * before[j].completion_s);
            cr_assert_eq(after[j].met, before[j].met);
        }
    }
}

/* n equal tasks on K cores take ceil(n / K) rounds. */
Test(clairvoyant_edf, equal_tasks_take_whole_rounds)
{
    for (size_t n = 0; n < 40; n++) {
        for (size_t cores = 1; cores < 12; cores++) {
            struct edf_stage stage = {.tasks = n, .task_duration_s = 2};
            struct edf_job job = {.deadline_s = 1000, .stages = &stage, .n_stages = 1};
            struct edf_outcome outcome;
            run(&job, 1, cores, &outcome);
            cr_assert_eq(outcome.completion_s, 2.0 * (double)((n + cores - 1) / cores));
        }
    }
}

/* Worked by hand: at 2 a core is free and B has the earlier absolute deadline; A's second stage
 * waits for its whole first stage; C has equal deadline and release as A and stands behind it. */
Test(clairvoyant_edf, serves_by_deadline_then_release_then_request_order)
{
    const double three[] = {2, 5};
    const size_t parent[] = {0};
    struct edf_stage a[] = {
        {.id = 4, .tasks = 2, .task_durations_s = three},
        {.id = 1, .parents = parent, .n_parents = 1, .tasks = 1, .task_duration_s = 1}};
    struct edf_stage b[] = {{.tasks = 1, .task_duration_s = 2}};
    struct edf_stage c[] = {{.tasks = 2, .task_duration_s = 1}};
    struct edf_job jobs[] = {{.deadline_s = 20, .stages = a, .n_stages = 2},
                             {.release_s = 1, .deadline_s = 5, .stages = b, .n_stages = 1},
                             {.deadline_s = 20, .stages = c, .n_stages = 1}};
    struct edf_outcome out[3];
    struct edf_metrics metrics;
    cr_assert_eq(edf_schedule(jobs, 3, 2, &scratch, out, &metrics, NULL, NULL), PV_OK);
    /* core 0: A 0-2, B 2-4, C 4-5, A(stage 1) 5-6; core 1: A 0-5, C 5-6 */
    cr_assert_eq(out[0].completion_s, 6);
    cr_assert_eq(out[1].completion_s, 4);
    cr_assert_eq(out[1].execution_s, 3);
    cr_assert_eq(out[1].deadline_error_percent, 40);
    cr_assert_eq(out[2].completion_s, 6);
    cr_assert_eq(metrics.makespan_s, 6);
    cr_assert_eq(metrics.utilization, 1);
    cr_assert_eq(metrics.advance, 3);
    cr_assert_float_eq(metrics.epsilon, (70 + 40 + 70) / 3.0, 1e-12);
}

/* Stages without tasks end with their last parent, in chains too, and a job of nothing but such
 * stages ends at its release. */
Test(clairvoyant_edf, empty_stages_end_with_their_parents)
{
    const size_t zero[] = {0};
    const size_t one[] = {1};
    const size_t two[] = {2};
    struct edf_stage chain[] = {
        {.id = 0, .tasks = 1, .task_duration_s = 3},
        {.id = 1, .parents = zero, .n_parents = 1},
        {.id = 2, .parents = one, .n_parents = 1},
        {.id = 3, .parents = two, .n_parents = 1, .tasks = 1, .task_duration_s = 4}};
    struct edf_stage nothing[] = {{.id = 0}, {.id = 1, .parents = zero, .n_parents = 1}};
    struct edf_job jobs[] = {{.deadline_s = 9, .stages = chain, .n_stages = 4},
                             {.release_s = 2.5, .deadline_s = 1, .stages = nothing, .n_stages = 2}};
    struct edf_outcome out[2];
    run(jobs, 2, 1, out);
    cr_assert_eq(out[0].completion_s, 7);
    cr_assert_eq(out[1].completion_s, 2.5);
    cr_assert_eq(out[1].execution_s, 0);
    cr_assert(out[1].met);
    struct edf_metrics metrics;
    cr_assert_eq(edf_schedule(&jobs[1], 1, 3, &scratch, out, &metrics, NULL, NULL), PV_OK);
    cr_assert_eq(metrics.makespan_s, 0);
    cr_assert(isnan(metrics.utilization), "nothing was there to be used");
}

/* Met exactly at the deadline is met; a hair beyond is not. */
Test(clairvoyant_edf, the_deadline_itself_is_in_time)
{
    struct edf_stage stage = {.tasks = 1, .task_duration_s = 3};
    struct edf_job job = {.deadline_s = 3, .stages = &stage, .n_stages = 1};
    struct edf_outcome out;
    run(&job, 1, 1, &out);
    cr_assert(out.met);
    job.deadline_s = nextafter(3, 0);
    run(&job, 1, 1, &out);
    cr_assert_not(out.met);
}

static bool refuse_third(void *context, const struct edf_placement *placement)
{
    (void)placement;
    return ++*(int *)context < 3;
}

/* The observer may stop the work; nothing is written then. */
Test(clairvoyant_edf, an_observer_can_stop_it)
{
    struct edf_stage stage = {.tasks = 10, .task_duration_s = 1};
    struct edf_job job = {.deadline_s = 3, .stages = &stage, .n_stages = 1};
    struct edf_outcome out = {.completion_s = -1};
    int calls = 0;
    const struct edf_observer observer = {refuse_third, &calls};
    struct pv_error err = {0};
    cr_assert_eq(edf_schedule(&job, 1, 2, &scratch, &out, NULL, &observer, &err), PV_E_CANCELLED);
    cr_assert_eq(calls, 3);
    cr_assert_eq(out.completion_s, -1);
    cr_assert_null(scratch.head);
}

/* A circle of stages is refused, not run for ever. */
Test(clairvoyant_edf, refuses_a_cycle)
{
    const size_t zero[] = {0};
    const size_t one[] = {1};
    struct edf_stage stages[] = {
        {.id = 0, .parents = one, .n_parents = 1, .tasks = 1, .task_duration_s = 1},
        {.id = 1, .parents = zero, .n_parents = 1, .tasks = 1, .task_duration_s = 1}};
    struct edf_job job = {.deadline_s = 3, .stages = stages, .n_stages = 2};
    struct edf_outcome out;
    cr_assert_eq(edf_schedule(&job, 1, 2, &scratch, &out, NULL, NULL, NULL), PV_E_DOMAIN);
}

/* Whatever allocation fails, the code is PV_E_MEMORY and the outcomes stay as they were. */
Test(clairvoyant_edf, running_out_of_memory_is_an_error)
{
    struct edf_stage stage = {.tasks = 5000, .task_duration_s = 1};
    struct edf_job job = {.deadline_s = 3, .stages = &stage, .n_stages = 1};
    enum pv_code code = PV_E_MEMORY;
    size_t limit = 64;
    for (; code == PV_E_MEMORY && limit < 1 << 24; limit *= 2) {
        struct arena small;
        arena_init(&small, limit);
        struct edf_outcome out = {.completion_s = -1};
        code = edf_schedule(&job, 1, 4000, &small, &out, NULL, NULL, NULL);
        cr_assert(code == PV_OK || out.completion_s == -1);
        arena_fini(&small);
    }
    cr_assert_eq(code, PV_OK);
    cr_assert_gt(limit, 1 << 16);
}

/* A core for each of 100,000 tasks of 0.1 s: every core works all the time, and no rounding error of
 * the sum of the tasks, 2 in 10^12 if added up plainly, shows in the utilization. */
Test(clairvoyant_edf, rounding_errors_do_not_decide_the_utilization)
{
    enum { MANY = 100000 };
    static double durations_s[MANY];
    for (size_t i = 0; i < MANY; i++)
        durations_s[i] = 0.1;
    const struct edf_stage stage = {.tasks = MANY, .task_durations_s = durations_s};
    const struct edf_job job = {.deadline_s = 1, .stages = &stage, .n_stages = 1};
    struct edf_outcome outcome;
    struct edf_metrics metrics;
    cr_assert_eq(edf_schedule(&job, 1, MANY, &scratch, &outcome, &metrics, NULL, NULL), PV_OK);
    cr_assert_eq(metrics.makespan_s, 0.1);
    cr_assert_float_eq(metrics.utilization, 1, 1e-14);
    cr_assert_eq(edf_schedule(&job, 1, 2 * MANY, &scratch, &outcome, &metrics, NULL, NULL), PV_OK);
    cr_assert_float_eq(metrics.utilization, 0.5, 1e-14, "nor where cores stay idle");
}

/* Stages are numbered with 32 bits: one more is refused before any is looked at. */
Test(clairvoyant_edf, more_stages_than_can_be_numbered_are_refused)
{
    const struct edf_stage stage = {.tasks = 1};
    const struct edf_job jobs[] = {{.deadline_s = 1, .stages = &stage, .n_stages = UINT32_MAX - 1},
                                   {.deadline_s = 1, .stages = &stage, .n_stages = 1}};
    struct edf_outcome outcomes[2];
    cr_assert_eq(edf_schedule(jobs, 2, 1, &scratch, outcomes, NULL, NULL, NULL), PV_E_LIMIT);
}
