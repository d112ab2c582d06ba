#include "core/autoscaling/allocation_replay.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/heap.h"
#include "base/order.h"
#include "base/vector.h"
#include "core/autoscaling/executor_pool.h"

/* Stages as the replay goes through them; lists of children are one after another. */
struct stage_state {
    size_t unstarted; /* tasks of a submitted stage, without lost tasks */
    uint32_t again;   /* slot of the first lost task; NO_SLOT */
    size_t unended;
    size_t parents_left;
    size_t first_child;  /* up to the next stage's */
    size_t readers_left; /* stages that read its shuffle output and have not ended */
};

/* A task that runs, or that was lost and will run again. */
struct task_slot {
    uint32_t executor;
    uint32_t stage;
    double lasts_s;
    uint32_t next; /* in the list of free slots, or of lost tasks of the stage */
};
#define NO_SLOT UINT32_MAX

struct allocation_run {
    const struct allocation_job *job;
    const struct allocation_policy *policy;
    const struct edf_stage *shuffles;
    struct arena *scratch;
    size_t n_stages;
    struct stage_state *stages; /* one more than n_stages: ends the last list of children */
    size_t *children;
    size_t stages_left;
    struct heap submissions; /* key: instant; value: stage */
    struct heap ready;       /* key and value: a submitted stage with tasks to start */
    struct heap ends;        /* key: instant; value: the slot of a task */
    struct task_slot *slots;
    uint32_t free_slot;
    struct executor_pool pool;
    uint64_t *held;    /* where shuffles time out: a bit for each stage, executor by executor */
    size_t held_words; /* of one executor; 0: shuffles do not time out */
    VECTOR(double) requests; /* instants, of executors that are to come; from `arrived` on */
    size_t arrived;
    size_t waiting; /* slots of tasks of submitted stages */
    size_t running;
    size_t *set_aside;  /* stages whose next task finds no executor with enough free slots */
    size_t least_units; /* of a task, of the stage whose tasks take fewest */
    int64_t target;
    int64_t most;      /* executors at once that tasks can use */
    int64_t step_up;   /* executors to add next */
    double add_at_s;   /* INFINITY: no task waits */
    bool is_held_back; /* one could be let go, were it not for the minimum or the target */
    double look_at_s;  /* when one that holds shuffle output may be let go */
    const struct allocation_record *record; /* NULL: the policy decides */
    size_t change;                          /* of the record: the next one */
    double came_s;                          /* executors, last */
    size_t came_later;                      /* of the record, than the first stage */
    double *submitted_s;                    /* by stage, where there is a record; NAN before that */
    double now_s;
    double end_s;                           /* INFINITY while stages are left */
    VECTOR(struct allocation_lease) leases; /* to_s: INFINITY until it ends */
    uint64_t tasks_started;
    uint64_t task_budget;
    size_t released;
    int64_t peak;
    VECTOR(struct allocation_step) steps;
    bool failed; /* memory ran out */
};

/* --- the stages --- */

static size_t units_of(const struct allocation_run *run, size_t s)
{
    return run->job->task_units == NULL ? 1 : (size_t)run->job->task_units[s];
}

static bool list_children(struct allocation_run *run)
{
    const struct edf_stage *stages = run->job->job->stages;
    size_t edges = 0;
    for (size_t s = 0; s < run->n_stages; s++) {
        for (size_t p = 0; p < stages[s].n_parents; p++)
            run->stages[stages[s].parents[p] + 1].first_child++;
        edges += stages[s].n_parents;
    }
    for (size_t s = 0; s < run->n_stages; s++)
        run->stages[s + 1].first_child += run->stages[s].first_child;
    run->children = arena_array(run->scratch, edges + 1, sizeof *run->children);
    size_t *filled = arena_calloc(run->scratch, run->n_stages, sizeof *filled);
    if (run->children == NULL || filled == NULL)
        return false;
    for (size_t s = 0; s < run->n_stages; s++) {
        for (size_t p = 0; p < stages[s].n_parents; p++) {
            size_t parent = stages[s].parents[p];
            run->children[run->stages[parent].first_child + filled[parent]++] = s;
        }
    }
    return true;
}

static void submit_later(struct allocation_run *run, size_t s)
{
    double delay_s = run->job->delays_s == NULL ? 0.0 : run->job->delays_s[s];
    heap_push(&run->submissions, run->now_s + delay_s, s);
}

static bool stages_init(struct allocation_run *run)
{
    const struct edf_stage *stages = run->job->job->stages;
    run->stages = arena_calloc(run->scratch, run->n_stages + 1, sizeof *run->stages);
    if (run->stages == NULL || !list_children(run) ||
        !heap_init(&run->submissions, run->scratch, run->n_stages) ||
        !heap_init(&run->ready, run->scratch, run->n_stages))
        return false;
    run->least_units = units_of(run, 0);
    for (size_t s = 0; s < run->n_stages; s++) {
        run->least_units =
            units_of(run, s) < run->least_units ? units_of(run, s) : run->least_units;
        run->stages[s].parents_left = stages[s].n_parents;
        run->stages[s].again = NO_SLOT;
        for (size_t p = 0; p < run->shuffles[s].n_parents; p++)
            run->stages[run->shuffles[s].parents[p]].readers_left++;
        if (stages[s].n_parents == 0)
            submit_later(run, s);
    }
    return true;
}

/* Its last reader has ended: nobody needs what executors hold of stage s. */
static void release_shuffle(struct allocation_run *run, size_t s)
{
    for (uint32_t e = 0; run->held_words > 0 && e < run->pool.numbered; e++) {
        uint64_t *held = &run->held[e * run->held_words];
        if ((held[s / 64] >> (s % 64) & 1) != 0)
            run->pool.executors[e].unread--;
    }
    run->look_at_s = run->held_words > 0 ? run->now_s : run->look_at_s;
}

static void end_stage(struct allocation_run *run, size_t s)
{
    for (size_t c = run->stages[s].first_child; c < run->stages[s + 1].first_child; c++)
        if (--run->stages[run->children[c]].parents_left == 0)
            submit_later(run, run->children[c]);
    for (size_t p = 0; p < run->shuffles[s].n_parents; p++) {
        size_t parent = run->shuffles[s].parents[p];
        if (--run->stages[parent].readers_left == 0)
            release_shuffle(run, parent);
    }
    if (--run->stages_left == 0)
        run->end_s = run->now_s + run->job->ending_s;
}

static void submit(struct allocation_run *run, size_t s)
{
    size_t tasks = run->job->job->stages[s].tasks;
    run->stages[s].unstarted = run->stages[s].unended = tasks;
    run->waiting += tasks * units_of(run, s);
    if (run->record != NULL)
        run->submitted_s[s] = run->now_s;
    if (tasks == 0)
        end_stage(run, s);
    else
        heap_push(&run->ready, (double)s, s);
}

/* --- tasks --- */

static double task_length(const struct allocation_run *run, size_t s, size_t task)
{
    const struct edf_job *job = run->job->job;
    const struct edf_stage *stage = &job->stages[s];
    double task_s =
        stage->task_durations_s == NULL ? stage->task_duration_s : stage->task_durations_s[task];
    return task_s + job->overhead_per_task_s;
}

static void hold_shuffle(struct allocation_run *run, uint32_t executor, size_t s)
{
    if (!run->policy->shuffle_tracking || run->stages[s].readers_left == 0)
        return;
    pool_hold_shuffle(&run->pool, executor);
    if (run->held_words == 0)
        return;
    uint64_t *held = &run->held[executor * run->held_words];
    uint64_t bit = UINT64_C(1) << (s % 64);
    run->pool.executors[executor].unread += (held[s / 64] & bit) == 0 ? 1 : 0;
    held[s / 64] |= bit;
}

/* The next task of stage s. */
static uint32_t take_task(struct allocation_run *run, size_t s)
{
    struct stage_state *stage = &run->stages[s];
    uint32_t slot = stage->again;
    if (slot != NO_SLOT) {
        stage->again = run->slots[slot].next;
        return slot;
    }
    slot = run->free_slot;
    run->free_slot = run->slots[slot].next;
    size_t task = run->job->job->stages[s].tasks - stage->unstarted--;
    run->slots[slot].stage = (uint32_t)s;
    run->slots[slot].lasts_s = task_length(run, s, task);
    return slot;
}

static bool has_tasks_to_start(const struct stage_state *stage)
{
    return stage->unstarted > 0 || stage->again != NO_SLOT;
}

static void start_task(struct allocation_run *run, size_t s, uint32_t executor)
{
    size_t units = units_of(run, s);
    uint32_t slot = take_task(run, s);
    run->slots[slot].executor = executor;
    pool_start_task(&run->pool, executor, (int64_t)units);
    hold_shuffle(run, executor, s);
    heap_push(&run->ends, run->now_s + run->slots[slot].lasts_s, slot);
    run->tasks_started++;
    run->running += units;
    run->waiting -= units;
}

/* A stage whose tasks fit on no executor now lets the next one pass. */
static void start_tasks(struct allocation_run *run)
{
    size_t n_aside = 0;
    while (run->ready.n > 0) {
        size_t s = (size_t)heap_top(&run->ready).value;
        uint32_t executor = pool_choose(&run->pool);
        if (executor == POOL_NOBODY ||
            run->pool.executors[executor].free < (int64_t)run->least_units)
            break;
        bool fits = run->pool.executors[executor].free >= (int64_t)units_of(run, s);
        if (fits)
            start_task(run, s, executor);
        else
            run->set_aside[n_aside++] = s;
        if (!fits || !has_tasks_to_start(&run->stages[s]))
            (void)heap_pop(&run->ready);
    }
    while (n_aside > 0) {
        size_t s = run->set_aside[--n_aside];
        heap_push(&run->ready, (double)s, s);
    }
}

/* When one that has just become idle may be let go. */
static double shuffle_expiry(const struct allocation_run *run, const struct pool_executor *executor)
{
    return executor->unread > 0 ? (double)INFINITY
                                : executor->idle_since_s + fmax(run->policy->idle_timeout_s,
                                                                run->policy->shuffle_timeout_s);
}

static void end_task(struct allocation_run *run, uint32_t slot)
{
    uint32_t executor = run->slots[slot].executor;
    size_t s = run->slots[slot].stage;
    size_t units = units_of(run, s);
    run->slots[slot].next = run->free_slot;
    run->free_slot = slot;
    pool_end_task(&run->pool, executor, (int64_t)units, run->now_s);
    run->running -= units;
    const struct pool_executor *free = &run->pool.executors[executor];
    if (free->leaves && free->free == run->pool.cores)
        run->leases.items[free->lease].to_s = run->now_s;
    if (run->held_words > 0 && free->free == run->pool.cores && free->holds_shuffle)
        run->look_at_s = fmin(run->look_at_s, shuffle_expiry(run, free));
    if (--run->stages[s].unended == 0)
        end_stage(run, s);
}

/* --- executors --- */

static int64_t still_to_come(const struct allocation_run *run)
{
    return (int64_t)(run->requests.n - run->arrived);
}

static double arrival_s(const struct allocation_run *run)
{
    return still_to_come(run) == 0 ? (double)INFINITY
                                   : run->requests.items[run->arrived] + run->job->startup_s;
}

static void add_executor(struct allocation_run *run, double requested_s)
{
    struct allocation_lease *lease = vector_add(run->scratch, &run->leases);
    run->failed = run->failed || lease == NULL;
    if (lease == NULL)
        return;
    *lease = (struct allocation_lease){requested_s, (double)INFINITY};
    uint32_t executor = pool_add(&run->pool, run->leases.n - 1, run->now_s);
    if (run->held_words > 0)
        memset(&run->held[executor * run->held_words], 0, run->held_words * sizeof *run->held);
}

static void release(struct allocation_run *run, uint32_t executor)
{
    run->leases.items[run->pool.executors[executor].lease].to_s = run->now_s;
    pool_remove(&run->pool, executor);
    run->released++;
}

static bool may_release(const struct allocation_run *run)
{
    int64_t left = run->pool.n - 1;
    return left >= run->policy->min_executors && left >= run->target;
}

static double idle_expiry(const struct allocation_run *run)
{
    uint32_t first = run->pool.idle.first;
    return first == POOL_NOBODY
               ? (double)INFINITY
               : run->pool.executors[first].idle_since_s + run->policy->idle_timeout_s;
}

/* Of those that hold shuffle output; how long the next one may stay is noted. */
static void release_holders(struct allocation_run *run)
{
    if (run->now_s < run->look_at_s)
        return;
    run->look_at_s = (double)INFINITY;
    run->is_held_back = false;
    for (uint32_t e = run->pool.holding.first, next; e != POOL_NOBODY; e = next) {
        next = run->pool.executors[e].next;
        double expiry_s = shuffle_expiry(run, &run->pool.executors[e]);
        if (expiry_s > run->now_s)
            run->look_at_s = fmin(run->look_at_s, expiry_s);
        else if (may_release(run))
            release(run, e);
        else
            run->is_held_back = true;
    }
}

static void release_idle(struct allocation_run *run)
{
    while (idle_expiry(run) <= run->now_s && may_release(run))
        release(run, run->pool.idle.first);
    if (run->held_words > 0)
        release_holders(run);
}

/* --- executors of a record --- */

/* Instant of the next change. INFINITY if the record has no more changes, or if the stage before the
 * change was not submitted yet. */
static double change_s(const struct allocation_run *run)
{
    if (run->record == NULL || run->change == run->record->n)
        return (double)INFINITY;
    const struct allocation_change *change = &run->record->changes[run->change];
    double from_s = change->after == ALLOCATION_START ? 0.0 : run->submitted_s[change->after];
    return isnan(from_s) ? (double)INFINITY : from_s + change->by_s;
}

/* Executors in the replay while the record has so many. */
static int64_t share_of_record(const struct allocation_run *run, int64_t executors)
{
    double share = (double)executors * (double)run->policy->max_executors;
    double wanted = ceil(share / (double)run->record->most - 1e-9);
    return wanted < (double)run->most ? (int64_t)wanted : run->most;
}

/* Adds executors up to the target. */
static void take_missing(struct allocation_run *run)
{
    while (run->pool.n < run->target && pool_has_room(&run->pool) && !run->failed) {
        run->came_later += run->now_s > run->job->initialization_s;
        add_executor(run, fmax(0.0, run->came_s - run->job->startup_s));
    }
}

static void take_changes(struct allocation_run *run)
{
    for (double at_s; (at_s = change_s(run)) <= run->now_s; run->change++) {
        run->target = share_of_record(run, run->record->changes[run->change].executors);
        run->came_s = at_s;
        take_missing(run);
    }
    take_missing(run); /* executors that left have made room */
}

/* Puts the tasks of a lost executor back to the waiting tasks. */
static void lose_tasks(struct allocation_run *run, uint32_t executor)
{
    size_t n = run->ends.n;
    run->ends.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct heap_item item = run->ends.items[i]; /* no more are pushed than were read */
        struct task_slot *slot = &run->slots[item.value];
        struct stage_state *stage = &run->stages[slot->stage];
        if (slot->executor != executor) {
            heap_push(&run->ends, item.key, item.value);
            continue;
        }
        if (!has_tasks_to_start(stage))
            heap_push(&run->ready, (double)slot->stage, slot->stage);
        slot->next = stage->again;
        stage->again = (uint32_t)item.value;
        pool_end_task(&run->pool, executor, (int64_t)units_of(run, slot->stage), run->now_s);
        run->running -= units_of(run, slot->stage);
        run->waiting += units_of(run, slot->stage);
    }
}

/* Removes executors beyond the target, as far as allocation_leave allows. */
static void let_go(struct allocation_run *run)
{
    const enum allocation_leave leave = run->record->leave;
    while (run->pool.n > run->target) {
        bool awaited = run->waiting > 0 || run->running > 0 || run->change == run->record->n;
        if ((run->pool.n == 1 && awaited) || (leave == ALLOCATION_LEAVE_IDLE && run->waiting > 0))
            return;
        uint32_t executor = pool_choose(&run->pool);
        if (executor == POOL_NOBODY)
            executor = pool_find_busy(&run->pool);
        bool idle = run->pool.executors[executor].free == run->pool.cores;
        if (leave == ALLOCATION_LEAVE_IDLE && !idle)
            return;
        if (leave == ALLOCATION_LEAVE_DONE && !idle) {
            pool_leave(&run->pool, executor);
            run->released++;
            continue;
        }
        if (!idle)
            lose_tasks(run, executor);
        release(run, executor);
    }
}

/* --- executors that the policy asks for --- */

static int64_t needed(const struct allocation_run *run)
{
    double tasks = (double)(run->waiting + run->running) * run->policy->allocation_ratio;
    double executors = ceil(tasks / (double)run->job->cores_per_executor - 1e-9);
    return tasks > 0 && executors < 1 ? 1 : (int64_t)executors;
}

static void lower_target(struct allocation_run *run, int64_t wanted)
{
    int64_t before = run->target;
    run->target = larger_int64(wanted, run->policy->min_executors);
    run->step_up = 1;
    int64_t surplus = run->pool.n + still_to_come(run) - larger_int64(run->target, run->pool.n);
    run->requests.n -= (size_t)larger_int64(surplus, 0);
    if (run->is_held_back && run->target < before)
        run->look_at_s = run->now_s;
}

static void raise_target(struct allocation_run *run, int64_t wanted)
{
    int64_t before = run->target;
    int64_t most = smaller_int64(wanted, run->policy->max_executors);
    int64_t raised = smaller_int64(larger_int64(before, run->pool.n) + run->step_up, most);
    run->target = larger_int64(raised, before);
    run->step_up = run->target - before == run->step_up ? 2 * run->step_up : 1;
    for (int64_t i = run->pool.n + still_to_come(run); i < run->target; i++) {
        double *request = vector_add(run->scratch, &run->requests);
        run->failed = run->failed || request == NULL;
        if (request == NULL)
            return;
        *request = run->now_s;
    }
}

static void follow_policy(struct allocation_run *run)
{
    const struct allocation_policy *policy = run->policy;
    int64_t wanted = needed(run);
    if (run->waiting == 0) {
        run->add_at_s = (double)INFINITY;
        run->step_up = 1;
    } else if (isinf(run->add_at_s)) {
        run->add_at_s = run->now_s + policy->backlog_timeout_s;
    }
    if (wanted < run->target) {
        lower_target(run, wanted);
        return;
    }
    if (run->add_at_s > run->now_s || run->target >= smaller_int64(wanted, policy->max_executors))
        return;
    raise_target(run, wanted);
    run->add_at_s = run->now_s + policy->sustained_backlog_timeout_s;
}

/* A request that comes due while there is nothing to add waits for the next turn. */
static void keep_turn(struct allocation_run *run)
{
    double step_s = run->policy->sustained_backlog_timeout_s;
    bool can_add = run->target < smaller_int64(needed(run), run->policy->max_executors);
    if (!can_add || run->add_at_s >= run->now_s || !(step_s > 0))
        return;
    run->add_at_s += ceil((run->now_s - run->add_at_s) / step_s) * step_s;
}

/* --- time --- */

static double next_instant(const struct allocation_run *run)
{
    double next_s = fmin(arrival_s(run), run->look_at_s);
    if (run->submissions.n > 0)
        next_s = fmin(next_s, heap_top(&run->submissions).key);
    if (run->ends.n > 0)
        next_s = fmin(next_s, heap_top(&run->ends).key);
    next_s = fmin(next_s, change_s(run));
    if (run->record != NULL)
        return fmax(next_s, run->now_s);
    if (run->target < smaller_int64(needed(run), run->policy->max_executors))
        next_s = fmin(next_s, run->add_at_s);
    if (may_release(run))
        next_s = fmin(next_s, idle_expiry(run));
    return fmax(next_s, run->now_s);
}

static void take_step(struct allocation_run *run)
{
    size_t n = run->steps.n;
    if (n > 0 && run->steps.items[n - 1].executors == run->pool.n)
        return;
    if (n > 0 && run->steps.items[n - 1].at_s >= run->now_s)
        run->steps.n--; /* of the same instant */
    struct allocation_step *step = vector_add(run->scratch, &run->steps);
    run->failed = run->failed || step == NULL;
    if (step != NULL)
        *step = (struct allocation_step){run->now_s, run->pool.n};
    run->peak = larger_int64(run->peak, run->pool.n);
}

/* All that happens at now_s. */
static void take_instant(struct allocation_run *run)
{
    while (run->ends.n > 0 && heap_top(&run->ends).key <= run->now_s)
        end_task(run, (uint32_t)heap_pop(&run->ends).value);
    while (arrival_s(run) <= run->now_s)
        add_executor(run, run->requests.items[run->arrived++]);
    while (run->submissions.n > 0 && heap_top(&run->submissions).key <= run->now_s)
        submit(run, (size_t)heap_pop(&run->submissions).value);
    if (run->record != NULL) {
        take_changes(run);
        let_go(run);
        start_tasks(run);
        let_go(run);
    } else {
        keep_turn(run);
        start_tasks(run);
        follow_policy(run);
        release_idle(run);
    }
    take_step(run);
}

static enum pv_code run_through(struct allocation_run *run, struct pv_error *err)
{
    while (!run->failed && run->tasks_started <= run->task_budget) {
        take_instant(run);
        double next_s = next_instant(run);
        if (isinf(next_s) && run->stages_left > 0 && run->record != NULL &&
            run->change < run->record->n) {
            /* The stage before the change waits for the executors of the change. */
            run->submitted_s[run->record->changes[run->change].after] = run->now_s;
            next_s = change_s(run);
        }
        if (isinf(next_s) && run->stages_left > 0)
            return pv_fail(err, PV_E_DOMAIN, "stages wait for each other");
        if (next_s >= run->end_s)
            break;
        run->now_s = next_s;
    }
    if (run->failed)
        return pv_no_memory(err);
    if (run->tasks_started > run->task_budget)
        return pv_fail(err, PV_E_LIMIT,
                       "replaying the job under dynamic allocation takes more than %llu simulated "
                       "tasks",
                       (unsigned long long)run->task_budget);
    return PV_OK;
}

/* --- begin and end --- */

/* n free slots. */
static bool slots_init(struct allocation_run *run, size_t n)
{
    run->slots = arena_array(run->scratch, n, sizeof *run->slots);
    for (size_t i = 0; run->slots != NULL && i < n; i++)
        run->slots[i].next = i + 1 < n ? (uint32_t)(i + 1) : (uint32_t)NO_SLOT;
    return run->slots != NULL;
}

/* No stage was submitted yet. */
static bool record_init(struct allocation_run *run)
{
    run->submitted_s = arena_array(run->scratch, run->n_stages, sizeof *run->submitted_s);
    for (size_t s = 0; run->submitted_s != NULL && s < run->n_stages; s++)
        run->submitted_s[s] = (double)NAN;
    return run->submitted_s != NULL;
}

static bool run_init(struct allocation_run *run)
{
    const struct allocation_policy *policy = run->policy;
    const struct edf_job *job = run->job->job;
    size_t tasks = 0;
    for (size_t s = 0; s < job->n_stages; s++)
        tasks += job->stages[s].tasks;
    int64_t most = policy->max_executors;
    /* Cores beyond one a task stay free on every executor: leaving them out changes nothing. */
    int64_t cores = run->job->cores_per_executor;
    if (run->job->task_units == NULL)
        cores = smaller_int64(cores, larger_int64((int64_t)tasks, 1));
    /* Executors beyond one a task are never asked for; those there from the start count too. */
    most = smaller_int64(most, (int64_t)tasks + 1);
    if (run->record == NULL)
        most = larger_int64(most, policy->initial_executors);
    run->most = most;
    if (run->record != NULL && run->record->leave == ALLOCATION_LEAVE_DONE)
        most *= 2; /* as many may be leaving */
    size_t slots = (size_t)most > tasks / (size_t)cores ? tasks : (size_t)(most * cores);
    if (run->record != NULL && run->record->leave == ALLOCATION_LEAVE_LOST)
        slots = tasks; /* lost tasks keep their slots */
    run->set_aside = arena_array(run->scratch, job->n_stages, sizeof *run->set_aside);
    if (run->set_aside == NULL || !heap_init(&run->ends, run->scratch, slots + 1) ||
        !slots_init(run, slots + 1) ||
        !pool_init(&run->pool, run->scratch, (uint32_t)most, cores) || !stages_init(run))
        return false;
    if (policy->shuffle_tracking && isfinite(policy->shuffle_timeout_s)) {
        run->held_words = run->n_stages / 64 + 1;
        run->held = arena_calloc(run->scratch, (size_t)most * run->held_words, sizeof *run->held);
        if (run->held == NULL)
            return false;
    }
    if (run->record != NULL)
        return record_init(run);
    for (int64_t i = 0; i < policy->initial_executors; i++)
        add_executor(run, 0.0);
    run->target = policy->initial_executors;
    return true;
}

/* A copy of n items; NULL: no memory. */
static void *copy_items(struct arena *arena, const void *items, size_t n, size_t size)
{
    void *copy = arena_array(arena, n == 0 ? 1 : n, size);
    if (copy != NULL && n > 0)
        memcpy(copy, items, n * size);
    return copy;
}

static bool
finish(struct allocation_run *run, struct arena *arena, struct allocation_outcome *outcome)
{
    double executor_s = 0.0;
    for (size_t i = 0; i < run->leases.n; i++) {
        struct allocation_lease *lease = &run->leases.items[i];
        lease->to_s = fmin(lease->to_s, run->end_s);
        executor_s += lease->to_s - lease->from_s;
    }
    *outcome = (struct allocation_outcome){.duration_s = run->end_s,
                                           .executor_s = executor_s,
                                           .peak_executors = run->peak,
                                           .started = run->arrived + run->came_later,
                                           .released = run->released};
    if (arena == NULL)
        return true;
    outcome->leases = copy_items(arena, run->leases.items, run->leases.n, sizeof *outcome->leases);
    outcome->n_leases = run->leases.n;
    outcome->steps = copy_items(arena, run->steps.items, run->steps.n, sizeof *outcome->steps);
    outcome->n_steps = run->steps.n;
    if (outcome->leases == NULL || outcome->steps == NULL)
        return false;
    outcome->steps[0].at_s = 0.0; /* the initial ones are held from the start on */
    return true;
}

enum pv_code allocation_replay(const struct allocation_job *job,
                               const struct allocation_policy *policy,
                               uint64_t task_budget,
                               struct arena *arena,
                               struct arena *scratch,
                               struct allocation_outcome *outcome,
                               struct pv_error *err)
{
    assert(arena != scratch);
    struct arena_mark mark = arena_mark(scratch);
    struct allocation_run run = {.job = job,
                                 .policy = policy,
                                 .shuffles =
                                     job->shuffles == NULL ? job->job->stages : job->shuffles,
                                 .scratch = scratch,
                                 .record = job->record,
                                 .n_stages = job->job->n_stages,
                                 .stages_left = job->job->n_stages,
                                 .step_up = 1,
                                 .add_at_s = (double)INFINITY,
                                 .look_at_s = (double)INFINITY,
                                 .now_s = job->initialization_s,
                                 .end_s = (double)INFINITY,
                                 .task_budget = task_budget};
    enum pv_code code = run_init(&run) ? run_through(&run, err) : pv_no_memory(err);
    if (code == PV_OK && !finish(&run, arena, outcome))
        code = pv_no_memory(err);
    arena_rewind(scratch, mark);
    return code;
}
