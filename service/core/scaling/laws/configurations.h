#ifndef CORE_SCALING_LAWS_CONFIGURATIONS_H
#define CORE_SCALING_LAWS_CONFIGURATIONS_H

#include "core/scaling/model/fit_types.h"

/* How many different (N, m), N, m and N/m the rows hold. */
struct configurations {
    size_t configurations;
    size_t sizes;
    size_t executors;
    size_t shares;
};

/* PV_E_MEMORY. O(n log n). */
enum pv_code configurations_count(const struct model_data *data,
                                  struct arena *scratch,
                                  struct configurations *design,
                                  struct pv_error *err) PV_MUSTCHECK;

/* PV_E_TOO_FEW below that many configurations, PV_E_SINGULAR below that many executor counts; the
 * detail says how many there are and which are missing. */
enum pv_code configurations_require(const struct configurations *design,
                                    const struct model_data *data,
                                    const char *kind,
                                    size_t configurations,
                                    size_t executors,
                                    struct pv_error *err) PV_MUSTCHECK;

/* PV_E_SINGULAR, with what a history needs whose columns turned out dependent. */
enum pv_code configurations_blame(const struct configurations *design,
                                  const struct model_data *data,
                                  const char *kind,
                                  struct pv_error *err) PV_MUSTCHECK;

#endif
