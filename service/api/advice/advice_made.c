#include "api/advice/advice_made.h"

#include <math.h>
#include <string.h>

#include "metrics/registry.h"

static const double probability_bounds[] = {0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};

METRIC_COUNTER(advice_total,
               "provisor_advice_total",
               "Advice made, by verdict (met, at_risk, missed or unknown) and by whether it was "
               "stored: dry_run true or false.",
               "verdict,dry_run");
METRIC_HISTOGRAM(deadline_probabilities,
                 "provisor_advice_deadline_probability",
                 "Predicted probability that what was advised meets its deadline.",
                 "",
                 probability_bounds);

struct codec_advice_limits advice_made_limits(const struct config *config)
{
    return (struct codec_advice_limits){
        .run = {.stages = config->stages_max,
                .tasks = config->tasks_max,
                .labels = config->labels_max},
        .executors = config->executors_max,
        .cores = config->cores_max,
        .running = (size_t)config->jobs_max,
        .clusters = (size_t)config->plan_clusters_max,
    };
}

enum pv_code advice_made_answer(struct api *api,
                                struct http_request *request,
                                struct advice_made *made,
                                struct pv_error *err)
{
    struct arena scratch;
    const struct advice_limits limits = advice_limits_of(api->config);
    const struct advice_known known = {.question = &made->question,
                                       .cluster = &made->cluster,
                                       .prediction = &made->prediction.item->prediction,
                                       .runs = made->runs.own,
                                       .n_runs = made->runs.n_own,
                                       .running = made->runs.running};
    arena_init_beside(&scratch, request->arena, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code =
        advice_answer(&known, &limits, request->arena, &scratch, &made->answer, err);
    arena_fini(&scratch);
    return code;
}

void advice_made_count(const struct advice_made *made, bool dry_run)
{
    const char *verdict = advise_verdict_name(made->answer.advice.verdict);
    metric_add(&advice_total, 1, METRIC_LABELS(verdict, dry_run ? "true" : "false"));
    if (made->answer.advice.verdict != ADVISE_UNKNOWN &&
        !isnan(made->answer.advice.recommendation.deadline_probability))
        metric_observe(&deadline_probabilities,
                       made->answer.advice.recommendation.deadline_probability, NULL);
}

struct codec_advice_reply
advice_made_reply(const struct advice_made *made, const char *id, int64_t created_us)
{
    return (struct codec_advice_reply){.id = id,
                                       .created_us = created_us,
                                       .question = &made->question,
                                       .terms = &made->answer.terms,
                                       .group = &made->prediction.item->prediction.group,
                                       .answer = &made->answer};
}

/* By when the job has to be over: by its deadline, else after twice what is predicted. */
static int64_t due_us(const struct advice_row *row)
{
    static const double latest_s = 1e9;
    double seconds =
        isnan(row->deadline_s) ? ADVISED_OVERRUN * row->predicted_duration_s : row->deadline_s;
    return row->created_us + (int64_t)ceil(fmin(seconds, latest_s) * 1e6);
}

static struct advice_row row_of(const struct advice_made *made,
                                const struct codec_advice_reply *reply,
                                struct strview question,
                                struct strview document)
{
    struct advice_row row = {
        .application_name = advice_job_name(&made->question),
        .objective = strview_of(advise_objective_name(made->answer.advice.objective)),
        .verdict = strview_of(advise_verdict_name(made->answer.advice.verdict)),
        .feasible = made->answer.advice.verdict == ADVISE_MET,
        .problem_size = made->prediction.item->prediction.curve.problem_size,
        .executors = made->answer.advice.recommendation.executors,
        .cores_per_executor = made->prediction.item->prediction.curve.cores_per_executor,
        .predicted_duration_s = made->answer.advice.recommendation.predicted_duration_s,
        .lower_s = made->answer.advice.recommendation.lower_s,
        .upper_s = made->answer.advice.recommendation.upper_s,
        .confidence = made->question.goal.confidence,
        .model_kind = strview_of(made->prediction.item->prediction.curve.model_kind == NULL
                                     ? "replay"
                                     : made->prediction.item->prediction.curve.model_kind),
        .deadline_s = made->question.goal.deadline_s,
        .deadline_probability = made->answer.advice.recommendation.deadline_probability,
        .request = question,
        .cluster = made->question.cluster,
        .due_us = RUN_NO_INSTANT,
        .document = document,
        .labels = made->question.labels,
        .n_labels = made->question.n_labels,
        .created_us = reply->created_us};
    if (made->answer.advice.verdict == ADVISE_UNKNOWN) {
        row.executors = row.cores_per_executor = RUN_UNKNOWN;
        row.predicted_duration_s = row.lower_s = row.upper_s = (double)NAN;
        row.deadline_probability = (double)NAN;
    } else if (row.cluster.at != NULL) {
        row.due_us = due_us(&row);
    }
    memcpy(row.id, reply->id, sizeof row.id);
    memcpy(row.application_id, made->prediction.item->application_id, sizeof row.application_id);
    return row;
}

enum pv_code
advice_made_place_fault(enum pv_code code, const struct advice_question *sent, struct pv_error *err)
{
    const bool cores = sent->cores_per_executor != RUN_UNKNOWN;
    const bool cluster = !cores && (sent->cluster.at != NULL || sent->sized_cluster != NULL);
    const struct {
        const char *at;
        bool sent;
    } members[] = {{"/constraints/cores_per_executor", cores},
                   {"/constraints/cluster", cluster},
                   {"/problem_size", !isnan(sent->problem_size) || (!cores && !cluster)}};
    if (err == NULL || err->n_faults > 0)
        return code;
    if (code == PV_E_TOO_FEW)
        (void)pv_fault(err, PV_PLACE_POINTER, "/application", pv_code_name(code), "%.*s", 190,
                       err->detail);
    for (size_t i = 0; code == PV_E_LIMIT && i < sizeof members / sizeof *members; i++)
        if (members[i].sent)
            (void)pv_fault(err, PV_PLACE_POINTER, members[i].at, pv_code_name(code), "%.*s", 190,
                           err->detail);
    return code;
}

enum pv_code advice_made_row(struct http_request *request,
                             const struct advice_made *made,
                             const struct codec_advice_reply *reply,
                             struct strview question,
                             struct strview document,
                             struct advice_row *row,
                             struct strview *event,
                             struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    codec_advice_encode_event(&w, reply);
    event->at = writer_finish(&w, &event->n);
    if (event->at == NULL)
        return pv_no_memory(err);
    *row = row_of(made, reply, question, document);
    return PV_OK;
}

enum pv_code advice_made_store(struct http_request *request,
                               const struct advice_made *made,
                               const struct codec_advice_reply *reply,
                               struct strview question,
                               struct strview document,
                               struct store_tx **tx,
                               struct pv_error *err)
{
    struct advice_row row;
    struct strview event;
    PV_TRY(advice_made_row(request, made, reply, question, document, &row, &event, err));
    return store_advice_insert_commit(tx, &row, event, err);
}
