#ifndef API_HISTORY_RUN_REPLY_H
#define API_HISTORY_RUN_REPLY_H

#include "api/api.h"
#include "core/history/run.h"

/* A run as the body of a reply, with its Location when it was just stored (or found again). */
enum pv_code api_reply_run(struct http_request *request,
                           struct http_response *response,
                           unsigned status,
                           const struct run *run,
                           struct strview application,
                           unsigned include,
                           struct pv_error *err) PV_MUSTCHECK;

enum pv_code api_reply_run_location(struct http_request *request,
                                    struct http_response *response,
                                    const struct run *run,
                                    struct strview application,
                                    struct pv_error *err) PV_MUSTCHECK;

#endif
