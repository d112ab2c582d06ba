#include "api/simulations/slots_simulation_search.h"

#include "api/simulations/policy_search_run.h"

/* What the threads read: the candidates in place of the policies, and the jobs at hand. */
struct slots_search {
    struct slots_comparison whole;
    struct slots_comparison comparison; /* of all jobs, or of the first ones */
    enum policy_objective objective;
};

static enum pv_code
slots_search_cut(void *kind, size_t jobs, struct arena *arena, struct pv_error *err)
{
    struct slots_search *search = kind;
    search->comparison = search->whole;
    if (jobs == search->whole.n_jobs)
        return PV_OK;
    return slots_comparison_cut(&search->whole, jobs, arena, &search->comparison, err);
}

static bool slots_search_goes_on(void *context, size_t tasks)
{
    return operation_part_goes_on(context, (int64_t)tasks);
}

static enum pv_code slots_search_simulate(void *kind,
                                          const struct policy_cell *cell,
                                          struct operation_part *part,
                                          struct arena *scratch,
                                          double *value,
                                          struct pv_error *err)
{
    const struct slots_search *search = kind;
    const struct slots_progress progress = {slots_search_goes_on, part};
    struct slots_cell made = {.times = NULL};
    PV_TRY(slots_comparison_run(&search->comparison, cell, &progress, scratch, &made, err));
    *value = slots_outcome_value(&made.outcome, search->objective);
    return PV_OK;
}

/* What the search goes by: no policy draws, but arrivals may be. false: no memory. */
static bool slots_search_plan(const struct codec_slots_simulation *asked,
                              const struct slots_comparison *comparison,
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
        draws[i] = asked->common.n_loads > 0;
        weight[i] = 1;
    }
    slots_comparison_tasks_by(comparison, tasks_by);
    *plan = (struct policy_search_plan){.n = n,
                                        .draws = draws,
                                        .weight = weight,
                                        .tasks_by = tasks_by,
                                        .jobs = asked->n_jobs,
                                        .error_chance = asked->common.search.error_chance};
    return true;
}

/* The best ones become a policy of the comparison. false: no memory. */
static bool slots_search_add(const struct codec_slots_simulation *asked,
                             const struct policy_search_found found[],
                             struct arena *arena,
                             struct slots_comparison *comparison)
{
    size_t loads = policy_comparison_loads(&comparison->plan);
    struct slots_terms *terms = arena_array(arena, loads, sizeof *terms);
    if (terms == NULL)
        return false;
    for (size_t l = 0; l < loads; l++)
        terms[l] = asked->tried.terms[found[l].ranks[0].candidate];
    comparison->found = terms;
    return true;
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
                                .loads = policy_comparison_loads(&comparison->plan),
                                .left_out = asked->tried.left_out,
                                .budget = (double)asked->common.search.task_runs,
                                .done = *done,
                                .after = after,
                                .kind = &kind,
                                .cut = slots_search_cut,
                                .simulate = slots_search_simulate};
    struct policy_search_found *made;
    *found = NULL;
    if (!asked->common.search.asked)
        return PV_OK;
    kind.whole.policies = asked->tried.terms;
    kind.whole.plan.n_policies = asked->tried.n;
    if (!slots_search_plan(asked, comparison, run->arena, &search.plan))
        return pv_no_memory(err);
    PV_TRY(search_run_all(&search, &made, err));
    *found = made;
    *done = search.done;
    return slots_search_add(asked, made, run->arena, comparison) ? PV_OK : pv_no_memory(err);
}
