#ifndef CORE_ADVICE_STAGE_LAW_H
#define CORE_ADVICE_STAGE_LAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * What the number of tasks of a stage follows when the same application runs on another number of
 * executors m, of cores a piece c, or on another problem size N (docs/design.md,
 * "Replay").
 */
enum law_follows {
    LAW_ONE,       /* always a single task */
    LAW_SIZE,      /* proportional to N */
    LAW_CORES,     /* proportional to m c, or to m c less one task */
    LAW_EXECUTORS, /* proportional to m, or to m less one task */
    LAW_FIXED      /* a number of its own (shuffle partitions): neither N nor m moves it */
};

struct stage_law {
    enum law_follows follows;
    int64_t offset; /* tasks = k x + offset; 0 or -1 */
    /* Summed task time ~ N^work_exponent x^machine_exponent, where the count does not follow N; x
     * is what it follows. 0 conserves the work when the count changes; 1 keeps the time of a task.
     */
    double work_exponent;
    double machine_exponent;
    /* The count is taken to follow the machines although all sightings had as many of them: a
     * coincidence looks the same. */
    bool assumed;
};

/* One run's view of one stage. problem_size > 0; executors, cores >= 1; tasks >= 0; work_s >= 0. */
struct stage_sighting {
    double problem_size;
    int64_t executors;
    int64_t cores_per_executor; /* that take a task of the stage each: its task slots */
    size_t tasks;
    double work_s; /* summed task time */
};

/*
 * The law that n >= 1 sightings of the same stage agree with. With one sighting (or where N and m
 * never moved) a count equal to N follows N, then one that is a small multiple of m c or m (or one
 * less) follows those; anything else is fixed.
 *
 * How the work grows is read off the sightings by least squares on logarithms: over N where sizes
 * differ (else it is proportional to N), over x where machines differ (else it is conserved).
 */
struct stage_law stage_law_learn(const struct stage_sighting seen[], size_t n);

/* Does the count follow the machines, and does a task get shorter with more of them? */
bool stage_law_cuts_tasks(const struct stage_law *law);

/* Number of tasks under the law in another configuration; at least 1 where `seen` has any. */
double stage_law_tasks(const struct stage_law *law,
                       const struct stage_sighting *seen,
                       double problem_size,
                       int64_t executors,
                       int64_t cores_per_executor);

/* Summed task time under the law in another configuration, whose number of tasks is `tasks`. */
double stage_law_work(const struct stage_law *law,
                      const struct stage_sighting *seen,
                      double problem_size,
                      int64_t executors,
                      int64_t cores_per_executor,
                      double tasks);

/*
 * Slope of ln y over ln x by least squares over the n pairs whose x and y are positive, kept within
 * [low, high]; `absent` where fewer than two distinct x are left.
 */
double stage_law_slope(
    const double x[], const double y[], size_t n, double low, double high, double absent);

#endif
