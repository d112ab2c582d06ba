#ifndef CORE_DIAGNOSIS_BOTTLENECKS_H
#define CORE_DIAGNOSIS_BOTTLENECKS_H

#include "core/diagnosis/bottleneck.h"

/* At most so many are reported, those that lose most; less than 2 percent of the run or a second is
 * none. */
enum { BOTTLENECKS_MAX = 10 };

struct bottlenecks {
    char run_id[37]; /* "": not stored */
    double duration_s;
    struct bottleneck *items; /* most loss first, unknown ones last */
    size_t n;
};

/*
 * run: with its stages and their tasks, and the metrics of both, as far as they are known;
 * borrowed. Texts and items are in `arena`; scratch is back at its mark. A run without duration or
 * stages has none. Time between the batches of a streaming application is not the driver's.
 * PV_E_MEMORY. O(tasks + stages log stages).
 */
enum pv_code bottlenecks_find(const struct run *run,
                              struct arena *arena,
                              struct arena *scratch,
                              struct bottlenecks *bottlenecks,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
