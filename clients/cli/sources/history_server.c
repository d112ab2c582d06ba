#include "cli/sources/history_server.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/instant.h"
#include "cli/sources/reply.h"
#include "cli/sources/source_internal.h"
#include "cli/sources/uri.h"

enum {
    LIST_MAX_BYTES = 256 * 1024 * 1024
}; /* the API has no pages; half a kilobyte an application */

struct history_source {
    struct source source;
    struct arena arena;
    struct fetch_client *client;
    struct history_options options;
    const char *base;
    char *list_url; /* what its refusals are about */
};

struct history_stream {
    struct source_stream stream;
    char *url;
    struct fetch_request request;
    struct fetch *fetch;
    bool begun;
};

struct history_options history_options_default(void)
{
    return (struct history_options){.min_end_us = INSTANT_UNKNOWN};
}

static enum fetch_verdict
refused(void *context, const struct fetch_reply *reply, struct failure *failure)
{
    const char *name = context;
    fail(failure, EXIT_FAILED, "%s: refused with status %ld", name, reply->status);
    if (reply->status == 404)
        fail_next(failure,
                  "Give the URL of the History Server itself, without a path of its pages; "
                  "if it is that, it has deleted the log.");
    else if (reply->status == 401 || reply->status == 403 || reply->status == 407)
        fail_next(
            failure,
            "The server, or a proxy before it, asks for a login; run this where neither does.");
    return FETCH_GIVE_UP;
}

/* --- listing ------------------------------------------------------------------------------- */

struct listing {
    const struct history_source *history;
    source_found *found;
    void *context;
    bool more;
    struct failure *failure;
};

static bool fail_list(const struct listing *l, const char *what)
{
    return fail(l->failure, EXIT_FAILED,
                "%s: the reply is not the list of applications of a History Server: %s",
                l->history->list_url, what);
}

/* Milliseconds where there are, the text of older servers otherwise. */
static const char *identity_of(struct arena *arena, const json_t *attempt, int64_t *modified_us)
{
    const json_t *epoch = json_object_get(attempt, "lastUpdatedEpoch");
    *modified_us = INSTANT_UNKNOWN;
    if (json_is_integer(epoch) && json_integer_value(epoch) >= 0 &&
        json_integer_value(epoch) < INT64_MAX / 1000) {
        *modified_us = json_integer_value(epoch) * 1000;
        return arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(epoch));
    }
    const char *text = json_string_value(json_object_get(attempt, "lastUpdated"));
    return arena_strdup(arena, text == NULL ? "" : text);
}

static bool
report(struct listing *l, struct arena *arena, const char *application, const json_t *attempt)
{
    const char *id = json_string_value(json_object_get(attempt, "attemptId"));
    bool unfinished = !json_is_true(json_object_get(attempt, "completed"));
    if (unfinished && !l->history->options.unfinished_too)
        return true;
    char *encoded = uri_encode_value(arena, application);
    char *part = id == NULL ? arena_strdup(arena, "") : uri_encode_value(arena, id);
    if (encoded == NULL || part == NULL)
        return fail_memory(l->failure);
    const char *base = l->history->base;
    struct source_object object = {.folder = base, .bytes = -1, .unfinished = unfinished};
    object.name = arena_printf(arena, "%s/api/v1/applications/%s/%s%slogs", base, encoded, part,
                               id == NULL ? "" : "/");
    object.file = arena_printf(arena, "eventLogs-%s%s%s.zip", encoded, id == NULL ? "" : "-", part);
    object.identity = identity_of(arena, attempt, &object.modified_us);
    if (object.name == NULL || object.file == NULL || object.identity == NULL)
        return fail_memory(l->failure);
    l->more = l->found(l->context, &object);
    return true;
}

static bool report_application(struct listing *l, const json_t *application)
{
    const char *id = json_string_value(json_object_get(application, "id"));
    const json_t *attempts = json_object_get(application, "attempts");
    if (id == NULL || id[0] == '\0' || !json_is_array(attempts))
        return fail_list(l, "an application has no id or no attempts");
    struct arena arena;
    arena_init(&arena, 0);
    bool reported = true;
    for (size_t i = 0; reported && l->more && i < json_array_size(attempts); i++)
        reported = report(l, &arena, id, json_array_get(attempts, i));
    arena_fini(&arena);
    return reported;
}

static size_t skip_blanks(const char *text, size_t n, size_t at)
{
    while (at < n && strchr(" \t\r\n", text[at]) != NULL && text[at] != '\0')
        at++;
    return at;
}

/* One application after the other: a tree of all of them would take many times their text. */
static bool report_all(struct listing *l, const char *text, size_t n)
{
    size_t at = skip_blanks(text, n, 0);
    if (at == n || text[at] != '[')
        return fail_list(l, "it is no array of JSON");
    at = skip_blanks(text, n, at + 1);
    if (at < n && text[at] == ']')
        return true;
    while (l->more) {
        json_error_t error;
        json_t *application = json_loadb(text + at, n - at, JSON_DISABLE_EOF_CHECK, &error);
        if (application == NULL)
            return fail_list(l, error.text);
        bool reported = report_application(l, application);
        json_decref(application);
        if (!reported)
            return false;
        at = skip_blanks(text, n, at + (size_t)error.position);
        if (at < n && text[at] == ']')
            return true;
        if (at == n || text[at] != ',')
            return fail_list(l, "it ends in the middle");
        at++;
    }
    return true;
}

static bool
history_list(struct source *source, source_found *found, void *context, struct failure *failure)
{
    struct history_source *history = (struct history_source *)source;
    struct fetch_request request = {.name = history->list_url,
                                    .url = history->list_url,
                                    .headers = REPLY_WANTS_JSON,
                                    .redirects_max = REPLY_REDIRECTS_MAX,
                                    .bytes = -1,
                                    .refused = refused,
                                    .context = history->list_url};
    char *text = NULL;
    size_t n = 0;
    if (!fetch_text(history->client, &request, LIST_MAX_BYTES, &text, &n, failure))
        return false;
    struct listing l = {history, found, context, true, failure};
    bool listed = reply_is_no_page(history->list_url, text, n, failure) && report_all(&l, text, n);
    free(text);
    return listed;
}

/* --- streams ------------------------------------------------------------------------------- */

static void history_read_close(struct source_stream *stream)
{
    struct history_stream *s = (struct history_stream *)stream;
    fetch_close(s->fetch);
    free(s->url);
    free(s);
}

static bool history_read_open(struct source *source,
                              const struct source_object *object,
                              struct source_stream **stream,
                              struct failure *failure)
{
    struct history_source *history = (struct history_source *)source;
    size_t n = strlen(history->base);
    if (strncmp(object->name, history->base, n) != 0 || object->name[n] != '/')
        return fail(failure, EXIT_USAGE, "%s: is not of %s", object->name, history->base);
    struct history_stream *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail_memory(failure);
    s->stream.kind = source->kind;
    s->url = strdup(object->name);
    s->request = (struct fetch_request){.name = s->url,
                                        .url = s->url,
                                        .redirects_max = REPLY_REDIRECTS_MAX,
                                        .bytes = -1,
                                        .refused = refused,
                                        .context = s->url};
    if (s->url == NULL)
        fail_memory(failure);
    else if (fetch_open(history->client, &s->request, &s->fetch, failure)) {
        *stream = &s->stream;
        return true;
    }
    history_read_close(&s->stream);
    return false;
}

static bool history_read(
    struct source_stream *stream, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    struct history_stream *s = (struct history_stream *)stream;
    if (!fetch_read(s->fetch, bytes, n, got, failure))
        return false;
    bool zip = s->begun || (*got > 0 && *(const char *)bytes == 'P');
    s->begun = true;
    if (zip)
        return true;
    fail(failure, EXIT_FAILED, "%s: what arrives is no zip archive", s->url);
    return fail_next(failure, REPLY_PROXY_NEXT);
}

/* --- opening ------------------------------------------------------------------------------- */

static void history_close(struct source *source)
{
    struct history_source *history = (struct history_source *)source;
    fetch_client_destroy(history->client);
    arena_fini(&history->arena);
    free(history);
}

static const struct source_kind history_kind = {history_list, history_read_open, history_read,
                                                history_read_close, history_close};

/* "?status=completed&limit=N&minEndDate=2026-01-05T10:00:00.000GMT", what of it is wanted. */
static const char *list_query(struct history_source *history)
{
    const struct history_options *o = &history->options;
    struct arena *arena = &history->arena;
    char limit[32] = "";
    char since[64] = "";
    if (o->limit > 0)
        (void)snprintf(limit, sizeof limit, "&limit=%u", o->limit);
    if (o->min_end_us != INSTANT_UNKNOWN) {
        char text[INSTANT_TEXT];
        int64_t whole_s = o->min_end_us - ((o->min_end_us % 1000000) + 1000000) % 1000000;
        instant_format(whole_s, text);
        (void)snprintf(since, sizeof since, "&minEndDate=%.19s.000GMT", text);
    }
    char *query =
        arena_printf(arena, "%s%s%s", o->unfinished_too ? "" : "&status=completed", limit, since);
    if (query != NULL && query[0] == '&')
        query[0] = '?';
    return query;
}

static bool set_up(struct history_source *history,
                   const char *url,
                   const struct fetch_options *fetching,
                   struct failure *failure)
{
    if (!uri_is_base(url)) {
        fail(failure, EXIT_USAGE, "%s is not a URL of a History Server", url);
        return fail_next(failure, "Write http://HOST:18080.");
    }
    history->base = uri_base(&history->arena, url);
    const char *query = history->base == NULL ? NULL : list_query(history);
    history->list_url = query == NULL ? NULL
                                      : arena_printf(&history->arena, "%s/api/v1/applications%s",
                                                     history->base, query);
    history->client = fetch_client_create(fetching);
    return (history->list_url != NULL && history->client != NULL) || fail_memory(failure);
}

bool source_history_open(const char *url,
                         const struct history_options *options,
                         const struct fetch_options *fetching,
                         struct source **source,
                         struct failure *failure)
{
    struct history_source *history = calloc(1, sizeof *history);
    if (history == NULL)
        return fail_memory(failure);
    history->source.kind = &history_kind;
    history->options = options != NULL ? *options : history_options_default();
    arena_init(&history->arena, 0);
    if (!set_up(history, url, fetching, failure)) {
        history_close(&history->source);
        return false;
    }
    *source = &history->source;
    return true;
}
