/* Compressed streams of every kind, made by the encoders of tests/support, cut and split
 * everywhere. */
#include "compression/compression.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "streams.h"

enum { ROOM = 1 << 16 };

struct decoded {
    char bytes[ROOM];
    size_t n;
    bool truncated;
    enum pv_code code;
    struct pv_error err;
    const char *kind;
};

static const struct compression_limits wide = {
    .total_bytes = ROOM, .ratio = 1e6, .window_log_max = 23};

/* Words of eight letters in any order, 16 of them and some noise: enough to repeat and to compress,
 * too little to vanish. */
static void make_text(char *out, size_t n)
{
    uint32_t state = 7;
    uint32_t word = 0;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525U + 1013904223U;
        if (i % 8 == 0)
            word = state >> 28;
        out[i] = (char)('a' + (word * (i % 8) + word) % 23);
        if (i % 16 == 15)
            out[i] = (char)(' ' + (state >> 24) % 64);
    }
    out[0] = '{';
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
                   const struct compression_limits *limits)
{
    memset(decoded, 0, sizeof *decoded);
    struct decompressor *framing = decompressor_create(limits, gather, decoded);
    cr_assert_not_null(framing);
    cr_assert_str_eq(compression_kind(framing), "unknown");
    for (size_t at = 0; at < n && decoded->code == PV_OK; at += piece)
        decoded->code =
            decompressor_feed(framing, bytes + at, n - at < piece ? n - at : piece, &decoded->err);
    if (decoded->code == PV_OK)
        decoded->code = decompressor_finish(framing, &decoded->truncated, &decoded->err);
    else
        cr_assert_eq(decompressor_feed(framing, "x", 1, NULL), decoded->code, "a failure stays");
    decoded->kind = compression_kind(framing);
    /* Kinds are constants, so they outlive the decoder. */
    decompressor_destroy(framing);
}

/* A text that makes two streams of blocks, some of them shorter than the others. */
enum { TEXT = 5000, FIRST = 3000, BLOCK = 700 };

/* Where a stream may end: all before it is whole, and `plain` bytes came of it. */
struct boundary {
    size_t at;
    size_t plain;
};

struct two {
    struct stream stream;
    size_t end; /* of the first stream */
    struct boundary ends[32];
    size_t n_ends;
};

static bool has_end_mark(enum stream_kind kind)
{
    return kind <= STREAM_LZ4_FRAME;
}

static void
add_boundary(struct two *two, enum stream_kind kind, const char *text, size_t n, size_t before)
{
    struct stream part = {NULL, 0, 0};
    stream_encode(&part, kind, text, n, BLOCK);
    two->ends[two->n_ends++] = (struct boundary){two->stream.n + part.n, before + n};
    stream_fini(&part);
}

/* Without a mark at the end a stream may end after any block, and after its header. */
static void
add_boundaries(struct two *two, enum stream_kind kind, const char *text, size_t n, size_t before)
{
    if (!has_end_mark(kind))
        for (size_t some = 0; some < n; some += BLOCK)
            add_boundary(two, kind, text, some, before);
    add_boundary(two, kind, text, n, before);
}

static void make_two(struct two *two, enum stream_kind kind, const char text[TEXT])
{
    stream_clear(&two->stream);
    two->n_ends = 0;
    add_boundaries(two, kind, text, FIRST, 0);
    stream_encode(&two->stream, kind, text, FIRST, BLOCK);
    two->end = two->stream.n;
    add_boundaries(two, kind, text + FIRST, TEXT - FIRST, FIRST);
    stream_encode(&two->stream, kind, text + FIRST, TEXT - FIRST, BLOCK);
}

static struct two two;
static struct decoded decoded;

Test(framing, several_streams_are_one_in_any_pieces)
{
    char text[TEXT];
    make_text(text, TEXT);
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++) {
        make_two(&two, k, text);
        for (size_t piece = 1; piece <= two.stream.n; piece += 1 + piece / 6) {
            decode(&decoded, two.stream.bytes, two.stream.n, piece, &wide);
            cr_assert_eq(decoded.code, PV_OK, "%s", decoded.err.detail);
            cr_assert_str_eq(decoded.kind, stream_name(k));
            cr_assert_not(decoded.truncated);
            cr_assert(decoded.n == TEXT && memcmp(decoded.bytes, text, TEXT) == 0);
        }
    }
    stream_fini(&two.stream);
}

/* The last boundary that a stream of n bytes reaches. */
static struct boundary last_boundary(size_t n)
{
    struct boundary last = {0, 0};
    for (size_t i = 0; i < two.n_ends; i++)
        if (two.ends[i].at <= n)
            last = two.ends[i];
    return last;
}

Test(framing, cut_anywhere_it_gives_what_is_whole_and_never_fails)
{
    char text[TEXT];
    make_text(text, TEXT);
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++) {
        make_two(&two, k, text);
        for (size_t n = 1; n < two.stream.n; n++) {
            decode(&decoded, two.stream.bytes, n, 1 + n % 4096, &wide);
            const char *name = stream_name(k);
            struct boundary last = last_boundary(n);
            cr_assert_eq(decoded.code, PV_OK, "%s cut at %zu: %s", name, n, decoded.err.detail);
            /* "Z" may also begin a skippable frame of zstd. */
            cr_assert_str_eq(decoded.kind, k == STREAM_LZF && n == 1 ? "zstd" : name);
            cr_assert_eq(decoded.truncated, n != last.at, "%s cut at %zu", name, n);
            cr_assert(decoded.n <= TEXT && memcmp(decoded.bytes, text, decoded.n) == 0);
            cr_assert_geq(decoded.n, last.plain, "%s cut at %zu", name, n);
        }
    }
    stream_fini(&two.stream);
}

Test(framing, blocks_before_the_end_mark_are_given_though_the_stream_is_unfinished)
{
    char text[TEXT];
    make_text(text, TEXT);
    struct stream stream = {NULL, 0, 0};
    stream_lz4_block(&stream, text, 2000, false);
    stream_lz4_block(&stream, text + 2000, 1000, true);
    decode(&decoded, stream.bytes, stream.n, stream.n, &wide);
    cr_assert(decoded.code == PV_OK && decoded.truncated);
    cr_assert(decoded.n == 3000 && memcmp(decoded.bytes, text, 3000) == 0);
    stream_lz4_end(&stream);
    decode(&decoded, stream.bytes, stream.n, stream.n, &wide);
    cr_assert(decoded.code == PV_OK && !decoded.truncated && decoded.n == 3000);
    stream_fini(&stream);
}

/* Kinds whose checksums cover what they give out; zstd's is optional and not written here. */
static bool is_checked(enum stream_kind kind)
{
    return kind == STREAM_GZIP || kind == STREAM_LZ4_BLOCK || kind == STREAM_LZ4_FRAME ||
           kind == STREAM_SNAPPY_FRAMED;
}

/* A damaged stream is refused, taken for another kind, or ends early; it never gives other bytes
 * as if they were whole. */
static void check_damaged(enum stream_kind kind, const char *text, size_t at)
{
    cr_assert(decoded.code == PV_OK || decoded.code == PV_E_SYNTAX || decoded.code == PV_E_LIMIT ||
                  decoded.code == PV_E_MEDIA_TYPE,
              "%s: %s", stream_name(kind), pv_code_name(decoded.code));
    cr_assert(decoded.code == PV_OK || decoded.err.detail[0] != '\0');
    if (decoded.code != PV_OK || !is_checked(kind) || strcmp(decoded.kind, stream_name(kind)) != 0)
        return;
    /* A flag of a gzip header may shift where its data begins, and a stored block of an LZ4 frame
     * may seem longer: both give bytes out before the checksum, which is then never met. */
    if (decoded.truncated && (kind == STREAM_GZIP || kind == STREAM_LZ4_FRAME))
        return;
    cr_assert(decoded.n <= TEXT && memcmp(decoded.bytes, text, decoded.n) == 0, "%s, byte %zu",
              stream_name(kind), at);
    cr_assert(decoded.truncated || decoded.n == TEXT, "%s, byte %zu", stream_name(kind), at);
}

Test(framing, a_flipped_byte_is_noticed)
{
    static const char flips[] = {0x01, 0x40, '\xff'};
    char text[TEXT];
    make_text(text, TEXT);
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++) {
        make_two(&two, k, text);
        for (size_t at = 0; at < two.stream.n; at++)
            for (size_t f = 0; f < sizeof flips; f++) {
                two.stream.bytes[at] = (char)(two.stream.bytes[at] ^ flips[f]);
                decode(&decoded, two.stream.bytes, two.stream.n, 1000, &wide);
                check_damaged(k, text, at);
                two.stream.bytes[at] = (char)(two.stream.bytes[at] ^ flips[f]);
            }
    }
    stream_fini(&two.stream);
}

Test(framing, what_breaks_its_promise_is_malformed)
{
    char text[TEXT];
    make_text(text, TEXT);
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++) {
        make_two(&two, k, text);
        two.stream.bytes[two.end] = k == STREAM_SNAPPY_FRAMED ? '\2' : 'x';
        decode(&decoded, two.stream.bytes, two.stream.n, 100, &wide);
        if (k == STREAM_SNAPPY_JAVA) /* 'x' begins a length of 2 GB */
            cr_assert(decoded.code == PV_E_LIMIT, "%s", decoded.err.detail);
        else
            cr_assert_eq(decoded.code, PV_E_SYNTAX, "%s", stream_name(k));
        cr_assert_not_null(strstr(decoded.err.detail, stream_name(k)), "%s", decoded.err.detail);
    }
    stream_fini(&two.stream);
}

Test(framing, padding_and_skippable_frames)
{
    char text[TEXT];
    make_text(text, TEXT);
    static const struct {
        enum stream_kind kind;
        const char *before, *between, *after;
        size_t n_before, n_between, n_after;
    } rows[] = {
        {STREAM_GZIP, "", "\0\0\0", "\0\0", 0, 3, 2},
        {STREAM_ZSTD, "\x5a\x2a\x4d\x18\3\0\0\0abc", "", "\x50\x2a\x4d\x18\0\0\0\0", 11, 0, 8},
        {STREAM_LZ4_FRAME, "", "\x5a\x2a\x4d\x18\3\0\0\0abc", "\x50\x2a\x4d\x18\0\0\0\0", 0, 11, 8},
        {STREAM_SNAPPY_FRAMED, "", "\xfe\5\0\0 pad.", "\x80\0\0\0", 0, 9, 4},
        {STREAM_LZ4_BLOCK, "", "", "LZ4Block\x10\0\0\0\0\0\0\0\0\0\0\0\0", 0, 0, 21},
        {STREAM_LZF, "", "ZV\0\0\0", "", 0, 5, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stream stream = {NULL, 0, 0};
        stream_add(&stream, rows[i].before, rows[i].n_before);
        stream_encode(&stream, rows[i].kind, text, 100, 0);
        stream_add(&stream, rows[i].between, rows[i].n_between);
        stream_encode(&stream, rows[i].kind, text + 100, 100, 0);
        stream_add(&stream, rows[i].after, rows[i].n_after);
        for (size_t piece = 1; piece <= stream.n; piece += stream.n - 1) {
            decode(&decoded, stream.bytes, stream.n, piece, &wide);
            cr_assert(decoded.code == PV_OK, "%s", decoded.err.detail);
            cr_assert_str_eq(decoded.kind, stream_name(rows[i].kind));
            cr_assert(!decoded.truncated && decoded.n == 200);
            cr_assert_eq(memcmp(decoded.bytes, text, 200), 0);
        }
        stream_fini(&stream);
    }
}

Test(framing, an_empty_log_is_empty_in_every_coding)
{
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++) {
        struct stream stream = {NULL, 0, 0};
        stream_encode(&stream, k, "", 0, 0);
        decode(&decoded, stream.bytes, stream.n, 3, &wide);
        cr_assert(decoded.code == PV_OK && decoded.n == 0 && !decoded.truncated, "%s",
                  stream_name(k));
        stream_fini(&stream);
    }
}

Test(framing, plain_bytes_pass)
{
    static const char *const texts[] = {"{\"Event\":1}\n",
                                        "",
                                        "x",
                                        "\n",
                                        " {}",
                                        "LZX",
                                        "BZ",
                                        "Z\n",
                                        "ZV\3",
                                        "\x1f",
                                        "(",
                                        "LZ4",
                                        "ZV"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = strlen(texts[i]);
        decode(&decoded, texts[i], n, 1, &wide);
        cr_assert_eq(decoded.code, PV_OK);
        /* A magic begun and then nothing: a stream that was cut at once. */
        const char *kind = strcmp(texts[i], "\x1f") == 0  ? "gzip"
                           : strcmp(texts[i], "(") == 0   ? "zstd"
                           : strcmp(texts[i], "LZ4") == 0 ? "lz4"
                           : strcmp(texts[i], "ZV") == 0  ? "lzf"
                                                          : NULL;
        cr_assert_eq(decoded.truncated, kind != NULL, "%s", texts[i]);
        cr_assert(kind != NULL ? decoded.n == 0
                               : decoded.n == n && memcmp(decoded.bytes, texts[i], n) == 0);
        cr_assert_str_eq(decoded.kind, n == 0 ? "unknown" : kind != NULL ? kind : "plain");
    }
}

Test(framing, other_codings_are_named)
{
    static char tar[600] = "events_1_app-1";
    memcpy(tar + 257, "ustar", 5);
    const struct {
        const char *bytes;
        size_t n;
        const char *name;
    } rows[] = {{"\x02\x21\x4c\x18xx", 6, "lz4 (legacy)"},
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

enum { MANY = 8 << 20 };

Test(framing, bombs_hit_the_limits)
{
    char *zeros = calloc(1, MANY);
    cr_assert_not_null(zeros);
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++)
        for (size_t block = 0; block <= 1 << 20; block += 1 << 20) {
            struct stream stream = {NULL, 0, 0};
            stream_encode(&stream, k, zeros, MANY, block);
            decode(&decoded, stream.bytes, stream.n, stream.n, &wide);
            cr_assert_eq(decoded.code, PV_E_LIMIT);
            cr_assert_not_null(strstr(decoded.err.detail, "65536 bytes"), "%s", decoded.err.detail);
            cr_assert_not_null(strstr(decoded.err.detail, "(eventlog_plain_bytes_max)"));
            cr_assert_leq(decoded.n, ROOM);
            stream_fini(&stream);
        }
    free(zeros);
}

struct count {
    size_t n;
    size_t pieces;
    size_t largest;
};

static enum pv_code count(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)bytes;
    (void)err;
    struct count *counted = context;
    counted->n += n;
    counted->pieces++;
    if (n > counted->largest)
        counted->largest = n;
    return PV_OK;
}

static enum pv_code pass(const struct stream *stream,
                         size_t piece,
                         const struct compression_limits *limits,
                         struct count *counted,
                         struct pv_error *err)
{
    *counted = (struct count){0, 0, 0};
    pv_error_clear(err);
    struct decompressor *framing = decompressor_create(limits, count, counted);
    cr_assert_not_null(framing);
    enum pv_code code = PV_OK;
    for (size_t at = 0; at < stream->n && code == PV_OK; at += piece)
        code = decompressor_feed(framing, stream->bytes + at,
                                 stream->n - at < piece ? stream->n - at : piece, err);
    bool truncated = false;
    if (code == PV_OK)
        code = decompressor_finish(framing, &truncated, err);
    cr_assert_not(truncated);
    decompressor_destroy(framing);
    return code;
}

/* Snappy repeats at most 64 bytes by three, so that no stream of it is packed more than 21 times.
 */
Test(framing, a_ratio_is_judged_beyond_the_first_mebibyte)
{
    const struct compression_limits limits = {
        .total_bytes = 1 << 30, .ratio = 15, .window_log_max = 23};
    static const struct {
        size_t n;
        enum pv_code code;
    } rows[] = {{1 << 20, PV_OK}, {2 << 20, PV_E_LIMIT}};
    char *zeros = calloc(1, MANY);
    cr_assert_not_null(zeros);
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++)
        for (size_t i = 0; i < 2; i++) {
            struct stream stream = {NULL, 0, 0};
            struct count counted;
            struct pv_error err;
            stream_encode(&stream, k, zeros, rows[i].n, 0);
            cr_assert_eq(pass(&stream, 10000, &limits, &counted, &err), rows[i].code, "%s",
                         stream_name(k));
            cr_assert(rows[i].code == PV_OK ||
                          strstr(err.detail, "15 times (eventlog_ratio_max)") != NULL,
                      "%s", err.detail);
            stream_fini(&stream);
        }
    free(zeros);
}

Test(framing, large_blocks_are_whole_and_small_ones_arrive_together)
{
    const struct compression_limits limits = {
        .total_bytes = 1 << 30, .ratio = 1e6, .window_log_max = 23};
    char *text = malloc(MANY);
    cr_assert_not_null(text);
    make_text(text, MANY);
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++)
        for (size_t block = 1000; block <= MANY; block *= 20) {
            struct stream stream = {NULL, 0, 0};
            struct count counted;
            struct pv_error err;
            stream_encode(&stream, k, text, MANY, block);
            for (size_t piece = 30000; piece < 100000000; piece *= 1000) {
                cr_assert_eq(pass(&stream, piece, &limits, &counted, &err), PV_OK, "%s",
                             err.detail);
                cr_assert_eq(counted.n, MANY);
                if (piece > stream.n && block <= 400000)
                    cr_assert_leq(counted.pieces, MANY / (1 << 16) + 2, "%s", stream_name(k));
            }
            stream_fini(&stream);
        }
    free(text);
}

/* What a stream announces is held against the limits before memory is taken for it. */
Test(framing, announced_sizes_are_bounded)
{
    static const char setting[] = "(eventlog_block_bytes_max)";
    static const struct {
        const char *bytes;
        size_t n;
        enum pv_code code;
        const char *says;
    } rows[] = {
        /* 32 MiB from 1000 bytes; the same within a small block size; 4 GiB */
        {"LZ4Block\x2f\xe8\3\0\0\0\0\0\2....", 21, PV_E_LIMIT, setting},
        {"LZ4Block\x20\xe8\3\0\0\0\0\0\2....", 21, PV_E_SYNTAX, "contradict"},
        {"LZ4Block\x2f\xe8\3\0\0\xff\xff\xff\xff....", 21, PV_E_SYNTAX, "contradict"},
        /* a compressed block longer than any that holds so little; a stored one of other length */
        {"LZ4Block\x25\0\0\0\1\1\0\0\0....", 21, PV_E_SYNTAX, "contradict"},
        {"LZ4Block\x15\2\0\0\0\1\0\0\0....", 21, PV_E_SYNTAX, "contradict"},
        {"LZ4Block\x25\0\0\0\0\1\0\0\0....", 21, PV_E_SYNTAX, "contradict"},
        {"LZ4Block\x35\2\0\0\0\1\0\0\0....", 21, PV_E_SYNTAX, "not known"},
        {"\x82SNAPPY\0\0\0\0\1\0\0\0\1\x7f\xff\xff\xff", 20, PV_E_LIMIT, setting},
        {"\x82SNAPPY\0\0\0\0\1\0\0\0\1\x80\0\0\0", 20, PV_E_SYNTAX, "length"},
        {"\x82SNAPPY\0\0\0\0\1\0\0\0\1\0\0\0\0", 20, PV_E_SYNTAX, "length"},
        /* a block of six bytes that announces a gigabyte */
        {"\x82SNAPPY\0\0\0\0\1\0\0\0\1\0\0\0\6\x80\x80\x80\x80\4.", 26, PV_E_LIMIT, setting},
        {"\x82SNAPPY\0\0\0\0\2\0\0\0\2", 16, PV_E_MEDIA_TYPE, "version 2"},
        {"\x82SNAPPY\0\0\0\0\2\0\0\0\1\0", 16, PV_OK, ""},
        {"\x82SNAPPY\0\0\0\0\0\0\0\0\0", 16, PV_E_SYNTAX, "version"},
        {"\xff\6\0\0sNaPpY\0\xff\xff\xff", 14, PV_E_SYNTAX, "length"},
        {"\xff\6\0\0sNaPpY\0\3\0\0", 14, PV_E_SYNTAX, "length"},
        {"\xff\6\0\0sNaPpY\x7f\3\0\0", 14, PV_E_SYNTAX, "type"},
        /* four bytes of checksum, then 64 KiB and one announced */
        {"\xff\6\0\0sNaPpY\0\x8\0\0....\x81\x80\4.", 22, PV_E_SYNTAX, "more than"},
        {"ZV\1\0\2\xff\xff..", 9, PV_E_SYNTAX, "decompress"},
        {"ZV\1\0\0\0\1", 7, PV_E_SYNTAX, "length"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t piece = 1; piece <= rows[i].n; piece += rows[i].n - 1) {
            decode(&decoded, rows[i].bytes, rows[i].n, piece, &wide);
            cr_assert_eq(decoded.code, rows[i].code, "row %zu: %s", i, decoded.err.detail);
            cr_assert_not_null(strstr(decoded.err.detail, rows[i].says), "row %zu: %s", i,
                               decoded.err.detail);
            cr_assert_eq(decoded.n, 0);
        }
}

Test(framing, the_largest_block_is_a_limit)
{
    struct compression_limits limits = wide;
    static const enum stream_kind kinds[] = {STREAM_LZ4_BLOCK, STREAM_SNAPPY_JAVA};
    char text[TEXT];
    make_text(text, TEXT);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct stream stream = {NULL, 0, 0};
        stream_encode(&stream, kinds[i], text, TEXT, TEXT);
        limits.block_bytes_max = TEXT;
        decode(&decoded, stream.bytes, stream.n, 100, &limits);
        cr_assert(decoded.code == PV_OK && decoded.n == TEXT, "%s", decoded.err.detail);
        limits.block_bytes_max = TEXT - 1;
        decode(&decoded, stream.bytes, stream.n, 100, &limits);
        cr_assert_eq(decoded.code, PV_E_LIMIT);
        cr_assert_not_null(strstr(decoded.err.detail, "at most 4999"), "%s", decoded.err.detail);
        stream_fini(&stream);
    }
}

Test(framing, a_window_over_the_limit_is_refused)
{
    /* Frame header: no content size, window 2^24 (exponent 14). */
    static const char large[] = "\x28\xb5\x2f\xfd\x00\x70\x01\x00\x00";
    decode(&decoded, large, sizeof large - 1, 1, &wide);
    cr_assert_eq(decoded.code, PV_E_LIMIT);
    cr_assert_not_null(strstr(decoded.err.detail, "2^23 bytes"), "%s", decoded.err.detail);
    cr_assert_not_null(strstr(decoded.err.detail, "(zstd_window_log_max)"));
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
    for (enum stream_kind k = 0; k < STREAM_KINDS; k++) {
        struct stream stream = {NULL, 0, 0};
        stream_encode(&stream, k, "text", 4, 0);
        struct pv_error err;
        pv_error_clear(&err);
        struct decompressor *framing = decompressor_create(&wide, refuse, NULL);
        cr_assert_eq(decompressor_feed(framing, stream.bytes, stream.n, &err), PV_E_CANCELLED);
        cr_assert_str_eq(err.detail, "enough");
        bool truncated;
        cr_assert_eq(decompressor_finish(framing, &truncated, NULL), PV_E_CANCELLED);
        decompressor_destroy(framing);
        stream_fini(&stream);
    }
}
