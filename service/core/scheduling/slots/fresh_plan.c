#include "core/scheduling/slots/fresh_plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "core/scheduling/comparison/fairness.h"

struct fresh_work
fresh_work_of(double maps, double map_task_s, double reduces, double reduce_task_s)
{
    return (struct fresh_work){maps * map_task_s, reduces > 0 ? reduces * reduce_task_s : 0};
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
    struct fresh_job_times *times;
};

static struct fresh_split split_of(const struct trial *trial, size_t map_slots)
{
    return (struct fresh_split){map_slots, trial->batch.slots - map_slots,
                                trial->makespan_s[map_slots - 1]};
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

/* The best split of the batch, and how fair it is. */
static enum pv_code try_splits(struct trial *trial,
                               struct arena *scratch,
                               struct fresh_split *best,
                               double *fairness,
                               struct pv_error *err)
{
    size_t splits = fresh_static_splits(&trial->batch);
    PV_TRY(fresh_static_makespans(&trial->batch, scratch, trial->makespan_s, err));
    *best = split_of(trial, fresh_static_least(trial->makespan_s, splits, 1));
    PV_TRY(fresh_static_times(&trial->batch, best->map_slots, scratch, trial->times, err));
    *fairness = fairness_of(trial);
    return PV_OK;
}

/* --- parts of the plan --- */

static struct fresh_split split_nodes(const struct trial *trial, size_t splits, size_t nodes)
{
    size_t map_slots = fresh_static_least(trial->makespan_s, splits, nodes);
    if (map_slots == 0)
        return (struct fresh_split){0, 0, (double)NAN};
    struct fresh_split split = split_of(trial, map_slots);
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
    for (size_t i = 0; i < terms->n_sweep; i++) {
        struct fresh_sweep_point *point = &plan->sweep[i];
        point->concurrency = trial->batch.concurrency = terms->sweep[i];
        PV_TRY(try_splits(trial, arena, &point->best, &point->fairness, err));
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
    for (size_t i = 0; i < trial.batch.n; i++)
        jobs[i] = (struct fresh_work){planned->batch.jobs[i].map_s * map_factor,
                                      planned->batch.jobs[i].reduce_s * reduce_factor};
    trial.batch.jobs = jobs;
    PV_TRY(try_splits(&trial, scratch, &best, &fairness, err));
    double makespan_s = trial.makespan_s[plan->best.map_slots - 1];
    *found = (struct fresh_sensitivity){
        .map_factor = map_factor,
        .reduce_factor = reduce_factor,
        .best_map_slots = best.map_slots,
        .best_makespan_s = best.makespan_s,
        .makespan_s = makespan_s,
        .regret_percent = 100 * (makespan_s / best.makespan_s - 1),
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
    plan->sweep = arena_array(arena, terms->n_sweep, sizeof *plan->sweep);
    trial->makespan_s = arena_array(arena, terms->slots, sizeof *trial->makespan_s);
    trial->times = arena_array(arena, n, sizeof *trial->times);
    if (jobs == NULL || plan->order == NULL || plan->times == NULL || plan->makespan_s == NULL ||
        plan->sweep == NULL || trial->makespan_s == NULL || trial->times == NULL)
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
    struct trial trial;
    PV_TRY(make_room(terms, arena, &trial, &made, err));
    struct trial recommended = trial;
    recommended.makespan_s = made.makespan_s;
    PV_TRY(try_splits(&recommended, arena, &made.best, &made.fairness, err));
    for (size_t i = 0; i < terms->n; i++)
        made.times[made.order[i]] = recommended.times[i];
    if (terms->nodes > 0)
        made.per_node = split_nodes(&recommended, made.n_splits, terms->nodes);
    PV_TRY(sweep(terms, &trial, arena, &made, err));
    if (!isnan(terms->profile_error))
        PV_TRY(find_sensitivity(terms->profile_error, &trial, arena, &made, err));
    *plan = made;
    return PV_OK;
}
