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

/*
 * data  the rows of a fit of durations.
 *
 * Fills in the tables of fit->model.uncertainty that answer questions where nothing was observed
 * (scores per unit of gap, core/scaling/model/extrapolation.h), the axes, and left_scale_out of
 * fit->residuals, which must be in the order of the rows. Blocks without which the kind cannot be
 * fitted are passed over; fewer than two blocks prove nothing. Costs as many fits as there are
 * blocks on both axes. PV_E_MEMORY.
 */
enum pv_code grouped_cv_run(const struct model_data *data,
                            struct arena *scratch,
                            struct model_fit *fit,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
