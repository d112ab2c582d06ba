/*
 * Any bytes as the body of POST /v1/models/predict. Refused bodies say where they are wrong; each
 * point of a body that is taken gets a prediction whose interval, where there is one, is in order
 * and holds it, and the reply is JSON.
 */
#include <jansson.h>
#include <math.h>

#include "codec/models/model.h"
#include "fuzz_body.h"

enum { POINTS_MAX = 64 };

static void require_prediction(const struct codec_model_predict *asked,
                               const struct model_prediction *prediction)
{
    const double *interval = prediction->interval_s;
    double middle =
        asked->model.form == MODEL_OF_DURATIONS ? prediction->duration_s : prediction->speedup;
    FUZZ_REQUIRE(isnan(interval[0]) == isnan(interval[1]));
    if (isnan(interval[0]) || !isfinite(middle))
        return;
    FUZZ_REQUIRE(interval[0] <= interval[1]);
    if (asked->model.form == MODEL_OF_DURATIONS && middle > 0)
        FUZZ_REQUIRE(interval[0] <= middle && middle <= interval[1]);
}

static void predict(const struct codec_model_predict *asked, struct arena *arena)
{
    struct writer w;
    struct model_spread spread = model_spread(&asked->model, asked->model.uncertainty.confidence);
    writer_init(&w, arena);
    writer_begin_array(&w);
    for (size_t i = 0; i < asked->n; i++) {
        struct model_prediction prediction;
        model_predict(&asked->model, &spread, asked->points[i].problem_size,
                      asked->points[i].executors, &prediction);
        require_prediction(asked, &prediction);
        codec_model_prediction_encode(&w, &asked->model, &asked->points[i], &prediction);
    }
    writer_end_array(&w);
    size_t n;
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL && json_array_size(json) == asked->n);
    json_decref(json);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_model_predict asked;
    codec_model_predict_decode(top, POINTS_MAX, &asked);
    bool taken = fuzz_body_is_taken(top);
    if (taken)
        predict(&asked, arena);
}
