#include "codec/deadlines/control.h"

#include <math.h>

#include "core/deadline/stage_plan.h"

#define GAIN_MAX 1e9
#define QUANTUM_MIN 1e-6
#define NOISE_MAX 2.0

/* --- jobs --- */

#define J struct codec_control_job
static const struct shape_member job_members[] = {
    CODEC_JOB_MEMBERS(J, sent.),
    {"alpha", SHAPE_NUMBER(J, alpha), .flags = CODEC_ABOVE, .high = 1},
    {"nominal_rate", SHAPE_NUMBER(J, nominal_rate), .flags = CODEC_NULLABLE, .low = CODEC_RATE_MIN,
     .high = CODEC_RATE_MAX},
};

static void check_job(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_control_job *job = object;
    codec_job_check(node, limits, &job->sent);
}

const struct shape codec_control_job_shape = {.request = "ControlJob",
                                              SHAPE_OF(job_members, J),
                                              .check = check_job,
                                              .unique = "name",
                                              .twice = "another job has this name"};

/* --- the controller --- */

#define T struct control_terms
static const struct shape_member terms_members[] = {
    {"gain", SHAPE_NUMBER(T, gain), .flags = CODEC_ABOVE | SHAPE_KEEP, .high = GAIN_MAX},
    {"integral_time_s", SHAPE_NUMBER(T, integral_time_s), .flags = SHAPE_KEEP,
     .low = CODEC_SECONDS_MIN, .high = CODEC_SECONDS_MAX},
    {"sample_s", SHAPE_NUMBER(T, sample_s), .flags = SHAPE_KEEP, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"core_quantum", SHAPE_NUMBER(T, core_quantum), .flags = SHAPE_KEEP, .low = QUANTUM_MIN,
     .high = 1},
    {"core_min", SHAPE_NUMBER(T, core_min), .flags = SHAPE_KEEP, .high = CODEC_COUNT_MAX},
};
const struct shape codec_control_terms_shape = {.request = "ControllerTerms",
                                                SHAPE_OF(terms_members, T)};

/* --- the request --- */

static void decode_cluster(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_control *request = object;
    codec_job_set_decode_cluster(top, &codec_cluster_size_shape,
                                 ((const struct codec_job_set_limits *)limits)->cores,
                                 &request->set);
}

static void decode_gammas(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_control *request = object;
    (void)limits;
    if (json_object_get(top->json, "gammas") == NULL)
        return;
    struct codec_node list = codec_array(top, "gammas", CODEC_REQUIRED, 1, CODEC_CONTROL_GAMMAS);
    request->n_gammas = 0;
    for (size_t i = 0; list.json != NULL && i < json_array_size(list.json); i++) {
        struct codec_node item = codec_item(&list, i);
        double gamma = codec_as_number(&item, CODEC_REQUIRED, 0, 1);
        for (size_t k = 0; k < i; k++)
            if (request->gammas[k] == gamma)
                codec_fault(&item, "duplicate", "this gamma was given before");
        request->gammas[request->n_gammas++] = gamma;
    }
}

static const char *const include_words[] = {"traces", NULL};

static bool needs_rate(size_t strategy)
{
    return (contention_strategies[strategy].needs & CONTENTION_NEEDS_RATE) != 0;
}

/* Which strategies; those that need rates only where all jobs have one. */
static void take_strategies(const struct codec_node *top, struct codec_control *request)
{
    struct codec_node list = codec_member(top, "jobs");
    bool all = request->strategies == 0;
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++) {
        bool known = true;
        bool wanted = all || (request->strategies & 1u << s) != 0;
        for (size_t i = 0; i < request->n_sent && wanted && needs_rate(s); i++) {
            struct codec_node job = codec_item(&list, i);
            if (codec_present(&job, "nominal_rate"))
                continue;
            known = false;
            if (!all)
                codec_fault_member(&job, "nominal_rate", "required",
                                   "is required by the strategy %s", contention_strategies[s].name);
        }
        if (wanted && known)
            request->strategies |= 1u << s;
    }
}

static void take_request(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_control *request = object;
    const struct control_terms *controller = &request->options.controller;
    request->with_traces = request->include != 0;
    request->options.seed = (uint64_t)request->seed;
    request->set.n_jobs = request->n_sent;
    request->set.sources = codec_allocate(top, request->n_sent, sizeof *request->set.sources);
    request->terms = codec_allocate(top, request->n_sent, sizeof *request->terms);
    if (request->set.sources == NULL || request->terms == NULL)
        return;
    for (size_t i = 0; i < request->n_sent; i++) {
        const struct codec_control_job *job = &request->sent[i];
        request->set.sources[i] = job->sent;
        request->terms[i] = (struct control_job){isnan(job->alpha) ? STAGE_PLAN_ALPHA : job->alpha,
                                                 job->nominal_rate};
    }
    codec_job_set_take(top, limits, &request->set);
    if (request->options.actuation_delay_s > controller->sample_s)
        codec_fault_member(top, "actuation_delay_s", "out_of_range",
                           "must not exceed the sampling time, %.15g s", controller->sample_s);
    take_strategies(top, request);
}

#define R struct codec_control
#define L struct codec_job_set_limits
enum { KEEP = SHAPE_KEEP };
static const struct shape_member members[] = {
    {"cluster", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_cluster},
    {"jobs", SHAPE_OBJECTS(R, sent, n_sent, &codec_control_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(L, jobs)},
    {"strategies", SHAPE_WORDS(R, strategies, contention_strategy_words), .least = 1},
    {"gammas", SHAPE_CODE, .decode = decode_gammas},
    {"average_nominal_rate", SHAPE_NUMBER(R, options.average_nominal_rate), .flags = KEEP,
     .low = CODEC_RATE_MIN, .high = CODEC_RATE_MAX},
    {"beta", SHAPE_NUMBER(R, options.beta), .flags = KEEP, .high = 1},
    {"overscale", SHAPE_NUMBER(R, options.overscale), .flags = KEEP, .low = 1,
     .high = CODEC_OVERSCALE_MAX},
    {"controller", SHAPE_OBJECT(R, options.controller, &codec_control_terms_shape)},
    {"actuation_delay_s", SHAPE_NUMBER(R, options.actuation_delay_s), .flags = KEEP,
     .high = CODEC_SECONDS_MAX},
    {"duration_noise", SHAPE_NUMBER(R, options.duration_noise), .flags = KEEP, .high = NOISE_MAX},
    {"seed", SHAPE_COUNT(R, seed), .flags = KEEP, .most = CODEC_SEED_MAX},
    {"include", SHAPE_WORDS(R, include, include_words)},
};
const struct shape codec_control_shape = {
    .request = "ControlSimulationRequest", SHAPE_OF(members, R), .check = take_request};

void codec_control_decode(const struct codec_node *node,
                          const struct codec_job_set_limits *limits,
                          struct codec_control *request)
{
    *request = (struct codec_control){
        .options = control_options_default(), .seed = 1, .gammas = {0, 1}, .n_gammas = 2};
    shape_decode(node, &codec_control_shape, limits, request);
}

size_t codec_control_runs(const struct codec_control *request)
{
    size_t n = 0;
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        n += (request->strategies & 1u << s) != 0 ? request->n_gammas : 0;
    return n;
}

/* --- the request, written --- */

static void encode_stage(struct writer *w, const struct edf_job *job, const struct edf_stage *stage)
{
    writer_begin_object(w);
    writer_member_integer(w, "id", stage->id);
    writer_member_array(w, "parents");
    for (size_t p = 0; p < stage->n_parents; p++)
        writer_integer(w, job->stages[stage->parents[p]].id);
    writer_end_array(w);
    if (stage->task_durations_s != NULL) {
        writer_member_numbers(w, "task_durations_s", stage->task_durations_s, stage->tasks);
    } else {
        writer_member_integer(w, "tasks", (int64_t)stage->tasks);
        writer_member_number(w, "task_duration_s", stage->task_duration_s);
    }
    writer_end_object(w);
}

static void encode_known(struct writer *w, const char *key, double value)
{
    if (!isnan(value))
        writer_member_number(w, key, value);
}

static void encode_job(struct writer *w, const struct codec_control *request, size_t i)
{
    const struct codec_job_sent *sent = &request->set.sources[i];
    writer_begin_object(w);
    writer_member_text(w, "name", sent->name);
    writer_member_number(w, "release_s", sent->release_s);
    writer_member_number(w, "deadline_s", sent->deadline_s);
    encode_known(w, "overhead_per_task_s", sent->overhead_s);
    writer_member_number(w, "alpha", request->terms[i].alpha);
    encode_known(w, "nominal_rate", request->terms[i].nominal_rate);
    if (sent->application.at != NULL) {
        writer_member_text(w, "application", sent->application);
        encode_known(w, "problem_size", sent->problem_size);
    } else {
        writer_member_array(w, "stages");
        for (size_t s = 0; s < sent->job.n_stages; s++)
            encode_stage(w, &sent->job, &sent->job.stages[s]);
        writer_end_array(w);
    }
    writer_end_object(w);
}

static void encode_controller(struct writer *w, const struct control_terms *terms)
{
    writer_member_object(w, "controller");
    writer_member_number(w, "gain", terms->gain);
    writer_member_number(w, "integral_time_s", terms->integral_time_s);
    writer_member_number(w, "sample_s", terms->sample_s);
    writer_member_number(w, "core_quantum", terms->core_quantum);
    writer_member_number(w, "core_min", terms->core_min);
    writer_end_object(w);
}

static void encode_lists(struct writer *w, const struct codec_control *request)
{
    writer_member_array(w, "strategies");
    for (size_t s = 0; s < CONTENTION_STRATEGIES; s++)
        if ((request->strategies & 1u << s) != 0)
            writer_string(w, contention_strategies[s].name);
    writer_end_array(w);
    writer_member_numbers(w, "gammas", request->gammas, request->n_gammas);
    if (request->with_traces) {
        writer_member_array(w, "include");
        writer_string(w, "traces");
        writer_end_array(w);
    }
}

void codec_control_encode(struct writer *w, const struct codec_control *request)
{
    const struct control_options *options = &request->options;
    writer_begin_object(w);
    writer_member_object(w, "cluster");
    writer_member_integer(w, "executors", request->set.size.executors);
    writer_member_integer(w, "cores_per_executor", request->set.size.cores_per_executor);
    writer_end_object(w);
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < request->set.n_jobs; i++)
        encode_job(w, request, i);
    writer_end_array(w);
    encode_lists(w, request);
    writer_member_number(w, "average_nominal_rate", options->average_nominal_rate);
    writer_member_number(w, "beta", options->beta);
    writer_member_number(w, "overscale", options->overscale);
    encode_controller(w, &options->controller);
    writer_member_number(w, "actuation_delay_s", options->actuation_delay_s);
    writer_member_number(w, "duration_noise", options->duration_noise);
    writer_member_integer(w, "seed", request->seed);
    writer_end_object(w);
}
