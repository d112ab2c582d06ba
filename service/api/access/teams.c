#include <string.h>

#include "api/access/find_team.h"
#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "codec/access/access.h"
#include "store/access/access.h"

/* /v1/teams: for the operators' team. */

enum { TEAM_PAGE = 500 };

static const char *const no_parameters[] = {NULL};

static enum pv_code team_create_decode(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    struct api *api = context;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_team_decode(&body.top, request->state);
    return codec_close(&body);
}

static enum pv_code team_create_store(void *context,
                                      struct http_request *request,
                                      struct http_response *response,
                                      struct pv_error *err)
{
    struct team team = *(const struct team *)request->state;
    struct writer w;
    api_write_auto_t write = {0};
    bool replayed;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_team_insert(write.tx, request->arena, team.name, &team, err));
    writer_init(&w, request->arena);
    codec_team_encode(&w, &team);
    PV_TRY(api_reply(response, 201, &w, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call team_create = {
    .state_bytes = sizeof(struct team),
    .steps = {{HTTP_BODY, team_create_decode}, {HTTP_IO, team_create_store}},
};

enum pv_code team_list(void *context,
                       struct http_request *request,
                       struct http_response *response,
                       struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct team_list page;
    api_list_auto_t list = {0};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_team_list(list.tx, request->arena, list.after.text, list.limit, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_team_encode(&list.w, &page.items[i]);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].id : NULL, RUN_NO_INSTANT, err);
}

enum pv_code api_team_find(struct api *api,
                           struct http_request *request,
                           struct strview name,
                           char id[37],
                           bool *found,
                           struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    struct team_list page = {.more = true};
    char after[37] = "";
    *found = false;
    while (page.more && !*found) {
        struct arena_mark mark = arena_mark(request->arena);
        PV_TRY(store_team_list(tx, request->arena, after, TEAM_PAGE, &page, err));
        for (size_t i = 0; i < page.n && !*found; i++) {
            memcpy(after, page.items[i].id, sizeof after);
            *found = strview_equal(page.items[i].name, name);
        }
        arena_rewind(request->arena, mark);
    }
    if (*found)
        memcpy(id, after, sizeof after);
    return PV_OK;
}
