/* Which tasks are slow, and why. */
#include "core/stragglers/slow_tasks.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena arena, scratch;

static void set_up(void)
{
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
    arena_fini(&scratch);
}

TestSuite(slow_tasks, .init = set_up, .fini = tear_down, .timeout = 20);

static void expect(double got, double want)
{
    cr_assert(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)), "%.17g, not %.17g", got, want);
}

static struct slow_stage
find(const struct run_stage *stage, const double factors[], double quantile, double multiplier)
{
    struct stage_times times;
    struct slow_stage slow;
    const struct slow_rule rule = {quantile, multiplier};
    cr_assert_eq(stage_times_make(stage, &arena, &scratch, &times, NULL), PV_OK);
    cr_assert_eq(slow_tasks_find(stage, &times, factors, &rule, &arena, &slow, NULL), PV_OK);
    return slow;
}

/* Eight tasks, six of them done at the quantile: their median is 10. */
Test(slow_tasks, those_beyond_the_multiple_of_the_median)
{
    const double durations[] = {10, 9, 40, 10, 15, 10, 11, 10};
    const struct run_stage stage = {.n_tasks = 8, .task_durations_s = durations};
    struct slow_stage slow = find(&stage, NULL, 0.75, 1.5);
    expect(slow.threshold_s, 15);
    cr_assert_eq(slow.n, 1, "15 is not beyond 15");
    cr_assert_eq(slow.tasks->task, 2);
    expect(slow.tasks->extra_s, 30);
    expect(slow.tasks->unknown_s, 30);
    expect(slow.sum.extra_s, 30);
}

/* Half of them are slow, but three quarters are done before anyone looks. */
Test(slow_tasks, those_done_at_the_quantile_are_none)
{
    const double durations[] = {1, 1, 1, 1, 5, 6, 7, 8};
    const struct run_stage stage = {.n_tasks = 8, .task_durations_s = durations};
    struct slow_stage slow = find(&stage, NULL, 0.75, 1.5);
    cr_assert_eq(slow.n, 2);
    cr_assert_eq(slow.tasks[0].task, 7, "most extra time first");
    cr_assert_eq(find(&stage, NULL, 1, 1.5).n, 0);
}

Test(slow_tasks, short_tasks_are_never_slow)
{
    const double durations[] = {0.01, 0.01, 0.01, 0.09};
    const struct run_stage stage = {.n_tasks = 4, .task_durations_s = durations};
    cr_assert_eq(find(&stage, NULL, 0.75, 1.5).n, 0);
}

/* Median 10; the last task read three times as much, on a node that takes twice as long: 30 are to be
 * expected of an ordinary one, 60 of this, and it took 75. */
Test(slow_tasks, what_they_read_comes_first_then_the_node)
{
    const double durations[] = {10, 10, 10, 10, 10, 75};
    const int64_t bytes[] = {100, 100, 100, 100, 100, 300};
    const int64_t nodes[] = {0, 0, 0, -1, 0, 1};
    const double factors[] = {1, 2};
    const struct run_stage stage = {
        .n_tasks = 6, .task_durations_s = durations, .task_nodes = nodes, .task_read_bytes = bytes};
    struct slow_stage slow = find(&stage, factors, 0.75, 1.5);
    cr_assert_eq(slow.n, 1);
    expect(slow.tasks->extra_s, 65);
    expect(slow.tasks->read_s, 20);
    expect(slow.tasks->node_s, 30);
    expect(slow.tasks->unknown_s, 15);
}

Test(slow_tasks, no_part_is_more_than_the_whole)
{
    const double durations[] = {10, 10, 10, 16};
    const int64_t nodes[] = {0, 0, 0, 1};
    const struct run_stage stage = {
        .n_tasks = 4, .task_durations_s = durations, .task_nodes = nodes};
    struct slow_stage slow = find(&stage, (const double[]){1, 9}, 0.75, 1.5);
    expect(slow.tasks->node_s, 6);
    expect(slow.tasks->unknown_s, 0);
}
