#include "core/cluster/cluster.h"

#include "base/plural.h"

enum pv_code cluster_need(const struct cluster *cluster,
                          int64_t value,
                          const char *member,
                          const char *pointer,
                          struct pv_error *err)
{
    char name[100];
    if (value != RUN_UNKNOWN)
        return PV_OK;
    strview_shorten(cluster->name, name, sizeof name);
    return pv_fault(err, PV_PLACE_POINTER, pointer, "cluster_attribute_missing",
                    "the cluster \"%s\" does not specify its %s, which is needed here", name,
                    member);
}

enum pv_code cluster_count_cores(int64_t executors,
                                 int64_t cores_per_executor,
                                 int64_t most,
                                 const char *pointer,
                                 int64_t *cores,
                                 struct pv_error *err)
{
    if (__builtin_mul_overflow(executors, cores_per_executor, cores) || *cores > most)
        return pv_fault(err, PV_PLACE_POINTER, pointer, "out_of_range",
                        "has more than %lld core%s (cores_max)", (long long)most, PLURAL(most));
    return PV_OK;
}
