#include "core/autoscaling/allocation_replay_internal.h"

#include <math.h>

/* --- the stages --- */

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

/* n free slots. */
static bool slots_init(struct allocation_run *run, size_t n)
{
    run->slots = arena_array(run->scratch, n, sizeof *run->slots);
    for (size_t i = 0; run->slots != NULL && i < n; i++)
        run->slots[i].next = i + 1 < n ? (uint32_t)(i + 1) : (uint32_t)NO_SLOT;
    return run->slots != NULL;
}

bool allocation_tasks_init(struct allocation_run *run, size_t n_slots)
{
    const struct edf_stage *stages = run->job->job->stages;
    run->stages = arena_calloc(run->scratch, run->n_stages + 1, sizeof *run->stages);
    if (run->stages == NULL || !list_children(run) ||
        !heap_init(&run->submissions, run->scratch, run->n_stages) ||
        !heap_init(&run->ready, run->scratch, run->n_stages) || !slots_init(run, n_slots))
        return false;
    run->least_units = allocation_units_of(run, 0);
    for (size_t s = 0; s < run->n_stages; s++) {
        run->least_units = allocation_units_of(run, s) < run->least_units
                               ? allocation_units_of(run, s)
                               : run->least_units;
        run->stages[s].parents_left = stages[s].n_parents;
        run->stages[s].again = NO_SLOT;
        for (size_t p = 0; p < run->shuffles[s].n_parents; p++)
            run->stages[run->shuffles[s].parents[p]].readers_left++;
        if (stages[s].n_parents == 0)
            submit_later(run, s);
    }
    return true;
}

/* The last reader of stage s has ended: no stage needs its shuffle output any more. */
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

void allocation_tasks_submit(struct allocation_run *run, size_t s)
{
    size_t tasks = run->job->job->stages[s].tasks;
    run->stages[s].unstarted = run->stages[s].unended = tasks;
    run->waiting += tasks * allocation_units_of(run, s);
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
    size_t units = allocation_units_of(run, s);
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
void allocation_tasks_start(struct allocation_run *run)
{
    size_t n_aside = 0;
    while (run->ready.n > 0) {
        size_t s = (size_t)heap_top(&run->ready).value;
        uint32_t executor = pool_choose(&run->pool);
        if (executor == POOL_NOBODY ||
            run->pool.executors[executor].free < (int64_t)run->least_units)
            break;
        bool fits = run->pool.executors[executor].free >= (int64_t)allocation_units_of(run, s);
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
double allocation_tasks_expiry(const struct allocation_run *run,
                               const struct pool_executor *executor)
{
    return executor->unread > 0 ? (double)INFINITY
                                : executor->idle_since_s + fmax(run->policy->idle_timeout_s,
                                                                run->policy->shuffle_timeout_s);
}

void allocation_tasks_end(struct allocation_run *run, uint32_t slot)
{
    uint32_t executor = run->slots[slot].executor;
    size_t s = run->slots[slot].stage;
    size_t units = allocation_units_of(run, s);
    run->slots[slot].next = run->free_slot;
    run->free_slot = slot;
    pool_end_task(&run->pool, executor, (int64_t)units, run->now_s);
    run->running -= units;
    const struct pool_executor *free = &run->pool.executors[executor];
    if (free->leaves && free->free == run->pool.cores)
        run->leases.items[free->lease].to_s = run->now_s;
    if (run->held_words > 0 && free->free == run->pool.cores && free->holds_shuffle)
        run->look_at_s = fmin(run->look_at_s, allocation_tasks_expiry(run, free));
    if (--run->stages[s].unended == 0)
        end_stage(run, s);
}

/* Puts the tasks of a lost executor back to the waiting tasks. */
void allocation_tasks_lose(struct allocation_run *run, uint32_t executor)
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
        pool_end_task(&run->pool, executor, (int64_t)allocation_units_of(run, slot->stage),
                      run->now_s);
        run->running -= allocation_units_of(run, slot->stage);
        run->waiting += allocation_units_of(run, slot->stage);
    }
}
