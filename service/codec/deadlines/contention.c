#include "codec/deadlines/contention.h"

#include <math.h>

#include "base/quantity_text.h"

/* The one of the thesis's example. It scales the weights of speed, not the cores they lead to. */
static const double AVERAGE_NOMINAL_RATE = 1e6;

#define A struct codec_contention_application
static const struct shape_member application_members[] = {
    {"name", SHAPE_NAME(A, name), .flags = CODEC_REQUIRED},
    {"requested_cores", SHAPE_NUMBER(A, numbers.requested_cores), .flags = CODEC_REQUIRED,
     .high = CODEC_COUNT_MAX},
    {"time_to_complete_s", SHAPE_NUMBER(A, numbers.time_to_complete_s), .flags = CODEC_NULLABLE,
     .low = -CODEC_SECONDS_MAX, .high = CODEC_SECONDS_MAX},
    {"nominal_rate", SHAPE_NUMBER(A, numbers.nominal_rate), .flags = CODEC_NULLABLE,
     .high = CODEC_RATE_MAX},
    {"remaining_tasks", SHAPE_COUNT(A, remaining_tasks), .flags = CODEC_NULLABLE,
     .most = CODEC_ID_MAX},
};
const struct shape codec_contention_application_shape = {.request = "ContendingApplication",
                                                         SHAPE_OF(application_members, A),
                                                         .unique = "name",
                                                         .twice =
                                                             "another application has this name"};

/* What a strategy needs must be there, and not null. */
static void require(const struct codec_node *node, bool needed, const char *key)
{
    if (needed && !codec_present(node, key))
        codec_fault_member(node, key, "required", "is required by this strategy");
}

static void take_application(const struct codec_node *node,
                             unsigned needs,
                             const struct codec_contention_application *sent,
                             struct contention_application *out)
{
    require(node, (needs & CONTENTION_NEEDS_TIME) != 0, "time_to_complete_s");
    require(node, (needs & CONTENTION_NEEDS_TASKS) != 0, "remaining_tasks");
    require(node, (needs & CONTENTION_NEEDS_RATE) != 0, "nominal_rate");
    /* An application of unknown speed has rate 0, which matters only where it is divided by. */
    if ((needs & CONTENTION_NEEDS_RATE) != 0 && sent->numbers.nominal_rate < CODEC_RATE_MIN)
        codec_fault_member(node, "nominal_rate", "out_of_range", "must be at least %s",
                           quantity_digits(CODEC_RATE_MIN, 15).text);
    *out = sent->numbers;
    out->remaining_tasks =
        sent->remaining_tasks == RUN_UNKNOWN ? (double)NAN : (double)sent->remaining_tasks;
}

/* What the strategy needs of each, and the numbers side by side. */
static void take_applications(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_contention *request = object;
    struct codec_node list = codec_member(top, "applications");
    (void)limits;
    request->strategy = &contention_strategies[request->strategy_index];
    request->names = codec_allocate(top, request->n, sizeof *request->names);
    request->applications = codec_allocate(top, request->n, sizeof *request->applications);
    for (size_t i = 0; request->names != NULL && request->applications != NULL && i < request->n;
         i++) {
        struct codec_node item = codec_item(&list, i);
        request->names[i] = request->sent[i].name;
        if (json_value_is_object(item.json))
            take_application(&item, request->strategy->needs, &request->sent[i],
                             &request->applications[i]);
    }
    if (json_value_member(top->json, "cluster") == NULL &&
        json_value_member(top->json, "max_cores") == NULL)
        codec_fault_member(top, "max_cores", "required", "is required");
}

#define R struct codec_contention
#define L struct codec_contention_limits
static void decode_cluster(const struct codec_node *top, const void *limits, void *object)
{
    codec_given_cluster_decode(top, CODEC_OPTIONAL, ((const L *)limits)->cores,
                               &((R *)object)->cluster);
}

static const struct shape_member members[] = {
    {"strategy", SHAPE_WORD(R, strategy_index, contention_strategy_words), .flags = SHAPE_KEEP},
    {"gamma", SHAPE_NUMBER(R, terms.gamma), .flags = SHAPE_KEEP, .high = 1},
    {"max_cores", SHAPE_NUMBER(R, terms.max_cores), .flags = CODEC_ABOVE, SHAPE_LIMIT(L, cores)},
    {"average_nominal_rate", SHAPE_NUMBER(R, terms.average_nominal_rate),
     .flags = CODEC_NULLABLE | SHAPE_KEEP, .low = CODEC_RATE_MIN, .high = CODEC_RATE_MAX},
    {"cluster", SHAPE_CODE, .decode = decode_cluster},
    {"applications", SHAPE_OBJECTS(R, sent, n, &codec_contention_application_shape),
     .flags = CODEC_REQUIRED, .least = 1, SHAPE_LIMIT(L, applications)},
};
const struct shape codec_contention_shape = {
    .request = "ContentionRequest", SHAPE_OF(members, R), .check = take_applications};

void codec_contention_decode(const struct codec_node *node,
                             const struct codec_contention_limits *limits,
                             struct codec_contention *request)
{
    *request = (struct codec_contention){
        .strategy_index = CONTENTION_PROPORTIONAL,
        .terms = {.gamma = 1, .average_nominal_rate = AVERAGE_NOMINAL_RATE}};
    shape_decode(node, &codec_contention_shape, limits, request);
}

void codec_contention_encode(struct writer *w,
                             const struct codec_contention *request,
                             const struct contention_share shares[],
                             const struct contention_outcome *outcome,
                             const struct findings *reasons)
{
    writer_begin_object(w);
    writer_member_boolean(w, "contention", outcome->contention);
    writer_member_number(w, "requested_cores", outcome->requested_cores);
    writer_member_array(w, "allocations");
    for (size_t i = 0; i < request->n; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", request->names[i]);
        writer_member_number(w, "weight", shares[i].weight);
        writer_member_number(w, "saturating_cores", shares[i].saturating_cores);
        writer_member_number(w, "cores", shares[i].cores);
        writer_end_object(w);
    }
    writer_end_array(w);
    codec_findings_encode(w, "reasons", reasons);
    writer_end_object(w);
}
