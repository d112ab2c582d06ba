#include "api/advice/advice_copies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/geo/copy_plan_clusters.h"
#include "core/advice/first_stages.h"
#include "core/geo/planning.h"

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
    arena_init(&scratch, (size_t)api->config->request_memory_bytes_max);
    enum pv_code code = first_stages_of_nearest(runs->own, runs->n_own, &target, request->arena,
                                                &scratch, stages, n, err);
    arena_fini(&scratch);
    return code;
}

/* Operations by name, each once: the stages', and the application's, which stands first. */
static enum pv_code name_operations(struct arena *arena,
                                    const struct advice_question *asked,
                                    const struct first_stage stages[],
                                    size_t n,
                                    size_t operation_of[],
                                    struct codec_copy_plan *plan,
                                    struct pv_error *err)
{
    struct strview *names = arena_array(arena, n + 1, sizeof *names);
    if (names == NULL)
        return pv_no_memory(err);
    size_t count = 1;
    names[0] = advice_job_name(asked);
    for (size_t i = 0; i < n; i++) {
        bool named = stages[i].name.at != NULL && stages[i].name.n > 0;
        size_t k = 0;
        while (named && k < count && !strview_equal(names[k], stages[i].name))
            k++;
        if (k == count)
            names[count++] = stages[i].name;
        operation_of[i] = k;
    }
    plan->operations = names;
    plan->problem.n_operations = count;
    return PV_OK;
}

static enum pv_code name_clusters(struct arena *arena,
                                  const struct advice_question *asked,
                                  struct codec_copy_plan *plan,
                                  struct pv_error *err)
{
    size_t n = asked->n_clusters;
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
    plan->clusters = asked->clusters;
    plan->clusters_at = CLUSTERS_AT;
    plan->n_registered = n;
    plan->problem.clusters = clusters;
    plan->problem.n_clusters = n;
    return PV_OK;
}

/* Where the input may lie: as specified, else everywhere. */
static size_t *list_inputs(struct arena *arena, const struct advice_question *asked, size_t *n)
{
    *n = asked->n_inputs;
    if (asked->n_inputs > 0)
        return asked->inputs;
    *n = asked->n_clusters;
    size_t *all = arena_array(arena, *n, sizeof *all);
    for (size_t i = 0; all != NULL && i < *n; i++)
        all[i] = i;
    return all;
}

struct tasks {
    struct geo_task *items;
    struct strview *ids;
    size_t n;
    double bytes;
};

static enum pv_code cut_tasks(struct arena *arena,
                              const struct advice_question *asked,
                              const struct first_stage stages[],
                              size_t n,
                              const size_t operation_of[],
                              struct tasks *tasks,
                              struct pv_error *err)
{
    size_t n_inputs = 0;
    const size_t *inputs = list_inputs(arena, asked, &n_inputs);
    tasks->items = arena_calloc(arena, tasks->n, sizeof *tasks->items);
    tasks->ids = arena_calloc(arena, tasks->n, sizeof *tasks->ids);
    if (inputs == NULL || tasks->items == NULL || tasks->ids == NULL)
        return pv_no_memory(err);
    size_t at = 0;
    for (size_t s = 0; s < n; s++)
        for (size_t t = 0; t < stages[s].tasks; t++, at++) {
            const char *id = arena_printf(arena, "%lld.%zu", (long long)stages[s].id, t);
            if (id == NULL)
                return pv_no_memory(err);
            tasks->ids[at] = strview_of(id);
            tasks->items[at] =
                (struct geo_task){.operation = operation_of[s],
                                  .size_bytes = stages[s].input_bytes / (double)stages[s].tasks,
                                  .inputs = &inputs[at % n_inputs],
                                  .n_inputs = 1,
                                  .waited_s = (double)NAN};
        }
    return PV_OK;
}

static enum pv_code count_tasks(const struct api *api,
                                const struct first_stage stages[],
                                size_t n,
                                struct tasks *tasks,
                                struct pv_error *err)
{
    size_t most = (size_t)api->config->plan_tasks_max;
    for (size_t s = 0; s < n; s++) {
        if (stages[s].tasks > most - tasks->n)
            return pv_fail(err, PV_E_LIMIT,
                           "its first stages have more than %zu tasks (plan_tasks_max)", most);
        tasks->n += stages[s].tasks;
        tasks->bytes += stages[s].input_bytes;
    }
    return PV_OK;
}

static enum pv_code make_job(struct arena *arena,
                             const struct advice_question *asked,
                             const struct tasks *tasks,
                             struct codec_copy_plan *plan,
                             struct pv_error *err)
{
    struct geo_job *job = arena_alloc(arena, sizeof *job);
    plan->jobs = arena_alloc(arena, sizeof *plan->jobs);
    plan->tasks = arena_alloc(arena, sizeof *plan->tasks);
    if (job == NULL || plan->jobs == NULL || plan->tasks == NULL)
        return pv_no_memory(err);
    *job = (struct geo_job){.unprocessed_bytes = tasks->bytes,
                            .tasks = tasks->items,
                            .n_tasks = tasks->n,
                            .median_duration_s = (double)NAN};
    plan->jobs[0] = advice_job_name(asked);
    plan->tasks[0] = tasks->ids;
    plan->problem.jobs = job;
    plan->problem.n_jobs = 1;
    return PV_OK;
}

/* --- the plan --- */

static enum pv_code set_problem(struct api *api,
                                struct arena *arena,
                                const struct advice_question *asked,
                                const struct first_stage stages[],
                                size_t n,
                                size_t operation_of[],
                                struct codec_copy_plan *plan,
                                struct tasks *tasks,
                                struct pv_error *err)
{
    *plan = (struct codec_copy_plan){.parameters = geo_parameters_default(geo_planners[0])};
    plan->problem.slot_s = (double)NAN;
    PV_TRY(count_tasks(api, stages, n, tasks, err));
    PV_TRY(name_operations(arena, asked, stages, n, operation_of, plan, err));
    PV_TRY(name_clusters(arena, asked, plan, err));
    PV_TRY(cut_tasks(arena, asked, stages, n, operation_of, tasks, err));
    return make_job(arena, asked, tasks, plan, err);
}

/* How near to the clusters an operation was observed: by one of them itself, by one of the same
 * machine type, anywhere; PERFORMANCE_SOURCES: nowhere. */
static size_t find_nearest_source(const struct codec_copy_plan *plan, size_t operation)
{
    const struct performance_book *book = plan->origin.book;
    size_t nearest = PERFORMANCE_SOURCES;
    for (size_t m = 0; m < plan->problem.n_clusters; m++) {
        enum performance_source source =
            performance_book_processing(book, plan->origin.place[m], operation)->source;
        if (source != PERFORMANCE_NONE && (size_t)source < nearest)
            nearest = (size_t)source;
    }
    return nearest;
}

/* Names that are too long for the reply are left out. */
static enum pv_code
refuse_operation(struct strview stage, struct strview application, struct pv_error *err)
{
    const char *said = "no cluster reported processing speeds of an operation that is named like "
                       "the stage or like the application";
    if (stage.n + application.n > 120)
        return pv_fail(err, PV_E_TOO_FEW, "%s", said);
    return pv_fail(err, PV_E_TOO_FEW, "%s (%.*s%s%.*s)", said, (int)stage.n, stage.at,
                   stage.n > 0 ? "; " : "", (int)application.n, application.at);
}

/* The application is used for a stage that was observed farther away than it, or nowhere. */
static enum pv_code settle_operations(struct arena *arena,
                                      struct codec_copy_plan *plan,
                                      struct tasks *tasks,
                                      struct pv_error *err)
{
    size_t n = plan->problem.n_operations;
    size_t *nearest = arena_array(arena, n, sizeof *nearest);
    if (nearest == NULL)
        return pv_no_memory(err);
    for (size_t op = 0; op < n; op++)
        nearest[op] = find_nearest_source(plan, op);
    for (size_t t = 0; t < tasks->n; t++) {
        struct geo_task *task = &tasks->items[t];
        if (nearest[0] < nearest[task->operation])
            task->operation = 0;
        if (nearest[task->operation] == PERFORMANCE_SOURCES)
            return refuse_operation(plan->operations[task->operation], plan->operations[0], err);
    }
    return PV_OK;
}

static enum pv_code plan_copies(struct api *api,
                                struct http_request *request,
                                const struct advice_question *asked,
                                const struct advice_runs *runs,
                                const struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err)
{
    size_t n = 0;
    struct first_stage *stages = NULL;
    struct tasks tasks = {.n = 0};
    struct arena *arena = request->arena;
    PV_TRY(find_stages(api, request, runs, answer, &stages, &n, err));
    size_t *operation_of = arena_array(arena, n, sizeof *operation_of);
    if (operation_of == NULL)
        return pv_no_memory(err);
    PV_TRY(set_problem(api, arena, asked, stages, n, operation_of, &copies->asked, &tasks, err));
    PV_TRY(copy_plan_clusters_load(api, request, &copies->asked, err));
    PV_TRY(settle_operations(arena, &copies->asked, &tasks, err));
    copy_plan_choose_epsilon(&copies->asked);
    return geo_plan_make(&copies->asked.problem, &copies->asked.parameters, NULL, NULL, arena,
                         &copies->plan, err);
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
static void
tell_why(const struct advice_question *asked, const struct pv_error *why, struct advice *advice)
{
    const struct pv_fault *fault = &why->faults[0];
    const char *detail = why->n_faults > 0 ? fault->detail : why->detail;
    struct finding *note = finding_add(&advice->warnings, "no_copy_plan",
                                       "There is no copy plan for the first stage: %s.", detail);
    size_t cluster = why->n_faults > 0 ? cluster_of(fault, asked->n_clusters) : asked->n_clusters;
    if (cluster < asked->n_clusters)
        finding_text(note, "cluster", asked->clusters[cluster].at);
}

static void tell_inputs(const struct advice_question *asked, struct advice *advice)
{
    if (asked->n_inputs > 0 || asked->n_clusters == 1)
        return;
    struct finding *note = finding_add(&advice->warnings, "inputs_assumed",
                                       "The input is assumed to lie in all %zu clusters alike; "
                                       "copy_plan.inputs specifies where it does.",
                                       asked->n_clusters);
    finding_number(note, "clusters", (double)asked->n_clusters);
}

enum pv_code advice_copies_plan(struct api *api,
                                struct http_request *request,
                                const struct advice_question *asked,
                                const struct advice_runs *runs,
                                struct advice_answer *answer,
                                struct advice_copies *copies,
                                struct pv_error *err)
{
    struct pv_error why = {0};
    enum pv_code code = plan_copies(api, request, asked, runs, answer, copies, &why);
    struct advice *advice = &answer->advice;
    bool impossible = code == PV_E_TOO_FEW || code == PV_E_LIMIT || code == PV_E_INVALID;
    if (code != PV_OK && !impossible)
        return pv_fail(err, code, "%s", why.detail);
    copies->planned = code == PV_OK;
    if (copies->planned)
        tell_inputs(asked, advice);
    else
        tell_why(asked, &why, advice);
    return advice->warnings.failed ? pv_no_memory(err) : PV_OK;
}
