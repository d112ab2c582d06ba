#include "codec/scheduling/pigeon_plan.h"

#include "base/quantity_text.h"
#include "codec/json/counts.h"

enum { WORKERS_MAX = 10000000, FANOUT_MAX = 1000000, GROUP_SIZES_MAX = 100 };

static const int64_t default_sizes[] = {25, 50, 75, 100, 150, 200};
enum { DEFAULT_SIZES = sizeof default_sizes / sizeof *default_sizes };

static void decode_load(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_pigeon_plan *request = object;
    (void)limits;
    request->terms.load = codec_number(node, "load", CODEC_ABOVE, 0, 1);
    if (request->terms.load == 1)
        codec_fault_member(node, "load", "out_of_range",
                           "must be less than 1: a full cluster has no steady state");
}

static void decode_group_sizes(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_pigeon_plan *request = object;
    (void)limits;
    request->group_sizes =
        codec_distinct_counts(node, "group_sizes", GROUP_SIZES_MAX, CODEC_COUNT_MAX, &request->n);
}

static void drop_larger(struct codec_pigeon_plan *request)
{
    size_t kept = 0;
    for (size_t i = 0; i < request->n; i++)
        if (request->group_sizes[i] <= request->terms.workers)
            request->group_sizes[kept++] = request->group_sizes[i];
    request->n = kept;
}

/* The default sizes; workers, where they are fewer than the smallest of these. */
static void take_default_sizes(const struct codec_node *node, struct codec_pigeon_plan *request)
{
    request->group_sizes = codec_allocate(node, DEFAULT_SIZES, sizeof *request->group_sizes);
    if (request->group_sizes == NULL)
        return;
    for (request->n = 0; request->n < DEFAULT_SIZES; request->n++)
        request->group_sizes[request->n] = default_sizes[request->n];
    drop_larger(request);
    if (request->n == 0)
        request->group_sizes[request->n++] = request->terms.workers;
}

static void take_load(const struct codec_node *node, struct codec_pigeon_plan *request)
{
    struct pigeon_terms *terms = &request->terms;
    bool rate = codec_present(node, "jobs_per_s");
    if (rate == codec_present(node, "load")) {
        codec_fault_member(node, "load", rate ? "conflict" : "required", "%s",
                           rate ? "must not be given together with jobs_per_s, which gives the load"
                                : "is required, or jobs_per_s");
        return;
    }
    if (!rate)
        return;
    terms->load =
        request->jobs_per_s * (double)terms->fanout * terms->task_s / (double)terms->workers;
    if (!(terms->load > 0))
        codec_fault_member(node, "jobs_per_s", "out_of_range",
                           "makes the load 0: it must be larger");
    if (terms->load >= 1)
        codec_fault_member(node, "jobs_per_s", "out_of_range",
                           "makes the load %s, and only below 1 is there a steady state",
                           quantity_digits(terms->load, 6).text);
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_pigeon_plan *request = object;
    (void)limits;
    request->terms.equal_durations = request->durations == 0;
    take_load(node, request);
    if (!codec_present(node, "group_sizes")) {
        take_default_sizes(node, request);
        return;
    }
    drop_larger(request);
    if (request->n == 0 && request->group_sizes != NULL)
        codec_fault_member(node, "group_sizes", "out_of_range",
                           "has only sizes above the number of workers");
}

static const char *const durations[] = {"equal", "exponential", NULL};

#define R struct codec_pigeon_plan
static const struct shape_member members[] = {
    {"workers", SHAPE_COUNT(R, terms.workers), .flags = CODEC_REQUIRED, .least = 1,
     .most = WORKERS_MAX},
    {"load", SHAPE_CODE, .decode = decode_load},
    {"jobs_per_s", SHAPE_NUMBER(R, jobs_per_s), .flags = CODEC_ABOVE, .low = 0,
     .high = CODEC_RATE_MAX},
    {"fanout", SHAPE_COUNT(R, terms.fanout), .flags = CODEC_REQUIRED, .least = 1,
     .most = FANOUT_MAX},
    {"task_s", SHAPE_NUMBER(R, terms.task_s), .flags = CODEC_REQUIRED, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"group_sizes", SHAPE_CODE, .decode = decode_group_sizes},
    {"reserved_share", SHAPE_NUMBER(R, terms.reserved_share), .flags = SHAPE_KEEP, .high = 0.5},
    {"durations", SHAPE_WORD(R, durations, durations), .flags = SHAPE_KEEP},
    {"target_probability", SHAPE_NUMBER(R, terms.target_probability),
     .flags = SHAPE_KEEP | CODEC_ABOVE, .low = 0, .high = 1},
};
const struct shape codec_pigeon_plan_shape = {
    .request = "PigeonPlanRequest", SHAPE_OF(members, R), .check = check};

void codec_pigeon_plan_decode(const struct codec_node *node, struct codec_pigeon_plan *request)
{
    *request = (struct codec_pigeon_plan){
        .terms = {.reserved_share = 0.05, .target_probability = 0.9}, .durations = 1};
    shape_decode(node, &codec_pigeon_plan_shape, NULL, request);
}

static void encode_recommended(struct writer *w,
                               const struct codec_pigeon_plan *request,
                               const struct pigeon_candidate *candidate,
                               bool meets)
{
    writer_member_object(w, "recommended");
    writer_member_integer(w, "group_size", candidate->group_size);
    writer_member_integer(w, "groups", candidate->groups);
    writer_member_integer(w, "reserved_workers", candidate->reserved_workers);
    writer_member_integer(w, "weight", PIGEON_WEIGHT);
    writer_member_string(w, "reason", meets ? "meets_target" : "best_available");
    writer_member_number(w, "probability", pigeon_probability(&request->terms, candidate));
    writer_end_object(w);
}

static void encode_candidate(struct writer *w,
                             const struct pigeon_terms *terms,
                             const struct pigeon_candidate *candidate)
{
    writer_begin_object(w);
    writer_member_integer(w, "group_size", candidate->group_size);
    writer_member_integer(w, "groups", candidate->groups);
    writer_member_integer(w, "leftover_workers", candidate->leftover_workers);
    writer_member_integer(w, "reserved_workers", candidate->reserved_workers);
    writer_member_number(w, "task_zero_queuing_probability", candidate->task_zero_queuing);
    writer_member_number(w, "queuing_s", candidate->queuing_s);
    writer_member_number(w, "queuing_over_task", candidate->queuing_s / terms->task_s);
    writer_member_number(w, "job_zero_queuing_equal", candidate->job_equal);
    writer_member_number(w, "job_zero_queuing_exponential", candidate->job_exponential);
    writer_member_number(w, "master_tasks_per_s", candidate->master_tasks_per_s);
    writer_member_boolean(w, "within_model", candidate->within_model);
    writer_end_object(w);
}

void codec_pigeon_plan_encode(struct writer *w,
                              const struct codec_pigeon_plan *request,
                              const struct pigeon_candidate candidates[],
                              size_t recommended,
                              bool meets,
                              const struct findings *warnings)
{
    writer_begin_object(w);
    writer_member_number(w, "load", request->terms.load);
    encode_recommended(w, request, &candidates[recommended], meets);
    writer_member_number(w, "sparrow_job_zero_queuing_equal",
                         sparrow_zero_queuing(request->terms.fanout, request->terms.load));
    writer_member_array(w, "candidates");
    for (size_t i = 0; i < request->n; i++)
        encode_candidate(w, &request->terms, &candidates[i]);
    writer_end_array(w);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}
