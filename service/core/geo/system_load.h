#ifndef CORE_GEO_SYSTEM_LOAD_H
#define CORE_GEO_SYSTEM_LOAD_H

#include "core/geo/problem.h"

/*
 * How much is asked of the clusters, and the epsilon that suits it: the hint of PingAn,
 * section 6.4, where epsilon falls from 0.8 for the lightest of five arrival rates to 0.2 for the
 * heaviest.
 *
 * The hint is in arrival rates, which a request does not show. What it shows is a load: slots
 * that are busy and tasks that are ready and run nowhere yet, over all slots. Work in a system that
 * keeps up grows with the rate of arrivals, and at the heaviest rate of the paper every slot is
 * wanted; so a rate stands for the load rate/0.15, and a load of 1 and more for the heaviest.
 */
struct geo_system_load {
    int64_t slots;
    int64_t busy_slots;
    int64_t ready_tasks; /* without a copy */
    double load;         /* (busy_slots + ready_tasks) / slots; infinite without a slot */
};

struct geo_system_load geo_system_load_measure(const struct geo_problem *problem);

/* Of a load >= 0: 0.8 up to 2/15, 0.6 from 1/3 to 7/15, 0.4 at 11/15, 0.2 from 1 on, and straight
 * lines between; never rises. */
double geo_system_load_epsilon(double load);

#endif
