#include "core/geo/insurance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/whole.h"
#include "core/geo/search.h"

const char *insurance_reason_name(enum insurance_reason reason)
{
    static const char *const names[INSURANCE_REASONS] = {"not_admitted", "share_used", "no_slot",
                                                         "bandwidth", "rate_below_floor"};
    return names[reason];
}

/* --- rounds --- */

static enum pv_code find_floor(struct desk *desk, const struct state *state, double *floor)
{
    double best = geo_rates_best(desk->rates, state->sort);
    *floor = best / (1 + desk->terms->epsilon);
    return best < 0 ? PV_E_MEMORY : PV_OK;
}

/* The first copy of a task. */
static enum pv_code insure_first(struct desk *desk, size_t job, size_t index)
{
    const struct geo_task *task = desk_task(desk, job, index);
    struct state *state = &desk->states[job][index];
    struct offer offer;
    double floor;
    if (desk->used[job] >= desk->share) {
        state->reason = INSURANCE_SHARE_USED;
        state->waits = true;
        return PV_OK;
    }
    enum pv_code code = find_floor(desk, state, &floor);
    if (code == PV_OK)
        code = desk->terms->first == INSURANCE_EFFICIENCY
                   ? search_fastest(desk, task, state, floor, 0, &offer)
                   : search_safest(desk, task, state, floor, -1, &offer);
    if (code != PV_OK)
        return code;
    if (offer.found)
        return desk_grant(desk, job, index, 1, &offer) ? PV_OK : PV_E_MEMORY;
    state->waits = true;
    return search_reason(desk, task, state, &state->reason);
}

static enum pv_code first_round(struct desk *desk, size_t job, bool *granted)
{
    enum pv_code code = PV_OK;
    size_t before = desk->n_copies;
    for (size_t t = 0; t < desk->problem->jobs[job].n_tasks && code == PV_OK; t++)
        if (desk->states[job][t].n == 0)
            code = insure_first(desk, job, t);
    *granted = desk->n_copies > before;
    return code;
}

/* A second copy: what it is looked for must rise. */
static enum pv_code insure_second(struct desk *desk, size_t job, size_t index)
{
    const struct geo_task *task = desk_task(desk, job, index);
    struct state *state = &desk->states[job][index];
    struct offer offer;
    double floor;
    enum pv_code code = find_floor(desk, state, &floor);
    if (code != PV_OK)
        return code;
    double exemption = desk_exemption(desk, state->lost, task->size_bytes, state->rate.mean);
    code = desk->terms->second == INSURANCE_EFFICIENCY
               ? search_fastest(desk, task, state, floor, state->rate.mean, &offer)
               : search_safest(desk, task, state, floor, exemption, &offer);
    if (code == PV_OK && offer.found && !desk_grant(desk, job, index, 2, &offer))
        code = PV_E_MEMORY;
    return code;
}

/* The tasks with a copy, those worst off by what is looked for first. */
static size_t order_tasks(struct desk *desk, size_t job)
{
    size_t n = 0;
    for (size_t t = 0; t < desk->problem->jobs[job].n_tasks; t++) {
        const struct state *state = &desk->states[job][t];
        double size = desk_task(desk, job, t)->size_bytes;
        if (state->n == 0)
            continue;
        double key = desk->terms->second == INSURANCE_RELIABILITY
                         ? desk_exemption(desk, state->lost, size, state->rate.mean)
                         : -size / state->rate.mean;
        desk->order[n++] = (struct ranked){key, t};
    }
    qsort(desk->order, n, sizeof *desk->order, desk_ascending);
    return n;
}

static enum pv_code second_round(struct desk *desk, size_t job, bool *granted)
{
    enum pv_code code = PV_OK;
    size_t before = desk->n_copies;
    size_t n = order_tasks(desk, job);
    for (size_t k = 0; k < n && code == PV_OK && desk->used[job] < desk->share; k++)
        code = insure_second(desk, job, desk->order[k].index);
    *granted = desk->n_copies > before;
    return code;
}

/* A further copy has to save slots, not only time: e(c + 1) < c/(c + 1) e(c). */
static enum pv_code insure_further(struct desk *desk, size_t job, size_t index, int64_t round)
{
    const struct geo_task *task = desk_task(desk, job, index);
    struct state *state = &desk->states[job][index];
    struct offer offer;
    double floor;
    enum pv_code code = find_floor(desk, state, &floor);
    if (code != PV_OK)
        return code;
    double c = (double)state->n;
    double needed = state->rate.mean * (c + 1) / c;
    if (!desk_is_above(state->rate.mean + geo_rates_best(desk->rates, state->sort), needed))
        return PV_OK;
    code = search_fastest(desk, task, state, floor, needed, &offer);
    if (code == PV_OK && offer.found && !desk_grant(desk, job, index, round, &offer))
        code = PV_E_MEMORY;
    return code;
}

static enum pv_code further_round(struct desk *desk, size_t job, int64_t round, bool *granted)
{
    enum pv_code code = PV_OK;
    size_t before = desk->n_copies;
    for (size_t t = 0; t < desk->problem->jobs[job].n_tasks && code == PV_OK; t++)
        if (desk->states[job][t].n > 0 && desk->used[job] < desk->share)
            code = insure_further(desk, job, t, round);
    *granted = desk->n_copies > before;
    return code;
}

static enum pv_code run_round(struct desk *desk, size_t job, int64_t round, bool *granted)
{
    if (round == 1)
        return first_round(desk, job, granted);
    if (round == 2)
        return second_round(desk, job, granted);
    return further_round(desk, job, round, granted);
}

/* Rounds over the admitted jobs from..to; those beyond the second until one adds nothing. */
static enum pv_code run_rounds(struct desk *desk, size_t from, size_t to)
{
    bool any = true;
    for (int64_t round = 1; round <= desk->terms->max_rounds && (any || round <= 3); round++) {
        any = false;
        for (size_t k = from; k < to; k++) {
            bool granted;
            enum pv_code code = run_round(desk, desk->jobs[k].index, round, &granted);
            if (code != PV_OK)
                return code;
            any |= granted;
        }
    }
    return PV_OK;
}

static enum pv_code deal(struct desk *desk)
{
    if (!desk->terms->job_by_job)
        return run_rounds(desk, 0, desk->admitted);
    enum pv_code code = PV_OK;
    for (size_t k = 0; k < desk->admitted && code == PV_OK; k++)
        code = run_rounds(desk, k, k + 1);
    return code;
}

/* --- before and after --- */

static void admit(struct desk *desk)
{
    const struct geo_problem *problem = desk->problem;
    double n = (double)problem->n_jobs;
    double slots = 0;
    for (size_t m = 0; m < problem->n_clusters; m++)
        slots += (double)problem->clusters[m].slots;
    for (size_t j = 0; j < problem->n_jobs; j++)
        desk->jobs[j] = (struct ranked){problem->jobs[j].unprocessed_bytes, j};
    qsort(desk->jobs, problem->n_jobs, sizeof *desk->jobs, desk_ascending);
    desk->admitted = (size_t)fmax(1, whole_ceil(desk->terms->epsilon * n));
    if (desk->admitted > problem->n_jobs)
        desk->admitted = problem->n_jobs;
    desk->share = (int64_t)fmax(1, whole_floor(slots / (desk->terms->epsilon * n)));
}

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
        if (geo_rates_limits(desk->rates, state->sort)[task->copies[i]] > 0 &&
            !desk_join(desk, task, state, task->copies[i]))
            return false;
    return true;
}

static enum pv_code open_tasks(struct desk *desk, struct pv_error *err)
{
    const struct geo_problem *problem = desk->problem;
    size_t most = 0;
    for (size_t j = 0; j < problem->n_jobs; j++) {
        size_t n = problem->jobs[j].n_tasks;
        most = n > most ? n : most;
        desk->states[j] = arena_calloc(desk->arena, n, sizeof **desk->states);
        if (!desk->states[j])
            return PV_E_MEMORY;
        for (size_t t = 0; t < n; t++) {
            desk->states[j][t].sort = geo_rates_sort(desk->rates, j, t);
            desk->states[j][t].lost = 1;
            desk->states[j][t].reason = INSURANCE_NOT_ADMITTED;
            double best = geo_rates_best(desk->rates, desk->states[j][t].sort);
            if (best < 0 || !take_running(desk, j, t))
                return PV_E_MEMORY;
            if (best > 0)
                continue;
            char at[64];
            (void)snprintf(at, sizeof at, "/jobs/%zu/tasks/%zu/inputs", j, t);
            pv_fault(err, PV_PLACE_POINTER, at, "unreachable",
                     "no cluster does this operation and has links from all these inputs");
        }
    }
    desk->order = arena_array(desk->arena, most, sizeof *desk->order);
    if (!desk->order)
        return PV_E_MEMORY;
    return err && err->code != PV_OK ? err->code : PV_OK;
}

/* --- the reply --- */

static bool lay_out(const struct desk *desk, struct insurance_plan *plan)
{
    size_t tasks = 0;
    for (size_t j = 0; j < desk->problem->n_jobs; j++)
        tasks += desk->problem->jobs[j].n_tasks;
    *plan = (struct insurance_plan){
        .copies = desk->copies,
        .n_copies = desk->n_copies,
        .tasks = arena_array(desk->arena, tasks, sizeof *plan->tasks),
        .waiting = arena_array(desk->arena, tasks, sizeof *plan->waiting),
        .shares = arena_array(desk->arena, desk->admitted, sizeof *plan->shares),
        .n_shares = desk->admitted,
        .use = arena_calloc(desk->arena, desk->problem->n_clusters, sizeof *plan->use)};
    return plan->tasks && plan->waiting && plan->shares && plan->use;
}

static void
tell_task(const struct desk *desk, size_t job, size_t index, struct insurance_plan *plan)
{
    struct state *state = &desk->states[job][index];
    double size = desk_task(desk, job, index)->size_bytes;
    if (state->n == 0) {
        plan->waiting[plan->n_waiting++] = (struct insurance_waiting){job, index, state->reason};
        return;
    }
    plan->tasks[plan->n_tasks++] = (struct insurance_task){
        .job = job,
        .task = index,
        .clusters = state->clusters,
        .n_clusters = state->n,
        .rate_bytes_per_s = state->rate.mean,
        .duration_s = size / state->rate.mean,
        .exemption_probability = desk_exemption(desk, state->lost, size, state->rate.mean)};
}

static void tell_use(const struct desk *desk, struct insurance_plan *plan)
{
    for (size_t i = 0; i < desk->n_copies; i++) {
        const struct insurance_copy *copy = &desk->copies[i];
        const struct geo_task *task = desk_task(desk, copy->job, copy->task);
        plan->use[copy->cluster].slots++;
        plan->rounds = copy->round > plan->rounds ? copy->round : plan->rounds;
        for (size_t k = 0; k < task->n_inputs; k++) {
            if (task->inputs[k] == copy->cluster)
                continue;
            double each = copy->rate_bytes_per_s / (double)task->n_inputs;
            plan->use[copy->cluster].ingress_bytes_per_s += each;
            plan->use[task->inputs[k]].egress_bytes_per_s += each;
        }
    }
}

static enum pv_code tell(const struct desk *desk, struct insurance_plan *plan)
{
    struct insurance_plan told;
    if (!lay_out(desk, &told))
        return PV_E_MEMORY;
    for (size_t j = 0; j < desk->problem->n_jobs; j++)
        for (size_t t = 0; t < desk->problem->jobs[j].n_tasks; t++)
            tell_task(desk, j, t, &told);
    for (size_t k = 0; k < desk->admitted; k++)
        told.shares[k] = (struct insurance_share){desk->jobs[k].index, desk->share};
    tell_use(desk, &told);
    *plan = told;
    return PV_OK;
}

enum pv_code insurance_plan(const struct geo_problem *problem,
                            const struct insurance_terms *terms,
                            struct arena *arena,
                            struct insurance_plan *plan,
                            struct pv_error *err)
{
    struct desk desk = {.problem = problem, .terms = terms, .arena = arena};
    desk.rates = geo_rates_make(problem, arena);
    desk.states = arena_array(arena, problem->n_jobs, sizeof *desk.states);
    desk.jobs = arena_array(arena, problem->n_jobs, sizeof *desk.jobs);
    desk.used = arena_calloc(arena, problem->n_jobs, sizeof *desk.used);
    if (!desk.rates || !desk.states || !desk.jobs || !desk.used || !open_clusters(&desk))
        return pv_fail(err, PV_E_MEMORY, "not enough memory for a copy plan");
    enum pv_code code = open_tasks(&desk, err);
    if (code == PV_OK) {
        admit(&desk);
        code = deal(&desk);
    }
    if (code == PV_OK)
        code = tell(&desk, plan);
    return code == PV_E_MEMORY ? pv_fail(err, code, "not enough memory for a copy plan") : code;
}
