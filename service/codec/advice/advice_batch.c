#include "codec/advice/advice_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codec/deadlines/launches.h"
#include "codec/json/finding.h"

static void refuse(const struct codec_node *item, const char *member)
{
    if (codec_present(item, member))
        codec_fault_member(item, member, "conflict",
                           "is allowed only in single advice, not in a batch");
}

static void decode_item(const struct codec_node *item,
                        const struct codec_advice_limits *limits,
                        struct codec_advice_batch_item *to)
{
    const unsigned single = ADVICE_NEXT_EXPERIMENTS | ADVICE_COPY_PLAN | ADVICE_AUTOSCALING;
    if (!codec_expect_object(item))
        return;
    codec_advice_decode(item, limits, &to->question);
    refuse(item, "running");
    refuse(item, "running_from");
    refuse(item, "launch_order");
    refuse(item, "copy_plan");
    if ((to->question.include & single) != 0 && !codec_present(item, "copy_plan"))
        codec_fault_member(item, "include", "conflict",
                           "must not list next_experiments, copy_plan or autoscaling in a batch: "
                           "they are for single advice");
    struct writer w;
    writer_init(&w, item->reader->arena);
    json_value_write(&w, item->json, false);
    to->text.at = writer_finish(&w, &to->text.n);
    if (to->text.at == NULL)
        (void)pv_no_memory(item->reader->err);
}

static void decode_releases(const struct codec_node *node, struct codec_advice_batch *batch)
{
    struct codec_node list = codec_array(node, "releases_s", CODEC_NULLABLE, 0, SIZE_MAX);
    if (list.json == NULL)
        return;
    if (json_value_items(list.json) != batch->n) {
        codec_fault(&list, "out_of_range", "must have as many numbers as items has questions");
        return;
    }
    for (size_t i = 0; i < batch->n; i++) {
        struct codec_node item = codec_item(&list, i);
        batch->items[i].release_s = codec_as_number(&item, CODEC_REQUIRED, 0, CODEC_SECONDS_MAX);
    }
}

static void decode_launch_order(const struct codec_node *node, struct codec_advice_batch *batch)
{
    if (codec_member(node, "launch_order").json == NULL)
        return;
    batch->with_memory = true;
    batch->launch_order =
        (unsigned)codec_choice(node, "launch_order", CODEC_REQUIRED, edf_launch_order_words, 0);
    if (!codec_present(node, "cluster")) {
        codec_fault_member(node, "cluster", "required", "is required with launch_order");
    } else if (batch->cluster.sized != NULL && batch->cluster.size.memory_bytes == RUN_UNKNOWN) {
        struct codec_node cluster = codec_member(node, "cluster");
        codec_fault_member(&cluster, "memory_bytes", "required", "is required with launch_order");
    }
}

void codec_advice_batch_decode(const struct codec_node *node,
                               const struct codec_advice_batch_limits *limits,
                               struct codec_advice_batch *batch)
{
    static const char *const known[] = {"cluster", "items", "releases_s", "launch_order", NULL};
    struct codec_node list;
    codec_refuse_unknown(node, known);
    codec_given_cluster_decode(node, CODEC_NULLABLE, limits->advice.cores, &batch->cluster);
    batch->items = codec_list(node, "items", CODEC_REQUIRED, 1, limits->items, sizeof *batch->items,
                              &list, &batch->n);
    for (size_t i = 0; i < batch->n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_item(&item, &limits->advice, &batch->items[i]);
    }
    if (list.json != NULL)
        decode_releases(node, batch);
    decode_launch_order(node, batch);
}

static void write_job(struct writer *w, size_t i, const struct batch_job *job, bool memory)
{
    writer_begin_object(w);
    writer_member_integer(w, "index", (int64_t)i);
    writer_member_number(w, "release_s", job->release_s);
    writer_member_number(w, "deadline_s", job->deadline_s);
    writer_member_number(w, "completion_s", job->completion_s);
    writer_member_boolean(w, "met", job->met);
    if (memory) {
        writer_member_count(w, "memory_bytes", job->memory_bytes);
        writer_member_number(w, "launched_s", job->launched_s);
    }
    writer_end_object(w);
}

static void write_schedule(struct writer *w,
                           const struct batch_job jobs[],
                           const struct batch_outcome *outcome,
                           const struct edf_memory *memory,
                           size_t n)
{
    writer_member_boolean(w, "feasible", outcome->feasible);
    writer_member_count(w, "min_total_cores", outcome->min_total_cores);
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < n; i++)
        write_job(w, i, &jobs[i], memory != NULL);
    writer_end_array(w);
    if (memory != NULL)
        codec_launches_encode(w, memory, &outcome->launches);
}

static void write_cluster(struct writer *w, const struct codec_given_cluster *cluster)
{
    const struct codec_cluster_size *size = &cluster->size;
    if (cluster->sized == NULL) {
        writer_member_text(w, "cluster", cluster->name);
        return;
    }
    writer_member_object(w, "cluster");
    writer_member_integer(w, "executors", size->executors);
    writer_member_integer(w, "cores_per_executor", size->cores_per_executor);
    if (size->memory_bytes != RUN_UNKNOWN)
        writer_member_integer(w, "memory_bytes", size->memory_bytes);
    writer_end_object(w);
}

void codec_advice_batch_encode(struct writer *w,
                               const struct codec_given_cluster *cluster,
                               const struct batch_job jobs[],
                               const struct batch_outcome *outcome,
                               const struct edf_memory *memory,
                               const struct findings *reasons,
                               const struct strview documents[],
                               size_t n)
{
    writer_begin_object(w);
    write_cluster(w, cluster);
    if (jobs != NULL) {
        write_schedule(w, jobs, outcome, memory, n);
        codec_findings_encode(w, "reasons", reasons);
    } else {
        writer_member_null(w, "feasible");
        writer_member_null(w, "min_total_cores");
        writer_member_null(w, "jobs");
        writer_member_null(w, "reasons");
    }
    writer_member_array(w, "items");
    for (size_t i = 0; i < n; i++)
        writer_raw(w, documents[i]);
    writer_end_array(w);
    writer_end_object(w);
}
