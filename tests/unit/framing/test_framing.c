/* Compressed streams made by the libraries' own encoders, cut and split everywhere. */
#include "framing/framing.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { ROOM = 1 << 16 };

struct stream {
    char bytes[ROOM];
    size_t n;
};

struct decoded {
    char bytes[ROOM];
    size_t n;
    bool truncated;
    enum pv_code code;
    struct pv_error err;
    const char *kind;
};

static const struct framing_limits wide = {ROOM, 1e6, 23};

/* Lines with little in common, so that compressed streams have some length. */
static void make_text(char *out, size_t n)
{
    uint32_t state = 7;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        out[i] = i % 60 == 59 ? '\n' : (char)('a' + (state >> 24) % 16);
    }
    out[0] = '{';
}

static void add_gzip(struct stream *stream, const char *text, size_t n)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)n;
    z.next_out = (Bytef *)stream->bytes + stream->n;
    z.avail_out = (uInt)(ROOM - stream->n);
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    stream->n = ROOM - z.avail_out;
    (void)deflateEnd(&z);
}

static void add_zstd(struct stream *stream, const char *text, size_t n)
{
    size_t used = ZSTD_compress(stream->bytes + stream->n, ROOM - stream->n, text, n, 3);
    cr_assert_not(ZSTD_isError(used));
    stream->n += used;
}

static void add_bytes(struct stream *stream, const char *bytes, size_t n)
{
    memcpy(stream->bytes + stream->n, bytes, n);
    stream->n += n;
}

static enum pv_code gather(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    struct decoded *decoded = context;
    if (n > ROOM - decoded->n)
        return pv_fail(err, PV_E_INTERNAL, "more than the limits allow");
    memcpy(decoded->bytes + decoded->n, bytes, n);
    decoded->n += n;
    return PV_OK;
}

static void decode(struct decoded *decoded,
                   const char *bytes,
                   size_t n,
                   size_t piece,
                   const struct framing_limits *limits)
{
    memset(decoded, 0, sizeof *decoded);
    struct framing *framing = framing_create(limits, gather, decoded);
    cr_assert_not_null(framing);
    cr_assert_str_eq(framing_kind(framing), "unknown");
    for (size_t at = 0; at < n && decoded->code == PV_OK; at += piece)
        decoded->code =
            framing_feed(framing, bytes + at, n - at < piece ? n - at : piece, &decoded->err);
    if (decoded->code == PV_OK)
        decoded->code = framing_finish(framing, &decoded->truncated, &decoded->err);
    else
        cr_assert_eq(framing_feed(framing, "x", 1, NULL), decoded->code, "a failure stays");
    decoded->kind = framing_kind(framing);
    /* Kinds are constants, so they outlive the decoder. */
    framing_destroy(framing);
}

enum { TEXT = 5000 };

/* Two frames or members; `end` gets where the first one ends. */
static void make_two(struct stream *stream, const char *kind, const char text[TEXT], size_t *end)
{
    memset(stream, 0, sizeof *stream);
    bool gzip = strcmp(kind, "gzip") == 0;
    (gzip ? add_gzip : add_zstd)(stream, text, 3000);
    *end = stream->n;
    (gzip ? add_gzip : add_zstd)(stream, text + 3000, TEXT - 3000);
}

static const char *const kinds[] = {"gzip", "zstd"};

Test(framing, several_members_are_one_stream_in_any_pieces)
{
    static struct stream stream;
    static struct decoded decoded;
    char text[TEXT];
    make_text(text, TEXT);
    for (size_t k = 0; k < 2; k++) {
        size_t end;
        make_two(&stream, kinds[k], text, &end);
        for (size_t piece = 1; piece <= stream.n; piece += 1 + piece / 6) {
            decode(&decoded, stream.bytes, stream.n, piece, &wide);
            cr_assert_eq(decoded.code, PV_OK, "%s", decoded.err.detail);
            cr_assert_str_eq(decoded.kind, kinds[k]);
            cr_assert_not(decoded.truncated);
            cr_assert(decoded.n == TEXT && memcmp(decoded.bytes, text, TEXT) == 0);
        }
    }
}

Test(framing, cut_anywhere_it_is_truncated_and_never_an_error)
{
    static struct stream stream;
    static struct decoded decoded;
    char text[TEXT];
    make_text(text, TEXT);
    for (size_t k = 0; k < 2; k++) {
        size_t end;
        make_two(&stream, kinds[k], text, &end);
        for (size_t n = 1; n < stream.n; n++) {
            decode(&decoded, stream.bytes, n, 4096, &wide);
            cr_assert_eq(decoded.code, PV_OK, "%s cut at %zu: %s", kinds[k], n, decoded.err.detail);
            cr_assert_str_eq(decoded.kind, kinds[k]);
            cr_assert_eq(decoded.truncated, n != end, "%s cut at %zu", kinds[k], n);
            cr_assert(decoded.n <= TEXT && memcmp(decoded.bytes, text, decoded.n) == 0);
            cr_assert(n < end || decoded.n >= 3000, "whole frames arrive whole");
        }
    }
}

Test(framing, padding_and_skippable_frames)
{
    static struct stream stream;
    static struct decoded decoded;
    char text[TEXT];
    make_text(text, TEXT);
    memset(&stream, 0, sizeof stream);
    add_gzip(&stream, text, 100);
    add_bytes(&stream, "\0\0\0", 3);
    add_gzip(&stream, text + 100, 100);
    add_bytes(&stream, "\0\0", 2);
    decode(&decoded, stream.bytes, stream.n, 1, &wide);
    cr_assert(decoded.code == PV_OK && !decoded.truncated);
    cr_assert(decoded.n == 200 && memcmp(decoded.bytes, text, 200) == 0);

    memset(&stream, 0, sizeof stream);
    add_bytes(&stream, "\x5a\x2a\x4d\x18\3\0\0\0abc", 11);
    add_zstd(&stream, text, 100);
    add_bytes(&stream, "\x50\x2a\x4d\x18\0\0\0\0", 8);
    decode(&decoded, stream.bytes, stream.n, 1, &wide);
    cr_assert_str_eq(decoded.kind, "zstd");
    cr_assert(decoded.code == PV_OK && !decoded.truncated);
    cr_assert(decoded.n == 100 && memcmp(decoded.bytes, text, 100) == 0);
}

Test(framing, what_breaks_its_promise_is_malformed)
{
    static struct stream stream;
    static struct decoded decoded;
    char text[TEXT];
    make_text(text, TEXT);
    for (size_t k = 0; k < 2; k++) {
        size_t end;
        make_two(&stream, kinds[k], text, &end);
        stream.bytes[end] = 'x';
        decode(&decoded, stream.bytes, stream.n, 100, &wide);
        cr_assert_eq(decoded.code, PV_E_SYNTAX, "%s", kinds[k]);
        cr_assert_not_null(strstr(decoded.err.detail, kinds[k]));
        make_two(&stream, kinds[k], text, &end);
        /* The checksum at the end of a gzip member. */
        stream.bytes[end - 6] = (char)(stream.bytes[end - 6] ^ 1);
        decode(&decoded, stream.bytes, stream.n, stream.n, &wide);
        cr_assert(k == 1 || decoded.code == PV_E_SYNTAX);
    }
}

Test(framing, plain_bytes_pass)
{
    static struct decoded decoded;
    static const char *const texts[] = {
        "{\"Event\":1}\n", "", "x", "\n", " {}", "LZ4", "B", "Z\n", "\x1f", "("};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = strlen(texts[i]);
        decode(&decoded, texts[i], n, 1, &wide);
        cr_assert_eq(decoded.code, PV_OK);
        /* One byte of a magic and then nothing: a stream that was cut at once. */
        bool cut = strcmp(texts[i], "\x1f") == 0 || strcmp(texts[i], "(") == 0;
        cr_assert_eq(decoded.truncated, cut, "%s", texts[i]);
        cr_assert(cut ? decoded.n == 0 : decoded.n == n && memcmp(decoded.bytes, texts[i], n) == 0);
        cr_assert_str_eq(decoded.kind, n == 0                          ? "unknown"
                                       : strcmp(texts[i], "\x1f") == 0 ? "gzip"
                                       : cut                           ? "zstd"
                                                                       : "plain");
    }
}

Test(framing, other_codings_are_named)
{
    static struct decoded decoded;
    static char tar[600] = "events_1_app-1";
    memcpy(tar + 257, "ustar", 5);
    const struct {
        const char *bytes;
        size_t n;
        const char *name;
    } rows[] = {{"LZ4Block\x25", 9, "LZ4Block"},
                {"\x04\x22\x4d\x18xx", 6, "lz4"},
                {"\x82SNAPPY\0\0\0\0\1", 12, "snappy"},
                {"ZV\1\0\4", 5, "lzf"},
                {"PK\3\4..", 6, "zip"},
                {"BZh9..", 6, "bzip2"},
                {"\xfd"
                 "7zXZ\0..",
                 8, "xz"},
                {tar, sizeof tar, "tar"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t piece = 1; piece <= rows[i].n; piece += rows[i].n - 1) {
            decode(&decoded, rows[i].bytes, rows[i].n, piece, &wide);
            cr_assert_eq(decoded.code, PV_E_MEDIA_TYPE, "%s", rows[i].name);
            cr_assert_not_null(strstr(decoded.err.detail, rows[i].name), "%s", decoded.err.detail);
            cr_assert_eq(decoded.n, 0);
        }
    }
}

Test(framing, bombs_hit_the_limits)
{
    static struct stream stream;
    static struct decoded decoded;
    const size_t n = 8 << 20;
    char *zeros = calloc(1, n);
    cr_assert_not_null(zeros);
    for (size_t k = 0; k < 2; k++) {
        memset(&stream, 0, sizeof stream);
        (k == 0 ? add_gzip : add_zstd)(&stream, zeros, n);
        decode(&decoded, stream.bytes, stream.n, stream.n, &wide);
        cr_assert_eq(decoded.code, PV_E_LIMIT);
        cr_assert_not_null(strstr(decoded.err.detail, "65536 bytes"), "%s", decoded.err.detail);
        cr_assert_leq(decoded.n, ROOM);
    }
    free(zeros);
}

static enum pv_code swallow(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)bytes;
    (void)err;
    *(size_t *)context += n;
    return PV_OK;
}

Test(framing, a_ratio_is_judged_beyond_the_first_mebibyte)
{
    static struct stream stream;
    const struct framing_limits limits = {1 << 30, 100, 23};
    static const struct {
        size_t n;
        enum pv_code code;
    } rows[] = {{1 << 20, PV_OK}, {2 << 20, PV_E_LIMIT}};
    for (size_t i = 0; i < 2; i++) {
        char *zeros = calloc(1, rows[i].n);
        cr_assert_not_null(zeros);
        memset(&stream, 0, sizeof stream);
        add_gzip(&stream, zeros, rows[i].n);
        free(zeros);
        size_t given = 0;
        struct pv_error err;
        pv_error_clear(&err);
        struct framing *framing = framing_create(&limits, swallow, &given);
        cr_assert_eq(framing_feed(framing, stream.bytes, stream.n, &err), rows[i].code);
        cr_assert(rows[i].code == PV_OK || strstr(err.detail, "100 times") != NULL, "%s",
                  err.detail);
        framing_destroy(framing);
    }
}

Test(framing, a_window_over_the_limit_is_refused)
{
    static struct decoded decoded;
    /* Frame header: no content size, window 2^24 (exponent 14). */
    static const char large[] = "\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00";
    decode(&decoded, large, sizeof large - 1, 1, &wide);
    cr_assert_eq(decoded.code, PV_E_LIMIT);
    cr_assert_not_null(strstr(decoded.err.detail, "2^23"), "%s", decoded.err.detail);
    static const char allowed[] = "\x28\xb5\x2f\xfd\x00\x68\x01\x00\x00";
    decode(&decoded, allowed, sizeof allowed - 1, 1, &wide);
    cr_assert(decoded.code == PV_OK && !decoded.truncated && decoded.n == 0, "%s",
              decoded.err.detail);
}

static enum pv_code refuse(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)context;
    (void)bytes;
    (void)n;
    return pv_fail(err, PV_E_CANCELLED, "enough");
}

Test(framing, passes_on_what_the_sink_answers)
{
    static struct stream stream;
    memset(&stream, 0, sizeof stream);
    add_gzip(&stream, "text", 4);
    struct pv_error err;
    pv_error_clear(&err);
    struct framing *framing = framing_create(&wide, refuse, NULL);
    cr_assert_eq(framing_feed(framing, stream.bytes, stream.n, &err), PV_E_CANCELLED);
    cr_assert_str_eq(err.detail, "enough");
    bool truncated;
    cr_assert_eq(framing_finish(framing, &truncated, NULL), PV_E_CANCELLED);
    framing_destroy(framing);
}
