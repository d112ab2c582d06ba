#include "core/scheduling/slots/slots_explain.h"
#include "base/quantity_text.h"
#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/omo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FIGURES = 8 };

static const struct policy_figure figures[FIGURES] = {
    {"completion times", "median", "completion_p50_change_percent", false},
    {"completion times", "90th percentile", "completion_p90_change_percent", false},
    {"completion times", "95th percentile", "completion_p95_change_percent", false},
    {"completion times", "99th percentile", "completion_p99_change_percent", false},
    {"mean slowdown", "of small jobs", "small_slowdown_change_percent", false},
    {"mean slowdown", "of large jobs", "large_slowdown_change_percent", false},
    {NULL, "makespan", "makespan_change_percent", false},
    {NULL, "fairness", "fairness_change_percent", true},
};

enum { COSTS = 4 };

static const struct policy_cost costs[COSTS] = {
    {"the mean completion time", " s", "completion_mean_change_percent"},
    {"the mean slowdown of small jobs", "", "small_slowdown_change_percent"},
    {"the mean slowdown of large jobs", "", "large_slowdown_change_percent"},
    {"the makespan", " s", "makespan_change_percent"}};

const struct slowdown_class *slots_classes(const struct slots_comparison *comparison,
                                           const struct policy_load *load,
                                           size_t policy,
                                           size_t *n,
                                           struct arena *arena)
{
    const struct slots_cell *cells = slots_load_first(load, policy);
    size_t repetitions = policy_comparison_repetitions(&comparison->plan, policy);
    *n = cells[0].detail != NULL ? cells[0].detail->n_classes : 0;
    struct slowdown_class *classes = arena_array(arena, SLOTS_SIZE_CLASSES_MAX, sizeof *classes);
    for (size_t i = 0; classes != NULL && i < *n; i++) {
        classes[i] = cells[0].detail->classes[i];
        classes[i].mean = 0;
        classes[i].median = 0;
        for (size_t r = 0; r < repetitions; r++) {
            classes[i].mean += cells[r].detail->classes[i].mean / (double)repetitions;
            classes[i].median += cells[r].detail->classes[i].median / (double)repetitions;
        }
    }
    return classes;
}

/* FRESH and OMO with their usual terms. */
static void describe_defaults(const struct slots_terms *terms, char *text, size_t room)
{
    if (terms->policy == &slots_policy_fresh && terms->tau1 == FRESH_TAU1 &&
        terms->tau2 == FRESH_TAU2)
        (void)snprintf(text, room, "tau1 is %s and tau2 %s", quantity_digits(FRESH_TAU1, 4).text,
                       quantity_digits(FRESH_TAU2, 4).text);
    if (terms->policy == &slots_policy_omo && terms->ema_weight == OMO_EMA_WEIGHT &&
        terms->window_s == OMO_WINDOW_S)
        (void)snprintf(text, room, "ema_weight is %s and window_s %s",
                       quantity_digits(OMO_EMA_WEIGHT, 4).text,
                       quantity_digits(OMO_WINDOW_S, 4).text);
}

/* false: out of memory. */
static bool take_policy(const struct slots_comparison *comparison,
                        const struct policy_load *load,
                        size_t policy,
                        double at[FIGURES],
                        double costs_at[COSTS],
                        struct arena *arena)
{
    const struct slots_outcome *outcome = slots_load_mean(load, policy);
    size_t n;
    const struct slowdown_class *classes = slots_classes(comparison, load, policy, &n, arena);
    if (classes == NULL)
        return false;
    struct slots_size_slowdown slowdown = slots_size_slowdown_of(classes, n);
    const double values[FIGURES] = {outcome->completion_s.p50,
                                    outcome->completion_s.p90,
                                    outcome->completion_s.p95,
                                    outcome->completion_s.p99,
                                    slowdown.small,
                                    slowdown.large,
                                    outcome->makespan_s,
                                    outcome->fairness};
    const double paid[COSTS] = {outcome->completion_s.mean, slowdown.small, slowdown.large,
                                outcome->makespan_s};
    memcpy(at, values, sizeof values);
    memcpy(costs_at, paid, sizeof paid);
    return true;
}

const struct policy_results *slots_results(const struct slots_comparison *comparison,
                                           const struct policy_load *load,
                                           size_t at,
                                           enum policy_objective objective,
                                           const struct strview names[],
                                           const struct policy_searched *searched,
                                           size_t baseline,
                                           struct arena *arena)
{
    const struct policy_comparison *plan = &comparison->plan;
    size_t n = plan->n_policies;
    struct policy_results *results = arena_calloc(arena, 1, sizeof *results);
    double *values = arena_array(arena, n, (FIGURES + COSTS + 1) * sizeof *values);
    if (results == NULL || values == NULL)
        return NULL;
    double *costs_at = values + n * FIGURES;
    double *slowest = costs_at + n * COSTS;
    for (size_t p = 0; p < n; p++) {
        slowest[p] = slots_load_mean(load, p)->slowdown.p99;
        if (!take_policy(comparison, load, p, &values[p * FIGURES], &costs_at[p * COSTS], arena))
            return NULL;
    }
    *results = (struct policy_results){.names = names,
                                       .n = n,
                                       .objective = objective,
                                       .of_jobs = "jobs",
                                       .values = load->values,
                                       .choice = &load->choice,
                                       .figures = figures,
                                       .n_figures = FIGURES,
                                       .at = values,
                                       .slowest = slowest,
                                       .costs = costs,
                                       .n_costs = COSTS,
                                       .costs_at = costs_at,
                                       .searched = searched,
                                       .baseline = baseline,
                                       .load = plan->n_loads > 0 ? plan->loads[at] : (double)NAN,
                                       .drawn_once = policy_comparison_drawn_once(plan)};
    /* Of what a search has found none is as by default: others were tried. */
    size_t best = load->choice.best;
    if (comparison->found == NULL || best + 1 < n)
        describe_defaults(slots_comparison_terms(comparison, at, best), results->defaults,
                          sizeof results->defaults);
    return results;
}
