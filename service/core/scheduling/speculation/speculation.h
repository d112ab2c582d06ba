#ifndef CORE_SCHEDULING_SPECULATION_SPECULATION_H
#define CORE_SCHEDULING_SPECULATION_SPECULATION_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What a decision on speculative execution is based on: the nodes of a cluster, what they have
 * finished, and what runs on them. Which task deserves a copy is decided by esplash.h, which
 * compares nodes of one level, or by late.h, which compares all with all.
 */
#define SPECULATION_NONE ((size_t)-1)

/* Tasks of one type that a node has finished. */
struct speculation_finished {
    size_t type;        /* below the cluster's n_types; at most once a node */
    size_t tasks;       /* >= 1 */
    double mean_s;      /* of their durations; > 0 */
    double deviation_s; /* standard deviation of the population, >= 0 */
};

/* A copy of a task that was asked for earlier. */
enum speculation_copy {
    SPECULATION_NO_COPY,
    SPECULATION_COPY_WAITS, /* for a container */
    SPECULATION_COPY_RUNS
};

struct speculation_task {
    size_t type;                /* below the cluster's n_types */
    double elapsed_s;           /* >= 0 */
    double progress;            /* 0 to 1 */
    double progress_rate_per_s; /* progress made in the last epoch, a second; >= 0; NAN: the task is
                                   younger than an epoch */
    enum speculation_copy copy;
    bool is_copy; /* it is itself a copy of another task */
};

struct speculation_node {
    size_t containers;      /* that it has */
    size_t free_containers; /* at most containers; 0: none, or how many is not known */
    const struct speculation_finished *finished;
    size_t n_finished;
    const struct speculation_task *running;
    size_t n_running;
};

/* All is borrowed. */
struct speculation_cluster {
    const struct speculation_node *nodes;
    size_t n_nodes; /* >= 1 */
    size_t n_types; /* of tasks, numbered from 0 */
};

/* One running task: its node, and its place among those that run there. */
struct speculation_place {
    size_t node; /* SPECULATION_NONE: no task */
    size_t task;
};

/* Whether its progress is above 0, by more than 1e-9: only then is its speed known. O(1). */
bool speculation_has_progress(const struct speculation_task *task);

/* What a task will still take if it goes on as it did so far: elapsed / progress - elapsed. NAN while
 * it has no progress. O(1). */
double speculation_remaining_s(const struct speculation_task *task);

#endif
