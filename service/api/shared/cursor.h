#ifndef API_SHARED_CURSOR_H
#define API_SHARED_CURSOR_H

#include "api/api.h"

/*
 * Cursors of collections: base64url of version, a scope word with the filters' digest, the sort key
 * and a MAC. A cursor of another collection, another filter or another service is 400, never a
 * silent first page.
 */
struct cursor {
    int64_t instant_us; /* RUN_NO_INSTANT for collections sorted by text */
    char text[256 * 4]; /* id or name of the last item seen */
};

/* ?limit= and ?cursor=. scope: template plus filters as text. *has: a cursor was sent. */
enum pv_code cursor_read(struct api *api,
                         struct http_request *request,
                         const char *scope,
                         size_t *limit,
                         struct cursor *cursor,
                         bool *has,
                         struct pv_error *err) PV_MUSTCHECK;

/* The cursor after `last`, in the request's arena. */
enum pv_code cursor_write(struct api *api,
                          struct http_request *request,
                          const char *scope,
                          const struct cursor *last,
                          const char **text,
                          struct pv_error *err) PV_MUSTCHECK;

#endif
