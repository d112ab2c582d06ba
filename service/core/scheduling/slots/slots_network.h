#ifndef CORE_SCHEDULING_SLOTS_SLOTS_NETWORK_H
#define CORE_SCHEDULING_SLOTS_SLOTS_NETWORK_H

#include "base/error.h"
#include "core/scheduling/slots/slots_workload.h"

/*
 * Shuffles over the network of the nodes (docs/design.md, "The network"), where jobs have bytes for it.
 *
 * A reduce that holds a slot fetches, from each node where maps of its job have ended, its parts of
 * their outputs: one flow from each node, unless that is its own. Those of a batch are alike, and one
 * flow of so many. The last byte is there when all flows have ended; work does not begin before.
 */
struct slots_engine;
struct slots_network;

/* What was moved, and how long links were busy for it if each was used up at the time. */
struct slots_traffic {
    double link_bytes;  /* from node to node */
    double local_bytes; /* fetched by reduces on the nodes where they were */
    double busy_s;      /* of all links together */
    double busiest_s;   /* of one link */
    size_t links;       /* two for each node with a bandwidth; 0: there is no network */
    size_t steps;       /* that it took to share the network, as in network_steps_max */
};

/* Nobody else can put others in their place: so the compiler may inline them. */
#pragma GCC visibility push(hidden)

/* Of an engine with nodes. Without bytes engine->network stays NULL. false: out of memory. */
bool slots_network_init(struct slots_engine *engine);

/* A batch of reduces that has just been given slots begins to fetch; so many more of its kind have
 * joined it. */
void slots_network_fetch(struct slots_engine *engine, size_t batch);
void slots_network_join(struct slots_engine *engine, size_t batch, size_t count);

/* The job's maps are done. Whether bytes are missing: then the batch is planned as soon as they are
 * there. */
bool slots_network_holds(struct slots_engine *engine, size_t batch);

/* Reduces begin to work; or are stopped, or lost, perhaps before that. */
void slots_network_begun(struct slots_engine *engine, size_t batch);
void slots_network_over(struct slots_engine *engine, size_t batch);

/* So many maps of a job have ended on a node. */
void slots_network_map_ended(struct slots_engine *engine, size_t job, size_t node, size_t count);
void slots_network_job_ended(struct slots_engine *engine, size_t job);

/* What is on a node can be fetched, or no more. */
void slots_network_open(struct slots_engine *engine, size_t node, bool open);

/* When the next fetch from a node ends; HUGE_VAL: none does. */
double slots_network_next(const struct slots_network *network);

/* Fetches end that belong to this instant. */
void slots_network_end(struct slots_engine *engine);

/* All else of an instant has happened: the network is shared anew. PV_E_MEMORY; PV_E_INVALID where the
 * cluster's network_steps_max is exceeded. */
enum pv_code slots_network_settle(struct slots_engine *engine, struct pv_error *err) PV_MUSTCHECK;

/* What has been moved until now, and the steps that it took. */
void slots_network_take(struct slots_engine *engine, struct slots_traffic *traffic);

#pragma GCC visibility pop

#endif
