#include <sodium.h>
#include <string.h>

#include "api/kubernetes/admission_verdict.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "codec/kubernetes/admission_question.h"
#include "codec/kubernetes/spark_patch.h"
#include "log/log.h"
#include "metrics/registry.h"
#include "threads/clock.h"

METRIC_COUNTER(
    reviews,
    "provisor_kubernetes_reviews_total",
    "Reviews of admission answered, by action (mutate or validate) and outcome: untouched, "
    "warned, patched, denied, or failed, where there was no answer to the question.",
    "action,outcome");

/*
 * POST /v1/kubernetes/admission: one review while it is answered. From the moment it is known to be a
 * review its answer is 200: the API server takes an error of HTTP for one of the webhook as a whole,
 * and then does what its failurePolicy says.
 */
struct admission {
    struct admission_rules rules;
    struct admission_review review;
    unsigned char identity[32]; /* for api_write_begin_keyed */
    struct strview question;    /* as a body of POST /v1/advice */
    struct advice_question sent;
    struct advice_made made;
};

/* --- the query --- */

static enum pv_code read_denies(const struct http_request *request,
                                const char *name,
                                const char *const words[], /* the one that denies is the second */
                                bool *denies,
                                struct pv_error *err)
{
    size_t at = 0;
    PV_TRY(api_query_word(request, name, words, &at, err));
    if (http_query(request, name) != NULL)
        *denies = at == 1;
    return PV_OK;
}

/* Kubernetes adds `timeout`, after which it listens no longer. */
static enum pv_code
read_rules(const struct http_request *request, struct admission_rules *rules, struct pv_error *err)
{
    static const char *const known[] = {"action",     "on_missed", "on_at_risk", "on_unknown",
                                        "on_failure", "timeout",   NULL};
    static const char *const actions[] = {"mutate", "validate", NULL};
    static const char *const warns[] = {"warn", "deny", NULL};
    static const char *const allows[] = {"allow", "deny", NULL};
    static const char *const fails[] = {"open", "closed", NULL};
    size_t action = 0;
    PV_TRY(http_check_query(request, known, err));
    PV_TRY(api_query_word(request, "action", actions, &action, err));
    *rules = (struct admission_rules){.validates = action == 1};
    rules->denies[ADVISE_MISSED] = rules->validates;
    PV_TRY(read_denies(request, "on_missed", warns, &rules->denies[ADVISE_MISSED], err));
    PV_TRY(read_denies(request, "on_at_risk", warns, &rules->denies[ADVISE_AT_RISK], err));
    PV_TRY(read_denies(request, "on_unknown", allows, &rules->denies[ADVISE_UNKNOWN], err));
    return read_denies(request, "on_failure", fails, &rules->closed, err);
}

/* --- the answer --- */

static void
count_review(const struct admission *admission, const struct admission_answer *answer, bool failed)
{
    const char *outcome = failed                    ? "failed"
                          : !answer->allowed        ? "denied"
                          : answer->patch != NULL   ? "patched"
                          : answer->n_warnings != 0 ? "warned"
                                                    : "untouched";
    metric_add(&reviews, 1,
               METRIC_LABELS(admission->rules.validates ? "validate" : "mutate", outcome));
}

static enum pv_code write_answer(struct http_request *request,
                                 const struct admission *admission,
                                 const struct admission_answer *answer,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    codec_admission_answer_encode(&w, admission->review.uid, answer);
    return api_reply(response, 200, &w, err);
}

/* Never empty: faults have a detail of their own. */
static const char *detail_of(enum pv_code code, const struct pv_error *why)
{
    if (why->detail[0] != '\0')
        return why->detail;
    return why->n_faults > 0 ? why->faults[0].detail : pv_code_text(code);
}

/* Whatever a step came to: what it cannot do is an answer, too. */
static enum pv_code conclude(enum pv_code code,
                             const struct pv_error *why,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    const struct admission *admission = request->state;
    struct admission_answer answer = {.allowed = true};
    if (code == PV_OK || code == PV_E_RETRY)
        return code;
    bool judged = admission_judge_fault(&admission->rules, &admission->review, code, why,
                                        request->arena, &answer);
    if (!judged) {
        LOG_EVENT(LOG_WARN, "kubernetes.review_failed", request->request_id,
                  LOG_TEXT("code", pv_code_name(code)), LOG_TEXT("detail", detail_of(code, why)));
        admission_fail(&admission->rules, &answer);
    }
    *response = (struct http_response){.status = 0};
    PV_TRY(write_answer(request, admission, &answer, response, err));
    count_review(admission, &answer, !judged);
    return PV_OK;
}

/* --- its steps --- */

static enum pv_code read_question(const struct config *config,
                                  struct http_request *request,
                                  struct admission *admission,
                                  struct pv_error *err)
{
    const struct codec_bounds bounds = {.depth = (size_t)config->json_depth_max,
                                        .values = (size_t)config->json_values_max};
    const struct codec_advice_limits limits = advice_made_limits(config);
    struct codec_document body;
    struct writer w;
    writer_init(&w, request->arena);
    codec_admission_question_encode(&w, &admission->review, !admission->rules.validates);
    admission->question.at = writer_finish(&w, &admission->question.n);
    if (admission->question.at == NULL)
        return pv_no_memory(err);
    PV_TRY(codec_open(&body, admission->question.at, admission->question.n, &bounds, request->arena,
                      err));
    codec_advice_decode(&body.top, &limits, &admission->sent);
    return codec_close(&body);
}

/* Of the query only what changes the answer: neither `timeout`, nor what says the default, nor what
 * becomes of reviews that are not answered. */
static enum pv_code
identify(const struct codec_node *body, struct admission *admission, struct pv_error *err)
{
    const struct admission_rules *rules = &admission->rules;
    struct strview review = codec_admission_review_identity(body, body->reader->arena);
    crypto_generichash_state state;
    if (review.at == NULL)
        return pv_no_memory(err);
    (void)crypto_generichash_init(&state, NULL, 0, sizeof admission->identity);
    for (size_t i = 0; i < ADVISE_VERDICTS; i++)
        (void)crypto_generichash_update(&state,
                                        (const unsigned char *)(rules->denies[i] ? "1" : "0"), 1);
    (void)crypto_generichash_update(&state, (const unsigned char *)review.at, review.n);
    (void)crypto_generichash_final(&state, admission->identity, sizeof admission->identity);
    return PV_OK;
}

static enum pv_code kubernetes_admission_decode(void *context,
                                                struct http_request *request,
                                                struct http_response *response,
                                                struct pv_error *err)
{
    struct api *api = context;
    struct admission *admission = request->state;
    struct admission_answer answer = {.allowed = true};
    struct codec_document body;
    struct pv_error why = {0};
    PV_TRY(read_rules(request, &admission->rules, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_admission_review_decode(&body.top, &admission->review);
    bool asks = admission->review.concern == REVIEW_ASKS;
    enum pv_code identified = asks ? identify(&body.top, admission, err) : PV_OK;
    PV_TRY(codec_close(&body));
    PV_TRY(identified);
    if (asks)
        return conclude(read_question(api->config, request, admission, &why), &why, request,
                        response, err);
    admission_pass(&admission->rules, &admission->review, &answer);
    PV_TRY(write_answer(request, admission, &answer, response, err));
    count_review(admission, &answer, false);
    return PV_OK;
}

static enum pv_code kubernetes_admission_load(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    struct admission *admission = request->state;
    struct advice_made *made = &admission->made;
    struct pv_error why = {0};
    made->question = admission->sent;
    return conclude(advice_prediction_load(context, request, &made->question, &made->cluster,
                                           &made->prediction, &why),
                    &why, request, response, err);
}

static enum pv_code kubernetes_admission_predict(void *context,
                                                 struct http_request *request,
                                                 struct http_response *response,
                                                 struct pv_error *err)
{
    struct admission *admission = request->state;
    struct pv_error why = {0};
    enum pv_code code = advice_prediction_make(context, request, &admission->made.question,
                                               &admission->made.prediction, &why);
    if (code == PV_OK)
        code = advice_made_answer(context, request, &admission->made, &why);
    return conclude(code, &why, request, response, err);
}

/* advice_id NULL: it is not stored. */
static enum pv_code make_answer(struct http_request *request,
                                const struct admission *admission,
                                const char *advice_id,
                                struct admission_answer *answer,
                                struct pv_error *err)
{
    const struct review_question *question = &admission->review.question;
    struct writer w;
    size_t n = 0;
    admission_judge(&admission->rules, &admission->review, &admission->made, request->arena,
                    answer);
    answer->advice = advice_id;
    if (!answer->allowed ||
        !admission_applies(&admission->rules, &admission->review, &admission->made))
        return PV_OK;
    writer_init(&w, request->arena);
    size_t operations =
        spark_patch_encode(&w, &admission->review.object, &admission->made.answer.spark,
                           question->preserve, question->n_preserve, advice_id);
    const char *patch = writer_finish(&w, &n);
    if (patch == NULL)
        return pv_no_memory(err);
    if (operations == 0)
        return PV_OK;
    answer->patch = spark_patch_base64(request->arena, (struct strview){patch, n});
    return answer->patch == NULL ? pv_no_memory(err) : PV_OK;
}

/* The uid of the review is its idempotency key: one that is sent again, by a proxy, say, is answered as
 * before. Another review with its uid is a fault (admission_judge_fault). */
static enum pv_code keep_advice(struct api *api,
                                struct http_request *request,
                                const struct admission *admission,
                                struct admission_answer *answer,
                                struct http_response *response,
                                bool *replayed,
                                struct pv_error *err)
{
    api_write_auto_t write = {0};
    char id[37];
    struct writer w;
    size_t n = 0;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(api_write_begin_keyed(api, request, response, admission->review.uid.at,
                                 admission->identity, &write, replayed, err));
    if (*replayed)
        return PV_OK;
    clock_uuid7(id);
    struct codec_advice_reply reply = advice_made_reply(&admission->made, id, clock_wall_us());
    writer_init(&w, request->arena);
    codec_advice_encode(&w, &reply);
    const char *document = writer_finish(&w, &n);
    if (document == NULL)
        return pv_no_memory(err);
    PV_TRY(make_answer(request, admission, arena_strdup(request->arena, id), answer, err));
    PV_TRY(write_answer(request, admission, answer, response, err));
    store_set_application(write.tx, admission->made.prediction.item->application_id);
    PV_TRY(api_write_keep(request, response, &write, err));
    return advice_made_store(request, &admission->made, &reply, admission->question,
                             (struct strview){document, n}, &write.tx, err);
}

static enum pv_code kubernetes_admission_answer(void *context,
                                                struct http_request *request,
                                                struct http_response *response,
                                                struct pv_error *err)
{
    const struct admission *admission = request->state;
    const struct admission_review *review = &admission->review;
    struct admission_answer answer = {.allowed = true};
    struct pv_error why = {0};
    bool replayed = false;
    bool stores = !admission->rules.validates && !review->dry_run && !review->question.only_warns;
    enum pv_code code =
        stores ? keep_advice(context, request, admission, &answer, response, &replayed, &why)
               : make_answer(request, admission, NULL, &answer, &why);
    if (code != PV_OK)
        return conclude(code, &why, request, response, err);
    if (replayed)
        return PV_OK;
    if (!stores)
        PV_TRY(write_answer(request, admission, &answer, response, err));
    advice_made_count(&admission->made, !stores);
    count_review(admission, &answer, false);
    return PV_OK;
}

static bool only_validates(const struct http_request *request)
{
    struct pv_error err = {0};
    struct admission_rules rules = {0};
    return read_rules(request, &rules, &err) == PV_OK && rules.validates;
}

static enum http_place kubernetes_admission_begins_at(const struct http_request *request)
{
    return only_validates(request) ? HTTP_COMPUTE : HTTP_IO;
}

static void kubernetes_admission_end(void *state)
{
    struct admission *admission = state;
    advice_prediction_end(&admission->made.prediction);
}

const struct http_call kubernetes_admission = {
    .state_bytes = sizeof(struct admission),
    .steps = {{HTTP_BODY, kubernetes_admission_decode},
              {HTTP_ANYWHERE, kubernetes_admission_load},
              {HTTP_ANYWHERE, kubernetes_admission_predict},
              {HTTP_ANYWHERE, kubernetes_admission_answer}},
    .begins_at = kubernetes_admission_begins_at,
    .only_reads = only_validates,
    .end = kubernetes_admission_end,
};
