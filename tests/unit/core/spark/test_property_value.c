#include <criterion/criterion.h>
#include <math.h>

#include "core/spark/property_value.h"

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static struct strview text(const char *of)
{
    return strview_of(of);
}

Test(property_value, truth_values)
{
    cr_assert(property_boolean(text("True"), false));
    cr_assert_not(property_boolean(text("FALSE"), true));
    cr_assert(property_boolean(text(" true\t"), false));
    static const char *const none[] = {"yes", "1", "", " ", "t", "true false", "on"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect(property_boolean(text(none[i]), true) && !property_boolean(text(none[i]), false),
                  "%s", none[i]);
}

/* Integer.parseInt takes a sign and digits, behind Java's trim. */
Test(property_value, whole_numbers)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {{"4", 4},   {"+4", 4}, {"-4", -4},       {"007", 7},
                {" 7 ", 7}, {"-0", 0}, {"\t12\r\n", 12}, {"9223372036854775807", INT64_MAX}};
    static const char *const none[] = {"",
                                       " ",
                                       "+",
                                       "--4",
                                       "+ 4",
                                       "4 4",
                                       "0x4",
                                       "1_000",
                                       "1,000",
                                       "4.0",
                                       "4d",
                                       "4L",
                                       "1e3",
                                       "12k",
                                       "\u0664",
                                       "9223372036854775808",
                                       "99999999999999999999"};
    int64_t value;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_assert(property_whole(text(rows[i].text), &value), "%s", rows[i].text);
        cr_expect_eq(value, rows[i].value, "%s", rows[i].text);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect_not(property_whole(text(none[i]), &value), "%s", none[i]);
    cr_expect_not(property_whole((struct strview){NULL, 0}, &value));
    cr_expect_eq(property_count(text(" 12 ")), 12);
    cr_expect_eq(property_count(text("2147483647")), INT32_MAX);
    cr_expect_eq(property_count(text("2147483648")), RUN_UNKNOWN);
    cr_expect_eq(property_count(text("-1")), RUN_UNKNOWN);
    cr_expect_eq(property_count((struct strview){"42x", 2}), 42, "no further than its end");
    cr_expect_eq(property_count((struct strview){"42 x", 3}), 42);
}

/* Double.parseDouble takes a suffix of type, and hexadecimal numbers with a binary exponent alone. */
Test(property_value, numbers)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {{"2.5e1", 25},   {" .5 ", 0.5},  {"5.", 5},     {"+4", 4},
                {"-4e-1", -0.4}, {"4d", 4},      {"4F", 4},     {"1e3f", 1000},
                {"0x1p3", 8},    {"0X.8P1d", 1}, {"0x1dp0", 29}};
    static const char *const none[] = {"",      " ",   ".",    "e5",    "2.5x", "inf",  "nan",
                                       "1_000", "0x1", "0x1d", "0x",    "1e",   "1e+",  "1,5",
                                       "4dd",   "1 2", "0xp1", "1.2.3", "4l",   "1e999"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_float_eq(property_number(text(rows[i].text)), rows[i].value, 1e-12, "%s",
                           rows[i].text);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect(isnan(property_number(text(none[i]))), "%s", none[i]);
}

Test(property_value, sizes)
{
    cr_assert_eq(property_size(text("8g"), MIB), 8 * GIB);
    cr_assert_eq(property_size(text("512"), MIB), 512 * MIB);
    cr_assert_eq(property_size(text("512"), 1), 512);
    cr_assert_eq(property_size(text("2GB"), 1), 2 * GIB);
    cr_assert_eq(property_size(text(" 10b "), MIB), 10);
    cr_assert_eq(property_size(text("9k"), 1), 9216);
    cr_assert_eq(property_size(text("0"), MIB), 0);
    static const char *const none[] = {"1.5g", "10bb", "-1g", "9999999p", "+4g", "4 g",
                                       "4gib", "g",    "",    "0x4g",     "1_0m"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect_eq(property_size(text(none[i]), MIB), RUN_UNKNOWN, "%s", none[i]);
    int64_t bytes;
    cr_assert(property_bytes(text("-1"), 1, &bytes));
    cr_assert_eq(bytes, -1);
    cr_assert_eq(property_default_overhead(GIB, 0.1), 384 * MIB);
    cr_assert_eq(property_default_overhead(8 * GIB, 0.1), 819 * MIB);
}

Test(property_value, times)
{
    static const struct {
        const char *text;
        double seconds;
    } rows[] = {{"5us", 5e-6}, {"5ms", 5e-3}, {" 5s ", 5},   {"5", 5},
                {"5m", 300},   {"5min", 300}, {"5h", 18000}, {"5D", 432000}};
    static const char *const none[] = {"", "s", "5 s", "5x", "-5s", "+5s", "1.5s", "5sec"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_float_eq(property_seconds(text(rows[i].text)), rows[i].seconds, 1e-12, "%s",
                           rows[i].text);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect(isnan(property_seconds(text(none[i]))), "%s", none[i]);
    cr_expect_float_eq(property_time(text("500"), 1e-3), 0.5, 1e-12);
    cr_expect_float_eq(property_time(text("-1"), 1e-3), -1e-3, 1e-12);
}

/* Kubernetes takes no blanks, and no suffix behind an exponent. */
Test(property_value, cores_of_kubernetes)
{
    static const struct {
        const char *text;
        double cores;
    } rows[] = {{"1500m", 1.5}, {"0.5", 0.5}, {".5", 0.5},   {"5.", 5},
                {"1e1", 10},    {"1k", 1000}, {"1Ki", 1024}, {"1500000u", 1.5}};
    static const char *const none[] = {"0",     "m",  "",     " 7 ", "1 ",  "+4",    "-1", "0x1",
                                       "1_000", "4d", "1e3m", "inf", "1mm", "1.2.3", "."};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_float_eq(property_cores(text(rows[i].text)), rows[i].cores, 1e-9, "%s",
                           rows[i].text);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect(isnan(property_cores(text(none[i]))), "%s", none[i]);
    cr_expect(isnan(property_cores((struct strview){NULL, 0})));
}

Test(property_value, versions)
{
    cr_assert(property_version_is(text("3.10.0-amzn-1"), 3, 2, false));
    cr_assert_not(property_version_is(text("3.1.2"), 3, 2, true));
    cr_assert(property_version_is(text("photon"), 3, 2, true));
    cr_expect_not(property_version_is(text("2.9.1"), 3, 2, true));
    cr_expect(property_version_is(text("3.2"), 3, 2, false));
    cr_expect(property_version_is(text("4.0.0"), 3, 2, false));
    cr_expect(property_version_is(text("4"), 3, 2, true));
    cr_expect(property_version_is(text(".5"), 3, 2, true));
    cr_expect_not(property_version_is(text("4."), 3, 2, false));
}
