/* Stages side by side, with the slots divided in other ways: schedules by hand, and laws. */
#include "core/stragglers/concurrent_stages.h"

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

TestSuite(concurrent_stages, .init = set_up, .fini = tear_down, .timeout = 20);

static struct share_outcome
replay(const struct shared_stage stages[], size_t n, size_t slots, enum share_rule rule)
{
    struct share_outcome outcome;
    cr_assert_eq(concurrent_replay(stages, n, slots, rule, &arena, &outcome, NULL), PV_OK);
    return outcome;
}

static void expect(struct share_outcome got, double makespan_s, double mean_end_s)
{
    cr_assert(fabs(got.makespan_s - makespan_s) < 1e-9 && fabs(got.mean_end_s - mean_end_s) < 1e-9,
              "%g and %g, not %g and %g", got.makespan_s, got.mean_end_s, makespan_s, mean_end_s);
}

static const double fours[] = {4, 4, 4, 4};
static const double ones[] = {1, 1};

/* Two slots. A: four of 4 s; B: two of 1 s. */
Test(concurrent_stages, by_hand)
{
    const struct shared_stage stages[] = {{.durations_s = fours, .n_tasks = 4},
                                          {.durations_s = ones, .n_tasks = 2}};
    expect(replay(stages, 2, 2, SHARE_FIFO), 9, (8 + 9) / 2.0);
    /* A and B a slot each; both tasks of B, then A on both: 1 + 1, 4, 2 .. 6, 4 .. 8, 6 .. 10. */
    expect(replay(stages, 2, 2, SHARE_FAIR), 10, (10 + 2) / 2.0);
    expect(replay(stages, 2, 2, SHARE_SHORTEST), 9, (9 + 1) / 2.0);
    expect(replay(stages, 2, 2, SHARE_LONGEST), 9, (8 + 9) / 2.0);
}

/* One long task behind many short ones: with the longest work first it starts at once. */
Test(concurrent_stages, the_most_work_first_ends_soonest_here)
{
    const double many[] = {1, 1, 1, 1, 1, 1};
    const double one[] = {9};
    const struct shared_stage stages[] = {{.durations_s = many, .n_tasks = 6},
                                          {.durations_s = one, .n_tasks = 1}};
    expect(replay(stages, 2, 2, SHARE_FIFO), 12, (3 + 12) / 2.0);
    expect(replay(stages, 2, 2, SHARE_LONGEST), 9, (6 + 9) / 2.0);
}

Test(concurrent_stages, releases_and_parents_hold_a_stage_back)
{
    static const size_t first[] = {0};
    const struct shared_stage stages[] = {
        {.durations_s = fours, .n_tasks = 2},
        {.durations_s = ones, .n_tasks = 2, .released_s = 7},
        {.durations_s = ones, .n_tasks = 2, .parents = first, .n_parents = 1}};
    for (enum share_rule rule = SHARE_FIFO; rule < SHARE_RULES; rule++)
        expect(replay(stages, 3, 2, rule), 8, (4 + 8 + 5) / 3.0);
}

Test(concurrent_stages, with_a_slot_for_every_task_all_rules_are_one)
{
    const struct shared_stage stages[] = {{.durations_s = fours, .n_tasks = 4},
                                          {.durations_s = ones, .n_tasks = 2}};
    for (enum share_rule rule = SHARE_FIFO; rule < SHARE_RULES; rule++)
        expect(replay(stages, 2, 1000000000, rule), 4, 2.5);
}

/* No slot idles while a task waits: the makespan is within work / slots and that and a task more. */
Test(concurrent_stages, no_rule_leaves_a_slot_idle)
{
    enum { STAGES = 4, TASKS = 20, SLOTS = 5, REPETITIONS = 100 };
    struct rng rng = rng_make(5, 0);
    for (size_t r = 0; r < REPETITIONS; r++) {
        double durations[STAGES][TASKS];
        struct shared_stage stages[STAGES];
        double work = 0;
        for (size_t i = 0; i < STAGES; i++) {
            for (size_t k = 0; k < TASKS; k++)
                work += durations[i][k] = rng_uniform(&rng);
            stages[i] = (struct shared_stage){.durations_s = durations[i], .n_tasks = TASKS};
        }
        for (enum share_rule rule = SHARE_FIFO; rule < SHARE_RULES; rule++) {
            struct share_outcome got = replay(stages, STAGES, SLOTS, rule);
            cr_assert_geq(got.makespan_s, work / SLOTS - 1e-9);
            cr_assert_leq(got.makespan_s, work / SLOTS + 1 + 1e-9);
            cr_assert_leq(got.mean_end_s, got.makespan_s + 1e-9);
        }
    }
}

/* Each stage waits for all before it, which are looked at once, and not at every choice. */
Test(concurrent_stages, very_many_parents, .timeout = 10)
{
    enum { STAGES = 8000 };
    struct shared_stage *stages = arena_array(&arena, STAGES, sizeof *stages);
    size_t *parents = arena_array(&arena, STAGES, sizeof *parents);
    for (size_t i = 0; i < STAGES; i++) {
        parents[i] = i;
        stages[i] = (struct shared_stage){
            .durations_s = ones, .n_tasks = 2, .parents = parents, .n_parents = i};
    }
    expect(replay(stages, STAGES, 1, SHARE_FIFO), 2 * STAGES, STAGES + 1);
}
