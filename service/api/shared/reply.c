#include "api/shared/reply.h"

#include <ctype.h>
#include <string.h>

#include "api/shared/write.h"

enum pv_code api_body_open(const struct config *config,
                           struct http_request *request,
                           struct codec_document *body,
                           struct pv_error *err)
{
    const struct codec_bounds bounds = {.depth = (size_t)config->json_depth_max,
                                        .values = (size_t)config->json_values_max};
    api_body_keep_hash(request);
    return codec_open(body, request->body, request->body_n, &bounds, request->arena, err);
}

enum pv_code
api_reply(struct http_response *response, unsigned status, struct writer *w, struct pv_error *err)
{
    size_t n;
    const char *text = writer_finish(w, &n);
    if (text == NULL)
        return pv_fail(err, PV_E_MEMORY, "the answer does not fit into the memory of a request");
    response->status = status;
    response->body = text;
    response->body_n = n;
    return PV_OK;
}

void api_reply_empty(struct http_response *response)
{
    response->status = 204;
    response->body = NULL;
    response->body_n = 0;
}

const char *api_percent_encode(struct arena *arena, const char *text)
{
    static const char hex[] = "0123456789ABCDEF";
    char *out = arena_array(arena, strlen(text) + 1, 3);
    if (out == NULL)
        return NULL;
    size_t at = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (isalnum(*c) || strchr("-._~", *c) != NULL) {
            out[at++] = (char)*c;
        } else {
            out[at++] = '%';
            out[at++] = hex[*c >> 4];
            out[at++] = hex[*c & 15];
        }
    }
    out[at] = '\0';
    return out;
}

enum pv_code api_reply_location(struct http_request *request,
                                struct http_response *response,
                                const char *collection,
                                const char *name,
                                struct pv_error *err)
{
    const char *encoded = api_percent_encode(request->arena, name);
    const char *location =
        encoded == NULL ? NULL : arena_printf(request->arena, "%s/%s", collection, encoded);
    if (location == NULL)
        return pv_no_memory(err);
    http_response_header(request, response, "Location", location);
    return PV_OK;
}
