#include "core/scheduling/slots/fresh_plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/scheduling/comparison/fairness.h"
#include "core/scheduling/slots/fresh_check.h"

struct fresh_work
fresh_work_of(double maps, double map_task_s, double reduces, double reduce_task_s)
{
    return (struct fresh_work){maps * map_task_s, reduces > 0 ? reduces * reduce_task_s : 0, maps,
                               reduces > 0 ? reduces : 0};
}

/* --- Johnson's order --- */

struct ranked {
    bool reduces_first; /* no less map than reduce work */
    double key;         /* ascending */
    size_t job;
};

static int order_by_johnson(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    int order = (int)x->reduces_first - (int)y->reduces_first;
    if (order == 0)
        order = compare_double(x->key, y->key);
    return order != 0 ? order : compare_size(x->job, y->job);
}

enum pv_code fresh_johnson(const struct fresh_work jobs[],
                           size_t n,
                           struct arena *scratch,
                           size_t order[],
                           struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct ranked *ranked = arena_array(scratch, n, sizeof *ranked);
    if (ranked == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        bool late = !(jobs[i].map_s < jobs[i].reduce_s);
        ranked[i] = (struct ranked){late, late ? -jobs[i].reduce_s : jobs[i].map_s, i};
    }
    qsort(ranked, n, sizeof *ranked, order_by_johnson);
    for (size_t i = 0; i < n; i++)
        order[i] = ranked[i].job;
    arena_rewind(scratch, mark);
    return PV_OK;
}

/* --- a batch --- */

/* What is worked with: a batch, its makespans by split, its jobs' times in the batch's order. */
struct trial {
    struct fresh_batch batch;
    double *makespan_s;
    double *simulated_s;
    bool *bounded; /* the fluid model's makespan is below that of fresh_least_makespan */
    struct fresh_job_times *times;
    double *tasks_left; /* that may still be simulated for the plan */
};

/* The simulator contradicts a split that takes a tenth longer than the best. All simulated tasks of
 * a job last equally long, so that last waves weigh more than among real tasks. */
static const double ABOVE_BEST = 1.1;
/* The fluid model counts as right up to a quarter. */
static const double ABOVE_FLUID = 1.25;
/* The fluid model may undercut a bound by a hundredth, except for the recommended split. */
static const double BELOW_BOUND = 1.01;

static struct fresh_split split_of(const struct trial *trial, size_t map_slots, bool simulated)
{
    double simulated_s = trial->simulated_s[map_slots - 1];
    return (struct fresh_split){.map_slots = map_slots,
                                .reduce_slots = trial->batch.slots - map_slots,
                                .makespan_s =
                                    simulated ? simulated_s : trial->makespan_s[map_slots - 1],
                                .simulated_s = isfinite(simulated_s) ? simulated_s : (double)NAN};
}

static double fairness_of(const struct trial *trial)
{
    struct fairness fairness = {.n = 0};
    for (size_t i = 0; i < trial->batch.n; i++) {
        const struct fresh_work *job = &trial->batch.jobs[i];
        fairness_add(&fairness, (job->map_s + job->reduce_s) / trial->times[i].finish_s);
    }
    return fairness_index(&fairness);
}

/* Makespans by the fluid model, and no less than tasks of one slot each allow. */
static enum pv_code
find_makespans(struct trial *trial, size_t splits, struct arena *scratch, struct pv_error *err)
{
    PV_TRY(fresh_static_makespans(&trial->batch, scratch, trial->makespan_s, err));
    for (size_t i = 0; i < splits; i++) {
        double least_s = fresh_least_makespan(&trial->batch, i + 1);
        trial->simulated_s[i] = HUGE_VAL;
        trial->bounded[i] = least_s > (1 + 1e-9) * trial->makespan_s[i];
        if (least_s > BELOW_BOUND * trial->makespan_s[i])
            trial->makespan_s[i] = least_s;
    }
    return PV_OK;
}

/* All splits, or as many as may be: those next to the best one so far, and every step-th. */
static enum pv_code
simulate_splits(struct trial *trial, size_t splits, struct arena *scratch, struct pv_error *err)
{
    double tasks = fresh_tasks(&trial->batch);
    double most = tasks > 0 ? floor(*trial->tasks_left / tasks) : 0;
    size_t best = fresh_static_least(trial->makespan_s, splits, 1) - 1;
    /* Fewer are not worth it; half of them stand next to the best. */
    enum { LEAST = 4 };
    size_t chosen = most < (double)splits ? (size_t)most : splits;
    if (chosen < LEAST && chosen < splits)
        return PV_OK;
    size_t near = chosen == splits ? splits : chosen / 4;
    size_t step = chosen == splits ? 1 : 2 * (splits / chosen + 1);
    for (size_t i = 0; i < splits; i++) {
        bool is_near = i + near >= best && i <= best + near;
        if (!is_near && i % step != 0)
            continue;
        PV_TRY(fresh_simulate(&trial->batch, i + 1, scratch, trial->times, &trial->simulated_s[i],
                              err));
        *trial->tasks_left -= tasks;
    }
    return PV_OK;
}

/* The split to recommend among those whose map slots are a multiple of `step`; 0 if there is none.
 * *simulated: its makespan is the simulated one. */
static size_t choose_split(const struct trial *trial, size_t splits, size_t step, bool *simulated)
{
    size_t fluid = fresh_static_least(trial->makespan_s, splits, step);
    size_t best = fresh_static_least(trial->simulated_s, splits, step);
    *simulated = false;
    if (fluid == 0 || isinf(trial->simulated_s[fluid - 1]))
        return fluid;
    double fluid_s = trial->simulated_s[fluid - 1];
    *simulated = trial->bounded[fluid - 1] || fluid_s > ABOVE_BEST * trial->simulated_s[best - 1] ||
                 fluid_s > ABOVE_FLUID * trial->makespan_s[fluid - 1];
    return *simulated ? best : fluid;
}

/* Times of the fluid model, in which no phase is shorter than its tasks allow. */
static enum pv_code
find_times(struct trial *trial, size_t map_slots, struct arena *scratch, struct pv_error *err)
{
    const struct fresh_batch *batch = &trial->batch;
    PV_TRY(fresh_static_times(batch, map_slots, scratch, trial->times, err));
    for (size_t i = 0; trial->bounded[map_slots - 1] && i < batch->n; i++) {
        const struct fresh_work *job = &batch->jobs[i];
        struct fresh_job_times *t = &trial->times[i];
        double map_s = job->map_s / fmin((double)map_slots, job->maps);
        double reduce_s = job->reduce_s / fmin((double)(batch->slots - map_slots), job->reduces);
        t->map_end_s = fmax(t->map_end_s, t->start_s + map_s);
        if (job->reduce_s > 0)
            t->reduce_start_s = fmax(t->reduce_start_s, t->map_end_s);
        t->finish_s =
            fmax(t->finish_s, job->reduce_s > 0 ? t->reduce_start_s + reduce_s : t->map_end_s);
    }
    return PV_OK;
}

/* The best split of the batch, and how fair it is. */
static enum pv_code try_splits(struct trial *trial,
                               struct arena *scratch,
                               struct fresh_split *best,
                               double *fairness,
                               bool *simulated,
                               struct pv_error *err)
{
    size_t splits = fresh_static_splits(&trial->batch);
    double makespan_s;
    PV_TRY(find_makespans(trial, splits, scratch, err));
    PV_TRY(simulate_splits(trial, splits, scratch, err));
    size_t map_slots = choose_split(trial, splits, 1, simulated);
    if (trial->bounded[map_slots - 1])
        trial->makespan_s[map_slots - 1] =
            fmax(trial->makespan_s[map_slots - 1], fresh_least_makespan(&trial->batch, map_slots));
    *best = split_of(trial, map_slots, *simulated);
    if (*simulated)
        PV_TRY(fresh_simulate(&trial->batch, map_slots, scratch, trial->times, &makespan_s, err));
    else
        PV_TRY(find_times(trial, map_slots, scratch, err));
    *fairness = fairness_of(trial);
    for (size_t i = 0; *simulated && i < splits; i++)
        if (isfinite(trial->simulated_s[i]))
            trial->makespan_s[i] = trial->simulated_s[i];
    return PV_OK;
}

/* --- parts of the plan --- */

static struct fresh_split split_nodes(const struct trial *trial, size_t splits, size_t nodes)
{
    bool simulated;
    size_t map_slots = choose_split(trial, splits, nodes, &simulated);
    if (map_slots == 0)
        return (struct fresh_split){0, 0, (double)NAN, (double)NAN};
    struct fresh_split split = split_of(trial, map_slots, simulated);
    split.map_slots /= nodes;
    split.reduce_slots /= nodes;
    return split;
}

static enum pv_code sweep(const struct fresh_plan_terms *terms,
                          struct trial *trial,
                          struct arena *arena,
                          struct fresh_plan *plan,
                          struct pv_error *err)
{
    bool simulated;
    for (size_t i = 0; i < terms->n_sweep; i++) {
        struct fresh_sweep_point *point = &plan->sweep[i];
        point->concurrency = trial->batch.concurrency = terms->sweep[i];
        PV_TRY(try_splits(trial, arena, &point->best, &point->fairness, &simulated, err));
    }
    trial->batch.concurrency = terms->concurrency;
    return PV_OK;
}

/* The same batch in the same order, with more map work and less reduce work, or the reverse. jobs:
 * room for those of the batch. */
static enum pv_code misjudge(double map_factor,
                             double reduce_factor,
                             const struct fresh_plan *plan,
                             const struct trial *planned,
                             struct fresh_work jobs[],
                             struct arena *scratch,
                             struct fresh_sensitivity *found,
                             struct pv_error *err)
{
    struct trial trial = *planned;
    struct fresh_split best;
    double fairness;
    bool simulated;
    for (size_t i = 0; i < trial.batch.n; i++) {
        jobs[i] = planned->batch.jobs[i];
        jobs[i].map_s *= map_factor;
        jobs[i].reduce_s *= reduce_factor;
    }
    trial.batch.jobs = jobs;
    PV_TRY(try_splits(&trial, scratch, &best, &fairness, &simulated, err));
    double makespan_s = trial.makespan_s[plan->best.map_slots - 1];
    *found = (struct fresh_sensitivity){
        .map_factor = map_factor,
        .reduce_factor = reduce_factor,
        .best_map_slots = best.map_slots,
        .best_makespan_s = best.makespan_s,
        .makespan_s = makespan_s,
        .regret_percent = fmax(0, 100 * (makespan_s / best.makespan_s - 1)),
    };
    return PV_OK;
}

static enum pv_code find_sensitivity(double part,
                                     const struct trial *planned,
                                     struct arena *arena,
                                     struct fresh_plan *plan,
                                     struct pv_error *err)
{
    struct fresh_work *jobs = arena_array(arena, planned->batch.n, sizeof *jobs);
    if (jobs == NULL)
        return pv_no_memory(err);
    PV_TRY(misjudge(1 + part, 1 - part, plan, planned, jobs, arena, &plan->sensitivity[0], err));
    return misjudge(1 - part, 1 + part, plan, planned, jobs, arena, &plan->sensitivity[1], err);
}

/* --- the plan --- */

static enum pv_code make_order(const struct fresh_plan_terms *terms,
                               struct arena *arena,
                               size_t order[],
                               struct pv_error *err)
{
    if (terms->johnson)
        return fresh_johnson(terms->jobs, terms->n, arena, order, err);
    for (size_t i = 0; i < terms->n; i++)
        order[i] = i;
    return PV_OK;
}

/* Room for everything; trial->makespan_s is for what comes after the recommendation. */
static enum pv_code make_room(const struct fresh_plan_terms *terms,
                              struct arena *arena,
                              struct trial *trial,
                              struct fresh_plan *plan,
                              struct pv_error *err)
{
    size_t n = terms->n;
    struct fresh_work *jobs = arena_array(arena, n, sizeof *jobs);
    plan->order = arena_array(arena, n, sizeof *plan->order);
    plan->times = arena_array(arena, n, sizeof *plan->times);
    plan->makespan_s = arena_array(arena, terms->slots, sizeof *plan->makespan_s);
    plan->simulated_s = arena_array(arena, terms->slots, sizeof *plan->simulated_s);
    plan->sweep = arena_array(arena, terms->n_sweep, sizeof *plan->sweep);
    trial->makespan_s = arena_array(arena, terms->slots, sizeof *trial->makespan_s);
    trial->simulated_s = arena_array(arena, terms->slots, sizeof *trial->simulated_s);
    trial->times = arena_array(arena, n, sizeof *trial->times);
    trial->bounded = arena_array(arena, terms->slots, sizeof *trial->bounded);
    if (jobs == NULL || plan->order == NULL || plan->times == NULL || plan->makespan_s == NULL ||
        plan->simulated_s == NULL || plan->sweep == NULL || trial->makespan_s == NULL ||
        trial->simulated_s == NULL || trial->times == NULL || trial->bounded == NULL)
        return pv_no_memory(err);
    PV_TRY(make_order(terms, arena, plan->order, err));
    for (size_t i = 0; i < n; i++)
        jobs[i] = terms->jobs[plan->order[i]];
    trial->batch = (struct fresh_batch){jobs, n, terms->slots, terms->concurrency};
    plan->n_splits = fresh_static_splits(&trial->batch);
    plan->n_sweep = terms->n_sweep;
    return PV_OK;
}

enum pv_code fresh_plan_make(const struct fresh_plan_terms *terms,
                             struct arena *arena,
                             struct fresh_plan *plan,
                             struct pv_error *err)
{
    struct fresh_plan made = {.n_splits = 0};
    double tasks_left = FRESH_SIMULATED_TASKS;
    struct trial trial = {.tasks_left = &tasks_left};
    PV_TRY(make_room(terms, arena, &trial, &made, err));
    struct trial recommended = trial;
    recommended.makespan_s = made.makespan_s;
    recommended.simulated_s = made.simulated_s;
    PV_TRY(try_splits(&recommended, arena, &made.best, &made.fairness, &made.is_simulated, err));
    for (size_t i = 0; i < terms->n; i++)
        made.times[made.order[i]] = recommended.times[i];
    size_t shortest = fresh_static_least(made.simulated_s, made.n_splits, 1);
    if (isfinite(made.simulated_s[shortest - 1]))
        made.best_simulated = split_of(&recommended, shortest, true);
    if (terms->nodes > 0)
        made.per_node = split_nodes(&recommended, made.n_splits, terms->nodes);
    PV_TRY(sweep(terms, &trial, arena, &made, err));
    if (!isnan(terms->profile_error))
        PV_TRY(find_sensitivity(terms->profile_error, &trial, arena, &made, err));
    *plan = made;
    return PV_OK;
}
