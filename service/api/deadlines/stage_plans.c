#include "codec/deadlines/stage_plan.h"

#include <math.h>

#include "api/advice/recent_runs.h"
#include "api/api.h"
#include "api/clusters/named_cluster.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "base/fault_text.h"
#include "codec/json/finding.h"
#include "core/deadline/explain.h"
#include "core/history/graph.h"
#include "core/history/warned_runs.h"

/* POST /v1/stage-plans: deadlines and cores stage by stage, from numbers in the request or the run
 * of an application that is nearest in size. */

enum { LIGHT_STAGES = 1000 }; /* planned in a millisecond */

/* What the reply says of a plan from history. */
struct source {
    struct strview application;
    char run_id[37]; /* "" where the stages stood in the request */
    bool graph_changed;
    struct warned_runs warned; /* the run, if it has warnings */
};

struct stage_plan_work {
    struct codec_stage_plan asked;
    struct run_list nearest; /* with the application: what the stages are from */
    struct run_list recent;
    struct source source;
};

static enum pv_code stage_plans_decode(const struct config *config,
                                       struct http_request *request,
                                       struct codec_stage_plan *asked,
                                       struct pv_error *err)
{
    const struct codec_stage_plan_limits limits = {.stages = (size_t)config->stages_max,
                                                   .tasks = config->tasks_max,
                                                   .cores = config->cores_max};
    struct codec_document body;
    PV_TRY(api_body_open(config, request, &body, err));
    codec_stage_plan_decode(&body.top, &limits, asked);
    return codec_close(&body);
}

/* --- stages from history --- */

static enum pv_code fault_at_application(struct pv_error *err, const char *code, const char *detail)
{
    return pv_fault(err, PV_PLACE_POINTER, "/application", code, "%s", detail);
}

/* Recent runs that went through other stages make a plan from this one doubtful. */
static enum pv_code compare_graphs(const struct run *run,
                                   const struct run_list *recent,
                                   struct arena *scratch,
                                   bool *changed,
                                   struct pv_error *err)
{
    *changed = false;
    for (size_t i = 0; i < recent->n && !*changed; i++) {
        bool equal;
        enum pv_code code = run_graph_compare(run, &recent->items[i], scratch, &equal, err);
        if (code != PV_OK)
            return code;
        *changed = !equal;
    }
    return PV_OK;
}

static enum pv_code take_run(struct arena *arena,
                             const struct run_list *nearest,
                             const struct run_list *recent,
                             struct codec_stage_plan *asked,
                             struct source *source,
                             struct pv_error *err)
{
    if (nearest->n == 0)
        return fault_at_application(err, "no_history",
                                    "has no successful run with stages, executors and cores");
    const struct run *run = &nearest->items[0];
    struct pv_error why = {0};
    enum pv_code code =
        stage_plan_take_run(run, arena, &asked->stages, &asked->terms.ending_s, &why);
    if (code == PV_E_TOO_FEW)
        return fault_at_application(err, "no_history", why.detail);
    if (code != PV_OK)
        return pv_fail(err, code, "%s", why.detail);
    asked->n_stages = run->n_stages;
    source->application = asked->application;
    memcpy(source->run_id, run->id, sizeof source->run_id);
    warned_runs_add_run(&source->warned, run);
    code = compare_graphs(run, recent, arena, &source->graph_changed, err);
    return code == PV_OK ? codec_stage_plan_pin(asked, err) : code;
}

static enum pv_code load_runs(struct api *api,
                              struct http_request *request,
                              struct stage_plan_work *work,
                              struct pv_error *err)
{
    const struct codec_stage_plan *asked = &work->asked;
    struct application application;
    store_tx_auto_t *tx = NULL;
    struct pv_error why = {0};
    enum pv_code code =
        store_begin(api->store, &request->principal, request->request_id, STORE_READ, &tx, &why);
    if (code == PV_OK)
        code =
            store_application_find(tx, request->arena, asked->application.at, &application, &why);
    bool unknown = code == PV_E_NOT_FOUND;
    if (code == PV_OK)
        code = store_run_nearest(tx, request->arena, &application, asked->problem_size, true, 1,
                                 &work->nearest, &why);
    if (code == PV_OK)
        code = recent_runs_load(tx, request->arena, &application, &work->recent, &why);
    char no_application[128];
    (void)snprintf(no_application, sizeof no_application, "there is no application %s",
                   fault_quote(asked->application.at).text);
    if (unknown)
        return fault_at_application(err, "unknown_application", no_application);
    if (code != PV_OK)
        *err = why;
    return code;
}

/* --- the size of the cluster --- */

static enum pv_code load_cluster(struct api *api,
                                 struct http_request *request,
                                 struct codec_stage_plan *asked,
                                 struct pv_error *err)
{
    static const char at[] = "/cluster";
    struct stage_plan_terms *terms = &asked->terms;
    struct cluster cluster;
    int64_t cores;
    PV_TRY(given_cluster_load(api, request, &asked->cluster, at, &cluster, err));
    if (isnan(terms->executors)) {
        PV_TRY(cluster_need(&cluster, cluster.traits.executors, "executors", at, err));
        terms->executors = (double)cluster.traits.executors;
    }
    if (isnan(terms->cores_per_executor)) {
        PV_TRY(cluster_need(&cluster, cluster.traits.cores_per_executor, "cores_per_executor", at,
                            err));
        terms->cores_per_executor = (double)cluster.traits.cores_per_executor;
    }
    return cluster_count_cores((int64_t)terms->executors, (int64_t)terms->cores_per_executor,
                               api->config->cores_max, at, &cores, err);
}

/* --- the answer --- */

static void stage_plans_encode(struct writer *w,
                               const struct stage_plan_terms *terms,
                               const struct stage_plan *plan,
                               const struct source *source)
{
    struct findings reasons = {.arena = w->arena};
    stage_plan_explain(terms, plan, &reasons);
    warned_runs_explain(&source->warned, false, &reasons);
    writer_begin_object(w);
    codec_stage_plan_encode(w, plan);
    codec_findings_encode(w, "reasons", &reasons);
    if (source->run_id[0] != '\0') {
        writer_member_text(w, "application", source->application);
        writer_member_string(w, "run_id", source->run_id);
        writer_member_boolean(w, "graph_changed", source->graph_changed);
        writer_member_number(w, "fixed_s", plan->fixed_s);
    }
    writer_end_object(w);
}

static enum pv_code stage_plans_create_decode(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    struct api *api = context;
    static const char *const no_parameters[] = {NULL};
    struct stage_plan_work *work = request->state;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    return stage_plans_decode(api->config, request, &work->asked, err);
}

static enum pv_code stage_plans_create_load(void *context,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct pv_error *err)
{
    struct stage_plan_work *work = request->state;
    const struct codec_stage_plan *asked = &work->asked;
    (void)response;
    if (asked->cluster.name.at != NULL || asked->cluster.sized != NULL)
        PV_TRY(load_cluster(context, request, &work->asked, err));
    if (asked->application.at == NULL)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_IO));
    return load_runs(context, request, work, err);
}

/* All that there are to look at. */
static size_t count_stages(const struct stage_plan_work *work)
{
    size_t n = work->asked.n_stages;
    for (size_t i = 0; i < work->nearest.n; i++)
        n += work->nearest.items[i].n_stages;
    for (size_t i = 0; i < work->recent.n; i++)
        n += work->recent.items[i].n_stages;
    return n;
}

/* A body is answered by who decoded it; runs may have many stages, whose graphs are compared. */
static enum pv_code stage_plans_create_answer(void *context,
                                              struct http_request *request,
                                              struct http_response *response,
                                              struct pv_error *err)
{
    struct stage_plan_work *work = request->state;
    struct codec_stage_plan *asked = &work->asked;
    struct stage_plan plan;
    struct writer w;
    (void)context;
    if (count_stages(work) > LIGHT_STAGES)
        PV_TRY(http_move(request, HTTP_COMPUTE));
    if (asked->application.at != NULL)
        PV_TRY(take_run(request->arena, &work->nearest, &work->recent, asked, &work->source, err));
    PV_TRY(
        stage_plan_make(&asked->terms, asked->stages, asked->n_stages, request->arena, &plan, err));
    writer_init(&w, request->arena);
    stage_plans_encode(&w, &asked->terms, &plan, &work->source);
    return api_reply(response, 200, &w, err);
}

const struct http_call stage_plan_create = {
    .state_bytes = sizeof(struct stage_plan_work),
    .steps = {{HTTP_BODY, stage_plans_create_decode},
              {HTTP_ANYWHERE, stage_plans_create_load},
              {HTTP_ANYWHERE, stage_plans_create_answer}},
};
