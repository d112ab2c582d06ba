#include "codec/deadlines/control.h"

#include <math.h>

#include "base/quantity_text.h"
#include "core/deadline/stage_plan.h"

#define GAIN_MAX 1e9
#define QUANTUM_MIN 1e-6
#define NOISE_MAX 2.0
#define WEIGHT_MAX 1e9

/* --- jobs --- */

#define J struct codec_control_job
static const struct shape_member job_members[] = {
    CODEC_JOB_MEMBERS(J, sent.),
    {"alpha", SHAPE_NUMBER(J, alpha), .flags = CODEC_ABOVE, .high = 1},
    {"nominal_rate", SHAPE_NUMBER(J, nominal_rate), .flags = CODEC_NULLABLE, .low = CODEC_RATE_MIN,
     .high = CODEC_RATE_MAX},
    {"penalty", SHAPE_WORD(J, penalty, control_penalty_words)},
    {"weight", SHAPE_NUMBER(J, weight), .flags = CODEC_ABOVE, .high = WEIGHT_MAX},
};

static void check_job(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_control_job *job = object;
    if (!codec_present(node, "penalty"))
        job->penalty = CODEC_CONTROL_NO_PENALTY;
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

/* --- the search --- */

#define S struct codec_control_search
#define L struct codec_control_limits
static const struct shape_member search_members[] = {
    {"over", SHAPE_WORDS(S, over, control_axis_words), .least = 1},
    {"simulations", SHAPE_COUNT(S, simulations), .flags = SHAPE_KEEP, .least = 1,
     SHAPE_LIMIT(L, simulations)},
};

static void check_search(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_control_search *search = object;
    (void)limits;
    if (!codec_present(node, "over"))
        search->over = (1u << CONTROL_AXES) - 1;
}

const struct shape codec_control_search_shape = {
    .request = "ControlSearch", SHAPE_OF(search_members, S), .check = check_search};

/* --- the request --- */

static void decode_cluster(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_control *request = object;
    codec_job_set_decode_cluster(top, ((const struct codec_control_limits *)limits)->set.cores,
                                 &request->set);
}

static void decode_gammas(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_control *request = object;
    (void)limits;
    if (json_value_member(top->json, "gammas") == NULL)
        return;
    struct codec_node list = codec_array(top, "gammas", CODEC_REQUIRED, 1, CODEC_CONTROL_GAMMAS);
    request->n_gammas = 0;
    for (size_t i = 0; list.json != NULL && i < json_value_items(list.json); i++) {
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

/* Which strategies. Those that need rates: where all jobs were sent with one or, asked for by name,
 * where the others come from history, which may know theirs. */
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
            if (!all && request->set.sources[i].application.at == NULL)
                codec_fault_member(&job, "nominal_rate", "required",
                                   "is required by the strategy %s", contention_strategies[s].name);
        }
        if (wanted && known) /* asked for by name, it is there already */
            request->strategies |= 1u << s;
    }
}

/* A job that has a member that only penalties give a meaning. */
static bool job_needs_penalty(const struct codec_control *request)
{
    for (size_t i = 0; i < request->n_sent; i++)
        if (request->sent[i].penalty != CODEC_CONTROL_NO_PENALTY || !isnan(request->sent[i].weight))
            return true;
    return false;
}

static void refuse_without_penalty(const struct codec_node *top,
                                   const struct codec_control *request)
{
    const char *what = NULL;
    if (request->with_search)
        what = "a search";
    else if (request->repetitions > 1)
        what = "more than one repetition";
    else if (job_needs_penalty(request))
        what = "a penalty or a weight of a job";
    if (what != NULL)
        codec_fault_member(top, "penalty", "required", "is required by %s", what);
}

static void check_repetitions(const struct codec_node *top, const struct codec_control *request)
{
    if (request->repetitions > 1 && !(request->options.duration_noise > 0))
        codec_fault_member(top, "repetitions", "out_of_range",
                           "must be 1 without duration_noise: all would be the same");
    struct codec_node search = codec_member(top, "search");
    bool known = request->search.simulations > 0;
    if (request->with_search && known && request->search.simulations < request->repetitions)
        codec_fault_member(&search, "simulations", "out_of_range",
                           "must not be less than repetitions, %lld",
                           (long long)request->repetitions);
}

static void take_penalties(const struct codec_node *top, struct codec_control *request)
{
    struct codec_node list = codec_member(top, "jobs");
    check_repetitions(top, request);
    if (!codec_present(top, "penalty")) {
        request->penalty = CODEC_CONTROL_NO_PENALTY;
        refuse_without_penalty(top, request);
        return;
    }
    request->stakes = codec_allocate(top, request->n_sent, sizeof *request->stakes);
    for (size_t i = 0; request->stakes != NULL && i < request->n_sent; i++) {
        const struct codec_control_job *job = &request->sent[i];
        struct codec_node node = codec_item(&list, i);
        unsigned penalty =
            job->penalty == CODEC_CONTROL_NO_PENALTY ? request->penalty : job->penalty;
        request->stakes[i] = (struct control_stake){(enum control_penalty)penalty,
                                                    isnan(job->weight) ? 1 : job->weight};
        if (penalty == CONTROL_SLOW_FIRST && job->sent.application.at == NULL &&
            !codec_present(&node, "nominal_rate"))
            codec_fault_member(&node, "nominal_rate", "required",
                               "is required by the penalty slow_first");
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
    codec_job_set_take(top, &((const struct codec_control_limits *)limits)->set, &request->set);
    if (request->options.actuation_delay_s > controller->sample_s)
        codec_fault_member(top, "actuation_delay_s", "out_of_range",
                           "must not exceed the sampling time, %s s",
                           quantity_digits(controller->sample_s, 15).text);
    take_strategies(top, request);
    take_penalties(top, request);
}

#define R struct codec_control
enum { KEEP = SHAPE_KEEP, SEARCH_SIMULATIONS = 200 };
static const struct shape_member members[] = {
    {"cluster", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_cluster},
    {"jobs", SHAPE_OBJECTS(R, sent, n_sent, &codec_control_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(L, set.jobs)},
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
    {"penalty", SHAPE_WORD(R, penalty, control_penalty_words)},
    {"repetitions", SHAPE_COUNT(R, repetitions), .flags = KEEP, .least = 1,
     SHAPE_LIMIT(L, repetitions)},
    {"search", SHAPE_OBJECT(R, search, &codec_control_search_shape), SHAPE_GIVEN(R, with_search)},
    {"include", SHAPE_WORDS(R, include, include_words)},
};
const struct shape codec_control_shape = {
    .request = "ControlSimulationRequest", SHAPE_OF(members, R), .check = take_request};

void codec_control_decode(const struct codec_node *node,
                          const struct codec_control_limits *limits,
                          struct codec_control *request)
{
    int64_t simulations =
        limits->simulations < SEARCH_SIMULATIONS ? limits->simulations : SEARCH_SIMULATIONS;
    *request = (struct codec_control){.options = control_options_default(),
                                      .seed = 1,
                                      .gammas = {0, 1},
                                      .n_gammas = 2,
                                      .repetitions = 1,
                                      .search = {.simulations = simulations}};
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
    if (sent->application.at != NULL && isnan(sent->overhead_s))
        writer_member_string(w, "overhead", codec_job_overhead_words[sent->overhead]);
    writer_member_number(w, "alpha", request->terms[i].alpha);
    encode_known(w, "nominal_rate", request->sent[i].nominal_rate);
    if (request->stakes != NULL) {
        writer_member_string(w, "penalty", control_penalty_words[request->stakes[i].penalty]);
        writer_member_number(w, "weight", request->stakes[i].weight);
    }
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

static void encode_penalties(struct writer *w, const struct codec_control *request)
{
    if (request->stakes == NULL)
        return;
    writer_member_string(w, "penalty", control_penalty_words[request->penalty]);
    writer_member_integer(w, "repetitions", request->repetitions);
    if (!request->with_search)
        return;
    writer_member_object(w, "search");
    writer_member_array(w, "over");
    for (size_t i = 0; i < CONTROL_AXES; i++)
        if ((request->search.over & 1u << i) != 0)
            writer_string(w, control_axis_words[i]);
    writer_end_array(w);
    writer_member_integer(w, "simulations", request->search.simulations);
    writer_end_object(w);
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
    encode_penalties(w, request);
    writer_end_object(w);
}
