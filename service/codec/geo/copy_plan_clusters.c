#include "codec/geo/copy_plan_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/quantity_text.h"

/* --- names --- */

/* A few short names are listed: who mistyped one in `clusters` is shown where it is missing. */
static void
refuse_name(const struct copy_plan_decoding *d, struct strview name, const struct codec_node *at)
{
    char names[80] = "";
    size_t used = 0;
    bool listed = name.n <= 60;
    for (size_t i = 0; i < d->clusters.n && listed; i++) {
        struct strview known = d->clusters.entries[i].text;
        listed = used + 2 + known.n < sizeof names;
        if (listed)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s",
                                     used == 0 ? "" : ", ", (int)known.n, known.at);
    }
    listed = listed && used > 0;
    codec_fault(at, "unknown_cluster", "no cluster of the request is named %.*s%s%s",
                (int)strview_clip(name, 100).n, name.at, listed ? "; they are " : "",
                listed ? names : "");
}

size_t copy_plan_find_cluster(const struct copy_plan_decoding *d,
                              const struct codec_node *node,
                              const struct codec_node *at)
{
    struct strview name = codec_string(node);
    if (name.at == NULL) {
        codec_fault(node, "wrong_type", "must be the name of a cluster");
        return SIZE_MAX;
    }
    size_t index = text_index_find(&d->clusters, name);
    if (index == SIZE_MAX)
        refuse_name(d, name, at);
    return index;
}

/* --- operations --- */

/* What the clusters of the request have speeds of. */
static bool gather_given(const struct codec_node *clusters, struct text_index *given)
{
    size_t most = 0;
    for (size_t i = 0; i < json_value_items(clusters->json); i++) {
        const struct json_value *speeds =
            json_value_member(json_value_item(clusters->json, i), "processing");
        most += json_value_members(speeds) + json_value_items(speeds);
    }
    given->entries = codec_allocate(clusters, most, sizeof *given->entries);
    if (given->entries == NULL)
        return false;
    for (size_t i = 0; i < json_value_items(clusters->json); i++) {
        const struct json_value *speeds =
            json_value_member(json_value_item(clusters->json, i), "processing");
        for (size_t m = 0; m < json_value_members(speeds); m++)
            given->entries[given->n++] =
                (struct text_index_entry){json_value_key_view(speeds, m), 0};
        for (size_t m = 0; m < json_value_items(speeds); m++) {
            struct strview name =
                json_value_view(json_value_member(json_value_item(speeds, m), "operation"));
            if (name.at != NULL)
                given->entries[given->n++] = (struct text_index_entry){name, 0};
        }
    }
    text_index_sort(given);
    return true;
}

/* What the tasks ask for. Of more tasks than are allowed, the first: that is a fault of its own. */
static bool gather_asked(const struct copy_plan_decoding *d,
                         const struct codec_node *top,
                         struct text_index *asked)
{
    const struct json_value *jobs = json_value_member(top->json, "jobs");
    size_t most = 0;
    for (size_t j = 0; j < json_value_items(jobs); j++)
        most += json_value_items(json_value_member(json_value_item(jobs, j), "tasks"));
    most = most < d->limits->tasks ? most : d->limits->tasks;
    asked->entries = codec_allocate(top, most, sizeof *asked->entries);
    if (asked->entries == NULL)
        return false;
    struct strview last = {"", 0};
    for (size_t j = 0; j < json_value_items(jobs); j++) {
        const struct json_value *tasks = json_value_member(json_value_item(jobs, j), "tasks");
        for (size_t t = 0; t < json_value_items(tasks) && asked->n < most; t++) {
            const struct json_value *name =
                json_value_member(json_value_item(tasks, t), "operation");
            struct strview text = json_value_view(name);
            if (text.at == NULL || strview_equal(text, last))
                continue; /* most are like the one before */
            asked->entries[asked->n++] = (struct text_index_entry){text, 0};
            last = text;
        }
    }
    text_index_sort(asked);
    return true;
}

/* The operations of the problem: those that tasks ask for and, unless a registered cluster may
 * know more, that a cluster of the request has speeds of. */
static bool gather_operations(struct copy_plan_decoding *d,
                              const struct codec_node *top,
                              const struct codec_node *clusters)
{
    struct text_index given = {NULL, 0};
    struct text_index *asked = &d->operations;
    if (!gather_given(clusters, &given) || !gather_asked(d, top, asked))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < asked->n; i++)
        if (d->request->n_registered > 0 ||
            text_index_find(&given, asked->entries[i].text) != SIZE_MAX)
            asked->entries[n++] = asked->entries[i];
    asked->n = n;
    d->request->operations = codec_allocate(top, n, sizeof *d->request->operations);
    for (size_t i = 0; d->request->operations != NULL && i < n; i++) {
        asked->entries[i].place = i;
        d->request->operations[i] = arena_copy(d->arena, asked->entries[i].text);
        if (d->request->operations[i].at == NULL)
            (void)pv_no_memory(top->reader->err);
    }
    d->request->problem.n_operations = n;
    return codec_result(top->reader) != PV_E_MEMORY;
}

/* --- clusters --- */

#define C struct geo_cluster
static const struct shape_member cluster_members[] = {
    {"name", SHAPE_CODE, .flags = CODEC_REQUIRED}, /* decode_clusters */
    {"registered", SHAPE_CODE},
    {"slots", SHAPE_COUNT(C, slots), .most = CODEC_COUNT_MAX},
    {"busy_slots", SHAPE_COUNT(C, busy_slots), .flags = SHAPE_KEEP, .most = CODEC_COUNT_MAX},
    {"unreachable_probability", SHAPE_NUMBER(C, unreachable_probability), .flags = SHAPE_KEEP,
     .high = 1},
    {"ingress_bytes_per_s", SHAPE_NUMBER(C, ingress_bytes_per_s), .flags = CODEC_NULLABLE,
     .high = CODEC_RATE_MAX},
    {"egress_bytes_per_s", SHAPE_NUMBER(C, egress_bytes_per_s), .flags = CODEC_NULLABLE,
     .high = CODEC_RATE_MAX},
    {"processing", SHAPE_CODE},
};
const struct shape codec_copy_plan_cluster_shape = {.request = "CopyPlanCluster",
                                                    SHAPE_OF(cluster_members, C)};

/* Null is no limit; so is one that is left out, but for a registered cluster, which may have one.
 */
static void
open_gate(const struct codec_node *node, const char *key, bool registered, double *limit)
{
    if (isnan(*limit) && !(registered && json_value_member(node->json, key) == NULL))
        *limit = HUGE_VAL;
}

static void decode_cluster(const struct copy_plan_decoding *d,
                           const struct codec_node *node,
                           struct codec_copy_plan_place *place,
                           struct geo_cluster *cluster,
                           const struct speeds **processing)
{
    bool registered = place->registered;
    cluster->unreachable_probability = registered ? (double)NAN : 0;
    shape_decode(node, &codec_copy_plan_cluster_shape, NULL, cluster);
    if (!registered && json_value_member(node->json, "slots") == NULL)
        codec_fault_member(node, "slots", "required", "is required");
    if (cluster->slots != RUN_UNKNOWN && cluster->busy_slots > cluster->slots)
        codec_fault_member(node, "busy_slots", "out_of_range", "must not exceed slots");
    place->has_unreachable = codec_present(node, "unreachable_probability");
    open_gate(node, "ingress_bytes_per_s", registered, &cluster->ingress_bytes_per_s);
    open_gate(node, "egress_bytes_per_s", registered, &cluster->egress_bytes_per_s);
    copy_plan_decode_processing(d, node, registered, processing);
}

/* A name alone is a registered cluster, as is an object that says `"registered": true`. */
static void find_registered(struct copy_plan_decoding *d, const struct codec_node *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(list, i);
        struct codec_copy_plan_place *place = &d->request->places[i];
        place->only_named = json_value_is_text(item.json);
        place->registered =
            place->only_named || (json_value_is_object(item.json) &&
                                  codec_boolean(&item, "registered", CODEC_OPTIONAL, false));
        d->request->n_registered += place->registered;
    }
}

static bool index_names(struct copy_plan_decoding *d, const struct codec_node *list, size_t n)
{
    static const char twice[] = "another cluster has this name";
    const struct text_index_entry *entries;
    if (!text_index_make(&d->clusters, d->request->clusters, n, d->arena)) {
        (void)pv_no_memory(list->reader->err);
        return false;
    }
    entries = d->clusters.entries;
    for (size_t i = 1; i < n; i++) {
        if (entries[i].text.n == 0 || !strview_equal(entries[i - 1].text, entries[i].text))
            continue;
        struct codec_node item = codec_item(list, entries[i].place);
        if (d->request->places[entries[i].place].only_named)
            codec_fault(&item, "duplicate", twice);
        else
            codec_fault_member(&item, "name", "duplicate", twice);
    }
    return true;
}

/* Of a cluster that is only named everything is looked up. */
static void decode_one(const struct copy_plan_decoding *d,
                       const struct codec_node *item,
                       size_t i,
                       struct geo_cluster *cluster)
{
    struct codec_copy_plan_place *place = &d->request->places[i];
    const struct speeds **processing =
        codec_allocate(item, d->request->problem.n_operations, sizeof *processing);
    *cluster = (struct geo_cluster){.slots = place->only_named ? RUN_UNKNOWN : 0,
                                    .unreachable_probability = (double)NAN,
                                    .ingress_bytes_per_s = (double)NAN,
                                    .egress_bytes_per_s = (double)NAN,
                                    .processing = processing};
    if (place->only_named) {
        d->request->clusters[i] = codec_as_name(item);
    } else if (processing != NULL && codec_expect_object(item)) {
        decode_cluster(d, item, place, cluster, processing);
        d->request->clusters[i] = codec_name(item, "name", CODEC_REQUIRED);
    }
}

void copy_plan_decode_clusters(struct copy_plan_decoding *d, const struct codec_node *top)
{
    struct codec_copy_plan *request = d->request;
    struct codec_node list;
    size_t n;
    struct geo_cluster *clusters = codec_list(top, "clusters", CODEC_REQUIRED, 1,
                                              d->limits->clusters, sizeof *clusters, &list, &n);
    if (clusters == NULL)
        return;
    request->clusters = codec_allocate(top, n, sizeof *request->clusters);
    request->places = codec_allocate(top, n, sizeof *request->places);
    request->clusters_at = "/clusters";
    if (request->clusters == NULL || request->places == NULL)
        return;
    find_registered(d, &list, n);
    if (!gather_operations(d, top, &list))
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_one(d, &item, i, &clusters[i]);
    }
    if (!index_names(d, &list, n))
        return;
    request->problem.clusters = clusters;
    request->problem.n_clusters = n;
}

/* --- links --- */

static void decode_link(const struct copy_plan_decoding *d,
                        const struct codec_node *node,
                        struct geo_link *link)
{
    static const char *const known[] = {"from", "to", "distribution", NULL};
    *link = (struct geo_link){SIZE_MAX, SIZE_MAX, NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    struct codec_node from = codec_member(node, "from");
    struct codec_node to = codec_member(node, "to");
    struct codec_node distribution = codec_member(node, "distribution");
    link->from = copy_plan_find_cluster(d, &from, &from);
    link->to = copy_plan_find_cluster(d, &to, &to);
    if (link->from != SIZE_MAX && link->from == link->to)
        codec_fault(&to, "conflict", "must be another cluster than `from`");
    link->speeds = copy_plan_decode_speeds(d, &distribution);
}

/* The order of the links that are given, `links` in the request: by both ends, then as sent. */
static int compare_ends(const void *a, const void *b)
{
    const struct geo_link *x = *(const struct geo_link *const *)a;
    const struct geo_link *y = *(const struct geo_link *const *)b;
    int order = compare_size(x->from, y->from);
    if (order == 0)
        order = compare_size(x->to, y->to);
    return order != 0 ? order : (x > y) - (x < y);
}

static void
refuse_same_links(const struct codec_node *list, const struct geo_link links[], size_t n)
{
    const struct geo_link **sorted = codec_allocate(list, n, sizeof *sorted);
    for (size_t i = 0; sorted != NULL && i < n; i++)
        sorted[i] = &links[i];
    if (sorted != NULL)
        qsort(sorted, n, sizeof *sorted, compare_ends);
    for (size_t i = 1; sorted != NULL && i < n; i++) {
        const struct geo_link *link = sorted[i];
        bool known = link->from != SIZE_MAX && link->to != SIZE_MAX;
        if (!known || link->from != sorted[i - 1]->from || link->to != sorted[i - 1]->to)
            continue;
        struct codec_node item = codec_item(list, (size_t)(link - links));
        codec_fault(&item, "duplicate", "this pair of clusters was given before");
    }
}

void copy_plan_decode_links(struct copy_plan_decoding *d, const struct codec_node *top)
{
    struct codec_node list;
    size_t n;
    struct geo_link *links =
        codec_list(top, "bandwidth", CODEC_OPTIONAL, 0, d->limits->clusters * d->limits->clusters,
                   sizeof *links, &list, &n);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_link(d, &item, &links[i]);
    }
    if (n > 0)
        refuse_same_links(&list, links, n);
    d->request->problem.links = links;
    d->request->problem.n_links = n;
}
