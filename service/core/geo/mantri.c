#include "core/geo/mantri.h"

#include <math.h>
#include <stdlib.h>

#include "core/geo/flutter.h"

/* A task with copies of which something is known. */
struct watched {
    double remaining_s;
    size_t job;
    size_t task;
};

struct mantri {
    struct desk *desk;
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
    double size = desk_task(mantri->desk, job, index)->size_bytes;
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
    const struct geo_problem *problem = mantri->desk->problem;
    for (size_t j = 0; j < problem->n_jobs; j++)
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++) {
            const struct geo_task *task = &problem->jobs[j].tasks[t];
            double least = HUGE_VAL;
            for (size_t i = 0; i < task->n_copies; i++)
                least = fmin(least, find_remaining(mantri, j, t, &task->copies[i]));
            if (least < HUGE_VAL && mantri->desk->states[j][t].n > 0)
                mantri->watched[mantri->n++] = (struct watched){least, j, t};
        }
    qsort(mantri->watched, mantri->n, sizeof *mantri->watched, worst_first);
}

/* --- a new copy --- */

/* NULL when memory is exhausted. */
static const struct speeds *find_pooled(struct mantri *mantri, size_t operation)
{
    struct speeds *pooled = &mantri->pooled[operation];
    const struct geo_problem *problem = mantri->desk->problem;
    if (pooled->n > 0)
        return pooled;
    struct arena *arena = mantri->desk->arena;
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

/* Mean time of a copy whose transfers and execution are told apart. */
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
    return copies == 1 && watched->remaining_s > expected_s + mantri->desk->terms->mantri.period_s;
}

/* What is to be done about a task, now that there is a free cluster for it. */
static bool act(struct mantri *mantri,
                const struct watched *watched,
                bool scarce,
                const struct speeds *pooled,
                const struct offer *offer)
{
    struct desk *desk = mantri->desk;
    const struct mantri_terms *terms = &desk->terms->mantri;
    const struct geo_task *task = desk_task(desk, watched->job, watched->task);
    size_t c = desk->states[watched->job][watched->task].n;
    double transfer_s = offer->value - task->size_bytes * mantri->placement.pace[task->operation];
    double expected_s = expect_new(pooled, task->size_bytes, transfer_s);
    double saving_s = watched->remaining_s * (double)c / ((double)c + 1);
    bool doubled = scarce ? chance_below(pooled, task->size_bytes, transfer_s, saving_s) >
                                terms->duplicate_probability
                          : watched->remaining_s - expected_s > terms->gain * terms->period_s;
    if (scarce && is_to_be_restarted(mantri, watched, expected_s, c))
        return desk_stop(desk, watched->job, watched->task) &&
               desk_grant(desk, watched->job, watched->task, 1, offer);
    if (doubled)
        return desk_grant(desk, watched->job, watched->task, (int64_t)c + 1, offer);
    return true;
}

static enum pv_code reconsider(struct mantri *mantri, bool scarce)
{
    struct desk *desk = mantri->desk;
    for (size_t i = 0; i < mantri->n; i++) {
        const struct watched *watched = &mantri->watched[i];
        const struct geo_task *task = desk_task(desk, watched->job, watched->task);
        const struct speeds *pooled = find_pooled(mantri, task->operation);
        struct offer offer;
        if ((int64_t)desk->states[watched->job][watched->task].n >= desk->terms->mantri.copies_max)
            continue;
        if (pooled == NULL)
            return PV_E_MEMORY;
        enum pv_code code = placement_find(&mantri->placement, watched->job, watched->task, &offer);
        if (code != PV_OK)
            return code;
        if (offer.found && !act(mantri, watched, scarce, pooled, &offer))
            return PV_E_MEMORY;
    }
    return PV_OK;
}

/* --- the plan --- */

static enum pv_code start_waiting(struct mantri *mantri)
{
    enum pv_code code = PV_OK;
    for (size_t j = 0; j < mantri->desk->problem->n_jobs && code == PV_OK; j++)
        code = placement_run(&mantri->placement, j, mantri->desk->idle);
    return code;
}

/* Do more tasks wait than slots are idle? */
static bool is_scarce(const struct desk *desk)
{
    double waiting = 0;
    double idle = 0;
    for (size_t m = 0; m < desk->problem->n_clusters; m++)
        idle += (double)desk->idle[m];
    for (size_t j = 0; j < desk->problem->n_jobs; j++)
        for (size_t t = 0; t < desk->problem->jobs[j].n_tasks; t++)
            waiting += desk->states[j][t].n == 0;
    return waiting > idle;
}

static bool make(struct mantri *mantri, struct desk *desk)
{
    size_t tasks = 0;
    for (size_t j = 0; j < desk->problem->n_jobs; j++)
        tasks += desk->problem->jobs[j].n_tasks;
    *mantri = (struct mantri){.desk = desk};
    mantri->pooled = arena_calloc(desk->arena, desk->problem->n_operations, sizeof(struct speeds));
    mantri->watched = arena_array(desk->arena, tasks, sizeof *mantri->watched);
    return mantri->pooled && mantri->watched && flutter_make(&mantri->placement, desk);
}

enum pv_code mantri_run(struct desk *desk)
{
    struct mantri mantri;
    if (!make(&mantri, desk))
        return PV_E_MEMORY;
    watch(&mantri);
    if (!is_scarce(desk)) {
        enum pv_code code = start_waiting(&mantri);
        return code == PV_OK ? reconsider(&mantri, false) : code;
    }
    enum pv_code code = reconsider(&mantri, true);
    return code == PV_OK ? start_waiting(&mantri) : code;
}
