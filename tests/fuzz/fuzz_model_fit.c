/*
 * Any bytes as the body of POST /v1/models/fit. Refused bodies say where they are wrong; a fit's
 * estimates are within the rules of its kind, its errors are numbers, the reply is JSON, and the
 * model in it is one that POST /v1/models/predict takes. "auto" selects among all kinds and says of
 * each why; the one it selects keeps the same rules.
 */
#include <jansson.h>
#include <math.h>

#include "codec/models/fit.h"
#include "codec/models/model.h"
#include "core/scaling/model/fit.h"
#include "fuzz_body.h"

/* A selection fits every kind once a row: fewer rows keep an input to milliseconds. */
enum { ROWS_MAX = 24, AUTO_ROWS_MAX = 16 };

static void require_fit(const struct codec_model_fit *asked, const struct model_fit *fit)
{
    const struct model *model = &fit->model;
    FUZZ_REQUIRE(asked->kind == NULL || model->kind == asked->kind);
    FUZZ_REQUIRE(fit->n > 0 && fit->n <= asked->n);
    for (size_t j = 0; j < model->kind->n_parameters; j++) {
        const struct model_parameter *parameter = &model->parameters[j];
        FUZZ_REQUIRE(!isinf(parameter->estimate));
        FUZZ_REQUIRE(isnan(parameter->std_error) || parameter->std_error >= 0);
        FUZZ_REQUIRE(isnan(parameter->p_value) ||
                     (parameter->p_value >= 0 && parameter->p_value <= 1));
    }
    FUZZ_REQUIRE(isfinite(fit->mape_percent) && fit->mape_percent >= 0);
    FUZZ_REQUIRE(fit->max_error_percent >= fit->mape_percent * (1 - 1e-9));
    for (size_t i = 0; i < fit->n; i++)
        FUZZ_REQUIRE(fit->residuals[i].observation < asked->n);
    FUZZ_REQUIRE(!fit->warnings.failed);
}

/* The whole reply, as a client may send it back. */
static void require_round_trip(json_t *reply, struct arena *arena)
{
    struct pv_error err = {0};
    struct codec_model_predict predict;
    struct codec_reader reader = {arena, &err};
    json_t *points = json_pack("[{s:i,s:i}]", "problem_size", 8, "executors", 2);
    FUZZ_REQUIRE(points != NULL && json_object_set_new(reply, "points", points) == 0);
    const struct json_value *sent;
    char *text = json_dumps(reply, 0);
    FUZZ_REQUIRE(text != NULL);
    FUZZ_REQUIRE(json_parse_own(strview_of(text), arena, &sent, &err) == PV_OK);
    free(text);
    const struct codec_node top = {.reader = &reader, .json = sent};
    codec_model_predict_decode(&top, 1, &predict);
    FUZZ_REQUIRE(codec_result(&reader) == PV_OK);
}

static void require_reply(const struct model_fit *fit,
                          const struct model_selection *selection,
                          struct arena *arena)
{
    struct writer w;
    size_t n;
    writer_init(&w, arena);
    codec_model_fit_encode(&w, fit, selection);
    const char *text = writer_finish(&w, &n);
    FUZZ_REQUIRE(text != NULL);
    json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    FUZZ_REQUIRE(json != NULL);
    require_round_trip(json, arena);
    json_decref(json);
}

static void require_reason(enum pv_code code, const char *detail)
{
    FUZZ_REQUIRE(code == PV_E_TOO_FEW || code == PV_E_SINGULAR || code == PV_E_DOMAIN);
    FUZZ_REQUIRE(detail[0] != '\0');
}

static void fit_rows(const struct codec_model_fit *asked, struct arena *arena)
{
    struct model_fit fit;
    struct pv_error err = {0};
    enum pv_code code =
        model_fit(asked->kind, asked->rows, asked->n, asked->weights, arena, &fit, &err);
    if (code != PV_OK) {
        require_reason(code, err.detail);
        return;
    }
    require_fit(asked, &fit);
    require_reply(&fit, NULL, arena);
}

static void select_rows(const struct codec_model_fit *asked, struct arena *arena)
{
    struct model_selection selection;
    if (asked->n > AUTO_ROWS_MAX)
        return;
    FUZZ_REQUIRE(model_select(asked->rows, asked->n, arena, &selection, NULL) == PV_OK);
    FUZZ_REQUIRE(selection.code[0] != '\0' && selection.message[0] != '\0');
    for (size_t k = 0; k < selection.n; k++) {
        const struct model_candidate *candidate = &selection.candidates[k];
        if (candidate->standing == MODEL_NOT_FITTED && candidate->code != PV_E_INVALID)
            require_reason(candidate->code, candidate->detail);
    }
    if (selection.selected == NULL)
        return;
    require_fit(asked, &selection.selected->fit);
    require_reply(&selection.selected->fit, &selection, arena);
}

void fuzz_body(const struct codec_node *top)
{
    struct arena *arena = top->reader->arena;
    struct codec_model_fit asked;
    codec_model_fit_decode(top, ROWS_MAX, &asked);
    bool taken = fuzz_body_is_taken(top);
    if (taken && asked.kind != NULL)
        fit_rows(&asked, arena);
    if (taken && asked.kind == NULL)
        select_rows(&asked, arena);
}
