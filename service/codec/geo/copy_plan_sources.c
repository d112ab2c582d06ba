#include "codec/geo/copy_plan.h"

#include <stdlib.h>

#include "base/order.h"
#include "base/vector.h"
#include "codec/json/finding.h"
#include "core/geo/plan_explain.h"

/* Something that was looked up: the speeds of an operation in a cluster (a: cluster, b: operation),
 * or of a link (a: from, b: to). */
struct looked_up {
    size_t a;
    size_t b;
};

struct looked_up_list {
    VECTOR(struct looked_up) pairs;
    struct arena *arena;
    bool failed;
};

static int compare_looked_up(const void *a, const void *b)
{
    const struct looked_up *x = a;
    const struct looked_up *y = b;
    int order = compare_size(x->a, y->a);
    return order != 0 ? order : compare_size(x->b, y->b);
}

static void copy_plan_sources_add(struct looked_up_list *list, size_t a, size_t b)
{
    struct looked_up *item = vector_add(list->arena, &list->pairs);
    list->failed |= item == NULL;
    if (item != NULL)
        *item = (struct looked_up){a, b};
}

/* Sorted, each once. */
static void sort_looked_up(struct looked_up_list *list)
{
    size_t n = 0;
    if (list->pairs.n > 0)
        qsort(list->pairs.items, list->pairs.n, sizeof *list->pairs.items, compare_looked_up);
    for (size_t i = 0; i < list->pairs.n; i++)
        if (n == 0 || compare_looked_up(&list->pairs.items[i], &list->pairs.items[n - 1]) != 0)
            list->pairs.items[n++] = list->pairs.items[i];
    list->pairs.n = n;
}

/* --- what is listed --- */

static const struct performance_entry *
processing_of(const struct codec_copy_plan *request, size_t cluster, size_t operation)
{
    return performance_book_processing(request->origin.book, request->origin.place[cluster],
                                       operation);
}

/* The entry that the speeds of an operation in a cluster are; NULL: the request has them, or
 * nobody did. */
static const struct performance_entry *
find_processing(const struct codec_copy_plan *request, size_t cluster, size_t operation)
{
    if (request->origin.place[cluster] == SIZE_MAX)
        return NULL;
    const struct performance_entry *entry = processing_of(request, cluster, operation);
    return request->problem.clusters[cluster].processing[operation] == &entry->speeds ? entry
                                                                                      : NULL;
}

static int compare_links(const void *a, const void *b)
{
    const struct geo_link *x = a;
    const struct geo_link *y = b;
    const struct looked_up p = {x->from, x->to};
    const struct looked_up q = {y->from, y->to};
    return compare_looked_up(&p, &q);
}

static bool is_looked_up(const struct codec_copy_plan *request, size_t from, size_t to)
{
    const struct geo_link key = {from, to, NULL};
    size_t given = request->origin.n_links_given;
    size_t n = request->problem.n_links - given;
    return n > 0 && bsearch(&key, request->problem.links + given, n, sizeof key, compare_links);
}

/* What the copy of a task in a cluster is based on. */
static void add_copy(const struct codec_copy_plan *request,
                     const struct geo_task *task,
                     size_t cluster,
                     struct looked_up_list *processing,
                     struct looked_up_list *transfers)
{
    if (find_processing(request, cluster, task->operation) != NULL)
        copy_plan_sources_add(processing, cluster, task->operation);
    for (size_t i = 0; i < task->n_inputs; i++)
        if (task->inputs[i] != cluster && is_looked_up(request, task->inputs[i], cluster))
            copy_plan_sources_add(transfers, task->inputs[i], cluster);
}

static void gather_used(const struct codec_copy_plan *request,
                        const struct geo_plan *plan,
                        struct looked_up_list *processing,
                        struct looked_up_list *transfers,
                        bool used[])
{
    for (size_t i = 0; i < plan->n_tasks; i++) {
        const struct geo_plan_task *task = &plan->tasks[i];
        for (size_t k = 0; k < task->n_clusters; k++) {
            used[task->clusters[k]] = true;
            add_copy(request, &request->problem.jobs[task->job].tasks[task->task],
                     task->clusters[k], processing, transfers);
        }
    }
    sort_looked_up(processing);
    sort_looked_up(transfers);
}

static void gather_all(const struct codec_copy_plan *request,
                       struct looked_up_list *processing,
                       struct looked_up_list *transfers,
                       bool used[])
{
    const struct geo_problem *problem = &request->problem;
    for (size_t m = 0; m < problem->n_clusters; m++) {
        used[m] = true;
        for (size_t op = 0; op < problem->n_operations; op++)
            if (find_processing(request, m, op) != NULL)
                copy_plan_sources_add(processing, m, op);
    }
    for (size_t i = request->origin.n_links_given; i < problem->n_links; i++)
        copy_plan_sources_add(transfers, problem->links[i].from, problem->links[i].to);
}

/* --- sources --- */

static void encode_entry(struct writer *w, const struct performance_entry *entry, int64_t now_us)
{
    double age_s = (double)(now_us - entry->newest_us) / 1e6;
    writer_member_string(w, "source", performance_source_name(entry->source));
    writer_member_number(w, "mean_bytes_per_s", entry->speeds.mean);
    writer_member_number(w, "weight", entry->weight);
    writer_member_integer(w, "samples", entry->samples);
    writer_member_number(w, "age_s", age_s > 0 ? age_s : 0);
}

static void encode_processing(struct writer *w,
                              const struct codec_copy_plan *request,
                              const struct looked_up_list *list)
{
    writer_member_array(w, "processing");
    for (size_t i = 0; i < list->pairs.n; i++) {
        const struct looked_up *item = &list->pairs.items[i];
        writer_begin_object(w);
        writer_member_text(w, "cluster", request->clusters[item->a]);
        writer_member_text(w, "operation", request->operations[item->b]);
        encode_entry(w, processing_of(request, item->a, item->b), request->origin.now_us);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_transfers(struct writer *w,
                             const struct codec_copy_plan *request,
                             const struct looked_up_list *list)
{
    const struct codec_copy_plan_origin *origin = &request->origin;
    writer_member_array(w, "transfers");
    for (size_t i = 0; i < list->pairs.n; i++) {
        const struct looked_up *item = &list->pairs.items[i];
        writer_begin_object(w);
        writer_member_text(w, "from", request->clusters[item->a]);
        writer_member_text(w, "to", request->clusters[item->b]);
        encode_entry(
            w,
            performance_book_transfer(origin->book, origin->place[item->a], origin->place[item->b]),
            origin->now_us);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void
encode_unreachable(struct writer *w, const struct codec_copy_plan *request, const bool used[])
{
    const struct codec_copy_plan_origin *origin = &request->origin;
    writer_member_array(w, "outage_probabilities");
    for (size_t m = 0; m < request->problem.n_clusters; m++) {
        if (!used[m] || origin->place[m] == SIZE_MAX || request->places[m].has_unreachable)
            continue;
        const struct unreachable_entry *entry =
            performance_book_unreachable(origin->book, origin->place[m]);
        writer_begin_object(w);
        writer_member_text(w, "cluster", request->clusters[m]);
        writer_member_string(w, "source", unreachable_source_name(entry->source));
        writer_member_number(w, "outage_probability", entry->probability);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void
encode_sources(struct writer *w, const struct codec_copy_plan *request, const struct geo_plan *plan)
{
    struct looked_up_list processing = {.arena = w->arena};
    struct looked_up_list transfers = {.arena = w->arena};
    bool *used = arena_calloc(w->arena, request->problem.n_clusters, sizeof *used);
    if (used != NULL && request->all_sources)
        gather_all(request, &processing, &transfers, used);
    else if (used != NULL)
        gather_used(request, plan, &processing, &transfers, used);
    if (used == NULL || processing.failed || transfers.failed) {
        w->failed = true;
        return;
    }
    writer_begin_object(w);
    encode_processing(w, request, &processing);
    encode_transfers(w, request, &transfers);
    encode_unreachable(w, request, used);
    writer_end_object(w);
}

/* --- warnings --- */

static void copy_plan_sources_encode_warnings(struct writer *w,
                                              const struct codec_copy_plan *request,
                                              const struct geo_plan *plan)
{
    const struct codec_copy_plan_origin *origin = &request->origin;
    const struct {
        size_t count;
        const char *code;
        const char *message;
    } rows[] = {
        {origin->processing[PERFORMANCE_MACHINE_TYPE], "processing_from_machine_type",
         "Processing speeds that a cluster did not report itself are those of other clusters of "
         "the same machine type; count says how many."},
        {origin->processing[PERFORMANCE_TEAM], "processing_from_team",
         "Processing speeds that neither a cluster nor others of its machine type reported are "
         "those of all clusters of the team; count says how many."},
        {origin->transfers[PERFORMANCE_MACHINE_TYPE], "transfers_from_machine_type",
         "Speeds of transfers that a pair of clusters did not report itself are those of other "
         "pairs of the same machine types; count says how many."},
        {origin->transfers[PERFORMANCE_TEAM], "transfers_from_team",
         "Speeds of transfers that neither a pair of clusters nor others of the same machine types "
         "reported are those of all pairs of the team; count says how many."},
        {origin->transfers[PERFORMANCE_NONE], "transfers_unknown",
         "Nobody ever reported a transfer: between these pairs of clusters nothing can be moved; "
         "count says how many."},
        {origin->unreachable[UNREACHABLE_PRIOR], "outage_probability_assumed",
         "Clusters that neither specify how likely they are unreachable nor ever reported get the "
         "usual probability; count says how many."},
    };
    struct findings warnings = {.arena = w->arena};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].count > 0)
            finding_count(finding_add(&warnings, rows[i].code, "%s", rows[i].message),
                          rows[i].count);
    geo_plan_explain(&request->problem, plan, &warnings);
    codec_findings_encode(w, "warnings", &warnings);
}

void codec_copy_plan_encode_sources(struct writer *w,
                                    const struct codec_copy_plan *request,
                                    const struct geo_plan *plan)
{
    writer_key(w, "sources");
    if (request->origin.book == NULL)
        writer_null(w);
    else
        encode_sources(w, request, plan);
    copy_plan_sources_encode_warnings(w, request, plan);
}
