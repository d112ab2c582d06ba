#ifndef API_OPERATIONS_OPERATION_ACCEPT_H
#define API_OPERATIONS_OPERATION_ACCEPT_H

#include "api/api.h"
#include "operation/operation.h"
#include "operation/runner.h"

/*
 * The frame of every POST that starts long work. Such a handler reads
 *
 *     if (api_operation_resumed(request))
 *         return api_operation_answer(api, request, response, err);
 *     ... decode and check ...
 *     return api_operation_accept(api, request, response, &asked, err);
 *
 * api_operation_accept queues the operation with its audit row under the caller's Idempotency-Key
 * and answers 202 with Location, Retry-After and the operation; asked->application_name is looked
 * up (404), asked->application_id and trace_id are filled in. With "Prefer: wait=N" the reply is
 * held, without a thread, until the operation has ended (then 200) or the time is over; the handler
 * is run again for it, hence the first two lines.
 */
bool api_operation_resumed(const struct http_request *request);
enum pv_code api_operation_answer(struct api *api,
                                  struct http_request *request,
                                  struct http_response *response,
                                  struct pv_error *err) PV_MUSTCHECK;
enum pv_code api_operation_accept(struct api *api,
                                  struct http_request *request,
                                  struct http_response *response,
                                  const struct operation_request *asked,
                                  struct pv_error *err) PV_MUSTCHECK;

/*
 * Hold the reply as "Prefer: wait=N" says: PV_E_RETRY, to be returned by the handler, which is run
 * again when the operation has ended or the time is over. PV_OK: answer now.
 */
enum pv_code api_operation_hold(struct api *api,
                                struct http_request *request,
                                const struct operation_row *operation) PV_MUSTCHECK;

/* The operation, with ETag, for a POST Location, while it is unfinished Retry-After, and what was
 * made of Prefer. */
enum pv_code api_operation_reply(struct http_request *request,
                                 struct http_response *response,
                                 int64_t wait_max_s,
                                 unsigned status,
                                 const struct operation_row *operation,
                                 struct pv_error *err) PV_MUSTCHECK;

#endif
