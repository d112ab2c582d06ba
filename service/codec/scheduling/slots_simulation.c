#include "codec/scheduling/slots_simulation.h"

#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "codec/scheduling/policy_search.h"
#include "codec/scheduling/slots_simulation_internal.h"
#include "core/scheduling/slots/slots_queues.h"
#include "core/scheduling/slots/slots_resources.h"

/* --- rules across members --- */

static void check_reduce_slots(const struct codec_node *top,
                               const struct codec_slots_simulation *asked)
{
    struct codec_node cluster = codec_member(top, "cluster");
    size_t with = 0;
    for (size_t i = 0; i < asked->n_jobs; i++)
        with += asked->jobs[i].task_lists[SLOTS_REDUCE].n > 0;
    if (with > 0 && asked->cluster.slots[SLOTS_REDUCE] == 0 && !codec_slots_has_room(asked))
        codec_fault_member(&cluster, codec_slots_place(asked, SLOTS_REDUCE), "out_of_range",
                           "%zu job%s %s reduces, which need a slot", with, PLURAL(with),
                           PLURAL_VERB(with, "has", "have"));
}

size_t codec_slots_tenants(const struct codec_slots_simulation *asked)
{
    size_t tenants = SIZE_MAX;
    for (size_t p = 0; p < asked->common.n_policies; p++)
        if (asked->policies[p].tenants != NULL && asked->policies[p].n_tenants < tenants)
            tenants = asked->policies[p].n_tenants;
    return tenants;
}

/* A job's queue is one of those of every policy "capacity". */
static void check_queues(const struct codec_node *top, const struct codec_slots_simulation *asked)
{
    struct codec_node list = codec_member(top, "jobs");
    size_t tenants = codec_slots_tenants(asked);
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
    struct codec_node cluster = codec_member(top, "cluster");
    for (size_t kind = 0; kind < SLOTS_KINDS; kind++)
        for (size_t p = 0; p < asked->common.n_policies; p++) {
            const struct slots_terms *terms = &asked->policies[p];
            size_t slots = asked->cluster.slots[kind];
            if (terms->partitions == NULL || slots == 0 ||
                slots_queues_suffice(slots, terms->partitions, terms->n_limits + 1))
                continue;
            struct strview name = strview_clip(asked->common.names[p], 64);
            codec_fault_member(&cluster, codec_slots_place(asked, (enum slots_kind)kind),
                               "out_of_range",
                               "of %zu slot%s none is left for the last partition of %.*s", slots,
                               PLURAL(slots), (int)name.n, name.at);
            break;
        }
}

void codec_slots_check_splits(const struct codec_node *top,
                              const struct codec_comparison_limits *limits,
                              const struct codec_slots_simulation *asked,
                              double n_jobs)
{
    struct codec_node policies = codec_member(top, "policies");
    double splits =
        ((double)asked->cluster.slots[SLOTS_MAP] + (double)asked->cluster.slots[SLOTS_REDUCE]) *
        n_jobs;
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        struct codec_node item = codec_item(&policies, p);
        if (asked->policies[p].policy == &slots_policy_fresh_static &&
            splits > (double)limits->splits)
            codec_fault_member(&item, "policy", "out_of_range",
                               "needs slots x jobs of at most %zu to find its split "
                               "(slot_splits_max), they are %.0f",
                               limits->splits, splits);
    }
}

bool codec_slots_need_maps(const struct codec_slots_simulation *asked)
{
    bool any = false;
    for (size_t p = 0; p < asked->common.n_policies; p++) {
        const struct slots_policy *policy = asked->policies[p].policy;
        any = any || policy == &slots_policy_fresh_static || policy == &slots_policy_fresh;
    }
    return any;
}

static void check_maps(const struct codec_node *top, const struct codec_slots_simulation *asked)
{
    struct codec_node jobs = codec_member(top, "jobs");
    bool needed = codec_slots_need_maps(asked);
    for (size_t i = 0; needed && i < asked->n_jobs; i++) {
        struct codec_node item = codec_item(&jobs, i);
        if (asked->jobs[i].task_lists[SLOTS_MAP].n == 0)
            codec_fault_member(&item, "maps", "out_of_range", "under FRESH every job needs a map");
    }
}

/* A law that nobody gave can be learnt from a workload alone. */
static void check_prediction(const struct codec_node *top,
                             const struct codec_slots_simulation *asked)
{
    bool from_input = asked->predicted_sizes == PREDICTED_FROM_INPUT;
    bool given = codec_present(top, "seconds_per_byte");
    if (given && !from_input)
        codec_fault_member(top, "seconds_per_byte", "conflict",
                           "is how sizes are predicted where predicted_sizes is input");
    if (from_input && !given && codec_present(top, "jobs"))
        codec_fault_member(top, "seconds_per_byte", "required",
                           "is required where sizes of jobs of the request are predicted from "
                           "input");
}

/* Candidates of a search are of policies whose weight is 1. */
double codec_slots_probed(const struct codec_slots_simulation *asked, double tasks, size_t n_jobs)
{
    double weight = asked->common.search.asked ? 1 : 0;
    for (size_t p = 0; p < asked->common.n_policies; p++)
        weight += slots_terms_weight(&asked->policies[p], &asked->cluster, n_jobs);
    return tasks * weight +
           (double)asked->common.n_policies * slots_cluster_incident_tasks(&asked->cluster, tasks);
}

struct codec_comparison_size codec_slots_size_of(const struct codec_slots_simulation *asked)
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
    size.probed = codec_slots_probed(asked, size.tasks, asked->n_jobs);
    /* Arrivals at a load are as far apart as if there were so many slots. */
    if (codec_slots_has_room(asked))
        size.slots = size.work_s /
                     slots_resources_busy_s(&asked->cluster, asked->jobs, asked->n_jobs, false);
    codec_slots_size_by_nodes(&asked->cluster, &size);
    codec_slots_size_by_network(asked, &size);
    return size;
}

static void check_size(const struct codec_node *top,
                       const struct codec_comparison_limits *limits,
                       const struct codec_slots_simulation *asked)
{
    struct codec_comparison_size size = codec_slots_size_of(asked);
    struct slots_comparison comparison = {.cluster = asked->cluster,
                                          .jobs = asked->jobs,
                                          .n_jobs = asked->n_jobs,
                                          .tasks = (size_t)size.tasks};
    size.memory_bytes = slots_comparison_memory(&comparison);
    codec_comparison_check(top, limits, &asked->common, &size);
    codec_slots_check_occupancy(top, limits, asked, size.tasks);
}

void codec_slots_check_occupancy(const struct codec_node *top,
                                 const struct codec_comparison_limits *limits,
                                 const struct codec_slots_simulation *asked,
                                 double tasks)
{
    double loads = asked->common.n_loads > 0 ? (double)asked->common.n_loads : 1;
    double rows = tasks * (double)codec_comparison_entries(&asked->common) * loads;
    if ((asked->common.include & COMPARISON_INCLUDE_OCCUPANCY) != 0 &&
        rows > (double)limits->job_rows)
        codec_fault_member(top, "include", "too_large",
                           "tasks x policies x loads are %.0f, at most %zu of them can be included "
                           "(simulation_job_rows_max)",
                           rows, limits->job_rows);
}

/* What the core works with. false: no memory. */
static bool take_jobs(const struct codec_node *top, struct codec_slots_simulation *asked)
{
    const struct workload_size_law law = {
        .jobs = 1, .seconds_per_byte = asked->seconds_per_byte, .without_input_s = (double)NAN};
    asked->n_jobs = asked->n_sent;
    asked->jobs = codec_allocate(top, asked->n_jobs, sizeof *asked->jobs);
    if (asked->jobs == NULL)
        return false;
    for (size_t i = 0; i < asked->n_jobs; i++) {
        const struct codec_slots_job *sent = &asked->sent[i];
        asked->jobs[i] = sent->job;
        if (asked->predicted_sizes == PREDICTED_FROM_INPUT && sent->input_bytes != RUN_UNKNOWN &&
            isnan(sent->job.predicted_size_s))
            asked->jobs[i].predicted_size_s =
                workload_predict_size(&law, (double)sent->input_bytes);
    }
    return true;
}

static void check_jobs(const struct codec_node *top,
                       const struct codec_comparison_limits *limits,
                       struct codec_slots_simulation *asked)
{
    if (!take_jobs(top, asked))
        return;
    check_reduce_slots(top, asked);
    check_queues(top, asked);
    codec_slots_check_network(top, asked);
    codec_slots_check_splits(top, limits, asked, (double)asked->n_jobs);
    check_maps(top, asked);
    if (top->reader->err->n_faults == 0)
        codec_slots_check_search(top, asked);
    check_size(top, limits, asked);
}

static void check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slots_simulation *asked = object;
    codec_comparison_check_source(node);
    check_prediction(node, asked);
    if (node->reader->err->n_faults > 0 || node->reader->err->code != PV_OK)
        return;
    codec_slots_take_cluster(node, asked);
    codec_slots_limit_network(limits, asked);
    codec_slots_check_speculation(node, limits, asked);
    if (node->reader->err->n_faults > 0 || node->reader->err->code != PV_OK)
        return;
    codec_slots_take_containers(node, asked);
    if (node->reader->err->n_faults > 0 || node->reader->err->code != PV_OK)
        return;
    if (asked->common.search.asked)
        codec_search_complete(node, &codec_slots_policies, &codec_slots_families, asked);
    check_partitions(node, asked);
    if (asked->common.workload[0] != '\0')
        codec_slots_check_workload(node, limits, asked);
    else
        check_jobs(node, limits, asked);
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

static void decode_search(const struct codec_node *node, const void *limits, void *object)
{
    codec_search_decode(node, &codec_slots_families, &codec_slots_search_shape, limits, object);
}

static void encode_search(struct writer *w, const void *object, const void *context)
{
    (void)context;
    codec_search_encode(w, &codec_slots_families, object);
}

static void decode_containers(const struct codec_node *node, const void *limits, void *object)
{
    (void)limits;
    codec_slots_decode_containers(node, ((struct codec_slots_simulation *)object)->containers);
}

static void encode_map_container(struct writer *w, const void *object, const void *context)
{
    const struct codec_slots_simulation *asked = object;
    (void)context;
    codec_slots_encode_container(w, SLOTS_MAP, &asked->containers[SLOTS_MAP]);
}

static void encode_reduce_container(struct writer *w, const void *object, const void *context)
{
    const struct codec_slots_simulation *asked = object;
    (void)context;
    codec_slots_encode_container(w, SLOTS_REDUCE, &asked->containers[SLOTS_REDUCE]);
}

/* As enum COMPARISON_INCLUDE_* has them. */
static const char *const includes[] = {"jobs",     "queues",    "distributions",
                                       "fairness", "occupancy", NULL};

static const char *const predictions[] = {
    [PREDICTED_EXACT] = "exact", [PREDICTED_FROM_INPUT] = "input", NULL};

#define A struct codec_slots_simulation
static const struct shape_member members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED, .encode = encode_kind},
    {"cluster", SHAPE_OBJECT(A, sent_cluster, &codec_slots_cluster_shape), .flags = CODEC_REQUIRED},
    {"incidents", SHAPE_OBJECTS(A, sent_incidents, n_sent_incidents, &codec_slots_incident_shape),
     .flags = SHAPE_OMIT_UNKNOWN, .most = CODEC_INCIDENTS_MAX},
    {"slow_start", SHAPE_NUMBER(A, cluster.slow_start), .flags = SHAPE_KEEP, .low = 0, .high = 1},
    {"map_container", SHAPE_CODE, .decode = decode_containers, .encode = encode_map_container},
    {"reduce_container", SHAPE_CODE, .encode = encode_reduce_container},
    {"reduce_ramp_up_limit", SHAPE_NUMBER(A, ramp_up), .flags = SHAPE_OMIT_UNKNOWN, .low = 0,
     .high = 1},
    {"predicted_sizes", SHAPE_WORD(A, predicted_sizes, predictions), .flags = SHAPE_KEEP},
    {"seconds_per_byte", SHAPE_NUMBER(A, seconds_per_byte),
     .flags = CODEC_ABOVE | SHAPE_OMIT_UNKNOWN, .low = 0, .high = CODEC_SECONDS_MAX},
    {"jobs", SHAPE_OBJECTS(A, sent, n_sent, &codec_slots_job_shape), .flags = SHAPE_OMIT_UNKNOWN,
     .least = 1, SHAPE_LIMIT(struct codec_comparison_limits, jobs)},
    {"policies", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_policies,
     .encode = encode_policies},
    CODEC_COMPARISON_MEMBERS_WITH(A, includes),
    {"search", SHAPE_CODE, .decode = decode_search, .encode = encode_search},
};
const struct shape codec_slots_simulation_shape = {
    .request = "SlotsSimulationRequest", SHAPE_OF(members, A), .check = check};

void codec_slots_simulation_decode(const struct codec_node *node,
                                   const struct codec_comparison_limits *limits,
                                   struct codec_slots_simulation *asked)
{
    *asked = (struct codec_slots_simulation){.cluster = {.slow_start = SLOTS_SLOW_START}};
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
    static const bool draws[COMPARISON_POLICIES_MAX + 1]; /* none of them */
    struct slots_terms *policies =
        arena_calloc(arena, COMPARISON_POLICIES_MAX + 1, sizeof *policies);
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
