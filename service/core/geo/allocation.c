#include "core/geo/allocation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/rounding.h"
#include "base/vector.h"

int allocation_ascending(const void *a, const void *b)
{
    const struct ranked_index *x = a;
    const struct ranked_index *y = b;
    int order = compare_double(x->key, y->key);
    return order != 0 ? order : compare_size(x->index, y->index);
}

const struct geo_task *allocation_task(const struct allocation *allocation, size_t job, size_t task)
{
    return &allocation->problem->jobs[job].tasks[task];
}

/* --- a task's figures --- */

double allocation_exemption(const struct allocation *allocation,
                            double lost,
                            double size_bytes,
                            double rate)
{
    double slots = rounding_ceil(size_bytes / rate / allocation->problem->slot_s);
    return pow(1 - lost, slots);
}

bool allocation_has_copy(const struct task_allocation *state, size_t cluster)
{
    for (size_t i = 0; i < state->n; i++)
        if (state->clusters[i] == cluster)
            return true;
    return false;
}

/* Chance that all clusters are lost with another copy in this one. */
double allocation_lost_with(const struct allocation *allocation,
                            const struct task_allocation *state,
                            size_t cluster)
{
    return allocation_has_copy(state, cluster)
               ? state->lost
               : state->lost * allocation->problem->clusters[cluster].unreachable_probability;
}

double allocation_rate_with(const struct allocation *allocation,
                            const struct task_allocation *state,
                            size_t cluster)
{
    struct speeds spread;
    if (state->n == 0)
        return geo_rates_mean(allocation->rates, state->task_class, cluster);
    geo_rates_spread(allocation->rates, state->task_class, cluster, &spread);
    return speeds_max_mean(&state->rate, &spread);
}

/* --- gates --- */

struct flow {
    size_t remote;
    double each; /* from each remote input */
};

static struct flow find_flow(const struct geo_task *task, size_t cluster, double rate)
{
    struct flow flow = {0, task->n_inputs > 0 ? rate / (double)task->n_inputs : 0};
    for (size_t i = 0; i < task->n_inputs; i++)
        flow.remote += task->inputs[i] != cluster;
    return flow;
}

static bool allocation_fits(double need, double left)
{
    return need <= left + ALLOCATION_TIE * fmax(need, fabs(left));
}

bool allocation_passes_gates(const struct allocation *allocation,
                             const struct geo_task *task,
                             size_t cluster,
                             double rate)
{
    struct flow flow = find_flow(task, cluster, rate);
    if (flow.remote == 0)
        return true;
    if (!allocation_fits(flow.each * (double)flow.remote, allocation->ingress[cluster]))
        return false;
    for (size_t i = 0; i < task->n_inputs; i++)
        if (task->inputs[i] != cluster &&
            !allocation_fits(flow.each, allocation->egress[task->inputs[i]]))
            return false;
    return true;
}

static void
take_gates(struct allocation *allocation, const struct geo_task *task, size_t cluster, double rate)
{
    struct flow flow = find_flow(task, cluster, rate);
    if (flow.remote == 0)
        return;
    allocation->ingress[cluster] -= flow.each * (double)flow.remote;
    for (size_t i = 0; i < task->n_inputs; i++)
        if (task->inputs[i] != cluster)
            allocation->egress[task->inputs[i]] -= flow.each;
}

/* --- granting and ending --- */

static bool
add_cluster(struct allocation *allocation, struct task_allocation *state, size_t cluster)
{
    if (!vector_reserve(allocation->arena, state->clusters, state->capacity, state->n + 1))
        return false;
    state->clusters[state->n++] = cluster;
    return true;
}

/* The task has another copy, wherever it comes from. */
static bool allocation_join(struct allocation *allocation,
                            const struct geo_task *task,
                            struct task_allocation *state,
                            size_t cluster)
{
    struct speeds spread;
    struct speeds before = state->rate;
    double rate = geo_rates_mean(allocation->rates, state->task_class, cluster);
    if (rate < 0)
        return false;
    geo_rates_spread(allocation->rates, state->task_class, cluster, &spread);
    if (state->n == 0)
        state->rate = spread;
    else
        speeds_max(&before, &spread, &state->rate);
    state->lost = allocation_lost_with(allocation, state, cluster);
    take_gates(allocation, task, cluster, rate);
    return add_cluster(allocation, state, cluster);
}

static struct geo_plan_copy *next_copy(struct allocation *allocation)
{
    if (!vector_reserve(allocation->arena, allocation->copies, allocation->capacity,
                        allocation->n_copies + 1))
        return NULL;
    return &allocation->copies[allocation->n_copies++];
}

/* By how much `after` is above `before`, which it cannot be below but by rounding. NAN: there is no
 * `before`. */
static double rise(double before, double after)
{
    return before > after ? 0 : after - before;
}

bool allocation_grant(struct allocation *allocation,
                      size_t job,
                      size_t index,
                      int64_t round,
                      const struct candidate *candidate)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    struct task_allocation *state = &allocation->tasks[job][index];
    struct geo_plan_copy *copy = next_copy(allocation);
    double rate = state->n > 0 ? state->rate.mean : (double)NAN;
    double exemption = allocation_exemption(allocation, state->lost, task->size_bytes, rate);
    if (!copy || !allocation_join(allocation, task, state, candidate->cluster))
        return false;
    allocation->idle[candidate->cluster]--;
    allocation->used[job]++;
    *copy = (struct geo_plan_copy){
        .job = job,
        .task = index,
        .cluster = candidate->cluster,
        .round = round,
        .rate_bytes_per_s = candidate->rate,
        .duration_s = task->size_bytes / candidate->rate,
        .saved_s = rise(task->size_bytes / state->rate.mean, task->size_bytes / rate),
        .exemption_gain =
            rise(exemption, allocation_exemption(allocation, state->lost, task->size_bytes,
                                                 state->rate.mean))};
    return true;
}

bool allocation_stop(struct allocation *allocation, size_t job, size_t index)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    struct task_allocation *state = &allocation->tasks[job][index];
    size_t cluster = state->clusters[0];
    if (!vector_reserve(allocation->arena, allocation->cancellations,
                        allocation->cancellations_capacity, allocation->n_cancellations + 1))
        return false;
    allocation->cancellations[allocation->n_cancellations++] =
        (struct geo_plan_cancellation){job, index, cluster};
    take_gates(allocation, task, cluster, -state->rate.mean);
    allocation->idle[cluster]++;
    allocation->used[job]--;
    state->n = 0;
    state->rate = (struct speeds){.n = 0};
    state->lost = 1;
    return true;
}

/* --- opening --- */

static bool open_clusters(struct allocation *allocation)
{
    const struct geo_problem *problem = allocation->problem;
    struct ranked_index *ranked =
        arena_array(allocation->arena, problem->n_clusters, sizeof *ranked);
    allocation->idle =
        arena_array(allocation->arena, problem->n_clusters, sizeof *allocation->idle);
    allocation->ingress =
        arena_array(allocation->arena, problem->n_clusters, sizeof *allocation->ingress);
    allocation->egress =
        arena_array(allocation->arena, problem->n_clusters, sizeof *allocation->egress);
    allocation->most_reliable =
        arena_array(allocation->arena, problem->n_clusters, sizeof *allocation->most_reliable);
    if (!ranked || !allocation->idle || !allocation->ingress || !allocation->egress ||
        !allocation->most_reliable)
        return false;
    for (size_t m = 0; m < problem->n_clusters; m++) {
        const struct geo_cluster *cluster = &problem->clusters[m];
        allocation->idle[m] = cluster->slots - cluster->busy_slots;
        allocation->ingress[m] = cluster->ingress_bytes_per_s;
        allocation->egress[m] = cluster->egress_bytes_per_s;
        ranked[m] = (struct ranked_index){cluster->unreachable_probability, m};
    }
    qsort(ranked, problem->n_clusters, sizeof *ranked, allocation_ascending);
    for (size_t m = 0; m < problem->n_clusters; m++)
        allocation->most_reliable[m] = ranked[m].index;
    return true;
}

/* Where a task runs already and could not run by what is known of the cluster, the copy counts for
 * the share and nothing else. */
static bool take_running(struct allocation *allocation, size_t job, size_t index)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    struct task_allocation *state = &allocation->tasks[job][index];
    allocation->used[job] += (int64_t)task->n_copies;
    for (size_t i = 0; i < task->n_copies; i++)
        if (geo_rates_upper_bounds(allocation->rates, state->task_class)[task->copies[i].cluster] >
                0 &&
            !allocation_join(allocation, task, state, task->copies[i].cluster))
            return false;
    return true;
}

/* Its sort, its best rate and what it has already. */
static enum pv_code
open_task(struct allocation *allocation, size_t job, size_t index, struct pv_error *err)
{
    struct task_allocation *state = &allocation->tasks[job][index];
    state->task_class =
        geo_rates_task_class(allocation->rates, allocation_task(allocation, job, index));
    state->lost = 1;
    state->reason = GEO_NOT_ADMITTED;
    double best =
        state->task_class == SIZE_MAX ? -1 : geo_rates_best(allocation->rates, state->task_class);
    if (best < 0 || !take_running(allocation, job, index))
        return PV_E_MEMORY;
    if (best > 0)
        return PV_OK;
    char at[64];
    (void)snprintf(at, sizeof at, "/jobs/%zu/tasks/%zu/inputs", job, index);
    pv_fault(err, PV_PLACE_POINTER, at, "unreachable",
             "no cluster does this operation and has links from all these inputs");
    return PV_E_INVALID;
}

static enum pv_code open_tasks(struct allocation *allocation, struct pv_error *err)
{
    const struct geo_problem *problem = allocation->problem;
    enum pv_code code = PV_OK;
    size_t most = 0;
    for (size_t j = 0; j < problem->n_jobs; j++) {
        size_t n = problem->jobs[j].n_tasks;
        most = n > most ? n : most;
        allocation->used[j] = (int64_t)problem->jobs[j].hidden_copies;
        allocation->tasks[j] = arena_calloc(allocation->arena, n, sizeof **allocation->tasks);
        if (!allocation->tasks[j])
            return PV_E_MEMORY;
        for (size_t t = 0; t < n; t++) {
            enum pv_code one = open_task(allocation, j, t, err);
            if (one == PV_E_MEMORY)
                return one;
            code = one != PV_OK ? one : code;
        }
    }
    allocation->order = arena_array(allocation->arena, most, sizeof *allocation->order);
    return allocation->order ? code : PV_E_MEMORY;
}

enum pv_code allocation_open(struct allocation *allocation, struct pv_error *err)
{
    size_t n = allocation->problem->n_jobs;
    if (!allocation->rates)
        allocation->rates = geo_rates_make(allocation->problem, allocation->arena);
    allocation->tasks = arena_array(allocation->arena, n, sizeof *allocation->tasks);
    allocation->jobs = arena_array(allocation->arena, n, sizeof *allocation->jobs);
    allocation->used = arena_calloc(allocation->arena, n, sizeof *allocation->used);
    if (!allocation->rates || !allocation->tasks || !allocation->jobs || !allocation->used ||
        !open_clusters(allocation))
        return PV_E_MEMORY;
    geo_rates_begin(allocation->rates, allocation->interrupt);
    return open_tasks(allocation, err);
}
