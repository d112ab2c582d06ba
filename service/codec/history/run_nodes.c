#include <stdlib.h>

#include "base/order.h"
#include "base/quantity_text.h"
#include "codec/history/run.h"

/* The nodes of a run, and its executors. */

#define N struct run_node
static const struct shape_member members[] = {
    {"name", SHAPE_TEXT(N, name), .flags = CODEC_NULLABLE, .least = 1,
     .most = CODEC_NODE_NAME_BYTES},
    {"cores", SHAPE_COUNT(N, cores), .flags = CODEC_NULLABLE, .most = CODEC_COUNT_MAX},
};
const struct shape codec_run_node_shape = {
    .request = "RunNodeCreate", .reply = "RunNode", SHAPE_OF(members, N)};

struct named {
    struct strview name;
    size_t at;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a;
    const struct named *y = b;
    int order = compare_strview(x->name, y->name);
    return order != 0 ? order : compare_size(x->at, y->at);
}

void codec_run_nodes_check(const struct codec_node *node, const struct run *run)
{
    struct named *named = codec_allocate(node, run->n_nodes, sizeof *named);
    struct codec_node list = codec_member(node, "nodes");
    size_t n = 0;
    if (named == NULL)
        return;
    for (size_t i = 0; i < run->n_nodes; i++)
        if (run->nodes[i].name.at != NULL)
            named[n++] = (struct named){run->nodes[i].name, i};
    if (n > 0)
        qsort(named, n, sizeof *named, compare_named);
    for (size_t i = 1; i < n; i++) {
        if (compare_strview(named[i].name, named[i - 1].name) != 0)
            continue;
        struct codec_node item = codec_item(&list, named[i].at);
        codec_fault_member(&item, "name", "duplicate",
                           "must differ from the names of the run's other nodes");
    }
}

#define E struct executor_lifetime
static const struct shape_member executor_members[] = {
    {"added_s", SHAPE_NUMBER(E, added_s), .flags = CODEC_REQUIRED, .high = CODEC_SECONDS_MAX},
    {"removed_s", SHAPE_NUMBER(E, removed_s), .flags = CODEC_NULLABLE, .high = CODEC_SECONDS_MAX},
    {"cores", SHAPE_COUNT(E, cores), .flags = CODEC_NULLABLE, .least = 1, .most = CODEC_COUNT_MAX},
    {"resource_profile_id", SHAPE_COUNT(E, resource_profile_id), .flags = CODEC_NULLABLE},
    {"lost", SHAPE_BOOLEAN(E, lost), .flags = CODEC_NULLABLE},
};
const struct shape codec_executor_lifetime_shape = {.request = "ExecutorLifetimeCreate",
                                                    .reply = "ExecutorLifetime",
                                                    SHAPE_OF(executor_members, E)};

void codec_executor_lifetimes_check(const struct codec_node *node, const struct run *run)
{
    struct codec_node list = codec_member(node, "executor_lifetimes");
    for (size_t i = 0; i < run->n_executor_lifetimes; i++) {
        if (!(run->executor_lifetimes[i].removed_s < run->executor_lifetimes[i].added_s))
            continue;
        struct codec_node item = codec_item(&list, i);
        codec_fault_member(&item, "removed_s", "out_of_range",
                           "must be at least added_s, which is %s",
                           quantity_digits(run->executor_lifetimes[i].added_s, 15).text);
    }
}
