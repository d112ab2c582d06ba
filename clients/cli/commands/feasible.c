#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity_text.h"
#include "cli/commands/commands.h"
#include "cli/commands/invocation.h"
#include "cli/commands/query.h"
#include "cli/terminal/gantt.h"

enum { GANTT_CORES = 32 };

static const struct option_spec options[] = {
    {"cluster", 0, OPTION_TEXT, "NAME",
     "The registered cluster on which the jobs run; it wins over that of the file.", false},
    {"schedule", 0, OPTION_FLAG, NULL, "Ask for the schedule, and draw it.", false},
    OPTIONS_END};
static const struct option_group group = {"Options", options};

static enum style style_of_met(const json_t *cell)
{
    return json_is_false(cell) ? STYLE_BAD : STYLE_GOOD;
}

/* --- the schedule --- */

static size_t job_of(const json_t *jobs, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(jobs) &&
           strcmp(json_text_at(json_array_get(jobs, i), "name", ""), name) != 0)
        i++;
    return i;
}

static void draw_schedule(FILE *out, const struct terminal *terminal, const void *context)
{
    const json_t *reply = context;
    const json_t *schedule = json_object_get(reply, "schedule");
    const json_t *jobs = json_object_get(reply, "jobs");
    size_t n = json_array_size(schedule);
    size_t n_jobs = json_array_size(jobs);
    struct gantt_bar *bars = calloc(n + 1, sizeof *bars);
    const char **names = calloc(n_jobs + 1, sizeof *names);
    for (size_t i = 0; bars != NULL && i < n; i++) {
        const json_t *task = json_array_get(schedule, i);
        bars[i] = (struct gantt_bar){.row = (size_t)json_number_at(task, "core", 0),
                                     .start = json_number_at(task, "start_s", 0),
                                     .end = json_number_at(task, "end_s", 0),
                                     .job = job_of(jobs, json_text_at(task, "job", ""))};
    }
    for (size_t i = 0; names != NULL && i < n_jobs; i++)
        names[i] = json_text_at(json_array_get(jobs, i), "name", "");
    struct gantt gantt = {.row_label = "core",
                          .x_label = "s",
                          .bars = bars,
                          .n = n,
                          .jobs = names,
                          .n_jobs = n_jobs,
                          .width = terminal->width > 0 ? terminal->width : 80,
                          .rows_max = GANTT_CORES};
    if (bars == NULL || names == NULL || !gantt_draw(out, &gantt))
        fputs("There is no schedule.\n", out);
    free(bars);
    free(names);
}

/* --- the answer --- */

/* [{name, deadline}] of the deadlines that would do, rounded up so that each does as it is printed. */
static json_t *deadline_rows(const json_t *reply)
{
    const char *key;
    json_t *value;
    json_t *rows = json_array();
    json_t *deadlines = (json_t *)(uintptr_t)json_at(reply, "remedies.deadlines_s");
    json_object_foreach(deadlines, key, value)(void) json_array_append_new(
        rows, json_pack("{s:s, s:s}", "name", key, "deadline",
                        quantity_duration_at_least(json_number_value(value)).text));
    return rows;
}

/* The message of the reason with that code; "" if the answer does not have it. */
static const char *reason_of(const json_t *reply, const char *code)
{
    const json_t *reasons = json_object_get(reply, "reasons");
    for (size_t i = 0; i < json_array_size(reasons); i++)
        if (strcmp(json_text_at(json_array_get(reasons, i), "code", ""), code) == 0)
            return json_text_at(json_array_get(reasons, i), "message", "");
    return "";
}

/* The jobs with `due_s`, the instant of the deadline, and `slack_s`, the time left until then; below 0
 * the job is late. People: no finer than the deadline is written. */
static json_t *job_rows(const json_t *reply, bool people)
{
    json_t *rows = json_deep_copy(json_object_get(reply, "jobs"));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const double takes = json_number_at(row, "execution_s", (double)NAN);
        const double released = json_number_at(row, "completion_s", (double)NAN) - takes;
        const double deadline = json_number_at(row, "deadline_s", (double)NAN);
        if (isnan(released) || isnan(deadline))
            continue;
        (void)json_object_set_new(row, "due_s", json_real(released + deadline));
        const double slack_s = deadline - takes;
        (void)json_object_set_new(
            row, "slack_s", json_real(people ? quantity_slack_s(slack_s, deadline) : slack_s));
    }
    return rows;
}

static bool write_answer(struct invocation *invocation, const json_t *reply)
{
    static const struct column job_columns[] = {
        {"job", "name", CELL_NAME, NULL},
        {"deadline", "deadline_s", CELL_SECONDS, NULL},
        {"takes", "execution_s", CELL_SECONDS, NULL},
        {"ends at", "completion_s", CELL_SECONDS, NULL},
        {"slack", "slack_s", CELL_SLACK, NULL},
        {"due at", "due_s", CELL_SECONDS, NULL},
        {"met", "met", CELL_VERDICT, style_of_met},
    };
    static const struct column remedy_columns[] = {
        {"cores that meet all deadlines", "remedies.min_total_cores", CELL_COUNT, NULL}};
    static const struct column deadline_columns[] = {{"job", "name", CELL_NAME, NULL},
                                                     {"deadline", "deadline", CELL_TEXT, NULL}};
    bool has_schedule = json_array_size(json_object_get(reply, "schedule")) > 0;
    bool has_cores = json_at(reply, "remedies.min_total_cores") != NULL;
    json_t *deadlines = deadline_rows(reply);
    json_t *rows = job_rows(reply, invocation_for_people(invocation));
    const struct section sections[] = {
        {.value = rows, .columns = job_columns, .n_columns = COUNT(job_columns)},
        {.text = json_text_at(reply, "reasons.0.message", "")},
        {.text = reason_of(reply, "durations_as_predicted")},
        {.text = reason_of(reply, "stages_share_cores")},
        {.text = json_text_at(reply, "warnings.0.message", "")},
        {.text = json_text_at(reply, "warnings.1.message", "")},
        {.text = json_text_at(reply, "warnings.2.message", "")},
        {.title = "Instead, on more cores",
         .value = has_cores ? reply : NULL,
         .columns = remedy_columns,
         .n_columns = COUNT(remedy_columns)},
        {.title = "Instead, on this cluster, with these deadlines",
         .value = deadlines,
         .columns = deadline_columns,
         .n_columns = COUNT(deadline_columns)},
        {.title = "Earliest deadline first", .draw = draw_schedule, .context = reply}};
    bool good =
        invocation_write_report(invocation, sections, COUNT(sections) - !has_schedule, reply);
    json_decref(deadlines);
    json_decref(rows);
    return good;
}

static void ask_for_schedule(const struct invocation *invocation, json_t *request)
{
    if (json_is_object(request) && argument_given(invocation->arguments, "schedule") &&
        json_object_get(request, "include") == NULL)
        (void)json_object_set_new(request, "include", json_pack("[s]", "schedule"));
}

static int run(struct invocation *invocation)
{
    struct remote_reply reply = {.status = 0};
    if (!invocation_begin(invocation, FORMS_OF_TABLES))
        return invocation_failed(invocation);
    json_t *request = invocation_read_document(invocation, invocation_word(invocation, 0));
    if (request == NULL)
        return invocation_failed(invocation);
    const char *cluster = argument_text(invocation->arguments, "cluster");
    if (cluster != NULL && json_is_object(request))
        (void)json_object_set_new(request, "cluster", json_string(cluster));
    ask_for_schedule(invocation, request);
    bool good = post_document(invocation, "/v1/feasibility", request, false, &reply) &&
                write_answer(invocation, reply.json);
    name_command_of_member(invocation, &reply, "/items", "batch");
    int status = json_true_at(reply.json, "feasible") ? EXIT_DONE : EXIT_GATE_FAILED;
    remote_reply_clear(&reply);
    return good ? status : invocation_failed(invocation);
}

const struct command command_feasible = {
    .name = "feasible",
    .summary = "Check whether jobs meet their deadlines together.",
    .description =
        "Reads a cluster and jobs from a JSON or YAML file, or from standard input (-), as POST "
        "/v1/feasibility takes them, and shows which jobs meet their deadlines if their tasks are "
        "scheduled earliest deadline first. `due at` is the instant of the deadline, counted as "
        "`ends at` is, and `slack` the time left until then. Where one is missed, it names the "
        "cores and the "
        "deadlines that would do. A job may name an application: its tasks are those of the "
        "recorded run nearest in problem size and cores, and alone it takes what advise predicts "
        "for the cluster.\n\n"
        "Exit status 0: all deadlines are met; 3: at least one is missed.",
    .positional = "FILE",
    .positional_min = 1,
    .positional_max = 1,
    .examples = "  provisor feasible tonight.yaml --schedule\n"
                "  provisor feasible tonight.yaml --cluster eu-1\n"
                "  provisor feasible - < tonight.json || echo 'not tonight'",
    .groups = {&group},
    .run = run};
