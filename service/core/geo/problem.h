#ifndef CORE_GEO_PROBLEM_H
#define CORE_GEO_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "core/geo/speeds.h"

/*
 * What is to be planned: clusters, the links between them, and jobs with tasks that are ready
 * (docs/design.md, "Copy plans"; PingAn, sections 3 and 4). Indices count from 0; everything
 * is borrowed. Rates are bytes per second.
 */
struct geo_cluster {
    int64_t slots; /* >= 0, busy ones included */
    int64_t busy_slots;
    double unreachable_probability; /* of the cluster in a slot of time, 0 to 1 */
    double ingress_bytes_per_s;     /* of its gate, >= 0 */
    double egress_bytes_per_s;
    const struct speeds *const *processing; /* of each operation; NULL: it cannot do it */
};

struct geo_link {
    size_t from;
    size_t to;
    const struct speeds *speeds;
};

/* A copy that runs already. */
struct geo_running {
    size_t cluster;
    double elapsed_s;       /* since it began; NAN: unknown */
    double processed_bytes; /* so far, at most the task's size; NAN: unknown */
};

struct geo_task {
    size_t operation;
    double size_bytes;    /* > 0 */
    const size_t *inputs; /* clusters, each once */
    size_t n_inputs;
    const struct geo_running *copies;
    size_t n_copies;
    double waited_s; /* since it became ready; NAN: unknown */
};

struct geo_job {
    double unprocessed_bytes;
    const struct geo_task *tasks;
    size_t n_tasks;
    /* Of the stage that its tasks belong to. */
    size_t stage_tasks;       /* all of them; 0: unknown */
    size_t done_tasks;        /* <= stage_tasks where that is known */
    double median_duration_s; /* of those done; NAN or 0: unknown */
    /* Copies that run for tasks of it that are not listed: they count for its share. Their slots
     * are among the busy ones, and what they take of the gates is taken off already. */
    size_t hidden_copies;
};

struct geo_problem {
    const struct geo_cluster *clusters;
    size_t n_clusters;
    const struct geo_link *links; /* a pair at most once */
    size_t n_links;
    size_t n_operations;
    const struct geo_job *jobs;
    size_t n_jobs;
    double slot_s; /* length of a slot of time, > 0 */
};

#endif
