/*
 * The control simulation's loop of events (core/sim/sim.h). Samples are taken at multiples of the
 * sampling time from the first release on, while some stage runs; on every worker the controllers
 * of its executors ask and its supervisor grants.
 */
#include <math.h>

#include "core/control/simulation.h"
#include "core/control/stages.h"
#include "core/control/supervisor.h"

/* Steps and events, together, between two reports: less than a millisecond. */
static const double REPORT_EVERY = 4096;

struct engine {
    struct control_state state;
    const struct control_run *run;
    struct supervisor_terms terms;
    struct arena *scratch;
    size_t *asking; /* executors of the worker at hand */
    struct contention_application *applications;
    struct control_request *requests;
    double *cores;
    double steps;
    size_t tasks; /* that have ended */
};

/* What the executor's controller asks for, as the supervisor sees it. */
static void ask(struct engine *engine, size_t index, size_t at)
{
    struct control_state *state = &engine->state;
    const struct control_model *model = state->model;
    struct control_executor *executor = &state->executors[index];
    size_t s = index / model->cluster.workers;
    size_t j = model->plan.stages[s].job;
    const struct control_reading reading = {.elapsed_s =
                                                state->clock.now_s - state->stages[s].started_s,
                                            .deadline_s = state->stages[s].deadline_s,
                                            .since_s = state->clock.now_s - executor->sampled_s,
                                            .tasks = (double)executor->tasks,
                                            .completed = (double)executor->completed,
                                            .integral_cores = executor->integral_cores,
                                            .worker_cores = (double)model->cluster.cores};
    engine->asking[at] = index;
    engine->requests[at] = control_ask(&model->options.controller, &reading);
    engine->applications[at] = (struct contention_application){
        .requested_cores = engine->requests[at].cores,
        .time_to_complete_s = model->actual[j].release_s +
                              model->jobs[j].alpha * model->actual[j].deadline_s -
                              state->clock.now_s,
        .remaining_tasks = reading.tasks - reading.completed,
        .nominal_rate = model->jobs[j].nominal_rate};
    executor->requested = engine->requests[at].cores;
    executor->sampled_s = state->clock.now_s;
    control_state_follow_wait(state, index);
}

/* How far what each of n executors is granted of its request is from what all of them together are
 * of theirs. Cores beyond a request count as none. */
static void note_shares(struct engine *engine, size_t n)
{
    struct control_state *state = &engine->state;
    double requested = 0;
    double granted = 0;
    for (size_t i = 0; i < n; i++) {
        requested += engine->requests[i].cores;
        granted += fmin(engine->requests[i].cores, engine->cores[i]);
    }
    double share = requested > 0 ? granted / requested : 1;
    for (size_t i = 0; i < n; i++) {
        size_t stage = engine->asking[i] / state->model->cluster.workers;
        struct control_job_state *job = &state->jobs[state->model->plan.stages[stage].job];
        double own = engine->requests[i].cores;
        job->requested += own;
        job->share_deviation += fabs(fmin(own, engine->cores[i]) - share * own);
    }
}

static enum pv_code sample_worker(struct engine *engine, size_t worker, struct pv_error *err)
{
    struct control_state *state = &engine->state;
    size_t workers = state->model->cluster.workers;
    struct contention_outcome outcome;
    size_t n = 0;
    for (size_t i = 0; i < state->n_live; i++) {
        size_t index = state->live[i] * workers + worker;
        if (state->executors[index].tasks > 0)
            ask(engine, index, n++);
    }
    PV_TRY(supervisor_grant(&engine->terms, engine->applications, n, engine->scratch, engine->cores,
                            &outcome, err));
    for (size_t i = 0; i < n; i++) {
        struct control_executor *executor = &state->executors[engine->asking[i]];
        executor->decided = engine->cores[i];
        executor->sampled = true;
        executor->integral_cores = control_integral(engine->cores[i], &engine->requests[i]);
    }
    note_shares(engine, n);
    engine->steps += (double)n;
    return PV_OK;
}

/* What the last sample granted has effect. Executors that are younger keep their initial cores. */
static void apply_grants(struct engine *engine)
{
    struct control_state *state = &engine->state;
    size_t workers = state->model->cluster.workers;
    for (size_t i = 0; i < state->n_live; i++)
        for (size_t w = 0; w < workers; w++) {
            size_t index = state->live[i] * workers + w;
            const struct control_executor *executor = &state->executors[index];
            if (executor->sampled)
                control_state_resize(state, index, executor->decided);
        }
    control_state_record(state);
}

static enum pv_code take_sample(struct engine *engine, struct pv_error *err)
{
    struct control_state *state = &engine->state;
    const struct control_options *options = &state->model->options;
    double delay_s = options->actuation_delay_s;
    state->sampling = false;
    for (size_t w = 0; w < state->model->cluster.workers && state->n_live > 0; w++)
        PV_TRY(sample_worker(engine, w, err));
    const struct event grants = {state->clock.now_s + delay_s, CONTROL_GRANTS, 0};
    if (!(delay_s > 0))
        apply_grants(engine);
    else if (event_queue_schedule(&state->queue, &grants) == 0)
        return pv_no_memory(err);
    else
        control_state_record(state);
    if (state->n_live == 0)
        return PV_OK;
    state->slot += 1;
    /* Later by the least there is where the sampling time is less than that: else time would stop
     * here. */
    const struct event next = {fmax(nextafter(state->clock.now_s, HUGE_VAL),
                                    state->first_s + state->slot * options->controller.sample_s),
                               CONTROL_SAMPLE, 0};
    state->sampling = true;
    return event_queue_schedule(&state->queue, &next) != 0 ? PV_OK : pv_no_memory(err);
}

static enum pv_code happen(struct engine *engine, const struct event *event, struct pv_error *err)
{
    struct control_state *state = &engine->state;
    size_t before;
    switch ((enum control_event)event->kind) {
    case CONTROL_TASK_ENDS:
        before = state->executors[event->about].completed;
        if (!control_state_task_ends(state, event->about))
            return pv_no_memory(err);
        engine->tasks += state->executors[event->about].completed - before;
        engine->steps += (double)(state->executors[event->about].completed - before);
        return PV_OK;
    case CONTROL_RELEASE:
        return control_state_release(state, event->about) ? PV_OK : pv_no_memory(err);
    case CONTROL_DELAYED:
        return control_state_delayed(state, (uint32_t)event->about) ? PV_OK : pv_no_memory(err);
    case CONTROL_GRANTS:
        apply_grants(engine);
        return PV_OK;
    case CONTROL_SAMPLE:
        return take_sample(engine, err);
    }
    return PV_OK;
}

static enum pv_code
work_through(struct engine *engine, const struct control_progress *progress, struct pv_error *err)
{
    struct event event;
    double reported = 0;
    for (double n = 1; engine->state.jobs_left > 0; n++) {
        if (!event_queue_pop(&engine->state.queue, &event) || event.at == HUGE_VAL)
            return pv_fail(err, PV_E_INTERNAL, "a control simulation came to a standstill");
        sim_clock_advance(&engine->state.clock, event.at);
        PV_TRY(happen(engine, &event, err));
        if (engine->steps > engine->run->steps_max)
            return pv_fail(err, PV_E_LIMIT, "a control simulation takes more steps than it may");
        if (progress == NULL || n + engine->steps < reported + REPORT_EVERY)
            continue;
        reported = n + engine->steps;
        if (!progress->report(progress->context, engine->tasks))
            return pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    }
    return PV_OK;
}

static bool engine_init(struct engine *engine,
                        const struct control_model *model,
                        const struct control_run *run,
                        struct control_trace *trace,
                        struct arena *scratch)
{
    size_t most = model->plan.n_stages;
    *engine = (struct engine){.run = run,
                              .scratch = scratch,
                              .terms = {.strategy = run->strategy,
                                        .gamma = run->gamma,
                                        .average_nominal_rate = model->options.average_nominal_rate,
                                        .worker_cores = (double)model->cluster.cores,
                                        .core_quantum = model->options.controller.core_quantum}};
    engine->asking = arena_array(scratch, most, sizeof *engine->asking);
    engine->applications = arena_array(scratch, most, sizeof *engine->applications);
    engine->requests = arena_array(scratch, most, sizeof *engine->requests);
    engine->cores = arena_array(scratch, most, sizeof *engine->cores);
    return engine->asking != NULL && engine->applications != NULL && engine->requests != NULL &&
           engine->cores != NULL && control_state_init(&engine->state, model, trace, scratch);
}

static void conclude(const struct engine *engine, struct control_result *result)
{
    const struct control_model *model = engine->state.model;
    size_t n = model->plan.n_jobs;
    for (size_t j = 0; j < n; j++) {
        const struct control_job_state *job = &engine->state.jobs[j];
        edf_judge(&model->actual[j], job->completed_s, &result->outcomes[j]);
        result->core_s[j] = job->core_s;
        result->longest_wait_s[j] = job->longest_wait_s;
        result->share_deviation[j] =
            job->requested > 0 ? fmin(1, job->share_deviation / job->requested) : 0;
    }
    edf_measure(model->actual, n, model->cluster.workers * model->cluster.cores, model->plan.work_s,
                result->outcomes, &result->metrics);
    result->steps = engine->steps;
    if (engine->state.trace != NULL)
        control_trace_end(engine->state.trace, engine->state.clock.now_s);
}

enum pv_code control_simulate(const struct control_model *model,
                              const struct control_run *run,
                              const struct control_progress *progress,
                              struct control_trace *trace,
                              struct arena *arena,
                              struct arena *scratch,
                              struct control_result *result,
                              struct pv_error *err)
{
    struct engine engine;
    size_t n = model->plan.n_jobs;
    result->outcomes = arena_array(arena, n, sizeof *result->outcomes);
    result->core_s = arena_array(arena, n, sizeof *result->core_s);
    result->longest_wait_s = arena_array(arena, n, sizeof *result->longest_wait_s);
    result->share_deviation = arena_array(arena, n, sizeof *result->share_deviation);
    if (result->outcomes == NULL || result->core_s == NULL || result->longest_wait_s == NULL ||
        result->share_deviation == NULL)
        return pv_no_memory(err);
    struct arena_mark mark = arena_mark(scratch);
    enum pv_code code = engine_init(&engine, model, run, trace, scratch)
                            ? work_through(&engine, progress, err)
                            : pv_no_memory(err);
    if (code == PV_OK)
        conclude(&engine, result);
    arena_rewind(scratch, mark);
    return code;
}
