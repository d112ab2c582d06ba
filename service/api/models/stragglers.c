#include "codec/models/stragglers.h"
#include "api/routes.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "base/uuid.h"
#include "store/history/application.h"
#include "store/history/run.h"

/* GET /v1/applications/{name}/stragglers: slow nodes and slow tasks, and what copies would bring. */

/* Runs without stages are passed over, but not for ever. */
enum { RUNS_DEFAULT = 5, RUNS_MAX = 20, LOOKED_AT = 40 };

struct stragglers_input {
    struct application application;
    struct run *runs; /* with stages, newest first */
    size_t n;
    size_t without_stages;
};

/* What is asked: one run, or so many. */
struct asked {
    const char *run_id; /* NULL: the newest `runs` */
    int64_t runs;
};

static enum pv_code
read_query(struct http_request *request, char id[37], struct asked *asked, struct pv_error *err)
{
    static const char *const allowed[] = {"run_id", "runs", NULL};
    const char *run_id = http_query(request, "run_id");
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_count(request, "runs", &asked->runs, err));
    if (asked->runs > RUNS_MAX)
        return pv_fault(err, PV_PLACE_PARAMETER, "runs", "out_of_range", "must be at most %d",
                        RUNS_MAX);
    if (run_id != NULL && asked->runs != RUN_UNKNOWN)
        return pv_fault(err, PV_PLACE_PARAMETER, "runs", "conflict",
                        "must be left out where run_id is given");
    if (run_id != NULL && !uuid_parse(run_id, id))
        return pv_fault(err, PV_PLACE_PARAMETER, "run_id", "invalid_uuid",
                        "must be the id of a run, a UUID");
    asked->run_id = run_id == NULL ? NULL : id;
    if (asked->runs == RUN_UNKNOWN)
        asked->runs = RUNS_DEFAULT;
    return PV_OK;
}

static enum pv_code load_one(struct store_tx *tx,
                             struct http_request *request,
                             const char *run_id,
                             struct stragglers_input *input,
                             struct pv_error *err)
{
    struct pv_error why = {0};
    input->runs = arena_calloc(request->arena, 1, sizeof *input->runs);
    if (input->runs == NULL)
        return pv_no_memory(err);
    enum pv_code code = store_run_find(tx, request->arena, http_path_parameter(request, "name"),
                                       run_id, RUN_WITH_TASKS, input->runs, NULL, &why);
    if (code == PV_E_NOT_FOUND)
        return pv_fault(err, PV_PLACE_PARAMETER, "run_id", "not_found",
                        "the application has no run of this id");
    input->n = input->runs->n_stages > 0;
    input->without_stages = input->runs->n_stages == 0;
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
}

/* The newest of the runs that succeeded and have stages, as many as asked, but no more tasks than one
 * run may have (at least one run). */
static enum pv_code load_newest(struct api *api,
                                struct store_tx *tx,
                                struct http_request *request,
                                int64_t runs,
                                struct stragglers_input *input,
                                struct pv_error *err)
{
    struct run_list list;
    const struct run_filter filter = {.since_us = RUN_NO_INSTANT,
                                      .until_us = RUN_NO_INSTANT,
                                      .before_us = RUN_NO_INSTANT,
                                      .outcome = RUN_OUTCOME_SUCCEEDED,
                                      .limit = LOOKED_AT};
    int64_t tasks = 0;
    PV_TRY(store_run_list(tx, request->arena, &input->application, &filter, &list, err));
    input->runs = arena_calloc(request->arena, list.n, sizeof *input->runs);
    if (input->runs == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < list.n && input->n < (size_t)runs && tasks < api->config->tasks_max;
         i++) {
        struct run *run = &input->runs[input->n];
        PV_TRY(store_run_find(tx, request->arena, http_path_parameter(request, "name"),
                              list.items[i].id, RUN_WITH_TASKS, run, NULL, err));
        for (size_t k = 0; k < run->n_stages; k++)
            tasks += run->stages[k].n_tasks > 0 ? run->stages[k].n_tasks : 0;
        input->n += run->n_stages > 0;
        input->without_stages += run->n_stages == 0;
    }
    return PV_OK;
}

static enum pv_code stragglers_get_load(void *context,
                                        struct http_request *request,
                                        struct http_response *response,
                                        struct pv_error *err)
{
    struct api *api = context;
    struct stragglers_input *input = request->state;
    struct asked asked;
    char id[37];
    store_tx_auto_t *tx = NULL;
    (void)response;
    PV_TRY(read_query(request, id, &asked, err));
    PV_TRY(store_begin(api->store, &request->principal, request->request_id, STORE_READ, &tx, err));
    PV_TRY(store_application_find(tx, request->arena, http_path_parameter(request, "name"),
                                  &input->application, err));
    if (asked.run_id != NULL)
        PV_TRY(load_one(tx, request, asked.run_id, input, err));
    else
        PV_TRY(load_newest(api, tx, request, asked.runs, input, err));
    return PV_OK;
}

static enum pv_code find_stragglers(const struct api *api,
                                    struct http_request *request,
                                    struct stragglers *found,
                                    struct pv_error *err)
{
    const struct stragglers_input *input = request->state;
    const struct straggler_limits limits = {
        .steps = (double)api->config->straggler_replay_steps_max,
        .looks = (double)api->config->straggler_replay_looks_max};
    struct arena scratch;
    arena_init_beside(&scratch, request->arena, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code =
        stragglers_find(input->runs, input->n, &limits, request->arena, &scratch, found, err);
    arena_fini(&scratch);
    return code;
}

static enum pv_code stragglers_get_answer(void *context,
                                          struct http_request *request,
                                          struct http_response *response,
                                          struct pv_error *err)
{
    const struct stragglers_input *input = request->state;
    struct stragglers found;
    struct writer w;
    if (input->n > 0)
        PV_TRY(find_stragglers(context, request, &found, err));
    const struct codec_stragglers all = {.application = input->application.name,
                                         .examined = input->n + input->without_stages,
                                         .without_stages = input->without_stages,
                                         .found = input->n > 0 ? &found : NULL};
    writer_init(&w, request->arena);
    codec_stragglers_encode(&w, &all);
    return api_reply(response, 200, &w, err);
}

const struct http_call stragglers_get = {
    .state_bytes = sizeof(struct stragglers_input),
    .steps = {{HTTP_IO, stragglers_get_load}, {HTTP_COMPUTE, stragglers_get_answer}},
};
