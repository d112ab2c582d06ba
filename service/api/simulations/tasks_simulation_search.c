#include "api/simulations/tasks_simulation_search.h"

#include "api/simulations/policy_search_run.h"

/* What the threads read: the candidates in place of the policies, and the jobs at hand. */
struct tasks_search {
    const struct tasks_model *whole;
    struct tasks_model first;           /* the first jobs of it */
    struct tasks_comparison comparison; /* of either */
    enum policy_objective objective;
};

static enum pv_code
tasks_search_cut(void *kind, size_t jobs, struct arena *arena, struct pv_error *err)
{
    struct tasks_search *search = kind;
    search->comparison.model = search->whole;
    if (jobs == search->whole->n_jobs)
        return PV_OK;
    search->comparison.model = &search->first;
    return tasks_model_cut(search->whole, (uint32_t)jobs, arena, &search->first, err);
}

static bool tasks_search_goes_on(void *context, uint64_t tasks)
{
    return comparison_goes_on(context, (double)tasks);
}

static enum pv_code tasks_search_simulate(void *kind,
                                          const struct policy_cell *cell,
                                          const struct comparison_progress *counted,
                                          struct arena *scratch,
                                          double *value,
                                          struct pv_error *err)
{
    const struct tasks_search *search = kind;
    struct comparison_progress own = *counted;
    const struct tasks_progress progress = {tasks_search_goes_on, &own};
    struct tasks_cell made = {.start_s = NULL};
    PV_TRY(tasks_comparison_run(&search->comparison, cell, &progress, scratch, &made, err));
    *value = tasks_outcome_value(&made.outcome, search->objective);
    return PV_OK;
}

enum pv_code tasks_simulation_search(struct operation_run *run,
                                     struct codec_tasks_simulation *asked,
                                     struct tasks_comparison *comparison,
                                     int64_t *done,
                                     int64_t after,
                                     const struct policy_search_found **found,
                                     struct pv_error *err)
{
    struct tasks_search kind = {.whole = comparison->model,
                                .comparison = *comparison,
                                .objective = asked->common.objective};
    struct search_run search = {.run = run,
                                .asked = &asked->common,
                                .left_out = asked->tried.left_out,
                                .done = done,
                                .after = after,
                                .kind = &kind,
                                .cut = tasks_search_cut,
                                .simulate = tasks_search_simulate};
    *found = NULL;
    if (!asked->common.search.asked)
        return PV_OK;
    kind.comparison.policies = asked->tried.terms;
    kind.comparison.plan.n_policies = asked->tried.n;
    if (!tasks_search_plan(comparison->model, &asked->tried, asked->common.n_loads > 0, run->arena,
                           &search.plan))
        return pv_no_memory(err);
    PV_TRY(search_run_all(&search, found, err));
    comparison->found = tasks_search_best(&asked->tried, *found,
                                          policy_comparison_loads(&comparison->plan), run->arena);
    if (comparison->found == NULL)
        return pv_no_memory(err);
    bool draws = false;
    for (size_t l = 0; l < policy_comparison_loads(&comparison->plan); l++)
        draws = draws || tasks_terms_draw(&comparison->found[l]);
    asked->draws[asked->common.n_policies] = draws;
    return PV_OK;
}
