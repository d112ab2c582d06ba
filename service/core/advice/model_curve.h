#ifndef CORE_ADVICE_MODEL_CURVE_H
#define CORE_ADVICE_MODEL_CURVE_H

#include "core/advice/curve.h"
#include "core/scaling/model/fit_types.h"

/*
 * The predicted duration over the number of executors, from a fitted scaling model: the same curve
 * that replays give (core/advice/replay_curve.h), so that everything that chooses from one works alike.
 *
 * How long a run may take is the model's own distribution (model_predictive in
 * core/scaling/model/predict.h), so that advice and the model's own interval agree. Where no run
 * covers a place, ln T is Student-t as replays start from: three runs' worth of 10 percent, which
 * grow by as much again for each width of the range observed.
 *
 * Beyond the executors observed a model is believed as far as linear speedup from there: a law that
 * fits may still promise more further out, and is then taken to promise just that. The curve ends
 * where the law falls to 0.
 */

/*
 * question  problem_size, cores_per_executor and executors are read.
 * curve     single_s is NAN where the model has no positive time for one executor. Nothing but
 *           points, loo error, ranges and counts is known of a model; what bounds a point stays 0.
 * arena     holds curve->points.
 * PV_E_TOO_FEW: no point can be predicted. PV_E_MEMORY. GSL's error handler must be off.
 */
enum pv_code model_curve_make(const struct model_fit *fit,
                              const struct curve_question *question,
                              struct arena *arena,
                              struct curve *curve,
                              struct pv_error *err) PV_MUSTCHECK;

#endif
