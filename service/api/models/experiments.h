#ifndef API_MODELS_EXPERIMENTS_H
#define API_MODELS_EXPERIMENTS_H

#include "api/models/application_models.h"
#include "codec/models/experiments.h"
#include "core/scaling/model/observation.h"

/* What next-experiments and advice have in common: a history, its model, the runs to make next. */

/* What is asked; region and question->allowed, ->asked are filled in. */
struct api_experiments {
    struct experiment_bounds bounds;
    struct experiments_question question;
    const struct run_label *labels; /* of the runs to go by; none: those of the latest run */
    size_t n_labels;
    double price_per_executor_hour; /* NAN: unknown */
    struct experiment_region region;
    struct experiments_plan plan;
    struct codec_experiments reply; /* of all of the above, which it points at */
};

/* Nothing asked for but so many runs. */
struct api_experiments
api_experiments_of(const struct config *config, enum experiments_criterion criterion, size_t count);

/*
 * For the application of that name, by its selected model. On a compute worker only (PV_E_DEFER
 * elsewhere). PV_E_NOT_FOUND; faults as experiment_region_make. `asked` must not move afterwards.
 */
enum pv_code api_experiments_plan(struct api *api,
                                  struct http_request *request,
                                  const char *name,
                                  struct api_experiments *asked,
                                  struct pv_error *err) PV_MUSTCHECK;

/* For runs at hand, of which there is no model. */
enum pv_code api_experiments_plan_rows(struct arena *arena,
                                       const struct observation rows[],
                                       size_t n,
                                       struct api_experiments *asked,
                                       struct pv_error *err) PV_MUSTCHECK;

#endif
