/*
 * Any text through every encoder of tests/support and back, in blocks and pieces that the first
 * bytes choose: kind, block (two bytes), piece. What comes out is what went in, and a stream that
 * is cut gives a beginning of it.
 */
#include <string.h>

#include "compression/compression.h"
#include "fuzz.h"
#include "streams.h"

enum { HEAD = 4 };

struct text {
    const char *bytes;
    size_t n;
    size_t seen;
};

static enum pv_code compare(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)err;
    struct text *text = context;
    FUZZ_REQUIRE(n <= text->n - text->seen);
    FUZZ_REQUIRE(memcmp(text->bytes + text->seen, bytes, n) == 0);
    text->seen += n;
    return PV_OK;
}

static bool decode(const struct stream *stream, size_t n, size_t piece, struct text *text)
{
    const struct compression_limits limits = {
        .total_bytes = text->n, .ratio = 1e9, .window_log_max = 23};
    struct decompressor *framing = decompressor_create(&limits, compare, text);
    FUZZ_REQUIRE(framing != NULL);
    for (size_t at = 0; at < n; at += piece)
        FUZZ_REQUIRE(decompressor_feed(framing, stream->bytes + at, n - at < piece ? n - at : piece,
                                       NULL) == PV_OK);
    bool truncated = false;
    FUZZ_REQUIRE(decompressor_finish(framing, &truncated, NULL) == PV_OK);
    decompressor_destroy(framing);
    return truncated;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n <= HEAD)
        return 0;
    enum stream_kind kind = (enum stream_kind)(data[0] % STREAM_KINDS);
    size_t block = (size_t)data[1] << 8 | data[2];
    size_t piece = data[3] + (size_t)1;
    const char *bytes = (const char *)data + HEAD;
    size_t half = (n - HEAD) / 2;
    struct stream stream = {NULL, 0, 0};
    stream_encode(&stream, kind, bytes, half, block);
    stream_encode(&stream, kind, bytes + half, n - HEAD - half, block);
    struct text whole = {bytes, n - HEAD, 0};
    FUZZ_REQUIRE(!decode(&stream, stream.n, piece, &whole));
    FUZZ_REQUIRE(whole.seen == whole.n);
    struct text cut = {bytes, n - HEAD, 0};
    (void)decode(&stream, 1 + stream.n * data[0] / 256, piece, &cut);
    stream_fini(&stream);
    return 0;
}
