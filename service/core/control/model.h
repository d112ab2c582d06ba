#ifndef CORE_CONTROL_MODEL_H
#define CORE_CONTROL_MODEL_H

#include <stdint.h>

#include "core/control/controller.h"
#include "core/deadline/clairvoyant_edf_internal.h"
#include "core/deadline/contention.h"

/*
 * What is simulated: jobs with deadlines on workers whose cores xSpark's control loop deals out
 * (docs/design.md, "Control simulations").
 */
struct control_cluster {
    size_t workers; /* >= 1; each job has an executor for each running stage on each worker */
    size_t cores;   /* of a worker, >= 1 */
};

/* What the loop knows of a job beyond its stages. */
struct control_job {
    double alpha;        /* share of the deadline that is planned with, (0, 1] */
    double nominal_rate; /* records a second and core, > 0; NAN: not known, which speed needs */
};

struct control_options {
    struct control_terms controller;
    double beta;      /* of stage weights, [0, 1] */
    double overscale; /* of stage plans, >= 1 */
    double average_nominal_rate;
    double actuation_delay_s; /* from a sample to when its grants have effect, 0 to sample_s */
    double duration_noise;    /* standard deviation of the logarithm of task durations, >= 0; their
                                 mean is kept */
    uint64_t seed;            /* of the noise */
};

/* The terms of the thesis's evaluation, neither delay nor noise, seed 1. */
struct control_options control_options_default(void);

/* Ready to be simulated under any strategy, and by the baselines. */
struct control_model {
    struct control_cluster cluster;
    struct control_options options;
    const struct edf_job *planned;  /* as the loop plans with them; borrowed */
    const struct control_job *jobs; /* likewise, of each */
    struct edf_job *actual;         /* as they will turn out: with noise */
    struct edf_plan plan;           /* of `actual` */
    double *planned_s;              /* task time of each stage of the plan, without noise */
    double *shortest_s; /* of each job: from its release, were there any number of cores */
};

/*
 * Prepare n >= 1 jobs. The noise of a task depends on the seed, the job's place, the stage's id and
 * the task's number alone. The model lives in `arena` and borrows the jobs.
 * PV_E_MEMORY, PV_E_DOMAIN (a cycle), PV_E_LIMIT (as edf_plan_make).
 */
enum pv_code control_model_make(const struct edf_job jobs[],
                                const struct control_job terms[],
                                size_t n,
                                const struct control_cluster *cluster,
                                const struct control_options *options,
                                struct arena *arena,
                                struct control_model *model,
                                struct pv_error *err) PV_MUSTCHECK;

/* The earliest release, when the simulation begins. */
double control_model_start_s(const struct control_model *model);

/*
 * About how many steps one simulation will take: samples of executors and tasks. A job is expected
 * to run until its deadline or as long as the work of all takes, whichever is later, with an
 * executor on each worker or as many as its stages that may run side by side have. Infinite where
 * that is too much to count.
 */
double control_model_steps(const struct control_model *model);

#endif
