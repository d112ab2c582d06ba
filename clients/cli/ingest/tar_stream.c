#include "cli/ingest/tar_stream.h"

#include <string.h>

#include "base/instant.h"

enum { END = 2 * TAR_BLOCK };

/* --- headers --- */

static bool make_header(const struct source_object *part, char header[TAR_HEADER_MAX], size_t *n)
{
    bool known = part->modified_us != INSTANT_UNKNOWN;
    return tar_header_write(part->file, part->bytes, known ? part->modified_us / 1000000 : 0,
                            header, n);
}

static size_t padding(int64_t bytes)
{
    return (size_t)(TAR_BLOCK - bytes % TAR_BLOCK) % TAR_BLOCK;
}

bool tar_stream_bytes(const struct ingest_log *log, int64_t *bytes, struct failure *failure)
{
    char header[TAR_HEADER_MAX];
    size_t n;
    int64_t sum = END;
    for (size_t i = 0; i < log->n_parts; i++) {
        const struct source_object *part = &log->parts[i];
        if (part->bytes < 0 || !make_header(part, header, &n))
            return fail(failure, EXIT_FAILED, "%s cannot be part of an archive", part->name);
        sum += (int64_t)n + part->bytes + (int64_t)padding(part->bytes);
    }
    *bytes = sum;
    return true;
}

/* --- reading --- */

void tar_stream_begin(struct tar_stream *tar, const struct ingest_log *log)
{
    tar->log = log;
    tar->next = 0;
    tar->in_part = false;
    tar->header_n = tar->header_at = 0;
    tar->ended = false;
}

void tar_stream_end(struct tar_stream *tar)
{
    if (tar->in_part)
        part_stream_end(&tar->part);
    tar->in_part = false;
}

static void set_zeros(struct tar_stream *tar, size_t n)
{
    memset(tar->header, 0, n);
    tar->header_n = n;
    tar->header_at = 0;
}

static bool begin_part(struct tar_stream *tar, struct failure *failure)
{
    const struct source_object *part = &tar->log->parts[tar->next++];
    if (!make_header(part, tar->header, &tar->header_n))
        return fail(failure, EXIT_FAILED, "%s cannot be part of an archive", part->name);
    tar->header_at = 0;
    part_stream_begin(&tar->part, tar->log->source, part);
    tar->in_part = true;
    return true;
}

static void leave_part(struct tar_stream *tar)
{
    set_zeros(tar, padding(tar->part.object->bytes));
    part_stream_end(&tar->part);
    tar->in_part = false;
}

static size_t take_header(struct tar_stream *tar, void *bytes, size_t n)
{
    size_t left = tar->header_n - tar->header_at;
    size_t m = left < n ? left : n;
    memcpy(bytes, tar->header + tar->header_at, m);
    tar->header_at += m;
    return m;
}

bool tar_stream_read(
    struct tar_stream *tar, void *bytes, size_t n, size_t *got, struct failure *failure)
{
    for (;;) {
        *got = take_header(tar, bytes, n);
        if (*got > 0)
            return true;
        if (tar->in_part) {
            if (!part_stream_read(&tar->part, bytes, n, got, failure))
                return false;
            if (*got > 0)
                return true;
            leave_part(tar);
        } else if (tar->next < tar->log->n_parts) {
            if (!begin_part(tar, failure))
                return false;
        } else if (!tar->ended) {
            tar->ended = true;
            set_zeros(tar, END);
        } else {
            return true;
        }
    }
}
