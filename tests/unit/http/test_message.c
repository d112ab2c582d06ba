#include "http/message.h"

#include <criterion/criterion.h>

static struct http_parameter query[] = {{"limit", "5"}, {"label", "a:b"}, {"label", "c:d"}};
static const struct http_request request = {.query = query, .n_query = 3};

Test(message, takes_allowed_parameters, .timeout = 5)
{
    static const char *const allowed[] = {"limit", "label*", NULL};
    cr_assert_eq(http_check_query(&request, allowed, NULL), PV_OK);
    cr_assert_str_eq(http_query(&request, "label"), "a:b");
    cr_assert_null(http_query(&request, "labe"));
}

Test(message, names_unknown_and_repeated_parameters, .timeout = 5)
{
    static const char *const once[] = {"label", "limi", NULL};
    struct pv_error err = {0};
    cr_assert_eq(http_check_query(&request, once, &err), PV_E_INVALID);
    cr_assert_eq(err.n_faults, 2);
    cr_assert_str_eq(err.faults[0].at, "limit");
    cr_assert_str_eq(err.faults[0].code, "unknown_parameter");
    cr_assert_str_eq(err.faults[1].at, "label");
    cr_assert_str_eq(err.faults[1].code, "repeated");
}

Test(message, header_names_have_no_case, .timeout = 5)
{
    static struct http_header headers[] = {{"X-Request-ID", "1"}};
    const struct http_request r = {.headers = headers, .n_headers = 1};
    cr_assert_str_eq(http_header(&r, "x-request-id"), "1");
    cr_assert_null(http_header(&r, "x-request"));
}
