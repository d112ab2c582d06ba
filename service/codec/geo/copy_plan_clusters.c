#include "codec/geo/copy_plan_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double BYTES_MIN = 1e-9;
static const double BYTES_MAX = 1e18;
static const int64_t SLOTS_MAX = 1000000000;
static const double SUM_TOLERANCE = 1e-6;

bool copy_plan_allocated(const struct codec_node *node, const void *memory)
{
    if (memory == NULL)
        (void)pv_no_memory(node->reader->err);
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

/* A few short names are told: who mistyped one in `clusters` is shown where it is missing. */
static void
refuse_name(const struct copy_plan_decoding *d, struct strview name, const struct codec_node *at)
{
    char names[80] = "";
    size_t used = 0;
    bool told = name.n <= 60;
    for (size_t i = 0; i < d->clusters.n && told; i++) {
        struct strview known = d->clusters.entries[i].name;
        told = used + 2 + known.n < sizeof names;
        if (told)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s",
                                     i == 0 ? "" : ", ", (int)known.n, known.at);
    }
    told = told && used > 0;
    codec_fault(at, "unknown_cluster", "no cluster of the request is named %.*s%s%s",
                (int)strview_clip(name, 100).n, name.at, told ? "; they are " : "",
                told ? names : "");
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
        refuse_name(d, name, at);
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

/* --- operations --- */

/* Sorts them and drops all but the first of equal ones. */
static void settle(struct copy_plan_dictionary *dictionary)
{
    size_t n = dictionary->n;
    struct copy_plan_entry *entries = dictionary->entries;
    dictionary->n = 0;
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t i = 0; i < n; i++)
        if (dictionary->n == 0 || compare_entries(&entries[i], &entries[dictionary->n - 1]) != 0)
            entries[dictionary->n++] = entries[i];
}

/* What the clusters of the request have speeds of. */
static bool gather_told(const struct copy_plan_decoding *d,
                        const struct codec_node *clusters,
                        struct copy_plan_dictionary *told)
{
    size_t room = 0;
    const char *key;
    json_t *value;
    for (size_t i = 0; i < json_array_size(clusters->json); i++)
        room += json_object_size(json_object_get(json_array_get(clusters->json, i), "processing"));
    told->entries = arena_array(d->arena, room, sizeof *told->entries);
    if (!copy_plan_allocated(clusters, told->entries))
        return false;
    for (size_t i = 0; i < json_array_size(clusters->json); i++)
        json_object_foreach(json_object_get(json_array_get(clusters->json, i), "processing"), key,
                            value) told->entries[told->n++] =
            (struct copy_plan_entry){{key, strlen(key)}, 0};
    settle(told);
    return true;
}

/* What the tasks ask for. Of more tasks than are allowed, the first: that is a fault of its own. */
static bool gather_asked(const struct copy_plan_decoding *d,
                         const struct codec_node *top,
                         struct copy_plan_dictionary *asked)
{
    const json_t *jobs = json_object_get(top->json, "jobs");
    size_t room = 0;
    for (size_t j = 0; j < json_array_size(jobs); j++)
        room += json_array_size(json_object_get(json_array_get(jobs, j), "tasks"));
    room = room < d->limits->tasks ? room : d->limits->tasks;
    asked->entries = arena_array(d->arena, room, sizeof *asked->entries);
    if (!copy_plan_allocated(top, asked->entries))
        return false;
    struct strview last = {"", 0};
    for (size_t j = 0; j < json_array_size(jobs); j++) {
        const json_t *tasks = json_object_get(json_array_get(jobs, j), "tasks");
        for (size_t t = 0; t < json_array_size(tasks) && asked->n < room; t++) {
            const json_t *name = json_object_get(json_array_get(tasks, t), "operation");
            struct strview text = {json_string_value(name), json_string_length(name)};
            if (text.at == NULL || compare_views(text, last) == 0)
                continue; /* most are like the one before */
            asked->entries[asked->n++] = (struct copy_plan_entry){text, 0};
            last = text;
        }
    }
    settle(asked);
    return true;
}

/* The operations of the problem: those that tasks ask for and, unless a registered cluster may
 * know more, that a cluster of the request has speeds of. */
static bool gather_operations(struct copy_plan_decoding *d,
                              const struct codec_node *top,
                              const struct codec_node *clusters)
{
    struct copy_plan_dictionary told = {NULL, 0};
    struct copy_plan_dictionary *asked = &d->operations;
    if (!gather_told(d, clusters, &told) || !gather_asked(d, top, asked))
        return false;
    size_t n = 0;
    for (size_t i = 0; i < asked->n; i++)
        if (d->request->n_registered > 0 ||
            copy_plan_look_up(&told, asked->entries[i].name) != SIZE_MAX)
            asked->entries[n++] = asked->entries[i];
    asked->n = n;
    d->request->operations = arena_array(d->arena, n, sizeof *d->request->operations);
    if (!copy_plan_allocated(top, d->request->operations))
        return false;
    for (size_t i = 0; i < n; i++) {
        asked->entries[i].index = i;
        d->request->operations[i] = arena_copy(d->arena, asked->entries[i].name);
        if (!copy_plan_allocated(top, d->request->operations[i].at))
            return false;
    }
    d->request->problem.n_operations = n;
    return true;
}

/* --- clusters --- */

/* Of an operation that no task asks for only whether it is right. */
static void decode_processing(const struct copy_plan_decoding *d,
                              const struct codec_node *node,
                              bool registered,
                              struct geo_cluster *cluster)
{
    const struct speeds **processing =
        arena_calloc(d->arena, d->request->problem.n_operations, sizeof *processing);
    struct codec_node object =
        codec_object(node, "processing", registered ? CODEC_OPTIONAL : CODEC_REQUIRED);
    if (!copy_plan_allocated(node, processing))
        return;
    cluster->processing = processing;
    const char *key;
    json_t *value;
    json_object_foreach(object.json, key, value)
    {
        size_t operation = copy_plan_look_up(&d->operations, (struct strview){key, strlen(key)});
        struct codec_node member = codec_member(&object, key);
        const struct speeds *speeds = decode_speeds(d, &member);
        if (operation != SIZE_MAX)
            processing[operation] = speeds;
    }
}

/* Null is no limit; so is one that is left out, but for a registered cluster, which may tell it. */
static double decode_gate(const struct codec_node *node, const char *key, bool registered)
{
    bool absent = codec_member(node, key).json == NULL;
    double limit = codec_number(node, key, CODEC_NULLABLE, 0, BYTES_MAX);
    return registered && absent ? (double)NAN : copy_plan_known_or(limit, HUGE_VAL);
}

static void decode_cluster(const struct copy_plan_decoding *d,
                           const struct codec_node *node,
                           struct codec_copy_plan_place *place,
                           struct geo_cluster *cluster)
{
    bool registered = place->registered;
    static const char *const known[] = {"name",
                                        "registered",
                                        "slots",
                                        "busy_slots",
                                        "unreachable_probability",
                                        "ingress_bytes_per_s",
                                        "egress_bytes_per_s",
                                        "processing",
                                        NULL};
    codec_refuse_unknown(node, known);
    cluster->slots =
        codec_integer(node, "slots", registered ? CODEC_OPTIONAL : CODEC_REQUIRED, 0, SLOTS_MAX);
    int64_t busy = codec_integer(node, "busy_slots", CODEC_OPTIONAL, 0, SLOTS_MAX);
    cluster->busy_slots = busy == RUN_UNKNOWN ? 0 : busy;
    if (cluster->slots != RUN_UNKNOWN && cluster->busy_slots > cluster->slots)
        codec_fault_member(node, "busy_slots", "out_of_range", "must not exceed slots");
    place->has_unreachable = codec_present(node, "unreachable_probability");
    double lost = codec_number(node, "unreachable_probability", CODEC_OPTIONAL, 0, 1);
    cluster->unreachable_probability = registered ? lost : copy_plan_known_or(lost, 0);
    cluster->ingress_bytes_per_s = decode_gate(node, "ingress_bytes_per_s", registered);
    cluster->egress_bytes_per_s = decode_gate(node, "egress_bytes_per_s", registered);
    decode_processing(d, node, registered, cluster);
}

/* A cluster that is only named: everything of it is looked up. */
static void name_cluster(const struct copy_plan_decoding *d,
                         const struct codec_node *node,
                         struct strview *name,
                         struct geo_cluster *cluster)
{
    *cluster =
        (struct geo_cluster){.slots = RUN_UNKNOWN,
                             .unreachable_probability = (double)NAN,
                             .ingress_bytes_per_s = (double)NAN,
                             .egress_bytes_per_s = (double)NAN,
                             .processing = arena_calloc(d->arena, d->request->problem.n_operations,
                                                        sizeof *cluster->processing)};
    if (!codec_is_name(text_of(node))) {
        codec_fault(node, "invalid_name",
                    "must be a name: 1 to 255 characters, no control characters");
        return;
    }
    *name = arena_copy(d->arena, text_of(node));
    if (copy_plan_allocated(node, cluster->processing))
        (void)copy_plan_allocated(node, name->at);
}

/* A name alone is a registered cluster, as is an object that says `"registered": true`. */
static void find_registered(struct copy_plan_decoding *d, const struct codec_node *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(list, i);
        struct codec_copy_plan_place *place = &d->request->places[i];
        place->only_named = json_is_string(item.json);
        place->registered =
            place->only_named || (json_is_object(item.json) &&
                                  codec_boolean(&item, "registered", CODEC_OPTIONAL, false));
        d->request->n_registered += place->registered;
    }
}

static int compare_in_order(const void *a, const void *b)
{
    const struct copy_plan_entry *x = a;
    const struct copy_plan_entry *y = b;
    int order = compare_entries(x, y);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static bool index_names(struct copy_plan_decoding *d, const struct codec_node *list, size_t n)
{
    static const char twice[] = "another cluster has this name";
    struct copy_plan_entry *entries = arena_array(d->arena, n, sizeof *entries);
    if (!copy_plan_allocated(list, entries))
        return false;
    for (size_t i = 0; i < n; i++)
        if (d->request->clusters[i].n > 0)
            entries[d->clusters.n++] = (struct copy_plan_entry){d->request->clusters[i], i};
    qsort(entries, d->clusters.n, sizeof *entries, compare_in_order);
    d->clusters.entries = entries;
    for (size_t i = 1; i < d->clusters.n; i++) {
        if (compare_entries(&entries[i - 1], &entries[i]) != 0)
            continue;
        struct codec_node item = codec_item(list, entries[i].index);
        if (d->request->places[entries[i].index].only_named)
            codec_fault(&item, "duplicate", twice);
        else
            codec_fault_member(&item, "name", "duplicate", twice);
    }
    return true;
}

static void decode_one(const struct copy_plan_decoding *d,
                       const struct codec_node *list,
                       size_t i,
                       struct geo_cluster *cluster)
{
    struct codec_node item = codec_item(list, i);
    struct strview *name = &d->request->clusters[i];
    struct codec_copy_plan_place *place = &d->request->places[i];
    if (place->only_named) {
        name_cluster(d, &item, name, cluster);
    } else if (codec_expect_object(&item)) {
        decode_cluster(d, &item, place, cluster);
        *name = codec_name(&item, "name", CODEC_REQUIRED);
    }
}

void copy_plan_decode_clusters(struct copy_plan_decoding *d, const struct codec_node *top)
{
    struct codec_node list = codec_array(top, "clusters", CODEC_REQUIRED, 1, d->limits->clusters);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct codec_copy_plan *request = d->request;
    struct geo_cluster *clusters = arena_calloc(d->arena, n, sizeof *clusters);
    request->clusters = arena_calloc(d->arena, n, sizeof *request->clusters);
    request->places = arena_calloc(d->arena, n, sizeof *request->places);
    request->clusters_at = "/clusters";
    if (!copy_plan_allocated(top, clusters) || !copy_plan_allocated(top, request->clusters) ||
        !copy_plan_allocated(top, request->places))
        return;
    find_registered(d, &list, n);
    if (!gather_operations(d, top, &list))
        return;
    for (size_t i = 0; i < n; i++)
        decode_one(d, &list, i, &clusters[i]);
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
