#include "api/operation_accept.h"

#include <stdio.h>

#include "api/operation_document.h"
#include "api/reply.h"
#include "api/write.h"
#include "http/etag.h"
#include "store/application.h"

static void add_etag(struct http_request *request,
                     struct http_response *response,
                     const struct operation_row *operation)
{
    const char *etag = arena_printf(request->arena, "\"v%lld.%lld\"", (long long)operation->version,
                                    (long long)operation->position);
    http_response_header(request, response, "ETag", etag);
    if (etag != NULL && request->method == HTTP_GET && http_none_match_holds(request, etag))
        http_reply_not_modified(response);
}

enum pv_code api_operation_reply(struct http_request *request,
                                 struct http_response *response,
                                 unsigned status,
                                 const struct operation_row *operation,
                                 struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    operation_document_write(&w, operation, true);
    enum pv_code code = api_reply(response, status, &w, err);
    if (code != PV_OK)
        return code;
    if (!operation_has_ended(operation->status))
        http_response_header(request, response, "Retry-After", "1");
    if (request->method == HTTP_POST)
        http_response_header(request, response, "Location",
                             arena_printf(request->arena, "/v1/operations/%s", operation->id));
    add_etag(request, response, operation);
    return PV_OK;
}

/* The application's id, within the transaction that refers to it. */
static enum pv_code find_application(struct store_tx *tx,
                                     struct http_request *request,
                                     struct operation_request *asked,
                                     struct pv_error *err)
{
    if (asked->application_name.at == NULL)
        return PV_OK;
    struct application *found = arena_calloc(request->arena, 1, sizeof *found);
    const char *name =
        arena_strndup(request->arena, asked->application_name.at, asked->application_name.n);
    if (found == NULL || name == NULL)
        return pv_fail(err, PV_E_MEMORY, "out of memory");
    enum pv_code code = store_application_find(tx, request->arena, name, found, err);
    asked->application_id = found->id;
    return code;
}

static enum pv_code submit(struct api *api,
                           struct http_request *request,
                           struct http_response *response,
                           struct store_tx *tx,
                           const struct operation_request *wanted,
                           struct pv_error *err)
{
    struct operation_request asked = *wanted;
    struct operation_row operation;
    char id[37];
    asked.trace_id = request->trace_id;
    enum pv_code code = find_application(tx, request, &asked, err);
    if (code == PV_OK)
        code = operation_submit(tx, api->config, &asked, id, err);
    if (code == PV_OK)
        code = store_operation_find(tx, request->arena, id, &operation, err);
    return code == PV_OK ? api_operation_reply(request, response, 202, &operation, err) : code;
}

enum pv_code api_operation_accept(struct api *api,
                                  struct http_request *request,
                                  struct http_response *response,
                                  const struct operation_request *asked,
                                  struct pv_error *err)
{
    unsigned char hash[32];
    struct api_write write = {0};
    bool replayed = false;
    api_body_hash(request, hash);
    enum pv_code code = api_write_begin(api, request, response, hash, &write, &replayed, err);
    if (code == PV_OK && !replayed)
        code = submit(api, request, response, write.tx, asked, err);
    if (code == PV_OK && !replayed)
        code = api_write_commit(request, response, &write, err);
    api_write_end(&write);
    if (code == PV_OK && !replayed)
        operation_runner_wake(api->operations);
    return code;
}

bool api_operation_resumed(const struct http_request *request)
{
    return request->resumes[0] != '\0';
}

enum pv_code api_operation_answer(struct api *api,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err)
{
    struct store_tx *tx = NULL;
    struct operation_row operation;
    enum pv_code code =
        store_begin(api->store, &request->principal, request->request_id, STORE_READ, &tx, err);
    if (code == PV_OK)
        code = store_operation_find(tx, request->arena, request->resumes, &operation, err);
    store_rollback(&tx);
    if (code != PV_OK)
        return code;
    bool over = operation_has_ended(operation.status) || request->method == HTTP_GET;
    return api_operation_reply(request, response, over ? 200 : 202, &operation, err);
}
