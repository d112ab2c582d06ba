#ifndef CORE_SCALING_LAWS_USBA_INTERNAL_H
#define CORE_SCALING_LAWS_USBA_INTERNAL_H

#include "core/scaling/laws/configurations.h"
#include "core/scaling/model/describe.h"

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

/* t0, epsilon, theta from the initialization times of `data`; left_out_s[i]: the time of row i from
 * the others. Unknown times count as 0. */
enum pv_code usba_set_startup(const struct model_data *data,
                              struct arena *scratch,
                              double left_out_s[],
                              double freedom[],
                              struct model_fit *fit,
                              struct pv_error *err) PV_MUSTCHECK;

/* duration - initialization of each row, in `scratch`; NULL when memory is exhausted. */
double *usba_parallel_times(const struct model_data *data, struct arena *scratch);

/* Initialization and what of it more executors add, for both kinds. */
void usba_describe_startup(const struct model *model, struct findings *findings);

#endif
