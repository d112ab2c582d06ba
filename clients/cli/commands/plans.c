#include <string.h>

#include "cli/commands/commands.h"
#include "cli/commands/one_call_rows.h"

/*
 * Plans: a request in a file, the answer as tables. A command is a row: its call, the tables of the
 * reply, and its help.
 */

/* --- copies --- */

static const struct column copy_columns[] = {
    {"job", "job", CELL_NAME, NULL},
    {"task", "task", CELL_TEXT, NULL},
    {"cluster", "cluster", CELL_TEXT, NULL},
    {"round", "round", CELL_COUNT, NULL},
    {"a second", "rate_bytes_per_s", CELL_BYTES, NULL},
    {"takes", "expected_duration_s", CELL_SECONDS, NULL},
    {"saves", "saved_s", CELL_SECONDS, NULL},
};
static const struct column cancellation_columns[] = {{"job", "job", CELL_NAME, NULL},
                                                     {"task", "task", CELL_TEXT, NULL},
                                                     {"cluster", "cluster", CELL_TEXT, NULL}};
static const struct column task_columns[] = {
    {"job", "job", CELL_NAME, NULL},
    {"task", "task", CELL_TEXT, NULL},
    {"clusters", "clusters", CELL_TEXT, NULL},
    {"takes", "expected_duration_s", CELL_SECONDS, NULL},
    {"survives", "exemption_probability", CELL_PROBABILITY, NULL},
};
static const struct column waiting_columns[] = {{"job", "job", CELL_NAME, NULL},
                                                {"task", "task", CELL_TEXT, NULL},
                                                {"because", "reason", CELL_TEXT, NULL}};
static const struct column use_columns[] = {
    {"cluster", "cluster", CELL_NAME, NULL},
    {"slots used", "slots_used", CELL_COUNT, NULL},
    {"in, a second", "ingress_bytes_per_s", CELL_BYTES, NULL},
    {"out, a second", "egress_bytes_per_s", CELL_BYTES, NULL},
};
static const struct one_call copies = {
    .method = "POST",
    .path = "/v1/copy-plans",
    .has_file = true,
    .parts = {PART("Copies to start", "copies", copy_columns),
              PART("Copies to cancel before", "cancellations", cancellation_columns),
              PART("Tasks", "tasks", task_columns), PART("Waiting", "waiting", waiting_columns),
              PART("Clusters", "utilization", use_columns)}};

const struct command command_copies = {
    .name = "copies",
    .summary = "Plan which copy of which task runs in which cluster.",
    .description = "Reads clusters, bandwidths and jobs from a JSON or YAML file, or from standard "
                   "input (-), as POST /v1/copy-plans takes them. Nothing is started or stored.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor copies plan.yaml\n"
                "  provisor copies plan.yaml -o csv",
    CALLS(copies)};

/* --- contention --- */

static const struct column share_columns[] = {
    {"application", "name", CELL_NAME, NULL},
    {"cores", "cores", CELL_NUMBER, NULL},
    {"saturating", "saturating_cores", CELL_NUMBER, NULL},
    {"weight", "weight", CELL_NUMBER, NULL},
};
static const struct one_call contention = {.method = "POST",
                                           .path = "/v1/contention",
                                           .has_file = true,
                                           .parts = {PART(NULL, "allocations", share_columns)}};

const struct command command_contention = {
    .name = "contention",
    .summary = "Share cores among applications that ask for too many.",
    .description = "Reads the cores and the applications from a JSON or YAML file, or from "
                   "standard input (-), as POST /v1/contention takes them.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor contention shares.yaml\n"
                "  echo '{max_cores: 16, applications: [{name: a, requested_cores: 20}]}' | "
                "provisor contention -",
    CALLS(contention)};

/* --- memory --- */

static const struct column memory_columns[] = {
    {"application", "name", CELL_NAME, NULL},
    {"starts", "starts", CELL_VERDICT, NULL},
    {"off-heap", "off_heap_bytes", CELL_BYTES, NULL},
    {"in all", "total_bytes", CELL_BYTES, NULL},
    {"off-heap of each once it ends", "off_heap_bytes_after_end", CELL_BYTES, NULL},
};
static const struct column pool_columns[] = {
    {"heaps", "heap_bytes", CELL_BYTES, NULL},
    {"off-heap pool", "off_heap_pool_bytes", CELL_BYTES, NULL},
    {"of each", "off_heap_bytes_each", CELL_BYTES, NULL},
    {"equal heaps", "equal_heap_bytes", CELL_BYTES, NULL},
};
static const struct column newcomer_columns[] = {
    {"starts", "starts", CELL_VERDICT, NULL},
    {"off-heap of each then", "off_heap_bytes_each", CELL_BYTES, NULL},
};
static const struct column option_columns[] = {
    {"heap", "heap_bytes", CELL_BYTES, NULL},
    {"applications that fit", "applications", CELL_COUNT, NULL},
};

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

static json_t *memory_request(struct invocation *invocation, const json_t *document)
{
    return with_bytes(invocation, "", document);
}

static const struct one_call memory = {
    .method = "POST",
    .path = "/v1/memory-plans",
    .has_file = true,
    .prepare = memory_request,
    .parts = {PART(NULL, "applications", memory_columns),
              PART("Memory of the worker", "", pool_columns),
              PART("One more application", "newcomer", newcomer_columns),
              PART("Other heaps", "options", option_columns)}};

const struct command command_memory = {
    .name = "memory",
    .summary = "Share the memory of a worker among applications.",
    .description = "Reads the memory and the heaps of applications from a JSON or YAML file, or "
                   "from standard input (-), as POST /v1/memory-plans takes them. Sizes are bytes, "
                   "alone or with a unit: 16g and 16GiB count by 1024, 16GB by 1000.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor memory worker.yaml\n"
                "  provisor memory worker.yaml -o csv",
    CALLS(memory)};

/* --- stage plans --- */

static const struct column plan_columns[] = {
    {"feasible", "feasible", CELL_VERDICT, NULL},
    {"application", "application", CELL_NAME, NULL},
    {"stages of run", "run_id", CELL_ID, NULL},
    {"recent runs have other stages", "graph_changed", CELL_YES, NULL},
    {"start-up and driver", "fixed_s", CELL_SECONDS, NULL},
};
static const struct column stage_columns[] = {
    {"stage", "id", CELL_COUNT, NULL},
    {"weight", "weight", CELL_NUMBER, NULL},
    {"starts at", "start_s", CELL_SECONDS, NULL},
    {"may take", "deadline_s", CELL_SECONDS, NULL},
    {"cores needed", "estimated_cores", CELL_NUMBER, NULL},
    {"cores at most", "max_allocable_cores", CELL_NUMBER, NULL},
    {"cores an executor at first", "initial_cores_per_executor", CELL_NUMBER, NULL},
};
static const struct one_call stage_plan = {
    .method = "POST",
    .path = "/v1/stage-plans",
    .has_file = true,
    .parts = {PART(NULL, "", plan_columns), PART("Stages", "stages", stage_columns)}};

const struct command command_stage_plan = {
    .name = "stage-plan",
    .summary = "Share the time until a deadline among the stages of an application.",
    .description =
        "Reads the deadline, the executors and the stages, or the application whose "
        "recorded stages count, from a JSON or YAML file, or from standard input (-), as "
        "POST /v1/stage-plans takes them.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor stage-plan stages.yaml\n"
                "  provisor stage-plan stages.yaml -o csv",
    CALLS(stage_plan)};

/* --- Pigeon --- */

static const struct column pigeon_columns[] = {
    {"workers a group", "group_size", CELL_COUNT, NULL},
    {"groups", "groups", CELL_COUNT, NULL},
    {"reserved for short tasks", "reserved_workers", CELL_COUNT, NULL},
    {"weight", "weight", CELL_COUNT, NULL},
    {"starts without waiting", "probability", CELL_SHARE, NULL},
    {"because", "reason", CELL_WORD, NULL},
};
static const struct column layout_columns[] = {
    {"workers a group", "group_size", CELL_COUNT, NULL},
    {"groups", "groups", CELL_COUNT, NULL},
    {"task starts at once", "task_zero_queuing_probability", CELL_SHARE, NULL},
    {"waits", "queuing_s", CELL_SECONDS, NULL},
    {"job starts at once", "job_zero_queuing_equal", CELL_SHARE, NULL},
    {"of exponential tasks", "job_zero_queuing_exponential", CELL_SHARE, NULL},
    {"tasks a second of a master", "master_tasks_per_s", CELL_NUMBER, NULL},
};
static const struct one_call pigeon = {.method = "POST",
                                       .path = "/v1/pigeon-plans",
                                       .has_file = true,
                                       .parts = {PART("Recommended", "recommended", pigeon_columns),
                                                 PART("Candidates", "candidates", layout_columns)}};

const struct command command_pigeon_plan = {
    .name = "pigeon-plan",
    .summary = "Choose the groups of workers of the scheduler Pigeon.",
    .description =
        "Reads the workers and the load from a JSON or YAML file, or from standard input "
        "(-), as POST /v1/pigeon-plans takes them.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor pigeon-plan workers.yaml\n"
                "  provisor pigeon-plan workers.yaml -o csv",
    CALLS(pigeon)};

/* --- slowdowns --- */

static const struct column slowdown_columns[] = {
    {"jobs", "count", CELL_COUNT, NULL},
    {"mean slowdown", "mean", CELL_NUMBER, NULL},
    {"median", "median", CELL_NUMBER, NULL},
    {"fairness (Jain)", "jain", CELL_NUMBER, NULL},
};
static const struct column percentile_columns[] = {
    {"percent of jobs", "percent", CELL_NUMBER, NULL},
    {"slowdown at most", "slowdown", CELL_NUMBER, NULL},
    {"over the median", "variability", CELL_NUMBER, NULL},
    {"completion over longest task", "completion_over_longest_task", CELL_NUMBER, NULL},
};
static const struct column class_columns[] = {
    {"from", "from_s", CELL_SECONDS, NULL},
    {"to", "to_s", CELL_SECONDS, NULL},
    {"jobs", "count", CELL_COUNT, NULL},
    {"mean slowdown", "mean_slowdown", CELL_NUMBER, NULL},
    {"median", "median_slowdown", CELL_NUMBER, NULL},
    {"share of the work", "work_share", CELL_SHARE, NULL},
};
static const struct column slow_job_columns[] = {
    {"job", "name", CELL_NAME, NULL},
    {"took", "sojourn_s", CELL_SECONDS, NULL},
    {"slowdown", "slowdown", CELL_NUMBER, NULL},
};
static const struct one_call slowdowns = {
    .method = "POST",
    .path = "/v1/slowdowns",
    .has_file = true,
    .parts = {PART("All jobs", "", slowdown_columns),
              PART("Percentiles", "percentiles", percentile_columns),
              PART("By size", "classes", class_columns), PART("Jobs", "jobs", slow_job_columns)}};

const struct command command_slowdowns = {
    .name = "slowdowns",
    .summary = "Summarize how much longer jobs took than alone.",
    .description = "Reads jobs from a JSON or YAML file, or from standard input (-), as POST "
                   "/v1/slowdowns takes them.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor slowdowns jobs.yaml\n"
                "  provisor slowdowns jobs.yaml -o csv",
    CALLS(slowdowns)};

/* --- control simulations --- */

#define OUTCOME                                                                                    \
    {"all in time", "feasible", CELL_VERDICT, NULL},                                               \
        {"late", "metrics.delayed", CELL_COUNT, NULL},                                             \
        {"ends", "metrics.makespan_s", CELL_SECONDS, NULL},                                        \
        {"utilization", "metrics.utilization", CELL_SHARE, NULL},                                  \
    {                                                                                              \
        "penalty", "total_penalty.mean", CELL_NUMBER, NULL                                         \
    }
static const struct column strategy_columns[] = {
    {"strategy", "strategy", CELL_NAME, NULL}, {"gamma", "gamma", CELL_NUMBER, NULL}, OUTCOME};
static const struct column baseline_columns[] = {{"baseline", "baseline", CELL_NAME, NULL},
                                                 OUTCOME};
static const struct column best_columns[] = {
    {"strategy", "strategy", CELL_NAME, NULL},
    {"gamma", "gamma", CELL_NUMBER, NULL},
    {"why", "reasons.0.message", CELL_TEXT, NULL},
};
static const struct column control_job_columns[] = {
    {"job", "name", CELL_NAME, NULL},
    {"begins", "release_s", CELL_SECONDS, NULL},
    {"deadline", "deadline_s", CELL_SECONDS, NULL},
    {"tasks", "tasks", CELL_COUNT, NULL},
    {"work", "work_s", CELL_SECONDS, NULL},
    {"longest path", "critical_path_s", CELL_SECONDS, NULL},
};
static const struct one_call control = {
    .method = "POST",
    .path = "/v1/control-simulations",
    .has_file = true,
    .once = true,
    .parts = {PART("Strategies", "outcomes", strategy_columns),
              PART("Without the loop", "baselines", baseline_columns),
              PART("Best", "best", best_columns),
              PART("Recommended", "recommendation", best_columns),
              PART("Jobs", "jobs", control_job_columns)}};

const struct command command_control = {
    .name = "control",
    .summary = "Simulate how well a control loop keeps deadlines.",
    .description =
        "Reads a cluster and jobs from a JSON or YAML file, or from standard input (-), as "
        "POST /v1/control-simulations takes them, and compares the strategies by which "
        "cores are shared. A large simulation is an operation of the service, which is "
        "followed until it ends.",
    POSITIONAL("FILE", 1),
    .examples = "  provisor control jobs.yaml\n"
                "  provisor control jobs.yaml -o json",
    CALLS(control)};
