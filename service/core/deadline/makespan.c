/*
 * List scheduling of one job, as docs/design.md, "Clairvoyance EDF", has it for a single one.
 *
 * A heap holds running tasks by the instant they end, as in clairvoyant_edf.c. What makes it cheap:
 *
 * - A stage whose tasks all find a core is one segment, which ends with its longest task. It is
 *   taken apart only when another stage runs out of free cores. Rounding is monotonic, so
 *   now + longest is the latest of the instants that the single tasks would have.
 * - While no stage waits for cores and a single one runs, the next instant that matters is its end.
 * - A core that is taken again at once costs one pass through the heap, not two. Only instants are
 *   compared: tasks that end at the same one are all taken out before any core is given away.
 */
#include "core/deadline/makespan.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "core/deadline/clairvoyant_edf_internal.h"

enum { CHILDREN = 4 };

/* Tasks of one stage that end together. tasks == 0: the end of the stage's segment, nothing where
 * that has been taken apart. */
struct batch {
    double end_s;
    uint32_t stage;
    uint32_t tasks;
};

/* What a stage has come to. */
struct progress {
    size_t started; /* tasks */
    size_t left;    /* tasks that have not ended */
    uint32_t parents_left;
    bool is_segment;
    double started_s; /* where it is one */
    double end_s;     /* the latest of its tasks started so far */
};

struct makespan {
    const struct edf_plan *plan;
    const struct edf_job *job;
    const double *longest_s;
    struct batch *running; /* a heap by end_s */
    size_t n_running;
    size_t n_active; /* stages with tasks that run */
    struct progress *stages;
    struct heap ready;  /* key: the order in which stages are served */
    uint32_t *ended;    /* stack of stages whose end is not yet passed on */
    uint32_t *segments; /* stages that may be one */
    size_t n_segments;
    size_t free; /* cores; without those that ended tasks of segments have left */
    size_t stages_left;
    double now;
};

/* --- running tasks --- */

static size_t least_child(const struct batch running[], size_t child, size_t n)
{
    if (child + CHILDREN <= n) {
        size_t a = child + (running[child + 1].end_s < running[child].end_s);
        size_t b = child + 2 + (running[child + 3].end_s < running[child + 2].end_s);
        return running[b].end_s < running[a].end_s ? b : a;
    }
    size_t least = child;
    for (size_t i = child + 1; i < n; i++)
        least = running[i].end_s < running[least].end_s ? i : least;
    return least;
}

/* Put `batch` where the first one was. */
static void replace_first(struct batch running[], size_t n, struct batch batch)
{
    size_t at = 0;
    for (size_t child; (child = at * CHILDREN + 1) < n;) {
        size_t least = least_child(running, child, n);
        if (!(running[least].end_s < batch.end_s))
            break;
        running[at] = running[least];
        at = least;
    }
    running[at] = batch;
}

static void add_running(struct makespan *m, struct batch batch)
{
    size_t at = m->n_running++;
    while (at > 0) {
        size_t up = (at - 1) / CHILDREN;
        if (!(batch.end_s < m->running[up].end_s))
            break;
        m->running[at] = m->running[up];
        at = up;
    }
    m->running[at] = batch;
}

static void drop_first(struct makespan *m)
{
    m->n_running--;
    if (m->n_running > 0)
        replace_first(m->running, m->n_running, m->running[m->n_running]);
}

/* --- stages --- */

/* Stage s may run now: its tasks wait for cores, or, where it has none, it has ended. */
static void open_makespan_stage(struct makespan *m, uint32_t s, size_t *n_ended)
{
    if (m->job->stages[s].tasks == 0)
        m->ended[(*n_ended)++] = s;
    else
        heap_push(&m->ready, m->plan->stages[s].order_in_job, s);
}

/* Pass on the ends of the stages on the stack, and of those without tasks that thereby end too. */
static void pass_on_ends(struct makespan *m, size_t n_ended)
{
    while (n_ended > 0) {
        const struct edf_plan_stage *stage = &m->plan->stages[m->ended[--n_ended]];
        m->stages_left--;
        for (size_t c = stage[0].first_child; c < stage[1].first_child; c++) {
            uint32_t child = m->plan->children[c];
            if (--m->stages[child].parents_left == 0)
                open_makespan_stage(m, child, &n_ended);
        }
    }
}

static void end_tasks(struct makespan *m, uint32_t s, size_t tasks)
{
    m->free += tasks;
    m->stages[s].left -= tasks;
    if (m->stages[s].left == 0) {
        m->n_active--;
        m->ended[0] = s;
        pass_on_ends(m, 1);
    }
}

/* --- starting tasks --- */

static double task_lasts_s(const struct makespan *m, uint32_t s, size_t task)
{
    const struct edf_stage *stage = &m->job->stages[s];
    return (stage->task_durations_s == NULL ? stage->task_duration_s
                                            : stage->task_durations_s[task]) +
           m->job->overhead_per_task_s;
}

/* How many of the stage's next tasks last as long as the first of them, at most `most`. */
static size_t count_alike(const struct edf_stage *stage, size_t next, size_t most)
{
    most = most < UINT32_MAX ? most : UINT32_MAX;
    if (stage->task_durations_s == NULL)
        return most;
    size_t n = 1;
    while (n < most && stage->task_durations_s[next + n] == stage->task_durations_s[next])
        n++;
    return n;
}

static void start_segment(struct makespan *m, uint32_t s)
{
    struct progress *stage = &m->stages[s];
    stage->is_segment = true;
    stage->started = m->job->stages[s].tasks;
    stage->started_s = m->now;
    stage->end_s = m->now + (m->longest_s[s] + m->job->overhead_per_task_s);
    m->free -= stage->started;
    m->n_active++;
    m->segments[m->n_segments++] = s;
    add_running(m, (struct batch){stage->end_s, s, 0});
}

/* A segment as its single tasks. Those that ended before have left their cores; what ends at the
 * instant at which it started ends after all that start then. */
static void take_apart(struct makespan *m, uint32_t s)
{
    struct progress *stage = &m->stages[s];
    const struct edf_stage *of = &m->job->stages[s];
    stage->is_segment = false;
    for (size_t t = 0, n; t < of->tasks; t += n) {
        const double end_s = stage->started_s + task_lasts_s(m, s, t);
        n = count_alike(of, t, of->tasks - t);
        if (end_s > m->now || stage->started_s == m->now) {
            add_running(m, (struct batch){end_s, s, (uint32_t)n});
        } else {
            m->free += n;
            stage->left -= n;
        }
    }
}

static void take_segments_apart(struct makespan *m)
{
    while (m->n_segments > 0) {
        uint32_t s = m->segments[--m->n_segments];
        if (m->stages[s].is_segment)
            take_apart(m, s);
    }
}

/* Start tasks of stage s on free cores until either run out. */
static void start_tasks(struct makespan *m, uint32_t s)
{
    struct progress *stage = &m->stages[s];
    const struct edf_stage *of = &m->job->stages[s];
    if (stage->started == 0)
        m->n_active++;
    while (m->free > 0 && stage->started < of->tasks) {
        const size_t most = of->tasks - stage->started;
        const size_t n = count_alike(of, stage->started, most < m->free ? most : m->free);
        const double end_s = m->now + task_lasts_s(m, s, stage->started);
        stage->end_s = end_s > stage->end_s ? end_s : stage->end_s;
        stage->started += n;
        m->free -= n;
        add_running(m, (struct batch){end_s, s, (uint32_t)n});
    }
}

/* Free cores take tasks until either run out. */
static void give_cores(struct makespan *m)
{
    while (m->ready.n > 0) {
        const uint32_t s = (uint32_t)heap_top(&m->ready).value;
        const size_t tasks = m->job->stages[s].tasks;
        const bool is_fresh = m->stages[s].started == 0;
        if (m->free < tasks - m->stages[s].started)
            take_segments_apart(m);
        if (m->free == 0)
            return;
        if (is_fresh && tasks > 1 && tasks <= m->free)
            start_segment(m, s);
        else
            start_tasks(m, s);
        if (m->stages[s].started < tasks)
            return;
        (void)heap_pop(&m->ready);
    }
}

/* --- from instant to instant --- */

static bool is_first_alone(const struct makespan *m)
{
    const size_t end = m->n_running < CHILDREN + 1 ? m->n_running : CHILDREN + 1;
    bool alone = true;
    for (size_t i = 1; i < end; i++)
        alone = alone && m->running[i].end_s > m->running[0].end_s;
    return alone;
}

/*
 * No core is free and the first stage waits for one: as long as single tasks end that are not the
 * last of their stage, each alone at its instant, its next task takes the core.
 */
static void hand_on_cores(struct makespan *m)
{
    const uint32_t s = (uint32_t)heap_top(&m->ready).value;
    struct progress *stage = &m->stages[s];
    const size_t tasks = m->job->stages[s].tasks;
    while (stage->started < tasks) {
        const struct batch first = m->running[0];
        if (first.tasks != 1 || m->stages[first.stage].left == 1 || !is_first_alone(m))
            break;
        m->now = first.end_s;
        m->stages[first.stage].left--;
        m->n_active += stage->started == 0;
        const double end_s = m->now + task_lasts_s(m, s, stage->started++);
        stage->end_s = end_s > stage->end_s ? end_s : stage->end_s;
        replace_first(m->running, m->n_running, (struct batch){end_s, s, 1});
    }
    if (stage->started == tasks)
        (void)heap_pop(&m->ready);
}

/* All that ends at the next instant. */
static void end_next(struct makespan *m)
{
    m->now = m->running[0].end_s;
    while (m->n_running > 0 && m->running[0].end_s == m->now) {
        const struct batch first = m->running[0];
        drop_first(m);
        if (first.tasks > 0) {
            end_tasks(m, first.stage, first.tasks);
        } else if (m->stages[first.stage].is_segment) {
            m->stages[first.stage].is_segment = false;
            end_tasks(m, first.stage, m->stages[first.stage].left);
        }
    }
}

/* A single stage runs, and nobody waits for its cores: to its end. */
static void end_only_stage(struct makespan *m)
{
    const uint32_t s = m->running[0].stage;
    m->now = m->stages[s].end_s;
    m->n_running = 0;
    m->n_segments = 0;
    m->stages[s].is_segment = false;
    end_tasks(m, s, m->stages[s].left);
}

static void run_job(struct makespan *m)
{
    size_t n_ended = 0;
    for (uint32_t s = 0; s < m->plan->n_stages; s++)
        if (m->stages[s].parents_left == 0)
            open_makespan_stage(m, s, &n_ended);
    pass_on_ends(m, n_ended);
    while (m->stages_left > 0) {
        give_cores(m);
        if (m->ready.n > 0)
            hand_on_cores(m);
        if (m->ready.n == 0 && m->n_active == 1)
            end_only_stage(m);
        else if (m->n_running > 0)
            end_next(m);
    }
}

static bool init_makespan(struct makespan *m, size_t cores, struct arena *scratch)
{
    const size_t n = m->plan->n_stages;
    size_t tasks = 0;
    for (size_t s = 0; s < n; s++)
        tasks += m->job->stages[s].tasks;
    m->free = cores < tasks ? cores : tasks; /* others would stay idle */
    m->stages_left = n;
    m->running = arena_array(scratch, m->free + n, sizeof *m->running);
    m->stages = arena_calloc(scratch, n, sizeof *m->stages);
    m->ended = arena_array(scratch, n, sizeof *m->ended);
    m->segments = arena_array(scratch, n, sizeof *m->segments);
    if (m->running == NULL || m->stages == NULL || m->ended == NULL || m->segments == NULL ||
        !heap_init(&m->ready, scratch, n))
        return false;
    for (size_t s = 0; s < n; s++) {
        m->stages[s].left = m->job->stages[s].tasks;
        m->stages[s].parents_left = m->plan->stages[s].n_parents;
    }
    return true;
}

/* --- the public calls --- */

enum pv_code makespan_plan(const struct edf_job *job,
                           struct arena *arena,
                           const struct edf_plan **plan,
                           struct pv_error *err)
{
    struct edf_plan *made = arena_alloc(arena, sizeof *made);
    if (made == NULL)
        return pv_no_memory(err);
    *plan = made;
    return edf_plan_make(job, 1, arena, made, err);
}

double makespan_longest_s(const struct edf_stage *stage)
{
    if (stage->tasks == 0)
        return 0.0;
    if (stage->task_durations_s == NULL)
        return stage->task_duration_s;
    double longest_s = stage->task_durations_s[0];
    for (size_t t = 1; t < stage->tasks; t++)
        longest_s = stage->task_durations_s[t] > longest_s ? stage->task_durations_s[t] : longest_s;
    return longest_s;
}

enum pv_code makespan_find(const struct edf_plan *plan,
                           const struct edf_job *job,
                           const double longest_s[],
                           size_t cores,
                           struct arena *scratch,
                           double *seconds,
                           struct pv_error *err)
{
    struct arena_mark mark = arena_mark(scratch);
    struct makespan m = {.plan = plan, .job = job, .longest_s = longest_s};
    assert(cores > 0 && plan->n_stages == job->n_stages);
    const bool ready = init_makespan(&m, cores, scratch);
    if (ready)
        run_job(&m);
    arena_rewind(scratch, mark);
    if (!ready)
        return pv_no_memory(err);
    *seconds = m.now;
    return PV_OK;
}
