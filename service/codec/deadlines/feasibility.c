#include "codec/deadlines/feasibility.h"

#include <math.h>

#include "base/plural.h"
#include "codec/deadlines/job_source.h"
#include "core/deadline/job_from_run.h"

/* --- jobs --- */

#define S struct codec_feasibility_source
static const struct shape_member job_members[] = {
    {"name", SHAPE_NAME(S, name), .flags = CODEC_REQUIRED},
    {"release_s", SHAPE_NUMBER(S, release_s), .flags = SHAPE_KEEP, .low = -CODEC_SECONDS_MAX,
     .high = CODEC_SECONDS_MAX},
    {"deadline_s", SHAPE_NUMBER(S, deadline_s), .flags = CODEC_REQUIRED, .low = CODEC_SECONDS_MIN,
     .high = CODEC_SECONDS_MAX},
    {"overhead_per_task_s", SHAPE_NUMBER(S, overhead_s), .high = CODEC_SECONDS_MAX},
    {"stages", SHAPE_CODE}, /* check_job */
    {"application", SHAPE_CODE},
    {"problem_size", SHAPE_CODE},
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
        if (json_is_null(json_object_get(stage->json, known[i])))
            codec_fault_member(stage, known[i], "wrong_type", "must be %s", types[i - 2]);
        else if (i > 2 && listed && codec_present(stage, known[i]))
            codec_fault_member(stage, known[i], "conflict",
                               "must be left out where task_durations_s is given");
    }
    if (!listed && !codec_present(stage, "tasks") && !codec_present(stage, "task_duration_s"))
        codec_fault_member(stage, "task_durations_s", "required",
                           "is required, or tasks with task_duration_s");
}

static void check_job(const struct codec_node *node, const void *limits, void *object)
{
    struct codec_reader *reader = node->reader;
    struct codec_feasibility_source *source = object;
    const struct codec_feasibility_limits *most = limits;
    const struct codec_run_limits run_limits = {.stages = (int64_t)most->stages,
                                                .tasks = (int64_t)most->tasks};
    struct edf_job *job = &source->job;
    struct run run;
    bool listed = codec_job_source_decode(node, &run_limits, check_stage, &source->application,
                                          &source->problem_size, &run);
    enum pv_code code = listed ? edf_job_from_run(&run, reader->arena, job, reader->err) : PV_OK;
    if (code != PV_OK)
        (void)pv_fail(reader->err, code, "the stages of a job cannot be used");
    job->release_s = source->release_s;
    job->deadline_s = source->deadline_s;
    job->overhead_per_task_s = isnan(source->overhead_s) ? 0 : source->overhead_s;
}

const struct shape codec_job_shape = {.request = "Job",
                                      SHAPE_OF(job_members, S),
                                      .check = check_job,
                                      .unique = "name",
                                      .twice = "another job has this name"};

static size_t tasks_of(const struct edf_job *job)
{
    size_t tasks = 0;
    for (size_t s = 0; s < job->n_stages; s++)
        tasks += job->stages[s].tasks;
    return tasks;
}

size_t codec_feasibility_tasks(const struct codec_feasibility *request)
{
    size_t tasks = 0;
    for (size_t i = 0; i < request->n_jobs; i++)
        tasks += tasks_of(&request->jobs[i]);
    return tasks;
}

/* The jobs side by side, as they are scheduled. A single job's stages were held against the limit
 * when they were read. */
static void take_jobs(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_feasibility *request = object;
    size_t most = ((const struct codec_feasibility_limits *)limits)->tasks;
    size_t tasks = 0;
    struct codec_node list = codec_member(top, "jobs");
    request->with_schedule = request->include != 0;
    request->jobs = codec_allocate(top, request->n_jobs, sizeof *request->jobs);
    for (size_t i = 0; request->jobs != NULL && i < request->n_jobs && tasks <= most; i++) {
        request->jobs[i] = request->sources[i].job;
        tasks += tasks_of(&request->jobs[i]);
        struct codec_node job = codec_item(&list, i);
        if (tasks > most)
            codec_fault_member(&job, "stages", "too_many_items",
                               "with this job there are more than %zu task%s (tasks_max)", most,
                               PLURAL(most));
    }
}

/* --- the request --- */

#define C struct codec_feasibility_cluster
#define L struct codec_feasibility_limits
static const struct shape_member cluster_members[] = {
    {"executors", SHAPE_COUNT(C, executors), .flags = CODEC_REQUIRED, .least = 1,
     SHAPE_LIMIT(L, cores)},
    {"cores_per_executor", SHAPE_COUNT(C, cores_per_executor), .flags = CODEC_REQUIRED, .least = 1,
     SHAPE_LIMIT(L, cores)},
};
const struct shape codec_feasibility_cluster_shape = {.request = "Cluster",
                                                      SHAPE_OF(cluster_members, C)};

static void decode_cluster(const struct codec_node *top, const void *limits, void *object)
{
    struct codec_feasibility *request = object;
    int64_t most = ((const struct codec_feasibility_limits *)limits)->cores;
    struct codec_feasibility_cluster size;
    if (json_is_string(json_object_get(top->json, "cluster"))) {
        request->cluster = codec_name(top, "cluster", CODEC_REQUIRED);
        return;
    }
    struct codec_node cluster = codec_object(top, "cluster", CODEC_REQUIRED);
    if (cluster.json == NULL)
        return;
    shape_decode(&cluster, &codec_feasibility_cluster_shape, limits, &size);
    if (size.executors < 1 || size.cores_per_executor < 1)
        return;
    if (size.executors > most / size.cores_per_executor)
        codec_fault(&cluster, "out_of_range", "has more than %lld core%s (cores_max)",
                    (long long)most, PLURAL(most));
    else
        request->cores = (size_t)(size.executors * size.cores_per_executor);
}

static const char *const include_words[] = {"schedule", NULL};

#define F struct codec_feasibility
static const struct shape_member members[] = {
    {"cluster", SHAPE_CODE, .flags = CODEC_REQUIRED, .decode = decode_cluster},
    {"jobs", SHAPE_OBJECTS(F, sources, n_jobs, &codec_job_shape), .flags = CODEC_REQUIRED,
     .least = 1, SHAPE_LIMIT(L, jobs)},
    {"include", SHAPE_WORDS(F, include, include_words)},
};
const struct shape codec_feasibility_shape = {
    .request = "FeasibilityRequest", SHAPE_OF(members, F), .check = take_jobs};

void codec_feasibility_decode(const struct codec_node *node,
                              const struct codec_feasibility_limits *limits,
                              struct codec_feasibility *request)
{
    *request = (struct codec_feasibility){0};
    shape_decode(node, &codec_feasibility_shape, limits, request);
}

/* --- the reply --- */

static void encode_jobs(struct writer *w,
                        const struct codec_feasibility *request,
                        const struct edf_outcome outcomes[])
{
    writer_member_array(w, "jobs");
    for (size_t i = 0; i < request->n_jobs; i++) {
        writer_begin_object(w);
        writer_member_text(w, "name", request->sources[i].name);
        writer_member_number(w, "completion_s", outcomes[i].completion_s);
        writer_member_number(w, "execution_s", outcomes[i].execution_s);
        writer_member_number(w, "deadline_s", request->jobs[i].deadline_s);
        writer_member_boolean(w, "met", outcomes[i].met);
        writer_member_number(w, "deadline_error_percent", outcomes[i].deadline_error_percent);
        writer_end_object(w);
    }
    writer_end_array(w);
}

static void encode_metrics(struct writer *w, const struct edf_metrics *metrics)
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

static void encode_remedies(struct writer *w,
                            const struct codec_feasibility *request,
                            const struct edf_remedies *remedies)
{
    writer_member_object(w, "remedies");
    if (remedies->has_min_total_cores)
        writer_member_integer(w, "min_total_cores", (int64_t)remedies->min_total_cores);
    writer_member_object(w, "deadlines_s");
    for (size_t i = 0; i < request->n_jobs; i++) {
        if (isnan(remedies->deadlines_s[i]))
            continue;
        writer_key_view(w, request->sources[i].name);
        writer_number(w, remedies->deadlines_s[i]);
    }
    writer_end_object(w);
    if (!remedies->exact)
        writer_member_boolean(w, "exact", false);
    writer_end_object(w);
}

void codec_feasibility_encode(struct writer *w,
                              const struct codec_feasibility *request,
                              const struct edf_outcome outcomes[],
                              const struct edf_metrics *metrics,
                              const struct edf_remedies *remedies)
{
    writer_member_boolean(w, "feasible", metrics->delayed == 0);
    encode_jobs(w, request, outcomes);
    encode_metrics(w, metrics);
    if (remedies != NULL)
        encode_remedies(w, request, remedies);
}

void codec_feasibility_encode_placement(struct writer *w,
                                        const struct codec_feasibility *request,
                                        const struct edf_placement *placement)
{
    writer_begin_object(w);
    writer_member_text(w, "job", request->sources[placement->job].name);
    writer_member_integer(w, "stage", request->jobs[placement->job].stages[placement->stage].id);
    writer_member_integer(w, "task", (int64_t)placement->task);
    writer_member_integer(w, "core", (int64_t)placement->core);
    writer_member_number(w, "start_s", placement->start_s);
    writer_member_number(w, "end_s", placement->end_s);
    writer_end_object(w);
}
