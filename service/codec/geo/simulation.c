#include "codec/geo/simulation.h"

#include "codec/geo/planner_parameters.h"
#include "codec/geo/simulation_internal.h"
#include "codec/json/names.h"

/* The least arrival rate and the shortest slot: a million workflows arrive in fewer slots than a
 * number counts exactly. */
static const double RATE_MIN = 1e-6;
static const double RATE_MAX = 1e6;
static const double SECONDS_MAX = 1e9;
static const double DRAIN_TIMEOUT_S = 7 * 86400.0; /* where the request does not say */
static const int64_t SEED_MAX = INT64_C(9007199254740991);

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
                           "no policy of the request has this name");
    asked->baseline = found < asked->n_policies ? found : 0;
}

static void decode_policies(const struct codec_node *top, struct codec_simulation *asked)
{
    struct strview names[SIMULATION_POLICIES_MAX];
    struct codec_node list =
        codec_array(top, "policies", CODEC_REQUIRED, 1, SIMULATION_POLICIES_MAX);
    if (list.json == NULL)
        return;
    asked->n_policies = json_array_size(list.json);
    for (size_t i = 0; i < asked->n_policies; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_policy(&item, &asked->policies[i]);
        names[i] = asked->policies[i].name;
    }
    codec_refuse_same_names(&list, names, asked->n_policies,
                            "another policy has this name: give one of them another `name`");
    decode_baseline(top, asked);
}

/* --- arrival rates and repetitions --- */

static void decode_arrival_rates(const struct codec_node *top, struct codec_simulation *asked)
{
    struct codec_node list =
        codec_array(top, "arrival_rates_per_s", CODEC_REQUIRED, 1, SIMULATION_RATES_MAX);
    for (size_t i = 0; list.json != NULL && i < json_array_size(list.json); i++) {
        struct codec_node item = codec_item(&list, i);
        asked->arrival_rates_per_s[asked->n_rates] =
            codec_as_number(&item, CODEC_REQUIRED, RATE_MIN, RATE_MAX);
        for (size_t k = 0; k < asked->n_rates; k++)
            if (asked->arrival_rates_per_s[k] == asked->arrival_rates_per_s[asked->n_rates])
                codec_fault(&item, "duplicate", "this rate was given before");
        asked->n_rates++;
    }
}

static void decode_repetitions(const struct codec_node *top,
                               const struct codec_simulation_limits *limits,
                               struct codec_simulation *asked)
{
    int64_t given = codec_integer(top, "repetitions", CODEC_OPTIONAL, 1, (int64_t)limits->runs);
    asked->repetitions = given == RUN_UNKNOWN ? 1 : (size_t)given;
    if (top->reader->err->n_faults == 0 &&
        asked->repetitions > limits->runs / (asked->n_policies * asked->n_rates))
        codec_fault_member(
            top, "repetitions", "out_of_range",
            "policies x arrival_rates_per_s x repetitions may be %zu (simulation_runs_max), they "
            "are %zu x %zu x %zu",
            limits->runs, asked->n_policies, asked->n_rates, asked->repetitions);
}

void codec_simulation_decode(const struct codec_node *node,
                             const struct codec_simulation_limits *limits,
                             struct codec_simulation *asked)
{
    static const char *const known[] = {
        "kind", "workload", "topology",    "policies", "arrival_rates_per_s",
        "seed", "slot_s",   "repetitions", "baseline", "drain_timeout_s",
        NULL};
    *asked = (struct codec_simulation){.world = geosim_world_defaults};
    codec_refuse_unknown(node, known);
    simulation_decode_topology(node, limits, &asked->world);
    decode_policies(node, asked);
    decode_arrival_rates(node, asked);
    decode_repetitions(node, limits, asked);
    int64_t seed = codec_integer(node, "seed", CODEC_OPTIONAL, 0, SEED_MAX);
    asked->seed = seed == RUN_UNKNOWN ? 1 : seed;
    asked->drain_timeout_s = simulation_known_or(
        codec_number(node, "drain_timeout_s", CODEC_OPTIONAL | CODEC_ABOVE, 0, SECONDS_MAX),
        DRAIN_TIMEOUT_S);
    simulation_decode_workload(node, limits, asked);
}

/* --- with all defaults --- */

static void encode_policy(struct writer *w, const struct codec_simulation_policy *policy)
{
    const struct geosim_parameters *terms = &policy->terms;
    writer_begin_object(w);
    writer_member_text(w, "name", policy->name);
    writer_member_string(w, "policy", terms->planner.planner->name);
    codec_geo_parameters_encode(w, &terms->planner);
    if (terms->planner.planner->clones_running_tasks)
        writer_member_boolean(w, "clone_running", terms->clone_running);
    writer_end_object(w);
}

void codec_simulation_encode(struct writer *w, const struct codec_simulation *asked)
{
    writer_begin_object(w);
    writer_member_string(w, "kind", "geo");
    simulation_encode_workload(w, asked);
    simulation_encode_topology(w, &asked->world);
    writer_member_array(w, "policies");
    for (size_t i = 0; i < asked->n_policies; i++)
        encode_policy(w, &asked->policies[i]);
    writer_end_array(w);
    writer_member_text(w, "baseline", asked->policies[asked->baseline].name);
    writer_member_numbers(w, "arrival_rates_per_s", asked->arrival_rates_per_s, asked->n_rates);
    writer_member_integer(w, "repetitions", (int64_t)asked->repetitions);
    writer_member_integer(w, "seed", asked->seed);
    writer_member_number(w, "slot_s", asked->world.slot_s);
    writer_member_number(w, "drain_timeout_s", asked->drain_timeout_s);
    writer_end_object(w);
}
