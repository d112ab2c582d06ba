#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/advice/advice_made.h"
#include "api/clusters/named_cluster.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "codec/advice/advice_batch.h"
#include "core/cluster/reservations.h"
#include "threads/clock.h"

/*
 * POST /v1/advice/batch: each question is answered as by POST /v1/advice, and all of them together
 * are scheduled on one cluster. Questions about the same application and problem size share one
 * prediction, which the cache holds (prediction_cache.h). All advice is stored, or none.
 */
struct batch {
    bool dry_run;
    struct codec_advice_batch asked;
    struct advice_made *made; /* one for each item */
    size_t loaded, predicted; /* so many of them, in their order */
    /* What is loaded of each. A step that moves elsewhere gives back what it has taken of the
     * request's arena, and predicting moves to and fro. */
    struct arena kept;
    bool has_kept;
    struct batch_job *jobs;   /* NULL: without a cluster */
    size_t cores;             /* of the cluster */
    struct edf_memory memory; /* of the cluster, where it is counted */
    int64_t each_bytes;       /* of it, for an executor */
    struct batch_outcome outcome;
    /* What is replied and stored of each. */
    struct strview *documents;
    struct strview *events;
    struct advice_row *rows;
    struct strview reply;
};

/* A fault of one item lies at its place in the list. */
static enum pv_code place(enum pv_code code, size_t i, struct pv_error *err)
{
    char at[sizeof err->faults[0].at];
    if (err == NULL)
        return code;
    for (size_t k = 0; k < err->n_faults && k < PV_FAULTS_MAX; k++) {
        struct pv_fault *fault = &err->faults[k];
        if (fault->place != PV_PLACE_POINTER)
            continue;
        (void)snprintf(at, sizeof at, "/items/%zu%.*s", i, (int)sizeof at - 32, fault->at);
        memcpy(fault->at, at, sizeof at);
    }
    return code;
}

/* --- its steps --- */

static bool is_dry_run(const struct http_request *request)
{
    struct pv_error err = {0};
    bool dry_run = false;
    return api_query_boolean(request, "dry_run", false, &dry_run, &err) == PV_OK && dry_run;
}

static enum pv_code advice_batch_decode(void *context,
                                        struct http_request *request,
                                        struct http_response *response,
                                        struct pv_error *err)
{
    static const char *const known[] = {"dry_run", NULL};
    const struct api *api = context;
    struct batch *batch = request->state;
    const struct codec_advice_batch_limits limits = {
        .advice = advice_made_limits(api->config), .items = (size_t)api->config->advice_batch_max};
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, known, err));
    PV_TRY(api_query_boolean(request, "dry_run", false, &batch->dry_run, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_advice_batch_decode(&body.top, &limits, &batch->asked);
    return codec_close(&body);
}

static enum pv_code load_cluster(struct api *api,
                                 struct http_request *request,
                                 struct batch *batch,
                                 struct pv_error *err)
{
    struct cluster cluster;
    const struct cluster_traits *traits = &cluster.traits;
    int64_t cores;
    if (batch->asked.cluster.name.at == NULL && batch->asked.cluster.sized == NULL)
        return PV_OK;
    PV_TRY(given_cluster_load(api, request, &batch->asked.cluster, "/cluster", &cluster, err));
    PV_TRY(cluster_need(&cluster, traits->executors, "executors", "/cluster", err));
    PV_TRY(
        cluster_need(&cluster, traits->cores_per_executor, "cores_per_executor", "/cluster", err));
    PV_TRY(cluster_count_cores(traits->executors, traits->cores_per_executor,
                               api->config->cores_max, "/cluster", &cores, err));
    batch->cores = (size_t)cores;
    if (batch->asked.with_memory) {
        batch->each_bytes = traits->memory_bytes_per_executor;
        PV_TRY(cluster_need(&cluster, batch->each_bytes, "memory_bytes_per_executor", "/cluster",
                            err));
        batch->memory = (struct edf_memory){reservation_capacity(traits).memory_bytes,
                                            (enum edf_launch_order)batch->asked.launch_order};
    }
    batch->jobs = arena_calloc(request->arena, batch->asked.n, sizeof *batch->jobs);
    return batch->jobs == NULL ? pv_no_memory(err) : PV_OK;
}

/* A key that was used before is answered before anything is computed. */
static enum pv_code advice_batch_begin(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    struct batch *batch = request->state;
    bool replayed = false;
    if (!batch->dry_run)
        PV_TRY(api_write_replay(context, request, response, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(load_cluster(context, request, batch, err));
    /* Last: what a step has taken is gone where it fails, and the end of the call looks at these. */
    batch->made = arena_calloc(request->arena, batch->asked.n, sizeof *batch->made);
    return batch->made == NULL ? pv_no_memory(err) : PV_OK;
}

/* One after the other, so that the histories of two are not held at the same time, and a prediction
 * is there for the next that asks the same. Goes on where it was when it moved. */
static enum pv_code predict_all(struct api *api,
                                struct http_request *request,
                                struct batch *batch,
                                struct pv_error *err)
{
    for (size_t i = batch->predicted; i < batch->asked.n; i++) {
        struct advice_made *made = &batch->made[i];
        if (batch->loaded == i) {
            made->question = batch->asked.items[i].question;
            if (made->question.cluster.at == NULL && made->question.sized_cluster == NULL) {
                made->question.cluster = batch->asked.cluster.name;
                made->question.sized_cluster = batch->asked.cluster.sized;
            }
            enum pv_code code = advice_prediction_load(api, request, &made->question,
                                                       &made->cluster, &made->prediction, err);
            if (code != PV_OK)
                return place(advice_made_place_fault(code, &batch->asked.items[i].question, err), i,
                             err);
            batch->loaded = i + 1;
        }
        enum pv_code code =
            advice_prediction_make(api, request, &made->question, &made->prediction, err);
        if (code != PV_OK)
            return place(advice_made_place_fault(code, &batch->asked.items[i].question, err), i,
                         err);
        batch->predicted = i + 1;
    }
    return PV_OK;
}

static enum pv_code advice_batch_predict(void *context,
                                         struct http_request *request,
                                         struct http_response *response,
                                         struct pv_error *err)
{
    struct api *api = context;
    struct batch *batch = request->state;
    struct arena *own = request->arena;
    (void)response;
    if (!batch->has_kept)
        arena_init_beside(&batch->kept, own, (size_t)api->config->request_memory_bytes_max);
    batch->has_kept = true;
    request->arena = &batch->kept;
    enum pv_code code = predict_all(api, request, batch, err);
    request->arena = own;
    return code;
}

/* What the executors hold that are recommended, as an admission that follows the advice would. */
static enum pv_code memory_of(const struct advice_made *made,
                              int64_t each_bytes,
                              struct arena *arena,
                              int64_t *bytes,
                              struct pv_error *err)
{
    const struct advice *advice = &made->answer.advice;
    const int64_t executors = advice->recommendation.executors;
    *bytes = RUN_UNKNOWN;
    if (advice->verdict == ADVISE_UNKNOWN)
        return PV_OK;
    PV_TRY(memory_held(&made->prediction.item->prediction, &made->question, executors,
                       made->answer.curve.cores_per_executor, each_bytes, arena, bytes, err));
    *bytes = *bytes > INT64_MAX / executors ? INT64_MAX : *bytes * executors;
    return PV_OK;
}

static struct batch_job job_of(const struct advice_made *made, double release_s)
{
    const struct advice *advice = &made->answer.advice;
    const bool advised = advice->verdict != ADVISE_UNKNOWN;
    return (struct batch_job){
        .release_s = release_s,
        .deadline_s = made->question.goal.deadline_s,
        .cores = advised ? advice->recommendation.executors * made->answer.curve.cores_per_executor
                         : RUN_UNKNOWN,
        .memory_bytes = RUN_UNKNOWN,
        .duration_s = advised ? advice->recommendation.predicted_duration_s : (double)NAN};
}

static enum pv_code schedule(const struct config *config,
                             struct http_request *request,
                             struct batch *batch,
                             struct pv_error *err)
{
    struct arena scratch;
    if (batch->jobs == NULL)
        return PV_OK;
    const struct edf_memory *memory = batch->asked.with_memory ? &batch->memory : NULL;
    for (size_t i = 0; i < batch->asked.n; i++) {
        batch->jobs[i] = job_of(&batch->made[i], batch->asked.items[i].release_s);
        if (memory != NULL)
            PV_TRY(memory_of(&batch->made[i], batch->each_bytes, request->arena,
                             &batch->jobs[i].memory_bytes, err));
    }
    arena_init_beside(&scratch, request->arena, (size_t)config->request_memory_bytes_max);
    enum pv_code code = batch_feasibility_check(batch->jobs, batch->asked.n, batch->cores, memory,
                                                (uint64_t)config->remedy_task_budget, &scratch,
                                                &batch->outcome, err);
    arena_fini(&scratch);
    return code;
}

static enum pv_code write_one(struct http_request *request,
                              struct batch *batch,
                              size_t i,
                              int64_t now_us,
                              struct pv_error *err)
{
    char id[37];
    struct writer w;
    struct strview *document = &batch->documents[i];
    clock_uuid7(id);
    struct codec_advice_reply reply =
        advice_made_reply(&batch->made[i], batch->dry_run ? NULL : id, now_us);
    writer_init(&w, request->arena);
    codec_advice_encode(&w, &reply);
    document->at = writer_finish(&w, &document->n);
    if (document->at == NULL)
        return pv_no_memory(err);
    if (batch->dry_run)
        return PV_OK;
    return advice_made_row(request, &batch->made[i], &reply, batch->asked.items[i].text, *document,
                           &batch->rows[i], &batch->events[i], err);
}

static enum pv_code
write_all(struct http_request *request, struct batch *batch, struct pv_error *err)
{
    const size_t n = batch->asked.n;
    const int64_t now_us = clock_wall_us();
    struct writer w;
    batch->documents = arena_calloc(request->arena, n, sizeof *batch->documents);
    batch->events = arena_calloc(request->arena, n, sizeof *batch->events);
    batch->rows = arena_calloc(request->arena, n, sizeof *batch->rows);
    if (batch->documents == NULL || batch->events == NULL || batch->rows == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        PV_TRY(write_one(request, batch, i, now_us, err));
    struct findings reasons = {.arena = request->arena};
    batch_feasibility_explain(&batch->outcome, n, &reasons);
    PV_TRY(findings_check(&reasons, err));
    writer_init(&w, request->arena);
    codec_advice_batch_encode(&w, &batch->asked.cluster, batch->jobs, &batch->outcome,
                              batch->asked.with_memory ? &batch->memory : NULL, &reasons,
                              batch->documents, n);
    batch->reply.at = writer_finish(&w, &batch->reply.n);
    return batch->reply.at == NULL ? pv_no_memory(err) : PV_OK;
}

static void answer(struct http_response *response, unsigned status, const struct batch *batch)
{
    response->status = status;
    response->body = batch->reply.at;
    response->body_n = batch->reply.n;
    for (size_t i = 0; i < batch->asked.n; i++)
        advice_made_count(&batch->made[i], batch->dry_run);
}

static enum pv_code advice_batch_compute(void *context,
                                         struct http_request *request,
                                         struct http_response *response,
                                         struct pv_error *err)
{
    struct api *api = context;
    struct batch *batch = request->state;
    for (size_t i = 0; i < batch->asked.n; i++) {
        enum pv_code code = advice_made_answer(api, request, &batch->made[i], err);
        if (code != PV_OK)
            return place(code, i, err);
    }
    PV_TRY(schedule(api->config, request, batch, err));
    PV_TRY(write_all(request, batch, err));
    if (batch->dry_run)
        answer(response, 200, batch);
    return PV_OK;
}

static enum pv_code advice_batch_store(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    const struct batch *batch = request->state;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_advice_insert(write.tx, batch->rows, batch->events, batch->asked.n, err));
    store_set_application(write.tx, "");
    answer(response, 201, batch);
    return api_write_commit(request, response, &write, err);
}

static void advice_batch_end(void *state)
{
    struct batch *batch = state;
    for (size_t i = 0; batch->made != NULL && i < batch->asked.n; i++)
        advice_prediction_end(&batch->made[i].prediction);
    if (batch->has_kept)
        arena_fini(&batch->kept);
}

const struct http_call advice_batch = {
    .state_bytes = sizeof(struct batch),
    .steps = {{HTTP_BODY, advice_batch_decode},
              {HTTP_IO, advice_batch_begin},
              {HTTP_ANYWHERE, advice_batch_predict},
              {HTTP_COMPUTE, advice_batch_compute},
              {HTTP_IO, advice_batch_store}},
    .only_reads = is_dry_run,
    .end = advice_batch_end,
};
