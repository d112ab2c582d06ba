#include "core/sparklog/block.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* { and [, like } and ], differ only in this bit. */
enum { BRACKET_BIT = 0x20 };

struct block block_classify_portable(const char *bytes)
{
    struct block block = {0, 0, 0, 0};
    for (unsigned i = 0; i < BLOCK; i++) {
        uint64_t bit = UINT64_C(1) << i;
        int c = bytes[i];
        if (c == '"')
            block.quote |= bit;
        else if (c == '\\')
            block.backslash |= bit;
        else if ((c | BRACKET_BIT) == '{')
            block.open |= bit;
        else if ((c | BRACKET_BIT) == '}')
            block.close |= bit;
    }
    return block;
}

#ifdef __SSE2__

static uint64_t equal16(__m128i bytes, char c)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

struct block block_classify(const char *bytes)
{
    struct block block = {0, 0, 0, 0};
    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        __m128i folded = _mm_or_si128(part, _mm_set1_epi8(BRACKET_BIT));
        block.quote |= equal16(part, '"') << i;
        block.backslash |= equal16(part, '\\') << i;
        block.open |= equal16(folded, '{') << i;
        block.close |= equal16(folded, '}') << i;
    }
    return block;
}

const char *block_find_quote(const char *at, const char *end)
{
    for (; end - at >= 16; at += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)at);
        uint64_t hit = equal16(part, '"') | equal16(part, '\\');
        if (hit != 0)
            return at + __builtin_ctzll(hit);
    }
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

#else

struct block block_classify(const char *bytes)
{
    return block_classify_portable(bytes);
}

const char *block_find_quote(const char *at, const char *end)
{
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

#endif

uint64_t block_prefix_xor(uint64_t bits)
{
    for (unsigned shift = 1; shift < BLOCK; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

uint64_t block_escaped(uint64_t backslash, uint64_t *carry)
{
    uint64_t escaped = *carry;
    /* A backslash that is escaped itself escapes nothing. */
    backslash &= ~escaped;
    *carry = 0;
    while (backslash != 0) {
        uint64_t lowest = backslash & (~backslash + 1);
        uint64_t next = lowest << 1;
        if (next == 0)
            *carry = 1;
        escaped |= next;
        backslash &= ~(lowest | next);
    }
    return escaped;
}
