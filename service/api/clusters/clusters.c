#include "api/routes.h"
#include "api/shared/list.h"
#include "api/shared/put_resource.h"
#include "api/shared/query.h"
#include "api/shared/reply.h"
#include "api/shared/write.h"
#include "base/fault_text.h"
#include "codec/clusters/cluster.h"
#include "store/clusters/cluster.h"
#include "store/clusters/price_book.h"
#include "store/name_hint.h"

/* /v1/clusters: what a team specifies of its clusters, once for every use. */

static const char *const no_parameters[] = {NULL};

static enum pv_code clusters_reply(struct http_request *request,
                                   struct http_response *response,
                                   unsigned status,
                                   const struct cluster *cluster,
                                   struct pv_error *err)
{
    char etag[HTTP_ETAG_TEXT];
    struct writer w;
    put_resource_etag(cluster->id, cluster->version, etag);
    http_response_header(request, response, "ETag", etag);
    writer_init(&w, request->arena);
    codec_cluster_encode(&w, cluster);
    PV_TRY(api_reply(response, status, &w, err));
    if (request->method == HTTP_GET && http_none_match_holds(request, etag))
        http_reply_not_modified(response);
    return PV_OK;
}

/* --- reading --- */

static enum pv_code clusters_find(struct store_tx *tx,
                                  struct http_request *request,
                                  struct cluster *cluster,
                                  struct pv_error *err)
{
    bool found = false;
    const char *name = http_path_parameter(request, "name");
    PV_TRY(store_cluster_look(tx, request->arena, name, cluster, &found, err));
    return found ? PV_OK
                 : pv_fail(err, PV_E_NOT_FOUND, "there is no cluster %s%s", fault_quote(name).text,
                           store_name_hint(tx, request->arena, STORE_NAMES_CLUSTERS, name));
}

enum pv_code clusters_get(void *context,
                          struct http_request *request,
                          struct http_response *response,
                          struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    struct cluster cluster;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_read(context, request, &tx, err));
    PV_TRY(clusters_find(tx, request, &cluster, err));
    store_rollback(&tx);
    return clusters_reply(request, response, 200, &cluster, err);
}

static enum pv_code clusters_read_filter(struct api *api,
                                         struct http_request *request,
                                         struct cluster_filter *filter,
                                         struct pv_error *err)
{
    static const char *const allowed[] = {"limit",  "cursor",       "price_book",
                                          "label*", "machine_type", NULL};
    struct run_label *labels = NULL;
    size_t n = 0;
    PV_TRY(http_check_query(request, allowed, err));
    PV_TRY(api_query_labels(api, request, &labels, &n, err));
    *filter = (struct cluster_filter){.price_book = http_query(request, "price_book"),
                                      .machine_type = http_query(request, "machine_type"),
                                      .labels = labels,
                                      .n_labels = n};
    return PV_OK;
}

enum pv_code clusters_list(void *context,
                           struct http_request *request,
                           struct http_response *response,
                           struct pv_error *err)
{
    struct cluster_filter filter;
    struct cluster_list page;
    api_list_auto_t list = {0};
    PV_TRY(clusters_read_filter(context, request, &filter, err));
    PV_TRY(api_list_begin(context, request, &list, err));
    PV_TRY(store_cluster_list(list.tx, request->arena, &filter, list.after.text, list.limit, &page,
                              err));
    api_list_items(&list);
    for (size_t i = 0; i < page.n; i++)
        codec_cluster_encode(&list.w, &page.items[i]);
    return api_list_reply(context, request, response, &list,
                          page.more ? page.items[page.n - 1].name.at : NULL, RUN_NO_INSTANT, err);
}

/* --- writing --- */

static enum pv_code clusters_decode(struct api *api,
                                    struct http_request *request,
                                    struct cluster *sent,
                                    struct pv_error *err)
{
    const struct codec_cluster_limits limits = {.labels = api->config->labels_max,
                                                .cores = api->config->cores_max};
    struct codec_document body;
    PV_TRY(api_body_open(api->config, request, &body, err));
    codec_cluster_decode(&body.top, &limits, sent);
    return codec_close(&body);
}

/* The book named becomes its id. */
static enum pv_code resolve_book(struct store_tx *tx,
                                 struct arena *arena,
                                 struct cluster *cluster,
                                 struct pv_error *err)
{
    struct price_book book;
    bool found = false;
    if (cluster->price_book.at == NULL)
        return PV_OK;
    PV_TRY(store_price_book_look(tx, arena, cluster->price_book.at, false, &book, &found, err));
    if (!found)
        return pv_fault(
            err, PV_PLACE_POINTER, "/price_book", "unknown_price_book",
            "there is no price book %s%s", fault_quote(cluster->price_book.at).text,
            store_name_hint(tx, arena, STORE_NAMES_PRICE_BOOKS, cluster->price_book.at));
    memcpy(cluster->price_book_id, book.id, sizeof cluster->price_book_id);
    return PV_OK;
}

static enum pv_code clusters_check(const struct http_request *request,
                                   const struct cluster *cluster,
                                   bool found,
                                   struct pv_error *err)
{
    char etag[HTTP_ETAG_TEXT];
    const char *const etags[] = {found ? etag : NULL, NULL};
    if (found)
        put_resource_etag(cluster->id, cluster->version, etag);
    return put_resource_check(request, etags, "the cluster", err);
}

/* The transaction of a PUT, up to its commit. */
static enum pv_code api_clusters_put(struct api *api,
                                     struct http_request *request,
                                     struct http_response *response,
                                     struct store_tx *tx,
                                     const char *name,
                                     struct cluster *cluster,
                                     struct pv_error *err)
{
    struct cluster there = {.id = ""};
    bool found = false;
    PV_TRY(store_registry_lock(tx, err));
    PV_TRY(store_cluster_look(tx, request->arena, name, &there, &found, err));
    PV_TRY(clusters_check(request, &there, found, err));
    PV_TRY(resolve_book(tx, request->arena, cluster, err));
    cluster->name = strview_of(name);
    memcpy(cluster->id, there.id, sizeof cluster->id);
    PV_TRY(found
               ? store_cluster_update(tx, request->arena, cluster, err)
               : store_cluster_insert(tx, request->arena, api->config->clusters_max, cluster, err));
    if (!found)
        PV_TRY(api_reply_location(request, response, "/v1/clusters", name, err));
    return clusters_reply(request, response, found ? 200 : 201, cluster, err);
}

static enum pv_code clusters_put_decode(void *context,
                                        struct http_request *request,
                                        struct http_response *response,
                                        struct pv_error *err)
{
    const char *name = NULL;
    (void)response;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_query_name(request, &name, err));
    return clusters_decode(context, request, request->state, err);
}

static enum pv_code clusters_put_store(void *context,
                                       struct http_request *request,
                                       struct http_response *response,
                                       struct pv_error *err)
{
    struct cluster sent = *(const struct cluster *)request->state;
    const char *name = http_path_parameter(request, "name");
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(api_clusters_put(context, request, response, write.tx, name, &sent, err));
    return api_write_commit(request, response, &write, err);
}

const struct http_call clusters_put = {
    .state_bytes = sizeof(struct cluster),
    .steps = {{HTTP_BODY, clusters_put_decode}, {HTTP_IO, clusters_put_store}},
};

enum pv_code clusters_delete(void *context,
                             struct http_request *request,
                             struct http_response *response,
                             struct pv_error *err)
{
    struct cluster cluster;
    api_write_auto_t write = {0};
    bool replayed = false;
    PV_TRY(http_check_query(request, no_parameters, err));
    PV_TRY(api_write_begin(context, request, response, NULL, &write, &replayed, err));
    if (replayed)
        return PV_OK;
    PV_TRY(store_registry_lock(write.tx, err));
    PV_TRY(clusters_find(write.tx, request, &cluster, err));
    PV_TRY(clusters_check(request, &cluster, true, err));
    PV_TRY(put_resource_refuse_referenced(write.tx, request->arena, REFERENCE_TO_CLUSTER,
                                          cluster.id, err));
    PV_TRY(store_cluster_delete(write.tx, &cluster, err));
    api_reply_empty(response);
    return api_write_commit(request, response, &write, err);
}
