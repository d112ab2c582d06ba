#include "cli/remote/explain.h"

#include <stdio.h>
#include <string.h>

#include "base/fault_text.h"
#include "base/plural.h"
#include "base/quantity_text.h"
#include "cli/output/cell.h"
#include "cli/output/json_text.h"
#include "cli/remote/subject.h"

bool explain_is_passing(CURLcode result)
{
    switch (result) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static bool is_tls(CURLcode result)
{
    return result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CONNECT_ERROR ||
           result == CURLE_SSL_CACERT_BADFILE || result == CURLE_SSL_CERTPROBLEM ||
           result == CURLE_SSL_ISSUER_ERROR || result == CURLE_SSL_CIPHER;
}

bool explain_network(const struct settings *settings,
                     CURLcode result,
                     const char *error,
                     struct failure *failure)
{
    const char *why = error[0] != '\0' ? error : curl_easy_strerror(result);
    (void)fail(failure, EXIT_FAILED, "no reply from %s (%s): %s", settings->url, settings->url_from,
               why);
    /* Where nobody said which service there is, none is away. */
    if (failure != NULL && explain_is_passing(result) && settings->url_chosen)
        failure->unavailable = true;
    if (result == CURLE_SSL_CONNECT_ERROR)
        return fail_next(failure,
                         "the server may not speak TLS: check the port, and whether the URL (%s) "
                         "begins with http:// or https://",
                         settings->url_from);
    if (is_tls(result))
        return fail_next(failure, "the certificate is not trusted: --ca-file or PROVISOR_CA_FILE "
                                  "names your own authority");
    if (!settings->url_chosen)
        return fail_next(failure, "set PROVISOR_URL to the address of the service, or give --url; "
                                  "`provisor login` stores an address");
    if (result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY)
        return fail_next(
            failure, "check the name of the host; `provisor login --url URL` stores another one");
    if (result == CURLE_OPERATION_TIMEDOUT)
        return fail_next(failure, "--timeout gives it more time");
    return fail_next(failure, "check that the service runs there; --url, PROVISOR_URL or `provisor "
                              "login` name another one");
}

static bool is_html(const struct remote_reply *reply)
{
    return strncmp(reply->content_type, "text/html", 9) == 0 ||
           strncmp(reply->content_type, "application/xhtml", 17) == 0;
}

static bool explain_foreign(const struct settings *settings,
                            const struct remote_request *request,
                            const struct remote_reply *reply,
                            struct failure *failure)
{
    (void)fail(failure, EXIT_FAILED,
               "%s %s%s was answered with %ld and a reply of type %s, which is not provisor's",
               request->method, settings->url, request->path, reply->status,
               reply->content_type[0] == '\0' ? "(none)" : reply->content_type);
    return fail_next(
        failure,
        "a proxy or another server answers there: check the URL (%s), http_proxy and no_proxy",
        settings->url_from);
}

bool explain_success(const struct settings *settings,
                     const struct remote_request *request,
                     const struct remote_reply *reply,
                     struct failure *failure)
{
    bool wants_json = request->accept == NULL && request->sink == NULL && reply->n > 0;
    if (reply->status >= 300 && reply->status != 304) {
        (void)fail(failure, EXIT_FAILED, "%s%s redirects to %s, which is not followed",
                   settings->url, request->path,
                   reply->location[0] == '\0' ? "another place" : reply->location);
        return fail_next(failure, "give the URL of the service itself (%s)", settings->url_from);
    }
    if (is_html(reply) || (wants_json && reply->json == NULL))
        return explain_foreign(settings, request, reply, failure);
    return true;
}

/* ", is 1000" leaves the text of the subject "--cores 1000", which has the value already. */
static void drop_repeated(const char *subject, char *text)
{
    static const char is[] = ", is ";
    const char *value = strrchr(subject, ' ');
    char *end = value == NULL ? NULL : strstr(text, is);
    if (end != NULL && strcmp(end + sizeof is - 1, value + 1) == 0)
        *end = '\0';
}

/* "--max-cost 5 needs a price", "night.yaml:3: items[0].cores is required" */
static void
write_fault(const struct settings *settings, const json_t *error, char *out, size_t room)
{
    char subject[SUBJECT_TEXT], text[FAULT_SENTENCE_MAX];
    subject_of_fault(settings, error, subject);
    subject_translate(settings, json_text_at(error, "detail", ""), text, sizeof text);
    drop_repeated(subject, text);
    fault_write_sentence(subject, text, out, room);
}

/* Each fault on a line of its own. */
static void
list_faults(const struct settings *settings, const json_t *problem, char *out, size_t room)
{
    const json_t *errors = json_object_get(problem, "errors");
    size_t n_listed = json_array_size(errors);
    double total = json_number_at(problem, "errors_total", (double)n_listed);
    size_t at = (size_t)snprintf(out, room, "the request has %.0f faults:", total);
    for (size_t i = 0; i < n_listed && at < room; i++) {
        char sentence[FAULT_SENTENCE_MAX + SUBJECT_TEXT];
        write_fault(settings, json_array_get(errors, i), sentence, sizeof sentence);
        int n = snprintf(out + at, room - at, "\n          %s", sentence);
        at += n > 0 ? (size_t)n : 0;
    }
    if (total > (double)n_listed && at < room)
        (void)snprintf(out + at, room - at, "\n          and %.0f more", total - (double)n_listed);
}

static enum exit_status status_of_problem(long status, const json_t *problem)
{
    if (json_is_object(json_object_get(problem, "available")))
        return EXIT_TOO_LITTLE_FREE;
    return status == 400 || status == 422 ? EXIT_USAGE : EXIT_FAILED;
}

/* "12 cores and 64.0 GiB" */
static void describe_room(
    const json_t *available, const char *cores, const char *bytes, char *out, size_t n_out)
{
    const json_t *memory = json_object_get(available, bytes);
    const double n = json_number_at(available, cores, 0);
    const int at = snprintf(out, n_out, "%.15g core%s", n, PLURAL(n));
    if (!json_is_number(memory))
        return;
    (void)snprintf(out + at, n_out - (size_t)at, " and %s",
                   quantity_bytes(json_number_value(memory)).text);
}

/* Of a cluster of which too little is free: how much is. */
static bool advise_by_room(const json_t *available, struct failure *failure)
{
    char room[128], room_now[128];
    describe_room(available, "cores", "memory_bytes", room, sizeof room);
    describe_room(available, "cores_now", "memory_bytes_now", room_now, sizeof room_now);
    return fail_next(failure, "free throughout that time: %s; free now: %s", room, room_now);
}

static bool advise_by_status(const struct settings *settings,
                             const struct remote_request *request,
                             long status,
                             struct failure *failure)
{
    bool of_application = strncmp(request->path, "/v1/applications/", 17) == 0;
    switch (status) {
    case 401:
        if (settings->token[0] == '\0')
            return fail_next(failure,
                             "no token was given for %s: `provisor login` stores one, or set "
                             "PROVISOR_TOKEN_FILE",
                             settings->url);
        return fail_next(failure,
                         settings->token_of_login
                             ? "the token is from %s: `provisor login` stores another one"
                             : "the token is from %s: set a new one there; `provisor login` does "
                               "not change it",
                         settings->token_from);
    case 403:
        return fail_next(failure,
                         "the token (%s) lacks the scope that this needs: a token with the scope "
                         "admin makes another one (`provisor tokens create`), and so does the "
                         "operator of the service (`provisord token create`)",
                         settings->token_from);
    case 404:
        return of_application && fail_next(failure, "`provisor apps` lists the applications");
    case 413:
        return fail_next(failure,
                         "the limit is a setting of the service; its operator can raise it");
    case 429:
    case 502:
    case 503:
    case 504:
        return fail_next(failure, "the service is overloaded or unreachable for a moment: try "
                                  "again later, or more often with --retries");
    default:
        return false;
    }
}

bool explain_problem(const struct settings *settings,
                     const struct remote_request *request,
                     const struct remote_reply *reply,
                     struct failure *failure)
{
    bool passing = reply->status == 429 || (reply->status >= 502 && reply->status <= 504);
    if (failure != NULL)
        failure->unavailable = passing;
    if (failure != NULL)
        failure->token_refused = reply->status == 401;
    if (!json_is_object(reply->json))
        return explain_foreign(settings, request, reply, failure);
    char words[3500];
    const json_t *errors = json_object_get(reply->json, "errors");
    if (json_array_size(errors) > 1)
        list_faults(settings, reply->json, words, sizeof words);
    else if (json_array_size(errors) == 1)
        write_fault(settings, json_array_get(errors, 0), words, sizeof words);
    else
        (void)snprintf(words, sizeof words, "%s",
                       json_text_at(reply->json, "detail", json_text_at(reply->json, "title", "")));
    const enum exit_status status = status_of_problem(reply->status, reply->json);
    (void)fail(failure, status, "%s", words);
    if (status == EXIT_TOO_LITTLE_FREE)
        return advise_by_room(json_object_get(reply->json, "available"), failure);
    return advise_by_status(settings, request, reply->status, failure);
}
