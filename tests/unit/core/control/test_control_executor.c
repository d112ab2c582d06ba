#include "core/control/executor.h"

#include <criterion/criterion.h>
#include <math.h>

static struct arena arena;
static struct control_executor executor;
static struct edf_plan_stage stage;
static const struct control_work work = {&stage, 1};

static void set_up(void)
{
    arena_init(&arena, 0);
    stage = (struct edf_plan_stage){.uniform_s = 4, .tasks = 6};
    executor = (struct control_executor){.tasks = 6};
    cr_assert(heap_init(&executor.running, &arena, 6));
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(control_executor, .init = set_up, .fini = tear_down);

/* Three tasks on two and a half cores have 5/6 of a core each. */
Test(control_executor, a_part_of_a_core_is_shared_by_one_task_more)
{
    control_executor_resize(&executor, &work, 2.5);
    cr_expect_eq(executor.running.n, 3);
    cr_expect(fabs(control_executor_next_s(&executor) - 4 / (2.5 / 3)) < 1e-12);
}

/* One core a task at most: the last tasks do not get quicker with more cores. */
Test(control_executor, a_task_uses_one_core_at_most)
{
    executor.tasks = 2;
    control_executor_resize(&executor, &work, 8);
    cr_expect_eq(executor.running.n, 2);
    cr_expect_eq(control_executor_next_s(&executor), 4);
}

/* Two tasks at full pace for a second, then at a quarter: 3 s left take 12. */
Test(control_executor, running_tasks_slow_down_when_the_quota_falls)
{
    control_executor_resize(&executor, &work, 2);
    cr_expect_eq(control_executor_advance(&executor, 1), 2);
    control_executor_resize(&executor, &work, 0.5);
    cr_expect_eq(executor.running.n, 2, "nothing is preempted");
    cr_expect_eq(control_executor_next_s(&executor), 13);
    cr_expect_eq(control_executor_advance(&executor, 13), 6);
    control_executor_complete(&executor, &work);
    cr_expect_eq(executor.completed, 2, "both end at once");
    cr_expect_eq(executor.running.n, 1, "half a core is one place");
    control_executor_resize(&executor, &work, 0);
    cr_expect_eq(control_executor_next_s(&executor), HUGE_VAL);
}
