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
    size_t workers = asked->model.workers;
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        struct codec_node item = codec_item(&list, p);
        if (asked->policies[p].groups > workers)
            codec_fault_member(&item, "groups", "out_of_range",
                               "must not be more than the %zu worker%s", workers, PLURAL(workers));
    }
}

static void check_bindings(const struct codec_node *job,
                           const struct codec_tasks_simulation *asked,
                           const struct tasks_job *tasks)
{
    struct codec_node bound = codec_member(job, "bound_to");
    size_t workers = asked->model.workers;
    for (uint32_t i = 0; i < tasks->tasks; i++) {
        struct codec_node item = codec_item(&bound, i);
        for (uint32_t k = 0; k < tasks->bindings[i].n; k++) {
            struct codec_node at = codec_item(&item, k);
            if (tasks->bindings[i].workers[k] >= workers)
                codec_fault(&at, "out_of_range", "there %s %zu worker%s, from 0 on",
                            PLURAL_VERB(workers, "is", "are"), workers, PLURAL(workers));
        }
    }
}

/* A comparison with a policy that sends bound tasks anywhere would say nothing. */
static void check_bound(const struct codec_node *top, const struct codec_tasks_simulation *asked)
{
    struct codec_node list = codec_member(top, "jobs");
    bool others = false;
    for (size_t p = 0; p < asked->common.n_policies; p++)
        others = others || asked->policies[p].policy != &pigeon_policy;
    for (size_t j = 0; j < asked->n_jobs; j++) {
        struct codec_node item = codec_item(&list, j);
        if (asked->jobs[j].bindings == NULL)
            continue;
        if (others)
            codec_fault_member(&item, "bound_to", "conflict",
                               "policies other than `pigeon` know no tasks that are bound");
        check_bindings(&item, asked, &asked->jobs[j]);
    }
}

/* The most and the least power of workers. */
static void find_powers(const struct codec_tasks_simulation *asked, double *most, double *least)
{
    *most = 1;
    *least = 1;
    for (uint32_t g = 0; g < asked->n_groups; g++) {
        double power = asked->groups[g].power;
        *most = g == 0 ? power : fmax(*most, power);
        *least = g == 0 ? power : fmin(*least, power);
    }
}

static void add_policies(const struct codec_tasks_simulation *asked,
                         struct codec_comparison_size *size)
{
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        const struct tasks_terms *terms = &asked->policies[p];
        bool probes = terms->policy == &sparrow_policy || terms->policy == &eagle_policy;
        size_t memory_bytes = tasks_comparison_memory(&asked->model, terms);
        size->probed += size->tasks * (probes ? (double)terms->probes_per_task : 1);
        size->last_s = fmax(size->last_s, codec_pigeon_failures_last_s(terms));
        if (memory_bytes > size->memory_bytes) {
            size->memory_bytes = memory_bytes;
            size->memory_policy = p;
        }
    }
}

static struct codec_comparison_size size_of(const struct codec_tasks_simulation *asked)
{
    const struct tasks_model *model = &asked->model;
    double most, least;
    find_powers(asked, &most, &least);
    struct codec_comparison_size size = {.jobs = asked->n_jobs,
                                         .tasks = (double)model->tasks,
                                         .shortest_s = HUGE_VAL,
                                         .work_s = model->work_s / least,
                                         .slots = tasks_model_capacity(model)};
    for (uint32_t j = 0; j < model->n_jobs; j++) {
        size.last_s = fmax(size.last_s, model->jobs[j].arrival_s);
        for (uint32_t i = 0; i < model->jobs[j].tasks; i++)
            size.shortest_s = fmin(size.shortest_s, model->jobs[j].durations_s[i] / most);
    }
    add_policies(asked, &size);
    return size;
}

/* The workers, in groups where the cluster lists them; policies have these groups then. false: no
 * memory. */
static bool make_workers(const struct codec_node *top, struct codec_tasks_simulation *asked)
{
    const struct codec_tasks_cluster *cluster = &asked->cluster;
    asked->model.workers = (uint32_t)cluster->workers;
    if (cluster->n_groups == 0)
        return true;
    asked->groups = codec_tasks_groups(top, cluster);
    if (asked->groups == NULL)
        return false;
    asked->n_groups = (uint32_t)cluster->n_groups;
    asked->model.workers = 0;
    for (uint32_t g = 0; g < asked->n_groups; g++)
        asked->model.workers += asked->groups[g].workers;
    asked->model.capacity = pigeon_layout_capacity(asked->groups, asked->n_groups);
    for (size_t p = 0; p < asked->common.n_policies; p++)
        if (asked->policies[p].policy == &pigeon_policy)
            asked->policies[p].groups = asked->n_groups;
    return true;
}

/* What the core works with. false: no memory. */
static bool make_model(const struct codec_node *top, struct codec_tasks_simulation *asked)
{
    asked->jobs = codec_allocate(top, asked->n_jobs, sizeof *asked->jobs);
    if (asked->jobs == NULL)
        return false;
    for (size_t i = 0; i < asked->n_jobs; i++)
        asked->jobs[i] = asked->sent[i].job;
    asked->model = (struct tasks_model){.communication_s = asked->communication_s,
                                        .n_classes = (uint32_t)asked->n_classes,
                                        .jobs = asked->jobs,
                                        .n_jobs = (uint32_t)asked->n_jobs};
    return make_workers(top, asked) &&
           tasks_model_complete(&asked->model, top->reader->arena, top->reader->err) == PV_OK;
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_simulation *asked = object;
    const struct pv_error *err = node->reader->err;
    codec_tasks_classes_of_jobs(node, asked);
    codec_pigeon_terms_check(node, asked);
    if (err->n_faults > 0 || err->code != PV_OK || !make_model(node, asked))
        return;
    codec_tasks_powers_check(node, asked);
    check_groups(node, asked);
    check_placements(node, asked);
    check_bound(node, asked);
    codec_pigeon_layouts_complete(node, asked);
    if (err->n_faults > 0 || err->code != PV_OK)
        return;
    struct codec_comparison_size size = size_of(asked);
    codec_pigeon_reports_check(node, asked, codec_comparison_longest_s(&asked->common, &size));
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

#define A struct codec_tasks_simulation
static const struct shape_member members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED, .encode = encode_kind},
    {"cluster", SHAPE_OBJECT(A, cluster, &codec_tasks_cluster_shape), .flags = CODEC_REQUIRED},
    {"communication_s", SHAPE_NUMBER(A, communication_s), .flags = SHAPE_KEEP, .low = 0,
     .high = COMMUNICATION_MAX_S},
    {"short_cutoff_s", SHAPE_NUMBER(A, short_cutoff_s), .flags = CODEC_ABOVE | SHAPE_OMIT_UNKNOWN,
     .low = 0, .high = CODEC_SECONDS_MAX},
    {"classes", SHAPE_CODE, .decode = codec_tasks_classes_decode,
     .encode = codec_tasks_classes_encode},
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
