#include "core/scheduling/policy_comparison.h"

#include <math.h>

#include "base/rounding.h"

bool policy_comparison_drawn_once(const struct policy_comparison *comparison)
{
    bool drawn = comparison->n_loads > 0;
    for (size_t p = 0; p < comparison->n_policies; p++)
        drawn = drawn || comparison->draws[p];
    return drawn && comparison->repetitions == 1;
}

double policy_cell_load(const struct policy_comparison *comparison, const struct policy_cell *cell)
{
    return comparison->n_loads > 0 ? comparison->loads[cell->load] : (double)NAN;
}

struct policy_cell *
policy_cells(const struct policy_comparison *comparison, struct arena *arena, size_t *n)
{
    size_t loads = policy_comparison_loads(comparison);
    size_t at_a_load = 0;
    for (size_t p = 0; p < comparison->n_policies; p++)
        at_a_load += policy_comparison_repetitions(comparison, p);
    struct policy_cell *cells = arena_array(arena, loads * at_a_load, sizeof *cells);
    *n = 0;
    for (size_t l = 0; cells != NULL && l < loads; l++)
        for (size_t p = 0; p < comparison->n_policies; p++)
            for (size_t r = 0; r < policy_comparison_repetitions(comparison, p); r++)
                cells[(*n)++] = (struct policy_cell){l, p, r};
    return cells;
}

/* --- the best one --- */

double policy_percentile(const struct percentiles *slowdown, enum policy_objective objective)
{
    return objective == POLICY_SLOWDOWN_P50   ? slowdown->p50
           : objective == POLICY_SLOWDOWN_P90 ? slowdown->p90
           : objective == POLICY_SLOWDOWN_P95 ? slowdown->p95
                                              : slowdown->p99;
}

static double mean_of(const struct policy_values *values)
{
    struct compensated_sum sum = {0, 0};
    for (size_t i = 0; i < values->n; i++)
        compensated_sum_add(&sum, values->at[i]);
    return compensated_sum_value(&sum) / (double)values->n;
}

/* The one with the least mean but for `without`; n: there is none. */
static size_t find_least(const struct policy_values values[], size_t n, size_t without)
{
    size_t found = n;
    double least = 0;
    for (size_t i = 0; i < n; i++) {
        double mean = mean_of(&values[i]);
        if (i == without || (found < n && (mean >= least || rounding_equal(mean, least))))
            continue;
        found = i;
        least = mean;
    }
    return found;
}

struct running_moments policy_difference(const struct policy_values *one,
                                         const struct policy_values *other)
{
    size_t n = one->n > other->n ? one->n : other->n;
    struct running_moments difference = {0};
    for (size_t i = 0; i < n; i++)
        running_moments_add(&difference,
                            other->at[other->n > 1 ? i : 0] - one->at[one->n > 1 ? i : 0]);
    return difference;
}

static bool is_clear(const struct policy_values *best, const struct policy_values *next)
{
    struct running_moments difference = policy_difference(best, next);
    return difference.n < 2 || difference.mean > 2 * running_moments_standard_error(&difference);
}

struct policy_choice policy_choose(const struct policy_values values[], size_t n)
{
    struct policy_choice choice = {.best = find_least(values, n, n),
                                   .next = SIZE_MAX,
                                   .other = (double)NAN,
                                   .margin = (double)NAN,
                                   .clear = true};
    choice.value = mean_of(&values[choice.best]);
    if (n == 1)
        return choice;
    choice.next = find_least(values, n, choice.best);
    choice.other = mean_of(&values[choice.next]);
    choice.equal = rounding_equal(choice.value, choice.other);
    choice.margin = choice.equal ? 0 : 1 - choice.value / choice.other;
    choice.clear = choice.equal || is_clear(&values[choice.best], &values[choice.next]);
    return choice;
}
