#ifndef TESTS_GOLDEN_FRESH_SETS_H
#define TESTS_GOLDEN_FRESH_SETS_H

#include "mapreduce_runs.h"

/*
 * The batches that J. Wang's dissertation compares FRESH on (sections 3.4.1 and 3.4.2). It gives their
 * numbers of tasks, not how long these last, and that Classification and Histogram_ratings are
 * map-intensive, Invertedindex and Grep reduce-intensive. Here a map and a reduce take
 *
 *     24 and 7 s, 12 and 24 s, 18 and 14 s (Wordcount and Histogram_movies)
 *
 * on average, so that set A is 73,490 s of work, which 40 slots do in 1,837 s: by figure 3.6 FRESH
 * took about 1,800 s for it, a third of them with maps alone.
 */
enum fresh_benchmark {
    FRESH_CLASSIFICATION,
    FRESH_INVERTEDINDEX,
    FRESH_WORDCOUNT,
    FRESH_GREP,
    FRESH_HISTOGRAM_RATINGS,
    FRESH_HISTOGRAM_MOVIES,
    FRESH_BENCHMARKS
};

/* A benchmark on 8 GB or, after that, 4 GB (table 3.1). */
struct fresh_row {
    enum fresh_benchmark benchmark;
    size_t maps;
    size_t reduces;
};

enum { FRESH_ROWS = 2 * FRESH_BENCHMARKS };
extern const struct fresh_row fresh_rows[FRESH_ROWS];

struct fresh_set {
    const char *name;
    size_t slots;
    size_t n;
    size_t rows[MAPREDUCE_JOBS_MAX]; /* of fresh_rows */
};

enum { FRESH_A, FRESH_B, FRESH_B_80, FRESH_C, FRESH_D, FRESH_E, FRESH_SETS };
extern const struct fresh_set fresh_sets[FRESH_SETS];

/* Ten jobs of one benchmark on 8 GB, the first of its kind: a set of one's own. */
struct fresh_set fresh_simple_set(enum fresh_benchmark benchmark);

/* The jobs of a set in Johnson's order; room for MAPREDUCE_JOBS_MAX. */
void fresh_set_jobs(const struct fresh_set *set, struct mapreduce_job jobs[]);

#endif
