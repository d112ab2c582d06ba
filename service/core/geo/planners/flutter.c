/*
 * Flutter: each stage placed so that it ends soonest (Z. Hu, B. Li, J. Luo, "Flutter: scheduling
 * tasks closer to data across geo-distributed datacenters", INFOCOM 2016).
 *
 * Observes the sizes of inputs, mean speeds of the links, idle slots and, of execution, one time
 * for all clusters: that of the mean speed over those that know the operation. It knows neither
 * that clusters differ, nor that speeds vary, nor that clusters are lost (PingAn, section 6.2:
 * "without the awareness of cluster heterogeneity").
 *
 * Decides job by job in the order of the request. A task's time in a cluster is the longest of the
 * transfers of its inputs, each of which holds an equal part of the task, plus the execution after
 * it. Tasks are placed by lexicographic min-max of these times: Flutter solves a linear program for
 * it, here it is an assignment in whole tasks (core/geo/assignment.h). One copy per task.
 */
#include "core/geo/planners/flutter.h"

#include <math.h>

#include "core/geo/planner.h"

/* Seconds a byte of the task takes to get there, all inputs at once. */
static void
fill_transfers(const struct placement *placement, const struct geo_task *task, double paces[])
{
    const struct allocation *allocation = placement->allocation;
    double each = 1 / (double)task->n_inputs;
    for (size_t m = 0; m < allocation->problem->n_clusters; m++)
        paces[m] = 0;
    for (size_t i = 0; i < task->n_inputs; i++)
        for (size_t m = 0; m < allocation->problem->n_clusters; m++)
            paces[m] = fmax(paces[m], each / geo_rates_link(allocation->rates, task->inputs[i], m));
}

/* Seconds a byte takes to be processed, in whatever cluster. */
static double *find_paces(struct allocation *allocation)
{
    const struct geo_problem *problem = allocation->problem;
    double *pace = arena_array(allocation->arena, problem->n_operations, sizeof *pace);
    for (size_t op = 0; pace != NULL && op < problem->n_operations; op++) {
        double sum = 0;
        size_t n = 0;
        for (size_t m = 0; m < problem->n_clusters; m++) {
            const struct speeds *speeds = problem->clusters[m].processing[op];
            sum += speeds != NULL ? speeds->mean : 0;
            n += speeds != NULL;
        }
        pace[op] = n > 0 ? (double)n / sum : 0;
    }
    return pace;
}

bool flutter_make(struct placement *placement, struct allocation *allocation)
{
    double *pace = find_paces(allocation);
    return pace != NULL && placement_make(placement, allocation, fill_transfers, pace);
}

static enum pv_code flutter_run(struct allocation *allocation)
{
    struct placement placement;
    if (!flutter_make(&placement, allocation))
        return PV_E_MEMORY;
    for (size_t j = 0; j < allocation->problem->n_jobs; j++)
        PV_TRY(placement_run(&placement, j, allocation->idle));
    return PV_OK;
}

const struct geo_planner geo_planner_flutter = {.name = "flutter", .run = flutter_run};
