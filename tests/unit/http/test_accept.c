#include "http/accept.h"

#include <criterion/criterion.h>

static bool prefers_csv(const char *accept)
{
    struct http_header header = {"accept", accept};
    const struct http_request request = {.headers = &header, .n_headers = accept == NULL ? 0 : 1};
    return http_accept_prefers(&request, "text/csv", "application/json");
}

/* RFC 9110, 12.5.1: the most specific range counts, then its quality. */
Test(accept, the_most_specific_range_counts)
{
    static const struct {
        const char *accept;
        bool csv;
    } cases[] = {
        {NULL, false},
        {"", false},
        {"*/*", false},
        {"text/csv", true},
        {"TEXT/CSV ; q=0.3", true},
        {"text/csv;header=present;q=0.3, */*;q=0.2", true},
        {"application/json, text/csv", false},
        {"application/json;q=0.9, text/csv", true},
        {"application/json;q=0.999,text/csv;q=1.000", true},
        {"text/*, application/json;q=0.5", true},
        {"*/*, application/json;q=0", true},
        {"text/*;q=1, text/csv;q=0, */*;q=0.1", false},
        {"text/csv;q=0", false},
        {"text/csvx, text/", false},
        {"text/csv;q=x", false},
        {",,; q=1,text/csv", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(prefers_csv(cases[i].accept), cases[i].csv, "%s", cases[i].accept);
}

Test(accept, fields_sent_apart_are_one_list)
{
    struct http_header codings[] = {{"Accept-Encoding", "br"}, {"accept-encoding", "gzip"}};
    const struct http_request of_codings = {.headers = codings, .n_headers = 2};
    cr_assert(http_accepts_gzip(&of_codings));
    codings[0].value = "gzip;q=0";
    codings[1].value = "*";
    cr_assert_not(http_accepts_gzip(&of_codings));
    struct http_header headers[] = {{"Accept", "application/json;q=0.5"}, {"ACCEPT", "text/csv"}};
    const struct http_request request = {.headers = headers, .n_headers = 2};
    cr_assert(http_accept_prefers(&request, "text/csv", "application/json"));
    cr_assert_not(http_accept_prefers(&request, "application/json", "text/csv"));
}

/* RFC 9110, 12.5.3: a coding by its name, else by `*`; parameters other than q do not count. */
Test(accept, codings)
{
    static const struct {
        const char *accept;
        bool gzip;
    } cases[] = {{"gzip", true},
                 {"GZIP;Q=1", true},
                 {"br, gzip;q=0.001", true},
                 {"gzip;a=b", true},
                 {"gzip;a=b;q=0", false},
                 {"gzip ; a=b ; q=0.0", false},
                 {"*", true},
                 {"*;q=0", false},
                 {"*;q=0, gzip", true},
                 {"gzip;q=0, *", false},
                 {"*;q=0.5;a=b", true},
                 {"gzip;q=x", false},
                 {"gzip; q=0.000", false},
                 {"gzipp, x-gzip", false},
                 {"identity, br", false},
                 {",,gzip", true},
                 {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct http_header header = {"Accept-Encoding", cases[i].accept};
        const struct http_request request = {.headers = &header, .n_headers = 1};
        cr_expect_eq(http_accepts_gzip(&request), cases[i].gzip, "%s", cases[i].accept);
    }
}
