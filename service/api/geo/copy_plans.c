#include "codec/geo/copy_plan.h"
#include "core/geo/plan_make.h"

#include "api/api.h"
#include "api/geo/copy_plan_clusters.h"
#include "api/routes.h"
#include "api/shared/reply.h"
#include "threads/clock.h"

/* POST /v1/copy-plans: one plan over the tasks in the request and the clusters that it describes or
 * names. */

static enum pv_code copy_plans_decode(const struct config *config,
                                      struct http_request *request,
                                      struct codec_copy_plan *asked,
                                      struct pv_error *err)
{
    const struct codec_copy_plan_limits limits = {.clusters = (size_t)config->plan_clusters_max,
                                                  .jobs = (size_t)config->jobs_max,
                                                  .tasks = (size_t)config->plan_tasks_max,
                                                  .points =
                                                      (size_t)config->distribution_points_max};
    json_t *json = NULL;
    enum pv_code code = api_parse(config, request, &json, err);
    if (code != PV_OK)
        return code;
    struct codec_reader reader = {request->arena, err};
    struct codec_node top = codec_top(&reader, json);
    codec_copy_plan_decode(&top, &limits, asked);
    code = codec_result(&reader);
    json_decref(json);
    return code;
}

static bool has_time(void *context)
{
    const struct http_request *request = context;
    return clock_monotonic_ns() < request->deadline_ns;
}

/* A plan that takes longer than the request may is given up. */
static enum pv_code make_plan(struct http_request *request,
                              struct codec_copy_plan *asked,
                              struct geo_plan *plan,
                              struct pv_error *err)
{
    const struct geo_interrupt interrupt = {has_time, request};
    enum pv_code code = geo_plan_make(&asked->problem, &asked->parameters, NULL, &interrupt,
                                      request->arena, plan, err);
    if (code != PV_E_CANCELLED)
        return code;
    pv_error_clear(err);
    return pv_fail(err, PV_E_TIMEOUT, "no plan of so many tasks, inputs and clusters in time");
}

enum pv_code copy_plans_create(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    struct api *api = context;
    static const char *const no_parameters[] = {NULL};
    struct codec_copy_plan asked;
    struct geo_plan plan;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(copy_plans_decode(api->config, request, &asked, err));
    PV_TRY(copy_plan_clusters_load(api, request, &asked, err));
    PV_TRY(copy_plan_operations_check(&asked.problem, request->arena, err));
    copy_plan_choose_epsilon(&asked);
    PV_TRY(make_plan(request, &asked, &plan, err));
    struct writer w;
    writer_init(&w, request->arena);
    codec_copy_plan_encode(&w, &asked, &plan);
    return api_reply(response, 200, &w, err);
}
