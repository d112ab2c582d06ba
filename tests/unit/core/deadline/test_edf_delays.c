#include "core/deadline/edf_delays.h"

#include <criterion/criterion.h>
#include <math.h>

#include "edf_cases.h"

static struct arena scratch;
static struct arena results;

static void set_up(void)
{
    arena_init(&scratch, 0);
    arena_init(&results, 0);
}

static void tear_down(void)
{
    arena_fini(&scratch);
    arena_fini(&results);
}

TestSuite(edf_delays, .init = set_up, .fini = tear_down, .timeout = 60);

static void
find(const struct edf_job jobs[], size_t n, size_t cores, struct edf_job_delays delays[])
{
    struct edf_outcome outcomes[CASE_JOBS];
    cr_assert_eq(edf_schedule(jobs, n, cores, &scratch, outcomes, NULL, NULL, NULL), PV_OK);
    cr_assert_eq(edf_find_delays(jobs, n, cores, outcomes, &results, &scratch, delays, NULL),
                 PV_OK);
    cr_assert_null(scratch.head, "scratch is back at its mark");
}

/* Two cores. A: 4 tasks of 3 s, to end by 10: 0-3 and 3-6 on both. B: 3 tasks of 2 s, to end by 11
 * but released at 1: waits from 1 to 6, then 6-8 on both and 8-10 on one, 9 s after its release.
 * Its third task waits from 6 to 8 for its own first two. With 8 s it is late: it waited 7 s, in
 * which A had 10 s of core time and B itself 4. */
Test(edf_delays, by_hand)
{
    struct edf_stage stages[] = {{.tasks = 4, .task_duration_s = 3},
                                 {.tasks = 3, .task_duration_s = 2}};
    struct edf_job jobs[] = {
        {.deadline_s = 8, .stages = &stages[0], .n_stages = 1},
        {.release_s = 1, .deadline_s = 8, .stages = &stages[1], .n_stages = 1}};
    struct edf_job_delays delays[2];
    find(jobs, 2, 2, delays);
    cr_assert_eq(delays[0].n, 0);
    cr_assert_eq(delays[0].waiting_s, 0);
    cr_assert_eq(delays[1].waiting_s, 7);
    cr_assert_eq(delays[1].critical_path_s, 2);
    cr_assert_eq(delays[1].n, 2);
    cr_assert_eq(delays[1].items[0].job, 0);
    cr_assert_eq(delays[1].items[0].core_s, 10);
    cr_assert_float_eq(delays[1].items[0].share, 10.0 / 14, 1e-15);
    cr_assert_eq(delays[1].items[1].job, 1);
    cr_assert_eq(delays[1].items[1].core_s, 4);
}

/* A job that is late alone on the cores that it needs never waits. */
Test(edf_delays, a_critical_path_that_is_too_long)
{
    struct edf_stage stage = {.tasks = 2, .task_duration_s = 5};
    struct edf_job job = {.deadline_s = 4, .stages = &stage, .n_stages = 1};
    struct edf_job_delays delays[1];
    find(&job, 1, 2, delays);
    cr_assert_eq(delays[0].n, 0);
    cr_assert_eq(delays[0].waiting_s, 0);
    cr_assert_eq(delays[0].critical_path_s, 5);
}

/* When a stage's tasks wait: from the end of its parents to the start of its last one. */
static void waiting_of(const struct edf_job *job,
                       size_t j,
                       const struct placements *placed,
                       double from[],
                       double to[])
{
    double ends[CASE_STAGES];
    for (size_t round = 0; round <= job->n_stages; round++)
        for (size_t s = 0; s < job->n_stages; s++) {
            from[s] = round == 0 ? job->release_s : from[s];
            for (size_t p = 0; round > 0 && p < job->stages[s].n_parents; p++)
                from[s] = fmax(from[s], ends[job->stages[s].parents[p]]);
            ends[s] = to[s] = from[s];
            for (size_t i = 0; i < placed->n; i++)
                if (placed->items[i].job == j && placed->items[i].stage == s) {
                    ends[s] = fmax(ends[s], placed->items[i].end_s);
                    to[s] = fmax(to[s], placed->items[i].start_s);
                }
        }
}

/* Between two neighbouring instants of all there are, whether some stage waits, and who runs. */
static void count(const struct edf_job jobs[],
                  size_t late,
                  const struct placements *placed,
                  double core_s[],
                  double *waiting_s)
{
    double from[CASE_STAGES];
    double to[CASE_STAGES];
    double now = -INFINITY;
    waiting_of(&jobs[late], late, placed, from, to);
    *waiting_s = 0;
    for (;;) {
        double next = INFINITY;
        double first = INFINITY;
        for (size_t i = 0; i < placed->n; i++)
            for (int side = 0; side < 2; side++) {
                double at = side ? placed->items[i].end_s : placed->items[i].start_s;
                first = at > now ? fmin(first, at) : first;
            }
        for (size_t s = 0; s < jobs[late].n_stages; s++)
            for (int side = 0; side < 2; side++) {
                double at = side ? to[s] : from[s];
                first = at > now ? fmin(first, at) : first;
            }
        next = first;
        if (!(next < (double)INFINITY))
            return;
        bool waits = false;
        for (size_t s = 0; s < jobs[late].n_stages; s++)
            waits = waits || (from[s] <= now && to[s] >= next);
        if (waits)
            *waiting_s += next - now;
        for (size_t i = 0; waits && i < placed->n; i++)
            if (placed->items[i].start_s <= now && placed->items[i].end_s >= next)
                core_s[placed->items[i].job] += next - now;
        now = next;
    }
}

Test(edf_delays, as_counted_from_the_placements)
{
    struct numbers numbers = {31};
    size_t late = 0;
    for (size_t round = 0; round < 3000; round++) {
        struct edf_case c;
        edf_case_make(&c, &numbers, round % 2 == 1);
        size_t cores = 1 + numbers_below(&numbers, 3);
        struct edf_job_delays delays[CASE_JOBS];
        struct edf_outcome outcomes[CASE_JOBS];
        struct placements placed = {.n = 0};
        const struct edf_observer observer = {placements_add, &placed};
        cr_assert_eq(edf_schedule(c.jobs, c.n, cores, &scratch, outcomes, NULL, &observer, NULL),
                     PV_OK);
        find(c.jobs, c.n, cores, delays);
        for (size_t j = 0; j < c.n; j++) {
            double core_s[CASE_JOBS] = {0};
            double waiting = 0;
            double sum = 0;
            double shares = 0;
            if (outcomes[j].met)
                continue;
            late++;
            count(c.jobs, j, &placed, core_s, &waiting);
            cr_assert_float_eq(delays[j].waiting_s, waiting, 1e-9, "round %zu: %g, not %g", round,
                               delays[j].waiting_s, waiting);
            for (size_t i = 0; i < c.n; i++)
                sum += core_s[i];
            for (size_t i = 0; i < delays[j].n; i++) {
                const struct edf_delay *delay = &delays[j].items[i];
                cr_assert_gt(delay->core_s, 0);
                cr_assert(i == 0 || delay->core_s <= delay[-1].core_s);
                cr_assert_float_eq(delay->core_s, core_s[delay->job], 1e-9, "round %zu", round);
                cr_assert_float_eq(delay->share, core_s[delay->job] / sum, 1e-9);
                shares += delay->share;
                core_s[delay->job] = 0;
            }
            for (size_t i = 0; i < c.n; i++)
                cr_assert_float_eq(core_s[i], 0, 1e-9);
            cr_assert(delays[j].n == 0 || fabs(shares - 1) < 1e-9);
            /* All cores are busy while a task waits. */
            cr_assert_float_eq(sum, waiting * (double)cores, 1e-9 * (1 + sum));
        }
    }
    cr_assert_gt(late, 1000);
}
