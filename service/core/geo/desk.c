#include "core/geo/desk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/whole.h"

int desk_ascending(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

const struct geo_task *desk_task(const struct desk *desk, size_t job, size_t task)
{
    return &desk->problem->jobs[job].tasks[task];
}

/* --- a task's figures --- */

double desk_exemption(const struct desk *desk, double lost, double size_bytes, double rate)
{
    double slots = whole_ceil(size_bytes / rate / desk->problem->slot_s);
    return pow(1 - lost, slots);
}

bool desk_has_copy(const struct state *state, size_t cluster)
{
    for (size_t i = 0; i < state->n; i++)
        if (state->clusters[i] == cluster)
            return true;
    return false;
}

/* Chance that all clusters are lost with another copy in this one. */
double desk_lost_with(const struct desk *desk, const struct state *state, size_t cluster)
{
    return desk_has_copy(state, cluster)
               ? state->lost
               : state->lost * desk->problem->clusters[cluster].unreachable_probability;
}

double desk_rate_with(const struct desk *desk, const struct state *state, size_t cluster)
{
    struct speeds spread;
    if (state->n == 0)
        return geo_rates_mean(desk->rates, state->sort, cluster);
    geo_rates_spread(desk->rates, state->sort, cluster, &spread);
    return speeds_greatest_mean(&state->rate, &spread);
}

/* --- gates --- */

struct flow {
    size_t remote;
    double each; /* from each remote input */
};

static struct flow find_flow(const struct geo_task *task, size_t cluster, double rate)
{
    struct flow flow = {0, task->n_inputs > 0 ? rate / (double)task->n_inputs : 0};
    for (size_t i = 0; i < task->n_inputs; i++)
        flow.remote += task->inputs[i] != cluster;
    return flow;
}

static bool fits(double need, double left)
{
    return need <= left + DESK_TIE * fmax(need, fabs(left));
}

bool desk_passes_gates(const struct desk *desk,
                       const struct geo_task *task,
                       size_t cluster,
                       double rate)
{
    struct flow flow = find_flow(task, cluster, rate);
    if (flow.remote == 0)
        return true;
    if (!fits(flow.each * (double)flow.remote, desk->ingress[cluster]))
        return false;
    for (size_t i = 0; i < task->n_inputs; i++)
        if (task->inputs[i] != cluster && !fits(flow.each, desk->egress[task->inputs[i]]))
            return false;
    return true;
}

static void take_gates(struct desk *desk, const struct geo_task *task, size_t cluster, double rate)
{
    struct flow flow = find_flow(task, cluster, rate);
    if (flow.remote == 0)
        return;
    desk->ingress[cluster] -= flow.each * (double)flow.remote;
    for (size_t i = 0; i < task->n_inputs; i++)
        if (task->inputs[i] != cluster)
            desk->egress[task->inputs[i]] -= flow.each;
}

/* --- granting and ending --- */

static bool add_cluster(struct desk *desk, struct state *state, size_t cluster)
{
    if (state->n == state->room) {
        size_t room = state->room > 0 ? 2 * state->room : 4;
        size_t *grown = arena_array(desk->arena, room, sizeof *grown);
        if (!grown)
            return false;
        for (size_t i = 0; i < state->n; i++)
            grown[i] = state->clusters[i];
        state->clusters = grown;
        state->room = room;
    }
    state->clusters[state->n++] = cluster;
    return true;
}

/* The task has another copy, wherever it comes from. */
bool desk_join(struct desk *desk, const struct geo_task *task, struct state *state, size_t cluster)
{
    struct speeds spread;
    struct speeds before = state->rate;
    double rate = geo_rates_mean(desk->rates, state->sort, cluster);
    if (rate < 0)
        return false;
    geo_rates_spread(desk->rates, state->sort, cluster, &spread);
    if (state->n == 0)
        state->rate = spread;
    else
        speeds_greatest(&before, &spread, &state->rate);
    state->lost = desk_lost_with(desk, state, cluster);
    take_gates(desk, task, cluster, rate);
    return add_cluster(desk, state, cluster);
}

static struct geo_plan_copy *next_copy(struct desk *desk)
{
    if (desk->n_copies == desk->room) {
        size_t room = desk->room > 0 ? 2 * desk->room : 64;
        struct geo_plan_copy *grown = arena_array(desk->arena, room, sizeof *grown);
        if (!grown)
            return NULL;
        for (size_t i = 0; i < desk->n_copies; i++)
            grown[i] = desk->copies[i];
        desk->copies = grown;
        desk->room = room;
    }
    return &desk->copies[desk->n_copies++];
}

/* By how much `after` is above `before`, which it cannot be below but by rounding. NAN: there is no
 * `before`. */
static double rise(double before, double after)
{
    return before > after ? 0 : after - before;
}

bool desk_grant(
    struct desk *desk, size_t job, size_t index, int64_t round, const struct offer *offer)
{
    const struct geo_task *task = desk_task(desk, job, index);
    struct state *state = &desk->states[job][index];
    struct geo_plan_copy *copy = next_copy(desk);
    double rate = state->n > 0 ? state->rate.mean : (double)NAN;
    double exemption = desk_exemption(desk, state->lost, task->size_bytes, rate);
    if (!copy || !desk_join(desk, task, state, offer->cluster))
        return false;
    desk->idle[offer->cluster]--;
    desk->used[job]++;
    *copy = (struct geo_plan_copy){
        .job = job,
        .task = index,
        .cluster = offer->cluster,
        .round = round,
        .rate_bytes_per_s = offer->rate,
        .duration_s = task->size_bytes / offer->rate,
        .saved_s = rise(task->size_bytes / state->rate.mean, task->size_bytes / rate),
        .exemption_gain =
            rise(exemption, desk_exemption(desk, state->lost, task->size_bytes, state->rate.mean))};
    return true;
}

bool desk_stop(struct desk *desk, size_t job, size_t index)
{
    const struct geo_task *task = desk_task(desk, job, index);
    struct state *state = &desk->states[job][index];
    size_t cluster = state->clusters[0];
    if (desk->n_stops == desk->stops_room) {
        size_t room = desk->stops_room > 0 ? 2 * desk->stops_room : 16;
        struct geo_plan_stop *grown = arena_array(desk->arena, room, sizeof *grown);
        if (!grown)
            return false;
        for (size_t i = 0; i < desk->n_stops; i++)
            grown[i] = desk->stops[i];
        desk->stops = grown;
        desk->stops_room = room;
    }
    desk->stops[desk->n_stops++] = (struct geo_plan_stop){job, index, cluster};
    take_gates(desk, task, cluster, -state->rate.mean);
    desk->idle[cluster]++;
    desk->used[job]--;
    state->n = 0;
    state->rate = (struct speeds){.n = 0};
    state->lost = 1;
    return true;
}

/* --- opening --- */

static bool open_clusters(struct desk *desk)
{
    const struct geo_problem *problem = desk->problem;
    struct ranked *ranked = arena_array(desk->arena, problem->n_clusters, sizeof *ranked);
    desk->idle = arena_array(desk->arena, problem->n_clusters, sizeof *desk->idle);
    desk->ingress = arena_array(desk->arena, problem->n_clusters, sizeof *desk->ingress);
    desk->egress = arena_array(desk->arena, problem->n_clusters, sizeof *desk->egress);
    desk->safest = arena_array(desk->arena, problem->n_clusters, sizeof *desk->safest);
    if (!ranked || !desk->idle || !desk->ingress || !desk->egress || !desk->safest)
        return false;
    for (size_t m = 0; m < problem->n_clusters; m++) {
        const struct geo_cluster *cluster = &problem->clusters[m];
        desk->idle[m] = cluster->slots - cluster->busy_slots;
        desk->ingress[m] = cluster->ingress_bytes_per_s;
        desk->egress[m] = cluster->egress_bytes_per_s;
        ranked[m] = (struct ranked){cluster->unreachable_probability, m};
    }
    qsort(ranked, problem->n_clusters, sizeof *ranked, desk_ascending);
    for (size_t m = 0; m < problem->n_clusters; m++)
        desk->safest[m] = ranked[m].index;
    return true;
}

/* Where a task runs already and could not run by what is known of the cluster, the copy counts for
 * the share and nothing else. */
static bool take_running(struct desk *desk, size_t job, size_t index)
{
    const struct geo_task *task = desk_task(desk, job, index);
    struct state *state = &desk->states[job][index];
    desk->used[job] += (int64_t)task->n_copies;
    for (size_t i = 0; i < task->n_copies; i++)
        if (geo_rates_limits(desk->rates, state->sort)[task->copies[i].cluster] > 0 &&
            !desk_join(desk, task, state, task->copies[i].cluster))
            return false;
    return true;
}

/* Its sort, its best rate and what it has already. */
static enum pv_code open_task(struct desk *desk, size_t job, size_t index, struct pv_error *err)
{
    struct state *state = &desk->states[job][index];
    state->sort = geo_rates_sort(desk->rates, desk_task(desk, job, index));
    state->lost = 1;
    state->reason = GEO_NOT_ADMITTED;
    double best = state->sort == SIZE_MAX ? -1 : geo_rates_best(desk->rates, state->sort);
    if (best < 0 || !take_running(desk, job, index))
        return PV_E_MEMORY;
    if (best > 0)
        return PV_OK;
    char at[64];
    (void)snprintf(at, sizeof at, "/jobs/%zu/tasks/%zu/inputs", job, index);
    pv_fault(err, PV_PLACE_POINTER, at, "unreachable",
             "no cluster does this operation and has links from all these inputs");
    return PV_E_INVALID;
}

static enum pv_code open_tasks(struct desk *desk, struct pv_error *err)
{
    const struct geo_problem *problem = desk->problem;
    enum pv_code code = PV_OK;
    size_t most = 0;
    for (size_t j = 0; j < problem->n_jobs; j++) {
        size_t n = problem->jobs[j].n_tasks;
        most = n > most ? n : most;
        desk->used[j] = (int64_t)problem->jobs[j].hidden_copies;
        desk->states[j] = arena_calloc(desk->arena, n, sizeof **desk->states);
        if (!desk->states[j])
            return PV_E_MEMORY;
        for (size_t t = 0; t < n; t++) {
            enum pv_code one = open_task(desk, j, t, err);
            if (one == PV_E_MEMORY)
                return one;
            code = one != PV_OK ? one : code;
        }
    }
    desk->order = arena_array(desk->arena, most, sizeof *desk->order);
    return desk->order ? code : PV_E_MEMORY;
}

enum pv_code desk_open(struct desk *desk, struct pv_error *err)
{
    size_t n = desk->problem->n_jobs;
    if (!desk->rates)
        desk->rates = geo_rates_make(desk->problem, desk->arena);
    desk->states = arena_array(desk->arena, n, sizeof *desk->states);
    desk->jobs = arena_array(desk->arena, n, sizeof *desk->jobs);
    desk->used = arena_calloc(desk->arena, n, sizeof *desk->used);
    if (!desk->rates || !desk->states || !desk->jobs || !desk->used || !open_clusters(desk))
        return PV_E_MEMORY;
    geo_rates_begin(desk->rates, desk->terms->patience);
    return open_tasks(desk, err);
}
