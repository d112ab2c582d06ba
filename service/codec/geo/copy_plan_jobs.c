#include <math.h>

#include "base/plural.h"
#include "codec/geo/copy_plan_internal.h"
#include "codec/json/names.h"

/* Names of clusters, each once. */
static size_t *
decode_inputs(const struct copy_plan_decoding *d, const struct codec_node *node, size_t *n)
{
    struct codec_node list;
    size_t *places = codec_list(node, "inputs", CODEC_OPTIONAL, 0, d->limits->clusters,
                                sizeof *places, &list, n);
    for (size_t i = 0; i < *n; i++) {
        struct codec_node item = codec_item(&list, i);
        places[i] = copy_plan_find_cluster(d, &item, &list);
        for (size_t k = 0; k < i; k++)
            if (places[k] == places[i] && places[i] != SIZE_MAX)
                codec_fault(&item, "duplicate", "is listed twice");
    }
    return places;
}

#define R struct geo_running
static const struct shape_member copy_members[] = {
    {"cluster", SHAPE_CODE, .flags = CODEC_REQUIRED}, /* decode_copy */
    {"elapsed_s", SHAPE_NUMBER(R, elapsed_s), .flags = CODEC_NULLABLE, .high = CODEC_SECONDS_MAX},
    {"processed_bytes", SHAPE_NUMBER(R, processed_bytes), .flags = CODEC_NULLABLE,
     .high = CODEC_RATE_MAX},
};
const struct shape codec_running_copy_shape = {.request = "RunningCopy", SHAPE_OF(copy_members, R)};

/* The name of a cluster, or an object that also has the progress of the copy. */
static struct geo_running decode_copy(const struct copy_plan_decoding *d,
                                      const struct codec_node *node,
                                      const struct codec_node *list,
                                      double size_bytes)
{
    struct geo_running copy = {SIZE_MAX, (double)NAN, (double)NAN};
    if (!json_value_is_object(node->json)) {
        copy.cluster = copy_plan_find_cluster(d, node, list);
        return copy;
    }
    shape_decode(node, &codec_running_copy_shape, NULL, &copy);
    struct codec_node cluster = codec_member(node, "cluster");
    copy.cluster = copy_plan_find_cluster(d, &cluster, &cluster);
    if (copy.processed_bytes > size_bytes)
        codec_fault_member(node, "processed_bytes", "out_of_range",
                           "must not exceed size_bytes of the task");
    return copy;
}

#define T struct geo_task
static const struct shape_member task_members[] = {
    {"id", SHAPE_CODE, .flags = CODEC_REQUIRED}, /* decode_task */
    {"operation", SHAPE_CODE, .flags = CODEC_REQUIRED},
    {"size_bytes", SHAPE_NUMBER(T, size_bytes), .flags = CODEC_REQUIRED, .low = CODEC_RATE_MIN,
     .high = CODEC_RATE_MAX},
    {"inputs", SHAPE_CODE},
    {"copies", SHAPE_CODE},
    {"waited_s", SHAPE_NUMBER(T, waited_s), .flags = CODEC_NULLABLE, .high = CODEC_SECONDS_MAX},
};
const struct shape codec_copy_plan_task_shape = {.request = "CopyPlanTask",
                                                 SHAPE_OF(task_members, T)};

static void decode_task(const struct copy_plan_decoding *d,
                        const struct codec_node *node,
                        struct strview *id,
                        struct geo_task *task)
{
    struct codec_node list;
    if (!codec_expect_object(node))
        return;
    *id = codec_name(node, "id", CODEC_REQUIRED);
    struct strview operation = codec_name(node, "operation", CODEC_REQUIRED);
    shape_decode(node, &codec_copy_plan_task_shape, NULL, task);
    task->inputs = decode_inputs(d, node, &task->n_inputs);
    struct geo_running *copies = codec_list(node, "copies", CODEC_OPTIONAL, 0, d->limits->tasks,
                                            sizeof *copies, &list, &task->n_copies);
    for (size_t i = 0; i < task->n_copies; i++) {
        struct codec_node item = codec_item(&list, i);
        copies[i] = decode_copy(d, &item, &list, task->size_bytes);
    }
    task->copies = copies;
    task->operation = operation.n > 0 ? text_index_find(&d->operations, operation) : 0;
    if (task->operation == SIZE_MAX)
        codec_fault_member(node, "operation", "unknown_operation",
                           "no cluster has processing speeds of it");
}

#define J struct codec_copy_plan_job
static const struct shape_member job_members[] = {
    {"name", SHAPE_NAME(J, name), .flags = CODEC_REQUIRED},
    {"unprocessed_bytes", SHAPE_NUMBER(J, job.unprocessed_bytes), .flags = CODEC_REQUIRED,
     .high = CODEC_RATE_MAX},
    {"stage_tasks", SHAPE_SIZE(J, job.stage_tasks), .flags = CODEC_NULLABLE | SHAPE_KEEP,
     .least = 1, .most = CODEC_COUNT_MAX},
    {"done_tasks", SHAPE_SIZE(J, job.done_tasks), .flags = CODEC_NULLABLE | SHAPE_KEEP,
     .most = CODEC_COUNT_MAX},
    {"median_duration_s", SHAPE_NUMBER(J, job.median_duration_s),
     .flags = CODEC_NULLABLE | CODEC_ABOVE, .high = CODEC_SECONDS_MAX},
    {"tasks", SHAPE_CODE, .flags = CODEC_REQUIRED}, /* decode_job */
};
const struct shape codec_copy_plan_job_shape = {.request = "CopyPlanJob", SHAPE_OF(job_members, J)};

static void decode_job(struct copy_plan_decoding *d,
                       const struct codec_node *node,
                       size_t index,
                       struct geo_job *job)
{
    struct codec_copy_plan_job sent = {.job = {.tasks = NULL}};
    struct codec_node list;
    size_t n;
    if (!codec_expect_object(node))
        return;
    shape_decode(node, &codec_copy_plan_job_shape, NULL, &sent);
    *job = sent.job;
    d->request->jobs[index] = sent.name;
    if (codec_present(node, "stage_tasks") && job->done_tasks > job->stage_tasks)
        codec_fault_member(node, "done_tasks", "out_of_range", "must not exceed stage_tasks");
    struct geo_task *tasks =
        codec_list(node, "tasks", CODEC_REQUIRED, 0, d->limits->tasks, sizeof *tasks, &list, &n);
    if (n > d->limits->tasks - d->tasks) {
        codec_fault(&list, "too_many_items",
                    "with it there are more than %zu task%s (plan_tasks_max)", d->limits->tasks,
                    PLURAL(d->limits->tasks));
        return;
    }
    struct strview *ids = codec_allocate(node, n, sizeof *ids);
    if (tasks == NULL || ids == NULL)
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
    struct codec_node list;
    size_t n;
    struct geo_job *jobs =
        codec_list(top, "jobs", CODEC_REQUIRED, 1, d->limits->jobs, sizeof *jobs, &list, &n);
    d->request->jobs = codec_allocate(top, n, sizeof *d->request->jobs);
    d->request->tasks = codec_allocate(top, n, sizeof *d->request->tasks);
    if (n == 0 || d->request->jobs == NULL || d->request->tasks == NULL)
        return;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_job(d, &item, i, &jobs[i]);
    }
    codec_refuse_same_names(&list, d->request->jobs, n, "another job has this name");
    d->request->problem.jobs = jobs;
    d->request->problem.n_jobs = n;
}
