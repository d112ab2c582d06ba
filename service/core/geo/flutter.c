#include "core/geo/flutter.h"

#include <math.h>

/* Seconds a byte of the task takes to get there, all inputs at once. */
static void
fill_transfers(const struct placement *placement, const struct geo_task *task, double paces[])
{
    const struct desk *desk = placement->desk;
    double each = 1 / (double)task->n_inputs;
    for (size_t m = 0; m < desk->problem->n_clusters; m++)
        paces[m] = 0;
    for (size_t i = 0; i < task->n_inputs; i++)
        for (size_t m = 0; m < desk->problem->n_clusters; m++)
            paces[m] = fmax(paces[m], each / geo_rates_link(desk->rates, task->inputs[i], m));
}

/* Seconds a byte takes to be processed, in whatever cluster. */
static double *find_paces(struct desk *desk)
{
    const struct geo_problem *problem = desk->problem;
    double *pace = arena_array(desk->arena, problem->n_operations, sizeof *pace);
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

bool flutter_make(struct placement *placement, struct desk *desk)
{
    double *pace = find_paces(desk);
    return pace != NULL && placement_make(placement, desk, fill_transfers, pace);
}

enum pv_code flutter_run(struct desk *desk)
{
    struct placement placement;
    enum pv_code code = flutter_make(&placement, desk) ? PV_OK : PV_E_MEMORY;
    for (size_t j = 0; j < desk->problem->n_jobs && code == PV_OK; j++)
        code = placement_run(&placement, j, desk->idle);
    return code;
}
