#include "streams.h"

#include <lz4.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

static void require(bool condition)
{
    if (condition)
        return;
    fprintf(stderr, "streams: an encoder failed\n");
    abort();
}

const char *stream_name(enum stream_kind kind)
{
    static const char *const names[] = {"gzip",   "zstd",          "lz4", "lz4 frame",
                                        "snappy", "snappy framed", "lzf"};
    return names[kind];
}

/* --- bytes --- */

static char *reserve(struct stream *stream, size_t n)
{
    if (n > stream->room - stream->n) {
        stream->room = (stream->n + n) * 2;
        stream->bytes = realloc(stream->bytes, stream->room);
        require(stream->bytes != NULL);
    }
    return stream->bytes + stream->n;
}

void stream_add(struct stream *stream, const void *bytes, size_t n)
{
    memcpy(reserve(stream, n + 1), bytes, n);
    stream->n += n;
}

void stream_clear(struct stream *stream)
{
    stream->n = 0;
}

void stream_fini(struct stream *stream)
{
    free(stream->bytes);
    *stream = (struct stream){NULL, 0, 0};
}

/* The low `width` bytes of a number, either way round. */
static void add_number(struct stream *stream, uint32_t number, size_t width, bool big_endian)
{
    for (size_t i = 0; i < width; i++) {
        size_t byte = big_endian ? width - 1 - i : i;
        char one = (char)(number >> 8 * byte & 0xff);
        stream_add(stream, &one, 1);
    }
}

/* --- the libraries' own formats --- */

static void add_gzip(struct stream *stream, const char *text, size_t n)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    require(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    size_t room = deflateBound(&z, n);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)reserve(stream, room);
    z.avail_out = (uInt)room;
    require(deflate(&z, Z_FINISH) == Z_STREAM_END);
    stream->n += room - z.avail_out;
    (void)deflateEnd(&z);
}

static void add_zstd(struct stream *stream, const char *text, size_t n)
{
    size_t room = ZSTD_compressBound(n);
    size_t used = ZSTD_compress(reserve(stream, room), room, text, n, 3);
    require(!ZSTD_isError(used));
    stream->n += used;
}

static void add_lz4_frame(struct stream *stream, const char *text, size_t n, size_t block)
{
    LZ4F_preferences_t like;
    memset(&like, 0, sizeof like);
    like.frameInfo.blockSizeID = block > 0 && block <= 65536 ? LZ4F_max64KB : LZ4F_max4MB;
    /* lz4-java reads only blocks that stand alone; the default refers back. */
    like.frameInfo.blockMode = block > 0 ? LZ4F_blockIndependent : LZ4F_blockLinked;
    like.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    like.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
    size_t room = LZ4F_compressFrameBound(n, &like);
    size_t used = LZ4F_compressFrame(reserve(stream, room), room, text, n, &like);
    require(!LZ4F_isError(used));
    stream->n += used;
}

/* --- lz4-java --- */

static void
lz4_header(struct stream *stream, unsigned method, size_t n_sent, size_t n_plain, uint32_t checksum)
{
    unsigned log = 10;
    while ((size_t)1 << log < n_plain)
        log++;
    require(log <= 25);
    char token = (char)(method << 4 | (log - 10));
    stream_add(stream, "LZ4Block", 8);
    stream_add(stream, &token, 1);
    add_number(stream, (uint32_t)n_sent, 4, false);
    add_number(stream, (uint32_t)n_plain, 4, false);
    add_number(stream, checksum, 4, false);
}

void stream_lz4_block(struct stream *stream, const char *text, size_t n, bool stored)
{
    int bound = LZ4_compressBound((int)n);
    char *packed = malloc((size_t)bound);
    require(bound > 0 && packed != NULL);
    size_t used = (size_t)LZ4_compress_default(text, packed, (int)n, bound);
    stored = stored || used >= n;
    /* lz4-java hands XXH32 out as a checksum of 28 bits, from this seed. */
    uint32_t checksum = XXH32(text, n, 0x9747b28c) & 0xfffffff;
    lz4_header(stream, stored ? 1 : 2, stored ? n : used, n, checksum);
    stream_add(stream, stored ? text : packed, stored ? n : used);
    free(packed);
}

void stream_lz4_end(struct stream *stream)
{
    lz4_header(stream, 1, 0, 0, 0);
}

/* --- snappy --- */

static size_t pack_snappy(char **packed, const char *text, size_t n)
{
    size_t used = snappy_max_compressed_length(n);
    *packed = malloc(used);
    require(*packed != NULL && snappy_compress(text, n, *packed, &used) == SNAPPY_OK);
    return used;
}

static void add_snappy_java_block(struct stream *stream, const char *text, size_t n)
{
    char *packed;
    size_t used = pack_snappy(&packed, text, n);
    add_number(stream, (uint32_t)used, 4, true);
    stream_add(stream, packed, used);
    free(packed);
}

/* CRC-32C a bit at a time, masked as the framing format wants it. */
static uint32_t masked_crc(const char *text, size_t n)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < 8 * n; i++) {
        uint32_t bit = (uint32_t)((unsigned char)text[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (((crc ^ bit) & 1) != 0 ? 0x82f63b78 : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static void add_snappy_chunk(struct stream *stream, const char *text, size_t n)
{
    char *packed;
    size_t used = pack_snappy(&packed, text, n);
    bool stored = used >= n;
    stream_add(stream, stored ? "\1" : "\0", 1);
    add_number(stream, (uint32_t)(4 + (stored ? n : used)), 3, false);
    add_number(stream, masked_crc(text, n), 4, false);
    stream_add(stream, stored ? text : packed, stored ? n : used);
    free(packed);
}

/* --- lzf --- */

static uint32_t three_bytes(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

/* A repetition is at most this long and lies at most this far back. */
enum { LZF_LENGTH = 264, LZF_DISTANCE = 8192, LZF_RUN = 32, LZF_CHUNK = 65535 };

static void add_lzf_run(struct stream *packed, const char *text, size_t n)
{
    while (n > 0) {
        size_t some = n < LZF_RUN ? n : LZF_RUN;
        char control = (char)(some - 1);
        stream_add(packed, &control, 1);
        stream_add(packed, text, some);
        text += some;
        n -= some;
    }
}

static void add_lzf_repeat(struct stream *packed, size_t distance, size_t n)
{
    size_t back = distance - 1;
    unsigned char bytes[3] = {(unsigned char)(back >> 8), 0, (unsigned char)back};
    if (n <= 8) {
        bytes[0] |= (unsigned char)((n - 2) << 5);
        stream_add(packed, &bytes[0], 1);
    } else {
        bytes[0] |= 7 << 5;
        bytes[1] = (unsigned char)(n - 9);
        stream_add(packed, bytes, 2);
    }
    stream_add(packed, &bytes[2], 1);
}

/* The last place where the same three bytes stood, by a hash of them: greedy, as LZF does. */
static void pack_lzf(struct stream *packed, const char *text, size_t n)
{
    size_t *seen = calloc(65536, sizeof *seen); /* place + 1 */
    require(seen != NULL);
    size_t run = 0; /* where the bytes begin that are not written yet */
    size_t at = 0;
    while (at + 2 < n) {
        size_t *slot = &seen[three_bytes(text + at) * UINT32_C(2654435761) >> 16];
        size_t before = *slot;
        *slot = at + 1;
        if (before == 0 || at + 1 - before > LZF_DISTANCE ||
            memcmp(text + before - 1, text + at, 3) != 0) {
            at++;
            continue;
        }
        size_t length = 3;
        while (length < LZF_LENGTH && at + length < n &&
               text[before - 1 + length] == text[at + length])
            length++;
        add_lzf_run(packed, text + run, at - run);
        add_lzf_repeat(packed, at + 1 - before, length);
        at += length;
        run = at;
    }
    add_lzf_run(packed, text + run, n - run);
    free(seen);
}

static void add_lzf_chunk(struct stream *stream, const char *text, size_t n)
{
    struct stream packed = {NULL, 0, 0};
    pack_lzf(&packed, text, n);
    bool stored = packed.n + 2 >= n;
    stream_add(stream, stored ? "ZV\0" : "ZV\1", 3);
    add_number(stream, (uint32_t)(stored ? n : packed.n), 2, true);
    if (!stored)
        add_number(stream, (uint32_t)n, 2, true);
    stream_add(stream, stored ? text : packed.bytes, stored ? n : packed.n);
    stream_fini(&packed);
}

/* --- blocks --- */

static void add_block(struct stream *stream, enum stream_kind kind, const char *text, size_t n)
{
    switch (kind) {
    case STREAM_LZ4_BLOCK:
        stream_lz4_block(stream, text, n, false);
        break;
    case STREAM_SNAPPY_JAVA:
        add_snappy_java_block(stream, text, n);
        break;
    case STREAM_SNAPPY_FRAMED:
        add_snappy_chunk(stream, text, n);
        break;
    case STREAM_LZF:
        add_lzf_chunk(stream, text, n);
        break;
    case STREAM_GZIP:
    case STREAM_ZSTD:
    case STREAM_LZ4_FRAME:
    case STREAM_KINDS:
        require(false);
    }
}

static void
add_blocks(struct stream *stream, enum stream_kind kind, const char *text, size_t n, size_t block)
{
    size_t most = kind == STREAM_LZF             ? LZF_CHUNK
                  : kind == STREAM_SNAPPY_FRAMED ? 65536
                  : kind == STREAM_LZ4_BLOCK     ? 1 << 25
                                                 : SIZE_MAX;
    if (block == 0)
        block = 32768;
    if (block > most)
        block = most;
    for (size_t at = 0; at < n; at += block)
        add_block(stream, kind, text + at, n - at < block ? n - at : block);
}

void stream_encode(
    struct stream *stream, enum stream_kind kind, const char *text, size_t n, size_t block)
{
    switch (kind) {
    case STREAM_GZIP:
        add_gzip(stream, text, n);
        return;
    case STREAM_ZSTD:
        add_zstd(stream, text, n);
        return;
    case STREAM_LZ4_FRAME:
        add_lz4_frame(stream, text, n, block);
        return;
    case STREAM_SNAPPY_JAVA:
        stream_add(stream, "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
        break;
    case STREAM_SNAPPY_FRAMED:
        stream_add(stream, "\xff\6\0\0sNaPpY", 10);
        break;
    case STREAM_LZ4_BLOCK:
    case STREAM_LZF:
        break;
    case STREAM_KINDS:
        require(false);
    }
    add_blocks(stream, kind, text, n, block);
    if (kind == STREAM_LZ4_BLOCK)
        stream_lz4_end(stream);
}
