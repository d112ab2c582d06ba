#ifndef CORE_SCALING_LAWS_CONTEXT_PROCESS_H
#define CORE_SCALING_LAWS_CONTEXT_PROCESS_H

#include "core/scaling/model/fit_types.h"
#include "core/scaling/model/process_theta.h"

/*
 * How long runs take across the contexts of an application: a Gaussian process (C. E. Rasmussen and
 * C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006) of ln T over ln m, ln N and
 * the labels that tell contexts apart.
 *
 *     ln T = b0 + b1 ln m + b2 ln N + f + error
 *     cov f = a^2 exp(-1/2 [ (d ln m)^2 / l_m^2 + sum (d z_j)^2 / l_j^2 + sum 1(differ) / l_c^2 ])
 *
 * z_j are the standardised logarithms of N and of labels whose values are numbers, c the labels
 * that are words. A cell (the runs of one context, N and m) of weight w is off by a variance of
 * a_n^2 + 0.015^2 / w. Coefficients of the mean are found by generalised least squares, the others
 * (theta) as the mode of their posterior under log-normal priors: by at most STEPS steps of BFGS on
 * all cells, or on TUNED_MAX of them, evenly spread by problem size and executors. They are the same
 * whichever context is asked about.
 *
 * Known once theta are: the distribution at any place given any of the cells (process_condition),
 * which is what a fit without some runs needs.
 */
enum { PROCESS_CELLS_MAX = 400, PROCESS_NUMBERS_MAX = 12, PROCESS_WORDS_MAX = 12 };

struct process_shape;
struct process;

/* theta and how labels are scaled, from the own rows and those of others. theta is that of the
 * first own row (observation.theta) where it is of the same cells. In data->scratch. PV_E_MEMORY.
 */
enum pv_code process_learn(const struct model_data *data,
                           const struct process_shape **shape,
                           struct pv_error *err) PV_MUSTCHECK;

const struct process_theta *process_theta(const struct process_shape *shape);

/* Given the own rows of `data` (those that there are) and all others; of more than
 * PROCESS_CELLS_MAX cells, the own and the nearest to them. In data->scratch. PV_E_MEMORY,
 * PV_E_SINGULAR. */
enum pv_code process_condition(const struct process_shape *shape,
                               const struct model_data *data,
                               struct process **process,
                               struct pv_error *err) PV_MUSTCHECK;

/* Mean and variance of ln T of a cell of the own context, the error of a place without its own runs
 * included. variance may be NULL. */
void process_predict(const struct process *process,
                     double problem_size,
                     double executors,
                     double *mean,
                     double *variance);

/* The mean of ln T at an own row's place without that row. */
double process_without(const struct process *process, const struct model_data *data, size_t row);

/* The executor counts of all cells, least and most. */
void process_range(const struct process *process, double executors[2]);

/* The executor counts of all cells, also of those not given, ascending, each once, at most
 * PROCESS_CELLS_MAX; likewise the problem sizes, of own cells only. Return how many. */
size_t process_counts(const struct process *process, double counts[]);
size_t process_sizes(const struct process *process, bool own, double sizes[]);

#endif
