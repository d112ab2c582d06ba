/* The scanner of event-log lines: what it reads, skips, resolves and calls damaged. */
#include "core/joblog/common/json.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/block.h"

struct pair {
    int64_t a;
    struct json_text b;
    int64_t c;
    struct strview raw;
};

static const struct json_field inner_fields[] = {JSON_FIELD("c", JSON_INT, struct pair, c)};
static const struct json_shape inner = JSON_SHAPE(inner_fields);
static const struct json_field fields[] = {
    JSON_FIELD("a", JSON_INT, struct pair, a),
    JSON_FIELD("b", JSON_TEXT, struct pair, b),
    JSON_FIELD("raw", JSON_RAW, struct pair, raw),
    JSON_INSIDE("in", inner),
};
static const struct json_shape shape = JSON_SHAPE(fields);

static bool read(const char *text, struct pair *pair)
{
    struct json json = json_over(strview_of(text));
    *pair = (struct pair){-1, {NULL, 0, false}, -1, {NULL, 0}};
    return json_read_object(&json, &shape, pair) && json_at_end(&json);
}

Test(sparklog_json, reads_members_in_any_order_and_passes_the_rest)
{
    struct pair pair;
    cr_assert(
        read("{\"x\":[1,{\"a\":9}],\"in\":{\"y\":null,\"c\":3},\"b\":\"t\",\"a\":5,\"z\":-1.5e3}",
             &pair));
    cr_assert_eq(pair.a, 5);
    cr_assert_eq(pair.c, 3);
    cr_assert(json_text_is(pair.b, strview_of("t")));
    cr_assert(read(" { \"a\" :\t7 , \"raw\" : [ 1 , 2 ] } ", &pair));
    cr_assert_eq(pair.a, 7);
    cr_assert(strview_is(pair.raw, "[ 1 , 2 ]"));
    cr_assert(read("{}", &pair));
    cr_assert_eq(pair.a, -1);
}

Test(sparklog_json, knows_keys_that_are_written_with_escapes)
{
    struct pair pair;
    cr_assert(read("{\"\\u0061\":5,\"\\u0069n\":{\"\\u0063\":6}}", &pair));
    cr_assert_eq(pair.a, 5);
    cr_assert_eq(pair.c, 6);
}

Test(sparklog_json, a_value_of_another_kind_counts_as_absent)
{
    struct pair pair;
    cr_assert(read("{\"a\":\"5\",\"b\":7,\"in\":[],\"raw\":null}", &pair));
    cr_assert_eq(pair.a, -1);
    cr_assert_null(pair.b.at);
    cr_assert_eq(pair.c, -1);
    cr_assert_null(pair.raw.at);
    cr_assert(read("{\"a\":null,\"a\":true,\"in\":{\"c\":NaN}}", &pair));
    cr_assert_eq(pair.a, -1);
}

Test(sparklog_json, integers_to_the_ends_of_their_range)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {{"0", 0},
                {"-0", 0},
                {"9007199254740993", INT64_C(9007199254740993)},
                {"9223372036854775807", INT64_MAX},
                {"9223372036854775808", INT64_MAX},
                {"99999999999999999999999", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"-9223372036854775809", INT64_MIN},
                {"1.9", 1},
                {"-2e3", -2000},
                {"1e300", INT64_MAX},
                {"-1e300", INT64_MIN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "{\"a\":%s}", rows[i].text);
        struct pair pair;
        cr_assert(read(text, &pair), "%s", rows[i].text);
        cr_assert_eq(pair.a, rows[i].value, "%s", rows[i].text);
    }
}

Test(sparklog_json, what_breaks_the_structure_is_damage)
{
    static const char *const rows[] = {"",
                                       "{",
                                       "[]x",
                                       "{\"a\"}",
                                       "{\"a\":}",
                                       "{\"a\":1,}",
                                       "{\"a\":1 \"b\":2}",
                                       "{a:1}",
                                       "{\"a\":1}}",
                                       "{\"a\":x}",
                                       "{\"a\":-}",
                                       "{\"a\":\"\\",
                                       "{\"x\":\"\\\"}",
                                       "{\"x\":[1,2}",
                                       "{,}",
                                       "{\"x\":tru}"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pair pair;
        cr_assert_not(read(rows[i], &pair), "%s", rows[i]);
    }
}

Test(sparklog_json, every_cut_of_a_line_is_damage)
{
    static const char line[] =
        "{\"a\":1,\"b\":\"x\\\"y\",\"skip\":{\"q\":[\"}\",{\"r\":\"\\\\\"}]},\"in\":{\"c\":2}}";
    for (size_t n = 0; n < sizeof line - 1; n++) {
        char cut[sizeof line];
        memcpy(cut, line, n);
        cut[n] = '\0';
        struct pair pair;
        cr_assert_not(read(cut, &pair), "%s", cut);
    }
    struct pair pair;
    cr_assert(read(line, &pair));
}

/* Skipping goes 64 bytes at a time: put quotes, escapes and brackets at every offset of a block. */
Test(sparklog_json, skips_values_whatever_their_offset)
{
    static const char *const values[] = {"[\"]\",\"\\\"]\",\"\\\\\",[[\"\\\\\\\"[\"]]]",
                                         "{\"k\":\"}\\\\\\\\\",\"l\":{\"m\":[{}]}}", "\"[{\\\"\""};
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        for (size_t pad = 0; pad < 150; pad++) {
            char text[512];
            char filler[151];
            memset(filler, 'f', pad);
            filler[pad] = '\0';
            (void)snprintf(text, sizeof text, "{\"s\":[\"%s\",%s,\"%s\"],\"a\":4}", filler,
                           values[v], filler);
            struct pair pair;
            cr_assert(read(text, &pair), "%s", text);
            cr_assert_eq(pair.a, 4);
        }
    }
}

/* What json_block_skip has to answer, one byte after the other. */
static const char *skip_by_the_book(const char *at, const char *end, unsigned level)
{
    bool in_string = false;
    bool escaped = false;
    for (; at < end; at++) {
        bool was_escaped = escaped;
        escaped = *at == '\\' && !was_escaped;
        if (*at == '"' && !was_escaped)
            in_string = !in_string;
        else if (!in_string && (*at == '{' || *at == '['))
            level++;
        else if (!in_string && (*at == '}' || *at == ']') && --level == 0)
            return at + 1;
    }
    return NULL;
}

/* The bytes end where their allocation does, so that a sanitizer sees a read too far. */
Test(sparklog_json, all_ways_to_skip_agree_with_the_book)
{
    static const char alphabet[] = "{[{[{[}]}]\"\"\"\"\\\\:,ab\x80\xff\x5a\x7e\x3b \n0123456789";
    static const enum json_block_way ways[] = {JSON_BLOCK_PORTABLE, JSON_BLOCK_SSE2,
                                               JSON_BLOCK_AVX2};
    uint32_t state = 1;
    size_t closed = 0;
    for (int round = 0; round < 20000; round++) {
        state = state * 1664525U + 1013904223U;
        size_t n = 1 + (state >> 16) % 300;
        char *bytes = malloc(n);
        bytes[0] = round % 2 ? '{' : '[';
        unsigned level = round % 3 == 0 ? 1 + (unsigned)round % 100 % 4 : 0;
        for (size_t i = 1; i < n; i++) {
            state = state * 1664525U + 1013904223U;
            bytes[i] = round % 5 == 0 ? (char)(state >> 24)
                                      : alphabet[(state >> 16) % (sizeof alphabet - 1)];
        }
        const char *want = skip_by_the_book(bytes, bytes + n, level);
        closed += want != NULL;
        cr_assert_eq(json_block_skip(bytes, bytes + n, level), want);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            if (json_block_can(ways[i]))
                cr_assert_eq(json_block_skip_by(ways[i], bytes, bytes + n, level), want, "way %zu",
                             i);
        }
        free(bytes);
    }
    cr_assert_gt(closed, 5000);
    cr_assert_lt(closed, 19000);
}

/* Keys, texts and numbers are looked for 16 bytes at a time: every length, ended in every way. */
Test(sparklog_json, finds_the_ends_of_keys_and_values_of_every_length)
{
    static const char *const ends[] = {",\"z\":0}", "}", " }", "\t,\"z\":[]}", "\r\n}"};
    for (size_t n = 1; n < 70; n++) {
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            char filler[71] = {0};
            memset(filler, 'k', n);
            char digits[71] = {0};
            memset(digits, '0', n);
            digits[n - 1] = '7';
            char text[512];
            (void)snprintf(text, sizeof text, "{\"%s\":\"%s\",\"%s\":%s,\"b\":\"%s\",\"a\":%s%s",
                           filler, filler, filler, digits, filler, digits, ends[e]);
            struct pair pair;
            cr_assert(read(text, &pair), "%s", text);
            cr_assert_eq(pair.a, 7, "%s", text);
            cr_assert_eq(pair.b.n, n);
        }
    }
}

Test(sparklog_json, of_repeated_members_the_last_one_read_wins)
{
    struct pair pair;
    cr_assert(read("{\"in\":{\"c\":3,\"c\":4},\"a\":1,\"a\":2,\"a\":null}", &pair));
    cr_assert_eq(pair.a, 2);
    cr_assert_eq(pair.c, 3, "nothing more was wanted of the inner object");
    cr_assert(
        read("{\"a\":1,\"b\":\"x\",\"a\":2,\"in\":{\"c\":3},\"b\":\"y\",\"in\":{\"c\":4}}", &pair));
    cr_assert_eq(pair.a, 2);
    cr_assert_eq(pair.c, 4);
    cr_assert(json_text_is(pair.b, strview_of("y")));
}

Test(sparklog_json, texts_become_valid_utf8)
{
    static const struct {
        const char *written;
        const char *want;
    } rows[] = {{"plain", "plain"},
                {"\\\"\\\\\\/", "\"\\/"},
                {"\\u00e9\\u20ac", "\xc3\xa9\xe2\x82\xac"},
                {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
                {"\xc3\xa9", "\xc3\xa9"},
                {"\\ud83dx", "\xef\xbf\xbdx"},
                {"\\ude00", "\xef\xbf\xbd"},
                {"\\u12", "\xef\xbf\xbd"
                          "12"},
                {"\\n\\u0000", "\xef\xbf\xbd\xef\xbf\xbd"},
                {"a\xff"
                 "b",
                 "a\xef\xbf\xbd"
                 "b"},
                {"\xc3", "\xef\xbf\xbd"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_text text = {rows[i].written, strlen(rows[i].written), true};
        char out[64];
        bool cut;
        size_t n = json_text_decode(text, out, sizeof out, &cut);
        cr_assert_not(cut);
        cr_assert(strview_is((struct strview){out, n}, rows[i].want), "%s", rows[i].written);
    }
}

Test(sparklog_json, a_text_is_cut_between_characters)
{
    struct json_text text = {"a\xe2\x82\xac", 4, false};
    char out[3];
    bool cut;
    cr_assert_eq(json_text_decode(text, out, sizeof out, &cut), 1);
    cr_assert(cut);
}
