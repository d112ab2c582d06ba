#ifndef CORE_SCALING_HISTORY_LAW_ERRORS_H
#define CORE_SCALING_HISTORY_LAW_ERRORS_H

#include <math.h>

#include "core/scaling/history/run_observations.h"
#include "core/scaling/selection/selection.h"

/*
 * How far laws err on executor counts that did not run, as other applications of a team show. The
 * size of these errors is a property of the platform: 0.03 to 0.05 at a gap of 1 on one public
 * platform, 0.10 and more on others.
 *
 * The variance s^2 of the errors of a team has an inverse gamma prior about LAW_ERROR_STD^2, worth
 * LAW_ERROR_APPLICATIONS applications. Each other application has shown the mean v of the squared
 * errors per gap of its executor counts left out (core/scaling/model/grouped_cv.h):
 *
 *     s^2 = (4 0.07^2 + sum of min(v, 0.3^2)) / (4 + n)
 *
 * Larger errors than 0.3 come from memory that runs out or from a run that went wrong; they show
 * nothing of another application, so they count as 0.3.
 */
enum { LAW_ERROR_APPLICATIONS = 4, LAW_ERRORS_MAX = 100 };

/* s. at: v of n other applications; those beyond the first LAW_ERRORS_MAX are not read. n = 0:
 * LAW_ERROR_STD. */
double law_errors_std(const double at[], size_t n);

/* Let fits of the rows learn from the other applications: sets observation.law_error. */
void law_errors_learn(struct run_observations *seen);

/* v of these runs, from the combined law. NAN: fewer than two counts could be left out. */
double law_errors_shown(const struct model_selection *selection);

#endif
