#include "codec/scheduling/tasks_simulation.h"

static const char *const classes[] = {"short", "long", NULL};

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
    job->job.tasks = (uint32_t)json_array_size(list.json);
}

static void decode_class(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_job *job = object;
    (void)limits;
    job->classed = codec_present(node, "class");
    job->job.is_long = codec_choice(node, "class", CODEC_OPTIONAL, classes, 0) == 1;
}

/* Which groups there are is checked when the policies are known. */
static void decode_placement(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_tasks_job *job = object;
    struct codec_node list;
    size_t n;
    size_t tasks = job->job.tasks;
    (void)limits;
    if (tasks == 0 || !codec_present(node, "placement"))
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
    writer_member_string(w, "class", classes[job->job.is_long]);
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

#define J struct codec_tasks_job
static const struct shape_member members[] = {
    {"name", SHAPE_NAME(J, name), .flags = CODEC_REQUIRED},
    {"arrival_s", SHAPE_NUMBER(J, job.arrival_s), .flags = SHAPE_KEEP, .low = 0,
     .high = CODEC_SECONDS_MAX},
    {"task_durations_s", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_durations,
     .encode = encode_durations},
    {"class", SHAPE_CODE, .decode = decode_class, .encode = encode_class},
    {"placement", SHAPE_CODE, .decode = decode_placement, .encode = encode_placement},
};
const struct shape codec_tasks_job_shape = {.request = "TasksJob",
                                            SHAPE_OF(members, J),
                                            .unique = "name",
                                            .twice = "another job has this name"};
