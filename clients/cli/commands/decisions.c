#include "cli/commands/decisions.h"

#include <string.h>

#include "base/plural.h"
#include "cli/commands/file_body.h"
#include "cli/commands/query.h"

static const struct option_spec options[] = {
    {"log", 0, OPTION_FLAG, NULL,
     "FILE is a log of states, one a line (NDJSON), plain or compressed with gzip or zstd.", false},
    {"lines", 0, OPTION_CHOICE, "all|different|none",
     "Of a log: which lines are shown, all without it; different are those where something else "
     "was "
     "taken, that contradict the line before, or that are at fault.",
     false},
    {"figures", 0, OPTION_FLAG, NULL,
     "Of a log: with each line the whole decision, in JSON and YAML.", false},
    OPTIONS_END};
const struct option_group decision_options = {"Options", options};

/* --- the reply to a log --- */

/* The lines of the reply, by what they are about. All are owned. */
struct replayed {
    json_t *all; /* what JSON and YAML hold: {"lines": [...], "summary": {...}} */
    json_t *decided;
    json_t *contradicting; /* of each warning the line and the message */
    json_t *refused;
};

static bool replayed_init(struct replayed *replayed)
{
    *replayed =
        (struct replayed){json_pack("{s:[]}", "lines"), json_array(), json_array(), json_array()};
    return replayed->all != NULL && replayed->decided != NULL && replayed->contradicting != NULL &&
           replayed->refused != NULL;
}

static void replayed_clear(struct replayed *replayed)
{
    json_decref(replayed->all);
    json_decref(replayed->decided);
    json_decref(replayed->contradicting);
    json_decref(replayed->refused);
}

static bool take_warnings(struct replayed *replayed, const json_t *line)
{
    const json_t *warnings = json_object_get(line, "warnings");
    bool good = true;
    for (size_t i = 0; good && i < json_array_size(warnings); i++) {
        const json_t *message = json_object_get(json_array_get(warnings, i), "message");
        json_t *item =
            json_pack("{s:O?, s:O?}", "line", json_object_get(line, "line"), "message", message);
        good = item != NULL && json_array_append_new(replayed->contradicting, item) == 0;
    }
    return good;
}

/* A line of the reply, which is given away. */
static bool take_line(struct replayed *replayed, json_t *line)
{
    json_t *summary = json_object_get(line, "summary");
    bool good = line != NULL;
    if (summary != NULL) {
        good = json_object_set(replayed->all, "summary", summary) == 0;
    } else if (good) {
        bool refused = json_object_get(line, "error") != NULL;
        good = json_array_append(json_object_get(replayed->all, "lines"), line) == 0 &&
               json_array_append(refused ? replayed->refused : replayed->decided, line) == 0 &&
               take_warnings(replayed, line);
    }
    json_decref(line);
    return good;
}

static bool read_reply(struct invocation *invocation,
                       const struct remote_reply *reply,
                       struct replayed *replayed)
{
    const char *end = reply->text + reply->n;
    for (const char *at = reply->text; at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        const char *stop = feed == NULL ? end : feed;
        if (!take_line(replayed, json_loadb(at, (size_t)(stop - at), 0, NULL)))
            return fail(&invocation->failure, EXIT_FAILED,
                        "the reply has a line that is not a decision: %.60s", at);
        at = stop + 1;
    }
    return json_object_get(replayed->all, "summary") != NULL ||
           fail(&invocation->failure, EXIT_FAILED, "the reply ends before its summary");
}

static bool write_replayed(struct invocation *invocation,
                           const struct decision_kind *kind,
                           const struct replayed *replayed)
{
    static const struct column contradictions[] = {
        {"line", "line", CELL_COUNT, NULL},
        {"what contradicts the line before", "message", CELL_TEXT, NULL},
    };
    static const struct column faults[] = {
        {"line", "line", CELL_COUNT, NULL},
        {"member", "error.errors.0.pointer", CELL_TEXT, NULL},
        {"fault", "error.detail", CELL_TEXT, NULL},
    };
    static const struct column counts[] = {
        {"decided", "kind", CELL_TEXT, NULL},
        {"choice", "choice", CELL_TEXT, NULL},
        {"rule", "rule", CELL_TEXT, NULL},
        {"times", "count", CELL_COUNT, NULL},
        {"different", "different", CELL_COUNT, NULL},
    };
    static const struct column totals[] = {
        {"lines", "lines", CELL_COUNT, NULL},
        {"at fault", "refused", CELL_COUNT, NULL},
        {"that say what was taken", "recorded", CELL_COUNT, NULL},
        {"different from it", "different", CELL_COUNT, NULL},
        {"contradicting the line before", "contradicting", CELL_COUNT, NULL},
    };
    const struct section sections[] = {{.title = "Decisions",
                                        .value = replayed->decided,
                                        .columns = kind->columns,
                                        .n_columns = kind->n_columns},
                                       {.title = "Contradictions",
                                        .value = replayed->contradicting,
                                        .columns = contradictions,
                                        .n_columns = COUNT(contradictions)},
                                       {.title = "Lines at fault",
                                        .value = replayed->refused,
                                        .columns = faults,
                                        .n_columns = COUNT(faults)},
                                       {.title = "How often",
                                        .value = json_at(replayed->all, "summary.decisions"),
                                        .columns = counts,
                                        .n_columns = COUNT(counts)},
                                       {.title = "In all",
                                        .value = json_object_get(replayed->all, "summary"),
                                        .columns = totals,
                                        .n_columns = COUNT(totals)}};
    return invocation_write_report(invocation, sections, COUNT(sections), replayed->all);
}

/* A failure where lines are at fault, for scripts; all others have been shown. */
static bool check_refused(struct invocation *invocation, const struct replayed *replayed)
{
    double refused = json_number_at(replayed->all, "summary.refused", 0);
    double lines = json_number_at(replayed->all, "summary.lines", 0);
    return refused <= 0 ||
           fail(&invocation->failure, EXIT_USAGE, "%.0f of %.0f line%s of %s %s at fault", refused,
                lines, PLURAL(lines), invocation_word(invocation, 0),
                PLURAL_VERB(refused, "is", "are"));
}

/* --- asking --- */

static bool send_log(struct invocation *invocation,
                     const struct decision_kind *kind,
                     const struct remote_body *body,
                     struct remote_reply *reply)
{
    static struct query query;
    query_begin(&query, invocation);
    query_option(&query, "lines", "lines");
    if (argument_given(invocation->arguments, "figures"))
        query_add(&query, "include", "figures");
    const struct remote_request request = {.method = "POST",
                                           .path = kind->path,
                                           .query = query.n == 0 ? NULL : query.items,
                                           .body = body,
                                           .content_type = "application/x-ndjson",
                                           .accept =
                                               "application/x-ndjson, application/problem+json"};
    return remote_call(invocation->remote, &request, reply, &invocation->failure);
}

static bool replay(struct invocation *invocation, const struct decision_kind *kind)
{
    struct file_body file;
    struct remote_reply reply = {.status = 0};
    struct replayed replayed;
    if (!replayed_init(&replayed)) {
        replayed_clear(&replayed);
        return fail_memory(&invocation->failure);
    }
    invocation_catch_signals();
    bool good = file_body_open(invocation, invocation_word(invocation, 0), &file) &&
                send_log(invocation, kind, &file.body, &reply) &&
                read_reply(invocation, &reply, &replayed) &&
                write_replayed(invocation, kind, &replayed) && check_refused(invocation, &replayed);
    file_body_close(&file);
    remote_reply_clear(&reply);
    replayed_clear(&replayed);
    return good;
}

static bool decide(struct invocation *invocation, const struct decision_kind *kind)
{
    struct remote_reply reply = {.status = 0};
    json_t *state = invocation_read_document(invocation, invocation_word(invocation, 0));
    if (state == NULL)
        return fail_next(&invocation->failure, "a log of states, one a line, needs --log");
    bool good = post_document(invocation, kind->path, state, false, &reply) &&
                kind->write(invocation, reply.json);
    remote_reply_clear(&reply);
    return good;
}

int decisions_run(struct invocation *invocation, const struct decision_kind *kind)
{
    const struct arguments *arguments = invocation->arguments;
    bool log = argument_given(arguments, "log");
    for (size_t i = 0; !log && options[i].name != NULL; i++)
        if (argument_given(arguments, options[i].name)) {
            (void)fail(&invocation->failure, EXIT_USAGE, "--%s is for logs: it needs --log",
                       options[i].name);
            return invocation_failed(invocation);
        }
    bool good = invocation_begin(invocation, FORMS_OF_TABLES) &&
                (log ? replay(invocation, kind) : decide(invocation, kind));
    return good ? EXIT_DONE : invocation_failed(invocation);
}
