#include "core/geo/desk.h"

#include <math.h>

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

static bool has_copy_in(const struct state *state, size_t cluster)
{
    for (size_t i = 0; i < state->n; i++)
        if (state->clusters[i] == cluster)
            return true;
    return false;
}

/* Chance that all clusters are lost with another copy in this one. */
double desk_lost_with(const struct desk *desk, const struct state *state, size_t cluster)
{
    return has_copy_in(state, cluster)
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

/* --- granting --- */

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

static struct insurance_copy *next_copy(struct desk *desk)
{
    if (desk->n_copies == desk->room) {
        size_t room = desk->room > 0 ? 2 * desk->room : 64;
        struct insurance_copy *grown = arena_array(desk->arena, room, sizeof *grown);
        if (!grown)
            return NULL;
        for (size_t i = 0; i < desk->n_copies; i++)
            grown[i] = desk->copies[i];
        desk->copies = grown;
        desk->room = room;
    }
    return &desk->copies[desk->n_copies++];
}

bool desk_grant(
    struct desk *desk, size_t job, size_t index, int64_t round, const struct offer *offer)
{
    const struct geo_task *task = desk_task(desk, job, index);
    struct state *state = &desk->states[job][index];
    struct insurance_copy *copy = next_copy(desk);
    double rate = state->n > 0 ? state->rate.mean : (double)NAN;
    double exemption = desk_exemption(desk, state->lost, task->size_bytes, rate);
    if (!copy || !desk_join(desk, task, state, offer->cluster))
        return false;
    desk->idle[offer->cluster]--;
    desk->used[job]++;
    *copy = (struct insurance_copy){
        .job = job,
        .task = index,
        .cluster = offer->cluster,
        .round = round,
        .rate_bytes_per_s = offer->rate,
        .duration_s = task->size_bytes / offer->rate,
        .saved_s = task->size_bytes / rate - task->size_bytes / state->rate.mean,
        .exemption_gain =
            desk_exemption(desk, state->lost, task->size_bytes, state->rate.mean) - exemption};
    return true;
}
