#include <math.h>

#include "codec/scheduling/slots_simulation_internal.h"

/* The members of a job's tasks of a kind: listed, or counted. */
static const struct {
    const char *listed;
    const char *count;
    const char *task_s;
} members_of[SLOTS_KINDS] = {
    [SLOTS_MAP] = {"map_durations_s", "maps", "map_task_s"},
    [SLOTS_REDUCE] = {"reduce_durations_s", "reduces", "reduce_task_s"},
};

/* --- reading --- */

static void list_tasks(const struct codec_node *node,
                       const double durations_s[],
                       size_t n,
                       struct slots_task_list *list)
{
    struct slots_tasks *tasks = codec_allocate(node, n, sizeof *tasks);
    if (tasks != NULL)
        *list = (struct slots_task_list){tasks, slots_tasks_pack(durations_s, n, tasks)};
}

static void decode_listed(const struct codec_node *node,
                          const struct codec_comparison_limits *limits,
                          struct codec_slots_job *job,
                          size_t kind)
{
    struct codec_node list =
        codec_array(node, members_of[kind].listed, CODEC_OPTIONAL, 0, limits->tasks);
    if (list.json == NULL)
        return;
    double *durations_s =
        codec_as_numbers(&list, CODEC_REQUIRED, CODEC_SECONDS_MIN, CODEC_SECONDS_MAX);
    if (durations_s != NULL)
        list_tasks(node, durations_s, json_value_items(list.json), &job->job.task_lists[kind]);
}

static void decode_map_durations(const struct codec_node *node, const void *limits, void *object)
{
    decode_listed(node, limits, object, SLOTS_MAP);
}

static void decode_reduce_durations(const struct codec_node *node, const void *limits, void *object)
{
    decode_listed(node, limits, object, SLOTS_REDUCE);
}

static void
count_tasks(const struct codec_node *node, struct codec_slots_job *job, enum slots_kind kind)
{
    const char *listed = members_of[kind].listed;
    const char *count = members_of[kind].count;
    const char *task_s = members_of[kind].task_s;
    if (!codec_present(node, count) && !codec_present(node, task_s))
        return;
    if (codec_present(node, listed)) {
        codec_fault_member(node, listed, "conflict",
                           "must not be given together with %s or %s, which mean the same", count,
                           task_s);
        return;
    }
    if (!codec_present(node, count)) {
        codec_fault_member(node, count, "required", "is required together with %s", task_s);
        return;
    }
    if (job->count[kind] > 0 && !codec_present(node, task_s)) {
        codec_fault_member(node, task_s, "required", "is required when there are such tasks");
        return;
    }
    struct slots_tasks *tasks = codec_allocate(node, 1, sizeof *tasks);
    if (tasks == NULL || job->count[kind] <= 0)
        return;
    *tasks = (struct slots_tasks){job->task_s[kind], (size_t)job->count[kind]};
    job->job.task_lists[kind] = (struct slots_task_list){tasks, 1};
}

static void check_job(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_slots_job *job = object;
    size_t faults = node->reader->err->n_faults;
    (void)limits;
    count_tasks(node, job, SLOTS_MAP);
    count_tasks(node, job, SLOTS_REDUCE);
    if (!codec_present(node, "queue"))
        job->queue = 1;
    job->job.queue = job->queue - 1;
    if (node->reader->err->n_faults == faults && node->reader->err->n_faults == 0 &&
        job->job.task_lists[SLOTS_MAP].n + job->job.task_lists[SLOTS_REDUCE].n == 0)
        codec_fault_member(node, "maps", "required", "a job has at least one task");
}

/* --- writing --- */

static void encode_listed(struct writer *w, const struct codec_slots_job *job, size_t kind)
{
    const struct slots_task_list *list = &job->job.task_lists[kind];
    if (job->count[kind] >= 0 || list->n == 0)
        return;
    writer_member_array(w, members_of[kind].listed);
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->tasks[i].count; k++)
            writer_number(w, list->tasks[i].duration_s);
    writer_end_array(w);
}

static void encode_map_durations(struct writer *w, const void *object, const void *context)
{
    (void)context;
    encode_listed(w, object, SLOTS_MAP);
}

static void encode_reduce_durations(struct writer *w, const void *object, const void *context)
{
    (void)context;
    encode_listed(w, object, SLOTS_REDUCE);
}

/* Both of them. */
static void decode_containers(const struct codec_node *node, const void *limits, void *object)
{
    (void)limits;
    codec_slots_decode_containers(node, ((struct codec_slots_job *)object)->containers);
}

static void encode_map_container(struct writer *w, const void *object, const void *context)
{
    const struct codec_slots_job *job = object;
    (void)context;
    codec_slots_encode_container(w, SLOTS_MAP, &job->containers[SLOTS_MAP]);
}

static void encode_reduce_container(struct writer *w, const void *object, const void *context)
{
    const struct codec_slots_job *job = object;
    (void)context;
    codec_slots_encode_container(w, SLOTS_REDUCE, &job->containers[SLOTS_REDUCE]);
}

#define J struct codec_slots_job
enum { KEEP = SHAPE_KEEP, OMIT = SHAPE_OMIT_UNKNOWN };
static const struct shape_member members[] = {
    {"name", SHAPE_NAME(J, name), .flags = CODEC_REQUIRED},
    {"arrival_s", SHAPE_NUMBER(J, job.arrival_s), .flags = KEEP, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"map_durations_s", SHAPE_CODE, .flags = OMIT, .decode = decode_map_durations,
     .encode = encode_map_durations},
    {"maps", SHAPE_COUNT(J, count[SLOTS_MAP]), .flags = OMIT, .most = CODEC_COUNT_MAX},
    {"map_task_s", SHAPE_NUMBER(J, task_s[SLOTS_MAP]), .flags = OMIT, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"reduce_durations_s", SHAPE_CODE, .flags = OMIT, .decode = decode_reduce_durations,
     .encode = encode_reduce_durations},
    {"reduces", SHAPE_COUNT(J, count[SLOTS_REDUCE]), .flags = OMIT, .most = CODEC_COUNT_MAX},
    {"reduce_task_s", SHAPE_NUMBER(J, task_s[SLOTS_REDUCE]), .flags = OMIT,
     .low = CODEC_SECONDS_MIN, .high = CODEC_SECONDS_MAX},
    {"shuffle_s", SHAPE_NUMBER(J, job.shuffle_s), .flags = KEEP, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"shuffle_bytes", SHAPE_NUMBER(J, job.shuffle_bytes), .flags = KEEP, .low = 0,
     .high = CODEC_SEED_MAX},
    {"predicted_size_s", SHAPE_NUMBER(J, job.predicted_size_s), .flags = OMIT | CODEC_ABOVE,
     .low = 0, .high = CODEC_SECONDS_SUM_MAX},
    {"input_bytes", SHAPE_COUNT(J, input_bytes), .flags = OMIT, .most = CODEC_SEED_MAX},
    {"queue", SHAPE_SIZE(J, queue), .least = 1, .most = CODEC_COUNT_MAX},
    {"map_container", SHAPE_CODE, .flags = OMIT, .decode = decode_containers,
     .encode = encode_map_container},
    {"reduce_container", SHAPE_CODE, .flags = OMIT, .encode = encode_reduce_container},
};
const struct shape codec_slots_job_shape = {.request = "SlotsJob",
                                            SHAPE_OF(members, J),
                                            .check = check_job,
                                            .unique = "name",
                                            .twice = "another job has this name"};
