/*
 * Running out of memory is an ordinary error: the k-th allocation of ours fails, for k = 1, 2, ...
 * until the whole stream is read. Under AddressSanitizer this also shows that nothing is lost on
 * the way. The allocator is replaced at link time (--wrap), for this program only, and only while
 * a stream is read; the libraries keep their own.
 */
#include "compression/compression.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "streams.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t n);

static long allowed = -1; /* allocations before one fails; negative: none fails */

static bool fails(void)
{
    if (allowed < 0)
        return false;
    return allowed-- == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *at, size_t n)
{
    return fails() ? NULL : __real_realloc(at, n);
}

static enum pv_code count(void *context, const char *bytes, size_t n, struct pv_error *err)
{
    (void)bytes;
    (void)err;
    *(size_t *)context += n;
    return PV_OK;
}

/* In pieces that no block fits into, so that blocks are gathered in memory. */
static enum pv_code
read_stream(const struct stream *stream, struct ledger_account *account, size_t *n)
{
    const struct compression_limits limits = {
        .total_bytes = 1 << 24, .ratio = 1e6, .window_log_max = 23, .account = account};
    *n = 0;
    struct decompressor *framing = decompressor_create(&limits, count, n);
    enum pv_code code = framing == NULL ? PV_E_MEMORY : PV_OK;
    for (size_t at = 0; at < stream->n && code == PV_OK; at += 100)
        code = decompressor_feed(framing, stream->bytes + at,
                                 stream->n - at < 100 ? stream->n - at : 100, NULL);
    bool truncated = false;
    if (code == PV_OK)
        code = decompressor_finish(framing, &truncated, NULL);
    decompressor_destroy(framing);
    return code;
}

Test(compression_memory, every_allocation_may_fail)
{
    enum { N = 400000 };
    char *text = malloc(N);
    cr_assert_not_null(text);
    for (size_t i = 0; i < N; i++)
        text[i] = (char)('a' + i * i % 251 % 26);
    for (enum stream_kind kind = 0; kind < STREAM_KINDS; kind++) {
        struct stream stream = {NULL, 0, 0};
        stream_encode(&stream, kind, text, N, 200000);
        long k = 0;
        size_t n;
        enum pv_code code;
        do {
            allowed = k++;
            code = read_stream(&stream, NULL, &n);
            allowed = -1;
            cr_assert(code == PV_OK || code == PV_E_MEMORY, "%s, allocation %ld: %s",
                      stream_name(kind), k, pv_code_name(code));
        } while (code != PV_OK);
        cr_assert_eq(n, N);
        /* The decoder and its state at least; blocks and gathered parts where there are some. */
        cr_assert_gt(k, kind >= STREAM_SNAPPY_FRAMED ? 3 : kind == STREAM_LZ4_BLOCK ? 4 : 2);
        stream_fini(&stream);
    }
    free(text);
}

/* With more and more to be had until it is enough: refused in the middle, nothing stays taken. */
Test(compression_memory, what_a_decoder_holds_is_counted)
{
    enum { N = 400000, BLOCK = 200000, BUFFER = 128 * 1024 };
    char *text = calloc(1, N);
    cr_assert_not_null(text);
    for (enum stream_kind kind = 0; kind < STREAM_KINDS; kind++) {
        struct stream stream = {NULL, 0, 0};
        stream_encode(&stream, kind, text, N, BLOCK);
        size_t max = BUFFER / 2;
        size_t n;
        enum pv_code code;
        do {
            max += 4096;
            struct ledger ledger = {.max = max};
            struct ledger_share share = {.ledger = &ledger};
            /* The threshold leaves a part free that is of no interest here. */
            ledger.unit = max;
            struct ledger_account account = {.share = &share};
            code = read_stream(&stream, &account, &n);
            cr_assert_eq(code, account.refused ? PV_E_MEMORY : PV_OK, "%s: %s", stream_name(kind),
                         pv_code_name(code));
            cr_assert_eq(account.used, 0);
        } while (code != PV_OK);
        cr_assert_eq(n, N);
        bool whole_blocks = kind == STREAM_LZ4_BLOCK;
        cr_assert_gt(max, BUFFER + (whole_blocks ? (size_t)BLOCK : 0), "%s", stream_name(kind));
        stream_fini(&stream);
    }
    free(text);
}
