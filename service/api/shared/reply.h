#ifndef API_SHARED_REPLY_H
#define API_SHARED_REPLY_H

#include "api/api.h"
#include "base/json_writer.h"
#include "codec/json/reader.h"

/* What the first and the last lines of most handlers have in common. */

/* The body of a request while it is decoded: `codec_..._decode(&body.top, ...)` between the two. */
struct api_body {
    json_t *json;
    struct codec_reader reader;
    struct codec_node top;
};

/* By a step at HTTP_BODY or HTTP_COMPUTE, within the configured bounds. As codec_parse; nothing is
 * held on failure. */
enum pv_code api_body_open(const struct config *config,
                           struct http_request *request,
                           struct api_body *body,
                           struct pv_error *err) PV_MUSTCHECK;

/* PV_OK, or the code of the faults that the decoder found. The JSON is gone afterwards. */
enum pv_code api_body_close(struct api_body *body) PV_MUSTCHECK;

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
