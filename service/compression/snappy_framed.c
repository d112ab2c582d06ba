/*
 * The Snappy framing format ("sNaPpY") through libsnappy: chunks behind a type of one byte and a
 * length of three, little-endian. A chunk of data holds at most 64 KiB and begins with its masked
 * CRC-32C; chunks that a reader may pass over are passed over. There is no mark at the end.
 */
#include <snappy-c.h>
#include <string.h>

#include "compression/compression_internal.h"
#include "compression/crc32c.h"

static const char magic[10] = {'\xff', 6, 0, 0, 's', 'N', 'a', 'P', 'p', 'Y'};

enum { HEADER = 4, CHECKSUM = 4, N_NAME = sizeof magic - HEADER, PLAIN_MAX = 1 << 16 };
enum { COMPRESSED = 0, STORED = 1, FIRST_SKIPPABLE = 0x80, NAME = 0xff };

struct snappy_framed {
    struct compression_blocks blocks;
    bool in_chunk;
    unsigned char type; /* of the chunk */
    struct crc32c crc;
};

static enum compression_match snappy_framed_match(const unsigned char *head, size_t n)
{
    return compression_match_at(head, n, 0, magic, sizeof magic);
}

static bool snappy_framed_unfinished(const void *state)
{
    const struct snappy_framed *snappy = state;
    return snappy->in_chunk || compression_blocks_within(&snappy->blocks);
}

static enum pv_code snappy_framed_damaged(const char *what, struct pv_error *err)
{
    return pv_fail(err, PV_E_SYNTAX, "the snappy framed stream is damaged: %s", what);
}

static enum pv_code snappy_framed_take_header(struct snappy_framed *snappy,
                                              const unsigned char *header,
                                              struct pv_error *err)
{
    uint32_t n = compression_le32(header) >> 8;
    snappy->type = header[0];
    if (snappy->type == NAME ? n != N_NAME
        : snappy->type <= STORED
            ? n < CHECKSUM || n > CHECKSUM + snappy_max_compressed_length(PLAIN_MAX)
            : false)
        return snappy_framed_damaged("a chunk has a length that its type does not allow", err);
    if (snappy->type > STORED && snappy->type < FIRST_SKIPPABLE)
        return snappy_framed_damaged("a chunk is of a type that is not known", err);
    snappy->in_chunk = snappy->type <= STORED || snappy->type == NAME;
    if (snappy->in_chunk)
        snappy->blocks.want = n;
    else
        snappy->blocks.skip = n;
    return PV_OK;
}

/* Plain length of a chunk's data; false when it is more than the format allows. */
static bool
plain_length(const struct snappy_framed *snappy, const char *data, size_t n, size_t *plain)
{
    if (snappy->type == STORED)
        *plain = n;
    else if (snappy_uncompressed_length(data, n, plain) != SNAPPY_OK)
        return false;
    return *plain <= PLAIN_MAX;
}

static enum pv_code take_data(struct decompressor *framing,
                              const unsigned char *checksum,
                              const char *data,
                              size_t n_data,
                              struct pv_error *err)
{
    const struct snappy_framed *snappy = framing->state;
    size_t n;
    if (!plain_length(snappy, data, n_data, &n))
        return snappy_framed_damaged("a chunk holds more than the format allows", err);
    char *plain;
    PV_TRY(decompressor_room(framing, n, &plain, err));
    size_t got = n;
    if (snappy->type == STORED)
        memcpy(plain, data, n);
    else if (snappy_uncompress(data, n_data, plain, &got) != SNAPPY_OK || got != n)
        return snappy_framed_damaged("a chunk does not decompress", err);
    if (crc32c_mask(crc32c(&snappy->crc, plain, n)) != compression_le32(checksum))
        return snappy_framed_damaged("the checksum of a chunk is wrong", err);
    return decompressor_wrote(framing, n, err);
}

static enum pv_code snappy_framed_take_part(struct decompressor *framing,
                                            const unsigned char *part,
                                            struct pv_error *err)
{
    struct snappy_framed *snappy = framing->state;
    if (!snappy->in_chunk)
        return snappy_framed_take_header(snappy, part, err);
    size_t n = snappy->blocks.want;
    snappy->in_chunk = false;
    snappy->blocks.want = HEADER;
    if (snappy->type != NAME)
        return take_data(framing, part, (const char *)part + CHECKSUM, n - CHECKSUM, err);
    return memcmp(part, magic + HEADER, N_NAME) == 0
               ? PV_OK
               : snappy_framed_damaged("its name is wrong", err);
}

static void *snappy_framed_create(const struct compression_limits *limits)
{
    (void)limits;
    struct snappy_framed *snappy =
        compression_blocks_create(sizeof *snappy, HEADER, snappy_framed_take_part);
    if (snappy != NULL)
        crc32c_init(&snappy->crc);
    return snappy;
}

const struct compression_coding compression_snappy_framed = {
    .name = "snappy framed",
    .state_bytes = sizeof(struct snappy_framed),
    .match = snappy_framed_match,
    .create = snappy_framed_create,
    .feed = compression_blocks_feed,
    .unfinished = snappy_framed_unfinished,
    .destroy = compression_blocks_destroy,
};
