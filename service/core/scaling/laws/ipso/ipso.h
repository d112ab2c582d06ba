#ifndef CORE_SCALING_LAWS_IPSO_IPSO_H
#define CORE_SCALING_LAWS_IPSO_IPSO_H

#include "base/arena.h"
#include "core/scaling/laws/ipso/growth_law.h"
#include "core/scaling/laws/ipso/ipso_step.h"

/*
 * IPSO (Z. Li and others, "IPSO: A Scaling Model for Data-Intensive Applications", ICDCS 2019; in
 * the following eqs of Z. Li's dissertation, chapter 2): n processing units share a parallel
 * workload W_p(n), a serial one W_s(n) follows, and scale-out itself induces W_o(n).
 *
 *     EX(n) = W_p(n)/W_p(1)   IN(n) = W_s(n)/W_s(1)   q(n) = n W_o(n)/W_p(n), q(1) = 0
 *     eta = W_p(1)/(W_p(1) + W_s(1))
 *     EX/IN ~ alpha n^delta   q ~ beta n^gamma   E[max T_p] ~ task_time n^task_exponent
 *
 * Differs from the paper: what serial time grows by where the workload is of fixed size is counted
 * as induced, as section 2.4 wants it; IN may have a line's offset
 * (core/scaling/laws/ipso/growth_law.h) and a step (core/scaling/laws/ipso/ipso_step.h).
 */

/* --- the law, of given factors --- */

/* Eq. 2.10, where all tasks take the same. n >= 1. */
double ipso_speedup(double eta, double n, double ex, double in, double q);

/* Eq. 2.8. max_task: E[max T_p(n)] / (E[T_p(1)] + E[T_s(1)]). */
double
ipso_speedup_statistical(double eta, double n, double ex, double in, double q, double max_task);

/* --- observations --- */

/* Seconds of one run, or means of several, at a scale-out degree. */
struct ipso_observation {
    double n;          /* >= 1 */
    double parallel_s; /* W_p, > 0; NAN in all rows: the workload is of fixed size */
    double serial_s;   /* W_s, >= 0 */
    double induced_s;  /* W_o, >= 0 */
    double max_task_s; /* E[max T_p], > 0; NAN in all rows: W_p/n, the deterministic form */
};

/* max_task_s (or parallel_s/n) + serial_s + induced_s. */
double ipso_duration(const struct ipso_observation *row);

/* --- what is estimated --- */

enum ipso_parameter {
    IPSO_ETA,
    IPSO_ALPHA, /* this and delta: NAN where there is no serial part */
    IPSO_DELTA,
    IPSO_BETA,
    IPSO_GAMMA,
    IPSO_TASK_TIME,
    IPSO_TASK_EXPONENT,
    /* What the paper takes for granted; NAN: as described. */
    IPSO_EXTERNAL,        /* EX = n^this; NAN: 0 or 1, which is nearer to task_exponent + 1 */
    IPSO_PARALLEL,        /* W_p(1); NAN: the task time */
    IPSO_INTERNAL_OFFSET, /* IN = this + n^(external - delta)/alpha for n > 1; NAN: 0 */
    IPSO_STEP_AT,         /* up to here IN is another line; NAN: there is no step */
    IPSO_STEP_OFFSET,
    IPSO_STEP_SLOPE,
    IPSO_PARAMETERS
};

struct ipso_estimate {
    double value;
    double std_error;   /* NAN: unknown or not estimated */
    double freedom;     /* of Student's t; 0: no interval */
    double interval[2]; /* 95 %; NAN: unknown */
};

/* Where an exponent lies. It counts as 0 or 1 when its interval holds that; without an interval,
 * when it is within 0.05 of it. */
enum ipso_order {
    IPSO_UNCLEAR, /* 0 and 1 both */
    IPSO_BELOW_ZERO,
    IPSO_ZERO,
    IPSO_BETWEEN,
    IPSO_ONE,
    IPSO_ABOVE_ONE
};
enum ipso_order ipso_order_of(const struct ipso_estimate *exponent);

enum ipso_workload { IPSO_MIXED, IPSO_FIXED_TIME, IPSO_FIXED_SIZE };

/* Section 2.4 and figures 2.2, 2.3. */
enum ipso_type {
    IPSO_UNDETERMINED,
    IPSO_I_T,
    IPSO_II_T,
    IPSO_III_T1,
    IPSO_III_T2,
    IPSO_IV_T,
    IPSO_I_S,
    IPSO_II_S,
    IPSO_III_S1,
    IPSO_III_S2,
    IPSO_IV_S
};
const char *ipso_type_name(enum ipso_type type); /* "It", "IIIs,1", "undetermined" */

/* The table of docs/design.md, "Scaling types". serial: eta < 1. */
enum ipso_type ipso_type_of(enum ipso_workload workload,
                            bool serial,
                            enum ipso_order delta,
                            enum ipso_order gamma);

struct ipso_peak {
    double n; /* 0: none */
    double speedup;
};

struct ipso_fit {
    struct ipso_estimate parameters[IPSO_PARAMETERS];
    double covariance[IPSO_PARAMETERS][IPSO_PARAMETERS]; /* 0 where not estimated */
    enum ipso_workload workload;
    bool serial;          /* there is a serial part */
    bool serial_induced;  /* of a fixed size, and serial time grew all the same */
    bool statistical;     /* max_task_s was given */
    bool overhead_at_one; /* induced_s > 0 at n = 1, where q is 0 by definition */
    enum ipso_order delta;
    enum ipso_order gamma;
    enum ipso_type type;
    struct step step; /* of IN */
    struct ipso_peak peak;
    double bound;      /* what the speedup tends to; NAN: it does not, or it is not known */
    double n_range[2]; /* observed */
    size_t rows;
    size_t distinct; /* executor counts */
    size_t laws;     /* numbers in the laws of its parts */
};

/*
 * Estimate all of it. Rows are sorted first: their order changes no digit.
 *
 *   EX      power law of parallel_s; where its exponent counts as 0 or 1 that is its exponent
 *   IN      growth of serial_s, beyond the step if there is one
 *   q       power law of n W_o/W_p over the rows with n > 1
 *   task    power law of max_task_s
 *
 * PV_E_TOO_FEW  one executor count only, or one above 1 for a q that is not 0
 * PV_E_DOMAIN   a row outside the ranges above, or a measure that only some rows have
 * PV_E_MEMORY
 * scratch is back at its mark. *fit is written only on PV_OK.
 */
enum pv_code ipso_fit(const struct ipso_observation rows[],
                      size_t n,
                      struct arena *scratch,
                      struct ipso_fit *fit,
                      struct pv_error *err) PV_MUSTCHECK;

/* The same where it is known how the workload grows: EX is that, whatever parallel_s does.
 * IPSO_MIXED: not known. */
enum pv_code ipso_fit_workload(const struct ipso_observation rows[],
                               size_t n,
                               enum ipso_workload workload,
                               struct arena *scratch,
                               struct ipso_fit *fit,
                               struct pv_error *err) PV_MUSTCHECK;

/*
 * What laws of the same forms, fitted to the other rows, predict of each row's duration; NAN where
 * those do not suffice. Of more than 64 rows, every 64th is left out at once, so give
 * them in an order of their values. left_out: n of them.
 */
enum pv_code ipso_leave_out(const struct ipso_observation rows[],
                            size_t n,
                            struct arena *scratch,
                            double left_out[],
                            struct pv_error *err) PV_MUSTCHECK;

/* --- predicting --- */

struct ipso_prediction {
    double duration_s; /* without initialization */
    double speedup;    /* against the same work on one unit (eq. 2.7) */
    double external;   /* EX */
    double internal;   /* IN; 1 where there is no serial part */
    double induced;    /* q */
    double max_task_s;
};

/* p: values in the order of enum ipso_parameter. n >= 1. */
void ipso_predict(const double p[IPSO_PARAMETERS], double n, struct ipso_prediction *prediction);

/* The whole n in [1, most] of the highest speedup; n == 0: it rises all the way. */
struct ipso_peak ipso_find_peak(const double p[IPSO_PARAMETERS], double most);

#endif
