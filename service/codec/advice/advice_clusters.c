#include "codec/advice/advice.h"

#include <string.h>

static size_t *make_room(const struct codec_node *node, size_t n)
{
    size_t *room = arena_array(node->reader->arena, n, sizeof *room);
    if (room == NULL)
        (void)pv_no_memory(node->reader->err);
    return room;
}

/* SIZE_MAX: it is none of the first n. */
static size_t find(const struct strview names[], size_t n, struct strview name)
{
    for (size_t i = 0; i < n; i++)
        if (strview_equal(names[i], name))
            return i;
    return SIZE_MAX;
}

static struct strview text_of(const struct codec_node *node)
{
    return (struct strview){json_string_value(node->json), json_string_length(node->json)};
}

static void decode_clusters(const struct codec_node *copy_plan,
                            const struct codec_advice_limits *limits,
                            struct advice_question *request)
{
    struct codec_node list =
        codec_array(copy_plan, "clusters", CODEC_REQUIRED, 1, limits->clusters);
    size_t n = json_array_size(list.json);
    if (list.json == NULL)
        return;
    request->clusters = arena_calloc(list.reader->arena, n, sizeof *request->clusters);
    if (request->clusters == NULL) {
        (void)pv_no_memory(list.reader->err);
        return;
    }
    request->n_clusters = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (!json_is_string(item.json)) {
            codec_fault(&item, "wrong_type", "must be the name of a cluster");
        } else if (!codec_is_name(text_of(&item))) {
            codec_fault(&item, "invalid_name",
                        "must be a name: 1 to 255 characters, no control characters");
        } else {
            request->clusters[i] = arena_copy(list.reader->arena, text_of(&item));
            if (request->clusters[i].at == NULL)
                (void)pv_no_memory(list.reader->err);
            else if (find(request->clusters, i, request->clusters[i]) != SIZE_MAX)
                codec_fault(&item, "duplicate", "is listed twice");
        }
    }
}

/* Names of clusters become their indices. */
static void decode_inputs(const struct codec_node *copy_plan, struct advice_question *request)
{
    if (request->n_clusters == 0)
        return; /* the clusters are at fault themselves */
    struct codec_node list =
        codec_array(copy_plan, "inputs", CODEC_OPTIONAL, 1, request->n_clusters);
    size_t n = json_array_size(list.json);
    if (list.json == NULL)
        return;
    request->inputs = make_room(&list, n);
    if (request->inputs == NULL)
        return;
    request->n_inputs = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        size_t cluster = json_is_string(item.json)
                             ? find(request->clusters, request->n_clusters, text_of(&item))
                             : SIZE_MAX;
        request->inputs[i] = cluster;
        if (!json_is_string(item.json))
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
    request->clusters = NULL;
    request->n_clusters = 0;
    request->inputs = NULL;
    request->n_inputs = 0;
    if (copy_plan.json == NULL)
        return;
    codec_refuse_unknown(&copy_plan, known);
    decode_clusters(&copy_plan, limits, request);
    decode_inputs(&copy_plan, request);
}
