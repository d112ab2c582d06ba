#include "http/target.h"

#include <criterion/criterion.h>

static struct arena arena;
static struct http_target target;

static enum pv_code parse(const char *raw)
{
    return http_target_parse(raw, &arena, &target, NULL);
}

Test(target, splits_before_it_decodes, .timeout = 5)
{
    cr_assert_eq(parse("/v1/applications/a%2Fb/runs"), PV_OK);
    cr_assert_eq(target.n_segments, 4);
    cr_assert_str_eq(target.segments[2], "a/b", "an encoded slash is part of a name");
    cr_assert_str_eq(target.path, "/v1/applications/a%2Fb/runs");
}

Test(target, keeps_empty_segments, .timeout = 5)
{
    cr_assert_eq(parse("/v1//x/"), PV_OK);
    cr_assert_eq(target.n_segments, 4);
    cr_assert_str_eq(target.segments[1], "");
    cr_assert_str_eq(target.segments[3], "");
    cr_assert_eq(parse("/"), PV_OK);
    cr_assert_eq(target.n_segments, 1);
}

Test(target, decodes_the_query, .timeout = 5)
{
    cr_assert_eq(parse("/x?label=a%3Ab+c&&empty=&flag&e=%C3%A9&plus=1%2B1&eq=a=b"), PV_OK);
    static const char *const want[][2] = {{"label", "a:b c"}, {"empty", ""},   {"flag", ""},
                                          {"e", "\xc3\xa9"},  {"plus", "1+1"}, {"eq", "a=b"}};
    cr_assert_eq(target.n_query, sizeof want / sizeof *want);
    for (size_t i = 0; i < target.n_query; i++) {
        cr_assert_str_eq(target.query[i].name, want[i][0]);
        cr_assert_str_eq(target.query[i].value, want[i][1]);
    }
}

Test(target, takes_absolute_form_and_asterisk, .timeout = 5)
{
    cr_assert_eq(parse("http://host:80/a/b?c=d"), PV_OK);
    cr_assert_str_eq(target.path, "/a/b");
    cr_assert_eq(target.n_query, 1);
    cr_assert_eq(parse("HTTPS://host"), PV_OK);
    cr_assert_str_eq(target.path, "/");
    cr_assert_eq(parse("http://host?q=1"), PV_OK);
    cr_assert_str_eq(target.path, "/");
    cr_assert_eq(parse("*"), PV_OK);
    cr_assert(target.asterisk);
}

/* Each of these has two readings, or none: nothing of it may reach a handler. */
Test(target, refuses_what_is_malformed, .timeout = 5)
{
    static const char *const bad[] = {"/a%00b",   "/%",        "/%4",       "/a%zz",    "/%ff",
                                      "/%C0%AF",  "/a?x=%00",  "/a?x=%",    "/a?%ff=1", "/a?=1",
                                      "/a#b",     "/a b",      "/\xc3\xa9", "a/b",      "host:443",
                                      "ftp://h/", "http:///a", "/a\\b",     "",         "/a?x=%4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pv_error err = {0};
        cr_assert_eq(http_target_parse(bad[i], &arena, &target, &err), PV_E_SYNTAX, "%s", bad[i]);
        cr_assert_eq(err.code, PV_E_SYNTAX);
    }
}

Test(target, names_the_parameter_at_fault, .timeout = 5)
{
    struct pv_error err = {0};
    cr_assert_eq(http_target_parse("/a?ok=1&since=%G1", &arena, &target, &err), PV_E_SYNTAX);
    cr_assert_eq(err.n_faults, 1);
    cr_assert_eq(err.faults[0].place, PV_PLACE_PARAMETER);
    cr_assert_str_eq(err.faults[0].at, "since");
}

/* Every allocation that can fail does so once: the answer is an error, the target untouched. */
Test(target, runs_out_of_memory_cleanly, .timeout = 5)
{
    struct arena small;
    arena_init(&small, 4096);
    char raw[3000] = "/";
    memset(raw + 1, 'a', sizeof raw - 2);
    memcpy(raw + 2500, "?b=", 3);
    struct http_target before = {.n_segments = 77};
    cr_assert_eq(http_target_parse(raw, &small, &before, NULL), PV_E_MEMORY);
    cr_assert_eq(before.n_segments, 77);
    arena_fini(&small);
}
