#ifndef COMPRESSION_COMPRESSION_H
#define COMPRESSION_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/code.h"
#include "base/error.h"
#include "base/ledger.h"

/*
 * Streams of compressed bytes in, plain bytes out. The kind is recognised by the first bytes; each
 * kind is a row in a table (compression.c) and a file of its own:
 *
 *   plain          no coding at all
 *   gzip           RFC 1952, several members
 *   zstd           RFC 8878, several frames
 *   lz4            blocks of lz4-java's LZ4BlockOutputStream, which Spark writes (lz4_block.c)
 *   lz4 frame      the LZ4 frame format (lz4_frame.c)
 *   snappy         snappy-java's SnappyOutputStream, which Spark writes (snappy_java.c)
 *   snappy framed  the Snappy framing format (snappy_framed.c)
 *   lzf            chunks of compress-lzf (lzf.c)
 *
 * A stream may be several streams of its kind, one after another. Whatever was whole before a cut
 * is given out. Checksums are verified where a format has them; snappy-java's and lzf have none.
 *
 * Memory of one decoder: 128 KiB, and by kind: gzip 40 KiB; zstd its window and 0.4 MiB; lz4 and
 * snappy at most twice the largest block; lz4 frame at most 8.3 MiB; the others 0.2 MiB. One
 * decoder belongs to one thread at a time.
 */
struct decompressor;

/* 8 MiB: as much as a zstd window of 2^23. */
#define FRAMING_BLOCK_BYTES_MAX ((size_t)1 << 23)

struct compression_limits {
    uint64_t total_bytes;    /* plain bytes a stream may give */
    double ratio;            /* plain bytes per compressed byte, judged beyond the first MiB out */
    unsigned window_log_max; /* zstd: largest window, as a power of two */
    size_t block_bytes_max;  /* lz4, snappy: largest plain block; 0: FRAMING_BLOCK_BYTES_MAX */
    struct ledger_account
        *account; /* a decoder's memory is counted there; borrowed; NULL: nowhere */
};

/* Against archives and streams that are little and become much. A ratio says nothing about the
 * first MiB of what comes out. */
static inline bool compression_ratio_exceeded(uint64_t plain, uint64_t compressed, double most)
{
    return plain > (uint64_t)1 << 20 && (double)plain > most * (double)compressed;
}

/* Takes plain bytes; anything but PV_OK stops the decoder, which passes it on. */
typedef enum pv_code (*compression_sink)(void *context,
                                         const char *bytes,
                                         size_t n,
                                         struct pv_error *err);

/* NULL when memory, or the account, is exhausted. limits is copied. */
struct decompressor *
decompressor_create(const struct compression_limits *limits, compression_sink sink, void *context);
void decompressor_destroy(struct decompressor *framing);

/*
 * Take the next n bytes of the stream, in pieces of any size.
 * PV_E_SYNTAX: not what its first bytes promised; PV_E_LIMIT: a limit above (detail says which, by
 * the name of its setting); PV_E_MEDIA_TYPE: a coding that is recognised but not supported;
 * PV_E_MEMORY, also where the account does not allow it; what the sink answered.
 */
enum pv_code decompressor_feed(struct decompressor *framing,
                               const char *bytes,
                               size_t n,
                               struct pv_error *err) PV_MUSTCHECK;

/* End of the stream. *truncated reports whether the last frame was unfinished (not an error). */
enum pv_code decompressor_finish(struct decompressor *framing,
                                 bool *truncated,
                                 struct pv_error *err) PV_MUSTCHECK;

/* The name in the list above, a constant; "unknown" before the first bytes. */
const char *compression_kind(const struct decompressor *framing);

#endif
