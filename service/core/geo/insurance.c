#include "core/geo/insurance.h"

#include <math.h>
#include <stdlib.h>

#include "base/whole.h"
#include "core/geo/search.h"

/* Of a tiny epsilon: more than any job can use, and exact as a number. */
static const double SHARE_MAX = 0x1p53 - 1;

/* --- rounds --- */

static enum pv_code find_floor(struct desk *desk, const struct state *state, double *floor)
{
    double best = geo_rates_best(desk->rates, state->sort);
    *floor = best / (1 + desk->terms->insurance.epsilon);
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
        state->reason = GEO_SHARE_USED;
        state->waits = true;
        return PV_OK;
    }
    enum pv_code code = find_floor(desk, state, &floor);
    if (code == PV_OK)
        code = desk->terms->insurance.first == INSURANCE_EFFICIENCY
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
    code = desk->terms->insurance.second == INSURANCE_EFFICIENCY
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
        double key = desk->terms->insurance.second == INSURANCE_RELIABILITY
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
    for (int64_t round = 1; round <= desk->terms->insurance.max_rounds && (any || round <= 3);
         round++) {
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
    if (!desk->terms->insurance.job_by_job)
        return run_rounds(desk, 0, desk->admitted);
    enum pv_code code = PV_OK;
    for (size_t k = 0; k < desk->admitted && code == PV_OK; k++)
        code = run_rounds(desk, k, k + 1);
    return code;
}

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
    desk->admitted = (size_t)fmax(1, whole_ceil(desk->terms->insurance.epsilon * n));
    if (desk->admitted > problem->n_jobs)
        desk->admitted = problem->n_jobs;
    double share = whole_floor(slots / (desk->terms->insurance.epsilon * n));
    desk->share = (int64_t)fmin(fmax(1, share), SHARE_MAX);
}

enum pv_code insurance_run(struct desk *desk)
{
    admit(desk);
    return deal(desk);
}
