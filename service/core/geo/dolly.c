#include "core/geo/dolly.h"

#include <math.h>
#include <string.h>

#include "core/geo/flutter.h"

struct dolly {
    struct desk *desk;
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
    struct state *states;
};

size_t dolly_copies(const struct dolly_terms *terms, size_t n_tasks, size_t most)
{
    double all_straggle = 1; /* p^c */
    for (size_t c = 1; c < most; c++) {
        all_straggle *= terms->straggler_probability;
        double some_task = -expm1((double)n_tasks * log1p(-all_straggle));
        if (some_task <= terms->risk)
            return c;
    }
    return most;
}

static bool make(struct dolly *dolly, struct desk *desk)
{
    const struct geo_problem *problem = desk->problem;
    size_t clusters = problem->n_clusters;
    size_t most = 0;
    *dolly = (struct dolly){.desk = desk};
    for (size_t m = 0; m < clusters; m++) {
        dolly->slots += (double)problem->clusters[m].slots;
        dolly->used += (double)problem->clusters[m].busy_slots;
    }
    for (size_t j = 0; j < problem->n_jobs; j++) {
        most = problem->jobs[j].n_tasks > most ? problem->jobs[j].n_tasks : most;
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++)
            dolly->clones += fmax((double)problem->jobs[j].tasks[t].n_copies - 1, 0);
    }
    dolly->started = arena_array(desk->arena, most, sizeof *dolly->started);
    dolly->idle = arena_array(desk->arena, clusters, sizeof *dolly->idle);
    dolly->ingress = arena_array(desk->arena, clusters, sizeof *dolly->ingress);
    dolly->egress = arena_array(desk->arena, clusters, sizeof *dolly->egress);
    dolly->states = arena_array(desk->arena, most, sizeof *dolly->states);
    return dolly->started && dolly->idle && dolly->ingress && dolly->egress && dolly->states &&
           flutter_make(&dolly->placement, desk);
}

/* false: one of them waits. */
static bool list_started(struct dolly *dolly, size_t job)
{
    const struct geo_job *of = &dolly->desk->problem->jobs[job];
    dolly->n_started = 0;
    for (size_t t = 0; t < of->n_tasks; t++) {
        if (dolly->desk->states[job][t].n == 0)
            return false;
        if (of->tasks[t].n_copies == 0)
            dolly->started[dolly->n_started++] = t;
    }
    return true;
}

/* Copies of each task; 1: the job is not to be cloned. */
static size_t judge(const struct dolly *dolly, size_t job)
{
    const struct desk *desk = dolly->desk;
    const struct dolly_terms *terms = &desk->terms->dolly;
    const struct geo_job *of = &desk->problem->jobs[job];
    size_t n = of->stage_tasks > of->n_tasks ? of->stage_tasks : of->n_tasks;
    if (n > (size_t)terms->tasks_max)
        return 1;
    size_t copies = dolly_copies(terms, n, desk->problem->n_clusters);
    double more = (double)(copies - 1) * (double)dolly->n_started;
    bool affordable = dolly->clones + more <= terms->budget * dolly->slots &&
                      dolly->used + more <= terms->utilization_max * dolly->slots;
    return affordable ? copies : 1;
}

static void keep(struct dolly *dolly, size_t job)
{
    const struct desk *desk = dolly->desk;
    size_t clusters = desk->problem->n_clusters;
    memcpy(dolly->idle, desk->idle, clusters * sizeof *desk->idle);
    memcpy(dolly->ingress, desk->ingress, clusters * sizeof *desk->ingress);
    memcpy(dolly->egress, desk->egress, clusters * sizeof *desk->egress);
    memcpy(dolly->states, desk->states[job],
           desk->problem->jobs[job].n_tasks * sizeof *dolly->states);
}

static void give_back(const struct dolly *dolly, size_t job, size_t n_copies, int64_t used)
{
    struct desk *desk = dolly->desk;
    size_t clusters = desk->problem->n_clusters;
    memcpy(desk->idle, dolly->idle, clusters * sizeof *desk->idle);
    memcpy(desk->ingress, dolly->ingress, clusters * sizeof *desk->ingress);
    memcpy(desk->egress, dolly->egress, clusters * sizeof *desk->egress);
    memcpy(desk->states[job], dolly->states,
           desk->problem->jobs[job].n_tasks * sizeof *dolly->states);
    desk->n_copies = n_copies;
    desk->used[job] = used;
}

/* One clone of each task that starts. */
static enum pv_code clone_once(struct dolly *dolly, size_t job, int64_t round, bool *whole)
{
    for (size_t i = 0; i < dolly->n_started && *whole; i++) {
        size_t index = dolly->started[i];
        struct offer offer;
        enum pv_code code = placement_find(&dolly->placement, job, index, &offer);
        if (code != PV_OK)
            return code;
        *whole = offer.found;
        if (offer.found && !desk_grant(dolly->desk, job, index, round, &offer))
            return PV_E_MEMORY;
    }
    return PV_OK;
}

static enum pv_code clone_job(struct dolly *dolly, size_t job)
{
    size_t before = dolly->desk->n_copies;
    int64_t used = dolly->desk->used[job];
    bool whole = true;
    enum pv_code code = PV_OK;
    if (!list_started(dolly, job) || dolly->n_started == 0)
        return PV_OK;
    size_t copies = judge(dolly, job);
    keep(dolly, job);
    for (size_t c = 2; c <= copies && whole && code == PV_OK; c++)
        code = clone_once(dolly, job, (int64_t)c, &whole);
    if (!whole)
        give_back(dolly, job, before, used);
    double more = (double)(dolly->desk->n_copies - before);
    dolly->clones += more;
    dolly->used += more;
    return code;
}

enum pv_code dolly_run(struct desk *desk)
{
    struct dolly dolly;
    enum pv_code code = make(&dolly, desk) ? PV_OK : PV_E_MEMORY;
    for (size_t j = 0; j < desk->problem->n_jobs && code == PV_OK; j++) {
        size_t before = desk->n_copies;
        code = placement_run(&dolly.placement, j, desk->idle);
        dolly.used += (double)(desk->n_copies - before);
        if (code == PV_OK)
            code = clone_job(&dolly, j);
    }
    return code;
}
