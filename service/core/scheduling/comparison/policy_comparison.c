#include "core/scheduling/comparison/policy_comparison.h"

#include <math.h>
#include <string.h>

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

size_t policy_cell_count(const struct policy_comparison *comparison)
{
    size_t at_a_load = 0;
    for (size_t p = 0; p < comparison->n_policies; p++)
        at_a_load += policy_comparison_repetitions(comparison, p);
    return policy_comparison_loads(comparison) * at_a_load;
}

struct policy_cell *
policy_cells(const struct policy_comparison *comparison, struct arena *arena, size_t *n)
{
    size_t loads = policy_comparison_loads(comparison);
    struct policy_cell *cells = arena_array(arena, policy_cell_count(comparison), sizeof *cells);
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

/* --- what cells come to --- */

/* One policy at a load: its cells, one after another. false: out of memory. */
static bool conclude_policy(const struct policy_outcomes *outcomes,
                            const char *cells,
                            size_t repetitions,
                            enum policy_objective objective,
                            void *mean,
                            struct policy_values *values,
                            struct arena *arena)
{
    double *at = arena_array(arena, repetitions, sizeof *at);
    if (at == NULL)
        return false;
    memset(mean, 0, outcomes->bytes);
    for (size_t r = 0; r < repetitions; r++) {
        const void *cell = cells + r * outcomes->cell_bytes;
        at[r] = outcomes->value(cell, objective);
        outcomes->add(mean, cell, 1 / (double)repetitions);
    }
    *values = (struct policy_values){at, repetitions};
    return true;
}

/* The cells of a load, from *at on. false: out of memory. */
static bool conclude_load(const struct policy_comparison *comparison,
                          const struct policy_outcomes *outcomes,
                          const char **at,
                          enum policy_objective objective,
                          struct arena *arena,
                          struct policy_load *load)
{
    size_t n = comparison->n_policies;
    struct policy_values *values = arena_array(arena, n, sizeof *values);
    load->means = arena_array(arena, n, outcomes->bytes);
    load->first = arena_array(arena, n, sizeof *load->first);
    if (values == NULL || load->means == NULL || load->first == NULL)
        return false;
    for (size_t p = 0; p < n; p++) {
        size_t repetitions = policy_comparison_repetitions(comparison, p);
        load->first[p] = *at;
        if (!conclude_policy(outcomes, *at, repetitions, objective,
                             (char *)load->means + p * outcomes->bytes, &values[p], arena))
            return false;
        *at += repetitions * outcomes->cell_bytes;
    }
    load->values = values;
    load->choice = policy_choose(values, n);
    return true;
}

struct policy_load *policy_comparison_conclude(const struct policy_comparison *comparison,
                                               const struct policy_outcomes *outcomes,
                                               const void *cells,
                                               enum policy_objective objective,
                                               struct arena *arena)
{
    size_t n = policy_comparison_loads(comparison);
    struct policy_load *loads = arena_array(arena, n, sizeof *loads);
    const char *at = cells;
    for (size_t l = 0; loads != NULL && l < n; l++)
        if (!conclude_load(comparison, outcomes, &at, objective, arena, &loads[l]))
            return NULL;
    return loads;
}
