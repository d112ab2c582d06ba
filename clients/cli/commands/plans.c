#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"

/* `copies`, `contention` and `memory`: a request in a file, the answer as tables. */

typedef bool write_answer(struct invocation *invocation, const json_t *reply);

/* The request is given away. */
static int
send(struct invocation *invocation, const char *path, json_t *request, write_answer *write)
{
    struct remote_reply reply = {.status = 0};
    bool good =
        post_document(invocation, path, request, false, &reply) && write(invocation, reply.json);
    remote_reply_clear(&reply);
    return good ? EXIT_DONE : invocation_failed(invocation);
}

/* The document in the file that the command names; NULL: recorded. */
static json_t *read_request(struct invocation *invocation)
{
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return NULL;
    return invocation_read_document(invocation, invocation_word(invocation, 0));
}

static int ask(struct invocation *invocation, const char *path, write_answer *write)
{
    json_t *request = read_request(invocation);
    return request == NULL ? invocation_failed(invocation) : send(invocation, path, request, write);
}

/* --- copies --- */

static bool write_copies(struct invocation *invocation, const json_t *plan)
{
    static const struct column copies[] = {
        {"job", "job", CELL_TEXT, NULL},
        {"task", "task", CELL_TEXT, NULL},
        {"cluster", "cluster", CELL_TEXT, NULL},
        {"round", "round", CELL_COUNT, NULL},
        {"a second", "rate_bytes_per_s", CELL_BYTES, NULL},
        {"takes", "expected_duration_s", CELL_SECONDS, NULL},
        {"saves", "saved_s", CELL_SECONDS, NULL},
    };
    static const struct column cancellations[] = {{"job", "job", CELL_TEXT, NULL},
                                                  {"task", "task", CELL_TEXT, NULL},
                                                  {"cluster", "cluster", CELL_TEXT, NULL}};
    static const struct column tasks[] = {
        {"job", "job", CELL_TEXT, NULL},
        {"task", "task", CELL_TEXT, NULL},
        {"clusters", "clusters", CELL_TEXT, NULL},
        {"takes", "expected_duration_s", CELL_SECONDS, NULL},
        {"survives", "exemption_probability", CELL_PROBABILITY, NULL},
    };
    static const struct column waiting[] = {{"job", "job", CELL_TEXT, NULL},
                                            {"task", "task", CELL_TEXT, NULL},
                                            {"because", "reason", CELL_TEXT, NULL}};
    static const struct column clusters[] = {
        {"cluster", "cluster", CELL_TEXT, NULL},
        {"slots used", "slots_used", CELL_COUNT, NULL},
        {"in, a second", "ingress_bytes_per_s", CELL_BYTES, NULL},
        {"out, a second", "egress_bytes_per_s", CELL_BYTES, NULL},
    };
    const struct section sections[] = {{.title = "Copies to start",
                                        .value = json_object_get(plan, "copies"),
                                        .columns = copies,
                                        .n_columns = COUNT(copies)},
                                       {.title = "Copies to cancel before",
                                        .value = json_object_get(plan, "cancellations"),
                                        .columns = cancellations,
                                        .n_columns = COUNT(cancellations)},
                                       {.title = "Tasks",
                                        .value = json_object_get(plan, "tasks"),
                                        .columns = tasks,
                                        .n_columns = COUNT(tasks)},
                                       {.title = "Waiting",
                                        .value = json_object_get(plan, "waiting"),
                                        .columns = waiting,
                                        .n_columns = COUNT(waiting)},
                                       {.title = "Clusters",
                                        .value = json_object_get(plan, "utilization"),
                                        .columns = clusters,
                                        .n_columns = COUNT(clusters)},
                                       {.text = json_text_at(plan, "warnings.0.message", "")}};
    return invocation_write_report(invocation, sections, COUNT(sections), plan);
}

static int run_copies(struct invocation *invocation)
{
    return ask(invocation, "/v1/copy-plans", write_copies);
}

const struct command command_copies = {
    .name = "copies",
    .summary = "Plan which copy of which task runs in which cluster.",
    .description = "Reads clusters, bandwidths and jobs from a JSON or YAML file, or from standard "
                   "input (-), as POST /v1/copy-plans takes them. Nothing is started or stored.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor copies plan.yaml\n"
                "  provisor copies plan.yaml -o csv",
    .run = run_copies};

/* --- contention --- */

static bool write_shares(struct invocation *invocation, const json_t *reply)
{
    static const struct column columns[] = {
        {"application", "name", CELL_TEXT, NULL},
        {"cores", "cores", CELL_NUMBER, NULL},
        {"saturating", "saturating_cores", CELL_NUMBER, NULL},
        {"weight", "weight", CELL_NUMBER, NULL},
    };
    const struct section sections[] = {{.value = json_object_get(reply, "allocations"),
                                        .columns = columns,
                                        .n_columns = COUNT(columns)},
                                       {.text = json_text_at(reply, "reasons.0.message", "")},
                                       {.text = json_text_at(reply, "reasons.1.message", "")}};
    return invocation_write_report(invocation, sections, COUNT(sections), reply);
}

static int run_contention(struct invocation *invocation)
{
    return ask(invocation, "/v1/contention", write_shares);
}

const struct command command_contention = {
    .name = "contention",
    .summary = "Share cores among applications that ask for too many.",
    .description = "Reads the cores and the applications from a JSON or YAML file, or from "
                   "standard input (-), as POST /v1/contention takes them.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor contention shares.yaml\n"
                "  echo '{max_cores: 16, applications: [{name: a, requested_cores: 20}]}' | "
                "provisor contention -",
    .run = run_contention};

/* --- memory --- */

static bool write_memory(struct invocation *invocation, const json_t *plan)
{
    static const struct column applications[] = {
        {"application", "name", CELL_TEXT, NULL},
        {"starts", "starts", CELL_YES, NULL},
        {"off-heap", "off_heap_bytes", CELL_BYTES, NULL},
        {"in all", "total_bytes", CELL_BYTES, NULL},
        {"off-heap of each once it ends", "off_heap_bytes_after_end", CELL_BYTES, NULL},
    };
    static const struct column pool[] = {
        {"heaps", "heap_bytes", CELL_BYTES, NULL},
        {"off-heap pool", "off_heap_pool_bytes", CELL_BYTES, NULL},
        {"of each", "off_heap_bytes_each", CELL_BYTES, NULL},
        {"equal heaps", "equal_heap_bytes", CELL_BYTES, NULL},
    };
    static const struct column newcomer[] = {
        {"starts", "starts", CELL_YES, NULL},
        {"off-heap of each then", "off_heap_bytes_each", CELL_BYTES, NULL},
    };
    static const struct column options[] = {
        {"heap", "heap_bytes", CELL_BYTES, NULL},
        {"applications that fit", "applications", CELL_COUNT, NULL},
    };
    const struct section sections[] = {
        {.value = json_object_get(plan, "applications"),
         .columns = applications,
         .n_columns = COUNT(applications)},
        {.title = "Memory of the worker", .value = plan, .columns = pool, .n_columns = COUNT(pool)},
        {.title = "One more application",
         .value = json_object_get(plan, "newcomer"),
         .columns = newcomer,
         .n_columns = COUNT(newcomer)},
        {.title = "Other heaps",
         .value = json_object_get(plan, "options"),
         .columns = options,
         .n_columns = COUNT(options)},
        {.text = json_text_at(plan, "warnings.0.message", "")}};
    return invocation_write_report(invocation, sections, COUNT(sections), plan);
}

static bool has_bytes(const char *member)
{
    static const char ending[] = "_bytes";
    const size_t n = strlen(member);
    return n >= sizeof ending && strcmp(member + n - (sizeof ending - 1), ending) == 0;
}

/* A text such as 16GiB as the number of bytes; anything else is as it is. NULL: recorded. */
static json_t *bytes_of(struct invocation *invocation, const char *member, const json_t *value)
{
    double bytes;
    if (!json_is_string(value))
        return json_deep_copy(value);
    if (option_read_number(OPTION_BYTES, json_string_value(value), &bytes))
        return json_integer((json_int_t)bytes);
    (void)fail(&invocation->failure, EXIT_USAGE,
               "%s: '%.60s' is not a number of bytes, such as 17179869184, 16g or 16GiB", member,
               json_string_value(value));
    return NULL;
}

/* The document with all members that are bytes as numbers; lists of them, too. NULL: recorded. */
static json_t *with_bytes(struct invocation *invocation, const char *member, const json_t *from)
{
    const bool is_list = json_is_array(from);
    const size_t n = is_list ? json_array_size(from) : 0;
    json_t *to = is_list ? json_array() : json_object();
    const char *key;
    json_t *value;
    bool good = true;
    if (!is_list && !json_is_object(from)) {
        json_decref(to);
        return has_bytes(member) ? bytes_of(invocation, member, from) : json_deep_copy(from);
    }
    for (size_t i = 0; good && i < n; i++)
        good =
            json_array_append_new(to, with_bytes(invocation, member, json_array_get(from, i))) == 0;
    json_object_foreach((json_t *)(uintptr_t)from, key, value) good =
        good && json_object_set_new(to, key, with_bytes(invocation, key, value)) == 0;
    if (good)
        return to;
    json_decref(to);
    return NULL;
}

static int run_memory(struct invocation *invocation)
{
    json_t *document = read_request(invocation);
    json_t *request = document == NULL ? NULL : with_bytes(invocation, "", document);
    json_decref(document);
    return request == NULL ? invocation_failed(invocation)
                           : send(invocation, "/v1/memory-plans", request, write_memory);
}

const struct command command_memory = {
    .name = "memory",
    .summary = "Share the memory of a worker among applications.",
    .description = "Reads the memory and the heaps of applications from a JSON or YAML file, or "
                   "from standard input (-), as POST /v1/memory-plans takes them. Sizes are bytes, "
                   "alone or with a unit: 16g and 16GiB count by 1024, 16GB by 1000.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor memory worker.yaml\n"
                "  provisor memory worker.yaml -o csv",
    .run = run_memory};
