#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "cli/commands/question.h"
#include "threads/clock.h"

/* `batch`: a schedule of jobs in a file, what is advised for each, and how all of them fare together. */

static const struct option_spec options[] = {
    {"cluster", 0, OPTION_TEXT, "NAME",
     "The registered cluster on which all of them run; it wins over that of the file, which may be "
     "a "
     "name or a size.",
     false},
    {"dry-run", 'n', OPTION_FLAG, NULL, "Store no advice; a token that may only read is enough.",
     false},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

/* --- the request --- */

static bool has_releases(const json_t *items)
{
    for (size_t i = 0; i < json_array_size(items); i++)
        if (json_object_get(json_array_get(items, i), "release_s") != NULL)
            return true;
    return false;
}

/* The file may say of each job when it begins, the request has a list of that. False: recorded. */
static bool move_releases(struct invocation *invocation, json_t *request)
{
    json_t *items = json_object_get(request, "items");
    if (!has_releases(items))
        return true;
    if (json_object_get(request, "releases_s") != NULL)
        return fail(&invocation->failure, EXIT_USAGE,
                    "the file has both releases_s and jobs with a release_s: say it in one place");
    json_t *releases = json_array();
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *item = json_array_get(items, i);
        json_t *release = json_object_get(item, "release_s");
        (void)json_array_append_new(releases,
                                    release == NULL ? json_integer(0) : json_incref(release));
        (void)json_object_del(item, "release_s");
    }
    (void)json_object_set_new(request, "releases_s", releases);
    return true;
}

/* Free it; NULL: recorded. */
static char *read_schedule(struct invocation *invocation)
{
    const char *cluster = argument_text(invocation->arguments, "cluster");
    json_t *request = invocation_read_document(invocation, invocation_word(invocation, 0));
    char *text = NULL;
    if (request == NULL)
        return NULL;
    if (cluster != NULL && json_is_object(request))
        (void)json_object_set_new(request, "cluster", json_string(cluster));
    if (move_releases(invocation, request)) {
        text = json_dumps(request, JSON_COMPACT | JSON_ENCODE_ANY);
        if (text == NULL)
            (void)fail_memory(&invocation->failure);
    }
    json_decref(request);
    return text;
}

/* --- the answer --- */

/* Each advice with what becomes of its job among all. */
static json_t *rows_of(const json_t *reply)
{
    static const char *const members[] = {"release_s", "completion_s", "met"};
    const json_t *jobs = json_object_get(reply, "jobs");
    json_t *rows = json_deep_copy(json_object_get(reply, "items"));
    for (size_t i = 0; i < json_array_size(jobs) && i < json_array_size(rows); i++)
        for (size_t m = 0; m < COUNT(members); m++)
            (void)json_object_set(json_array_get(rows, i), members[m],
                                  json_object_get(json_array_get(jobs, i), members[m]));
    return rows;
}

static enum style style_of_yes(const json_t *cell)
{
    return json_is_false(cell) ? STYLE_BAD : STYLE_GOOD;
}

/* A cluster that is given by its size: "8 executors with 4 cores each". */
static json_t *with_cluster_in_words(const json_t *reply)
{
    json_t *words = json_copy((json_t *)(uintptr_t)reply);
    const json_t *cluster = json_object_get(reply, "cluster");
    char text[96];
    if (!json_is_object(cluster))
        return words;
    const long executors = (long)json_number_at(cluster, "executors", 0);
    const long cores = (long)json_number_at(cluster, "cores_per_executor", 0);
    (void)snprintf(text, sizeof text, "%ld executor%s with %ld core%s each", executors,
                   PLURAL(executors), cores, PLURAL(cores));
    (void)json_object_set_new(words, "cluster", json_string(text));
    return words;
}

static bool write_answers(struct invocation *invocation, const json_t *reply)
{
    static const struct column job_columns[] = {
        {"application", "application", CELL_NAME, NULL},
        {"size", "problem_size", CELL_SIZE, NULL},
        {"executors", "recommendation.executors", CELL_COUNT, NULL},
        {"takes", "recommendation.predicted_duration_s", CELL_SECONDS, NULL},
        {"deadline", "deadline_s", CELL_SECONDS, NULL},
        {"verdict", "verdict", CELL_VERDICT, NULL},
        {"cores each", "recommendation.cores_per_executor", CELL_COUNT, NULL},
        {"begins", "release_s", CELL_SECONDS, NULL},
        {"ends at", "completion_s", CELL_SECONDS, NULL},
        {"met with all", "met", CELL_VERDICT, style_of_yes},
        {"in time", "recommendation.deadline_probability", CELL_PROBABILITY, NULL},
        {"advice", "id", CELL_ID, NULL},
    };
    static const struct column together[] = {
        {"cluster", "cluster", CELL_TEXT, NULL},
        {"all deadlines are met", "feasible", CELL_YES, style_of_yes},
        {"cores that would be enough", "min_total_cores", CELL_COUNT, NULL},
    };
    static const struct column advice_columns[] = {
        {"application", "application", CELL_NAME, NULL},
        {"advice", "id", CELL_ID, NULL},
    };
    const bool people = invocation_for_people(invocation);
    const bool stored = !argument_given(invocation->arguments, "dry-run");
    const bool on_cluster = json_is_boolean(json_object_get(reply, "feasible"));
    json_t *rows = rows_of(reply);
    json_t *all = people ? with_cluster_in_words(reply) : json_incref((json_t *)(uintptr_t)reply);
    const struct section sections[] = {
        {.value = rows, .columns = job_columns, .n_columns = COUNT(job_columns) - people},
        {.title = "Advice, for `provisor admit --advice`",
         .value = people && stored ? rows : NULL,
         .columns = advice_columns,
         .n_columns = COUNT(advice_columns)},
        {.title = "All of them together",
         .value = on_cluster ? all : NULL,
         .columns = together,
         .n_columns = COUNT(together)},
        {.text = json_text_at(reply, "reasons.0.message", "")}};
    const bool good = invocation_write_report(invocation, sections, COUNT(sections), reply);
    json_decref(rows);
    json_decref(all);
    return good;
}

/* The worst of all; where the history does not allow an answer for a job, nobody knows whether all
 * are in time together. */
static enum exit_status status_of_all(const json_t *reply)
{
    const json_t *items = json_object_get(reply, "items");
    bool some[EXIT_TOO_LITTLE_HISTORY + 1] = {false};
    for (size_t i = 0; i < json_array_size(items); i++)
        some[question_status(json_array_get(items, i))] = true;
    if (some[EXIT_GATE_FAILED])
        return EXIT_GATE_FAILED;
    if (some[EXIT_TOO_LITTLE_HISTORY])
        return EXIT_TOO_LITTLE_HISTORY;
    if (json_is_false(json_object_get(reply, "feasible")))
        return EXIT_GATE_FAILED;
    return some[EXIT_LOW_CONFIDENCE] ? EXIT_LOW_CONFIDENCE : EXIT_DONE;
}

static bool ask(struct invocation *invocation, const char *text, struct remote_reply *reply)
{
    static const struct remote_parameter dry[] = {{"dry_run", "true"}, {NULL, NULL}};
    const bool is_dry = argument_given(invocation->arguments, "dry-run");
    char made[37], key[40];
    clock_uuid7(made);
    (void)snprintf(key, sizeof key, "\"%s\"", made);
    const struct remote_request request = {.method = "POST",
                                           .path = "/v1/advice/batch",
                                           .query = is_dry ? dry : NULL,
                                           .text = text,
                                           .n_text = strlen(text),
                                           .idempotency_key = is_dry ? NULL : key};
    return remote_call(invocation->remote, &request, reply, &invocation->failure);
}

static int run(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    char *text = read_schedule(invocation);
    if (text == NULL)
        return invocation_failed(invocation);
    const bool good = ask(invocation, text, &reply) && write_answers(invocation, reply.json);
    const enum exit_status status = good ? status_of_all(reply.json) : EXIT_FAILED;
    free(text);
    name_command_of_member(invocation, &reply, "/jobs", "feasible");
    remote_reply_clear(&reply);
    return good ? (int)status : invocation_failed(invocation);
}

const struct command command_batch = {
    .name = "batch",
    .summary = "Ask for a whole schedule of jobs at once.",
    .description =
        "Reads questions from a JSON or YAML file, or from standard input (-), as POST "
        "/v1/advice/batch takes them: `items`, and optionally the cluster on which all of them "
        "run. A job may say in `release_s` when it begins, in seconds from now. All advice is "
        "stored, or none.\n\n"
        "Exit status 0: all deadlines are met, on a cluster also with all jobs together; 3: at "
        "least one is missed; 4: one is met with less than the confidence asked; 5: the history "
        "of one does not allow an answer.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor batch night.yaml --cluster shared-1\n"
                "  provisor batch night.yaml --dry-run -o csv",
    .groups = {&group},
    .run = run};
