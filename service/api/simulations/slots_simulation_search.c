#include "api/simulations/slots_simulation_search.h"

#include <math.h>

#include "api/simulations/policy_search_run.h"
#include "core/scheduling/slots/slots_network_size.h"

/* Steps for the network that a simulation may take, of those that it counts for and besides. */
enum { NETWORK_TIMES_COUNTED = 16, NETWORK_STEPS_LEAST = 100000 };

/* What the threads read: the candidates in place of the policies, and the jobs at hand. */
struct slots_search {
    struct slots_comparison whole;
    struct slots_comparison comparison; /* of all jobs, or of the first ones */
    enum policy_objective objective;
};

/* How many simulations there are is known by what they count for. So none may take many times more. */
static void limit_network(struct slots_comparison *comparison)
{
    double most = (double)comparison->cluster.network_steps_max;
    double counted = NETWORK_STEPS_LEAST +
                     NETWORK_TIMES_COUNTED * slots_network_steps(comparison->network_tasks);
    comparison->cluster.network_steps_max = (size_t)fmin(most, counted);
}

static enum pv_code
slots_search_cut(void *kind, size_t jobs, struct arena *arena, struct pv_error *err)
{
    struct slots_search *search = kind;
    search->comparison = search->whole;
    if (jobs != search->whole.n_jobs)
        PV_TRY(slots_comparison_cut(&search->whole, jobs, arena, &search->comparison, err));
    limit_network(&search->comparison);
    return PV_OK;
}

static bool slots_search_goes_on(void *context, size_t tasks)
{
    return comparison_goes_on(context, (double)tasks);
}

static enum pv_code slots_search_simulate(void *kind,
                                          const struct policy_cell *cell,
                                          const struct comparison_progress *counted,
                                          struct arena *scratch,
                                          double *value,
                                          struct pv_error *err)
{
    const struct slots_search *search = kind;
    struct comparison_progress own = *counted;
    const struct slots_progress progress = {slots_search_goes_on, &own};
    struct slots_cell made = {.times = NULL};
    PV_TRY(slots_comparison_run(&search->comparison, cell, &progress, scratch, &made, err));
    *value = slots_outcome_value(&made.outcome, search->objective);
    return PV_OK;
}

enum pv_code slots_simulation_search(struct operation_run *run,
                                     struct codec_slots_simulation *asked,
                                     struct slots_comparison *comparison,
                                     int64_t *done,
                                     int64_t after,
                                     const struct policy_search_found **found,
                                     struct pv_error *err)
{
    struct slots_search kind = {.whole = *comparison, .objective = asked->common.objective};
    struct search_run search = {.run = run,
                                .asked = &asked->common,
                                .left_out = asked->tried.left_out,
                                .done = done,
                                .after = after,
                                .kind = &kind,
                                .cut = slots_search_cut,
                                .simulate = slots_search_simulate};
    *found = NULL;
    if (!asked->common.search.asked)
        return PV_OK;
    kind.whole.policies = asked->tried.terms;
    kind.whole.plan.n_policies = asked->tried.n;
    if (!slots_search_plan(comparison, &asked->tried, run->arena, &search.plan))
        return pv_no_memory(err);
    PV_TRY(search_run_all(&search, found, err));
    comparison->found = slots_search_best(&asked->tried, *found,
                                          policy_comparison_loads(&comparison->plan), run->arena);
    if (comparison->found == NULL)
        return pv_no_memory(err);
    return PV_OK;
}
