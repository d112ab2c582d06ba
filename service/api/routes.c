#include "api/routes.h"

#include "api/api.h"

#define CALL_ROW(method_, template_, access_, place_, handler_, body_)                             \
    {.method = HTTP_##method_,                                                                     \
     .template = template_,                                                                        \
     .access = HTTP_##access_,                                                                     \
     .place = HTTP_##place_,                                                                       \
     .handler = handler_,                                                                          \
     .takes_body = HTTP_##body_},
#define STEPS_ROW(method_, template_, access_, call_, body_)                                       \
    {.method = HTTP_##method_,                                                                     \
     .template = template_,                                                                        \
     .access = HTTP_##access_,                                                                     \
     .takes_body = HTTP_##body_,                                                                   \
     .call = &call_},
#define STREAM_ROW(method_, template_, access_, stream_)                                           \
    {.method = HTTP_##method_,                                                                     \
     .template = template_,                                                                        \
     .access = HTTP_##access_,                                                                     \
     .stream = &stream_,                                                                           \
     .takes_body = HTTP_JSON},
#define EITHER_ROW(method_, template_, access_, call_, stream_)                                    \
    {.method = HTTP_##method_,                                                                     \
     .template = template_,                                                                        \
     .access = HTTP_##access_,                                                                     \
     .takes_body = HTTP_JSON_OR_NDJSON,                                                            \
     .call = &call_,                                                                               \
     .ndjson = &(const struct http_route){.method = HTTP_##method_,                                \
                                          .template = template_,                                   \
                                          .access = HTTP_##access_,                                \
                                          .stream = &stream_,                                      \
                                          .takes_body = HTTP_JSON_OR_NDJSON}},

const struct http_route api_routes[] = {
    API_ROUTES(CALL_ROW, STEPS_ROW, STREAM_ROW, EITHER_ROW) /* the end: */ {.template = NULL},
};
