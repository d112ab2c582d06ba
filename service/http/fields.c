#include "http/fields.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_token(const char *text)
{
    static const char marks[] = "!#$%&'*+.^_`|~";
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        char c = *text;
        bool good = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                    c == '-' || strchr(marks, c) != NULL;
        if (!good)
            return false;
    }
    return true;
}

static bool is_clean_value(const char *value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)value[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static enum pv_code fields_refuse(
    struct pv_error *err, enum pv_code code, const char *name, const char *word, const char *detail)
{
    (void)pv_fail(err, code, "%s", detail);
    (void)pv_fault(err, PV_PLACE_HEADER, name, word, "%s", detail);
    return code;
}

static enum pv_code check_syntax(const struct http_header headers[],
                                 const size_t size[],
                                 size_t n,
                                 struct pv_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_token(headers[i].name))
            return pv_fail(err, PV_E_SYNTAX, "the name of a header field is not a token");
        if (!is_clean_value(headers[i].value, size[i]))
            return fields_refuse(err, PV_E_SYNTAX, headers[i].name, "control_character",
                                 "a header field holds a control character");
    }
    return PV_OK;
}

/* These say where a request goes, ends and who sends it: two of them are two opinions. */
enum single { HOST, CONTENT_LENGTH, TRANSFER_ENCODING, EXPECT, CONTENT_TYPE, AUTHORIZATION };
static const char *const single_names[] = {
    [HOST] = "Host",
    [CONTENT_LENGTH] = "Content-Length",
    [TRANSFER_ENCODING] = "Transfer-Encoding",
    [EXPECT] = "Expect",
    [CONTENT_TYPE] = "Content-Type",
    [AUTHORIZATION] = "Authorization",
};
enum { N_SINGLE = sizeof single_names / sizeof *single_names };

/* The value of each, or NULL. */
static enum pv_code find_single(const struct http_header headers[],
                                size_t n,
                                const char *values[N_SINGLE],
                                struct pv_error *err)
{
    for (size_t s = 0; s < N_SINGLE; s++) {
        values[s] = NULL;
        for (size_t i = 0; i < n; i++) {
            bool initial = ((headers[i].name[0] ^ single_names[s][0]) & ~('a' ^ 'A')) == 0;
            if (!initial || strcasecmp(headers[i].name, single_names[s]) != 0)
                continue;
            if (values[s] != NULL)
                return fields_refuse(err, PV_E_SYNTAX, single_names[s], "repeated",
                                     "this header field may be sent only once");
            values[s] = headers[i].value;
        }
    }
    return PV_OK;
}

/* Hexadecimal digits, colons and dots: what else an address in brackets may not be is not resolved
 * here. What follows the bracket; NULL: there is none. */
static const char *skip_literal(const char *text)
{
    const char *end = text + 1 + strspn(text + 1, "0123456789abcdefABCDEF:.");
    return *end == ']' && end > text + 1 ? end + 1 : NULL;
}

/* A registered name or IPv4 address (RFC 3986, 3.2.2). */
static const char *skip_name(const char *text)
{
    static const char hex[] = "0123456789abcdefABCDEF";
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~!$&'()*+,;=";
    for (;;) {
        text += strspn(text, plain);
        if (*text != '%')
            return text;
        if (strspn(text + 1, hex) < 2)
            return NULL;
        text += 3;
    }
}

/* host[:port]; an empty one is sent where the target has no authority (RFC 9112, 3.2). */
static bool is_host(const char *text)
{
    const char *port = *text == '[' ? skip_literal(text) : skip_name(text);
    if (port == NULL)
        return false;
    return *port == '\0' || (*port == ':' && port[1 + strspn(port + 1, "0123456789")] == '\0');
}

static bool read_length(const char *text, uint64_t *length)
{
    uint64_t value = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return false;
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            return false;
    }
    *length = value;
    return true;
}

enum pv_code http_fields_check(const struct http_header headers[],
                               const size_t size[],
                               size_t n,
                               struct http_framing *framing,
                               struct pv_error *err)
{
    *framing = (struct http_framing){0};
    enum pv_code code = check_syntax(headers, size, n, err);
    const char *values[N_SINGLE];
    if (code == PV_OK)
        code = find_single(headers, n, values, err);
    if (code != PV_OK)
        return code;

    const char *length = values[CONTENT_LENGTH];
    const char *coding = values[TRANSFER_ENCODING];
    const char *expect = values[EXPECT];
    const char *host = values[HOST];
    if (host != NULL && !is_host(host))
        return fields_refuse(err, PV_E_SYNTAX, "Host", "malformed",
                             "Host must be a host name or address, and a port where there is one");
    if (length != NULL && coding != NULL)
        return fields_refuse(err, PV_E_SYNTAX, "Content-Length", "conflict",
                             "Content-Length and Transfer-Encoding exclude each other");
    if (coding != NULL && strcasecmp(coding, "chunked") != 0)
        return fields_refuse(err, PV_E_NOT_IMPLEMENTED, "Transfer-Encoding", "unsupported",
                             "the only transfer coding taken is chunked");
    if (length != NULL && !read_length(length, &framing->length))
        return fields_refuse(err, PV_E_SYNTAX, "Content-Length", "not_a_number",
                             "Content-Length must be a decimal number");
    if (expect != NULL && strcasecmp(expect, "100-continue") != 0)
        return fields_refuse(err, PV_E_EXPECTATION, "Expect", "unsupported",
                             "the only expectation that can be met is 100-continue");
    framing->chunked = coding != NULL;
    framing->has_body = framing->chunked || framing->length > 0;
    framing->expect_continue = expect != NULL && framing->has_body;
    return PV_OK;
}

enum pv_code http_fields_limit(const struct http_header headers[],
                               size_t n,
                               size_t fields_max,
                               size_t bytes_max,
                               struct pv_error *err)
{
    if (n > fields_max)
        return pv_fail(err, PV_E_HEADERS, "more than %zu header fields", fields_max);
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += strlen(headers[i].name) + strlen(headers[i].value) + 4; /* ": " and CR LF */
    if (bytes > bytes_max)
        return pv_fail(err, PV_E_HEADERS, "more than %zu bytes of header fields", bytes_max);
    return PV_OK;
}

/* What follows the media type: nothing, or charset=utf-8 and nothing else. */
static bool is_utf8_parameter(const char *text)
{
    text += strspn(text, " \t");
    if (*text == '\0')
        return true;
    if (*text != ';')
        return false;
    text++;
    text += strspn(text, " \t");
    if (strncasecmp(text, "charset=", 8) != 0)
        return false;
    text += 8;
    size_t quote = *text == '"' ? 1 : 0;
    if (strncasecmp(text + quote, "utf-8", 5) != 0)
        return false;
    text += quote + 5;
    if (quote == 1 && *text++ != '"')
        return false;
    return text[strspn(text, " \t")] == '\0';
}

/* Is the body of this type, in UTF-8? */
static bool has_type(const struct http_request *request, const char *wanted)
{
    const char *type = http_header(request, "Content-Type");
    size_t n = strlen(wanted);
    return type != NULL && strncasecmp(type, wanted, n) == 0 && is_utf8_parameter(type + n);
}

bool http_fields_are_csv(const struct http_request *request)
{
    return has_type(request, "text/csv");
}

bool http_fields_are_ndjson(const struct http_request *request)
{
    return has_type(request, "application/x-ndjson");
}

enum pv_code
http_fields_type(const struct http_request *request, enum http_body body, struct pv_error *err)
{
    /* What a body may be beside JSON. NDJSON has a row of its own (http/route.h). */
    static const char *const others[] = {
        [HTTP_JSON_OR_CSV] = "text/csv", [HTTP_JSON_OR_NDJSON] = "application/x-ndjson"};
    const char *other = body > HTTP_JSON ? others[body] : NULL;
    const char *coding = http_header(request, "Content-Encoding");
    if (coding != NULL && strcasecmp(coding, "identity") != 0)
        return fields_refuse(err, PV_E_MEDIA_TYPE, "Content-Encoding", "unsupported",
                             "a body of this call is taken as it is, not compressed");
    if (has_type(request, "application/json") || (other != NULL && has_type(request, other)))
        return PV_OK;
    if (err != NULL)
        (void)snprintf(err->allow, sizeof err->allow, "application/json%s%s",
                       other != NULL ? ", " : "", other != NULL ? other : "");
    char detail[96];
    (void)snprintf(detail, sizeof detail, "the body must be application/json%s%s in UTF-8",
                   other != NULL ? " or " : "", other != NULL ? other : "");
    return fields_refuse(err, PV_E_MEDIA_TYPE, "Content-Type", "unsupported", detail);
}
