#include "core/control/stages.h"

#include <assert.h>
#include <math.h>

#include "base/rounding.h"
#include "core/deadline/core_quantum.h"
#include "core/deadline/stage_plan.h"

static size_t executor_of(const struct control_state *state, size_t stage, size_t worker)
{
    return stage * state->model->cluster.workers + worker;
}

/* --- the beginning --- */

/* The stage's tasks are dealt to the workers in turn. Which one is first differs from stage to
 * stage, so that small stages do not all run on the same one. */
static bool deal_tasks(struct control_state *state, size_t s, struct arena *arena)
{
    const struct control_cluster *cluster = &state->model->cluster;
    size_t tasks = state->model->plan.stages[s].tasks;
    for (size_t w = 0; w < cluster->workers; w++) {
        struct control_executor *executor = &state->executors[executor_of(state, s, w)];
        size_t first = (w + cluster->workers - s % cluster->workers) % cluster->workers;
        executor->first = first;
        executor->tasks = tasks > first ? 1 + (tasks - first - 1) / cluster->workers : 0;
        size_t most = executor->tasks < cluster->cores ? executor->tasks : cluster->cores;
        if (!heap_init(&executor->running, arena, most))
            return false;
    }
    return true;
}

static bool schedule_releases(struct control_state *state)
{
    state->first_s = control_model_start_s(state->model);
    for (size_t j = 0; j < state->model->plan.n_jobs; j++) {
        const struct event release = {state->model->plan.jobs[j].release_s, CONTROL_RELEASE, j};
        if (event_queue_schedule(&state->queue, &release) == 0)
            return false;
    }
    state->clock.now_s = state->first_s;
    return true;
}

bool control_state_init(struct control_state *state,
                        const struct control_model *model,
                        struct control_trace *trace,
                        struct arena *arena)
{
    const struct edf_plan *plan = &model->plan;
    *state = (struct control_state){.model = model, .jobs_left = plan->n_jobs, .trace = trace};
    state->executors =
        arena_calloc(arena, plan->n_stages * model->cluster.workers, sizeof *state->executors);
    state->stages = arena_calloc(arena, plan->n_stages, sizeof *state->stages);
    state->jobs = arena_calloc(arena, plan->n_jobs, sizeof *state->jobs);
    state->live = arena_array(arena, plan->n_stages, sizeof *state->live);
    if (state->executors == NULL || state->stages == NULL || state->jobs == NULL ||
        state->live == NULL || !heap_init(&state->opening, arena, plan->n_stages) ||
        !event_queue_init(&state->queue, arena))
        return false;
    for (size_t j = 0; j < plan->n_jobs; j++)
        state->jobs[j].stages_left = plan->jobs[j].n_stages;
    for (size_t s = 0; s < plan->n_stages; s++) {
        struct control_job_state *job = &state->jobs[plan->stages[s].job];
        state->stages[s].parents_left = plan->stages[s].n_parents;
        job->to_plan += model->planned_s[s] > 0;
        job->to_plan_s += model->planned_s[s];
        if (!deal_tasks(state, s, arena))
            return false;
    }
    return schedule_releases(state);
}

/* --- what is recorded --- */

static void
add_stage(const struct control_state *state, size_t s, double *requested, double *granted)
{
    for (size_t w = 0; w < state->model->cluster.workers; w++) {
        const struct control_executor *executor = &state->executors[executor_of(state, s, w)];
        *requested += executor->requested;
        *granted += executor->cores;
    }
}

static void record_job(struct control_state *state, size_t job)
{
    double requested = 0;
    double granted = 0;
    if (state->trace == NULL)
        return;
    for (size_t i = 0; i < state->n_live; i++)
        if (state->model->plan.stages[state->live[i]].job == job)
            add_stage(state, state->live[i], &requested, &granted);
    control_trace_set(state->trace, job, state->clock.now_s, requested, granted);
}

void control_state_record(struct control_state *state)
{
    for (size_t i = 0; state->trace != NULL && i < state->n_live;) {
        size_t job = state->model->plan.stages[state->live[i]].job;
        double requested = 0;
        double granted = 0;
        for (; i < state->n_live && state->model->plan.stages[state->live[i]].job == job; i++)
            add_stage(state, state->live[i], &requested, &granted);
        control_trace_set(state->trace, job, state->clock.now_s, requested, granted);
    }
}

/* --- quotas --- */

static void advance(struct control_state *state, size_t index)
{
    size_t stage = index / state->model->cluster.workers;
    state->jobs[state->model->plan.stages[stage].job].core_s +=
        control_executor_advance(&state->executors[index], state->clock.now_s);
}

static struct control_work work_of(const struct control_state *state, size_t index)
{
    size_t workers = state->model->cluster.workers;
    return (struct control_work){&state->model->plan.stages[index / workers], workers};
}

/* Its event, which is still to come, goes where it now belongs. */
static void move_ending(struct control_state *state, size_t index)
{
    const struct control_executor *executor = &state->executors[index];
    bool moved = event_queue_move(&state->queue, executor->ending,
                                  fmax(state->clock.now_s, control_executor_next_s(executor)));
    assert(moved || executor->completed == executor->tasks);
    (void)moved;
}

void control_state_resize(struct control_state *state, size_t index, double cores)
{
    struct control_executor *executor = &state->executors[index];
    const struct control_work work = work_of(state, index);
    if (executor->cores == cores)
        return;
    advance(state, index);
    control_executor_resize(executor, &work, cores);
    control_state_follow_wait(state, index);
    if (executor->completed < executor->tasks)
        move_ending(state, index);
}

void control_state_follow_wait(struct control_state *state, size_t index)
{
    struct control_executor *executor = &state->executors[index];
    struct control_job_state *job =
        &state->jobs[state->model->plan.stages[index / state->model->cluster.workers].job];
    bool open = executor->completed < executor->tasks;
    bool wants = open && executor->requested > 0;
    bool has = open && executor->cores > 0;
    if (wants == executor->wants && has == executor->has)
        return;
    job->wanting += (uint32_t)wants - (uint32_t)executor->wants;
    job->served += (uint32_t)has - (uint32_t)executor->has;
    executor->wants = wants;
    executor->has = has;
    bool waits = job->wanting > 0 && job->served == 0;
    if (waits && !job->waits)
        job->waits_since_s = state->clock.now_s;
    if (!waits && job->waits)
        job->longest_wait_s = fmax(job->longest_wait_s, state->clock.now_s - job->waits_since_s);
    job->waits = waits;
}

/* What of a worker's cores nobody has, nor will have by grants that are on their way. */
static double cores_left(const struct control_state *state, size_t worker)
{
    double left = (double)state->model->cluster.cores;
    for (size_t i = 0; i < state->n_live; i++) {
        const struct control_executor *executor =
            &state->executors[executor_of(state, state->live[i], worker)];
        left -= fmax(executor->cores, executor->decided);
    }
    return left;
}

/* --- stages --- */

static bool sample_soon(struct control_state *state)
{
    double sample_s = state->model->options.controller.sample_s;
    if (state->sampling)
        return true;
    state->slot = sim_clock_slot(state->clock.now_s - state->first_s, sample_s);
    const struct event sample = {fmax(state->clock.now_s, state->first_s + state->slot * sample_s),
                                 CONTROL_SAMPLE, 0};
    state->sampling = true;
    return event_queue_schedule(&state->queue, &sample) != 0;
}

static bool begin_executor(struct control_state *state, size_t s, size_t worker, double initial)
{
    size_t index = executor_of(state, s, worker);
    struct control_executor *executor = &state->executors[index];
    double quantum = state->model->options.controller.core_quantum;
    double units = rounding_floor(fmin(initial, cores_left(state, worker)) / quantum);
    double now_s = state->clock.now_s;
    const struct event ending = {HUGE_VAL, CONTROL_TASK_ENDS, index};
    executor->integral_cores = initial;
    executor->sampled_s = executor->updated_s = now_s;
    executor->ending = event_queue_schedule(&state->queue, &ending);
    if (executor->ending == 0)
        return false;
    executor->decided = core_quanta(fmax(0, units), quantum);
    executor->requested = initial;
    control_state_resize(state, index, executor->decided);
    control_state_follow_wait(state, index);
    return true;
}

static void go_live(struct control_state *state, uint32_t s)
{
    size_t at = state->n_live++;
    for (; at > 0 && state->live[at - 1] > s; at--)
        state->live[at] = state->live[at - 1];
    state->live[at] = s;
}

/* The share of what is left of the deadline that the stage gets, and the cores for that. */
static void plan_stage(struct control_state *state, uint32_t s, struct stage_plan_step *step)
{
    const struct control_model *model = state->model;
    size_t j = model->plan.stages[s].job;
    struct control_job_state *job = &state->jobs[j];
    const struct stage_plan_terms terms = {.deadline_s = model->actual[j].deadline_s,
                                           .alpha = model->jobs[j].alpha,
                                           .beta = model->options.beta,
                                           .overscale = model->options.overscale,
                                           .core_quantum = model->options.controller.core_quantum,
                                           .executors = (double)model->cluster.workers,
                                           .cores_per_executor = (double)model->cluster.cores};
    const struct stage_plan_stage stage = {.duration_s = model->planned_s[s],
                                           .input_records = (double)NAN,
                                           .nominal_rate_per_s = (double)NAN,
                                           .pinned_cores = (double)NAN,
                                           .pinned_deadline_s = (double)NAN};
    double weight = stage_weight(job->to_plan, fmax(job->to_plan_s, stage.duration_s),
                                 stage.duration_s, model->options.beta);
    stage_plan_step_make(&terms, &stage, weight, state->clock.now_s - model->actual[j].release_s,
                         step);
    job->to_plan -= 1;
    job->to_plan_s -= stage.duration_s;
}

static bool begin_stage(struct control_state *state, uint32_t s)
{
    struct control_stage_state *stage = &state->stages[s];
    struct stage_plan_step step;
    plan_stage(state, s, &step);
    stage->started_s = state->clock.now_s;
    stage->deadline_s = step.deadline_s;
    if (state->trace != NULL)
        state->trace->stages[s] =
            (struct control_trace_stage){stage->started_s, stage->deadline_s, (double)NAN};
    for (size_t w = 0; w < state->model->cluster.workers; w++) {
        if (state->executors[executor_of(state, s, w)].tasks == 0)
            continue;
        stage->executors_left++;
        if (!begin_executor(state, s, w, step.initial_cores_per_executor))
            return false;
    }
    go_live(state, s);
    record_job(state, state->model->plan.stages[s].job);
    return sample_soon(state);
}

static void open_stage(struct control_state *state, uint32_t s)
{
    heap_push(&state->opening, state->model->plan.stages[s].order_in_job, s);
}

/* Its parents have ended, or its job is released: it may begin once its delay has passed. */
static bool await_delay(struct control_state *state, uint32_t s)
{
    const double delay_s = state->model->plan.stages[s].delay_s;
    const struct event passed = {state->clock.now_s + delay_s, CONTROL_DELAYED, s};
    if (delay_s > 0)
        return event_queue_schedule(&state->queue, &passed) != 0;
    open_stage(state, s);
    return true;
}

/* Its children may begin that waited for nothing else. */
static bool pass_on(struct control_state *state, uint32_t s)
{
    const struct edf_plan_stage *stage = &state->model->plan.stages[s];
    struct control_job_state *job = &state->jobs[stage->job];
    if (--job->stages_left == 0) {
        job->completed_s = state->clock.now_s;
        state->jobs_left--;
    }
    for (size_t c = stage[0].first_child; c < stage[1].first_child; c++) {
        uint32_t child = state->model->plan.children[c];
        if (--state->stages[child].parents_left == 0 && !await_delay(state, child))
            return false;
    }
    return true;
}

/* Begin what may, in order of the stages' ids. A stage that takes no time ends where it begins. */
static bool begin_opened(struct control_state *state)
{
    while (state->opening.n > 0) {
        uint32_t s = (uint32_t)heap_pop(&state->opening).value;
        bool passed = state->model->planned_s[s] > 0 ? begin_stage(state, s) : pass_on(state, s);
        if (!passed)
            return false;
    }
    return true;
}

bool control_state_release(struct control_state *state, size_t j)
{
    const struct edf_plan_job *job = &state->model->plan.jobs[j];
    for (uint32_t s = job->first_stage; s < job->first_stage + job->n_stages; s++)
        if (state->stages[s].parents_left == 0 && !await_delay(state, s))
            return false;
    return begin_opened(state);
}

bool control_state_delayed(struct control_state *state, uint32_t s)
{
    open_stage(state, s);
    return begin_opened(state);
}

static bool end_stage(struct control_state *state, uint32_t s)
{
    size_t at = 0;
    for (size_t w = 0; w < state->model->cluster.workers; w++) {
        size_t index = executor_of(state, s, w);
        if (state->executors[index].tasks > 0)
            advance(state, index);
    }
    while (state->live[at] != s)
        at++;
    state->n_live--;
    for (; at < state->n_live; at++)
        state->live[at] = state->live[at + 1];
    if (state->trace != NULL)
        state->trace->stages[s].ended_s = state->clock.now_s;
    record_job(state, state->model->plan.stages[s].job);
    return pass_on(state, s) && begin_opened(state);
}

bool control_state_task_ends(struct control_state *state, size_t index)
{
    struct control_executor *executor = &state->executors[index];
    size_t s = index / state->model->cluster.workers;
    const struct control_work work = work_of(state, index);
    advance(state, index);
    control_executor_complete(executor, &work);
    if (executor->completed == executor->tasks) {
        control_state_follow_wait(state, index);
        return --state->stages[s].executors_left > 0 || end_stage(state, (uint32_t)s);
    }
    const struct event ending = {fmax(state->clock.now_s, control_executor_next_s(executor)),
                                 CONTROL_TASK_ENDS, index};
    executor->ending = event_queue_schedule(&state->queue, &ending);
    return executor->ending != 0;
}
