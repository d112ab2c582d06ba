#ifndef HTTP_ACCEPT_H
#define HTTP_ACCEPT_H

#include <stdbool.h>

#include "http/message.h"

/*
 * Does Accept (RFC 9110, 12.5.1) prefer `type` to `other`? Of the ranges that fit a type the most
 * specific one counts. Without the header, and where both are as good, no. A field that cannot be
 * read prefers nothing.
 */
bool http_accept_prefers(const struct http_request *request, const char *type, const char *other);

/* Does Accept-Encoding (RFC 9110, 12.5.3), in one field or several, allow gzip? */
bool http_accepts_gzip(const struct http_request *request);

#endif
