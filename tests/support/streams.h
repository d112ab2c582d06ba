#ifndef SUPPORT_STREAMS_H
#define SUPPORT_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Encoders of every stream that service/framing reads, for tests: gzip, zstd and LZ4 frames by
 * their libraries; the framings of lz4-java, snappy-java, Snappy and compress-lzf written here from
 * their descriptions, without a line of the decoders. Out of memory or a bug aborts.
 */
enum stream_kind {
    STREAM_GZIP,
    STREAM_ZSTD,
    STREAM_LZ4_BLOCK,
    STREAM_LZ4_FRAME,
    STREAM_SNAPPY_JAVA,
    STREAM_SNAPPY_FRAMED,
    STREAM_LZF,
    STREAM_KINDS
};

/* As compression_kind says it. */
const char *stream_name(enum stream_kind kind);

struct stream {
    char *bytes;
    size_t n;
    size_t room;
};

void stream_add(struct stream *stream, const void *bytes, size_t n);
void stream_clear(struct stream *stream);
void stream_fini(struct stream *stream);

/*
 * Append one complete stream (member, frame) of n bytes. block: plain bytes of a block where the
 * format has blocks (lz4-java: 1..32 MiB; snappy-java: any; snappy framed: at most 65536; lzf: at
 * most 65535; clipped), 0 for what the Java writer does.
 */
void stream_encode(
    struct stream *stream, enum stream_kind kind, const char *text, size_t n, size_t block);

/* One block of an LZ4Block stream, n <= 2^(10+15); the end mark. */
void stream_lz4_block(struct stream *stream, const char *text, size_t n, bool stored);
void stream_lz4_end(struct stream *stream);

#endif
