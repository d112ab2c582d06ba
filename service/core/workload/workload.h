#ifndef CORE_WORKLOAD_WORKLOAD_H
#define CORE_WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/finding.h"
#include "base/strview.h"

/*
 * Workloads: traces of jobs, read once as a stream, kept in a compact form, and read back for the
 * simulators of core/scheduling (docs/workloads.md). workload_import.h reads, workload_chunk.h is
 * the compact form, workload_load.h reads back.
 */

/* What a trace is written in. */
enum workload_format {
    WORKLOAD_PIGEON,      /* a line a job: arrival, number of tasks, their mean, durations */
    WORKLOAD_SWIM,        /* a line a job: name, arrival, gap, bytes of input, shuffle and output */
    WORKLOAD_GOOGLE_2011, /* task_events of Google's cluster data, version 2 */
    WORKLOAD_GOOGLE_2019, /* instance_events of version 3, exported as CSV with a line of names */
    WORKLOAD_PROVISOR     /* a line a job: an object as in `jobs` of a simulation */
};
enum { WORKLOAD_FORMATS = WORKLOAD_PROVISOR + 1 };

/* The word of a format on the wire: "pigeon", "swim", "google_2011", "google_2019", "provisor". */
extern const char *const workload_format_words[WORKLOAD_FORMATS];

/* The two lists of a job: maps, which are also the tasks of a bag, and reduces. */
enum workload_list { WORKLOAD_TASKS, WORKLOAD_REDUCES };
enum { WORKLOAD_LISTS = WORKLOAD_REDUCES + 1 };

enum workload_class { WORKLOAD_UNCLASSED, WORKLOAD_SHORT, WORKLOAD_LONG };

enum { WORKLOAD_NAME_MAX = 1020 }; /* bytes: 255 characters */

/* Tasks that last equally long, one after another in a job's list. */
struct workload_run {
    double duration_s; /* > 0, at most 1e12 */
    uint64_t count;    /* >= 1 */
};

struct workload_job {
    struct strview name; /* at most WORKLOAD_NAME_MAX bytes of UTF-8; at NULL: none */
    double arrival_s;    /* >= 0, at most 1e12 */
    const struct workload_run *runs[WORKLOAD_LISTS]; /* in the order of the tasks */
    size_t n_runs[WORKLOAD_LISTS];                   /* one at least, in either list */
    double input_bytes;                              /* whole, 0 to 2^53 - 1; NAN: unknown */
    double shuffle_s;        /* >= 0: how long a reduce holds its slot before it can work */
    double predicted_size_s; /* > 0; NAN: not given */
    uint32_t queue;          /* from 1; 0: not given */
    enum workload_class class;
};

/* Of a trace as large as may be; 0 is no limit of one's own but the format's. */
struct workload_limits {
    uint64_t jobs;
    uint64_t tasks;
    uint64_t job_tasks;  /* tasks of one job */
    size_t line_bytes;   /* without the newline */
    uint64_t open_tasks; /* of Google's traces: tasks of jobs that have not ended, at one instant */
};
extern const struct workload_limits workload_limits_default;

/* Quantiles are of type 7 (core/numerics/quantile.h). All NAN where there is nothing. */
struct workload_distribution {
    double mean, p50, p90, p99, max;
    double error; /* of p50, p90 and p99, relative: 0 where they are exact, at most 2^-10 */
};

/* Sizes from input bytes: a regression through the origin whose variance grows with the input, so
 * that the slope is all size by all input. A trace's largest jobs decide it, as they should where
 * jobs are classed by size; on logarithms what every small job takes at least would. */
struct workload_size_law {
    uint64_t jobs; /* that read something; 0: no law */
    double seconds_per_byte;
    double r_squared;       /* of size and input; NAN: fewer than two different inputs */
    double log_r_squared;   /* of their logarithms */
    double without_input_s; /* mean size of jobs that read nothing; NAN: none did */
};

/* What a workload comes to. Sizes are sums of task durations. Without a value: NAN. */
struct workload_summary {
    uint64_t jobs;
    uint64_t tasks[WORKLOAD_LISTS];
    uint64_t runs[WORKLOAD_LISTS]; /* of tasks that last equally long: what is loaded by them */
    uint64_t name_bytes;           /* of all names, NULs included */
    uint64_t chunks;
    uint64_t encoded_bytes;
    double rounding_error; /* of durations as they are kept, relative: 0 (exact) or 2^-24 */
    uint64_t rounded;      /* tasks in chunks whose durations are rounded */
    bool sorted;           /* arrivals never fall */
    double first_arrival_s, last_arrival_s;
    double work_s;        /* of all tasks */
    double offered_slots; /* work_s by the time from the first arrival to the last */
    struct workload_distribution job_tasks;  /* fan-out */
    struct workload_distribution job_mean_s; /* mean duration of each job's tasks */
    struct workload_distribution job_size_s;
    struct workload_distribution task_s[WORKLOAD_LISTS];
    /* Hill's estimator of the tail index of job sizes, from the k largest, k = floor(sqrt(jobs)):
     * NAN below 100 jobs and where they are equal. */
    double tail_index;
    uint64_t tail_jobs;      /* k */
    double largest_1_share;  /* of work_s, that of the ceil(jobs/100) largest jobs */
    double largest_10_share; /* likewise, ceil(jobs/10) */
    struct workload_size_law
        size_law; /* jobs 0: the trace has no bytes, or no two different ones */
    struct findings warnings;
};

/* The size that a law predicts of a job from its input. NAN where it predicts none: no law, input
 * unknown, or none read and no job like that seen. */
double workload_predict_size(const struct workload_size_law *law, double input_bytes);

#endif
