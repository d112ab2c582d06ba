#ifndef CORE_GEOSIM_WORLD_H
#define CORE_GEOSIM_WORLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

/*
 * What a simulation of many clusters takes place in, and what is to be done there (PingAn, sections
 * 3.3 and 6.1). Plain data: topology.h draws a world, montage.h and recorded.h draw workloads,
 * engine.h runs one in the other. Bytes, bytes per second, seconds; indices count from 0.
 */

/* A normally distributed figure: its mean, > 0, and its standard deviation as a share of that, both
 * before it is truncated. */
struct geosim_normal {
    double mean;
    double rsd;
};

/* A draw below this share of the mean is drawn again: a speed cannot be 0 or less, and at the
 * widest spread of the paper (0.85) one draw in eight would be. Were it raised to the cut instead,
 * that many tasks would take twenty times as long as usual, which nobody has measured. */
#define GEOSIM_LEAST_SHARE 0.05

double geosim_normal_draw(const struct geosim_normal *normal, struct rng *rng);

enum geosim_scale { GEOSIM_LARGE, GEOSIM_MEDIUM, GEOSIM_SMALL, GEOSIM_SCALES };

/* Name on the wire. */
const char *geosim_scale_name(enum geosim_scale scale);

struct geosim_cluster {
    enum geosim_scale scale;
    int64_t slots;                  /* >= 1 */
    struct geosim_normal power;     /* 1: as fast as the machine that work_s refers to */
    double unreachable_probability; /* that an outage begins in a slot of time */
    double ingress_bytes_per_s;     /* of its gate */
    double egress_bytes_per_s;
};

struct geosim_world {
    const struct geosim_cluster *clusters;
    size_t n_clusters;
    const struct geosim_normal *wan; /* bytes/s of [from * n_clusters + to]; unused from == to */
    double slot_s;                   /* length of a slot of time: how often is planned */
    double outage_s;                 /* length of an outage */
};

struct geosim_task {
    size_t operation;
    double work_s;       /* > 0: processing alone, on the reference machine */
    double input_bytes;  /* > 0: what is processed, raw and from parents */
    double output_bytes; /* >= 0: lies where the task was done */
    /*
     * Tasks of the workflow that have to be done before. What the first n_feeding of them put out
     * is read from where it lies; what the others give is less than a hundredth of the largest
     * input (a table of a few hundred bytes) and comes along without a transfer worth the name.
     */
    const size_t *parents;
    size_t n_parents;
    size_t n_feeding;
    const size_t *sources; /* clusters that hold its raw input, each once */
    size_t n_sources;
};

struct geosim_workflow {
    double arrives_s;                /* >= 0 */
    const struct geosim_task *tasks; /* parents stand before children */
    size_t n_tasks;                  /* >= 1 */
};

struct geosim_workload {
    const struct geosim_workflow *workflows; /* by rising arrives_s */
    size_t n_workflows;
    size_t n_operations;
};

#endif
