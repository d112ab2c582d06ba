#include "core/stragglers/concurrent_stages.h"

#include <math.h>

#include "base/heap.h"

struct state {
    size_t next; /* task to start */
    size_t running;
    double left_s;        /* of the tasks to start */
    size_t ended_parents; /* the first ones of its parents, of which it is known */
    bool ended;
};

struct sharing {
    const struct shared_stage *stages;
    size_t n;
    enum share_rule rule;
    struct state *states;
    struct heap ends; /* of tasks: the stage */
    size_t free;
    double now_s;
};

static bool is_released(const struct sharing *sharing, size_t stage)
{
    const struct shared_stage *of = &sharing->stages[stage];
    size_t *ended = &sharing->states[stage].ended_parents;
    /* What has ended remains so: each parent is looked at once with success. */
    while (*ended < of->n_parents && sharing->states[of->parents[*ended]].ended)
        ++*ended;
    return *ended == of->n_parents && of->released_s <= sharing->now_s;
}

/* Does the rule prefer stage a to stage b, which comes before it? */
static bool is_preferred(const struct sharing *sharing, size_t a, size_t b)
{
    const struct state *x = &sharing->states[a];
    const struct state *y = &sharing->states[b];
    switch (sharing->rule) {
    case SHARE_FAIR:
        return x->running < y->running;
    case SHARE_SHORTEST:
        return x->left_s < y->left_s;
    case SHARE_LONGEST:
        return x->left_s > y->left_s;
    case SHARE_FIFO:
    case SHARE_RULES:
        break;
    }
    return false;
}

/* The stage whose task is next; n: none has one to start now. */
static size_t choose_stage(const struct sharing *sharing)
{
    size_t chosen = sharing->n;
    for (size_t i = 0; i < sharing->n; i++) {
        if (sharing->states[i].next == sharing->stages[i].n_tasks || !is_released(sharing, i))
            continue;
        if (chosen == sharing->n || is_preferred(sharing, i, chosen))
            chosen = i;
    }
    return chosen;
}

static void start_tasks(struct sharing *sharing)
{
    while (sharing->free > 0) {
        size_t stage = choose_stage(sharing);
        if (stage == sharing->n)
            return;
        struct state *state = &sharing->states[stage];
        double takes = sharing->stages[stage].durations_s[state->next++];
        state->left_s -= takes;
        state->running++;
        sharing->free--;
        heap_push(&sharing->ends, sharing->now_s + takes, stage);
    }
}

/* When the next stage is released that waits for that instant alone; INFINITY: none. */
static double next_release(const struct sharing *sharing)
{
    double next = (double)INFINITY;
    for (size_t i = 0; i < sharing->n; i++)
        if (sharing->stages[i].released_s > sharing->now_s)
            next = fmin(next, sharing->stages[i].released_s);
    return next;
}

static void end_task(struct sharing *sharing, struct share_outcome *outcome)
{
    struct heap_item item = heap_pop(&sharing->ends);
    size_t stage = (size_t)item.value;
    struct state *state = &sharing->states[stage];
    sharing->now_s = item.key;
    sharing->free++;
    state->running--;
    if (state->running > 0 || state->next < sharing->stages[stage].n_tasks)
        return;
    state->ended = true;
    outcome->makespan_s = sharing->now_s;
    outcome->mean_end_s += sharing->now_s / (double)sharing->n;
}

static bool begin_sharing(struct sharing *sharing, struct arena *scratch)
{
    size_t tasks = 0;
    sharing->states = arena_calloc(scratch, sharing->n, sizeof *sharing->states);
    if (sharing->states == NULL)
        return false;
    for (size_t i = 0; i < sharing->n; i++) {
        const struct shared_stage *stage = &sharing->stages[i];
        for (size_t k = 0; k < stage->n_tasks; k++)
            sharing->states[i].left_s += stage->durations_s[k];
        tasks += stage->n_tasks;
    }
    return heap_init(&sharing->ends, scratch, tasks);
}

enum pv_code concurrent_replay(const struct shared_stage stages[],
                               size_t n,
                               size_t slots,
                               enum share_rule rule,
                               struct arena *scratch,
                               struct share_outcome *outcome,
                               struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct sharing sharing = {.stages = stages, .n = n, .rule = rule, .free = slots};
    struct share_outcome made = {.makespan_s = 0};
    if (!begin_sharing(&sharing, scratch))
        return pv_no_memory(err);
    for (;;) {
        start_tasks(&sharing);
        double release = next_release(&sharing);
        if (sharing.ends.n > 0 && heap_top(&sharing.ends).key <= release)
            end_task(&sharing, &made);
        else if (isfinite(release))
            sharing.now_s = release;
        else
            break;
    }
    arena_rewind(scratch, mark);
    *outcome = made;
    return PV_OK;
}
