#include "core/geo/system_load.h"

#include <math.h>

struct geo_system_load geo_system_load_measure(const struct geo_problem *problem)
{
    struct geo_system_load load = {.slots = 0};
    for (size_t m = 0; m < problem->n_clusters; m++) {
        load.slots += problem->clusters[m].slots;
        load.busy_slots += problem->clusters[m].busy_slots;
    }
    for (size_t j = 0; j < problem->n_jobs; j++)
        for (size_t t = 0; t < problem->jobs[j].n_tasks; t++)
            load.ready_tasks += problem->jobs[j].tasks[t].n_copies == 0;
    double wanted = (double)load.busy_slots + (double)load.ready_tasks;
    load.load = load.slots > 0 ? wanted / (double)load.slots : HUGE_VAL;
    return load;
}

double geo_system_load_epsilon(double load)
{
    /* The paper's five pairs, arrival rate and best epsilon. */
    static const double HEAVIEST = 0.15;
    static const double hint[][2] = {
        {0.02, 0.8}, {0.05, 0.6}, {0.07, 0.6}, {0.11, 0.4}, {0.15, 0.2}};
    enum { PAIRS = sizeof hint / sizeof *hint };
    double rate = load * HEAVIEST;
    if (rate <= hint[0][0])
        return hint[0][1];
    for (size_t i = 1; i < PAIRS; i++) {
        const double *a = hint[i - 1];
        const double *b = hint[i];
        if (rate < b[0])
            return a[1] + (b[1] - a[1]) * (rate - a[0]) / (b[0] - a[0]);
    }
    return hint[PAIRS - 1][1];
}
