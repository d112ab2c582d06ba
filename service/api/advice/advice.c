#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/advice/advice_copies.h"
#include "api/advice/advice_made.h"
#include "api/models/experiments.h"
#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/uuid.h"
#include "codec/advice/advice.h"
#include "codec/advice/rendering.h"
#include "http/accept.h"
#include "store/advice/advice.h"
#include "threads/clock.h"

/* --- POST /v1/advice --- */

/* Members are selected from JSON. */
static enum pv_code
check_fields(const struct http_request *request, enum advice_format format, struct pv_error *err)
{
    if (format == ADVICE_JSON || http_query(request, "fields") == NULL)
        return PV_OK;
    (void)pv_fault(err, PV_PLACE_PARAMETER, "fields", "conflict",
                   "must be left out unless the format is json: the format is %s",
                   advice_format_names[format]);
    return pv_fault(err, PV_PLACE_PARAMETER, "format", "conflict",
                    "must be json when fields is given");
}

/* ?format= decides; else ?fields=, which is for JSON; else Accept. */
static enum pv_code
read_format(const struct http_request *request, enum advice_format *format, struct pv_error *err)
{
    const char *asked = http_query(request, "format");
    bool markdown = http_query(request, "fields") == NULL &&
                    http_accept_prefers(request, "text/markdown", "application/json");
    *format = markdown ? ADVICE_MARKDOWN : ADVICE_JSON;
    if (asked == NULL)
        return PV_OK;
    for (int i = 0; i < ADVICE_FORMATS; i++)
        if (strcmp(asked, advice_format_names[i]) == 0) {
            *format = (enum advice_format)i;
            return check_fields(request, *format, err);
        }
    return pv_fault(
        err, PV_PLACE_PARAMETER, "format", "not_allowed",
        "must be one of: json, spark-submit, spark-defaults, k8s, k8s-apache, databricks, "
        "emr, emr-serverless, markdown");
}

/* A configuration is rendered although no number of executors is predicted to meet the deadline. */
static enum pv_code
read_force(const struct http_request *request, bool *force, struct pv_error *err)
{
    return api_query_boolean(request, "force", false, force, err);
}

static enum pv_code
read_query(const struct http_request *request, bool *dry_run, struct pv_error *err)
{
    static const char *const known[] = {"dry_run", "force", "format", NULL};
    enum advice_format format;
    bool force;
    PV_TRY(http_check_query(request, known, err));
    PV_TRY(read_format(request, &format, err));
    PV_TRY(read_force(request, &force, err));
    return api_query_boolean(request, "dry_run", false, dry_run, err);
}

/* The JSON of advice in the reply, in the format that was requested. at == NULL: that is JSON. */
static enum pv_code render_body(const struct http_request *request,
                                const struct http_response *response,
                                enum advice_format *format,
                                struct strview *text,
                                struct pv_error *err)
{
    bool force = false;
    *text = (struct strview){0};
    PV_TRY(read_format(request, format, err));
    PV_TRY(read_force(request, &force, err));
    return *format == ADVICE_JSON
               ? PV_OK
               : advice_render((struct strview){response->body, response->body_n}, *format, force,
                               request->arena, text, err);
}

/* Replace the JSON of advice in the reply by the format that was requested. */
static enum pv_code
render_reply(struct http_request *request, struct http_response *response, struct pv_error *err)
{
    enum advice_format format;
    struct strview text;
    PV_TRY(render_body(request, response, &format, &text, err));
    http_response_header(request, response, "Vary", "Accept");
    if (text.at == NULL)
        return PV_OK;
    response->body = text.at;
    response->body_n = text.n;
    response->content_type = advice_format_types[format];
    return PV_OK;
}

static enum pv_code advice_decode(const struct config *config,
                                  struct http_request *request,
                                  struct advice_question *question,
                                  struct pv_error *err)
{
    const struct codec_advice_limits limits = advice_made_limits(config);
    struct codec_document body;
    PV_TRY(api_body_open(config, request, &body, err));
    codec_advice_decode(&body.top, &limits, question);
    return codec_close(&body);
}

/* One advice while it is made: asked, loaded, computed, stored. */
struct advice_build {
    bool dry_run;
    struct advice_question sent;
    struct advice_made made;
    struct api_experiments experiments;
    bool has_experiments;
    struct advice_copies copies;
};

static bool wants(const struct advice_build *build, unsigned include)
{
    return (build->made.question.include & include) != 0;
}

/* Copies are of tasks of the configuration that is recommended. */
static bool plans_copies(const struct advice_build *build)
{
    return wants(build, ADVICE_COPY_PLAN) && build->made.answer.advice.verdict != ADVISE_UNKNOWN;
}

/* Which runs would make the times that the recommendation is chosen by more certain: not only its
 * own, which would be best known by making that run again and again. Most for their cost first. */
static enum pv_code load_experiments(struct api *api,
                                     struct http_request *request,
                                     struct advice_build *build,
                                     struct pv_error *err)
{
    enum { COUNT = 3 };
    const struct advice_question *question = &build->made.question;
    if (question->application.at != NULL)
        PV_TRY(http_move(request, HTTP_IO));
    const struct label_group *group = &build->made.prediction.item->prediction.group;
    struct api_experiments *experiments = &build->experiments;
    *experiments = api_experiments_of(api->config, EXPERIMENTS_CHEAPEST, COUNT);
    if (group->asked && !group->ignored) {
        experiments->models.labels = group->labels->labels;
        experiments->models.n_labels = group->labels->n;
    }
    experiments->models.name = question->application.at;
    if (question->application.at != NULL)
        return api_experiments_load(api, request, experiments, err);
    const struct run *profile = &question->profile;
    struct observation *seen = arena_alloc(request->arena, sizeof *seen);
    if (seen == NULL)
        return pv_no_memory(err);
    *seen = model_seen(profile->problem_size, (double)profile->executors, profile->duration_s,
                       profile->initialization_s);
    bool known = profile->problem_size > 0 && profile->executors >= 1 && profile->duration_s > 0;
    experiments->seen = (struct run_observations){.rows = seen, .n = known ? 1 : 0};
    return PV_OK;
}

static enum pv_code choose_experiments(struct api *api,
                                       struct http_request *request,
                                       struct advice_build *build,
                                       struct pv_error *err)
{
    const struct advise_goal *goal = &build->made.question.goal;
    struct api_experiments *experiments = &build->experiments;
    if (build->made.question.application.at != NULL)
        PV_TRY(api_experiments_weigh(request, experiments, err));
    experiments->bounds.problem_size = build->made.prediction.item->prediction.curve.problem_size;
    experiments->bounds.executors_included =
        (double)build->made.answer.advice.recommendation.executors;
    experiments->bounds.min_executors = goal->min_executors;
    if (goal->max_executors < api->config->executors_max)
        experiments->bounds.max_executors = goal->max_executors;
    experiments->question.confidence = goal->confidence;
    experiments->billing = build->made.answer.goal.billing;
    PV_TRY(api_experiments_region(request->arena, experiments, err));
    PV_TRY(api_experiments_predicted(&build->made.prediction.item->prediction.curve, request->arena,
                                     experiments, err));
    build->has_experiments = true;
    return api_experiments_choose(request->arena, experiments, err);
}

static enum pv_code compute(struct api *api,
                            struct http_request *request,
                            struct advice_build *build,
                            struct pv_error *err)
{
    PV_TRY(advice_made_answer(api, request, &build->made, err));
    if (wants(build, ADVICE_COPY_PLAN) && !plans_copies(build))
        (void)finding_add(&build->made.answer.advice.warnings, "no_copy_plan",
                          "There is no copy plan, because no executor count is recommended.");
    if (wants(build, ADVICE_NEXT_EXPERIMENTS) && build->made.answer.curve.n_points > 0)
        PV_TRY(choose_experiments(api, request, build, err));
    return plans_copies(build)
               ? advice_copies_pose(api, request, &build->made.question, &build->made.runs,
                                    &build->made.answer, &build->copies, err)
               : PV_OK;
}

static struct codec_advice_reply
reply_of(const struct advice_build *build, const char *id, int64_t created_us)
{
    struct codec_advice_reply reply = advice_made_reply(&build->made, id, created_us);
    reply.experiments = build->has_experiments ? &build->experiments.reply : NULL;
    reply.copies_asked = build->copies.planned ? &build->copies.asked : NULL;
    reply.copies = &build->copies.plan;
    return reply;
}

static enum pv_code write_document(struct http_request *request,
                                   const struct codec_advice_reply *reply,
                                   unsigned status,
                                   struct http_response *response,
                                   struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    codec_advice_encode(&w, reply);
    return api_reply(response, status, &w, err);
}

/* Reply, advice, audit row and event in one transaction. Advice that the requested format cannot
 * express is not stored. */
static enum pv_code store_advice(struct http_request *request,
                                 const struct advice_build *build,
                                 struct api_write *write,
                                 struct http_response *response,
                                 struct pv_error *err)
{
    char id[37];
    enum advice_format format;
    struct strview text;
    clock_uuid7(id);
    struct codec_advice_reply reply = reply_of(build, id, clock_wall_us());
    PV_TRY(write_document(request, &reply, 201, response, err));
    PV_TRY(render_body(request, response, &format, &text, err));
    PV_TRY(api_reply_location(request, response, "/v1/advice", id, err));
    store_set_application(write->tx, build->made.prediction.item->application_id);
    PV_TRY(api_write_keep(request, response, write, err));
    return advice_made_store(request, &build->made, &reply,
                             (struct strview){request->body, request->body_n},
                             (struct strview){response->body, response->body_n}, &write->tx, err);
}

static enum pv_code answer_dry(struct http_request *request,
                               const struct advice_build *build,
                               struct http_response *response,
                               struct pv_error *err)
{
    struct codec_advice_reply reply = reply_of(build, NULL, clock_wall_us());
    return write_document(request, &reply, 200, response, err);
}

/* --- its steps --- */

/* A query that cannot be read is refused later. */
static bool is_dry_run(const struct http_request *request)
{
    struct pv_error err = {0};
    bool dry_run = false;
    return read_query(request, &dry_run, &err) == PV_OK && dry_run;
}

/* A dry run only computes, once its history is at hand; the rest waits for the database in the end.
 */
static enum http_place advice_create_begins_at(const struct http_request *request)
{
    return is_dry_run(request) ? HTTP_COMPUTE : HTTP_IO;
}

static enum pv_code advice_create_decode(void *context,
                                         struct http_request *request,
                                         struct http_response *response,
                                         struct pv_error *err)
{
    struct api *api = context;
    struct advice_build *build = request->state;
    (void)response;
    PV_TRY(read_query(request, &build->dry_run, err));
    return advice_decode(api->config, request, &build->sent, err);
}

/* A key that was used before is answered before anything is computed. */
static enum pv_code advice_create_load(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    struct advice_build *build = request->state;
    bool replayed = false;
    if (!build->dry_run)
        PV_TRY(api_write_replay(context, request, response, &replayed, err));
    if (replayed)
        return render_reply(request, response, err);
    build->made.question = build->sent;
    return advice_made_place_fault(advice_prediction_load(context, request, &build->made.question,
                                                          &build->made.cluster,
                                                          &build->made.prediction, err),
                                   &build->sent, err);
}

static enum pv_code advice_create_predict(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct advice_build *build = request->state;
    (void)response;
    return advice_made_place_fault(advice_prediction_make(context, request, &build->made.question,
                                                          &build->made.prediction, err),
                                   &build->sent, err);
}

/* Once it is known which runs the prediction is from. */
static enum pv_code advice_create_load_runs(void *context,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct pv_error *err)
{
    struct advice_build *build = request->state;
    const struct advice_question *question = &build->made.question;
    (void)response;
    if (question->n_running > 0 || wants(build, ADVICE_COPY_PLAN | ADVICE_AUTOSCALING))
        PV_TRY(advice_load_runs(context, request, question, build->made.prediction.item,
                                &build->made.runs, err));
    return wants(build, ADVICE_NEXT_EXPERIMENTS) ? load_experiments(context, request, build, err)
                                                 : PV_OK;
}

/* With a prediction at hand a single piece of advice takes a fraction of a millisecond. */
static enum pv_code advice_create_compute(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    struct advice_build *build = request->state;
    const struct advice_question *question = &build->made.question;
    (void)response;
    if (question->application.at == NULL || question->n_running > 0 ||
        wants(build, ADVICE_NEXT_EXPERIMENTS | ADVICE_COPY_PLAN))
        PV_TRY(http_move(request, HTTP_COMPUTE));
    return compute(context, request, build, err);
}

static enum pv_code advice_create_load_clusters(void *context,
                                                struct http_request *request,
                                                struct http_response *response,
                                                struct pv_error *err)
{
    struct advice_build *build = request->state;
    (void)response;
    PV_TRY(application_models_keep(context, request, &build->experiments.models));
    return plans_copies(build) ? advice_copies_load(context, request, &build->made.question,
                                                    &build->made.answer, &build->copies, err)
                               : PV_OK;
}

static enum pv_code advice_create_plan(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    struct advice_build *build = request->state;
    (void)context;
    (void)response;
    return plans_copies(build) ? advice_copies_plan(request, &build->made.question,
                                                    &build->made.answer, &build->copies, err)
                               : PV_OK;
}

/* The transaction that claims the key opens last: while the advice is computed no connection is
 * held. */
static enum pv_code keep_advice(struct api *api,
                                struct http_request *request,
                                const struct advice_build *build,
                                struct http_response *response,
                                struct pv_error *err)
{
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(http_move(request, HTTP_IO));
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return render_reply(request, response, err);
    PV_TRY(store_advice(request, build, &write, response, err));
    advice_made_count(&build->made, false);
    return render_reply(request, response, err);
}

/* Nothing is stored of what cannot be replied as asked. */
static enum pv_code check_format(const struct http_request *request,
                                 const struct advice_build *build,
                                 struct pv_error *err)
{
    enum advice_format format;
    PV_TRY(read_format(request, &format, err));
    bool configures = format != ADVICE_JSON && format != ADVICE_MARKDOWN;
    if (!configures || build->made.answer.has_spark)
        return PV_OK;
    return wants(build, ADVICE_SPARK)
               ? pv_fail(err, PV_E_CONFLICT,
                         "the verdict is unknown: there is no configuration to render; %s",
                         build->made.answer.advice.reasons.items[0].message)
               : pv_fault(err, PV_PLACE_POINTER, "/include", "required",
                          "must list spark for this format");
}

static enum pv_code advice_create_answer(void *context,
                                         struct http_request *request,
                                         struct http_response *response,
                                         struct pv_error *err)
{
    const struct advice_build *build = request->state;
    PV_TRY(check_format(request, build, err));
    if (!build->dry_run)
        return keep_advice(context, request, build, response, err);
    PV_TRY(answer_dry(request, build, response, err));
    advice_made_count(&build->made, true);
    return render_reply(request, response, err);
}

static void advice_create_end(void *state)
{
    struct advice_build *build = state;
    advice_prediction_end(&build->made.prediction);
}

const struct http_call advice_create = {
    .state_bytes = sizeof(struct advice_build),
    .steps = {{HTTP_BODY, advice_create_decode},
              {HTTP_ANYWHERE, advice_create_load},
              {HTTP_ANYWHERE, advice_create_predict},
              {HTTP_ANYWHERE, advice_create_load_runs},
              {HTTP_ANYWHERE, advice_create_compute},
              {HTTP_ANYWHERE, advice_create_load_clusters},
              {HTTP_ANYWHERE, advice_create_plan},
              {HTTP_ANYWHERE, advice_create_answer}},
    .begins_at = advice_create_begins_at,
    .only_reads = is_dry_run,
    .end = advice_create_end,
};

/* --- GET /v1/advice/{id} --- */

enum pv_code advice_get(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err)
{
    static const char *const known[] = {"force", "format", NULL};
    struct api *api = context;
    store_tx_auto_t *tx = NULL;
    struct advice_row row;
    enum advice_format format;
    char id[37];
    PV_TRY(http_check_query(request, known, err));
    PV_TRY(read_format(request, &format, err));
    if (!uuid_parse(http_path_parameter(request, "id"), id))
        return pv_fail(err, PV_E_NOT_FOUND, "there is no advice of that id");
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_advice_find(tx, request->arena, id, &row, err));
    store_rollback(&tx);
    response->status = 200;
    response->body = row.document.at;
    response->body_n = row.document.n;
    return render_reply(request, response, err);
}

/* --- GET /v1/advice --- */

static enum pv_code
read_verdict(struct http_request *request, const char **verdict, struct pv_error *err)
{
    *verdict = http_query(request, "verdict");
    for (int i = 0; *verdict != NULL && i < ADVISE_VERDICTS; i++)
        if (strcmp(*verdict, advise_verdict_name((enum advise_verdict)i)) == 0)
            return PV_OK;
    return *verdict == NULL ? PV_OK
                            : pv_fault(err, PV_PLACE_PARAMETER, "verdict", "not_allowed",
                                       "must be one of: met, at_risk, missed, unknown");
}

static enum pv_code advice_read_filter(struct http_request *request,
                                       struct advice_filter *filter,
                                       const char **scope,
                                       struct pv_error *err)
{
    static const char *const known[] = {"application", "since", "until",  "feasible",
                                        "verdict",     "limit", "cursor", NULL};
    bool feasible = false;
    *filter = (struct advice_filter){.feasible = RUN_UNKNOWN};
    PV_TRY(http_check_query(request, known, err));
    PV_TRY(api_query_instant(request, "since", &filter->since_us, err));
    PV_TRY(api_query_instant(request, "until", &filter->until_us, err));
    PV_TRY(api_query_boolean(request, "feasible", false, &feasible, err));
    if (http_query(request, "feasible") != NULL)
        filter->feasible = feasible;
    PV_TRY(read_verdict(request, &filter->verdict, err));
    filter->application_name = http_query(request, "application");
    if (filter->application_name != NULL && !codec_is_name(strview_of(filter->application_name)))
        return pv_fault(err, PV_PLACE_PARAMETER, "application", "invalid_name",
                        "must be 1 to 255 characters without control characters");
    /* Of the values, not of the query: `true` has several spellings. */
    *scope = arena_printf(
        request->arena, "/v1/advice since=%lld until=%lld feasible=%lld verdict=%s application=%s",
        (long long)filter->since_us, (long long)filter->until_us, (long long)filter->feasible,
        filter->verdict == NULL ? "" : filter->verdict,
        filter->application_name == NULL ? "" : filter->application_name);
    return *scope == NULL ? pv_no_memory(err) : PV_OK;
}

enum pv_code advice_list(void *context,
                         struct http_request *request,
                         struct http_response *response,
                         struct pv_error *err)
{
    struct advice_filter filter;
    struct advice_list page;
    api_list_auto_t list = {0};
    PV_TRY(advice_read_filter(request, &filter, &list.scope, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    filter.limit = list.limit;
    filter.before_us = list.after.instant_us;
    (void)snprintf(filter.before_id, sizeof filter.before_id, "%.36s", list.after.text);
    PV_TRY(store_advice_list(list.tx, request->arena, &filter, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        writer_raw(&list.w, page.items[i].document);
    const struct advice_row *last = page.more ? &page.items[page.n - 1] : NULL;
    return api_list_reply(context, request, response, &list, last == NULL ? NULL : last->id,
                          last == NULL ? RUN_NO_INSTANT : last->created_us, err);
}
