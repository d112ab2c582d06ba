#include "base/json/measure.h"

#include <string.h>

#include "base/duty.h"
#include "base/json/block_internal.h"

/* How many blocks are looked at before the thread may pause: some 20 microseconds. */
enum { PAUSE_BLOCKS = 1 << 10 };

/* What stands where in 64 bytes: bit i belongs to byte i. */
struct marks {
    uint64_t quote;
    uint64_t backslash;
    uint64_t open; /* { or [ */
    uint64_t brace;
    uint64_t close;
    uint64_t comma;
    uint64_t colon;
};

struct measure {
    struct json_extent extent;
    const struct json_bounds *bounds;
    size_t depth;
    uint64_t in_text; /* all ones when the block before ended within a text */
    uint64_t escape;  /* 1 when it ended with a backslash that escapes the first byte here */
};

/* In functions for machines that count bits by an instruction this is to be one. */
#define INLINED static inline __attribute__((always_inline))

INLINED size_t count(uint64_t bits)
{
    return (size_t)__builtin_popcountll(bits);
}

INLINED size_t values_of(const struct json_extent *extent)
{
    return extent->commas + extent->objects + extent->arrays;
}

/* Byte by byte, for a block in which a bound may be passed, or there are more ends than beginnings.
 */
static void follow(struct measure *m, const struct marks *marks)
{
    struct json_extent *extent = &m->extent;
    for (uint64_t bits = marks->open | marks->close | marks->comma; bits != 0; bits &= bits - 1) {
        uint64_t bit = bits & (~bits + 1);
        if ((marks->close & bit) != 0) {
            m->depth -= m->depth > 0;
            continue;
        }
        extent->commas += (marks->comma & bit) != 0;
        extent->objects += (marks->brace & bit) != 0;
        extent->arrays += (marks->open & ~marks->brace & bit) != 0;
        m->depth += (marks->open & bit) != 0;
        extent->too_deep = m->depth > m->bounds->depth;
        extent->too_many = values_of(extent) > m->bounds->values;
        if (extent->too_deep || extent->too_many)
            return;
    }
}

/* Quotes that begin or end a text. */
INLINED uint64_t find_quotes(struct measure *m, const struct marks *marks)
{
    if ((marks->backslash | m->escape) == 0)
        return marks->quote;
    return marks->quote & ~find_escaped(marks->backslash, &m->escape);
}

/* `odd`: bit i says whether the quotes up to byte i are odd in number. */
INLINED void add_block(struct measure *m, struct marks *marks, uint64_t odd)
{
    uint64_t outside = ~(odd ^ m->in_text);
    m->in_text = outside >> (BLOCK - 1) != 0 ? 0 : ~UINT64_C(0);
    marks->open &= outside;
    marks->brace &= outside;
    marks->close &= outside;
    marks->comma &= outside;
    size_t opening = count(marks->open);
    size_t closing = count(marks->close);
    size_t commas = count(marks->comma);
    m->extent.members += count(marks->colon & outside);
    if (closing > m->depth || m->depth + opening > m->bounds->depth ||
        values_of(&m->extent) + opening + commas > m->bounds->values) {
        follow(m, marks);
        return;
    }
    m->depth = m->depth + opening - closing;
    m->extent.commas += commas;
    m->extent.objects += count(marks->brace);
    m->extent.arrays += opening - count(marks->brace);
}

INLINED void step_portable(struct measure *m, const char *bytes)
{
    struct marks marks = {0};
    for (unsigned i = 0; i < BLOCK; i++) {
        uint64_t bit = UINT64_C(1) << i;
        char c = bytes[i];
        marks.quote |= c == '"' ? bit : 0;
        marks.backslash |= c == '\\' ? bit : 0;
        marks.open |= c == '{' || c == '[' ? bit : 0;
        marks.brace |= c == '{' ? bit : 0;
        marks.close |= c == '}' || c == ']' ? bit : 0;
        marks.comma |= c == ',' ? bit : 0;
        marks.colon |= c == ':' ? bit : 0;
    }
    add_block(m, &marks, prefix_xor(find_quotes(m, &marks)));
}

#ifdef WITH_X86

WITH_AVX2 INLINED void step_avx2(struct measure *m, const char *bytes)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)bytes);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + 32));
    struct marks marks;
    marks.quote = equal64(low, high, '"');
    marks.backslash = equal64(low, high, '\\');
    marks.brace = equal64(low, high, '{');
    marks.comma = equal64(low, high, ',');
    marks.colon = equal64(low, high, ':');
    __m256i fold = _mm256_set1_epi8(BRACKET_BIT);
    low = _mm256_or_si256(low, fold);
    high = _mm256_or_si256(high, fold);
    marks.open = equal64(low, high, '{');
    marks.close = equal64(low, high, '}');
    add_block(m, &marks, prefix_xor_product(find_quotes(m, &marks)));
}

#endif

/* The loop is the same for every step; what differs is what the compiler may make of it. */
#define MEASURE(step)                                                                              \
    struct measure m = {.bounds = bounds};                                                         \
    const char *at = text;                                                                         \
    const char *end = text + n;                                                                    \
    for (size_t i = 1; end - at >= BLOCK; at += BLOCK, i++) {                                      \
        step(&m, at);                                                                              \
        if (m.extent.too_deep || m.extent.too_many)                                                \
            return m.extent;                                                                       \
        if (i % PAUSE_BLOCKS == 0)                                                                 \
            duty_works_on();                                                                       \
    }                                                                                              \
    char last[BLOCK] = {0};                                                                        \
    memcpy(last, at, (size_t)(end - at));                                                          \
    step(&m, last);                                                                                \
    return m.extent

struct json_extent
json_measure_portably(const char *text, size_t n, const struct json_bounds *bounds)
{
    MEASURE(step_portable);
}

#ifdef WITH_X86

WITH_AVX2 static struct json_extent
measure_avx2(const char *text, size_t n, const struct json_bounds *bounds)
{
    MEASURE(step_avx2);
}

struct json_extent json_measure(const char *text, size_t n, const struct json_bounds *bounds)
{
    return has_avx2() ? measure_avx2(text, n, bounds) : json_measure_portably(text, n, bounds);
}

#else

struct json_extent json_measure(const char *text, size_t n, const struct json_bounds *bounds)
{
    return json_measure_portably(text, n, bounds);
}

#endif
