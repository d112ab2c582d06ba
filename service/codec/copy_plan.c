#include "codec/copy_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/names.h"

static const double SECONDS_MAX = 1e12;
static const double BYTES_MIN = 1e-9;
static const double BYTES_MAX = 1e18;
static const int64_t SLOTS_MAX = 1000000000;
static const int64_t ROUNDS_MAX = 1000;
static const int64_t ROUNDS = 8; /* where the request does not say */
static const double SUM_TOLERANCE = 1e-6;

/* A name and its place in a list that is sorted by name. */
struct entry {
    struct strview name;
    size_t index;
};

struct dictionary {
    struct entry *entries;
    size_t n;
};

struct decoding {
    const struct codec_copy_plan_limits *limits;
    struct codec_copy_plan *request;
    struct arena *arena;
    struct dictionary clusters;
    struct dictionary operations;
    size_t tasks; /* so far */
};

static bool allocated(const struct codec_node *node, const void *memory)
{
    if (memory == NULL)
        (void)pv_fail(node->reader->err, PV_E_MEMORY, "out of memory");
    return memory != NULL;
}

static double known_or(double value, double otherwise)
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
    return compare_views(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* SIZE_MAX: it is not there. */
static size_t look_up(const struct dictionary *dictionary, struct strview name)
{
    const struct entry key = {name, 0};
    const struct entry *found =
        dictionary->n == 0
            ? NULL
            : bsearch(&key, dictionary->entries, dictionary->n, sizeof key, compare_entries);
    return found != NULL ? found->index : SIZE_MAX;
}

static struct strview text_of(const struct codec_node *node)
{
    return (struct strview){json_string_value(node->json), json_string_length(node->json)};
}

/* The cluster that a node names; SIZE_MAX and a fault at `at` when there is none. */
static size_t
find_cluster(const struct decoding *d, const struct codec_node *node, const struct codec_node *at)
{
    if (!json_is_string(node->json)) {
        codec_fault(node, "wrong_type", "must be the name of a cluster");
        return SIZE_MAX;
    }
    struct strview name = text_of(node);
    size_t index = look_up(&d->clusters, name);
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
static const struct speeds *decode_speeds(const struct decoding *d, const struct codec_node *node)
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
    if (!allocated(node, points) || !allocated(node, speeds))
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

static void decode_processing(const struct decoding *d,
                              const struct codec_node *node,
                              struct geo_cluster *cluster)
{
    size_t n = d->request->problem.n_operations;
    const struct speeds **processing = arena_calloc(d->arena, n, sizeof *processing);
    struct codec_node object = codec_object(node, "processing", CODEC_REQUIRED);
    if (!allocated(node, processing))
        return;
    cluster->processing = processing;
    const char *key;
    json_t *value;
    json_object_foreach(object.json, key, value)
    {
        size_t operation = look_up(&d->operations, (struct strview){key, strlen(key)});
        struct codec_node member = codec_member(&object, key);
        if (operation != SIZE_MAX)
            processing[operation] = decode_speeds(d, &member);
    }
}

static void
decode_cluster(const struct decoding *d, const struct codec_node *node, struct geo_cluster *cluster)
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
        known_or(codec_number(node, "unreachable_probability", CODEC_OPTIONAL, 0, 1), 0);
    cluster->ingress_bytes_per_s =
        known_or(codec_number(node, "ingress_bytes_per_s", CODEC_NULLABLE, 0, BYTES_MAX), HUGE_VAL);
    cluster->egress_bytes_per_s =
        known_or(codec_number(node, "egress_bytes_per_s", CODEC_NULLABLE, 0, BYTES_MAX), HUGE_VAL);
    decode_processing(d, node, cluster);
}

/* Every operation that any cluster knows, in order, each once. */
static bool gather_operations(struct decoding *d, const struct codec_node *list)
{
    size_t n = 0;
    size_t room = 0;
    const char *key;
    json_t *value;
    for (size_t i = 0; i < json_array_size(list->json); i++)
        room += json_object_size(json_object_get(json_array_get(list->json, i), "processing"));
    struct entry *entries = arena_array(d->arena, room, sizeof *entries);
    if (!allocated(list, entries))
        return false;
    for (size_t i = 0; i < json_array_size(list->json); i++)
        json_object_foreach(json_object_get(json_array_get(list->json, i), "processing"), key,
                            value) entries[n++] = (struct entry){{key, strlen(key)}, 0};
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t i = 0; i < n; i++)
        if (d->operations.n == 0 ||
            compare_entries(&entries[i], &entries[d->operations.n - 1]) != 0)
            entries[d->operations.n++] = (struct entry){entries[i].name, 0};
    for (size_t i = 0; i < d->operations.n; i++)
        entries[i].index = i;
    d->operations.entries = entries;
    d->request->problem.n_operations = d->operations.n;
    return true;
}

static bool index_names(struct decoding *d, const struct codec_node *list, size_t n)
{
    struct entry *entries = arena_array(d->arena, n, sizeof *entries);
    if (!allocated(list, entries))
        return false;
    for (size_t i = 0; i < n; i++)
        if (d->request->clusters[i].n > 0)
            entries[d->clusters.n++] = (struct entry){d->request->clusters[i], i};
    qsort(entries, d->clusters.n, sizeof *entries, compare_entries);
    d->clusters.entries = entries;
    return true;
}

static void decode_clusters(struct decoding *d, const struct codec_node *top)
{
    struct codec_node list = codec_array(top, "clusters", CODEC_REQUIRED, 1, d->limits->clusters);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct geo_cluster *clusters = arena_calloc(d->arena, n, sizeof *clusters);
    d->request->clusters = arena_calloc(d->arena, n, sizeof *d->request->clusters);
    if (!allocated(top, clusters) || !allocated(top, d->request->clusters) ||
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

static void
decode_link(const struct decoding *d, const struct codec_node *node, struct geo_link *link)
{
    static const char *const known[] = {"from", "to", "distribution", NULL};
    *link = (struct geo_link){SIZE_MAX, SIZE_MAX, NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    struct codec_node from = codec_member(node, "from");
    struct codec_node to = codec_member(node, "to");
    struct codec_node distribution = codec_member(node, "distribution");
    link->from = find_cluster(d, &from, &from);
    link->to = find_cluster(d, &to, &to);
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

static void refuse_same_links(const struct decoding *d,
                              const struct codec_node *list,
                              const struct geo_link links[],
                              size_t n)
{
    struct pair *pairs = arena_array(d->arena, n, sizeof *pairs);
    if (!allocated(list, pairs))
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

static void decode_links(struct decoding *d, const struct codec_node *top)
{
    size_t most = d->limits->clusters * d->limits->clusters;
    struct codec_node list = codec_array(top, "bandwidth", CODEC_OPTIONAL, 0, most);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct geo_link *links = arena_array(d->arena, n, sizeof *links);
    if (!allocated(top, links))
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_link(d, &item, &links[i]);
    }
    refuse_same_links(d, &list, links, n);
    d->request->problem.links = links;
    d->request->problem.n_links = n;
}

/* --- jobs --- */

/* Names of clusters; each once where `once`. */
static size_t *decode_places(
    const struct decoding *d, const struct codec_node *node, const char *key, bool once, size_t *n)
{
    size_t most = once ? d->limits->clusters : d->limits->tasks;
    struct codec_node list = codec_array(node, key, CODEC_OPTIONAL, 0, most);
    *n = json_array_size(list.json);
    size_t *places = arena_array(d->arena, *n, sizeof *places);
    if (!allocated(node, places)) {
        *n = 0;
        return NULL;
    }
    for (size_t i = 0; i < *n; i++) {
        struct codec_node item = codec_item(&list, i);
        places[i] = find_cluster(d, &item, &list);
        for (size_t k = 0; once && k < i; k++)
            if (places[k] == places[i] && places[i] != SIZE_MAX)
                codec_fault(&item, "duplicate", "is listed twice");
    }
    return places;
}

static void decode_task(const struct decoding *d,
                        const struct codec_node *node,
                        struct strview *id,
                        struct geo_task *task)
{
    static const char *const known[] = {"id", "operation", "size_bytes", "inputs", "copies", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    *id = codec_name(node, "id", CODEC_REQUIRED);
    struct strview operation = codec_name(node, "operation", CODEC_REQUIRED);
    task->size_bytes = codec_number(node, "size_bytes", CODEC_REQUIRED, BYTES_MIN, BYTES_MAX);
    task->inputs = decode_places(d, node, "inputs", true, &task->n_inputs);
    task->copies = decode_places(d, node, "copies", false, &task->n_copies);
    task->operation = operation.n > 0 ? look_up(&d->operations, operation) : 0;
    if (task->operation == SIZE_MAX)
        codec_fault_member(node, "operation", "unknown_operation",
                           "no cluster has processing speeds of it");
}

static void
decode_job(struct decoding *d, const struct codec_node *node, size_t index, struct geo_job *job)
{
    static const char *const known[] = {"name", "unprocessed_bytes", "tasks", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    d->request->jobs[index] = codec_name(node, "name", CODEC_REQUIRED);
    job->unprocessed_bytes = codec_number(node, "unprocessed_bytes", CODEC_REQUIRED, 0, BYTES_MAX);
    struct codec_node list = codec_array(node, "tasks", CODEC_REQUIRED, 0, d->limits->tasks);
    size_t n = json_array_size(list.json);
    if (n > d->limits->tasks - d->tasks) {
        codec_fault(&list, "too_many_items",
                    "with it there are more than %zu tasks (plan_tasks_max)", d->limits->tasks);
        return;
    }
    struct geo_task *tasks = arena_calloc(d->arena, n, sizeof *tasks);
    struct strview *ids = arena_calloc(d->arena, n, sizeof *ids);
    if (!allocated(node, tasks) || !allocated(node, ids))
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_task(d, &item, &ids[i], &tasks[i]);
    }
    codec_refuse_same_texts(&list, "id", ids, n, "another task of the job has this id");
    d->tasks += n;
    d->request->tasks[index] = ids;
    job->tasks = tasks;
    job->n_tasks = n;
}

static void decode_jobs(struct decoding *d, const struct codec_node *top)
{
    struct codec_node list = codec_array(top, "jobs", CODEC_REQUIRED, 1, d->limits->jobs);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct geo_job *jobs = arena_calloc(d->arena, n, sizeof *jobs);
    d->request->jobs = arena_calloc(d->arena, n, sizeof *d->request->jobs);
    d->request->tasks = arena_calloc(d->arena, n, sizeof *d->request->tasks);
    if (!allocated(top, jobs) || !allocated(top, d->request->jobs) ||
        !allocated(top, d->request->tasks))
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_job(d, &item, i, &jobs[i]);
    }
    codec_refuse_same_names(&list, d->request->jobs, n, "another job has this name");
    d->request->problem.jobs = jobs;
    d->request->problem.n_jobs = n;
}

/* --- the request --- */

static void decode_terms(const struct codec_node *top, struct codec_copy_plan *request)
{
    static const char *const principles[] = {"eff-reli", "reli-eff", "eff-eff", "reli-reli", NULL};
    static const enum insurance_aim aims[][2] = {{INSURANCE_EFFICIENCY, INSURANCE_RELIABILITY},
                                                 {INSURANCE_RELIABILITY, INSURANCE_EFFICIENCY},
                                                 {INSURANCE_EFFICIENCY, INSURANCE_EFFICIENCY},
                                                 {INSURANCE_RELIABILITY, INSURANCE_RELIABILITY}};
    static const char *const allocations[] = {"efa", "jga", NULL};
    struct insurance_terms *terms = &request->terms;
    terms->epsilon = codec_number(top, "epsilon", CODEC_REQUIRED | CODEC_ABOVE, 0, 1);
    int64_t rounds = codec_integer(top, "max_rounds", CODEC_OPTIONAL, 1, ROUNDS_MAX);
    terms->max_rounds = rounds == RUN_UNKNOWN ? ROUNDS : rounds;
    size_t principle = codec_choice(top, "principle", CODEC_OPTIONAL, principles, 0);
    terms->first = aims[principle][0];
    terms->second = aims[principle][1];
    terms->job_by_job = codec_choice(top, "allocation", CODEC_OPTIONAL, allocations, 0) == 1;
    request->problem.slot_s =
        known_or(codec_number(top, "slot_s", CODEC_OPTIONAL | CODEC_ABOVE, 0, SECONDS_MAX), 1);
}

void codec_copy_plan_decode(const struct codec_node *node,
                            const struct codec_copy_plan_limits *limits,
                            struct codec_copy_plan *request)
{
    static const char *const known[] = {"epsilon",   "slot_s",     "max_rounds",
                                        "clusters",  "bandwidth",  "jobs",
                                        "principle", "allocation", NULL};
    *request = (struct codec_copy_plan){0};
    struct decoding d = {.limits = limits, .request = request, .arena = node->reader->arena};
    codec_refuse_unknown(node, known);
    decode_terms(node, request);
    decode_clusters(&d, node);
    if (request->problem.clusters == NULL)
        return;
    decode_links(&d, node);
    decode_jobs(&d, node);
}
