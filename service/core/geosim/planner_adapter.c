#include "core/geosim/planner_adapter.h"

#include <math.h>

#include "core/geo/plan_make.h"

/* What is remembered of rates is forgotten when it takes more than this. */
enum { KEPT_BYTES_MAX = 96 << 20, WORK_BYTES = 1 << 20 };

/* Longer than any task waits, and finite, as planners compute with it. */
#define FOREVER_S 1e12

static const struct geo_planner *planner_of(const struct planner_adapter *adapter)
{
    return adapter->parameters->planner.planner;
}

static bool sees_running(const struct planner_adapter *adapter)
{
    const struct geo_planner *planner = planner_of(adapter);
    return planner->observes_running_copies &&
           (adapter->parameters->clone_running || !planner->clones_running_tasks);
}

bool planner_adapter_observes_time(const struct planner_adapter *adapter)
{
    return planner_of(adapter)->observes_time;
}

bool planner_adapter_repeats(const struct planner_adapter *adapter)
{
    return planner_of(adapter)->clones_running_tasks && adapter->parameters->clone_running;
}

bool planner_adapter_is_due(const struct planner_adapter *adapter)
{
    return sees_running(adapter) ? adapter->state->n_alive > 0 : adapter->state->ready > 0;
}

/* --- what is shown --- */

static bool goes_on(void *context)
{
    const struct planner_adapter *adapter = context;
    const struct geosim_progress *progress = adapter->progress;
    return progress->report(progress->context, adapter->state->counts.finished,
                            adapter->state->workload->n_workflows);
}

static struct geo_problem show_world(const struct planner_adapter *adapter)
{
    return (struct geo_problem){.clusters = adapter->estimates.clusters,
                                .n_clusters = adapter->state->world->n_clusters,
                                .links = adapter->estimates.links,
                                .n_links = adapter->estimates.n_links,
                                .n_operations = adapter->state->workload->n_operations,
                                .slot_s = adapter->state->world->slot_s};
}

/* Gates are shown without the room that copies take which are not shown. */
static void show_clusters(struct planner_adapter *adapter)
{
    const struct sim_state *state = adapter->state;
    bool all = sees_running(adapter);
    for (size_t m = 0; m < state->world->n_clusters; m++) {
        const struct geosim_cluster *is = &state->world->clusters[m];
        const struct cluster_state *now = &state->clusters[m];
        struct geo_cluster *shown = &adapter->estimates.clusters[m];
        shown->busy_slots = now->down && !adapter->what_if_up ? is->slots : now->busy;
        shown->ingress_bytes_per_s = fmax(0, is->ingress_bytes_per_s - (all ? 0 : now->ingress));
        shown->egress_bytes_per_s = fmax(0, is->egress_bytes_per_s - (all ? 0 : now->egress));
    }
}

static bool show_copies(struct planner_adapter *adapter, uint32_t task, struct geo_task *shown)
{
    const struct sim_state *state = adapter->state;
    const struct task_state *entry = &state->tasks[task];
    struct geo_running *running = arena_array(&adapter->work, entry->n_copies, sizeof *running);
    if (running == NULL)
        return false;
    for (uint32_t at = entry->copies; at != SIM_STATE_NONE; at = state->copies.items[at].sibling) {
        const struct copy_state *copy = &state->copies.items[at];
        double elapsed = state->clock.now_s - copy->began_s;
        running[shown->n_copies++] = (struct geo_running){
            copy->cluster, elapsed, fmin(copy->pace * elapsed, shown->size_bytes)};
    }
    shown->copies = running;
    return true;
}

/* The job's open tasks that are to be seen; what they are called on the state goes to `names`. */
static bool
show_job(struct planner_adapter *adapter, uint32_t index, struct geo_job *job, uint32_t **names)
{
    const struct sim_state *state = adapter->state;
    const struct workflow_state *workflow = &state->workflows[index];
    const struct level_state *level = &workflow->levels[workflow->level];
    struct geo_task *tasks = arena_array(&adapter->work, workflow->n_open, sizeof *tasks);
    bool all = sees_running(adapter);
    *names = arena_array(&adapter->work, workflow->n_open, sizeof **names);
    if (tasks == NULL || *names == NULL)
        return false;
    *job = (struct geo_job){.tasks = tasks,
                            .stage_tasks = level->tasks,
                            .done_tasks = level->done,
                            .median_duration_s = (double)NAN,
                            .hidden_copies = all ? 0 : workflow->running};
    if (level->done > 0)
        job->median_duration_s =
            (level->durations[(level->done - 1) / 2] + level->durations[level->done / 2]) / 2;
    for (size_t i = 0; i < workflow->n_open; i++) {
        uint32_t task = workflow->open[i];
        const struct task_state *entry = &state->tasks[task];
        const struct geosim_task *is = sim_state_task(state, task);
        job->unprocessed_bytes += is->input_bytes;
        if (entry->n_copies > 0 && !all)
            continue;
        struct geo_task *shown = &tasks[job->n_tasks];
        *shown = (struct geo_task){
            .operation = is->operation,
            .size_bytes = is->input_bytes,
            .inputs = entry->inputs,
            .n_inputs = entry->n_inputs,
            .waited_s = adapter->what_if_up ? FOREVER_S : state->clock.now_s - entry->ready_s};
        if (entry->n_copies > 0 && !show_copies(adapter, task, shown))
            return false;
        (*names)[job->n_tasks++] = task;
    }
    return true;
}

/* --- what is done --- */

/* Slots and gates have the last word. false: memory. */
static bool carry_out(struct planner_adapter *adapter,
                      const struct geo_plan *plan,
                      uint32_t *const names[],
                      size_t *moves)
{
    struct sim_state *state = adapter->state;
    *moves = plan->n_cancellations;
    for (size_t i = 0; i < plan->n_cancellations; i++)
        sim_state_preempt_copy(state,
                               names[plan->cancellations[i].job][plan->cancellations[i].task],
                               plan->cancellations[i].cluster);
    for (size_t i = 0; i < plan->n_copies; i++) {
        const struct geo_plan_copy *copy = &plan->copies[i];
        uint32_t task = names[copy->job][copy->task];
        if (!sim_state_has_capacity(state, task, copy->cluster, copy->rate_bytes_per_s)) {
            state->counts.refused++;
            continue;
        }
        if (!sim_state_start_copy(state, task, copy->cluster, copy->rate_bytes_per_s))
            return false;
        ++*moves;
    }
    return true;
}

static bool refresh_rates(struct planner_adapter *adapter)
{
    const struct geo_problem problem = show_world(adapter);
    if (adapter->rates != NULL && adapter->kept.total <= KEPT_BYTES_MAX)
        return true;
    arena_fini(&adapter->kept);
    arena_init_beside(&adapter->kept, adapter->state->arena, 0);
    adapter->rates = geo_rates_make(&problem, &adapter->kept);
    return adapter->rates != NULL;
}

/* The plan lives until the next one; what its tasks are called on the state is in *names. */
static enum pv_code
ask(struct planner_adapter *adapter, struct geo_plan *plan, uint32_t ***names, struct pv_error *err)
{
    const struct sim_state *state = adapter->state;
    struct geo_problem problem = show_world(adapter);
    arena_clear(&adapter->work);
    struct geo_job *jobs = arena_array(&adapter->work, state->n_alive, sizeof *jobs);
    *names = arena_array(&adapter->work, state->n_alive, sizeof **names);
    bool ok = jobs != NULL && *names != NULL && refresh_rates(adapter);
    for (size_t j = 0; ok && j < state->n_alive; j++)
        ok = show_job(adapter, state->alive[j], &jobs[j], &(*names)[j]);
    if (!ok)
        return pv_no_memory(err);
    show_clusters(adapter);
    problem.jobs = jobs;
    problem.n_jobs = state->n_alive;
    const struct geo_interrupt interrupt = {goes_on, adapter};
    struct geo_parameters parameters = adapter->parameters->planner;
    geo_parameters_resolve(&parameters, &problem);
    return geo_plan_make(&problem, &parameters, adapter->rates,
                         adapter->progress != NULL ? &interrupt : NULL, &adapter->work, plan, err);
}

enum pv_code
planner_adapter_plan(struct planner_adapter *adapter, size_t *moves, struct pv_error *err)
{
    struct geo_plan plan;
    uint32_t **names;
    enum pv_code code = ask(adapter, &plan, &names, err);
    adapter->state->counts.plans++;
    if (code == PV_OK && !carry_out(adapter, &plan, names, moves))
        code = pv_no_memory(err);
    return code;
}

enum pv_code
planner_adapter_what_if_up(struct planner_adapter *adapter, bool *starts, struct pv_error *err)
{
    struct geo_plan plan;
    uint32_t **names;
    adapter->what_if_up = true;
    enum pv_code code = ask(adapter, &plan, &names, err);
    adapter->what_if_up = false;
    *starts = code == PV_OK && plan.n_copies > 0;
    return code;
}

/* --- */

bool planner_adapter_open(struct planner_adapter *adapter)
{
    struct sim_state *state = adapter->state;
    arena_init_beside(&adapter->kept, adapter->state->arena, 0);
    arena_init_beside(&adapter->work, state->arena, 0);
    adapter->rates = NULL;
    bool ok = arena_alloc(&adapter->work, WORK_BYTES) != NULL; /* the block that stays */
    return geosim_estimates_make(state->world, state->workload, adapter->parameters->points,
                                 state->arena, &adapter->estimates) &&
           ok;
}

void planner_adapter_close(struct planner_adapter *adapter)
{
    arena_fini(&adapter->kept);
    arena_fini(&adapter->work);
}
