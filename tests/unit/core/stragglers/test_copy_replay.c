/* Stages replayed with copies of slow tasks: schedules by hand, and laws on drawn ones. */
#include "core/stragglers/copy_replay.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rng.h"

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 0);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

TestSuite(copy_replay, .init = set_up, .fini = tear_down, .timeout = 60);

static const struct esplash_terms esplash = {3, 1, 1, 0.05, 10};

static struct copy_outcome replay(const struct copy_stage *stage, enum copy_rule rule)
{
    size_t one_level[16];
    for (size_t k = 0; k < 16; k++)
        one_level[k] = 1;
    struct node_levels levels = node_levels_given(one_level, stage->n_nodes);
    const struct copy_terms terms = {0.75, 1.5, &levels, esplash, 0};
    struct copy_outcome outcome;
    cr_assert_eq(copy_replay(stage, rule, &terms, &arena, &outcome, NULL), PV_OK);
    return outcome;
}

static void expect(double got, double want)
{
    cr_assert(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)), "%.17g, not %.17g", got, want);
}

/* Two nodes of one slot. a: 1, 1, 10; b: 1, 1, 1, 1, 1. */
static const double durations[] = {1, 1, 10, 1, 1, 1, 1, 1};
static const double ordinary[] = {1, 1, 1, 1, 1, 1, 1, 1};
static const size_t nodes[] = {0, 0, 0, 1, 1, 1, 1, 1};
static const size_t one_slot[] = {1, 1};
static const double even[] = {1, 1};
static const struct copy_stage by_hand = {durations, ordinary, nodes, 8, one_slot, even, 2};

Test(copy_replay, tasks_run_where_they_ran_in_order)
{
    struct copy_outcome outcome = replay(&by_hand, COPY_NONE);
    expect(outcome.makespan_s, 12);
    cr_assert(outcome.copies == 0 && outcome.useful == 0 && outcome.wasted_s == 0);
}

/* Node 1 is idle from 5 on; the task that began at 2 is slow from 3.5 on. Its copy ends at 6. */
Test(copy_replay, by_sparks_rule_a_copy_starts_where_a_slot_is_idle)
{
    struct copy_outcome outcome = replay(&by_hand, COPY_SPARK);
    expect(outcome.makespan_s, 6);
    cr_assert(outcome.copies == 1 && outcome.useful == 1);
    expect(outcome.wasted_s, 4);
}

/* Without an event at that instant: the last other task ends at 3, the slow one is slow at 3.5. */
Test(copy_replay, a_task_becomes_slow_between_events)
{
    struct copy_stage stage = by_hand;
    const double shorter[] = {1, 1, 10, 0.6, 0.6, 0.6, 0.6, 0.6};
    stage.duration_s = shorter;
    /* Median of seven tasks done: 0.6; slow from 2 + 0.9 on. Node 1 is idle from 3 on. */
    expect(replay(&stage, COPY_SPARK).makespan_s, 4);
    const double still[] = {1, 1, 10, 0.2, 0.2, 0.2, 0.2, 0.2};
    stage.duration_s = still;
    expect(replay(&stage, COPY_SPARK).makespan_s, 3.3);
}

Test(copy_replay, a_copy_that_ends_last_is_wasted)
{
    struct copy_stage stage = by_hand;
    const double slow_copies[] = {1, 1, 30, 1, 1, 1, 1, 1};
    stage.copy_s = slow_copies;
    struct copy_outcome outcome = replay(&stage, COPY_SPARK);
    expect(outcome.makespan_s, 12);
    cr_assert(outcome.copies == 1 && outcome.useful == 0);
    expect(outcome.wasted_s, 7);
}

Test(copy_replay, a_copy_takes_as_long_as_its_host_does)
{
    struct copy_stage stage = by_hand;
    stage.factors = (const double[]){1, 4};
    expect(replay(&stage, COPY_SPARK).makespan_s, 9);
}

/* At 5 the task has 7 to go, and the mean of what is done is 1. */
Test(copy_replay, late_copies_what_it_beats)
{
    struct copy_outcome outcome = replay(&by_hand, COPY_LATE);
    expect(outcome.makespan_s, 6);
    cr_assert_eq(outcome.copies, 1);
}

Test(copy_replay, esplash_copies_from_a_straggler)
{
    struct copy_outcome outcome = replay(&by_hand, COPY_ESPLASH);
    cr_assert_eq(outcome.copies, 1);
    cr_assert_lt(outcome.makespan_s, 12);
}

/* The node of the task is no host, however idle. */
Test(copy_replay, one_node_has_no_copies)
{
    static const size_t on_one[8] = {0};
    struct copy_stage stage = by_hand;
    stage.node = on_one;
    stage.slots = (const size_t[]){8};
    stage.n_nodes = 1;
    for (enum copy_rule rule = COPY_NONE; rule < COPY_RULES; rule++) {
        struct copy_outcome outcome = replay(&stage, rule);
        expect(outcome.makespan_s, 10);
        cr_assert_eq(outcome.copies, 0);
    }
}

Test(copy_replay, tasks_of_no_time_end_at_once)
{
    struct copy_stage stage = by_hand;
    const double none[8] = {0};
    stage.duration_s = none;
    for (enum copy_rule rule = COPY_NONE; rule < COPY_RULES; rule++)
        expect(replay(&stage, rule).makespan_s, 0);
}

/* Each node by itself, its tasks to whichever of its slots is free first. */
static double makespan_of_nodes(const struct copy_stage *stage)
{
    double last = 0;
    for (size_t k = 0; k < stage->n_nodes; k++) {
        double free_at[8] = {0};
        for (size_t i = 0; i < stage->n_tasks; i++) {
            size_t slot = 0;
            if (stage->node[i] != k)
                continue;
            for (size_t s = 1; s < stage->slots[k]; s++)
                slot = free_at[s] < free_at[slot] ? s : slot;
            free_at[slot] += stage->duration_s[i];
            last = fmax(last, free_at[slot]);
        }
    }
    return last;
}

/* Copies take idle slots only, so no task ends later than without; each copy is useful or wasted. */
Test(copy_replay, copies_never_make_a_stage_longer)
{
    enum { TASKS = 60, NODES = 5, REPETITIONS = 200 };
    struct rng rng = rng_make(11, 0);
    size_t copies = 0;
    for (size_t r = 0; r < REPETITIONS; r++) {
        double takes[TASKS], copy[TASKS], factors[NODES];
        size_t on[TASKS], slots[NODES];
        for (size_t k = 0; k < NODES; k++) {
            slots[k] = 1 + rng_next(&rng) % 4;
            factors[k] = 0.5 + 2 * rng_uniform(&rng);
        }
        for (size_t i = 0; i < TASKS; i++) {
            on[i] = rng_next(&rng) % NODES;
            takes[i] = rng_uniform(&rng) < 0.1 ? 20 : 1 + rng_uniform(&rng);
            copy[i] = 0.5 + 3 * rng_uniform(&rng);
        }
        const struct copy_stage stage = {takes, copy, on, TASKS, slots, factors, NODES};
        double without = replay(&stage, COPY_NONE).makespan_s;
        expect(without, makespan_of_nodes(&stage));
        for (enum copy_rule rule = COPY_SPARK; rule < COPY_RULES; rule++) {
            struct copy_outcome with = replay(&stage, rule);
            cr_assert_leq(with.makespan_s, without + 1e-9);
            cr_assert_leq(with.useful, with.copies);
            cr_assert_eq(with.copies == 0, with.wasted_s <= 0);
            copies += with.copies;
        }
    }
    cr_assert_gt(copies, 3 * REPETITIONS, "there was something to see");
}
