/*
 * Any bytes as a compressed stream: no input may crash a decoder or make it give more than its
 * limits, and whatever decodes at all decodes to the same bytes however it is cut into pieces.
 */
#include <string.h>

#include "framing/framing.h"
#include "fuzz.h"

enum { TOTAL = 1 << 20 };

struct sink {
    size_t n;
    uint64_t hash;
};

static enum pv_code take(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)err;
    struct sink *sink = context;
    for (size_t i = 0; i < n; i++)
        sink->hash = (sink->hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    sink->n += n;
    return PV_OK;
}

static enum pv_code
decode(const uint8_t *data, size_t n, size_t piece, struct sink *sink, bool *truncated)
{
    const struct framing_limits limits = {TOTAL, 1e9, 20};
    struct framing *framing = framing_create(&limits, take, sink);
    FUZZ_REQUIRE(framing != NULL);
    enum pv_code code = PV_OK;
    for (size_t at = 0; at < n && code == PV_OK; at += piece)
        code =
            framing_feed(framing, (const char *)data + at, n - at < piece ? n - at : piece, NULL);
    if (code == PV_OK)
        code = framing_finish(framing, truncated, NULL);
    framing_destroy(framing);
    FUZZ_REQUIRE(sink->n <= TOTAL);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct sink whole = {0, 0};
    struct sink pieces = {0, 0};
    bool whole_cut = false;
    bool pieces_cut = false;
    enum pv_code code = decode(data, n, n > 0 ? n : 1, &whole, &whole_cut);
    enum pv_code again = decode(data, n, 1 + (n > 0 ? data[n - 1] % 31U : 0), &pieces, &pieces_cut);
    if (code == PV_OK && again == PV_OK)
        FUZZ_REQUIRE(whole.n == pieces.n && whole.hash == pieces.hash && whole_cut == pieces_cut);
    return 0;
}
