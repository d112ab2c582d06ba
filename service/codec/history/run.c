#include "codec/history/run.h"

#include "base/quantity_text.h"
#include "core/history/run_metrics.h"

#define R struct run
#define L struct codec_run_limits
enum { NULLABLE = CODEC_NULLABLE, NEEDED = CODEC_REQUIRED };

static const struct shape_member create_members[] = {
    {"problem_size", SHAPE_NUMBER(R, problem_size), .flags = NEEDED, .low = CODEC_PROBLEM_SIZE_MIN,
     .high = CODEC_PROBLEM_SIZE_MAX},
    {"executors", SHAPE_COUNT(R, executors), .flags = NEEDED, .least = 1, .most = CODEC_COUNT_MAX},
    {"cores_per_executor", SHAPE_COUNT(R, cores_per_executor), .flags = NEEDED, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"duration_s", SHAPE_NUMBER(R, duration_s), .flags = NEEDED | CODEC_ABOVE,
     .high = CODEC_SECONDS_MAX},
    {"initialization_s", SHAPE_NUMBER(R, initialization_s), .flags = NULLABLE,
     .high = CODEC_SECONDS_MAX},
    {"started_at", SHAPE_INSTANT(R, started_us), .flags = NULLABLE},
    {"succeeded", SHAPE_BOOLEAN(R, succeeded), .flags = NULLABLE | SHAPE_TRUE},
    {"advice_id", SHAPE_ID(R, advice_id), .flags = NULLABLE},
    {"labels", SHAPE_LABELS(R, labels, n_labels), .flags = NULLABLE, SHAPE_LIMIT(L, labels)},
    {"nodes", SHAPE_OBJECTS(R, nodes, n_nodes, &codec_run_node_shape), .flags = NULLABLE,
     .most = CODEC_RUN_NODES_MAX},
    {"executor_lifetimes",
     SHAPE_OBJECTS(R, executor_lifetimes, n_executor_lifetimes, &codec_executor_lifetime_shape),
     .flags = NULLABLE, .most = RUN_EXECUTOR_LIFETIMES_MAX},
    {"stages", SHAPE_CODE, .flags = NULLABLE, .decode = codec_stages_decode_member},
};
const struct shape codec_run_create_shape = {.request = "RunCreate", SHAPE_OF(create_members, R)};

void codec_run_decode(const struct codec_node *node,
                      const struct codec_run_limits *limits,
                      struct run *run)
{
    *run = (struct run){.problem_size_given = true, .recorded_us = RUN_NO_INSTANT, .ended = true};
    run_clear_log(run);
    shape_decode(node, &codec_run_create_shape, limits, run);
    codec_run_nodes_check(node, run);
    codec_executor_lifetimes_check(node, run);
    if (run->initialization_s > run->duration_s)
        codec_fault_member(node, "initialization_s", "out_of_range",
                           "must not exceed duration_s, which is %s",
                           quantity_digits(run->duration_s, 15).text);
}

/* --- corrections --- */

#define H struct run_change
static const struct shape_member change_members[] = {
    {"problem_size", SHAPE_NUMBER(H, to.problem_size), SHAPE_GIVEN(H, has_problem_size),
     .flags = NULLABLE, .low = CODEC_PROBLEM_SIZE_MIN, .high = CODEC_PROBLEM_SIZE_MAX},
    {"executors", SHAPE_COUNT(H, to.executors), SHAPE_GIVEN(H, has_executors), .flags = NULLABLE,
     .least = 1, .most = CODEC_COUNT_MAX},
    {"cores_per_executor", SHAPE_COUNT(H, to.cores_per_executor),
     SHAPE_GIVEN(H, has_cores_per_executor), .flags = NULLABLE, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"labels", SHAPE_LABELS(H, to.labels, to.n_labels), SHAPE_GIVEN(H, has_labels),
     .flags = NULLABLE, SHAPE_LIMIT(L, labels)},
    {"succeeded", SHAPE_BOOLEAN(H, to.succeeded), SHAPE_GIVEN(H, has_succeeded)},
    {"application", SHAPE_NAME(H, application)},
};
const struct shape codec_run_change_shape = {.request = "RunPatch", SHAPE_OF(change_members, H)};

void codec_run_decode_change(const struct codec_node *node,
                             const struct codec_run_limits *limits,
                             struct run_change *change)
{
    *change = (struct run_change){.application = {NULL, 0}};
    shape_decode(node, &codec_run_change_shape, limits, change);
    if (json_value_members(node->json) == 0)
        codec_fault(node, "required",
                    "needs at least one of problem_size, executors, cores_per_executor, labels, "
                    "succeeded, application");
}
