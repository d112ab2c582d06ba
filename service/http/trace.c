#include "http/trace.h"

#include <stddef.h>
#include <string.h>

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static unsigned hex_value(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* n digits at text, followed by something else; not all zero unless `zero_allowed`. */
static bool trace_field(const char *text, size_t n, bool zero_allowed)
{
    bool zero = true;
    for (size_t i = 0; i < n; i++) {
        if (!is_hex(text[i]))
            return false;
        zero = zero && text[i] == '0';
    }
    return zero_allowed || !zero;
}

enum { VERSION_AT = 0, TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, LENGTH = 55 };

bool http_trace_parse(const char *traceparent, struct http_trace *trace)
{
    if (strnlen(traceparent, LENGTH) < LENGTH)
        return false;
    bool whole =
        trace_field(traceparent + VERSION_AT, 2, true) && traceparent[TRACE_AT - 1] == '-' &&
        trace_field(traceparent + TRACE_AT, 32, false) && traceparent[PARENT_AT - 1] == '-' &&
        trace_field(traceparent + PARENT_AT, 16, false) && traceparent[FLAGS_AT - 1] == '-' &&
        trace_field(traceparent + FLAGS_AT, 2, true);
    if (!whole || strncmp(traceparent, "ff", 2) == 0)
        return false;
    /* Version 00 ends here; a later one may go on after another dash. */
    char next = traceparent[LENGTH];
    bool later = strncmp(traceparent, "00", 2) != 0;
    if (next != '\0' && !(later && next == '-'))
        return false;
    memcpy(trace->trace_id, traceparent + TRACE_AT, 32);
    trace->trace_id[32] = '\0';
    memcpy(trace->parent_id, traceparent + PARENT_AT, 16);
    trace->parent_id[16] = '\0';
    trace->flags =
        (uint8_t)(hex_value(traceparent[FLAGS_AT]) * 16 + hex_value(traceparent[FLAGS_AT + 1]));
    return true;
}

void http_trace_hex(const uint8_t *bytes, unsigned n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < n; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

void http_trace_format(const char *trace_id, const char *span_id, uint8_t flags, char *out)
{
    out[0] = out[1] = '0';
    out[TRACE_AT - 1] = '-';
    memcpy(out + TRACE_AT, trace_id, 32);
    out[PARENT_AT - 1] = '-';
    memcpy(out + PARENT_AT, span_id, 16);
    out[FLAGS_AT - 1] = '-';
    http_trace_hex(&flags, 1, out + FLAGS_AT);
}

bool http_request_id_is_valid(const char *text)
{
    size_t n = strnlen(text, 129);
    if (n == 0 || n > 128)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        bool good = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                    c == '.' || c == '_' || c == '-';
        if (!good)
            return false;
    }
    return true;
}
