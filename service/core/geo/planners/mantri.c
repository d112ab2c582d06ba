/*
 * Mantri on top of Flutter: outliers are detected while they run, and restarted or duplicated where
 * that pays (G. Ananthanarayanan et al., "Reining in the outliers in map-reduce clusters using
 * Mantri", OSDI 2010, section 5.1).
 *
 * Observes what Flutter observes, how long running copies have run and how much of their task they
 * have processed, and the distribution of processing speeds over all clusters together: it knows
 * that tasks may be slow, but not in which clusters.
 *
 * t_rem of a task is the minimum over its copies of the remaining time at the pace so far; for a
 * copy that has processed nothing yet, Flutter's estimate less the elapsed time. t_new is the time
 * of a copy in the free cluster that Flutter estimates to be fastest: transfers at their mean,
 * execution at a speed drawn from those of all clusters. Tasks are considered by falling t_rem.
 *
 * While more tasks wait than slots are idle:
 *   - the only copy of a task ends and starts elsewhere when t_rem > E[t_new] + period;
 *   - a copy joins the c of a task when P(t_rem > t_new (c + 1)/c) > duplicate_probability, that is
 *     when it probably saves slots as well as time;
 *   - then waiting tasks start as Flutter places them.
 * Once all tasks have a slot, a copy joins when E[t_rem - t_new] > gain x period.
 *
 * A task is left alone if nothing is known of its copies. The paper's limit on restarts of one task
 * is not kept: a request does not say how often a task was restarted.
 */
#include <math.h>
#include <stdlib.h>

#include "core/geo/planner.h"
#include "core/geo/planners/flutter.h"

/* Indices into the parameters. */
enum { DUPLICATE_PROBABILITY, COPIES_MAX, PERIOD_S, GAIN };

/* A task with copies of which something is known. */
struct watched {
    double remaining_s;
    size_t job;
    size_t task;
};

struct mantri {
    struct allocation *allocation;
    struct placement placement;
    struct speeds *pooled; /* of each operation, over all clusters; n 0: not needed so far */
    struct watched *watched;
    size_t n;
};

/* --- running copies --- */

/* NAN: nothing is known. */
static double
find_remaining(struct mantri *mantri, size_t job, size_t index, const struct geo_running *copy)
{
    double size = allocation_task(mantri->allocation, job, index)->size_bytes;
    if (copy->elapsed_s > 0 && copy->processed_bytes > 0)
        return copy->elapsed_s * (size - copy->processed_bytes) / copy->processed_bytes;
    double estimate = placement_cost(&mantri->placement, job, index, copy->cluster);
    return isnan(copy->elapsed_s) ? (double)NAN : fmax(estimate - copy->elapsed_s, 0);
}

static int worst_first(const void *a, const void *b)
{
    const struct watched *x = a;
    const struct watched *y = b;
    if (x->remaining_s != y->remaining_s)
        return x->remaining_s > y->remaining_s ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static void watch(struct mantri *mantri)
{
    const struct geo_problem *problem = mantri->allocation->problem;
    for (size_t j = 0; j < problem->n_jobs; j++)
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++) {
            const struct geo_task *task = &problem->jobs[j].tasks[t];
            double least = HUGE_VAL;
            for (size_t i = 0; i < task->n_copies; i++)
                least = fmin(least, find_remaining(mantri, j, t, &task->copies[i]));
            if (least < HUGE_VAL && mantri->allocation->tasks[j][t].n > 0)
                mantri->watched[mantri->n++] = (struct watched){least, j, t};
        }
    qsort(mantri->watched, mantri->n, sizeof *mantri->watched, worst_first);
}

/* --- a new copy --- */

/* NULL when memory is exhausted. */
static const struct speeds *find_pooled(struct mantri *mantri, size_t operation)
{
    struct speeds *pooled = &mantri->pooled[operation];
    const struct geo_problem *problem = mantri->allocation->problem;
    if (pooled->n > 0)
        return pooled;
    struct arena *arena = mantri->allocation->arena;
    struct speed_point *points =
        arena_array(arena, problem->n_clusters, SPEEDS_POINTS_MAX * sizeof *points);
    size_t n = 0;
    for (size_t m = 0; points != NULL && m < problem->n_clusters; m++) {
        const struct speeds *speeds = problem->clusters[m].processing[operation];
        for (size_t i = 0; speeds != NULL && i < speeds->n; i++)
            points[n++] = (struct speed_point){speeds->value[i], speeds->probability[i]};
    }
    speeds_make(points, n, pooled);
    return points != NULL ? pooled : NULL;
}

/* Mean time of a copy: its transfers, then execution at a speed of the pooled distribution. */
static double expect_new(const struct speeds *pooled, double size, double transfer_s)
{
    double time = transfer_s;
    for (size_t i = 0; i < pooled->n; i++)
        time += pooled->probability[i] * size / pooled->value[i];
    return time;
}

static double
chance_below(const struct speeds *pooled, double size, double transfer_s, double limit_s)
{
    double chance = 0;
    for (size_t i = 0; i < pooled->n; i++)
        if (transfer_s + size / pooled->value[i] < limit_s)
            chance += pooled->probability[i];
    return chance;
}

static bool is_to_be_restarted(const struct mantri *mantri,
                               const struct watched *watched,
                               double expected_s,
                               size_t copies)
{
    return copies == 1 &&
           watched->remaining_s > expected_s + mantri->allocation->parameters[PERIOD_S];
}

/* What is to be done about a task, now that there is a free cluster for it. */
static bool act(struct mantri *mantri,
                const struct watched *watched,
                bool scarce,
                const struct speeds *pooled,
                const struct candidate *candidate)
{
    struct allocation *allocation = mantri->allocation;
    const double *parameters = allocation->parameters;
    const struct geo_task *task = allocation_task(allocation, watched->job, watched->task);
    size_t c = allocation->tasks[watched->job][watched->task].n;
    double transfer_s =
        candidate->value - task->size_bytes * mantri->placement.pace[task->operation];
    double expected_s = expect_new(pooled, task->size_bytes, transfer_s);
    double saving_s = watched->remaining_s * (double)c / ((double)c + 1);
    bool doubled =
        scarce ? chance_below(pooled, task->size_bytes, transfer_s, saving_s) >
                     parameters[DUPLICATE_PROBABILITY]
               : watched->remaining_s - expected_s > parameters[GAIN] * parameters[PERIOD_S];
    if (scarce && is_to_be_restarted(mantri, watched, expected_s, c))
        return allocation_stop(allocation, watched->job, watched->task) &&
               allocation_grant(allocation, watched->job, watched->task, 1, candidate);
    if (doubled)
        return allocation_grant(allocation, watched->job, watched->task, (int64_t)c + 1, candidate);
    return true;
}

static enum pv_code reconsider(struct mantri *mantri, bool scarce)
{
    struct allocation *allocation = mantri->allocation;
    for (size_t i = 0; i < mantri->n; i++) {
        const struct watched *watched = &mantri->watched[i];
        const struct geo_task *task = allocation_task(allocation, watched->job, watched->task);
        const struct speeds *pooled = find_pooled(mantri, task->operation);
        struct candidate candidate;
        if ((double)allocation->tasks[watched->job][watched->task].n >=
            allocation->parameters[COPIES_MAX])
            continue;
        if (pooled == NULL)
            return PV_E_MEMORY;
        PV_TRY(placement_find(&mantri->placement, watched->job, watched->task, &candidate));
        if (candidate.found && !act(mantri, watched, scarce, pooled, &candidate))
            return PV_E_MEMORY;
    }
    return PV_OK;
}

/* --- the plan --- */

static enum pv_code start_waiting(struct mantri *mantri)
{
    for (size_t j = 0; j < mantri->allocation->problem->n_jobs; j++)
        PV_TRY(placement_run(&mantri->placement, j, mantri->allocation->idle));
    return PV_OK;
}

/* Do more tasks wait than slots are idle? */
static bool is_scarce(const struct allocation *allocation)
{
    double waiting = 0;
    double idle = 0;
    for (size_t m = 0; m < allocation->problem->n_clusters; m++)
        idle += (double)allocation->idle[m];
    for (size_t j = 0; j < allocation->problem->n_jobs; j++)
        for (size_t t = 0; t < allocation->problem->jobs[j].n_tasks; t++)
            waiting += allocation->tasks[j][t].n == 0;
    return waiting > idle;
}

static bool mantri_make(struct mantri *mantri, struct allocation *allocation)
{
    size_t tasks = 0;
    for (size_t j = 0; j < allocation->problem->n_jobs; j++)
        tasks += allocation->problem->jobs[j].n_tasks;
    *mantri = (struct mantri){.allocation = allocation};
    mantri->pooled =
        arena_calloc(allocation->arena, allocation->problem->n_operations, sizeof(struct speeds));
    mantri->watched = arena_array(allocation->arena, tasks, sizeof *mantri->watched);
    return mantri->pooled && mantri->watched && flutter_make(&mantri->placement, allocation);
}

static enum pv_code mantri_run(struct allocation *allocation)
{
    struct mantri mantri;
    if (!mantri_make(&mantri, allocation))
        return PV_E_MEMORY;
    watch(&mantri);
    if (!is_scarce(allocation)) {
        enum pv_code code = start_waiting(&mantri);
        return code == PV_OK ? reconsider(&mantri, false) : code;
    }
    enum pv_code code = reconsider(&mantri, true);
    return code == PV_OK ? start_waiting(&mantri) : code;
}

/* 0.25 and 3 copies are the paper's delta and limit. The period between two reports of progress
 * (Delta) and the gain (rho) depend on the clusters: 10 s and 3 are ours. */
static const struct geo_parameter parameters[] = {
    [DUPLICATE_PROBABILITY] = {"duplicate_probability", 0, 1, .standard = 0.25},
    [COPIES_MAX] = {"copies_max", 1, 1000, 3, .integral = true},
    [PERIOD_S] = {"period_s", 0, 1e12, .standard = 10},
    [GAIN] = {"gain", 0, 1e6, .standard = 3}};

const struct geo_planner geo_planner_mantri = {
    .name = "mantri",
    .run = mantri_run,
    .parameters = parameters,
    .n_parameters = sizeof parameters / sizeof *parameters,
    .observes_running_copies = true,
    .observes_time = true,
};
