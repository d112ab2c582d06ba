#include "codec/deadlines/stage_plan.h"

#include <math.h>
#include <stdio.h>

#include "codec/history/run.h"
#include "codec/json/names.h"

static const double SECONDS_MAX = 1e12;
/* Less than a nanosecond would only make quotients overflow. */
static const double SECONDS_MIN = 1e-9;
static const double QUANTUM_MIN = 1e-6;
static const double OVERSCALE_MAX = 1e6;
static const int64_t ID_MAX = 1000000000000;

static double known_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* A named cluster gives what the request does not tell. */
static void
decode_cluster(const struct codec_node *top, int64_t most, struct codec_stage_plan *request)
{
    request->cluster = codec_name(top, "cluster", CODEC_OPTIONAL);
    unsigned flags =
        json_object_get(top->json, "cluster") == NULL ? CODEC_REQUIRED : CODEC_OPTIONAL;
    int64_t executors = codec_integer(top, "executors", flags, 1, most);
    int64_t each = codec_integer(top, "cores_per_executor", flags, 1, most);
    int64_t cores;
    struct stage_plan_terms *out = &request->terms;
    out->executors = executors < 1 ? (double)NAN : (double)executors;
    out->cores_per_executor = each < 1 ? (double)NAN : (double)each;
    if (executors < 1 || each < 1)
        return;
    if (__builtin_mul_overflow(executors, each, &cores) || cores > most)
        codec_fault_member(top, "executors", "out_of_range",
                           "with cores_per_executor there are more than %lld cores (cores_max)",
                           (long long)most);
}

static void decode_terms(const struct codec_node *top, int64_t cores, struct stage_plan_terms *out)
{
    out->deadline_s = codec_number(top, "deadline_s", CODEC_REQUIRED, SECONDS_MIN, SECONDS_MAX);
    out->alpha =
        known_or(codec_number(top, "alpha", CODEC_OPTIONAL | CODEC_ABOVE, 0, 1), STAGE_PLAN_ALPHA);
    out->beta = known_or(codec_number(top, "beta", CODEC_OPTIONAL, 0, 1), STAGE_WEIGHT_BETA);
    out->overscale = known_or(codec_number(top, "overscale", CODEC_OPTIONAL, 1, OVERSCALE_MAX),
                              STAGE_PLAN_OVERSCALE);
    out->core_quantum =
        known_or(codec_number(top, "core_quantum", CODEC_OPTIONAL, QUANTUM_MIN, (double)cores),
                 STAGE_PLAN_CORE_QUANTUM);
}

/* --- stages --- */

/* A recorded stage may hold more than a planned one, and may leave its duration out. */
static bool check_stage(const struct codec_node *stage)
{
    static const char *const known[] = {
        "id", "parents", "duration_s", "skipped", "input_records", "nominal_rate_per_s", NULL};
    if (!codec_expect_object(stage))
        return false;
    codec_refuse_unknown(stage, known);
    bool skipped = json_is_true(json_object_get(stage->json, "skipped"));
    if (!skipped)
        (void)codec_number(stage, "duration_s", CODEC_REQUIRED, SECONDS_MIN, SECONDS_MAX);
    return !skipped;
}

static struct stage_plan_stage planned(const struct run_stage *stage)
{
    return (struct stage_plan_stage){.id = stage->id,
                                     .duration_s = stage->duration_s,
                                     .input_records = stage->input_records,
                                     .nominal_rate_per_s = stage->nominal_rate_per_s,
                                     .skipped = stage->skipped,
                                     .pinned_cores = (double)NAN,
                                     .pinned_deadline_s = (double)NAN};
}

/* Read as the stages of a run, for their graph, then taken over. */
static void
decode_stages(const struct codec_node *top, size_t most, struct codec_stage_plan *request)
{
    struct codec_reader *reader = top->reader;
    struct codec_node list = codec_array(top, "stages", CODEC_REQUIRED, 1, most);
    size_t n = json_array_size(list.json);
    size_t n_planned = 0;
    size_t faults = reader->err->n_faults;
    for (size_t i = 0; i < n; i++) {
        struct codec_node stage = codec_item(&list, i);
        n_planned += check_stage(&stage);
    }
    if (list.json == NULL || reader->err->n_faults != faults)
        return;
    if (n_planned == 0)
        codec_fault(&list, "too_few_items", "needs at least one stage that is not skipped");
    const struct codec_run_limits run_limits = {.stages = (int64_t)most};
    struct run run = {.duration_s = (double)NAN};
    codec_stages_decode(&list, &run_limits, &run);
    if (reader->err->n_faults != faults || !run.has_stages)
        return;
    request->stages = arena_array(reader->arena, n, sizeof *request->stages);
    if (request->stages == NULL) {
        (void)pv_no_memory(reader->err);
        return;
    }
    request->n_stages = n;
    for (size_t i = 0; i < n; i++)
        request->stages[i] = planned(&run.stages[i]);
}

static void
decode_source(const struct codec_node *top, size_t most, struct codec_stage_plan *request)
{
    request->application = codec_name(top, "application", CODEC_OPTIONAL);
    request->problem_size =
        codec_integer(top, "problem_size", CODEC_OPTIONAL, 1, CODEC_PROBLEM_SIZE_MAX);
    if (json_object_get(top->json, "application") == NULL) {
        decode_stages(top, most, request);
        if (request->problem_size != RUN_UNKNOWN)
            codec_fault_member(top, "problem_size", "conflict",
                               "goes with application, not with stages");
    } else if (json_object_get(top->json, "stages") != NULL) {
        codec_fault_member(top, "application", "conflict",
                           "must be left out where stages are given");
    }
}

/* --- pins --- */

static void
decode_pin(const struct codec_node *node, int64_t cores_max, struct codec_stage_plan_pin *pin)
{
    static const char *const known[] = {"id", "cores", "deadline_s", NULL};
    *pin = (struct codec_stage_plan_pin){RUN_UNKNOWN, (double)NAN, (double)NAN};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    pin->id = codec_integer(node, "id", CODEC_REQUIRED, 0, ID_MAX);
    pin->cores = codec_number(node, "cores", CODEC_NULLABLE | CODEC_ABOVE, 0, (double)cores_max);
    pin->deadline_s = codec_number(node, "deadline_s", CODEC_NULLABLE, SECONDS_MIN, SECONDS_MAX);
    if (!codec_present(node, "cores") && !codec_present(node, "deadline_s"))
        codec_fault(node, "required", "needs cores, deadline_s or both");
}

static void decode_pins(const struct codec_node *top,
                        const struct codec_stage_plan_limits *limits,
                        struct codec_stage_plan *request)
{
    struct codec_node list = codec_array(top, "pinned", CODEC_OPTIONAL, 0, limits->stages);
    size_t n = json_array_size(list.json);
    if (n == 0)
        return;
    struct arena *arena = list.reader->arena;
    struct codec_stage_plan_pin *pins = arena_array(arena, n, sizeof *pins);
    int64_t *ids = arena_array(arena, n, sizeof *ids);
    if (pins == NULL || ids == NULL) {
        (void)pv_no_memory(list.reader->err);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_pin(&item, limits->cores, &pins[i]);
        ids[i] = pins[i].id;
    }
    codec_refuse_same_ids(&list, ids, n, "this stage is pinned already");
    request->pins = pins;
    request->n_pins = n;
}

/* Stages ascend by id. NULL: there is none. */
static struct stage_plan_stage *find_stage(const struct codec_stage_plan *request, int64_t id)
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
        struct stage_plan_stage *stage = find_stage(request, pin->id);
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

void codec_stage_plan_decode(const struct codec_node *node,
                             const struct codec_stage_plan_limits *limits,
                             struct codec_stage_plan *request)
{
    static const char *const known[] = {
        "deadline_s",         "alpha",   "beta",   "overscale",   "core_quantum",
        "executors",          "stages",  "pinned", "application", "problem_size",
        "cores_per_executor", "cluster", NULL};
    *request = (struct codec_stage_plan){0};
    codec_refuse_unknown(node, known);
    decode_terms(node, limits->cores, &request->terms);
    decode_cluster(node, limits->cores, request);
    decode_source(node, limits->stages, request);
    decode_pins(node, limits, request);
    if (request->stages == NULL)
        return;
    enum pv_code code = codec_stage_plan_pin(request, node->reader->err);
    (void)code; /* kept in the reader's error, like every fault */
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
