#include "codec/deadlines/quota_loop.h"

#include <math.h>
#include <stdio.h>

#include "codec/deadlines/control.h"
#include "core/deadline/stage_plan.h"

/* Scales the weights of speed, not the cores they lead to. */
#define AVERAGE_NOMINAL_RATE 1e6
#define PERIOD_DEFAULT_US 100000 /* what cgroup v2 has where nobody says anything */

/* --- reading --- */

#define W struct quota_worker
static const struct shape_member worker_members[] = {
    {"name", SHAPE_NAME(W, name), .flags = CODEC_REQUIRED},
    {"cores", SHAPE_NUMBER(W, cores), .flags = CODEC_REQUIRED | CODEC_ABOVE,
     .high = CODEC_COUNT_MAX},
};
const struct shape codec_quota_worker_shape = {.request = "QuotaWorker",
                                               SHAPE_OF(worker_members, W),
                                               .unique = "name",
                                               .twice = "another worker has this name"};

#define A struct quota_application
static const struct shape_member application_members[] = {
    {"name", SHAPE_NAME(A, name), .flags = CODEC_REQUIRED},
    {"release_s", SHAPE_NUMBER(A, release_s), .flags = CODEC_REQUIRED, .low = -CODEC_ORIGIN_S_MAX,
     .high = CODEC_ORIGIN_S_MAX},
    {"deadline_s", SHAPE_NUMBER(A, deadline_s), .flags = CODEC_REQUIRED | CODEC_ABOVE,
     .high = CODEC_SECONDS_MAX},
    {"alpha", SHAPE_NUMBER(A, alpha), .flags = CODEC_ABOVE, .high = 1},
    {"nominal_rate", SHAPE_NUMBER(A, nominal_rate), .flags = CODEC_NULLABLE, .low = CODEC_RATE_MIN,
     .high = CODEC_RATE_MAX},
};

static void take_application(const struct codec_node *node, const void *limits, void *object)
{
    struct quota_application *application = object;
    (void)node;
    (void)limits;
    if (isnan(application->alpha))
        application->alpha = STAGE_PLAN_ALPHA;
}

const struct shape codec_quota_application_shape = {.request = "QuotaApplication",
                                                    SHAPE_OF(application_members, A),
                                                    .check = take_application,
                                                    .unique = "name",
                                                    .twice = "another application has this name"};

#define C struct codec_quota_cgroup
static const struct shape_member cgroup_members[] = {
    {"period_us", SHAPE_COUNT(C, period_us), .flags = SHAPE_KEEP, .least = 1000, .most = 1000000},
};
const struct shape codec_quota_cgroup_shape = {.request = "QuotaCgroup",
                                               SHAPE_OF(cgroup_members, C)};

static void take_settings(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_quota_loop *sent = object;
    struct quota_settings *settings = &sent->settings;
    struct codec_node list = codec_member(top, "applications");
    (void)limits;
    settings->period_us =
        sent->has_cgroup && codec_present(top, "cgroup") ? sent->cgroup.period_us : RUN_UNKNOWN;
    if ((contention_strategies[settings->strategy].needs & CONTENTION_NEEDS_RATE) == 0)
        return;
    for (size_t i = 0; i < settings->n_applications; i++) {
        struct codec_node item = codec_item(&list, i);
        if (json_value_is_object(item.json) && !codec_present(&item, "nominal_rate"))
            codec_fault_member(&item, "nominal_rate", "required", "is required by this strategy");
    }
}

#define R struct codec_quota_loop
#define L struct codec_quota_limits
static const struct shape_member members[] = {
    {"strategy", SHAPE_WORD(R, settings.strategy, contention_strategy_words), .flags = SHAPE_KEEP},
    {"gamma", SHAPE_NUMBER(R, settings.gamma), .flags = SHAPE_KEEP, .high = 1},
    {"average_nominal_rate", SHAPE_NUMBER(R, settings.average_nominal_rate), .flags = SHAPE_KEEP,
     .low = CODEC_RATE_MIN, .high = CODEC_RATE_MAX},
    {"workers", SHAPE_OBJECTS(R, settings.workers, settings.n_workers, &codec_quota_worker_shape),
     .flags = CODEC_REQUIRED, .least = 1, SHAPE_LIMIT(L, workers)},
    {"applications",
     SHAPE_OBJECTS(
         R, settings.applications, settings.n_applications, &codec_quota_application_shape),
     .flags = CODEC_REQUIRED, SHAPE_LIMIT(L, applications)},
    {"controller", SHAPE_OBJECT(R, settings.controller, &codec_control_terms_shape)},
    {"cgroup", SHAPE_OBJECT(R, cgroup, &codec_quota_cgroup_shape), .flags = CODEC_NULLABLE,
     SHAPE_GIVEN(R, has_cgroup)},
};
const struct shape codec_quota_loop_shape = {
    .request = "QuotaLoopPut", SHAPE_OF(members, R), .check = take_settings};

void codec_quota_loop_decode(const struct codec_node *node,
                             const struct codec_quota_limits *limits,
                             struct codec_quota_loop *sent)
{
    *sent = (struct codec_quota_loop){.settings = {.strategy = CONTENTION_PROPORTIONAL,
                                                   .gamma = 1,
                                                   .average_nominal_rate = AVERAGE_NOMINAL_RATE,
                                                   .controller = control_terms_default()},
                                      .cgroup = {.period_us = PERIOD_DEFAULT_US}};
    shape_decode(node, &codec_quota_loop_shape, limits, sent);
}

/* --- writing --- */

static void encode_workers(struct writer *w, const struct quota_settings *settings)
{
    writer_member_array(w, "workers");
    for (size_t i = 0; i < settings->n_workers; i++)
        shape_encode(w, &codec_quota_worker_shape, &settings->workers[i], 0, NULL);
    writer_end_array(w);
}

static void encode_applications(struct writer *w, const struct quota_settings *settings)
{
    writer_member_array(w, "applications");
    for (size_t i = 0; i < settings->n_applications; i++)
        shape_encode(w, &codec_quota_application_shape, &settings->applications[i], 0, NULL);
    writer_end_array(w);
    writer_member_array(w, "ended");
    for (size_t i = 0; i < settings->n_applications; i++)
        if (settings->applications[i].ended)
            writer_text(w, settings->applications[i].name);
    writer_end_array(w);
}

static void encode_cgroup(struct writer *w, const struct quota_settings *settings)
{
    const struct codec_quota_cgroup cgroup = {settings->period_us};
    if (settings->period_us == RUN_UNKNOWN) {
        writer_member_null(w, "cgroup");
        return;
    }
    writer_key(w, "cgroup");
    shape_encode(w, &codec_quota_cgroup_shape, &cgroup, 0, NULL);
}

void codec_cpu_max_format(double cores, int64_t period_us, char text[CODEC_CPU_MAX_TEXT])
{
    (void)snprintf(text, CODEC_CPU_MAX_TEXT, "%.0f %lld", quota_cgroup_us(cores, period_us),
                   (long long)period_us);
}

static void encode_cpu_max(struct writer *w, double cores, int64_t period_us)
{
    char text[CODEC_CPU_MAX_TEXT];
    if (period_us == RUN_UNKNOWN)
        return;
    codec_cpu_max_format(cores, period_us, text);
    writer_member_string(w, "cpu_max", text);
}

static void encode_executors(struct writer *w, const struct quota_loop *loop)
{
    writer_member_array(w, "executors");
    for (size_t i = 0; i < loop->n_executors; i++) {
        const struct quota_executor *executor = &loop->executors[i];
        writer_begin_object(w);
        writer_member_text(w, "id", executor->id);
        writer_member_text(w, "application",
                           loop->settings.applications[executor->application].name);
        writer_member_text(w, "worker", loop->settings.workers[executor->worker].name);
        writer_member_integer(w, "stage", executor->stage);
        writer_member_integer(w, "tasks", executor->tasks);
        writer_member_integer(w, "completed_tasks", executor->completed_tasks);
        writer_member_number(w, "stage_started_s", executor->stage_started_s);
        writer_member_number(w, "stage_deadline_s", executor->stage_deadline_s);
        writer_member_number(w, "set_point", executor->set_point);
        writer_member_number(w, "integral_cores", executor->integral_cores);
        writer_member_number(w, "cores", executor->cores);
        encode_cpu_max(w, executor->cores, loop->settings.period_us);
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_quota_loop_encode(struct writer *w,
                             struct strview name,
                             const struct quota_loop *loop,
                             const struct findings *warnings)
{
    const struct quota_settings *settings = &loop->settings;
    writer_begin_object(w);
    writer_member_text(w, "name", name);
    writer_member_string(w, "strategy", contention_strategy_words[settings->strategy]);
    writer_member_number(w, "gamma", settings->gamma);
    writer_member_number(w, "average_nominal_rate", settings->average_nominal_rate);
    encode_workers(w, settings);
    encode_applications(w, settings);
    writer_key(w, "controller");
    shape_encode(w, &codec_control_terms_shape, &settings->controller, 0, NULL);
    encode_cgroup(w, settings);
    writer_member_count(w, "sequence", loop->sequence);
    writer_member_number(w, "at_s", loop->at_s);
    encode_executors(w, loop);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}
