#include "codec/copy_plan_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/names.h"

static const double BYTES_MIN = 1e-9;
static const double BYTES_MAX = 1e18;
static const int64_t SLOTS_MAX = 1000000000;
static const double SUM_TOLERANCE = 1e-6;

bool copy_plan_allocated(const struct codec_node *node, const void *memory)
{
    if (memory == NULL)
        (void)pv_fail(node->reader->err, PV_E_MEMORY, "out of memory");
    return memory != NULL;
}

double copy_plan_known_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* --- names --- */

static int compare_views(struct strview a, struct strview b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n == 0 ? 0 : memcmp(a.at, b.at, n);
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

static int compare_entries(const void *a, const void *b)
{
    return compare_views(((const struct copy_plan_entry *)a)->name,
                         ((const struct copy_plan_entry *)b)->name);
}

size_t copy_plan_look_up(const struct copy_plan_dictionary *dictionary, struct strview name)
{
    const struct copy_plan_entry key = {name, 0};
    const struct copy_plan_entry *found =
        dictionary->n == 0
            ? NULL
            : bsearch(&key, dictionary->entries, dictionary->n, sizeof key, compare_entries);
    return found != NULL ? found->index : SIZE_MAX;
}

static struct strview text_of(const struct codec_node *node)
{
    return (struct strview){json_string_value(node->json), json_string_length(node->json)};
}

size_t copy_plan_find_cluster(const struct copy_plan_decoding *d,
                              const struct codec_node *node,
                              const struct codec_node *at)
{
    if (!json_is_string(node->json)) {
        codec_fault(node, "wrong_type", "must be the name of a cluster");
        return SIZE_MAX;
    }
    struct strview name = text_of(node);
    size_t index = copy_plan_look_up(&d->clusters, name);
    if (index == SIZE_MAX)
        codec_fault(at, "unknown_cluster", "no cluster of the request is named %.*s",
                    name.n < 100 ? (int)name.n : 100, name.at);
    return index;
}

/* --- distributions --- */

static bool decode_point(const struct codec_node *node, struct speed_point *point)
{
    if (!json_is_array(node->json) || json_array_size(node->json) != 2) {
        codec_fault(node, "wrong_type", "must be a pair: bytes per second, probability");
        return false;
    }
    struct codec_node value = codec_item(node, 0);
    struct codec_node probability = codec_item(node, 1);
    size_t faults = node->reader->err->n_faults;
    point->value = codec_as_number(&value, CODEC_REQUIRED, BYTES_MIN, BYTES_MAX);
    point->probability = codec_as_number(&probability, CODEC_REQUIRED, 0, 1);
    return node->reader->err->n_faults == faults;
}

/* NULL when at fault. */
static const struct speeds *decode_speeds(const struct copy_plan_decoding *d,
                                          const struct codec_node *node)
{
    size_t n = json_array_size(node->json);
    double sum = 0;
    if (!json_is_array(node->json) || n == 0 || n > d->limits->points) {
        codec_fault(node, json_is_array(node->json) && n > 0 ? "too_many_items" : "wrong_type",
                    "must be a list of 1 to %zu pairs (distribution_points_max)",
                    d->limits->points);
        return NULL;
    }
    struct speed_point *points = arena_array(d->arena, n, sizeof *points);
    struct speeds *speeds = arena_alloc(d->arena, sizeof *speeds);
    if (!copy_plan_allocated(node, points) || !copy_plan_allocated(node, speeds))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(node, i);
        if (!decode_point(&item, &points[i]))
            return NULL;
        sum += points[i].probability;
    }
    if (fabs(sum - 1) > SUM_TOLERANCE) {
        codec_fault(node, "not_a_distribution", "the probabilities add up to %.9g, not to 1", sum);
        return NULL;
    }
    speeds_make(points, n, speeds);
    return speeds;
}

/* --- clusters --- */

static void decode_processing(const struct copy_plan_decoding *d,
                              const struct codec_node *node,
                              struct geo_cluster *cluster)
{
    size_t n = d->request->problem.n_operations;
    const struct speeds **processing = arena_calloc(d->arena, n, sizeof *processing);
    struct codec_node object = codec_object(node, "processing", CODEC_REQUIRED);
    if (!copy_plan_allocated(node, processing))
        return;
    cluster->processing = processing;
    const char *key;
    json_t *value;
    json_object_foreach(object.json, key, value)
    {
        size_t operation = copy_plan_look_up(&d->operations, (struct strview){key, strlen(key)});
        struct codec_node member = codec_member(&object, key);
        if (operation != SIZE_MAX)
            processing[operation] = decode_speeds(d, &member);
    }
}

static void decode_cluster(const struct copy_plan_decoding *d,
                           const struct codec_node *node,
                           struct geo_cluster *cluster)
{
    static const char *const known[] = {"name",
                                        "slots",
                                        "busy_slots",
                                        "unreachable_probability",
                                        "ingress_bytes_per_s",
                                        "egress_bytes_per_s",
                                        "processing",
                                        NULL};
    if (json_is_string(node->json)) {
        codec_fault(node, "not_supported", "clusters are not known by name here: describe it");
        return;
    }
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    cluster->slots = codec_integer(node, "slots", CODEC_REQUIRED, 0, SLOTS_MAX);
    int64_t busy = codec_integer(node, "busy_slots", CODEC_OPTIONAL, 0, SLOTS_MAX);
    cluster->busy_slots = busy == RUN_UNKNOWN ? 0 : busy;
    if (cluster->slots != RUN_UNKNOWN && cluster->busy_slots > cluster->slots)
        codec_fault_member(node, "busy_slots", "out_of_range", "must not exceed slots");
    cluster->unreachable_probability =
        copy_plan_known_or(codec_number(node, "unreachable_probability", CODEC_OPTIONAL, 0, 1), 0);
    cluster->ingress_bytes_per_s = copy_plan_known_or(
        codec_number(node, "ingress_bytes_per_s", CODEC_NULLABLE, 0, BYTES_MAX), HUGE_VAL);
    cluster->egress_bytes_per_s = copy_plan_known_or(
        codec_number(node, "egress_bytes_per_s", CODEC_NULLABLE, 0, BYTES_MAX), HUGE_VAL);
    decode_processing(d, node, cluster);
}

/* Every operation that any cluster knows, in order, each once. */
static bool gather_operations(struct copy_plan_decoding *d, const struct codec_node *list)
{
    size_t n = 0;
    size_t room = 0;
    const char *key;
    json_t *value;
    for (size_t i = 0; i < json_array_size(list->json); i++)
        room += json_object_size(json_object_get(json_array_get(list->json, i), "processing"));
    struct copy_plan_entry *entries = arena_array(d->arena, room, sizeof *entries);
    if (!copy_plan_allocated(list, entries))
        return false;
    for (size_t i = 0; i < json_array_size(list->json); i++)
        json_object_foreach(json_object_get(json_array_get(list->json, i), "processing"), key,
                            value) entries[n++] = (struct copy_plan_entry){{key, strlen(key)}, 0};
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t i = 0; i < n; i++)
        if (d->operations.n == 0 ||
            compare_entries(&entries[i], &entries[d->operations.n - 1]) != 0)
            entries[d->operations.n++] = (struct copy_plan_entry){entries[i].name, 0};
    for (size_t i = 0; i < d->operations.n; i++)
        entries[i].index = i;
    d->operations.entries = entries;
    d->request->problem.n_operations = d->operations.n;
    return true;
}

static bool index_names(struct copy_plan_decoding *d, const struct codec_node *list, size_t n)
{
    struct copy_plan_entry *entries = arena_array(d->arena, n, sizeof *entries);
    if (!copy_plan_allocated(list, entries))
        return false;
    for (size_t i = 0; i < n; i++)
        if (d->request->clusters[i].n > 0)
            entries[d->clusters.n++] = (struct copy_plan_entry){d->request->clusters[i], i};
    qsort(entries, d->clusters.n, sizeof *entries, compare_entries);
    d->clusters.entries = entries;
    return true;
}

void copy_plan_decode_clusters(struct copy_plan_decoding *d, const struct codec_node *top)
{
    struct codec_node list = codec_array(top, "clusters", CODEC_REQUIRED, 1, d->limits->clusters);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct geo_cluster *clusters = arena_calloc(d->arena, n, sizeof *clusters);
    d->request->clusters = arena_calloc(d->arena, n, sizeof *d->request->clusters);
    if (!copy_plan_allocated(top, clusters) || !copy_plan_allocated(top, d->request->clusters) ||
        !gather_operations(d, &list))
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_cluster(d, &item, &clusters[i]);
        if (json_is_object(item.json))
            d->request->clusters[i] = codec_name(&item, "name", CODEC_REQUIRED);
    }
    codec_refuse_same_names(&list, d->request->clusters, n, "another cluster has this name");
    if (!index_names(d, &list, n))
        return;
    d->request->problem.clusters = clusters;
    d->request->problem.n_clusters = n;
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
    link->speeds = decode_speeds(d, &distribution);
}

struct pair {
    size_t from;
    size_t to;
    size_t index;
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void refuse_same_links(const struct copy_plan_decoding *d,
                              const struct codec_node *list,
                              const struct geo_link links[],
                              size_t n)
{
    struct pair *pairs = arena_array(d->arena, n, sizeof *pairs);
    if (!copy_plan_allocated(list, pairs))
        return;
    for (size_t i = 0; i < n; i++)
        pairs[i] = (struct pair){links[i].from, links[i].to, i};
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    for (size_t i = 1; i < n; i++) {
        bool known = pairs[i].from != SIZE_MAX && pairs[i].to != SIZE_MAX;
        if (!known || pairs[i].from != pairs[i - 1].from || pairs[i].to != pairs[i - 1].to)
            continue;
        struct codec_node item = codec_item(list, pairs[i].index);
        codec_fault(&item, "duplicate", "this pair of clusters was given before");
    }
}

void copy_plan_decode_links(struct copy_plan_decoding *d, const struct codec_node *top)
{
    size_t most = d->limits->clusters * d->limits->clusters;
    struct codec_node list = codec_array(top, "bandwidth", CODEC_OPTIONAL, 0, most);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct geo_link *links = arena_array(d->arena, n, sizeof *links);
    if (!copy_plan_allocated(top, links))
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_link(d, &item, &links[i]);
    }
    refuse_same_links(d, &list, links, n);
    d->request->problem.links = links;
    d->request->problem.n_links = n;
}
