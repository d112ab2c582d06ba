#include <math.h>

#include "codec/scheduling/slot_decision.h"

static const char *const phases[] = {
    [FRESH_MAP] = "map", [FRESH_PENDING] = "pending", [FRESH_REDUCE] = "reduce", NULL};

/* --- jobs --- */

static void
check_duration(const struct codec_node *node, const char *member, size_t tasks, double task_s)
{
    if (tasks != SIZE_MAX && tasks > 0 && task_s < CODEC_SECONDS_MIN)
        codec_fault_member(node, member, "out_of_range",
                           "must be at least 1e-9, since there are such tasks");
}

static void
check_none(const struct codec_node *node, const char *member, size_t tasks, const char *phase)
{
    if (tasks != SIZE_MAX && tasks > 0)
        codec_fault_member(node, member, "out_of_range", "must be 0 in the phase \"%s\"", phase);
}

/* A phase that was not sent, or is at fault, has no rules. */
static void check_phase(const struct codec_node *node, const struct fresh_job *job)
{
    bool reducing =
        job->phase != FRESH_REDUCE && (job->reduces_finished | job->reduces_running) > 0;
    bool mapping =
        job->phase != FRESH_MAP && job->maps_finished < job->maps && job->maps != SIZE_MAX;
    if (!reducing && !mapping)
        return;
    struct codec_node sent = codec_member(node, "phase");
    if (!json_value_is_text(sent.json))
        return;
    const char *phase = phases[job->phase];
    if (reducing) {
        check_none(node, "reduces_finished", job->reduces_finished, phase);
        check_none(node, "reduces_running", job->reduces_running, phase);
    }
    if (mapping)
        codec_fault_member(node, "maps_finished", "out_of_range",
                           "must be all %zu in the phase \"%s\"", job->maps, phase);
}

static void check_job(const struct codec_node *node, const void *limits, void *object)
{
    static const char *const maps[] = {"maps_finished", "maps_running"};
    static const char *const reduces[] = {"reduces_finished", "reduces_running"};
    const struct fresh_job *job = &((struct codec_fresh_job *)object)->job;
    (void)limits;
    codec_slot_decision_check_tasks(node, maps, job->maps, job->maps_finished, job->maps_running);
    codec_slot_decision_check_tasks(node, reduces, job->reduces, job->reduces_finished,
                                    job->reduces_running);
    check_duration(node, "map_task_s", job->maps, job->map_task_s);
    check_duration(node, "reduce_task_s", job->reduces, job->reduce_task_s);
    check_phase(node, job);
}

#define J struct codec_fresh_job
static const struct shape_member job_members[] = {
    {"name", SHAPE_NAME(J, name), .flags = CODEC_REQUIRED},
    {"phase", SHAPE_WORD(J, job.phase, phases), .flags = CODEC_REQUIRED},
    {"started_s", SHAPE_NUMBER(J, job.started_s), .flags = CODEC_REQUIRED,
     .low = -CODEC_ORIGIN_S_MAX, .high = CODEC_ORIGIN_S_MAX},
    {"maps", SHAPE_SIZE(J, job.maps), .flags = CODEC_REQUIRED, .least = 1, .most = CODEC_COUNT_MAX},
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
    {"reduce_task_s", SHAPE_NUMBER(J, job.reduce_task_s), .flags = CODEC_REQUIRED, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"task_time_s", SHAPE_NUMBER(J, job.task_time_s), .flags = CODEC_REQUIRED, .low = 0,
     .high = CODEC_SECONDS_SUM_MAX},
};
const struct shape codec_fresh_job_shape = {.request = "FreshJob",
                                            SHAPE_OF(job_members, J),
                                            .check = check_job,
                                            .unique = "name",
                                            .twice = "another job has this name"};

#define N struct codec_next_job
static const struct shape_member next_members[] = {
    {"name", SHAPE_NAME(N, name), .flags = CODEC_REQUIRED},
    {"maps", SHAPE_SIZE(N, maps), .flags = CODEC_REQUIRED, .least = 1, .most = CODEC_COUNT_MAX},
    {"map_task_s", SHAPE_NUMBER(N, map_task_s), .flags = CODEC_REQUIRED, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
};
const struct shape codec_next_job_shape = {.request = "NextJob", SHAPE_OF(next_members, N)};

/* --- the state --- */

static void check_slots(const struct codec_node *node, struct codec_fresh_state *state)
{
    if (state->slots.map_slots == SIZE_MAX || state->reduce_slots == SIZE_MAX)
        return;
    size_t others = state->slots.map_slots + state->reduce_slots;
    if (!codec_present(node, "total_slots"))
        state->slots.total_slots = others + 1;
    else if (state->slots.total_slots <= others)
        codec_fault_member(node, "total_slots", "out_of_range",
                           "must be more than the %zu that map_slots and reduce_slots make: one "
                           "is free",
                           others);
}

static void check_starts(const struct codec_node *node, const struct codec_fresh_state *state)
{
    struct codec_node list = codec_member(node, "jobs");
    for (size_t i = 0; i < state->n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (state->jobs[i].job.started_s > state->now_s)
            codec_fault_member(&item, "started_s", "out_of_range", "is later than now_s");
    }
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_fresh_state *state = object;
    (void)limits;
    state->taken.recorded = codec_present(node, "taken");
    check_slots(node, state);
    check_starts(node, state);
    if (state->next.name.at != NULL)
        state->slots.next_map_work_s = (double)state->next.maps * state->next.map_task_s;
}

static void encode_kind(struct writer *w, const void *object, const void *context)
{
    (void)object;
    (void)context;
    writer_member_string(w, "kind", codec_slot_decision_kinds[SLOT_DECISION_FRESH]);
}

#define S struct codec_fresh_state
static const struct shape_member members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED, .encode = encode_kind},
    {"now_s", SHAPE_NUMBER(S, now_s), .flags = CODEC_REQUIRED, .low = -CODEC_ORIGIN_S_MAX,
     .high = CODEC_ORIGIN_S_MAX},
    {"map_slots", SHAPE_SIZE(S, slots.map_slots), .flags = CODEC_REQUIRED, .most = CODEC_COUNT_MAX},
    {"reduce_slots", SHAPE_SIZE(S, reduce_slots), .flags = CODEC_REQUIRED, .most = CODEC_COUNT_MAX},
    {"total_slots", SHAPE_SIZE(S, slots.total_slots), .least = 1, .most = CODEC_COUNT_MAX},
    {"concurrency", SHAPE_SIZE(S, terms.concurrency), .flags = CODEC_REQUIRED, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"tau1", SHAPE_NUMBER(S, terms.tau1), .flags = SHAPE_KEEP, .low = 0, .high = 1},
    {"tau2", SHAPE_NUMBER(S, terms.tau2), .flags = SHAPE_KEEP, .low = 0},
    {"reduce_interval_s", SHAPE_NUMBER(S, slots.reduce_interval_s), .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"jobs", SHAPE_OBJECTS(S, jobs, n, &codec_fresh_job_shape), .flags = CODEC_REQUIRED,
     SHAPE_LIMIT(struct codec_slot_decision_limits, jobs)},
    {"next_job", SHAPE_OBJECT(S, next, &codec_next_job_shape)},
    {"taken", SHAPE_OBJECT(S, taken, &codec_slot_taken_shape), .flags = CODEC_NULLABLE},
};
const struct shape codec_fresh_state_shape = {
    .request = "FreshState", SHAPE_OF(members, S), .check = check};

void codec_fresh_state_decode(const struct codec_node *node,
                              const struct codec_slot_decision_limits *limits,
                              struct codec_fresh_state *state)
{
    *state = (struct codec_fresh_state){.terms = {.tau1 = FRESH_TAU1, .tau2 = FRESH_TAU2}};
    shape_decode(node, &codec_fresh_state_shape, limits, state);
}
