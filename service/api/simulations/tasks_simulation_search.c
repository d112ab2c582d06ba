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
    return operation_part_goes_on(context, (int64_t)tasks);
}

static enum pv_code tasks_search_simulate(void *kind,
                                          const struct policy_cell *cell,
                                          struct operation_part *part,
                                          struct arena *scratch,
                                          double *value,
                                          struct pv_error *err)
{
    const struct tasks_search *search = kind;
    const struct tasks_progress progress = {tasks_search_goes_on, part};
    struct tasks_cell made = {.start_s = NULL};
    PV_TRY(tasks_comparison_run(&search->comparison, cell, &progress, scratch, &made, err));
    *value = tasks_outcome_value(&made.outcome, search->objective);
    return PV_OK;
}

/* What the search goes by. false: no memory. */
static bool tasks_search_plan(const struct codec_tasks_simulation *asked,
                              struct arena *arena,
                              struct policy_search_plan *plan)
{
    size_t n = asked->tried.n;
    bool *draws = arena_array(arena, n, sizeof *draws);
    double *weight = arena_array(arena, n, sizeof *weight);
    double *tasks_by = arena_array(arena, asked->n_jobs + 1, sizeof *tasks_by);
    if (draws == NULL || weight == NULL || tasks_by == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct tasks_terms *terms = &asked->tried.terms[i];
        draws[i] = asked->common.n_loads > 0 || tasks_terms_draw(terms);
        weight[i] = tasks_terms_weight(terms);
    }
    tasks_model_tasks_by(&asked->model, tasks_by);
    *plan = (struct policy_search_plan){.n = n,
                                        .draws = draws,
                                        .weight = weight,
                                        .tasks_by = tasks_by,
                                        .jobs = asked->n_jobs,
                                        .error_chance = asked->common.search.error_chance};
    return true;
}

/* The best ones become a policy of the comparison. false: no memory. */
static bool tasks_search_add(struct codec_tasks_simulation *asked,
                             const struct policy_search_found found[],
                             struct arena *arena,
                             struct tasks_comparison *comparison)
{
    size_t loads = policy_comparison_loads(&comparison->plan);
    struct tasks_terms *terms = arena_array(arena, loads, sizeof *terms);
    if (terms == NULL)
        return false;
    for (size_t l = 0; l < loads; l++)
        terms[l] = asked->tried.terms[found[l].ranks[0].candidate];
    comparison->found = terms;
    asked->draws[asked->common.n_policies] = tasks_terms_draw(&terms[0]);
    return true;
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
                                .loads = policy_comparison_loads(&comparison->plan),
                                .left_out = asked->tried.left_out,
                                .budget = (double)asked->common.search.task_runs,
                                .done = *done,
                                .after = after,
                                .kind = &kind,
                                .cut = tasks_search_cut,
                                .simulate = tasks_search_simulate};
    struct policy_search_found *made;
    *found = NULL;
    if (!asked->common.search.asked)
        return PV_OK;
    kind.comparison.policies = asked->tried.terms;
    kind.comparison.plan.n_policies = asked->tried.n;
    if (!tasks_search_plan(asked, run->arena, &search.plan))
        return pv_no_memory(err);
    PV_TRY(search_run_all(&search, &made, err));
    *found = made;
    *done = search.done;
    return tasks_search_add(asked, made, run->arena, comparison) ? PV_OK : pv_no_memory(err);
}
