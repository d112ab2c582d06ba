#include "core/scheduling/comparison/policy_search.h"

#include <criterion/criterion.h>
#include <math.h>

#include "core/sim/variates.h"

enum { CANDIDATES = 24, JOBS = 100 };

/* Candidates whose values are known: a mean, what all share in a repetition, and noise of their own.
 * Over the first jobs alone they are off by `bias` of what is missing. */
struct synthetic {
    struct policy_search_plan plan;
    double mean[CANDIDATES];
    bool draws[CANDIDATES];
    double weight[CANDIDATES];
    double setup[CANDIDATES];
    double tasks_by[JOBS + 1];
    double bias[CANDIDATES];
    double shared, noise; /* standard deviations */
    size_t broken;        /* this one cannot be simulated */
    uint64_t seed;
    double spent;
    size_t cells;
};

static void make(struct synthetic *s, size_t n, bool random, double budget)
{
    *s =
        (struct synthetic){.shared = random ? 1 : 0, .noise = random ? 0.3 : 0, .broken = SIZE_MAX};
    for (size_t i = 0; i < n; i++) {
        s->mean[i] = 10 + 0.2 * (double)((5 * i + 3) % n);
        s->draws[i] = random;
        s->weight[i] = 1;
    }
    for (size_t i = 0; i < JOBS; i++)
        s->tasks_by[i + 1] = s->tasks_by[i] + 1 + (double)(i % 3);
    s->plan = (struct policy_search_plan){.n = n,
                                          .draws = s->draws,
                                          .weight = s->weight,
                                          .setup = s->setup,
                                          .tasks_by = s->tasks_by,
                                          .jobs = JOBS,
                                          .budget = budget * s->tasks_by[JOBS],
                                          .error_chance = 0.05};
}

static double normal(uint64_t seed, uint64_t kind, uint64_t i, uint64_t repetition)
{
    const uint64_t keys[] = {kind, i, repetition};
    struct rng stream = variate_stream(seed, keys, 3);
    return variate_normal_above(&stream, 0, 1, -1e9);
}

static double
value_of(const struct synthetic *s, const struct policy_search_cell *cell, size_t jobs)
{
    size_t i = cell->candidate;
    size_t r = cell->repetition;
    if (i == s->broken)
        return (double)NAN;
    double missing = 1 - (double)jobs / JOBS;
    double value = s->mean[i] + missing * s->bias[i];
    return s->draws[i]
               ? value + s->shared * normal(s->seed, 0, 0, r) + s->noise * normal(s->seed, 1, i, r)
               : value;
}

/* Every cell comes once. */
static struct policy_search_found run(struct synthetic *s, struct arena *arena)
{
    struct policy_search *search = policy_search_begin(&s->plan, arena);
    struct policy_search_batch batch;
    struct policy_search_found found;
    s->spent = 0;
    s->cells = 0;
    while (policy_search_next(search, &batch)) {
        double *values = arena_array(arena, batch.n, sizeof *values);
        for (size_t c = 0; c < batch.n; c++) {
            const struct policy_search_cell *cell = &batch.cells[c];
            cr_assert_lt(cell->candidate, s->plan.n);
            cr_assert(s->draws[cell->candidate] || cell->repetition == 0);
            values[c] = value_of(s, cell, batch.jobs);
            s->spent +=
                s->setup[cell->candidate] + s->weight[cell->candidate] * s->tasks_by[batch.jobs];
            s->cells++;
        }
        policy_search_give(search, values);
    }
    cr_assert(policy_search_conclude(search, arena, &found));
    cr_expect_float_eq(found.task_runs, s->spent, 1e-6);
    cr_expect_leq(found.task_runs, s->plan.budget * (1 + 1e-12));
    return found;
}

static size_t least_of(const struct synthetic *s)
{
    size_t best = 0;
    for (size_t i = 1; i < s->plan.n; i++)
        if (s->mean[i] < s->mean[best])
            best = i;
    return best;
}

/* --- candidates that draw --- */

Test(policy_search, names_the_best_as_seldom_wrongly_as_stated, .timeout = 60)
{
    struct arena arena;
    struct synthetic s;
    size_t wrong = 0;
    size_t sure = 0;
    size_t worse = 0;
    double stated = 0;
    enum { SEEDS = 600 };
    make(&s, CANDIDATES, true, 3000);
    s.plan.error_chance = 0.1;
    s.noise = 0.7;
    for (s.seed = 0; s.seed < SEEDS; s.seed++) {
        arena_init(&arena, 0);
        struct policy_search_found found = run(&s, &arena);
        size_t named = found.ranks[0].candidate;
        worse += s.mean[named] > (1 + found.loss) * s.mean[least_of(&s)] * (1 + 1e-9);
        if (!found.cut_short) {
            sure++;
            stated += found.error_chance;
            wrong += named != least_of(&s);
            cr_expect_leq(found.error_chance, 0.1);
        }
        arena_fini(&arena);
    }
    cr_log_info("%zu sure, %zu wrong, stated %g; %zu worse", sure, wrong, stated / (double)sure,
                worse);
    cr_expect_gt(sure, SEEDS / 2);
    /* Binomial: 3 standard errors above. */
    cr_expect_leq((double)wrong, 0.1 * (double)sure + 3 * sqrt(0.09 * (double)sure));
    cr_expect_leq((double)worse, 0.1 * SEEDS);
}

Test(policy_search, stops_when_it_is_sure)
{
    struct arena arena;
    struct synthetic s;
    make(&s, CANDIDATES, true, 100000);
    arena_init(&arena, 0);
    struct policy_search_found found = run(&s, &arena);
    cr_expect_eq(found.ranks[0].candidate, least_of(&s));
    cr_expect(!found.cut_short);
    cr_expect_leq(found.error_chance, 0.05);
    cr_expect_lt(found.task_runs, 0.1 * s.plan.budget);
    cr_expect_eq(found.n, CANDIDATES);
    cr_expect_eq(found.left_out, 0);
    for (size_t i = 1; i < found.n; i++)
        cr_expect_geq(found.ranks[i].excess, i > 1 ? found.ranks[i - 1].excess : 0);
    arena_fini(&arena);
}

Test(policy_search, rounds_double_repetitions_and_halve_candidates)
{
    struct arena arena;
    struct synthetic s;
    make(&s, 16, true, 100000);
    arena_init(&arena, 0);
    struct policy_search_found found = run(&s, &arena);
    static const size_t candidates[] = {16, 8, 4, 2};
    for (size_t r = 0; r < 4; r++) {
        cr_expect(!found.rounds[r].confirms);
        cr_expect_eq(found.rounds[r].candidates, candidates[r]);
        cr_expect_eq(found.rounds[r].kept, candidates[r] / 2);
        cr_expect_eq(found.rounds[r].repetitions, 8U << r);
        cr_expect_eq(found.rounds[r].jobs, JOBS);
    }
    for (size_t r = 4; r < found.n_rounds; r++)
        cr_expect(found.rounds[r].confirms);
    arena_fini(&arena);
}

Test(policy_search, says_that_the_budget_was_too_small)
{
    struct arena arena;
    struct synthetic s;
    make(&s, CANDIDATES, true, 40);
    s.noise = 5;
    arena_init(&arena, 0);
    struct policy_search_found found = run(&s, &arena);
    cr_expect(found.cut_short);
    cr_expect(isnan(found.error_chance) || found.error_chance > 0.05);
    arena_fini(&arena);
}

Test(policy_search, equal_candidates_are_not_better_than_each_other)
{
    struct arena arena;
    struct synthetic s;
    make(&s, 5, true, 1000);
    for (size_t i = 0; i < 5; i++)
        s.mean[i] = 7;
    s.noise = 0;
    arena_init(&arena, 0);
    struct policy_search_found found = run(&s, &arena);
    cr_expect_eq(found.ranks[0].candidate, 0);
    cr_expect_eq(found.error_chance, 0);
    cr_expect_eq(found.loss, 0);
    cr_expect(!found.cut_short);
    arena_fini(&arena);
}

Test(policy_search, one_that_draws_nothing_is_simulated_once_of_all_jobs)
{
    struct arena arena;
    struct synthetic s;
    make(&s, 6, true, 3000);
    s.draws[2] = s.draws[4] = false;
    arena_init(&arena, 0);
    for (size_t best = 0; best < 6; best++) {
        for (size_t i = 0; i < 6; i++)
            s.mean[i] = i == best ? 8 : 10;
        struct policy_search_found found = run(&s, &arena);
        cr_expect_eq(found.ranks[0].candidate, best);
        cr_expect(!found.cut_short);
        for (size_t i = 0; i < found.n; i++)
            if (!s.draws[found.ranks[i].candidate])
                cr_expect_eq(found.ranks[i].repetitions, 1);
    }
    arena_fini(&arena);
}

/* --- candidates that do not --- */

Test(policy_search, without_draws_all_candidates_have_all_jobs_where_the_budget_suffices)
{
    struct arena arena;
    struct synthetic s;
    make(&s, CANDIDATES, false, CANDIDATES);
    arena_init(&arena, 0);
    struct policy_search_found found = run(&s, &arena);
    cr_expect_eq(s.cells, CANDIDATES);
    cr_expect_eq(found.n_rounds, 1);
    cr_expect_eq(found.ranks[0].candidate, least_of(&s));
    cr_expect_eq(found.error_chance, 0);
    cr_expect(!found.cut_short);
    arena_fini(&arena);
}

Test(policy_search, else_rounds_take_the_first_jobs_and_the_last_one_all)
{
    struct arena arena;
    struct synthetic s;
    make(&s, 16, false, 9);
    arena_init(&arena, 0);
    struct policy_search_found found = run(&s, &arena);
    cr_expect_gt(found.n_rounds, 2);
    for (size_t r = 1; r < found.n_rounds; r++) {
        cr_expect_geq(found.rounds[r].jobs, found.rounds[r - 1].jobs);
        if (!found.rounds[r].confirms)
            cr_expect_eq(found.rounds[r].candidates, found.rounds[r - 1].kept);
    }
    cr_expect_lt(found.rounds[0].jobs, JOBS);
    cr_expect_eq(found.rounds[found.n_rounds - 1].jobs, JOBS);
    /* What the first jobs say is true here, but nobody knows. */
    cr_expect_eq(found.ranks[0].candidate, least_of(&s));
    cr_expect(isnan(found.error_chance) && isnan(found.loss) && found.cut_short);
    arena_fini(&arena);
}

/* The best one seems the worst at first: what is left of the budget goes to those that were dropped. */
Test(policy_search, those_dropped_for_their_first_jobs_come_again)
{
    struct arena arena;
    struct synthetic s;
    make(&s, 8, false, 7.9);
    s.bias[least_of(&s)] = 0.9;
    arena_init(&arena, 0);
    struct policy_search_found found = run(&s, &arena);
    cr_expect(found.rounds[found.n_rounds - 1].confirms);
    cr_expect_eq(found.ranks[0].candidate, least_of(&s));
    arena_fini(&arena);
}

/* --- budgets --- */

Test(policy_search, keeps_within_any_budget_and_names_one)
{
    struct arena arena;
    struct synthetic s;
    for (size_t n = 1; n <= CANDIDATES; n++)
        for (int random = 0; random < 2; random++)
            for (double budget = 9; budget < 600; budget *= 1.7) {
                make(&s, n, random != 0, budget);
                for (size_t i = 0; i < n; i++) {
                    s.weight[i] = 1 + (double)(i % 9);
                    s.setup[i] = (double)(i % 4) * (budget < 100 ? 30 : 3000);
                }
                s.plan.budget += 3 * (budget < 100 ? 30 : 3000);
                arena_init(&arena, 0);
                struct policy_search_found found = run(&s, &arena);
                cr_assert_geq(found.n, 1);
                cr_expect_eq(found.n + found.left_out, n);
                cr_expect_eq(found.ranks[0].jobs, JOBS);
                cr_expect_eq(found.ranks[0].excess, 0);
                cr_expect(found.left_out == 0 || found.cut_short);
                arena_fini(&arena);
            }
}

/* However few tasks there are, what is set up counts. */
Test(policy_search, simulations_are_as_many_as_setups_allow)
{
    struct arena arena;
    struct synthetic s;
    arena_init(&arena, 0);
    for (int random = 0; random < 2; random++) {
        make(&s, CANDIDATES, random != 0, 1);
        s.noise = 5;
        for (size_t i = 0; i < CANDIDATES; i++)
            s.setup[i] = 1e6;
        s.plan.budget = 50 * (1e6 + s.tasks_by[JOBS]);
        (void)run(&s, &arena);
        cr_expect(s.cells >= 1 && s.cells <= 50, "%zu simulations", s.cells);
    }
    arena_fini(&arena);
}

Test(policy_search, one_candidate_is_the_best)
{
    struct arena arena;
    struct synthetic s;
    make(&s, 1, true, 100);
    arena_init(&arena, 0);
    struct policy_search_found found = run(&s, &arena);
    cr_expect_eq(s.cells, 1);
    cr_expect_eq(found.n, 1);
    cr_expect_eq(found.error_chance, 0);
    cr_expect(!found.cut_short);
    arena_fini(&arena);
}

Test(policy_search, what_cannot_be_simulated_is_left_out)
{
    struct arena arena;
    struct synthetic s;
    arena_init(&arena, 0);
    for (int random = 0; random < 2; random++) {
        make(&s, 7, random != 0, 1000);
        s.broken = least_of(&s);
        struct policy_search_found found = run(&s, &arena);
        cr_expect_eq(found.left_out, 1);
        cr_expect_eq(found.n, 6);
        cr_expect_neq(found.ranks[0].candidate, s.broken);
        cr_expect(!found.cut_short);
    }
    make(&s, 1, true, 10);
    s.broken = 0;
    struct policy_search_found found = run(&s, &arena);
    cr_expect_eq(found.n, 0);
    cr_expect_eq(found.left_out, 1);
    arena_fini(&arena);
}
