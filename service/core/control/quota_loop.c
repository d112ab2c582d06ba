/*
 * xSpark's quota loops (S. Ripamonti, thesis, Politecnico di Milano 2017, sections 3.5 and 3.6, Alg.
 * 1 to 7), from sample to sample. Controllers and supervisors are those of the simulation; here is
 * which executors are known, and when one begins a stage. O(n log n) in what a sample names.
 */
#include "core/control/quota_loop.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "base/rounding.h"
#include "core/control/supervisor.h"
#include "core/history/run.h"

#define CGROUP_QUOTA_MIN_US 1000 /* less is refused by the kernel */

/* --- names --- */

struct name {
    struct strview text; /* first, so that order_by_strview compares names */
    size_t place;
};

struct names {
    struct name *items; /* by text */
    size_t n;
};

/* The texts at `first` and every `stride` bytes. */
static bool names_make(
    struct names *names, const struct strview *first, size_t n, size_t stride, struct arena *arena)
{
    names->items = arena_array(arena, n, sizeof *names->items);
    names->n = n;
    if (names->items == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        names->items[i] = (struct name){
            *(const struct strview *)(const void *)((const char *)first + i * stride), i};
    if (n > 0)
        qsort(names->items, n, sizeof *names->items, order_by_strview);
    return true;
}

/* RUN_UNKNOWN: there is none. */
static int64_t names_find(const struct names *names, struct strview text)
{
    const struct name *found = names->n == 0 ? NULL
                                             : bsearch(&text, names->items, names->n,
                                                       sizeof *names->items, order_by_strview);
    return found == NULL ? RUN_UNKNOWN : (int64_t)found->place;
}

static bool
applications_name(struct names *names, const struct quota_settings *settings, struct arena *arena)
{
    size_t n = settings->n_applications;
    return names_make(names, n == 0 ? NULL : &settings->applications->name, n,
                      sizeof *settings->applications, arena);
}

static bool
workers_name(struct names *names, const struct quota_settings *settings, struct arena *arena)
{
    size_t n = settings->n_workers;
    return names_make(names, n == 0 ? NULL : &settings->workers->name, n, sizeof *settings->workers,
                      arena);
}

/* --- settings --- */

enum pv_code quota_loop_replace_settings(struct quota_loop *loop,
                                         const struct quota_settings *settings,
                                         struct arena *arena,
                                         struct pv_error *err)
{
    const struct quota_settings *old = &loop->settings;
    struct names applications;
    struct names workers;
    if (!applications_name(&applications, settings, arena) ||
        !workers_name(&workers, settings, arena))
        return pv_no_memory(err);
    for (size_t i = 0; i < old->n_applications; i++) {
        int64_t place = names_find(&applications, old->applications[i].name);
        if (place != RUN_UNKNOWN)
            settings->applications[place].ended = old->applications[i].ended;
    }
    size_t kept = 0;
    for (size_t i = 0; i < loop->n_executors; i++) {
        struct quota_executor executor = loop->executors[i];
        executor.application =
            names_find(&applications, old->applications[executor.application].name);
        executor.worker = names_find(&workers, old->workers[executor.worker].name);
        if (executor.application != RUN_UNKNOWN && executor.worker != RUN_UNKNOWN)
            loop->executors[kept++] = executor;
    }
    loop->n_executors = kept;
    loop->settings = *settings;
    return PV_OK;
}

void quota_settings_warn(const struct quota_settings *settings, struct findings *warnings)
{
    size_t without = 0;
    for (size_t i = 0; i < settings->n_workers; i++)
        without +=
            rounding_floor(settings->workers[i].cores / settings->controller.core_quantum) < 1;
    if (without > 0)
        finding_count(
            finding_add(warnings, "worker_below_quantum",
                        "Workers have fewer cores than the core quantum, so nothing can be "
                        "granted there."),
            without);
}

/* --- the order of samples --- */

enum quota_order quota_loop_order(const struct quota_loop *loop, const struct quota_sample *sample)
{
    if (loop->sequence == RUN_UNKNOWN || sample->sequence > loop->sequence)
        return sample->at_s < loop->at_s && !rounding_equal(sample->at_s, loop->at_s)
                   ? QUOTA_ORDER_BACKWARDS
                   : QUOTA_ORDER_NEXT;
    return sample->sequence == loop->sequence ? QUOTA_ORDER_SAME : QUOTA_ORDER_OLD;
}

/* --- a sample against what is known --- */

struct taking {
    const struct quota_loop *loop;
    const struct quota_sample *sample;
    struct names applications, workers, known;
    struct quota_application *after; /* the applications as the sample leaves them */
    struct quota_executor *executors;
    double *since_s; /* of each executor, up to the sample */
    struct quota_faults *faults;
};

static void add_fault(struct taking *t, enum quota_fault_kind kind, size_t item)
{
    if (t->faults->n < PV_FAULTS_MAX)
        t->faults->items[t->faults->n] = (struct quota_fault){kind, item};
    t->faults->n++;
}

static void end_applications(struct taking *t)
{
    for (size_t i = 0; i < t->sample->n_ended; i++) {
        int64_t place = names_find(&t->applications, t->sample->ended[i]);
        if (place == RUN_UNKNOWN)
            add_fault(t, QUOTA_FAULT_ENDED_UNKNOWN, i);
        else
            t->after[place].ended = true;
    }
}

/* Of an executor that is not known: its application, or its worker. */
static int64_t find_place(struct taking *t,
                          const struct names *names,
                          struct strview name,
                          enum quota_fault_kind missing,
                          enum quota_fault_kind unknown,
                          size_t item)
{
    if (name.at == NULL) {
        add_fault(t, missing, item);
        return RUN_UNKNOWN;
    }
    int64_t place = names_find(names, name);
    if (place == RUN_UNKNOWN)
        add_fault(t, unknown, item);
    return place;
}

static struct quota_executor
meet(struct taking *t, const struct quota_reading *reading, size_t item)
{
    return (struct quota_executor){
        .application =
            find_place(t, &t->applications, reading->application, QUOTA_FAULT_APPLICATION_MISSING,
                       QUOTA_FAULT_APPLICATION_UNKNOWN, item),
        .worker = find_place(t, &t->workers, reading->worker, QUOTA_FAULT_WORKER_MISSING,
                             QUOTA_FAULT_WORKER_UNKNOWN, item),
        .stage = RUN_UNKNOWN};
}

static struct quota_executor
recognize(struct taking *t, const struct quota_reading *reading, int64_t place, size_t item)
{
    struct quota_executor executor = t->loop->executors[place];
    const struct quota_settings *settings = &t->loop->settings;
    if (reading->application.at != NULL &&
        !strview_equal(reading->application, settings->applications[executor.application].name))
        add_fault(t, QUOTA_FAULT_APPLICATION_CHANGED, item);
    if (reading->worker.at != NULL &&
        !strview_equal(reading->worker, settings->workers[executor.worker].name))
        add_fault(t, QUOTA_FAULT_WORKER_CHANGED, item);
    return executor;
}

static void begin_stage(struct taking *t,
                        const struct quota_reading *reading,
                        struct quota_executor *executor,
                        size_t item)
{
    double now_s = t->sample->at_s;
    executor->stage = reading->stage;
    executor->stage_started_s =
        isnan(reading->stage_started_s) ? now_s : fmin(reading->stage_started_s, now_s);
    executor->integral_cores = isnan(reading->initial_cores) ? 0 : reading->initial_cores;
    executor->tasks = RUN_UNKNOWN;
    t->since_s[item] = now_s - executor->stage_started_s;
    if (reading->tasks == RUN_UNKNOWN)
        add_fault(t, QUOTA_FAULT_TASKS_MISSING, item);
    if (isnan(reading->stage_deadline_s))
        add_fault(t, QUOTA_FAULT_DEADLINE_MISSING, item);
}

static void read_executor(struct taking *t, size_t item)
{
    const struct quota_reading *reading = &t->sample->executors[item];
    struct quota_executor *executor = &t->executors[item];
    int64_t place = names_find(&t->known, reading->id);
    *executor = place == RUN_UNKNOWN ? meet(t, reading, item) : recognize(t, reading, place, item);
    executor->id = reading->id;
    if (executor->application != RUN_UNKNOWN && t->after[executor->application].ended)
        add_fault(t, QUOTA_FAULT_APPLICATION_ENDED, item);
    if (executor->stage != reading->stage)
        begin_stage(t, reading, executor, item);
    else
        t->since_s[item] = fmax(0, t->sample->at_s - t->loop->at_s);
    if (reading->tasks != RUN_UNKNOWN)
        executor->tasks = reading->tasks;
    if (!isnan(reading->stage_deadline_s))
        executor->stage_deadline_s = reading->stage_deadline_s;
    executor->completed_tasks = reading->completed_tasks;
    if (executor->tasks != RUN_UNKNOWN && executor->completed_tasks > executor->tasks)
        add_fault(t, QUOTA_FAULT_COMPLETED_BEYOND, item);
}

/* --- controllers --- */

struct deciding {
    const struct quota_settings *settings;
    double at_s;
    const double *since_s;
    struct quota_outcome *outcome;
    struct control_request *requests;           /* of each executor */
    struct contention_application *contestants; /* likewise, worker by worker */
    size_t *order;                              /* executors worker by worker, as in the sample */
    size_t *begins;                             /* where each worker's begin; one more: the end */
};

static void ask(struct deciding *d, size_t i)
{
    const struct quota_executor *executor = &d->outcome->executors[i];
    const struct quota_application *application = &d->settings->applications[executor->application];
    const struct control_reading reading = {
        .elapsed_s = fmax(0, d->at_s - executor->stage_started_s),
        .deadline_s = executor->stage_deadline_s,
        .since_s = d->since_s[i],
        .tasks = (double)executor->tasks,
        .completed = (double)executor->completed_tasks,
        .integral_cores = executor->integral_cores,
        .worker_cores = d->settings->workers[executor->worker].cores};
    d->requests[i] = control_ask(&d->settings->controller, &reading);
    d->outcome->grants[i] = (struct quota_grant){
        .requested_cores = d->requests[i].cores,
        .progress = d->requests[i].progress,
        .time_to_complete_s =
            application->release_s + application->alpha * application->deadline_s - d->at_s};
}

/* --- supervisors --- */

/* Counting sort: stable, so executors of a worker stay in the order of the sample. */
static void group_by_worker(struct deciding *d, size_t n)
{
    size_t workers = d->settings->n_workers;
    for (size_t w = 0; w <= workers; w++)
        d->begins[w] = 0;
    for (size_t i = 0; i < n; i++)
        d->begins[d->outcome->executors[i].worker + 1]++;
    for (size_t w = 0; w < workers; w++)
        d->begins[w + 1] += d->begins[w];
    for (size_t i = 0; i < n; i++)
        d->order[d->begins[d->outcome->executors[i].worker]++] = i;
    for (size_t w = workers; w > 0; w--)
        d->begins[w] = d->begins[w - 1];
    d->begins[0] = 0;
}

static void contest(struct deciding *d, size_t at)
{
    size_t i = d->order[at];
    const struct quota_executor *executor = &d->outcome->executors[i];
    d->contestants[at] = (struct contention_application){
        .requested_cores = d->outcome->grants[i].requested_cores,
        .time_to_complete_s = d->outcome->grants[i].time_to_complete_s,
        .remaining_tasks = (double)(executor->tasks - executor->completed_tasks),
        .nominal_rate = d->settings->applications[executor->application].nominal_rate};
}

static enum pv_code
share_worker(struct deciding *d, size_t worker, struct arena *arena, struct pv_error *err)
{
    const struct supervisor_terms terms = {
        .strategy = &contention_strategies[d->settings->strategy],
        .gamma = d->settings->gamma,
        .average_nominal_rate = d->settings->average_nominal_rate,
        .worker_cores = d->settings->workers[worker].cores,
        .core_quantum = d->settings->controller.core_quantum};
    struct contention_outcome outcome;
    size_t first = d->begins[worker];
    size_t n = d->begins[worker + 1] - first;
    struct quota_worker_grant *grant = &d->outcome->workers[worker];
    double *cores = arena_array(arena, n, sizeof *cores);
    if (cores == NULL)
        return pv_no_memory(err);
    for (size_t at = first; at < first + n; at++)
        contest(d, at);
    PV_TRY(supervisor_grant(&terms, d->contestants + first, n, arena, cores, &outcome, err));
    *grant = (struct quota_worker_grant){outcome.contention, outcome.requested_cores, 0};
    for (size_t at = 0; at < n; at++) {
        struct quota_executor *executor = &d->outcome->executors[d->order[first + at]];
        const struct control_request *request = &d->requests[d->order[first + at]];
        executor->cores = cores[at];
        executor->set_point = request->set_point;
        executor->integral_cores = control_integral(cores[at], request);
        grant->granted_cores += cores[at];
    }
    return PV_OK;
}

static enum pv_code decide(struct taking *t,
                           const struct quota_settings *settings,
                           struct arena *arena,
                           struct quota_outcome *outcome,
                           struct pv_error *err)
{
    size_t n = t->sample->n;
    struct deciding d = {.settings = settings,
                         .at_s = t->sample->at_s,
                         .since_s = t->since_s,
                         .outcome = outcome,
                         .requests = arena_array(arena, n, sizeof *d.requests),
                         .contestants = arena_array(arena, n, sizeof *d.contestants),
                         .order = arena_array(arena, n, sizeof *d.order),
                         .begins = arena_array(arena, settings->n_workers + 1, sizeof *d.begins)};
    outcome->executors = t->executors;
    outcome->grants = arena_array(arena, n, sizeof *outcome->grants);
    outcome->workers = arena_calloc(arena, settings->n_workers, sizeof *outcome->workers);
    if (d.requests == NULL || d.contestants == NULL || d.order == NULL || d.begins == NULL ||
        outcome->grants == NULL || outcome->workers == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < n; i++)
        ask(&d, i);
    group_by_worker(&d, n);
    for (size_t w = 0; w < settings->n_workers; w++)
        PV_TRY(share_worker(&d, w, arena, err));
    return PV_OK;
}

/* --- the sample as a whole --- */

static enum pv_code prepare(struct taking *t, struct arena *arena, struct pv_error *err)
{
    const struct quota_settings *settings = &t->loop->settings;
    size_t n = t->loop->n_executors;
    bool named = applications_name(&t->applications, settings, arena) &&
                 workers_name(&t->workers, settings, arena) &&
                 names_make(&t->known, n == 0 ? NULL : &t->loop->executors->id, n,
                            sizeof *t->loop->executors, arena);
    t->after = arena_array(arena, settings->n_applications, sizeof *t->after);
    t->executors = arena_array(arena, t->sample->n, sizeof *t->executors);
    t->since_s = arena_array(arena, t->sample->n, sizeof *t->since_s);
    if (!named || t->after == NULL || t->executors == NULL || t->since_s == NULL)
        return pv_no_memory(err);
    for (size_t i = 0; i < settings->n_applications; i++)
        t->after[i] = settings->applications[i];
    return PV_OK;
}

enum pv_code quota_loop_take(struct quota_loop *loop,
                             const struct quota_sample *sample,
                             struct arena *arena,
                             struct quota_outcome *outcome,
                             struct quota_faults *faults,
                             struct pv_error *err)
{
    struct taking t = {.loop = loop, .sample = sample, .faults = faults};
    faults->n = 0;
    PV_TRY(prepare(&t, arena, err));
    end_applications(&t);
    for (size_t i = 0; i < sample->n; i++)
        read_executor(&t, i);
    if (faults->n > 0)
        return PV_OK;
    PV_TRY(decide(&t, &loop->settings, arena, outcome, err));
    loop->settings.applications = t.after;
    loop->sequence = sample->sequence;
    loop->at_s = sample->at_s;
    loop->executors = t.executors;
    loop->n_executors = sample->n;
    return PV_OK;
}

double quota_cgroup_us(double cores, int64_t period_us)
{
    return fmax(CGROUP_QUOTA_MIN_US, rounding_floor(cores * (double)period_us + 0.5));
}
