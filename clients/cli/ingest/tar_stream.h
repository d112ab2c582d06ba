#ifndef CLI_INGEST_TAR_STREAM_H
#define CLI_INGEST_TAR_STREAM_H

#include "cli/ingest/log_list.h"
#include "cli/ingest/part_stream.h"
#include "cli/ingest/tar_header.h"

/*
 * The archive of a rolling log (tar), made while it is read: a header, the bytes of the
 * part, zeros up to a multiple of 512, for each part. Nothing is held but the header, and the length
 * is known before.
 */
struct tar_stream {
    const struct ingest_log *log;
    size_t next; /* part */
    struct part_stream part;
    bool in_part;
    char header[TAR_HEADER_MAX]; /* or zeros */
    size_t header_n;
    size_t header_at;
    bool ended;
};

/* Bytes of the archive. false: the length of a part is unknown, or its name is too long. */
bool tar_stream_bytes(const struct ingest_log *log, int64_t *bytes, struct failure *failure);

/* The log must outlive it. */
void tar_stream_begin(struct tar_stream *tar, const struct ingest_log *log);

/* Up to n bytes (n > 0); *got is 0 at the end. */
bool tar_stream_read(
    struct tar_stream *tar, void *bytes, size_t n, size_t *got, struct failure *failure);

void tar_stream_end(struct tar_stream *tar);

#endif
