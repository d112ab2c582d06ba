#include "core/scheduling/tasks/tasks_comparison.h"

#include "core/scheduling/tasks/pigeon_layout.h"
#include "core/scheduling/tasks/tasks_policy.h"

/* Of a job, besides the simulation: it as it arrives, its result and what is summarized of it. */
enum { BYTES_A_JOB = sizeof(struct tasks_job) + 9 * sizeof(double) };

/* Of what is observed of queues. */
enum { BYTES_OBSERVED = 2 * QUEUE_KINDS * QUEUE_BINS_MAX * sizeof(struct occupancy_cell) };

bool tasks_terms_draw(const struct tasks_terms *terms)
{
    return terms->policy != &centralised_policy &&
           (terms->policy != &pigeon_policy || terms->groups > 1);
}

double tasks_comparison_setup(const struct tasks_model *model, const struct tasks_terms *terms)
{
    double failures =
        terms->policy == &pigeon_policy && terms->layout != NULL ? terms->layout->n_failures : 0;
    return (double)model->workers + tasks_terms_masters(terms) * (1 + failures);
}

double tasks_comparison_work(const struct tasks_model *model, const struct tasks_terms *terms)
{
    return tasks_comparison_setup(model, terms) + tasks_simulation_work(model, terms);
}

size_t tasks_comparison_memory(const struct tasks_model *model, const struct tasks_terms *terms)
{
    size_t bytes = tasks_simulation_memory(model, terms);
    size_t masters = tasks_terms_masters(terms) * sizeof(struct tasks_master);
    size_t beside = 2 * ((size_t)BYTES_A_JOB * model->n_jobs + masters + BYTES_OBSERVED);
    return bytes < SIZE_MAX - beside ? bytes + beside : SIZE_MAX;
}

static void keep_jobs(const struct tasks_model *model,
                      const struct tasks_result *result,
                      struct tasks_cell *made)
{
    for (uint32_t j = 0; made->finish_s != NULL && j < model->n_jobs; j++) {
        made->start_s[j] = result->start_s[j];
        made->finish_s[j] = result->finish_s[j];
        made->slowdown[j] = tasks_slowdown(model, result, j);
    }
}

static enum pv_code run_cell(const struct tasks_comparison *comparison,
                             const struct policy_cell *cell,
                             const struct tasks_progress *progress,
                             struct arena *scratch,
                             struct tasks_cell *made,
                             struct pv_error *err)
{
    const struct policy_comparison *plan = &comparison->plan;
    const struct trial trial = policy_cell_trial(plan, cell);
    struct tasks_model model = *comparison->model;
    struct tasks_result result;
    if (plan->n_loads > 0) {
        struct tasks_job *jobs = arena_array(scratch, model.n_jobs, sizeof *jobs);
        if (jobs == NULL)
            return pv_no_memory(err);
        tasks_retime(comparison->model, policy_cell_load(plan, cell), &trial, jobs);
        model.jobs = jobs;
        if (!tasks_progress_goes_on(progress, 0))
            return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    }
    const struct tasks_terms *terms = tasks_comparison_terms(comparison, cell->load, cell->policy);
    struct tasks_observation observation;
    if (made->detail != NULL &&
        !tasks_observation_begin(&observation, &model, terms, made->detail, scratch))
        return pv_no_memory(err);
    PV_TRY(tasks_simulate_observed(&model, terms, &trial, 0, progress,
                                   made->detail != NULL ? &observation.observer : NULL, scratch,
                                   scratch, &result, err));
    keep_jobs(&model, &result, made);
    PV_TRY(tasks_outcome_of(&model, &result, progress, scratch, &made->outcome, err));
    return made->detail == NULL ? PV_OK
                                : tasks_detail_take(&observation, &model, &result, progress,
                                                    scratch, made->detail, err);
}

enum pv_code tasks_comparison_run(const struct tasks_comparison *comparison,
                                  const struct policy_cell *cell,
                                  const struct tasks_progress *progress,
                                  struct arena *scratch,
                                  struct tasks_cell *made,
                                  struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = run_cell(comparison, cell, progress, scratch, made, err);
    arena_rewind(scratch, mark);
    return code;
}

enum tasks_class_id tasks_objective_class(const struct tasks_outcome *outcome)
{
    bool declared = outcome->classes[TASKS_SHORT].name == NULL;
    unsigned c = TASKS_SHORT;
    while (declared && c + 1 < TASKS_CLASSES && outcome->classes[c].count == 0)
        c++;
    return outcome->classes[c].count > 0 ? (enum tasks_class_id)c : TASKS_ALL;
}

/* --- what cells come to --- */

static void add_class(struct tasks_class *sum, const struct tasks_class *class, double weight)
{
    sum->name = class->name;
    sum->count = class->count; /* the same in all repetitions */
    percentiles_add(&sum->completion_s, &class->completion_s, weight);
    percentiles_add(&sum->slowdown, &class->slowdown, weight);
    sum->completion_over_longest_p50 += weight * class->completion_over_longest_p50;
    sum->completion_over_longest_p90 += weight * class->completion_over_longest_p90;
    sum->completion_over_longest_p99 += weight * class->completion_over_longest_p99;
}

static void add_outcome(void *sum, const void *cell, double weight)
{
    const struct tasks_outcome *outcome = &((const struct tasks_cell *)cell)->outcome;
    struct tasks_outcome *mean = sum;
    mean->makespan_s += weight * outcome->makespan_s;
    mean->utilization += weight * outcome->utilization;
    for (int c = 0; c < TASKS_CLASSES; c++)
        add_class(&mean->classes[c], &outcome->classes[c], weight);
}

double tasks_outcome_value(const struct tasks_outcome *outcome, enum policy_objective objective)
{
    const struct percentiles *slowdown = &outcome->classes[tasks_objective_class(outcome)].slowdown;
    return objective == POLICY_MAKESPAN      ? outcome->makespan_s
           : objective == POLICY_VARIABILITY ? slowdown->p95 / slowdown->p50
                                             : policy_percentile(slowdown, objective);
}

static double value_of(const void *cell, enum policy_objective objective)
{
    const struct tasks_cell *made = cell;
    return tasks_outcome_value(&made->outcome, objective);
}

struct policy_load *tasks_comparison_conclude(const struct tasks_comparison *comparison,
                                              const struct tasks_cell made[],
                                              enum policy_objective objective,
                                              struct arena *arena)
{
    static const struct policy_outcomes outcomes = {
        sizeof(struct tasks_cell), sizeof(struct tasks_outcome), value_of, add_outcome};
    return policy_comparison_conclude(&comparison->plan, &outcomes, made, objective, arena);
}
