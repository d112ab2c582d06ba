#include <math.h>

#include "codec/scheduling/tasks_simulation_internal.h"
#include "core/scheduling/tasks/tasks_policy.h"

#define POWER_MIN 1e-6
#define POWER_MAX 1e6

enum { GROUPS_MAX = 100000 };

static void check_cluster(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_cluster *cluster = object;
    bool workers = codec_member(node, "workers").json != NULL;
    bool groups = codec_member(node, "groups").json != NULL;
    double sum = 0;
    (void)limits;
    if (!workers && !groups)
        codec_fault_member(node, "workers", "required",
                           "say how many workers there are, or list their `groups`");
    if (workers && groups)
        codec_fault_member(node, "groups", "conflict",
                           "the workers are counted by `workers`, or listed in groups");
    for (size_t g = 0; g < cluster->n_groups; g++)
        sum += cluster->groups[g].workers == SIZE_MAX ? 0 : (double)cluster->groups[g].workers;
    if (sum > CODEC_COUNT_MAX)
        codec_fault_member(node, "groups", "out_of_range",
                           "their workers are %.0f together, and at most %lld are allowed", sum,
                           (long long)CODEC_COUNT_MAX);
}

#define G struct codec_tasks_group
static const struct shape_member group_members[] = {
    {"workers", SHAPE_SIZE(G, workers), .flags = CODEC_REQUIRED, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"power", SHAPE_NUMBER(G, power), .flags = SHAPE_OMIT_UNKNOWN, .low = POWER_MIN,
     .high = POWER_MAX},
};
const struct shape codec_tasks_group_shape = {.request = "TasksGroup", SHAPE_OF(group_members, G)};

#define C struct codec_tasks_cluster
static const struct shape_member cluster_members[] = {
    {"workers", SHAPE_SIZE(C, workers), .flags = SHAPE_OMIT_UNKNOWN, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"groups", SHAPE_OBJECTS(C, groups, n_groups, &codec_tasks_group_shape),
     .flags = SHAPE_OMIT_UNKNOWN, .least = 1, .most = GROUPS_MAX},
};
const struct shape codec_tasks_cluster_shape = {
    .request = "TasksCluster", SHAPE_OF(cluster_members, C), .check = check_cluster};

struct pigeon_group *codec_tasks_groups(const struct codec_node *top,
                                        const struct codec_tasks_cluster *cluster)
{
    struct pigeon_group *groups = codec_allocate(top, cluster->n_groups, sizeof *groups);
    for (size_t g = 0; groups != NULL && g < cluster->n_groups; g++) {
        const struct codec_tasks_group *sent = &cluster->groups[g];
        groups[g].workers = (uint32_t)sent->workers;
        groups[g].power = isnan(sent->power) ? 1 : sent->power;
    }
    return groups;
}

/* Policies other than Pigeon know workers of power 1. */
void codec_tasks_powers_check(const struct codec_node *top,
                              const struct codec_tasks_simulation *asked)
{
    struct codec_node cluster = codec_member(top, "cluster");
    bool differ = false;
    for (uint32_t g = 0; g < asked->n_groups; g++)
        differ = differ || asked->groups[g].power != 1;
    for (size_t p = 0; differ && p < asked->common.n_policies; p++) {
        struct strview name = strview_clip(asked->common.names[p], NAME_SHOWN);
        if (asked->policies[p].policy == &pigeon_policy)
            continue;
        codec_fault_member(&cluster, "groups", "conflict",
                           "the policy %.*s knows no workers of another power than 1, which "
                           "`pigeon` alone does",
                           (int)name.n, name.at);
        return;
    }
}
