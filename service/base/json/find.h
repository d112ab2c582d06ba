#ifndef BASE_JSON_FIND_H
#define BASE_JSON_FIND_H

#include <stdbool.h>
#include <stddef.h>

#if defined __SSE2__ && !defined JSON_PORTABLE
#include <emmintrin.h>
#define JSON_WITH_SSE2
#endif

/*
 * What the scanner of logs and the parser of requests look for in JSON, 16 bytes at a time where
 * the machine can. These are the innermost loops of both, so they stand here to be inlined. All
 * answer the first byte of [at, end) that is looked for, or end.
 */
static inline bool json_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static inline bool json_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool json_ends_text(char c)
{
    return c == '"' || c == '\\';
}

/* A comma, a bracket that closes, blanks; other control characters cannot belong to a value. */
static inline bool json_ends_scalar(char c)
{
    return c == ',' || c == '}' || c == ']' || (unsigned char)c <= ' ';
}

/* What a text cannot hold as it is, and what is not ASCII. */
static inline bool json_is_special(char c)
{
    return json_ends_text(c) || (unsigned char)c < ' ' || (unsigned char)c >= 0x80;
}

#ifdef JSON_WITH_SSE2

enum { JSON_WIDE = 16 };

static inline __m128i json_load16(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline __m128i json_equal16(__m128i bytes, char c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

static inline unsigned json_text_ends(const char *at)
{
    __m128i bytes = json_load16(at);
    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(json_equal16(bytes, '"'), json_equal16(bytes, '\\')));
}

static inline unsigned json_scalar_ends(const char *at)
{
    __m128i bytes = json_load16(at);
    /* } and ] differ in one bit. */
    __m128i bracket = json_equal16(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), '}');
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
    __m128i any = _mm_or_si128(_mm_or_si128(json_equal16(bytes, ','), bracket), control);
    return (unsigned)_mm_movemask_epi8(any);
}

/* As signed numbers, bytes that are not ASCII are less than a blank, too. */
static inline unsigned json_specials(__m128i bytes)
{
    __m128i ends = _mm_or_si128(json_equal16(bytes, '"'), json_equal16(bytes, '\\'));
    return (unsigned)_mm_movemask_epi8(
        _mm_or_si128(ends, _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '))));
}

#define JSON_FIND(find_wide, is)                                                                   \
    for (; end - at >= JSON_WIDE; at += JSON_WIDE) {                                               \
        unsigned hits = find_wide(at);                                                             \
        if (hits != 0)                                                                             \
            return at + __builtin_ctz(hits);                                                       \
    }                                                                                              \
    while (at < end && !is(*at))                                                                   \
        at++;                                                                                      \
    return at

#else

#define JSON_FIND(find_wide, is)                                                                   \
    while (at < end && !is(*at))                                                                   \
        at++;                                                                                      \
    return at

#endif

/* A quote or a backslash. */
static inline const char *json_find_text_end(const char *at, const char *end)
{
    JSON_FIND(json_text_ends, json_ends_text);
}

static inline const char *json_find_scalar_end(const char *at, const char *end)
{
    JSON_FIND(json_scalar_ends, json_ends_scalar);
}

/* The next byte that is special, with all before it copied to *out, which ends behind them. There is
 * room for JSON_COPY_SLACK bytes more than that. */
enum { JSON_COPY_SLACK = 16 };
static inline const char *json_copy_plain(const char *at, const char *end, char **out)
{
    char *to = *out;
#ifdef JSON_WITH_SSE2
    for (; end - at >= JSON_WIDE; at += JSON_WIDE, to += JSON_WIDE) {
        __m128i bytes = json_load16(at);
        unsigned hits = json_specials(bytes);
        _mm_storeu_si128((__m128i *)(void *)to, bytes);
        if (hits != 0) {
            *out = to + __builtin_ctz(hits);
            return at + __builtin_ctz(hits);
        }
    }
#endif
    while (at < end && !json_is_special(*at))
        *to++ = *at++;
    *out = to;
    return at;
}

#endif
