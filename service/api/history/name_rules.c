#include "codec/history/name_rules.h"

#include <string.h>

#include "api/api.h"
#include "api/history/event_log_name.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "codec/json/shape.h"
#include "core/joblog/common/privacy.h"
#include "http/etag.h"
#include "ingest/reader_settings.h"
#include "store/history/name_rules.h"

/* /v1/name-rules: how names of recurring jobs become applications, shown, tried and changed. */

static const char *const no_parameters[] = {NULL};

static enum pv_code reply_rules(struct http_request *request,
                                struct http_response *response,
                                const struct name_rules *rules,
                                struct pv_error *err)
{
    char etag[HTTP_ETAG_TEXT];
    http_etag_format(rules->version, etag);
    http_response_header(request, response, "ETag", etag);
    struct writer w;
    writer_init(&w, request->arena);
    codec_name_rules_encode(&w, rules->customized, rules->rules, rules->n);
    PV_TRY(api_reply(response, 200, &w, err));
    if (request->method == HTTP_GET && http_none_match_holds(request, etag))
        http_reply_not_modified(response);
    return PV_OK;
}

enum pv_code name_rules_get(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct name_rules rules;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(store_name_rules_get(tx, request->arena, &rules, err));
    store_rollback(&tx);
    return reply_rules(request, response, &rules, err);
}

/* *if_version: the version the store must still find, RUN_UNKNOWN without If-Match. */
static enum pv_code check_match(struct http_request *request,
                                struct store_tx *tx,
                                int64_t *if_version,
                                struct pv_error *err)
{
    struct name_rules rules;
    *if_version = RUN_UNKNOWN;
    if (http_header(request, "If-Match") == NULL)
        return PV_OK;
    PV_TRY(store_name_rules_get(tx, request->arena, &rules, err));
    char etag[HTTP_ETAG_TEXT];
    http_etag_format(rules.version, etag);
    if (http_if_match(request, etag) == HTTP_MATCH_NO)
        return pv_fail(err, PV_E_PRECONDITION, "the rules are now at version %s", etag);
    *if_version = rules.version;
    return PV_OK;
}

/* rules NULL: back to those that are built in. */
static enum pv_code replace(struct http_request *request,
                            struct http_response *response,
                            struct store_tx *tx,
                            const struct codec_name_rules *rules,
                            struct pv_error *err)
{
    int64_t if_version;
    PV_TRY(check_match(request, tx, &if_version, err));
    PV_TRY(rules == NULL ? store_name_rules_reset(tx, if_version, err)
                         : store_name_rules_set(tx, rules->rules, rules->n, if_version, err));
    struct name_rules now;
    PV_TRY(store_name_rules_get(tx, request->arena, &now, err));
    return reply_rules(request, response, &now, err);
}

static enum pv_code name_rules_change(struct api *api,
                                      struct http_request *request,
                                      struct http_response *response,
                                      const struct codec_name_rules *rules,
                                      struct pv_error *err)
{
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(replace(request, response, write.tx, rules, err));
    return api_write_commit(request, response, &write, err);
}

static enum pv_code name_rules_set_decode(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct api *api = context;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_name_rules_decode(&body.top, request->state);
    return codec_close(&body);
}

static enum pv_code name_rules_set_store(void *context,
                                         struct http_request *request,
                                         struct http_response *response,
                                         struct pv_error *err)
{
    return name_rules_change(context, request, response, request->state, err);
}

const struct http_call name_rules_set = {
    .state_bytes = sizeof(struct codec_name_rules),
    .steps = {{HTTP_BODY, name_rules_set_decode}, {HTTP_IO, name_rules_set_store}},
};

enum pv_code name_rules_reset(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    PV_TRY(http_check_query(request, no_parameters, err));
    return name_rules_change(context, request, response, NULL, err);
}

/* --- trying them --- */

struct name_rules_trial {
    struct codec_name_fold asked;
    struct name_rules rules;
    struct ingest_limits limits; /* for its policies */
    bool there[CODEC_FOLD_NAMES_MAX];
};

static enum pv_code name_rules_preview_decode(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    struct api *api = context;
    struct name_rules_trial *trial = request->state;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_name_fold_decode(&body.top, &trial->asked);
    return codec_close(&body);
}

static enum pv_code name_rules_preview_load(void *context,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct pv_error *err)
{
    struct name_rules_trial *trial = request->state;
    const struct codec_name_fold *asked = &trial->asked;
    struct api *api = context;
    unsigned char key[32];
    store_tx_auto_t *tx = NULL;
    (void)response;
    PV_TRY(api_service_key(api, key, err));
    ingest_limits_set_privacy(&trial->limits, api->config, key, request->principal.team_id);
    PV_TRY(api_read(context, request, &tx, err));
    if (asked->has_rules)
        trial->rules = (struct name_rules){.rules = asked->rules.rules, .n = asked->rules.n};
    else
        PV_TRY(store_name_rules_get(tx, request->arena, &trial->rules, err));
    return store_names_there(tx, request->arena, asked->names, asked->n_names, trial->there, err);
}

/* As a log has them. */
static enum pv_code write_properties(const struct codec_name_fold *asked,
                                     struct arena *arena,
                                     struct strview *properties,
                                     struct pv_error *err)
{
    struct writer w;
    writer_init(&w, arena);
    shape_encode_labels(&w, asked->properties, asked->n_properties);
    properties->at = writer_finish(&w, &properties->n);
    return properties->at != NULL ? PV_OK : pv_no_memory(err);
}

/* As a log of that name would be taken. */
static enum pv_code preview_name(const struct joblog_privacy *privacy,
                                 const struct name_rules *rules,
                                 bool exists,
                                 struct strview name,
                                 struct strview properties,
                                 struct arena *arena,
                                 struct writer *w,
                                 struct pv_error *err)
{
    char kept[1024]; /* 255 characters */
    struct name_folding folding = {0};
    struct pv_error refusal;
    pv_error_clear(&refusal);
    memcpy(kept, name.at, name.n);
    kept[name.n] = '\0';
    privacy_application_name(privacy, kept, sizeof kept);
    enum pv_code code =
        log_name_fold(rules, exists, strview_of(kept), properties, arena, &folding, &refusal);
    if (code != PV_OK && code != PV_E_INVALID) {
        *err = refusal;
        return code;
    }
    codec_name_fold_encode(w, name, exists, &folding, rules->rules,
                           code == PV_OK ? NULL : refusal.faults[0].detail);
    return PV_OK;
}

static enum pv_code name_rules_preview_answer(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    const struct name_rules_trial *trial = request->state;
    struct writer w;
    struct strview properties;
    (void)context;
    PV_TRY(write_properties(&trial->asked, request->arena, &properties, err));
    writer_init(&w, request->arena);
    writer_begin_object(&w);
    writer_key(&w, "items");
    writer_begin_array(&w);
    for (size_t i = 0; i < trial->asked.n_names; i++)
        PV_TRY(preview_name(&trial->limits.log.privacy, &trial->rules, trial->there[i],
                            trial->asked.names[i], properties, request->arena, &w, err));
    writer_end_array(&w);
    writer_end_object(&w);
    return api_reply(response, 200, &w, err);
}

const struct http_call name_rules_preview = {
    .state_bytes = sizeof(struct name_rules_trial),
    .steps = {{HTTP_BODY, name_rules_preview_decode},
              {HTTP_IO, name_rules_preview_load},
              {HTTP_COMPUTE, name_rules_preview_answer}},
};
