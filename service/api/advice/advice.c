#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/advice/advice_context.h"
#include "api/advice/advice_copies.h"
#include "api/advice/advice_history.h"
#include "api/advice/advice_terms.h"
#include "api/models/experiments.h"
#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/uuid.h"
#include "core/advice/joint_feasibility.h"
#include "metrics/metrics.h"
#include "store/advice/advice.h"
#include "threads/clock.h"

static const double probability_bounds[] = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};

METRIC_COUNTER(advice_made,
               "provisor_advice_total",
               "Advice made, by outcome (feasible or infeasible) and by whether it was stored: "
               "dry_run true or false.",
               "outcome,dry_run");
METRIC_HISTOGRAM(deadline_probabilities,
                 "provisor_advice_deadline_probability",
                 "Predicted probability that what was advised meets its deadline.",
                 "",
                 probability_bounds);

/* --- POST /v1/advice --- */

static enum pv_code
read_query(const struct http_request *request, bool *dry_run, struct pv_error *err)
{
    static const char *const known[] = {"dry_run", NULL};
    PV_TRY(http_check_query(request, known, err));
    return api_query_boolean(request, "dry_run", false, dry_run, err);
}

static enum pv_code decode(const struct config *config,
                           struct http_request *request,
                           struct codec_advice_request *asked,
                           struct pv_error *err)
{
    const struct codec_advice_limits limits = {
        .run = {.stages = config->stages_max,
                .tasks = config->tasks_max,
                .labels = config->labels_max},
        .executors = config->executors_max,
        .cores = config->cores_max,
        .running = (size_t)config->jobs_max,
        .clusters = (size_t)config->plan_clusters_max,
    };
    struct api_body body;
    PV_TRY(api_body_open(config, request, &body, err));
    codec_advice_decode(&body.top, &limits, asked);
    return api_body_close(&body);
}

/* Everything computed for one answer. */
struct consultation {
    struct codec_advice_request asked;
    struct advice_terms terms;
    const struct history_item *history;
    struct curve curve; /* of the history, or what interruptions make of it */
    struct pricing pricing;
    struct advice advice;
    struct joint_question beside_question;
    struct joint_outcome beside;
    bool has_beside;
    struct stage_plan quotas;
    bool has_quotas;
    struct api_experiments experiments;
    bool has_experiments;
    struct advice_copies copies;
};

static enum pv_code look_beside(struct api *api,
                                struct http_request *request,
                                struct consultation *made,
                                struct pv_error *err)
{
    size_t n = made->asked.n_running;
    const char **names = arena_array(request->arena, n, sizeof(const char *));
    if (names == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        names[i] = made->asked.running[i].application.at;
    PV_TRY(advice_history_beside(api, request, &made->asked, made->history, &made->curve,
                                 &made->advice, &made->beside_question, &made->beside, err));
    made->has_beside = true;
    return joint_feasibility_explain(&made->beside_question, &made->beside, names, request->arena,
                                     &made->advice, err);
}

/* Which runs would narrow the interval of what is recommended, cheapest first. */
static enum pv_code look_for_experiments(struct api *api,
                                         struct http_request *request,
                                         struct consultation *made,
                                         struct pv_error *err)
{
    enum { COUNT = 3 };
    const struct codec_advice_request *asked = &made->asked;
    const struct advise_question *question = &asked->question;
    struct api_experiments *experiments = &made->experiments;
    double *executors = arena_array(request->arena, 1, sizeof *executors);
    if (executors == NULL)
        return pv_no_memory(err);
    executors[0] = (double)made->advice.recommendation.executors;
    *experiments = api_experiments_of(api->config, EXPERIMENTS_CHEAPEST, COUNT);
    experiments->bounds.problem_size = (double)made->history->curve.problem_size;
    experiments->bounds.executors = executors;
    experiments->bounds.n_executors = 1;
    experiments->bounds.min_executors = question->min_executors;
    if (question->max_executors < api->config->executors_max)
        experiments->bounds.max_executors = question->max_executors;
    experiments->question.confidence = question->confidence;
    experiments->price_per_executor_hour = question->price_per_executor_hour;
    const struct codec_history_context *context = &made->history->context;
    if (context->asked && !context->ignored) {
        experiments->labels = context->labels->labels;
        experiments->n_labels = context->labels->n;
    }
    made->has_experiments = true;
    if (asked->application.at != NULL)
        return api_experiments_plan(api, request, asked->application.at, experiments, err);
    const struct run *profile = &asked->profile;
    const struct observation seen =
        model_seen((double)profile->problem_size, (double)profile->executors, profile->duration_s,
                   profile->initialization_s);
    bool known = profile->problem_size >= 1 && profile->executors >= 1 && profile->duration_s > 0;
    return api_experiments_plan_rows(request->arena, &seen, known ? 1 : 0, experiments, err);
}

/* What a history lacks, or is asked too much of, lies with the members that it was chosen by. */
static enum pv_code fault_at_history(enum pv_code code, struct pv_error *err)
{
    if (err == NULL || err->n_faults > 0)
        return code;
    const char *at = code == PV_E_TOO_FEW ? "/application" : "/problem_size";
    if (code == PV_E_TOO_FEW || code == PV_E_LIMIT)
        (void)pv_fault(err, PV_PLACE_POINTER, at, pv_code_name(code), "%.*s", 190, err->detail);
    return code;
}

/* made->history is to be released, also after a failure. */
static enum pv_code consult(struct api *api,
                            struct http_request *request,
                            struct consultation *made,
                            struct pv_error *err)
{
    const struct codec_advice_request *asked = &made->asked;
    PV_TRY(decode(api->config, request, &made->asked, err));
    if (!request->may_compute &&
        (asked->include & (CODEC_ADVICE_NEXT_EXPERIMENTS | CODEC_ADVICE_COPY_PLAN)) != 0)
        return PV_E_DEFER;
    if (asked->n_clusters > 0)
        PV_TRY(advice_copies_check(api, request, &made->asked, err));
    PV_TRY(advice_terms_load(api, request, &made->asked, &made->terms, err));
    PV_TRY(fault_at_history(advice_history_curve(api, request, &made->asked, &made->history, err),
                            err));
    const struct history_item *history = made->history;
    PV_TRY(pricing_advise(&history->curve, &asked->question, &made->terms.pricing, request->arena,
                          &made->curve, &made->advice, &made->pricing, err));
    PV_TRY(pricing_explain(&made->terms.pricing, &made->pricing, &asked->question, &made->advice,
                           err));
    PV_TRY(advice_terms_explain(&made->terms, asked, &made->advice, err));
    if (history->predictor.has_replay || history->predictor.has_model)
        PV_TRY(predictor_explain(&history->predictor, &history->curve, &made->advice, err));
    PV_TRY(advice_context_explain(&history->context, asked, request->arena, &made->advice, err));
    if (asked->n_running > 0)
        PV_TRY(look_beside(api, request, made, err));
    if ((asked->include & CODEC_ADVICE_STAGES) != 0)
        PV_TRY(quotas_plan(&history->stages, &asked->question, history->curve.cores_per_executor,
                           request->arena, &made->advice, &made->quotas, &made->has_quotas, err));
    if ((asked->include & CODEC_ADVICE_NEXT_EXPERIMENTS) != 0)
        PV_TRY(look_for_experiments(api, request, made, err));
    if ((asked->include & CODEC_ADVICE_COPY_PLAN) != 0)
        PV_TRY(advice_copies_plan(api, request, &made->asked, made->history, &made->advice,
                                  &made->copies, err));
    return PV_OK;
}

static void count_advice(const struct consultation *made, bool dry_run)
{
    const char *outcome = made->advice.feasible ? "feasible" : "infeasible";
    metric_add(&advice_made, 1, METRIC_LABELS(outcome, dry_run ? "true" : "false"));
    if (!isnan(made->advice.recommendation.deadline_probability))
        metric_observe(&deadline_probabilities, made->advice.recommendation.deadline_probability,
                       NULL);
}

static struct codec_advice_reply
reply_of(const struct consultation *made, const char *id, int64_t created_us)
{
    return (struct codec_advice_reply){
        .id = id,
        .created_us = created_us,
        .request = &made->asked,
        .curve = &made->curve,
        .context = &made->history->context,
        .context_message = made->history->context_message,
        .pricing = &made->pricing,
        .terms = &made->terms.pricing,
        .advice = &made->advice,
        .beside = made->has_beside ? &made->beside : NULL,
        .quotas = made->has_quotas ? &made->quotas : NULL,
        .copies_asked = made->copies.planned ? &made->copies.asked : NULL,
        .copies = &made->copies.plan,
        .experiments = made->has_experiments ? &made->experiments.reply : NULL};
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

static struct advice_row row_of(const struct consultation *made,
                                const struct codec_advice_reply *reply,
                                const struct http_request *request,
                                const struct http_response *response)
{
    struct advice_row row = {
        .application_name = codec_advice_job_name(&made->asked),
        .objective = strview_of(advise_objective_name(made->advice.objective)),
        .feasible = made->advice.feasible,
        .problem_size = made->history->curve.problem_size,
        .executors = made->advice.recommendation.executors,
        .cores_per_executor = made->history->curve.cores_per_executor,
        .predicted_duration_s = made->advice.recommendation.predicted_duration_s,
        .lower_s = made->advice.recommendation.lower_s,
        .upper_s = made->advice.recommendation.upper_s,
        .confidence = made->asked.question.confidence,
        .model_kind = strview_of(
            made->history->curve.model_kind == NULL ? "replay" : made->history->curve.model_kind),
        .deadline_s = made->asked.question.deadline_s,
        .deadline_probability = made->advice.recommendation.deadline_probability,
        .request = {request->body, request->body_n},
        .document = {response->body, response->body_n},
        .created_us = reply->created_us};
    memcpy(row.id, reply->id, sizeof row.id);
    memcpy(row.application_id, made->history->application_id, sizeof row.application_id);
    return row;
}

static void
add_location(struct http_request *request, struct http_response *response, const char *id)
{
    const char *location = arena_printf(request->arena, "/v1/advice/%s", id);
    http_response_header(request, response, "Location", location == NULL ? "" : location);
}

/* Reply, advice, audit row and event in one transaction. */
static enum pv_code keep(struct http_request *request,
                         const struct consultation *made,
                         struct api_write *write,
                         struct http_response *response,
                         struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct codec_advice_reply reply = reply_of(made, id, clock_wall_us());
    struct writer event;
    size_t event_n = 0;
    writer_init(&event, request->arena);
    codec_advice_encode_event(&event, &reply);
    const char *event_text = writer_finish(&event, &event_n);
    if (event_text == NULL)
        return pv_no_memory(err);
    PV_TRY(write_document(request, &reply, 201, response, err));
    add_location(request, response, id);
    store_tell_of(write->tx, made->history->application_id);
    PV_TRY(api_write_keep(request, response, write, err));
    struct advice_row row = row_of(made, &reply, request, response);
    return store_advice_insert_commit(&write->tx, &row, (struct strview){event_text, event_n}, err);
}

static enum pv_code answer_dry(struct http_request *request,
                               const struct consultation *made,
                               struct http_response *response,
                               struct pv_error *err)
{
    char id[37];
    clock_uuid7(id);
    struct codec_advice_reply reply = reply_of(made, id, clock_wall_us());
    return write_document(request, &reply, 200, response, err);
}

/*
 * A key that was used before is answered before anything is computed. The transaction that claims the
 * key opens last: while the advice is computed, which takes connections of its own, none is held.
 */
static enum pv_code answer_and_keep(struct api *api,
                                    struct http_request *request,
                                    struct consultation *made,
                                    struct http_response *response,
                                    struct pv_error *err)
{
    unsigned char hash[32];
    api_write_auto_t write = {0};
    bool replayed = false;
    api_body_hash(request, hash);
    PV_TRY(api_write_replay(api, request, response, hash, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(consult(api, request, made, err));
    PV_TRY(api_write_begin(api, request, response, hash, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(keep(request, made, &write, response, err));
    count_advice(made, false);
    return PV_OK;
}

enum pv_code advice_create(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    struct api *api = context;
    struct consultation made = {0};
    bool dry_run = false;
    enum pv_code code = read_query(request, &dry_run, err);
    if (code == PV_OK && dry_run) {
        code = consult(api, request, &made, err);
        if (code == PV_OK)
            code = answer_dry(request, &made, response, err);
        if (code == PV_OK)
            count_advice(&made, true);
    } else if (code == PV_OK) {
        code = answer_and_keep(api, request, &made, response, err);
    }
    history_item_release(made.history);
    return code;
}

/* --- GET /v1/advice/{id} --- */

enum pv_code advice_get(void *context,
                        struct http_request *request,
                        struct http_response *response,
                        struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    struct api *api = context;
    store_tx_auto_t *tx = NULL;
    struct advice_row row;
    char id[37];
    PV_TRY(http_check_query(request, no_parameters, err));
    if (!uuid_parse(http_path_parameter(request, "id"), id))
        return pv_fail(err, PV_E_NOT_FOUND, "there is no advice of that id");
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_advice_find(tx, request->arena, id, &row, err));
    store_rollback(&tx);
    response->status = 200;
    response->body = row.document.at;
    response->body_n = row.document.n;
    return PV_OK;
}

/* --- GET /v1/advice --- */

static enum pv_code read_filter(struct http_request *request,
                                struct advice_filter *filter,
                                const char **scope,
                                struct pv_error *err)
{
    static const char *const known[] = {"application", "since",  "until", "feasible",
                                        "limit",       "cursor", NULL};
    bool feasible = false;
    *filter = (struct advice_filter){.feasible = RUN_UNKNOWN};
    PV_TRY(http_check_query(request, known, err));
    PV_TRY(api_query_instant(request, "since", &filter->since_us, err));
    PV_TRY(api_query_instant(request, "until", &filter->until_us, err));
    PV_TRY(api_query_boolean(request, "feasible", false, &feasible, err));
    if (http_query(request, "feasible") != NULL)
        filter->feasible = feasible;
    filter->application_name = http_query(request, "application");
    if (filter->application_name != NULL && !codec_is_name(strview_of(filter->application_name)))
        return pv_fault(err, PV_PLACE_PARAMETER, "application", "invalid_name",
                        "is 1 to 255 characters without control characters");
    /* Of the values, not of the query: `true` has several spellings. */
    *scope = arena_printf(
        request->arena, "/v1/advice since=%lld until=%lld feasible=%lld application=%s",
        (long long)filter->since_us, (long long)filter->until_us, (long long)filter->feasible,
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
    PV_TRY(read_filter(request, &filter, &list.scope, err));
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
