#include "codec/scheduling/tasks_simulation.h"

#include <math.h>

#include "base/plural.h"
#include "codec/scheduling/tasks_simulation_internal.h"
#include "core/scheduling/tasks_policy.h"

#define COMMUNICATION_S 0.0005
#define COMMUNICATION_MAX_S 1e6 /* of one message */

/* --- rules across members --- */

/* The groups that all policies "pigeon" have; more than any placement names where there are none. */
static size_t find_least_groups(const struct codec_tasks_simulation *asked)
{
    size_t least = SIZE_MAX;
    for (size_t p = 0; p < asked->common.n_policies; p++)
        if (asked->policies[p].policy == &pigeon_policy && asked->policies[p].groups < least)
            least = asked->policies[p].groups;
    return least;
}

static void check_placements(const struct codec_node *top,
                             const struct codec_tasks_simulation *asked)
{
    struct codec_node list = codec_member(top, "jobs");
    size_t groups = find_least_groups(asked);
    for (size_t j = 0; j < asked->n_jobs; j++) {
        const struct tasks_job *job = &asked->sent[j].job;
        struct codec_node item = codec_item(&list, j);
        struct codec_node placement = codec_member(&item, "placement");
        for (uint32_t i = 0; job->placement != NULL && i < job->tasks; i++) {
            struct codec_node at = codec_item(&placement, i);
            if (job->placement[i] >= groups)
                codec_fault(&at, "out_of_range", "a policy \"pigeon\" has %zu group%s, from 0 on",
                            groups, PLURAL(groups));
        }
    }
}

static void check_groups(const struct codec_node *top, const struct codec_tasks_simulation *asked)
{
    struct codec_node list = codec_member(top, "policies");
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        struct codec_node item = codec_item(&list, p);
        if (asked->policies[p].groups > asked->cluster.workers)
            codec_fault_member(&item, "groups", "out_of_range",
                               "must not be more than the %zu worker%s", asked->cluster.workers,
                               PLURAL(asked->cluster.workers));
    }
}

static struct codec_comparison_size size_of(const struct codec_tasks_simulation *asked)
{
    const struct tasks_model *model = &asked->model;
    struct codec_comparison_size size = {.jobs = asked->n_jobs,
                                         .tasks = (double)model->tasks,
                                         .shortest_s = HUGE_VAL,
                                         .work_s = model->work_s,
                                         .slots = (double)asked->cluster.workers};
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        size.last_s = fmax(size.last_s, model->jobs[j].arrival_s);
        for (uint32_t i = 0; i < model->jobs[j].tasks; i++)
            size.shortest_s = fmin(size.shortest_s, model->jobs[j].durations_s[i]);
    }
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        const struct tasks_terms *terms = &asked->policies[p];
        bool probes = terms->policy == &sparrow_policy || terms->policy == &eagle_policy;
        size_t memory_bytes = tasks_comparison_memory(model, terms);
        size.probed += size.tasks * (probes ? (double)terms->probes_per_task : 1);
        if (memory_bytes > size.memory_bytes) {
            size.memory_bytes = memory_bytes;
            size.memory_policy = p;
        }
    }
    return size;
}

/* What the core works with; the class of jobs that have none is by the cut-off. false: no memory. */
static bool make_model(const struct codec_node *top, struct codec_tasks_simulation *asked)
{
    asked->jobs = codec_allocate(top, asked->n_jobs, sizeof *asked->jobs);
    if (asked->jobs == NULL)
        return false;
    for (size_t i = 0; i < asked->n_jobs; i++) {
        struct tasks_job *job = &asked->sent[i].job;
        if (!asked->sent[i].classed)
            job->is_long = tasks_are_long(job->durations_s, job->tasks, asked->short_cutoff_s);
        asked->jobs[i] = *job;
    }
    asked->model = (struct tasks_model){.workers = (uint32_t)asked->cluster.workers,
                                        .communication_s = asked->communication_s,
                                        .jobs = asked->jobs,
                                        .n_jobs = (uint32_t)asked->n_jobs};
    return tasks_model_complete(&asked->model, top->reader->arena, top->reader->err) == PV_OK;
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_simulation *asked = object;
    if (node->reader->err->n_faults > 0 || node->reader->err->code != PV_OK ||
        !make_model(node, asked))
        return;
    check_groups(node, asked);
    check_placements(node, asked);
    if (node->reader->err->n_faults > 0)
        return;
    struct codec_comparison_size size = size_of(asked);
    codec_comparison_check(node, limits, &asked->common, &size);
    for (size_t p = 0; p < asked->common.n_policies; p++)
        asked->draws[p] = tasks_terms_draw(&asked->policies[p]);
}

/* --- the whole --- */

static void encode_kind(struct writer *w, const void *object, const void *context)
{
    (void)object;
    (void)context;
    writer_member_string(w, "kind", "tasks");
}

static void decode_policies(const struct codec_node *node, const void *limits, void *object)
{
    codec_policies_decode(node, &codec_tasks_policies, limits, object);
}

static void encode_policies(struct writer *w, const void *object, const void *context)
{
    (void)context;
    codec_policies_encode(w, &codec_tasks_policies, object);
}

#define C struct codec_tasks_cluster
static const struct shape_member cluster_members[] = {
    {"workers", SHAPE_SIZE(C, workers), .flags = CODEC_REQUIRED, .least = 1,
     .most = CODEC_COUNT_MAX},
};
const struct shape codec_tasks_cluster_shape = {.request = "TasksCluster",
                                                SHAPE_OF(cluster_members, C)};

#define A struct codec_tasks_simulation
static const struct shape_member members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED, .encode = encode_kind},
    {"cluster", SHAPE_OBJECT(A, cluster, &codec_tasks_cluster_shape), .flags = CODEC_REQUIRED},
    {"communication_s", SHAPE_NUMBER(A, communication_s), .flags = SHAPE_KEEP, .low = 0,
     .high = COMMUNICATION_MAX_S},
    {"short_cutoff_s", SHAPE_NUMBER(A, short_cutoff_s), .flags = CODEC_ABOVE | SHAPE_OMIT_UNKNOWN,
     .low = 0, .high = CODEC_SECONDS_MAX},
    {"jobs", SHAPE_OBJECTS(A, sent, n_jobs, &codec_tasks_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(struct codec_comparison_limits, jobs)},
    {"policies", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_policies,
     .encode = encode_policies},
    CODEC_COMPARISON_MEMBERS(A),
};
const struct shape codec_tasks_simulation_shape = {
    .request = "TasksSimulationRequest", SHAPE_OF(members, A), .check = check};

void codec_tasks_simulation_decode(const struct codec_node *node,
                                   const struct codec_comparison_limits *limits,
                                   struct codec_tasks_simulation *asked)
{
    *asked = (struct codec_tasks_simulation){.communication_s = COMMUNICATION_S};
    codec_comparison_begin(&asked->common);
    shape_decode(node, &codec_tasks_simulation_shape, limits, asked);
}

void codec_tasks_simulation_encode(struct writer *w, const struct codec_tasks_simulation *asked)
{
    shape_encode(w, &codec_tasks_simulation_shape, asked, 0, NULL);
}

struct tasks_comparison codec_tasks_simulation_take(const struct codec_tasks_simulation *asked)
{
    return (struct tasks_comparison){.plan = codec_comparison_plan(&asked->common, asked->draws),
                                     .model = &asked->model,
                                     .policies = asked->policies};
}
