/* The parser of requests: what is JSON and what is not, where it is wrong, and what it takes. */
#include "base/json/parse.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "rounds.h"

static const struct json_bounds bounds = {.depth = 512, .values = 10000000};

struct parsed {
    struct arena arena;
    struct pv_error err;
    const struct json_value *value;
    enum pv_code code;
};

/* The bytes end where their allocation does, so that a sanitizer sees a read too far. */
static void parse(struct parsed *p, const char *text, size_t n)
{
    char *exact = malloc(n == 0 ? 1 : n);
    memcpy(exact, text, n);
    memset(p, 0, sizeof *p);
    arena_init(&p->arena, 0);
    const struct json_extent extent = json_measure(exact, n, &bounds);
    cr_assert(!extent.too_deep && !extent.too_many);
    p->code = json_parse(exact, n, &extent, bounds.depth, &p->arena, &p->value, &p->err);
    free(exact);
}

static void parse_text(struct parsed *p, const char *text)
{
    parse(p, text, strlen(text));
}

static void finish(struct parsed *p)
{
    arena_fini(&p->arena);
}

/* --- faults --- */

static const struct {
    const char *text, *detail;
} faults[] = {
    {"", "at column 1: a value is expected where the text ends"},
    {" ", "at column 2: a value is expected where the text ends"},
    {"{", "at column 2: a member's name in quotes, or '}', is expected where the text ends"},
    {"[", "at column 2: a value is expected where the text ends"},
    {"[1", "at column 3: ',' or ']' is expected where the text ends"},
    {"[1,", "at column 4: a value is expected where the text ends"},
    {"[1,]", "at column 4: a value is expected, not ]"},
    {"[,1]", "at column 2: a value is expected, not ,"},
    {"[1 2]", "at column 4: ',' or ']' is expected, not 2"},
    {"[1}", "at column 3: ',' or ']' is expected, not }"},
    {"{]", "at column 2: a member's name in quotes, or '}', is expected, not ]"},
    {"{a:1}", "at column 2: a member's name in quotes, or '}', is expected, not a"},
    {"{'a':1}", "at column 2: a member's name in quotes, or '}', is expected, not '"},
    {"{\"a\"}", "at column 5: ':' behind the name of a member is expected, not }"},
    {"{\"a\" 1}", "at column 6: ':' behind the name of a member is expected, not 1"},
    {"{\"a\":}", "at column 6: a value is expected, not }"},
    {"{\"a\":1,}", "at column 8: a member's name in quotes is expected, not }"},
    {"{\"a\":1 \"b\":2}", "at column 8: ',' or '}' is expected, not \""},
    {"{\"a\":1]", "at column 7: ',' or '}' is expected, not ]"},
    {"{} {}", "at column 4: the end of the text is expected, not {"},
    {"{}:", "at column 3: the end of the text is expected, not :"},
    {"\xef\xbb\xbf{}", "at column 1: a value is expected, not the byte 0xef"},
    {"[NaN]", "at column 2: a value is expected, not NaN"},
    {"[Infinity]", "at column 2: a value is expected, not Infinity"},
    {"[tru]", "at column 2: a value is expected, not tru"},
    {"[truex]", "at column 6: ',' or ']' is expected, not x"},
    {"[nul", "at column 2: a value is expected, not nul"},
    {"[+1]", "at column 2: a value is expected, not +"},
    {"[.5]", "at column 2: a value is expected, not ."},
    {"[-]", "at column 3: a digit is missing in a number"},
    {"[-a]", "at column 3: a digit is missing in a number"},
    {"[1.]", "at column 4: a digit is missing in a number"},
    {"[1.e5]", "at column 4: a digit is missing in a number"},
    {"[1e]", "at column 4: a digit is missing in a number"},
    {"[1e+]", "at column 4: a digit is missing in a number"},
    {"[01]", "at column 2: a number begins with a zero that means nothing"},
    {"[-00]", "at column 2: a number begins with a zero that means nothing"},
    {"[0x10]", "at column 3: ',' or ']' is expected, not x10"},
    {"[1_000]", "at column 3: ',' or ']' is expected, not _"},
    {"[9223372036854775808]", "at column 2: an integer is beyond the range of 64 bits"},
    {"[-9223372036854775809]", "at column 2: an integer is beyond the range of 64 bits"},
    {"[99999999999999999999]", "at column 2: an integer is beyond the range of 64 bits"},
    {"[1e309]", "at column 2: a number is beyond the range of doubles"},
    {"[-1e999]", "at column 2: a number is beyond the range of doubles"},
    {"[\"a]", "at column 2: a text begins that does not end"},
    {"[\"a\\\"]", "at column 2: a text begins that does not end"},
    {"[\"\\x\"]", "at column 3: a backslash begins no escape that JSON has"},
    {"[\"\\", "at column 3: a backslash begins no escape that JSON has"},
    {"[\"\\u12\"]", "at column 3: a backslash begins no escape that JSON has"},
    {"[\"\\u12g4\"]", "at column 3: a backslash begins no escape that JSON has"},
    {"[\"\\ud800\"]", "or half a pair of surrogates"},
    {"[\"\\ud800\\u0041\"]", "or half a pair of surrogates"},
    {"[\"\\udc00\"]", "or half a pair of surrogates"},
    {"[\"\\u0000\"]", "at column 3: a text may not hold \\u0000"},
    {"[\"a\tb\"]", "at column 4: the control character 0x09 stands in a text as it is"},
    {"[\"\xff\"]", "at column 3: the byte 0xff is not UTF-8"},
    {"[\"\xc0\x80\"]", "at column 3: the byte 0xc0 is not UTF-8"},
    {"[\"\xed\xa0\x80\"]", "at column 3: the byte 0xed is not UTF-8"},
    {"[\"\xf4\x90\x80\x80\"]", "at column 3: the byte 0xf4 is not UTF-8"},
    {"[\"\xe2\x82\"]", "at column 3: the byte 0xe2 is not UTF-8"},
    {"[\x01]", "at column 2: a value is expected, not the byte 0x01"},
    {"[\xff]", "at column 2: a value is expected, not the byte 0xff"},
    {"[\xc3\xa9]", "at column 2: a value is expected, not \xc3\xa9"},
    {"{\"a\":1,\"a\":2}", "at column 8: the object has two members named \"a\""},
    {"{\"a\":1,\"\\u0061\":2}", "at column 8: the object has two members named \"a\""},
    {"[\"\xc3\xa9\", x]", "at column 7: a value is expected, not x"},
    {"[1,\n 2,\n  \"\xc3\xa9\" 3]", "at line 3, column 7: ',' or ']' is expected, not 3"},
    {"[{\"a\":1,\"b\":2},{\"a\":1,\"b\":2,\"a\":3}]",
     "at column 29: the object has two members named \"a\""},
};

Test(json_parse, a_fault_says_what_and_where)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct parsed p;
        parse_text(&p, faults[i].text);
        cr_expect_eq(p.code, PV_E_SYNTAX, "%s", faults[i].text);
        cr_expect_not_null(strstr(p.err.detail, "not valid JSON at "), "%s", p.err.detail);
        cr_expect_not_null(strstr(p.err.detail, faults[i].detail), "%s: %s", faults[i].text,
                           p.err.detail);
        cr_expect(strview_is_utf8(strview_of(p.err.detail)), "%s", faults[i].text);
        finish(&p);
    }
}

Test(json_parse, a_nul_byte_is_a_fault_wherever_it_stands)
{
    static const char text[] = "{\"a\":[1,true],\"b\":\"c\"} ";
    for (size_t i = 0; i < sizeof text - 1; i++) {
        char broken[sizeof text];
        struct parsed p;
        memcpy(broken, text, sizeof text);
        broken[i] = '\0';
        parse(&p, broken, sizeof text - 1);
        cr_expect_eq(p.code, PV_E_SYNTAX, "%zu", i);
        finish(&p);
    }
}

Test(json_parse, every_beginning_of_a_text_is_a_fault)
{
    static const char text[] = "{\"a\":[1.5e1,true,null,{\"b\":\"\\u00e9\xc3\xa9\"}],\"c\":-12}";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        struct parsed p;
        parse(&p, text, n);
        cr_expect_eq(p.code, PV_E_SYNTAX, "%zu", n);
        finish(&p);
    }
}

/* --- values --- */

Test(json_parse, values_are_what_the_text_says)
{
    struct parsed p;
    parse_text(&p, " { \"a\" : [ 1 , -0 , -9223372036854775808, 9223372036854775807, 1.0, -0.0,"
                   " 5e-324, true, false, null, \"\", {}, [] ],\r\n\t\"\":\"x\" } ");
    cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
    cr_assert_eq(json_value_members(p.value), 2u);
    const struct json_value *a = json_value_member(p.value, "a");
    cr_assert_eq(json_value_items(a), 13u);
    cr_expect_eq(json_value_item(a, 0)->integer, 1);
    cr_expect(json_value_is_integer(json_value_item(a, 1)) && json_value_item(a, 1)->integer == 0);
    cr_expect_eq(json_value_item(a, 2)->integer, INT64_MIN);
    cr_expect_eq(json_value_item(a, 3)->integer, INT64_MAX);
    cr_expect(json_value_is(json_value_item(a, 4), JSON_VALUE_REAL));
    cr_expect(json_value_item(a, 5)->real == 0 && signbit(json_value_item(a, 5)->real));
    cr_expect_eq(json_value_item(a, 6)->real, 5e-324);
    cr_expect(json_value_is_true(json_value_item(a, 7)));
    cr_expect(json_value_is(json_value_item(a, 8), JSON_VALUE_FALSE));
    cr_expect(json_value_is_null(json_value_item(a, 9)));
    cr_expect_str_eq(json_value_text(json_value_item(a, 10)), "");
    cr_expect_eq(json_value_members(json_value_item(a, 11)), 0u);
    cr_expect_null(json_value_member(json_value_item(a, 11), "a"));
    cr_expect(json_value_is_array(json_value_item(a, 12)));
    cr_expect_null(json_value_item(a, 13));
    cr_expect_str_eq(json_value_text(json_value_member(p.value, "")), "x");
    cr_expect_null(json_value_member(p.value, "b"));
    cr_expect_null(json_value_member(NULL, "b"));
    finish(&p);
}

Test(json_parse, escapes_are_resolved)
{
    struct parsed p;
    parse_text(&p,
               "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\ude00\xf0\x9f\x98\x80\x7f\"]");
    cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
    cr_expect_str_eq(json_value_text(json_value_item(p.value, 0)),
                     "\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf0\x9f\x98\x80\x7f");
    finish(&p);
}

/* Ended by each of what ends them, at every distance from the ends of wide loads. */
Test(json_parse, texts_of_every_length_arrive)
{
    for (size_t n = 0; n < 70; n++) {
        char text[100] = "[\"";
        struct parsed p;
        memset(text + 2, 'k', n);
        strcat(text, n % 2 == 0 ? "\"]" : "\\n\"]");
        parse_text(&p, text);
        cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
        struct strview got = json_value_view(json_value_item(p.value, 0));
        cr_expect_eq(got.n, n + n % 2);
        cr_expect_eq(strspn(got.at, "k"), n);
        cr_expect_eq(got.at[got.n], '\0');
        finish(&p);
    }
}

/* Objects that share names with the one before them, and those that only seem to. */
Test(json_parse, objects_with_the_names_of_the_one_before_share_them)
{
    struct parsed p;
    parse_text(&p,
               "[{\"a\":1,\"b\":{\"x\":1}},{\"a\":2,\"b\":{\"x\":2}},{\"a\":3},{\"b\":4,\"a\":5},"
               "{\"a\":6,\"b\":7,\"c\":8},{\"a\\\"\":9},{\"a\\\"\":10},{\"\\u0061\":11},{}]");
    cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
    const struct json_value *first = json_value_item(p.value, 0);
    const struct json_value *second = json_value_item(p.value, 1);
    cr_expect_eq(first->items[-1].keys, second->items[-1].keys);
    cr_expect_eq(json_value_member(first, "b")->items[-1].keys,
                 json_value_member(second, "b")->items[-1].keys);
    cr_expect_eq(json_value_member(json_value_member(second, "b"), "x")->integer, 2);
    static const struct {
        size_t item;
        const char *key;
        int64_t value;
    } wanted[] = {{2, "a", 3}, {3, "b", 4},   {3, "a", 5},    {4, "a", 6}, {4, "b", 7},
                  {4, "c", 8}, {5, "a\"", 9}, {6, "a\"", 10}, {7, "a", 11}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct json_value *found =
            json_value_member(json_value_item(p.value, wanted[i].item), wanted[i].key);
        cr_assert_not_null(found, "%zu", i);
        cr_expect_eq(found->integer, wanted[i].value, "%zu", i);
    }
    cr_expect_null(json_value_member(json_value_item(p.value, 2), "b"));
    finish(&p);
    parse_text(&p, "[{\"a\\\"b\":1},{\"a\"b\":2}]");
    cr_expect_eq(p.code, PV_E_SYNTAX, "a name is not taken for what it looks like unescaped");
    finish(&p);
}

/* Names are compared eight bytes at a time: they differ in one byte, at each place, or in none. */
Test(json_parse, a_name_that_differs_in_one_byte_is_another)
{
    for (int n = 1; n <= 35; n++) {
        for (int other = 0; other <= n; other++) {
            struct parsed p;
            char first[40];
            char second[40];
            char text[128];
            (void)snprintf(first, sizeof first, "%.*s", n, "abcdefghijklmnopqrstuvwxyzabcdefghijk");
            (void)snprintf(second, sizeof second, "%s", first);
            if (other < n)
                second[other] = '#';
            (void)snprintf(text, sizeof text, "[{\"%s\":1},{\"%s\":2}]", first, second);
            parse_text(&p, text);
            cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
            const struct json_value *item = json_value_item(p.value, 1);
            cr_assert_str_eq(json_value_key(item, 0), second);
            cr_assert_eq(item->items[-1].keys == json_value_item(p.value, 0)->items[-1].keys,
                         other == n);
            finish(&p);
        }
    }
}

Test(json_parse, members_of_large_objects_are_found_and_each_is_there_once)
{
    static const size_t sizes[] = {15, 16, 17, 18, 33, 1000, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = 1;
        char *text = malloc(20 * sizes[s] + 40);
        struct parsed p;
        text[0] = '{';
        for (size_t i = 0; i < sizes[s]; i++)
            n += (size_t)sprintf(text + n, "%s\"k%zu\":%zu", i > 0 ? "," : "", i * 7919 % 1000003,
                                 i);
        strcpy(text + n, "}");
        parse(&p, text, n + 1);
        cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
        for (size_t i = 0; i < sizes[s]; i++) {
            char key[24];
            (void)snprintf(key, sizeof key, "k%zu", i * 7919 % 1000003);
            cr_assert_str_eq(json_value_key(p.value, i), key);
            const struct json_value *found = json_value_member(p.value, key);
            cr_assert(found != NULL && found->integer == (int64_t)i, "%s", key);
        }
        cr_expect_null(json_value_member(p.value, "k"));
        finish(&p);
        strcpy(text + n, ",\"k7919\":0}");
        parse(&p, text, strlen(text));
        cr_expect_eq(p.code, PV_E_SYNTAX);
        char where[64];
        (void)snprintf(where, sizeof where, "column %zu: the object has two members named", n + 2);
        cr_expect_not_null(strstr(p.err.detail, where), "%s, not %s", p.err.detail, where);
        finish(&p);
        free(text);
    }
}

Test(json_parse, nesting_takes_no_stack)
{
    char text[1100];
    struct parsed p;
    for (size_t depth = 1; depth <= bounds.depth; depth += 73) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        parse(&p, text, 2 * depth);
        cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
        size_t levels = 0;
        for (const struct json_value *at = p.value; at != NULL; at = json_value_item(at, 0))
            levels++;
        cr_expect_eq(levels, depth);
        finish(&p);
    }
}

Test(json_parse, equal_values_are_so_in_any_order_of_members)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"{\"a\":1,\"b\":[true,null]}", "{\"b\":[true,null],\"a\":1}", true},
        {"{\"a\":1}", "{\"a\":1.0}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"{\"a\":1}", "{\"b\":1}", false},
        {"[1,2]", "[2,1]", false},
        {"[\"\\u0061\"]", "[\"a\"]", true},
        {"[false]", "[null]", false},
        {"{}", "[]", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parsed a, b;
        parse_text(&a, rows[i].a);
        parse_text(&b, rows[i].b);
        cr_expect_eq(json_value_equal(a.value, b.value), rows[i].equal, "%zu", i);
        finish(&a);
        finish(&b);
    }
    cr_expect(json_value_equal(NULL, NULL));
}

/* --- numbers --- */

static double random_number(struct rng *rng, char text[64])
{
    size_t n = 0;
    size_t whole = rng_next(rng) % 20;
    size_t fraction = rng_next(rng) % 20;
    if (rng_next(rng) % 4 == 0)
        text[n++] = '-';
    if (whole == 0)
        text[n++] = '0';
    for (size_t i = 0; i < whole; i++)
        text[n++] = (char)('0' + (i == 0 ? 1 + rng_next(rng) % 9 : rng_next(rng) % 10));
    text[n++] = '.';
    for (size_t i = 0; i <= fraction; i++)
        text[n++] = (char)('0' + rng_next(rng) % 10);
    text[n] = '\0';
    if (rng_next(rng) % 2 == 0) {
        int most = rng_next(rng) % 2 == 0 ? 30 : 300;
        int exponent = (int)(rng_next(rng) % (2U * (unsigned)most + 1)) - most;
        (void)snprintf(text + n, 64 - n, "%c%+d", rng_next(rng) % 2 == 0 ? 'e' : 'E', exponent);
    }
    return strtod(text, NULL);
}

static void expect_number(const char *text, double want)
{
    char list[128];
    struct parsed p;
    (void)snprintf(list, sizeof list, "[%s]", text);
    parse_text(&p, list);
    if (!isfinite(want)) {
        cr_assert_eq(p.code, PV_E_SYNTAX, "%s", text);
    } else {
        cr_assert_eq(p.code, PV_OK, "%s: %s", text, p.err.detail);
        double got = json_value_number(json_value_item(p.value, 0));
        cr_assert(memcmp(&got, &want, sizeof got) == 0, "%s is %.17g, not %.17g", text, want, got);
    }
    finish(&p);
}

Test(json_parse, numbers_are_rounded_as_by_strtod)
{
    struct rng rng = rng_make(20261126, 0);
    char text[64];
    for (int i = 0; i < (int)rounds(200000); i++) {
        double want = random_number(&rng, text);
        expect_number(text, want);
    }
    for (int i = 0; i < (int)rounds(100000);
         i++) { /* all doubles, as they are written to be read back */
        uint64_t bits = rng_next(&rng);
        double want;
        memcpy(&want, &bits, sizeof want);
        if (!isfinite(want))
            continue;
        (void)snprintf(text, sizeof text, "%.16e", want);
        expect_number(text, strtod(text, NULL));
    }
}

/* Halves between neighbours, which go to the even one unless a digit far behind says otherwise. */
Test(json_parse, halves_between_doubles_go_to_the_even_one)
{
    static const char *const texts[] = {"9007199254740993.0",
                                        "9007199254740995.0",
                                        "9007199254740993.00000000000000000001",
                                        "9007199254740992.99999999999999999999",
                                        "0.1",
                                        "0.3",
                                        "2.2250738585072011e-308",
                                        "2.2250738585072014e-308",
                                        "4.9406564584124654e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1.7976931348623157e308",
                                        "1.7976931348623159e308",
                                        "1e22",
                                        "1e23",
                                        "8.5e22",
                                        "9007199254740991e22",
                                        "123456789012345678e-20",
                                        "0.000000000000000000000000000000000000001",
                                        "1e-400",
                                        "0e400",
                                        "0.0e-999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_number(texts[i], strtod(texts[i], NULL));
}

Test(json_parse, a_number_of_many_digits_is_read_whole)
{
    enum { DIGITS = 5000 };
    char *text = malloc(DIGITS + 16);
    struct parsed p;
    memset(text, '0', DIGITS + 16);
    memcpy(text, "[9007199254740993.", 18);
    text[DIGITS] = '1';
    strcpy(text + DIGITS + 1, "]");
    parse_text(&p, text);
    cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
    cr_expect_eq(json_value_item(p.value, 0)->real, 9007199254740994.0);
    finish(&p);
    text[DIGITS] = '0';
    parse_text(&p, text);
    cr_expect_eq(json_value_item(p.value, 0)->real, 9007199254740992.0);
    finish(&p);
    free(text);
}

/* A fraction of many zeros, which the exponent makes up for: 0.00...01e<zeros + 1> is 1. */
Test(json_parse, a_long_fraction_counts_whatever_the_exponent)
{
    static const size_t zeros[] = {10, 99990, 100026, 1000000, 1200000};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        char *text = malloc(zeros[i] + 32);
        struct parsed p;
        memcpy(text, "[0.", 3);
        memset(text + 3, '0', zeros[i]);
        for (size_t power = 0; power <= 40; power += 20) {
            char want[8];
            (void)snprintf(text + 3 + zeros[i], 29, "1e%zu]", zeros[i] + 1 + power);
            (void)snprintf(want, sizeof want, "1e%zu", power);
            parse_text(&p, text);
            cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
            cr_expect_eq(json_value_item(p.value, 0)->real, strtod(want, NULL), "%zu zeros",
                         zeros[i]);
            finish(&p);
        }
        (void)snprintf(text + 3 + zeros[i], 29, "1e10]");
        parse_text(&p, text);
        cr_assert_eq(p.code, PV_OK, "%s", p.err.detail);
        cr_expect_eq(json_value_item(p.value, 0)->real, zeros[i] == 10 ? 0.1 : 0, "%zu zeros",
                     zeros[i]);
        finish(&p);
        free(text);
    }
}

/* --- what jansson makes of the same --- */

static bool same(const struct json_value *got, const json_t *want)
{
    switch (json_typeof(want)) {
    case JSON_NULL:
        return json_value_is_null(got);
    case JSON_TRUE:
        return json_value_is_true(got);
    case JSON_FALSE:
        return json_value_is(got, JSON_VALUE_FALSE);
    case JSON_INTEGER:
        return json_value_is_integer(got) && got->integer == json_integer_value(want);
    case JSON_REAL:
        return json_value_is(got, JSON_VALUE_REAL) && got->real == json_real_value(want);
    case JSON_STRING:
        return strview_equal(json_value_view(got),
                             (struct strview){json_string_value(want), json_string_length(want)});
    case JSON_ARRAY:
        if (!json_value_is_array(got) || got->n != json_array_size(want))
            return false;
        for (size_t i = 0; i < got->n; i++)
            if (!same(json_value_item(got, i), json_array_get(want, i)))
                return false;
        return true;
    default:
        break;
    }
    if (!json_value_is_object(got) || got->n != json_object_size(want))
        return false;
    size_t i = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)want, key, value)
    {
        if (strcmp(json_value_key(got, i), key) != 0 ||
            json_value_member(got, key) != json_value_member_at(got, i) ||
            !same(json_value_member_at(got, i), value))
            return false;
        i++;
    }
    return true;
}

static const char *const documents[] = {
    "{\"kind\":\"fresh\",\"now_s\":600,\"jobs\":[{\"name\":\"job-000\",\"maps\":270,\"map_task_s\":"
    "9.5,\"b\":null},{\"name\":\"job-001\",\"maps\":27,\"map_task_s\":9.625,\"b\":true}]}",
    " [ 1 , 2.5 , -3e2 , \"\\u00e9\\ud83d\\ude00 \xc3\xa9\" , [ ] , { } , [ [ ] ] , false ] ",
    "{\"a\":{\"a\":{\"a\":[{\"a\":1,\"b\":2},{\"a\":3,\"b\":4},{\"b\":5,\"a\":6}]}},\"b\\\"\":"
    "\"\\\\\\/\\b\"}",
    "{\"01\":1,\"02\":2,\"03\":3,\"04\":4,\"05\":5,\"06\":6,\"07\":7,\"08\":8,\"09\":9,\"10\":0,"
    "\"11\":1,\"12\":2,\"13\":3,\"14\":4,\"15\":5,\"16\":6,\"17\":7,\"18\":8,\"19\":9}",
};

/* A byte replaced, inserted, left out, or a piece repeated. */
static size_t mutate(struct rng *rng, char *text, size_t n)
{
    static const char bytes[] = "{}[]\",:\\u0123456789.eE+-truefalsn \n\t\x01\x7f\xc3\xa9\xff";
    char c = bytes[rng_next(rng) % (sizeof bytes - 1)];
    size_t at = rng_next(rng) % n;
    size_t piece = rng_next(rng) % (n - at);
    switch (rng_next(rng) % 4) {
    case 0:
        text[at] = c;
        return n;
    case 1:
        memmove(text + at + 1, text + at, n - at);
        text[at] = c;
        return n + 1;
    case 2:
        memmove(text + at, text + at + 1, n - at - 1);
        return n - 1;
    default:
        piece = piece < 40 ? piece : 40;
        memmove(text + at + piece, text + at, n - at);
        return n + piece;
    }
}

Test(json_parse, jansson_takes_the_same_and_finds_the_same_in_it)
{
    struct rng rng = rng_make(1, 0);
    size_t taken = 0;
    const size_t all = rounds(200000);
    for (size_t i = 0; i < all; i++) {
        char text[1024];
        const char *document = documents[i % (sizeof documents / sizeof *documents)];
        size_t n = strlen(document);
        memcpy(text, document, n);
        for (size_t k = rng_next(&rng) % 4; k > 0; k--)
            n = mutate(&rng, text, n);
        struct parsed p;
        parse(&p, text, n);
        json_t *want = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
        cr_assert_eq(p.code == PV_OK, want != NULL, "%.*s: %s", (int)n, text, p.err.detail);
        cr_assert(want == NULL || same(p.value, want), "%.*s", (int)n, text);
        taken += want != NULL;
        json_decref(want);
        finish(&p);
    }
    cr_assert_gt(taken, all / 4);
    cr_assert_lt(taken, 3 * all / 4);
}

/* --- measuring --- */

static struct json_extent
measure_by_the_book(const char *text, size_t n, const struct json_bounds *most)
{
    struct json_extent seen = {0};
    size_t depth = 0;
    bool in_text = false;
    for (size_t i = 0; i < n && !seen.too_deep && !seen.too_many; i++) {
        char c = text[i];
        if (c == '\\')
            i += i + 1 < n && (text[i + 1] == '"' || text[i + 1] == '\\');
        else if (c == '"')
            in_text = !in_text;
        if (in_text)
            continue;
        seen.members += c == ':';
        seen.commas += c == ',';
        seen.objects += c == '{';
        seen.arrays += c == '[';
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        seen.too_deep = depth > most->depth;
        seen.too_many = seen.commas + seen.objects + seen.arrays > most->values;
    }
    return seen;
}

static bool same_extent(struct json_extent a, struct json_extent b)
{
    if (a.too_deep != b.too_deep || a.too_many != b.too_many)
        return false;
    return a.too_deep || a.too_many ||
           (a.commas == b.commas && a.objects == b.objects && a.arrays == b.arrays &&
            a.members == b.members);
}

Test(json_parse, all_ways_to_measure_agree_with_the_book)
{
    static const char alphabet[] = "{[{[}]}]\"\"\\,,::ab\x80\xff\x5a\x7e\x3b \n01";
    struct rng rng = rng_make(7, 0);
    size_t outside = 0;
    for (int round = 0; round < 20000; round++) {
        size_t n = rng_next(&rng) % 400;
        const struct json_bounds most = {1 + rng_next(&rng) % 12, 1 + rng_next(&rng) % 100};
        char *bytes = malloc(n + (n == 0));
        for (size_t i = 0; i < n; i++)
            bytes[i] = alphabet[rng_next(&rng) % (sizeof alphabet - 1)];
        struct json_extent want = measure_by_the_book(bytes, n, &most);
        cr_assert(same_extent(json_measure(bytes, n, &most), want), "%.*s", (int)n, bytes);
        cr_assert(same_extent(json_measure_portably(bytes, n, &most), want), "%.*s", (int)n, bytes);
        outside += want.too_deep || want.too_many;
        free(bytes);
    }
    cr_assert(outside > 2000 && outside < 18000, "%zu", outside);
}

/* --- memory --- */

Test(json_parse, no_memory_is_an_ordinary_error)
{
    static const char text[] = "[1,2,{\"a\":[true]}]";
    const struct json_extent extent = json_measure(text, sizeof text - 1, &bounds);
    size_t bytes = json_parse_bytes(&extent, sizeof text - 1, 8);
    const struct json_value *value = NULL;
    struct pv_error err = {0};
    struct arena arena;
    arena_init(&arena, bytes / 2);
    cr_expect_eq(json_parse(text, sizeof text - 1, &extent, 8, &arena, &value, &err), PV_E_MEMORY);
    cr_expect_null(value);
    arena_fini(&arena);
}
