#include "http/etag.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void http_etag_format(long long version, char out[HTTP_ETAG_TEXT])
{
    (void)snprintf(out, HTTP_ETAG_TEXT, "\"v%lld\"", version);
}

/* Cuts the next tag, W/ and quotes included, off a list; an empty view ends it. */
static struct strview next_tag(const char **list)
{
    const char *at = *list + strspn(*list, " \t,");
    const char *quote = strncmp(at, "W/", 2) == 0 ? at + 2 : at;
    const char *end = *quote == '"' ? strchr(quote + 1, '"') : NULL;
    if (end == NULL)
        return (struct strview){NULL, 0};
    *list = end + 1;
    return (struct strview){at, (size_t)(end + 1 - at)};
}

static struct strview opaque(struct strview tag)
{
    if (tag.n > 2 && tag.at[0] == 'W')
        return (struct strview){tag.at + 2, tag.n - 2};
    return tag;
}

/* A packed reply (http/coding.h) has the tag of its version, and this at its end. */
static struct strview without_coding(struct strview tag)
{
    static const char end[] = "-gzip\"";
    size_t n = sizeof end - 1;
    if (tag.n <= n || memcmp(tag.at + tag.n - n, end, n) != 0)
        return (struct strview){tag.at, tag.n == 0 ? 0 : tag.n - 1};
    return (struct strview){tag.at, tag.n - n};
}

static bool same_tag(struct strview one, struct strview other)
{
    return strview_equal(without_coding(one), without_coding(other));
}

static bool list_holds(const char *list, const char *etag, bool weak)
{
    struct strview mine = strview_of(etag);
    for (struct strview tag = next_tag(&list); tag.n > 0; tag = next_tag(&list)) {
        if (weak ? same_tag(opaque(tag), opaque(mine)) : (tag.at[0] == '"' && same_tag(tag, mine)))
            return true;
    }
    return false;
}

static bool any_header(const struct http_request *request,
                       const char *name,
                       const char *etag,
                       bool weak,
                       bool *present)
{
    *present = false;
    for (size_t i = 0; i < request->n_headers; i++) {
        const struct http_header *h = &request->headers[i];
        if (strcasecmp(h->name, name) != 0)
            continue;
        *present = true;
        if (etag != NULL && (strcmp(h->value, "*") == 0 || list_holds(h->value, etag, weak)))
            return true;
    }
    return false;
}

bool http_none_match_holds(const struct http_request *request, const char *etag)
{
    bool present;
    return any_header(request, "If-None-Match", etag, true, &present);
}

enum http_match http_if_match(const struct http_request *request, const char *etag)
{
    bool present;
    bool match = any_header(request, "If-Match", etag, false, &present);
    if (!present)
        return HTTP_MATCH_ABSENT;
    return match ? HTTP_MATCH_YES : HTTP_MATCH_NO;
}

void http_reply_not_modified(struct http_response *response)
{
    response->status = 304;
    response->body = NULL;
    response->body_n = 0;
}
