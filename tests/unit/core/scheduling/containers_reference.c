#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "containers_cases.h"

enum { TASKS_MAX = 256, JOBS_MAX = 16, NODES_MAX = 16 };

enum phase { PENDING, HOLDS, ENDED };

struct task {
    size_t job;
    enum slots_kind kind;
    double duration_s;
    enum phase phase;
    size_t node;
    double given_s, begin_s; /* begin_s: NAN as long as it is not known */
};

static struct {
    const struct slots_cluster *cluster;
    const struct slots_job *jobs;
    const struct slots_terms *terms;
    struct slots_job_times *times;
    size_t n, rank[JOBS_MAX];
    double now_s;
    struct task tasks[TASKS_MAX];
    size_t n_tasks;
    bool patient[JOBS_MAX], done[JOBS_MAX];
    size_t reserved_by[NODES_MAX]; /* job */
    enum slots_kind reserved_for[NODES_MAX];
} ref;

static size_t count(size_t job, enum slots_kind kind, enum phase phase)
{
    size_t n = 0;
    for (size_t i = 0; i < ref.n_tasks; i++)
        n += ref.tasks[i].job == job && ref.tasks[i].kind == kind && ref.tasks[i].phase == phase;
    return n;
}

static bool arrived(size_t job)
{
    return ref.jobs[job].arrival_s <= ref.now_s;
}

static bool maps_done(size_t job)
{
    return count(job, SLOTS_MAP, PENDING) + count(job, SLOTS_MAP, HOLDS) == 0;
}

static double map_end(size_t job)
{
    double end_s = ref.jobs[job].arrival_s;
    for (size_t i = 0; i < ref.n_tasks; i++) {
        const struct task *task = &ref.tasks[i];
        if (task->job == job && task->kind == SLOTS_MAP)
            end_s = fmax(end_s,
                         task->begin_s + task->duration_s / ref.cluster->nodes[task->node].speed);
    }
    return end_s;
}

static double end_of(const struct task *task)
{
    return task->begin_s + task->duration_s / ref.cluster->nodes[task->node].speed;
}

static const struct slots_resources *request_of(size_t job, enum slots_kind kind)
{
    return &ref.jobs[job].requests[kind];
}

static double share_of(double vcores, double memory)
{
    return fmax(vcores / (double)ref.cluster->room.vcores,
                memory / (double)ref.cluster->room.memory_bytes);
}

/* What tasks hold that are on a node, of a job, of a queue, or early reduces; SIZE_MAX: any. */
struct held {
    double vcores, memory;
};

static bool is_early(const struct task *task)
{
    return task->kind == SLOTS_REDUCE && count(task->job, SLOTS_MAP, PENDING) > 0;
}

static struct held held_by(size_t node, size_t job, size_t queue, bool reduces, bool early)
{
    struct held held = {0, 0};
    for (size_t i = 0; i < ref.n_tasks; i++) {
        const struct task *task = &ref.tasks[i];
        if (task->phase != HOLDS || (node != SIZE_MAX && task->node != node) ||
            (job != SIZE_MAX && task->job != job) ||
            (queue != SIZE_MAX && ref.jobs[task->job].queue != queue) ||
            (reduces && task->kind != SLOTS_REDUCE) || (early && !is_early(task)))
            continue;
        held.vcores += (double)request_of(task->job, task->kind)->vcores;
        held.memory += (double)request_of(task->job, task->kind)->memory_bytes;
    }
    return held;
}

/* With one more container. */
static double share_with(struct held held, const struct slots_resources *more)
{
    return share_of(held.vcores + (double)more->vcores, held.memory + (double)more->memory_bytes);
}

static bool may_have(size_t job, enum slots_kind kind)
{
    const struct slots_resources *request = request_of(job, kind);
    double finished = (double)count(job, SLOTS_MAP, ENDED);
    double maps =
        finished + (double)(count(job, SLOTS_MAP, PENDING) + count(job, SLOTS_MAP, HOLDS));
    size_t queue = ref.jobs[job].queue;
    if (!arrived(job) || count(job, kind, PENDING) == 0)
        return false;
    if (ref.terms->policy == &slots_policy_capacity) {
        struct held held = held_by(SIZE_MAX, SIZE_MAX, queue, false, false);
        if (held.vcores > 0 && share_with(held, request) > ref.terms->tenants[queue].max_share)
            return false;
    }
    if (kind == SLOTS_MAP)
        return true;
    if (finished < ceil(ref.cluster->slow_start * maps - 1e-9))
        return false;
    if (count(job, SLOTS_MAP, PENDING) == 0)
        return true;
    return !ref.patient[job] &&
           share_with(held_by(SIZE_MAX, job, SIZE_MAX, true, false), request) <= finished / maps &&
           share_with(held_by(SIZE_MAX, SIZE_MAX, SIZE_MAX, true, true), request) <=
               ref.cluster->ramp_up;
}

static bool fits(size_t job, enum slots_kind kind, size_t node)
{
    struct held held = held_by(node, SIZE_MAX, SIZE_MAX, false, false);
    const struct slots_resources *room = &ref.cluster->nodes[node].room;
    const struct slots_resources *request = request_of(job, kind);
    return held.vcores + (double)request->vcores <= (double)room->vcores &&
           held.memory + (double)request->memory_bytes <= (double)room->memory_bytes;
}

static size_t node_for(size_t job, enum slots_kind kind)
{
    for (size_t i = 0; i < ref.cluster->n_nodes; i++)
        if (ref.reserved_by[i] == SLOTS_NOBODY && fits(job, kind, i))
            return i;
    return SIZE_MAX;
}

/* The lesser goes first. */
static void standing(size_t job, enum slots_kind kind, double figures[4])
{
    struct held held = held_by(SIZE_MAX, job, SIZE_MAX, false, false);
    size_t queue = ref.jobs[job].queue;
    figures[0] = figures[1] = 0;
    if (ref.terms->policy == &slots_policy_fair)
        figures[0] = held.memory;
    if (ref.terms->policy == &slots_policy_drf)
        figures[0] = share_of(held.vcores, held.memory);
    if (ref.terms->policy == &slots_policy_capacity) {
        held = held_by(SIZE_MAX, SIZE_MAX, queue, false, false);
        figures[0] = share_of(held.vcores, held.memory) / ref.terms->tenants[queue].share;
        figures[1] = (double)queue;
    }
    figures[2] = (double)ref.rank[job];
    figures[3] = kind == SLOTS_REDUCE ? 0 : 1;
}

static bool is_before(const double a[4], const double b[4])
{
    bool divided = ref.terms->policy == &slots_policy_capacity;
    for (size_t f = 0; f < 4; f++)
        if (f == 0 && divided ? fabs(a[f] - b[f]) > 1e-9 : a[f] != b[f])
            return a[f] < b[f];
    return false;
}

struct candidate {
    size_t job; /* SLOTS_NOBODY: there is none */
    enum slots_kind kind;
};

/* The first of all that may have a container, or of those whose container fits somewhere. */
static struct candidate first_of(bool fitting)
{
    struct candidate first = {SLOTS_NOBODY, SLOTS_MAP};
    double least[4] = {0};
    for (size_t j = 0; j < ref.n; j++)
        for (enum slots_kind kind = SLOTS_MAP; kind <= SLOTS_REDUCE; kind++) {
            double figures[4];
            if (!may_have(j, kind) || (fitting && node_for(j, kind) == SIZE_MAX))
                continue;
            standing(j, kind, figures);
            if (first.job != SLOTS_NOBODY && !is_before(figures, least))
                continue;
            first = (struct candidate){j, kind};
            for (size_t f = 0; f < 4; f++)
                least[f] = figures[f];
        }
    return first;
}

static size_t reserved_node(size_t job)
{
    for (size_t i = 0; i < ref.cluster->n_nodes; i++)
        if (ref.reserved_by[i] == job)
            return i;
    return SIZE_MAX;
}

static void give(struct candidate to, size_t node)
{
    size_t first = 0;
    size_t reserved = reserved_node(to.job);
    if (reserved != SIZE_MAX && ref.reserved_for[reserved] == to.kind)
        ref.reserved_by[reserved] = SLOTS_NOBODY;
    cr_assert(fits(to.job, to.kind, node));
    while (ref.tasks[first].job != to.job || ref.tasks[first].kind != to.kind ||
           ref.tasks[first].phase != PENDING)
        first++;
    struct task *task = &ref.tasks[first];
    task->phase = HOLDS;
    task->node = node;
    task->given_s = ref.now_s;
    task->begin_s = (double)NAN;
    if (to.kind == SLOTS_MAP)
        task->begin_s = ref.now_s;
    else if (maps_done(to.job))
        task->begin_s = fmax(ref.now_s + ref.jobs[to.job].shuffle_s, map_end(to.job));
    if (isnan(ref.times[to.job].start_s))
        ref.times[to.job].start_s = ref.now_s;
}

static bool give_reserved(void)
{
    bool any = false;
    for (size_t i = 0; i < ref.cluster->n_nodes; i++) {
        const struct candidate to = {ref.reserved_by[i], ref.reserved_for[i]};
        if (to.job == SLOTS_NOBODY)
            continue;
        bool may = may_have(to.job, to.kind);
        if (may && !fits(to.job, to.kind, i))
            continue;
        any = true;
        ref.reserved_by[i] = SLOTS_NOBODY;
        if (may)
            give(to, i);
    }
    return any;
}

static bool reserve(struct candidate of)
{
    for (size_t i = 0; i < ref.cluster->n_nodes; i++)
        if (ref.reserved_by[i] == SLOTS_NOBODY &&
            slots_resources_fit(request_of(of.job, of.kind), &ref.cluster->nodes[i].room)) {
            ref.reserved_by[i] = of.job;
            ref.reserved_for[i] = of.kind;
            return true;
        }
    return false;
}

static void give_all(void)
{
    for (;;) {
        while (give_reserved())
            ;
        struct candidate first = first_of(false);
        struct candidate fitting = first_of(true);
        bool same = first.job == fitting.job && first.kind == fitting.kind;
        if (fitting.job == SLOTS_NOBODY)
            return;
        if (!same && reserved_node(first.job) == SIZE_MAX && reserve(first))
            continue;
        give(fitting, node_for(fitting.job, fitting.kind));
    }
}

static bool stop_early(void)
{
    size_t held = 0, early = 0;
    for (size_t i = 0; i < ref.n_tasks; i++) {
        held += ref.tasks[i].phase == HOLDS;
        early += ref.tasks[i].phase == HOLDS && is_early(&ref.tasks[i]);
    }
    if (early == 0 || early < held)
        return false;
    for (size_t i = 0; i < ref.n_tasks; i++)
        if (ref.tasks[i].phase == HOLDS) {
            ref.tasks[i].phase = PENDING;
            ref.patient[ref.tasks[i].job] = true;
        }
    return true;
}

static void happen(void)
{
    for (size_t i = 0; i < ref.n_tasks; i++)
        if (ref.tasks[i].phase == HOLDS && end_of(&ref.tasks[i]) == ref.now_s)
            ref.tasks[i].phase = ENDED;
    for (size_t i = 0; i < ref.n_tasks; i++) {
        struct task *task = &ref.tasks[i];
        if (task->phase == HOLDS && isnan(task->begin_s) && maps_done(task->job))
            task->begin_s = fmax(task->given_s + ref.jobs[task->job].shuffle_s, map_end(task->job));
    }
    for (size_t j = 0; j < ref.n; j++)
        if (!ref.done[j] && maps_done(j) &&
            count(j, SLOTS_REDUCE, PENDING) + count(j, SLOTS_REDUCE, HOLDS) == 0) {
            ref.done[j] = true;
            ref.times[j].finish_s = ref.now_s;
        }
    do
        give_all();
    while (stop_early());
}

static double find_next(void)
{
    double next_s = HUGE_VAL;
    for (size_t i = 0; i < ref.n_tasks; i++)
        if (ref.tasks[i].phase == HOLDS && !isnan(ref.tasks[i].begin_s))
            next_s = fmin(next_s, end_of(&ref.tasks[i]));
    /* Where work begins and nothing else happens, nothing changes. */
    for (size_t j = 0; j < ref.n; j++)
        if (ref.jobs[j].arrival_s > ref.now_s)
            next_s = fmin(next_s, ref.jobs[j].arrival_s);
    return next_s;
}

static void make_tasks(size_t job)
{
    for (enum slots_kind kind = SLOTS_MAP; kind <= SLOTS_REDUCE; kind++) {
        const struct slots_task_list *list = &ref.jobs[job].task_lists[kind];
        for (size_t i = 0; i < list->n; i++)
            for (size_t k = 0; k < list->tasks[i].count; k++)
                ref.tasks[ref.n_tasks++] = (struct task){.job = job,
                                                         .kind = kind,
                                                         .duration_s = list->tasks[i].duration_s,
                                                         .begin_s = (double)NAN};
    }
}

void containers_reference(const struct slots_cluster *cluster,
                          const struct slots_job jobs[],
                          size_t n,
                          const struct slots_terms *terms,
                          struct slots_job_times times[])
{
    memset(&ref, 0, sizeof ref);
    ref.cluster = cluster;
    ref.jobs = jobs;
    ref.n = n;
    ref.terms = terms;
    ref.times = times;
    ref.now_s = -1;
    for (size_t i = 0; i < NODES_MAX; i++)
        ref.reserved_by[i] = SLOTS_NOBODY;
    for (size_t j = 0; j < n; j++) {
        times[j].start_s = (double)NAN;
        make_tasks(j);
        for (size_t other = 0; other < n; other++)
            ref.rank[j] += jobs[other].arrival_s < jobs[j].arrival_s ||
                           (jobs[other].arrival_s == jobs[j].arrival_s && other < j);
    }
    for (double next_s = find_next(); isfinite(next_s); next_s = find_next()) {
        ref.now_s = next_s;
        happen();
    }
    for (size_t j = 0; j < n; j++)
        cr_assert(ref.done[j]);
}
