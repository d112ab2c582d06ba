#ifndef CORE_SCALING_LAWS_USBA_H
#define CORE_SCALING_LAWS_USBA_H

#include "core/scaling/laws/configurations.h"
#include "core/scaling/model/describe.h"

/*
 * USBA (Z. Li, F. Duan, H. Che, "A unified scaling model in the era of big data analytics", HP3C
 * 2019, eqs 3.14-3.16; docs/design.md, "USBA"), N = problem_size, m = executors:
 *
 *     T(N, m) = t0 q(m) + T1 p(N, m)
 *     p = (1 - beta - gamma) + alpha ln(N/m) + beta m + gamma N
 *     q = 1 - epsilon + epsilon min(m, theta)
 *     S = (t0 + N T1) / (t0 q + T1 p)
 *
 * t0 = `initialization_s`, T1 = `parallel_s`: times at N = m = 1.
 *
 * Durations: T - initialization is linear, c0 + c1 ln(N/m) + c2 m + c3 N, with T1 = c0 + c2 + c3,
 * alpha = c1/T1, beta = c2/T1, gamma = c3/T1 (reference extrapolated). With runs at N = m = 1, T1
 * is their mean and (T/T1 - 1) = alpha ln(N/m) + beta (m - 1) + gamma (N - 1) is fitted to the
 * others (reference measured). q is fitted to the initialization times
 * (core/scaling/laws/startup_overhead.h). A row left out is left out of both; of runs at N = m = 1,
 * a lone one leaves the extrapolated form behind.
 *
 * Unlike the paper: T is duration - initialization and not the sum of stage times, and gamma is
 * dropped when its p-value exceeds 0.05, or when the problem sizes do not separate it.
 *
 * Speedups: nonlinear least squares with t0/T1 = `initialization_ratio`.
 */

/* Parameters of USBA and of usba_scaled. */
enum {
    USBA_ALPHA,
    USBA_BETA,
    USBA_GAMMA,
    USBA_EPSILON,
    USBA_THETA,
    USBA_INITIALIZATION,
    USBA_PARALLEL,
    USBA_RATIO,
    USBA_PARAMETERS
};

extern const struct model_parameter_rule usba_rules[USBA_PARAMETERS];

/* p(N, m) of a set of estimates. */
double usba_growth(const double p[], double problem_size, double executors);

/* alpha, beta, gamma, T1 and their covariance from c0..c3 and theirs. PV_E_SINGULAR: T1 is 0. */
enum pv_code usba_set_parallel(const double c[4],
                               double covariance[4][4],
                               struct model *model,
                               struct pv_error *err) PV_MUSTCHECK;

/* t0, epsilon, theta from the initialization times of `data`, unknown ones being 0; what they are
 * for each row from the others is added to fit->left_out. */
enum pv_code usba_set_startup(const struct model_data *data,
                              struct model_fit *fit,
                              struct pv_error *err) PV_MUSTCHECK;

/* duration - initialization of each row; NULL when memory is exhausted. */
double *usba_parallel_times(const struct model_data *data);

/* Initialization and what of it more executors add, for both kinds. */
void usba_describe_startup(const struct model *model, struct findings *findings);

#endif
