#include "codec/scheduling/tasks_simulation.h"

/* Workers that one task may be bound to. */
enum { BOUND_MAX = 100 };

/* --- reading --- */

static void decode_durations(const struct codec_node *node, const void *limits, void *object)
{
    const struct codec_comparison_limits *most = limits;
    struct codec_tasks_job *job = object;
    struct codec_node list = codec_array(node, "task_durations_s", CODEC_REQUIRED, 1, most->tasks);
    if (list.json == NULL)
        return;
    job->job.durations_s =
        codec_as_numbers(&list, CODEC_REQUIRED, CODEC_SECONDS_MIN, CODEC_SECONDS_MAX);
    job->job.tasks = (uint32_t)json_value_items(list.json);
}

/* Which classes there are is known with the whole request. */
static void decode_class(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_job *job = object;
    (void)limits;
    job->class = codec_name(node, "class", CODEC_OPTIONAL);
}

/* Which groups there are is checked when the policies are known. */
static void decode_placement(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_job *job = object;
    struct codec_node list;
    size_t n;
    size_t tasks = job->job.tasks;
    (void)limits;
    if (tasks == 0 || codec_member(node, "placement").json == NULL)
        return;
    uint32_t *groups =
        codec_list(node, "placement", CODEC_REQUIRED, tasks, tasks, sizeof *groups, &list, &n);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        int64_t group = codec_as_integer(&item, 0, CODEC_COUNT_MAX - 1);
        groups[i] = group >= 0 ? (uint32_t)group : 0;
    }
    job->job.placement = groups;
}

static void decode_workers(const struct codec_node *node, struct tasks_binding *binding)
{
    size_t n = json_value_items(node->json);
    if (!json_value_is_array(node->json)) {
        codec_fault(node, "wrong_type", "must be an array of workers, or null");
        return;
    }
    if (n < 1 || n > BOUND_MAX) {
        codec_fault(node, n < 1 ? "too_few_items" : "too_many_items",
                    "must name from 1 to %d workers, or be null for a free task", BOUND_MAX);
        return;
    }
    uint32_t *workers = codec_allocate(node, n, sizeof *workers);
    for (size_t i = 0; workers != NULL && i < n; i++) {
        struct codec_node item = codec_item(node, i);
        size_t faults = node->reader->err->n_faults;
        int64_t worker = codec_as_integer(&item, 0, CODEC_COUNT_MAX - 1);
        workers[i] = worker >= 0 ? (uint32_t)worker : UINT32_MAX;
        for (size_t k = 0; k < i && node->reader->err->n_faults == faults; k++)
            if (workers[k] == workers[i])
                codec_fault(&item, "duplicate", "this worker was named before");
    }
    *binding = (struct tasks_binding){workers, workers != NULL ? (uint32_t)n : 0};
}

/* Which workers there are is checked with the whole request. */
static void decode_bound_to(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_job *job = object;
    struct codec_node list;
    size_t n;
    size_t tasks = job->job.tasks;
    (void)limits;
    if (codec_member(node, "bound_to").json == NULL)
        return;
    if (codec_member(node, "placement").json != NULL)
        codec_fault_member(node, "bound_to", "conflict",
                           "tasks are sent to groups by `placement`, or bound to workers");
    if (tasks == 0)
        return;
    struct tasks_binding *bindings =
        codec_list(node, "bound_to", CODEC_REQUIRED, tasks, tasks, sizeof *bindings, &list, &n);
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        if (!json_value_is_null(item.json))
            decode_workers(&item, &bindings[i]);
    }
    job->job.bindings = bindings;
}

/* --- writing --- */

static void encode_durations(struct writer *w, const void *object, const void *context)
{
    const struct codec_tasks_job *job = object;
    (void)context;
    writer_member_numbers(w, "task_durations_s", job->job.durations_s, job->job.tasks);
}

static void encode_class(struct writer *w, const void *object, const void *context)
{
    const struct codec_tasks_job *job = object;
    (void)context;
    writer_member_text(w, "class", job->class);
}

static void encode_placement(struct writer *w, const void *object, const void *context)
{
    const struct codec_tasks_job *job = object;
    (void)context;
    if (job->job.placement == NULL)
        return;
    writer_member_array(w, "placement");
    for (uint32_t i = 0; i < job->job.tasks; i++)
        writer_integer(w, job->job.placement[i]);
    writer_end_array(w);
}

static void encode_bound_to(struct writer *w, const void *object, const void *context)
{
    const struct codec_tasks_job *job = object;
    (void)context;
    if (job->job.bindings == NULL)
        return;
    writer_member_array(w, "bound_to");
    for (uint32_t i = 0; i < job->job.tasks; i++) {
        const struct tasks_binding *binding = &job->job.bindings[i];
        if (binding->n == 0) {
            writer_null(w);
            continue;
        }
        writer_begin_array(w);
        for (uint32_t k = 0; k < binding->n; k++)
            writer_integer(w, binding->workers[k]);
        writer_end_array(w);
    }
    writer_end_array(w);
}

#define J struct codec_tasks_job
static const struct shape_member members[] = {
    {"name", SHAPE_NAME(J, name), .flags = CODEC_REQUIRED},
    {"arrival_s", SHAPE_NUMBER(J, job.arrival_s), .flags = SHAPE_KEEP, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"task_durations_s", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_durations,
     .encode = encode_durations},
    {"class", SHAPE_CODE, .decode = decode_class, .encode = encode_class},
    {"placement", SHAPE_CODE, .decode = decode_placement, .encode = encode_placement},
    {"bound_to", SHAPE_CODE, .decode = decode_bound_to, .encode = encode_bound_to},
};
const struct shape codec_tasks_job_shape = {.request = "TasksJob",
                                            SHAPE_OF(members, J),
                                            .unique = "name",
                                            .twice = "another job has this name"};
