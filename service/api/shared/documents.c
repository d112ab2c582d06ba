#include "api/shared/documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/routes.h"
#include "base/code.h"
#include "http/accept.h"
#include "http/etag.h"

static int compare_path(const void *path, const void *item)
{
    return strcmp(path, ((const struct document *)item)->path);
}

/* The document of this path, or NULL. Paths are names of the table and never of a file. */
static const struct document *document_find(const char *path)
{
    return bsearch(path, documents, documents_n, sizeof *documents, compare_path);
}

static void reply_document(struct http_request *request,
                           struct http_response *response,
                           const struct document *d)
{
    bool packed = d->packed != NULL && http_accepts_gzip(request);
    char tag[HTTP_ETAG_TEXT];
    (void)snprintf(tag, sizeof tag, "\"%s%s\"", d->digest, packed ? "-gzip" : "");
    http_response_header(request, response, "ETag", tag);
    http_response_header(request, response, "Cache-Control", "no-cache");
    if (d->packed != NULL)
        http_response_header(request, response, "Vary", "Accept-Encoding");
    if (http_none_match_holds(request, tag)) {
        http_reply_not_modified(response);
        return;
    }
    if (packed)
        http_response_header(request, response, "Content-Encoding", "gzip");
    response->status = 200;
    response->content_type = d->content_type;
    response->body = packed ? d->packed : d->bytes;
    response->body_n = packed ? d->packed_n : d->n;
}

/* The path of the request is the path of the document. */
enum pv_code contract_get(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err)
{
    (void)context;
    const struct document *document = document_find(request->path + 1);
    if (document == NULL)
        return pv_fail(err, PV_E_NOT_FOUND, "there is no such document");
    reply_document(request, response, document);
    return PV_OK;
}

static void redirect(struct http_request *request,
                     struct http_response *response,
                     unsigned status,
                     const char *location)
{
    http_response_header(request, response, "Location", location);
    response->status = status;
}

/* The site's links are relative to its root's slash. */
enum pv_code site_root_get(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    (void)context;
    (void)err;
    redirect(request, response, 308, "/docs/");
    return PV_OK;
}

/* Nothing is fetched from elsewhere; no script runs but the site's own. */
static enum pv_code
add_policy(struct http_request *request, struct http_response *response, struct pv_error *err)
{
    const char *policy = arena_printf(
        request->arena,
        "default-src 'none'; script-src 'self'%s; style-src 'self'; img-src 'self' data:;"
        " font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'",
        document_script_hashes);
    if (policy == NULL)
        return pv_no_memory(err);
    http_response_header(request, response, "Content-Security-Policy", policy);
    return PV_OK;
}

/* A folder's page is its index.html; a folder without its slash leads to the one with it. */
enum pv_code site_page_get(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    (void)context;
    const char *path = http_path_parameter(request, "path");
    size_t n = strlen(path);
    bool folder = n == 0 || path[n - 1] == '/';
    const char *name = arena_printf(request->arena, "docs/%s%s", path, folder ? "index.html" : "");
    const char *index = arena_printf(request->arena, "docs/%s/index.html", path);
    if (name == NULL || index == NULL)
        return pv_no_memory(err);
    const struct document *document = document_find(name);
    if (document != NULL) {
        reply_document(request, response, document);
        return add_policy(request, response, err);
    }
    document = document_find(index);
    if (document == NULL)
        return pv_fail(err, PV_E_NOT_FOUND,
                       "the documentation has no such page, or this program was built without its "
                       "pages: see /docs/");
    const char *location =
        arena_printf(request->arena, "/%.*s", (int)(strlen(document->path) - strlen("index.html")),
                     document->path);
    if (location == NULL)
        return pv_no_memory(err);
    redirect(request, response, 308, location);
    return PV_OK;
}

static const char root_json[] =
    "{\"name\":\"provisor\",\"documentation\":\"/docs/\",\"reference\":\"/docs/reference/\","
    "\"contract\":\"/openapi.yaml\",\"contract_version\":\"%s\"}";

static const char root_html[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>provisor</title></head>\n"
    "<body><h1>provisor</h1>\n<ul><li><a href=\"/docs/\">Documentation</a></li>\n"
    "<li><a href=\"/docs/reference/\">API reference</a></li>\n"
    "<li><a href=\"/openapi.yaml\">OpenAPI document</a> (<a href=\"/openapi.json\">JSON</a>), "
    "version %s</li>\n"
    "</ul></body></html>\n";

/* Where everything is, for a browser or a program (link relations of RFC 8631). */
enum pv_code root_get(void *context,
                      struct http_request *request,
                      struct http_response *response,
                      struct pv_error *err)
{
    (void)context;
    const char *accept = http_header(request, "Accept");
    bool html = accept != NULL && strstr(accept, "text/html") != NULL;
    const char *body = html ? arena_printf(request->arena, root_html, contract_version)
                            : arena_printf(request->arena, root_json, contract_version);
    if (body == NULL)
        return pv_no_memory(err);
    http_response_header(request, response, "Link",
                         "</openapi.json>; rel=\"service-desc\", </docs/>; rel=\"service-doc\"");
    http_response_header(request, response, "Vary", "Accept");
    http_response_header(
        request, response, "Content-Security-Policy",
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    response->status = 200;
    response->content_type = html ? "text/html; charset=utf-8" : "application/json";
    response->body = body;
    response->body_n = strlen(body);
    return PV_OK;
}

enum pv_code problem_type_get(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    (void)context;
    const char *name = http_path_parameter(request, "name");
    for (int code = PV_OK + 1; code < PV_CODE_COUNT; code++) {
        if (strcmp(pv_code_name((enum pv_code)code), name) != 0)
            continue;
        char location[96];
        (void)snprintf(location, sizeof location, "/docs/reference/problems/#problem-%s", name);
        redirect(request, response, 303, location);
        return PV_OK;
    }
    return pv_fail(err, PV_E_NOT_FOUND, "there is no such problem type");
}
