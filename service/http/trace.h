#ifndef HTTP_TRACE_H
#define HTTP_TRACE_H

#include <stdbool.h>
#include <stdint.h>

/* W3C Trace Context and request ids. */

struct http_trace {
    char trace_id[33];
    char parent_id[17];
    uint8_t flags;
};

/*
 * Reads a traceparent: lower-case hex, ids not all zero, version not ff. A version above 00 is read
 * by its first four fields. false: the caller starts a new trace and ignores tracestate.
 */
bool http_trace_parse(const char *traceparent, struct http_trace *trace);

/* n random bytes as 2 n lower-case hex digits and a NUL. */
void http_trace_hex(const uint8_t *bytes, unsigned n, char *out);

enum { HTTP_TRACEPARENT = 56 };

/* The header field's value of version 00: 55 characters and a NUL at out. */
void http_trace_format(const char *trace_id, const char *span_id, uint8_t flags, char *out);

/* A request id from outside is taken over only if it is [A-Za-z0-9._-]{1,128}. */
bool http_request_id_is_valid(const char *text);

#endif
