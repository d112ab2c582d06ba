/* Streams made of parts whose lengths are known when they begin: headers, then blocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compression/compression_internal.h"

size_t compression_block_bytes_max(const struct compression_limits *limits)
{
    return limits->block_bytes_max > 0 ? limits->block_bytes_max : FRAMING_BLOCK_BYTES_MAX;
}

enum pv_code
compression_check_block(const struct decompressor *framing, uint64_t n, struct pv_error *err)
{
    size_t most = compression_block_bytes_max(&framing->limits);
    if (n <= most)
        return PV_OK;
    return pv_fail(err, PV_E_LIMIT,
                   "the %s stream has a block of %" PRIu64
                   " bytes, and memory for at most %zu is given (eventlog_block_bytes_max)",
                   framing->coding->name, n, most);
}

/* The next part, in place or gathered; NULL when it is not whole yet. */
static enum pv_code next_part(struct decompressor *framing,
                              const char **bytes,
                              size_t *n,
                              const unsigned char **part,
                              struct pv_error *err)
{
    struct compression_blocks *parts = framing->state;
    size_t missing = parts->want - parts->have;
    size_t some = *n < missing ? *n : missing;
    *part = NULL;
    if (some == parts->want) {
        *part = (const unsigned char *)*bytes;
    } else {
        if (parts->want > parts->capacity) { /* bounded before it was set */
            PV_TRY(decompressor_count(framing, &parts->counted, parts->want, err));
            unsigned char *grown = realloc(parts->bytes, parts->want);
            if (grown == NULL)
                return pv_no_memory(err);
            parts->bytes = grown;
            parts->capacity = parts->want;
        }
        memcpy(parts->bytes + parts->have, *bytes, some);
        parts->have += some;
        if (parts->have == parts->want) {
            *part = parts->bytes;
            parts->have = 0;
        }
    }
    *bytes += some;
    *n -= some;
    return PV_OK;
}

static void blocks_skip(struct decompressor *framing, const char **bytes, size_t *n)
{
    struct compression_blocks *parts = framing->state;
    uint32_t some = *n < parts->skip ? (uint32_t)*n : parts->skip;
    *bytes += some;
    *n -= some;
    parts->skip -= some;
    framing->bytes_in += some;
}

enum pv_code compression_blocks_feed(struct decompressor *framing,
                                     const char *bytes,
                                     size_t n,
                                     struct pv_error *err)
{
    struct compression_blocks *parts = framing->state;
    for (blocks_skip(framing, &bytes, &n); n > 0; blocks_skip(framing, &bytes, &n)) {
        const unsigned char *part;
        PV_TRY(next_part(framing, &bytes, &n, &part, err));
        if (part == NULL)
            break;
        framing->bytes_in += parts->want;
        PV_TRY(parts->take(framing, part, err));
    }
    return decompressor_flush(framing, err);
}

bool compression_blocks_within(const struct compression_blocks *parts)
{
    return parts->have > 0 || parts->skip > 0;
}

void *compression_blocks_create(size_t size, size_t want, compression_block take)
{
    struct compression_blocks *parts = calloc(1, size);
    if (parts == NULL)
        return NULL;
    parts->want = want;
    parts->take = take;
    return parts;
}

void compression_blocks_destroy(void *state)
{
    struct compression_blocks *parts = state;
    free(parts->bytes);
    free(parts);
}
