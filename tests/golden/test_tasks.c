/*
 * Bags of tasks against figures that others computed: the vectors of golden/vectors/simulations of
 * kind "tasks". Requests of other kinds, and such as are refused, are left out.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/scheduling/tasks/tasks_outcome.h"
#include "core/scheduling/tasks/tasks_simulation.h"
#include "vectors.h"

enum { JOBS_MAX = 64, TASKS_MAX = 1024 };

static int faults;
static size_t compared;

struct scenario {
    const char *file;
    struct tasks_model model;
    struct tasks_job jobs[JOBS_MAX];
    double durations[TASKS_MAX];
    uint32_t placement[TASKS_MAX];
    size_t tasks;
};

static double number_or(json_t *object, const char *key, double absent)
{
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : absent;
}

static const char *text_or(json_t *object, const char *key, const char *absent)
{
    json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : absent;
}

static void expect(
    const struct scenario *scenario, const char *what, json_t *wanted, const char *key, double got)
{
    double want = number_or(wanted, key, (double)NAN);
    if (json_object_get(wanted, key) == NULL)
        return;
    compared++;
    if (fabs(got - want) <= 1e-9 * fmax(1, fabs(want)))
        return;
    faults++;
    printf("# %s, %s: %s is %.17g, not %.17g\n", scenario->file, what, key, got, want);
}

/* --- the request --- */

static void take_job(struct scenario *scenario, json_t *given, double cutoff_s)
{
    struct tasks_job *job = &scenario->jobs[scenario->model.n_jobs++];
    json_t *placement = json_object_get(given, "placement");
    json_t *durations = json_object_get(given, "task_durations_s");
    const char *class = text_or(given, "class", NULL);
    double *at = &scenario->durations[scenario->tasks];
    uint32_t *group = &scenario->placement[scenario->tasks];
    size_t i;
    json_t *value;
    json_array_foreach(durations, i, value) at[i] = json_number_value(value);
    json_array_foreach(placement, i, value) group[i] = (uint32_t)json_integer_value(value);
    *job = (struct tasks_job){.arrival_s = number_or(given, "arrival_s", 0),
                              .durations_s = at,
                              .tasks = (uint32_t)json_array_size(durations),
                              .placement = placement != NULL ? group : NULL};
    job->is_long =
        class != NULL ? strcmp(class, "long") == 0 : tasks_are_long(at, job->tasks, cutoff_s);
    scenario->tasks += job->tasks;
}

static void take_request(struct scenario *scenario, json_t *request)
{
    json_t *given;
    size_t i;
    double cutoff_s = number_or(request, "short_cutoff_s", (double)NAN);
    scenario->model = (struct tasks_model){
        .workers = (uint32_t)number_or(json_object_get(request, "cluster"), "workers", 0),
        .communication_s = number_or(request, "communication_s", 0.0005),
        .jobs = scenario->jobs};
    json_array_foreach(json_object_get(request, "jobs"), i, given)
        take_job(scenario, given, cutoff_s);
}

static struct tasks_terms take_terms(json_t *given)
{
    const char *word = text_or(given, "policy", "");
    enum tasks_policy_id id = TASKS_PIGEON;
    for (int i = 0; i < TASKS_POLICIES; i++)
        if (strcmp(tasks_policy_name((enum tasks_policy_id)i), word) == 0)
            id = (enum tasks_policy_id)i;
    struct tasks_terms terms = tasks_terms_default(id);
    terms.groups = (uint32_t)number_or(given, "groups", terms.groups);
    terms.reserved_share = number_or(given, "reserved_share", terms.reserved_share);
    terms.weight = (uint64_t)number_or(given, "weight", (double)terms.weight);
    if (strcmp(text_or(given, "weight", ""), "infinite") == 0)
        terms.weight = TASKS_WEIGHT_INFINITE;
    terms.probes_per_task = (uint32_t)number_or(given, "probes_per_task", terms.probes_per_task);
    return terms;
}

/* --- the answer --- */

static void expect_distribution(const struct scenario *scenario,
                                const char *what,
                                json_t *wanted,
                                const struct percentiles *got)
{
    expect(scenario, what, wanted, "mean", got->mean);
    expect(scenario, what, wanted, "p50", got->p50);
    expect(scenario, what, wanted, "p90", got->p90);
    expect(scenario, what, wanted, "p95", got->p95);
    expect(scenario, what, wanted, "p99", got->p99);
}

static void
expect_classes(const struct scenario *scenario, json_t *wanted, const struct tasks_outcome *outcome)
{
    size_t i;
    json_t *class;
    size_t present = 0;
    for (int c = 0; c < TASKS_CLASSES; c++)
        present += outcome->classes[c].count > 0;
    if (present != json_array_size(wanted))
        faults++;
    json_array_foreach(wanted, i, class)
    {
        const char *name = text_or(class, "name", "");
        const struct tasks_class *got = &outcome->classes[0];
        for (int c = 0; c <= TASKS_LONG; c++)
            if (strcmp(outcome->classes[c].name, name) == 0)
                got = &outcome->classes[c];
        expect(scenario, name, class, "count", (double)got->count);
        expect_distribution(scenario, name, json_object_get(class, "completion_s"),
                            &got->completion_s);
        expect_distribution(scenario, name, json_object_get(class, "slowdown"), &got->slowdown);
        json_t *over = json_object_get(class, "completion_over_longest_task");
        expect(scenario, name, over, "p50", got->completion_over_longest_p50);
        expect(scenario, name, over, "p90", got->completion_over_longest_p90);
        expect(scenario, name, over, "p99", got->completion_over_longest_p99);
    }
}

static void
expect_jobs(const struct scenario *scenario, json_t *wanted, const struct tasks_result *result)
{
    size_t i;
    json_t *job;
    json_array_foreach(wanted, i, job)
    {
        const char *name = text_or(job, "name", "");
        expect(scenario, name, job, "start_s", result->start_s[i]);
        expect(scenario, name, job, "finish_s", result->finish_s[i]);
        expect(scenario, name, job, "slowdown",
               tasks_slowdown(&scenario->model, result, (uint32_t)i));
    }
}

static void
follow_policy(struct scenario *scenario, json_t *given, json_t *wanted, struct arena *arena)
{
    const struct trial trial = {1, 0};
    struct tasks_terms terms = take_terms(given);
    struct tasks_result result;
    struct tasks_outcome outcome;
    struct arena scratch;
    arena_init(&scratch, 0);
    if (tasks_model_complete(&scenario->model, arena, NULL) != PV_OK ||
        tasks_simulate(&scenario->model, &terms, &trial, 0, NULL, arena, &scratch, &result, NULL) !=
            PV_OK ||
        tasks_outcome_of(&scenario->model, &result, NULL, &scratch, &outcome, NULL) != PV_OK)
        abort();
    arena_fini(&scratch);
    const char *name = text_or(wanted, "name", "");
    expect(scenario, name, wanted, "makespan_s", outcome.makespan_s);
    expect(scenario, name, wanted, "utilization", outcome.utilization);
    expect_classes(scenario, json_object_get(wanted, "classes"), &outcome);
    expect_jobs(scenario, json_object_get(wanted, "jobs"), &result);
}

/* false: it is not of this kind. */
static bool follow(const char *file, json_t *vector)
{
    struct arena arena;
    struct scenario *scenario = calloc(1, sizeof *scenario);
    json_t *request = json_object_get(vector, "request");
    json_t *loads =
        json_object_get(json_object_get(json_object_get(vector, "expect"), "result"), "loads");
    bool mine =
        scenario != NULL && strcmp(text_or(request, "kind", ""), "tasks") == 0 && loads != NULL;
    if (mine) {
        json_t *wanted = json_object_get(json_array_get(loads, 0), "policies");
        json_t *given = json_object_get(request, "policies");
        arena_init(&arena, 0);
        scenario->file = file;
        take_request(scenario, request);
        for (size_t i = 0; i < json_array_size(given); i++)
            follow_policy(scenario, json_array_get(given, i), json_array_get(wanted, i), &arena);
        arena_fini(&arena);
    }
    free(scenario);
    return mine;
}

int main(void)
{
    size_t files;
    if (!vectors_each("simulations", SHARED_DEFAULT, 0, follow, &files))
        return SKIPPED;
    printf("# %zu requests, %zu figures, %d differ\n", files, compared, faults);
    return faults == 0 && files >= 5 && compared > 400 ? 0 : 1;
}
