/*
 * Chunks as the Java library compress-lzf writes them, which Spark's LZFCompressionCodec uses:
 * "ZV", a type (0 stored, 1 compressed), the bytes as sent and, if compressed, those once
 * decompressed, both as two bytes, big-endian. There is no mark at the end and no checksum.
 */
#include <string.h>

#include "compression/compression_internal.h"
#include "compression/lzf_expand.h"

enum { HEADER = 5, PLAIN_LENGTH = 2 };
enum { STORED = 0, COMPRESSED = 1 };

enum expects { EXPECTS_HEADER, EXPECTS_PLAIN_LENGTH, EXPECTS_CHUNK };

struct lzf {
    struct compression_blocks blocks;
    enum expects expects;
    bool stored;
    size_t n_sent;
    size_t n_plain;
};

static enum compression_match lzf_match(const unsigned char *head, size_t n)
{
    enum compression_match start = compression_match_at(head, n, 0, "ZV", 2);
    if (start != FRAMING_YES)
        return start;
    if (n < 3)
        return FRAMING_MAYBE;
    return head[2] <= COMPRESSED ? FRAMING_YES : FRAMING_NO;
}

static bool lzf_unfinished(const void *state)
{
    const struct lzf *lzf = state;
    return lzf->expects != EXPECTS_HEADER || compression_blocks_within(&lzf->blocks);
}

static enum pv_code lzf_damaged(const char *what, struct pv_error *err)
{
    return pv_fail(err, PV_E_SYNTAX, "the lzf stream is damaged: %s", what);
}

static void lzf_expect(struct lzf *lzf, enum expects what, size_t n)
{
    lzf->expects = what;
    lzf->blocks.want = n;
}

static size_t be16(const unsigned char *at)
{
    return (size_t)at[0] << 8 | at[1];
}

static enum pv_code
lzf_take_header(struct lzf *lzf, const unsigned char *header, struct pv_error *err)
{
    if (header[0] != 'Z' || header[1] != 'V' || header[2] > COMPRESSED)
        return lzf_damaged("a chunk does not begin as it should", err);
    lzf->stored = header[2] == STORED;
    lzf->n_sent = be16(header + 3);
    lzf->n_plain = lzf->n_sent;
    if (!lzf->stored)
        lzf_expect(lzf, EXPECTS_PLAIN_LENGTH, PLAIN_LENGTH);
    else if (lzf->n_sent > 0)
        lzf_expect(lzf, EXPECTS_CHUNK, lzf->n_sent);
    return PV_OK;
}

static enum pv_code
take_plain_length(struct lzf *lzf, const unsigned char *part, struct pv_error *err)
{
    lzf->n_plain = be16(part);
    if (lzf->n_sent == 0 || lzf->n_plain == 0)
        return lzf_damaged("a chunk has no length", err);
    lzf_expect(lzf, EXPECTS_CHUNK, lzf->n_sent);
    return PV_OK;
}

static enum pv_code
take_chunk(struct decompressor *framing, const unsigned char *chunk, struct pv_error *err)
{
    struct lzf *lzf = framing->state;
    char *plain;
    PV_TRY(decompressor_room(framing, lzf->n_plain, &plain, err));
    if (lzf->stored)
        memcpy(plain, chunk, lzf->n_plain);
    else if (!lzf_expand(chunk, lzf->n_sent, (unsigned char *)plain, lzf->n_plain))
        return lzf_damaged("a chunk does not decompress", err);
    lzf_expect(lzf, EXPECTS_HEADER, HEADER);
    return decompressor_wrote(framing, lzf->n_plain, err);
}

static enum pv_code
lzf_take_part(struct decompressor *framing, const unsigned char *part, struct pv_error *err)
{
    struct lzf *lzf = framing->state;
    switch (lzf->expects) {
    case EXPECTS_HEADER:
        return lzf_take_header(lzf, part, err);
    case EXPECTS_PLAIN_LENGTH:
        return take_plain_length(lzf, part, err);
    case EXPECTS_CHUNK:
        return take_chunk(framing, part, err);
    }
    return PV_E_INTERNAL;
}

static void *lzf_create(const struct compression_limits *limits)
{
    (void)limits; /* no chunk exceeds 64 KiB */
    return compression_blocks_create(sizeof(struct lzf), HEADER, lzf_take_part);
}

const struct compression_coding compression_lzf = {
    .name = "lzf",
    .state_bytes = sizeof(struct lzf),
    .match = lzf_match,
    .create = lzf_create,
    .feed = compression_blocks_feed,
    .unfinished = lzf_unfinished,
    .destroy = compression_blocks_destroy,
};
