#ifndef BASE_JSON_BLOCK_INTERNAL_H
#define BASE_JSON_BLOCK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How 64 bytes of JSON are looked at: where bytes stand, as bits, which of the quotes begin or end a
 * text, and what is inside. For the innermost loops of block.c and measure.c, hence here.
 */
#if defined __x86_64__ && !defined JSON_PORTABLE
#define WITH_X86
#include <immintrin.h>
#define WITH_AVX2 __attribute__((target("avx2,bmi,pclmul,popcnt")))
#endif

enum { BLOCK = 64 };

/* { and [, like } and ], differ only in this bit. */
enum { BRACKET_BIT = 0x20 };

/* Bytes that a backslash escapes. */
static inline uint64_t find_escaped(uint64_t backslash, uint64_t *carry)
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

/* Bit i is the exclusive or of bits 0..i. */
static inline uint64_t prefix_xor(uint64_t bits)
{
    for (unsigned shift = 1; shift < BLOCK; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

#ifdef WITH_X86

static inline uint64_t equal16(__m128i bytes, char c)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

WITH_AVX2 static inline uint64_t equal64(__m256i low, __m256i high, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    uint32_t first = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t second = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return first | (uint64_t)second << 32;
}

/* A carry-less product with all ones adds up, without carries, all bits below each one. */
WITH_AVX2 static inline uint64_t prefix_xor_product(uint64_t bits)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_set_epi64x(0, (int64_t)bits), _mm_set1_epi8((char)0xff), 0);
    return (uint64_t)_mm_cvtsi128_si64(product);
}

static inline bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("popcnt");
}

#endif

#endif
