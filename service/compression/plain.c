/* No coding at all: bytes pass as they are. */
#include "compression/compression_internal.h"

static enum compression_match match(const unsigned char *head, size_t n)
{
    (void)head;
    (void)n;
    return FRAMING_YES;
}

static enum pv_code
feed(struct decompressor *framing, const char *bytes, size_t n, struct pv_error *err)
{
    framing->bytes_in += n;
    return decompressor_emit(framing, bytes, n, err);
}

const struct compression_coding compression_plain = {.name = "plain", .match = match, .feed = feed};
