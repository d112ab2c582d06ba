#include "base/json_writer.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/run.h"

Test(writer, shape_and_commas)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct writer w;
    writer_init(&w, &arena);
    writer_begin_object(&w);
    writer_member_string(&w, "a", "x");
    writer_key(&w, "b");
    writer_begin_array(&w);
    writer_integer(&w, -3);
    writer_boolean(&w, true);
    writer_null(&w);
    writer_begin_object(&w);
    writer_end_object(&w);
    writer_end_array(&w);
    writer_member_number(&w, "c", (double)NAN);
    writer_member_count(&w, "d", RUN_UNKNOWN);
    writer_member_text(&w, "e", (struct strview){NULL, 0});
    writer_member_instant(&w, "f", RUN_NO_INSTANT);
    writer_key(&w, "g");
    writer_raw(&w, strview_of("[1,2]"));
    writer_end_object(&w);
    size_t n;
    const char *text = writer_finish(&w, &n);
    cr_assert_str_eq(text, "{\"a\":\"x\",\"b\":[-3,true,null,{}],\"c\":null,\"d\":null,\"e\":null,"
                           "\"f\":null,\"g\":[1,2]}");
    cr_assert_eq(n, strlen(text));
    arena_fini(&arena);
}

/* Every byte that JSON must escape comes back through another reader. */
Test(writer, texts_read_back)
{
    char all[128];
    for (int i = 0; i < 127; i++)
        all[i] = (char)(i + 1);
    all[127] = '\0';
    struct arena arena;
    arena_init(&arena, 0);
    struct writer w;
    writer_init(&w, &arena);
    writer_begin_array(&w);
    writer_string(&w, all);
    writer_string(&w, "\xc3\xa9\xf0\x9f\x98\x80");
    writer_end_array(&w);
    size_t n;
    const char *text = writer_finish(&w, &n);
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_not_null(json);
    cr_assert_str_eq(json_string_value(json_array_get(json, 0)), all);
    cr_assert_str_eq(json_string_value(json_array_get(json, 1)), "\xc3\xa9\xf0\x9f\x98\x80");
    json_decref(json);
    arena_fini(&arena);
}

/* Length of the shortest of libc's forms that reads back. */
static size_t shortest(double value)
{
    char text[32];
    int n = 0;
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return (size_t)n;
}

Test(writer, numbers_are_short_and_exact)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.1, "0.1"},
                {1.0 / 3, "0.3333333333333333"},
                {1e300, "1e+300"},
                {-2.5, "-2.5"},
                {0, "0"},
                {-0.0, "-0.0"},
                {16, "16"},
                {-999999999999999.0, "-999999999999999"},
                {0.001, "0.001"},
                {1.25e-5, "1.25e-05"},
                {0.00099999999999999999, "0.001"},
                {123456.75, "123456.75"},
                {1e15, "1e+15"},
                {123456789012345680.0, "1.2345678901234568e+17"},
                {2.5e15, "2.5e+15"},
                {9.9999999999999982e22, "9.999999999999998e+22"},
                {1.7976931348623157e308, "1.7976931348623157e+308"},
                {5e-324, "4.94065645841247e-324"}};
    char text[32];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writer_format_number(rows[i].value, text);
        cr_assert_str_eq(text, rows[i].text);
    }
    srand(7);
    for (int i = 0; i < 100000; i++) {
        double value = ldexp((double)rand() / 7 + (double)rand() * 1e9, rand() % 200 - 100);
        cr_assert_eq(writer_format_number(value, text), strlen(text));
        cr_assert_eq(strtod(text, NULL), value, "%s", text);
        if (value != floor(value))
            cr_assert_eq(strlen(text), shortest(value), "%s", text);
    }
}

Test(writer, integers_and_keys_are_exact_at_their_ends)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct writer w;
    writer_init(&w, &arena);
    writer_begin_object(&w);
    writer_member_integer(&w, "least", INT64_MIN);
    writer_member_integer(&w, "a \"quoted\"\n key", INT64_MAX);
    writer_member_integer(&w, "", 0);
    writer_end_object(&w);
    size_t n;
    cr_assert_str_eq(writer_finish(&w, &n),
                     "{\"least\":-9223372036854775808,"
                     "\"a \\\"quoted\\\"\\n key\":9223372036854775807,\"\":0}");
    arena_fini(&arena);
}

Test(writer, running_out_of_memory_is_told_at_the_end)
{
    struct arena arena;
    arena_init(&arena, 8192);
    struct writer w;
    writer_init(&w, &arena);
    writer_begin_array(&w);
    for (int i = 0; i < 10000; i++)
        writer_integer(&w, i);
    writer_end_array(&w);
    size_t n = 7;
    cr_assert_null(writer_finish(&w, &n));
    cr_assert_eq(n, 7u);
    arena_fini(&arena);
}

static void write_escaped(unsigned char c, char out[8])
{
    if (c == '"' || c == '\\')
        (void)snprintf(out, 8, "\\%c", c);
    else if (c == '\n' || c == '\t')
        (void)snprintf(out, 8, "\\%c", c == '\n' ? 'n' : 't');
    else
        (void)snprintf(out, 8, c < 0x20 || c == 0x7f ? "\\u%04x" : "%c", c);
}

/* Texts are copied eight bytes at a time: each byte at each place, in texts of each length. */
Test(writer, any_byte_is_escaped_wherever_it_is)
{
    for (int n = 0; n < 19; n++) {
        for (int i = 0; i < (n + 1) * 255; i++) {
            const int before = i % (n + 1);
            const unsigned char c = (unsigned char)(i / (n + 1) + 1);
            char text[64];
            char escaped[8];
            char want[160];
            struct arena arena;
            struct writer w;
            size_t length;
            write_escaped(c, escaped);
            (void)snprintf(text, sizeof text, "%.*s%c%.*s", before, "abcdefghijklmnopqrst", c,
                           n - before, "ABCDEFGHIJKLMNOPQRST");
            (void)snprintf(want, sizeof want, "{\"%.*s%s%.*s\":\"%.*s%s%.*s\"}", before,
                           "abcdefghijklmnopqrst", escaped, n - before, "ABCDEFGHIJKLMNOPQRST",
                           before, "abcdefghijklmnopqrst", escaped, n - before,
                           "ABCDEFGHIJKLMNOPQRST");
            arena_init(&arena, 0);
            writer_init(&w, &arena);
            writer_begin_object(&w);
            writer_member_string(&w, text, text);
            writer_end_object(&w);
            cr_assert_str_eq(writer_finish(&w, &length), want);
            cr_assert_eq(length, strlen(want));
            arena_fini(&arena);
        }
    }
}
