/*
 * Simulations of jobs on map and reduce slots against figures that others computed:
 * golden/vectors/simulations, those of kind "slots".
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/scheduling/slots/slots_outcome.h"
#include "core/scheduling/slots/slots_split.h"
#include "vectors.h"

static struct vectors_figures figures;
static size_t policies_run;
static struct arena arena;

static void *need(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static const double *numbers(json_t *list, size_t *n)
{
    *n = json_array_size(list);
    double *values = need(arena_array(&arena, *n, sizeof *values));
    for (size_t i = 0; i < *n; i++)
        values[i] = json_number_value(json_array_get(list, i));
    return values;
}

/* Tasks listed one by one, or as their number and what each takes. */
static struct slots_task_list
take_tasks(json_t *job, const char *listed, const char *count, const char *each)
{
    struct slots_tasks *tasks;
    size_t n;
    json_t *list = json_object_get(job, listed);
    if (list != NULL) {
        const double *durations_s = numbers(list, &n);
        tasks = need(arena_array(&arena, n, sizeof *tasks));
        n = slots_tasks_pack(durations_s, n, tasks);
    } else {
        n = vectors_number(job, count, 0) > 0;
        tasks = need(arena_array(&arena, 1, sizeof *tasks));
        tasks[0] = (struct slots_tasks){vectors_number(job, each, 0),
                                        (size_t)vectors_number(job, count, 0)};
    }
    return (struct slots_task_list){tasks, n};
}

static struct slots_job take_job(json_t *job)
{
    return (struct slots_job){
        .arrival_s = vectors_number(job, "arrival_s", 0),
        .task_lists = {take_tasks(job, "map_durations_s", "maps", "map_task_s"),
                       take_tasks(job, "reduce_durations_s", "reduces", "reduce_task_s")},
        .shuffle_s = vectors_number(job, "shuffle_s", 0),
        .predicted_size_s = vectors_number(job, "predicted_size_s", (double)NAN),
        .queue = (size_t)vectors_number(job, "queue", 1) - 1};
}

static struct slots_terms take_terms(json_t *policy)
{
    const char *name = json_string_value(json_object_get(policy, "policy"));
    json_t *queues = json_object_get(policy, "queues");
    struct slots_tenant *tenants =
        need(arena_array(&arena, json_array_size(queues), sizeof *tenants));
    size_t n_partitions;
    size_t i;
    json_t *queue;
    struct slots_terms terms = {
        .concurrency = (size_t)vectors_number(policy, "concurrency", 0),
        .queues = (size_t)vectors_number(policy, "queues", 0),
        .partitions = numbers(json_object_get(policy, "partitions"), &n_partitions),
        .tenants = tenants,
        .n_tenants = json_array_size(queues),
        .tau1 = vectors_number(policy, "tau1", 0.8),
        .tau2 = vectors_number(policy, "tau2", 0.6),
        .ema_weight = vectors_number(policy, "ema_weight", 0.5),
        .window_s = vectors_number(policy, "window_s", 10),
        .lazy_start = vectors_lists(policy, "techniques", "lazy_start", true),
        .batch_finish = vectors_lists(policy, "techniques", "batch_finish", true)};
    terms.limits_s = numbers(json_object_get(policy, "limits_s"), &terms.n_limits);
    json_array_foreach(queues, i, queue)
    {
        tenants[i] = (struct slots_tenant){vectors_number(queue, "share", 0),
                                           vectors_number(queue, "max_share", 1)};
    }
    for (size_t p = 0; p < SLOTS_POLICIES; p++)
        if (strcmp(slots_policies[p]->name, name) == 0)
            terms.policy = slots_policies[p];
    return terms;
}

static void expect_percentiles(const char *where, json_t *want, const struct percentiles *got)
{
    vectors_expect(&figures, where, want, "mean", got->mean);
    vectors_expect(&figures, where, want, "p50", got->p50);
    vectors_expect(&figures, where, want, "p90", got->p90);
    vectors_expect(&figures, where, want, "p95", got->p95);
    vectors_expect(&figures, where, want, "p99", got->p99);
}

/* The jobs of a request, and what they take alone. */
struct request {
    const char *file;
    struct slots_cluster cluster;
    struct slots_job *jobs;
    double *runtime_s;
    size_t n;
};

static void run_policy(const struct request *request, struct slots_terms *terms, json_t *want)
{
    size_t n = request->n;
    struct slots_job_times *times = need(arena_array(&arena, n, sizeof *times));
    double *slowdown = need(arena_array(&arena, n, sizeof *slowdown));
    struct slots_outcome outcome;
    char where[128];
    size_t i;
    json_t *job;
    (void)snprintf(where, sizeof where, "%s, %s", request->file,
                   json_string_value(json_object_get(want, "name")));
    if (json_object_get(want, "map_slots") != NULL) {
        if (slots_split(&request->cluster, request->jobs, n, terms->concurrency, &arena,
                        terms->split, NULL) != PV_OK)
            abort();
        vectors_expect(&figures, where, want, "map_slots", (double)terms->split[SLOTS_MAP]);
        vectors_expect(&figures, where, want, "reduce_slots", (double)terms->split[SLOTS_REDUCE]);
    }
    if (slots_simulate(&request->cluster, request->jobs, n, terms, NULL, &arena, times, NULL) !=
            PV_OK ||
        slots_summarize(&request->cluster, request->jobs, n, times, request->runtime_s, &arena,
                        slowdown, &outcome, NULL) != PV_OK)
        abort();
    policies_run++;
    vectors_expect(&figures, where, want, "makespan_s", outcome.makespan_s);
    vectors_expect(&figures, where, want, "utilization", outcome.utilization);
    vectors_expect(&figures, where, want, "fairness", outcome.fairness);
    vectors_expect(&figures, where, want, "slowdown_variability_95",
                   outcome.slowdown_variability_95);
    expect_percentiles(where, json_object_get(want, "completion_s"), &outcome.completion_s);
    expect_percentiles(where, json_object_get(want, "slowdown"), &outcome.slowdown);
    json_array_foreach(json_object_get(want, "jobs"), i, job)
    {
        vectors_expect(&figures, where, job, "start_s", times[i].start_s);
        vectors_expect(&figures, where, job, "map_end_s", times[i].map_end_s);
        vectors_expect(&figures, where, job, "finish_s", times[i].finish_s);
        vectors_expect(&figures, where, job, "runtime_s", request->runtime_s[i]);
        vectors_expect(&figures, where, job, "slowdown", slowdown[i]);
    }
}

/* Of each vector there is one load, null: arrivals as they are. */
static void run_request(const char *file, json_t *asked, json_t *answer)
{
    json_t *cluster = json_object_get(asked, "cluster");
    json_t *jobs = json_object_get(asked, "jobs");
    json_t *load = json_array_get(json_object_get(answer, "loads"), 0);
    struct request request = {
        .file = file,
        .cluster = {.slots = {(size_t)vectors_number(cluster, "map_slots", 0),
                              (size_t)vectors_number(cluster, "reduce_slots", 0)},
                    .slow_start = vectors_number(asked, "slow_start", 0.05)},
        .n = json_array_size(jobs)};
    size_t i;
    json_t *policy;
    request.jobs = need(arena_array(&arena, request.n, sizeof *request.jobs));
    request.runtime_s = need(arena_array(&arena, request.n, sizeof *request.runtime_s));
    for (i = 0; i < request.n; i++)
        request.jobs[i] = take_job(json_array_get(jobs, i));
    if (slots_runtimes_alone(&request.cluster, request.jobs, request.n, NULL, &arena,
                             request.runtime_s, NULL) != PV_OK)
        abort();
    json_array_foreach(json_object_get(asked, "policies"), i, policy)
    {
        struct slots_terms terms = take_terms(policy);
        json_t *want = json_array_get(json_object_get(load, "policies"), i);
        run_policy(&request, &terms, want);
    }
}

static bool run_file(const char *file, json_t *vector)
{
    json_t *request = json_object_get(vector, "request");
    const char *kind = json_string_value(json_object_get(request, "kind"));
    json_t *result = json_object_get(json_object_get(vector, "expect"), "result");
    bool slots = kind != NULL && strcmp(kind, "slots") == 0 && result != NULL;
    if (slots)
        run_request(file, request, result);
    arena_clear(&arena);
    return slots;
}

int main(void)
{
    size_t files;
    arena_init(&arena, 0);
    bool there =
        vectors_each("simulations", SHARED_DEFAULT, JSON_DECODE_INT_AS_REAL, run_file, &files);
    arena_fini(&arena);
    if (!there)
        return SKIPPED;
    printf("# %zu requests, %zu policies, %zu figures, %zu differ\n", files, policies_run,
           figures.compared, figures.differ);
    return figures.differ == 0 && figures.compared > 500 ? 0 : 1;
}
