#include <math.h>
#include <stdio.h>

#include "base/quantity_text.h"
#include "codec/deadlines/quota_loop.h"
#include "codec/json/names.h"

/* --- reading --- */

#define E struct quota_reading
static const struct shape_member reading_members[] = {
    {"id", SHAPE_NAME(E, id), .flags = CODEC_REQUIRED},
    {"application", SHAPE_NAME(E, application)},
    {"worker", SHAPE_NAME(E, worker)},
    {"stage", SHAPE_COUNT(E, stage), .flags = CODEC_REQUIRED, .most = CODEC_ID_MAX},
    {"tasks", SHAPE_COUNT(E, tasks), .least = 1, .most = CODEC_COUNT_MAX},
    {"completed_tasks", SHAPE_COUNT(E, completed_tasks), .flags = CODEC_REQUIRED,
     .most = CODEC_COUNT_MAX},
    {"stage_deadline_s", SHAPE_NUMBER(E, stage_deadline_s), .flags = CODEC_ABOVE,
     .high = CODEC_SECONDS_MAX},
    {"stage_started_s", SHAPE_NUMBER(E, stage_started_s), .low = -CODEC_ORIGIN_S_MAX,
     .high = CODEC_ORIGIN_S_MAX},
    {"initial_cores", SHAPE_NUMBER(E, initial_cores), .high = CODEC_COUNT_MAX},
};

static void check_reading(const struct codec_node *node, const void *limits, void *object)
{
    const struct quota_reading *reading = object;
    (void)limits;
    if (reading->tasks != RUN_UNKNOWN && reading->completed_tasks > reading->tasks)
        codec_fault_member(node, "completed_tasks", "out_of_range",
                           "must not exceed the number of tasks, %lld", (long long)reading->tasks);
}

const struct shape codec_quota_reading_shape = {.request = "QuotaReading",
                                                SHAPE_OF(reading_members, E),
                                                .check = check_reading,
                                                .unique = "id",
                                                .twice = "another executor has this id"};

#define S struct codec_quota_sample
#define L struct codec_quota_limits

static void decode_ended(const struct codec_node *top, const void *limits, void *object)
{
    const struct codec_quota_limits *most = limits;
    struct codec_quota_sample *sent = object;
    struct codec_node list;
    size_t n;
    struct strview *names =
        codec_list(top, "ended", CODEC_OPTIONAL, 0, most->applications, sizeof *names, &list, &n);
    sent->has_ended = json_value_member(top->json, "ended") != NULL;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        names[i] = codec_as_name(&item);
    }
    sent->sample.ended = names;
    sent->sample.n_ended = n;
    codec_refuse_same_items(&list, names, n, "this application was named before");
}

/* And not equal to it (docs/design.md, "Words and units"). */
static bool is_after(double a, double b)
{
    return a - b > 1e-9 * fmax(1, fmax(fabs(a), fabs(b)));
}

static void check_starts(const struct codec_node *top, const void *limits, void *object)
{
    const struct quota_sample *sample = &((struct codec_quota_sample *)object)->sample;
    struct codec_node list = codec_member(top, "executors");
    (void)limits;
    for (size_t i = 0; i < sample->n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (is_after(sample->executors[i].stage_started_s, sample->at_s))
            codec_fault_member(&item, "stage_started_s", "out_of_range",
                               "must not be after the sample, at %s s",
                               quantity_digits(sample->at_s, 15).text);
    }
}

static const struct shape_member members[] = {
    {"sequence", SHAPE_COUNT(S, sample.sequence), .flags = CODEC_REQUIRED, .most = CODEC_SEED_MAX},
    {"at_s", SHAPE_NUMBER(S, sample.at_s), .flags = CODEC_REQUIRED, .low = -CODEC_ORIGIN_S_MAX,
     .high = CODEC_ORIGIN_S_MAX},
    {"ended", SHAPE_CODE, .decode = decode_ended},
    {"executors", SHAPE_OBJECTS(S, sample.executors, sample.n, &codec_quota_reading_shape),
     .flags = CODEC_REQUIRED, SHAPE_LIMIT(L, executors)},
};
const struct shape codec_quota_sample_shape = {
    .request = "QuotaSample", SHAPE_OF(members, S), .check = check_starts};

void codec_quota_sample_decode(const struct codec_node *node,
                               const struct codec_quota_limits *limits,
                               struct codec_quota_sample *sent)
{
    *sent = (struct codec_quota_sample){.has_ended = false};
    shape_decode(node, &codec_quota_sample_shape, limits, sent);
}

/* --- what is wrong --- */

static const struct {
    const char *list;   /* whose item it is */
    const char *member; /* of the item; "": the item itself */
    const char *code;
    const char *detail;
} fault_texts[QUOTA_FAULT_KINDS] = {
    [QUOTA_FAULT_ENDED_UNKNOWN] = {"ended", "", "unknown_application",
                                   "the loop has no application of this name"},
    [QUOTA_FAULT_APPLICATION_MISSING] = {"executors", "/application", "required",
                                         "is required of an executor that is not known yet"},
    [QUOTA_FAULT_APPLICATION_UNKNOWN] = {"executors", "/application", "unknown_application",
                                         "the loop has no application of this name"},
    [QUOTA_FAULT_APPLICATION_CHANGED] = {"executors", "/application", "conflict",
                                         "this executor works for another application"},
    [QUOTA_FAULT_APPLICATION_ENDED] = {"executors", "", "out_of_range",
                                       "its application has ended"},
    [QUOTA_FAULT_WORKER_MISSING] = {"executors", "/worker", "required",
                                    "is required of an executor that is not known yet"},
    [QUOTA_FAULT_WORKER_UNKNOWN] = {"executors", "/worker", "unknown_worker",
                                    "the loop has no worker of this name"},
    [QUOTA_FAULT_WORKER_CHANGED] = {"executors", "/worker", "conflict",
                                    "this executor runs on another worker"},
    [QUOTA_FAULT_TASKS_MISSING] = {"executors", "/tasks", "required",
                                   "is required where a stage begins"},
    [QUOTA_FAULT_DEADLINE_MISSING] = {"executors", "/stage_deadline_s", "required",
                                      "is required where a stage begins"},
    [QUOTA_FAULT_COMPLETED_BEYOND] = {"executors", "/completed_tasks", "out_of_range",
                                      "must not exceed the number of the executor's tasks"},
};

enum pv_code codec_quota_refuse(const struct quota_faults *faults, struct pv_error *err)
{
    enum pv_code code = PV_E_INVALID;
    for (size_t i = 0; i < faults->n && i < PV_FAULTS_MAX; i++) {
        const struct quota_fault *fault = &faults->items[i];
        char pointer[64];
        (void)snprintf(pointer, sizeof pointer, "/%s/%zu%s", fault_texts[fault->kind].list,
                       fault->item, fault_texts[fault->kind].member);
        code = pv_fault(err, PV_PLACE_POINTER, pointer, fault_texts[fault->kind].code, "%s",
                        fault_texts[fault->kind].detail);
    }
    if (err != NULL && faults->n > err->n_faults)
        err->n_faults = faults->n;
    return code;
}

/* --- the reply --- */

static void encode_cpu_max(struct writer *w, double cores, int64_t period_us)
{
    char text[CODEC_CPU_MAX_TEXT];
    if (period_us == RUN_UNKNOWN) {
        writer_member_null(w, "cpu_max");
        return;
    }
    codec_cpu_max_format(cores, period_us, text);
    writer_member_string(w, "cpu_max", text);
}

static void
encode_grants(struct writer *w, const struct quota_loop *loop, const struct quota_outcome *outcome)
{
    writer_member_array(w, "grants");
    for (size_t i = 0; i < loop->n_executors; i++) {
        const struct quota_executor *executor = &outcome->executors[i];
        const struct quota_grant *grant = &outcome->grants[i];
        writer_begin_object(w);
        writer_member_text(w, "id", executor->id);
        writer_member_number(w, "cores", executor->cores);
        writer_member_number(w, "requested_cores", grant->requested_cores);
        writer_member_number(w, "set_point", executor->set_point);
        writer_member_number(w, "progress", grant->progress);
        writer_member_number(w, "integral_cores", executor->integral_cores);
        writer_member_number(w, "time_to_complete_s", grant->time_to_complete_s);
        encode_cpu_max(w, executor->cores, loop->settings.period_us);
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_quota_outcome_encode(struct writer *w,
                                const struct quota_loop *loop,
                                const struct quota_outcome *outcome,
                                const struct findings *warnings)
{
    writer_begin_object(w);
    writer_member_integer(w, "sequence", loop->sequence);
    writer_member_number(w, "at_s", loop->at_s);
    writer_member_number(w, "next_sample_s", loop->settings.controller.sample_s);
    encode_grants(w, loop, outcome);
    writer_member_array(w, "workers");
    for (size_t i = 0; i < loop->settings.n_workers; i++) {
        const struct quota_worker_grant *worker = &outcome->workers[i];
        writer_begin_object(w);
        writer_member_text(w, "name", loop->settings.workers[i].name);
        writer_member_boolean(w, "contention", worker->contention);
        writer_member_number(w, "requested_cores", worker->requested_cores);
        writer_member_number(w, "granted_cores", worker->granted_cores);
        writer_end_object(w);
    }
    writer_end_array(w);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}
