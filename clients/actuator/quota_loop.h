#ifndef ACTUATOR_QUOTA_LOOP_H
#define ACTUATOR_QUOTA_LOOP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/remote/remote.h"

/*
 * A quota loop as it is read again and again: by ETag, so that one which has not changed costs a
 * reply without a body.
 */
struct grant {
    const char *id;
    const char *application;
    const char *worker;
    double cores;        /* >= 0 */
    const char *cpu_max; /* NULL: the loop has no `cgroup` */
};

struct quota_loop {
    char path[1024];
    char etag[256];
    json_t *document; /* of the last reply; owner of the texts */
    struct grant *grants;
    size_t n;
    int64_t sequence; /* of the last sample; -1: none has come */
    double sample_s;
    bool changed;        /* by the last poll */
    uint64_t sampled_ns; /* when a new sequence was seen last, on the monotonic clock */
};

/* Sets the path. quota_loop_close in any case. */
bool quota_loop_open(struct quota_loop *loop,
                     struct remote *remote,
                     const char *name,
                     struct failure *failure);

/* Read it. workers: names whose executors count, or NULL. After a failure it is as it was; *status
 * is that of the reply, 0 without one. */
bool quota_loop_poll(struct quota_loop *loop,
                     struct remote *remote,
                     const json_t *workers,
                     long *status,
                     struct failure *failure);

void quota_loop_close(struct quota_loop *loop);

#endif
