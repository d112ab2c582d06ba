/* Durations of a stage's tasks: their order, and what they take. */
#include "core/joblog/spark/tasks.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/joblog/common/log_nodes.h"

static struct budget budget;
static struct tasks tasks;

static void start(void)
{
    budget = (struct budget){.limit = 1 << 24};
    tasks = (struct tasks){.n = 0};
}

static void stop(void)
{
    tasks_fini(&tasks, &budget);
    cr_assert_eq(budget.used, 0);
}

TestSuite(sparklog_tasks, .init = start, .fini = stop);

/* What else is kept of a task can be told by how long it took. */
static struct task_kept task_of(int64_t ms)
{
    return (struct task_kept){ms, ms % 7 == 0 ? -1 : 3 * ms,
                              ms % 5 == 0 ? LOG_NODE_UNKNOWN : (uint32_t)(ms % 11)};
}

static void add(int64_t index, int64_t ms)
{
    cr_assert_eq(tasks_add(&tasks, &budget, index, -1, task_of(ms), NULL), PV_OK);
}

static void expect(const double want[], size_t n)
{
    double got[16];
    int64_t nodes[16];
    int64_t bytes[16];
    cr_assert_eq(tasks.n, n);
    tasks_list(&tasks, &(struct task_lists){got, nodes, bytes});
    for (size_t i = 0; i < n; i++) {
        struct task_kept task = task_of((int64_t)(want[i] * 1000 + 0.5));
        cr_assert_eq(got[i], want[i], "%zu: %g", i, got[i]);
        cr_assert_eq(nodes[i], task.node == LOG_NODE_UNKNOWN ? -1 : (int64_t)task.node);
        cr_assert_eq(bytes[i], task.read_bytes);
    }
}

Test(sparklog_tasks, come_in_the_order_of_their_index)
{
    add(3, 3000);
    add(0, 500);
    add(1, 1000);
    expect((const double[]){0.5, 1, 3}, 3);
}

Test(sparklog_tasks, a_second_success_comes_behind_the_first)
{
    add(1, 1000);
    add(0, 10);
    add(1, 2000);
    add(2, 20);
    add(1, 3000);
    expect((const double[]){0.01, 1, 2, 3, 0.02}, 5);
}

Test(sparklog_tasks, one_without_an_index_comes_last)
{
    add(-1, 9000);
    add(INT64_MAX, 8000);
    add(0, 1000);
    expect((const double[]){1, 9, 8}, 3);
}

Test(sparklog_tasks, no_time_at_all_and_the_longest_there_is_are_durations)
{
    add(0, 0);
    add(1, INT64_C(253402300799999));
    expect((const double[]){0, 253402300799.999}, 2);
}

/* A log may name any index: the memory follows the number of tasks. */
Test(sparklog_tasks, a_far_index_takes_no_more_than_another)
{
    for (int64_t i = 0; i < 4; i++)
        add(UINT32_MAX - i, i * 1000);
    add(100000000, 5000);
    cr_assert_leq(budget.used, 400);
    expect((const double[]){5, 3, 2, 1, 0}, 5);
}

/* 1000 run at once and end in any order. */
Test(sparklog_tasks, takes_24_bytes_a_task)
{
    enum { N = 100000, AT_ONCE = 1000 };
    static double got[N];
    static int64_t nodes[N];
    static int64_t bytes[N];
    static int64_t shuffled[N];
    uint32_t state = 1;
    for (int64_t i = 0; i < N; i++)
        shuffled[i] = i;
    for (size_t i = 0; i < N; i++) {
        state = state * 1664525U + 1013904223U;
        size_t room = N - i < AT_ONCE ? N - i : AT_ONCE;
        size_t other = i + (state >> 8) % room;
        int64_t kept = shuffled[i];
        shuffled[i] = shuffled[other];
        shuffled[other] = kept;
    }
    for (size_t i = 0; i < N; i++)
        cr_assert_eq(tasks_add(&tasks, &budget, shuffled[i], N, task_of(shuffled[i]), NULL), PV_OK);
    cr_assert_leq((double)budget.used / N, 26.7);
    tasks_list(&tasks, &(struct task_lists){got, nodes, bytes});
    for (size_t i = 0; i < N; i++)
        cr_assert_eq(got[i], (double)i / 1000.0);
}

Test(sparklog_tasks, a_plan_that_is_not_kept_costs_nothing)
{
    for (int64_t i = 0; i < 8; i++)
        cr_assert_eq(tasks_add(&tasks, &budget, i, INT64_MAX, task_of(i), NULL), PV_OK);
    cr_assert_leq(budget.used, 8 * sizeof(struct task_kept));
}

Test(sparklog_tasks, what_goes_over_the_budget_is_not_kept)
{
    budget.limit = 8 * sizeof(struct task_kept);
    for (int64_t i = 0; i < 8; i++)
        add(i, i * 1000);
    cr_assert_eq(tasks_add(&tasks, &budget, 8, -1, task_of(1), NULL), PV_E_LIMIT);
    cr_assert_eq(tasks_add(&tasks, &budget, 2, -1, task_of(1), NULL), PV_E_LIMIT);
    expect((const double[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
}
