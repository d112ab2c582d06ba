#include "core/geosim/engine.h"

#include <math.h>

#include "core/geosim/draws.h"
#include "core/geosim/planner_adapter.h"

struct engine {
    const struct geosim_parameters *parameters;
    struct sim_state state;
    struct planner_adapter adapter;
    double slot;                /* of the clock */
    size_t next_arrival;        /* workflow */
    struct event_queue changes; /* slots in which outages begin or end; about: the cluster */
    bool changed;               /* since the last plan, so that another may do something */
    bool progressed;            /* the last plan moved something */
    double *flow_s;
    double last_s; /* end of the last workflow */
};

struct geosim_parameters geosim_parameters_default(const struct geo_planner *planner)
{
    return (struct geosim_parameters){.planner = geo_parameters_default(planner),
                                      .clone_running = true,
                                      .points = 8,
                                      .horizon_s = HUGE_VAL};
}

static const struct geosim_world *world_of(const struct engine *engine)
{
    return engine->state.world;
}

static double slot_of(const struct engine *engine, double at_s)
{
    return sim_clock_slot(at_s, world_of(engine)->slot_s);
}

/* --- what happens at the beginning of a slot --- */

static bool complete_copies(struct engine *engine)
{
    struct sim_state *state = &engine->state;
    double ends_s;
    uint32_t copy;
    while (sim_state_next_completion(state, &ends_s, &copy) &&
           slot_of(engine, ends_s) <= engine->slot) {
        uint32_t workflow = state->tasks[state->copies.items[copy].task].workflow;
        bool last;
        if (!sim_state_complete(state, copy, &last))
            return false;
        engine->changed = true;
        if (!last)
            continue;
        engine->last_s = fmax(engine->last_s, ends_s);
        engine->flow_s[workflow] = ends_s - state->workload->workflows[workflow].arrives_s;
    }
    return true;
}

static bool schedule_change(struct engine *engine, double slot, size_t cluster)
{
    const struct event change = {.at = slot, .kind = (uint32_t)cluster, .about = cluster};
    return event_queue_schedule(&engine->changes, &change) != 0;
}

/* The cluster's next outage, which could begin in slot `from`. */
static bool schedule_outage(struct engine *engine, size_t cluster, double from)
{
    double slots = draw_slots_until_outage(
        engine->state.seed, cluster, engine->state.clusters[cluster].outages,
        world_of(engine)->clusters[cluster].unreachable_probability);
    return !isfinite(slots) || schedule_change(engine, from + slots, cluster);
}

static bool change_clusters(struct engine *engine)
{
    struct sim_state *state = &engine->state;
    double length = fmax(1, slot_of(engine, world_of(engine)->outage_s));
    size_t lost = state->counts.lost;
    const struct event *next;
    bool ok = true;
    while (ok && (next = event_queue_next(&engine->changes)) != NULL && next->at <= engine->slot) {
        struct event change;
        (void)event_queue_pop(&engine->changes, &change);
        size_t cluster = (size_t)change.about;
        if (state->clusters[cluster].down) {
            engine->changed = true;
            sim_state_end_outage(state, cluster);
            ok = schedule_outage(engine, cluster, change.at);
        } else {
            sim_state_begin_outage(state, cluster);
            ok = schedule_change(engine, change.at + length, cluster);
        }
    }
    engine->changed |= state->counts.lost > lost;
    return ok;
}

static bool take_arrivals(struct engine *engine)
{
    const struct geosim_workload *workload = engine->state.workload;
    while (engine->next_arrival < workload->n_workflows &&
           slot_of(engine, workload->workflows[engine->next_arrival].arrives_s) <= engine->slot) {
        engine->changed = true;
        if (!sim_state_arrive(&engine->state, engine->next_arrival++))
            return false;
    }
    return true;
}

static enum pv_code plan(struct engine *engine, struct pv_error *err)
{
    bool again = engine->progressed && planner_adapter_repeats(&engine->adapter);
    size_t moves = 0;
    enum pv_code code = PV_OK;
    if ((engine->changed || again || planner_adapter_observes_time(&engine->adapter)) &&
        planner_adapter_is_due(&engine->adapter)) {
        code = planner_adapter_plan(&engine->adapter, &moves, err);
        engine->changed = false;
    }
    engine->progressed = moves > 0;
    return code;
}

/* --- from slot to slot --- */

/* The next one in which something can change. HUGE_VAL: none. */
static double find_next_slot(struct engine *engine)
{
    const struct geosim_workload *workload = engine->state.workload;
    double next = HUGE_VAL;
    double ends_s;
    uint32_t copy;
    bool alive = engine->state.n_alive > 0;
    if (alive && (planner_adapter_observes_time(&engine->adapter) ||
                  (engine->progressed && planner_adapter_repeats(&engine->adapter))))
        return engine->slot + 1;
    if (sim_state_next_completion(&engine->state, &ends_s, &copy))
        next = slot_of(engine, ends_s);
    if (engine->next_arrival < workload->n_workflows)
        next = fmin(next, slot_of(engine, workload->workflows[engine->next_arrival].arrives_s));
    const struct event *change = event_queue_next(&engine->changes);
    if (change != NULL && (alive || next < HUGE_VAL))
        next = fmin(next, change->at);
    return next;
}

/* Nothing runs, nobody comes, and no plan would start anything even if every cluster were up: what
 * is left never ends. */
static enum pv_code look_for_end(struct engine *engine, bool *over, struct pv_error *err)
{
    bool starts = true;
    enum pv_code code = PV_OK;
    if (engine->state.running == 0 && engine->state.n_alive > 0 &&
        engine->next_arrival == engine->state.workload->n_workflows)
        code = planner_adapter_what_if_up(&engine->adapter, &starts, err);
    *over = !starts || engine->state.counts.finished == engine->state.workload->n_workflows;
    return code;
}

static enum pv_code run_slot(struct engine *engine, struct pv_error *err)
{
    sim_clock_advance(&engine->state.clock, engine->slot * world_of(engine)->slot_s);
    if (!complete_copies(engine) || !change_clusters(engine) || !take_arrivals(engine))
        return pv_no_memory(err);
    return plan(engine, err);
}

static enum pv_code
live(struct engine *engine, const struct geosim_progress *progress, struct pv_error *err)
{
    size_t all = engine->state.workload->n_workflows;
    double horizon = engine->parameters->horizon_s / world_of(engine)->slot_s;
    bool over = all == 0;
    enum pv_code code = PV_OK;
    for (size_t turn = 0; code == PV_OK && !over; turn++) {
        if (turn > 0)
            engine->slot = find_next_slot(engine);
        if (engine->slot > horizon) {
            sim_clock_advance(&engine->state.clock,
                              fmax(engine->parameters->horizon_s, engine->state.clock.now_s));
            break;
        }
        code = run_slot(engine, err);
        if (code == PV_OK)
            code = look_for_end(engine, &over, err);
        if (code == PV_OK && progress != NULL &&
            !progress->report(progress->context, engine->state.counts.finished, all))
            code = pv_fail(err, PV_E_CANCELLED, "the simulation was cancelled");
    }
    return code;
}

/* --- before and after --- */

static bool open_engine(struct engine *engine)
{
    struct sim_state *state = &engine->state;
    size_t clusters = state->world->n_clusters;
    size_t n = state->workload->n_workflows;
    bool ok = sim_state_init(state);
    ok = planner_adapter_open(&engine->adapter) && ok;
    ok = event_queue_init(&engine->changes, state->arena) && ok;
    engine->flow_s = arena_array(state->arena, n, sizeof *engine->flow_s);
    if (!ok || engine->flow_s == NULL)
        return false;
    for (size_t m = 0; ok && m < clusters; m++)
        ok = schedule_outage(engine, m, 0);
    for (size_t w = 0; w < n; w++)
        engine->flow_s[w] = (double)NAN;
    return ok;
}

/* What is still running at the horizon counts as far as it has come. */
static bool report_result(const struct engine *engine, struct geosim_result *result)
{
    const struct sim_state *state = &engine->state;
    const struct geosim_workload *workload = state->workload;
    size_t n = state->world->n_clusters;
    double slots = 0;
    double busy = 0;
    double first = workload->n_workflows > 0 ? workload->workflows[0].arrives_s : 0;
    double span = state->clock.now_s - first;
    double *busy_s = arena_array(state->arena, n, sizeof *busy_s);
    if (busy_s == NULL)
        return false;
    for (size_t m = 0; m < n; m++) {
        const struct cluster_state *cluster = &state->clusters[m];
        busy_s[m] = cluster->busy_s;
        for (uint32_t at = cluster->copies; at != SIM_STATE_NONE;
             at = state->copies.items[at].after)
            busy_s[m] += state->clock.now_s - state->copies.items[at].began_s;
        busy += busy_s[m];
        slots += (double)state->world->clusters[m].slots;
    }
    *result =
        (struct geosim_result){.flow_s = engine->flow_s,
                               .busy_s = busy_s,
                               .counts = state->counts,
                               .ended_s = state->n_alive > 0 ? state->clock.now_s : engine->last_s,
                               .utilization = span > 0 ? busy / (slots * span) : 0,
                               .useful = busy > 0 ? state->useful_s / busy : (double)NAN};
    return true;
}

enum pv_code geosim_run(const struct geosim_world *world,
                        const struct geosim_workload *workload,
                        const struct geosim_parameters *parameters,
                        uint64_t seed,
                        const struct geosim_progress *progress,
                        struct arena *arena,
                        struct geosim_result *result,
                        struct pv_error *err)
{
    struct engine engine = {
        .parameters = parameters,
        .state = {.world = world, .workload = workload, .seed = seed, .arena = arena}};
    engine.adapter.parameters = parameters;
    engine.adapter.state = &engine.state;
    engine.adapter.progress = progress;
    enum pv_code code = PV_OK;
    if (!open_engine(&engine))
        code = pv_no_memory(err);
    if (code == PV_OK)
        code = live(&engine, progress, err);
    if (code == PV_OK && !report_result(&engine, result))
        code = pv_no_memory(err);
    planner_adapter_close(&engine.adapter);
    return code;
}
