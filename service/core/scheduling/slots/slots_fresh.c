/*
 * The policy "fresh", on slots of no fixed kind: FRESH's decision at run time (fresh.h) on the state
 * of the instant, among jobs in the map phase and in the reduce phase (slots_phases.h).
 *
 * The tally of the jobs is made once an instant. While slots are given it is kept up to date: what
 * jobs have consumed does not change then, nor the work that is left.
 */
#include <math.h>
#include <string.h>

#include "core/scheduling/slots/fresh.h"
#include "core/scheduling/slots/slots_phases.h"
#include "core/scheduling/slots/slots_split.h"
#include "core/sim/statistics.h"

/* Jobs of a phase in order of arrival. */
struct members {
    size_t *jobs;
    size_t n;
};

struct fresh_policy {
    const struct slots_view *view;
    struct fresh_terms terms;
    struct fresh_slots slots;
    struct slots_phases phases;
    struct fresh_job *jobs;
    double *counted_s; /* by job: its task_time_s is that of then */
    struct members members[SLOTS_KINDS];
    struct compensated_sum waiting_s; /* reduce work of P */
    struct fresh_tally tally;
    bool tallied; /* and still true, at tally.now_s */
};

/* --- members of the phases --- */

static void add_member(struct members *members, size_t job)
{
    size_t place = members->n++;
    for (; place > 0 && members->jobs[place - 1] > job; place--)
        members->jobs[place] = members->jobs[place - 1];
    members->jobs[place] = job;
}

static void remove_member(struct members *members, size_t job)
{
    size_t place = 0;
    while (members->jobs[place] != job)
        place++;
    members->n--;
    memmove(&members->jobs[place], &members->jobs[place + 1],
            (members->n - place) * sizeof *members->jobs);
}

static void fresh_entered(void *state, enum slots_kind phase, size_t index)
{
    struct fresh_policy *fresh = state;
    struct fresh_job *job = &fresh->jobs[index];
    fresh->tallied = false;
    add_member(&fresh->members[phase], index);
    if (phase == SLOTS_MAP) {
        job->started_s = fresh->counted_s[index] = fresh->view->now_s;
        return;
    }
    job->phase = FRESH_REDUCE;
    compensated_sum_add(&fresh->waiting_s, -fresh_reduce_work_s(job));
    if (slots_phases_next(&fresh->phases, SLOTS_REDUCE) == SLOTS_NOBODY)
        fresh->waiting_s = (struct compensated_sum){0, 0}; /* exactly */
}

/* --- notifications --- */

static enum pv_code fresh_begin(const struct slots_view *view,
                                const struct slots_terms *terms,
                                struct slots_partitions *partitions,
                                struct arena *arena,
                                void **state,
                                struct pv_error *err)
{
    struct fresh_policy *fresh = arena_alloc(arena, sizeof *fresh);
    size_t n = view->n_jobs;
    (void)partitions;
    PV_TRY(slots_need_maps(view->jobs, n, err));
    if (fresh == NULL)
        return pv_no_memory(err);
    *fresh = (struct fresh_policy){
        .view = view,
        .terms = {terms->concurrency, terms->tau1, terms->tau2},
        .slots = {.total_slots = view->cluster.slots[SLOTS_MAP] + view->cluster.slots[SLOTS_REDUCE],
                  .reduce_interval_s = (double)NAN},
        .jobs = arena_array(arena, n, sizeof *fresh->jobs),
        .counted_s = arena_array(arena, n, sizeof *fresh->counted_s),
        .members = {{.jobs = arena_array(arena, n, sizeof *fresh->members->jobs)},
                    {.jobs = arena_array(arena, n, sizeof *fresh->members->jobs)}},
    };
    *state = fresh;
    if (fresh->jobs == NULL || fresh->counted_s == NULL || fresh->members[SLOTS_MAP].jobs == NULL ||
        fresh->members[SLOTS_REDUCE].jobs == NULL ||
        !slots_phases_init(&fresh->phases, terms->concurrency, n, fresh_entered, fresh, arena))
        return pv_no_memory(err);
    return PV_OK;
}

static void fresh_arrived(void *state, size_t index)
{
    struct fresh_policy *fresh = state;
    const struct slots_counts *counts = &fresh->view->counts[index];
    const struct slots_task_list *lists = fresh->view->jobs[index].task_lists;
    double maps = (double)counts->pending[SLOTS_MAP];
    double reduces = (double)counts->pending[SLOTS_REDUCE];
    fresh->jobs[index] = (struct fresh_job){
        .phase = FRESH_MAP,
        .maps = counts->pending[SLOTS_MAP],
        .map_task_s = slots_tasks_work(&lists[SLOTS_MAP]) / maps,
        .reduces = counts->pending[SLOTS_REDUCE],
        .reduce_task_s = reduces > 0 ? slots_tasks_work(&lists[SLOTS_REDUCE]) / reduces : 0,
    };
    slots_phases_arrived(&fresh->phases, index, true);
}

static void fresh_maps_ended(void *state, size_t index)
{
    struct fresh_policy *fresh = state;
    struct fresh_job *job = &fresh->jobs[index];
    fresh->tallied = false;
    *fresh->view->looked_through += fresh->members[SLOTS_MAP].n;
    remove_member(&fresh->members[SLOTS_MAP], index);
    job->phase = FRESH_PENDING;
    compensated_sum_add(&fresh->waiting_s, fresh_reduce_work_s(job));
    slots_phases_maps_ended(&fresh->phases, index, job->reduces > 0);
}

static void fresh_job_ended(void *state, size_t index)
{
    struct fresh_policy *fresh = state;
    fresh->tallied = false;
    *fresh->view->looked_through += fresh->members[SLOTS_REDUCE].n;
    if (fresh->jobs[index].phase == FRESH_REDUCE)
        remove_member(&fresh->members[SLOTS_REDUCE], index);
    slots_phases_job_ended(&fresh->phases, index);
}

/* The time that the job's tasks have held slots, up to now. */
static void count_time(struct fresh_policy *fresh, size_t index)
{
    struct fresh_job *job = &fresh->jobs[index];
    double held = (double)(job->maps_running + job->reduces_running);
    job->task_time_s += held * (fresh->view->now_s - fresh->counted_s[index]);
    fresh->counted_s[index] = fresh->view->now_s;
}

/* A slot was given. What the tally holds of the job is kept true, but for who else has tasks pending
 * when it has none any more. */
static void keep_tally(struct fresh_policy *fresh, enum slots_kind kind, size_t index)
{
    const struct fresh_job *job = &fresh->jobs[index];
    struct fresh_tally *tally = &fresh->tally;
    if (fresh->view->counts[index].pending[kind] == 0)
        fresh->tallied = false;
    else if (kind == SLOTS_REDUCE)
        tally->reduce_ends_per_s += 1 / job->reduce_task_s;
    else if (index == tally->first)
        tally->first_running = job->maps_running;
}

static void fresh_changed(void *state, enum slots_kind kind, size_t index)
{
    struct fresh_policy *fresh = state;
    const struct slots_counts *counts = &fresh->view->counts[index];
    struct fresh_job *job = &fresh->jobs[index];
    bool maps = kind == SLOTS_MAP;
    size_t *running = maps ? &job->maps_running : &job->reduces_running;
    size_t *finished = maps ? &job->maps_finished : &job->reduces_finished;
    bool given = counts->held[kind] == *running + 1 && counts->finished[kind] == *finished;
    count_time(fresh, index);
    if (maps)
        fresh->slots.map_slots += counts->held[kind] - *running;
    *running = counts->held[kind];
    if (given) {
        keep_tally(fresh, kind, index);
        return;
    }
    fresh->tallied = false;
    *finished = counts->finished[kind];
    if (*finished > 0)
        *(maps ? &job->map_task_s : &job->reduce_task_s) =
            counts->finished_s[kind] / (double)*finished;
}

/* --- the decision --- */

static void take_tally(struct fresh_policy *fresh)
{
    size_t next = slots_phases_next(&fresh->phases, SLOTS_MAP);
    fresh->tally = fresh_tally_begin(fresh->view->now_s);
    fresh->tally.reduce_work_s = compensated_sum_value(&fresh->waiting_s);
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        for (size_t i = 0; i < fresh->members[kind].n; i++) {
            size_t index = fresh->members[kind].jobs[i];
            count_time(fresh, index);
            fresh_tally_add(&fresh->tally, index, &fresh->jobs[index]);
        }
    *fresh->view->looked_through += fresh->members[SLOTS_MAP].n + fresh->members[SLOTS_REDUCE].n;
    fresh->slots.next_map_work_s = next != SLOTS_NOBODY ? fresh_map_work_s(&fresh->jobs[next]) : 0;
    fresh->tallied = true;
}

static size_t fresh_choose(void *state, enum slots_kind *kind)
{
    struct fresh_policy *fresh = state;
    struct fresh_figures figures;
    if (!fresh->tallied || fresh->tally.now_s != fresh->view->now_s)
        take_tally(fresh);
    struct fresh_action action =
        fresh_decide(&fresh->terms, &fresh->slots, &fresh->tally, &figures);
    *kind = action.kind;
    return action.job;
}

/* Those in either phase: what they have consumed changes all the time. */
static size_t
fresh_looked_through(const struct slots_cluster *cluster, const struct slots_terms *terms, size_t n)
{
    (void)cluster;
    return terms->concurrency < n ? terms->concurrency : n;
}

const struct slots_policy slots_policy_fresh = {
    .name = "fresh",
    .container_order = SLOTS_ALIKE,
    .begin = fresh_begin,
    .arrived = fresh_arrived,
    .maps_ended = fresh_maps_ended,
    .job_ended = fresh_job_ended,
    .changed = fresh_changed,
    .choose_shared = fresh_choose,
    .looked_through = fresh_looked_through,
    .looked_through_free = 200,
};
