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

/* Source of the number of tasks of a stage by Spark's rules (core/advice/count_source.h). */
enum count_source {
    COUNT_UNKNOWN,
    COUNT_SET,          /* a property sets it: spark.sql.shuffle.partitions, default.parallelism */
    COUNT_SPLITS,       /* full splits of the input files: the count follows the input */
    COUNT_PARALLELISM,  /* by default one task a core, unless the job sets a number */
    COUNT_SMALL_SPLITS, /* input files, split into one part a core unless the files set a number */
    COUNT_COALESCED     /* adaptive execution may merge shuffle partitions, down to one a core */
};

struct stage_law {
    enum law_follows follows;
    int64_t offset; /* tasks = k x + offset; 0 or -1 */
    /* Summed task time ~ N^work_exponent x^machine_exponent, where the count does not follow N; x
     * is what it follows. 0 conserves the work when the count changes; 1 keeps the time of a task.
     */
    double work_exponent;
    double machine_exponent;
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
 * Both laws that the sightings of a stage allow. A count that equals a multiple of the cores of every
 * run may follow the cores or be fixed: only a run on another number of cores decides.
 */
struct stage_laws {
    struct stage_law law;       /* the count follows the machines, unless it is equal to N */
    struct stage_law otherwise; /* agrees with the sightings, too; `law` again if they decide */
    double probability;         /* of `law`; 1 if the sightings or a property decide */
};

/*
 * The laws that n >= 1 sightings of the same stage agree with. Properties decide first: a count
 * that a property sets is fixed, full splits of the input follow N. With one sighting (or where N
 * and m never moved) a count equal to N follows N. A count that is a small multiple of m c or m
 * (or one less) follows those with a probability that depends on the source of the count and on
 * the kind of coincidence. All other counts are fixed.
 *
 * Two sightings whose N and m c grow in proportion do not tell growth with N from growth with m c.
 *
 * How the work grows is read off the sightings by least squares on logarithms: over N where sizes
 * differ (else it is proportional to N), over x where machines differ (else it is conserved).
 * Sizes that differ little move the exponent little (stage_law_evidence).
 */
struct stage_laws
stage_laws_learn(const struct stage_sighting seen[], size_t n, enum count_source source);

/* stage_laws_learn's `law` of a stage whose source is unknown. */
struct stage_law stage_law_learn(const struct stage_sighting seen[], size_t n);

/* Does the number of tasks follow cores or executors? */
bool stage_law_follows_machines(const struct stage_law *law);

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
 * Share of a measured exponent that counts, given the sum of squares of ln x about its mean: 0 for
 * two values closer than 5 %, 1 from a ratio of 1.25 on. Noise of 3 % in two close sizes gives
 * any exponent.
 */
double stage_law_evidence(double sum_of_squares);

/*
 * Slope of ln y over ln x by least squares over the n pairs whose x and y are positive, kept within
 * [low, high]. As far as the x are too close (stage_law_evidence), `absent` is in its place.
 */
double stage_law_slope(
    const double x[], const double y[], size_t n, double low, double high, double absent);

#endif
