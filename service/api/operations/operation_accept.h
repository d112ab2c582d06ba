#ifndef API_OPERATIONS_OPERATION_ACCEPT_H
#define API_OPERATIONS_OPERATION_ACCEPT_H

#include "api/api.h"
#include "operation/operation.h"
#include "operation/runner.h"

/*
 * The last step of every POST that starts long work, at HTTP_IO: what is to be done has been
 * decoded and checked. It queues the operation with its audit row under the caller's
 * Idempotency-Key and answers 202 with Location, Retry-After and the operation;
 * asked->application_name is looked up (404), application_id and trace_id of it are filled in. With
 * "Prefer: wait=N" the reply is held, without a thread, until the operation has ended (then 200) or
 * the time is over, and the step is run again for it.
 */
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
