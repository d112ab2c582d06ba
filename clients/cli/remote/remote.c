#include "cli/remote/remote.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/http/retry.h"
#include "cli/output/json_text.h"
#include "cli/remote/explain.h"
#include "threads/clock.h"

enum { REPLY_BYTES_MAX = 256 << 20, PAGE_ITEMS = 200, UPLOAD_BUFFER = 512 << 10 };

struct remote {
    const struct settings *settings;
    const atomic_bool *stop;
    bool finishes; /* stop does not end an attempt */
    CURL *curl;
    char error[CURL_ERROR_SIZE];
    char token_expires[TOKEN_EXPIRES];
};

/* One attempt, as libcurl's callbacks see it. */
struct exchange {
    struct remote *remote;
    const struct remote_request *request;
    struct remote_reply *reply;
    struct failure *failure;
    size_t capacity;
    size_t sent; /* of request->text */
    bool begun;  /* the sink has had bytes */
};

/* What asks nobody does not wait for libraries to begin. */
static pthread_once_t begun = PTHREAD_ONCE_INIT;

static void begin_libcurl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool remote_open(const struct settings *settings,
                 const atomic_bool *stop,
                 struct remote **remote,
                 struct failure *failure)
{
    (void)pthread_once(&begun, begin_libcurl);
    struct remote *made = calloc(1, sizeof *made);
    if (made == NULL)
        return fail_memory(failure);
    made->settings = settings;
    made->stop = stop;
    made->curl = curl_easy_init();
    if (made->curl == NULL) {
        free(made);
        return fail_memory(failure);
    }
    *remote = made;
    return true;
}

void remote_close(struct remote *remote)
{
    if (remote == NULL)
        return;
    curl_easy_cleanup(remote->curl);
    free(remote);
}

void remote_finish_attempts(struct remote *remote)
{
    remote->finishes = true;
}

void remote_reply_clear(struct remote_reply *reply)
{
    free(reply->text);
    json_decref(reply->json);
    *reply = (struct remote_reply){.status = 0};
}

/* --- callbacks --- */

static bool keep_bytes(struct exchange *exchange, const char *bytes, size_t n)
{
    struct remote_reply *reply = exchange->reply;
    if (reply->n + n > REPLY_BYTES_MAX)
        return fail(exchange->failure, EXIT_FAILED, "the reply is larger than %d MiB",
                    REPLY_BYTES_MAX >> 20);
    if (reply->n + n + 1 > exchange->capacity) {
        size_t capacity = 2 * (reply->n + n + 1) + 4096;
        char *text = realloc(reply->text, capacity);
        if (text == NULL)
            return fail_memory(exchange->failure);
        reply->text = text;
        exchange->capacity = capacity;
    }
    memcpy(reply->text + reply->n, bytes, n);
    reply->n += n;
    reply->text[reply->n] = '\0';
    return true;
}

static size_t take_reply(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    size_t n = size * count;
    long status = 0;
    (void)curl_easy_getinfo(exchange->remote->curl, CURLINFO_RESPONSE_CODE, &status);
    bool good;
    if (exchange->request->sink != NULL && status >= 200 && status < 300) {
        exchange->begun = true;
        good =
            exchange->request->sink(exchange->request->sink_context, bytes, n, exchange->failure);
    } else {
        good = keep_bytes(exchange, bytes, n);
    }
    return good ? n : 0;
}

static void take_field(const char *line, size_t n, const char *name, char *out, size_t room)
{
    size_t length = strlen(name);
    if (n <= length || strncasecmp(line, name, length) != 0)
        return;
    line += length;
    n -= length;
    while (n > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        n--;
    }
    while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == '\n' || line[n - 1] == ' '))
        n--;
    (void)snprintf(out, room, "%.*s", (int)n, line);
}

static size_t take_header(char *line, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    struct remote_reply *reply = exchange->reply;
    size_t n = size * count;
    take_field(line, n, "content-type:", reply->content_type, sizeof reply->content_type);
    take_field(line, n, "location:", reply->location, sizeof reply->location);
    take_field(line, n, "etag:", reply->etag, sizeof reply->etag);
    take_field(line, n, "x-log-outcome:", reply->log_outcome, sizeof reply->log_outcome);
    take_field(line, n, "x-log-reason:", reply->log_reason, sizeof reply->log_reason);
    take_field(line, n, TOKEN_EXPIRES_HEADER ":", reply->token_expires,
               sizeof reply->token_expires);
    return n;
}

static size_t give_body(char *bytes, size_t size, size_t count, void *context)
{
    struct exchange *exchange = context;
    const struct remote_body *body = exchange->request->body;
    size_t got = 0;
    if (!body->read(body->context, bytes, size * count, &got, exchange->failure))
        return CURL_READFUNC_ABORT;
    return got;
}

/* libcurl asks for a body again where a connection that it kept had been closed meanwhile. */
static int seek_body(void *context, curl_off_t offset, int origin)
{
    struct exchange *exchange = context;
    const struct remote_body *body = exchange->request->body;
    if (offset != 0 || origin != SEEK_SET || body->rewind == NULL)
        return CURL_SEEKFUNC_CANTSEEK;
    return body->rewind(body->context, exchange->failure) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static bool is_stopped(const struct remote *remote)
{
    return remote->stop != NULL && atomic_load(remote->stop);
}

static int watch(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct exchange *exchange = context;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return !exchange->remote->finishes && is_stopped(exchange->remote);
}

/* --- one attempt --- */

static char *build_url(struct remote *remote, const struct remote_request *request)
{
    char *url = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&url, &n);
    if (out == NULL)
        return NULL;
    fprintf(out, "%s%s", remote->settings->url, request->path);
    char before = strchr(request->path, '?') == NULL ? '?' : '&';
    for (const struct remote_parameter *p = request->query; p != NULL && p->name != NULL; p++) {
        if (p->value == NULL)
            continue;
        char *value = curl_easy_escape(remote->curl, p->value, 0);
        fprintf(out, "%c%s=%s", before, p->name, value == NULL ? "" : value);
        curl_free(value);
        before = '&';
    }
    if (fclose(out) != 0) {
        free(url);
        return NULL;
    }
    return url;
}

static bool add_header(struct curl_slist **headers, const char *name, const char *value)
{
    char line[TOKEN_TEXT_MAX + 64];
    if (value == NULL)
        return true;
    (void)snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(*headers, line);
    if (longer == NULL)
        return false;
    *headers = longer;
    return true;
}

static bool build_headers(const struct remote *remote,
                          const struct remote_request *request,
                          struct curl_slist **headers)
{
    char bearer[TOKEN_TEXT_MAX + 16];
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", remote->settings->token);
    bool body = request->text != NULL || request->body != NULL;
    const char *type = request->content_type == NULL ? "application/json" : request->content_type;
    const char *accept = request->accept == NULL ? "application/json" : request->accept;
    return add_header(headers, "Authorization",
                      remote->settings->token[0] == '\0' ? NULL : bearer) &&
           add_header(headers, "Accept", accept) &&
           add_header(headers, "Content-Type", body ? type : NULL) &&
           add_header(headers, "Idempotency-Key", request->idempotency_key) &&
           add_header(headers, "If-Match", request->if_match) &&
           add_header(headers, "If-None-Match", request->if_none_match) &&
           add_header(headers, "Prefer", request->prefer) &&
           add_header(headers, "X-Log-Source", request->log_source) &&
           (request->body == NULL || request->body->bytes >= 0 ||
            add_header(headers, "Transfer-Encoding", "chunked"));
}

static void set_body(CURL *curl, struct exchange *exchange)
{
    const struct remote_request *request = exchange->request;
    if (request->body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(curl, CURLOPT_READDATA, exchange);
        curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_body);
        curl_easy_setopt(curl, CURLOPT_SEEKDATA, exchange);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body->bytes);
        curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER);
    } else if (request->text != NULL) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->n_text);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->text);
    }
    if (strcmp(request->method, "GET") != 0)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

/* At least one, for to libcurl 0 is no limit. */
static long milliseconds(double seconds)
{
    long ms = (long)(1000 * seconds);
    return ms < 1 ? 1 : ms;
}

static void set_options(struct exchange *exchange, const char *url, struct curl_slist *headers)
{
    struct remote *remote = exchange->remote;
    const struct settings *settings = remote->settings;
    CURL *curl = remote->curl;
    curl_easy_reset(curl); /* keeps connections */
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "provisor/" PROVISOR_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, remote->error);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_reply);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, watch);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exchange);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                     milliseconds(settings->timeout_s < 10 ? settings->timeout_s : 10));
    if (exchange->request->body == NULL && exchange->request->sink == NULL)
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, milliseconds(settings->timeout_s));
    else {
        /* Of what takes as long as it has bytes, only standstill is limited. */
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
                         (long)(settings->timeout_s < 1 ? 1 : settings->timeout_s));
    }
    if (settings->ca_file[0] != '\0')
        curl_easy_setopt(curl, CURLOPT_CAINFO, settings->ca_file);
    set_body(curl, exchange);
}

/* libcurl's result of one attempt; what it brought is in the reply. */
static CURLcode attempt(struct exchange *exchange)
{
    struct remote *remote = exchange->remote;
    struct curl_slist *headers = NULL;
    char *url = build_url(remote, exchange->request);
    CURLcode result = CURLE_OUT_OF_MEMORY;
    exchange->reply->n = 0;
    exchange->sent = 0;
    exchange->reply->status = 0;
    exchange->reply->content_type[0] = '\0';
    exchange->reply->log_outcome[0] = '\0';
    exchange->reply->log_reason[0] = '\0';
    exchange->reply->token_expires[0] = '\0';
    remote->error[0] = '\0';
    if (url != NULL && build_headers(remote, exchange->request, &headers)) {
        set_options(exchange, url, headers);
        result = curl_easy_perform(remote->curl);
        (void)curl_easy_getinfo(remote->curl, CURLINFO_RESPONSE_CODE, &exchange->reply->status);
    }
    curl_slist_free_all(headers);
    free(url);
    return result;
}

/* --- all attempts --- */

/* May it be tried again after this result? Nothing is repeated that was not understood, or that may
 * have taken effect and would a second time. */
static bool may_repeat(const struct exchange *exchange, CURLcode result)
{
    const struct remote_request *request = exchange->request;
    bool refused =
        result == CURLE_OK && (exchange->reply->status == 429 || exchange->reply->status == 503);
    bool never_sent = result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST;
    if (exchange->begun || (request->body != NULL && request->body->rewind == NULL))
        return false;
    if (result == CURLE_OK && !retry_status(exchange->reply->status))
        return false;
    if (result != CURLE_OK && !explain_is_passing(result))
        return false;
    return !request->once || refused || never_sent;
}

static bool wait_for_next(struct exchange *exchange, CURLcode result, unsigned number)
{
    struct retry_policy policy = retry_policy_default();
    policy.attempts_max = exchange->remote->settings->attempts_max;
    curl_off_t asked = 0;
    if (result == CURLE_OK)
        (void)curl_easy_getinfo(exchange->remote->curl, CURLINFO_RETRY_AFTER, &asked);
    double wait = retry_wait_s(&policy, number, (double)asked, retry_draw());
    if (wait < 0 || !retry_sleep(wait, exchange->remote->stop))
        return false;
    const struct remote_body *body = exchange->request->body;
    return body == NULL || body->rewind(body->context, exchange->failure);
}

static bool is_json(const struct remote_reply *reply)
{
    return strncmp(reply->content_type, "application/json", 16) == 0 ||
           strstr(reply->content_type, "+json") != NULL;
}

static bool understand(struct exchange *exchange, CURLcode result)
{
    struct remote_reply *reply = exchange->reply;
    struct failure *failure = exchange->failure;
    const struct settings *settings = exchange->remote->settings;
    if (failure != NULL && failure->status != EXIT_DONE)
        return false; /* a callback has said what is wrong */
    bool finished = result == CURLE_OK && !retry_status(reply->status);
    if (is_stopped(exchange->remote) && !(exchange->remote->finishes && finished))
        return fail(failure, EXIT_FAILED, "interrupted");
    if (result != CURLE_OK)
        return explain_network(settings, result, exchange->remote->error, failure);
    if (is_json(reply) && reply->n > 0)
        reply->json = json_loadb(reply->text, reply->n, JSON_DECODE_ANY, NULL);
    if (reply->status >= 200 && reply->status < 400)
        return explain_success(settings, exchange->request, reply, failure);
    return explain_problem(settings, exchange->request, reply, failure);
}

const char *remote_token_expires(const struct remote *remote)
{
    return remote->token_expires;
}

/* Said once for all remotes of the program. */
static void note_token_end(struct remote *remote, const struct remote_reply *reply)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    /* It goes into reports: an instant and nothing else. */
    if (reply->token_expires[0] == '\0' ||
        reply->token_expires[strspn(reply->token_expires, "0123456789-:.TZ+")] != '\0')
        return;
    (void)snprintf(remote->token_expires, sizeof remote->token_expires, "%s", reply->token_expires);
    if (!remote->settings->quiet && !atomic_flag_test_and_set(&said))
        warn("the token from %s ends at %s: renew it before then", remote->settings->token_from,
             reply->token_expires);
}

bool remote_call(struct remote *remote,
                 const struct remote_request *request,
                 struct remote_reply *reply,
                 struct failure *failure)
{
    struct failure own = {.status = EXIT_DONE};
    struct exchange exchange = {
        .remote = remote, .request = request, .reply = reply, .failure = &own};
    *reply = (struct remote_reply){.status = 0};
    if (!keep_bytes(&exchange, "", 0))
        return fail_memory(failure);
    CURLcode result;
    for (unsigned number = 1;; number++) {
        result = attempt(&exchange);
        reply->attempts = number;
        if (own.status != EXIT_DONE || !may_repeat(&exchange, result) ||
            !wait_for_next(&exchange, result, number))
            break;
    }
    note_token_end(remote, reply);
    bool good = understand(&exchange, result);
    if (failure != NULL && failure->status == EXIT_DONE)
        *failure = own;
    return good;
}

/* --- what most commands want --- */

json_t *remote_get(struct remote *remote,
                   const char *path,
                   const struct remote_parameter *query,
                   struct failure *failure)
{
    struct remote_request request = {.method = "GET", .path = path, .query = query};
    struct remote_reply reply = {.status = 0};
    json_t *json = NULL;
    if (remote_call(remote, &request, &reply, failure)) {
        json = json_incref(reply.json);
        if (json == NULL)
            (void)fail(failure, EXIT_FAILED, "the reply to GET %s is not JSON", path);
    }
    remote_reply_clear(&reply);
    return json;
}

enum { QUERY_MAX = 32 };

const char *
remote_next_page(const char *path, const json_t *page, const char *before, struct failure *failure)
{
    const char *next = json_text_at(page, "next_cursor", "");
    bool nothing = json_array_size(json_object_get(page, "items")) == 0;
    if (next[0] == '\0' || (!nothing && strcmp(next, before) != 0))
        return next;
    (void)fail(failure, EXIT_FAILED, "the pages of GET %s do not end", path);
    return NULL;
}

/* One page into the list; the cursor of the next in `cursor`, "" at the end. */
static bool add_page(struct remote *remote,
                     const char *path,
                     const struct remote_parameter *query,
                     size_t limit,
                     char *cursor,
                     size_t room,
                     json_t *list,
                     struct failure *failure)
{
    struct remote_parameter all[QUERY_MAX + 3];
    char number[24];
    size_t n = 0;
    for (; query != NULL && query[n].name != NULL && n < QUERY_MAX; n++)
        all[n] = query[n];
    (void)snprintf(number, sizeof number, "%zu", limit);
    all[n++] = (struct remote_parameter){"limit", number};
    all[n++] = (struct remote_parameter){"cursor", cursor[0] == '\0' ? NULL : cursor};
    all[n] = (struct remote_parameter){NULL, NULL};
    json_t *page = remote_get(remote, path, all, failure);
    json_t *items = json_object_get(page, "items");
    bool good =
        page != NULL && (json_is_array(items) ||
                         fail(failure, EXIT_FAILED, "the reply to GET %s is not a list", path));
    if (good && json_array_extend(list, items) != 0)
        good = fail_memory(failure);
    const char *next = good ? remote_next_page(path, page, cursor, failure) : NULL;
    good = next != NULL;
    if (good)
        (void)snprintf(cursor, room, "%s", next);
    json_decref(page);
    return good;
}

json_t *remote_list(struct remote *remote,
                    const char *path,
                    const struct remote_parameter *query,
                    size_t most,
                    struct failure *failure)
{
    char cursor[1024] = "";
    json_t *list = json_array();
    if (list == NULL) {
        (void)fail_memory(failure);
        return NULL;
    }
    do {
        size_t left = most == 0 ? PAGE_ITEMS : most - json_array_size(list);
        if (!add_page(remote, path, query, left < PAGE_ITEMS ? left : PAGE_ITEMS, cursor,
                      sizeof cursor, list, failure)) {
            json_decref(list);
            return NULL;
        }
        if (json_array_size(list) > REMOTE_LIST_MAX) {
            (void)fail(failure, EXIT_FAILED, "GET %s has more than %d items", path,
                       REMOTE_LIST_MAX);
            (void)fail_next(failure, "--limit bounds how many are asked for");
            json_decref(list);
            return NULL;
        }
    } while (cursor[0] != '\0' && (most == 0 || json_array_size(list) < most));
    return list;
}

char *remote_segment(struct remote *remote, const char *text)
{
    char *escaped = curl_easy_escape(remote->curl, text, 0);
    char *copy = escaped == NULL ? NULL : strdup(escaped);
    curl_free(escaped);
    return copy;
}

bool remote_path(struct remote *remote,
                 const char *before,
                 const char *segment,
                 const char *after,
                 char out[1024],
                 struct failure *failure)
{
    char *encoded = remote_segment(remote, segment);
    if (encoded == NULL)
        return fail_memory(failure);
    int n = snprintf(out, 1024, "%s%s%s", before, encoded, after);
    free(encoded);
    return n < 1024 || fail(failure, EXIT_USAGE, "the name '%.60s...' is too long", segment);
}
