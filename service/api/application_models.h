#ifndef API_APPLICATION_MODELS_H
#define API_APPLICATION_MODELS_H

#include "api/api.h"
#include "store/application_model.h"

/*
 * The models of the application of that name, of its history as it is now. They are fitted once for
 * each version of a history: runs that come or go raise history_version, and the first who then
 * asks fits all kinds, on a compute worker, and keeps them in the database for everybody. A
 * hundred runs that arrive one after another thus cost one fit and not a hundred.
 *
 * *model lives in the request's arena. PV_E_NOT_FOUND: no such application; PV_E_DEFER: they have
 * to be fitted, which is no work for an io worker. That no kind can be fitted is an answer, which
 * is kept too.
 */
enum pv_code application_models_load(struct api *api,
                                     struct http_request *request,
                                     const char *name,
                                     struct application_model *model,
                                     struct pv_error *err) PV_MUSTCHECK;

/* The answer, as an error, where the wanted models are not there. */
enum pv_code application_models_refuse(const struct application_model *model, struct pv_error *err);

#endif
