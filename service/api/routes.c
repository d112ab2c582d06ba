#include "api/api.h"
#include "api/handlers.h"

/* method, template, who may, where it runs, handler, stream, takes a body */
const struct http_route api_routes[] = {
    {.template = NULL},
};
