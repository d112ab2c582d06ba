#include "core/geo/plan_make.h"

#include "core/geo/allocation.h"

static bool reserve_plan(const struct allocation *allocation, struct geo_plan *plan)
{
    size_t tasks = 0;
    for (size_t j = 0; j < allocation->problem->n_jobs; j++)
        tasks += allocation->problem->jobs[j].n_tasks;
    *plan = (struct geo_plan){
        .copies = allocation->copies,
        .n_copies = allocation->n_copies,
        .tasks = arena_array(allocation->arena, tasks, sizeof *plan->tasks),
        .waiting = arena_array(allocation->arena, tasks, sizeof *plan->waiting),
        .shares = arena_array(allocation->arena, allocation->admitted, sizeof *plan->shares),
        .n_shares = allocation->admitted,
        .cancellations = allocation->cancellations,
        .n_cancellations = allocation->n_cancellations,
        .use = arena_calloc(allocation->arena, allocation->problem->n_clusters, sizeof *plan->use)};
    return plan->tasks && plan->waiting && plan->shares && plan->use;
}

static void
report_task(const struct allocation *allocation, size_t job, size_t index, struct geo_plan *plan)
{
    struct task_allocation *task = &allocation->tasks[job][index];
    double size = allocation_task(allocation, job, index)->size_bytes;
    if (task->n == 0) {
        plan->waiting[plan->n_waiting++] = (struct geo_plan_waiting){job, index, task->reason};
        return;
    }
    plan->tasks[plan->n_tasks++] =
        (struct geo_plan_task){.job = job,
                               .task = index,
                               .clusters = task->clusters,
                               .n_clusters = task->n,
                               .rate_bytes_per_s = task->rate.mean,
                               .duration_s = size / task->rate.mean,
                               .exemption_probability = allocation_exemption(
                                   allocation, task->lost, size, task->rate.mean)};
}

static void report_use(const struct allocation *allocation, struct geo_plan *plan)
{
    for (size_t i = 0; i < allocation->n_copies; i++) {
        const struct geo_plan_copy *copy = &allocation->copies[i];
        const struct geo_task *task = allocation_task(allocation, copy->job, copy->task);
        plan->use[copy->cluster].slots++;
        plan->rounds = copy->round > plan->rounds ? copy->round : plan->rounds;
        for (size_t k = 0; k < task->n_inputs; k++) {
            if (task->inputs[k] == copy->cluster)
                continue;
            double each = copy->rate_bytes_per_s / (double)task->n_inputs;
            plan->use[copy->cluster].ingress_bytes_per_s += each;
            plan->use[task->inputs[k]].egress_bytes_per_s += each;
        }
    }
}

static enum pv_code report_plan(const struct allocation *allocation, struct geo_plan *plan)
{
    struct geo_plan made;
    if (!reserve_plan(allocation, &made))
        return PV_E_MEMORY;
    for (size_t j = 0; j < allocation->problem->n_jobs; j++)
        for (size_t t = 0; t < allocation->problem->jobs[j].n_tasks; t++)
            report_task(allocation, j, t, &made);
    for (size_t k = 0; k < allocation->admitted; k++)
        made.shares[k] = (struct geo_plan_share){allocation->jobs[k].index, allocation->share};
    report_use(allocation, &made);
    *plan = made;
    return PV_OK;
}

enum pv_code geo_plan_make(const struct geo_problem *problem,
                           const struct geo_parameters *parameters,
                           struct geo_rates *rates,
                           const struct geo_interrupt *interrupt,
                           struct arena *arena,
                           struct geo_plan *plan,
                           struct pv_error *err)
{
    struct allocation allocation = {.problem = problem,
                                    .parameters = parameters->value,
                                    .interrupt = interrupt,
                                    .arena = arena,
                                    .rates = rates};
    enum pv_code code = allocation_open(&allocation, err);
    if (code == PV_OK)
        code = parameters->planner->run(&allocation);
    if (code == PV_OK)
        code = report_plan(&allocation, plan);
    if (code == PV_E_MEMORY && allocation.rates != NULL &&
        geo_rates_was_interrupted(allocation.rates))
        return pv_fail(err, PV_E_CANCELLED, "the copy plan was given up");
    return code == PV_E_MEMORY ? pv_no_memory(err) : code;
}
