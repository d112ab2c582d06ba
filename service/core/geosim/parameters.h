#ifndef CORE_GEOSIM_PARAMETERS_H
#define CORE_GEOSIM_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/geo/planner.h"

/* What a simulation is asked for, and what it counts. */

struct geosim_parameters {
    struct geo_parameters planner; /* what is automatic is resolved for every plan */
    /* A planner that clones running tasks (its row says so) is shown them and may add copies, as in
     * a copy plan whose request lists running copies. false: it is shown ready tasks alone, and of
     * the others what they take, so that tasks get copies only when they start. */
    bool clone_running;
    size_t points;    /* of an estimated speed, 1 to SPEEDS_POINTS_MAX; usual: 8 */
    double horizon_s; /* what is not done by then is given up, > 0; HUGE_VAL: none */
};

/* clone_running, 8 points, no horizon. */
struct geosim_parameters geosim_parameters_default(const struct geo_planner *planner);

/* Called now and then. false: stop. */
struct geosim_progress {
    bool (*report)(void *context, size_t finished, size_t all);
    void *context;
};

struct geosim_counts {
    size_t finished; /* workflows */
    size_t copies;   /* started */
    size_t extra;    /* of those, while another copy of their task ran */
    size_t lost;     /* ended by an outage */
    size_t losers;   /* ended because a sibling was first */
    size_t stopped;  /* ended by the planner */
    size_t refused;  /* in a plan, but without slot or room in a gate */
    size_t reruns;   /* tasks that became ready again, all their copies lost */
    size_t outages;
    size_t plans;
};

#endif
