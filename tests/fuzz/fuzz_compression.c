/*
 * Any bytes as a compressed stream: no input may crash a decoder or make it give more than its
 * limits, and whatever decodes at all decodes to the same bytes however it is cut into pieces.
 * Built once for what the first bytes say and once for each kind (-DFUZZ_KIND=n), whose magic is
 * then put in place of the first bytes, so that the fuzzer cannot lose it.
 */
#include <string.h>

#include "compression/compression.h"
#include "fuzz.h"

enum { TOTAL = 1 << 20 };

/* FUZZ_KIND counts these; 0 is any. */
static const struct {
    const char *name;
    const char *magic;
    size_t n;
} kinds[] = {
    {NULL, "", 0},
    {"gzip", "\x1f\x8b", 2},
    {"zstd", "\x28\xb5\x2f\xfd", 4},
    {"lz4", "LZ4Block", 8},
    {"lz4 frame", "\x04\x22\x4d\x18", 4},
    {"snappy", "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16},
    {"snappy framed", "\xff\6\0\0sNaPpY", 10},
    {"lzf", "ZV\1", 3},
};

#ifndef FUZZ_KIND
#define FUZZ_KIND 0
#endif

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
decode(const char *data, size_t n, size_t piece, struct sink *sink, bool *truncated)
{
    const struct compression_limits limits = {
        .total_bytes = TOTAL, .ratio = 1e9, .window_log_max = 20, .block_bytes_max = TOTAL};
    struct decompressor *framing = decompressor_create(&limits, take, sink);
    FUZZ_REQUIRE(framing != NULL);
    enum pv_code code = PV_OK;
    for (size_t at = 0; at < n && code == PV_OK; at += piece)
        code = decompressor_feed(framing, data + at, n - at < piece ? n - at : piece, NULL);
    if (code == PV_OK)
        code = decompressor_finish(framing, truncated, NULL);
    if (FUZZ_KIND > 0 && n >= kinds[FUZZ_KIND].n)
        FUZZ_REQUIRE(strcmp(compression_kind(framing), kinds[FUZZ_KIND].name) == 0);
    decompressor_destroy(framing);
    FUZZ_REQUIRE(sink->n <= TOTAL);
    return code;
}

static void check(const char *data, size_t n, size_t piece)
{
    struct sink whole = {0, 0};
    struct sink pieces = {0, 0};
    bool whole_cut = false;
    bool pieces_cut = false;
    enum pv_code code = decode(data, n, n > 0 ? n : 1, &whole, &whole_cut);
    enum pv_code again = decode(data, n, piece, &pieces, &pieces_cut);
    if (code == PV_OK && again == PV_OK)
        FUZZ_REQUIRE(whole.n == pieces.n && whole.hash == pieces.hash && whole_cut == pieces_cut);
    /* Where the framing is ours, a fault is found wherever the pieces end. */
    if (FUZZ_KIND == 3 || FUZZ_KIND > 4)
        FUZZ_REQUIRE(code == again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    /* Exactly as long as the input, so that a sanitizer sees the first byte read beyond it. */
    char *copy = malloc(n > 0 ? n : 1);
    FUZZ_REQUIRE(copy != NULL);
    if (n > 0)
        memcpy(copy, data, n);
    memcpy(copy, kinds[FUZZ_KIND].magic, n < kinds[FUZZ_KIND].n ? n : kinds[FUZZ_KIND].n);
    check(copy, n, 1 + (n > 0 ? data[n - 1] % 31U : 0));
    free(copy);
    return 0;
}
