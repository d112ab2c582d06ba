#ifndef API_MODELS_EXPERIMENTS_H
#define API_MODELS_EXPERIMENTS_H

#include "api/models/application_models.h"
#include "codec/models/experiments.h"
#include "core/scaling/model/observation.h"

/* What next-experiments and advice have in common: a history, its model, the runs to make next. */

/* What is asked, what is loaded for it, and what was chosen. */
struct api_experiments {
    struct experiment_bounds bounds;
    struct experiments_question question; /* of it allowed and asked are filled in by choosing */
    const struct run_label *labels;       /* of the runs to go by; none: those of the latest run */
    size_t n_labels;
    double price_per_executor_hour; /* NAN: unknown */
    /* loaded */
    struct run_observations seen;
    struct codec_history_model kept;
    bool has_model;
    /* chosen */
    struct experiment_region region;
    struct experiments_plan plan;
    struct codec_experiments reply; /* of all of the above, which it points at */
};

/* Nothing asked for but so many runs. */
struct api_experiments
api_experiments_of(const struct config *config, enum experiments_criterion criterion, size_t count);

/*
 * Load the runs of the application of that name and its selected model. Deferred to a
 * compute worker. PV_E_NOT_FOUND.
 */
enum pv_code api_experiments_load(struct api *api,
                                  struct http_request *request,
                                  const char *name,
                                  struct api_experiments *asked,
                                  struct pv_error *err) PV_MUSTCHECK;

/* Choose from what is loaded, or from asked->seen at hand. Faults as experiment_region_make.
 * `asked` must not move afterwards. */
enum pv_code api_experiments_choose(struct arena *arena,
                                    struct api_experiments *asked,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif
