/*
 * The LZ4 frame format through liblz4, which verifies its checksums: any number of frames,
 * skippable ones among them. A block holds at most 4 MiB by the format.
 */
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>

#include "compression/compression_internal.h"

struct lz4_frame {
    LZ4F_dctx *context;
    bool within; /* a frame has begun and not ended */
    size_t counted;
};

enum { CONTEXT = 1024, HISTORY = 128 * 1024 }; /* bytes of the library's */

static enum compression_match lz4_frame_match(const unsigned char *head, size_t n)
{
    return compression_match_at(head, n, 0, "\x04\x22\x4d\x18", 4);
}

static void *lz4_frame_create(const struct compression_limits *limits)
{
    (void)limits;
    struct lz4_frame *lz4 = calloc(1, sizeof *lz4);
    if (lz4 == NULL)
        return NULL;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&lz4->context, LZ4F_VERSION))) {
        free(lz4);
        return NULL;
    }
    return lz4;
}

static void lz4_frame_destroy(void *state)
{
    struct lz4_frame *lz4 = state;
    (void)LZ4F_freeDecompressionContext(lz4->context);
    free(lz4);
}

static bool lz4_frame_unfinished(const void *state)
{
    const struct lz4_frame *lz4 = state;
    return lz4->within;
}

static enum pv_code lz4_frame_fail(size_t result, struct pv_error *err)
{
    const char *why = LZ4F_getErrorName(result);
    if (strcmp(why, "ERROR_allocation_failed") == 0)
        return pv_no_memory(err);
    return pv_fail(err, PV_E_SYNTAX, "the lz4 frame is damaged: %s", why);
}

/* For a block as it came and one as it goes out, of the size that the frame's header states. */
static enum pv_code
count_blocks(struct decompressor *framing, struct lz4_frame *lz4, struct pv_error *err)
{
    LZ4F_frameInfo_t info;
    size_t none = 0;
    if (LZ4F_isError(LZ4F_getFrameInfo(lz4->context, &info, NULL, &none)))
        return PV_OK; /* the header is not whole yet */
    size_t block = (size_t)1 << (8 + 2 * (info.blockSizeID < 4 ? 4 : (unsigned)info.blockSizeID));
    return decompressor_count(framing, &lz4->counted, 2 * block + HISTORY, err);
}

static enum pv_code
lz4_frame_feed(struct decompressor *framing, const char *bytes, size_t n, struct pv_error *err)
{
    struct lz4_frame *lz4 = framing->state;
    bool full = false;
    while (n > 0 || full) {
        size_t n_out = FRAMING_BUFFER;
        size_t n_in = n;
        size_t result = LZ4F_decompress(lz4->context, framing->buffer, &n_out, bytes, &n_in, NULL);
        if (LZ4F_isError(result))
            return lz4_frame_fail(result, err);
        bytes += n_in;
        n -= n_in;
        framing->bytes_in += n_in;
        lz4->within = result != 0;
        if (lz4->within)
            PV_TRY(count_blocks(framing, lz4, err));
        PV_TRY(decompressor_emit(framing, framing->buffer, n_out, err));
        /* More output may wait in the decoder, but only while a frame is open. */
        full = n_out == FRAMING_BUFFER && lz4->within;
    }
    return PV_OK;
}

const struct compression_coding compression_lz4_frame = {
    .name = "lz4 frame",
    .state_bytes = sizeof(struct lz4_frame) + CONTEXT,
    .match = lz4_frame_match,
    .create = lz4_frame_create,
    .feed = lz4_frame_feed,
    .unfinished = lz4_frame_unfinished,
    .destroy = lz4_frame_destroy,
};
