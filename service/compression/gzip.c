/*
 * gzip (RFC 1952) through zlib: any number of members one after another, zero bytes between and
 * after them (padding that tape and block tools leave).
 */
#include <limits.h>
#include <stdlib.h>
#define ZLIB_CONST /* input is only read */
#include <zlib.h>

#include "compression/compression_internal.h"

enum {
    GZIP_ONLY = 16,
    INFLATE_BYTES = 40 * 1024 /* zlib's window and tables */
};

struct gzip {
    z_stream stream;
    bool within; /* a member has begun and not ended */
};

static enum compression_match gzip_match(const unsigned char *head, size_t n)
{
    if (n > 0 && head[0] != 0x1f)
        return FRAMING_NO;
    if (n > 1 && head[1] != 0x8b)
        return FRAMING_NO;
    return n > 1 ? FRAMING_YES : FRAMING_MAYBE;
}

static void *gzip_create(const struct compression_limits *limits)
{
    (void)limits; /* gzip's window never exceeds 32 KiB */
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (gzip == NULL)
        return NULL;
    if (inflateInit2(&gzip->stream, MAX_WBITS + GZIP_ONLY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    return gzip;
}

static void gzip_destroy(void *state)
{
    struct gzip *gzip = state;
    (void)inflateEnd(&gzip->stream);
    free(gzip);
}

static bool gzip_unfinished(const void *state)
{
    const struct gzip *gzip = state;
    return gzip->within;
}

/* One call of inflate: consumes input, fills the buffer, hands it on. */
static enum pv_code gzip_step(struct decompressor *framing, struct gzip *gzip, struct pv_error *err)
{
    z_stream *stream = &gzip->stream;
    stream->next_out = (Bytef *)framing->buffer;
    stream->avail_out = FRAMING_BUFFER;
    uInt before = stream->avail_in;
    int result = inflate(stream, Z_NO_FLUSH);
    framing->bytes_in += before - stream->avail_in;
    if (result == Z_MEM_ERROR)
        return pv_no_memory(err);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return pv_fail(err, PV_E_SYNTAX, "the gzip stream is damaged: %s",
                       stream->msg == NULL ? "unexpected data" : stream->msg);
    gzip->within = result != Z_STREAM_END;
    return decompressor_emit(framing, framing->buffer, FRAMING_BUFFER - stream->avail_out, err);
}

/* Between members: skip padding; true when another member begins. */
static bool next_member(struct decompressor *framing, z_stream *stream)
{
    while (stream->avail_in > 0 && *stream->next_in == 0) {
        stream->next_in++;
        stream->avail_in--;
        framing->bytes_in++;
    }
    return stream->avail_in > 0 && inflateReset(stream) == Z_OK;
}

static enum pv_code
feed_some(struct decompressor *framing, const char *bytes, uInt n, struct pv_error *err)
{
    struct gzip *gzip = framing->state;
    gzip->stream.next_in = (const Bytef *)bytes;
    gzip->stream.avail_in = n;
    do {
        if (!gzip->within && !next_member(framing, &gzip->stream))
            return PV_OK;
        PV_TRY(gzip_step(framing, gzip, err));
        /* A full buffer may mean that more output waits although all input is taken. */
    } while (gzip->stream.avail_in > 0 || gzip->stream.avail_out == 0);
    return PV_OK;
}

static enum pv_code
gzip_feed(struct decompressor *framing, const char *bytes, size_t n, struct pv_error *err)
{
    while (n > 0) {
        uInt some = n < INT_MAX ? (uInt)n : INT_MAX;
        PV_TRY(feed_some(framing, bytes, some, err));
        bytes += some;
        n -= some;
    }
    return PV_OK;
}

const struct compression_coding compression_gzip = {
    .name = "gzip",
    .state_bytes = sizeof(struct gzip) + INFLATE_BYTES,
    .match = gzip_match,
    .create = gzip_create,
    .feed = gzip_feed,
    .unfinished = gzip_unfinished,
    .destroy = gzip_destroy,
};
