#include "http/etag.h"

#include <criterion/criterion.h>

static struct http_header header;
static const struct http_request request = {.headers = &header, .n_headers = 1};

static void send(const char *name, const char *value)
{
    header = (struct http_header){name, value};
}

Test(etag, compares_weakly_for_reads, .timeout = 5)
{
    char tag[HTTP_ETAG_TEXT];
    http_etag_format(7, tag);
    cr_assert_str_eq(tag, "\"v7\"");
    static const char *const yes[] = {"\"v7\"",        "W/\"v7\"",    "\"a,b\", W/\"v7\"", "*",
                                      "\"x\" ,\"v7\"", "\"v7-gzip\"", "W/\"v7-gzip\""};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        send("if-none-match", yes[i]);
        cr_assert(http_none_match_holds(&request, tag), "%s", yes[i]);
    }
    static const char *const no[] = {
        "\"v70\"", "\"v70-gzip\"", "\"v7-gzip-gzip\"", "v7", "\"a, v7\"", "", "\"v7"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        send("If-None-Match", no[i]);
        cr_assert_not(http_none_match_holds(&request, tag), "%s", no[i]);
    }
    send("If-Match", "*");
    cr_assert_not(http_none_match_holds(&request, tag));
}

Test(etag, compares_strongly_for_writes, .timeout = 5)
{
    send("If-Match", "\"v7\"");
    cr_assert_eq(http_if_match(&request, "\"v7\""), HTTP_MATCH_YES);
    cr_assert_eq(http_if_match(&request, "\"v8\""), HTTP_MATCH_NO);
    send("If-Match", "\"v7-gzip\"");
    cr_assert_eq(http_if_match(&request, "\"v7\""), HTTP_MATCH_YES, "packed bytes of it");
    cr_assert_eq(http_if_match(&request, "\"v8\""), HTTP_MATCH_NO);
    send("If-Match", "W/\"v7\"");
    cr_assert_eq(http_if_match(&request, "\"v7\""), HTTP_MATCH_NO, "a weak tag never matches");
    send("If-Match", "*");
    cr_assert_eq(http_if_match(&request, "\"v7\""), HTTP_MATCH_YES);
    cr_assert_eq(http_if_match(&request, NULL), HTTP_MATCH_NO, "* asks for something to be there");
    send("X", "y");
    cr_assert_eq(http_if_match(&request, "\"v7\""), HTTP_MATCH_ABSENT);
}
