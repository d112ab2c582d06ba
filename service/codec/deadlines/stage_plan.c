#include "codec/deadlines/stage_plan.h"

#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "codec/deadlines/job_source.h"
#include "codec/json/names.h"

/* --- stages --- */

/* A recorded stage may hold more than a planned one, and may leave all its times out. */
static void check_stage(const struct codec_node *stage)
{
    static const char *const known[] = {
        "task_time_s", "task_durations_s", "tasks",   "task_duration_s", "duration_s",
        "id",          "parents",          "skipped", "input_records",   "nominal_rate_per_s",
        NULL};
    size_t tasks = 0; /* members of the tasks' times */
    codec_refuse_unknown(stage, known);
    for (size_t i = 0; i < 4; i++)
        tasks += codec_present(stage, known[i]);
    bool skipped = json_value_is_true(json_value_member(stage->json, "skipped"));
    if (tasks > 0 && codec_present(stage, "duration_s"))
        codec_fault_member(stage, "duration_s", "conflict",
                           "must be left out where the tasks' times are given");
    else if (tasks == 0 && !skipped && json_value_member(stage->json, "duration_s") == NULL)
        codec_fault_member(stage, "duration_s", "required",
                           "is required, or task_time_s, task_durations_s, or tasks with "
                           "task_duration_s");
    else if (tasks == 0 && !skipped)
        (void)codec_number(stage, "duration_s", 0, CODEC_SECONDS_MIN, CODEC_SECONDS_MAX);
}

/* As of a run from history, a stage that takes no time has no part in the plan. */
static struct stage_plan_stage planned(const struct run_stage *stage)
{
    double duration_s = isnan(stage->duration_s) ? stage->task_time_s : stage->duration_s;
    return (struct stage_plan_stage){.id = stage->id,
                                     .duration_s = duration_s,
                                     .input_records = stage->input_records,
                                     .nominal_rate_per_s = stage->nominal_rate_per_s,
                                     .skipped = stage->skipped || duration_s < CODEC_SECONDS_MIN,
                                     .pinned_cores = (double)NAN,
                                     .pinned_deadline_s = (double)NAN};
}

static void decode_source(const struct codec_node *top, const void *limits, void *object)
{
    const struct codec_stage_plan_limits *most = limits;
    struct codec_stage_plan *request = object;
    const struct codec_run_limits run_limits = {.stages = (int64_t)most->stages,
                                                .tasks = most->tasks};
    struct run run;
    size_t n_planned = 0;
    if (!codec_job_source_decode(top, &run_limits, check_stage, &request->application,
                                 &request->problem_size, &run))
        return;
    request->stages = codec_allocate(top, run.n_stages, sizeof *request->stages);
    if (request->stages == NULL)
        return;
    request->n_stages = run.n_stages;
    for (size_t i = 0; i < run.n_stages; i++) {
        request->stages[i] = planned(&run.stages[i]);
        n_planned += !request->stages[i].skipped;
    }
    if (n_planned == 0)
        codec_fault_member(top, "stages", "too_few_items",
                           "needs at least one stage that is not skipped and takes time");
}

/* --- pins --- */

#define P struct codec_stage_plan_pin
#define L struct codec_stage_plan_limits
static const struct shape_member pin_members[] = {
    {"id", SHAPE_COUNT(P, id), .flags = CODEC_REQUIRED, .most = CODEC_ID_MAX},
    {"cores", SHAPE_NUMBER(P, cores), .flags = CODEC_NULLABLE | CODEC_ABOVE, SHAPE_LIMIT(L, cores)},
    {"deadline_s", SHAPE_NUMBER(P, deadline_s), .flags = CODEC_NULLABLE, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
};
static void check_pin(const struct codec_node *node, const void *limits, void *object)
{
    (void)limits;
    (void)object;
    if (!codec_present(node, "cores") && !codec_present(node, "deadline_s"))
        codec_fault(node, "required", "needs cores, deadline_s or both");
}

const struct shape codec_stage_plan_pin_shape = {.request = "PinnedStage",
                                                 SHAPE_OF(pin_members, P),
                                                 .check = check_pin,
                                                 .unique = "id",
                                                 .twice = "this stage is pinned already"};

/* Stages ascend by id. NULL: there is none. */
static struct stage_plan_stage *stage_plan_find_stage(const struct codec_stage_plan *request,
                                                      int64_t id)
{
    size_t low = 0;
    size_t high = request->n_stages;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (request->stages[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < request->n_stages && request->stages[low].id == id ? &request->stages[low] : NULL;
}

enum pv_code codec_stage_plan_pin(struct codec_stage_plan *request, struct pv_error *err)
{
    enum pv_code code = PV_OK;
    for (size_t i = 0; i < request->n_pins; i++) {
        const struct codec_stage_plan_pin *pin = &request->pins[i];
        struct stage_plan_stage *stage = stage_plan_find_stage(request, pin->id);
        if (stage != NULL && !stage->skipped) {
            stage->pinned_cores = pin->cores;
            stage->pinned_deadline_s = pin->deadline_s;
            continue;
        }
        if (pin->id < 0)
            continue; /* at fault already */
        char pointer[64];
        (void)snprintf(pointer, sizeof pointer, "/pinned/%zu/id", i);
        code = pv_fault(err, PV_PLACE_POINTER, pointer, "unknown_stage",
                        stage == NULL ? "there is no stage %lld" : "stage %lld takes no part",
                        (long long)pin->id);
    }
    return code;
}

/* --- the request --- */

#define R struct codec_stage_plan
static void decode_cluster(const struct codec_node *top, const void *limits, void *object)
{
    codec_given_cluster_decode(top, CODEC_OPTIONAL,
                               ((const struct codec_stage_plan_limits *)limits)->cores,
                               &((R *)object)->cluster);
}

enum { KEEP = SHAPE_KEEP };
static const struct shape_member members[] = {
    {"deadline_s", SHAPE_NUMBER(R, terms.deadline_s), .flags = CODEC_REQUIRED,
     .low = CODEC_SECONDS_MIN, .high = CODEC_SECONDS_MAX},
    {"alpha", SHAPE_NUMBER(R, terms.alpha), .flags = CODEC_ABOVE | KEEP, .high = 1},
    {"beta", SHAPE_NUMBER(R, terms.beta), .flags = KEEP, .high = 1},
    {"overscale", SHAPE_NUMBER(R, terms.overscale), .flags = KEEP, .low = 1,
     .high = CODEC_OVERSCALE_MAX},
    {"core_quantum", SHAPE_NUMBER(R, terms.core_quantum), .flags = KEEP, .low = 1e-6,
     SHAPE_LIMIT(L, cores)},
    {"cluster", SHAPE_CODE, .decode = decode_cluster},
    {"executors", SHAPE_COUNT(R, executors), .least = 1, SHAPE_LIMIT(L, cores)},
    {"cores_per_executor", SHAPE_COUNT(R, cores_per_executor), .least = 1, SHAPE_LIMIT(L, cores)},
    {"stages", SHAPE_CODE, .decode = decode_source},
    {"application", SHAPE_CODE}, /* with the stages */
    {"problem_size", SHAPE_CODE},
    {"pinned", SHAPE_OBJECTS(R, pins, n_pins, &codec_stage_plan_pin_shape), SHAPE_LIMIT(L, stages)},
};
const struct shape codec_stage_plan_shape = {.request = "StagePlanRequest", SHAPE_OF(members, R)};

/* A named cluster has what the request does not specify. */
static void
check_cores(const struct codec_node *node, int64_t most, const struct codec_stage_plan *request)
{
    static const char *const keys[] = {"executors", "cores_per_executor"};
    for (size_t i = 0; i < 2; i++)
        if (json_value_member(node->json, "cluster") == NULL &&
            json_value_member(node->json, keys[i]) == NULL)
            codec_fault_member(node, keys[i], "required", "is required");
    if (request->cores_per_executor > 0 && request->executors > most / request->cores_per_executor)
        codec_fault_member(node, "executors", "out_of_range",
                           "with cores_per_executor there are more than %lld core%s (cores_max)",
                           (long long)most, PLURAL(most));
}

void codec_stage_plan_decode(const struct codec_node *node,
                             const struct codec_stage_plan_limits *limits,
                             struct codec_stage_plan *request)
{
    struct stage_plan_terms *terms = &request->terms;
    *request = (struct codec_stage_plan){.terms = {.alpha = STAGE_PLAN_ALPHA,
                                                   .beta = STAGE_WEIGHT_BETA,
                                                   .overscale = STAGE_PLAN_OVERSCALE,
                                                   .core_quantum = STAGE_PLAN_CORE_QUANTUM}};
    shape_decode(node, &codec_stage_plan_shape, limits, request);
    check_cores(node, limits->cores, request);
    terms->executors = request->executors < 1 ? (double)NAN : (double)request->executors;
    terms->cores_per_executor =
        request->cores_per_executor < 1 ? (double)NAN : (double)request->cores_per_executor;
    if (request->stages != NULL) {
        enum pv_code code = codec_stage_plan_pin(request, node->reader->err);
        (void)code; /* kept in the reader's error, like every fault */
    }
}

/* --- the reply --- */

void codec_stage_plan_encode(struct writer *w, const struct stage_plan *plan)
{
    writer_member_boolean(w, "feasible", plan->feasible);
    writer_member_array(w, "stages");
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct stage_plan_step *step = &plan->steps[i];
        writer_begin_object(w);
        writer_member_integer(w, "id", step->id);
        writer_member_number(w, "weight", step->weight);
        writer_member_number(w, "start_s", step->start_s);
        writer_member_number(w, "deadline_s", step->deadline_s);
        writer_member_number(w, "estimated_cores", step->estimated_cores);
        writer_member_number(w, "max_allocable_cores", step->max_allocable_cores);
        writer_member_number(w, "initial_cores_per_executor", step->initial_cores_per_executor);
        writer_end_object(w);
    }
    writer_end_array(w);
}
