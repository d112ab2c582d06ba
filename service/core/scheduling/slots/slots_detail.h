#ifndef CORE_SCHEDULING_SLOTS_SLOTS_DETAIL_H
#define CORE_SCHEDULING_SLOTS_SLOTS_DETAIL_H

#include "core/scheduling/comparison/job_distribution.h"
#include "core/scheduling/comparison/queue_lengths.h"
#include "core/scheduling/comparison/slowdown.h"
#include "core/scheduling/slots/slots_engine.h"

/* What may be wanted of a simulation of jobs on slots beside its outcome. */

/* Half decades (slowdown.h) from the shortest task to the longest job. */
enum { SLOTS_SIZE_CLASSES_MAX = 72 };

struct slots_detail {
    struct slowdown_class classes[SLOTS_SIZE_CLASSES_MAX]; /* by size, ascending */
    size_t n_classes;
    struct queue_lengths
        *queues; /* of maps and reduces; they run as long as they hold a slot; NULL:
                                     not wanted */
    struct job_distribution *distribution; /* NULL: not wanted */
    struct fairness_points *fairness;      /* over time; NULL: not wanted */
    struct slots_spans *spans;             /* with room; NULL: not wanted */
};

/* Of jobs as they arrived, and what became of them; `occupancy` was observed where queues are
 * wanted. scratch is back at its mark. PV_E_MEMORY. O(n log n). */
enum pv_code slots_detail_take(const struct slots_job jobs[],
                               size_t n,
                               const struct slots_job_times times[],
                               const double runtime_s[],
                               const double slowdown[],
                               const struct occupancy *occupancy,
                               struct arena *scratch,
                               struct slots_detail *detail,
                               struct pv_error *err) PV_MUSTCHECK;

/* The slowdowns of small and large jobs: of classes by size, the fewest of the largest that have
 * half of the work are large. The mean over the jobs; NAN where there are none. */
struct slots_size_slowdown {
    double small;
    double large;
};
struct slots_size_slowdown slots_size_slowdown_of(const struct slowdown_class classes[], size_t n);

#endif
