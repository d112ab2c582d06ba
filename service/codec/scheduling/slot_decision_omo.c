#include <math.h>

#include "codec/scheduling/slot_decision.h"

enum { WINDOWS_MAX = 1000 };

static const char *const techniques[] = {"lazy_start", "batch_finish", NULL};
enum { LAZY_START = 1, BATCH_FINISH = 2 };

/* --- jobs --- */

static void check_job(const struct codec_node *node, const void *limits, void *object)
{
    static const char *const maps[] = {"maps_finished", "maps_running"};
    static const char *const reduces[] = {"reduces_finished", "reduces_running"};
    const struct omo_job *job = &((struct codec_omo_job *)object)->job;
    (void)limits;
    codec_slot_decision_check_tasks(node, maps, job->maps, job->maps_finished, job->maps_running);
    codec_slot_decision_check_tasks(node, reduces, job->reduces, job->reduces_finished,
                                    job->reduces_running);
}

#define J struct codec_omo_job
static const struct shape_member job_members[] = {
    {"name", SHAPE_NAME(J, name), .flags = CODEC_REQUIRED},
    {"maps", SHAPE_SIZE(J, job.maps), .flags = CODEC_REQUIRED, .most = CODEC_COUNT_MAX},
    {"maps_finished", SHAPE_SIZE(J, job.maps_finished), .flags = CODEC_REQUIRED,
     .most = CODEC_COUNT_MAX},
    {"maps_running", SHAPE_SIZE(J, job.maps_running), .flags = CODEC_REQUIRED,
     .most = CODEC_COUNT_MAX},
    {"map_task_s", SHAPE_NUMBER(J, job.map_task_s), .flags = CODEC_REQUIRED, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"reduces", SHAPE_SIZE(J, job.reduces), .flags = CODEC_REQUIRED, .most = CODEC_COUNT_MAX},
    {"reduces_finished", SHAPE_SIZE(J, job.reduces_finished), .flags = CODEC_REQUIRED,
     .most = CODEC_COUNT_MAX},
    {"reduces_running", SHAPE_SIZE(J, job.reduces_running), .flags = CODEC_REQUIRED,
     .most = CODEC_COUNT_MAX},
    {"shuffle_s", SHAPE_NUMBER(J, job.shuffle_s), .low = 0, .high = CODEC_SECONDS_MAX},
    {"map_output_bytes", SHAPE_COUNT(J, map_output_bytes), .most = CODEC_SEED_MAX},
};
const struct shape codec_omo_job_shape = {.request = "OmoJob",
                                          SHAPE_OF(job_members, J),
                                          .check = check_job,
                                          .unique = "name",
                                          .twice = "another job has this name"};

/* --- rates --- */

#define W struct codec_omo_window
static const struct shape_member window_members[] = {
    {"released", SHAPE_COUNT(W, released), .flags = CODEC_REQUIRED, .most = CODEC_COUNT_MAX},
    {"available_slots", SHAPE_NUMBER(W, available_slots), .flags = CODEC_REQUIRED, .low = 0,
     .high = (double)CODEC_COUNT_MAX},
};
const struct shape codec_omo_window_shape = {.request = "OmoWindow", SHAPE_OF(window_members, W)};

#define P struct omo_rates
static const struct shape_member rates_members[] = {
    {"release_frequency_per_s", SHAPE_NUMBER(P, release_frequency_per_s), .flags = CODEC_REQUIRED,
     .low = 0, .high = CODEC_RATE_MAX},
    {"available_slots", SHAPE_NUMBER(P, available_slots), .flags = CODEC_REQUIRED, .low = 0,
     .high = (double)CODEC_COUNT_MAX},
};
const struct shape codec_omo_rates_shape = {.request = "OmoRates", SHAPE_OF(rates_members, P)};

/* --- the state --- */

/* How long the shuffle of a job with reduces takes: as was sent, or by its bytes. */
static void take_shuffle(const struct codec_node *node,
                         const struct codec_omo_state *state,
                         struct codec_omo_job *sent)
{
    struct omo_job *job = &sent->job;
    bool bytes = sent->map_output_bytes != RUN_UNKNOWN;
    if (job->reduces == 0 || job->reduces == SIZE_MAX || job->maps == SIZE_MAX)
        return;
    if (codec_present(node, "shuffle_s")) {
        if (codec_present(node, "map_output_bytes"))
            codec_fault_member(
                node, "map_output_bytes", "conflict",
                "must not be given together with shuffle_s, the duration of the shuffle");
    } else if (!bytes || isnan(state->bandwidth_bytes_per_s))
        codec_fault_member(node, "shuffle_s", "required",
                           "is required of a job with reduces, or map_output_bytes and "
                           "bandwidth_bytes_per_s of the request");
    else
        job->shuffle_s = omo_shuffle_s((double)sent->map_output_bytes, job->maps, job->reduces,
                                       state->bandwidth_bytes_per_s);
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_omo_state *state = object;
    struct codec_node list = codec_member(node, "jobs");
    (void)limits;
    state->taken.recorded = codec_present(node, "taken");
    if (state->n_windows == 0 && !codec_present(node, "previous"))
        codec_fault_member(node, "windows", "required",
                           "is required, or previous: how often do slots come free?");
    for (size_t i = 0; i < state->n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (json_value_is_object(item.json))
            take_shuffle(&item, state, &state->jobs[i]);
    }
    state->terms.lazy_start = (state->techniques & LAZY_START) != 0;
    state->terms.batch_finish = (state->techniques & BATCH_FINISH) != 0;
}

static void encode_kind(struct writer *w, const void *object, const void *context)
{
    (void)object;
    (void)context;
    writer_member_string(w, "kind", codec_slot_decision_kinds[SLOT_DECISION_OMO]);
}

#define S struct codec_omo_state
static const struct shape_member members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED, .encode = encode_kind},
    {"ema_weight", SHAPE_NUMBER(S, ema_weight), .flags = SHAPE_KEEP | CODEC_ABOVE, .low = 0,
     .high = 1},
    {"window_s", SHAPE_NUMBER(S, window_s), .flags = SHAPE_KEEP, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"previous", SHAPE_OBJECT(S, previous, &codec_omo_rates_shape)},
    {"windows", SHAPE_OBJECTS(S, windows, n_windows, &codec_omo_window_shape), .most = WINDOWS_MAX},
    {"techniques", SHAPE_WORDS(S, techniques, techniques), .flags = SHAPE_KEEP},
    {"slow_start", SHAPE_NUMBER(S, terms.slow_start), .flags = SHAPE_KEEP, .low = 0, .high = 1},
    {"bandwidth_bytes_per_s", SHAPE_NUMBER(S, bandwidth_bytes_per_s), .low = CODEC_RATE_MIN,
     .high = CODEC_RATE_MAX},
    {"jobs", SHAPE_OBJECTS(S, jobs, n, &codec_omo_job_shape), .flags = CODEC_REQUIRED,
     SHAPE_LIMIT(struct codec_slot_decision_limits, jobs)},
    {"taken", SHAPE_OBJECT(S, taken, &codec_slot_taken_shape), .flags = CODEC_NULLABLE},
};
const struct shape codec_omo_state_shape = {
    .request = "OmoState", SHAPE_OF(members, S), .check = check};

void codec_omo_state_decode(const struct codec_node *node,
                            const struct codec_slot_decision_limits *limits,
                            struct codec_omo_state *state)
{
    *state = (struct codec_omo_state){
        .terms = {.slow_start = SLOTS_SLOW_START},
        .techniques = LAZY_START | BATCH_FINISH,
        .ema_weight = OMO_EMA_WEIGHT,
        .window_s = OMO_WINDOW_S,
        .previous = {(double)NAN, (double)NAN},
    };
    shape_decode(node, &codec_omo_state_shape, limits, state);
}
