#ifndef CORE_SCALING_MODEL_GROUPED_CV_H
#define CORE_SCALING_MODEL_GROUPED_CV_H

#include "core/scaling/model/fit_types.h"

/*
 * What a law that was fitted without some executor counts, or without some problem sizes, makes of
 * the runs with them. Leaving out one run at a time shows little of that where each count was run
 * several times: the others of its kind remain. So whole counts are left out, neighbours together
 * where there are more than GROUPED_CV_BLOCKS of them.
 */
enum { GROUPED_CV_BLOCKS = 8 };

/* Error of laws, of ln T, at a gap of 1 of executor counts, if other applications of the team show
 * nothing (core/scaling/history/law_errors.h). */
#define LAW_ERROR_STD 0.07

/* Standard deviation of ln T of repetitions in public histories, and as how many runs it counts.
 * Some repetitions are far off: ln T is Student's t with as many degrees of freedom. */
#define REPETITION_STD 0.03
enum { REPETITION_FREEDOM = 3 };

/*
 * One scale of error an axis. A value left out has the error e, the median over its (N, m) of
 * |ln(mean time / predicted)|, for each unit of the gap there. Few values show little of the law's
 * error at others; the scale leans on what laws err in public histories, or on the observations'
 * law_error, as if that were 2.7 values more:
 *
 *     std^2 = (2.7 prior^2 + sum of e^2) / (2.7 + K)
 *
 * the posterior of a variance under a scaled inverse chi-squared prior (A. Gelman and others,
 * "Bayesian Data Analysis", section 2.6), with 3 degrees of freedom. Below the least count that
 * ran, what a law errs is divided by gap_below of longer times: memory may run out there. With two
 * executor counts, or one problem size, none can be left out: the scale is then 2.2 times the prior.
 *
 * A law may follow the growth with size at many executors and miss it at few, where memory runs
 * out. So errors of sizes left out have a scale for each executor count as well, from the K errors
 * at that count, with the same prior (model_uncertainty.size_errors). As errors of different places
 * are not mixed there, the degrees of freedom are the posterior's, 2.7 + K, from three executor
 * counts on.
 *
 * Repetitions have a scale of their own, with a floor: two runs that agree by chance do not show
 * that a third will.
 *
 *     repetition_std^2 = (3 0.03^2 + sum of squares about the medians of each (N, m)) / (3 + n)
 *
 * n is the number of runs less the number of (N, m). If none ran twice, half of the squared errors
 * of the counts left out are taken for such squares, each worth half a run: errors of the law
 * and noise cannot be separated then. Only the deviation of runs of one (N, m) ends at 0.15.
 *
 * data  the rows of a fit of durations.
 *
 * Fills in what fit->model.uncertainty knows of new places, the axes, and left_scale_out of
 * fit->residuals, which must be in the order of the rows. Blocks without which the kind cannot be
 * fitted are passed over; with one executor count nothing is known of others.
 * Costs as many fits as there are blocks on both axes. PV_E_MEMORY.
 */
enum pv_code grouped_cv_run(const struct model_data *data,
                            struct arena *scratch,
                            struct model_fit *fit,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
