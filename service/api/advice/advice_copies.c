#include "api/advice/advice_copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "core/geo/plan_make.h"

static const char CLUSTERS_AT[] = "/copy_plan/clusters";

/* --- the tasks --- */

/* The first stages as they would be with what is recommended. */
static enum pv_code find_stages(struct api *api,
                                struct http_request *request,
                                const struct advice_runs *runs,
                                const struct advice_answer *answer,
                                struct first_stage **stages,
                                size_t *n,
                                struct pv_error *err)
{
    const struct replay_target target = {answer->curve.problem_size,
                                         answer->advice.recommendation.executors,
                                         answer->curve.cores_per_executor};
    if (runs->n_own == 0)
        return pv_fail(err, PV_E_TOO_FEW, "no run of the application has stages");
    struct arena scratch;
    arena_init_beside(&scratch, request->arena, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code = first_stages_find(runs->own, runs->n_own, &target, request->arena, &scratch,
                                          stages, n, err);
    arena_fini(&scratch);
    return code;
}

/* The clusters by their names alone: what they are is looked up. */
static enum pv_code name_clusters(struct arena *arena,
                                  const struct advice_question *question,
                                  struct codec_copy_plan *plan,
                                  struct pv_error *err)
{
    size_t n = question->n_clusters;
    struct geo_cluster *clusters = arena_array(arena, n, sizeof *clusters);
    const struct speeds **processing =
        arena_calloc(arena, plan->problem.n_operations, sizeof *processing);
    plan->places = arena_array(arena, n, sizeof *plan->places);
    if (clusters == NULL || processing == NULL || plan->places == NULL)
        return pv_no_memory(err);
    for (size_t m = 0; m < n; m++) {
        plan->places[m] = (struct codec_copy_plan_place){.registered = true, .only_named = true};
        clusters[m] = (struct geo_cluster){.slots = RUN_UNKNOWN,
                                           .unreachable_probability = (double)NAN,
                                           .ingress_bytes_per_s = (double)NAN,
                                           .egress_bytes_per_s = (double)NAN,
                                           .processing = processing};
    }
    plan->clusters = question->clusters;
    plan->clusters_at = CLUSTERS_AT;
    plan->n_registered = n;
    plan->problem.clusters = clusters;
    plan->problem.n_clusters = n;
    return PV_OK;
}

static enum pv_code set_problem(struct arena *arena,
                                const struct advice_question *question,
                                struct first_stage_job *job,
                                struct codec_copy_plan *plan,
                                struct pv_error *err)
{
    *plan = (struct codec_copy_plan){.parameters = geo_parameters_default(geo_planners[0]),
                                     .operations = job->operations};
    plan->jobs = arena_alloc(arena, sizeof *plan->jobs);
    plan->tasks = arena_alloc(arena, sizeof *plan->tasks);
    if (plan->jobs == NULL || plan->tasks == NULL)
        return pv_no_memory(err);
    plan->jobs[0] = advice_job_name(question);
    plan->tasks[0] = job->ids;
    plan->problem.slot_s = (double)NAN;
    plan->problem.jobs = &job->job;
    plan->problem.n_jobs = 1;
    plan->problem.n_operations = job->n_operations;
    return name_clusters(arena, question, plan, err);
}

/* The cluster that a fault is at, in the order of the request; `none` where it is at none. */
static size_t cluster_of(const struct pv_fault *fault, size_t none)
{
    const size_t n = sizeof CLUSTERS_AT - 1;
    const char *at = fault->at;
    if (strncmp(at, CLUSTERS_AT, n) != 0 || at[n] != '/' || at[n + 1] < '0' || at[n + 1] > '9')
        return none;
    return strtoul(at + n + 1, NULL, 10);
}

/* Why there is none, in words: of faults the first, with the cluster that it is at. */
static void warn_of_no_plan(const struct advice_question *question,
                            const struct pv_error *why,
                            struct advice *advice)
{
    const struct pv_fault *fault = &why->faults[0];
    const char *detail = why->n_faults > 0 ? fault->detail : why->detail;
    struct finding *note = finding_add(&advice->warnings, "no_copy_plan",
                                       "There is no copy plan for the first stage: %s.", detail);
    size_t cluster =
        why->n_faults > 0 ? cluster_of(fault, question->n_clusters) : question->n_clusters;
    if (cluster < question->n_clusters)
        finding_text(note, "cluster", question->clusters[cluster].at);
}

static void warn_of_inputs(const struct advice_question *question, struct advice *advice)
{
    if (question->n_inputs > 0 || question->n_clusters == 1)
        return;
    struct finding *note = finding_add(&advice->warnings, "inputs_assumed",
                                       "The input is assumed to lie in all %zu cluster%s alike; "
                                       "copy_plan.inputs specifies where it does.",
                                       question->n_clusters, PLURAL(question->n_clusters));
    finding_number(note, "clusters", (double)question->n_clusters);
}

/* What came of a step: where it shows that there is no plan, that is a warning and no failure. */
static enum pv_code judge(enum pv_code code,
                          const struct pv_error *why,
                          const struct advice_question *question,
                          struct advice_answer *answer,
                          struct advice_copies *copies,
                          struct pv_error *err)
{
    struct advice *advice = &answer->advice;
    if (code == PV_OK || code == PV_E_RETRY)
        return code;
    if (code != PV_E_TOO_FEW && code != PV_E_LIMIT && code != PV_E_INVALID)
        return pv_fail(err, code, "%s", why->detail);
    copies->impossible = true;
    warn_of_no_plan(question, why, advice);
    return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}

/* --- the steps --- */

static enum pv_code pose(struct api *api,
                         struct http_request *request,
                         const struct advice_question *question,
                         const struct advice_runs *runs,
                         const struct advice_answer *answer,
                         struct advice_copies *copies,
                         struct pv_error *err)
{
    size_t n = 0;
    struct first_stage *stages = NULL;
    struct arena *arena = request->arena;
    PV_TRY(find_stages(api, request, runs, answer, &stages, &n, err));
    PV_TRY(first_stage_job_make(question, stages, n, (size_t)api->config->plan_tasks_max, arena,
                                &copies->job, err));
    return set_problem(arena, question, &copies->job, &copies->asked, err);
}

enum pv_code advice_copies_pose(struct api *api,
                                struct http_request *request,
                                const struct advice_question *question,
                                const struct advice_runs *runs,
                                struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err)
{
    struct pv_error why = {0};
    enum pv_code code = pose(api, request, question, runs, answer, copies, &why);
    return judge(code, &why, question, answer, copies, err);
}

enum pv_code advice_copies_load(struct api *api,
                                struct http_request *request,
                                const struct advice_question *question,
                                struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err)
{
    struct pv_error why = {0};
    if (copies->impossible)
        return PV_OK;
    enum pv_code code =
        copy_plan_clusters_load(api, request, &copies->asked, &copies->registered, &why);
    return judge(code, &why, question, answer, copies, err);
}

static enum pv_code plan(struct arena *arena, struct advice_copies *copies, struct pv_error *err)
{
    struct codec_copy_plan *asked = &copies->asked;
    PV_TRY(copy_plan_clusters_take(arena, &copies->registered, asked, err));
    PV_TRY(first_stage_job_choose_operations(&copies->job, asked->origin.book, asked->origin.place,
                                             asked->problem.n_clusters, arena, err));
    copy_plan_choose_epsilon(asked);
    return geo_plan_make(&asked->problem, &asked->parameters, NULL, NULL, arena, &copies->plan,
                         err);
}

enum pv_code advice_copies_plan(struct http_request *request,
                                const struct advice_question *question,
                                struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err)
{
    struct pv_error why = {0};
    if (copies->impossible)
        return PV_OK;
    PV_TRY(http_move(request, HTTP_COMPUTE));
    enum pv_code code = plan(request->arena, copies, &why);
    copies->planned = code == PV_OK;
    if (copies->planned)
        warn_of_inputs(question, &answer->advice);
    PV_TRY(judge(code, &why, question, answer, copies, err));
    return answer->advice.warnings.failed ? pv_no_memory(err) : PV_OK;
}
