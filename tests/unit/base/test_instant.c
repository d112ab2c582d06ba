#include "base/instant.h"

#include <criterion/criterion.h>
#include <stdio.h>

static int64_t parsed(const char *text)
{
    int64_t us = INT64_MIN;
    cr_assert(instant_parse(text, &us), "%s", text);
    return us;
}

Test(instant, known_instants)
{
    cr_assert_eq(parsed("1970-01-01T00:00:00Z"), 0);
    cr_assert_eq(parsed("2000-02-29T12:34:56.789Z"), INT64_C(951827696789000));
    cr_assert_eq(parsed("1969-12-31T23:59:59.999999Z"), -1);
    cr_assert_eq(parsed("2026-01-05T10:00:00+02:00"), parsed("2026-01-05T08:00:00Z"));
    cr_assert_eq(parsed("2026-01-05T10:00:00-00:30"), parsed("2026-01-05T10:30:00Z"));
    cr_assert_eq(parsed("2016-12-31T23:59:60Z"), parsed("2016-12-31T23:59:59Z"));
    cr_assert_eq(parsed("2026-01-05t10:00:00.123456789z"), parsed("2026-01-05T10:00:00.123456Z"));
}

Test(instant, what_is_no_instant_is_refused)
{
    static const char *const wrong[] = {"",
                                        "2026",
                                        "2026-01-05",
                                        "2026-01-05T10:00:00",
                                        "2026-13-05T10:00:00Z",
                                        "2026-02-29T10:00:00Z",
                                        "2026-01-05T24:00:00Z",
                                        "2026-01-05T10:60:00Z",
                                        "2026-01-05T10:00:61Z",
                                        "2026-01-05T10:00:00.Z",
                                        "2026-01-05T10:00:00Zx",
                                        "2026-01-05T10:00:00+2:00",
                                        "2026-01-05T10:00:00+24:00",
                                        "0000-01-05T10:00:00Z",
                                        "2026-01-00T10:00:00Z",
                                        "2026-1-05T10:00:00ZZ",
                                        "2026-01-05 10:00:00Z",
                                        "2026-01-05T10:00:00.1234567890Z"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t us = 7;
        cr_assert_not(instant_parse(wrong[i], &us), "%s", wrong[i]);
        cr_assert_eq(us, 7, "untouched on failure");
    }
}

Test(instant, formats_without_needless_digits)
{
    char text[INSTANT_TEXT];
    instant_format(0, text);
    cr_assert_str_eq(text, "1970-01-01T00:00:00Z");
    instant_format(INT64_C(951827696789000), text);
    cr_assert_str_eq(text, "2000-02-29T12:34:56.789Z");
    instant_format(-1, text);
    cr_assert_str_eq(text, "1969-12-31T23:59:59.999999Z");
}

/* Every day of 400 years around the epoch, and one second of each: reading undoes writing. */
Test(instant, reading_undoes_writing)
{
    for (int64_t day = -73000; day < 73000; day++) {
        int64_t us = (day * 86400 + (day & 1023) * 84) * 1000000 + (day & 7) * 1001;
        char text[INSTANT_TEXT];
        instant_format(us, text);
        cr_assert_eq(parsed(text), us, "%s", text);
    }
}
