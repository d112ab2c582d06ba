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
    struct codec_document body;
    PV_TRY(api_body_open(config, request, &body, err));
    codec_copy_plan_decode(&body.top, &limits, asked);
    return codec_close(&body);
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

struct copy_plan_work {
    struct codec_copy_plan asked;
    struct copy_plan_registered registered;
};

static enum pv_code copy_plans_create_decode(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct api *api = context;
    struct copy_plan_work *work = request->state;
    static const char *const no_parameters[] = {NULL};
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    return copy_plans_decode(api->config, request, &work->asked, err);
}

static enum pv_code copy_plans_create_load(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    struct copy_plan_work *work = request->state;
    (void)response;
    return copy_plan_clusters_load(context, request, &work->asked, &work->registered, err);
}

static enum pv_code copy_plans_create_answer(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct copy_plan_work *work = request->state;
    struct codec_copy_plan *asked = &work->asked;
    struct geo_plan plan;
    struct writer w;
    (void)context;
    PV_TRY(copy_plan_clusters_take(request->arena, &work->registered, asked, err));
    PV_TRY(copy_plan_operations_check(&asked->problem, request->arena, err));
    copy_plan_choose_epsilon(asked);
    PV_TRY(make_plan(request, asked, &plan, err));
    writer_init(&w, request->arena);
    codec_copy_plan_encode(&w, asked, &plan);
    return api_reply(response, 200, &w, err);
}

const struct http_call copy_plans_create = {
    .state_bytes = sizeof(struct copy_plan_work),
    .steps = {{HTTP_BODY, copy_plans_create_decode},
              {HTTP_ANYWHERE, copy_plans_create_load},
              {HTTP_COMPUTE, copy_plans_create_answer}},
};
