#ifndef API_SHARED_LIST_H
#define API_SHARED_LIST_H

#include "api/api.h"
#include "api/shared/cursor.h"
#include "base/json_writer.h"

/*
 * A page of a collection, {"items": [...], "next_cursor": ...}:
 *
 *     api_list_auto_t list = {0};
 *     PV_TRY(http_check_query(request, allowed, err));
 *     ... filters ...
 *     PV_TRY(api_list_begin(api, request, &list, err));
 *     PV_TRY(store_..._list(list.tx, ..., list.after.text, list.limit, &page, err));
 *     api_list_items(&list);
 *     ... write each item to &list.w ...
 *     return api_list_reply(api, request, response, &list, page.more ? last id : NULL, last_us,
 *                           err);
 */
struct api_list {
    const char *scope; /* set before begin: what a cursor belongs to, in place of path and query */
    size_t limit;
    bool continued;      /* a cursor was sent */
    struct cursor after; /* the last item seen; "" and RUN_NO_INSTANT on the first page */
    struct store_tx *tx;
    struct writer w;
};

/* A list whose transaction ends wherever its block is left. */
#define api_list_auto_t __attribute__((cleanup(api_list_end))) struct api_list
void api_list_end(struct api_list *list);

/*
 * ?limit= and ?cursor=, a transaction to read in, and a reply that holds "{": members that go
 * before the items are written to list->w. A cursor belongs to the team, the path and the query
 * without limit, cursor, include and fields, in any order: PV_E_SYNTAX for one of anything else, never a
 * silent first page.
 */
enum pv_code api_list_begin(struct api *api,
                            struct http_request *request,
                            struct api_list *list,
                            struct pv_error *err) PV_MUSTCHECK;

/* The transaction ends; items follow. */
void api_list_items(struct api_list *list);

/*
 * The last item is written. last: its id or name where more items follow, else NULL; last_us: its
 * instant where the collection is sorted by one, else RUN_NO_INSTANT. A page that another follows
 * has a Link header to that one, with the same query (RFC 8288).
 */
enum pv_code api_list_reply(struct api *api,
                            struct http_request *request,
                            struct http_response *response,
                            struct api_list *list,
                            const char *last,
                            int64_t last_us,
                            struct pv_error *err) PV_MUSTCHECK;

#endif
