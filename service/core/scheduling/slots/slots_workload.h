#ifndef CORE_SCHEDULING_SLOTS_SLOTS_WORKLOAD_H
#define CORE_SCHEDULING_SLOTS_SLOTS_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * MapReduce jobs and the slots they run on (B. Ghit, D. Epema, "Reducing job slowdown variability
 * for data-intensive workloads", MASCOTS 2015; docs/design.md, "Jobs on slots").
 */
enum slots_kind { SLOTS_MAP, SLOTS_REDUCE };
enum { SLOTS_KINDS = SLOTS_REDUCE + 1 };

/* No job. */
#define SLOTS_NOBODY SIZE_MAX

/* Tasks that last equally long, one after another in a job's list. */
struct slots_tasks {
    double duration_s; /* > 0 */
    size_t count;      /* >= 1 */
};

/* All tasks of a kind, in the order in which they are given out. */
struct slots_task_list {
    const struct slots_tasks *tasks;
    size_t n;
};

/* What a node has, or the container of a task takes of it, in the manner of Hadoop's YARN. */
struct slots_resources {
    uint64_t vcores;
    uint64_t memory_bytes;
};

struct slots_job {
    double arrival_s;                               /* >= 0 */
    struct slots_task_list task_lists[SLOTS_KINDS]; /* one task at least */
    double shuffle_s;        /* >= 0: how long a reduce holds its slot before it can work */
    double shuffle_bytes;    /* >= 0: what its maps put out for its reduces, all together */
    double predicted_size_s; /* what policies go by; NAN: the size */
    size_t queue;            /* of the policy "capacity", from 0 */
    const struct slots_resources *requests; /* by kind: the containers of its tasks, as large as
                                                fits on a node at least; NULL: the cluster has
                                                slots. Borrowed */
};

/* A machine. */
struct slots_node {
    size_t slots[SLOTS_KINDS];
    double speed;                 /* > 0: a task of duration d works d / speed */
    size_t level;                 /* of speed, from 1, a higher one is faster; 0: not given */
    double bandwidth_bytes_per_s; /* of its link, each way; > 0 where it has slots and jobs have
                                     bytes to shuffle */
    /* For containers, of which `slots` then says how many it has room for (slots_resources.h);
     * zeros: it has slots. */
    struct slots_resources room;
};

/* What happens to a node for some time. */
struct slots_incident {
    size_t node;
    double at_s;         /* >= 0 */
    double until_s;      /* > at_s, finite */
    double speed_factor; /* >= 0; 0: its tasks stand still */
    bool down;           /* its tasks are lost, and it takes none */
};

/* mapreduce.job.reduce.slowstart.completedmaps, by default */
#define SLOTS_SLOW_START 0.05

/* yarn.app.mapreduce.am.job.reduce.rampup.limit, mapreduce.map.cpu.vcores and mapreduce.map.memory.mb
 * (and of reduces), by default */
#define SLOTS_RAMP_UP 0.5
#define SLOTS_CONTAINER_VCORES 1
#define SLOTS_CONTAINER_BYTES (INT64_C(1) << 30)

struct slots_cluster {
    size_t slots[SLOTS_KINDS]; /* >= 1 map slot; >= 1 reduce slot where a job has reduces */
    double
        slow_start; /* 0 to 1: the part of its maps that a job has finished before its reduces are
                          given slots */
    /* Where the slots are, together as many as above and fewer than 2^32 - 1; NULL: all slots are
     * alike. Borrowed. */
    const struct slots_node *nodes;
    size_t n_nodes;
    const struct slots_incident *incidents; /* of nodes, in any order; borrowed */
    size_t n_incidents;
    /* Of nodes that have room for containers; filled in by slots_resources_measure. */
    struct slots_resources room;         /* of all nodes, both below 2^53; zeros: there are slots */
    double ramp_up;                      /* 0 to 1: the part of the cluster that reduces whose maps
                                             are not all given hold at most */
    const struct slots_resources *sizes; /* of containers, no two alike, rising; borrowed */
    size_t n_sizes;
    /* Of a simulation that shares the network (slots_network_settle); 0: no limit. */
    size_t network_steps_max;
};

/* Pack n durations into tasks, which has room for n: equal neighbours become one entry. Returns the
 * number of entries. */
size_t slots_tasks_pack(const double durations_s[], size_t n, struct slots_tasks tasks[]);

size_t slots_tasks_count(const struct slots_task_list *list);

/* The durations of all tasks of a list, or of a job, summed exactly but for the last rounding: the
 * same, however the tasks are packed. */
double slots_tasks_work(const struct slots_task_list *list);
double slots_job_size(const struct slots_job *job);

/* What the slots of a kind can do a second of tasks' durations: their number, each counted by the
 * speed of its node. O(nodes). */
double slots_cluster_capacity(const struct slots_cluster *cluster, enum slots_kind kind);

/* Of a workload of so many tasks, how many at most are slowed, lost or given slots again by incidents,
 * each counted at its begin and its end. O(incidents). */
double slots_cluster_incident_tasks(const struct slots_cluster *cluster, double tasks);

/* How long a byte takes over the link of a node alone, the mean over nodes with slots that have a
 * bandwidth; 0: none has. O(nodes). */
double slots_cluster_byte_s(const struct slots_cluster *cluster);

/* How long the shuffle of a job's reduces takes at least, where a byte takes byte_s alone. */
double slots_job_shuffle_alone_s(const struct slots_job *job, double byte_s);

#endif
