#include <math.h>

#include "codec/geo/copy_plan_internal.h"
#include "codec/json/names.h"

static const double SECONDS_MAX = 1e12;
static const double BYTES_MIN = 1e-9;
static const double BYTES_MAX = 1e18;
static const int64_t STAGE_TASKS_MAX = 1000000000;

/* Names of clusters, each once. */
static size_t *
decode_inputs(const struct copy_plan_decoding *d, const struct codec_node *node, size_t *n)
{
    struct codec_node list = codec_array(node, "inputs", CODEC_OPTIONAL, 0, d->limits->clusters);
    *n = json_array_size(list.json);
    size_t *places = arena_array(d->arena, *n, sizeof *places);
    if (!copy_plan_allocated(node, places)) {
        *n = 0;
        return NULL;
    }
    for (size_t i = 0; i < *n; i++) {
        struct codec_node item = codec_item(&list, i);
        places[i] = copy_plan_find_cluster(d, &item, &list);
        for (size_t k = 0; k < i; k++)
            if (places[k] == places[i] && places[i] != SIZE_MAX)
                codec_fault(&item, "duplicate", "is listed twice");
    }
    return places;
}

/* The name of a cluster, or an object that also tells how far the copy is. */
static struct geo_running decode_copy(const struct copy_plan_decoding *d,
                                      const struct codec_node *node,
                                      const struct codec_node *list,
                                      double size_bytes)
{
    static const char *const known[] = {"cluster", "elapsed_s", "processed_bytes", NULL};
    struct geo_running copy = {SIZE_MAX, (double)NAN, (double)NAN};
    if (!json_is_object(node->json)) {
        copy.cluster = copy_plan_find_cluster(d, node, list);
        return copy;
    }
    codec_refuse_unknown(node, known);
    struct codec_node cluster = codec_member(node, "cluster");
    copy.cluster = copy_plan_find_cluster(d, &cluster, &cluster);
    copy.elapsed_s = codec_number(node, "elapsed_s", CODEC_NULLABLE, 0, SECONDS_MAX);
    copy.processed_bytes = codec_number(node, "processed_bytes", CODEC_NULLABLE, 0, BYTES_MAX);
    if (copy.processed_bytes > size_bytes)
        codec_fault_member(node, "processed_bytes", "out_of_range",
                           "must not exceed size_bytes of the task");
    return copy;
}

static void decode_copies(const struct copy_plan_decoding *d,
                          const struct codec_node *node,
                          struct geo_task *task)
{
    struct codec_node list = codec_array(node, "copies", CODEC_OPTIONAL, 0, d->limits->tasks);
    size_t n = json_array_size(list.json);
    struct geo_running *copies = arena_array(d->arena, n, sizeof *copies);
    if (!copy_plan_allocated(node, copies))
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        copies[i] = decode_copy(d, &item, &list, task->size_bytes);
    }
    task->copies = copies;
    task->n_copies = n;
}

static void decode_task(const struct copy_plan_decoding *d,
                        const struct codec_node *node,
                        struct strview *id,
                        struct geo_task *task)
{
    static const char *const known[] = {"id",     "operation", "size_bytes", "inputs",
                                        "copies", "waited_s",  NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    *id = codec_name(node, "id", CODEC_REQUIRED);
    struct strview operation = codec_name(node, "operation", CODEC_REQUIRED);
    task->size_bytes = codec_number(node, "size_bytes", CODEC_REQUIRED, BYTES_MIN, BYTES_MAX);
    task->inputs = decode_inputs(d, node, &task->n_inputs);
    decode_copies(d, node, task);
    task->waited_s = codec_number(node, "waited_s", CODEC_NULLABLE, 0, SECONDS_MAX);
    task->operation = operation.n > 0 ? copy_plan_look_up(&d->operations, operation) : 0;
    if (task->operation == SIZE_MAX)
        codec_fault_member(node, "operation", "unknown_operation",
                           "no cluster has processing speeds of it");
}

/* How far the stage is that the job's tasks belong to. */
static void decode_stage(const struct codec_node *node, struct geo_job *job)
{
    int64_t all = codec_integer(node, "stage_tasks", CODEC_NULLABLE, 1, STAGE_TASKS_MAX);
    int64_t done = codec_integer(node, "done_tasks", CODEC_NULLABLE, 0, STAGE_TASKS_MAX);
    job->stage_tasks = all == RUN_UNKNOWN ? 0 : (size_t)all;
    job->done_tasks = done == RUN_UNKNOWN ? 0 : (size_t)done;
    if (all != RUN_UNKNOWN && done != RUN_UNKNOWN && done > all)
        codec_fault_member(node, "done_tasks", "out_of_range", "must not exceed stage_tasks");
    job->median_duration_s =
        codec_number(node, "median_duration_s", CODEC_NULLABLE | CODEC_ABOVE, 0, SECONDS_MAX);
}

static void decode_job(struct copy_plan_decoding *d,
                       const struct codec_node *node,
                       size_t index,
                       struct geo_job *job)
{
    static const char *const known[] = {"name",       "unprocessed_bytes", "tasks", "stage_tasks",
                                        "done_tasks", "median_duration_s", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    d->request->jobs[index] = codec_name(node, "name", CODEC_REQUIRED);
    job->unprocessed_bytes = codec_number(node, "unprocessed_bytes", CODEC_REQUIRED, 0, BYTES_MAX);
    decode_stage(node, job);
    struct codec_node list = codec_array(node, "tasks", CODEC_REQUIRED, 0, d->limits->tasks);
    size_t n = json_array_size(list.json);
    if (n > d->limits->tasks - d->tasks) {
        codec_fault(&list, "too_many_items",
                    "with it there are more than %zu tasks (plan_tasks_max)", d->limits->tasks);
        return;
    }
    struct geo_task *tasks = arena_calloc(d->arena, n, sizeof *tasks);
    struct strview *ids = arena_calloc(d->arena, n, sizeof *ids);
    if (!copy_plan_allocated(node, tasks) || !copy_plan_allocated(node, ids))
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

void copy_plan_decode_jobs(struct copy_plan_decoding *d, const struct codec_node *top)
{
    struct codec_node list = codec_array(top, "jobs", CODEC_REQUIRED, 1, d->limits->jobs);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    struct geo_job *jobs = arena_calloc(d->arena, n, sizeof *jobs);
    d->request->jobs = arena_calloc(d->arena, n, sizeof *d->request->jobs);
    d->request->tasks = arena_calloc(d->arena, n, sizeof *d->request->tasks);
    if (!copy_plan_allocated(top, jobs) || !copy_plan_allocated(top, d->request->jobs) ||
        !copy_plan_allocated(top, d->request->tasks))
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_job(d, &item, i, &jobs[i]);
    }
    codec_refuse_same_names(&list, d->request->jobs, n, "another job has this name");
    d->request->problem.jobs = jobs;
    d->request->problem.n_jobs = n;
}
