#include "http/fields.h"

#include <criterion/criterion.h>

struct row {
    const char *name[4];
    const char *value[4];
    enum pv_code want;
};

static enum pv_code check(const struct row *row, struct http_framing *framing, struct pv_error *err)
{
    struct http_header headers[4];
    size_t size[4];
    size_t n = 0;
    for (; n < 4 && row->name[n] != NULL; n++) {
        headers[n] = (struct http_header){row->name[n], row->value[n]};
        size[n] = strlen(row->value[n]);
    }
    return http_fields_check(headers, size, n, framing, err);
}

/* Whatever two readers could take for two different ends of a body. */
Test(fields, refuses_ambiguous_framing, .timeout = 5)
{
    static const struct row rows[] = {
        {{"Host", "Host"}, {"a", "b"}, PV_E_SYNTAX},
        {{"Host", "host"}, {"a", "a"}, PV_E_SYNTAX},
        {{"Content-Length", "content-length"}, {"3", "3"}, PV_E_SYNTAX},
        {{"Content-Length", "Content-Length"}, {"3", "4"}, PV_E_SYNTAX},
        {{"Content-Length", "Transfer-Encoding"}, {"3", "chunked"}, PV_E_SYNTAX},
        {{"Transfer-Encoding", "Transfer-Encoding"}, {"chunked", "chunked"}, PV_E_SYNTAX},
        {{"Transfer-Encoding "}, {"chunked"}, PV_E_SYNTAX},
        {{"Content Length"}, {"3"}, PV_E_SYNTAX},
        {{""}, {"3"}, PV_E_SYNTAX},
        {{"Content-Length"}, {"+3"}, PV_E_SYNTAX},
        {{"Content-Length"}, {"3, 3"}, PV_E_SYNTAX},
        {{"Content-Length"}, {"0x3"}, PV_E_SYNTAX},
        {{"Content-Length"}, {""}, PV_E_SYNTAX},
        {{"Content-Length"}, {"99999999999999999999"}, PV_E_SYNTAX},
        {{"X"}, {"a\rb"}, PV_E_SYNTAX},
        {{"Authorization", "Authorization"}, {"Bearer a", "Bearer b"}, PV_E_SYNTAX},
        {{"Transfer-Encoding"}, {"gzip, chunked"}, PV_E_NOT_IMPLEMENTED},
        {{"Transfer-Encoding"}, {"chunked, chunked"}, PV_E_NOT_IMPLEMENTED},
        {{"Transfer-Encoding"}, {"identity"}, PV_E_NOT_IMPLEMENTED},
        {{"Transfer-Encoding"}, {""}, PV_E_NOT_IMPLEMENTED},
        {{"Transfer-Encoding"}, {"\tchunked"}, PV_E_NOT_IMPLEMENTED},
        {{"Expect"}, {"200-ok"}, PV_E_EXPECTATION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct http_framing framing;
        struct pv_error err = {0};
        cr_assert_eq(check(&rows[i], &framing, &err), rows[i].want, "row %zu", i);
        cr_assert_eq(err.code, rows[i].want, "row %zu", i);
    }
}

Test(fields, refuses_a_nul_in_a_value, .timeout = 5)
{
    static const struct http_header headers[] = {{"X", "a\0b"}};
    const size_t size[] = {3};
    struct http_framing framing;
    cr_assert_eq(http_fields_check(headers, size, 1, &framing, NULL), PV_E_SYNTAX);
}

Test(fields, reads_the_framing, .timeout = 5)
{
    struct http_framing f;
    static const struct row fixed = {{"Host", "Content-Length"}, {"h", "12"}, PV_OK};
    cr_assert_eq(check(&fixed, &f, NULL), PV_OK);
    cr_assert(f.has_body && !f.chunked && f.length == 12 && !f.expect_continue);
    static const struct row chunked = {
        {"transfer-encoding", "expect"}, {"Chunked", "100-Continue"}, PV_OK};
    cr_assert_eq(check(&chunked, &f, NULL), PV_OK);
    cr_assert(f.has_body && f.chunked && f.expect_continue);
    static const struct row none = {{"Content-Length"}, {"0"}, PV_OK};
    cr_assert_eq(check(&none, &f, NULL), PV_OK);
    cr_assert(!f.has_body);
}

Test(fields, limits_count_and_bytes, .timeout = 5)
{
    static const struct http_header headers[] = {{"A", "1"}, {"B", "2"}};
    cr_assert_eq(http_fields_limit(headers, 2, 2, 12, NULL), PV_OK);
    cr_assert_eq(http_fields_limit(headers, 2, 1, 12, NULL), PV_E_HEADERS);
    cr_assert_eq(http_fields_limit(headers, 2, 2, 11, NULL), PV_E_HEADERS);
}

static enum pv_code json(const char *type, const char *coding)
{
    struct http_header headers[2];
    struct http_request request = {.headers = headers};
    if (type != NULL)
        headers[request.n_headers++] = (struct http_header){"content-type", type};
    if (coding != NULL)
        headers[request.n_headers++] = (struct http_header){"Content-Encoding", coding};
    return http_fields_type(&request, HTTP_JSON, NULL);
}

Test(fields, knows_json, .timeout = 5)
{
    cr_assert_eq(json("application/json", NULL), PV_OK);
    cr_assert_eq(json("Application/JSON; charset=UTF-8", "identity"), PV_OK);
    cr_assert_eq(json("application/json ;charset=\"utf-8\"", NULL), PV_OK);
    static const char *const bad[] = {"text/plain",
                                      "application/jsonx",
                                      "application/json; charset=latin1",
                                      "application/json; charset=utf-8x",
                                      "application/json; charset=\"utf-8",
                                      "application/json; q=1",
                                      ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(json(bad[i], NULL), PV_E_MEDIA_TYPE, "%s", bad[i]);
    cr_assert_eq(json(NULL, NULL), PV_E_MEDIA_TYPE);
    cr_assert_eq(json("application/json", "gzip"), PV_E_MEDIA_TYPE);
}
