#include "codec/scheduling/speculation.h"

#include <math.h>

#include "codec/scheduling/speculation_internal.h"

#define LEVEL_MAX 1000
#define WEIGHT_MAX 1e9 /* and of thresholds and ratios: sums stay far from overflow */

const char *const codec_speculation_kinds[] = {[CODEC_SPECULATION_ESPLASH] = "esplash",
                                               [CODEC_SPECULATION_LATE] = "late",
                                               [CODEC_SPECULATION_KINDS] = NULL};

/* --- nodes --- */

#define F struct codec_speculation_finished
static const struct shape_member finished_members[] = {
    {"type", SHAPE_NAME(F, type), .flags = CODEC_REQUIRED},
    {"tasks", SHAPE_SIZE(F, tasks), .flags = CODEC_REQUIRED, .least = 1, .most = CODEC_COUNT_MAX},
    {"mean_s", SHAPE_NUMBER(F, mean_s), .flags = CODEC_REQUIRED, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"deviation_s", SHAPE_NUMBER(F, deviation_s), .flags = SHAPE_KEEP, .low = 0,
     .high = CODEC_SECONDS_MAX},
};
const struct shape codec_speculation_finished_shape = {.request = "SpeculationFinished",
                                                       SHAPE_OF(finished_members, F),
                                                       .unique = "type",
                                                       .twice = "this type stands here already"};

/* In the order of enum speculation_copy. */
static const char *const copies[] = {"none", "waiting", "running", NULL};

#define T struct codec_speculation_task
static const struct shape_member task_members[] = {
    {"id", SHAPE_NAME(T, id), .flags = CODEC_REQUIRED},
    {"type", SHAPE_NAME(T, type), .flags = CODEC_REQUIRED},
    {"elapsed_s", SHAPE_NUMBER(T, elapsed_s), .flags = CODEC_REQUIRED, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"progress", SHAPE_NUMBER(T, progress), .flags = CODEC_REQUIRED, .low = 0, .high = 1},
    {"progress_rate_per_s", SHAPE_NUMBER(T, progress_rate_per_s), .low = 0, .high = CODEC_RATE_MAX},
    {"copy", SHAPE_WORD(T, copy, copies)},
    {"is_copy", SHAPE_BOOLEAN(T, is_copy)},
};
const struct shape codec_speculation_task_shape = {.request = "SpeculationTask",
                                                   SHAPE_OF(task_members, T)};

static void check_node(const struct codec_node *node, const void *limits, void *object)
{
    const struct codec_speculation_node *sent = object;
    (void)limits;
    if (sent->free_containers != SIZE_MAX && sent->containers != SIZE_MAX &&
        sent->free_containers > sent->containers)
        codec_fault_member(node, "free_containers", "out_of_range",
                           "must be at most containers, which are %zu", sent->containers);
}

#define L struct codec_speculation_limits
#define N struct codec_speculation_node
static const struct shape_member node_members[] = {
    {"name", SHAPE_NAME(N, name), .flags = CODEC_REQUIRED},
    {"level", SHAPE_SIZE(N, level), .least = 1, .most = LEVEL_MAX},
    {"containers", SHAPE_SIZE(N, containers), .flags = CODEC_REQUIRED, .most = CODEC_COUNT_MAX},
    {"free_containers", SHAPE_SIZE(N, free_containers), .most = CODEC_COUNT_MAX},
    {"finished", SHAPE_OBJECTS(N, finished, n_finished, &codec_speculation_finished_shape),
     .flags = CODEC_REQUIRED, SHAPE_LIMIT(L, types)},
    {"running", SHAPE_OBJECTS(N, running, n_running, &codec_speculation_task_shape),
     .flags = CODEC_REQUIRED, SHAPE_LIMIT(L, tasks)},
};
const struct shape codec_speculation_node_shape = {.request = "SpeculationNode",
                                                   SHAPE_OF(node_members, N),
                                                   .check = check_node,
                                                   .unique = "name",
                                                   .twice = "another node has this name"};

/* --- what was done --- */

#define A struct codec_speculation_taken
static const struct shape_member taken_members[] = {
    {"task", SHAPE_NAME(A, task), .flags = CODEC_REQUIRED | CODEC_NULLABLE},
    {"host", SHAPE_NAME(A, host), .flags = CODEC_NULLABLE},
};
const struct shape codec_speculation_taken_shape = {.request = "SpeculationTaken",
                                                    SHAPE_OF(taken_members, A)};

static bool is_same(struct strview a, struct strview b)
{
    return a.at == NULL || b.at == NULL ? a.at == b.at : strview_equal(a, b);
}

bool codec_speculation_taken_is(const struct codec_speculation_taken *taken,
                                const struct codec_speculation_action *action)
{
    return is_same(taken->task, action->task) &&
           (taken->host.at == NULL || action->host.at == NULL ||
            strview_equal(taken->host, action->host));
}

/* --- levels --- */

/* "auto", or how many. */
static void decode_level_count(const struct codec_node *node, const void *limits, void *object)
{
    static const char *const words[] = {"auto", NULL};
    struct codec_speculation *asked = object;
    const struct codec_node count = codec_member(node, "level_count");
    (void)limits;
    if (count.json == NULL)
        return;
    if (json_value_is_text(count.json)) {
        (void)codec_choice(node, "level_count", CODEC_REQUIRED, words, 0);
        return;
    }
    int64_t given = codec_as_integer(&count, 1, CODEC_COUNT_MAX);
    if (given > 0)
        asked->level_count = (size_t)given;
}

/* Of all nodes, or of none. true: of all. */
static bool check_levels(const struct codec_node *top, const struct codec_speculation *asked)
{
    struct codec_node nodes = codec_member(top, "nodes");
    size_t given = 0;
    for (size_t i = 0; i < asked->n_nodes; i++)
        given += asked->nodes[i].level != SIZE_MAX;
    for (size_t i = 0; given > 0 && i < asked->n_nodes; i++) {
        struct codec_node node = codec_item(&nodes, i);
        if (json_value_is_object(node.json) && codec_member(&node, "level").json == NULL)
            codec_fault_member(&node, "level", "required",
                               "is required when other nodes have a level");
    }
    return given > 0;
}

void codec_speculation_check_levels(const struct codec_node *node,
                                    size_t nodes,
                                    size_t level_count,
                                    size_t auto_nodes)
{
    double most = (double)auto_nodes * (double)auto_nodes;
    double compared = (double)nodes * (double)level_count;
    if (level_count > NODE_LEVELS_AUTO_MAX && compared > most)
        codec_fault_member(node, "level_count", "out_of_range",
                           "nodes x levels may be at most %.0f (the square of "
                           "speculation_auto_nodes_max), they are %.0f",
                           most, compared);
}

static void check_level_count(const struct codec_node *top,
                              const struct codec_speculation_limits *limits,
                              const struct codec_speculation *asked,
                              bool given)
{
    if (given && asked->level_count != NODE_LEVELS_AUTO)
        codec_fault_member(top, "level_count", "conflict",
                           "must not be given together with levels of nodes");
    else if (!given && asked->n_nodes > 0 && asked->level_count > asked->n_nodes)
        codec_fault_member(top, "level_count", "out_of_range",
                           "must be at most the number of nodes, %zu", asked->n_nodes);
    else if (!given && asked->level_count == NODE_LEVELS_AUTO &&
             asked->n_nodes > limits->auto_nodes)
        codec_fault_member(top, "level_count", "out_of_range",
                           "a number of levels is chosen for at most %zu nodes "
                           "(speculation_auto_nodes_max), they are %zu",
                           limits->auto_nodes, asked->n_nodes);
    else if (!given && asked->level_count != NODE_LEVELS_AUTO)
        codec_speculation_check_levels(top, asked->n_nodes, asked->level_count, limits->auto_nodes);
}

/* --- the whole --- */

static void decode_weights(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_speculation *asked = object;
    struct codec_node list = codec_array(node, "weights", CODEC_OPTIONAL, 2, 2);
    double *const weights[] = {&asked->terms.duration_weight, &asked->terms.rate_weight};
    (void)limits;
    for (size_t i = 0; list.json != NULL && i < 2; i++) {
        struct codec_node item = codec_item(&list, i);
        *weights[i] = codec_as_number(&item, 0, 0, WEIGHT_MAX);
    }
}

static void check_late(const struct codec_node *node, const void *limits, void *object)
{
    bool given = check_levels(node, object);
    codec_speculation_take(node, limits, given, object);
}

static void check_esplash(const struct codec_node *node, const void *limits, void *object)
{
    bool given = check_levels(node, object);
    check_level_count(node, limits, object, given);
    codec_speculation_take(node, limits, given, object);
}

#define R struct codec_speculation
#define STATE_MEMBERS                                                                              \
    {"nodes", SHAPE_OBJECTS(R, nodes, n_nodes, &codec_speculation_node_shape),                     \
     .flags = CODEC_REQUIRED, .least = 1, SHAPE_LIMIT(L, nodes)},                                  \
    {                                                                                              \
        "taken", SHAPE_OBJECT(R, taken, &codec_speculation_taken_shape), SHAPE_GIVEN(R, has_taken) \
    }
static const struct shape_member esplash_members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED},
    {"level_count", SHAPE_CODE, .decode = decode_level_count},
    {"threshold", SHAPE_NUMBER(R, terms.threshold), .flags = SHAPE_KEEP, .low = 0,
     .high = WEIGHT_MAX},
    {"weights", SHAPE_CODE, .decode = decode_weights},
    {"deviation_floor", SHAPE_NUMBER(R, terms.deviation_floor), .flags = CODEC_ABOVE | SHAPE_KEEP,
     .low = 0, .high = 1},
    {"ratio_cap", SHAPE_NUMBER(R, terms.ratio_cap), .flags = SHAPE_KEEP, .low = 1,
     .high = WEIGHT_MAX},
    STATE_MEMBERS,
};
const struct shape codec_esplash_shape = {
    .request = "EsplashState", SHAPE_OF(esplash_members, R), .check = check_esplash};

static const struct shape_member late_members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED},
    STATE_MEMBERS,
};
const struct shape codec_late_shape = {
    .request = "LateState", SHAPE_OF(late_members, R), .check = check_late};

void codec_speculation_decode(const struct codec_node *node,
                              const struct codec_speculation_limits *limits,
                              struct codec_speculation *asked)
{
    *asked = (struct codec_speculation){
        .level_count = NODE_LEVELS_AUTO,
        .terms = esplash_terms_default,
    };
    asked->kind = (enum codec_speculation_kind)codec_choice(
        node, "kind", CODEC_REQUIRED, codec_speculation_kinds, CODEC_SPECULATION_KINDS);
    if (asked->kind == CODEC_SPECULATION_ESPLASH)
        shape_decode(node, &codec_esplash_shape, limits, asked);
    else if (asked->kind == CODEC_SPECULATION_LATE)
        shape_decode(node, &codec_late_shape, limits, asked);
}
