#ifndef CORE_DEADLINE_STAGE_PLAN_H
#define CORE_DEADLINE_STAGE_PLAN_H

#include "base/arena.h"
#include "base/error.h"
#include "core/history/run.h"
#include "core/history/stage_weight.h"

/*
 * The heuristic that plans an application stage by stage before it runs (S. Ripamonti, xSpark,
 * thesis, Politecnico di Milano 2017, section 2.1.2; docs/design.md, "Stage plans"): how much of
 * the deadline each stage may take, and how many cores that takes.
 *
 * Differs from the thesis: skipped stages are left out of the sums; the plan is made once for all
 * stages, so the time spent before a stage is the sum of the deadlines before it; a stage can be
 * fixed by hand.
 */
struct stage_plan_stage {
    int64_t id;
    double duration_s;         /* summed task time, > 0 where the stage is not skipped */
    double input_records;      /* NAN or 0: not known */
    double nominal_rate_per_s; /* records a core gets through; NAN or 0: not known */
    bool skipped;
    double pinned_cores;      /* > 0: replaces the estimate; NAN: not pinned */
    double pinned_deadline_s; /* > 0: taken as given, counts as spent; NAN: not pinned */
    double
        cores_per_slot; /* that a running task holds: the cores of an executor divided by its task
                              slots; 0: 1 */
};

struct stage_plan_terms {
    double deadline_s;   /* of the application, > 0 */
    double alpha;        /* share of it that is planned with, (0, 1] */
    double beta;         /* weight of w1 against w2, [0, 1] */
    double overscale;    /* how far a controller may speed a stage up, >= 1 */
    double core_quantum; /* > 0; grants are multiples of it */
    double executors;    /* counts, >= 1 */
    double cores_per_executor;
};

/* The terms of the thesis's evaluation (table 5.1) but for the three a user gives. */
#define STAGE_PLAN_ALPHA 0.95
#define STAGE_PLAN_OVERSCALE 2.0
#define STAGE_PLAN_CORE_QUANTUM 0.05

struct stage_plan_step {
    int64_t id;
    double weight;
    double start_s;         /* the deadlines of the stages before it, added up */
    double deadline_s;      /* length, from start_s; 0 where pinned stages left no time */
    double estimated_cores; /* whole, unless pinned; INFINITY where the deadline is 0 */
    double max_allocable_cores;
    double initial_cores_per_executor; /* a multiple of the quantum */
};

struct stage_plan {
    struct stage_plan_step *steps; /* the stages not skipped, ascending by id */
    size_t n_steps;
    bool feasible;
};

/*
 * Plan the stages (n, ascending by id) in that order, one after another: for branching graphs a
 * bound. Feasible: no stage needs more cores than there are, and, which only pinned deadlines can
 * break, the stages together end by the application's deadline (to 1 part in 10^9).
 *
 * plan->steps lies in `arena`; *plan is written only on PV_OK. PV_E_MEMORY. O(n).
 */
enum pv_code stage_plan_make(const struct stage_plan_terms *terms,
                             const struct stage_plan_stage stages[],
                             size_t n,
                             struct arena *arena,
                             struct stage_plan *plan,
                             struct pv_error *err) PV_MUSTCHECK;

/*
 * One stage that is not skipped, when spent_s of the application's time are over: what is left of
 * alpha x deadline divided by its weight, and the cores for that.
 */
void stage_plan_step_make(const struct stage_plan_terms *terms,
                          const struct stage_plan_stage *stage,
                          double weight,
                          double spent_s,
                          struct stage_plan_step *step);

/*
 * The stages that a recorded run describes, none pinned. One that took no task time counts as
 * skipped: it needs no share of the deadline.
 *
 * *stages, in `arena`, has one entry a stage of the run. PV_E_TOO_FEW: no stage took any time, or
 * that of a stage is not known (the detail says which). PV_E_MEMORY.
 */
enum pv_code stage_plan_take_run(const struct run *run,
                                 struct arena *arena,
                                 struct stage_plan_stage **stages,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
