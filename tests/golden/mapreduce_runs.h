#ifndef TESTS_GOLDEN_MAPREDUCE_RUNS_H
#define TESTS_GOLDEN_MAPREDUCE_RUNS_H

#include "core/scheduling/slots/slots_engine.h"
#include "core/sim/statistics.h"

/* Batches of MapReduce jobs simulated on slots, for what J. Wang's dissertation (UMass Boston 2017)
 * reports of FRESH, OMO and eSplash. */

/* Jobs of a benchmark on an input. */
struct mapreduce_job {
    size_t maps;
    size_t reduces;
    double map_s; /* a task on average */
    double reduce_s;
    double shuffle_s;
};

struct mapreduce_batch {
    struct slots_job *jobs;
    size_t n;
};

enum { MAPREDUCE_JOBS_MAX = 24 };

/* Jobs that arrive in their order, 2 s apart; a task lasts as long as its job's do on average, but for
 * a uniform deviation of up to `spread`, a part of it, which depends on the seed and the job's place.
 * Jobs belong to two queues by turns. Lives in the arena. */
struct mapreduce_batch mapreduce_draw(
    const struct mapreduce_job jobs[], size_t n, double spread, uint64_t seed, struct arena *arena);

struct mapreduce_outcome {
    double makespan_s;
    double
        fairness; /* Jain's index of size / (finish - first slot), eq. 3.1 at the end of each job */
    double reduces_at_s; /* when the first reduce has a slot */
    double maps_s;       /* until the last map has ended */
    double shuffle_s;    /* from then until the last reduce begins to work */
};

/* What a batch comes to. Aborts where it fails. scratch is back at its mark. */
struct mapreduce_outcome mapreduce_run(const struct slots_cluster *cluster,
                                       const struct mapreduce_batch *batch,
                                       const struct slots_terms *terms,
                                       struct arena *scratch);

/* How much less a is than b, as a percentage of b; negative: so much less. */
double mapreduce_change(double a, double b);

#endif
