#include "codec/copy_plan.h"

#include <string.h>

#include "codec/copy_plan_internal.h"
#include "codec/names.h"

static const double SECONDS_MAX = 1e12;
static const double BYTES_MIN = 1e-9;
static const double BYTES_MAX = 1e18;
static const int64_t ROUNDS_MAX = 1000;
static const int64_t ROUNDS = 8; /* where the request does not say */

/* --- jobs --- */

/* Names of clusters; each once where `once`. */
static size_t *decode_places(const struct copy_plan_decoding *d,
                             const struct codec_node *node,
                             const char *key,
                             bool once,
                             size_t *n)
{
    size_t most = once ? d->limits->clusters : d->limits->tasks;
    struct codec_node list = codec_array(node, key, CODEC_OPTIONAL, 0, most);
    *n = json_array_size(list.json);
    size_t *places = arena_array(d->arena, *n, sizeof *places);
    if (!copy_plan_allocated(node, places)) {
        *n = 0;
        return NULL;
    }
    for (size_t i = 0; i < *n; i++) {
        struct codec_node item = codec_item(&list, i);
        places[i] = copy_plan_find_cluster(d, &item, &list);
        for (size_t k = 0; once && k < i; k++)
            if (places[k] == places[i] && places[i] != SIZE_MAX)
                codec_fault(&item, "duplicate", "is listed twice");
    }
    return places;
}

static void decode_task(const struct copy_plan_decoding *d,
                        const struct codec_node *node,
                        struct strview *id,
                        struct geo_task *task)
{
    static const char *const known[] = {"id", "operation", "size_bytes", "inputs", "copies", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    *id = codec_name(node, "id", CODEC_REQUIRED);
    struct strview operation = codec_name(node, "operation", CODEC_REQUIRED);
    task->size_bytes = codec_number(node, "size_bytes", CODEC_REQUIRED, BYTES_MIN, BYTES_MAX);
    task->inputs = decode_places(d, node, "inputs", true, &task->n_inputs);
    task->copies = decode_places(d, node, "copies", false, &task->n_copies);
    task->operation = operation.n > 0 ? copy_plan_look_up(&d->operations, operation) : 0;
    if (task->operation == SIZE_MAX)
        codec_fault_member(node, "operation", "unknown_operation",
                           "no cluster has processing speeds of it");
}

static void decode_job(struct copy_plan_decoding *d,
                       const struct codec_node *node,
                       size_t index,
                       struct geo_job *job)
{
    static const char *const known[] = {"name", "unprocessed_bytes", "tasks", NULL};
    if (!codec_expect_object(node))
        return;
    codec_refuse_unknown(node, known);
    d->request->jobs[index] = codec_name(node, "name", CODEC_REQUIRED);
    job->unprocessed_bytes = codec_number(node, "unprocessed_bytes", CODEC_REQUIRED, 0, BYTES_MAX);
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

static void decode_jobs(struct copy_plan_decoding *d, const struct codec_node *top)
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

/* --- the request --- */

/* Absent is "auto": drawn from the load, once that is known. */
static void decode_epsilon(const struct codec_node *top, struct codec_copy_plan *request)
{
    struct codec_node epsilon = codec_member(top, "epsilon");
    const char *word = json_string_value(epsilon.json);
    request->epsilon_is_auto = epsilon.json == NULL || (word != NULL && strcmp(word, "auto") == 0);
    request->terms.epsilon = 1;
    if (request->epsilon_is_auto)
        return;
    if (word != NULL)
        codec_fault(&epsilon, "unknown_value",
                    "must be \"auto\", or a number above 0 and at most 1");
    else
        request->terms.epsilon = codec_number(top, "epsilon", CODEC_ABOVE, 0, 1);
}

static void decode_terms(const struct codec_node *top, struct codec_copy_plan *request)
{
    static const char *const principles[] = {"eff-reli", "reli-eff", "eff-eff", "reli-reli", NULL};
    static const enum insurance_aim aims[][2] = {{INSURANCE_EFFICIENCY, INSURANCE_RELIABILITY},
                                                 {INSURANCE_RELIABILITY, INSURANCE_EFFICIENCY},
                                                 {INSURANCE_EFFICIENCY, INSURANCE_EFFICIENCY},
                                                 {INSURANCE_RELIABILITY, INSURANCE_RELIABILITY}};
    static const char *const allocations[] = {"efa", "jga", NULL};
    struct insurance_terms *terms = &request->terms;
    decode_epsilon(top, request);
    int64_t rounds = codec_integer(top, "max_rounds", CODEC_OPTIONAL, 1, ROUNDS_MAX);
    terms->max_rounds = rounds == RUN_UNKNOWN ? ROUNDS : rounds;
    size_t principle = codec_choice(top, "principle", CODEC_OPTIONAL, principles, 0);
    terms->first = aims[principle][0];
    terms->second = aims[principle][1];
    terms->job_by_job = codec_choice(top, "allocation", CODEC_OPTIONAL, allocations, 0) == 1;
    request->problem.slot_s = copy_plan_known_or(
        codec_number(top, "slot_s", CODEC_OPTIONAL | CODEC_ABOVE, 0, SECONDS_MAX), 1);
}

void codec_copy_plan_decode(const struct codec_node *node,
                            const struct codec_copy_plan_limits *limits,
                            struct codec_copy_plan *request)
{
    static const char *const known[] = {"epsilon",   "slot_s",     "max_rounds",
                                        "clusters",  "bandwidth",  "jobs",
                                        "principle", "allocation", NULL};
    *request = (struct codec_copy_plan){0};
    struct copy_plan_decoding d = {
        .limits = limits, .request = request, .arena = node->reader->arena};
    codec_refuse_unknown(node, known);
    decode_terms(node, request);
    copy_plan_decode_clusters(&d, node);
    if (request->problem.clusters == NULL)
        return;
    copy_plan_decode_links(&d, node);
    decode_jobs(&d, node);
}
