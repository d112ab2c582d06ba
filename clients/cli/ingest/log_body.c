#include "cli/ingest/log_body.h"

static void begin_reading(struct log_body *body)
{
    body->sent = 0;
    if (body->log->rolling)
        tar_stream_begin(&body->tar, body->log);
    else
        part_stream_begin(&body->part, body->log->source, &body->log->parts[0]);
}

static void end_reading(struct log_body *body)
{
    if (body->log->rolling)
        tar_stream_end(&body->tar);
    else
        part_stream_end(&body->part);
}

static void count(struct log_body *body, uint64_t done)
{
    uint64_t most = body->log->bytes < 0 ? 0 : (uint64_t)body->log->bytes;
    done = done < most ? done : most;
    if (done > body->counted) {
        atomic_fetch_add(body->progress, done - body->counted);
        body->counted = done;
    }
}

static bool read_body(void *context, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    struct log_body *body = context;
    bool good = body->log->rolling ? tar_stream_read(&body->tar, bytes, n, got, failure)
                                   : part_stream_read(&body->part, bytes, n, got, failure);
    body->unreadable = body->unreadable || !good;
    if (good) {
        body->sent += *got;
        count(body, body->sent);
    }
    return good;
}

static bool rewind_body(void *context, struct failure *failure)
{
    struct log_body *body = context;
    (void)failure;
    end_reading(body);
    begin_reading(body);
    return true;
}

bool log_body_begin(struct log_body *body,
                    const struct ingest_log *log,
                    atomic_uint_least64_t *progress,
                    struct failure *failure)
{
    body->log = log;
    body->progress = progress;
    body->counted = 0;
    body->unreadable = false;
    body->body = (struct remote_body){.read = read_body,
                                      .rewind = log->once ? NULL : rewind_body,
                                      .context = body,
                                      .bytes = log->bytes};
    begin_reading(body);
    if (!log->rolling)
        return true;
    body->unreadable = !tar_stream_bytes(log, &body->body.bytes, failure);
    return !body->unreadable;
}

void log_body_end(struct log_body *body)
{
    count(body, UINT64_MAX);
    end_reading(body);
}
