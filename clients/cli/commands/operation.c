#include "cli/commands/operation.h"

#include <string.h>

#include "base/instant.h"
#include "base/quantity_text.h"
#include "cli/commands/query.h"
#include "cli/commands/simulation.h"
#include "threads/clock.h"

enum { PAUSE_MS = 200, WAIT_S = 20, PROGRESS_TEXT = 240 };

/* --- following --- */

static bool has_ended(const json_t *operation)
{
    const char *status = json_text_at(operation, "status", "");
    return strcmp(status, "queued") != 0 && strcmp(status, "running") != 0;
}

static void add_time_left(const json_t *operation, char *line, size_t room)
{
    int64_t end;
    int64_t now;
    size_t at = strlen(line);
    if (!instant_parse(json_text_at(operation, "estimated_end_at", ""), &end) ||
        !instant_parse(json_text_at(operation, "updated_at", ""), &now) || end <= now)
        return;
    (void)snprintf(line + at, room - at, ", about %s left",
                   quantity_duration((double)(end - now) / 1e6).text);
}

static void progress_line(const json_t *operation, char *line, size_t room)
{
    double done = json_number_at(operation, "progress.done", 0);
    double total = json_number_at(operation, "progress.total", 0);
    double place = json_number_at(operation, "queue_position", 0);
    const char *application = json_text_at(operation, "application", NULL);
    int n = snprintf(line, room, "%s%s%s: %s", json_text_at(operation, "kind", ""),
                     application == NULL ? "" : " of ", application == NULL ? "" : application,
                     json_text_at(operation, "status", ""));
    size_t at = n > 0 && (size_t)n < room ? (size_t)n : room - 1;
    if (place > 0)
        (void)snprintf(line + at, room - at, ", number %.0f in the queue", place);
    else if (total > 0)
        (void)snprintf(line + at, room - at, ", %.0f of %.0f %s (%.0f %%)", done, total,
                       json_text_at(operation, "progress.unit", ""), 100 * done / total);
    add_time_left(operation, line, room);
}

/* Over the line before, which may have been longer. */
static void show_progress(const struct invocation *invocation, const json_t *operation)
{
    char line[PROGRESS_TEXT];
    if (invocation->quiet || !invocation->outputs.terminal.err)
        return;
    progress_line(operation, line, sizeof line);
    size_t width =
        invocation->outputs.terminal.width > 1 ? invocation->outputs.terminal.width - 1 : 79;
    text_defuse(line, sizeof line);
    size_t bytes = text_fitting(line, width);
    size_t columns = text_columns(line);
    fprintf(stderr, "\r%.*s%*s", (int)bytes, line, (int)(columns < width ? width - columns : 0),
            "");
}

static void end_progress(const struct invocation *invocation)
{
    if (!invocation->quiet && invocation->outputs.terminal.err)
        fputc('\n', stderr);
}

static json_t *ask(struct invocation *invocation, const char *path, const char *prefer)
{
    struct remote_request request = {.method = "GET", .path = path, .prefer = prefer};
    struct remote_reply reply = {.status = 0};
    json_t *operation = NULL;
    if (remote_call(invocation->remote, &request, &reply, &invocation->failure))
        operation = json_incref(reply.json);
    remote_reply_clear(&reply);
    return operation;
}

json_t *operation_follow(struct invocation *invocation, const char *id)
{
    char path[PATH_TEXT];
    char prefer[32];
    double wait = invocation->settings.timeout_s / 2;
    if (wait > WAIT_S)
        wait = WAIT_S;
    bool shown = !invocation->quiet && invocation->outputs.terminal.err;
    (void)snprintf(prefer, sizeof prefer, "wait=%.0f", shown || wait < 1 ? 1 : wait);
    if (!remote_path(invocation->remote, "/v1/operations/", id, "", path, &invocation->failure))
        return NULL;
    invocation_catch_signals();
    for (;;) {
        json_t *operation = ask(invocation, path, prefer);
        if (operation != NULL)
            show_progress(invocation, operation);
        if (operation == NULL || has_ended(operation)) {
            end_progress(invocation);
            if (operation == NULL && atomic_load(&invocation_stop))
                (void)fail_next(&invocation->failure,
                                "the operation continues: `provisor operations cancel %s` stops it",
                                id);
            return operation;
        }
        json_decref(operation);
        clock_sleep_ms(PAUSE_MS); /* also where a proxy does not let the service wait */
    }
}

int operation_outcome(struct invocation *invocation, const json_t *operation)
{
    const char *status = json_text_at(operation, "status", "");
    if (strcmp(status, "succeeded") == 0)
        return EXIT_DONE;
    if (strcmp(status, "failed") == 0)
        (void)fail(&invocation->failure, EXIT_FAILED, "the operation failed: %s",
                   json_text_at(operation, "error.detail",
                                json_text_at(operation, "error.title", "it does not say why")));
    else
        (void)fail(&invocation->failure, EXIT_FAILED, "the operation was %s", status);
    return EXIT_FAILED;
}

/* --- showing --- */

static enum style style_of_status(const json_t *cell)
{
    const char *status = json_string_value(cell);
    if (status == NULL)
        return STYLE_PLAIN;
    return strcmp(status, "failed") == 0      ? STYLE_BAD
           : strcmp(status, "succeeded") == 0 ? STYLE_GOOD
                                              : STYLE_PLAIN;
}

static const struct column operation_columns[] = {
    {"operation", "id", CELL_ID, NULL},
    {"kind", "kind", CELL_TEXT, NULL},
    {"application", "application", CELL_TEXT, NULL},
    {"status", "status", CELL_VERDICT, style_of_status},
    {"done", "progress.done", CELL_COUNT, NULL},
    {"of", "progress.total", CELL_COUNT, NULL},
    {"unit", "progress.unit", CELL_TEXT, NULL},
    {"in the queue", "queue_position", CELL_COUNT, NULL},
    {"asked by", "requested_by", CELL_TEXT, NULL},
    {"asked at", "created_at", CELL_INSTANT, NULL},
    {"started", "started_at", CELL_INSTANT, NULL},
    {"expected to end", "estimated_end_at", CELL_INSTANT, NULL},
    {"ended", "finished_at", CELL_INSTANT, NULL},
    {"result kept until", "expires_at", CELL_INSTANT, NULL},
    {"error", "error.detail", CELL_TEXT, NULL},
    {"model", "result.fitted_model.model", CELL_TEXT, NULL},
    {"runs used", "result.runs_used", CELL_COUNT, NULL},
    {"resamples", "result.bootstrap.resamples", CELL_COUNT, NULL},
    {"confidence", "result.bootstrap.confidence", CELL_SHARE, NULL},
    {"stored", "result.stored", CELL_COUNT, NULL},
    {"duplicate", "result.duplicates", CELL_COUNT, NULL},
    {"replaced", "result.replaced", CELL_COUNT, NULL},
    {"ignored", "result.ignored", CELL_COUNT, NULL},
    {"rejected", "result.rejected", CELL_COUNT, NULL},
};

bool operation_write(struct invocation *invocation, const json_t *operation)
{
    static const struct column predictions[] = {
        {"size", "problem_size", CELL_NUMBER, NULL},
        {"executors", "executors", CELL_COUNT, NULL},
        {"predicted", "duration_s", CELL_SECONDS, NULL},
        {"at least", "interval_s.0", CELL_SECONDS, NULL},
        {"at most", "interval_s.1", CELL_SECONDS, NULL},
        {"mean from", "mean_interval_s.0", CELL_SECONDS, NULL},
        {"to", "mean_interval_s.1", CELL_SECONDS, NULL},
    };
    static const struct column stability[] = {
        {"model", "model", CELL_TEXT, NULL},
        {"selected", "times", CELL_COUNT, NULL},
        {"share", "share", CELL_SHARE, NULL},
    };
    struct section sections[3 + SIMULATION_SECTIONS] = {
        {.value = operation, .columns = operation_columns, .n_columns = COUNT(operation_columns)},
        {.title = "Predictions, one run and the mean of many",
         .value = json_at(operation, "result.bootstrap.predictions"),
         .columns = predictions,
         .n_columns = COUNT(predictions)},
        {.title = "Model selected with some configurations left out",
         .value = json_at(operation, "result.selection_stability.models"),
         .columns = stability,
         .n_columns = COUNT(stability)}};
    json_t *rows = simulation_sections(json_at(operation, "result"), true, sections + 3);
    bool good = invocation_write_report(invocation, sections, COUNT(sections), operation);
    json_decref(rows);
    return good;
}
