#ifndef CORE_ADVICE_AUTOSCALING_H
#define CORE_ADVICE_AUTOSCALING_H

#include "core/advice/advise.h"
#include "core/advice/history_prediction.h"
#include "core/autoscaling/allocation_replay.h"

/*
 * What Spark's dynamic allocation would make of the recommendation: the nearest run's tasks on
 * executors that come and go (core/autoscaling/allocation_replay.h), beside fixed numbers of
 * executors. All are scaled to the predicted time of the recommended executors, and have its
 * distribution.
 */
enum autoscaling_allocation {
    AUTOSCALING_STATIC,        /* the recommended executors */
    AUTOSCALING_STATIC_LAST,   /* those of the last run */
    AUTOSCALING_FROM_MINIMUM,  /* dynamic, up to the recommended ones, beginning with the fewest */
    AUTOSCALING_FROM_MAXIMUM,  /* dynamic, up to the recommended ones, beginning with all */
    AUTOSCALING_AS_CONFIGURED, /* dynamic, as the job is configured */
    AUTOSCALING_ALLOCATIONS
};

/* Names on the wire, in the order of the enum. */
const char *autoscaling_allocation_name(enum autoscaling_allocation allocation);

struct autoscaling_case {
    enum autoscaling_allocation allocation;
    bool is_dynamic;
    struct allocation_policy policy;
    double predicted_duration_s;
    double deadline_probability; /* NAN without a deadline */
    double executor_s;           /* held, start-up included */
    double cost;                 /* as billed; NAN without a price */
    double mean_executors;
    int64_t peak_executors;
    size_t started;  /* beyond the initial ones */
    size_t released; /* before the end */
    struct allocation_step *steps;
    size_t n_steps;
};

enum { AUTOSCALING_STEPS_MAX = 100 };

struct autoscaling {
    const char *lack;      /* why nothing can be said, a clause; NULL: something is */
    char run_id[37];       /* whose tasks were replayed; "": of a profile */
    double startup_s;      /* of an executor */
    bool startup_measured; /* by that run; else an assumption */
    struct autoscaling_case cases[AUTOSCALING_ALLOCATIONS];
    size_t n_cases;
};

struct autoscaling_question {
    const struct run *runs; /* of the application, nearest in size first */
    size_t n_runs;
    const struct curve *curve; /* that the recommendation is from */
    const struct advise_goal *goal;
    const struct advise_choice *choice;
    int64_t last_executors; /* of the last run; RUN_UNKNOWN */
    const struct spark_before *before;
    const struct spark_constraints *spark_constraints;
    int64_t executors_max;  /* of a configuration that sets no greatest number */
    struct billing billing; /* of what is held; its price NAN: unknown */
    uint64_t task_budget;   /* simulated tasks of each case */
};

/* *made lives in `arena`; scratch is back at its mark. PV_E_MEMORY. */
enum pv_code autoscaling_compare(const struct autoscaling_question *question,
                                 struct arena *arena,
                                 struct arena *scratch,
                                 struct autoscaling *made,
                                 struct pv_error *err) PV_MUSTCHECK;

/* A reason with the best dynamic case beside the recommended executors; warnings where the start-up
 * time is assumed, or nothing can be said. PV_E_MEMORY. */
enum pv_code autoscaling_explain(const struct autoscaling *autoscaling,
                                 const struct advise_goal *goal,
                                 struct advice *advice,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The case of that allocation; NULL: there is none. */
const struct autoscaling_case *autoscaling_find(const struct autoscaling *autoscaling,
                                                enum autoscaling_allocation allocation);

#endif
