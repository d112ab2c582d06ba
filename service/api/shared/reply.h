#ifndef API_SHARED_REPLY_H
#define API_SHARED_REPLY_H

#include "api/api.h"
#include "base/json_writer.h"
#include "codec/json/reader.h"

/* What the first and the last lines of most handlers have in common. */

/*
 * codec_open for the body of a request, within the configured bounds, by a step at HTTP_BODY or
 * HTTP_COMPUTE: `codec_..._decode(&body.top, ...)`, then codec_close.
 */
enum pv_code api_body_open(const struct config *config,
                           struct http_request *request,
                           struct codec_document *body,
                           struct pv_error *err) PV_MUSTCHECK;

/* The finished text becomes the body. PV_E_MEMORY when the writer ran out of it. */
enum pv_code api_reply(struct http_response *response,
                       unsigned status,
                       struct writer *w,
                       struct pv_error *err) PV_MUSTCHECK;

/* 204, no body. */
void api_reply_empty(struct http_response *response);

/* The Location of what was made: the collection's path, and the name as one segment of it. */
enum pv_code api_reply_location(struct http_request *request,
                                struct http_response *response,
                                const char *collection,
                                const char *name,
                                struct pv_error *err) PV_MUSTCHECK;

/* text percent-encoded for one path segment or query value; NULL when memory is exhausted. */
const char *api_percent_encode(struct arena *arena, const char *text);

#endif
