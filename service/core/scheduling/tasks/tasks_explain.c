#include "core/scheduling/tasks/tasks_explain.h"

#include <math.h>
#include <stdio.h>

#include "base/quantity_text.h"
#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_policy.h"

#define COMPLETION(whose, word, ordinal, percent)                                                  \
    {                                                                                              \
        "completion times of " whose, ordinal, word "_completion_p" percent "_change_percent",     \
            false                                                                                  \
    }
#define COMPLETIONS(whose, word)                                                                   \
    COMPLETION(whose, word, "median", "50"), COMPLETION(whose, word, "90th percentile", "90"),     \
        COMPLETION(whose, word, "95th percentile", "95"),                                          \
        COMPLETION(whose, word, "99th percentile", "99")
#define MAKESPAN                                                                                   \
    {                                                                                              \
        NULL, "makespan", "makespan_change_percent", false                                         \
    }

enum { OF_CLASS = 4, FIGURES = 2 * OF_CLASS + 1 };

static const struct policy_figure figures[FIGURES] = {COMPLETIONS("short jobs", "short"),
                                                      COMPLETIONS("long jobs", "long"), MAKESPAN};

/* Where classes are declared. */
static const struct policy_figure figures_declared[FIGURES] = {
    COMPLETIONS("the highest class", "highest"), COMPLETIONS("the lowest class", "lowest"),
    MAKESPAN};

enum { COSTS = 3 };

static const struct policy_cost costs[COSTS] = {
    {"the mean completion time of long jobs", " s", "long_completion_mean_change_percent"},
    {"the mean completion time of all jobs", " s", "completion_mean_change_percent"},
    {"the makespan", " s", "makespan_change_percent"}};

static const struct policy_cost costs_declared[COSTS] = {
    {"the mean completion time of the lowest class", " s", "lowest_completion_mean_change_percent"},
    {"the mean completion time of all jobs", " s", "completion_mean_change_percent"},
    {"the makespan", " s", "makespan_change_percent"}};

/* Those with jobs. */
static uint32_t lowest_class(const struct tasks_model *model, const struct tasks_outcome *outcome)
{
    uint32_t c = tasks_model_classes(model);
    while (c > TASKS_SHORT && outcome->classes[c].count == 0)
        c--;
    return c;
}

static void take_class(const struct tasks_class *class, double at[OF_CLASS])
{
    const struct percentiles *completion = &class->completion_s;
    const double values[OF_CLASS] = {completion->p50, completion->p90, completion->p95,
                                     completion->p99};
    for (size_t i = 0; i < OF_CLASS; i++)
        at[i] = class->count > 0 ? values[i] : (double)NAN;
}

/* Those of policies without classes of their own. */
static void describe_defaults(const struct tasks_terms *terms, char *text, size_t room)
{
    if (terms->policy == &pigeon_policy && terms->layout != NULL && terms->layout->n_classes > 0)
        return;
    bool groups = terms->policy == &pigeon_policy || terms->policy == &centralised_policy;
    struct tasks_terms usual =
        tasks_terms_default(groups                             ? TASKS_PIGEON
                            : terms->policy == &sparrow_policy ? TASKS_SPARROW
                                                               : TASKS_EAGLE);
    bool reserved = terms->reserved_share == usual.reserved_share;
    bool probes = terms->probes_per_task == usual.probes_per_task;
    if (groups && reserved && terms->weight == usual.weight)
        (void)snprintf(text, room, "reserved_share is %s and weight %.0f",
                       quantity_number(usual.reserved_share).text, (double)usual.weight);
    else if (terms->policy == &sparrow_policy && probes)
        (void)snprintf(text, room, "probes_per_task is %u", usual.probes_per_task);
    else if (terms->policy == &eagle_policy && reserved && probes)
        (void)snprintf(text, room, "reserved_share is %s and probes_per_task %u",
                       quantity_number(usual.reserved_share).text, usual.probes_per_task);
}

static void take_costs(const struct tasks_outcome *outcome, uint32_t low, double at[COSTS])
{
    const struct tasks_class *class = &outcome->classes[low];
    at[0] = class->count > 0 ? class->completion_s.mean : (double)NAN;
    at[1] = outcome->classes[TASKS_ALL].completion_s.mean;
    at[2] = outcome->makespan_s;
}

static struct policy_masters masters_of(const struct tasks_cell *cell)
{
    if (cell->detail == NULL || cell->detail->masters.n == 0)
        return (struct policy_masters){.n = 0};
    const struct tasks_masters_load *masters = &cell->detail->masters;
    return (struct policy_masters){.n = masters->n,
                                   .messages_per_s = masters->shown[0].messages_per_s,
                                   .peak_messages_per_s = masters->shown[0].peak_messages_per_s,
                                   .reserved = masters->reserved,
                                   .reserved_utilization = masters->reserved_utilization};
}

const struct policy_results *tasks_results(const struct tasks_comparison *comparison,
                                           const struct policy_load *load,
                                           size_t at,
                                           enum policy_objective objective,
                                           const char *of_jobs,
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
    bool declared = comparison->model->n_classes > 0;
    uint32_t high = declared ? tasks_objective_class(tasks_load_mean(load, 0)) : TASKS_SHORT;
    uint32_t low =
        declared ? lowest_class(comparison->model, tasks_load_mean(load, 0)) : TASKS_LONG;
    for (size_t p = 0; p < n; p++) {
        const struct tasks_outcome *outcome = tasks_load_mean(load, p);
        take_class(&outcome->classes[high], &values[p * FIGURES]);
        take_class(&outcome->classes[low], &values[p * FIGURES + OF_CLASS]);
        values[p * FIGURES + 2 * OF_CLASS] = outcome->makespan_s;
        take_costs(outcome, low, &costs_at[p * COSTS]);
        slowest[p] = outcome->classes[TASKS_ALL].slowdown.p99;
    }
    size_t best = load->choice.best;
    *results = (struct policy_results){.names = names,
                                       .n = n,
                                       .objective = objective,
                                       .of_jobs = of_jobs,
                                       .values = load->values,
                                       .choice = &load->choice,
                                       .figures = declared ? figures_declared : figures,
                                       .n_figures = FIGURES,
                                       .at = values,
                                       .slowest = slowest,
                                       .costs = declared ? costs_declared : costs,
                                       .n_costs = COSTS,
                                       .costs_at = costs_at,
                                       .searched = searched,
                                       .baseline = baseline,
                                       .load = plan->n_loads > 0 ? plan->loads[at] : (double)NAN,
                                       .drawn_once = policy_comparison_drawn_once(plan),
                                       .masters = masters_of(tasks_load_first(load, best))};
    /* Of what a search has found none is as by default: others were tried. */
    if (comparison->found == NULL || best + 1 < n)
        describe_defaults(tasks_comparison_terms(comparison, at, best), results->defaults,
                          sizeof results->defaults);
    return results;
}
