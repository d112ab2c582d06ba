/*
 * The controllers and supervisors of xSpark's quota loops against figures that others computed:
 * golden/vectors/quota-loops, sequences of settings and samples with what each executor is granted.
 * Of each sequence the loop's arithmetic is followed here, with the least that has to be remembered
 * of an executor; what a service keeps and refuses is not.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/control/controller.h"
#include "core/control/supervisor.h"
#include "vectors.h"

enum { EXECUTORS_MAX = 32 };

static int faults;
static size_t compared;

static double number_or(json_t *object, const char *key, double absent)
{
    json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : absent;
}

/* What is remembered of an executor, by its id. */
struct known {
    const char *id;
    const char *application;
    const char *worker;
    double stage;
    double started_s;
    double sampled_s;
    double deadline_s;
    double tasks;
    double integral_cores;
};

struct loop {
    const char *file;
    json_t *settings;
    struct control_terms terms;
    struct known known[EXECUTORS_MAX];
    size_t n_known;
    double sequence;
    double at_s;
};

/* The one of that name among the workers or applications. */
static json_t *find_named(json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) if (strcmp(json_string_value(json_object_get(item, "name")),
                                                 name) == 0) return item;
    return NULL;
}

static void take_settings(struct loop *loop, json_t *settings)
{
    json_t *given = json_object_get(settings, "controller");
    struct control_terms usual = control_terms_default();
    loop->settings = settings;
    loop->terms = (struct control_terms){
        .gain = number_or(given, "gain", usual.gain),
        .integral_time_s = number_or(given, "integral_time_s", usual.integral_time_s),
        .sample_s = number_or(given, "sample_s", usual.sample_s),
        .core_quantum = number_or(given, "core_quantum", usual.core_quantum),
        .core_min = number_or(given, "core_min", usual.core_min)};
}

/* The executor as it is now: known from before, or at the beginning of a stage. */
static struct known meet(const struct loop *loop, json_t *sent, double at_s)
{
    struct known now = {.id = json_string_value(json_object_get(sent, "id")), .stage = -1};
    double stage = number_or(sent, "stage", 0);
    for (size_t i = 0; i < loop->n_known; i++)
        if (strcmp(loop->known[i].id, now.id) == 0)
            now = loop->known[i];
    if (json_object_get(sent, "application") != NULL)
        now.application = json_string_value(json_object_get(sent, "application"));
    if (json_object_get(sent, "worker") != NULL)
        now.worker = json_string_value(json_object_get(sent, "worker"));
    if (now.stage != stage) {
        now.stage = stage;
        now.started_s = number_or(sent, "stage_started_s", at_s);
        now.sampled_s = now.started_s;
        now.integral_cores = number_or(sent, "initial_cores", 0);
    }
    now.tasks = number_or(sent, "tasks", now.tasks);
    now.deadline_s = number_or(sent, "stage_deadline_s", now.deadline_s);
    return now;
}

static void expect(const struct loop *loop, json_t *grant, const char *key, double got)
{
    double want = number_or(grant, key, (double)NAN);
    compared++;
    if (fabs(got - want) <= 1e-9 * fmax(1, fabs(want)))
        return;
    faults++;
    printf("# %s, sample %.0f, %s: %s is %.17g, not %.17g\n", loop->file, loop->sequence,
           json_string_value(json_object_get(grant, "id")), key, got, want);
}

/* The executors of one worker at a sample. */
struct gathered {
    struct known *executors[EXECUTORS_MAX];
    json_t *grants[EXECUTORS_MAX]; /* as they should be */
    struct control_request requests[EXECUTORS_MAX];
    struct contention_application applications[EXECUTORS_MAX];
    size_t n;
};

static void gather(const struct loop *loop,
                   struct gathered *gathered,
                   struct known *executor,
                   double completed,
                   double at_s,
                   json_t *grant)
{
    json_t *application =
        find_named(json_object_get(loop->settings, "applications"), executor->application);
    json_t *worker = find_named(json_object_get(loop->settings, "workers"), executor->worker);
    const struct control_reading reading = {.elapsed_s = at_s - executor->started_s,
                                            .deadline_s = executor->deadline_s,
                                            .since_s = at_s - executor->sampled_s,
                                            .tasks = executor->tasks,
                                            .completed = completed,
                                            .integral_cores = executor->integral_cores,
                                            .worker_cores = number_or(worker, "cores", 0)};
    size_t i = gathered->n++;
    gathered->executors[i] = executor;
    gathered->grants[i] = grant;
    gathered->requests[i] = control_ask(&loop->terms, &reading);
    gathered->applications[i] = (struct contention_application){
        .requested_cores = gathered->requests[i].cores,
        .time_to_complete_s =
            number_or(application, "release_s", 0) +
            number_or(application, "alpha", 0.95) * number_or(application, "deadline_s", 0) - at_s,
        .remaining_tasks = executor->tasks - completed,
        .nominal_rate = number_or(application, "nominal_rate", (double)NAN)};
}

static void grant_worker(const struct loop *loop, json_t *worker, struct gathered *gathered)
{
    const char *strategy = json_string_value(json_object_get(loop->settings, "strategy"));
    struct supervisor_terms terms = {.strategy = &contention_strategies[CONTENTION_PROPORTIONAL],
                                     .gamma = number_or(loop->settings, "gamma", 1),
                                     .average_nominal_rate =
                                         number_or(loop->settings, "average_nominal_rate", 1e6),
                                     .worker_cores = number_or(worker, "cores", 0),
                                     .core_quantum = loop->terms.core_quantum};
    double cores[EXECUTORS_MAX];
    struct contention_outcome outcome;
    struct arena scratch;
    for (size_t s = 0; strategy != NULL && s < CONTENTION_STRATEGIES; s++)
        if (strcmp(contention_strategies[s].name, strategy) == 0)
            terms.strategy = &contention_strategies[s];
    arena_init(&scratch, 0);
    if (supervisor_grant(&terms, gathered->applications, gathered->n, &scratch, cores, &outcome,
                         NULL) != PV_OK)
        abort();
    arena_fini(&scratch);
    for (size_t i = 0; i < gathered->n; i++) {
        struct known *executor = gathered->executors[i];
        json_t *grant = gathered->grants[i];
        executor->integral_cores = control_integral(cores[i], &gathered->requests[i]);
        expect(loop, grant, "cores", cores[i]);
        expect(loop, grant, "requested_cores", gathered->requests[i].cores);
        expect(loop, grant, "set_point", gathered->requests[i].set_point);
        expect(loop, grant, "progress", gathered->requests[i].progress);
        expect(loop, grant, "integral_cores", executor->integral_cores);
        expect(loop, grant, "time_to_complete_s", gathered->applications[i].time_to_complete_s);
    }
}

static void take_sample(struct loop *loop, json_t *sample, json_t *answer)
{
    json_t *sent = json_object_get(sample, "executors");
    json_t *grants = json_object_get(answer, "grants");
    struct known now[EXECUTORS_MAX];
    size_t n = json_array_size(sent);
    double at_s = number_or(sample, "at_s", 0);
    size_t w;
    json_t *worker;
    if (number_or(sample, "sequence", 0) == loop->sequence)
        return; /* the same again */
    loop->sequence = number_or(sample, "sequence", 0);
    for (size_t i = 0; i < n; i++)
        now[i] = meet(loop, json_array_get(sent, i), at_s);
    json_array_foreach(json_object_get(loop->settings, "workers"), w, worker)
    {
        struct gathered gathered = {.n = 0};
        const char *name = json_string_value(json_object_get(worker, "name"));
        for (size_t i = 0; i < n; i++)
            if (strcmp(now[i].worker, name) == 0)
                gather(loop, &gathered, &now[i],
                       number_or(json_array_get(sent, i), "completed_tasks", 0), at_s,
                       json_array_get(grants, i));
        grant_worker(loop, worker, &gathered);
    }
    for (size_t i = 0; i < n; i++) {
        now[i].sampled_s = at_s;
        loop->known[i] = now[i];
    }
    loop->n_known = n;
}

static bool follow(const char *file, json_t *vector)
{
    struct loop loop = {.file = file, .sequence = -1};
    size_t i;
    json_t *step;
    json_array_foreach(json_object_get(vector, "steps"), i, step)
    {
        const char *call = json_string_value(json_object_get(step, "call"));
        double status = number_or(step, "status", 0);
        json_t *request = json_object_get(step, "request");
        if (strncmp(call, "PUT ", 4) == 0 && (status == 200 || status == 201))
            take_settings(&loop, request);
        if (strncmp(call, "POST ", 5) == 0 && status == 200)
            take_sample(&loop, request, json_object_get(step, "expect"));
    }
    return true;
}

int main(void)
{
    size_t files;
    if (!vectors_each("quota-loops", SHARED_DEFAULT, JSON_DECODE_INT_AS_REAL, follow, &files))
        return SKIPPED;
    printf("# %zu sequences, %zu figures, %d differ\n", files, compared, faults);
    return faults == 0 && compared > 200 ? 0 : 1;
}
