#include "codec/scheduling/tasks_simulation.h"

#include <math.h>

#include "base/plural.h"
#include "codec/scheduling/policy_search.h"
#include "codec/scheduling/tasks_simulation_internal.h"
#include "core/scheduling/tasks/tasks_policy.h"

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
                         const struct tasks_model *model,
                         struct codec_comparison_size *size)
{
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        const struct tasks_terms *terms = &asked->policies[p];
        size_t memory_bytes = tasks_comparison_memory(model, terms);
        size->probed += tasks_comparison_work(model, terms);
        size->last_s = fmax(size->last_s, codec_pigeon_failures_last_s(terms));
        if (memory_bytes > size->memory_bytes) {
            size->memory_bytes = memory_bytes;
            size->memory_policy = p;
        }
    }
    size->probed += codec_tasks_most_work(asked, model);
}

/* By the model, whose jobs may be counted only. */
static struct codec_comparison_size size_of(const struct codec_tasks_simulation *asked,
                                            const struct tasks_model *model)
{
    double most, least;
    find_powers(asked, &most, &least);
    struct codec_comparison_size size = {.jobs = model->n_jobs,
                                         .tasks = (double)model->tasks,
                                         .shortest_s = HUGE_VAL,
                                         .work_s = model->work_s / least,
                                         .slots = tasks_model_capacity(model)};
    for (uint32_t j = 0; model->jobs != NULL && j < model->n_jobs; j++) {
        size.last_s = fmax(size.last_s, model->jobs[j].arrival_s);
        for (uint32_t i = 0; i < model->jobs[j].tasks; i++)
            size.shortest_s = fmin(size.shortest_s, model->jobs[j].durations_s[i] / most);
    }
    add_policies(asked, model, &size);
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

/* What the core works with, once there are workers and jobs. */
static enum pv_code
make_model(struct codec_tasks_simulation *asked, struct arena *arena, struct pv_error *err)
{
    asked->model.communication_s = asked->communication_s;
    asked->model.n_classes = (uint32_t)asked->n_classes;
    asked->model.jobs = asked->jobs;
    asked->model.n_jobs = (uint32_t)asked->n_jobs;
    return tasks_model_complete(&asked->model, arena, err);
}

/* The jobs that were sent, with their classes. false: no memory. */
static bool take_jobs(const struct codec_node *top, struct codec_tasks_simulation *asked)
{
    asked->n_jobs = asked->n_sent;
    asked->jobs = codec_allocate(top, asked->n_jobs, sizeof *asked->jobs);
    if (asked->jobs == NULL)
        return false;
    for (size_t i = 0; i < asked->n_jobs; i++)
        asked->jobs[i] = asked->sent[i].job;
    return make_model(asked, top->reader->arena, top->reader->err) == PV_OK;
}

struct workload_load_terms
codec_tasks_simulation_load_terms(const struct codec_tasks_simulation *asked)
{
    return (struct workload_load_terms){.target = WORKLOAD_FOR_TASKS,
                                        .names =
                                            (asked->common.include & COMPARISON_INCLUDE_JOBS) != 0,
                                        .short_cutoff_s = asked->short_cutoff_s};
}

static bool has_faults(const struct codec_node *top)
{
    return top->reader->err->n_faults > 0 || top->reader->err->code != PV_OK;
}

/* Layouts, how long it takes and what it takes, of a model whose jobs may be counted only. */
static void check_size(const struct codec_node *top,
                       const struct codec_comparison_limits *limits,
                       const struct codec_tasks_simulation *asked,
                       const struct tasks_model *model,
                       size_t load_bytes)
{
    struct codec_comparison_size size = size_of(asked, model);
    size.load_bytes = load_bytes;
    codec_pigeon_reports_check(top, asked, codec_comparison_longest_s(&asked->common, &size));
    codec_comparison_check(top, limits, &asked->common, &size);
}

static void check_workload(const struct codec_node *top,
                           const struct codec_comparison_limits *limits,
                           struct codec_tasks_simulation *asked)
{
    const struct workload_summary *workload = limits->workload;
    const struct workload_load_terms terms = codec_tasks_simulation_load_terms(asked);
    if (asked->n_classes > 0)
        codec_fault_member(top, "classes", "conflict",
                           "jobs of a workload are short or long: none names its class");
    codec_pigeon_layouts_complete(top, asked);
    if (workload == NULL || has_faults(top))
        return;
    if (workload->jobs > UINT32_MAX) {
        codec_fault_member(top, "workload", "too_large", "it has more jobs than can be simulated");
        return;
    }
    const struct tasks_model counted = {.workers = asked->model.workers,
                                        .capacity = asked->model.capacity,
                                        .n_jobs = (uint32_t)workload->jobs,
                                        .tasks = workload->tasks[WORKLOAD_TASKS] +
                                                 workload->tasks[WORKLOAD_REDUCES]};
    size_t load_bytes = codec_comparison_load_bytes(workload, &terms);
    codec_tasks_check_search(top, limits, &counted, load_bytes, asked);
    check_size(top, limits, asked, &counted, load_bytes);
}

static void check_jobs(const struct codec_node *top,
                       const struct codec_comparison_limits *limits,
                       struct codec_tasks_simulation *asked)
{
    if (!take_jobs(top, asked))
        return;
    check_placements(top, asked);
    check_bound(top, asked);
    codec_pigeon_layouts_complete(top, asked);
    if (has_faults(top))
        return;
    codec_tasks_check_search(top, limits, &asked->model, 0, asked);
    check_size(top, limits, asked, &asked->model, 0);
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_simulation *asked = object;
    codec_comparison_check_source(node);
    codec_tasks_classes_of_jobs(node, asked);
    codec_pigeon_terms_check(node, asked);
    codec_tasks_check_searchable(node, asked);
    if (has_faults(node) || !make_workers(node, asked))
        return;
    if (asked->common.search.asked)
        codec_search_complete(node, &codec_tasks_policies, &codec_tasks_families, asked);
    codec_tasks_powers_check(node, asked);
    check_groups(node, asked);
    if (asked->common.workload[0] != '\0')
        check_workload(node, limits, asked);
    else
        check_jobs(node, limits, asked);
    for (size_t p = 0; p < asked->common.n_policies; p++)
        asked->draws[p] = tasks_terms_draw(&asked->policies[p]);
    /* What is found may draw: whether it does is known once it is found. */
    asked->draws[asked->common.n_policies] = true;
}

enum pv_code codec_tasks_simulation_load(struct codec_tasks_simulation *asked,
                                         const struct workload_jobs *jobs,
                                         struct arena *arena,
                                         struct pv_error *err)
{
    asked->jobs = jobs->tasks;
    asked->n_jobs = jobs->n;
    asked->names = jobs->names;
    PV_TRY(make_model(asked, arena, err));
    PV_TRY(codec_tasks_choose_candidates(asked, arena, err));
    struct codec_comparison_size size = size_of(asked, &asked->model);
    return codec_comparison_check_loaded(&asked->common, &size, err);
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

static void decode_search(const struct codec_node *node, const void *limits, void *object)
{
    codec_search_decode(node, &codec_tasks_families, &codec_tasks_search_shape, limits, object);
}

static void encode_search(struct writer *w, const void *object, const void *context)
{
    (void)context;
    codec_search_encode(w, &codec_tasks_families, object);
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
    {"jobs", SHAPE_OBJECTS(A, sent, n_sent, &codec_tasks_job_shape), .flags = SHAPE_OMIT_UNKNOWN,
     .least = 1, SHAPE_LIMIT(struct codec_comparison_limits, jobs)},
    {"policies", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_policies,
     .encode = encode_policies},
    CODEC_COMPARISON_MEMBERS(A),
    {"search", SHAPE_CODE, .decode = decode_search, .encode = encode_search},
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
