#ifndef HTTP_ETAG_H
#define HTTP_ETAG_H

#include <stdbool.h>

#include "http/message.h"

/*
 * Entity tags for handlers. A handler that reads makes the tag, asks http_none_match and answers
 * 304 with the same headers; one that writes asks http_if_match and answers PV_E_PRECONDITION.
 */
enum { HTTP_ETAG_TEXT = 64 };

/* A strong tag of a version counter: "v7" in quotes. */
void http_etag_format(long long version, char out[HTTP_ETAG_TEXT]);

/* If-None-Match holds this tag (weak comparison) or "*". false when the header is absent. */
bool http_none_match_holds(const struct http_request *request, const char *etag);

enum http_match { HTTP_MATCH_ABSENT, HTTP_MATCH_YES, HTTP_MATCH_NO };

/* If-Match against the current tag (strong comparison); etag NULL: the thing does not exist. */
enum http_match http_if_match(const struct http_request *request, const char *etag);

/* Turn the response into a 304 that keeps its headers. */
void http_reply_not_modified(struct http_response *response);

#endif
