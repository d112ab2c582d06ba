#include <math.h>
#include <sodium.h>
#include <stdio.h>

#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "codec/deadlines/quota_loop.h"
#include "http/etag.h"
#include "store/control/quota_loop.h"

/* /v1/quota-loops: their settings, and how far each has come. Samples: quota_samples.c. */

static void write_loop(struct writer *w,
                       struct arena *arena,
                       struct strview name,
                       const struct quota_loop *loop)
{
    struct findings warnings = {.arena = arena};
    quota_settings_warn(&loop->settings, &warnings);
    w->failed |= warnings.failed;
    codec_quota_loop_encode(w, name, loop, &warnings);
}

static enum pv_code quota_loops_reply(struct http_request *request,
                                      struct http_response *response,
                                      unsigned status,
                                      const struct quota_loop *loop,
                                      struct pv_error *err)
{
    struct writer w;
    writer_init(&w, request->arena);
    write_loop(&w, request->arena, strview_of(http_path_parameter(request, "name")), loop);
    return api_reply(response, status, &w, err);
}

/* --- reading --- */

/* Of what the reply says, so that it changes with a sample and with other settings. */
static void reply_tag(const struct http_response *response, char tag[HTTP_ETAG_TEXT])
{
    unsigned char hash[16];
    char digits[2 * sizeof hash + 1];
    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)response->body,
                             response->body_n, NULL, 0);
    (void)sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    (void)snprintf(tag, HTTP_ETAG_TEXT, "\"%s\"", digits);
}

enum pv_code quota_loops_get(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    store_tx_auto_t *tx = NULL;
    struct quota_loop loop;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(store_quota_loop_find(tx, request->arena, http_path_parameter(request, "name"), &loop,
                                 err));
    store_rollback(&tx);
    PV_TRY(quota_loops_reply(request, response, 200, &loop, err));
    char tag[HTTP_ETAG_TEXT];
    reply_tag(response, tag);
    http_response_header(request, response, "ETag", tag);
    if (http_none_match_holds(request, tag))
        http_reply_not_modified(response);
    return PV_OK;
}

enum pv_code quota_loops_list(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    static const char *const allowed[] = {"limit", "cursor", NULL};
    struct quota_loop_list page;
    api_list_auto_t list = {0};
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_quota_loop_list(list.tx, request->arena, list.after.text, list.limit, &page, err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        write_loop(&list.w, request->arena, page.items[i].name, &page.items[i].loop);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].name.at : NULL, RUN_NO_INSTANT, err);
}

/* --- writing --- */

static enum pv_code put_decode(void *context,
                               struct http_request *request,
                               struct http_response *response,
                               struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct config *config = ((struct api *)context)->config;
    const struct codec_quota_limits limits = {.workers = (size_t)config->quota_loop_workers_max,
                                              .applications =
                                                  (size_t)config->quota_loop_applications_max};
    const char *name = NULL;
    struct codec_document body;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_query_name(request, &name, err));
    PV_TRY(api_body_open(config, request, &body, err));
    codec_quota_loop_decode(&body.top, &limits, request->state);
    return codec_close(&body);
}

/* The transaction of a PUT, up to its commit. */
static enum pv_code put_loop(struct api *api,
                             struct http_request *request,
                             struct http_response *response,
                             struct store_tx *tx,
                             const struct quota_settings *settings,
                             struct pv_error *err)
{
    const char *name = http_path_parameter(request, "name");
    struct quota_loop loop = {.sequence = RUN_UNKNOWN, .at_s = (double)NAN};
    bool found = false;
    PV_TRY(store_quota_loop_hold(tx, request->arena, name, &loop, &found, err));
    PV_TRY(quota_loop_replace_settings(&loop, settings, request->arena, err));
    PV_TRY(found ? store_quota_loop_update(tx, name, &loop, err)
                 : store_quota_loop_insert(tx, name, api->config->quota_loops_max, &loop, err));
    if (!found)
        PV_TRY(api_reply_location(request, response, "/v1/quota-loops", name, err));
    return quota_loops_reply(request, response, found ? 200 : 201, &loop, err);
}

static enum pv_code put_store(void *context,
                              struct http_request *request,
                              struct http_response *response,
                              struct pv_error *err)
{
    const struct codec_quota_loop *sent = request->state;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(put_loop(context, request, response, write.tx, &sent->settings, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call quota_loops_put = {
    .state_bytes = sizeof(struct codec_quota_loop),
    .steps = {{HTTP_BODY, put_decode}, {HTTP_IO, put_store}},
};

enum pv_code quota_loops_delete(void *context,
                                struct http_request *request,
                                struct http_response *response,
                                struct pv_error *err)
{
    static const char *const no_parameters[] = {NULL};
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_quota_loop_delete(write.tx, http_path_parameter(request, "name"), err));
    api_reply_empty(response);
    return api_write_commit(request, response, &write, err);
}
