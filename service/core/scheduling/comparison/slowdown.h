#ifndef CORE_SCHEDULING_COMPARISON_SLOWDOWN_H
#define CORE_SCHEDULING_COMPARISON_SLOWDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/finding.h"

/*
 * Slowdowns of jobs: how many times longer each was in the system than it would have been alone in
 * an empty one, and how evenly that is spread (docs/design.md, "Slowdowns").
 */
struct slowdown_job {
    double arrival_s;
    double finish_s;       /* > arrival_s */
    double runtime_s;      /* in the empty system, > 0 */
    double size_s;         /* sum of its tasks, > 0; NAN: unknown */
    double longest_task_s; /* > 0; NAN: unknown */
};

struct slowdown_percentile {
    double percent; /* 0 to 100 */
    double slowdown;
    double variability;                  /* V_F: slowdown / median */
    double completion_over_longest_task; /* NAN where a job's longest task is unknown */
};

/* Jobs of a size within half a decade. */
struct slowdown_class {
    double from_s;
    double to_s;
    size_t count;
    double mean;
    double median;
    double work_share; /* of the sizes of all jobs that have one */
};

struct slowdown_summary {
    double mean;
    double median;
    double jain;                    /* (sum x)^2 / (n sum x^2): 1 where all slowdowns are equal */
    struct slowdown_class *classes; /* ascending, none empty */
    size_t n_classes;
    size_t faster_than_alone; /* jobs with a slowdown below 1 */
};

double slowdown_of(const struct slowdown_job *job);

/*
 * Summarize n >= 1 jobs. percentiles: n_percentiles entries, of which `percent` is given, the rest
 * filled in. Quantiles are of type 7.
 *
 * The classes, and what is worked with, live in `arena`. PV_E_MEMORY. O(n log n).
 */
enum pv_code slowdown_summarize(const struct slowdown_job jobs[],
                                size_t n,
                                struct slowdown_percentile percentiles[],
                                size_t n_percentiles,
                                struct arena *arena,
                                struct slowdown_summary *summary,
                                struct pv_error *err) PV_MUSTCHECK;

/* `faster_than_alone`: jobs with a slowdown below 1. */
void slowdown_warn(const struct slowdown_summary *summary, struct findings *warnings);

#endif
