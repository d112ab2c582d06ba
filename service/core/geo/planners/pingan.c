/*
 * PingAn: copies so that jobs finish sooner and survive the loss of a cluster (docs/design.md,
 * "Copy plans"; PingAn, sections 4 and 6).
 *
 * Observes distributions of all speeds, outage probabilities, gates, slots, and the unprocessed
 * bytes of jobs.
 *
 * Admission: of n jobs in ascending unprocessed bytes the first max(1, ceil(epsilon n)) are
 * admitted, each with a share of max(1, floor(slots/(epsilon n))) of all slots, busy ones included.
 * Every copy has a floor: its expected rate is at least the best rate that its task could have
 * anywhere, divided by 1 + epsilon.
 *
 * Rounds: in round 1 each task without a copy gets the one that maximises the first objective; in
 * round 2 the tasks with copies, worst by the second objective first, get one that improves it; in
 * every further round a task gets a copy if that saves slots as well as time. With e(c) the
 * expected duration with c copies, c slots are held for e(c), so the slot time falls when (c + 1)
 * e(c + 1) < c e(c); in terms of rates, when the new rate exceeds (c + 1)/c times the old.
 * Objectives are efficiency, the expected rate of the task, and reliability, its exemption
 * probability. Rounds go over all admitted jobs (efa), or a job has all its rounds before the next
 * one (jga).
 *
 * Time: bounds on the mean rates rule out most (task, cluster) pairs, so a round costs a few
 * operations per pair and as many expectations of minima or maxima as there are clusters that could
 * be the best.
 */
#include <math.h>
#include <stdlib.h>

#include "base/rounding.h"
#include "core/geo/planner.h"
#include "core/geo/search.h"
#include "core/geo/system_load.h"

/* For a tiny epsilon: more than any job can use, and exact as a number. */
static const double SHARE_MAX = 0x1p53 - 1;

/* Indices into the parameters, and the values of those that are words. */
enum { EPSILON, MAX_ROUNDS, PRINCIPLE, ALLOCATION };
enum { EFFICIENCY_FIRST, JOB_GREEDY };
enum pingan_objective { EFFICIENCY, RELIABILITY };

/* What round 1 or 2 maximises. */
static enum pingan_objective objective_of(const struct allocation *allocation, int round)
{
    static const enum pingan_objective objectives[][2] = {{EFFICIENCY, RELIABILITY},
                                                          {RELIABILITY, EFFICIENCY},
                                                          {EFFICIENCY, EFFICIENCY},
                                                          {RELIABILITY, RELIABILITY}};
    return objectives[(size_t)allocation->parameters[PRINCIPLE]][round - 1];
}

/* --- rounds --- */

static enum pv_code
find_floor(struct allocation *allocation, const struct task_allocation *state, double *floor)
{
    double best = geo_rates_best(allocation->rates, state->task_class);
    *floor = best / (1 + allocation->parameters[EPSILON]);
    return best < 0 ? PV_E_MEMORY : PV_OK;
}

/* The first copy of a task. */
static enum pv_code grant_first_copy(struct allocation *allocation, size_t job, size_t index)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    struct task_allocation *state = &allocation->tasks[job][index];
    struct candidate candidate;
    double floor;
    if (allocation->used[job] >= allocation->share) {
        state->reason = GEO_SHARE_USED;
        state->waits = true;
        return PV_OK;
    }
    PV_TRY(find_floor(allocation, state, &floor));
    PV_TRY(objective_of(allocation, 1) == EFFICIENCY
               ? search_fastest(allocation, task, state, floor, 0, &candidate)
               : search_most_reliable(allocation, task, state, floor, -1, &candidate));
    if (candidate.found)
        return allocation_grant(allocation, job, index, 1, &candidate) ? PV_OK : PV_E_MEMORY;
    state->waits = true;
    return search_reason(allocation, task, state, &state->reason);
}

static enum pv_code first_round(struct allocation *allocation, size_t job, bool *granted)
{
    size_t before = allocation->n_copies;
    for (size_t t = 0; t < allocation->problem->jobs[job].n_tasks; t++)
        if (allocation->tasks[job][t].n == 0)
            PV_TRY(grant_first_copy(allocation, job, t));
    *granted = allocation->n_copies > before;
    return PV_OK;
}

/* A second copy: what it is looked for must rise. */
static enum pv_code grant_second_copy(struct allocation *allocation, size_t job, size_t index)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    struct task_allocation *state = &allocation->tasks[job][index];
    struct candidate candidate;
    double floor;
    PV_TRY(find_floor(allocation, state, &floor));
    double exemption =
        allocation_exemption(allocation, state->lost, task->size_bytes, state->rate.mean);
    PV_TRY(objective_of(allocation, 2) == EFFICIENCY
               ? search_fastest(allocation, task, state, floor, state->rate.mean, &candidate)
               : search_most_reliable(allocation, task, state, floor, exemption, &candidate));
    if (candidate.found && !allocation_grant(allocation, job, index, 2, &candidate))
        return PV_E_MEMORY;
    return PV_OK;
}

/* The tasks with a copy, those worst off by what is looked for first. */
static size_t order_tasks(struct allocation *allocation, size_t job)
{
    size_t n = 0;
    for (size_t t = 0; t < allocation->problem->jobs[job].n_tasks; t++) {
        const struct task_allocation *state = &allocation->tasks[job][t];
        double size = allocation_task(allocation, job, t)->size_bytes;
        if (state->n == 0)
            continue;
        double key = objective_of(allocation, 2) == RELIABILITY
                         ? allocation_exemption(allocation, state->lost, size, state->rate.mean)
                         : -size / state->rate.mean;
        allocation->order[n++] = (struct ranked_index){key, t};
    }
    qsort(allocation->order, n, sizeof *allocation->order, allocation_ascending);
    return n;
}

static enum pv_code second_round(struct allocation *allocation, size_t job, bool *granted)
{
    size_t before = allocation->n_copies;
    size_t n = order_tasks(allocation, job);
    for (size_t k = 0; k < n && allocation->used[job] < allocation->share; k++)
        PV_TRY(grant_second_copy(allocation, job, allocation->order[k].index));
    *granted = allocation->n_copies > before;
    return PV_OK;
}

/* A further copy has to save slots, not only time: e(c + 1) < c/(c + 1) e(c). */
static enum pv_code
grant_further_copy(struct allocation *allocation, size_t job, size_t index, int64_t round)
{
    const struct geo_task *task = allocation_task(allocation, job, index);
    struct task_allocation *state = &allocation->tasks[job][index];
    struct candidate candidate;
    double floor;
    PV_TRY(find_floor(allocation, state, &floor));
    double c = (double)state->n;
    double needed = state->rate.mean * (c + 1) / c;
    if (!allocation_is_above(
            state->rate.mean + geo_rates_best(allocation->rates, state->task_class), needed))
        return PV_OK;
    enum pv_code code = search_fastest(allocation, task, state, floor, needed, &candidate);
    if (code == PV_OK && candidate.found &&
        !allocation_grant(allocation, job, index, round, &candidate))
        code = PV_E_MEMORY;
    return code;
}

static enum pv_code
further_round(struct allocation *allocation, size_t job, int64_t round, bool *granted)
{
    enum pv_code code = PV_OK;
    size_t before = allocation->n_copies;
    for (size_t t = 0; t < allocation->problem->jobs[job].n_tasks && code == PV_OK; t++)
        if (allocation->tasks[job][t].n > 0 && allocation->used[job] < allocation->share)
            code = grant_further_copy(allocation, job, t, round);
    *granted = allocation->n_copies > before;
    return code;
}

static enum pv_code
run_round(struct allocation *allocation, size_t job, int64_t round, bool *granted)
{
    if (round == 1)
        return first_round(allocation, job, granted);
    if (round == 2)
        return second_round(allocation, job, granted);
    return further_round(allocation, job, round, granted);
}

/* Rounds over the admitted jobs from..to; those beyond the second until one adds nothing. */
static enum pv_code run_rounds(struct allocation *allocation, size_t from, size_t to)
{
    bool any = true;
    for (int64_t round = 1;
         (double)round <= allocation->parameters[MAX_ROUNDS] && (any || round <= 3); round++) {
        any = false;
        for (size_t k = from; k < to; k++) {
            bool granted = false;
            PV_TRY(run_round(allocation, allocation->jobs[k].index, round, &granted));
            any |= granted;
        }
    }
    return PV_OK;
}

static enum pv_code allocate_copies(struct allocation *allocation)
{
    if (allocation->parameters[ALLOCATION] != JOB_GREEDY)
        return run_rounds(allocation, 0, allocation->admitted);
    for (size_t k = 0; k < allocation->admitted; k++)
        PV_TRY(run_rounds(allocation, k, k + 1));
    return PV_OK;
}

static void admit_jobs(struct allocation *allocation)
{
    const struct geo_problem *problem = allocation->problem;
    double n = (double)problem->n_jobs;
    double slots = 0;
    for (size_t m = 0; m < problem->n_clusters; m++)
        slots += (double)problem->clusters[m].slots;
    for (size_t j = 0; j < problem->n_jobs; j++)
        allocation->jobs[j] = (struct ranked_index){problem->jobs[j].unprocessed_bytes, j};
    qsort(allocation->jobs, problem->n_jobs, sizeof *allocation->jobs, allocation_ascending);
    allocation->admitted = (size_t)fmax(1, rounding_ceil(allocation->parameters[EPSILON] * n));
    if (allocation->admitted > problem->n_jobs)
        allocation->admitted = problem->n_jobs;
    double share = rounding_floor(slots / (allocation->parameters[EPSILON] * n));
    allocation->share = (int64_t)fmin(fmax(1, share), SHARE_MAX);
}

static enum pv_code pingan_run(struct allocation *allocation)
{
    admit_jobs(allocation);
    return allocate_copies(allocation);
}

static double choose_epsilon(const struct geo_problem *problem)
{
    return geo_system_load_epsilon(geo_system_load_measure(problem).load);
}

static const char *const principles[] = {"eff-reli", "reli-eff", "eff-eff", "reli-reli", NULL};
static const char *const allocations[] = {"efa", "jga", NULL};

/* The paper's, but for epsilon: 0.8 was good at every load where clusters differ
 * (docs/copy-plans/measurements.md). */
static const struct geo_parameter parameters[] = {
    [EPSILON] = {"epsilon", 0, 1, 0.8, .above_low = true, .automatic = choose_epsilon},
    [MAX_ROUNDS] = {"max_rounds", 1, 1000, 8, .integral = true},
    [PRINCIPLE] = {"principle", .words = principles},
    [ALLOCATION] = {"allocation", .standard = EFFICIENCY_FIRST, .words = allocations}};

const struct geo_planner geo_planner_pingan = {
    .name = "pingan",
    .run = pingan_run,
    .parameters = parameters,
    .n_parameters = sizeof parameters / sizeof *parameters,
    .parameters_inline = true,
    .observes_running_copies = true,
    .clones_running_tasks = true,
};
