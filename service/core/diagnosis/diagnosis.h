#ifndef CORE_DIAGNOSIS_DIAGNOSIS_H
#define CORE_DIAGNOSIS_DIAGNOSIS_H

#include "base/arena.h"
#include "base/error.h"
#include "core/scaling/laws/ipso/ipso.h"

/*
 * Why an application scales as it does (IPSO section 2.5.2): its history is cut into series in
 * which either the problem size N or the load of an executor N/m stays, and each is named after
 * IPSO's types. Where stages were measured the factors EX, IN and q explain why; durations alone
 * show what happens, but not why.
 */

/* A stage of a run. */
struct diagnosis_stage {
    double tasks;
    double task_time_s; /* sum over its tasks */
    double longest_s;   /* longest task; NAN: unknown, and the mean task is used */
};

/* A run that succeeded. Unknown is NAN. */
struct diagnosis_run {
    double problem_size; /* N > 0 */
    double executors;    /* m >= 1 */
    double cores_per_executor;
    double duration_s; /* > 0 */
    double initialization_s;
    double parallel_s; /* core/history/run_measures.h */
    double max_task_s;
    double induced_s;
    double serial_s;
    double spilled_bytes; /* to disk */
    const struct diagnosis_stage
        *stages; /* in order of id, without skipped stages; NULL: unknown */
    size_t n_stages;
};

enum {
    DIAGNOSIS_COUNTS_LEAST = 3, /* executor counts that make a series */
    DIAGNOSIS_SLICES_MAX = 24,
    DIAGNOSIS_POINTS_MAX = 64,
    DIAGNOSIS_LOADS_MAX = 32
};

/* --- a series --- */

/* All runs of it on one executor count; means. */
struct diagnosis_point {
    double executors;
    size_t runs;
    double duration_s;
    double relative_speedup; /* work done in a second, against the smallest count */
    /* Where the time of an executor went, as shares of the duration that add up to 1; NAN without
     * stages. */
    double useful;     /* its share of the work, at the rate of the smallest count */
    double slowed;     /* the same work taking longer than there */
    double waiting;    /* the busiest executor beyond its share: stragglers, last waves */
    double serial;     /* no stage running, or a serial stage (serial_stages.h) */
    double overhead;   /* stages beyond their busiest executor: scheduling, data movement */
    double initialize; /* before the first stage */
};

enum diagnosis_trend {
    DIAGNOSIS_UNCLEAR,
    DIAGNOSIS_LINEAR,     /* I */
    DIAGNOSIS_RISES,      /* II */
    DIAGNOSIS_LEVELS_OFF, /* III */
    DIAGNOSIS_PEAKS       /* IV */
};

struct diagnosis_slice {
    enum ipso_workload workload; /* IPSO_FIXED_SIZE or IPSO_FIXED_TIME */
    double problem_size;         /* of a fixed size, else NAN */
    double load;                 /* N/m of a fixed time, else NAN */
    size_t runs;
    size_t runs_with_stages;
    size_t serial_stages; /* stages that count as serial work (serial_stages.h) */
    bool of_stages;       /* type and bound are from `ipso`; false: from `cost` */
    struct ipso_fit ipso;
    /* Executor seconds per task, m T/N, as m grows: speedup is m over that. */
    struct growth cost;
    bool has_cost;
    enum ipso_order cost_order;
    enum diagnosis_trend trend;
    char type[16];  /* "IIIt,1"; "IIIt" where durations do not show which; "undetermined" */
    double peak;    /* executors beyond which more harms; NAN: none found */
    double bound;   /* of the speedup against one executor; NAN */
    double fastest; /* of the counts that ran */
    struct diagnosis_point *points; /* ascending by executors, thinned to DIAGNOSIS_POINTS_MAX */
    size_t n_points;
    char why_no_stages[320]; /* "" if of_stages */
};

/* --- the load of an executor --- */

struct diagnosis_load {
    double load;
    size_t runs;
    double throughput; /* work an executor does, against the best load at equal counts: <= 1 */
    double spilled;    /* share of its runs that spilled to disk; NAN: unknown */
};

struct diagnosis_best_load {
    struct diagnosis_load *loads; /* ascending */
    size_t n;                     /* 0: no executor count was run with two loads */
    size_t best;                  /* index */
    bool limited;                 /* more than that is worse */
    size_t limit;                 /* index of the first load beyond it */
    bool spills;                  /* and it spills there, more than at the best */
    struct step step;             /* of the time per executor count over the load, if found */
};

struct diagnosis {
    struct diagnosis_slice *slices; /* fixed size by N, then fixed time by N/m */
    size_t n;
    size_t left_out; /* series beyond DIAGNOSIS_SLICES_MAX: those of fewest counts */
    struct diagnosis_best_load best_load;
    size_t runs;
    size_t runs_with_stages; /* all measures known */
};

/*
 * A load counts as the same within 5 %. Series of fewer than three executor counts are none. The
 * order of runs changes nothing. Arrays are in `arena`. PV_E_MEMORY.
 */
enum pv_code diagnosis_make(const struct diagnosis_run runs[],
                            size_t n,
                            struct arena *arena,
                            struct diagnosis *diagnosis,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
