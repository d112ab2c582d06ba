#ifndef CORE_WORKLOAD_STATISTICS_H
#define CORE_WORKLOAD_STATISTICS_H

#include "core/workload/distribution.h"
#include "core/workload/workload.h"

/*
 * What a summary is made of, gathered job by job.
 */

/* What correlates in one pass: means and products of deviations by Welford's recurrence. */
struct pair_sums {
    double n;
    double mean_x, mean_y;
    double xx, yy, xy; /* products of deviations from the means, summed */
};

struct workload_statistics {
    struct budget *budget; /* borrowed */
    uint64_t jobs;
    uint64_t tasks[WORKLOAD_LISTS];
    uint64_t name_bytes;
    double first_arrival_s, last_arrival_s;
    double arrival_before_s; /* of the job added last */
    uint64_t out_of_order;   /* jobs that arrive before the one added before them */
    struct compensated_sum work_s;
    struct distribution job_tasks, job_mean_s, job_size_s;
    struct distribution task_s[WORKLOAD_LISTS];
    struct pair_sums sizes, log_sizes;    /* input and size of jobs that read something */
    struct running_moments without_input; /* sizes of jobs that read nothing */
};

/* Statistics of no job; they grow in the budget. */
void workload_statistics_init(struct workload_statistics *statistics, struct budget *budget);

/* A valid job. PV_E_LIMIT, PV_E_MEMORY. O(runs). */
enum pv_code workload_statistics_add(struct workload_statistics *statistics,
                                     const struct workload_job *job,
                                     struct pv_error *err) PV_MUSTCHECK;

/* Everything of a summary but chunks and warnings, and the warning of tasks that are longer than
 * the trace. PV_E_LIMIT, PV_E_MEMORY. */
enum pv_code workload_statistics_finish(struct workload_statistics *statistics,
                                        struct workload_summary *summary,
                                        struct pv_error *err) PV_MUSTCHECK;

void workload_statistics_fini(struct workload_statistics *statistics);

#endif
