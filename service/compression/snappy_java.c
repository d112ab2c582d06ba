/*
 * Streams of snappy-java's SnappyOutputStream, which Spark's SnappyCompressionCodec uses, through
 * libsnappy. Numbers are big-endian: a header of 16 bytes (a magic of 8, the version that wrote it,
 * the oldest version that can read it), then blocks, each behind its length. Streams may follow one
 * another: a header stands where a length is expected, which is unmistakable as its first bytes
 * would be a negative one. There is no mark at the end and no checksum.
 */
#include <inttypes.h>
#include <snappy-c.h>
#include <string.h>

#include "compression/compression_internal.h"

static const char magic[8] = "\x82SNAPPY";

/* The newest version of the format; the only one so far. */
enum { VERSION = 1 };
enum { N_MAGIC = sizeof magic, HEADER = N_MAGIC + 8, LENGTH = 4 };

enum expects { EXPECTS_HEADER, EXPECTS_LENGTH, EXPECTS_REST, EXPECTS_BLOCK };

struct snappy_java {
    struct compression_blocks blocks;
    enum expects expects;
};

static enum compression_match snappy_java_match(const unsigned char *head, size_t n)
{
    return compression_match_at(head, n, 0, magic, N_MAGIC);
}

static bool snappy_java_unfinished(const void *state)
{
    const struct snappy_java *snappy = state;
    return snappy->expects != EXPECTS_LENGTH || compression_blocks_within(&snappy->blocks);
}

static enum pv_code snappy_java_damaged(const char *what, struct pv_error *err)
{
    return pv_fail(err, PV_E_SYNTAX, "the snappy stream is damaged: %s", what);
}

static void snappy_java_expect(struct snappy_java *snappy, enum expects what, size_t n)
{
    snappy->expects = what;
    snappy->blocks.want = n;
}

static enum pv_code
take_versions(struct snappy_java *snappy, const unsigned char *versions, struct pv_error *err)
{
    uint32_t compatible = compression_be32(versions + 4);
    if (compression_be32(versions) < VERSION || compatible == 0)
        return snappy_java_damaged("its header gives no version", err);
    if (compatible > VERSION)
        return pv_fail(err, PV_E_MEDIA_TYPE,
                       "the snappy stream is written for version %" PRIu32
                       " of its format, and %d is the newest one supported",
                       compatible, VERSION);
    snappy_java_expect(snappy, EXPECTS_LENGTH, LENGTH);
    return PV_OK;
}

static enum pv_code
take_length(struct decompressor *framing, const unsigned char *part, struct pv_error *err)
{
    struct snappy_java *snappy = framing->state;
    if (memcmp(part, magic, LENGTH) == 0) {
        snappy_java_expect(snappy, EXPECTS_REST, HEADER - LENGTH);
        return PV_OK;
    }
    uint32_t n = compression_be32(part);
    if (n == 0 || n > INT32_MAX)
        return snappy_java_damaged("a block has no length", err);
    /* The length once decompressed is only known from the block; this bounds what is gathered. */
    if (n > snappy_max_compressed_length(compression_block_bytes_max(&framing->limits)))
        return compression_check_block(framing, n, err);
    snappy_java_expect(snappy, EXPECTS_BLOCK, n);
    return PV_OK;
}

static enum pv_code
take_block(struct decompressor *framing, const unsigned char *block, struct pv_error *err)
{
    struct snappy_java *snappy = framing->state;
    const char *sent = (const char *)block;
    size_t n_sent = snappy->blocks.want;
    size_t n;
    if (snappy_uncompressed_length(sent, n_sent, &n) != SNAPPY_OK)
        return snappy_java_damaged("a block does not begin with its length", err);
    char *plain;
    PV_TRY(compression_check_block(framing, n, err));
    PV_TRY(decompressor_room(framing, n, &plain, err));
    size_t got = n;
    if (snappy_uncompress(sent, n_sent, plain, &got) != SNAPPY_OK || got != n)
        return snappy_java_damaged("a block does not decompress", err);
    snappy_java_expect(snappy, EXPECTS_LENGTH, LENGTH);
    return decompressor_wrote(framing, n, err);
}

static enum pv_code
snappy_java_take_part(struct decompressor *framing, const unsigned char *part, struct pv_error *err)
{
    struct snappy_java *snappy = framing->state;
    switch (snappy->expects) {
    case EXPECTS_HEADER:
        /* That the magic is right is why the stream came here. */
        return take_versions(snappy, part + N_MAGIC, err);
    case EXPECTS_LENGTH:
        return take_length(framing, part, err);
    case EXPECTS_REST:
        if (memcmp(part, magic + LENGTH, N_MAGIC - LENGTH) != 0)
            return snappy_java_damaged("a block has no length", err);
        return take_versions(snappy, part + N_MAGIC - LENGTH, err);
    case EXPECTS_BLOCK:
        return take_block(framing, part, err);
    }
    return PV_E_INTERNAL;
}

static void *snappy_java_create(const struct compression_limits *limits)
{
    (void)limits;
    return compression_blocks_create(sizeof(struct snappy_java), HEADER, snappy_java_take_part);
}

const struct compression_coding compression_snappy_java = {
    .name = "snappy",
    .state_bytes = sizeof(struct snappy_java),
    .match = snappy_java_match,
    .create = snappy_java_create,
    .feed = compression_blocks_feed,
    .unfinished = snappy_java_unfinished,
    .destroy = compression_blocks_destroy,
};
