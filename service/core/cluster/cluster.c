#include "core/cluster/cluster.h"

#include <stdio.h>

#include "base/plural.h"

void cluster_words(const struct cluster *cluster, char out[128])
{
    char name[100];
    if (cluster->name.at == NULL) {
        (void)snprintf(out, 128, "the cluster of the request");
        return;
    }
    strview_shorten(cluster->name, name, sizeof name);
    (void)snprintf(out, 128, "the cluster \"%s\"", name);
}

enum pv_code cluster_need(const struct cluster *cluster,
                          int64_t value,
                          const char *member,
                          const char *pointer,
                          struct pv_error *err)
{
    char words[128];
    if (value != RUN_UNKNOWN)
        return PV_OK;
    cluster_words(cluster, words);
    return pv_fault(err, PV_PLACE_POINTER, pointer, "cluster_attribute_missing",
                    "%s does not specify its %s, which is needed here", words, member);
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
