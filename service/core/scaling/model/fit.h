#ifndef CORE_SCALING_MODEL_FIT_H
#define CORE_SCALING_MODEL_FIT_H

#include "core/scaling/model/fit_types.h"

/*
 * Fit a kind to n rows of one form, borrowed. Rows are sorted first, so that their order changes no
 * digit of the answer. Rows that lack an initialization time others have are left out where the
 * kind needs it, with a warning; a kind of stage measures leaves out rows without them. Errors are
 * on the total duration, or on the speedup where that was observed, and on the time after
 * initialization for stage measures; means are weighted by the rows' weights.
 *
 * weights  of durations; speedups are always fitted on relative error.
 * arena    holds fit->residuals and working memory.
 *
 * PV_E_TOO_FEW    fewer distinct (N, m) than the kind needs; the detail says how many there are
 * PV_E_SINGULAR   the rows do not separate the effects; the detail says what is missing
 * PV_E_INVALID    rows of a form that the kind does not take, or of two forms
 * PV_E_MEMORY
 * *fit is written only on PV_OK. No global state but GSL's error handler, which must be off.
 */
enum pv_code model_fit(const struct model_kind *kind,
                       const struct observation rows[],
                       size_t n,
                       enum model_weights weights,
                       struct arena *arena,
                       struct model_fit *fit,
                       struct pv_error *err) PV_MUSTCHECK;

#endif
