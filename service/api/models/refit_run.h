#ifndef API_MODELS_REFIT_RUN_H
#define API_MODELS_REFIT_RUN_H

#include "codec/models/refit.h"
#include "config/config.h"
#include "operation/operation.h"

/*
 * The work of a refit: fit every kind anew to the application's history, bootstrap the one asked
 * for or selected (core/scaling/uncertainty/bootstrap.h), and keep models and intervals together
 * with the end of the operation, in one transaction. context is the struct api.
 *
 * PV_E_NOT_FOUND: the application was removed meanwhile. PV_E_TOO_FEW, PV_E_SINGULAR: its history
 * became too small. PV_E_CANCELLED: looked for between two resamples.
 */
enum pv_code
refit_run(void *context, struct operation_run *run, struct strview *result, struct pv_error *err);

struct codec_refit_limits refit_limits(const struct config *config);

#endif
