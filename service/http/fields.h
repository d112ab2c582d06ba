#ifndef HTTP_FIELDS_H
#define HTTP_FIELDS_H

#include "base/error.h"
#include "http/route.h"

/*
 * What RFC 9112 asks of a server about header fields and the library does not do. Two readers that
 * disagree about where a body ends let one request hide inside another; so anything that could be
 * read in two ways is refused, and the connection is closed.
 */
struct http_framing {
    bool has_body;
    bool chunked;
    uint64_t length;      /* of a body that is not chunked */
    bool expect_continue; /* the client waits for our word before it sends the body */
};

/*
 * headers  n fields as received; size[i] is the length of the value of field i, which shows a NUL
 *          inside it.
 *
 * PV_E_SYNTAX           a name that is no token, a control character, a repeated Host,
 *                       Content-Length or Authorization, Content-Length beside Transfer-Encoding,
 *                       a Content-Length that is no number
 * PV_E_NOT_IMPLEMENTED  a Transfer-Encoding other than exactly "chunked"
 * PV_E_EXPECTATION      an Expect other than 100-continue
 */
enum pv_code http_fields_check(const struct http_header headers[],
                               const size_t size[],
                               size_t n,
                               struct http_framing *framing,
                               struct pv_error *err) PV_MUSTCHECK;

/* PV_E_HEADERS: more fields or bytes than allowed. */
enum pv_code http_fields_limit(const struct http_header headers[],
                               size_t n,
                               size_t fields_max,
                               size_t bytes_max,
                               struct pv_error *err) PV_MUSTCHECK;

/* PV_E_MEDIA_TYPE unless the body has a type that the call takes, in UTF-8, and is not compressed.
 */
enum pv_code http_fields_type(const struct http_request *request,
                              enum http_body body,
                              struct pv_error *err) PV_MUSTCHECK;

/* Of a body that has passed: is it CSV? */
bool http_fields_are_csv(const struct http_request *request);

/* Is the body NDJSON, by its Content-Type? */
bool http_fields_are_ndjson(const struct http_request *request);

#endif
