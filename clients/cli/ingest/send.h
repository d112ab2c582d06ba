#ifndef CLI_INGEST_SEND_H
#define CLI_INGEST_SEND_H

#include "cli/ingest/log_body.h"
#include "cli/remote/remote.h"
#include "logfiles/outcome.h"

/* One log to the service, and what became of it. */

/* Where logs go and what is said of them beside. */
struct send_request {
    const char *path;                     /* "/v1/eventlogs", or that of an application */
    const struct remote_parameter *query; /* ended by a NULL name */
};

enum send_verdict {
    SEND_FINAL,  /* the outcome stays the same however often the log is sent */
    SEND_PASSED, /* an outcome that may be another next time */
    SEND_AWAY,   /* the service is away or overloaded: there is no outcome */
    SEND_REFUSED /* whatever is sent would be refused, for the token, say: no outcome */
};

/*
 * result: name and bytes are the caller's, the rest is written where there is an outcome. failure:
 * why there is none. progress: log_body.h.
 */
enum send_verdict send_log(struct remote *remote,
                           const struct send_request *request,
                           const struct ingest_log *log,
                           atomic_uint_least64_t *progress,
                           struct log_result *result,
                           struct failure *failure);

/* The outcome and verdict of a reply, or of none (status 0). */
enum send_verdict send_judge(const struct remote_reply *reply,
                             bool unfinished,
                             struct log_result *result,
                             const struct failure *failure);

#endif
