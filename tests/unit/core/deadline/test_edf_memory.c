#include <criterion/criterion.h>
#include <math.h>

#include "core/deadline/launches.h"
#include "edf_cases.h"

/* Clairvoyance EDF where jobs wait for memory (docs/design.md, "Memory"). */

static struct arena scratch, results;

static void set_up(void)
{
    arena_init(&scratch, 0);
    arena_init(&results, 0);
}

static void tear_down(void)
{
    arena_fini(&results);
    arena_fini(&scratch);
}

TestSuite(edf_memory, .init = set_up, .fini = tear_down, .timeout = 60);

static void run(const struct edf_job jobs[], size_t n, size_t cores, struct edf_outcome outcomes[])
{
    cr_assert_eq(edf_schedule(jobs, n, cores, &scratch, outcomes, NULL, NULL, NULL), PV_OK);
}

static const struct edf_stage two_by_five = {.tasks = 2, .task_duration_s = 5};
static const struct edf_stage one_by_four = {.tasks = 1, .task_duration_s = 4};
static const struct edf_stage one_by_one = {.tasks = 1, .task_duration_s = 1};

static struct edf_job job(double release_s,
                          double deadline_s,
                          const struct edf_stage *stage,
                          const struct edf_memory *memory,
                          int64_t bytes)
{
    return (struct edf_job){.release_s = release_s,
                            .deadline_s = deadline_s,
                            .stages = stage,
                            .n_stages = 1,
                            .memory = memory,
                            .memory_bytes = bytes};
}

static void expect(const struct edf_outcome *got, double launched_s, double completion_s)
{
    cr_assert_eq(got->launched_s, launched_s, "launched %g, not %g", got->launched_s, launched_s);
    cr_assert_eq(got->completion_s, completion_s, "ended %g, not %g", got->completion_s,
                 completion_s);
}

/*
 * By hand, on 4 cores and 10 bytes. A (6 bytes, 0..5) leaves 4. B needs 6 and waits; C needs 3, which
 * is free, but came after B. At 5 both fit.
 */
Test(edf_memory, first_come_nobody_overtakes)
{
    const struct edf_memory memory = {10, EDF_FIRST_COME};
    const struct edf_job jobs[] = {job(0, 20, &two_by_five, &memory, 6),
                                   job(1, 20, &one_by_four, &memory, 6),
                                   job(2, 3, &one_by_one, &memory, 3)};
    struct edf_outcome got[3];
    run(jobs, 3, 4, got);
    expect(&got[0], 0, 5);
    expect(&got[1], 5, 9);
    expect(&got[2], 5, 6);
    struct launches launches = launches_count(jobs, got, 3);
    cr_assert(launches.holding == 3 && launches.waited == 2 && launches.fits_at_once == 1);
    cr_assert(launches.longest == 1 && launches.longest_s == 4);
    cr_assert(launches.longest_bytes == 6 && launches.memory_bytes == 10);
}

/* The same by deadline: C has to end by 5, B by 21. C does not wait; B still waits for A. */
Test(edf_memory, earliest_deadline_the_most_urgent_goes_first)
{
    const struct edf_memory memory = {10, EDF_EARLIEST_DEADLINE};
    const struct edf_job jobs[] = {job(0, 20, &two_by_five, &memory, 6),
                                   job(1, 20, &one_by_four, &memory, 6),
                                   job(2, 3, &one_by_one, &memory, 3)};
    struct edf_outcome got[3];
    run(jobs, 3, 4, got);
    expect(&got[0], 0, 5);
    expect(&got[1], 5, 9);
    expect(&got[2], 2, 3);
}

/* The most urgent one that waits is not overtaken by one that would fit, so it does not starve. */
Test(edf_memory, earliest_deadline_is_strict_as_well)
{
    const struct edf_memory memory = {10, EDF_EARLIEST_DEADLINE};
    const struct edf_job jobs[] = {job(0, 20, &two_by_five, &memory, 6),
                                   job(1, 10, &one_by_four, &memory, 6),
                                   job(2, 30, &one_by_one, &memory, 3)};
    struct edf_outcome got[3];
    run(jobs, 3, 4, got);
    expect(&got[1], 5, 9);
    expect(&got[2], 5, 6);
}

/* Equal in both orders: as they stand in the request. What a job without memory does is no matter of
 * memory; what has ended is free for who is released at that instant. */
Test(edf_memory, ties_jobs_without_memory_and_one_instant)
{
    for (int order = EDF_FIRST_COME; order <= EDF_EARLIEST_DEADLINE; order++) {
        const struct edf_memory memory = {6, (enum edf_launch_order)order};
        const struct edf_job jobs[] = {
            job(0, 50, &one_by_four, &memory, 6), job(0, 50, &one_by_four, &memory, 6),
            job(0, 50, &one_by_one, NULL, 0), job(8, 50, &one_by_one, &memory, 6)};
        struct edf_outcome got[4];
        run(jobs, 4, 4, got);
        expect(&got[0], 0, 4);
        expect(&got[1], 4, 8);
        expect(&got[2], 0, 1);
        expect(&got[3], 8, 9);
    }
}

/* Who runs already holds memory, whatever the deadline of a newcomer. */
Test(edf_memory, running_jobs_go_before_all_that_wait)
{
    const struct edf_memory memory = {6, EDF_EARLIEST_DEADLINE};
    struct edf_job jobs[] = {job(0, 1, &one_by_one, &memory, 6),
                             job(0, 50, &one_by_four, &memory, 6)};
    struct edf_outcome got[2];
    run(jobs, 2, 4, got);
    expect(&got[0], 0, 1);
    expect(&got[1], 1, 5);
    jobs[1].runs_already = true;
    run(jobs, 2, 4, got);
    expect(&got[1], 0, 4);
    expect(&got[0], 4, 5);
}

Test(edf_memory, a_job_larger_than_the_memory_is_refused)
{
    const struct edf_memory memory = {6, EDF_FIRST_COME};
    const struct edf_job one = job(0, 1, &one_by_one, &memory, 7);
    struct edf_outcome got;
    cr_assert_eq(edf_schedule(&one, 1, 1, &scratch, &got, NULL, NULL, NULL), PV_E_DOMAIN);
}

/* --- laws, on random cases --- */

static void
give_memory(struct edf_case *c, struct numbers *numbers, const struct edf_memory *memory)
{
    for (size_t j = 0; j < c->n; j++) {
        c->jobs[j].memory = memory;
        c->jobs[j].memory_bytes = 1 + (int64_t)numbers_below(numbers, (uint64_t)memory->bytes);
    }
}

/* Job a is launched before b where both wait. */
static bool precedes(const struct edf_case *c, size_t a, size_t b, enum edf_launch_order order)
{
    const struct edf_job *x = &c->jobs[a], *y = &c->jobs[b];
    double deadline_a = x->release_s + x->deadline_s, deadline_b = y->release_s + y->deadline_s;
    if (order == EDF_EARLIEST_DEADLINE && deadline_a != deadline_b)
        return deadline_a < deadline_b;
    return x->release_s != y->release_s ? x->release_s < y->release_s : a < b;
}

/* Held by the jobs that were launched by then and had not ended. */
static int64_t held_at(const struct edf_case *c, const struct edf_outcome got[], double at)
{
    int64_t held = 0;
    for (size_t j = 0; j < c->n; j++)
        if (got[j].launched_s <= at && at < got[j].completion_s)
            held += c->jobs[j].memory_bytes;
    return held;
}

static void check_instant(const struct edf_case *c,
                          const struct edf_outcome got[],
                          const struct edf_memory *memory,
                          double at)
{
    size_t head = SIZE_MAX;
    cr_assert_leq(held_at(c, got, at), memory->bytes, "more memory is held than there is");
    for (size_t j = 0; j < c->n; j++)
        if (c->jobs[j].release_s <= at && got[j].launched_s > at &&
            (head == SIZE_MAX || precedes(c, j, head, memory->order)))
            head = j;
    if (head != SIZE_MAX)
        cr_assert_gt(c->jobs[head].memory_bytes, memory->bytes - held_at(c, got, at),
                     "the first that waits would fit");
}

/* At every instant at which something changes: no more is held than there is, and the first that
 * waits does not fit. Who is launched goes before all that wait on. No task before its launch. */
Test(edf_memory, never_more_than_there_is_and_nobody_overtakes)
{
    struct numbers numbers = {11};
    for (size_t round = 0; round < 6000; round++) {
        struct edf_case c;
        const struct edf_memory memory = {1 + (int64_t)numbers_below(&numbers, 9),
                                          (enum edf_launch_order)(round % 2)};
        struct edf_outcome got[CASE_JOBS], quick[CASE_JOBS];
        struct placements placed = {.n = 0};
        const struct edf_observer observer = {placements_add, &placed};
        edf_case_make(&c, &numbers, round % 4 < 2);
        give_memory(&c, &numbers, &memory);
        size_t cores = 1 + numbers_below(&numbers, 7);
        cr_assert_eq(edf_schedule(c.jobs, c.n, cores, &scratch, got, NULL, &observer, NULL), PV_OK);
        run(c.jobs, c.n, cores, quick);
        cr_assert_eq(placed.n, c.tasks);
        for (size_t i = 0; i < placed.n; i++)
            cr_assert_geq(placed.items[i].start_s, got[placed.items[i].job].launched_s);
        for (size_t a = 0; a < c.n; a++) {
            cr_assert(got[a].launched_s == quick[a].launched_s &&
                      got[a].completion_s == quick[a].completion_s);
            cr_assert_geq(got[a].launched_s, c.jobs[a].release_s);
            check_instant(&c, got, &memory, got[a].launched_s);
            check_instant(&c, got, &memory, got[a].completion_s);
            check_instant(&c, got, &memory, c.jobs[a].release_s);
            for (size_t b = 0; b < c.n; b++)
                cr_assert(got[b].launched_s <= got[a].launched_s ||
                              c.jobs[b].release_s > got[a].launched_s ||
                              precedes(&c, a, b, memory.order),
                          "round %zu: job %zu overtook job %zu", round, a, b);
        }
    }
}

/* Memory for all at once changes nothing. */
Test(edf_memory, enough_of_it_is_none)
{
    struct numbers numbers = {12};
    for (size_t round = 0; round < 1000; round++) {
        struct edf_case c;
        const struct edf_memory memory = {9, (enum edf_launch_order)(round % 2)};
        const struct edf_memory plenty = {9 * CASE_JOBS, memory.order};
        struct edf_outcome got[CASE_JOBS], want[CASE_JOBS];
        edf_case_make(&c, &numbers, round % 4 < 2);
        run(c.jobs, c.n, 3, want);
        give_memory(&c, &numbers, &memory);
        for (size_t j = 0; j < c.n; j++)
            c.jobs[j].memory = &plenty;
        run(c.jobs, c.n, 3, got);
        for (size_t j = 0; j < c.n; j++)
            cr_assert(got[j].completion_s == want[j].completion_s &&
                      got[j].launched_s == c.jobs[j].release_s);
    }
}

/* Memory for one job at a time, in the order of release: one after the other, each as if alone. */
Test(edf_memory, one_at_a_time_is_a_queue)
{
    struct numbers numbers = {13};
    for (size_t round = 0; round < 1000; round++) {
        struct edf_case c;
        const struct edf_memory memory = {5, EDF_FIRST_COME};
        struct edf_outcome got[CASE_JOBS];
        size_t cores = 1 + numbers_below(&numbers, 5);
        edf_case_make(&c, &numbers, false);
        for (size_t j = 0; j < c.n; j++) {
            c.jobs[j].memory = &memory;
            c.jobs[j].memory_bytes = 3;
            c.jobs[j].release_s = (double)j;
        }
        run(c.jobs, c.n, cores, got);
        double free_s = 0;
        for (size_t j = 0; j < c.n; j++) {
            struct edf_outcome alone;
            struct edf_job one = c.jobs[j];
            one.release_s = fmax(free_s, one.release_s);
            run(&one, 1, cores, &alone);
            expect(&got[j], one.release_s, alone.completion_s);
            free_s = alone.completion_s;
        }
    }
}

static bool all_met(const struct edf_case *c, size_t cores)
{
    struct edf_outcome outcomes[CASE_JOBS];
    struct edf_metrics metrics;
    cr_assert_eq(edf_schedule(c->jobs, c->n, cores, &scratch, outcomes, &metrics, NULL, NULL),
                 PV_OK);
    return metrics.delayed == 0;
}

/* Against trying every K: with memory, K = tasks no longer meets all, and the search ends all the
 * same. The deadlines that are given are met all together. */
Test(edf_memory, remedies_are_those_of_trying_every_number_of_cores)
{
    struct numbers numbers = {14};
    size_t none = 0, some = 0;
    for (size_t round = 0; round < 3000; round++) {
        struct edf_case c;
        const struct edf_memory memory = {1 + (int64_t)numbers_below(&numbers, 6),
                                          (enum edf_launch_order)(round % 2)};
        struct edf_remedies got;
        edf_case_make(&c, &numbers, round % 4 < 2);
        give_memory(&c, &numbers, &memory);
        size_t least = 1;
        while (least <= c.tasks && !all_met(&c, least))
            least++;
        bool found = least <= c.tasks || all_met(&c, least);
        cr_assert_eq(edf_find_remedies(c.jobs, c.n, 1, UINT64_MAX, &results, &scratch, &got, NULL),
                     PV_OK);
        cr_assert(got.exact);
        cr_assert_eq(got.has_min_total_cores, found, "round %zu", round);
        if (found)
            cr_assert_eq(got.min_total_cores, least, "round %zu: %zu, not %zu", round,
                         got.min_total_cores, least);
        none += !found;
        some += found && least > 1;
        for (size_t j = 0; j < c.n; j++)
            if (!isnan(got.deadlines_s[j]))
                c.jobs[j].deadline_s = got.deadlines_s[j];
        cr_assert(all_met(&c, 1), "round %zu: the deadlines given are not met", round);
    }
    cr_assert(none > 100 && some > 100, "%zu and %zu cases prove little", none, some);
}
