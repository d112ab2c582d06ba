#ifndef CORE_SCHEDULING_SLOTS_SLOTS_ENGINE_INTERNAL_H
#define CORE_SCHEDULING_SLOTS_SLOTS_ENGINE_INTERNAL_H

#include <math.h>

#include "base/vector.h"
#include "core/scheduling/slots/fairness_series.h"
#include "core/scheduling/slots/slots_engine.h"
#include "core/scheduling/slots/slots_evidence.h"
#include "core/scheduling/slots/slots_seats.h"
#include "core/scheduling/slots/slots_service.h"
#include "core/sim/clock.h"
#include "core/sim/event_queue.h"

/*
 * The state of a simulation on slots, for the parts of the engine: the loop of instants
 * (slots_engine.c), free slots and who gets them (slots_giving.c), tasks under way
 * (slots_batches.c), and where the cluster has nodes, where slots are (slots_seats.c), tasks at the
 * speed of their nodes (slots_hosting.c), what happens to nodes (slots_incidents.c), copies of
 * tasks (slots_copies.c), and shuffles that share the network (slots_network.c). Nodes may have room
 * for containers in place of slots (slots_containers.c), which others are given
 * (slots_container_giving.c).
 */
enum slots_event { SLOTS_TASKS_END, SLOTS_INCIDENT_CHANGES, SLOTS_WORK_BEGINS };

#define SLOTS_NONE SIZE_MAX

/* Tasks of a job that last equally long, were given slots of one seat at one instant, and so end
 * together. */
struct slots_batch {
    double given_s;
    double begun_s;    /* NAN: not yet */
    double duration_s; /* of each task */
    size_t job;        /* SLOTS_NONE: it is over */
    size_t count;
    size_t seat; /* of the cluster's nodes; without nodes the partition, of containers the node */
    enum slots_kind kind;
    size_t next; /* of the job's that wait for its maps, or of those that are over */
};

/* Of a job, what policies do not see. */
struct slots_job_progress {
    size_t list_at[SLOTS_KINDS];  /* the tasks that are given out next */
    size_t given_at[SLOTS_KINDS]; /* how many of them have been */
    size_t latest[SLOTS_KINDS];   /* batch */
    size_t waiting;               /* batches of reduces that wait for the end of the maps */
    size_t unfinished;            /* tasks */
    size_t maps_unfinished;
    size_t maps_before_ready; /* that have to finish before reduces are given slots */
    struct slots_job_times times;
};

struct slots_hosting;
struct slots_copies;
struct slots_containers;
struct slots_network;

struct slots_engine {
    struct slots_view view;
    const struct slots_policy *policy;
    void *policy_state;
    bool follows_service;             /* the policy has limits */
    struct occupancy *occupancy;      /* NULL: nobody looks */
    struct slots_spans *spans;        /* likewise */
    struct fairness_series *fairness; /* likewise */
    struct arena *arena;
    struct sim_clock clock;
    struct event_queue queue;
    struct slots_service service;
    struct slots_job *jobs; /* in order of arrival */
    struct slots_counts *counts;
    struct slots_job_progress *progress;
    size_t arrived;     /* jobs */
    size_t ended;       /* jobs */
    size_t given_tasks; /* that have been given slots, and were not lost with their nodes */
    size_t ended_tasks;
    struct slots_partitions free; /* slots */
    VECTOR(struct slots_batch) batches;
    size_t over;        /* chain of batches that are over */
    size_t *maps_ended; /* jobs, at this instant */
    size_t n_maps_ended;
    size_t *jobs_ended; /* likewise */
    size_t n_jobs_ended;
    size_t *due;                         /* jobs that cross */
    struct slots_hosting *hosting;       /* NULL: the cluster has no nodes */
    struct slots_copies *copies;         /* NULL: the policy does not speculate */
    struct slots_containers *containers; /* NULL: tasks have slots */
    struct slots_allocated allocated;    /* to containers that are not held any more */
    struct slots_network *network;       /* NULL: no job has bytes to shuffle */
    bool no_memory;
    const struct slots_progress *report; /* NULL: nobody is informed */
    size_t reported;                     /* the most tasks so far */
    size_t unreported;                   /* steps since the last report */
    size_t looked_through;               /* jobs, by the policy, not among these steps yet */
    bool cancelled;
};

/* Most simulations have none, and are not to be slower for it. */
static inline bool slots_has_network(const struct slots_engine *engine)
{
    return __builtin_expect(engine->network != NULL, false);
}

/* So many tasks more, or fewer, are pending. */
static inline void
slots_observe_pending(const struct slots_engine *engine, enum slots_kind kind, double by)
{
    if (engine->occupancy != NULL)
        occupancy_change(engine->occupancy, (uint32_t)SLOTS_PENDING + (uint32_t)kind,
                         engine->clock.now_s, by);
}

/* Of a job so many tasks more, or fewer, hold slots. */
static inline void
slots_observe_held(const struct slots_engine *engine, enum slots_kind kind, size_t job, double by)
{
    if (engine->occupancy != NULL)
        occupancy_change(engine->occupancy, (uint32_t)SLOTS_HELD + (uint32_t)kind,
                         engine->clock.now_s, by);
    if (engine->fairness != NULL)
        fairness_series_hold(engine->fairness, job, engine->clock.now_s, by);
}

/* Nobody else can put others in their place: so the compiler may inline them. */
#pragma GCC visibility push(hidden)

/* A step more was made: an instant, slots given to a job at once, a job that the policy looks through.
 * false: stop, the run is cancelled. */
bool slots_engine_goes_on(struct slots_engine *engine);

/* The counts of a job have changed for tasks of a kind, or whether they are ready. */
static inline void
slots_engine_changed(struct slots_engine *engine, enum slots_kind kind, size_t job);

/* --- tasks under way (slots_batches.c) --- */

/* An event; 0: out of memory, which the engine notes. */
event_id
slots_schedule(struct slots_engine *engine, enum slots_event kind, double at_s, size_t about);

/* The next tasks of a job, so many of a kind that are pending, get slots of a seat. */
void slots_batches_give(
    struct slots_engine *engine, enum slots_kind kind, size_t seat, size_t job, size_t count);

/* A batch by itself, which has slots and begins to work as soon as it can. twin: what it is a copy of,
 * or SLOTS_NONE. SLOTS_NONE: out of memory. */
size_t slots_batch_start(struct slots_engine *engine,
                         const struct slots_batch *batch,
                         size_t entry,
                         size_t twin);

/* A batch among those that are known, and no more; SLOTS_NONE: out of memory. */
size_t slots_batch_add(struct slots_engine *engine, const struct slots_batch *batch);

/* Of reduces whose maps are done: they begin to work as soon as they can. */
void slots_batch_plan(struct slots_engine *engine, size_t index);

/* Its tasks begin to work. */
void slots_batch_begin(struct slots_engine *engine, size_t index);

/* The job's maps are done: its reduces that wait for that begin when their shuffle is over. */
void slots_batches_maps_ended(struct slots_engine *engine, size_t job);

/* The tasks of a batch have ended. */
void slots_batch_end(struct slots_engine *engine, size_t index);

/* Its slots are free, and nothing is left of it. finished: its tasks have ended, and were not
 * stopped. */
void slots_batch_over(struct slots_engine *engine, size_t index, bool finished);

/* --- free slots (slots_giving.c) --- */

/* Whom they go to, one by one, until the policy names nobody. */
void slots_give_free(struct slots_engine *engine);

/* So many pending tasks of a job get what they need: its counts and times are those of then. */
void slots_giving_note(struct slots_engine *engine, enum slots_kind kind, size_t job, size_t count);

/* --- containers (slots_containers.c, slots_container_giving.c) --- */

/* Of an engine with nodes whose policy has begun. false: out of memory. */
bool slots_containers_init(struct slots_engine *engine, const struct slots_terms *terms);

/* Whom they go to, one by one, as long as one fits that somebody may have. */
void slots_containers_give(struct slots_engine *engine);

/* A job has arrived, its counts have changed, or its standing. */
void slots_containers_touch(struct slots_engine *engine, size_t job);

/* The node has gone down, or takes tasks again. */
void slots_containers_open(struct slots_engine *engine, size_t node);

/* The containers of a batch are free. */
void slots_containers_release(struct slots_engine *engine, const struct slots_batch *batch);

/* For a copy of a batch's one task: the first node from `from` on on which its container fits, SIZE_MAX:
 * none; and it is there. */
size_t slots_containers_next(const struct slots_engine *engine,
                             const struct slots_batch *batch,
                             size_t from);
void slots_containers_take(struct slots_engine *engine,
                           const struct slots_batch *batch,
                           size_t node);

static inline void
slots_engine_changed(struct slots_engine *engine, enum slots_kind kind, size_t job)
{
    if (engine->containers != NULL)
        slots_containers_touch(engine, job);
    else
        engine->policy->changed(engine->policy_state, kind, job);
}

/* --- tasks on nodes (slots_hosting.c) --- */

/*
 * Tasks on nodes: work is done at the speed of the node, which incidents change. Of a batch on a
 * node there is more to know than without (struct slots_attempt), at the same index.
 *
 * A task of duration d that has begun at b on a node whose speed v does not change ends at b + d/v.
 * When the speed changes, at t, what is left of d is done from t on at the new one. Incidents of one
 * node at one time: factors multiply, and it is down while any of them says so.
 */
struct slots_attempt {
    event_id event; /* its begin or end; 0: none is planned */
    double ends_s;  /* as it is planned */
    double done_s;  /* of its duration, at since_s */
    double since_s;
    bool steady;  /* at one speed since it began */
    bool is_copy; /* of another batch's task */
    bool slowed;  /* an incident slowed its node while it was there */
    size_t entry; /* in the job's list */
    size_t node;
    size_t before; /* batches of the node in the order of being given slots */
    size_t after;
    size_t twin;         /* the copy of its one task, or what it is a copy of; SLOTS_NONE: none */
    bool copy_waits;     /* of its one task, for a slot */
    double epoch_done;   /* progress at the last epoch; NAN: it is younger */
    bool waits;          /* among the job's batches that wait for its maps */
    size_t waits_behind; /* the one before it among these; SLOTS_NONE: it is the first */
};

struct slots_node_state {
    double factor;   /* of its speed, by incidents */
    size_t downs;    /* incidents under way */
    size_t incident; /* the first of its incidents */
    size_t first;    /* batches */
    size_t last;
};

/* Tasks of a job that were lost, all of one entry of its list. */
struct slots_lost {
    size_t entry;
    size_t count;
    size_t next;
};

/* Those of a job and kind, rising by entry. */
struct slots_lost_list {
    size_t first;
    size_t latest; /* the last one that was put there, near which the next one belongs; SLOTS_NONE:
                      it is gone */
};

struct slots_hosting {
    const struct slots_cluster *cluster;
    struct slots_seats seats;
    struct slots_node_state *nodes;
    bool *under_way;       /* by incident */
    size_t *next_incident; /* of the same node, by incident */
    VECTOR(struct slots_attempt) attempts;
    VECTOR(struct slots_lost) lost;
    size_t lost_over;                               /* chain of those of no use */
    struct slots_lost_list (*lost_of)[SLOTS_KINDS]; /* by job */
    size_t working;                                 /* batches */
};

/* What tasks have worked that have ended. */
struct slots_worked {
    double begun_s;   /* of what counts for the service */
    double service_s; /* how long that has worked */
    double task_s;    /* how long the task worked that has ended */
};

/* Of an engine whose policy has begun; incidents are scheduled. false: out of memory. */
bool slots_hosting_init(struct slots_engine *engine);

/* A job's next tasks get free slots of a partition, in the order of nodes. There are as many. */
void slots_hosting_give(
    struct slots_engine *engine, enum slots_kind kind, size_t partition, size_t job, size_t count);

/* Tasks of a job that were lost and are pending again, the first of its list, *count at most. false:
 * there are none. */
bool slots_hosting_take_lost(
    struct slots_engine *engine, enum slots_kind kind, size_t job, size_t *entry, size_t *count);

/* Tasks of a batch, which is over, are pending again. */
void slots_hosting_put_lost(struct slots_engine *engine,
                            const struct slots_batch *batch,
                            size_t entry);

/* A batch that was added is on its seat's node, behind the others. twin: what it is a copy of, or
 * SLOTS_NONE. false: out of memory. */
bool slots_hosting_add(struct slots_engine *engine, size_t index, size_t entry, size_t twin);

/* A batch waits for the maps of its job, before all others that do, of which `first` was the first. */
void slots_hosting_wait(struct slots_hosting *hosting, size_t index, size_t first);

/* It does not any more. O(1): nodes with very many of them may be lost. */
void slots_hosting_wait_no_more(struct slots_engine *engine, size_t index);

/* It is to begin. */
void slots_hosting_plan(struct slots_engine *engine, size_t index, event_id event);

/* It begins to work. Whether it counts towards its job's service, as copies do not. */
bool slots_hosting_begin(struct slots_engine *engine, size_t index);

/* Tasks end. *index becomes the original where that ends together with its copy; the other one is
 * stopped. */
struct slots_worked slots_hosting_end(struct slots_engine *engine, size_t *index);

/* It leaves its node; its slots are free. */
void slots_hosting_over(struct slots_engine *engine, size_t index);

/* Work that is done of each of its tasks by now. */
double slots_hosting_done(const struct slots_engine *engine, size_t index);

/* One task of several becomes a batch of its own, before the others on the node; SLOTS_NONE: out of
 * memory. */
size_t slots_hosting_split(struct slots_engine *engine, size_t index);

/* --- incidents (slots_incidents.c) --- */

/* Incidents are scheduled, and each node knows its own. false: out of memory. */
bool slots_incidents_init(struct slots_engine *engine);

/* One begins, or ends: a node has another speed, loses its tasks, or takes tasks again. */
void slots_incident_change(struct slots_engine *engine, size_t incident);

/* A batch is stopped: its tasks are pending again, but for those of which a copy runs on. */
void slots_batch_lose(struct slots_engine *engine, size_t index);

/* When the work of a batch ends as its node is now, and the event for it. */
void slots_hosting_plan_end(struct slots_engine *engine, size_t index);

/* Of a node, as it is now. */
static inline double slots_hosting_speed(const struct slots_hosting *hosting, size_t node)
{
    return hosting->cluster->nodes[node].speed * hosting->nodes[node].factor;
}

/* --- copies (slots_copies.c, slots_epochs.c) --- */

/*
 * Copies of tasks on other nodes. At every multiple of epoch_s, after all else of that instant, one
 * decision (esplash.h, late.h) asks for one copy at most, which then waits, before all ordinary tasks,
 * for the first free slot of its kind on a node that may host it, of any partition.
 *
 * What the decision sees: tasks that work, by node in the order in which they were given slots;
 * elapsed time since they began to work; the part of their work that is done; what was done in the
 * last epoch by those that worked all of it. Policies see tasks, and not how many slots a task has.
 */

/* A copy that was asked for and has no slot. */
struct slots_waiting_copy {
    size_t batch; /* of which it is to be a copy: one task */
    size_t min_level;
};

struct slots_copies {
    const struct slots_speculation_terms *terms;
    struct slots_speculation *counts;
    struct slots_evidence evidence;
    bool levels_given;
    size_t *levels;   /* by node, as of the last decision */
    bool *stragglers; /* likewise */
    double epoch;     /* the number of the next one */
    double looked;    /* at nodes, tasks and figures, by decisions and for copies that wait */
    double reported;  /* of these, as steps of the engine */
    VECTOR(struct slots_waiting_copy) waiting; /* those that were asked for first, first */
    struct arena scratch;                      /* of a decision */
};

/* Of an engine with nodes. counts: where they are counted. false: out of memory. */
bool slots_copies_init(struct slots_engine *engine,
                       const struct slots_speculation_terms *terms,
                       struct slots_speculation *counts);
void slots_copies_fini(struct slots_copies *copies);

/* When the next epoch ends at which tasks work; HUGE_VAL: none as far as is known. */
double slots_copies_next(const struct slots_engine *engine);

/* All else of an instant has happened: a decision, where it is the end of an epoch. PV_E_MEMORY;
 * PV_E_INVALID where they have looked at too much. */
enum pv_code slots_copies_epoch(struct slots_engine *engine, struct pv_error *err) PV_MUSTCHECK;

/* A task of a batch is to have a copy. */
void slots_copies_ask(struct slots_engine *engine, size_t batch, size_t min_level);

/* The copy that a task waits for is kept, on a node of this level at least, or withdrawn. */
void slots_copies_recheck(struct slots_engine *engine, size_t batch, bool keep, size_t min_level);

/* Copies that wait get free slots. */
void slots_copies_place(struct slots_engine *engine);

/* The tasks of a batch have ended: of a task and its copy the other one is stopped. `worked` becomes
 * that of the original in what concerns the job's service. */
void slots_copies_end(struct slots_engine *engine, size_t index, struct slots_worked *worked);

/* A batch is lost with its node. Whether its tasks are pending again: not those of which a copy runs
 * on, nor copies. */
bool slots_copies_lose(struct slots_engine *engine, size_t index);

void slots_copies_job_ended(struct slots_copies *copies, size_t job);

/* --- the network (slots_network.c) --- */

/*
 * Shuffles over the network of the nodes (docs/design.md, "The network"), where jobs have bytes for it.
 *
 * A reduce that holds a slot fetches, from each node where maps of its job have ended, its parts of
 * their outputs: one flow from each node, unless that is its own. Those of a batch are alike, and one
 * flow of so many. The last byte is there when all flows have ended; work does not begin before.
 */

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
