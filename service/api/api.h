#ifndef API_API_H
#define API_API_H

#include "config/config.h"
#include "http/message.h"
#include "http/route.h"
#include "store/store.h"

/*
 * What every handler is given (the `context` of http/route.h). The handlers of a resource live in
 * one file, api/<resource>.c, declared in api/handlers.h; api/routes.c is the table of calls. A
 * handler reads as: decode (codec), load (store), compute (core), save (store), encode (codec).
 */
struct history_cache; /* api/history_cache.h: replay curves by application and history version */

struct api {
    const struct config *config;
    struct store *store;
    struct history_cache *history;
};

/* Every call of the service, ended by a row whose template is NULL. */
extern const struct http_route api_routes[];

#endif
