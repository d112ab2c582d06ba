#include "api/routes.h"

#include "api/api.h"

#define CALL_ROW(method, template, access, place, handler, body)                                   \
    {HTTP_##method, template, HTTP_##access, HTTP_##place, handler, NULL, HTTP_##body},
#define STREAM_ROW(method, template, access, place, stream)                                        \
    {HTTP_##method, template, HTTP_##access, HTTP_##place, NULL, &stream, HTTP_JSON},

const struct http_route api_routes[] = {
    API_ROUTES(CALL_ROW, STREAM_ROW) /* the end: */ {.template = NULL},
};
