#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/rng.h"

TestSuite(writer_digits, .timeout = 20);

Test(writer_digits, numbers_are_rounded_and_whole_ones_are_not)
{
    cr_assert_eq(writer_rounded(0.9738519057495967, 4), 0.9739);
    cr_assert_eq(writer_rounded(-1234.5678, 6), -1234.57);
    cr_assert_eq(writer_rounded(1234567890123.0, 4), 1234567890123.0);
    cr_assert_eq(writer_rounded(0.0, 4), 0.0);
    cr_assert_eq(writer_rounded(1.0839001549950972e-17, 7), 1.0839e-17);
    cr_assert_eq(writer_rounded(-5.4321e-300, 3), -5.43e-300);
    cr_assert_eq(writer_rounded(123456789.625, 7), 123456790.0);
    cr_assert_eq(writer_rounded(99999.96, 6), 100000.0);
    cr_assert(isnan(writer_rounded((double)NAN, 4)));
    cr_assert(isinf(writer_rounded((double)INFINITY, 4)));
}

/* Nothing is off by more than half a unit of the last digit, and the text has no more digits. */
Test(writer_digits, any_number)
{
    uint64_t state = 5;
    for (int round = 0; round < 100000; round++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double value = pow(10.0, (double)(state >> 40) / (double)(1 << 24) * 24.0 - 9.0);
        unsigned digits = (unsigned)(state >> 20) % 9 + 3;
        double rounded = writer_rounded(value, digits);
        double up = writer_rounded_up(value, digits);
        double share = 0.5000001 * pow(10.0, 1.0 - (double)digits);
        cr_assert_leq(fabs(rounded - value), share * value, "%.17g to %u", value, digits);
        cr_assert(up >= value && up <= value * (1.0 + 20.0 * share), "%.17g to %u", value, digits);
        char text[32];
        size_t n = writer_format_number(rounded, text), shown = 0;
        bool leading = true;
        for (size_t i = 0; i < n && text[i] != 'e' && text[i] != 'E'; i++) {
            leading = leading && (text[i] == '0' || text[i] == '.');
            shown += !leading && text[i] != '.';
        }
        bool whole = value >= pow(10.0, (double)digits);
        cr_assert(whole || shown <= digits + 1, "%.17g to %u: %.*s", value, digits, (int)n, text);
    }
}

Test(writer_digits, a_writer_rounds_what_it_is_told_to)
{
    struct arena arena;
    struct writer w;
    size_t n = 0;
    arena_init(&arena, 0);
    writer_init(&w, &arena);
    writer_begin_array(&w);
    writer_number(&w, 1.0 / 3.0);
    w.digits = 3;
    writer_number(&w, 1.0 / 3.0);
    writer_number(&w, 12345678.0);
    writer_end_array(&w);
    cr_assert_str_eq(writer_finish(&w, &n), "[0.3333333333333333,0.333,12345678]");
    arena_fini(&arena);
}

/* By the longer way: the shortest of 15, 16 and 17 digits that reads back, rounded from 17. */
static void format_by_libc(double value, char out[40])
{
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(out, 40, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            return;
    }
}

static void expect_as_by_libc(double value)
{
    char got[32];
    char want[40];
    (void)writer_format_number(value, got);
    cr_assert_eq(strtod(got, NULL), value, "%s is no %.17g", got, value);
    format_by_libc(value, want);
    if (strcmp(got, want) == 0)
        return;
    /* Only of two that are as near, or nearly, another may be taken; never a longer one. */
    cr_assert_leq(strlen(got), strlen(want), "%s, not %s", got, want);
    (void)snprintf(want, sizeof want, "%.16e", fabs(value));
    cr_assert_eq(want[17], '5', "%s, not %s", got, want);
}

Test(writer_digits, numbers_are_written_as_libc_would)
{
    struct rng rng = rng_make(20261126, 1);
    for (int i = 0; i < 400000; i++) {
        uint64_t bits = rng_next(&rng);
        double any;
        memcpy(&any, &bits, sizeof any);
        double usual = ldexp(rng_uniform(&rng), (int)(rng_next(&rng) % 110) - 58);
        if (isfinite(any) && any != floor(any))
            expect_as_by_libc(any);
        if (usual != floor(usual))
            expect_as_by_libc(i % 2 == 0 ? usual : -usual);
    }
    for (int e = -60; e < 0; e++) { /* and where the neighbours are not equally near */
        expect_as_by_libc(ldexp(1, e));
        expect_as_by_libc(nextafter(ldexp(1, e), 0));
    }
    for (int e = -18; e < 0; e++) {
        expect_as_by_libc(pow(10, e));
        expect_as_by_libc(nextafter(pow(10, e), 0));
        expect_as_by_libc(nextafter(pow(10, e), 1));
    }
}

/* Those have a way of their own, which their neighbours must not take. */
Test(writer_digits, thousandths_are_written_as_libc_would)
{
    struct rng rng = rng_make(20261126, 2);
    for (int i = 0; i < 200000; i++) {
        uint64_t thousandths = (rng_next(&rng) >> 14) >> rng_next(&rng) % 50;
        double value = (double)thousandths / 1e3;
        double sign = i % 2 == 0 ? 1 : -1;
        if (value == floor(value))
            continue;
        expect_as_by_libc(sign * value);
        expect_as_by_libc(sign * nextafter(value, 0));
        expect_as_by_libc(sign * nextafter(value, 1e300));
    }
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.001, "0.001"},
                {-0.5, "-0.5"},
                {0.0005, "0.0005"},
                {1627.5, "1627.5"},
                {12.05, "12.05"},
                {999999999999.999, "999999999999.999"},
                {0.1 + 0.2, "0.30000000000000004"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[32];
        cr_assert_eq(writer_format_number(rows[i].value, text), strlen(rows[i].text));
        cr_assert_str_eq(text, rows[i].text);
    }
}

Test(writer_digits, integers_are_written_as_libc_would)
{
    struct rng rng = rng_make(20261126, 3);
    static const int64_t ends[] = {0, 1, -1, 9, 10, 99, 100, 105, 1005, -10, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 100000; i++) {
        int64_t value = i < sizeof ends / sizeof *ends
                            ? ends[i]
                            : (int64_t)(rng_next(&rng) >> rng_next(&rng) % 64);
        char got[24];
        char want[24];
        int n = snprintf(want, sizeof want, "%lld", (long long)value);
        cr_assert_eq(writer_format_integer(value, got), (size_t)n);
        cr_assert_str_eq(got, want);
    }
}
