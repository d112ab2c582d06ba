#include "http/trace.h"

#include <criterion/criterion.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"

Test(trace, reads_a_traceparent, .timeout = 5)
{
    struct http_trace trace;
    cr_assert(http_trace_parse("00-" TRACE "-" SPAN "-01", &trace));
    cr_assert_str_eq(trace.trace_id, TRACE);
    cr_assert_str_eq(trace.parent_id, SPAN);
    cr_assert_eq(trace.flags, 1);
    cr_assert(http_trace_parse("cc-" TRACE "-" SPAN "-a0-what-comes-later", &trace),
              "a higher version is read by its first four fields");
    cr_assert_eq(trace.flags, 0xa0);
    cr_assert(http_trace_parse("01-" TRACE "-" SPAN "-00", &trace));
}

Test(trace, refuses_what_is_none, .timeout = 5)
{
    static const char *const bad[] = {
        "",
        "00",
        "ff-" TRACE "-" SPAN "-01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01",
        "00-" TRACE "-" SPAN "-01-more",
        "00-" TRACE "-" SPAN "-0",
        "00-" TRACE "-" SPAN "-0x",
        "00_" TRACE "-" SPAN "-01",
        "01-" TRACE "-" SPAN "-01x",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct http_trace trace;
        cr_assert_not(http_trace_parse(bad[i], &trace), "%s", bad[i]);
    }
}

Test(trace, takes_only_harmless_request_ids, .timeout = 5)
{
    char longest[130] = "";
    memset(longest, 'a', 129);
    cr_assert_not(http_request_id_is_valid(longest));
    longest[128] = '\0';
    cr_assert(http_request_id_is_valid(longest));
    cr_assert(http_request_id_is_valid("ci-1.2_A"));
    cr_assert_not(http_request_id_is_valid(""));
    cr_assert_not(http_request_id_is_valid("a b"));
    cr_assert_not(http_request_id_is_valid("a\"b"));
    cr_assert_not(http_request_id_is_valid("\xc3\xa9"));
}

Test(trace, formats_what_it_parses, .timeout = 5)
{
    char text[HTTP_TRACEPARENT];
    struct http_trace trace;
    http_trace_format(TRACE, SPAN, 0xa1, text);
    cr_assert_str_eq(text, "00-" TRACE "-" SPAN "-a1");
    cr_assert(http_trace_parse(text, &trace));
    cr_assert_str_eq(trace.trace_id, TRACE);
    cr_assert_str_eq(trace.parent_id, SPAN);
    cr_assert_eq(trace.flags, 0xa1);
}
