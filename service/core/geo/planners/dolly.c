/*
 * Dolly on top of Flutter: small jobs are cloned whole as they start (G. Ananthanarayanan, A.
 * Ghodsi, S. Shenker, I. Stoica, "Effective straggler mitigation: attack of the clones", NSDI 2013,
 * section 4).
 *
 * Observes what Flutter observes, the number of tasks of a job, and how many slots are busy and how
 * many of them with clones; not the progress of running tasks.
 *
 * Decides job by job in the order of the request: Flutter places the job's tasks, then all tasks
 * that start now get c - 1 clones, each in another cluster, the free one that Flutter estimates to
 * be fastest. With p the probability that one copy straggles, a task with c copies straggles with
 * p^c, and some task of n with 1 - (1 - p^c)^n; c is the least number for which that is at most
 * `risk`. A job is cloned as a whole or not at all: not when it has more than `tasks_max` tasks or
 * one that waits, when all running clones would exceed `budget` of all slots or the slots in use
 * `utilization_max` of them, or when there is no cluster for one of the clones.
 */
#include "core/geo/planners/dolly.h"

#include <math.h>
#include <string.h>

#include "core/geo/planner.h"
#include "core/geo/planners/flutter.h"

/* Indices into the parameters. */
enum { STRAGGLER_PROBABILITY, RISK, BUDGET, UTILIZATION_MAX, TASKS_MAX };

struct dolly {
    struct allocation *allocation;
    struct placement placement;
    double slots; /* of all clusters */
    double used;  /* of them, by what runs and what is planned */
    double clones;
    size_t *started; /* tasks of a job that start now */
    size_t n_started;
    /* What a job that is not cloned goes back to. */
    int64_t *idle;
    double *ingress;
    double *egress;
    struct task_allocation *states;
};

size_t dolly_copies(double straggler_probability, double risk, size_t n_tasks, size_t most)
{
    double all_straggle = 1; /* p^c */
    for (size_t c = 1; c < most; c++) {
        all_straggle *= straggler_probability;
        double some_task = -expm1((double)n_tasks * log1p(-all_straggle));
        if (some_task <= risk)
            return c;
    }
    return most;
}

static bool dolly_make(struct dolly *dolly, struct allocation *allocation)
{
    const struct geo_problem *problem = allocation->problem;
    size_t clusters = problem->n_clusters;
    size_t most = 0;
    *dolly = (struct dolly){.allocation = allocation};
    for (size_t m = 0; m < clusters; m++) {
        dolly->slots += (double)problem->clusters[m].slots;
        dolly->used += (double)problem->clusters[m].busy_slots;
    }
    for (size_t j = 0; j < problem->n_jobs; j++) {
        most = problem->jobs[j].n_tasks > most ? problem->jobs[j].n_tasks : most;
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++)
            dolly->clones += fmax((double)problem->jobs[j].tasks[t].n_copies - 1, 0);
    }
    dolly->started = arena_array(allocation->arena, most, sizeof *dolly->started);
    dolly->idle = arena_array(allocation->arena, clusters, sizeof *dolly->idle);
    dolly->ingress = arena_array(allocation->arena, clusters, sizeof *dolly->ingress);
    dolly->egress = arena_array(allocation->arena, clusters, sizeof *dolly->egress);
    dolly->states = arena_array(allocation->arena, most, sizeof *dolly->states);
    return dolly->started && dolly->idle && dolly->ingress && dolly->egress && dolly->states &&
           flutter_make(&dolly->placement, allocation);
}

/* false: one of them waits. */
static bool list_started(struct dolly *dolly, size_t job)
{
    const struct geo_job *of = &dolly->allocation->problem->jobs[job];
    dolly->n_started = 0;
    for (size_t t = 0; t < of->n_tasks; t++) {
        if (dolly->allocation->tasks[job][t].n == 0)
            return false;
        if (of->tasks[t].n_copies == 0)
            dolly->started[dolly->n_started++] = t;
    }
    return true;
}

/* Copies of each task; 1: the job is not to be cloned. */
static size_t dolly_judge(const struct dolly *dolly, size_t job)
{
    const struct allocation *allocation = dolly->allocation;
    const double *parameters = allocation->parameters;
    const struct geo_job *of = &allocation->problem->jobs[job];
    size_t n = of->stage_tasks > of->n_tasks ? of->stage_tasks : of->n_tasks;
    if ((double)n > parameters[TASKS_MAX])
        return 1;
    size_t copies = dolly_copies(parameters[STRAGGLER_PROBABILITY], parameters[RISK], n,
                                 allocation->problem->n_clusters);
    double more = (double)(copies - 1) * (double)dolly->n_started;
    bool affordable = dolly->clones + more <= parameters[BUDGET] * dolly->slots &&
                      dolly->used + more <= parameters[UTILIZATION_MAX] * dolly->slots;
    return affordable ? copies : 1;
}

static void dolly_keep(struct dolly *dolly, size_t job)
{
    const struct allocation *allocation = dolly->allocation;
    size_t clusters = allocation->problem->n_clusters;
    memcpy(dolly->idle, allocation->idle, clusters * sizeof *allocation->idle);
    memcpy(dolly->ingress, allocation->ingress, clusters * sizeof *allocation->ingress);
    memcpy(dolly->egress, allocation->egress, clusters * sizeof *allocation->egress);
    memcpy(dolly->states, allocation->tasks[job],
           allocation->problem->jobs[job].n_tasks * sizeof *dolly->states);
}

static void give_back(const struct dolly *dolly, size_t job, size_t n_copies, int64_t used)
{
    struct allocation *allocation = dolly->allocation;
    size_t clusters = allocation->problem->n_clusters;
    memcpy(allocation->idle, dolly->idle, clusters * sizeof *allocation->idle);
    memcpy(allocation->ingress, dolly->ingress, clusters * sizeof *allocation->ingress);
    memcpy(allocation->egress, dolly->egress, clusters * sizeof *allocation->egress);
    memcpy(allocation->tasks[job], dolly->states,
           allocation->problem->jobs[job].n_tasks * sizeof *dolly->states);
    allocation->n_copies = n_copies;
    allocation->used[job] = used;
}

/* One clone of each task that starts. */
static enum pv_code clone_once(struct dolly *dolly, size_t job, int64_t round, bool *whole)
{
    for (size_t i = 0; i < dolly->n_started && *whole; i++) {
        size_t index = dolly->started[i];
        struct candidate candidate;
        PV_TRY(placement_find(&dolly->placement, job, index, &candidate));
        *whole = candidate.found;
        if (candidate.found && !allocation_grant(dolly->allocation, job, index, round, &candidate))
            return PV_E_MEMORY;
    }
    return PV_OK;
}

static enum pv_code clone_job(struct dolly *dolly, size_t job)
{
    size_t before = dolly->allocation->n_copies;
    int64_t used = dolly->allocation->used[job];
    bool whole = true;
    enum pv_code code = PV_OK;
    if (!list_started(dolly, job) || dolly->n_started == 0)
        return PV_OK;
    size_t copies = dolly_judge(dolly, job);
    dolly_keep(dolly, job);
    for (size_t c = 2; c <= copies && whole && code == PV_OK; c++)
        code = clone_once(dolly, job, (int64_t)c, &whole);
    if (!whole)
        give_back(dolly, job, before, used);
    double more = (double)(dolly->allocation->n_copies - before);
    dolly->clones += more;
    dolly->used += more;
    return code;
}

static enum pv_code dolly_run(struct allocation *allocation)
{
    struct dolly dolly;
    if (!dolly_make(&dolly, allocation))
        return PV_E_MEMORY;
    for (size_t j = 0; j < allocation->problem->n_jobs; j++) {
        size_t before = allocation->n_copies;
        PV_TRY(placement_run(&dolly.placement, j, allocation->idle));
        dolly.used += (double)(allocation->n_copies - before);
        PV_TRY(clone_job(&dolly, j));
    }
    return PV_OK;
}

/* risk, budget and utilization_max are the paper's epsilon, beta and tau; the straggler probability
 * is ours, and 150 tasks are the small jobs of the traces that Dolly was evaluated on. */
static const struct geo_parameter parameters[] = {
    [STRAGGLER_PROBABILITY] = {"straggler_probability", 0, 1, .standard = 0.1},
    [RISK] = {"risk", 0, 1, .standard = 0.05},
    [BUDGET] = {"budget", 0, 1, .standard = 0.05},
    [UTILIZATION_MAX] = {"utilization_max", 0, 1, .standard = 0.8},
    [TASKS_MAX] = {"tasks_max", 1, 1e9, 150, .integral = true}};

const struct geo_planner geo_planner_dolly = {
    .name = "dolly",
    .run = dolly_run,
    .parameters = parameters,
    .n_parameters = sizeof parameters / sizeof *parameters,
    .observes_running_copies = true,
};
