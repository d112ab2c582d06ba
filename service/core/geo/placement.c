#include "core/geo/placement.h"

#include <math.h>
#include <stdlib.h>

#include "core/geo/assignment.h"
#include "core/geo/search.h"

bool placement_make(struct placement *placement,
                    struct allocation *allocation,
                    placement_fill *fill,
                    const double pace[])
{
    const struct geo_problem *problem = allocation->problem;
    size_t most = 0;
    for (size_t j = 0; j < problem->n_jobs; j++)
        most = problem->jobs[j].n_tasks > most ? problem->jobs[j].n_tasks : most;
    *placement = (struct placement){
        .allocation = allocation,
        .fill = fill,
        .pace = pace,
        .tasks = arena_array(allocation->arena, most, sizeof *placement->tasks),
        .rows = arena_array(allocation->arena, most, sizeof *placement->rows),
        .base = arena_array(allocation->arena, most, sizeof *placement->base),
        .weight = arena_array(allocation->arena, most, sizeof *placement->weight),
        .places = arena_array(allocation->arena, most, sizeof *placement->places),
        .row = arena_array(allocation->arena, problem->n_clusters, sizeof(double)),
        .task_class = SIZE_MAX};
    return placement->tasks && placement->rows && placement->base && placement->weight &&
           placement->places && placement->row;
}

/* --- costs --- */

static void
fill_row(struct placement *p, const struct geo_task *task, size_t task_class, double row[])
{
    const double *limits = geo_rates_upper_bounds(p->allocation->rates, task_class);
    p->fill(p, task, row);
    for (size_t m = 0; m < p->allocation->problem->n_clusters; m++)
        if (limits[m] <= 0)
            row[m] = HUGE_VAL;
}

static double pace_of(const struct placement *p, const struct geo_task *task)
{
    return p->pace ? p->pace[task->operation] : 0;
}

static const double *find_row(struct placement *p, size_t job, size_t index)
{
    size_t task_class = p->allocation->tasks[job][index].task_class;
    if (p->task_class != task_class)
        fill_row(p, allocation_task(p->allocation, job, index), task_class, p->row);
    p->task_class = task_class;
    return p->row;
}

double placement_cost(struct placement *p, size_t job, size_t index, size_t cluster)
{
    const struct geo_task *task = allocation_task(p->allocation, job, index);
    return task->size_bytes * (pace_of(p, task) + find_row(p, job, index)[cluster]);
}

/* The tasks without a copy, ordered by sort in allocation->order. */
static void list_tasks(struct placement *p, size_t job)
{
    p->n = 0;
    for (size_t t = 0; t < p->allocation->problem->jobs[job].n_tasks; t++) {
        const struct task_allocation *state = &p->allocation->tasks[job][t];
        if (state->n > 0)
            continue;
        p->allocation->order[p->n] = (struct ranked_index){(double)state->task_class, p->n};
        p->tasks[p->n++] = t;
    }
    qsort(p->allocation->order, p->n, sizeof *p->allocation->order, allocation_ascending);
}

static bool make_pool(struct placement *p)
{
    size_t classes = 0;
    for (size_t k = 0; k < p->n; k++)
        classes += k == 0 || p->allocation->order[k].key != p->allocation->order[k - 1].key;
    if (classes <= p->pool_capacity)
        return true;
    size_t clusters = p->allocation->problem->n_clusters;
    if (clusters > SIZE_MAX / sizeof(double) / classes)
        return false;
    p->pool = arena_array(p->allocation->arena, classes * clusters, sizeof *p->pool);
    p->pool_capacity = p->pool ? classes : 0;
    return p->pool != NULL;
}

/* One row for each sort of task. */
static bool fill_rows(struct placement *p, size_t job)
{
    const struct ranked_index *order = p->allocation->order;
    double *row = p->pool;
    list_tasks(p, job);
    if (!make_pool(p))
        return false;
    for (size_t k = 0; k < p->n; k++) {
        size_t i = order[k].index;
        const struct geo_task *task = allocation_task(p->allocation, job, p->tasks[i]);
        if (k == 0)
            row = p->pool;
        else if (order[k].key != order[k - 1].key)
            row += p->allocation->problem->n_clusters;
        if (k == 0 || order[k].key != order[k - 1].key)
            fill_row(p, task, p->allocation->tasks[job][p->tasks[i]].task_class, row);
        p->rows[i] = row;
        p->weight[i] = task->size_bytes;
        p->base[i] = task->size_bytes * pace_of(p, task);
    }
    return true;
}

/* --- places --- */

static enum pv_code find_in_row(
    struct placement *p, size_t job, size_t index, const double row[], struct candidate *candidate)
{
    struct allocation *allocation = p->allocation;
    const struct geo_task *task = allocation_task(allocation, job, index);
    const struct task_allocation *state = &allocation->tasks[job][index];
    double least = HUGE_VAL;
    *candidate = (struct candidate){.found = false};
    for (size_t m = 0; m < allocation->problem->n_clusters; m++) {
        if (allocation->idle[m] <= 0 || row[m] >= least || allocation_has_copy(state, m))
            continue;
        double rate = geo_rates_mean(allocation->rates, state->task_class, m);
        if (rate < 0)
            return PV_E_MEMORY;
        if (!allocation_passes_gates(allocation, task, m, rate))
            continue;
        least = row[m];
        *candidate =
            (struct candidate){true, m, rate, task->size_bytes * (pace_of(p, task) + row[m])};
    }
    return PV_OK;
}

enum pv_code
placement_find(struct placement *p, size_t job, size_t index, struct candidate *candidate)
{
    return find_in_row(p, job, index, find_row(p, job, index), candidate);
}

/* The places that the gates let be; the others are taken back. */
static enum pv_code grant_places(struct placement *p, size_t job)
{
    struct allocation *allocation = p->allocation;
    for (size_t i = 0; i < p->n; i++) {
        size_t index = p->tasks[i];
        size_t cluster = p->places[i];
        if (cluster == ASSIGNMENT_NONE)
            continue;
        double rate =
            geo_rates_mean(allocation->rates, allocation->tasks[job][index].task_class, cluster);
        if (rate < 0)
            return PV_E_MEMORY;
        if (!allocation_passes_gates(allocation, allocation_task(allocation, job, index), cluster,
                                     rate))
            continue;
        const struct candidate candidate = {true, cluster, rate, 0};
        if (!allocation_grant(allocation, job, index, 1, &candidate))
            return PV_E_MEMORY;
    }
    return PV_OK;
}

static enum pv_code place_another_way(struct placement *p, size_t job, size_t i)
{
    struct allocation *allocation = p->allocation;
    size_t index = p->tasks[i];
    struct task_allocation *state = &allocation->tasks[job][index];
    struct candidate candidate;
    PV_TRY(find_in_row(p, job, index, p->rows[i], &candidate));
    if (candidate.found)
        return allocation_grant(allocation, job, index, 1, &candidate) ? PV_OK : PV_E_MEMORY;
    state->waits = true;
    return search_reason(allocation, allocation_task(allocation, job, index), state,
                         &state->reason);
}

enum pv_code placement_run(struct placement *p, size_t job, const int64_t capacity[])
{
    struct allocation *allocation = p->allocation;
    if (!fill_rows(p, job))
        return PV_E_MEMORY;
    const struct assignment assignment = {.n_tasks = p->n,
                                          .n_clusters = allocation->problem->n_clusters,
                                          .row = p->rows,
                                          .base = p->base,
                                          .weight = p->weight,
                                          .capacity = capacity};
    struct arena_mark mark = arena_mark(allocation->arena);
    enum pv_code code = assignment_solve(&assignment, allocation->arena, p->places);
    arena_rewind(allocation->arena, mark);
    if (code == PV_OK)
        code = grant_places(p, job);
    for (size_t i = 0; i < p->n && code == PV_OK; i++)
        if (allocation->tasks[job][p->tasks[i]].n == 0)
            code = place_another_way(p, job, i);
    return code;
}
