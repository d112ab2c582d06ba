#include "core/scheduling/speculation/late.h"

#include <criterion/criterion.h>
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

TestSuite(late, .init = set_up, .fini = tear_down);

enum { MAP, REDUCE, TYPES };

static struct late_decision decide(const struct speculation_node nodes[], size_t n)
{
    struct late_decision decision;
    cr_assert_eq(
        late_decide(&(struct speculation_cluster){nodes, n, TYPES}, &arena, &decision, NULL),
        PV_OK);
    return decision;
}

Test(late, the_task_that_a_new_copy_is_expected_to_beat_by_most_gets_one)
{
    const struct speculation_finished finished[] = {{MAP, 3, 20, 0}, {MAP, 1, 40, 0}};
    const struct speculation_task first[] = {{MAP, 30, 0.5, 0, SPECULATION_NO_COPY, false},
                                             {MAP, 60, 0.25, 0, SPECULATION_NO_COPY, false}};
    const struct speculation_task second[] = {{MAP, 60, 0.375, 0, SPECULATION_NO_COPY, false}};
    const struct speculation_node nodes[] = {
        {.finished = &finished[0], .n_finished = 1, .running = first, .n_running = 2},
        {.finished = &finished[1], .n_finished = 1, .running = second, .n_running = 1}};
    struct late_decision decision = decide(nodes, 2);
    cr_expect_eq(decision.n_candidates, 3);
    cr_expect_eq(decision.candidates[0].remaining_s, 30);
    cr_expect_eq(decision.candidates[0].copy_s, 25);
    cr_expect_eq(decision.candidates[1].value_s, 180 - 25);
    cr_expect_eq(decision.candidates[2].value_s, 100 - 25);
    cr_expect_eq(decision.candidates[2].place.node, 1);
    cr_expect_eq(decision.action, 1);
}

Test(late, tasks_with_a_copy_and_copies_get_none)
{
    const struct speculation_finished finished = {MAP, 3, 20, 0};
    const struct speculation_task running[] = {
        {MAP, 90, 0.1, 0, SPECULATION_COPY_WAITS, false},
        {MAP, 80, 0.1, 0, SPECULATION_COPY_RUNS, false},
        {MAP, 70, 0.1, 0, SPECULATION_NO_COPY, true},
        {MAP, 60, 0.1, 0, SPECULATION_NO_COPY, false},
        {MAP, 60, 0.1, 0, SPECULATION_NO_COPY, false},
    };
    const struct speculation_node node = {
        .finished = &finished, .n_finished = 1, .running = running, .n_running = 5};
    cr_expect_eq(decide(&node, 1).action, 3, "of equal ones the first");
}

Test(late, nothing_is_guessed_without_progress_or_without_finished_tasks)
{
    const struct speculation_finished finished = {MAP, 3, 20, 0};
    const struct speculation_task running[] = {
        {MAP, 900, 0, 0, SPECULATION_NO_COPY, false},
        {REDUCE, 900, 0.1, 0, SPECULATION_NO_COPY, false},
    };
    const struct speculation_node node = {
        .finished = &finished, .n_finished = 1, .running = running, .n_running = 2};
    struct late_decision decision = decide(&node, 1);
    cr_expect(isnan(decision.candidates[0].remaining_s));
    cr_expect(isnan(decision.candidates[0].value_s));
    cr_expect(isnan(decision.candidates[1].copy_s));
    cr_expect(isnan(decision.candidates[1].value_s));
    cr_expect_eq(decision.action, SPECULATION_NONE);
}

Test(late, a_task_that_a_copy_cannot_beat_gets_none)
{
    const struct speculation_finished finished = {MAP, 3, 20, 0};
    const struct speculation_task running[] = {{MAP, 20, 0.5, 0, SPECULATION_NO_COPY, false}};
    const struct speculation_node node = {
        .finished = &finished, .n_finished = 1, .running = running, .n_running = 1};
    struct late_decision decision = decide(&node, 1);
    cr_expect_eq(decision.candidates[0].value_s, 0);
    cr_expect_eq(decision.action, SPECULATION_NONE);
}
