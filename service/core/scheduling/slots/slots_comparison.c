#include "core/scheduling/slots/slots_comparison.h"

#include <math.h>

#include "core/scheduling/comparison/arrival_order.h"
#include "core/scheduling/slots/slots_network_size.h"
#include "core/scheduling/slots/slots_resources.h"
#include "core/scheduling/slots/slots_split.h"
#include "core/sim/statistics.h"

/* What the engine and its policies hold of a job, and of tasks that have a slot at one time, at
 * most: twice that of what grows by doubling. Blocks of an arena double as well. */
enum { BYTES_A_JOB = 1024, BYTES_A_TASK = 384, BYTES_OF_A_BLOCK = 4 << 20 };

/* With nodes: of each; of a task that has a slot; and of what speculation knows of tasks of a job that
 * a node has finished, at most one task each. */
enum { BYTES_A_NODE = 1024, BYTES_HOSTED = 512, BYTES_OF_A_FIGURE = 64 };

/* With containers: of each size of them, bits of the nodes, and the lines of each queue, of which there
 * are not more than the contract allows. */
enum { BYTES_A_SIZE = 128, NODES_A_BYTE = 8, BYTES_OF_LINES = 12, TENANTS_MOST = 100 };

static void
add_work(const struct slots_task_list *list, struct compensated_sum *work, size_t *tasks)
{
    for (size_t i = 0; i < list->n; i++) {
        compensated_sum_add(work, (double)list->tasks[i].count * list->tasks[i].duration_s);
        *tasks += list->tasks[i].count;
    }
}

/* Loads change when jobs arrive, but not in which order: one split is that of all cells. */
static enum pv_code
find_splits(struct slots_comparison *comparison, struct arena *scratch, struct pv_error *err)
{
    for (size_t p = 0; p < comparison->plan.n_policies; p++) {
        struct slots_terms *terms = &comparison->policies[p];
        if (terms->policy == &slots_policy_fresh_static)
            PV_TRY(slots_split(&comparison->cluster, comparison->jobs, comparison->n_jobs,
                               terms->concurrency, scratch, terms->split, err));
    }
    return PV_OK;
}

enum pv_code slots_comparison_complete(struct slots_comparison *comparison,
                                       struct arena *arena,
                                       struct pv_error *err)
{
    const struct slots_job *jobs = comparison->jobs;
    size_t n = comparison->n_jobs;
    uint32_t *order = arena_array(arena, n, sizeof *order);
    if (order == NULL || !arrival_order(&jobs->arrival_s, sizeof *jobs, (uint32_t)n, order, arena))
        return pv_no_memory(err);
    comparison->order = order;
    comparison->tasks = 0;
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
        struct compensated_sum work = {0, 0};
        for (size_t i = 0; i < n; i++)
            add_work(&jobs[i].task_lists[kind], &work, &comparison->tasks);
        comparison->work_s[kind] = compensated_sum_value(&work);
    }
    if (slots_cluster_has_room(&comparison->cluster))
        comparison->busy_s = slots_resources_busy_s(&comparison->cluster, jobs, n, false);
    comparison->network_tasks = slots_network_tasks(&comparison->cluster, jobs, n);
    return find_splits(comparison, arena, err);
}

static double slots_of(const struct slots_comparison *comparison)
{
    const struct slots_cluster *cluster = &comparison->cluster;
    return (double)cluster->slots[SLOTS_MAP] + (double)cluster->slots[SLOTS_REDUCE];
}

/* Jobs a second that load all slots to this share. */
static double rate_of(const struct slots_comparison *comparison, double load)
{
    double work_s = comparison->work_s[SLOTS_MAP] + comparison->work_s[SLOTS_REDUCE];
    if (slots_cluster_has_room(&comparison->cluster))
        return load * (double)comparison->n_jobs / comparison->busy_s;
    return load * slots_of(comparison) * (double)comparison->n_jobs / work_s;
}

double slots_comparison_kind_load(const struct slots_comparison *comparison,
                                  enum slots_kind kind,
                                  double load)
{
    if (slots_cluster_has_room(&comparison->cluster))
        return (double)NAN;
    return rate_of(comparison, load) * comparison->work_s[kind] / (double)comparison->n_jobs /
           slots_cluster_capacity(&comparison->cluster, kind);
}

size_t slots_comparison_memory(const struct slots_comparison *comparison)
{
    double running = fmin((double)comparison->tasks, slots_of(comparison));
    double bytes = 2 * ((double)comparison->n_jobs * BYTES_A_JOB + running * BYTES_A_TASK);
    bytes += (double)comparison->cluster.n_nodes * BYTES_A_NODE;
    if (comparison->cluster.n_nodes > 0)
        bytes += 2 * ((double)comparison->tasks * BYTES_OF_A_FIGURE + running * BYTES_HOSTED);
    if (slots_cluster_has_room(&comparison->cluster))
        bytes += (double)comparison->cluster.n_sizes *
                 (BYTES_A_SIZE + (double)comparison->cluster.n_nodes / NODES_A_BYTE +
                  (double)TENANTS_MOST * BYTES_OF_LINES);
    if (comparison->jobs != NULL)
        bytes += slots_network_memory(&comparison->cluster, comparison->jobs, comparison->n_jobs);
    bytes += BYTES_OF_A_BLOCK;
    return bytes < (double)(SIZE_MAX / 2) ? (size_t)bytes : SIZE_MAX;
}

/* The jobs as they arrive in the cell; NULL: out of memory. */
static const struct slots_job *jobs_of(const struct slots_comparison *comparison,
                                       const struct policy_cell *cell,
                                       struct arena *scratch)
{
    const struct policy_comparison *plan = &comparison->plan;
    if (plan->n_loads == 0)
        return comparison->jobs;
    struct slots_job *jobs = arena_array(scratch, comparison->n_jobs, sizeof *jobs);
    double rate_per_s = rate_of(comparison, policy_cell_load(plan, cell));
    struct trial trial = policy_cell_trial(plan, cell);
    double at_s = 0;
    for (size_t i = 0; jobs != NULL && i < comparison->n_jobs; i++) {
        uint32_t j = comparison->order[i];
        at_s += trial_gap_s(&trial, rate_per_s, j);
        jobs[j] = comparison->jobs[j];
        jobs[j].arrival_s = at_s;
    }
    return jobs;
}

/* What is wanted of a cell, and what it is seen with. */
struct cell_view {
    struct slots_observer observer;
    struct occupancy occupancy;
    struct fairness_series fairness;
    struct slots_speculation speculation;
    struct slots_allocated allocated;
    struct slots_traffic traffic;
};

/* false: out of memory. */
static bool begin_view(struct cell_view *view,
                       const struct slots_cell *made,
                       size_t n_jobs,
                       double start_s,
                       struct arena *scratch)
{
    const struct slots_detail *detail = made->detail;
    view->speculation = (struct slots_speculation){0};
    view->allocated = (struct slots_allocated){0};
    view->traffic = (struct slots_traffic){.links = 0};
    view->observer = (struct slots_observer){.speculation = &view->speculation,
                                             .allocated = &view->allocated,
                                             .traffic = &view->traffic};
    if (detail == NULL)
        return true;
    view->observer.spans = detail->spans;
    if (detail->queues != NULL) {
        view->observer.occupancy = &view->occupancy;
        if (!queue_lengths_begin(&view->occupancy, start_s, scratch))
            return false;
    }
    if (detail->fairness != NULL) {
        view->observer.fairness = &view->fairness;
        if (!fairness_series_begin(&view->fairness, n_jobs, start_s, scratch))
            return false;
    }
    return true;
}

static struct slots_mean_speculation once(const struct slots_speculation *counts)
{
    return (struct slots_mean_speculation){(double)counts->copies, (double)counts->useful,
                                           (double)counts->killed_on_straggler,
                                           (double)counts->killed_on_slower, counts->wasted_s};
}

static void take_allocated(const struct slots_resources *room,
                           const struct slots_allocated *allocated,
                           struct slots_outcome *outcome)
{
    if (room->vcores == 0)
        return;
    outcome->vcores_allocated = allocated->vcores_s / ((double)room->vcores * outcome->makespan_s);
    outcome->memory_allocated =
        allocated->memory_byte_s / ((double)room->memory_bytes * outcome->makespan_s);
}

static enum pv_code run_cell(const struct slots_comparison *comparison,
                             const struct policy_cell *cell,
                             const struct slots_progress *progress,
                             struct arena *scratch,
                             struct slots_cell *made,
                             struct pv_error *err)
{
    size_t n = comparison->n_jobs;
    struct slots_job_times *times = made->times;
    double *slowdown = made->slowdown;
    struct cell_view view;
    const struct slots_job *jobs = jobs_of(comparison, cell, scratch);
    if (times == NULL)
        times = arena_array(scratch, n, sizeof *times);
    if (slowdown == NULL)
        slowdown = arena_array(scratch, n, sizeof *slowdown);
    if (jobs == NULL || times == NULL || slowdown == NULL ||
        !begin_view(&view, made, n, jobs[comparison->order[0]].arrival_s, scratch))
        return pv_no_memory(err);
    PV_TRY(slots_simulate_observed(&comparison->cluster, jobs, n,
                                   slots_comparison_terms(comparison, cell->load, cell->policy),
                                   progress, &view.observer, scratch, times, err));
    if (progress != NULL && !progress->report(progress->context, comparison->tasks))
        return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    PV_TRY(slots_summarize(&comparison->cluster, jobs, n, times, comparison->runtime_s, scratch,
                           slowdown, &made->outcome, err));
    made->outcome.speculation = once(&view.speculation);
    take_allocated(&comparison->cluster.room, &view.allocated, &made->outcome);
    made->outcome.network = slots_network_once(&view.traffic, made->outcome.makespan_s);
    if (made->detail == NULL)
        return PV_OK;
    if (made->detail->fairness != NULL)
        *made->detail->fairness = view.fairness.points;
    return slots_detail_take(jobs, n, times, comparison->runtime_s, slowdown, &view.occupancy,
                             scratch, made->detail, err);
}

enum pv_code slots_comparison_run(const struct slots_comparison *comparison,
                                  const struct policy_cell *cell,
                                  const struct slots_progress *progress,
                                  struct arena *scratch,
                                  struct slots_cell *made,
                                  struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = run_cell(comparison, cell, progress, scratch, made, err);
    arena_rewind(scratch, mark);
    return code;
}

/* --- the first jobs alone --- */

void slots_comparison_tasks_by(const struct slots_comparison *comparison, double tasks[])
{
    tasks[0] = 0;
    for (size_t i = 0; i < comparison->n_jobs; i++) {
        const struct slots_job *job = &comparison->jobs[comparison->order[i]];
        tasks[i + 1] = tasks[i];
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
            tasks[i + 1] += (double)slots_tasks_count(&job->task_lists[kind]);
    }
}

enum pv_code slots_comparison_cut(const struct slots_comparison *comparison,
                                  size_t n,
                                  struct arena *arena,
                                  struct slots_comparison *part,
                                  struct pv_error *err)
{
    struct slots_job *jobs = arena_array(arena, n, sizeof *jobs);
    double *runtime_s = arena_array(arena, n, sizeof *runtime_s);
    if (jobs == NULL || runtime_s == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        jobs[i] = comparison->jobs[comparison->order[i]];
        runtime_s[i] = comparison->runtime_s[comparison->order[i]];
    }
    *part = *comparison;
    part->jobs = jobs;
    part->n_jobs = n;
    part->runtime_s = runtime_s;
    return slots_comparison_complete(part, arena, err);
}

/* --- what cells come to --- */

static void add_speculation(struct slots_mean_speculation *mean,
                            const struct slots_mean_speculation *of,
                            double weight)
{
    mean->copies += weight * of->copies;
    mean->useful += weight * of->useful;
    mean->killed_on_straggler += weight * of->killed_on_straggler;
    mean->killed_on_slower += weight * of->killed_on_slower;
    mean->wasted_s += weight * of->wasted_s;
}

static void
add_network(struct slots_mean_network *mean, const struct slots_mean_network *of, double weight)
{
    mean->link_bytes += weight * of->link_bytes;
    mean->local_bytes += weight * of->local_bytes;
    mean->link_utilization += weight * of->link_utilization;
    mean->busiest_link_utilization += weight * of->busiest_link_utilization;
}

static void add_outcome(void *sum, const void *cell, double weight)
{
    const struct slots_outcome *outcome = &((const struct slots_cell *)cell)->outcome;
    struct slots_outcome *mean = sum;
    mean->makespan_s += weight * outcome->makespan_s;
    mean->utilization += weight * outcome->utilization;
    mean->fairness += weight * outcome->fairness;
    mean->vcores_allocated += weight * outcome->vcores_allocated;
    mean->memory_allocated += weight * outcome->memory_allocated;
    mean->slowdown_variability_95 += weight * outcome->slowdown_variability_95;
    percentiles_add(&mean->completion_s, &outcome->completion_s, weight);
    percentiles_add(&mean->slowdown, &outcome->slowdown, weight);
    add_speculation(&mean->speculation, &outcome->speculation, weight);
    add_network(&mean->network, &outcome->network, weight);
    mean->breakdown.map_only_s += weight * outcome->breakdown.map_only_s;
    mean->breakdown.overlap_s += weight * outcome->breakdown.overlap_s;
    mean->breakdown.shuffle_only_s += weight * outcome->breakdown.shuffle_only_s;
}

double slots_outcome_value(const struct slots_outcome *outcome, enum policy_objective objective)
{
    return objective == POLICY_MAKESPAN      ? outcome->makespan_s
           : objective == POLICY_VARIABILITY ? outcome->slowdown_variability_95
                                             : policy_percentile(&outcome->slowdown, objective);
}

static double value_of(const void *cell, enum policy_objective objective)
{
    const struct slots_cell *made = cell;
    return slots_outcome_value(&made->outcome, objective);
}

struct policy_load *slots_comparison_conclude(const struct slots_comparison *comparison,
                                              const struct slots_cell made[],
                                              enum policy_objective objective,
                                              struct arena *arena)
{
    static const struct policy_outcomes outcomes = {
        sizeof(struct slots_cell), sizeof(struct slots_outcome), value_of, add_outcome};
    return policy_comparison_conclude(&comparison->plan, &outcomes, made, objective, arena);
}
