#include "core/scheduling/speculation/speculation_gaps.h"

#include <criterion/criterion.h>
#include <math.h>

enum { COMMON, LONE, UNKNOWN, TYPES };

static struct speculation_gaps find(const struct speculation_node nodes[], size_t n)
{
    struct speculation_gaps gaps;
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_eq(
        speculation_find_gaps(&(struct speculation_cluster){nodes, n, TYPES}, &arena, &gaps, NULL),
        PV_OK);
    arena_fini(&arena);
    return gaps;
}

static const struct speculation_finished finished[] = {{COMMON, 3, 10, 1}, {LONE, 1, 5, 0}};
static const struct speculation_task running[] = {
    {COMMON, 5, 0.5, 0.1, SPECULATION_NO_COPY, false},
    {UNKNOWN, 5, 0.5, 0.1, SPECULATION_NO_COPY, false},
};

Test(speculation_gaps, count_what_is_missing_and_name_the_first)
{
    const struct speculation_node nodes[] = {
        {.containers = 2, .finished = finished, .n_finished = 1},
        {.containers = 2, .running = running, .n_running = 2},
        {.containers = 2, .finished = finished, .n_finished = 2},
        {.containers = 2, .free_containers = 1, .running = running, .n_running = 2},
    };
    struct speculation_gaps gaps = find(nodes, 4);
    cr_expect(gaps.unproven_nodes == 2 && gaps.unproven_node == 1);
    cr_expect(gaps.lone_types == 1 && gaps.lone_type == LONE && gaps.lone_node == 2);
    cr_expect(gaps.unknown_types == 1 && gaps.unknown_type == UNKNOWN);
    cr_expect(gaps.crowded_nodes == 1 && gaps.crowded_node == 3);
}

Test(speculation_gaps, a_single_node_lacks_nothing_that_others_have)
{
    const struct speculation_node node = {
        .containers = 1, .finished = finished, .n_finished = 2, .running = running, .n_running = 1};
    struct speculation_gaps gaps = find(&node, 1);
    cr_expect(gaps.unproven_nodes == 0 && gaps.lone_types == 0 && gaps.unknown_types == 0 &&
              gaps.crowded_nodes == 0);
    cr_expect_eq(gaps.lone_type, SPECULATION_NONE);
}

/* --- progress --- */

Test(speculation, progress_that_is_none_gives_no_estimate)
{
    const struct speculation_task some = {.elapsed_s = 30, .progress = 0.25};
    const struct speculation_task none = {.elapsed_s = 30, .progress = 0};
    const struct speculation_task next_to_none = {.elapsed_s = 1e12, .progress = 1e-300};
    cr_expect_eq(speculation_remaining_s(&some), 90);
    cr_expect(isnan(speculation_remaining_s(&none)));
    cr_expect(isnan(speculation_remaining_s(&next_to_none)));
}
