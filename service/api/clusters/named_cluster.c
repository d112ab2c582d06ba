#include "api/clusters/named_cluster.h"

#include "api/shared/put_resource.h"

enum { NAME_TOLD = 100 };

enum pv_code named_cluster_look(struct store_tx *tx,
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
                        "there is no cluster of this name");
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
    return named_cluster_look(tx, request->arena, name, pointer, cluster, err);
}

enum pv_code named_cluster_need(const struct cluster *cluster,
                                int64_t value,
                                const char *member,
                                const char *pointer,
                                struct pv_error *err)
{
    char name[NAME_TOLD];
    if (value != RUN_UNKNOWN)
        return PV_OK;
    registry_shorten(cluster->name, name, sizeof name);
    return pv_fault(err, PV_PLACE_POINTER, pointer, "cluster_attribute_missing",
                    "the cluster \"%s\" does not tell its %s, which is needed here", name, member);
}

enum pv_code named_cluster_cores(const struct api *api,
                                 int64_t executors,
                                 int64_t cores_per_executor,
                                 const char *pointer,
                                 int64_t *cores,
                                 struct pv_error *err)
{
    if (__builtin_mul_overflow(executors, cores_per_executor, cores) ||
        *cores > api->config->cores_max)
        return pv_fault(err, PV_PLACE_POINTER, pointer, "out_of_range",
                        "has more than %lld cores (cores_max)", (long long)api->config->cores_max);
    return PV_OK;
}
