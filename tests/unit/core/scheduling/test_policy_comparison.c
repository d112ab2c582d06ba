#include "core/scheduling/comparison/policy_comparison.h"

#include <criterion/criterion.h>
#include <math.h>

#include "base/rounding.h"
#include "core/scheduling/comparison/arrival_order.h"

static struct policy_values values_of(const double at[], size_t n)
{
    return (struct policy_values){at, n};
}

#define VALUES(...)                                                                                \
    values_of((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* --- cells --- */

Test(policy_comparison, cells_are_all_loads_policies_and_repetitions)
{
    const double loads[] = {0.5, 0.9};
    const bool draws[] = {false, true, false};
    const struct policy_comparison plan = {.n_policies = 3,
                                           .draws = draws,
                                           .loads = loads,
                                           .n_loads = 2,
                                           .repetitions = 4,
                                           .seed = 11};
    struct arena arena;
    size_t n;
    arena_init(&arena, 0);
    const struct policy_cell *cells = policy_cells(&plan, &arena, &n);
    cr_assert_eq(n, 2 * 3 * 4);
    for (size_t i = 0; i < n; i++) {
        cr_expect_eq(cells[i].load, i / 12);
        cr_expect_eq(cells[i].policy, i / 4 % 3);
        cr_expect_eq(cells[i].repetition, i % 4);
        cr_expect_eq(policy_cell_load(&plan, &cells[i]), loads[i / 12]);
        cr_expect_eq(policy_cell_trial(&plan, &cells[i]).seed, 11);
        cr_expect_eq(policy_cell_trial(&plan, &cells[i]).repetition, i % 4);
    }
    arena_fini(&arena);
}

Test(policy_comparison, without_loads_only_policies_that_draw_are_repeated)
{
    const bool draws[] = {false, true};
    const struct policy_comparison plan = {.n_policies = 2, .draws = draws, .repetitions = 3};
    struct arena arena;
    size_t n;
    arena_init(&arena, 0);
    const struct policy_cell *cells = policy_cells(&plan, &arena, &n);
    cr_assert_eq(n, 4);
    cr_expect_eq(cells[0].policy, 0);
    cr_expect_eq(cells[1].policy, 1);
    cr_expect_eq(cells[3].repetition, 2);
    cr_expect_eq(policy_comparison_loads(&plan), 1);
    cr_expect(isnan(policy_cell_load(&plan, &cells[0])));
    arena_fini(&arena);
}

/* --- the best one --- */

Test(policy_comparison, the_least_mean_is_best_and_the_second_the_next)
{
    const struct policy_values values[] = {VALUES(4, 6), VALUES(2), VALUES(3, 3.5)};
    struct policy_choice choice = policy_choose(values, 3);
    cr_expect_eq(choice.best, 1);
    cr_expect_eq(choice.next, 2);
    cr_expect_eq(choice.value, 2);
    cr_expect_eq(choice.other, 3.25);
    cr_expect(rounding_equal(choice.margin, 1 - 2 / 3.25));
    cr_expect(choice.clear && !choice.equal);
}

Test(policy_comparison, of_equal_ones_the_first_is_best)
{
    const struct policy_values values[] = {VALUES(5), VALUES(3 + 1e-10), VALUES(3), VALUES(3)};
    struct policy_choice choice = policy_choose(values, 4);
    cr_expect_eq(choice.best, 1);
    cr_expect_eq(choice.next, 2);
    cr_expect(choice.equal && choice.clear);
    cr_expect_eq(choice.margin, 0);
}

Test(policy_comparison, one_alone_has_no_margin)
{
    const struct policy_values values[] = {VALUES(7)};
    struct policy_choice choice = policy_choose(values, 1);
    cr_expect_eq(choice.best, 0);
    cr_expect_eq(choice.next, SIZE_MAX);
    cr_expect(isnan(choice.margin) && isnan(choice.other) && choice.clear && !choice.equal);
}

/* Differences 1, 1, 1, 1.2 have a mean of 1.05 and a standard error of 0.05; 4, -2, 3, -1 one of
 * 1.47 beside a mean of 1. */
Test(policy_comparison, a_choice_is_clear_beyond_two_standard_errors)
{
    const struct policy_values far[] = {VALUES(10, 20, 30, 40), VALUES(11, 21, 31, 41.2)};
    const struct policy_values near[] = {VALUES(10, 20, 30, 40), VALUES(14, 18, 33, 39)};
    const struct policy_values once[] = {VALUES(25), VALUES(14, 18, 33, 39)};
    cr_expect(policy_choose(far, 2).clear);
    cr_expect_eq(policy_choose(near, 2).best, 0);
    cr_expect(!policy_choose(near, 2).clear);
    cr_expect(!policy_choose(once, 2).clear, "a policy that was simulated once is a constant");
}

Test(policy_comparison, reductions_are_percent_of_the_baseline)
{
    cr_expect_eq(policy_reduction_percent(3, 4), 25);
    cr_expect_eq(policy_reduction_percent(6, 4), -50);
    cr_expect_eq(policy_reduction_percent(4, 4), 0);
}

/* --- arrivals --- */

Test(policy_comparison, the_order_of_arrival_is_that_of_time_then_as_given)
{
    struct {
        double arrival_s;
        int other;
    } const jobs[] = {{5, 0}, {1, 0}, {3, 0}, {1, 0}, {5, 0}};
    const uint32_t wanted[] = {1, 3, 2, 0, 4};
    uint32_t order[5];
    struct arena scratch;
    arena_init(&scratch, 0);
    cr_assert(arrival_order(&jobs[0].arrival_s, sizeof jobs[0], 5, order, &scratch));
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(order[i], wanted[i]);
    cr_assert(arrival_order(&jobs[2].arrival_s, sizeof jobs[0], 1, order, &scratch));
    cr_expect_eq(order[0], 0);
    arena_fini(&scratch);
}

Test(policy_comparison, gaps_belong_to_seed_repetition_and_job_and_scale_with_the_rate)
{
    const struct trial trial = {3, 1};
    const struct trial other_seed = {4, 1};
    const struct trial other_repetition = {3, 2};
    for (uint32_t job = 0; job < 100; job++) {
        double gap_s = trial_gap_s(&trial, 2, job);
        cr_expect(gap_s > 0);
        cr_expect_eq(trial_gap_s(&trial, 2, job), gap_s);
        cr_expect(rounding_equal(trial_gap_s(&trial, 0.5, job), 4 * gap_s));
        cr_expect_neq(trial_gap_s(&trial, 2, job + 1), gap_s);
        cr_expect_neq(trial_gap_s(&other_seed, 2, job), gap_s);
        cr_expect_neq(trial_gap_s(&other_repetition, 2, job), gap_s);
    }
}
