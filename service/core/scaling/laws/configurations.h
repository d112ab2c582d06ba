#ifndef CORE_SCALING_LAWS_CONFIGURATIONS_H
#define CORE_SCALING_LAWS_CONFIGURATIONS_H

#include "core/numerics/nonnegative.h"
#include "core/scaling/model/fit_types.h"

/* How many different (N, m), N, m and N/m the rows of a fit hold. */
struct configurations {
    const struct model_data *data;
    const struct model_kind *kind;
    size_t configurations;
    size_t sizes;
    size_t executors;
    size_t shares;
};

/*
 * Count them. PV_E_TOO_FEW below that many configurations, PV_E_SINGULAR below that many executor
 * counts; the detail says how many there are and which are missing. PV_E_MEMORY. O(n log n).
 */
enum pv_code configurations_require(const struct model_data *data,
                                    const struct model_kind *kind,
                                    size_t configurations,
                                    size_t executors,
                                    struct configurations *design,
                                    struct pv_error *err) PV_MUSTCHECK;

/* PV_E_SINGULAR, with what a history needs whose columns turned out dependent. */
enum pv_code configurations_blame(const struct configurations *design,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Coefficients b >= 0 of y = x b by least squares with the factors of the rows; x has k columns for
 * each row. Fills in fit->left_out with y of the rows left out, unless nobody asks for it, and
 * fit->freedom of all parameters. PV_E_SINGULAR as configurations_blame; PV_E_MEMORY.
 */
enum pv_code configurations_fit(const struct configurations *design,
                                const double x[],
                                size_t k,
                                const double y[],
                                struct model_fit *fit,
                                struct nonnegative_fit *found,
                                struct pv_error *err) PV_MUSTCHECK;

#endif
