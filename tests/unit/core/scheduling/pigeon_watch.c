#include "pigeon_watch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rounding.h"
#include "core/sim/variates.h"

static void started(void *context, const struct tasks_start *start)
{
    struct pigeon_watch *watch = context;
    cr_assert_lt(watch->n, WATCH_STARTS_MAX);
    watch->starts[watch->n++] = *start;
}

void pigeon_watch_init(struct pigeon_watch *watch,
                       const struct tasks_model *model,
                       const struct tasks_terms *terms,
                       struct arena *arena)
{
    *watch = (struct pigeon_watch){.model = model, .terms = terms};
    watch->observer = (struct tasks_observer){.started = started, .context = watch};
    watch->starts = arena_array(arena, WATCH_STARTS_MAX, sizeof *watch->starts);
    cr_assert_not_null(watch->starts);
}

enum pv_code pigeon_watch_run(struct pigeon_watch *watch,
                              uint64_t seed,
                              struct arena *arena,
                              struct tasks_result *result)
{
    const struct trial trial = {seed, 0};
    struct arena scratch;
    arena_init(&scratch, 0);
    enum pv_code code = tasks_simulate_observed(watch->model, watch->terms, &trial, 0, NULL,
                                                &watch->observer, arena, &scratch, result, NULL);
    cr_assert_leq(result->memory, tasks_simulation_memory(watch->model, watch->terms));
    arena_fini(&scratch);
    return code;
}

/* --- what may be --- */

static uint32_t group_of(const struct pigeon_watch *watch, uint32_t worker, uint32_t *within)
{
    uint32_t group = 0;
    *within = worker;
    while (*within >= pigeon_layout_group(watch->model, watch->terms, group).workers)
        *within -= pigeon_layout_group(watch->model, watch->terms, group++).workers;
    return group;
}

static bool may_take(const struct pigeon_watch *watch, const struct tasks_start *start)
{
    const struct tasks_job *job = &watch->model->jobs[start->job];
    struct pigeon_class classes[PIGEON_CLASSES_MAX];
    uint32_t counts[PIGEON_CLASSES_MAX];
    uint32_t within;
    uint32_t n = pigeon_layout_classes(watch->terms, classes);
    uint32_t group = group_of(watch, start->place, &within);
    uint32_t level = n - 1;
    if (job->bindings != NULL && job->bindings[start->task].n > 0) {
        const struct tasks_binding *binding = &job->bindings[start->task];
        for (uint32_t i = 0; i < binding->n; i++)
            if (binding->workers[i] == start->place)
                return true;
        return false;
    }
    pigeon_layout_levels(classes, n, pigeon_layout_group(watch->model, watch->terms, group).workers,
                         counts);
    while (within >= counts[level])
        within -= counts[level--];
    return tasks_class_of(job, n) <= level;
}

/* What befalls a group that is lost already changes nothing. Failures stand in order of time. */
static bool master_is_there(const struct pigeon_watch *watch, const struct tasks_start *start)
{
    const struct pigeon_layout *layout = watch->terms->layout;
    uint32_t within;
    uint32_t group = group_of(watch, start->place, &within);
    double c_s = watch->model->communication_s;
    double lost_until_s = 0;
    for (uint32_t i = 0; i < layout->n_failures; i++) {
        const struct pigeon_failure *failure = &layout->failures[i];
        bool lost = failure->recovery == PIGEON_GROUP_LOST;
        double until_s =
            failure->at_s + (lost ? failure->return_s + c_s : failure->detection_s + 2 * c_s);
        if (failure->group != group || failure->at_s < lost_until_s)
            continue;
        if (start->sent_s >= failure->at_s && start->sent_s < until_s - 1e-9)
            return false;
        lost_until_s = lost ? until_s : lost_until_s;
    }
    return true;
}

static int order_by_worker(const void *a, const void *b)
{
    const struct tasks_start *x = a;
    const struct tasks_start *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

static int order_by_task(const void *a, const void *b)
{
    const struct tasks_start *x = a;
    const struct tasks_start *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

static const char *fault_of(const struct pigeon_watch *watch, const struct tasks_start *start)
{
    const struct tasks_job *job = &watch->model->jobs[start->job];
    uint32_t within;
    uint32_t group = group_of(watch, start->place, &within);
    double power = pigeon_layout_group(watch->model, watch->terms, group).power;
    double c_s = watch->model->communication_s;
    if (start->sent_s < job->arrival_s + c_s)
        return "a task is sent before it can be there";
    if (start->start_s != start->sent_s + c_s)
        return "a task does not start a message after it was sent";
    if (start->end_s != start->start_s + job->durations_s[start->task] / power)
        return "a task takes another time than its own";
    if (!may_take(watch, start))
        return "a worker runs what it may not";
    return master_is_there(watch, start) ? "" : "a master that has failed sends a task";
}

const char *pigeon_watch_fault(const struct pigeon_watch *watch)
{
    double idle_s = 2 * watch->model->communication_s;
    if (watch->n != watch->model->tasks)
        return "not as many tasks ran as there are";
    for (size_t i = 0; i < watch->n; i++) {
        const char *fault = fault_of(watch, &watch->starts[i]);
        if (fault[0] != '\0')
            return fault;
    }
    qsort(watch->starts, watch->n, sizeof *watch->starts, order_by_worker);
    for (size_t i = 1; i < watch->n; i++)
        if (watch->starts[i].place == watch->starts[i - 1].place &&
            watch->starts[i].start_s < watch->starts[i - 1].end_s + idle_s - 1e-9)
            return "a worker has a task before its master can know that it is idle";
    qsort(watch->starts, watch->n, sizeof *watch->starts, order_by_task);
    for (size_t i = 1; i < watch->n; i++)
        if (order_by_task(&watch->starts[i], &watch->starts[i - 1]) == 0)
            return "a task runs twice";
    return "";
}

double pigeon_watch_work(const struct pigeon_watch *watch)
{
    double work_s = 0;
    for (size_t i = 0; i < watch->n; i++) {
        uint32_t within;
        uint32_t group = group_of(watch, watch->starts[i].place, &within);
        double power = pigeon_layout_group(watch->model, watch->terms, group).power;
        work_s += (watch->starts[i].end_s - watch->starts[i].start_s) * power;
    }
    return work_s;
}

/* --- everything at once --- */

static void bind_some(struct tasks_job *job, uint32_t workers, struct rng *rng, struct arena *arena)
{
    struct tasks_binding *bindings = arena_calloc(arena, job->tasks, sizeof *bindings);
    cr_assert_not_null(bindings);
    for (uint32_t i = 0; i < job->tasks; i++) {
        uint32_t n = rng_uniform(rng) < 0.4 ? 1 + (uint32_t)variate_index(rng, 3) : 0;
        uint32_t *bound = arena_array(arena, 3, sizeof *bound);
        uint32_t first = (uint32_t)variate_index(rng, workers);
        cr_assert_not_null(bound);
        for (uint32_t k = 0; k < n; k++)
            bound[k] = (first + 7 * k) % workers;
        bindings[i] = (struct tasks_binding){bound, n};
    }
    job->bindings = bindings;
}

/* Each a while after the one before, and all within the time that there is work. */
static void fail_some(struct pigeon_scene *scene, struct rng *rng)
{
    double at_s = 0;
    for (int i = 0; i < SCENE_FAILURES; i++) {
        at_s += variate_uniform(rng, 0, 20);
        double detection_s = variate_uniform(rng, 0, 10);
        scene->failures[i] =
            (struct pigeon_failure){.group = (uint32_t)variate_index(rng, 5),
                                    .recovery = (enum pigeon_recovery)variate_index(rng, 3),
                                    .at_s = at_s,
                                    .detection_s = detection_s,
                                    .return_s = detection_s + variate_uniform(rng, 1, 60)};
    }
}

void pigeon_scene_make(struct pigeon_scene *scene, uint64_t seed, double load, struct arena *arena)
{
    struct rng rng = rng_make(seed, 77);
    *scene = (struct pigeon_scene){.groups = {{4, 1}, {9, 0.5}, {5, 3}, {12, 1}, {1, 2}},
                                   .classes = {{0.2, 5}, {0.1, 3}, {0, 1}}};
    fail_some(scene, &rng);
    scene->model = tasks_case_random(arena, seed, 31, 500, 12, load, 0.01);
    scene->model.capacity = pigeon_layout_capacity(scene->groups, 5);
    struct tasks_job *jobs = arena_array(arena, scene->model.n_jobs, sizeof *jobs);
    cr_assert_not_null(jobs);
    memcpy(jobs, scene->model.jobs, scene->model.n_jobs * sizeof *jobs);
    for (uint32_t j = 0; j < scene->model.n_jobs; j++) {
        jobs[j].priority = (uint32_t)variate_index(&rng, 3);
        if (j % 3 == 0)
            bind_some(&jobs[j], 31, &rng, arena);
    }
    scene->model.jobs = jobs;
    scene->layout = (struct pigeon_layout){.groups = scene->groups,
                                           .n_groups = 5,
                                           .classes = scene->classes,
                                           .n_classes = 3,
                                           .failures = scene->failures,
                                           .n_failures = SCENE_FAILURES,
                                           .report_every_s = 1};
    scene->terms = tasks_terms_default(TASKS_PIGEON);
    scene->terms.layout = &scene->layout;
}
