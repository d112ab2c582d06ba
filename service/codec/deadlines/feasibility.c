#include "codec/deadlines/feasibility.h"

#include <math.h>

#include "codec/history/run.h"
#include "codec/json/names.h"
#include "core/deadline/job_from_run.h"

static const double SECONDS_MAX = 1e12;
/* A deadline of less than a nanosecond would only make percentages overflow. */
static const double DEADLINE_MIN = 1e-9;

static void decode_cluster(const struct codec_node *top,
                           const struct codec_feasibility_limits *limits,
                           struct codec_feasibility *request)
{
    static const char *const known[] = {"executors", "cores_per_executor", NULL};
    if (json_is_string(json_object_get(top->json, "cluster"))) {
        request->cluster = codec_name(top, "cluster", CODEC_REQUIRED);
        return;
    }
    struct codec_node cluster = codec_object(top, "cluster", CODEC_REQUIRED);
    if (cluster.json == NULL)
        return;
    codec_refuse_unknown(&cluster, known);
    int64_t most = limits->cores > INT64_MAX ? INT64_MAX : (int64_t)limits->cores;
    int64_t executors = codec_integer(&cluster, "executors", CODEC_REQUIRED, 1, most);
    int64_t each = codec_integer(&cluster, "cores_per_executor", CODEC_REQUIRED, 1, most);
    int64_t cores;
    if (executors < 1 || each < 1)
        return;
    if (__builtin_mul_overflow(executors, each, &cores) || cores > most)
        codec_fault(&cluster, "out_of_range", "has more than %lld cores (cores_max)",
                    (long long)most);
    else
        request->cores = (size_t)cores;
}

static void decode_include(const struct codec_node *top, struct codec_feasibility *request)
{
    struct codec_node list = codec_array(top, "include", CODEC_OPTIONAL, 0, 8);
    for (size_t i = 0; i < json_array_size(list.json); i++) {
        struct codec_node item = codec_item(&list, i);
        const char *word = json_string_value(item.json);
        if (word == NULL)
            codec_fault(&item, "wrong_type", "must be a string");
        else if (strcmp(word, "schedule") != 0)
            codec_fault(&item, "not_allowed", "must be: schedule");
        else if (request->with_schedule)
            codec_fault(&item, "duplicate", "is listed twice");
        else
            request->with_schedule = true;
    }
}

/* --- jobs --- */

/* Of a job that is to be scheduled the tasks are known. */
static void refuse_null(const struct codec_node *stage, const char *key, const char *wanted)
{
    if (json_is_null(json_object_get(stage->json, key)))
        codec_fault_member(stage, key, "wrong_type", "must be %s", wanted);
}

/* A recorded stage may hold more than a planned one, leave its tasks out or tell them twice. */
static void check_stage(const struct codec_node *stage)
{
    static const char *const known[] = {"id",    "parents",         "task_durations_s",
                                        "tasks", "task_duration_s", NULL};
    if (!codec_expect_object(stage))
        return;
    codec_refuse_unknown(stage, known);
    refuse_null(stage, "task_durations_s", "an array");
    refuse_null(stage, "tasks", "an integer");
    refuse_null(stage, "task_duration_s", "a number");
    bool listed = codec_present(stage, "task_durations_s");
    for (size_t i = 3; i < 5; i++)
        if (listed && codec_present(stage, known[i]))
            codec_fault_member(stage, known[i], "conflict",
                               "must be left out where task_durations_s is given");
    if (!listed && !codec_present(stage, "tasks") && !codec_present(stage, "task_duration_s"))
        codec_fault_member(stage, "task_durations_s", "required",
                           "is required, or tasks with task_duration_s");
}

/* The stages of a job in the request: read as those of a run, then taken over. */
static void decode_stages(const struct codec_node *node,
                          const struct codec_feasibility_limits *limits,
                          struct edf_job *job)
{
    struct codec_reader *reader = node->reader;
    struct codec_node list = codec_array(node, "stages", CODEC_REQUIRED, 1, limits->stages);
    if (list.json == NULL)
        return;
    size_t faults = reader->err->n_faults;
    for (size_t i = 0; i < json_array_size(list.json); i++) {
        struct codec_node stage = codec_item(&list, i);
        check_stage(&stage);
    }
    if (reader->err->n_faults != faults)
        return;
    const struct codec_run_limits run_limits = {.stages = (int64_t)limits->stages,
                                                .tasks = (int64_t)limits->tasks};
    struct run run = {.duration_s = (double)NAN};
    codec_stages_decode(&list, &run_limits, &run);
    if (reader->err->n_faults != faults || !run.has_stages)
        return;
    enum pv_code code = edf_job_from_run(&run, reader->arena, job, reader->err);
    if (code != PV_OK)
        (void)pv_fail(reader->err, code, "the stages of a job cannot be taken over");
}

static void decode_source(const struct codec_node *node,
                          const struct codec_feasibility_limits *limits,
                          struct edf_job *job,
                          struct codec_feasibility_source *source)
{
    source->application = codec_name(node, "application", CODEC_OPTIONAL);
    source->problem_size =
        codec_integer(node, "problem_size", CODEC_OPTIONAL, 1, CODEC_PROBLEM_SIZE_MAX);
    if (json_object_get(node->json, "application") == NULL) {
        decode_stages(node, limits, job);
        if (source->problem_size != RUN_UNKNOWN)
            codec_fault_member(node, "problem_size", "conflict",
                               "goes with application, not with stages");
    } else if (json_object_get(node->json, "stages") != NULL) {
        codec_fault_member(node, "application", "conflict",
                           "must be left out where stages are given");
    }
}

static void decode_job(const struct codec_node *node,
                       const struct codec_feasibility_limits *limits,
                       struct edf_job *job,
                       struct codec_feasibility_source *source)
{
    static const char *const known[] = {
        "name",   "release_s",   "deadline_s",   "overhead_per_task_s",
        "stages", "application", "problem_size", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    source->name = codec_name(node, "name", CODEC_REQUIRED);
    double release = codec_number(node, "release_s", CODEC_OPTIONAL, -SECONDS_MAX, SECONDS_MAX);
    job->release_s = isnan(release) ? 0 : release;
    job->deadline_s = codec_number(node, "deadline_s", CODEC_REQUIRED, DEADLINE_MIN, SECONDS_MAX);
    source->overhead_s = codec_number(node, "overhead_per_task_s", CODEC_OPTIONAL, 0, SECONDS_MAX);
    decode_source(node, limits, job, source);
    job->overhead_per_task_s = isnan(source->overhead_s) ? 0 : source->overhead_s;
}

static void check_names(const struct codec_node *list, const struct codec_feasibility *request)
{
    struct strview *names = arena_array(list->reader->arena, request->n_jobs, sizeof *names);
    if (names == NULL) {
        (void)pv_no_memory(list->reader->err);
        return;
    }
    for (size_t i = 0; i < request->n_jobs; i++)
        names[i] = request->sources[i].name;
    codec_refuse_same_names(list, names, request->n_jobs, "another job has this name");
}

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

/* A single job's stages were held against the limit when they were read. */
static void
check_tasks(const struct codec_node *list, const struct codec_feasibility *request, size_t most)
{
    size_t tasks = 0;
    for (size_t i = 0; i < request->n_jobs; i++) {
        tasks += tasks_of(&request->jobs[i]);
        if (tasks <= most)
            continue;
        struct codec_node job = codec_item(list, i);
        codec_fault_member(&job, "stages", "too_many_items",
                           "with this job there are more than %zu tasks (tasks_max)", most);
        return;
    }
}

static void decode_jobs(const struct codec_node *top,
                        const struct codec_feasibility_limits *limits,
                        struct codec_feasibility *request)
{
    struct codec_node list = codec_array(top, "jobs", CODEC_REQUIRED, 1, limits->jobs);
    if (list.json == NULL)
        return;
    size_t n = json_array_size(list.json);
    request->jobs = arena_calloc(list.reader->arena, n, sizeof *request->jobs);
    request->sources = arena_calloc(list.reader->arena, n, sizeof *request->sources);
    if (request->jobs == NULL || request->sources == NULL) {
        (void)pv_no_memory(list.reader->err);
        return;
    }
    request->n_jobs = n;
    for (size_t i = 0; i < n; i++) {
        struct codec_node item = codec_item(&list, i);
        decode_job(&item, limits, &request->jobs[i], &request->sources[i]);
    }
    check_names(&list, request);
    check_tasks(&list, request, limits->tasks);
}

void codec_feasibility_decode(const struct codec_node *node,
                              const struct codec_feasibility_limits *limits,
                              struct codec_feasibility *request)
{
    static const char *const known[] = {"cluster", "jobs", "include", NULL};
    *request = (struct codec_feasibility){0};
    codec_refuse_unknown(node, known);
    decode_cluster(node, limits, request);
    decode_jobs(node, limits, request);
    decode_include(node, request);
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
