/*
 * Zstandard (RFC 8878) through libzstd: any number of frames, skippable ones among them. Spark
 * flushes as it goes and may die within a frame, so an unfinished last one is ordinary.
 */
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <stdlib.h>

#include "compression/compression_internal.h"

struct zstd {
    ZSTD_DCtx *context;
    bool within; /* a frame has begun and not ended */
    size_t counted;
};

/* 28 B5 2F FD, or a skippable frame: 50..5F 2A 4D 18. */
static enum compression_match zstd_match(const unsigned char *head, size_t n)
{
    static const unsigned char frame[] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char skippable[] = {0x50, 0x2a, 0x4d, 0x18};
    if (n == 0)
        return FRAMING_MAYBE;
    size_t have = n < sizeof frame ? n : sizeof frame;
    bool is_frame = memcmp(head, frame, have) == 0;
    bool is_skippable =
        (head[0] & 0xf0) == skippable[0] && memcmp(head + 1, skippable + 1, have - 1) == 0;
    if (!is_frame && !is_skippable)
        return FRAMING_NO;
    return have == sizeof frame ? FRAMING_YES : FRAMING_MAYBE;
}

static void *zstd_create(const struct compression_limits *limits)
{
    struct zstd *zstd = calloc(1, sizeof *zstd);
    if (zstd == NULL)
        return NULL;
    zstd->context = ZSTD_createDCtx();
    if (zstd->context == NULL) {
        free(zstd);
        return NULL;
    }
    /* Fails only for a value outside libzstd's range, which leaves its own, smaller default. */
    (void)ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax, (int)limits->window_log_max);
    return zstd;
}

static void zstd_destroy(void *state)
{
    struct zstd *zstd = state;
    (void)ZSTD_freeDCtx(zstd->context);
    free(zstd);
}

static bool zstd_unfinished(const void *state)
{
    const struct zstd *zstd = state;
    return zstd->within;
}

static enum pv_code
zstd_fail(const struct decompressor *framing, size_t result, struct pv_error *err)
{
    switch ((int)ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return pv_no_memory(err);
    case ZSTD_error_frameParameter_windowTooLarge:
        return pv_fail(err, PV_E_LIMIT,
                       "the zstd stream asks for a window over 2^%u bytes, which a decoder would "
                       "have to hold in memory (zstd_window_log_max)",
                       framing->limits.window_log_max);
    default:
        return pv_fail(err, PV_E_SYNTAX, "the zstd stream is damaged: %s",
                       ZSTD_getErrorName(result));
    }
}

static enum pv_code
zstd_feed(struct decompressor *framing, const char *bytes, size_t n, struct pv_error *err)
{
    struct zstd *zstd = framing->state;
    ZSTD_inBuffer in = {bytes, n, 0};
    bool full = false;
    while (in.pos < in.size || full) {
        ZSTD_outBuffer out = {framing->buffer, FRAMING_BUFFER, 0};
        size_t before = in.pos;
        size_t result = ZSTD_decompressStream(zstd->context, &out, &in);
        if (ZSTD_isError(result))
            return zstd_fail(framing, result, err);
        framing->bytes_in += in.pos - before;
        zstd->within = result != 0;
        /* The library has asked for a window, of which a call touches no more than it gives out. */
        PV_TRY(decompressor_count(framing, &zstd->counted, ZSTD_sizeof_DCtx(zstd->context), err));
        PV_TRY(decompressor_emit(framing, framing->buffer, out.pos, err));
        /* More output may wait in the decoder, but only while a frame is open. */
        full = out.pos == out.size && zstd->within;
    }
    return PV_OK;
}

const struct compression_coding compression_zstd = {
    .name = "zstd",
    .match = zstd_match,
    .create = zstd_create,
    .feed = zstd_feed,
    .unfinished = zstd_unfinished,
    .destroy = zstd_destroy,
};
