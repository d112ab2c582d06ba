#include "core/geo/placement.h"

#include <math.h>
#include <stdlib.h>

#include "core/geo/assignment.h"
#include "core/geo/search.h"

bool placement_make(struct placement *placement,
                    struct desk *desk,
                    placement_fill *fill,
                    const double pace[])
{
    const struct geo_problem *problem = desk->problem;
    size_t most = 0;
    for (size_t j = 0; j < problem->n_jobs; j++)
        most = problem->jobs[j].n_tasks > most ? problem->jobs[j].n_tasks : most;
    *placement =
        (struct placement){.desk = desk,
                           .fill = fill,
                           .pace = pace,
                           .tasks = arena_array(desk->arena, most, sizeof *placement->tasks),
                           .rows = arena_array(desk->arena, most, sizeof *placement->rows),
                           .base = arena_array(desk->arena, most, sizeof *placement->base),
                           .weight = arena_array(desk->arena, most, sizeof *placement->weight),
                           .places = arena_array(desk->arena, most, sizeof *placement->places),
                           .row = arena_array(desk->arena, problem->n_clusters, sizeof(double)),
                           .sort = SIZE_MAX};
    return placement->tasks && placement->rows && placement->base && placement->weight &&
           placement->places && placement->row;
}

/* --- costs --- */

static void fill_row(struct placement *p, const struct geo_task *task, size_t sort, double row[])
{
    const double *limits = geo_rates_limits(p->desk->rates, sort);
    p->fill(p, task, row);
    for (size_t m = 0; m < p->desk->problem->n_clusters; m++)
        if (limits[m] <= 0)
            row[m] = HUGE_VAL;
}

static double pace_of(const struct placement *p, const struct geo_task *task)
{
    return p->pace ? p->pace[task->operation] : 0;
}

static const double *find_row(struct placement *p, size_t job, size_t index)
{
    size_t sort = p->desk->states[job][index].sort;
    if (p->sort != sort)
        fill_row(p, desk_task(p->desk, job, index), sort, p->row);
    p->sort = sort;
    return p->row;
}

double placement_cost(struct placement *p, size_t job, size_t index, size_t cluster)
{
    const struct geo_task *task = desk_task(p->desk, job, index);
    return task->size_bytes * (pace_of(p, task) + find_row(p, job, index)[cluster]);
}

/* The tasks without a copy, ordered by sort in desk->order. */
static void list_tasks(struct placement *p, size_t job)
{
    p->n = 0;
    for (size_t t = 0; t < p->desk->problem->jobs[job].n_tasks; t++) {
        const struct state *state = &p->desk->states[job][t];
        if (state->n > 0)
            continue;
        p->desk->order[p->n] = (struct ranked){(double)state->sort, p->n};
        p->tasks[p->n++] = t;
    }
    qsort(p->desk->order, p->n, sizeof *p->desk->order, desk_ascending);
}

static bool make_pool(struct placement *p)
{
    size_t sorts = 0;
    for (size_t k = 0; k < p->n; k++)
        sorts += k == 0 || p->desk->order[k].key != p->desk->order[k - 1].key;
    if (sorts <= p->pool_room)
        return true;
    size_t clusters = p->desk->problem->n_clusters;
    if (clusters > SIZE_MAX / sizeof(double) / sorts)
        return false;
    p->pool = arena_array(p->desk->arena, sorts * clusters, sizeof *p->pool);
    p->pool_room = p->pool ? sorts : 0;
    return p->pool != NULL;
}

/* One row for each sort of task. */
static bool fill_rows(struct placement *p, size_t job)
{
    const struct ranked *order = p->desk->order;
    double *row = p->pool;
    list_tasks(p, job);
    if (!make_pool(p))
        return false;
    for (size_t k = 0; k < p->n; k++) {
        size_t i = order[k].index;
        const struct geo_task *task = desk_task(p->desk, job, p->tasks[i]);
        if (k == 0)
            row = p->pool;
        else if (order[k].key != order[k - 1].key)
            row += p->desk->problem->n_clusters;
        if (k == 0 || order[k].key != order[k - 1].key)
            fill_row(p, task, p->desk->states[job][p->tasks[i]].sort, row);
        p->rows[i] = row;
        p->weight[i] = task->size_bytes;
        p->base[i] = task->size_bytes * pace_of(p, task);
    }
    return true;
}

/* --- places --- */

static enum pv_code
find_in_row(struct placement *p, size_t job, size_t index, const double row[], struct offer *offer)
{
    struct desk *desk = p->desk;
    const struct geo_task *task = desk_task(desk, job, index);
    const struct state *state = &desk->states[job][index];
    double least = HUGE_VAL;
    *offer = (struct offer){.found = false};
    for (size_t m = 0; m < desk->problem->n_clusters; m++) {
        if (desk->idle[m] <= 0 || row[m] >= least || desk_has_copy(state, m))
            continue;
        double rate = geo_rates_mean(desk->rates, state->sort, m);
        if (rate < 0)
            return PV_E_MEMORY;
        if (!desk_passes_gates(desk, task, m, rate))
            continue;
        least = row[m];
        *offer = (struct offer){true, m, rate, task->size_bytes * (pace_of(p, task) + row[m])};
    }
    return PV_OK;
}

enum pv_code placement_find(struct placement *p, size_t job, size_t index, struct offer *offer)
{
    return find_in_row(p, job, index, find_row(p, job, index), offer);
}

/* The places that the gates let be; the others are taken back. */
static enum pv_code grant_places(struct placement *p, size_t job)
{
    struct desk *desk = p->desk;
    for (size_t i = 0; i < p->n; i++) {
        size_t index = p->tasks[i];
        size_t cluster = p->places[i];
        if (cluster == ASSIGNMENT_NONE)
            continue;
        double rate = geo_rates_mean(desk->rates, desk->states[job][index].sort, cluster);
        if (rate < 0)
            return PV_E_MEMORY;
        if (!desk_passes_gates(desk, desk_task(desk, job, index), cluster, rate))
            continue;
        const struct offer offer = {true, cluster, rate, 0};
        if (!desk_grant(desk, job, index, 1, &offer))
            return PV_E_MEMORY;
    }
    return PV_OK;
}

static enum pv_code place_another_way(struct placement *p, size_t job, size_t i)
{
    struct desk *desk = p->desk;
    size_t index = p->tasks[i];
    struct state *state = &desk->states[job][index];
    struct offer offer;
    enum pv_code code = find_in_row(p, job, index, p->rows[i], &offer);
    if (code != PV_OK)
        return code;
    if (offer.found)
        return desk_grant(desk, job, index, 1, &offer) ? PV_OK : PV_E_MEMORY;
    state->waits = true;
    return search_reason(desk, desk_task(desk, job, index), state, &state->reason);
}

enum pv_code placement_run(struct placement *p, size_t job, const int64_t room[])
{
    struct desk *desk = p->desk;
    if (!fill_rows(p, job))
        return PV_E_MEMORY;
    const struct assignment assignment = {.n_tasks = p->n,
                                          .n_clusters = desk->problem->n_clusters,
                                          .row = p->rows,
                                          .base = p->base,
                                          .weight = p->weight,
                                          .room = room};
    struct arena_mark mark = arena_mark(desk->arena);
    enum pv_code code = assignment_solve(&assignment, desk->arena, p->places);
    arena_rewind(desk->arena, mark);
    if (code == PV_OK)
        code = grant_places(p, job);
    for (size_t i = 0; i < p->n && code == PV_OK; i++)
        if (desk->states[job][p->tasks[i]].n == 0)
            code = place_another_way(p, job, i);
    return code;
}
