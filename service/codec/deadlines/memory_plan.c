#include "codec/deadlines/memory_plan.h"

enum { OPTIONS_MAX = 100 };

/* What every number of JSON holds exactly. */
#define SIZE_BYTES_MAX INT64_C(9007199254740991)

#define A struct codec_memory_application
static const struct shape_member application_members[] = {
    {"name", SHAPE_NAME(A, name), .flags = CODEC_REQUIRED},
    {"heap_bytes", SHAPE_COUNT(A, numbers.heap_bytes), .flags = CODEC_REQUIRED, .least = 1,
     .most = SIZE_BYTES_MAX},
    {"off_heap", SHAPE_BOOLEAN(A, numbers.off_heap), .flags = SHAPE_TRUE},
    {"deadline_s", SHAPE_NUMBER(A, numbers.deadline_s), .flags = CODEC_NULLABLE,
     .low = -CODEC_SECONDS_MAX, .high = CODEC_SECONDS_MAX},
};
const struct shape codec_memory_application_shape = {.request = "MemoryPlanApplication",
                                                     SHAPE_OF(application_members, A),
                                                     .unique = "name",
                                                     .twice = "another application has this name"};

#define N struct codec_memory_newcomer
static const struct shape_member newcomer_members[] = {
    {"heap_bytes", SHAPE_COUNT(N, heap_bytes), .flags = CODEC_REQUIRED, .least = 1,
     .most = SIZE_BYTES_MAX},
    {"off_heap", SHAPE_BOOLEAN(N, off_heap), .flags = SHAPE_TRUE},
};
const struct shape codec_memory_newcomer_shape = {.request = "MemoryPlanNewcomer",
                                                  SHAPE_OF(newcomer_members, N)};

static void decode_options(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_memory_plan *request = object;
    struct codec_node list;
    (void)limits;
    request->options = codec_list(node, "heap_options_bytes", CODEC_OPTIONAL, 1, OPTIONS_MAX,
                                  sizeof *request->options, &list, &request->n_options);
    for (size_t i = 0; i < request->n_options; i++) {
        struct codec_node item = codec_item(&list, i);
        request->options[i] = codec_as_integer(&item, 1, SIZE_BYTES_MAX);
    }
}

/* The deadlines that decide the order, and what the core takes side by side. */
static void take_applications(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_memory_plan *request = object;
    struct codec_node list = codec_member(top, "applications");
    (void)limits;
    request->names = codec_allocate(top, request->n, sizeof *request->names);
    request->applications = codec_allocate(top, request->n, sizeof *request->applications);
    for (size_t i = 0; request->names != NULL && request->applications != NULL && i < request->n;
         i++) {
        struct codec_node item = codec_item(&list, i);
        request->names[i] = request->sent[i].name;
        request->applications[i] = request->sent[i].numbers;
        if (request->order == WORKER_MEMORY_EARLIEST_DEADLINE && json_value_is_object(item.json) &&
            !codec_present(&item, "deadline_s"))
            codec_fault_member(&item, "deadline_s", "required",
                               "is required by the order earliest_deadline");
    }
}

/* In the order of enum worker_memory_order. */
static const char *const orders[] = {"given", "earliest_deadline", NULL};

#define R struct codec_memory_plan
#define L struct codec_memory_plan_limits
static const struct shape_member members[] = {
    {"system_memory_bytes", SHAPE_COUNT(R, system_bytes), .flags = CODEC_REQUIRED, .least = 1,
     .most = SIZE_BYTES_MAX},
    {"order", SHAPE_WORD(R, order, orders), .flags = SHAPE_KEEP},
    {"applications", SHAPE_OBJECTS(R, sent, n, &codec_memory_application_shape),
     .flags = CODEC_REQUIRED, .least = 1, SHAPE_LIMIT(L, applications)},
    {"newcomer", SHAPE_OBJECT(R, newcomer, &codec_memory_newcomer_shape),
     SHAPE_GIVEN(R, has_newcomer)},
    {"heap_options_bytes", SHAPE_CODE, .decode = decode_options},
};
const struct shape codec_memory_plan_shape = {
    .request = "MemoryPlanRequest", SHAPE_OF(members, R), .check = take_applications};

void codec_memory_plan_decode(const struct codec_node *node,
                              const struct codec_memory_plan_limits *limits,
                              struct codec_memory_plan *request)
{
    *request = (struct codec_memory_plan){.order = WORKER_MEMORY_GIVEN};
    shape_decode(node, &codec_memory_plan_shape, limits, request);
}

static void encode_applications(struct writer *w,
                                const struct codec_memory_plan *request,
                                const struct worker_memory_share shares[])
{
    writer_member_array(w, "applications");
    for (size_t i = 0; i < request->n; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", request->names[i]);
        writer_member_boolean(w, "starts", shares[i].starts);
        writer_member_count(w, "off_heap_bytes", shares[i].off_heap_bytes);
        writer_member_count(w, "total_bytes", shares[i].total_bytes);
        writer_member_count(w, "off_heap_bytes_after_end", shares[i].after_end_bytes);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_newcomer(struct writer *w,
                            const struct codec_memory_newcomer *newcomer,
                            const struct worker_memory *plan)
{
    struct worker_memory_newcomer there =
        worker_memory_admit(plan, newcomer->heap_bytes, newcomer->off_heap);
    writer_member_object(w, "newcomer");
    writer_member_boolean(w, "starts", there.starts);
    writer_member_count(w, "off_heap_bytes_each", there.each_bytes);
    writer_end_object(w);
}

static void encode_options(struct writer *w, const struct codec_memory_plan *request)
{
    writer_member_array(w, "options");
    for (size_t i = 0; i < request->n_options; i++) {
        writer_begin_object(w);
        writer_member_count(w, "heap_bytes", request->options[i]);
        writer_member_count(w, "applications", request->system_bytes / request->options[i]);
        writer_end_object(w);
    }
    writer_end_array(w);
}

void codec_memory_plan_encode(struct writer *w,
                              const struct codec_memory_plan *request,
                              const struct worker_memory_share shares[],
                              const struct worker_memory *plan,
                              const struct findings *warnings)
{
    writer_begin_object(w);
    writer_member_boolean(w, "fits", plan->running == request->n);
    writer_member_count(w, "running", (int64_t)plan->running);
    writer_member_count(w, "heap_bytes", plan->heap_bytes);
    writer_member_count(w, "off_heap_pool_bytes", plan->pool_bytes);
    writer_member_count(w, "off_heap_bytes_each", plan->each_bytes);
    writer_member_count(w, "equal_heap_bytes", plan->equal_heap_bytes);
    encode_applications(w, request, shares);
    if (request->has_newcomer)
        encode_newcomer(w, &request->newcomer, plan);
    if (request->options != NULL)
        encode_options(w, request);
    codec_findings_encode(w, "warnings", warnings);
    writer_end_object(w);
}
