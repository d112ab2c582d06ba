#include "codec/deadlines/job_set.h"

#include <math.h>

#include "base/plural.h"
#include "codec/deadlines/job_source.h"
#include "core/deadline/job_from_run.h"

/* --- jobs --- */

const char *const codec_job_overhead_words[] = {"replay", "idle_time", NULL};

#define S struct codec_job_sent
static const struct shape_member job_members[] = {
    CODEC_JOB_MEMBERS(S, ),
    {"memory_bytes", SHAPE_COUNT(S, memory_bytes), .flags = CODEC_NULLABLE, .least = 1,
     .most = CODEC_BYTES_MAX},
};

/* A recorded stage may hold more than one that is to be scheduled, and may leave its tasks out. */
static void check_stage(const struct codec_node *stage)
{
    static const char *const known[] = {"id",    "parents",         "task_durations_s",
                                        "tasks", "task_duration_s", NULL};
    static const char *const types[] = {"an array", "an integer", "a number"};
    codec_refuse_unknown(stage, known);
    bool listed = codec_present(stage, "task_durations_s");
    for (size_t i = 2; i < 5; i++) {
        if (json_value_is_null(json_value_member(stage->json, known[i])))
            codec_fault_member(stage, known[i], "wrong_type", "must be %s", types[i - 2]);
        else if (i > 2 && listed && codec_present(stage, known[i]))
            codec_fault_member(stage, known[i], "conflict",
                               "must be left out where task_durations_s is given");
    }
    if (!listed && !codec_present(stage, "tasks") && !codec_present(stage, "task_duration_s"))
        codec_fault_member(stage, "task_durations_s", "required",
                           "is required, or tasks with task_duration_s");
}

void codec_job_check(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_reader *reader = node->reader;
    struct codec_job_sent *source = object;
    const struct codec_job_set_limits *most = limits;
    const struct codec_run_limits run_limits = {.stages = (int64_t)most->stages,
                                                .tasks = (int64_t)most->tasks};
    struct edf_job *job = &source->job;
    struct run run;
    bool listed = codec_job_source_decode(node, &run_limits, check_stage, &source->application,
                                          &source->problem_size, &run);
    enum pv_code code = listed ? edf_job_from_run(&run, reader->arena, job, reader->err) : PV_OK;
    if (code != PV_OK)
        (void)pv_fail(reader->err, code, "the stages of a job cannot be used");
    if (codec_present(node, "overhead") && codec_present(node, "stages"))
        codec_fault_member(node, "overhead", "conflict",
                           "is allowed only with application, not with stages");
    else if (codec_present(node, "overhead") && !isnan(source->overhead_s))
        codec_fault_member(node, "overhead", "conflict",
                           "must be left out where overhead_per_task_s is given");
    job->release_s = source->release_s;
    job->deadline_s = source->deadline_s;
    job->overhead_per_task_s = isnan(source->overhead_s) ? 0 : source->overhead_s;
}

const struct shape codec_job_shape = {.request = "Job",
                                      SHAPE_OF(job_members, S),
                                      .check = codec_job_check,
                                      .unique = "name",
                                      .twice = "another job has this name"};

static size_t tasks_of(const struct edf_job *job)
{
    size_t tasks = 0;
    for (size_t s = 0; s < job->n_stages; s++)
        tasks += job->stages[s].tasks;
    return tasks;
}

size_t codec_job_set_tasks(const struct codec_job_set *set)
{
    size_t tasks = 0;
    for (size_t i = 0; i < set->n_jobs; i++)
        tasks += tasks_of(&set->jobs[i]);
    return tasks;
}

/* A single job's stages were held against the limit when they were read. */
void codec_job_set_take(const struct codec_node *top,
                        const struct codec_job_set_limits *limits,
                        struct codec_job_set *set)
{
    size_t tasks = 0;
    struct codec_node list = codec_member(top, "jobs");
    set->jobs = codec_allocate(top, set->n_jobs, sizeof *set->jobs);
    for (size_t i = 0; set->jobs != NULL && i < set->n_jobs && tasks <= limits->tasks; i++) {
        set->jobs[i] = set->sources[i].job;
        tasks += tasks_of(&set->jobs[i]);
        struct codec_node job = codec_item(&list, i);
        if (tasks > limits->tasks)
            codec_fault_member(&job, "stages", "too_many_items",
                               "with this job there are more than %zu task%s (tasks_max)",
                               limits->tasks, PLURAL(limits->tasks));
    }
}

/* --- the cluster --- */

void codec_job_set_decode_cluster(const struct codec_node *top,
                                  int64_t cores_max,
                                  struct codec_job_set *set)
{
    struct codec_given_cluster given;
    codec_given_cluster_decode(top, CODEC_REQUIRED, cores_max, &given);
    set->cluster = given.name;
    set->size = given.size;
    if (given.sized != NULL)
        set->cores = (size_t)(given.size.executors * given.size.cores_per_executor);
}

/* --- replies --- */

void codec_job_outcome_encode(struct writer *w,
                              const struct codec_job_set *set,
                              size_t i,
                              const struct edf_outcome *outcome)
{
    writer_member_text(w, "name", set->sources[i].name);
    writer_member_number(w, "completion_s", outcome->completion_s);
    writer_member_number(w, "execution_s", outcome->execution_s);
    writer_member_number(w, "deadline_s", set->jobs[i].deadline_s);
    writer_member_boolean(w, "met", outcome->met);
    writer_member_number(w, "deadline_error_percent", outcome->deadline_error_percent);
}

void codec_job_recorded_encode(struct writer *w, const struct codec_job_set *set, size_t i)
{
    if (set->recorded == NULL || set->sources[i].application.at == NULL)
        return;
    const struct recorded_job *recorded = &set->recorded[i];
    writer_member_string(w, "overhead", job_overhead_words[recorded->overhead]);
    writer_member_number(w, "overhead_per_task_s", recorded->job.overhead_per_task_s);
    writer_member_number(w, "fixed_s", recorded->fixed_s);
    if (recorded->run != NULL)
        writer_member_string(w, "run_id", recorded->run->id);
}

void codec_edf_metrics_encode(struct writer *w, const struct edf_metrics *metrics)
{
    writer_member_object(w, "metrics");
    writer_member_integer(w, "advance", (int64_t)metrics->advance);
    writer_member_integer(w, "delayed", (int64_t)metrics->delayed);
    writer_member_number(w, "epsilon", metrics->epsilon);
    writer_member_number(w, "epsilon_advance", metrics->epsilon_advance);
    writer_member_number(w, "epsilon_delayed", metrics->epsilon_delayed);
    writer_member_number(w, "epsilon_absolute", metrics->epsilon_absolute);
    writer_member_number(w, "makespan_s", metrics->makespan_s);
    writer_member_number(w, "utilization", metrics->utilization);
    writer_end_object(w);
}
