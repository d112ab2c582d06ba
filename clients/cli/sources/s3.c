#include "cli/sources/s3.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/sources/aws_settings.h"
#include "cli/sources/s3_page.h"
#include "cli/sources/source_internal.h"
#include "cli/sources/uri.h"

enum {
    PAGE_MAX_BYTES = 16 * 1024 * 1024, /* a thousand keys of a kilobyte, each byte as three */
    BUCKET_MAX_BYTES = 255
};

/* Of no body: libcurl 7.88 takes it from here, and some servers want it in requests without one. */
static const char EMPTY_BODY[] =
    "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct s3_source {
    struct source source;
    struct arena arena; /* of all that is below; nothing of it changes once it is open */
    struct fetch_client *client;
    const char *bucket;
    const char *prefix;
    const char *endpoint; /* as printed */
    const char *bucket_url;
    const char *region;
    const char *key_id; /* NULL: anonymous */
    const char *sigv4;
    const char *user;
    const char *headers[3];
    unsigned page_size;
};

/* A request, and what its refusals are about. */
struct s3_request {
    struct fetch_request fetch;
    const struct s3_source *s3;
    const char *name;
    bool list;
};

struct s3_stream {
    struct source_stream stream;
    struct arena arena;
    struct s3_request request;
    struct fetch *fetch;
};

/* --- refusals ------------------------------------------------------------------------------ */

struct s3_advice {
    const char *code;
    const char *next;
};

static const struct s3_advice advice[] = {
    {"NoSuchBucket", "Check the name of the bucket, and AWS_ENDPOINT_URL if it is not one of AWS."},
    {"NoSuchKey", "It was deleted since it was listed; run it again."},
    {"InvalidAccessKeyId", "Check AWS_ACCESS_KEY_ID or AWS_PROFILE; temporary keys also need "
                           "AWS_SESSION_TOKEN."},
    {"SignatureDoesNotMatch", "Check AWS_SECRET_ACCESS_KEY: it is not that of the access key id."},
    {"ExpiredToken", "Get new credentials (aws sso login, aws sts assume-role) and run it again."},
    {"TokenRefreshRequired", "Get new credentials and run it again."},
    {"InvalidToken", "Check AWS_SESSION_TOKEN: it is not of these keys, or is cut."},
    {"RequestTimeTooSkewed", "Set the clock of this machine."},
    {"InvalidObjectState", "It is archived (Glacier); restore it first."},
    {"PermanentRedirect", "Set AWS_REGION to the region of the bucket."},
    {"AuthorizationHeaderMalformed", "Set AWS_REGION to the region of the bucket."},
};

/* Errors that S3 wants to be tried again after a while, whatever their status. */
static bool s3_passing(const char *code)
{
    static const char *const codes[] = {"SlowDown",       "InternalError", "ServiceUnavailable",
                                        "RequestTimeout", "503 SlowDown",  "OperationAborted"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(code, codes[i]) == 0)
            return true;
    }
    return false;
}

static void advise_denied(const struct s3_request *r, struct failure *failure)
{
    const char *action = r->list ? "s3:ListBucket of the bucket" : "s3:GetObject of the object";
    if (r->s3->key_id == NULL)
        fail_next(failure,
                  "There are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                  "AWS_PROFILE.");
    else
        fail_next(failure, "Have %s granted to %s, or set AWS_PROFILE to another.", action,
                  r->s3->key_id);
}

static void advise(const struct s3_request *r,
                   const struct s3_error *error,
                   const char *region,
                   struct failure *failure)
{
    if (region[0] != '\0' && strcmp(region, r->s3->region) != 0)
        fail_next(failure, "The bucket is in region %s: set AWS_REGION=%s.", region, region);
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        if (strcmp(advice[i].code, error->code) == 0)
            fail_next(failure, "%s", advice[i].next);
    }
    if (strcmp(error->code, "AccessDenied") == 0 || strcmp(error->code, "AllAccessDisabled") == 0)
        advise_denied(r, failure);
}

static void explain(const struct s3_request *r,
                    const struct fetch_reply *reply,
                    const struct s3_error *error,
                    struct failure *failure)
{
    const char *region = fetch_reply_header(reply, "x-amz-bucket-region");
    if (error->code[0] != '\0')
        fail(failure, EXIT_FAILED, "%s: %s: %s (status %ld, region %s)", r->name, error->code,
             error->message, reply->status, r->s3->region);
    else if (reply->n == 0)
        fail(failure, EXIT_FAILED, "%s: refused with status %ld by %s (region %s)", r->name,
             reply->status, r->s3->endpoint, r->s3->region);
    else
        fail(failure, EXIT_FAILED, "%s: %s answers with status %ld and no error of S3", r->name,
             r->s3->endpoint, reply->status);
    advise(r, error, region != NULL ? region : error->region, failure);
    if (error->code[0] == '\0' && reply->n > 0)
        fail_next(failure, "Check AWS_ENDPOINT_URL, and whether a proxy lies between.");
}

static enum fetch_verdict
refused(void *context, const struct fetch_reply *reply, struct failure *failure)
{
    const struct s3_request *r = context;
    if (reply->status == 0)
        return FETCH_GIVE_UP;
    struct arena arena;
    arena_init(&arena, 0);
    struct s3_error error;
    (void)s3_error_parse(&arena, reply->body, reply->n, &error);
    bool again = reply->status == 500 || s3_passing(error.code);
    explain(r, reply, &error, failure);
    arena_fini(&arena);
    return again ? FETCH_AGAIN : FETCH_GIVE_UP;
}

/* --- requests ------------------------------------------------------------------------------ */

static struct s3_request
request_of(const struct s3_source *s3, const char *name, const char *url, bool list)
{
    return (struct s3_request){
        .fetch = {.name = name,
                  .url = url,
                  .headers = s3->headers,
                  .sigv4 = s3->sigv4,
                  .user = s3->user,
                  .resume = list ? FETCH_RESUME_NONE : FETCH_RESUME_RANGE,
                  .bytes = -1,
                  .refused = refused},
        .s3 = s3,
        .name = name,
        .list = list,
    };
}

/* Parameters in the order of their names and encoded as a signature wants them: libcurl 7.88 signs
 * the query as it stands. */
static const char *page_url(const struct s3_source *s3, struct arena *arena, const char *token)
{
    char *from = token == NULL ? NULL : uri_encode_value(arena, token);
    char *prefix = uri_encode_value(arena, s3->prefix);
    char *size = s3->page_size == 0 ? arena_strdup(arena, "")
                                    : arena_printf(arena, "max-keys=%u&", s3->page_size);
    if (prefix == NULL || size == NULL || (token != NULL && from == NULL))
        return NULL;
    return arena_printf(arena, "%s?%s%s%sencoding-type=url&list-type=2&%sprefix=%s", s3->bucket_url,
                        token == NULL ? "" : "continuation-token=", token == NULL ? "" : from,
                        token == NULL ? "" : "&", size, prefix);
}

static bool fail_page(const struct s3_request *r, const char *fault, struct failure *failure)
{
    fail(failure, EXIT_FAILED, "%s: the reply of %s is not a list of S3: %s", r->name,
         r->s3->endpoint, fault);
    return fail_next(failure, "Check AWS_ENDPOINT_URL, and whether a proxy lies between.");
}

static bool get_page(const struct s3_source *s3,
                     struct arena *arena,
                     const char *token,
                     struct s3_page *page,
                     struct failure *failure)
{
    const char *name = arena_printf(arena, "s3://%s/%s", s3->bucket, s3->prefix);
    const char *url = page_url(s3, arena, token);
    if (name == NULL || url == NULL)
        return fail_memory(failure);
    struct s3_request request = request_of(s3, name, url, true);
    request.fetch.context = &request;
    char *text = NULL;
    size_t n = 0;
    if (!fetch_text(s3->client, &request.fetch, PAGE_MAX_BYTES, &text, &n, failure))
        return false;
    const char *fault = NULL;
    bool parsed = s3_page_parse(arena, text, n, page, &fault);
    free(text);
    if (parsed && token != NULL && page->next != NULL && strcmp(token, page->next) == 0) {
        parsed = false;
        fault = "the page after it is the same again";
    }
    if (!parsed && fault == NULL)
        return fail_memory(failure);
    return parsed || fail_page(&request, fault, failure);
}

/* *more is false when nothing else is wanted. */
static bool report(const struct s3_source *s3,
                   struct arena *arena,
                   const struct s3_entry *entry,
                   source_found *found,
                   void *context,
                   bool *more)
{
    size_t n = strlen(entry->key);
    if (n == 0 || entry->key[n - 1] == '/')
        return true;
    char *name = arena_printf(arena, "s3://%s/%s", s3->bucket, entry->key);
    char *folder = name == NULL ? NULL : arena_strdup(arena, name);
    if (folder == NULL)
        return false;
    char *slash = strrchr(folder, '/');
    *slash = '\0';
    const char *file = name + (slash - folder) + 1;
    struct source_object object = {.name = name,
                                   .folder = folder,
                                   .file = file,
                                   .identity = entry->etag,
                                   .bytes = entry->bytes,
                                   .modified_us = entry->modified_us,
                                   .unfinished = source_name_unfinished(file)};
    *more = found(context, &object);
    return true;
}

static bool list_page(const struct s3_source *s3,
                      struct arena *arena,
                      const struct s3_page *page,
                      source_found *found,
                      void *context,
                      bool *more,
                      struct failure *failure)
{
    for (size_t i = 0; *more && i < page->entries.n; i++) {
        struct arena_mark mark = arena_mark(arena);
        if (!report(s3, arena, &page->entries.items[i], found, context, more))
            return fail_memory(failure);
        arena_rewind(arena, mark);
    }
    return true;
}

static bool
s3_list(struct source *source, source_found *found, void *context, struct failure *failure)
{
    const struct s3_source *s3 = (const struct s3_source *)source;
    struct arena arena;
    arena_init(&arena, 0);
    char *token = NULL;
    bool more = true;
    bool listed = true;
    while (listed && more) {
        struct s3_page page = {0};
        arena_clear(&arena);
        listed = get_page(s3, &arena, token, &page, failure) &&
                 list_page(s3, &arena, &page, found, context, &more, failure);
        free(token);
        token = NULL;
        more = listed && more && page.next != NULL;
        if (more && (token = strdup(page.next)) == NULL)
            listed = fail_memory(failure);
    }
    free(token);
    arena_fini(&arena);
    return listed;
}

/* --- streams ------------------------------------------------------------------------------- */

static void s3_read_close(struct source_stream *stream)
{
    struct s3_stream *s = (struct s3_stream *)stream;
    fetch_close(s->fetch);
    arena_fini(&s->arena);
    free(s);
}

static bool
s3_read(struct source_stream *stream, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    return fetch_read(((struct s3_stream *)stream)->fetch, bytes, n, got, failure);
}

static const char *object_url(const struct s3_source *s3, struct arena *arena, const char *name)
{
    size_t before = strlen("s3://") + strlen(s3->bucket) + 1;
    const char *key = strlen(name) > before ? uri_encode_path(arena, name + before) : NULL;
    return key == NULL ? NULL : arena_printf(arena, "%s/%s", s3->bucket_url, key);
}

static bool stream_begin(struct s3_source *s3,
                         struct s3_stream *s,
                         const struct source_object *object,
                         struct failure *failure)
{
    const char *name = arena_strdup(&s->arena, object->name);
    const char *url = object_url(s3, &s->arena, object->name);
    const char *etag = arena_strdup(&s->arena, object->identity);
    if (name == NULL || url == NULL || etag == NULL)
        return fail_memory(failure);
    s->request = request_of(s3, name, url, false);
    s->request.fetch.context = &s->request;
    s->request.fetch.etag = etag;
    s->request.fetch.bytes = object->bytes;
    return fetch_open(s3->client, &s->request.fetch, &s->fetch, failure);
}

static bool s3_read_open(struct source *source,
                         const struct source_object *object,
                         struct source_stream **stream,
                         struct failure *failure)
{
    struct s3_stream *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail_memory(failure);
    s->stream.kind = source->kind;
    arena_init(&s->arena, 0);
    if (!stream_begin((struct s3_source *)source, s, object, failure)) {
        s3_read_close(&s->stream);
        return false;
    }
    *stream = &s->stream;
    return true;
}

/* --- opening ------------------------------------------------------------------------------- */

static void s3_close(struct source *source)
{
    struct s3_source *s3 = (struct s3_source *)source;
    fetch_client_destroy(s3->client);
    arena_fini(&s3->arena);
    free(s3);
}

static const struct source_kind s3_kind = {s3_list, s3_read_open, s3_read, s3_read_close, s3_close};

static const char *after_scheme(const char *url)
{
    static const char *const schemes[] = {"s3://", "s3a://", "s3n://"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        if (strncmp(url, schemes[i], strlen(schemes[i])) == 0)
            return url + strlen(schemes[i]);
    }
    return NULL;
}

/* A name of S3, or of a server that is less strict; it may become part of a host's. */
static bool bucket_like(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    size_t n = strlen(name);
    return n > 0 && n <= BUCKET_MAX_BYTES && strspn(name, letters) == n && name[0] != '.' &&
           name[0] != '-';
}

static bool take_url(struct s3_source *s3, const char *url, struct failure *failure)
{
    const char *rest = after_scheme(url);
    size_t n = rest == NULL ? 0 : strcspn(rest, "/");
    const char *bucket = rest == NULL ? NULL : arena_strndup(&s3->arena, rest, n);
    if (rest != NULL && bucket == NULL)
        return fail_memory(failure);
    if (rest == NULL || !bucket_like(bucket)) {
        fail(failure, EXIT_USAGE, "%s is not a URL of a bucket", url);
        return fail_next(failure, "Write s3://BUCKET/PREFIX.");
    }
    s3->bucket = bucket;
    s3->prefix = arena_strdup(&s3->arena, rest[n] == '/' ? rest + n + 1 : "");
    return s3->prefix != NULL || fail_memory(failure);
}

static bool host_like(const char *text)
{
    return text[0] != '\0' && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(text);
}

static bool take_endpoint(struct s3_source *s3,
                          const struct s3_options *options,
                          const struct aws_settings *settings,
                          struct failure *failure)
{
    if (!host_like(settings->region))
        return fail(failure, EXIT_USAGE, "AWS_REGION: %s is not the name of a region",
                    settings->region);
    const char *given = options->endpoint != NULL ? options->endpoint : settings->endpoint;
    bool by_path = options->style == S3_STYLE_PATH ||
                   (options->style == S3_STYLE_BY_ENDPOINT && given != NULL) ||
                   /* no certificate is of such a host */
                   (options->style == S3_STYLE_BY_ENDPOINT && strchr(s3->bucket, '.') != NULL);
    const char *china = strncmp(settings->region, "cn-", 3) == 0 ? ".cn" : "";
    const char *url = given != NULL ? given
                                    : arena_printf(&s3->arena, "https://s3.%s.amazonaws.com%s",
                                                   settings->region, china);
    if (url != NULL && !uri_is_base(url)) {
        fail(failure, EXIT_USAGE, "the endpoint %s is not a URL", url);
        return fail_next(failure, "Write http://HOST:PORT or https://HOST.");
    }
    const char *base = url == NULL ? NULL : uri_base(&s3->arena, url);
    if (base == NULL)
        return fail_memory(failure);
    size_t scheme = (size_t)(strstr(base, "://") - base) + 3;
    s3->endpoint = base;
    s3->bucket_url = by_path ? arena_printf(&s3->arena, "%s/%s", base, s3->bucket)
                             : arena_printf(&s3->arena, "%.*s%s.%s", (int)scheme, base, s3->bucket,
                                            base + scheme);
    return s3->bucket_url != NULL || fail_memory(failure);
}

static bool
take_settings(struct s3_source *s3, const struct aws_settings *settings, struct failure *failure)
{
    s3->region = arena_strdup(&s3->arena, settings->region);
    if (s3->region == NULL)
        return fail_memory(failure);
    if (settings->key_id == NULL)
        return true;
    s3->key_id = arena_strdup(&s3->arena, settings->key_id);
    s3->sigv4 = arena_printf(&s3->arena, "aws:amz:%s:s3", settings->region);
    s3->user = arena_printf(&s3->arena, "%s:%s", settings->key_id, settings->secret);
    s3->headers[0] = EMPTY_BODY;
    if (settings->token != NULL)
        s3->headers[1] = arena_printf(&s3->arena, "X-Amz-Security-Token: %s", settings->token);
    bool all = s3->key_id != NULL && s3->sigv4 != NULL && s3->user != NULL &&
               (settings->token == NULL || s3->headers[1] != NULL);
    return all || fail_memory(failure);
}

static const char *environment(const char *name)
{
    return getenv(name);
}

static bool set_up(struct s3_source *s3,
                   const char *url,
                   const struct s3_options *options,
                   const struct fetch_options *fetching,
                   struct failure *failure)
{
    struct aws_settings settings;
    s3->page_size = options->page_size;
    if (!take_url(s3, url, failure) ||
        !aws_settings_find(&s3->arena, environment, !options->anonymous, &settings, failure) ||
        !take_settings(s3, &settings, failure) || !take_endpoint(s3, options, &settings, failure))
        return false;
    s3->client = fetch_client_create(fetching);
    return s3->client != NULL || fail_memory(failure);
}

bool source_s3_open(const char *url,
                    const struct s3_options *options,
                    const struct fetch_options *fetching,
                    struct source **source,
                    struct failure *failure)
{
    static const struct s3_options usual = {0};
    struct s3_source *s3 = calloc(1, sizeof *s3);
    if (s3 == NULL)
        return fail_memory(failure);
    s3->source.kind = &s3_kind;
    arena_init(&s3->arena, 0);
    if (!set_up(s3, url, options != NULL ? options : &usual, fetching, failure)) {
        s3_close(&s3->source);
        return false;
    }
    *source = &s3->source;
    return true;
}
