#include "codec/geo/simulation.h"

#include "codec/geo/planner_parameters.h"
#include "codec/geo/simulation_internal.h"
#include "codec/json/names.h"

/* The least arrival rate and the shortest slot: a million workflows arrive in fewer slots than a
 * number counts exactly. */
#define ARRIVALS_MIN 1e-6
#define ARRIVALS_MAX 1e6
#define SLOT_MIN_S 1e-3
#define DRAIN_TIMEOUT_S (7 * 86400.0) /* where the request does not say */

/* --- policies --- */

static void decode_policy(const struct codec_node *node, struct codec_simulation_policy *policy)
{
    static const char *const others[] = {"name", "policy", "clone_running", NULL};
    struct geosim_parameters *terms = &policy->terms;
    size_t faults = node->reader->err->n_faults;
    if (!codec_expect_object(node))
        return;
    codec_geo_refuse_unknown(node, others);
    const struct geo_planner *planner = codec_geo_planner_decode(node, "policy", CODEC_REQUIRED);
    *terms = geosim_parameters_default(planner);
    policy->name = codec_name(node, "name", CODEC_OPTIONAL);
    if (policy->name.at == NULL && node->reader->err->n_faults == faults)
        policy->name = strview_of(planner->name);
    codec_geo_parameters_decode(node, &terms->planner);
    if (!planner->clones_running_tasks && codec_present(node, "clone_running"))
        codec_fault_member(node, "clone_running", "conflict",
                           "%s does not add copies to running tasks", planner->name);
    terms->clone_running =
        codec_boolean(node, "clone_running", CODEC_OPTIONAL, terms->clone_running);
}

static size_t find_policy(const struct codec_simulation *asked, struct strview name)
{
    size_t i = 0;
    while (i < asked->n_policies && !strview_equal(asked->policies[i].name, name))
        i++;
    return i;
}

/* The policy of that name; where none is named flutter, or the first one. */
static void decode_baseline(const struct codec_node *top, struct codec_simulation *asked)
{
    struct strview name = codec_name(top, "baseline", CODEC_OPTIONAL);
    size_t found = find_policy(asked, name.at != NULL ? name : strview_of("flutter"));
    if (found == asked->n_policies && name.at != NULL && top->reader->err->n_faults == 0)
        codec_fault_member(top, "baseline", "unknown_policy",
                           "must be the name of a policy of the request");
    asked->baseline = found < asked->n_policies ? found : 0;
}

static void decode_policies(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_simulation *asked = object;
    struct strview names[SIMULATION_POLICIES_MAX];
    (void)limits;
    struct codec_node list =
        codec_array(top, "policies", CODEC_REQUIRED, 1, SIMULATION_POLICIES_MAX);
    if (list.json == NULL)
        return;
    asked->n_policies = json_value_items(list.json);
    for (size_t i = 0; i < asked->n_policies; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_policy(&item, &asked->policies[i]);
        names[i] = asked->policies[i].name;
    }
    codec_refuse_same_names(&list, names, asked->n_policies,
                            "another policy has this name: give one of them another `name`");
    decode_baseline(top, asked);
}

static void encode_policies(struct writer *w, const void *object, const void *context)
{
    const struct codec_simulation *asked = object;
    (void)context;
    writer_member_array(w, "policies");
    for (size_t i = 0; i < asked->n_policies; i++) {
        const struct codec_simulation_policy *policy = &asked->policies[i];
        const struct geo_planner *planner = policy->terms.planner.planner;
        writer_begin_object(w);
        writer_member_text(w, "name", policy->name);
        writer_member_string(w, "policy", planner->name);
        codec_geo_parameters_encode(w, &policy->terms.planner);
        if (planner->clones_running_tasks)
            writer_member_boolean(w, "clone_running", policy->terms.clone_running);
        writer_end_object(w);
    }
    writer_end_array(w);
    writer_member_text(w, "baseline", asked->policies[asked->baseline].name);
}

/* --- the whole --- */

static void decode_arrival_rates(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_simulation *asked = object;
    double *rates = asked->arrival_rates_per_s;
    (void)limits;
    struct codec_node list =
        codec_array(top, "arrival_rates_per_s", CODEC_REQUIRED, 1, SIMULATION_RATES_MAX);
    for (size_t i = 0; list.json != NULL && i < json_value_items(list.json); i++) {
        struct codec_node item = codec_item(&list, i);
        rates[i] = codec_as_number(&item, CODEC_REQUIRED, ARRIVALS_MIN, ARRIVALS_MAX);
        for (size_t k = 0; k < i; k++)
            if (rates[k] == rates[i])
                codec_fault(&item, "duplicate", "this rate was given before");
        asked->n_rates++;
    }
}

static void encode_arrival_rates(struct writer *w, const void *object, const void *context)
{
    const struct codec_simulation *asked = object;
    (void)context;
    writer_member_numbers(w, "arrival_rates_per_s", asked->arrival_rates_per_s, asked->n_rates);
}

static void encode_kind(struct writer *w, const void *object, const void *context)
{
    (void)object;
    (void)context;
    writer_member_string(w, "kind", "geo");
}

#define A struct codec_simulation
enum { KEEP = SHAPE_KEEP };
static const struct shape_member members[] = {
    {"kind", SHAPE_CODE, .flags = CODEC_REQUIRED, .encode = encode_kind},
    {"workload", SHAPE_CODE, .encode = simulation_encode_workload},
    {"topology", SHAPE_OBJECT(A, world, &codec_simulation_topology_shape)},
    {"policies", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_policies,
     .encode = encode_policies},
    {"baseline", SHAPE_CODE}, /* with the policies */
    {"arrival_rates_per_s", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_arrival_rates,
     .encode = encode_arrival_rates},
    {"repetitions", SHAPE_SIZE(A, repetitions), .flags = KEEP, .least = 1,
     SHAPE_LIMIT(struct codec_simulation_limits, runs)},
    {"seed", SHAPE_COUNT(A, seed), .flags = KEEP, .most = CODEC_SEED_MAX},
    {"slot_s", SHAPE_NUMBER(A, world.slot_s), .flags = KEEP, .low = SLOT_MIN_S,
     .high = CODEC_SLOT_S_MAX},
    {"drain_timeout_s", SHAPE_NUMBER(A, drain_timeout_s), .flags = KEEP | CODEC_ABOVE,
     .high = CODEC_OUTAGE_S_MAX},
};
const struct shape codec_simulation_shape = {.request = "GeoSimulationRequest",
                                             SHAPE_OF(members, A)};

void codec_simulation_decode(const struct codec_node *node,
                             const struct codec_simulation_limits *limits,
                             struct codec_simulation *asked)
{
    *asked = (struct codec_simulation){.world = geosim_world_defaults,
                                       .repetitions = 1,
                                       .seed = 1,
                                       .drain_timeout_s = DRAIN_TIMEOUT_S};
    if (asked->world.n_clusters > limits->clusters)
        asked->world.n_clusters = limits->clusters;
    shape_decode(node, &codec_simulation_shape, limits, asked);
    simulation_check_topology(node, &asked->world);
    if (node->reader->err->n_faults == 0 &&
        asked->repetitions > limits->runs / (asked->n_policies * asked->n_rates))
        codec_fault_member(
            node, "repetitions", "out_of_range",
            "policies x arrival_rates_per_s x repetitions may be %zu (simulation_runs_max), they "
            "are %zu x %zu x %zu",
            limits->runs, asked->n_policies, asked->n_rates, asked->repetitions);
    simulation_decode_workload(node, limits, asked);
}

void codec_simulation_encode(struct writer *w, const struct codec_simulation *asked)
{
    shape_encode(w, &codec_simulation_shape, asked, 0, NULL);
}
