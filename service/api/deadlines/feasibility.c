#include "api/routes.h"

#include "api/api.h"
#include "api/deadlines/enough_cores.h"
#include "api/deadlines/job_set_load.h"
#include "api/shared/reply.h"
#include "base/plural.h"
#include "codec/deadlines/feasibility.h"
#include "codec/json/finding.h"
#include "core/deadline/explain.h"
#include "core/deadline/launches.h"

static enum pv_code feasibility_decode(const struct config *config,
                                       struct http_request *request,
                                       struct codec_feasibility *asked,
                                       struct pv_error *err)
{
    const struct codec_job_set_limits limits = {
        .jobs = (size_t)config->jobs_max,
        .stages = (size_t)config->stages_max,
        .tasks = (size_t)config->tasks_max,
        .cores = config->cores_max,
    };
    struct codec_document body;
    PV_TRY(api_body_open(config, request, &body, err));
    codec_feasibility_decode(&body.top, &limits, asked);
    return codec_close(&body);
}

/* --- the answer --- */

struct rows {
    struct writer *writer;
    const struct codec_feasibility *asked;
};

static bool write_row(void *context, const struct edf_placement *placement)
{
    struct rows *rows = context;
    codec_feasibility_encode_placement(rows->writer, rows->asked, placement);
    return !rows->writer->failed;
}

/* The schedule once more, this time written down as it happens: it may be far larger than all else
 * and is never held in two forms. */
static enum pv_code write_schedule(const struct codec_feasibility *asked,
                                   struct arena *scratch,
                                   struct edf_outcome outcomes[],
                                   struct writer *w,
                                   struct pv_error *err)
{
    struct rows rows = {w, asked};
    const struct edf_observer observer = {write_row, &rows};
    struct pv_error why = {0};
    writer_key(w, "schedule");
    writer_begin_array(w);
    enum pv_code code = edf_schedule(asked->set.jobs, asked->set.n_jobs, asked->set.cores, scratch,
                                     outcomes, NULL, &observer, &why);
    writer_end_array(w);
    if (code == PV_E_CANCELLED && !w->arena->limited)
        return pv_no_memory(err); /* that all requests hold together */
    if (code == PV_E_CANCELLED)
        return pv_fault(err, PV_PLACE_POINTER, "/include", "too_large",
                        "the schedule of %zu task%s does not fit the memory of a request "
                        "(request_memory_bytes_max)",
                        codec_job_set_tasks(&asked->set), PLURAL(codec_job_set_tasks(&asked->set)));
    return code == PV_OK ? PV_OK : pv_fail(err, code, "%s", why.detail);
}

/* What is computed, in the arena of the reply. */
struct found {
    struct edf_outcome *outcomes;
    struct edf_metrics metrics;
    struct edf_remedies remedies;
    struct edf_changes changes;
    struct edf_job_delays *delays;
};

/* Why deadlines are missed and what would help. */
static enum pv_code find_remedies(const struct config *config,
                                  const struct codec_feasibility *asked,
                                  struct http_request *request,
                                  struct arena *arena,
                                  struct arena *scratch,
                                  struct found *found,
                                  struct pv_error *err)
{
    const struct codec_job_set *set = &asked->set;
    uint64_t budget = (uint64_t)config->remedy_task_budget;
    /* The search replays the jobs over and over: light for a tenth of the tasks only, and that of
     * all remedies for none. */
    if (asked->with_all_remedies ||
        codec_job_set_tasks(set) > (size_t)config->feasibility_inline_tasks / 10)
        PV_TRY(http_move(request, HTTP_COMPUTE));
    PV_TRY(edf_find_remedies(set->jobs, set->n_jobs, set->cores, budget, arena, scratch,
                             &found->remedies, err));
    if (job_set_has_history(set))
        PV_TRY(enough_cores_find(config, set, budget, scratch, &found->remedies, err));
    if (asked->with_all_remedies)
        PV_TRY(edf_find_changes(set->jobs, set->n_jobs, set->cores, found->remedies.deadlines_s,
                                budget, arena, scratch, &found->changes, err));
    if (!asked->with_delays)
        return PV_OK;
    found->delays = arena_array(arena, set->n_jobs, sizeof *found->delays);
    if (found->delays == NULL)
        return pv_no_memory(err);
    return edf_find_delays(set->jobs, set->n_jobs, set->cores, found->outcomes, arena, scratch,
                           found->delays, err);
}

static enum pv_code explain(const struct codec_feasibility *asked,
                            const struct codec_feasibility_answer *answer,
                            struct findings *reasons,
                            struct pv_error *err)
{
    const struct codec_job_set *set = &asked->set;
    struct strview *names = arena_array(reasons->arena, set->n_jobs, sizeof *names);
    if (names == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < set->n_jobs; i++)
        names[i] = set->sources[i].name;
    feasibility_explain(names, set->jobs, set->n_jobs, set->cores, answer->outcomes,
                        answer->metrics, answer->remedies, reasons);
    if (answer->changes != NULL)
        edf_changes_explain(names, set->jobs, answer->changes, reasons);
    if (answer->delays != NULL)
        edf_delays_explain(names, set->jobs, set->n_jobs, answer->outcomes, answer->delays,
                           reasons);
    const struct launches launches = launches_count(set->jobs, answer->outcomes, set->n_jobs);
    launches_explain(&launches, names[launches.longest], reasons);
    if (set->recorded != NULL)
        recorded_jobs_explain(names, set->jobs, answer->outcomes, set->recorded, set->n_jobs,
                              reasons);
    return PV_OK;
}

/* scratch is not the arena the reply grows in: the schedule gives it back while rows are kept. */
static enum pv_code feasibility_answer(const struct config *config,
                                       const struct codec_feasibility *asked,
                                       struct http_request *request,
                                       struct arena *scratch,
                                       struct writer *w,
                                       struct pv_error *err)
{
    struct found found = {0};
    struct findings reasons = {.arena = w->arena};
    struct findings warnings = {.arena = w->arena};
    found.outcomes = arena_array(w->arena, asked->set.n_jobs, sizeof *found.outcomes);
    if (found.outcomes == NULL)
        return pv_no_memory(err);
    PV_TRY(edf_schedule(asked->set.jobs, asked->set.n_jobs, asked->set.cores, scratch,
                        found.outcomes, &found.metrics, NULL, err));
    bool late = found.metrics.delayed > 0;
    if (late)
        PV_TRY(find_remedies(config, asked, request, w->arena, scratch, &found, err));
    const struct codec_feasibility_answer answer = {
        .outcomes = found.outcomes,
        .metrics = &found.metrics,
        .remedies = late ? &found.remedies : NULL,
        .changes = late && asked->with_all_remedies ? &found.changes : NULL,
        .delays = found.delays,
    };
    enum pv_code code = PV_OK;
    writer_begin_object(w);
    codec_feasibility_encode(w, asked, &answer);
    PV_TRY(explain(asked, &answer, &reasons, err));
    codec_findings_encode(w, "reasons", &reasons);
    job_set_warn(&asked->set, &warnings);
    PV_TRY(findings_check(&warnings, err));
    if (warnings.n > 0)
        codec_findings_encode(w, "warnings", &warnings);
    if (asked->with_schedule)
        code = write_schedule(asked, scratch, found.outcomes, w, err);
    writer_end_object(w);
    return code;
}

static enum pv_code feasibility_check_decode(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct api *api = context;
    static const char *const no_parameters[] = {NULL};
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    return feasibility_decode(api->config, request, request->state, err);
}

/* On an io worker only where there is something to load. */
static enum pv_code feasibility_check_load(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    struct codec_feasibility *asked = request->state;
    (void)response;
    PV_TRY(job_set_load_cluster(context, request, &asked->set, err));
    PV_TRY(codec_feasibility_take_memory(asked, err));
    return job_set_load_jobs(context, request, &asked->set, err);
}

static enum pv_code feasibility_check_make(void *context,
                                           struct http_request *request,
                                           struct http_response *response,
                                           struct pv_error *err)
{
    const struct api *api = context;
    struct codec_feasibility *asked = request->state;
    (void)response;
    if (job_set_has_history(&asked->set))
        PV_TRY(http_move(request, HTTP_COMPUTE));
    return job_set_make_jobs(api->config, request->arena, &asked->set, err);
}

static enum pv_code feasibility_check_answer(void *context,
                                             struct http_request *request,
                                             struct http_response *response,
                                             struct pv_error *err)
{
    struct api *api = context;
    const struct codec_feasibility *asked = request->state;
    struct arena scratch;
    struct writer w;
    if (codec_job_set_tasks(&asked->set) > (size_t)api->config->feasibility_inline_tasks)
        PV_TRY(http_move(request, HTTP_COMPUTE));
    arena_init_beside(&scratch, request->arena, (size_t)api->config->request_memory_bytes_max);
    writer_init(&w, request->arena);
    enum pv_code code = feasibility_answer(api->config, asked, request, &scratch, &w, err);
    arena_fini(&scratch);
    if (code != PV_OK)
        return code;
    response->body = writer_finish(&w, &response->body_n);
    if (response->body == NULL)
        return pv_no_memory(err);
    response->status = 200;
    return PV_OK;
}

const struct http_call feasibility_check = {
    .state_bytes = sizeof(struct codec_feasibility),
    .steps = {{HTTP_BODY, feasibility_check_decode},
              {HTTP_ANYWHERE, feasibility_check_load},
              {HTTP_ANYWHERE, feasibility_check_make},
              {HTTP_ANYWHERE, feasibility_check_answer}},
};
