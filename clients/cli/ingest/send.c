#include "cli/ingest/send.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ingest/local_files.h"
#include "cli/output/json_text.h"

/* --- what a reply says --- */

static bool is_unfinished_run(const json_t *run)
{
    const json_t *warnings = json_object_get(run, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++)
        if (strcmp(json_text_at(json_array_get(warnings, i), "code", ""), log_unfinished_code) == 0)
            return true;
    return false;
}

/* A service of before this header says less: what was known is a duplicate then. */
static enum log_outcome outcome_of(const struct remote_reply *reply)
{
    for (size_t i = LOG_STORED; i <= LOG_REPLACED; i++)
        if (strcmp(reply->log_outcome, log_outcome_words[i]) == 0)
            return (enum log_outcome)i;
    return reply->status == 201 ? LOG_STORED : LOG_DUPLICATE;
}

static enum send_verdict judge_run(const struct remote_reply *reply, struct log_result *result)
{
    const json_t *run = reply->json;
    (void)snprintf(result->application, sizeof result->application, "%s",
                   json_text_at(run, "application", ""));
    (void)snprintf(result->run_id, sizeof result->run_id, "%s", json_text_at(run, "id", ""));
    result->warnings = json_array_size(json_object_get(run, "warnings"));
    log_result_say_read(result, outcome_of(reply), is_unfinished_run(run), reply->log_reason);
    const char *name = json_text_at(run, "labels.job_name", NULL);
    if (result->outcome == LOG_STORED && name != NULL)
        log_result_add_name(result, strview_of(name));
    for (size_t i = 0; result->outcome == LOG_STORED && i < result->warnings; i++) {
        const json_t *warning = json_array_get(json_object_get(run, "warnings"), i);
        log_result_add_warning(
            result, json_text_at(warning, "code", ""),
            json_number_value(json_object_get(json_object_get(warning, "evidence"), "count")));
    }
    return SEND_FINAL;
}

/* The last part of the problem's type: ".../limit_exceeded". */
static const char *type_of(const json_t *problem)
{
    const char *type = json_text_at(problem, "type", "");
    const char *at = type;
    for (const char *c = type; *c != '\0'; c++)
        if (*c == '/' || *c == ':' || *c == '#')
            at = c + 1;
    return at;
}

/* Where the request is wrong, not the log, every other would fail in the same way. */
static bool blames_request(const json_t *problem)
{
    return json_text_at(problem, "errors.0.parameter", NULL) != NULL ||
           json_text_at(problem, "errors.0.header", NULL) != NULL;
}

static enum send_verdict
judge_problem(const struct remote_reply *reply, bool unfinished, struct log_result *result)
{
    const json_t *problem = reply->json;
    const char *type = type_of(problem);
    const char *code = json_text_at(problem, "errors.0.code", type);
    const char *why =
        json_text_at(problem, "errors.0.detail",
                     json_text_at(problem, "detail", json_text_at(problem, "title", "")));
    if (reply->status == 409 && unfinished) {
        log_result_say(result, LOG_DUPLICATE, log_unfinished_code,
                       "a more complete log of it is there");
        return SEND_FINAL;
    }
    /* A log without its beginning has the same code, and a remedy. */
    bool no_log = strcmp(code, "no_application_start") == 0 && strstr(why, "Send ") == NULL;
    log_result_say(result, no_log ? LOG_IGNORED : LOG_REJECTED, code, why);
    bool lasting = reply->status == 409 || reply->status == 413 || reply->status == 415 ||
                   (reply->status == 422 && strcmp(type, "storage_quota_exceeded") != 0);
    return lasting ? SEND_FINAL : SEND_PASSED;
}

enum send_verdict send_judge(const struct remote_reply *reply,
                             bool unfinished,
                             struct log_result *result,
                             const struct failure *failure)
{
    if (failure->status == EXIT_DONE)
        return judge_run(reply, result);
    if (failure->unavailable || reply->status == 0)
        return SEND_AWAY;
    /* A page of a proxy, a token that may not, a path or query that the service does not know. */
    if (!json_is_object(reply->json) || reply->status < 400 || reply->status == 401 ||
        reply->status == 403 || reply->status == 404 || reply->status == 405 ||
        blames_request(reply->json))
        return SEND_REFUSED;
    return judge_problem(reply, unfinished, result);
}

/* --- sending --- */

static enum send_verdict judge_log(const struct failure *failure, struct log_result *result)
{
    bool changed = strncmp(failure->what, changed_while_read, strlen(changed_while_read)) == 0;
    log_result_say(result, LOG_REJECTED, changed ? "changed" : "unreadable", failure->what);
    return SEND_PASSED;
}

static enum send_verdict send_body(struct remote *remote,
                                   const struct send_request *request,
                                   struct log_body *body,
                                   struct log_result *result,
                                   struct failure *failure)
{
    struct remote_reply reply = {.status = 0};
    /* Without memory for the name the log is sent without it. */
    char *source =
        strcmp(body->log->name, "-") == 0 ? NULL : remote_segment(remote, body->log->name);
    const struct remote_request call = {.method = "POST",
                                        .log_source = source,
                                        .path = request->path,
                                        .query = request->query,
                                        .body = &body->body,
                                        .content_type = "application/octet-stream"};
    (void)remote_call(remote, &call, &reply, failure);
    enum send_verdict verdict = body->unreadable
                                    ? judge_log(failure, result)
                                    : send_judge(&reply, body->log->unfinished, result, failure);
    remote_reply_clear(&reply);
    free(source);
    return verdict;
}

enum send_verdict send_log(struct remote *remote,
                           const struct send_request *request,
                           const struct ingest_log *log,
                           atomic_uint_least64_t *progress,
                           struct log_result *result,
                           struct failure *failure)
{
    struct log_body body;
    enum send_verdict verdict = log_body_begin(&body, log, progress, failure)
                                    ? send_body(remote, request, &body, result, failure)
                                    : judge_log(failure, result);
    if (log->bytes < 0)
        result->bytes = body.sent;
    log_body_end(&body);
    return verdict;
}
