#ifndef CORE_CONTROL_CONTROLLER_H
#define CORE_CONTROL_CONTROLLER_H

/*
 * The controller of one executor: how many cores it asks for, so that its stage ends by its
 * deadline (S. Ripamonti, xSpark, thesis, Politecnico di Milano 2017, sections 2.1.3 and 3.5,
 * Alg. 1 and 4; docs/design.md, "Quota loops"). A discrete PI controller with a set point that
 * rises with time; pure functions, the state of an executor is the caller's.
 */
struct control_terms {
    double gain;            /* K, > 0 */
    double integral_time_s; /* Ti, > 0 */
    double sample_s;        /* Ts, > 0: from one sample to the next */
    double core_quantum;    /* (0, 1]: grants are multiples of it */
    double core_min;        /* >= 0: the least that is asked for while there is work */
};

/* The terms of the thesis's evaluation (table 5.1): K 50, Ti 12 s, Ts 1 s, quantum 0.05. */
struct control_terms control_terms_default(void);

/* What is known of an executor at a sample. */
struct control_reading {
    double elapsed_s;      /* since its stage began, >= 0 */
    double deadline_s;     /* of the stage, from its begin; 0: it is over already */
    double since_s;        /* since the last sample, or, at the first one, since the stage began */
    double tasks;          /* of this executor, >= 1 */
    double completed;      /* 0 to tasks */
    double integral_cores; /* as of the last grant, or the initial cores when the stage began */
    double worker_cores;   /* all that its worker has */
};

struct control_request {
    double set_point;          /* share of the tasks that should be completed by now, at most 1 */
    double progress;           /* share that is */
    double proportional_cores; /* gain x the difference */
    double cores;              /* what it asks for */
};

/* One step. No cores once all tasks are completed; all of the worker's once the stage's deadline is
 * over; else what the PI law gives, not below core_min and never more than there are tasks left. */
struct control_request control_ask(const struct control_terms *terms,
                                   const struct control_reading *reading);

/* The integral to go on from, after `granted` cores were given, whatever was asked for: so it does
 * not grow while cores are refused (anti-windup). */
double control_integral(double granted, const struct control_request *request);

#endif
