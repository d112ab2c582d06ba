#ifndef TESTS_GOLDEN_ESPLASH_RUNS_H
#define TESTS_GOLDEN_ESPLASH_RUNS_H

#include "mapreduce_runs.h"

/*
 * The runs that J. Wang's dissertation compares eSplash on (UMass Boston 2017, section 5.3): 8 nodes of
 * 8 cores with containers of a vcore, two each with 32, 16, 8 and 4 of them, 8 jobs of 80 maps and 10
 * reduces on 20 GB, of one of four benchmarks or two of each; a node that is slowed for 1,000 s, and
 * may then be away for 600 s. Assumed is that
 *
 * - a task works at a speed of 0.25, 0.5, 1 and 1.25 on these nodes, which are asked in this order;
 * - maps and reduces last 60 and 100 s (Terasort), 90 and 50 s (WordCount), 66 and 25 s (Grep), 72 and
 *   25 s (WordMean) at a speed of 1, up to 20 % more or less, and shuffles 50, 25, 6 and 6 s;
 * - containers are of no fixed kind, jobs share them fairly, and reduces start with 80 % of the maps;
 * - a node is slowed from 200, 400 or 600 s on, by turns of the seeds.
 */
enum esplash_scenario {
    ESPLASH_NO_STRAGGLER,
    ESPLASH_SLOW_NODE,
    ESPLASH_FAST_NODE,
    ESPLASH_RESTART, /* of the fast node */
    ESPLASH_SCENARIOS
};

/* Strict: a threshold of 8, and a deviation counts as 0.25 of the mean at least. */
enum esplash_copies { COPIES_NONE, COPIES_LATE, COPIES_ESPLASH, COPIES_STRICT, COPIES_KINDS };

/* What is not known of the published runs. */
struct esplash_setting {
    double slowed_to;
    double epoch_s; /* YARN waits 15 s after a copy */
};

/* Means. */
struct esplash_found {
    double makespan_s;
    double copies;
    double killed;
    double on_straggler; /* of these */
    double on_slower;
    double wasted_s;
};

/* Over `seeds` runs of each benchmark, or mixed: as many runs. scratch is back at its mark. */
struct esplash_found esplash_runs_compare(const struct esplash_setting *setting,
                                          bool mixed,
                                          enum esplash_scenario scenario,
                                          enum esplash_copies copies,
                                          size_t seeds,
                                          struct arena *scratch);

/* Copies that ended and were killed under LATE, means by node, slowest first, on one node of each kind
 * with 5 jobs of 38 maps and 10 reduces and no straggler (table 5.1). Adds to both. */
enum { ESPLASH_PLACES = 4 };
void esplash_runs_places(size_t seeds,
                         struct arena *scratch,
                         double finished[ESPLASH_PLACES],
                         double killed[ESPLASH_PLACES]);

#endif
