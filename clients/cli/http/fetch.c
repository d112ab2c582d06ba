#include "cli/http/fetch.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/http/line_pool.h"

enum {
    STREAM_BUFFER = 256 * 1024, /* of a stream; no write of libcurl is longer than 16 KiB */
    TEXT_FIRST = 16 * 1024,
    PROGRESS = 64 * 1024, /* an attempt that brought so much was none in vain */
    POLL_MS = 200,        /* so often it is looked whether to stop */
    TAG = 256
};

struct fetch_client {
    struct fetch_options options;
    char *ca_file;
    struct line_pool *lines;
};

struct fetch {
    struct fetch_client *client;
    const struct fetch_request *request;
    struct line line;
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
    /* what has arrived and was not read */
    char *buffer;
    size_t begin;
    size_t end;
    size_t capacity;
    size_t limit; /* of what is held; a stream waits there, a text fails */
    bool whole;   /* a text: nothing is read before all is there */
    /* the content */
    int64_t offset; /* bytes that have arrived */
    int64_t handed; /* bytes that were read */
    int64_t total;  /* -1: unknown */
    char etag[TAG]; /* with quotes; "": none */
    bool complete;
    bool resumed;
    /* this attempt */
    unsigned attempt; /* without progress, from 1 */
    int64_t attempt_offset;
    bool running;
    bool paused;
    bool judged;  /* the head of the reply was looked at */
    bool content; /* and it is the content */
    bool too_long;
    char changed[128]; /* how the content is another; "": it is not */
    char *refusal;     /* FETCH_REFUSAL_MAX bytes, when there is one */
    size_t refusal_n;
};

struct fetch_options fetch_options_default(void)
{
    return (struct fetch_options){
        .connect_timeout_s = 10.0, .stall_timeout_s = 60.0, .retry = retry_policy_default()};
}

/* --- clients ------------------------------------------------------------------------------- */

struct fetch_client *fetch_client_create(const struct fetch_options *options)
{
    struct fetch_client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return NULL;
    client->options = *options;
    client->lines = line_pool_create();
    if (options->ca_file != NULL)
        client->ca_file = strdup(options->ca_file);
    if (client->lines != NULL && (options->ca_file == NULL || client->ca_file != NULL))
        return client;
    fetch_client_destroy(client);
    return NULL;
}

void fetch_client_destroy(struct fetch_client *client)
{
    if (client == NULL)
        return;
    line_pool_destroy(client->lines);
    free(client->ca_file);
    free(client);
}

/* --- replies ------------------------------------------------------------------------------- */

static const char *header_of(CURL *easy, const char *name)
{
    struct curl_header *header = NULL;
    return curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK ? header->value
                                                                                   : NULL;
}

const char *fetch_reply_header(const struct fetch_reply *reply, const char *name)
{
    return reply->handle == NULL ? NULL : header_of(reply->handle, name);
}

const char *fetch_header(const struct fetch *fetch, const char *name)
{
    return header_of(fetch->line.easy, name);
}

static bool changed(struct fetch *f, const char *how)
{
    if (f->changed[0] == '\0')
        (void)snprintf(f->changed, sizeof f->changed, "%s", how);
    return false;
}

/* The first reply: what all others have to agree with. */
static bool accept_first(struct fetch *f, const char *etag, int64_t length)
{
    const char *wanted = f->etag[0] != '\0' ? f->etag : NULL;
    if (wanted != NULL && etag != NULL && strcmp(etag, wanted) != 0)
        return changed(f, "its ETag is another");
    if (f->request->bytes >= 0 && length >= 0 && length != f->request->bytes)
        return changed(f, "its length is another");
    if (etag != NULL)
        (void)snprintf(f->etag, sizeof f->etag, "%s", strlen(etag) < TAG ? etag : "");
    f->total = length >= 0 ? length : f->request->bytes;
    return true;
}

/* "bytes FIRST-LAST/TOTAL", or "*" for a total that is not known, begins where it was asked to begin,
 * and is of as long a content. */
static bool range_agrees(const struct fetch *f, const char *range)
{
    if (range == NULL || strncmp(range, "bytes ", 6) != 0)
        return false;
    char *end = NULL;
    intmax_t first = strtoimax(range + 6, &end, 10);
    const char *total = strchr(end, '/');
    if (*end != '-' || total == NULL || first != f->offset)
        return false;
    return f->total < 0 || total[1] == '*' || strtoimax(total + 1, NULL, 10) == f->total;
}

static bool accept_more(struct fetch *f, long status, const char *etag, int64_t length)
{
    bool by_range = f->request->resume == FETCH_RESUME_RANGE;
    if (by_range && status != 206)
        return changed(f, "the rest of it was asked for, and all of it came");
    if (by_range && !range_agrees(f, header_of(f->line.easy, "Content-Range")))
        return changed(f, "the rest of it is another than was asked for");
    if (f->etag[0] != '\0' && etag != NULL && strcmp(etag, f->etag) != 0)
        return changed(f, "its ETag is another");
    if (f->total >= 0 && length >= 0 && f->offset + length != f->total)
        return changed(f, "its length is another");
    return true;
}

/* Is this reply the content that is meant? Once it is judged, its body goes where it belongs. */
static bool judge(struct fetch *f)
{
    if (f->judged)
        return f->changed[0] == '\0';
    f->judged = true;
    long status = 0;
    curl_off_t length = -1;
    curl_easy_getinfo(f->line.easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(f->line.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    bool more = f->offset > 0;
    if (status == 412 || (more && status == 416))
        return changed(f, "the other side no longer has that content");
    f->content = status == 200 || (more && status == 206);
    if (!f->content)
        return true;
    const char *etag = header_of(f->line.easy, "ETag");
    return more ? accept_more(f, status, etag, length) : accept_first(f, etag, length);
}

static size_t keep_refusal(struct fetch *f, const char *bytes, size_t n)
{
    if (f->refusal == NULL && (f->refusal = malloc(FETCH_REFUSAL_MAX + 1)) == NULL)
        return 0;
    size_t room = FETCH_REFUSAL_MAX - f->refusal_n;
    memcpy(f->refusal + f->refusal_n, bytes, n < room ? n : room);
    f->refusal_n += n < room ? n : room;
    return n <= room ? n : 0; /* who says no at endless length is not listened to */
}

/* Room for n bytes behind the end; false: not now, or (for a text) never. */
static bool reserve(struct fetch *f, size_t n)
{
    if (f->begin > 0 && f->capacity - f->end < n) {
        memmove(f->buffer, f->buffer + f->begin, f->end - f->begin);
        f->end -= f->begin;
        f->begin = 0;
    }
    if (f->end + n > f->limit)
        return false;
    if (f->end + n < f->capacity)
        return true;
    size_t capacity = f->capacity * 2 > f->end + n + 1 ? f->capacity * 2 : f->end + n + 1;
    char *buffer = realloc(f->buffer, capacity);
    if (buffer == NULL)
        return false;
    f->buffer = buffer;
    f->capacity = capacity;
    return true;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    struct fetch *f = context;
    size_t n = size * count;
    if (!judge(f))
        return 0;
    if (!f->content)
        return keep_refusal(f, bytes, n);
    if (f->total >= 0 && f->offset + (int64_t)n > f->total) {
        changed(f, "it is longer than it was said to be");
        return 0;
    }
    if (!reserve(f, n)) {
        f->too_long = f->whole && f->end + n > f->limit;
        f->paused = !f->whole;
        return f->whole ? 0 : CURL_WRITEFUNC_PAUSE;
    }
    memcpy(f->buffer + f->end, bytes, n);
    f->end += n;
    f->offset += (int64_t)n;
    return n;
}

/* --- attempts ------------------------------------------------------------------------------ */

static bool add_header(struct fetch *f, const char *line)
{
    struct curl_slist *more = curl_slist_append(f->headers, line);
    if (more == NULL)
        return false;
    f->headers = more;
    return true;
}

/* A weak tag names no bytes: If-Match would never hold. */
static bool add_headers(struct fetch *f)
{
    curl_slist_free_all(f->headers);
    f->headers = NULL;
    for (const char *const *h = f->request->headers; h != NULL && *h != NULL; h++) {
        if (!add_header(f, *h))
            return false;
    }
    char line[TAG + 16];
    (void)snprintf(line, sizeof line, "If-Match: %s", f->etag);
    return f->etag[0] != '"' || add_header(f, line);
}

static bool set_target(struct fetch *f)
{
    const struct fetch_request *r = f->request;
    CURL *easy = f->line.easy;
    const char *url = r->url_at != NULL ? r->url_at(r->context, f->offset) : r->url;
    if (url == NULL || !add_headers(f))
        return false;
    char range[32];
    (void)snprintf(range, sizeof range, "%" PRId64 "-", f->offset);
    bool by_range = f->offset > 0 && r->resume == FETCH_RESUME_RANGE;
    /* A redirect never leads from an encrypted connection to an open one. */
    bool tls = strncmp(url, "https:", 6) == 0;
    return curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_RANGE, by_range ? range : NULL) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, tls ? "https" : "http,https") ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_HTTPHEADER, f->headers) == CURLE_OK;
}

/* What is the same in all attempts. */
static bool set_up(struct fetch *f)
{
    const struct fetch_options *o = &f->client->options;
    const struct fetch_request *r = f->request;
    CURL *easy = f->line.easy;
    bool set = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
    /* Of HTTP/2, libcurl would hold megabytes that are not read yet. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, r->redirects_max > 0 ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, r->redirects_max);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(o->connect_timeout_s * 1000.0));
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1024L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                     o->stall_timeout_s < 1.0 ? 1L : (long)o->stall_timeout_s);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, f->error);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, f);
    set = set && curl_easy_setopt(easy, CURLOPT_USERAGENT, "provisor") == CURLE_OK;
    if (f->client->ca_file != NULL)
        set = set && curl_easy_setopt(easy, CURLOPT_CAINFO, f->client->ca_file) == CURLE_OK;
    if (r->sigv4 != NULL)
        set = set && curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, r->sigv4) == CURLE_OK;
    if (r->user != NULL)
        set = set && curl_easy_setopt(easy, CURLOPT_USERPWD, r->user) == CURLE_OK;
    return set;
}

/* Before the first byte: what is known of the content is what was asked for. */
static void expect(struct fetch *f)
{
    const char *etag = f->request->etag;
    f->total = f->request->bytes;
    f->etag[0] = '\0';
    if (etag == NULL || etag[0] == '\0' || strlen(etag) + 3 > TAG)
        return;
    bool weak = strncmp(etag, "W/", 2) == 0;
    (void)snprintf(f->etag, sizeof f->etag, weak ? "%s" : "\"%s\"", etag);
}

static bool attempt_begin(struct fetch *f, struct failure *failure)
{
    f->attempt++;
    f->attempt_offset = f->offset;
    f->resumed = f->resumed || f->offset > 0;
    if (f->offset == 0)
        expect(f);
    f->judged = f->content = f->paused = false;
    f->refusal_n = 0;
    f->error[0] = '\0';
    if (!set_target(f) || curl_multi_add_handle(f->line.multi, f->line.easy) != CURLM_OK)
        return fail_memory(failure);
    f->running = true;
    return true;
}

static void attempt_end(struct fetch *f)
{
    if (f->running)
        curl_multi_remove_handle(f->line.multi, f->line.easy);
    f->running = false;
}

/* Errors of a connection, which the next one may not have. */
static bool passing(CURLcode code)
{
    static const CURLcode codes[] = {
        CURLE_COULDNT_RESOLVE_PROXY,
        CURLE_COULDNT_RESOLVE_HOST,
        CURLE_COULDNT_CONNECT,
        CURLE_PARTIAL_FILE,
        CURLE_OPERATION_TIMEDOUT,
        CURLE_GOT_NOTHING,
        CURLE_SEND_ERROR,
        CURLE_RECV_ERROR,
        CURLE_SSL_CONNECT_ERROR,
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (code == codes[i])
            return true;
    }
    return false;
}

static bool stopped(const struct fetch *f)
{
    const atomic_bool *stop = f->client->options.stop;
    return stop != NULL && atomic_load(stop);
}

static bool fail_stopped(const struct fetch *f, struct failure *failure)
{
    return fail(failure, EXIT_FAILED, "%s: interrupted", f->request->name);
}

static bool fail_changed(const struct fetch *f, struct failure *failure)
{
    fail(failure, EXIT_FAILED, "%s: changed %s: %s", f->request->name,
         f->offset > 0 ? "while it was read" : "since it was listed", f->changed);
    return fail_next(failure, "Run it again when nothing writes there any more.");
}

/* Can what is missing still be had? What nobody has read yet begins anew. */
static bool take_up_again(struct fetch *f)
{
    if (f->offset == 0 || f->request->resume != FETCH_RESUME_NONE)
        return true;
    if (f->handed > 0)
        return false;
    f->begin = f->end = 0;
    f->offset = 0;
    f->attempt_offset = 0;
    return true;
}

/* Wait for the next attempt, or say in `failure` that `why` is the end. */
static bool again(struct fetch *f, const struct failure *why, struct failure *failure)
{
    const struct retry_policy *policy = &f->client->options.retry;
    curl_off_t after = 0;
    curl_easy_getinfo(f->line.easy, CURLINFO_RETRY_AFTER, &after);
    if (f->offset - f->attempt_offset >= PROGRESS)
        f->attempt = 1;
    double wait_s = retry_wait_s(policy, f->attempt, (double)after, retry_draw());
    if (wait_s >= 0.0)
        return retry_sleep(wait_s, f->client->options.stop) || fail_stopped(f, failure);
    fail(failure, why->status, "%s (attempts: %u)", why->what, f->attempt);
    if (after > 0)
        return fail_next(failure, "The other side asks to try again in %jd s.", (intmax_t)after);
    return fail_next(failure, "%s", why->next);
}

static enum fetch_verdict ask(struct fetch *f, long status, struct failure *why)
{
    const struct fetch_request *r = f->request;
    struct fetch_reply reply = {status, "", 0, status == 0 ? NULL : f->line.easy};
    if (f->refusal_n > 0) {
        f->refusal[f->refusal_n] = '\0';
        reply.body = f->refusal;
        reply.n = f->refusal_n;
    }
    return r->refused != NULL ? r->refused(r->context, &reply, why) : FETCH_GIVE_UP;
}

static bool end_refused(struct fetch *f, struct failure *failure)
{
    long status = 0;
    curl_easy_getinfo(f->line.easy, CURLINFO_RESPONSE_CODE, &status);
    struct failure why = {0};
    bool may_pass = ask(f, status, &why) == FETCH_AGAIN || retry_status(status);
    fail(&why, EXIT_FAILED, "%s: refused with status %ld", f->request->name, status);
    if (may_pass)
        return again(f, &why, failure);
    fail(failure, why.status, "%s", why.what);
    return fail_next(failure, "%s", why.next);
}

static bool end_cut(struct fetch *f, CURLcode code, struct failure *failure)
{
    struct failure why = {0};
    const char *what = f->error[0] != '\0' ? f->error : curl_easy_strerror(code);
    if (f->offset > 0)
        fail(&why, EXIT_FAILED, "%s: cut after %" PRId64 " bytes: %s", f->request->name, f->offset,
             what);
    else
        fail(&why, EXIT_FAILED, "%s: %s", f->request->name, what);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
        fail_next(&why, "Give the file with the certificates of whoever signed the other side's.");
    bool may_pass = passing(code);
    if (may_pass)
        (void)ask(f, 0, &(struct failure){0});
    if (may_pass && take_up_again(f))
        return again(f, &why, failure);
    fail(failure, why.status, "%s", why.what);
    return fail_next(failure, "%s", why.next);
}

/* The transfer has ended: all is there, or there is another attempt, or it fails. */
static bool attempt_ended(struct fetch *f, CURLcode code, struct failure *failure)
{
    if (code == CURLE_OK)
        (void)judge(f); /* of a reply without a body */
    bool refused = f->judged && !f->content && f->changed[0] == '\0';
    attempt_end(f);
    if (f->changed[0] != '\0')
        return fail_changed(f, failure);
    if (f->too_long)
        return fail(failure, EXIT_FAILED, "%s: the reply is longer than %zu bytes",
                    f->request->name, f->limit);
    if (refused && (code == CURLE_OK || code == CURLE_WRITE_ERROR))
        return end_refused(f, failure);
    if (code == CURLE_WRITE_ERROR || code == CURLE_OUT_OF_MEMORY)
        return fail_memory(failure);
    bool all = f->content && (f->total >= 0 ? f->offset == f->total : code == CURLE_OK);
    if (!all)
        return end_cut(f, code == CURLE_OK ? CURLE_PARTIAL_FILE : code, failure);
    f->complete = true;
    return true;
}

static bool step(struct fetch *f, struct failure *failure)
{
    if (stopped(f))
        return fail_stopped(f, failure);
    if (!f->running && !attempt_begin(f, failure))
        return false;
    int running = 0;
    if (curl_multi_perform(f->line.multi, &running) != CURLM_OK)
        return fail_memory(failure);
    int left = 0;
    CURLMsg *message = curl_multi_info_read(f->line.multi, &left);
    if (message != NULL && message->msg == CURLMSG_DONE)
        return attempt_ended(f, message->data.result, failure);
    if (f->begin == f->end || f->whole)
        curl_multi_poll(f->line.multi, NULL, 0, POLL_MS, NULL);
    return true;
}

/* Until something can be read, or there is nothing more. */
static bool drive(struct fetch *f, struct failure *failure)
{
    while (!f->complete && (f->whole || f->begin == f->end)) {
        if (!step(f, failure))
            return false;
    }
    return true;
}

/* --- fetches ------------------------------------------------------------------------------- */

static struct fetch *fetch_create(struct fetch_client *client,
                                  const struct fetch_request *request,
                                  size_t limit,
                                  bool whole)
{
    struct fetch *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->client = client;
    f->request = request;
    f->limit = limit;
    f->whole = whole;
    f->capacity = (whole ? TEXT_FIRST : STREAM_BUFFER) + 1;
    if ((f->buffer = malloc(f->capacity)) != NULL && line_pool_take(client->lines, &f->line) &&
        set_up(f))
        return f;
    fetch_close(f);
    return NULL;
}

bool fetch_open(struct fetch_client *client,
                const struct fetch_request *request,
                struct fetch **fetch,
                struct failure *failure)
{
    struct fetch *f = fetch_create(client, request, STREAM_BUFFER, false);
    if (f == NULL)
        return fail_memory(failure);
    if (!drive(f, failure)) {
        fetch_close(f);
        return false;
    }
    *fetch = f;
    return true;
}

bool fetch_read(struct fetch *f, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    if (f->begin == f->end && f->paused) {
        f->paused = false;
        /* What it held back arrives in this call. */
        if (curl_easy_pause(f->line.easy, CURLPAUSE_CONT) == CURLE_OUT_OF_MEMORY)
            return fail_memory(failure);
    }
    if (!drive(f, failure))
        return false;
    size_t there = f->end - f->begin;
    *got = n < there ? n : there;
    memcpy(bytes, f->buffer + f->begin, *got);
    f->begin += *got;
    f->handed += (int64_t)*got;
    if (f->begin == f->end)
        f->begin = f->end = 0;
    return true;
}

bool fetch_was_resumed(const struct fetch *fetch)
{
    return fetch->resumed;
}

void fetch_close(struct fetch *fetch)
{
    if (fetch == NULL)
        return;
    attempt_end(fetch);
    if (fetch->line.easy != NULL)
        line_pool_give(fetch->client->lines, &fetch->line);
    curl_slist_free_all(fetch->headers);
    free(fetch->refusal);
    free(fetch->buffer);
    free(fetch);
}

bool fetch_text(struct fetch_client *client,
                const struct fetch_request *request,
                size_t bytes_max,
                char **text,
                size_t *n,
                struct failure *failure)
{
    struct fetch *f = fetch_create(client, request, bytes_max, true);
    if (f == NULL)
        return fail_memory(failure);
    bool fetched = drive(f, failure);
    if (fetched) {
        f->buffer[f->end] = '\0';
        *text = f->buffer;
        *n = f->end;
        f->buffer = NULL;
    }
    fetch_close(f);
    return fetched;
}
