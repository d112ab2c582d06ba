#ifndef CLI_INGEST_PART_STREAM_H
#define CLI_INGEST_PART_STREAM_H

#include "cli/sources/source.h"

/*
 * A file of a log, read as it was announced: so many bytes and no more, or all where its length is not
 * known. One that turns out to have another length, unless it is unfinished, fails before its last
 * bytes are handed out, so that what was sent of it is not a whole log to whoever receives it.
 */
struct part_stream {
    struct source *source;
    const struct source_object *object;
    struct source_stream *stream; /* NULL: not begun */
    int64_t left;                 /* -1: unknown */
};

/* Nothing is read yet; what is borrowed must outlive it. */
void part_stream_begin(struct part_stream *part,
                       struct source *source,
                       const struct source_object *object);

/* Up to n bytes (n > 0); *got is 0 at the end. */
bool part_stream_read(
    struct part_stream *part, void *bytes, size_t n, size_t *got, struct failure *failure);

void part_stream_end(struct part_stream *part);

#endif
