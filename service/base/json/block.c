#include "base/json/block.h"

#include <string.h>

#include "base/json/block_internal.h"

/* What stands where in 64 bytes: bit i belongs to byte i. */
struct block {
    uint64_t quote;
    uint64_t backslash;
    uint64_t open;  /* { or [ */
    uint64_t close; /* } or ] */
};

/* What one block hands to the next. */
struct depth {
    uint64_t in_string; /* all ones when the block before ended within a string */
    uint64_t escape;    /* 1 when it ended with a backslash that escapes the first byte here */
    uint64_t level;
};

/* Quotes that begin or end a string. */
static inline uint64_t find_quotes(struct depth *depth, const struct block *block)
{
    if ((block->backslash | depth->escape) == 0)
        return block->quote;
    return block->quote & ~find_escaped(block->backslash, &depth->escape);
}

/*
 * Follow the brackets of a block. `odd`: bit i says whether the quotes up to byte i are odd in
 * number. The index behind the bracket that closes the outermost level, or -1.
 */
static inline int block_follow(struct depth *depth, const struct block *block, uint64_t odd)
{
    uint64_t inside = odd ^ depth->in_string;
    depth->in_string = (inside >> (BLOCK - 1)) != 0 ? ~UINT64_C(0) : 0;
    uint64_t open = block->open & ~inside;
    uint64_t close = block->close & ~inside;
    uint64_t closing = (uint64_t)__builtin_popcountll(close);
    /* Too few to get out, in whatever order they stand. */
    if (closing < depth->level) {
        depth->level += (uint64_t)__builtin_popcountll(open) - closing;
        return -1;
    }
    for (uint64_t bits = open | close; bits != 0; bits &= bits - 1) {
        int i = __builtin_ctzll(bits);
        if ((open >> i & 1) != 0)
            depth->level++;
        else if (--depth->level == 0)
            return i + 1;
    }
    return -1;
}

static struct block classify_portable(const char *bytes)
{
    struct block block = {0, 0, 0, 0};
    for (unsigned i = 0; i < BLOCK; i++) {
        uint64_t bit = UINT64_C(1) << i;
        int c = (unsigned char)bytes[i];
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

static int step_portable(struct depth *depth, const char *bytes)
{
    struct block block = classify_portable(bytes);
    return block_follow(depth, &block, prefix_xor(find_quotes(depth, &block)));
}

#ifdef WITH_X86

static int step_sse2(struct depth *depth, const char *bytes)
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
    return block_follow(depth, &block, prefix_xor(find_quotes(depth, &block)));
}

WITH_AVX2 static inline int step_avx2(struct depth *depth, const char *bytes)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    struct block block;
    block.quote = equal64(low, high, '"');
    block.backslash = equal64(low, high, '\\');
    __m256i fold = _mm256_set1_epi8(BRACKET_BIT);
    low = _mm256_or_si256(low, fold);
    high = _mm256_or_si256(high, fold);
    block.open = equal64(low, high, '{');
    block.close = equal64(low, high, '}');
    return block_follow(depth, &block, prefix_xor_product(find_quotes(depth, &block)));
}

#endif

/* The loop is the same for every step; what differs is what the compiler may make of it. */
#define SKIP(step)                                                                                 \
    struct depth depth = {0, 0, level};                                                            \
    for (; end - at >= BLOCK; at += BLOCK) {                                                       \
        int stop = step(&depth, at);                                                               \
        if (stop >= 0)                                                                             \
            return at + stop;                                                                      \
    }                                                                                              \
    char last[BLOCK] = {0};                                                                        \
    memcpy(last, at, (size_t)(end - at));                                                          \
    int stop = step(&depth, last);                                                                 \
    return stop < 0 ? NULL : at + stop

static const char *skip_portable(const char *at, const char *end, unsigned level)
{
    SKIP(step_portable);
}

#ifdef WITH_X86

static const char *skip_sse2(const char *at, const char *end, unsigned level)
{
    SKIP(step_sse2);
}

WITH_AVX2 static const char *skip_avx2(const char *at, const char *end, unsigned level)
{
    SKIP(step_avx2);
}

bool json_block_can(enum json_block_way way)
{
    return way != JSON_BLOCK_AVX2 || has_avx2();
}

const char *
json_block_skip_by(enum json_block_way way, const char *at, const char *end, unsigned level)
{
    switch (way) {
    case JSON_BLOCK_AVX2:
        return skip_avx2(at, end, level);
    case JSON_BLOCK_SSE2:
        return skip_sse2(at, end, level);
    case JSON_BLOCK_PORTABLE:
        break;
    }
    return skip_portable(at, end, level);
}

const char *json_block_skip(const char *at, const char *end, unsigned level)
{
    return has_avx2() ? skip_avx2(at, end, level) : skip_sse2(at, end, level);
}

#else

bool json_block_can(enum json_block_way way)
{
    return way == JSON_BLOCK_PORTABLE;
}

const char *
json_block_skip_by(enum json_block_way way, const char *at, const char *end, unsigned level)
{
    (void)way;
    return skip_portable(at, end, level);
}

const char *json_block_skip(const char *at, const char *end, unsigned level)
{
    return skip_portable(at, end, level);
}

#endif
