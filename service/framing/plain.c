/* No coding at all: bytes pass as they are. */
#include "framing/framing_internal.h"

static enum framing_match match(const unsigned char *head, size_t n)
{
    (void)head;
    (void)n;
    return FRAMING_YES;
}

static enum pv_code feed(struct framing *framing, const char *bytes, size_t n, struct pv_error *err)
{
    framing->bytes_in += n;
    return framing_emit(framing, bytes, n, err);
}

const struct framing_coding framing_plain = {.name = "plain", .match = match, .feed = feed};
