#ifndef CORE_SPARK_MEMORY_PLAN_H
#define CORE_SPARK_MEMORY_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "core/spark/memory_history.h"
#include "core/spark/property_value.h"

/*
 * How much memory executors are to have.
 *
 * What ran out of memory grows: the heap by half after an OutOfMemoryError, the overhead to twice
 * as much after executors were killed at the limit of their container, unless a later run of that
 * size ended well with less. The heap grows also where a tenth of the data was spilled to disk, or a
 * tenth of the time went to collecting garbage while more than 60 percent of it were in use. What was not used shrinks, to the peaks of the runs
 * that ended well and a margin, which is larger where few runs show them. An overhead that was set
 * in bytes never shrinks; one that follows the heap does only as far as its use was measured.
 */

enum memory_basis {
    MEMORY_AS_RAN,
    MEMORY_PEAK_USE,
    MEMORY_OUT_OF_MEMORY,
    MEMORY_CONTAINER_LIMIT,
    MEMORY_SPILL,
    MEMORY_GARBAGE_COLLECTION,
    MEMORY_ENFORCED,
    MEMORY_BASES
};

/* Its name on the wire. */
const char *memory_basis_name(enum memory_basis basis);

struct memory_question {
    int64_t cores_per_executor; /* recommended; RUN_UNKNOWN: as ran */
    int64_t executors;          /* likewise */
    int64_t most_per_executor;  /* bytes that the cluster has for an executor; RUN_UNKNOWN */
    struct memory_sizes fixed;  /* to stay as given; RUN_UNKNOWN: free */
};

enum { MEMORY_PROPERTIES = 4 };

struct memory_plan {
    bool known; /* false: the history shows nothing of memory */
    struct memory_sizes sizes;
    struct memory_sizes ran;
    enum memory_basis basis; /* of the heap, or of what is changed beside it */
    double needed_heap;      /* by the peaks, without margin; NAN: unknown */
    double margin;           /* that was put on the peaks of the heap */
    bool too_large;          /* for the cluster's executors */
    bool held_back;          /* it would be larger but for the cluster's executors */
    struct spark_property_plan properties[MEMORY_PROPERTIES]; /* that differ from what ran */
    size_t n_properties;
};

/* Texts live in `arena`. PV_E_MEMORY. */
enum pv_code memory_plan_make(const struct memory_history *history,
                              const struct memory_question *question,
                              struct arena *arena,
                              struct memory_plan *plan,
                              struct pv_error *err) PV_MUSTCHECK;

/* The class of machines whose memory per core the executor fits, by the ratios that cloud
 * providers share: compute_optimized (2 GiB a core), general_purpose (4), memory_optimized (8);
 * NULL: more than these. */
const char *memory_machine_class(int64_t bytes, int64_t cores);

#endif
