#ifndef TESTS_GOLDEN_OMO_SETS_H
#define TESTS_GOLDEN_OMO_SETS_H

#include "mapreduce_runs.h"

/*
 * The batches that J. Wang's dissertation compares OMO on (tables 4.4 and 4.5): bytes and numbers of
 * tasks are given there, how long tasks last is not. What is assumed here comes from what it says of
 * 8 Terasort jobs: after the maps Fair with a slow start of 1 shuffles for 293 s (section 4.4.3.1), 10
 * GB a reduce; the map phase of FRESH is 17.8 % and that of OMO 34.9 % shorter than Fair's; OMO takes
 * 1,319 s (table 4.6), and on average 29.3 % less than FRESH. So Fair's map phase is about 1,740 s in 16
 * waves, and of OMO's time about 145 s are left for reduces:
 *
 *     a map of 256 MB takes 110 s, a shuffle 29.3 s a GB that a reduce gets, a reduce 5 s and 14.5 s a GB
 *
 * for every benchmark. FRESH has twice the slots for maps, and yet its map phase is only 17.8 % shorter:
 * maps take 2 x (1 - 0.178) = 1.64 times as long where a node runs four of them and not two. `slower` is
 * that factor, 1: as if slots of a node had nothing in common.
 */
enum omo_benchmark {
    OMO_TERASORT,
    OMO_SEQCOUNT,
    OMO_WORDCOUNT,
    OMO_INVERTEDINDEX,
    OMO_HISTMOVIES,
    OMO_CLASSIFICATION,
    OMO_BENCHMARKS
};

/* Times of one and of three Terasort jobs by slow start, on slots of no fixed kind (table 4.3). */
enum { OMO_STARTS = 6, OMO_CURVES = 2 };
extern const double omo_starts[OMO_STARTS];
extern const double omo_published_s[OMO_CURVES][OMO_STARTS];

#define OMO_SLOWER (2 * (1 - 0.178))

/* Of 20 GB (table 4.4). */
extern const double omo_shuffle_gb[OMO_BENCHMARKS];
enum { OMO_MAPS = 80, OMO_REDUCES = 2 };

struct omo_part {
    size_t n;          /* jobs: the benchmarks by turns, from the first on */
    size_t benchmarks; /* so many of them */
    enum omo_benchmark first;
    double times_20_gb; /* their input */
};

struct omo_set {
    const char *name;
    size_t nodes; /* of 4 slots */
    struct omo_part parts[2];
};

enum {
    OMO_8_TERASORT,
    OMO_8_SEQCOUNT,
    OMO_8_WORDCOUNT,
    OMO_A,
    OMO_B,
    OMO_C,
    OMO_D,
    OMO_E,
    OMO_F,
    OMO_G,
    OMO_H,
    OMO_SETS
};
extern const struct omo_set omo_sets[OMO_SETS];

/* The jobs of a set, whose maps take `slower` times as long; their number. */
size_t omo_set_jobs(const struct omo_set *set, double slower, struct mapreduce_job jobs[]);

#endif
