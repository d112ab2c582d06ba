#include "cli/sources/webhdfs.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/instant.h"
#include "base/vector.h"
#include "cli/sources/reply.h"
#include "cli/sources/source_internal.h"
#include "cli/sources/uri.h"

enum {
    FOLDER_MAX_BYTES = 64 * 1024 * 1024, /* LISTSTATUS has no pages; 300 bytes a file */
    FOLDER_DEPTH_MAX = 64,
    NODES_MAX = 8,
    IDENTITY = 64
};

struct webhdfs_source {
    struct source source;
    struct arena arena;
    struct fetch_client *client;
    const char *prefix; /* as printed: webhdfs://HOST:PORT */
    const char *path;   /* begins with '/', ends with none */
    const char *scheme; /* of the requests: http or https */
    const char *nodes[NODES_MAX];
    unsigned nodes_n;
    atomic_uint active; /* the NameNode that answered last */
    const char *who;    /* "&delegation=..." or "&user.name=..." or "" */
};

/* A request to whichever NameNode is active, and where its URLs live. */
struct hdfs_request {
    struct fetch_request fetch;
    struct webhdfs_source *hdfs;
    const char *operation;
    char *encoded; /* the path */
    char *url;     /* of the latest attempt */
    unsigned node; /* that was asked by it */
};

struct webhdfs_stream {
    struct source_stream stream;
    struct hdfs_request request;
    struct fetch *fetch;
    char *name;
    char identity[IDENTITY]; /* "": not to be compared at the end */
    bool ended;
};

/* --- requests ------------------------------------------------------------------------------ */

struct hdfs_advice {
    const char *exception;
    const char *next;
};

static const struct hdfs_advice advice[] = {
    {"AccessControlException",
     "Set the user (HADOOP_USER_NAME) to one that may read it, or have it "
     "allowed."},
    {"FileNotFoundException", "Check the path; what was listed may have been deleted since."},
    {"StandbyException",
     "Give all NameNodes, separated by commas: webhdfs://ONE:9870,TWO:9870/PATH."},
    {"SecurityException", "Set WEBHDFS_DELEGATION_TOKEN, or the user (HADOOP_USER_NAME)."},
    {"InvalidToken", "Get a new delegation token and set WEBHDFS_DELEGATION_TOKEN to it."},
};

static void
explain(const char *name, const struct fetch_reply *reply, json_t *error, struct failure *failure)
{
    const char *exception = json_string_value(json_object_get(error, "exception"));
    const char *text = json_string_value(json_object_get(error, "message"));
    if (exception == NULL) {
        fail(failure, EXIT_FAILED, "%s: refused with status %ld", name, reply->status);
        fail_next(failure,
                  reply->status == 401
                      ? "The NameNode wants to know who asks: set WEBHDFS_DELEGATION_TOKEN, "
                        "or the user (HADOOP_USER_NAME)."
                      : "Check host and port: is that the web address of a NameNode?");
        return;
    }
    /* Behind its first line are the calls of Java. */
    char message[400] = "";
    (void)snprintf(message, sizeof message, "%.*s", text == NULL ? 0 : (int)strcspn(text, "\n"),
                   text == NULL ? "" : text);
    uri_printable(message);
    fail(failure, EXIT_FAILED, "%s: %s: %s", name, exception, message);
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        if (strcmp(advice[i].exception, exception) == 0)
            fail_next(failure, "%s", advice[i].next);
    }
}

/* The next one is asked, unless another thread has turned to it already. */
static void turn_to_next(struct hdfs_request *r)
{
    unsigned node = r->node;
    atomic_compare_exchange_strong(&r->hdfs->active, &node, (r->node + 1) % r->hdfs->nodes_n);
}

static enum fetch_verdict
refused(void *context, const struct fetch_reply *reply, struct failure *failure)
{
    struct hdfs_request *r = context;
    if (reply->status == 0) {
        turn_to_next(r);
        return FETCH_AGAIN;
    }
    json_t *root = json_loadb(reply->body, reply->n, 0, NULL);
    json_t *error = json_object_get(root, "RemoteException");
    const char *exception = json_string_value(json_object_get(error, "exception"));
    bool standby = exception != NULL && (strcmp(exception, "StandbyException") == 0 ||
                                         strcmp(exception, "RetriableException") == 0);
    explain(r->fetch.name, reply, error, failure);
    json_decref(root);
    if (standby)
        turn_to_next(r);
    return standby ? FETCH_AGAIN : FETCH_GIVE_UP;
}

static const char *url_at(void *context, int64_t offset)
{
    struct hdfs_request *r = context;
    const struct webhdfs_source *hdfs = r->hdfs;
    r->node = atomic_load(&r->hdfs->active);
    char from[32] = "";
    if (offset > 0)
        (void)snprintf(from, sizeof from, "&offset=%" PRId64, offset);
    size_t n = strlen(hdfs->scheme) + strlen(hdfs->nodes[r->node]) + strlen(r->encoded) +
               strlen(r->operation) + strlen(from) + strlen(hdfs->who) + 64;
    free(r->url);
    r->url = malloc(n);
    if (r->url != NULL)
        (void)snprintf(r->url, n, "%s://%s/webhdfs/v1%s?op=%s%s%s", hdfs->scheme,
                       hdfs->nodes[r->node], r->encoded, r->operation, from, hdfs->who);
    return r->url;
}

static void request_fini(struct hdfs_request *r)
{
    free(r->encoded);
    free(r->url);
}

/* `name` and `operation` are borrowed; path is what follows the prefix in names. */
static bool request_init(struct hdfs_request *r,
                         struct webhdfs_source *hdfs,
                         const char *operation,
                         const char *name,
                         const char *path,
                         struct failure *failure)
{
    struct arena arena;
    arena_init(&arena, 0);
    const char *encoded = uri_encode_path(&arena, path[0] == '\0' ? "/" : path);
    *r = (struct hdfs_request){.hdfs = hdfs, .operation = operation};
    r->encoded = encoded == NULL ? NULL : strdup(encoded);
    arena_fini(&arena);
    r->fetch = (struct fetch_request){.name = name,
                                      .url_at = url_at,
                                      .redirects_max = REPLY_REDIRECTS_MAX,
                                      .resume = FETCH_RESUME_URL,
                                      .bytes = -1,
                                      .refused = refused,
                                      .context = r};
    return r->encoded != NULL || fail_memory(failure);
}

/* The JSON that an operation answers with; NULL and a failure otherwise. */
static json_t *ask(struct webhdfs_source *hdfs,
                   const char *operation,
                   const char *name,
                   const char *path,
                   struct failure *failure)
{
    struct hdfs_request r;
    char *text = NULL;
    size_t n = 0;
    json_t *root = NULL;
    if (request_init(&r, hdfs, operation, name, path, failure)) {
        r.fetch.headers = REPLY_WANTS_JSON;
        r.fetch.resume = FETCH_RESUME_NONE;
        if (fetch_text(hdfs->client, &r.fetch, FOLDER_MAX_BYTES, &text, &n, failure) &&
            reply_is_no_page(name, text, n, failure)) {
            json_error_t error;
            root = json_loadb(text, n, 0, &error);
            if (root == NULL)
                fail(failure, EXIT_FAILED, "%s: the reply to %s is not JSON: %s", name, operation,
                     error.text);
        }
        free(text);
    }
    request_fini(&r);
    return root;
}

/* --- listing ------------------------------------------------------------------------------- */

struct listing {
    struct webhdfs_source *hdfs;
    source_found *found;
    void *context;
    bool more;
    VECTOR(char *) folders; /* paths that are still to be listed; on the heap */
    struct failure *failure;
};

static void identity_of(const json_t *status, char out[IDENTITY])
{
    (void)snprintf(out, IDENTITY, "%" JSON_INTEGER_FORMAT "-%" JSON_INTEGER_FORMAT,
                   json_integer_value(json_object_get(status, "modificationTime")),
                   json_integer_value(json_object_get(status, "length")));
}

static bool file_like(const char *name)
{
    return strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool report_file(struct listing *l, const char *path, const json_t *status)
{
    struct arena arena;
    arena_init(&arena, 0);
    char identity[IDENTITY];
    identity_of(status, identity);
    char *name = arena_printf(&arena, "%s%s", l->hdfs->prefix, path);
    char *folder = name == NULL ? NULL : arena_strdup(&arena, name);
    bool memory = folder != NULL;
    if (memory) {
        char *slash = strrchr(folder, '/');
        *slash = '\0';
        const char *file = name + (slash - folder) + 1;
        int64_t time_ms = json_integer_value(json_object_get(status, "modificationTime"));
        struct source_object object = {
            .name = name,
            .folder = folder,
            .file = file,
            .identity = identity,
            .bytes = json_integer_value(json_object_get(status, "length")),
            .modified_us =
                time_ms > 0 && time_ms < INT64_MAX / 1000 ? time_ms * 1000 : INSTANT_UNKNOWN,
            .unfinished = source_name_unfinished(file)};
        l->more = l->found(l->context, &object);
    }
    arena_fini(&arena);
    return memory || fail_memory(l->failure);
}

static bool report_status(struct listing *l, const char *folder, const json_t *status)
{
    const char *suffix = json_string_value(json_object_get(status, "pathSuffix"));
    const char *type = json_string_value(json_object_get(status, "type"));
    const json_t *length = json_object_get(status, "length");
    if (suffix == NULL || type == NULL || !json_is_integer(length) || !file_like(suffix))
        return fail(l->failure, EXIT_FAILED, "%s%s: the reply to LISTSTATUS is not a list of files",
                    l->hdfs->prefix, folder);
    /* LISTSTATUS of a file is that file, without a name. */
    size_t n = strlen(folder) + strlen(suffix) + 2;
    char *path = malloc(n);
    if (path == NULL)
        return fail_memory(l->failure);
    (void)snprintf(path, n, suffix[0] == '\0' ? "%s" : "%s/%s", folder, suffix);
    bool reported = true;
    if (strcmp(type, "DIRECTORY") == 0 && suffix[0] != '\0') {
        char **slot = vector_add(NULL, &l->folders);
        if (slot == NULL)
            reported = fail_memory(l->failure);
        else {
            *slot = path;
            path = NULL;
        }
    } else if (strcmp(type, "FILE") == 0)
        reported = report_file(l, path, status);
    free(path);
    return reported;
}

/* Folders that contain each other, as a link may make them, would have no end. */
static bool is_too_deep(const struct listing *l, const char *path)
{
    unsigned depth = 0;
    for (const char *at = path + strlen(l->hdfs->path); *at != '\0'; at++)
        depth += *at == '/';
    return depth > FOLDER_DEPTH_MAX;
}

static bool list_folder(struct listing *l, const char *path)
{
    if (is_too_deep(l, path))
        return fail(l->failure, EXIT_FAILED, "%s%.200s...: folders are nested more than %d deep",
                    l->hdfs->prefix, path, FOLDER_DEPTH_MAX);
    size_t n = strlen(l->hdfs->prefix) + strlen(path) + 1;
    char *name = malloc(n);
    if (name == NULL)
        return fail_memory(l->failure);
    (void)snprintf(name, n, "%s%s", l->hdfs->prefix, path);
    json_t *root = ask(l->hdfs, "LISTSTATUS", name, path, l->failure);
    const json_t *all = json_object_get(json_object_get(root, "FileStatuses"), "FileStatus");
    bool listed = root != NULL;
    if (listed && !json_is_array(all))
        listed = fail(l->failure, EXIT_FAILED, "%s: the reply to LISTSTATUS is not a list of files",
                      name);
    for (size_t i = 0; listed && l->more && i < json_array_size(all); i++)
        listed = report_status(l, path, json_array_get(all, i));
    json_decref(root);
    free(name);
    return listed;
}

static bool
webhdfs_list(struct source *source, source_found *found, void *context, struct failure *failure)
{
    struct webhdfs_source *hdfs = (struct webhdfs_source *)source;
    struct listing l = {
        .hdfs = hdfs, .found = found, .context = context, .more = true, .failure = failure};
    bool listed = list_folder(&l, hdfs->path);
    while (listed && l.more && l.folders.n > 0) {
        char *path = l.folders.items[--l.folders.n];
        listed = list_folder(&l, path);
        free(path);
    }
    for (size_t i = 0; i < l.folders.n; i++)
        free(l.folders.items[i]);
    free((void *)l.folders.items);
    return listed;
}

/* --- streams ------------------------------------------------------------------------------- */

static void webhdfs_read_close(struct source_stream *stream)
{
    struct webhdfs_stream *s = (struct webhdfs_stream *)stream;
    fetch_close(s->fetch);
    request_fini(&s->request);
    free(s->name);
    free(s);
}

static bool webhdfs_read_open(struct source *source,
                              const struct source_object *object,
                              struct source_stream **stream,
                              struct failure *failure)
{
    struct webhdfs_source *hdfs = (struct webhdfs_source *)source;
    size_t n = strlen(hdfs->prefix);
    if (strncmp(object->name, hdfs->prefix, n) != 0 || object->name[n] != '/')
        return fail(failure, EXIT_USAGE, "%s: is not of %s", object->name, hdfs->prefix);
    struct webhdfs_stream *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail_memory(failure);
    s->stream.kind = source->kind;
    s->name = strdup(object->name);
    if (!object->unfinished)
        (void)snprintf(s->identity, sizeof s->identity, "%s", object->identity);
    bool opened = s->name != NULL
                      ? request_init(&s->request, hdfs, "OPEN", s->name, s->name + n, failure)
                      : fail_memory(failure);
    s->request.fetch.bytes = object->unfinished ? -1 : object->bytes;
    if (!opened || !fetch_open(hdfs->client, &s->request.fetch, &s->fetch, failure)) {
        webhdfs_read_close(&s->stream);
        return false;
    }
    *stream = &s->stream;
    return true;
}

/* HDFS has no ETag: what was read is what was listed when the file is still that at the end. */
static bool still_the_same(struct webhdfs_stream *s, struct failure *failure)
{
    if (s->identity[0] == '\0')
        return true;
    struct webhdfs_source *hdfs = s->request.hdfs;
    json_t *root = ask(hdfs, "GETFILESTATUS", s->name, s->name + strlen(hdfs->prefix), failure);
    if (root == NULL)
        return false;
    char identity[IDENTITY];
    identity_of(json_object_get(root, "FileStatus"), identity);
    json_decref(root);
    if (strcmp(identity, s->identity) == 0)
        return true;
    fail(failure, EXIT_FAILED, "%s: changed while it was read", s->name);
    return fail_next(failure, "Run it again when nothing writes there any more.");
}

static bool webhdfs_read(
    struct source_stream *stream, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    struct webhdfs_stream *s = (struct webhdfs_stream *)stream;
    if (!fetch_read(s->fetch, bytes, n, got, failure))
        return false;
    if (*got > 0 || s->ended)
        return true;
    s->ended = true;
    return still_the_same(s, failure);
}

/* --- opening ------------------------------------------------------------------------------- */

static void webhdfs_close(struct source *source)
{
    struct webhdfs_source *hdfs = (struct webhdfs_source *)source;
    fetch_client_destroy(hdfs->client);
    arena_fini(&hdfs->arena);
    free(hdfs);
}

static const struct source_kind webhdfs_kind = {webhdfs_list, webhdfs_read_open, webhdfs_read,
                                                webhdfs_read_close, webhdfs_close};

static bool fail_url(const char *url, struct failure *failure)
{
    fail(failure, EXIT_USAGE, "%s is not a URL of WebHDFS", url);
    return fail_next(failure, "Write webhdfs://HOST:PORT/PATH, or swebhdfs:// for TLS.");
}

static bool node_like(const char *text, size_t n)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
    return n > 0 && strspn(text, letters) >= n;
}

/* "HOST" or "HOST:PORT" or "[ADDRESS]:PORT"; NULL when memory ran out. */
static const char *take_node(struct webhdfs_source *hdfs, const char *text, size_t n)
{
    const char *node = arena_strndup(&hdfs->arena, text, n);
    if (node == NULL)
        return NULL;
    const char *bracket = strrchr(node, ']');
    bool port = strchr(bracket != NULL ? bracket : node, ':') != NULL;
    const char *usual = strcmp(hdfs->scheme, "https") == 0 ? "9871" : "9870";
    return port ? node : arena_printf(&hdfs->arena, "%s:%s", node, usual);
}

static bool take_url(struct webhdfs_source *hdfs, const char *url, struct failure *failure)
{
    bool tls = strncmp(url, "swebhdfs://", 11) == 0;
    if (!tls && strncmp(url, "webhdfs://", 10) != 0)
        return fail_url(url, failure);
    hdfs->scheme = tls ? "https" : "http";
    const char *at = url + (tls ? 11 : 10);
    size_t n = strcspn(at, "/");
    hdfs->prefix = arena_strndup(&hdfs->arena, url, (size_t)(at - url) + n);
    hdfs->path = arena_strdup(&hdfs->arena, at + n);
    if (hdfs->prefix == NULL || hdfs->path == NULL)
        return fail_memory(failure);
    size_t path_n = strlen(hdfs->path);
    while (path_n > 0 && hdfs->path[path_n - 1] == '/')
        path_n--;
    hdfs->path = arena_strndup(&hdfs->arena, hdfs->path, path_n);
    for (const char *end = at + n; at < end; at += strcspn(at, ",/") + 1) {
        if (hdfs->nodes_n == NODES_MAX)
            return fail(failure, EXIT_USAGE, "%s names more than %d NameNodes", url, NODES_MAX);
        if (!node_like(at, strcspn(at, ",/")))
            return fail_url(url, failure);
        const char *node = take_node(hdfs, at, strcspn(at, ",/"));
        if (node == NULL)
            return fail_memory(failure);
        hdfs->nodes[hdfs->nodes_n++] = node;
    }
    if (hdfs->nodes_n == 0)
        return fail_url(url, failure);
    return hdfs->path != NULL || fail_memory(failure);
}

static bool take_who(struct webhdfs_source *hdfs, const char *user, struct failure *failure)
{
    const char *token = getenv("WEBHDFS_DELEGATION_TOKEN");
    bool by_token = token != NULL && token[0] != '\0';
    const char *name = user != NULL ? user : getenv("HADOOP_USER_NAME");
    const char *value = by_token ? token : name != NULL ? name : "";
    char *encoded = uri_encode_value(&hdfs->arena, value);
    if (encoded == NULL)
        return fail_memory(failure);
    hdfs->who = encoded[0] == '\0' ? ""
                                   : arena_printf(&hdfs->arena, "&%s=%s",
                                                  by_token ? "delegation" : "user.name", encoded);
    return hdfs->who != NULL || fail_memory(failure);
}

bool source_webhdfs_open(const char *url,
                         const struct webhdfs_options *options,
                         const struct fetch_options *fetching,
                         struct source **source,
                         struct failure *failure)
{
    struct webhdfs_source *hdfs = calloc(1, sizeof *hdfs);
    if (hdfs == NULL)
        return fail_memory(failure);
    hdfs->source.kind = &webhdfs_kind;
    arena_init(&hdfs->arena, 0);
    if (take_url(hdfs, url, failure) &&
        take_who(hdfs, options == NULL ? NULL : options->user, failure)) {
        hdfs->client = fetch_client_create(fetching);
        if (hdfs->client != NULL) {
            *source = &hdfs->source;
            return true;
        }
        fail_memory(failure);
    }
    webhdfs_close(&hdfs->source);
    return false;
}
