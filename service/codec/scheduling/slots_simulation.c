#include "codec/scheduling/slots_simulation.h"

#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "codec/scheduling/slots_simulation_internal.h"
#include "core/scheduling/slots_queues.h"

#define SLOW_START 0.05
#define SPLITS_MAX 1e7 /* slots x jobs, as of slot plans */

/* --- rules across members --- */

static void check_reduce_slots(const struct codec_node *top,
                               const struct codec_slots_simulation *asked)
{
    struct codec_node cluster = codec_member(top, "cluster");
    size_t with = 0;
    for (size_t i = 0; i < asked->n_jobs; i++)
        with += asked->jobs[i].task_lists[SLOTS_REDUCE].n > 0;
    if (with > 0 && asked->cluster.slots[SLOTS_REDUCE] == 0)
        codec_fault_member(&cluster, "reduce_slots", "out_of_range",
                           "%zu job%s %s reduces, which need a slot", with, PLURAL(with),
                           PLURAL_VERB(with, "has", "have"));
}

/* A job's queue is one of those of every policy "capacity". */
static void check_queues(const struct codec_node *top, const struct codec_slots_simulation *asked)
{
    struct codec_node list = codec_member(top, "jobs");
    size_t tenants = SIZE_MAX;
    for (size_t p = 0; p < asked->common.n_policies; p++)
        if (asked->policies[p].tenants != NULL && asked->policies[p].n_tenants < tenants)
            tenants = asked->policies[p].n_tenants;
    for (size_t i = 0; i < asked->n_jobs; i++) {
        struct codec_node item = codec_item(&list, i);
        if (asked->sent[i].queue > tenants)
            codec_fault_member(&item, "queue", "out_of_range",
                               "a policy \"capacity\" has %zu queue%s only", tenants,
                               PLURAL(tenants));
    }
}

static void check_partitions(const struct codec_node *top,
                             const struct codec_slots_simulation *asked)
{
    static const char *const members[SLOTS_KINDS] = {
        [SLOTS_MAP] = "map_slots", [SLOTS_REDUCE] = "reduce_slots"};
    struct codec_node cluster = codec_member(top, "cluster");
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        for (size_t p = 0; p < asked->common.n_policies; p++) {
            const struct slots_terms *terms = &asked->policies[p];
            size_t slots = asked->cluster.slots[kind];
            if (terms->partitions == NULL || slots == 0 ||
                slots_queues_suffice(slots, terms->partitions, terms->n_limits + 1))
                continue;
            struct strview name = strview_clip(asked->common.names[p], 64);
            codec_fault_member(&cluster, members[kind], "out_of_range",
                               "of %zu slot%s none is left for the last partition of %.*s", slots,
                               PLURAL(slots), (int)name.n, name.at);
            break;
        }
}

/* FRESH divides slots by how far a job's maps are; and its static form tries all splits. */
static void check_fresh(const struct codec_node *top, const struct codec_slots_simulation *asked)
{
    struct codec_node jobs = codec_member(top, "jobs");
    struct codec_node policies = codec_member(top, "policies");
    double splits =
        ((double)asked->cluster.slots[SLOTS_MAP] + (double)asked->cluster.slots[SLOTS_REDUCE]) *
        (double)asked->n_jobs;
    bool any = false;
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        const struct slots_policy *policy = asked->policies[p].policy;
        struct codec_node item = codec_item(&policies, p);
        any = any || policy == &slots_policy_fresh_static || policy == &slots_policy_fresh;
        if (policy == &slots_policy_fresh_static && splits > SPLITS_MAX)
            codec_fault_member(&item, "policy", "out_of_range",
                               "finds its split for slots x jobs of at most %.0f, they are %.0f",
                               SPLITS_MAX, splits);
    }
    for (size_t i = 0; any && i < asked->n_jobs; i++) {
        struct codec_node item = codec_item(&jobs, i);
        if (asked->jobs[i].task_lists[SLOTS_MAP].n == 0)
            codec_fault_member(&item, "maps", "out_of_range", "under FRESH every job needs a map");
    }
}

static struct codec_comparison_size size_of(const struct codec_slots_simulation *asked)
{
    struct codec_comparison_size size = {.jobs = asked->n_jobs,
                                         .shortest_s = HUGE_VAL,
                                         .slots = (double)asked->cluster.slots[SLOTS_MAP] +
                                                  (double)asked->cluster.slots[SLOTS_REDUCE]};
    for (size_t i = 0; i < asked->n_jobs; i++) {
        const struct slots_job *job = &asked->jobs[i];
        size.last_s = fmax(size.last_s, job->arrival_s);
        size.work_s += job->shuffle_s + slots_job_size(job);
        for (size_t kind = 0; kind < SLOTS_KINDS; kind++) {
            size.tasks += (double)slots_tasks_count(&job->task_lists[kind]);
            for (size_t k = 0; k < job->task_lists[kind].n; k++)
                size.shortest_s = fmin(size.shortest_s, job->task_lists[kind].tasks[k].duration_s);
        }
    }
    size.probed = size.tasks * (double)asked->common.n_policies;
    return size;
}

static void check_size(const struct codec_node *top,
                       const struct codec_comparison_limits *limits,
                       const struct codec_slots_simulation *asked)
{
    struct codec_comparison_size size = size_of(asked);
    struct slots_comparison comparison = {
        .cluster = asked->cluster, .n_jobs = asked->n_jobs, .tasks = (size_t)size.tasks};
    size.memory_bytes = slots_comparison_memory(&comparison);
    codec_comparison_check(top, limits, &asked->common, &size);
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slots_simulation *asked = object;
    if (node->reader->err->n_faults > 0 || node->reader->err->code != PV_OK)
        return;
    asked->jobs = codec_allocate(node, asked->n_jobs, sizeof *asked->jobs);
    if (asked->jobs == NULL)
        return;
    for (size_t i = 0; i < asked->n_jobs; i++)
        asked->jobs[i] = asked->sent[i].job;
    check_reduce_slots(node, asked);
    check_queues(node, asked);
    check_partitions(node, asked);
    check_fresh(node, asked);
    check_size(node, limits, asked);
}

/* --- the whole --- */

static void encode_kind(struct writer *w, const void *object, const void *context)
{
    (void)object;
    (void)context;
    writer_member_string(w, "kind", "slots");
}

static void decode_policies(const struct codec_node *node, const void *limits, void *object)
{
    codec_policies_decode(node, &codec_slots_policies, limits, object);
}

static void encode_policies(struct writer *w, const void *object, const void *context)
{
    (void)context;
    codec_policies_encode(w, &codec_slots_policies, object);
}

#define C struct slots_cluster
static const struct shape_member cluster_members[] = {
    {"map_slots", SHAPE_SIZE(C, slots[SLOTS_MAP]), .flags = CODEC_REQUIRED, .least = 1,
     .most = CODEC_COUNT_MAX},
    {"reduce_slots", SHAPE_SIZE(C, slots[SLOTS_REDUCE]), .flags = CODEC_REQUIRED,
     .most = CODEC_COUNT_MAX},
};
const struct shape codec_slots_cluster_shape = {.request = "SlotsCluster",
                                                SHAPE_OF(cluster_members, C)};

#define A struct codec_slots_simulation
static const struct shape_member members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED, .encode = encode_kind},
    {"cluster", SHAPE_OBJECT(A, cluster, &codec_slots_cluster_shape), .flags = CODEC_REQUIRED},
    {"slow_start", SHAPE_NUMBER(A, cluster.slow_start), .flags = SHAPE_KEEP, .low = 0, .high = 1},
    {"jobs", SHAPE_OBJECTS(A, sent, n_jobs, &codec_slots_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(struct codec_comparison_limits, jobs)},
    {"policies", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_policies,
     .encode = encode_policies},
    CODEC_COMPARISON_MEMBERS(A),
};
const struct shape codec_slots_simulation_shape = {
    .request = "SlotsSimulationRequest", SHAPE_OF(members, A), .check = check};

void codec_slots_simulation_decode(const struct codec_node *node,
                                   const struct codec_comparison_limits *limits,
                                   struct codec_slots_simulation *asked)
{
    *asked = (struct codec_slots_simulation){.cluster = {.slow_start = SLOW_START}};
    codec_comparison_begin(&asked->common);
    shape_decode(node, &codec_slots_simulation_shape, limits, asked);
}

void codec_slots_simulation_encode(struct writer *w, const struct codec_slots_simulation *asked)
{
    shape_encode(w, &codec_slots_simulation_shape, asked, 0, NULL);
}

enum pv_code codec_slots_simulation_take(const struct codec_slots_simulation *asked,
                                         struct arena *arena,
                                         struct slots_comparison *comparison,
                                         struct pv_error *err)
{
    static const bool draws[COMPARISON_POLICIES_MAX]; /* none of them */
    struct slots_terms *policies = arena_array(arena, COMPARISON_POLICIES_MAX, sizeof *policies);
    if (policies == NULL)
        return pv_no_memory(err);
    memcpy(policies, asked->policies, sizeof asked->policies);
    *comparison = (struct slots_comparison){.plan = codec_comparison_plan(&asked->common, draws),
                                            .cluster = asked->cluster,
                                            .jobs = asked->jobs,
                                            .n_jobs = asked->n_jobs,
                                            .policies = policies};
    return slots_comparison_complete(comparison, arena, err);
}
