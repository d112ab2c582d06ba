/*
 * Blocks as lz4-java's LZ4BlockOutputStream writes them and Spark's LZ4CompressionCodec uses it,
 * through liblz4. Each block has a header of 21 bytes, numbers little-endian:
 *
 *   8  "LZ4Block"
 *   1  method (high half: 1 stored, 2 compressed), log2 of the block size less 10 (low half)
 *   4  bytes as sent
 *   4  bytes once decompressed
 *   4  the low 28 bits of XXH32 of the plain bytes
 *
 * A block of no bytes ends the stream when its writer is closed; another stream may follow.
 */
#include <lz4.h>
#include <string.h>
#include <xxhash.h>

#include "compression/compression_internal.h"

enum { HEADER = 21, STORED = 0x10, COMPRESSED = 0x20, LOG_BASE = 10 };

static const uint32_t SEED = 0x9747b28c;
static const uint32_t CHECKSUM_BITS = 0x0fffffff;

struct lz4_block {
    struct compression_blocks blocks;
    bool ended; /* after a block of no bytes */
    bool in_body;
    bool stored;
    uint32_t n_sent;
    uint32_t n_plain;
    uint32_t checksum;
};

static enum compression_match lz4_block_match(const unsigned char *head, size_t n)
{
    return compression_match_at(head, n, 0, "LZ4Block", 8);
}

static bool lz4_block_unfinished(const void *state)
{
    const struct lz4_block *lz4 = state;
    return !lz4->ended || compression_blocks_within(&lz4->blocks);
}

static enum pv_code lz4_block_damaged(const char *what, struct pv_error *err)
{
    return pv_fail(err, PV_E_SYNTAX, "the lz4 stream is damaged: %s", what);
}

/* Do the lengths of a header agree with each other and with the method and size in its token? */
static bool lengths_agree(const struct lz4_block *lz4, unsigned char token)
{
    if (lz4->n_plain == 0 || lz4->n_sent == 0)
        return lz4->n_plain == lz4->n_sent && lz4->checksum == 0;
    if (lz4->n_plain > UINT32_C(1) << ((token & 0x0fU) + LOG_BASE))
        return false;
    if (lz4->stored)
        return lz4->n_sent == lz4->n_plain;
    return lz4->n_sent <= (uint32_t)LZ4_COMPRESSBOUND(lz4->n_plain);
}

static enum pv_code lz4_block_take_header(struct decompressor *framing,
                                          const unsigned char *header,
                                          struct pv_error *err)
{
    struct lz4_block *lz4 = framing->state;
    unsigned char token = header[8];
    if (memcmp(header, "LZ4Block", 8) != 0)
        return lz4_block_damaged("a block does not begin with its magic", err);
    if ((token & 0xf0) != STORED && (token & 0xf0) != COMPRESSED)
        return lz4_block_damaged("a block is coded in a way that is not known", err);
    lz4->stored = (token & 0xf0) == STORED;
    lz4->n_sent = compression_le32(header + 9);
    lz4->n_plain = compression_le32(header + 13);
    lz4->checksum = compression_le32(header + 17);
    if (!lengths_agree(lz4, token))
        return lz4_block_damaged("the lengths of a block contradict each other", err);
    lz4->ended = lz4->n_plain == 0;
    if (lz4->ended)
        return PV_OK;
    PV_TRY(compression_check_block(framing, lz4->n_plain, err));
    lz4->in_body = true;
    lz4->blocks.want = lz4->n_sent;
    return PV_OK;
}

static enum pv_code
take_body(struct decompressor *framing, const unsigned char *body, struct pv_error *err)
{
    struct lz4_block *lz4 = framing->state;
    char *plain;
    PV_TRY(decompressor_room(framing, lz4->n_plain, &plain, err));
    if (lz4->stored)
        memcpy(plain, body, lz4->n_plain);
    else if (LZ4_decompress_safe((const char *)body, plain, (int)lz4->n_sent, (int)lz4->n_plain) !=
             (int)lz4->n_plain)
        return lz4_block_damaged("a block does not decompress", err);
    if ((XXH32(plain, lz4->n_plain, SEED) & CHECKSUM_BITS) != lz4->checksum)
        return lz4_block_damaged("the checksum of a block is wrong", err);
    lz4->in_body = false;
    lz4->blocks.want = HEADER;
    return decompressor_wrote(framing, lz4->n_plain, err);
}

static enum pv_code
lz4_block_take_part(struct decompressor *framing, const unsigned char *part, struct pv_error *err)
{
    const struct lz4_block *lz4 = framing->state;
    return lz4->in_body ? take_body(framing, part, err) : lz4_block_take_header(framing, part, err);
}

static void *lz4_block_create(const struct compression_limits *limits)
{
    (void)limits;
    return compression_blocks_create(sizeof(struct lz4_block), HEADER, lz4_block_take_part);
}

const struct compression_coding compression_lz4_block = {
    .name = "lz4",
    .state_bytes = sizeof(struct lz4_block),
    .match = lz4_block_match,
    .create = lz4_block_create,
    .feed = compression_blocks_feed,
    .unfinished = lz4_block_unfinished,
    .destroy = compression_blocks_destroy,
};
