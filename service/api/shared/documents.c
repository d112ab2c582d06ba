#include "api/shared/documents.h"

#include <stdio.h>
#include <string.h>

#include "api/handlers.h"
#include "base/code.h"

/* Nothing on the page is fetched from elsewhere, and no script runs. */
static const char page_policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

/* FNV-1a, 64 bits: a version of bytes that only a new build changes. */
static uint64_t bytes_version(const char *bytes, size_t n)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

enum pv_code contract_get(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err)
{
    (void)context;
    (void)err;
    char tag[24];
    (void)snprintf(tag, sizeof tag, "\"%016llx\"",
                   (unsigned long long)bytes_version(document_openapi, document_openapi_n));
    http_response_header(request, response, "ETag", tag);
    const char *known = http_header(request, "If-None-Match");
    if (known != NULL && (strstr(known, tag) != NULL || strcmp(known, "*") == 0)) {
        response->status = 304;
        return PV_OK;
    }
    response->status = 200;
    response->content_type = "application/yaml";
    response->body = document_openapi;
    response->body_n = document_openapi_n;
    return PV_OK;
}

enum pv_code reference_get(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    (void)context;
    (void)err;
    http_response_header(request, response, "Content-Security-Policy", page_policy);
    response->status = 200;
    response->content_type = "text/html; charset=utf-8";
    response->body = document_reference;
    response->body_n = document_reference_n;
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
        char location[64];
        (void)snprintf(location, sizeof location, "/docs#problem-%s", name);
        http_response_header(request, response, "Location", location);
        response->status = 303;
        return PV_OK;
    }
    return pv_fail(err, PV_E_NOT_FOUND, "there is no such problem type");
}
