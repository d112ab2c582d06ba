#ifndef CORE_SCALING_LAWS_COMBINED_H
#define CORE_SCALING_LAWS_COMBINED_H

#include "core/scaling/model/law.h"

/*
 * The laws of core/scaling/laws/load_laws.h combined: T is the weighted geometric mean of what
 * load, power, spill and cliff predict. Few runs cannot tell which of the four an application
 * follows, and where their predictions part, the mean errs less than the one that happens to fit
 * best (J. M. Bates and C. W. J. Granger, "The combination of forecasts", Operational Research
 * Quarterly 20, 1969).
 *
 * Weights go with 1 / e^(2k), where e is a law's root mean square error (of ln T) in predicting
 * each executor count from the others (D. H. Wolpert, "Stacked generalization", Neural Networks 5,
 * 1992), and k = 1 - 3/s for s executor counts. Three counts less one do not determine laws of
 * three coefficients, so nothing is known of their errors then and all weights are equal; the more
 * counts there are, the more the errors say. No number here is tuned.
 *
 * The model holds the laws as components, so that predictions replay it. At least three executor
 * counts: PV_E_SINGULAR below. More than COMBINED_FOLDS counts are left out several at a time.
 */
enum { COMBINED_FOLDS = 8 };

extern const struct model_kind combined_kind;

#endif
