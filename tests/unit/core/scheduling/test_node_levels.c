#include "core/scheduling/speculation/node_levels.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rounding.h"
#include "core/sim/variates.h"
#include "levels_reference.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(node_levels, .init = set_up, .fini = tear_down);

static struct node_levels find(const struct levels_case *given, size_t count)
{
    struct speculation_finished finished[LEVELS_NODES_MAX][LEVELS_TYPES_MAX];
    struct speculation_node nodes[LEVELS_NODES_MAX];
    struct node_levels levels;
    for (size_t i = 0; i < given->n; i++) {
        for (size_t t = 0; t < given->types; t++)
            finished[i][t] = (struct speculation_finished){
                .type = t, .tasks = 3, .mean_s = given->mean_s[i][t], .deviation_s = 1};
        nodes[i] = (struct speculation_node){
            .containers = 4, .finished = finished[i], .n_finished = given->types};
    }
    const struct speculation_cluster cluster = {nodes, given->n, given->types};
    cr_assert_eq(node_levels_find(&cluster, count, &arena, &levels, NULL), PV_OK);
    return levels;
}

static void expect_each(const size_t got[], const size_t want[], size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++)
        cr_expect_eq(got[i], want[i], "node %zu: %s %zu, not %zu", i, what, got[i], want[i]);
}

/* --- by hand --- */

Test(node_levels, as_many_as_there_are_kinds_of_nodes)
{
    struct levels_case given = {
        .mean_s = {{10, 15},
                   {80, 120},
                   {20.5, 31},
                   {40, 60},
                   {82, 124},
                   {10.2, 15.4},
                   {41, 62},
                   {20, 30}},
        .n = 8,
        .types = 2,
    };
    struct node_levels levels = find(&given, NODE_LEVELS_AUTO);
    cr_expect_eq(levels.highest, 4);
    cr_expect_gt(levels.silhouette, 0.9);
    expect_each(levels.level, (const size_t[]){4, 1, 3, 2, 1, 4, 2, 3}, 8, "level");
    cr_expect_eq(levels.n_groups, 8);
}

Test(node_levels, nodes_that_cross_are_one_group_with_whatever_lies_between_them)
{
    struct levels_case given = {
        .mean_s = {{50, 90}, {10, 10}, {40, 100}, {45, 95}, {51, 101}, {100, 101.5}},
        .n = 6,
        .types = 2,
    };
    struct node_levels levels = find(&given, 3);
    /* 0 and 2 cross, 3 is between them; 4 is slower than all of them in both types, 5 than 4. */
    expect_each(levels.group, (const size_t[]){0, 1, 0, 0, 2, 3}, 6, "group");
    given.mean_s[4][1] = 100;
    levels = find(&given, 3);
    /* Now 4 is as slow as 2 in the second type: it overlaps the group. */
    expect_each(levels.group, (const size_t[]){0, 1, 0, 0, 0, 2}, 6, "group");
}

Test(node_levels, nodes_that_are_equal_somewhere_but_do_not_cross_stay_alone)
{
    struct levels_case given = {.mean_s = {{10, 20}, {10, 30}, {12, 30}}, .n = 3, .types = 2};
    struct node_levels levels = find(&given, 3);
    expect_each(levels.group, (const size_t[]){0, 1, 2}, 3, "group");
}

Test(node_levels, noise_in_several_types_is_no_difference)
{
    const uint64_t purpose[] = {7};
    struct rng rng = variate_stream(4, purpose, 1);
    struct levels_case given = {.n = LEVELS_NODES_MAX, .types = LEVELS_TYPES_MAX};
    for (size_t i = 0; i < given.n; i++) {
        for (size_t t = 0; t < given.types; t++)
            given.mean_s[i][t] = variate_uniform(&rng, 95, 105);
    }
    struct node_levels levels = find(&given, NODE_LEVELS_AUTO);
    cr_expect_eq(levels.n_groups, 1);
    cr_expect_eq(levels.highest, 1);
    cr_expect_eq(levels.silhouette, 0);
}

Test(node_levels, two_nodes_are_too_few_for_a_silhouette)
{
    struct levels_case given = {.mean_s = {{10}, {90}}, .n = 2, .types = 1};
    struct node_levels levels = find(&given, NODE_LEVELS_AUTO);
    cr_expect_eq(levels.highest, 1);
    cr_expect(isnan(levels.silhouette));
    levels = find(&given, 2);
    expect_each(levels.level, (const size_t[]){2, 1}, 2, "level");
}

Test(node_levels, only_types_that_all_nodes_have_finished_count)
{
    const struct speculation_finished first[] = {{.type = 1, .tasks = 1, .mean_s = 10},
                                                 {.type = 0, .tasks = 1, .mean_s = 20}};
    const struct speculation_finished second[] = {{.type = 0, .tasks = 1, .mean_s = 20},
                                                  {.type = 2, .tasks = 1, .mean_s = 1}};
    const struct speculation_node nodes[] = {{.finished = first, .n_finished = 2},
                                             {.finished = second, .n_finished = 2}};
    struct node_levels levels;
    cr_assert_eq(
        node_levels_find(&(struct speculation_cluster){nodes, 2, 3}, 2, &arena, &levels, NULL),
        PV_OK);
    cr_expect_eq(levels.common_types, 1);
    cr_expect_eq(levels.highest, 1, "they are equal in the type that both have finished");
}

Test(node_levels, without_common_types_all_are_on_one_level_in_one_group)
{
    const struct speculation_finished first[] = {{.type = 1, .tasks = 1, .mean_s = 10}};
    const struct speculation_finished second[] = {{.type = 0, .tasks = 1, .mean_s = 20}};
    const struct speculation_node nodes[] = {{.finished = first, .n_finished = 1},
                                             {.finished = second, .n_finished = 1},
                                             {.n_finished = 0}};
    struct node_levels levels;
    cr_assert_eq(
        node_levels_find(&(struct speculation_cluster){nodes, 3, 2}, 2, &arena, &levels, NULL),
        PV_OK);
    cr_expect_eq(levels.common_types, 0);
    expect_each(levels.level, (const size_t[]){1, 1, 1}, 3, "level");
    expect_each(levels.group, (const size_t[]){0, 0, 0}, 3, "group");
    cr_expect(isnan(levels.silhouette));
}

Test(node_levels, given_ones_have_no_groups)
{
    size_t level[] = {2, 7, 1};
    struct node_levels levels = node_levels_given(level, 3);
    cr_expect_eq(levels.highest, 7);
    cr_expect_null(levels.group);
    cr_expect(isnan(levels.silhouette));
}

/* --- as the algorithms are written --- */

/* Durations of few values cross and tie often; others do not. */
static struct levels_case draw_case(struct rng *rng, size_t values)
{
    struct levels_case given = {.n = 1 + variate_index(rng, LEVELS_NODES_MAX),
                                .types = 1 + variate_index(rng, LEVELS_TYPES_MAX)};
    for (size_t i = 0; i < given.n; i++) {
        double kind = 1 + (double)variate_index(rng, 3);
        for (size_t t = 0; t < given.types; t++)
            given.mean_s[i][t] = values > 0 ? 10 * kind + (double)variate_index(rng, values)
                                            : kind * variate_uniform(rng, 9, 11);
    }
    return given;
}

static void expect_as_written(const struct levels_case *given)
{
    size_t group[LEVELS_NODES_MAX];
    size_t level[LEVELS_NODES_MAX];
    reference_groups(given, group);
    for (size_t k = 1; k <= given->n; k++) {
        struct node_levels found = find(given, k);
        size_t n_levels = reference_levels(given, group, k, level);
        cr_expect_eq(found.highest, n_levels);
        expect_each(found.group, group, given->n, "group");
        expect_each(found.level, level, given->n, "level");
    }
}

static void expect_auto_as_written(const struct levels_case *given)
{
    struct node_levels found = find(given, NODE_LEVELS_AUTO);
    size_t group[LEVELS_NODES_MAX];
    size_t level[LEVELS_NODES_MAX];
    size_t best = 1;
    double silhouette = (double)NAN;
    reference_groups(given, group);
    for (size_t k = 2; k <= NODE_LEVELS_AUTO_MAX && k < given->n; k++) {
        size_t n_levels = reference_levels(given, group, k, level);
        double now = reference_silhouette(given, level, n_levels);
        if (isnan(silhouette) || (now > silhouette && !rounding_equal(now, silhouette))) {
            silhouette = now;
            best = k;
        }
    }
    if (!(silhouette >= 0.25))
        best = 1;
    cr_expect(isnan(silhouette) ? isnan(found.silhouette)
                                : fabs(found.silhouette - silhouette) <= 1e-12,
              "silhouette %g, not %g", found.silhouette, silhouette);
    cr_expect_eq(found.highest, reference_levels(given, group, best, level));
    expect_each(found.level, level, given->n, "level");
}

Test(node_levels, agree_with_the_algorithms_word_by_word)
{
    const size_t values[] = {0, 1, 3, 12};
    const uint64_t purpose[] = {8};
    struct rng rng = variate_stream(5, purpose, 1);
    for (size_t c = 0; c < 1200; c++) {
        struct levels_case given = draw_case(&rng, values[c % 4]);
        expect_as_written(&given);
        expect_auto_as_written(&given);
        arena_clear(&arena);
    }
}
