/* No coding at all: bytes pass as they are. */
#include "compression/compression_internal.h"

static enum compression_match plain_match(const unsigned char *head, size_t n)
{
    (void)head;
    (void)n;
    return FRAMING_YES;
}

static enum pv_code
plain_feed(struct decompressor *framing, const char *bytes, size_t n, struct pv_error *err)
{
    framing->bytes_in += n;
    return decompressor_emit(framing, bytes, n, err);
}

const struct compression_coding compression_plain = {
    .name = "plain", .match = plain_match, .feed = plain_feed};
