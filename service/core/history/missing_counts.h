#ifndef CORE_HISTORY_MISSING_COUNTS_H
#define CORE_HISTORY_MISSING_COUNTS_H

#include <stdint.h>

#include "base/error.h"

/* How many of the latest runs of an application lack what a replay needs. One may lack several
 * things. */
struct missing_counts {
    int64_t runs; /* looked at */
    int64_t failed;
    int64_t executors;
    int64_t cores_per_executor;
    int64_t problem_size;
    int64_t stages;
    int64_t streaming; /* not batch jobs */
};

/* Why none of the application's `runs` runs can be replayed, in one sentence: PV_E_TOO_FEW. */
enum pv_code
missing_counts_refuse(const struct missing_counts *counts, int64_t runs, struct pv_error *err);

#endif
