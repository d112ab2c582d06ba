#ifndef CORE_STRAGGLERS_STAGE_TIMES_H
#define CORE_STRAGGLERS_STAGE_TIMES_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"

/*
 * How long each task of a stage was to be expected to take, by what it read:
 *
 *     expected_i = median duration + k (bytes_i - median bytes)
 *
 * k is the median of the slopes between the point of both medians and the tasks that read a quarter
 * more or less than the median, so that slow tasks do not decide it. It is at least 0 and at most
 * such that time grows in proportion to bytes: a task that read twice as much as others is not
 * expected to take more than twice as long.
 */
struct stage_times {
    double median_s;
    double s_per_byte;  /* k; 0: bytes are unknown or all alike, or make no difference */
    double *expected_s; /* by task, > 0 */
    double *log_ratio;  /* by task: ln(duration / expected); durations count as 1 ms at least */
};

/*
 * stage: with the durations of its tasks, one at least; borrowed. The result is of `arena`; scratch
 * is back at its mark. PV_E_MEMORY. O(tasks log tasks).
 */
enum pv_code stage_times_make(const struct run_stage *stage,
                              struct arena *arena,
                              struct arena *scratch,
                              struct stage_times *times,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
