#include "core/scheduling/speculation/esplash.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/scheduling/speculation/late.h"
#include "core/sim/variates.h"
#include "esplash_reference.h"

enum { MAP, REDUCE, TYPES };

static const struct esplash_terms DEFAULTS = {3, 1, 1, 0.05, 10};

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(esplash, .init = set_up, .fini = tear_down);

static struct esplash_decision
decide(const struct speculation_node nodes[], size_t level[], size_t n, size_t types)
{
    struct node_levels levels = node_levels_given(level, n);
    struct esplash_decision decision;
    cr_assert_eq(esplash_decide(&(struct speculation_cluster){nodes, n, types}, &levels, &DEFAULTS,
                                &arena, &decision, NULL),
                 PV_OK);
    return decision;
}

/* --- by hand: two slow nodes and two fast ones --- */

struct two_levels {
    struct speculation_finished finished[2];
    struct speculation_task running[4];
    struct speculation_node nodes[4];
    size_t level[4];
};

/* Slow nodes take 80 s for what fast ones do in 10 s, and that is what they do. */
static void make_two_levels(struct two_levels *made)
{
    *made = (struct two_levels){
        .finished = {{MAP, 10, 80, 4}, {MAP, 10, 10, 0.5}},
        .level = {1, 1, 2, 2},
    };
    for (size_t i = 0; i < 4; i++) {
        double rate_per_s = 1 / made->finished[i / 2].mean_s;
        made->running[i] = (struct speculation_task){MAP,        0.5 / rate_per_s,    0.5,
                                                     rate_per_s, SPECULATION_NO_COPY, false};
        made->nodes[i] = (struct speculation_node){
            .containers = i < 2 ? 32 : 4,
            .free_containers = 1,
            .finished = &made->finished[i / 2],
            .n_finished = 1,
            .running = &made->running[i],
            .n_running = 1,
        };
    }
}

static struct esplash_decision decide_of(struct two_levels *made)
{
    return decide(made->nodes, made->level, 4, TYPES);
}

Test(esplash, a_node_that_is_slow_because_of_its_level_is_no_straggler)
{
    struct two_levels made;
    struct late_decision late;
    make_two_levels(&made);
    struct esplash_decision decision = decide_of(&made);
    for (size_t i = 0; i < 4; i++)
        cr_expect(!decision.nodes[i].straggler);
    cr_expect_eq(decision.action.candidate, SPECULATION_NONE);
    /* Where late compares all with all. */
    made.running[0].progress = 0.3;
    made.running[0].elapsed_s = 24;
    cr_assert_eq(
        late_decide(&(struct speculation_cluster){made.nodes, 4, TYPES}, &arena, &late, NULL),
        PV_OK);
    cr_expect_eq(late.action, 0);
    cr_expect_eq(decide_of(&made).action.candidate, SPECULATION_NONE);
}

Test(esplash, a_copy_waits_for_no_node_that_is_slower_than_the_straggler_should_be)
{
    struct two_levels made;
    make_two_levels(&made);
    made.running[2].elapsed_s = 50; /* a fast node, five times slower: still as fast as slow ones */
    made.running[2].progress_rate_per_s = 0.01;
    struct esplash_decision decision = decide_of(&made);
    cr_expect(decision.nodes[2].straggler);
    cr_assert_eq(decision.n_candidates, 1);
    cr_expect_eq(decision.candidates[0].n_expected, 1);
    cr_expect_eq(decision.candidates[0].min_level, 2);
    cr_expect_eq(decision.action.host, 3);
    made.nodes[3].free_containers = 0;
    cr_expect_eq(decide_of(&made).action.host, SPECULATION_NONE, "slow nodes have room, but stay");
}

Test(esplash, a_task_that_stands_still_counts_the_cap_at_once)
{
    struct two_levels made;
    make_two_levels(&made);
    made.running[0].progress = 0.99;
    made.running[0].elapsed_s = 79; /* on time so far */
    made.running[0].progress_rate_per_s = 0;
    struct esplash_decision decision = decide_of(&made);
    cr_expect_eq(decision.nodes[0].straggler_value, 9);
    cr_expect_eq(decision.n_candidates, 1);
    /* Its own estimate still says that it ends soon: a copy is not worth it. */
    cr_expect_lt(decision.candidates[0].value_s, 0);
    cr_expect_eq(decision.action.candidate, SPECULATION_NONE);
}

Test(esplash, a_young_task_without_progress_is_expected_to_take_what_others_took)
{
    struct two_levels made;
    make_two_levels(&made);
    made.running[0] = (struct speculation_task){MAP, 160, 0, 0, SPECULATION_NO_COPY, false};
    struct esplash_decision decision = decide_of(&made);
    cr_expect(decision.nodes[0].straggler);
    /* rest = T(1) = 80; copies on the fast level take 10; 8 of 40 containers. */
    cr_expect_eq(decision.candidates[0].min_level, 2);
    cr_expect_float_eq(decision.candidates[0].value_s, 8 * (80.0 - 10.0) / 40, 1e-12);
}

Test(esplash, copies_that_wait_are_kept_while_they_gain_and_never_asked_for_twice)
{
    struct two_levels made;
    make_two_levels(&made);
    made.running[0] =
        (struct speculation_task){MAP, 240, 0.3, 0.001, SPECULATION_COPY_WAITS, false};
    made.running[1].copy = SPECULATION_COPY_WAITS;
    made.running[1].progress = 0.9; /* 8 s left: no copy is that quick */
    made.running[1].elapsed_s = 72;
    struct esplash_decision decision = decide_of(&made);
    cr_expect(decision.nodes[0].straggler);
    cr_expect_eq(decision.n_candidates, 0);
    cr_assert_eq(decision.n_rechecks, 2);
    cr_expect(esplash_keeps(&decision.rechecks[0]));
    cr_expect(!esplash_keeps(&decision.rechecks[1]));
}

Test(esplash, no_host_and_no_statistics_are_reasons)
{
    struct two_levels made;
    make_two_levels(&made);
    for (size_t i = 2; i < 4; i++) {
        made.running[i].elapsed_s = 500;
        made.running[i].progress_rate_per_s = 0.001;
    }
    made.running[3].type = REDUCE;
    made.running[3].copy = SPECULATION_COPY_WAITS;
    made.nodes[3].containers = 0;
    struct esplash_decision decision = decide_of(&made);
    cr_assert_eq(decision.n_candidates, 1);
    cr_expect_eq(decision.candidates[0].reason, ESPLASH_NO_HOST);
    cr_expect_null(decision.candidates[0].expected_s);
    cr_expect(isnan(decision.candidates[0].value_s));
    cr_assert_eq(decision.n_rechecks, 1);
    cr_expect_eq(decision.rechecks[0].reason, ESPLASH_NO_STATISTICS);
    cr_expect(!esplash_keeps(&decision.rechecks[0]));
}

Test(esplash, statistics_of_nodes_add_up_to_those_of_all_their_tasks)
{
    /* Durations 8 and 12 on one node, 20, 20 and 30 on the other. */
    const struct speculation_finished first = {MAP, 2, 10, 2};
    const struct speculation_finished second = {MAP, 3, 70.0 / 3, sqrt(200.0 / 9)};
    const struct speculation_node nodes[] = {{.finished = &first, .n_finished = 1},
                                             {.finished = &second, .n_finished = 1}};
    size_t level[] = {1, 1};
    struct esplash_decision decision = decide(nodes, level, 2, 1);
    cr_assert_eq(decision.n_table, 1);
    cr_expect_eq(decision.table[0].tasks, 5);
    cr_expect_float_eq(decision.table[0].mean_s, 18, 1e-12);
    cr_expect_float_eq(decision.table[0].deviation_s, sqrt((100 + 36 + 4 + 4 + 144) / 5.0), 1e-12);
    cr_expect(isnan(decision.table[0].progress_rate_per_s));
}

/* --- as it is written --- */

static struct speculation_task draw_task(struct rng *rng)
{
    struct speculation_task task = {
        .type = variate_index(rng, ESPLASH_TYPES_MAX),
        .elapsed_s = variate_uniform(rng, 0, 100),
        .progress = variate_index(rng, 5) == 0 ? 0 : variate_uniform(rng, 0.01, 1),
        .progress_rate_per_s =
            variate_index(rng, 3) == 0 ? (double)NAN : variate_uniform(rng, 0, 0.1),
        .copy = (enum speculation_copy)variate_index(rng, 3),
        .is_copy = variate_index(rng, 5) == 0,
    };
    if (variate_index(rng, 6) == 0)
        task.progress_rate_per_s = 0;
    return task;
}

static void draw_case(struct rng *rng, struct esplash_case *made)
{
    *made = (struct esplash_case){.n = 1 + variate_index(rng, ESPLASH_NODES_MAX)};
    for (size_t i = 0; i < made->n; i++) {
        struct esplash_case_node *node = &made->nodes[i];
        made->level[i] = 1 + variate_index(rng, 5);
        node->containers = variate_index(rng, 6);
        node->free_containers = variate_index(rng, node->containers + 1);
        for (size_t t = 0; t < ESPLASH_TYPES_MAX; t++) {
            if (variate_index(rng, 3) == 0)
                node->finished[node->n_finished++] = (struct speculation_finished){
                    t, 1 + variate_index(rng, 9), variate_uniform(rng, 5, 60),
                    (double)variate_index(rng, 2) * variate_uniform(rng, 0, 9)};
        }
        node->n_running = variate_index(rng, ESPLASH_TASKS_MAX + 1);
        for (size_t t = 0; t < node->n_running; t++)
            node->running[t] = draw_task(rng);
    }
}

Test(esplash, agrees_with_its_definition_word_by_word)
{
    const uint64_t purpose[] = {9};
    struct rng rng = variate_stream(6, purpose, 1);
    for (size_t c = 0; c < 3000; c++) {
        struct esplash_case given;
        draw_case(&rng, &given);
        const struct esplash_terms terms = {
            variate_uniform(&rng, 0, 4), variate_uniform(&rng, 0, 2), variate_uniform(&rng, 0, 2),
            variate_uniform(&rng, 0.01, 1), variate_uniform(&rng, 1, 20)};
        esplash_reference_compare(&given, &terms, &arena);
        arena_clear(&arena);
    }
}
