#include "api/clusters/named_cluster.h"

#include "base/fault_text.h"
#include "store/name_hint.h"

enum pv_code named_cluster_find(struct store_tx *tx,
                                struct arena *arena,
                                struct strview name,
                                const char *pointer,
                                struct cluster *cluster,
                                struct pv_error *err)
{
    bool found = false;
    PV_TRY(store_cluster_look(tx, arena, name.at, cluster, &found, err));
    if (!found)
        return pv_fault(err, PV_PLACE_POINTER, pointer, "unknown_cluster",
                        "there is no cluster %s%s", fault_quote(name.at).text,
                        store_name_hint(tx, arena, STORE_NAMES_CLUSTERS, name.at));
    return PV_OK;
}

enum pv_code named_cluster_load(struct api *api,
                                struct http_request *request,
                                struct strview name,
                                const char *pointer,
                                struct cluster *cluster,
                                struct pv_error *err)
{
    store_tx_auto_t *tx = NULL;
    PV_TRY(api_read(api, request, &tx, err));
    return named_cluster_find(tx, request->arena, name, pointer, cluster, err);
}

enum pv_code given_cluster_load(struct api *api,
                                struct http_request *request,
                                const struct codec_given_cluster *given,
                                const char *pointer,
                                struct cluster *cluster,
                                struct pv_error *err)
{
    if (given->sized != NULL) {
        *cluster = (struct cluster){.traits = *given->sized};
        return PV_OK;
    }
    PV_TRY(http_move(request, HTTP_IO));
    return named_cluster_load(api, request, given->name, pointer, cluster, err);
}
