#ifndef CORE_SCHEDULING_SLOTS_SLOTS_ENGINE_H
#define CORE_SCHEDULING_SLOTS_SLOTS_ENGINE_H

#include "core/scheduling/slots/fairness_series.h"
#include "core/scheduling/slots/slots_policy.h"
#include "core/scheduling/slots/slots_spans.h"
#include "core/sim/occupancy.h"

/*
 * MapReduce jobs carried out on map and reduce slots, task by task, under a policy.
 *
 * A map that is given a slot at g ends at g + duration. A reduce that is given one at g holds it
 * from g, begins to work at max(g + shuffle_s, end of its job's maps), and ends a duration later.
 * The end of maps is that of the last one, or the arrival of a job without maps. A reduce may be
 * given a slot when ceil(slow_start x maps) of its job's maps have finished. No task is stopped but
 * on nodes that are down, and of a task and its copy the one that does not end first.
 *
 * Where the cluster has nodes, free slots are given in the order of nodes (slots_seats.h), a task
 * works at the speed of its node, which incidents change (slots_hosting.h), and tasks may have
 * copies (slots_copies.h). Tasks that were lost with their node are pending again, before the others
 * of their job. A shuffle takes shuffle_s anywhere, and where its job has bytes for it, at least until
 * they have come over the network of the nodes (slots_network.c).
 *
 * The next instant is the least of: ends of tasks, begins of work, arrivals, ends of fetches, crossings. At it, in
 * this order: tasks end; incidents begin and end; fetches end; work begins; jobs whose maps ended, then jobs that ended, are reported to the
 * policy in order of arrival; jobs arrive; jobs cross; slots are given, map slots before reduce
 * slots, partition by partition, one by one as long as the policy names a job, but first to copies of tasks that
 * wait; then, at the end of an epoch, another copy is asked for; then the network is shared anew. Under a policy that
 * chooses for slots of no fixed kind, all slots are one pool, and when a reduce may be given one is
 * the policy's to say. Instants are
 * compared as doubles; but a crossing, or the end of a fetch, belongs to another instant that it is
 * close to (slots_service.h, node_flows.h).
 */
struct slots_job_times {
    double start_s;        /* its first slot was given */
    double map_end_s;      /* the arrival of a job without maps */
    double reduce_start_s; /* the first slot of a reduce was given; NAN: it has none */
    double shuffle_end_s;  /* its last reduce began to work; NAN likewise */
    double finish_s;
};

/* Copies of tasks: how many there were, and what became of them. */
struct slots_speculation {
    size_t copies; /* that had a slot */
    size_t useful; /* that ended before their tasks, or took their places on a node that was lost */
    /* That were stopped when their tasks ended, after an incident had slowed their nodes; else, on
     * a node not faster than that of the task, by levels where nodes have them. */
    size_t killed_on_straggler;
    size_t killed_on_slower;
    double wasted_s; /* for which copies held slots that did not end */
};

/* What containers were given, for how long. */
struct slots_allocated {
    double vcores_s;
    double memory_byte_s;
};

/* What was moved, and how long links were busy for it if each was used up at the time. */
struct slots_traffic {
    double link_bytes;  /* from node to node */
    double local_bytes; /* fetched by reduces on the nodes where they were */
    double busy_s;      /* of all links together */
    double busiest_s;   /* of one link */
    size_t links;       /* two for each node with a bandwidth; 0: there is no network */
    size_t steps;       /* that it took to share the network, as in network_steps_max */
};

/* Called now and then with how far the tasks are, in tasks: one that has been given a slot counts half,
 * one that has ended whole. false: stop. */
struct slots_progress {
    bool (*report)(void *context, size_t tasks);
    void *context;
};

/*
 * times: of each job, as in jobs, n >= 1 and < 2^32 - 1. progress may be NULL. What is worked with
 * lives in scratch, which is back at its mark.
 *
 * Same arguments, same result. PV_E_MEMORY; PV_E_CANCELLED (progress said so); PV_E_INVALID where
 * the cluster has no slots of a kind that a job needs or too few for the policy, or a job lacks what
 * the policy needs, with the place of the fault; PV_E_INTERNAL where the policy names nobody while jobs wait and nothing is under way,
 * which is the policy's mistake. Tasks that last equally long and are given slots together are
 * handled together: O((n + groups) log(n + groups)).
 */
enum pv_code slots_simulate(const struct slots_cluster *cluster,
                            const struct slots_job jobs[],
                            size_t n,
                            const struct slots_terms *terms,
                            const struct slots_progress *progress,
                            struct arena *scratch,
                            struct slots_job_times times[],
                            struct pv_error *err) PV_MUSTCHECK;

/* Series of an occupancy: SLOTS_PENDING + kind, tasks of jobs that have arrived that have no slot;
 * SLOTS_HELD + kind, tasks that hold one. */
enum slots_series { SLOTS_PENDING = 0, SLOTS_HELD = SLOTS_KINDS };
enum { SLOTS_SERIES = SLOTS_HELD + SLOTS_KINDS };

/* What is seen of a simulation beside times; NULL: nobody looks. */
struct slots_observer {
    struct occupancy *occupancy; /* of SLOTS_SERIES series, whose origin is not after the first
                                    arrival */
    struct slots_spans *spans;
    struct fairness_series *fairness; /* of n jobs, which are known by their order of arrival */
    struct slots_speculation *speculation; /* zeros */
    struct slots_allocated *allocated;     /* where there are containers, copies' included */
    struct slots_traffic *traffic;         /* zeros, and still so where nothing is shuffled */
};

/* The same, seen. In spans jobs are known by their order of arrival. */
enum pv_code slots_simulate_observed(const struct slots_cluster *cluster,
                                     const struct slots_job jobs[],
                                     size_t n,
                                     const struct slots_terms *terms,
                                     const struct slots_progress *progress,
                                     const struct slots_observer *observer,
                                     struct arena *scratch,
                                     struct slots_job_times times[],
                                     struct pv_error *err) PV_MUSTCHECK;

#endif
