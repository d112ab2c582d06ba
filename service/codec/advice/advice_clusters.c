#include "codec/advice/advice.h"

#include <string.h>

/* SIZE_MAX: it is none of the first n. */
static size_t advice_clusters_find(const struct strview names[], size_t n, struct strview name)
{
    for (size_t i = 0; i < n; i++)
        if (names[i].at != NULL && strview_equal(names[i], name))
            return i;
    return SIZE_MAX;
}

static void decode_clusters(const struct codec_node *copy_plan,
                            const struct codec_advice_limits *limits,
                            struct advice_question *request)
{
    struct codec_node list;
    request->clusters = codec_list(copy_plan, "clusters", CODEC_REQUIRED, 1, limits->clusters,
                                   sizeof *request->clusters, &list, &request->n_clusters);
    for (size_t i = 0; i < request->n_clusters; i++) {
        struct codec_node item = codec_item(&list, i);
        request->clusters[i] = codec_as_name(&item);
        if (request->clusters[i].at != NULL &&
            advice_clusters_find(request->clusters, i, request->clusters[i]) != SIZE_MAX)
            codec_fault(&item, "duplicate", "is listed twice");
    }
}

/* Names of clusters become their indices. */
static void decode_inputs(const struct codec_node *copy_plan, struct advice_question *request)
{
    struct codec_node list;
    if (request->n_clusters == 0)
        return; /* the clusters are at fault themselves */
    request->inputs = codec_list(copy_plan, "inputs", CODEC_OPTIONAL, 1, request->n_clusters,
                                 sizeof *request->inputs, &list, &request->n_inputs);
    for (size_t i = 0; i < request->n_inputs; i++) {
        struct codec_node item = codec_item(&list, i);
        struct strview name = codec_string(&item);
        size_t cluster = name.at == NULL
                             ? SIZE_MAX
                             : advice_clusters_find(request->clusters, request->n_clusters, name);
        request->inputs[i] = cluster;
        if (name.at == NULL)
            codec_fault(&item, "wrong_type", "must be the name of a cluster");
        else if (cluster == SIZE_MAX)
            codec_fault(&item, "unknown_cluster", "is not one of copy_plan.clusters");
        for (size_t k = 0; k < i && cluster != SIZE_MAX; k++)
            if (request->inputs[k] == cluster)
                codec_fault(&item, "duplicate", "is listed twice");
    }
}

void codec_advice_clusters_decode(const struct codec_node *node,
                                  const struct codec_advice_limits *limits,
                                  struct advice_question *request)
{
    static const char *const known[] = {"clusters", "inputs", NULL};
    struct codec_node copy_plan = codec_object(node, "copy_plan", CODEC_OPTIONAL);
    if (copy_plan.json == NULL)
        return;
    codec_refuse_unknown(&copy_plan, known);
    decode_clusters(&copy_plan, limits, request);
    decode_inputs(&copy_plan, request);
}
