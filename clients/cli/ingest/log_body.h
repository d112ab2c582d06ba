#ifndef CLI_INGEST_LOG_BODY_H
#define CLI_INGEST_LOG_BODY_H

#include <stdatomic.h>

#include "cli/ingest/tar_stream.h"
#include "cli/remote/message.h"

/*
 * A log as the body of a request: the bytes of its file, or the archive of its parts. Sent again it is
 * read again. What is sent of it is added to `progress`, each byte of the log once.
 */
struct log_body {
    struct remote_body body;
    const struct ingest_log *log;
    union {
        struct part_stream part;
        struct tar_stream tar;
    };
    atomic_uint_least64_t *progress;
    uint64_t sent;    /* of this attempt */
    uint64_t counted; /* in progress; at most the bytes of the log */
    bool unreadable;  /* it was the log, not the service, that failed */
};

/* false: it cannot be sent at all. End it in any case. */
bool log_body_begin(struct log_body *body,
                    const struct ingest_log *log,
                    atomic_uint_least64_t *progress,
                    struct failure *failure);

/* Count what was not sent as done. */
void log_body_end(struct log_body *body);

#endif
