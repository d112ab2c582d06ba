#ifndef API_MODELS_EXPERIMENTS_H
#define API_MODELS_EXPERIMENTS_H

#include "api/models/application_models.h"
#include "codec/models/experiments.h"
#include "core/advice/curve.h"
#include "core/scaling/model/observation.h"

/* What next-experiments and advice have in common: a history, its model, the runs to make next. */

/* What is asked, what is loaded for it, and what was chosen. */
struct api_experiments {
    struct experiment_bounds bounds;
    struct experiments_question question; /* allowed and asked are the region's */
    /* With the application's name and the labels of the runs to go by; none: the latest run's. */
    struct application_models models;
    struct billing billing; /* its price NAN: unknown */
    /* loaded */
    struct run_observations all;  /* of the application */
    struct run_observations seen; /* of them those to go by */
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

/* At HTTP_IO: load the runs of asked->models.name and what is kept of its models. PV_E_NOT_FOUND.
 */
enum pv_code api_experiments_load(struct api *api,
                                  struct http_request *request,
                                  struct api_experiments *asked,
                                  struct pv_error *err) PV_MUSTCHECK;

/* At HTTP_COMPUTE, where it moves to: fit the models if need be, and weigh the runs. The models are
 * then to be kept. */
enum pv_code api_experiments_weigh(struct http_request *request,
                                   struct api_experiments *asked,
                                   struct pv_error *err) PV_MUSTCHECK;

/* The points allowed and asked about, from what is loaded or from asked->seen at hand. Faults as
 * experiment_region_make. */
enum pv_code api_experiments_region(struct arena *arena,
                                    struct api_experiments *asked,
                                    struct pv_error *err) PV_MUSTCHECK;

/* Times by a curve of region.problem_size, which is copied. */
enum pv_code api_experiments_predicted(const struct curve *curve,
                                       struct arena *arena,
                                       struct api_experiments *asked,
                                       struct pv_error *err) PV_MUSTCHECK;

/* Choose within the region, with times by asked->question.predicted. `asked` must not move
 * afterwards. */
enum pv_code api_experiments_choose(struct arena *arena,
                                    struct api_experiments *asked,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif
