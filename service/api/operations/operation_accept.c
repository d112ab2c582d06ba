#include "api/operations/operation_accept.h"

#include <string.h>

#include "api/operations/operation_document.h"
#include "api/operations/operation_watch.h"
#include "api/shared/prefer.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "http/etag.h"
#include "http/park.h"
#include "store/history/application.h"
#include "threads/clock.h"

/* PV_E_MEMORY where there is no value. */
static enum pv_code add_header(struct http_request *request,
                               struct http_response *response,
                               const char *name,
                               const char *value,
                               struct pv_error *err)
{
    if (value == NULL)
        return pv_no_memory(err);
    http_response_header(request, response, name, value);
    return PV_OK;
}

static enum pv_code add_etag(struct http_request *request,
                             struct http_response *response,
                             const struct operation_row *operation,
                             struct pv_error *err)
{
    const char *etag = arena_printf(request->arena, "\"v%lld.%lld\"", (long long)operation->version,
                                    (long long)operation->position);
    PV_TRY(add_header(request, response, "ETag", etag, err));
    if (request->method == HTTP_GET && http_none_match_holds(request, etag))
        http_reply_not_modified(response);
    return PV_OK;
}

/* The reply was held, and the step is run again for it. */
static bool is_resumed(const struct http_request *request)
{
    return request->resumes[0] != '\0';
}

enum pv_code api_operation_reply(struct http_request *request,
                                 struct http_response *response,
                                 int64_t wait_max_s,
                                 unsigned status,
                                 const struct operation_row *operation,
                                 struct pv_error *err)
{
    struct writer w;
    bool held = operation_has_ended(operation->status) || is_resumed(request);
    int64_t wait_s = held ? prefer_wait_s(request, wait_max_s) : 0;
    writer_init(&w, request->arena);
    operation_document_write(&w, operation, true);
    PV_TRY(api_reply(response, status, &w, err));
    if (!operation_has_ended(operation->status))
        PV_TRY(add_header(request, response, "Retry-After", "1", err));
    if (request->method == HTTP_POST)
        PV_TRY(add_header(request, response, "Location",
                          arena_printf(request->arena, "/v1/operations/%s", operation->id), err));
    if (wait_s > 0)
        PV_TRY(add_header(request, response, "Preference-Applied",
                          arena_printf(request->arena, "wait=%lld", (long long)wait_s), err));
    return add_etag(request, response, operation, err);
}

/* --- waiting --- */

/* What remains of a request's time is for the answer. */
static uint64_t
hold_until_ns(const struct config *config, const struct http_request *request, int64_t wait_s)
{
    uint64_t allowed_ns = (uint64_t)config->request_timeout_ms * 1000000u;
    uint64_t begun_ns = request->deadline_ns - allowed_ns;
    uint64_t wait_ns = (uint64_t)wait_s * 1000000000u;
    uint64_t most_ns = allowed_ns / 10 * 9;
    return begun_ns + (wait_ns < most_ns ? wait_ns : most_ns);
}

enum pv_code api_operation_hold(struct api *api,
                                struct http_request *request,
                                const struct operation_row *operation)
{
    int64_t wait_s = prefer_wait_s(request, api->config->operation_wait_max_s);
    uint64_t until_ns = hold_until_ns(api->config, request, wait_s);
    if (wait_s == 0 || operation_has_ended(operation->status) || clock_monotonic_ns() >= until_ns)
        return PV_OK;
    struct operation_wait wait = {.until_end = true, .wake_at_ns = until_ns};
    struct pv_error none = {.code = PV_OK}; /* a preference that is not met is no fault */
    if (resources_take(api->resources, RESOURCE_WAITS, request->principal.team_id, &wait.place, 1,
                       &none) != PV_OK)
        return PV_OK;
    struct http_ticket *ticket = http_park(request);
    if (ticket == NULL) {
        resources_close(api->resources, &wait.place);
        return PV_OK;
    }
    memcpy(wait.what.team_id, request->principal.team_id, sizeof wait.what.team_id);
    memcpy(wait.what.id, operation->id, sizeof wait.what.id);
    memcpy(wait.what.token_id, request->principal.token_id, sizeof wait.what.token_id);
    memcpy(request->resumes, operation->id, sizeof operation->id);
    if (operation_watch_add(api->watch, &wait, ticket))
        return PV_E_RETRY;
    http_ticket_drop(ticket);
    resources_close(api->resources, &wait.place);
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
        return pv_no_memory(err);
    enum pv_code code = store_application_find(tx, request->arena, name, found, err);
    asked->application_id = found->id;
    return code;
}

static enum pv_code operation_accept_submit(struct api *api,
                                            struct http_request *request,
                                            struct http_response *response,
                                            struct store_tx *tx,
                                            const struct operation_request *wanted,
                                            struct operation_row *operation,
                                            struct pv_error *err)
{
    struct operation_request asked = *wanted;
    char id[37];
    asked.trace_id = request->trace_id;
    PV_TRY(find_application(tx, request, &asked, err));
    PV_TRY(operation_submit(tx, api->config, &asked, id, err));
    PV_TRY(store_operation_find(tx, request->arena, id, operation, err));
    return api_operation_reply(request, response, 0, 202, operation, err);
}

/* Once more after it was held: the operation as it is by now. */
static enum pv_code answer_held(struct api *api,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct operation_row operation;
    PV_TRY(api_read(api, request, &tx, err));
    PV_TRY(store_operation_find(tx, request->arena, request->resumes, &operation, err));
    store_rollback(&tx);
    PV_TRY(api_operation_hold(api, request, &operation));
    return api_operation_reply(request, response, api->config->operation_wait_max_s,
                               operation_has_ended(operation.status) ? 200 : 202, &operation, err);
}

enum pv_code api_operation_accept(struct api *api,
                                  struct http_request *request,
                                  struct http_response *response,
                                  const struct operation_request *asked,
                                  struct pv_error *err)
{
    api_write_auto_t write = {0};
    struct operation_row operation;
    bool replayed = false;
    if (is_resumed(request))
        return answer_held(api, request, response, err);
    PV_TRY(api_write_begin(api, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(operation_accept_submit(api, request, response, write.tx, asked, &operation, err));
    PV_TRY(api_write_commit(request, response, &write, err));
    operation_runner_wake(api->operations);
    return api_operation_hold(api, request, &operation);
}
