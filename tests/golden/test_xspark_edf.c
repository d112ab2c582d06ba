/*
 * The composite benchmarks of the xSpark thesis under Clairvoyance EDF (table "clairvoyance_edf" of
 * golden/xspark_composite_benchmarks.json), from the profiles that its authors published.
 *
 * The profiles are not the very runs behind the table (papers/README.md, erratum 11), so what must
 * come out the same is who is in time: Spark-Bench 3 of 3. The Spark-Perf profiles hold three times
 * the tasks and several times the work of the thesis's runs and must come out worse than its 2 of
 * 3, with the least K above the 64 cores there are. Spark-Perf's last two jobs share an absolute
 * deadline.
 *
 * Scaled, each application takes as long alone as the thesis profiled, and its stages that generate
 * data are left out (docs/deadlines-measured.md, which has the same figures through the service and
 * says why Spark-Perf differs). Then the errors on Spark-Bench are those of the table within 7
 * points, and of KMeans, which has all cores from its release on, within half a point.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/deadline/job_from_run.h"

enum { SKIPPED = 77, STAGES_MAX = 64, PARENTS_MAX = 64, JOBS_MAX = 8 };

static int faults;

static void expect(bool holds, const char *benchmark, const char *what)
{
    if (holds)
        return;
    faults++;
    printf("# %s: not so: %s\n", benchmark, what);
}

static const char *shared(void)
{
    const char *root = getenv("PROVISOR_SHARED");
    return root != NULL ? root : SHARED_DEFAULT;
}

static json_t *load(const char *directory, const char *file)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s/%s", shared(), directory, file);
    return json_load_file(path, 0, NULL);
}

/* The file that profiles an application of the benchmarks. */
static const char *profile_of(const char *application)
{
    static const char *const files[][2] = {
        {"PageRank", "Spark_PageRank_Application.json"},
        {"KMeans", "Spark_KMeans_Example.json"},
        {"SVM", "SVM_Classifier_Example.json"},
        {"aggregate-by-key", "TestRunner__aggregate-by-key.json"},
        {"aggregate-by-key-naive", "TestRunner__aggregate-by-key-naive.json"},
        {"aggregate-by-key-int", "TestRunner__aggregate-by-key-int.json"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i][0], application) == 0)
            return files[i][1];
    return NULL;
}

static int by_id(const void *a, const void *b)
{
    const struct run_stage *x = a;
    const struct run_stage *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* `duration` is the stage's summed task time in milliseconds; a stage that did not run has none. */
static void read_stage(json_t *json, int64_t id, int64_t *parents, struct run_stage *stage)
{
    double serialized = json_number_value(json_object_get(json, "duration")) / 1000;
    int64_t tasks = (int64_t)json_number_value(json_object_get(json, "numtask"));
    json_t *list = json_object_get(json, "parentsIds");
    *stage = (struct run_stage){.id = id,
                                .n_tasks = tasks,
                                .task_time_s = serialized,
                                .task_duration_s = tasks > 0 ? serialized / (double)tasks : 0,
                                .skipped = json_is_true(json_object_get(json, "skipped")),
                                .parents = parents,
                                .n_parents = json_array_size(list)};
    for (size_t i = 0; i < stage->n_parents && i < PARENTS_MAX; i++)
        parents[i] = json_integer_value(json_array_get(list, i));
}

enum variant { PUBLISHED, SCALED };

static bool counts(json_t *stage, enum variant variant)
{
    return variant == PUBLISHED || !json_is_true(json_object_get(stage, "genstage"));
}

static bool
read_job(const char *application, enum variant variant, struct arena *arena, struct edf_job *job)
{
    json_t *profile = load("data/xspark-profiles", profile_of(application));
    struct run_stage *stages = arena_calloc(arena, STAGES_MAX, sizeof *stages);
    struct run run = {.executors = RUN_UNKNOWN, .duration_s = (double)NAN, .stages = stages};
    if (profile == NULL || stages == NULL)
        return false;
    const char *key;
    json_t *value;
    json_object_foreach(profile, key, value)
    {
        if (!counts(value, variant))
            continue;
        int64_t *parents = arena_array(arena, PARENTS_MAX, sizeof *parents);
        if (parents == NULL || run.n_stages == STAGES_MAX)
            return false;
        read_stage(value, strtoll(key, NULL, 10), parents, &stages[run.n_stages++]);
    }
    qsort(stages, run.n_stages, sizeof *stages, by_id);
    json_decref(profile);
    return edf_job_from_run(&run, arena, job, NULL) == PV_OK;
}

/* Task durations multiplied, so that the job alone takes that long. */
static bool scale_job(double duration_s, size_t cores, struct arena *arena, struct edf_job *job)
{
    struct edf_job alone = *job;
    struct edf_outcome outcome;
    struct edf_stage *stages = arena_array(arena, job->n_stages, sizeof *stages);
    alone.release_s = 0;
    if (stages == NULL ||
        edf_schedule(&alone, 1, cores, arena, &outcome, NULL, NULL, NULL) != PV_OK)
        return false;
    for (size_t s = 0; s < job->n_stages; s++) {
        stages[s] = job->stages[s];
        stages[s].task_duration_s *= duration_s / outcome.execution_s;
    }
    job->stages = stages;
    return true;
}

static void run_benchmark(json_t *golden,
                          const char *name,
                          enum variant variant,
                          struct edf_metrics *metrics,
                          struct edf_outcome outcomes[],
                          struct edf_remedies *remedies,
                          struct arena *arena)
{
    struct edf_job jobs[JOBS_MAX];
    json_t *cluster = json_object_get(golden, "cluster");
    size_t cores = (size_t)(json_integer_value(json_object_get(cluster, "executors")) *
                            json_integer_value(json_object_get(cluster, "cores_per_executor")));
    json_t *list = json_object_get(json_object_get(golden, "benchmarks"), name);
    size_t n = json_array_size(list);
    struct arena scratch;
    arena_init(&scratch, 0);
    for (size_t i = 0; i < n && i < JOBS_MAX; i++) {
        json_t *row = json_array_get(list, i);
        jobs[i] =
            (struct edf_job){.release_s = json_number_value(json_object_get(row, "delay_s")),
                             .deadline_s = json_number_value(json_object_get(row, "deadline_s"))};
        expect(read_job(json_string_value(json_object_get(row, "application")), variant, arena,
                        &jobs[i]),
               name, "the profile is a job");
        expect(variant == PUBLISHED ||
                   scale_job(json_number_value(json_object_get(row, "profiled_duration_s")), cores,
                             arena, &jobs[i]),
               name, "the job can be scaled");
    }
    expect(n > 0 && faults == 0 &&
               edf_schedule(jobs, n, cores, &scratch, outcomes, metrics, NULL, NULL) == PV_OK &&
               edf_find_remedies(jobs, n, cores, 100000000, arena, &scratch, remedies, NULL) ==
                   PV_OK,
           name, "it can be scheduled");
    arena_fini(&scratch);
    printf("# %s, %s: %zu in time, %zu late, errors", name,
           variant == SCALED ? "scaled" : "published", metrics->advance, metrics->delayed);
    for (size_t i = 0; i < n; i++)
        printf(" %.2f%%", outcomes[i].deadline_error_percent);
    printf(", makespan %.1f s, least K %zu\n", metrics->makespan_s,
           remedies->has_min_total_cores ? remedies->min_total_cores : 0);
}

static size_t wanted(json_t *golden, const char *name, const char *figure)
{
    json_t *row = json_object_get(json_object_get(golden, "clairvoyance_edf"), name);
    return (size_t)json_integer_value(json_object_get(row, figure));
}

/* The deadline errors of job i, ours and the thesis's, are that many points apart. */
static double apart(json_t *golden, const char *name, size_t i, const struct edf_outcome *outcome)
{
    json_t *jobs = json_object_get(json_object_get(golden, "benchmarks"), name);
    json_t *row = json_object_get(json_object_get(golden, "clairvoyance_edf"), name);
    const char *application =
        json_string_value(json_object_get(json_array_get(jobs, i), "application"));
    double theirs = json_number_value(json_object_get(json_object_get(row, "errors"), application));
    return fabs(outcome->deadline_error_percent - theirs);
}

static void check_scaled(json_t *golden, struct arena *arena)
{
    enum { KMEANS = 1 };
    struct edf_outcome outcomes[JOBS_MAX] = {0};
    struct edf_metrics metrics = {0};
    struct edf_remedies remedies = {0};
    run_benchmark(golden, "Spark-Bench", SCALED, &metrics, outcomes, &remedies, arena);
    expect(metrics.advance == wanted(golden, "Spark-Bench", "advance"), "Spark-Bench",
           "scaled, as many in time as in the thesis");
    for (size_t i = 0; i < 3; i++)
        expect(apart(golden, "Spark-Bench", i, &outcomes[i]) < (i == KMEANS ? 0.5 : 7),
               "Spark-Bench", "scaled, errors near those of the thesis");
    run_benchmark(golden, "Spark-Perf", SCALED, &metrics, outcomes, &remedies, arena);
    expect(metrics.advance >= wanted(golden, "Spark-Perf", "advance"), "Spark-Perf",
           "scaled, no fewer in time than in the thesis, whose runs were longer");
    expect(metrics.makespan_s > 235 && metrics.makespan_s <= 241, "Spark-Perf",
           "scaled, it takes all the time there is");
}

int main(void)
{
    json_t *golden = load("golden", "xspark_composite_benchmarks.json");
    if (golden == NULL) {
        printf("skipped: no shared data at %s (PROVISOR_SHARED)\n", shared());
        return SKIPPED;
    }
    struct arena arena;
    arena_init(&arena, 0);
    struct edf_outcome outcomes[JOBS_MAX] = {0};
    struct edf_metrics metrics = {0};
    struct edf_remedies remedies = {0};

    run_benchmark(golden, "Spark-Bench", PUBLISHED, &metrics, outcomes, &remedies, &arena);
    expect(metrics.advance == wanted(golden, "Spark-Bench", "advance"), "Spark-Bench",
           "as many in time as in the thesis");
    expect(metrics.delayed == wanted(golden, "Spark-Bench", "delayed"), "Spark-Bench",
           "as many late as in the thesis");
    expect(remedies.has_min_total_cores && remedies.min_total_cores <= 64, "Spark-Bench",
           "the cores there are suffice");

    run_benchmark(golden, "Spark-Perf", PUBLISHED, &metrics, outcomes, &remedies, &arena);
    expect(metrics.delayed > wanted(golden, "Spark-Perf", "delayed"), "Spark-Perf",
           "more late than in the thesis, whose runs were smaller");
    expect(remedies.has_min_total_cores && remedies.min_total_cores > 64, "Spark-Perf",
           "it takes more cores than there are");
    check_scaled(golden, &arena);
    arena_fini(&arena);
    json_decref(golden);
    return faults == 0 ? 0 : 1;
}
