#include "core/advice/replay.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/advice/allocation_record.h"
#include "core/advice/count_source.h"
#include "core/advice/driver_order.h"
#include "core/advice/replay_internal.h"
#include "core/autoscaling/allocation_replay.h"
#include "core/deadline/job_from_run.h"
#include "core/deadline/makespan.h"
#include "core/history/cached_data.h"
#include "core/history/task_sketch.h"
#include "core/numerics/permutation.h"
#include "core/numerics/quantile.h"

/* --- the recorded run --- */

static enum pv_code check_known(const struct run *run, struct pv_error *err)
{
    const char *missing = NULL;
    if (run->executors < 1)
        missing = "executors";
    else if (run->cores_per_executor < 1)
        missing = "cores_per_executor";
    else if (!(run->problem_size > 0))
        missing = "problem_size";
    else if (!(run->duration_s > 0.0) || !isfinite(run->duration_s))
        missing = "duration_s";
    else if (!run->has_stages || run->n_stages == 0)
        missing = "stages";
    return missing == NULL ? PV_OK : pv_fail(err, PV_E_TOO_FEW, REPLAY_NOT "%s unknown", missing);
}

static double stage_work(const struct edf_stage *stage)
{
    if (stage->task_durations_s == NULL)
        return (double)stage->tasks * stage->task_duration_s;
    return task_time_sum(stage->task_durations_s, stage->tasks);
}

/* Of each of the job's stages. */
static double *find_longest(const struct edf_job *job, struct arena *arena, struct pv_error *err)
{
    double *longest_s = arena_array(arena, job->n_stages, sizeof *longest_s);
    for (size_t s = 0; longest_s != NULL && s < job->n_stages; s++)
        longest_s[s] = makespan_longest_s(&job->stages[s]);
    if (longest_s == NULL)
        (void)pv_no_memory(err);
    return longest_s;
}

/* Makespan on executors that come and go as in the record. The schedule includes the driver's time
 * between stages, because executors come and go meanwhile; the result excludes it, because fixed_s
 * has it. */
static enum pv_code makespan_on_record(const struct replay *replay,
                                       const struct replay_schedule *on,
                                       struct arena *scratch,
                                       double *seconds,
                                       struct pv_error *err)
{
    struct allocation_policy policy = allocation_fixed(on->executors);
    struct allocation_outcome outcome;
    double *delays_s = arena_array(scratch, on->job->n_stages, sizeof *delays_s);
    if (delays_s == NULL)
        return pv_no_memory(err);
    for (size_t s = 0; s < on->job->n_stages; s++)
        delays_s[s] = replay->delays_s[s] * on->driver_scale;
    struct allocation_job tasks = {.job = on->job,
                                   .shuffles = replay->graph,
                                   .delays_s = delays_s,
                                   .initialization_s = replay->initialization_s * on->driver_scale,
                                   .record = on->record};
    PV_TRY(stage_slots_allocate(on->slots, on->cores_per_executor, scratch, &tasks, err));
    PV_TRY(allocation_replay(&tasks, &policy, UINT64_MAX, NULL, scratch, &outcome, err));
    double driver_s = (replay->initialization_s + replay->between_stages_s) * on->driver_scale;
    *seconds = fmax(0.0, outcome.duration_s - driver_s);
    return PV_OK;
}

/* The same on executors that exist all the time. */
static enum pv_code makespan_at_once(const struct replay *replay,
                                     const struct replay_schedule *on,
                                     struct arena *scratch,
                                     double *seconds,
                                     struct pv_error *err)
{
    return stage_slots_makespan(on->slots, replay->plan, on->job, on->longest_s, on->executors,
                                on->cores_per_executor, scratch, seconds, err);
}

enum pv_code replay_makespan(const struct replay *replay,
                             const struct replay_schedule *on,
                             struct arena *scratch,
                             double *seconds,
                             struct pv_error *err)
{
    if (on->record->n == 0)
        return makespan_at_once(replay, on, scratch, seconds, err);
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = makespan_on_record(replay, on, scratch, seconds, err);
    arena_rewind(scratch, mark);
    return code;
}

double replay_recorded_work(const struct replay *replay, size_t s)
{
    const struct cached_stage *stages = replay->own_cached.stages;
    if (stages == NULL)
        return replay->seen[s].work_s;
    double misses = (double)(replay->job.stages[s].tasks - stages[s].hits);
    return replay->seen[s].work_s + misses * stages[s].extra_s;
}

static enum pv_code find_gaps(struct replay *replay, struct arena *arena, struct pv_error *err)
{
    replay->delays_s = arena_calloc(arena, replay->job.n_stages, sizeof *replay->delays_s);
    if (replay->delays_s == NULL)
        return pv_no_memory(err);
    return driver_gaps_find(replay->run, &replay->job, arena, &replay->initialization_s,
                            &replay->between_stages_s, replay->delays_s, err);
}

void replay_assume(struct replay *replay, enum replay_hypothesis hypothesis)
{
    replay->laws = replay->laws_of[hypothesis];
}

/* The laws of `mine` from n >= 1 replays of the same graph. */
static enum pv_code learn_laws(struct replay *mine,
                               struct replay *const peers[],
                               size_t n,
                               struct arena *scratch,
                               struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct stage_sighting *seen = arena_array(scratch, n, sizeof *seen);
    double undecided_s = 0.0, machines_s = 0.0, work_s = 0.0;
    if (seen == NULL)
        return pv_no_memory(err);
    mine->undecided = 0;
    for (size_t s = 0; s < mine->job.n_stages; s++) {
        enum count_source source = mine->sources[s];
        for (size_t i = 0; i < n; i++) {
            seen[i] = peers[i]->seen[s];
            source = peers[i]->sources[s] == source ? source : COUNT_UNKNOWN;
        }
        struct stage_laws laws = stage_laws_learn(seen, n, source);
        bool decided = laws.probability >= 1.0;
        bool first = decided || stage_law_follows_machines(&laws.law);
        mine->laws_of[REPLAY_MACHINES][s] = first ? laws.law : laws.otherwise;
        mine->laws_of[REPLAY_OTHERWISE][s] = first ? laws.otherwise : laws.law;
        work_s += mine->seen[s].work_s;
        if (decided)
            continue;
        mine->undecided++;
        undecided_s += mine->seen[s].work_s;
        machines_s += mine->seen[s].work_s * (first ? laws.probability : 1.0 - laws.probability);
    }
    if (undecided_s < 0.01 * work_s) /* too little for a second simulation */
        mine->undecided = 0;
    mine->machines_probability = undecided_s > 0.0 ? machines_s / undecided_s : 0.5;
    replay_assume(mine, mine->machines_probability < 0.5 ? REPLAY_OTHERWISE : REPLAY_MACHINES);
    arena_rewind(scratch, mark);
    return PV_OK;
}

static enum pv_code take_sightings(struct replay *replay, struct arena *arena, struct pv_error *err)
{
    const struct edf_job *job = &replay->job;
    const struct run *run = replay->run;
    replay->seen = arena_calloc(arena, job->n_stages, sizeof *replay->seen);
    for (size_t h = 0; h < REPLAY_HYPOTHESES; h++) {
        replay->laws_of[h] = arena_calloc(arena, job->n_stages, sizeof *replay->laws);
        if (replay->laws_of[h] == NULL)
            return pv_no_memory(err);
    }
    replay->sources = arena_calloc(arena, job->n_stages, sizeof *replay->sources);
    if (replay->seen == NULL || replay->sources == NULL)
        return pv_no_memory(err);
    size_t at = 0; /* stages of the job are among those of the run, both ascending by id */
    for (size_t i = 0; i < job->n_stages; i++) {
        while (at < run->n_stages && run->stages[at].id != job->stages[i].id)
            at++;
        replay->n_tasks += job->stages[i].tasks;
        replay->seen[i] =
            (struct stage_sighting){.problem_size = run->problem_size,
                                    .executors = run->executors,
                                    .cores_per_executor = stage_slots_per_executor(
                                        &replay->recorded_slots, i, run->cores_per_executor),
                                    .tasks = job->stages[i].tasks,
                                    .work_s = stage_work(&job->stages[i])};
        if (at == run->n_stages)
            continue;
        /* A program that gives a stage a resource profile or makes it a barrier stage sets the
         * number of its tasks, too. */
        bool is_set =
            replay->recorded_slots.is_barrier[i] || replay->recorded_slots.of[i].profile > 0;
        replay->sources[i] = is_set ? COUNT_SET : count_source_find(run, &run->stages[at]);
    }
    struct replay *one[] = {replay};
    return learn_laws(replay, one, 1, arena, err);
}

/* Ascending durations, stage after stage: quantiles are then a look-up. */
static enum pv_code sort_durations(struct replay *replay, struct arena *arena, struct pv_error *err)
{
    double *at = arena_array(arena, replay->n_tasks, sizeof *at);
    if (at == NULL)
        return pv_no_memory(err);
    replay->sorted_s = at;
    for (size_t i = 0; i < replay->job.n_stages; i++) {
        const struct edf_stage *stage = &replay->job.stages[i];
        for (size_t t = 0; t < stage->tasks; t++) {
            at[t] = stage->task_durations_s == NULL ? stage->task_duration_s
                                                    : stage->task_durations_s[t];
        }
        qsort(at, stage->tasks, sizeof *at, order_by_double);
        at += stage->tasks;
    }
    return PV_OK;
}

/* Laws of the work of stages are learned from their work without tasks that missed cached data. */
static enum pv_code find_cached(struct replay *replay, struct arena *arena, struct pv_error *err)
{
    const struct edf_job *job = &replay->job;
    struct cached_tasks *tasks = arena_array(arena, job->n_stages, sizeof *tasks);
    if (tasks == NULL)
        return pv_no_memory(err);
    const struct run_stage *stage = replay->run->stages;
    const double *sorted_s = replay->sorted_s;
    for (size_t s = 0; s < job->n_stages; s++) {
        while (stage->id != job->stages[s].id) /* both ascend, and it is there */
            stage++;
        tasks[s] = (struct cached_tasks){stage, sorted_s, job->stages[s].tasks};
        sorted_s += tasks[s].n;
    }
    PV_TRY(cached_data_take(replay->run, tasks, job->n_stages, arena, &replay->own_cached, err));
    replay->cached = replay->own_cached;
    if (replay->cached.stages == NULL)
        return PV_OK;
    replay->cached.stages = arena_array(arena, job->n_stages, sizeof *replay->cached.stages);
    if (replay->cached.stages == NULL)
        return pv_no_memory(err);
    for (size_t s = 0; s < job->n_stages; s++) {
        const struct cached_stage *seen = &replay->own_cached.stages[s];
        replay->cached.stages[s] = *seen;
        replay->seen[s].work_s -= (double)(job->stages[s].tasks - seen->hits) * seen->extra_s;
    }
    struct replay *one[] = {replay};
    return learn_laws(replay, one, 1, arena, err);
}

/* Completes the figures of cached data by those of the peers. */
static void learn_cached(struct replay *mine, struct replay *const peers[], size_t n)
{
    if (mine->cached.stages == NULL)
        return;
    mine->cached.wanted_bytes = mine->own_cached.wanted_bytes;
    mine->cached.held_bytes = mine->own_cached.held_bytes;
    for (size_t s = 0; s < mine->job.n_stages; s++)
        mine->cached.stages[s] = mine->own_cached.stages[s];
    for (size_t i = 0; i < n; i++)
        cached_data_learn(&mine->cached, &peers[i]->own_cached, mine->job.n_stages,
                          mine->run->problem_size / peers[i]->run->problem_size);
}

static bool has_losses(const struct run *run)
{
    for (size_t i = 0; i < run->n_executor_lifetimes; i++)
        if (run->executor_lifetimes[i].lost)
            return true;
    return false;
}

double replay_own_s(const struct replay *replay)
{
    return replay->run->duration_s - replay->lost_s;
}

enum pv_code replay_prepare(const struct run *run,
                            struct arena *arena,
                            struct arena *scratch,
                            struct replay *replay,
                            struct pv_error *err)
{
    struct replay made = {.run = run};
    PV_TRY(check_known(run, err));
    PV_TRY(edf_job_from_run(run, arena, &made.job, err));
    made.graph = made.job.stages;
    PV_TRY(driver_order_add(run, arena, &made.job, err));
    made.job.release_s = 0.0;
    made.job.deadline_s = 1.0; /* alone on the cores: its deadline moves nothing */
    PV_TRY(makespan_plan(&made.job, arena, &made.plan, err));
    made.longest_s = find_longest(&made.job, arena, err);
    if (made.longest_s == NULL)
        return PV_E_MEMORY;
    PV_TRY(stage_slots_take(run, &made.job, false, arena, &made.recorded_slots, err));
    PV_TRY(stage_slots_take(run, &made.job, true, arena, &made.slots, err));
    PV_TRY(stage_slots_check(&made.recorded_slots, run->cores_per_executor, err));
    PV_TRY(take_sightings(&made, arena, err));
    if (made.n_tasks == 0)
        return pv_fail(err, PV_E_TOO_FEW, REPLAY_NOT "its stages hold no task");
    PV_TRY(sort_durations(&made, arena, err));
    PV_TRY(find_cached(&made, arena, err));
    PV_TRY(find_gaps(&made, arena, err));
    PV_TRY(allocation_record_of_run(run, &made.job, true, arena, &made.record, err));
    made.planned = made.record;
    if (has_losses(run))
        PV_TRY(allocation_record_of_run(run, &made.job, false, arena, &made.planned, err));
    PV_TRY(replay_calibrate(&made, scratch, err));
    *replay = made;
    return PV_OK;
}

/* --- laws from several runs --- */

bool replay_same_graph(const struct replay *a, const struct replay *b)
{
    if (a->job.n_stages != b->job.n_stages)
        return false;
    for (size_t i = 0; i < a->job.n_stages; i++) {
        const struct edf_stage *x = &a->graph[i];
        const struct edf_stage *y = &b->graph[i];
        if (x->n_parents != y->n_parents ||
            (x->n_parents > 0 &&
             memcmp(x->parents, y->parents, x->n_parents * sizeof *x->parents) != 0))
            return false;
    }
    return true;
}

enum pv_code replay_learn(struct replay replays[],
                          size_t n,
                          size_t which,
                          size_t skip,
                          struct arena *scratch,
                          struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct replay *mine = &replays[which];
    struct replay **peers = arena_array(scratch, n, sizeof(struct replay *));
    double *sizes = arena_array(scratch, n, sizeof *sizes);
    double *fixed = arena_array(scratch, n, sizeof *fixed);
    if (peers == NULL || sizes == NULL || fixed == NULL) {
        arena_rewind(scratch, mark);
        return pv_no_memory(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (i != skip && replay_same_graph(mine, &replays[i])) {
            sizes[count] = replays[i].run->problem_size;
            fixed[count] = replays[i].fixed_s;
            peers[count++] = &replays[i];
        }
    }
    enum pv_code code = count > 0 ? learn_laws(mine, peers, count, scratch, err) : PV_OK;
    learn_cached(mine, peers, count);
    /* The driver's share may grow with the input, never faster than in proportion. */
    mine->fixed_exponent = stage_law_slope(sizes, fixed, count, 0.0, 1.0, 0.0);
    arena_rewind(scratch, mark);
    return code;
}

/* --- another configuration --- */

static double stage_tasks_by(const struct replay *replay,
                             const struct stage_law laws[],
                             size_t s,
                             const struct replay_target *target)
{
    return stage_law_tasks(&laws[s], &replay->seen[s], target->problem_size, target->executors,
                           stage_slots_per_executor(&replay->slots, s, target->cores_per_executor));
}

static double stage_tasks(const struct replay *replay, size_t s, const struct replay_target *target)
{
    return stage_tasks_by(replay, replay->laws, s, target);
}

bool replay_hypotheses_differ(const struct replay *replay, const struct replay_target *target)
{
    for (size_t s = 0; s < replay->job.n_stages && replay->undecided > 0; s++) {
        double machines = stage_tasks_by(replay, replay->laws_of[REPLAY_MACHINES], s, target);
        double otherwise = stage_tasks_by(replay, replay->laws_of[REPLAY_OTHERWISE], s, target);
        if (fabs(machines - otherwise) > 0.5)
            return true;
    }
    return false;
}

double replay_count_tasks(const struct replay *replay, const struct replay_target *target)
{
    double sum = 0.0;
    for (size_t s = 0; s < replay->job.n_stages; s++)
        sum += stage_tasks(replay, s, target);
    return sum;
}

double replay_useful_cores(const struct replay *replay, const struct replay_target *target)
{
    double most = 1.0;
    for (size_t s = 0; s < replay->job.n_stages; s++)
        most = fmax(most, stage_tasks(replay, s, target));
    return fmin(most, (double)target->executors * (double)target->cores_per_executor);
}

/*
 * Draws n durations with the sum work_s from the distribution of the recorded ones: even quantiles.
 * With more tasks, the longest task keeps its ratio to the mean, and there are n / recorded longest
 * tasks. If a task holds k recorded tasks, because there are fewer tasks, the longest task is at least
 * the longest recorded task plus k - 1 times the mean of the others.
 */
static void draw_durations(
    const double *ascending, size_t recorded, double work_s, double durations_s[], size_t n)
{
    const double share = (double)recorded / (double)n;
    const double recorded_s = task_time_sum(ascending, recorded);
    const double most_s = recorded_s > 0.0 ? ascending[recorded - 1] * (work_s / recorded_s) : 0.0;
    const size_t n_longest = n > recorded ? n / recorded : 1;
    size_t step = permutation_step(n);
    double sum = 0.0, last = 0.0, tail = 0.0; /* of all; the longest; those that become longest_s */
    for (size_t i = 0, rank = step / 2 % n; i < n; i++, rank = (rank + step) % n) {
        double drawn = quantile_midpoint(ascending, recorded, ((double)rank + 0.5) / (double)n);
        sum += drawn;
        last = fmax(last, drawn);
        tail += rank + n_longest >= n ? drawn : 0.0;
        durations_s[i] = rank + n_longest >= n ? (double)NAN : drawn;
    }
    const double longest_s =
        share <= 1.0 ? most_s * share
                     : fmax(sum > 0.0 ? last * (work_s / sum) : 0.0,
                            most_s + (share - 1.0) * (work_s - most_s) / (double)(recorded - 1));
    const double left_s = fmax(0.0, work_s - (double)n_longest * longest_s);
    const double others = sum > tail ? left_s / (sum - tail) : 0.0;
    for (size_t i = 0; i < n; i++)
        durations_s[i] = isnan(durations_s[i]) ? longest_s : durations_s[i] * others;
}

static void scale_durations(const double *from, double scale, double to[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] * scale;
}

static double hit_share(const struct replay *replay, const struct replay_target *target)
{
    return cached_data_hit(&replay->cached, target->problem_size / replay->run->problem_size,
                           target->executors);
}

/* Additional time of a task of stage s that does not find its block. Fewer tasks have larger blocks. */
static double
miss_s(const struct replay *replay, size_t s, const struct replay_target *target, double tasks)
{
    double grown = target->problem_size / replay->run->problem_size;
    return replay->cached.stages[s].extra_s * grown * (double)replay->job.stages[s].tasks / tasks;
}

/*
 * A stage that reads cached data, on executors that hold another share of it than those of the run:
 * its tasks are spread as those that found their block, and as many as have none take longer.
 */
static void draw_cached(const struct replay *replay,
                        size_t s,
                        const struct replay_target *target,
                        const double *ascending,
                        double work_s,
                        double durations_s[],
                        size_t n)
{
    const double hit = hit_share(replay, target), extra_s = miss_s(replay, s, target, (double)n);
    draw_durations(ascending, replay->cached.stages[s].hits, work_s, durations_s, n);
    size_t misses = (size_t)nearbyint((1.0 - hit) * (double)n);
    for (size_t i = 0; i < misses; i++)
        durations_s[(size_t)(((double)i + 0.5) * (double)n / (double)misses)] += extra_s;
}

/* One stage on the target; `ascending` are its recorded durations. */
static enum pv_code scale_stage(const struct replay *replay,
                                size_t s,
                                const struct replay_target *target,
                                const double *ascending,
                                struct arena *arena,
                                struct edf_stage *stage,
                                struct pv_error *err)
{
    const struct edf_stage *old = &replay->job.stages[s];
    const struct run *run = replay->run;
    const struct replay_target own = {run->problem_size, run->executors, run->cores_per_executor};
    double tasks = stage_tasks(replay, s, target);
    double work_s = stage_law_work(
        &replay->laws[s], &replay->seen[s], target->problem_size, target->executors,
        stage_slots_per_executor(&replay->slots, s, target->cores_per_executor), tasks);
    *stage = *old;
    stage->tasks = (size_t)tasks;
    if (old->tasks == 0)
        return PV_OK;
    if (old->task_durations_s == NULL) {
        stage->task_duration_s = work_s / tasks;
        return PV_OK;
    }
    double old_work_s = replay->seen[s].work_s;
    bool is_other_share = replay->cached.stages != NULL && replay->cached.stages[s].extra_s > 0.0 &&
                          hit_share(replay, target) != hit_share(replay, &own);
    if (stage->tasks == old->tasks && (work_s == old_work_s || old_work_s == 0.0) &&
        !is_other_share)
        return PV_OK; /* nothing moves: the recorded durations, in their recorded order */
    double *durations_s = arena_array(arena, stage->tasks, sizeof *durations_s);
    if (durations_s == NULL)
        return pv_no_memory(err);
    if (is_other_share)
        draw_cached(replay, s, target, ascending, work_s, durations_s, stage->tasks);
    else if (stage->tasks == old->tasks)
        scale_durations(old->task_durations_s, work_s / old_work_s, durations_s, stage->tasks);
    else
        draw_durations(ascending, old->tasks, work_s * replay_recorded_work(replay, s) / old_work_s,
                       durations_s, stage->tasks);
    stage->task_durations_s = durations_s;
    return PV_OK;
}

enum pv_code replay_job(const struct replay *replay,
                        const struct replay_target *target,
                        struct arena *arena,
                        struct edf_job *job,
                        struct pv_error *err)
{
    struct edf_stage *stages = arena_array(arena, replay->job.n_stages, sizeof *stages);
    if (stages == NULL || replay_count_tasks(replay, target) > (double)(SIZE_MAX / 16))
        return pv_no_memory(err);
    const double *ascending = replay->sorted_s;
    for (size_t s = 0; s < replay->job.n_stages; s++) {
        PV_TRY(scale_stage(replay, s, target, ascending, arena, &stages[s], err));
        ascending += replay->job.stages[s].tasks;
    }
    *job = replay->job;
    job->stages = stages;
    job->overhead_per_task_s = replay->overhead_s;
    return PV_OK;
}

double replay_fixed_s(const struct replay *replay, double problem_size)
{
    double ratio = problem_size / replay->run->problem_size;
    return replay->fixed_s * pow(ratio, replay->fixed_exponent);
}

/*
 * Time that misses of cached data may add to the prediction. If no run shows the cost of a miss, it may
 * be twice as high. If no run shows the amount of cached data, it may have filled the memory of the
 * recorded run exactly.
 */
static double cache_doubt_s(const struct replay *replay, const struct replay_target *target)
{
    const struct cached_data *data = &replay->cached;
    const struct run *run = replay->run;
    double sum_s = 0.0;
    double hit = hit_share(replay, target);
    if (isnan(data->wanted_bytes)) /* as if the data had just fitted */
        hit = (double)target->executors / (double)run->executors * run->problem_size /
              target->problem_size;
    for (size_t s = 0; s < replay->job.n_stages && data->stages != NULL && hit < 1.0; s++)
        if (!data->stages[s].measured && data->stages[s].extra_s > 0.0) {
            double tasks = stage_tasks(replay, s, target);
            sum_s +=
                (1.0 - hit) * tasks * miss_s(replay, s, target, tasks) /
                stage_slots_count(&replay->slots, s, target->executors, target->cores_per_executor);
        }
    return sum_s;
}

/* Figures that bound the makespan whatever the number of cores. */
static enum pv_code measure_bounds(const struct replay *replay,
                                   const struct edf_job *job,
                                   const struct replay_target *target,
                                   const double task_longest_s[],
                                   struct arena *scratch,
                                   struct replay_outcome *outcome,
                                   struct pv_error *err)
{
    double *path_s = arena_array(scratch, job->n_stages, sizeof *path_s);
    if (path_s == NULL)
        return pv_no_memory(err);
    for (size_t s = 0; s < job->n_stages; s++) {
        const struct edf_stage *stage = &job->stages[s];
        const double longest_s =
            stage->tasks == 0 ? 0.0 : task_longest_s[s] + job->overhead_per_task_s;
        double before_s = 0.0;
        for (size_t p = 0; p < stage->n_parents; p++) {
            /* Parents of a recorded graph come first, except in graphs typed by hand. */
            before_s = stage->parents[p] < s ? fmax(before_s, path_s[stage->parents[p]]) : before_s;
        }
        path_s[s] = before_s + longest_s;
        outcome->critical_path_s = fmax(outcome->critical_path_s, path_s[s]);
        if (longest_s > outcome->longest_task_s) {
            outcome->longest_task_s = longest_s;
            outcome->longest_stage_id = stage->id;
            outcome->longest_is_cut_anew = stage->tasks != replay->job.stages[s].tasks;
            outcome->longest_follows_cores = stage_law_cuts_tasks(&replay->laws[s]);
        }
        outcome->recorded_work_s += replay_recorded_work(replay, s);
        double work_s = stage_work(stage) + (double)stage->tasks * job->overhead_per_task_s;
        outcome->work_s += work_s;
        outcome->work_per_slot_s += work_s / stage_slots_count(&replay->slots, s, target->executors,
                                                               target->cores_per_executor);
        outcome->tasks += stage->tasks;
    }
    return PV_OK;
}

/* The part of `seconds` that is lost because executors did not exist all the time. */
static enum pv_code find_waiting(const struct replay *replay,
                                 const struct replay_schedule *on,
                                 double seconds,
                                 struct arena *scratch,
                                 double *waiting_s,
                                 struct pv_error *err)
{
    double all_there_s = seconds;
    if (on->record->n > 0)
        PV_TRY(makespan_at_once(replay, on, scratch, &all_there_s, err));
    *waiting_s = fmax(0.0, seconds - all_there_s);
    return PV_OK;
}

enum pv_code replay_predict(const struct replay *replay,
                            const struct replay_target *target,
                            struct arena *scratch,
                            struct replay_outcome *outcome,
                            struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct edf_job job;
    struct replay_outcome made = {.fixed_s = replay_fixed_s(replay, target->problem_size),
                                  .longest_stage_id = RUN_UNKNOWN};
    struct replay_schedule on = {.job = &job,
                                 .slots = &replay->slots,
                                 .executors = target->executors,
                                 .cores_per_executor = target->cores_per_executor,
                                 .record = &replay->planned};
    double seconds = 0.0;
    on.driver_scale = replay->fixed_s > 0 ? made.fixed_s / replay->fixed_s : 0.0;
    enum pv_code code = replay_job(replay, target, scratch, &job, err);
    if (code == PV_OK)
        on.longest_s = find_longest(&job, scratch, err);
    if (code == PV_OK && on.longest_s == NULL)
        code = PV_E_MEMORY;
    if (code == PV_OK)
        code = replay_makespan(replay, &on, scratch, &seconds, err);
    if (code == PV_OK)
        code = find_waiting(replay, &on, seconds, scratch, &made.waiting_s, err);
    if (code == PV_OK)
        code = measure_bounds(replay, &job, target, on.longest_s, scratch, &made, err);
    arena_rewind(scratch, mark);
    if (code == PV_OK) {
        made.duration_s = made.fixed_s + seconds;
        made.overhead_per_task_s = replay->overhead_s;
        made.cache_hit = hit_share(replay, target);
        made.cache_doubt_s = cache_doubt_s(replay, target);
        *outcome = made;
    }
    return code;
}
