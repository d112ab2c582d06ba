#ifndef CORE_GEOSIM_ENGINE_H
#define CORE_GEOSIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "core/geosim/parameters.h"
#include "core/geosim/world.h"

/*
 * Workflows carried out in many clusters, copy by copy, as a planner of core/geo decides (PingAn,
 * section 6).
 *
 * Time goes in slots of world.slot_s. At the beginning of one, in this order: copies that have come
 * to their end complete their tasks, and the siblings of the first are ended; outages end and
 * begin; workflows that have arrived are alive; tasks whose parents are done are ready; then the
 * planner is asked, and what it says is done. Slots in which nothing can change are passed over.
 *
 * What the planner sees: all alive workflows as jobs, their ready and running tasks, how far copies
 * have come, idle slots, and of speeds the estimates of estimates.h. A cluster that cannot be
 * reached has no idle slot. The unprocessed bytes of a job are the input of its open tasks, whole
 * until a task is done; its stage is the earliest level of the graph with a task that is not.
 *
 * What happens: a copy draws its processing speed and, for each remote input, a transfer speed
 * (draws.h), and keeps the lesser of the former and the mean of the latter until it ends. Draws
 * depend on the seed, workflow, task, cluster and on how often the task has been in that cluster,
 * outages on the seed and cluster alone: planners are compared under common random numbers. No copy
 * is started without an idle slot and room in the gates for its expected rate, whatever the plan
 * says.
 *
 * An outage ends the copies in its cluster and keeps its slots from use; data that lies there can
 * be read all the same, as PingAn's own reliability counts only the clusters in which copies run.
 * The output of a task lies where the copy ran that ended first. An operation's estimated speed in
 * a cluster is the mean bytes per second of work of all its tasks in the workload times the power
 * there; a task's real one is its own bytes per second of work times the power drawn.
 *
 * What cannot go on is given up: nothing runs, all workflows have arrived, and the planner would
 * start nothing even if every cluster were up (a gate narrower than any copy the floor allows).
 */
struct geosim_result {
    double
        *flow_s; /* of each workflow: from its arrival to the end of its last task; NAN: given up */
    double *busy_s; /* of each cluster: time that its slots were taken, summed */
    struct geosim_counts counts;
    double ended_s;     /* the last of them ended, or the horizon */
    double utilization; /* slot time taken / (slots x time from the first arrival to the end) */
    double useful;      /* share of the slot time taken that went into copies that won */
};

/*
 * Run. Everything is borrowed; the result and all working memory live in `arena`.
 *
 * PV_E_INVALID: a task has no cluster in which it could run. PV_E_CANCELLED: progress said stop.
 * PV_E_MEMORY. *result is written only on PV_OK. Same world, workload, parameters and seed: same
 * result.
 */
enum pv_code geosim_run(const struct geosim_world *world,
                        const struct geosim_workload *workload,
                        const struct geosim_parameters *parameters,
                        uint64_t seed,
                        const struct geosim_progress *progress, /* NULL: nobody asks */
                        struct arena *arena,
                        struct geosim_result *result,
                        struct pv_error *err) PV_MUSTCHECK;

#endif
