#ifndef CORE_SCHEDULING_SLOTS_FRESH_STATIC_H
#define CORE_SCHEDULING_SLOTS_FRESH_STATIC_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/*
 * FRESH static (J. Wang, dissertation, UMass Boston 2017, Alg. 3.3.1, corrected as docs/design.md,
 * "Slot plans", says): how many of S slots should serve maps, and how many reduces, for the whole of
 * a batch of jobs? Every split is tried on a fluid model, in which the jobs of a phase share its
 * slots evenly.
 *
 * At most k jobs are in the map phase, M, and k in the reduce phase, R; those between wait in P. Each
 * job of M works at s_m/|M|, each of R at s_r/|R|. Jobs enter M in the order of the batch, and R in
 * the order in which they ended their maps; of several at one instant, in order of their entry.
 */
struct fresh_work {
    double map_s;    /* all maps of a job together, > 0 */
    double reduce_s; /* 0: it has no reduces */
    double maps;     /* numbers of tasks, which only fresh_check.h needs; 0: unknown, or none */
    double reduces;
};

struct fresh_batch {
    const struct fresh_work *jobs; /* in the order in which they are carried out */
    size_t n;                      /* >= 1 */
    size_t slots;                  /* >= 1; >= 2 where a job has reduces */
    size_t concurrency;            /* k >= 1 */
};

struct fresh_job_times {
    double start_s;
    double map_end_s;
    double reduce_start_s; /* NAN: it has no reduces */
    double finish_s;
};

/* How many splits there are: 1 map slot, 2, ..., always with a reduce slot left if a job has
 * reduces. */
size_t fresh_static_splits(const struct fresh_batch *batch);

/* makespan_s[i]: with i + 1 map slots, for every split. scratch is back at its mark. PV_E_MEMORY.
 * O(splits n log k). */
enum pv_code fresh_static_makespans(const struct fresh_batch *batch,
                                    struct arena *scratch,
                                    double makespan_s[],
                                    struct pv_error *err) PV_MUSTCHECK;

/* The best of the first n of those makespans whose map slots are a multiple of `step`, as map slots:
 * the least one; a later one counts as less from 1e-9 of it on. 0: there is none. */
size_t fresh_static_least(const double makespan_s[], size_t n, size_t step);

/* What becomes of each job of the batch, times[i] of jobs[i], with that many map slots. scratch is
 * back at its mark. PV_E_MEMORY. */
enum pv_code fresh_static_times(const struct fresh_batch *batch,
                                size_t map_slots,
                                struct arena *scratch,
                                struct fresh_job_times times[],
                                struct pv_error *err) PV_MUSTCHECK;

/* The best split, as fresh_static_least finds it among all, in map slots. Splits that one phase
 * alone makes too slow are passed over, and others are given up as soon as the reduces that are left
 * do: which for long batches are most. scratch is back at its mark. PV_E_MEMORY. */
enum pv_code fresh_static_best(const struct fresh_batch *batch,
                               struct arena *scratch,
                               size_t *map_slots,
                               struct pv_error *err) PV_MUSTCHECK;

#endif
