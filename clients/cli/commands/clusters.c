#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/one_call_rows.h"
#include "cli/commands/query.h"
#include "cli/commands/registered.h"

enum { CLUSTERS_LIMIT = 50 };

static const struct column columns[] = {
    {"cluster", "name", CELL_NAME, NULL},
    {"description", "description", CELL_TEXT, NULL},
    {"labels", "labels", CELL_TEXT, NULL},
    {"executors", "executors", CELL_COUNT, NULL},
    {"cores each", "cores_per_executor", CELL_COUNT, NULL},
    {"memory each", "memory_bytes_per_executor", CELL_BYTES, NULL},
    {"machine type", "machine_type", CELL_TEXT, NULL},
    {"price book", "price_book", CELL_TEXT, NULL},
    {"slots", "slots", CELL_COUNT, NULL},
    {"slot", "slot_s", CELL_SECONDS, NULL},
    {"unreachable", "unreachable_probability", CELL_PROBABILITY, NULL},
    {"in, a second", "ingress_bytes_per_s", CELL_BYTES, NULL},
    {"out, a second", "egress_bytes_per_s", CELL_BYTES, NULL},
    {"updated", "updated_at", CELL_INSTANT, NULL},
    {"ETag", "etag", CELL_TEXT, NULL},
};

static const char *const read_only[] = {"id", "name", "version", "created_at", "updated_at", NULL};
static const struct registered clusters = {"/v1/clusters/", "cluster", columns, COUNT(columns),
                                           read_only};

/* --- list and show --- */

static const struct option_spec list_options[] = {
    OPTION_LABEL,
    {"price-book", 0, OPTION_TEXT, "NAME", "Only clusters priced by this book.", false},
    {"machine-type", 0, OPTION_TEXT, "NAME", "Only clusters of this type of machine.", false},
    OPTION_LIMIT,
    OPTIONS_END};
static const struct option_group list_group = {"Options", list_options};

static int run(struct invocation *invocation)
{
    static const struct column list_columns[] = {
        {"cluster", "name", CELL_NAME, NULL},
        {"executors", "executors", CELL_COUNT, NULL},
        {"cores each", "cores_per_executor", CELL_COUNT, NULL},
        {"slots", "slots", CELL_COUNT, NULL},
        {"machine type", "machine_type", CELL_TEXT, NULL},
        {"price book", "price_book", CELL_TEXT, NULL},
        {"labels", "labels", CELL_TEXT, NULL},
        {"updated", "updated_at", CELL_MINUTE, NULL},
    };
    static struct query query;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    query_begin(&query, invocation);
    query_option(&query, "label", "label");
    query_option(&query, "price-book", "price_book");
    query_option(&query, "machine-type", "machine_type");
    return query_list(&query, "/v1/clusters", CLUSTERS_LIMIT, "clusters", list_columns,
                      COUNT(list_columns));
}

static int run_show(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    json_t *shown = NULL;
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    bool good = registered_get(invocation, &clusters, &reply, &shown);
    if (good) {
        const struct section section = {
            .value = shown, .columns = columns, .n_columns = COUNT(columns)};
        good = invocation_write_report(invocation, &section, 1, reply.json);
    }
    json_decref(shown);
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* --- put and delete --- */

static const struct option_spec put_options[] = {OPTION_IF_MATCH, OPTION_CREATE, OPTIONS_END};
static const struct option_group put_group = {"Options", put_options};
static const struct option_spec delete_options[] = {OPTION_YES, OPTION_IF_MATCH, OPTIONS_END};
static const struct option_group delete_group = {"Options", delete_options};

static int run_put(struct invocation *invocation)
{
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    return registered_put_document(invocation, &clusters, invocation_word(invocation, 1));
}

static int run_delete(struct invocation *invocation)
{
    if (!invocation_begin(invocation, 1U << FORM_TABLE))
        return invocation_failed(invocation);
    return registered_delete(invocation, &clusters);
}

static const struct command command_show = {.name = "show",
                                            .summary = "Show a cluster and its ETag.",
                                            .positional = "CLUSTER",
                                            .positional_min = 1,
                                            .positional_max = 1,
                                            .examples = "  provisor clusters show eu-1",
                                            .run = run_show};

static const struct command command_put = {
    .name = "put",
    .summary = "Register a cluster, or replace its registration.",
    .description =
        "Reads the cluster from a JSON or YAML file, or from standard input (-). What the file "
        "does not name becomes unknown. What is there is overwritten, unless --if-match or "
        "--create guards it. What `provisor clusters show -o json` wrote can be put back.",
    .positional = "CLUSTER FILE",
    .positional_min = 2,
    .positional_max = 2,
    .examples = "  provisor clusters put eu-1 cluster.yaml\n"
                "  provisor clusters show eu-1 -o yaml > eu-1.yaml\n"
                "  provisor clusters put eu-1 eu-1.yaml --if-match '\"3\"'",
    .groups = {&put_group},
    .run = run_put};

static const struct command command_delete = {
    .name = "delete",
    .summary = "Delete a cluster.",
    .description = "Refused while something refers to it, such as a row of a price book.",
    .positional = "CLUSTER",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor clusters delete eu-1 --yes",
    .groups = {&delete_group},
    .run = run_delete};

/* --- speeds --- */

static const struct column speed_columns[] = {
    {"operation", "operation", CELL_NAME, NULL}, {"a second", "mean_bytes_per_s", CELL_BYTES, NULL},
    {"samples", "samples", CELL_COUNT, NULL},    {"weight", "weight", CELL_NUMBER, NULL},
    {"of", "source", CELL_TEXT, NULL},           {"newest", "newest_at", CELL_MINUTE, NULL},
};
static const struct column transfer_columns[] = {
    {"from", "from", CELL_NAME, NULL},        {"a second", "mean_bytes_per_s", CELL_BYTES, NULL},
    {"samples", "samples", CELL_COUNT, NULL}, {"weight", "weight", CELL_NUMBER, NULL},
    {"of", "source", CELL_TEXT, NULL},        {"newest", "newest_at", CELL_MINUTE, NULL},
};
static const struct column availability_columns[] = {
    {"unreachable in a slot", "availability.outage_probability", CELL_SHARE, NULL},
    {"outages", "availability.outage_count", CELL_COUNT, NULL},
    {"observed", "availability.observed_s", CELL_SECONDS, NULL},
    {"down", "availability.downtime_s", CELL_SECONDS, NULL},
};
static const struct one_call performance = {
    .method = "GET",
    .path = "/v1/clusters/{}/performance",
    .parts = {PART("Speeds of operations", "processing", speed_columns),
              PART("Transfers to it", "transfers", transfer_columns),
              PART("Availability", "", availability_columns)}};
static const struct one_call report = {
    .method = "POST", .path = "/v1/clusters/{}/samples", .has_file = true, .once = true};

static const struct command command_performance = {
    .name = "performance",
    .summary = "Show the reported speeds and outages of a cluster.",
    POSITIONAL("CLUSTER", 1),
    .examples = "  provisor clusters performance eu-1",
    CALLS(performance)};

static const struct command command_report = {
    .name = "report",
    .summary = "Report speeds and outages of a cluster.",
    .description =
        "Reads the samples from a JSON or YAML file, or from standard input (-), as POST "
        "/v1/clusters/{name}/samples takes them.",
    POSITIONAL("CLUSTER FILE", 2),
    .examples = "  provisor clusters report eu-1 samples.yaml",
    CALLS(report)};

static const struct command *const subcommands[] = {
    &command_show, &command_put, &command_delete, &command_performance, &command_report, NULL};

const struct command command_clusters = {
    .name = "clusters",
    .summary = "List the registered clusters.",
    .description = "A registered cluster can be named wherever a request could also say how large "
                   "a cluster is and what it costs.",
    .examples = "  provisor clusters\n"
                "  provisor clusters --price-book list-2026 -o json",
    .groups = {&list_group},
    .subcommands = subcommands,
    .run = run};
