#ifndef CORE_HISTORY_MAP_REDUCE_H
#define CORE_HISTORY_MAP_REDUCE_H

#include <stdint.h>

#include "base/error.h"
#include "core/history/run_profile.h"

/*
 * An application as a job of maps and reduces: what stages without parents do, which read input, and
 * what all others do, which read what their parents shuffled. A stage graph of Spark has an edge
 * wherever data is shuffled, and that of a MapReduce job is one stage behind another.
 */
struct map_reduce {
    int64_t maps; /* >= 1 */
    double map_task_s;
    int64_t reduces;
    double reduce_task_s; /* NAN: there are no reduces */
};

/*
 * Tasks are counted in the latest run; what one takes is the mean over all tasks of the kind, each
 * as long as the mean of its stage over the runs of the profile. Stages that were skipped have no
 * tasks.
 *
 * PV_E_TOO_FEW, with the reason as detail: no stage without parents has tasks; of a stage the number
 * of tasks or their mean duration is not known; the tasks of a kind took no time at all. O(stages).
 */
enum pv_code map_reduce_of(const struct run_profile *profile,
                           struct map_reduce *made,
                           struct pv_error *err) PV_MUSTCHECK;

#endif
