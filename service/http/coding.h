#ifndef HTTP_CODING_H
#define HTTP_CODING_H

#include "http/message.h"

/*
 * Content coding of replies (RFC 9110, 8.4): gzip, if Accept-Encoding names it. The entity tag of a
 * packed reply ends in "-gzip", because bytes that differ must not share a strong tag; http/etag.h
 * takes both for the same version.
 */

/*
 * Packs a finished reply if the request allows that: a body of at least `bytes_min` bytes, or one
 * that is made piece by piece, unless it is an event stream. A body that would not become smaller,
 * and one that has a Content-Encoding, stay as they are. Adds Vary, Content-Encoding and the tag.
 *
 * PV_E_MEMORY: the reply stays as it is.
 */
enum pv_code http_reply_pack(struct http_request *request,
                             struct http_response *response,
                             size_t bytes_min,
                             struct pv_error *err) PV_MUSTCHECK;

#endif
