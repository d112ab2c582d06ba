#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/clusters/cluster_room.h"
#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/fault_text.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "base/uuid.h"
#include "codec/clusters/admission.h"
#include "store/advice/advice.h"
#include "store/clusters/cluster.h"
#include "store/name_hint.h"

/*
 * /v1/admissions: cores and memory of a cluster, reserved for a run (docs/design.md, "Admissions").
 * Whoever reserves or extends holds the cluster from before it looks at what is reserved up to the
 * commit, so the question and its answer are one.
 */

static const char *const no_parameters[] = {NULL};

static enum pv_code read_id(const struct http_request *request, char id[37], struct pv_error *err)
{
    return uuid_parse(http_path_parameter(request, "id"), id)
               ? PV_OK
               : pv_fail(err, PV_E_NOT_FOUND, "there is no admission of that id");
}

static enum pv_code reply_with(struct http_request *request,
                               struct http_response *response,
                               unsigned status,
                               const struct admission *admission,
                               struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    codec_admission_encode(&w, admission);
    return api_reply(response, status, &w, err);
}

/* --- what is asked for --- */

static enum pv_code find_advice(struct store_tx *tx,
                                struct arena *arena,
                                const char *id,
                                struct advice_row *advice,
                                struct pv_error *err)
{
    struct pv_error why = {.code = PV_OK};
    enum pv_code code = store_advice_find(tx, arena, id, advice, &why);
    if (code == PV_E_NOT_FOUND)
        return pv_fault(err, PV_PLACE_POINTER, "/advice_id", "unknown_advice",
                        "there is no advice of that id");
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
}

static enum pv_code lacks(struct pv_error *err, const char *what, const char *pointer)
{
    return pv_fault(err, PV_PLACE_POINTER, pointer, "required",
                    "is required, since the advice has no %s", what);
}

/* What is not given, from the advice. */
static enum pv_code follow_advice(struct store_tx *tx,
                                  struct arena *arena,
                                  struct admission_question *question,
                                  struct pv_error *err)
{
    struct advice_row advice;
    if (question->advice_id[0] == '\0')
        return PV_OK;
    PV_TRY(find_advice(tx, arena, question->advice_id, &advice, err));
    if (question->application.at == NULL)
        question->application = advice.application_name;
    if (question->cluster.at == NULL)
        question->cluster = advice.cluster;
    if (isnan(question->cores) && advice.executors != RUN_UNKNOWN &&
        advice.cores_per_executor != RUN_UNKNOWN)
        question->cores = (double)advice.executors * (double)advice.cores_per_executor;
    if (isnan(question->deadline_s))
        question->deadline_s = advice.deadline_s;
    if (question->application.at == NULL)
        return lacks(err, "application", "/application");
    if (question->cluster.at == NULL)
        return lacks(err, "cluster", "/cluster");
    if (isnan(question->cores))
        return lacks(err, "recommendation", "/cores");
    if (question->cores_min > question->cores)
        return pv_fault(err, PV_PLACE_POINTER, "/cores_min", "out_of_range",
                        "must not be more than the advice recommends");
    return isnan(question->expires_s) && isnan(question->deadline_s)
               ? lacks(err, "deadline", "/expires_s")
               : PV_OK;
}

static enum pv_code hold_cluster(struct store_tx *tx,
                                 struct arena *arena,
                                 const struct admission_question *question,
                                 struct cluster *cluster,
                                 struct pv_error *err)
{
    bool found = false;
    const char *name = question->cluster.at;
    PV_TRY(store_cluster_hold(tx, arena, name, cluster, &found, err));
    if (!found)
        return pv_fault(err, PV_PLACE_POINTER, "/cluster", "unknown_cluster",
                        "there is no cluster %s%s", fault_quote(name).text,
                        store_name_hint(tx, arena, STORE_NAMES_CLUSTERS, name));
    const struct cluster_traits *traits = &cluster->traits;
    PV_TRY(cluster_need(cluster, traits->executors, "executors", "/cluster", err));
    PV_TRY(
        cluster_need(cluster, traits->cores_per_executor, "cores_per_executor", "/cluster", err));
    return question->memory_bytes == RUN_UNKNOWN
               ? PV_OK
               : cluster_need(cluster, traits->memory_bytes_per_executor,
                              "memory_bytes_per_executor", "/cluster", err);
}

static int64_t microseconds(double seconds)
{
    return (int64_t)llround(seconds * 1e6);
}

/* From when on and how long. What was to begin before now begins now, and ends no later for that. */
static enum pv_code place_in_time(const struct config *config,
                                  const struct admission_question *question,
                                  int64_t now_us,
                                  struct admission *admission,
                                  struct pv_error *err)
{
    const int64_t asked_us = question->starts_us == RUN_NO_INSTANT ? now_us : question->starts_us;
    const bool expires = !isnan(question->expires_s);
    const double length_s = expires ? question->expires_s : question->deadline_s;
    if ((asked_us - now_us) / 1000000 > config->admission_ahead_max_s)
        return pv_fault(err, PV_PLACE_POINTER, "/starts_at", "out_of_range",
                        "is more than %lld s ahead (admission_ahead_max_s)",
                        (long long)config->admission_ahead_max_s);
    if (length_s > (double)config->admission_length_max_s)
        return pv_fault(err, PV_PLACE_POINTER, expires ? "/expires_s" : "/deadline_s",
                        "out_of_range", "holds cores for more than %lld s (admission_length_max_s)",
                        (long long)config->admission_length_max_s);
    admission->starts_us = asked_us < now_us ? now_us : asked_us;
    admission->expires_us = asked_us + microseconds(length_s);
    admission->deadline_us = isnan(question->deadline_s)
                                 ? RUN_NO_INSTANT
                                 : asked_us + microseconds(question->deadline_s);
    return admission->expires_us > admission->starts_us
               ? PV_OK
               : pv_fault(err, PV_PLACE_POINTER, expires ? "/expires_s" : "/deadline_s",
                          "out_of_range", "is over already (it counts from starts_at)");
}

/* --- what is free --- */

/* Cores and memory as they are asked for at least, which the whole cluster must have. */
static enum pv_code check_capacity(const struct cluster_room *offer,
                                   const struct admission_question *question,
                                   struct reservation_amounts least,
                                   struct pv_error *err)
{
    if (least.quanta > offer->capacity.quanta)
        return pv_fault(err, PV_PLACE_POINTER, isnan(question->cores_min) ? "/cores" : "/cores_min",
                        "out_of_range", "the cluster %s has %s",
                        fault_quote(question->cluster.at).text,
                        quantity_digits(reservation_cores(offer->capacity.quanta), 9).text);
    if (least.memory_bytes != RUN_UNKNOWN && least.memory_bytes > offer->capacity.memory_bytes)
        return pv_fault(err, PV_PLACE_POINTER, "/memory_bytes", "out_of_range",
                        "the cluster %s has %lld bytes (%s)",
                        fault_quote(question->cluster.at).text,
                        (long long)offer->capacity.memory_bytes,
                        quantity_bytes((double)offer->capacity.memory_bytes).text);
    return PV_OK;
}

/* As many of the cores asked for as are free throughout, but no fewer than cores_min. */
static enum pv_code grant(const struct config *config,
                          const struct admission_question *question,
                          struct cluster_room *offer,
                          struct arena *arena,
                          struct admission *admission,
                          struct pv_error *err)
{
    const bool bends = !isnan(question->cores_min);
    const int64_t asked = reservation_quanta(question->cores);
    const struct reservation_amounts least = {
        .quanta = bends ? reservation_quanta(question->cores_min) : asked,
        .memory_bytes = question->memory_bytes};
    int64_t earliest_us = RUN_NO_INSTANT;
    if ((int64_t)offer->held.n >= config->admissions_max)
        return pv_fail(err, PV_E_LIMIT,
                       "the cluster has %lld admission%s already, as many as it may "
                       "(admissions_max)",
                       (long long)offer->held.n, PLURAL((int64_t)offer->held.n));
    PV_TRY(check_capacity(offer, question, least, err));
    PV_TRY(cluster_room_look(offer, admission->starts_us, admission->expires_us, arena, err));
    if (cluster_room_has(offer, least)) {
        int64_t granted = asked < offer->least.quanta ? asked : offer->least.quanta;
        admission->cores = question->cores;
        admission->granted_cores = granted == asked ? question->cores : reservation_cores(granted);
        return PV_OK;
    }
    if (!reservations_earliest(offer->held.items, offer->held.n, offer->capacity, least,
                               admission->starts_us, admission->expires_us - admission->starts_us,
                               arena, &earliest_us))
        return pv_no_memory(err);
    return cluster_room_refuse(offer, "throughout that time", earliest_us, err);
}

/* --- POST /v1/admissions --- */

static enum pv_code admissions_create_decode(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    const struct api *api = context;
    const struct codec_admission_limits limits = {.cores = api->config->cores_max,
                                                  .length_s = api->config->admission_length_max_s};
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_admission_decode(&body.top, &limits, request->state);
    return codec_close(&body);
}

static enum pv_code admit(const struct config *config,
                          struct store_tx *tx,
                          struct arena *arena,
                          struct admission_question *question,
                          struct admission *admission,
                          struct pv_error *err)
{
    struct cluster cluster;
    struct cluster_room offer = {.least = {0, 0}};
    PV_TRY(follow_advice(tx, arena, question, err));
    PV_TRY(hold_cluster(tx, arena, question, &cluster, err));
    PV_TRY(store_admission_holdings(tx, arena, cluster.id, "", &offer.held, err));
    offer.capacity = reservation_capacity(&cluster.traits);
    *admission = (struct admission){.cluster = cluster.name,
                                    .application = question->application,
                                    .memory_bytes = question->memory_bytes};
    memcpy(admission->cluster_id, cluster.id, sizeof admission->cluster_id);
    memcpy(admission->advice_id, question->advice_id, sizeof admission->advice_id);
    PV_TRY(place_in_time(config, question, offer.held.now_us, admission, err));
    PV_TRY(grant(config, question, &offer, arena, admission, err));
    return store_admission_insert(tx, arena, admission, err);
}

static enum pv_code admissions_create_store(void *context,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct pv_error *err)
{
    const struct api *api = context;
    struct admission_question question = *(const struct admission_question *)request->state;
    struct admission admission;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(admit(api->config, write.tx, request->arena, &question, &admission, err));
    PV_TRY(api_reply_location(request, response, "/v1/admissions", admission.id, err));
    PV_TRY(reply_with(request, response, 201, &admission, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call admissions_create = {
    .state_bytes = sizeof(struct admission_question),
    .steps = {{HTTP_BODY, admissions_create_decode}, {HTTP_IO, admissions_create_store}},
};

/* --- reading --- */

enum pv_code admissions_get(void *context,
                            struct http_request *request,
                            struct http_response *response,
                            struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct admission admission;
    char id[37];
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(read_id(request, id, err));
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(store_admission_find(tx, request->arena, id, &admission, err));
    store_rollback(&tx);
    return reply_with(request, response, 200, &admission, err);
}

enum pv_code admissions_list(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    static const char *const allowed[] = {"limit",       "cursor", "cluster",
                                          "application", "status", NULL};
    struct admission_filter filter = {.cluster = http_query(request, "cluster"),
                                      .application = http_query(request, "application"),
                                      .status = http_query(request, "status")};
    struct admission_list page;
    api_list_auto_t list = {0};
    size_t at;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_word(request, "status", admission_status_words, &at, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_admission_list(list.tx, request->arena, &filter, list.after.text, list.limit,
                                &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_admission_encode(&list.w, &page.items[i]);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL, RUN_NO_INSTANT, err);
}

/* --- PATCH /v1/admissions/{id} --- */

static enum pv_code admissions_extend_decode(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct api *api = context;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_admission_decode_extension(&body.top, request->state);
    return codec_close(&body);
}

static enum pv_code check_expiry(const struct config *config,
                                 const struct admission *admission,
                                 int64_t expires_us,
                                 int64_t now_us,
                                 struct pv_error *err)
{
    if (expires_us <= now_us || expires_us <= admission->starts_us)
        return pv_fault(
            err, PV_PLACE_POINTER, "/expires_at", "out_of_range",
            "must be in the future and after starts_at; DELETE gives the cores back at once");
    if ((expires_us - admission->starts_us) / 1000000 > config->admission_length_max_s)
        return pv_fault(err, PV_PLACE_POINTER, "/expires_at", "out_of_range",
                        "holds cores for more than %lld s (admission_length_max_s)",
                        (long long)config->admission_length_max_s);
    return PV_OK;
}

/* What it holds already is its own: only the time behind that is asked for. */
static enum pv_code check_further_room(struct store_tx *tx,
                                       struct arena *arena,
                                       const struct admission *admission,
                                       struct cluster_room *offer,
                                       int64_t expires_us,
                                       struct pv_error *err)
{
    struct cluster cluster;
    bool found = false;
    const struct reservation_amounts own = {.quanta = reservation_quanta(admission->granted_cores),
                                            .memory_bytes = admission->memory_bytes};
    if (expires_us <= admission->expires_us)
        return PV_OK;
    PV_TRY(store_cluster_look(tx, arena, admission->cluster.at, &cluster, &found, err));
    if (!found)
        return pv_fail(err, PV_E_RETRY, "the cluster has just been deleted");
    PV_TRY(cluster_need(&cluster, cluster.traits.executors, "executors", "/expires_at", err));
    PV_TRY(cluster_need(&cluster, cluster.traits.cores_per_executor, "cores_per_executor",
                        "/expires_at", err));
    offer->capacity = reservation_capacity(&cluster.traits);
    PV_TRY(cluster_room_look(offer, admission->expires_us, expires_us, arena, err));
    if (offer->least.memory_bytes == RUN_UNKNOWN)
        offer->least.memory_bytes = own.memory_bytes;
    return cluster_room_has(offer, own)
               ? PV_OK
               : cluster_room_refuse(offer, "in the time that would be added", RUN_NO_INSTANT, err);
}

static enum pv_code extend(const struct config *config,
                           struct store_tx *tx,
                           struct http_request *request,
                           struct admission *admission,
                           struct pv_error *err)
{
    const struct codec_admission_extension *asked = request->state;
    struct cluster_room offer = {.least = {0, 0}};
    char id[37];
    PV_TRY(read_id(request, id, err));
    PV_TRY(store_admission_hold(tx, request->arena, id, admission, err));
    if (admission->status != ADMISSION_HELD)
        return pv_fail(err, PV_E_CONFLICT, "the admission is %s",
                       admission_status_words[admission->status]);
    PV_TRY(store_admission_holdings(tx, request->arena, admission->cluster_id, admission->id,
                                    &offer.held, err));
    PV_TRY(check_expiry(config, admission, asked->expires_us, offer.held.now_us, err));
    PV_TRY(check_further_room(tx, request->arena, admission, &offer, asked->expires_us, err));
    return store_admission_extend(tx, request->arena, asked->expires_us, admission, err);
}

static enum pv_code admissions_extend_store(void *context,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct pv_error *err)
{
    const struct api *api = context;
    struct admission admission;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(extend(api->config, write.tx, request, &admission, err));
    PV_TRY(reply_with(request, response, 200, &admission, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call admissions_extend = {
    .state_bytes = sizeof(struct codec_admission_extension),
    .steps = {{HTTP_BODY, admissions_extend_decode}, {HTTP_IO, admissions_extend_store}},
};

/* --- DELETE /v1/admissions/{id} --- */

enum pv_code admissions_release(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    api_write_auto_t write = {0};
    char id[37];
    bool replayed = false;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(read_id(request, id, err));
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_admission_release(write.tx, id, err));
    api_reply_empty(response);
    return api_write_commit(request, response, &write, err);
}
