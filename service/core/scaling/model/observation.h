#ifndef CORE_SCALING_MODEL_OBSERVATION_H
#define CORE_SCALING_MODEL_OBSERVATION_H

#include <math.h>
#include <stdbool.h>

struct context_traits;
struct process_theta;

/*
 * One run. N and m are counts >= 1. Start from MODEL_OBSERVATION, in which nothing is measured and
 * the run counts in full. Members that are left out of an initializer, and so are 0, do no harm:
 * they read as "unknown", and weight as 1.
 */
struct observation {
    double problem_size;     /* NAN: unknown; only stage measures do without */
    double executors;        /* n, where stages were measured */
    double duration_s;       /* > 0; NAN where only a speedup or stage measures are known */
    double initialization_s; /* 0 to duration_s; NAN: unknown */
    double speedup;          /* > 0; NAN where duration_s is given */
    double stages_s;         /* durations of the stages added up; 0: unknown. Only compared. */
    /* How much the run counts: its share of a sum of squares, of a mean error, of
     * a leave-one-out error. Less than 1 for outliers and for old runs that fade. 0: 1. */
    double weight;
    /* Which of the label contexts of a history it belongs to: 0 or 1 the one a fit is for; others
     * are left to the kinds that pool. */
    unsigned context;
    const struct context_traits *traits; /* of that context; NULL: unknown */
    bool executors_counted;              /* in an event log, where the driver is none of them */
    /* Of the odds that one of the machines counted does no work, the logarithm of how far other
     * applications move them (core/scaling/laws/idle_share.h); 0: there are none. */
    double idle_learnt;
    /* Error of laws at a gap of 1, as other applications show (core/scaling/history/law_errors.h);
     * 0: unknown. */
    double law_error;
    /* Kept of a fit to the same history (core/scaling/model/process_theta.h); NULL: nothing. */
    const struct process_theta *theta;
    /* What IPSO takes from the stages of a run on n executors (docs/design.md, "Where the time of a
     * run went"). */
    double parallel_s; /* task time added up, > 0; else unknown */
    double serial_s;   /* time after initialization in which no stage runs */
    double induced_s;  /* stage durations beyond their busiest core */
    double max_task_s; /* task time of the busiest core, > 0; else unknown. Without this and
                        * parallel_s no stage was measured. */
};

#define MODEL_OBSERVATION                                                                          \
    ((struct observation){.problem_size = (double)NAN,                                             \
                          .executors = (double)NAN,                                                \
                          .duration_s = (double)NAN,                                               \
                          .initialization_s = (double)NAN,                                         \
                          .speedup = (double)NAN,                                                  \
                          .weight = 1,                                                             \
                          .parallel_s = (double)NAN,                                               \
                          .serial_s = (double)NAN,                                                 \
                          .induced_s = (double)NAN,                                                \
                          .max_task_s = (double)NAN})

/* The canonical order, for qsort: rows that compare as equal are equal in all that a fit looks at.
 * What is not measured stands at the end. */
int observation_compare(const void *a, const void *b);

/* A run of known size on known executors, seen to take that long (initialization_s may be NAN), or
 * to be that much faster than one executor. Everything else is as in MODEL_OBSERVATION. */
struct observation
model_seen(double problem_size, double executors, double duration_s, double initialization_s);
struct observation model_seen_speedup(double problem_size, double executors, double speedup);

#endif
