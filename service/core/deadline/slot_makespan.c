#include "core/deadline/slot_makespan.h"

#include "base/heap.h"
#include "core/deadline/clairvoyant_edf_internal.h"

struct slot_stage {
    size_t unstarted; /* tasks */
    size_t unended;
    uint32_t parents_left;
};

struct slot_makespan {
    const struct edf_plan *plan;
    const struct edf_job *job;
    const struct slot_need *needs;
    const int64_t *units;
    int64_t *free;  /* units, by pool */
    int64_t *least; /* units of a task, by pool: of the stage whose tasks take fewest */
    size_t open;    /* pools with as many free */
    struct slot_stage *stages;
    struct heap ready;   /* key: the order in which stages are served */
    struct heap running; /* key: instant a task ends; value: its stage */
    uint32_t *list;      /* stages that have ended, or that wait for units */
    double now;
};

static void add_free(struct slot_makespan *m, size_t pool, int64_t units)
{
    m->open -= m->free[pool] >= m->least[pool];
    m->free[pool] += units;
    m->open += m->free[pool] >= m->least[pool];
}

/* A stage without tasks ends when it is submitted, and so may its children. */
static void submit_stage(struct slot_makespan *m, uint32_t s)
{
    size_t n_ended = 0;
    if (m->job->stages[s].tasks > 0) {
        heap_push(&m->ready, m->plan->stages[s].order_in_job, s);
        return;
    }
    m->list[n_ended++] = s;
    while (n_ended > 0) {
        const struct edf_plan_stage *stage = &m->plan->stages[m->list[--n_ended]];
        for (size_t c = stage[0].first_child; c < stage[1].first_child; c++) {
            uint32_t child = m->plan->children[c];
            if (--m->stages[child].parents_left > 0)
                continue;
            if (m->job->stages[child].tasks == 0)
                m->list[n_ended++] = child;
            else
                heap_push(&m->ready, m->plan->stages[child].order_in_job, child);
        }
    }
}

static double task_end_s(const struct slot_makespan *m, uint32_t s, size_t task)
{
    const struct edf_stage *stage = &m->job->stages[s];
    double lasts_s =
        stage->task_durations_s == NULL ? stage->task_duration_s : stage->task_durations_s[task];
    return m->now + (lasts_s + m->job->overhead_per_task_s);
}

static void start_stage_tasks(struct slot_makespan *m, uint32_t s)
{
    const struct slot_need *need = &m->needs[s];
    struct slot_stage *stage = &m->stages[s];
    const size_t tasks = m->job->stages[s].tasks;
    size_t room = (size_t)(m->free[need->pool] / need->units);
    if (need->is_barrier && room < stage->unstarted &&
        stage->unstarted <= (size_t)(m->units[need->pool] / need->units))
        return;
    for (; room > 0 && stage->unstarted > 0; room--, stage->unstarted--) {
        heap_push(&m->running, task_end_s(m, s, tasks - stage->unstarted), s);
        add_free(m, need->pool, -need->units);
    }
}

static void start_tasks(struct slot_makespan *m)
{
    size_t n_waiting = 0;
    while (m->ready.n > 0 && m->open > 0) {
        uint32_t s = (uint32_t)heap_pop(&m->ready).value;
        start_stage_tasks(m, s);
        if (m->stages[s].unstarted > 0)
            m->list[n_waiting++] = s;
    }
    for (size_t i = 0; i < n_waiting; i++)
        heap_push(&m->ready, m->plan->stages[m->list[i]].order_in_job, m->list[i]);
}

/* All that ends at the next instant. */
static void end_tasks(struct slot_makespan *m)
{
    m->now = heap_top(&m->running).key;
    while (m->running.n > 0 && heap_top(&m->running).key == m->now) {
        uint32_t s = (uint32_t)heap_pop(&m->running).value;
        add_free(m, m->needs[s].pool, m->needs[s].units);
        if (--m->stages[s].unended > 0)
            continue;
        const struct edf_plan_stage *stage = &m->plan->stages[s];
        for (size_t c = stage[0].first_child; c < stage[1].first_child; c++)
            if (--m->stages[m->plan->children[c]].parents_left == 0)
                submit_stage(m, m->plan->children[c]);
    }
}

static bool init_slots(struct slot_makespan *m, size_t n_pools, struct arena *scratch)
{
    const size_t n = m->plan->n_stages;
    size_t tasks = 0;
    for (size_t s = 0; s < n; s++)
        tasks += m->job->stages[s].tasks;
    m->free = arena_array(scratch, n_pools, sizeof *m->free);
    m->least = arena_array(scratch, n_pools, sizeof *m->least);
    m->stages = arena_calloc(scratch, n, sizeof *m->stages);
    m->list = arena_array(scratch, n, sizeof *m->list);
    if (m->free == NULL || m->least == NULL || m->stages == NULL || m->list == NULL ||
        !heap_init(&m->ready, scratch, n) || !heap_init(&m->running, scratch, tasks))
        return false;
    for (size_t p = 0; p < n_pools; p++)
        m->least[p] = INT64_MAX; /* no stage: nothing starts there */
    for (size_t s = 0; s < n; s++) {
        int64_t *least = &m->least[m->needs[s].pool];
        *least = m->needs[s].units < *least ? m->needs[s].units : *least;
    }
    for (size_t p = 0; p < n_pools; p++) {
        m->free[p] = m->units[p];
        m->open += m->free[p] >= m->least[p];
    }
    for (size_t s = 0; s < n; s++)
        m->stages[s] = (struct slot_stage){m->job->stages[s].tasks, m->job->stages[s].tasks,
                                           m->plan->stages[s].n_parents};
    return true;
}

enum pv_code slot_makespan_find(const struct edf_plan *plan,
                                const struct edf_job *job,
                                const struct slot_need needs[],
                                const int64_t units[],
                                size_t n_pools,
                                struct arena *scratch,
                                double *seconds,
                                struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct slot_makespan m = {.plan = plan, .job = job, .needs = needs, .units = units};
    const bool made = init_slots(&m, n_pools, scratch);
    for (uint32_t s = 0; made && s < plan->n_stages; s++)
        if (plan->stages[s].n_parents == 0)
            submit_stage(&m, s);
    while (made && m.ready.n > 0) {
        start_tasks(&m);
        while (m.running.n > 0) {
            end_tasks(&m);
            start_tasks(&m);
        }
    }
    arena_rewind(scratch, mark);
    if (!made)
        return pv_no_memory(err);
    *seconds = m.now;
    return PV_OK;
}
